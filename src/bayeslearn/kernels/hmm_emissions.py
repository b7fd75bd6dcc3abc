"""Log likelihoods of observations given states, in lanes for :mod:`.hmm_forward_backward`, and their counts.

Each `lay_*` fills b[t·S + j, lane], the likelihood of state j for step t of the sequence in a lane, up to a factor of
the step whose log is added to `log_p`; missing observations have b = 1. Steps past the end may have any b up to 1. Each
`take_*` adds up γ.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayeslearn.kernels._jit import inner, kernel
from bayeslearn.kernels.simd_vectors import LANES, all_lanes, exponential, larger, plus, put, row, times

if TYPE_CHECKING:
    from numpy.typing import NDArray


@inner
def from_logs(
    n: int, lengths: NDArray[np.int64], b: NDArray[np.float64], log_p: NDArray[np.float64], room: NDArray[np.float64]
) -> None:
    """Logs in b become likelihoods relative to the highest of their step, whose log goes to `log_p`."""
    live = LANES
    for t in range(lengths[0]):
        while lengths[live - 1] <= t:
            live -= 1
        top = row(b, t * n)
        for j in range(1, n):
            top = larger(top, row(b, t * n + j))
        put(room, 0, top)
        for lane in range(LANES):
            if room[0, lane] == -np.inf:
                room[0, lane] = 0.0
            room[0, lane] = -room[0, lane]
        for lane in range(live):
            log_p[lane] -= room[0, lane]
        down = row(room, 0)
        for j in range(n):
            put(b, t * n + j, exponential(plus(row(b, t * n + j), down)))


@inner
def turn(
    x: NDArray[np.float64],
    starts: NDArray[np.int64],
    lengths: NDArray[np.int64],
    t: int,
    here: NDArray[np.float64],
    seen: NDArray[np.float64],
) -> bool:
    """Step t of all lanes into `here` (dim, lanes), and 1 into `seen` where it is not NaN; whether all is seen."""
    whole = True
    for lane in range(LANES):
        if t < lengths[lane]:
            for d in range(len(here)):
                cell = x[starts[lane] + t, d]
                gone = np.isnan(cell)
                here[d, lane] = 0.0 if gone else cell
                seen[d, lane] = 0.0 if gone else 1.0
                whole &= not gone
    return whole


### laying out


@kernel
def lay_symbols(
    codes: NDArray[np.int32],
    starts: NDArray[np.int64],
    lengths: NDArray[np.int64],
    table: NDArray[np.float64],
    b: NDArray[np.float64],
) -> None:
    """b of symbols: rows of `table` (symbols + 1, S), whose first is that of a missing one and all ones."""
    n = table.shape[1]
    for t in range(lengths[0]):
        for lane in range(LANES):
            k = codes[starts[lane] + t] + 1 if t < lengths[lane] else 0
            for j in range(n):
                b[t * n + j, lane] = table[k, j]


@kernel
def lay_normals(
    x: NDArray[np.float64],
    starts: NDArray[np.int64],
    lengths: NDArray[np.int64],
    parts: NDArray[np.float64],
    b: NDArray[np.float64],
    log_p: NDArray[np.float64],
) -> None:
    """b of independent normals: parts[j, d] = mean, ½/σ² and −½ ln 2πσ²; a coordinate that is NaN adds nothing."""
    n, dim = parts.shape[:2]
    here, seen, room = np.zeros((dim, LANES)), np.zeros((dim, LANES)), np.empty((1, LANES))
    for t in range(lengths[0]):
        whole = turn(x, starts, lengths, t, here, seen)
        for j in range(n):
            total = all_lanes(0.0)
            for d in range(dim):
                off = plus(row(here, d), all_lanes(-parts[j, d, 0]))
                density = plus(times(times(off, off), all_lanes(-parts[j, d, 1])), all_lanes(parts[j, d, 2]))
                total = plus(total, density if whole else times(density, row(seen, d)))
            put(b, t * n + j, total)
    from_logs(n, lengths, b, log_p, room)


@kernel
def lay_logs(
    logs: NDArray[np.float64],
    starts: NDArray[np.int64],
    lengths: NDArray[np.int64],
    b: NDArray[np.float64],
    log_p: NDArray[np.float64],
) -> None:
    """b of log likelihoods (rows, S) of any kind."""
    n = logs.shape[1]
    for t in range(lengths[0]):
        for lane in range(LANES):
            for j in range(n):
                b[t * n + j, lane] = logs[starts[lane] + t, j] if t < lengths[lane] else 0.0
    from_logs(n, lengths, b, log_p, np.empty((1, LANES)))


@kernel
def lay_known(
    n: int,
    known: NDArray[np.int32],
    starts: NDArray[np.int64],
    lengths: NDArray[np.int64],
    b: NDArray[np.float64],
) -> None:
    """Where a state is known (not −1), no other explains the step."""
    for lane in range(LANES):
        for t in range(lengths[lane]):
            k = known[starts[lane] + t]
            if k >= 0:
                for j in range(n):
                    if j != k:
                        b[t * n + j, lane] = 0.0


### adding up


@kernel
def take_symbols(
    codes: NDArray[np.int32],
    starts: NDArray[np.int64],
    lengths: NDArray[np.int64],
    gamma: NDArray[np.float64],
    counts: NDArray[np.float64],
) -> None:
    """counts[symbol + 1, j] += γ_t(j)."""
    n = counts.shape[1]
    for t in range(lengths[0]):
        for lane in range(LANES):
            if t < lengths[lane]:
                k = codes[starts[lane] + t] + 1
                for j in range(n):
                    counts[k, j] += gamma[t * n + j, lane]


@kernel
def take_normals(
    x: NDArray[np.float64],
    starts: NDArray[np.int64],
    lengths: NDArray[np.int64],
    gamma: NDArray[np.float64],
    parts: NDArray[np.float64],
    sums: NDArray[np.float64],
) -> None:
    """sums[3(jD + d) + k] += γ δᵏ with δ = x − mean, k = 0, 1, 2: about the present means, so that little cancels."""
    n, dim = parts.shape[:2]
    here, seen = np.zeros((dim, LANES)), np.zeros((dim, LANES))
    for t in range(lengths[0]):
        whole = turn(x, starts, lengths, t, here, seen)
        for j in range(n):
            gamma_j = row(gamma, t * n + j)
            for d in range(dim):
                to = (j * dim + d) * 3
                off = plus(row(here, d), all_lanes(-parts[j, d, 0]))
                share = gamma_j if whole else times(gamma_j, row(seen, d))
                first = times(share, off)
                put(sums, to, plus(row(sums, to), share))
                put(sums, to + 1, plus(row(sums, to + 1), first))
                put(sums, to + 2, plus(row(sums, to + 2), times(first, off)))


@kernel
def take_rows(
    n: int,
    starts: NDArray[np.int64],
    lengths: NDArray[np.int64],
    gamma: NDArray[np.float64],
    rows: NDArray[np.float64],
) -> None:
    """γ of every step as rows (rows, S)."""
    for t in range(lengths[0]):
        for lane in range(LANES):
            if t < lengths[lane]:
                for j in range(n):
                    rows[starts[lane] + t, j] = gamma[t * n + j, lane]
