"""Forward and backward along hidden Markov chains, eight sequences side by side.

    forward     α_t(j) = Σ_i α_{t−1}(i) A_ij · b_t(j)              divided by its sum c_t; ln P = Σ ln c_t
    backward    β_t(i) = Σ_j A_ij b_{t+1}(j) β_{t+1}(j)            γ_t = α_t β_t / Σ α_t β_t
    pairs       Σ_t α_t(i) b_{t+1}(j) β_{t+1}(j) / Σ α_t β_t       times A_ij once, when all is added up

Rows t·S + j of `b` and `alpha` are state j at step t, a lane for each sequence (:mod:`.vectors`). Lanes come longest
first; what the lanes of sequences that have ended hold is never used. A logarithm is taken only when a
product of scales leaves the range of floats. A lane whose numbers become too small to be trusted is lost, says so, and
adds nothing: :func:`smooth_logs` of :mod:`.chain_logs` does it again in logs.

A long chain is taken in blocks: `entry` and `leaving` hand over from one to the next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayeslearn.kernels._jit import inner, kernel
from bayeslearn.kernels.vectors import LANES, all_lanes, plus, put, row, times

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: A scale below this is lost, and a product of scales below this is turned into its log.
LEAST = 1e-140
#: What a sum of α β must be at least: both are at most 1, and what underflowed is 10⁻²⁸ of it.
LEAST_BOTH = 1e-280


@inner
def combine(
    x: NDArray[np.float64], first: int, table: NDArray[np.float64], n: int, into: NDArray[np.float64], at: int
) -> None:
    """into[at + j] = Σ_i x[first + i] table[i, j], two j at a time to read x half as often."""
    for j in range(0, n - 1, 2):
        one = times(row(x, first), all_lanes(table[0, j]))
        two = times(row(x, first), all_lanes(table[0, j + 1]))
        for i in range(1, n):
            lanes = row(x, first + i)
            one = plus(one, times(lanes, all_lanes(table[i, j])))
            two = plus(two, times(lanes, all_lanes(table[i, j + 1])))
        put(into, at + j, one)
        put(into, at + j + 1, two)
    if n & 1:
        one = times(row(x, first), all_lanes(table[0, n - 1]))
        for i in range(1, n):
            one = plus(one, times(row(x, first + i), all_lanes(table[i, n - 1])))
        put(into, at + n - 1, one)


@kernel
def forward(
    moves: NDArray[np.float64],
    lengths: NDArray[np.int64],
    b: NDArray[np.float64],
    alpha: NDArray[np.float64],
    entry: NDArray[np.float64],
    scales: NDArray[np.float64],
    log_p: NDArray[np.float64],
    lost: NDArray[np.int64],
) -> None:
    """α of a block of steps, each as it is before it is divided by its sum.

    `entry` (S, lanes) is what is expected of the first step, and then of the step after the last. `scales` (2, lanes)
    holds the product that waits for its log, and room. `lost` is the first step of a lane that is not trusted, or −1.
    """
    n = len(moves)
    steps, live = lengths[0], len(lengths)
    for t in range(steps):
        while lengths[live - 1] <= t:
            live -= 1
        total = all_lanes(0.0)
        for j in range(n):
            now = times(row(entry, j), row(b, t * n + j))
            total = plus(total, now)
            put(alpha, t * n + j, now)
        put(scales, 1, total)
        for lane in range(live):
            c = scales[1, lane]
            if not c >= LEAST:
                if lost[lane] < 0:
                    lost[lane] = t
                scales[1, lane] = 1.0
            else:
                scales[0, lane] *= c
                if scales[0, lane] < LEAST:
                    log_p[lane] += np.log(scales[0, lane])
                    scales[0, lane] = 1.0
        for lane in range(LANES):
            scales[1, lane] = 1.0 / scales[1, lane] if lane < live else 1.0
        combine(alpha, t * n, moves, n, entry, 0)
        inverse = row(scales, 1)
        for j in range(n):
            put(entry, j, times(row(entry, j), inverse))
    for lane in range(LANES):
        if scales[0, lane] > 0:
            log_p[lane] += np.log(scales[0, lane])
        scales[0, lane] = 1.0


@kernel
def backward(
    turned: NDArray[np.float64],
    lengths: NDArray[np.int64],
    ends: NDArray[np.int64],
    weights: NDArray[np.float64],
    b: NDArray[np.float64],
    alpha: NDArray[np.float64],
    leaving: NDArray[np.float64],
    room: NDArray[np.float64],
    pairs: NDArray[np.float64],
    lost: NDArray[np.int64],
) -> None:
    """γ of a block of steps in place of α, times the weight of the sequence; the pairs of states are added to `pairs`.

    `turned` is A transposed; `leaving` (S, lanes) is b β of the step after the block (ones at the very end), and then
    of its first step. `ends` are the lengths with the step after the block. `room` is (S + 2, lanes). Lanes past the
    end of their sequence get zeros.
    """
    n = len(turned)
    steps, live = lengths[0], 0
    for t in range(steps - 1, -1, -1):
        while live < LANES and lengths[live] > t:
            for j in range(n):
                leaving[j, live] = 1.0 if lengths[live] == ends[live] else leaving[j, live]
            live += 1
        combine(leaving, 0, turned, n, room, 0)  # β_t
        both, size = all_lanes(0.0), all_lanes(0.0)
        for i in range(n):
            size = plus(size, row(room, i))
            both = plus(both, times(row(room, i), row(alpha, t * n + i)))
        put(room, n, both)
        put(room, n + 1, size)
        for lane in range(LANES):
            g, s = room[n, lane], room[n + 1, lane]
            good = lane < live and g >= LEAST_BOTH
            if lane < live and not good and lost[lane] < 0:
                lost[lane] = t
            room[n, lane] = weights[lane] / g if good else 0.0
            room[n + 1, lane] = 1.0 / s if s > 0 else 1.0
        inverse, shrink = row(room, n), row(room, n + 1)
        for lane in range(LANES):
            if ends[lane] <= t + 1:
                room[n, lane] = 0.0
        to_pairs = row(room, n)
        for i in range(n):
            mine = row(alpha, t * n + i)
            share = times(mine, to_pairs)
            for j in range(n):
                put(pairs, i * n + j, plus(row(pairs, i * n + j), times(share, row(leaving, j))))
            put(alpha, t * n + i, times(times(mine, row(room, i)), inverse))
        for j in range(n):
            put(leaving, j, times(times(row(room, j), shrink), row(b, t * n + j)))
