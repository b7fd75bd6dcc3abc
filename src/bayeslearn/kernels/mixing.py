"""Expected statistics of Gaussian mixtures, E and M in one pass over the rows: nothing of n × k is stored.

    E   r_ij = softmax_j (ln w_j + ln N(x_i | μ_j, Σ_j))          ln p(x_i) = logsumexp of the same
    M   n_j = Σ_i r_ij        s_j = Σ_i r_ij (x_i − μ_j)        S_j = Σ_i r_ij (x_i − μ_j)(x_i − μ_j)ᵀ

Sums are taken about the present means, so that little cancels when they become moments. Rows come in tiles that are
turned around, so that every inner loop runs along the rows of a tile and is vectorised; columns are taken four at a
time, and padded with zeros to a multiple of four.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayeslearn.kernels._jit import inner, kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

#: Rows of a tile.
TILE = 256

LOG2_E = 1.4426950408889634
LN_2 = 0.6931471805599453
#: Below this e^x is taken for zero.
LEAST = -708.0


@kernel
def expect_diagonal(
    X: Floats, weights: Floats, log_c: Floats, centre: Floats, mean: Floats, scale: Floats, logs: Floats,
    start: int, stop: int, share: Floats, n: Floats, first: Floats, second: Floats,
) -> float:  # fmt: skip
    """Add the sums of rows `start` … `stop`, cells may be NaN; their weighted log likelihood.

    ln N = Σ_c −(scale δ)² + logs, over the cells that are there. Means are told about the `centre`. `n`, `first` and
    `second` have an entry for every component and column, `share` one for every component. Empty `weights` are ones.
    """
    d, k, padded = X.shape[1], log_c.shape[0], mean.shape[1]
    tile, seen, part = np.zeros((padded, TILE)), np.zeros((padded, TILE)), np.empty(TILE)
    joint, top, powers, w = np.empty((k, TILE)), np.empty(TILE), np.empty(TILE, np.int32), np.ones(TILE)
    total = 0.0
    for begin in range(start, stop, TILE):
        m = min(TILE, stop - begin)
        if _turn(X, centre, begin, m, tile, seen):
            for j in range(k):
                joint[j, :m] = log_c[j]
                for c in range(d):
                    x, there, at, by, const, q = tile[c], seen[c], mean[j, c], scale[j, c], logs[j, c], joint[j]
                    for t in range(m):
                        z = (x[t] - at) * by
                        q[t] += there[t] * (const - z * z)
            total += _share(joint, top, powers, _weigh(weights, begin, m, w), weights.shape[0], m, share)
            for j in range(k):
                for c in range(d):
                    x, there, at, r = tile[c], seen[c], mean[j, c], joint[j]
                    n0, n1, n2 = 0.0, 0.0, 0.0
                    for t in range(m):
                        given, δ = r[t] * there[t], x[t] - at
                        n0 += given
                        n1 += given * δ
                        n2 += given * δ * δ
                    n[j, c] += n0
                    first[j, c] += n1
                    second[j, c] += n2
            continue
        for j in range(k):
            joint[j, :m] = log_c[j] + logs[j, :d].sum()
            for c in range(0, padded, 4):
                _subtract_squares(tile, c, mean[j], scale[j], joint[j], m)
        part[:k] = share
        total += _share(joint, top, powers, _weigh(weights, begin, m, w), weights.shape[0], m, share)
        for j in range(k):
            n[j, :d] += share[j] - part[j]
            for c in range(0, padded, 4):
                _add_moments(tile, c, mean[j], joint[j], m, first[j], second[j])
    return total


@kernel
def expect_full(
    X: Floats, weights: Floats, log_c: Floats, centre: Floats, mean: Floats, factor: Floats, start: int, stop: int,
    share: Floats, first: Floats, second: Floats,
) -> float:  # fmt: skip
    """The same for whole rows and covariance matrices: ln N = log_c − |factor δ|², `factor` lower triangular."""
    k, padded = log_c.shape[0], mean.shape[1]
    tile, seen, δ = np.zeros((padded, TILE)), np.zeros((padded, TILE)), np.zeros((padded, TILE))
    joint, top, powers, w = np.empty((k, TILE)), np.empty(TILE), np.empty(TILE, np.int32), np.ones(TILE)
    y = np.empty(TILE)
    total = 0.0
    for begin in range(start, stop, TILE):
        m = min(TILE, stop - begin)
        _turn(X, centre, begin, m, tile, seen)
        for j in range(k):
            joint[j, :m] = log_c[j]
            _differences(tile, mean[j], m, δ)
            for a in range(padded):
                _subtract_square(factor[j, a], δ, a, y, joint[j], m)
        total += _share(joint, top, powers, _weigh(weights, begin, m, w), weights.shape[0], m, share)
        for j in range(k):
            _differences(tile, mean[j], m, δ)
            for a in range(padded):
                first[j, a] += _weighted(joint[j], δ[a], y, m)
                for b in range(0, a + 1, 4):
                    _add_products(y, δ, b, m, second[j, a])
    return total


### a tile


@inner
def _turn(X: Floats, centre: Floats, begin: int, m: int, tile: Floats, seen: Floats) -> bool:
    """Rows become columns about a centre; whether a cell is missing, for then `seen` says which, and it is 0."""
    holes = False
    for c in range(X.shape[1]):
        for t in range(m):
            tile[c, t] = X[begin + t, c] - centre[c]
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
def _weigh(weights: Floats, begin: int, m: int, w: Floats) -> Floats:
    if weights.shape[0]:
        w[:m] = weights[begin : begin + m]
    return w


@inner
def _differences(tile: Floats, mean: Floats, m: int, δ: Floats) -> None:
    for c in range(mean.shape[0]):
        x, at, to = tile[c], mean[c], δ[c]
        for t in range(m):
            to[t] = x[t] - at


@inner
def _subtract_squares(tile: Floats, c: int, mean: Floats, scale: Floats, q: Floats, m: int) -> None:
    """Take (scale δ)² of four columns off."""
    x0, x1, x2, x3 = tile[c], tile[c + 1], tile[c + 2], tile[c + 3]
    s0, s1, s2, s3 = scale[c], scale[c + 1], scale[c + 2], scale[c + 3]
    m0, m1, m2, m3 = mean[c] * s0, mean[c + 1] * s1, mean[c + 2] * s2, mean[c + 3] * s3
    for t in range(m):
        a, b, e, f = x0[t] * s0 - m0, x1[t] * s1 - m1, x2[t] * s2 - m2, x3[t] * s3 - m3
        q[t] -= (a * a + b * b) + (e * e + f * f)


@inner
def _add_moments(tile: Floats, c: int, mean: Floats, r: Floats, m: int, first: Floats, second: Floats) -> None:
    """Σ r δ and Σ r δ² of two and two columns."""
    for b in (c, c + 2):
        x0, x1, m0, m1 = tile[b], tile[b + 1], mean[b], mean[b + 1]
        s0, s1, q0, q1 = 0.0, 0.0, 0.0, 0.0
        for t in range(m):
            a, e = x0[t] - m0, x1[t] - m1
            ra, re = r[t] * a, r[t] * e
            s0 += ra
            s1 += re
            q0 += ra * a
            q1 += re * e
        first[b] += s0
        first[b + 1] += s1
        second[b] += q0
        second[b + 1] += q1


@inner
def _subtract_square(row: Floats, δ: Floats, a: int, y: Floats, q: Floats, m: int) -> None:
    """Take (Σ_b row_b δ_b)², b ≤ a, off."""
    d0, d1, d2, d3 = δ[0], δ[1], δ[2], δ[3]
    a0, a1, a2, a3 = row[0], row[1], row[2], row[3]
    if a < 4:
        for t in range(m):
            z = (a0 * d0[t] + a1 * d1[t]) + (a2 * d2[t] + a3 * d3[t])
            q[t] -= z * z
        return
    if a < 8:
        d4, d5, d6, d7 = δ[4], δ[5], δ[6], δ[7]
        a4, a5, a6, a7 = row[4], row[5], row[6], row[7]
        for t in range(m):
            z = (a0 * d0[t] + a1 * d1[t]) + (a2 * d2[t] + a3 * d3[t])
            z += (a4 * d4[t] + a5 * d5[t]) + (a6 * d6[t] + a7 * d7[t])
            q[t] -= z * z
        return
    for t in range(m):
        y[t] = (a0 * d0[t] + a1 * d1[t]) + (a2 * d2[t] + a3 * d3[t])
    for b in range(4, a + 1, 4):
        d0, d1, d2, d3 = δ[b], δ[b + 1], δ[b + 2], δ[b + 3]
        a0, a1, a2, a3 = row[b], row[b + 1], row[b + 2], row[b + 3]
        for t in range(m):
            y[t] += (a0 * d0[t] + a1 * d1[t]) + (a2 * d2[t] + a3 * d3[t])
    for t in range(m):
        q[t] -= y[t] * y[t]


@inner
def _weighted(r: Floats, δ: Floats, y: Floats, m: int) -> float:
    """y = r δ, and its sum."""
    total = 0.0
    for t in range(m):
        y[t] = r[t] * δ[t]
        total += y[t]
    return total


@inner
def _add_products(y: Floats, δ: Floats, b: int, m: int, into: Floats) -> None:
    """Σ y δ_b of four columns."""
    d0, d1, d2, d3 = δ[b], δ[b + 1], δ[b + 2], δ[b + 3]
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    for t in range(m):
        s0 += y[t] * d0[t]
        s1 += y[t] * d1[t]
        s2 += y[t] * d2[t]
        s3 += y[t] * d3[t]
    into[b] += s0
    into[b + 1] += s1
    into[b + 2] += s2
    into[b + 3] += s3


### shares


@inner
def _share(
    joint: Floats, top: Floats, powers: NDArray[np.int32], w: Floats, n_weights: int, m: int, share: Floats
) -> float:  # fmt: skip
    """Joint logs become weighted responsibilities, added up in `share`; Σ w ln p of the tile."""
    k = joint.shape[0]
    top[:m] = joint[0, :m]
    for j in range(1, k):
        row = joint[j]
        for t in range(m):
            top[t] = max(top[t], row[t])
    total = 0.0
    for t in range(m):
        total += w[t] * top[t]
    _exp_differences(joint, top, powers, m)
    top[:m] = joint[0, :m]
    for j in range(1, k):
        row = joint[j]
        for t in range(m):
            top[t] += row[t]
    total += _log_sums(top, w, m, n_weights)
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
def _log_sums(top: Floats, w: Floats, m: int, n_weights: int) -> float:
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
def _exp_differences(joint: Floats, top: Floats, powers: NDArray[np.int32], m: int) -> None:
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
