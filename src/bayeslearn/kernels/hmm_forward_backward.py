"""Forward and backward along hidden Markov chains, eight sequences side by side.

    forward     α_t(j) = Σ_i α_{t−1}(i) A_ij · b_t(j)              divided by its sum c_t; ln P = Σ ln c_t
    backward    β_t(i) = Σ_j A_ij b_{t+1}(j) β_{t+1}(j)            γ_t = α_t β_t / Σ α_t β_t
    pairs       Σ_t α_t(i) b_{t+1}(j) β_{t+1}(j) / Σ α_t β_t       times A_ij once, when all is added up

Rows t·S + j of `b` and `alpha` are state j at step t, a lane for each sequence (:mod:`.vectors`). Lanes come longest
first; what the lanes of sequences that have ended hold is never used. A logarithm is taken only when a
product of scales leaves the range of floats. A lane whose numbers become too small is marked as lost and
adds nothing: :func:`smooth_logs` of :mod:`.hmm_log_space` repeats it in logs.

A long chain is taken in blocks: `entry` and `leaving` hand over from one to the next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayeslearn.kernels._jit import inner, kernel
from bayeslearn.kernels.simd_vectors import LANES, all_lanes, over, plus, put, row, times

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: A scale below this is lost, and a product of scales below this is turned into its log.
LEAST = 1e-140
#: Too small to change a sum, and large enough to divide by.
TINY = 1e-300
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

    `entry` (S, lanes) is what is expected of the first step, and then of the step after the last. `scales` (4, lanes)
    is room. `lost` is the first step of a lane that is not trusted, or −1.
    """
    n = len(moves)
    live = LANES
    product, c, alive, rest = 0, 1, 2, 3  # rows of scales; a lane that is not alive has a scale of 1
    for lane in range(LANES):
        scales[product, lane] = 1.0
        scales[alive, lane] = 1.0
        scales[rest, lane] = 0.0
    for t in range(lengths[0]):
        while lengths[live - 1] <= t:
            live -= 1
            scales[alive, live], scales[rest, live] = 0.0, 1.0
        total = all_lanes(0.0)
        for j in range(n):
            now = times(row(entry, j), row(b, t * n + j))
            total = plus(total, now)
            put(alpha, t * n + j, now)
        total = plus(times(total, row(scales, alive)), row(scales, rest))
        put(scales, c, total)
        put(scales, product, times(row(scales, product), total))
        for lane in range(live):
            if not scales[product, lane] >= LEAST:
                if scales[c, lane] >= LEAST:
                    log_p[lane] += np.log(scales[product, lane])
                else:
                    if lost[lane] < 0:
                        lost[lane] = t
                    scales[c, lane], scales[alive, lane], scales[rest, lane] = 1.0, 0.0, 1.0
                scales[product, lane] = 1.0
        inverse = over(all_lanes(1.0), row(scales, c))
        combine(alpha, t * n, moves, n, entry, 0)
        for j in range(n):
            put(entry, j, times(row(entry, j), inverse))
    for lane in range(LANES):
        log_p[lane] += np.log(scales[product, lane])


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
    of its first step. `ends` are the lengths with the step after the block. `room` is (S + 4, lanes). Lanes without
    weight, or past the end of their sequence, get zeros.
    """
    n = len(turned)
    live = joined = 0
    sums, mine, joint, rest = n, n + 1, n + 2, n + 3  # rows of room; a lane that is not live has a sum of at least 1
    for lane in range(LANES):
        room[mine, lane] = room[joint, lane] = 0.0
        room[rest, lane] = 1.0
    for t in range(lengths[0] - 1, -1, -1):
        while live < LANES and lengths[live] > t:
            if lengths[live] == ends[live]:
                for j in range(n):
                    leaving[j, live] = 1.0
            room[mine, live] = weights[live]
            room[rest, live] = 0.0 if weights[live] > 0 else 1.0
            live += 1
        while joined < LANES and ends[joined] > t + 1:
            room[joint, joined] = weights[joined]
            joined += 1
        combine(leaving, 0, turned, n, room, 0)  # β_t
        both, size = row(room, rest), all_lanes(TINY)
        for i in range(n):
            size = plus(size, row(room, i))
            both = plus(both, times(row(room, i), row(alpha, t * n + i)))
        put(room, sums, both)
        for lane in range(live):
            if not room[sums, lane] >= LEAST_BOTH:
                lost[lane] = t
                room[sums, lane] = 1.0
        inverse, shrink = over(all_lanes(1.0), row(room, sums)), over(all_lanes(1.0), size)
        to_gamma, to_pairs = times(inverse, row(room, mine)), times(inverse, row(room, joint))
        for i in range(0, n - 1, 2):  # two i at a time to read `leaving` half as often
            one, two = times(row(alpha, t * n + i), to_pairs), times(row(alpha, t * n + i + 1), to_pairs)
            for j in range(n):
                ahead = row(leaving, j)
                put(pairs, i * n + j, plus(row(pairs, i * n + j), times(one, ahead)))
                put(pairs, (i + 1) * n + j, plus(row(pairs, (i + 1) * n + j), times(two, ahead)))
        if n & 1:
            one = times(row(alpha, t * n + n - 1), to_pairs)
            for j in range(n):
                put(pairs, (n - 1) * n + j, plus(row(pairs, (n - 1) * n + j), times(one, row(leaving, j))))
        for i in range(n):
            put(alpha, t * n + i, times(times(row(alpha, t * n + i), row(room, i)), to_gamma))
        for j in range(n):
            put(leaving, j, times(times(row(room, j), shrink), row(b, t * n + j)))
