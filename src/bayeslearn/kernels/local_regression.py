"""Local fits, one for every query: weigh the rows around it, gather their moments, solve, read off the value there.

    φ_j = ((x_j − q)/r, …)                          features about the query, in radii of its neighborhood
    W_j = K_j ΣK/ΣK²                                 kernel weights that add up to n = (ΣK)²/ΣK² whole rows
    S = Σ W (φ − φ̄)(φ − φ̄)ᵀ + Λ = L Lᵀ            Λ is the prior's precision of the slopes
    f̂(q) = ȳ − φ̄ᵀS⁻¹S_φy        v = 1/n + φ̄ᵀS⁻¹φ̄        rss = S_yy − S_yφS⁻¹S_φy

At the query every feature is 0, so only L is ever solved with. Moments of tiles of rows are merged, which is stable far
from the origin and keeps the inner loops along the rows. Functions are handed whole arrays and few times: counting
references to slices would take longer than the sums.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayeslearn.kernels._jit import inner, kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

#: Rows of a tile.
TILE = 64

#: The kernels of distance, by number.
UNIFORM, GAUSSIAN, TRICUBE, EPANECHNIKOV, INVERSE_SQUARE = range(5)

#: Not a kernel of its own: 1 for the nearest row and those as near, 0 for others.
NEAREST = -1

#: A feature is taken for a mixture of the others when less than this share of its variance is its own.
COLLINEAR = 1e-10

#: The variance of a feature that is rounding only.
ROUNDING = 1e-24

#: The precision that every row gives to the slopes where the rows do not determine them.
RESCUE = 1e-6

#: What is said of a fit: its slopes rest on the prior; no row was within reach of the kernel.
RIDGED, OUT_OF_REACH = 1, 2


@kernel
def fit_local(
    X: Floats, Y: Floats, s: Floats, Q: Floats, rows: Integers, skip: Integers, kind: int, degree: int, h: float,
    ridge: float, start: int, stop: int, mean: Floats, rss: Floats, about: Floats, said: NDArray[np.int8],
    slopes: Floats,
) -> None:  # fmt: skip
    """Fit at the queries `start` … `stop`, each to its `rows` (k of them, or none: then to all) but the one to `skip`.

    `s` are weights of rows, `h` is the bandwidth (0: the distance of the farthest of the rows). Written are f̂ and rss
    (a column for every output), `about` = (n, v, well determined parameters), and `slopes` unless it is empty.
    """
    d, m = X.shape[1], Y.shape[1]
    p = (0, d, d + d * (d + 1) // 2)[degree]
    size = rows.shape[1] or X.shape[0]
    index, w = np.empty(size, np.int64), np.empty(size)
    F, wt, part, total = np.zeros((p + m, TILE)), np.empty(TILE), np.zeros(p + m), np.zeros(p + m)
    S, L, prior, b = np.empty((p + m, p + m)), np.empty((p, p)), np.empty(p), np.empty(p)
    T = np.empty((m + 1, p))  # L⁻¹S_φy of every output, and L⁻¹φ̄
    for i in range(start, stop):
        count, r, said[i] = _weigh(X, s, Q, rows, i, skip[i], kind, h, index, w)
        features = p
        if r == 0:  # all rows that weigh something are at the query
            r, features = 1.0, 0 if kind == INVERSE_SQUARE else p  # through which weights without bound pass
        n = _gather(X, Y, Q, i, 1 / r, features, index, w, count, F, wt, part, total, S)
        for a in range(features):
            prior[a] = ridge / (r * r if a < d else r * r * r * r)
        if not _factor(S, prior, features, n, L):
            said[i] |= RIDGED
            for a in range(features):
                prior[a] += RESCUE * n
            _factor(S, prior, features, n, L)
        v = 1 / n
        for a in range(features):
            T[m, a] = _forward(L, T, m, a, total[a])
            v += T[m, a] * T[m, a]
        for c in range(m):
            value, left = total[p + c], S[p + c, p + c]
            for a in range(features):
                T[c, a] = _forward(L, T, c, a, S[p + c, a])
                value -= T[m, a] * T[c, a]
                left -= T[c, a] * T[c, a]
            mean[i, c] = value
            rss[i, c] = left if left > 1e-13 * S[p + c, p + c] else 0.0
        about[i, 0], about[i, 1], about[i, 2] = n, v, 1 + features - _undetermined(L, prior, features, b)
        if slopes.shape[0]:
            for c in range(m):
                _backward(L, T, c, features, b)
                for a in range(d):
                    slopes[i, c, a] = b[a] / r if a < features else 0.0


### weights


@inner
def _weigh(
    X: Floats, s: Floats, Q: Floats, rows: Integers, i: int, skip: int, kind: int, h: float, index: Integers, w: Floats
) -> tuple[int, float, int]:
    """The rows that weigh something and their weights: how many, the radius that holds them, and a code."""
    size = rows.shape[1] or X.shape[0]
    count, said, nearest, farthest = 0, 0, np.inf, 0.0
    for t in range(size):
        j = rows[i, t] if rows.shape[1] else t
        if j == skip:
            continue
        square = 0.0
        for a in range(X.shape[1]):
            δ = X[j, a] - Q[i, a]
            square += δ * δ
        index[count], w[count] = j, square
        count += 1
        nearest, farthest = min(nearest, square), max(farthest, square)
    reach = h * h if h > 0 else farthest
    if kind == INVERSE_SQUARE:
        reach = nearest  # its unit does not matter: the nearest row weighs 1
    if reach == 0:
        kind, reach = NEAREST, 1.0
    elif _weight(kind, nearest / reach, nearest / reach) == 0:
        kind, said, reach = NEAREST, OUT_OF_REACH, 1.0
    kept, n1, n2, radius = 0, 0.0, 0.0, 0.0
    for t in range(count):
        weight = _weight(kind, w[t] / reach, nearest / reach)
        if weight > 0:
            radius = max(radius, w[t])
            index[kept], w[kept] = index[t], s[index[t]] * weight
            n1 += w[kept]
            n2 += w[kept] * weight
            kept += 1
    for t in range(kept):
        w[t] *= n1 / n2
    return kept, np.sqrt(radius), said


@inner
def _weight(kind: int, square: float, nearest: float) -> float:
    """K(u) from u², and that of the nearest row."""
    if kind == TRICUBE:
        left = 1 - square * np.sqrt(square)
        return left * left * left if left > 0 else 0.0
    if kind == GAUSSIAN:
        return np.exp((nearest - square) / 2)
    if kind == EPANECHNIKOV:
        return max(1 - square, 0.0)
    if kind == INVERSE_SQUARE:
        return 1 / square
    if kind == UNIFORM:
        return 1.0 if square <= 1 else 0.0
    return 1.0 if square <= nearest else 0.0


### moments


@inner
def _gather(
    X: Floats, Y: Floats, Q: Floats, i: int, scale: float, p: int, index: Integers, w: Floats, count: int,
    F: Floats, wt: Floats, part: Floats, total: Floats, S: Floats,
) -> float:  # fmt: skip
    """Means `total` and scatter S (lower half) of features and outputs, tile by tile; the sum of the weights."""
    d, first, columns, n = X.shape[1], F.shape[0] - Y.shape[1], F.shape[0], 0.0
    for begin in range(0, count, TILE):
        size, weight = min(TILE, count - begin), 0.0
        for t in range(size):
            wt[t] = w[begin + t]
            weight += wt[t]
            j = index[begin + t]
            for a in range(min(p, d)):
                F[a, t] = (X[j, a] - Q[i, a]) * scale
            for c in range(first, columns):
                F[c, t] = Y[j, c - first]
        at = d
        for a in range(d if p > d else 0):
            for b in range(a + 1):
                for t in range(size):
                    F[at, t] = F[a, t] * F[b, t]
                at += 1
        for a in range(columns):
            if p <= a < first:
                continue
            level = 0.0
            for t in range(size):
                level += wt[t] * F[a, t]
            level /= weight
            for t in range(size):
                F[a, t] -= level
            part[a] = level
        share = n * weight / (n + weight)
        for a in range(columns):
            if p <= a < first:
                continue
            before = part[a] - total[a] if n > 0 else 0.0
            for b in range(a + 1):
                if b < p or b == a:
                    product = 0.0
                    for t in range(size):
                        product += wt[t] * F[a, t] * F[b, t]
                    S[a, b] = product + (S[a, b] + before * (part[b] - total[b]) * share if n > 0 else 0.0)
        for a in range(columns):
            total[a] = part[a] if n == 0 else total[a] + (part[a] - total[a]) * weight / (n + weight)
        n += weight
    return n


### solving


@inner
def _factor(S: Floats, prior: Floats, p: int, n: float, L: Floats) -> bool:
    """L of S + Λ = L Lᵀ; whether the rows and the prior determine every slope."""
    for a in range(p):
        own = S[a, a] + prior[a]
        if own <= ROUNDING * n:
            return False
        for b in range(a):
            total = S[a, b]
            for c in range(b):
                total -= L[a, c] * L[b, c]
            L[a, b] = total / L[b, b]
        left = own
        for c in range(a):
            left -= L[a, c] * L[a, c]
        if left <= COLLINEAR * own:
            return False
        L[a, a] = np.sqrt(left)
    return True


@inner
def _forward(L: Floats, T: Floats, row: int, a: int, right: float) -> float:
    """Entry `a` of t = L⁻¹ x, a row of T, when those before it are there and x has `right` in its place."""
    for c in range(a):
        right -= L[a, c] * T[row, c]
    return right / L[a, a]


@inner
def _backward(L: Floats, T: Floats, row: int, p: int, b: Floats) -> None:
    """b = L⁻ᵀ t, a row of T."""
    for a in range(p - 1, -1, -1):
        left = T[row, a]
        for c in range(a + 1, p):
            left -= L[c, a] * b[c]
        b[a] = left / L[a, a]


@inner
def _undetermined(L: Floats, prior: Floats, p: int, b: Floats) -> float:
    """How many slopes are the prior's: the trace of Λ (S + Λ)⁻¹."""
    total = 0.0
    for j in range(p):
        if prior[j] == 0:
            continue
        for a in range(j, p):
            b[a] = 1 / L[j, j] if a == j else 0.0
            for c in range(j, a):
                b[a] -= L[a, c] * b[c] / L[a, a]
            total += prior[j] * b[a] * b[a]
    return total
