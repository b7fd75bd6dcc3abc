"""A tile of rows turned around, and the shares that the components of a mixture have in its rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayeslearn.kernels._jit import inner

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

LOG2_E = 1.4426950408889634
LN_2 = 0.6931471805599453
#: Below this e^x is taken for zero.
LEAST = -708.0


@inner
def turn(X: Floats, center: Floats, begin: int, m: int, tile: Floats, seen: Floats) -> bool:
    """Rows become columns about a center; whether a cell is missing, for then `seen` holds which, and it is 0."""
    holes = False
    for c in range(X.shape[1]):
        for t in range(m):
            tile[c, t] = X[begin + t, c] - center[c]
        count = 0
        for t in range(m):
            count += tile[c, t] != tile[c, t]  # NaN is not itself
        holes |= count > 0
    if holes:
        for c in range(X.shape[1]):
            for t in range(m):
                gone = np.isnan(tile[c, t])
                seen[c, t] = 0.0 if gone else 1.0
                tile[c, t] = 0.0 if gone else tile[c, t]
    return holes


@inner
def weigh(weights: Floats, begin: int, m: int, w: Floats) -> Floats:
    """The weights of a tile, ones where none are given."""
    if weights.shape[0]:
        w[:m] = weights[begin : begin + m]
    return w


@inner
def differences(tile: Floats, mean: Floats, m: int, δ: Floats) -> None:
    """The rows about a mean."""
    for c in range(mean.shape[0]):
        x, at, to = tile[c], mean[c], δ[c]
        for t in range(m):
            to[t] = x[t] - at


### shares


@inner
def to_shares(
    joint: Floats, top: Floats, powers: NDArray[np.int32], w: Floats, n_weights: int, m: int, share: Floats
) -> float:  # fmt: skip
    """Joint logs become weighted responsibilities, added up in `share`; Σ w ln p of the tile."""
    k = joint.shape[0]
    highest(joint, top, m)
    total = 0.0
    for t in range(m):
        total += w[t] * top[t]
    exp_differences(joint, top, powers, m)
    sums(joint, top, m)
    total += log_sums(top, w, m, n_weights)
    for t in range(m):
        top[t] = w[t] / top[t]
    for j in range(k):
        row = joint[j]
        sum_j = 0.0
        for t in range(m):
            row[t] *= top[t]
            sum_j += row[t]
        share[j] += sum_j
    return total


@inner
def highest(joint: Floats, top: Floats, m: int) -> None:
    """The largest entry of every column, three rows at a time."""
    k = joint.shape[0]
    top[:m] = joint[0, :m]
    for j in range(1, k - 2, 3):
        a, b, c = joint[j], joint[j + 1], joint[j + 2]
        for t in range(m):
            top[t] = max(top[t], a[t], b[t], c[t])
    for j in range(k - (k - 1) % 3, k):
        a = joint[j]
        for t in range(m):
            top[t] = max(top[t], a[t])


@inner
def sums(joint: Floats, top: Floats, m: int) -> None:
    """The sum of every column, three rows at a time."""
    k = joint.shape[0]
    top[:m] = joint[0, :m]
    for j in range(1, k - 2, 3):
        a, b, c = joint[j], joint[j + 1], joint[j + 2]
        for t in range(m):
            top[t] += a[t] + (b[t] + c[t])
    for j in range(k - (k - 1) % 3, k):
        a = joint[j]
        for t in range(m):
            top[t] += a[t]


@inner
def log_sums(top: Floats, w: Floats, m: int, n_weights: int) -> float:
    """Σ w ln top; without weights a logarithm for sixteen rows at once, for each is between 1 and k."""
    total = 0.0
    if n_weights:
        for t in range(m):
            total += w[t] * np.log(top[t])
        return total
    for begin in range(0, m, 16):
        product = 1.0
        for t in range(begin, min(begin + 16, m)):
            product *= top[t]
        total += np.log(product)
    return total


@inner
def exp_differences(joint: Floats, top: Floats, powers: NDArray[np.int32], m: int) -> None:
    """e^(joint − top) in place, for joint ≤ top: 2ⁿ e^r with |r| ≤ ½ ln 2, and e^r by its series."""
    bits = joint.view(np.int64)
    for j in range(joint.shape[0]):
        row, whole = joint[j], bits[j]
        for t in range(m):
            x = row[t] - top[t]
            n = np.floor(max(x, LEAST) * LOG2_E + 0.5)
            r = max(x, LEAST) - n * LN_2
            p = 1 / 39916800.0
            p = p * r + 1 / 3628800.0
            p = p * r + 1 / 362880.0
            p = p * r + 1 / 40320.0
            p = p * r + 1 / 5040.0
            p = p * r + 1 / 720.0
            p = p * r + 1 / 120.0
            p = p * r + 1 / 24.0
            p = p * r + 1 / 6.0
            p = p * r + 0.5
            p = p * r + 1.0
            p = p * r + 1.0
            row[t] = p if x > LEAST else 0.0
            powers[t] = np.int32(n if x > LEAST else 0.0)
        for t in range(m):
            whole[t] += np.int64(powers[t]) << 52
