"""Expected statistics of Gaussian mixtures, E and M in one pass over the rows: nothing of n × k is stored.

    E   r_ij = softmax_j (ln w_j + ln N(x_i | μ_j, Σ_j))          ln p(x_i) = logsumexp of the same
    M   n_j = Σ_i r_ij        s_j = Σ_i r_ij (x_i − μ_j)        S_j = Σ_i r_ij (x_i − μ_j)(x_i − μ_j)ᵀ

Sums are taken about the present means, so that little cancels when they become moments. Rows come in tiles that are
turned around, so that every inner loop runs along the rows of a tile and is vectorized; columns are taken four at a
time, and padded with zeros to a multiple of four.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayeslearn.kernels._jit import kernel
from bayeslearn.kernels.gaussian_mixture_moments import (
    add_corner,
    add_moments,
    add_products,
    add_squares,
    project,
    subtract_four_squares,
    subtract_squares,
)
from bayeslearn.kernels.gaussian_mixture_tiles import differences, to_shares, turn, weigh

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

#: Rows of a tile.
TILE = 256


@kernel
def expect_diagonal(
    X: Floats, weights: Floats, log_c: Floats, center: Floats, mean: Floats, scale: Floats, logs: Floats,
    start: int, stop: int, share: Floats, n: Floats, first: Floats, second: Floats,
) -> float:  # fmt: skip
    """Add the sums of rows `start` … `stop`, cells may be NaN; their weighted log likelihood.

    ln N = Σ_c −(scale δ)² + logs, over the cells that are there. Means are relative to the `center`. `n`, `first` and
    `second` have an entry for every component and column, `share` one for every component. Empty `weights` are ones.
    """
    d, k, padded = X.shape[1], log_c.shape[0], mean.shape[1]
    tile, seen, part = np.zeros((padded, TILE)), np.zeros((padded, TILE)), np.empty(TILE)
    joint, top, powers, w = np.empty((k, TILE)), np.empty(TILE), np.empty(TILE, np.int32), np.ones(TILE)
    total = 0.0
    for begin in range(start, stop, TILE):
        m = min(TILE, stop - begin)
        if turn(X, center, begin, m, tile, seen):
            for j in range(k):
                joint[j, :m] = log_c[j]
                for c in range(d):
                    x, there, at, by, const, q = tile[c], seen[c], mean[j, c], scale[j, c], logs[j, c], joint[j]
                    for t in range(m):
                        z = (x[t] - at) * by
                        q[t] += there[t] * (const - z * z)
            total += to_shares(joint, top, powers, weigh(weights, begin, m, w), weights.shape[0], m, share)
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
                subtract_squares(tile, c, mean[j], scale[j], joint[j], m)
        part[:k] = share
        total += to_shares(joint, top, powers, weigh(weights, begin, m, w), weights.shape[0], m, share)
        for j in range(k):
            n[j, :d] += share[j] - part[j]
            for c in range(0, padded, 4):
                add_moments(tile, c, mean[j], joint[j], m, first[j], second[j])
    return total


@kernel
def expect_full(
    X: Floats, weights: Floats, log_c: Floats, center: Floats, mean: Floats, factor: Floats, start: int, stop: int,
    share: Floats, first: Floats, second: Floats,
) -> float:  # fmt: skip
    """The same for whole rows and covariance matrices: ln N = log_c − |factor δ|², `factor` lower triangular."""
    k, padded = log_c.shape[0], mean.shape[1]
    tile, seen, δ = np.zeros((padded, TILE)), np.zeros((padded, TILE)), np.zeros((padded, TILE))
    joint, top, powers, w = np.empty((k, TILE)), np.empty(TILE), np.empty(TILE, np.int32), np.ones(TILE)
    at, y = np.empty((k, padded)), np.empty((4, TILE))
    for j in range(k):
        for a in range(padded):
            at[j, a] = (factor[j, a] * mean[j]).sum()
    total = 0.0
    for begin in range(start, stop, TILE):
        m = min(TILE, stop - begin)
        turn(X, center, begin, m, tile, seen)
        for j in range(k):
            joint[j, :m] = log_c[j]
            for a in range(0, padded, 4):
                for b in range(0, a, 4):
                    project(factor[j, a], factor[j, a + 1], tile, b, y[0], y[1], m)
                    project(factor[j, a + 2], factor[j, a + 3], tile, b, y[2], y[3], m)
                subtract_four_squares(factor[j], at[j], tile, a, y, joint[j], m)
        total += to_shares(joint, top, powers, weigh(weights, begin, m, w), weights.shape[0], m, share)
        for j in range(k):
            differences(tile, mean[j], m, δ)
            for a in range(0, padded, 4):
                add_products(joint[j], δ, a, m, first[j])
            for a in range(0, padded, 4):
                for b in range(0, a, 4):
                    add_squares(joint[j], δ, a, b, m, second[j])
                add_corner(joint[j], δ, a, m, second[j])
            for a in range(2, padded, 4):
                for b in range(0, a, 4):
                    add_squares(joint[j], δ, a, b, m, second[j])
    return total
