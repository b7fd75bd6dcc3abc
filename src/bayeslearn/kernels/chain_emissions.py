"""What the states of a chain say of observations, laid out in lanes for :mod:`.chains`, and counted back again.

Each `lay_*` fills b[t·S + j, lane], the likelihood of state j for step t of the sequence in a lane, up to a factor of
the step whose log is added to `log_p`; steps past the end and missing observations have b = 1. Each `take_*` adds up γ.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numba
import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from bayeslearn.kernels._jit import inner, kernel
from bayeslearn.kernels.vectors import LANES

if TYPE_CHECKING:
    from numpy.typing import NDArray

LOG2_E = 1.4426950408889634
LN_2 = 0.6931471805599453
#: Below this e^x is taken for zero.
LEAST_LOG = -700.0

### e^x


@intrinsic
def _as_float(_: Any, bits: Any) -> Any:  # noqa: ARG001 - numba wants the arguments named
    def codegen(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.DoubleType())

    return types.float64(types.int64), codegen


def _plain_as_float(bits: Any) -> Any:
    return np.int64(bits).view(np.float64)


#: The float that has these bits.
as_float: Any = _plain_as_float if numba.config.DISABLE_JIT else _as_float


@inner
def exponentiate(x: NDArray[np.float64], first: int, last: int) -> None:
    """e^x in place for x ≤ 0: 2ᵏ eʳ with |r| ≤ ½ ln 2, and eʳ by its series; a loop without calls is vectorised."""
    for i in range(first, last):
        clipped = max(x[i], LEAST_LOG)
        k = np.floor(clipped * LOG2_E + 0.5)
        r = clipped - k * LN_2
        p = 1 / 479001600.0
        p = p * r + 1 / 39916800.0
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
        power = as_float((np.int64(np.int32(k)) + 1023) << 52)
        x[i] = p * power if x[i] > LEAST_LOG else 0.0


@inner
def from_logs(
    n: int, steps: int, lengths: NDArray[np.int64], b: NDArray[np.float64], log_p: NDArray[np.float64]
) -> None:
    """Logs in b become likelihoods relative to the highest of their step, whose log goes to `log_p`."""
    flat = b.reshape(-1)
    top = np.empty(LANES)
    for t in range(steps):
        at = t * n * LANES
        for lane in range(LANES):
            top[lane] = flat[at + lane]
        for j in range(1, n):
            for lane in range(LANES):
                top[lane] = max(top[lane], flat[at + j * LANES + lane])
        for lane in range(LANES):
            if top[lane] == -np.inf:
                top[lane] = 0.0
            if t < lengths[lane]:
                log_p[lane] += top[lane]
        for j in range(n):
            for lane in range(LANES):
                flat[at + j * LANES + lane] -= top[lane]
        exponentiate(flat, at, at + n * LANES)


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
    """b of independent normals: parts[j, d] = mean, ½/σ² and −½ ln 2πσ²; a coordinate that is NaN says nothing."""
    n, dim = parts.shape[:2]
    here = np.empty((dim, LANES))
    flat, cells = b.reshape(-1), here.reshape(-1)
    for t in range(lengths[0]):
        for lane in range(LANES):
            for d in range(dim):
                here[d, lane] = x[starts[lane] + t, d] if t < lengths[lane] else np.nan
        for j in range(n):
            at = (t * n + j) * LANES
            for lane in range(LANES):
                flat[at + lane] = 0.0
            for d in range(dim):
                mean, half, level = parts[j, d]
                for lane in range(LANES):
                    off = cells[d * LANES + lane] - mean
                    log_density = level - half * off * off
                    flat[at + lane] += 0.0 if np.isnan(log_density) else log_density
    from_logs(n, lengths[0], lengths, b, log_p)


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
    from_logs(n, lengths[0], lengths, b, log_p)


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
    """sums[j, d, :, lane] += γ, γ δ and γ δ² with δ = x − mean: about the present means, so that little cancels."""
    n, dim = parts.shape[:2]
    here = np.empty((dim, LANES))
    flat, cells, into = gamma.reshape(-1), here.reshape(-1), sums.reshape(-1)
    for t in range(lengths[0]):
        for lane in range(LANES):
            for d in range(dim):
                here[d, lane] = x[starts[lane] + t, d] if t < lengths[lane] else np.nan
        for j in range(n):
            at = (t * n + j) * LANES
            for d in range(dim):
                mean, to = parts[j, d, 0], (j * dim + d) * 3 * LANES
                for lane in range(LANES):
                    off = cells[d * LANES + lane] - mean
                    seen = not np.isnan(off)
                    share = flat[at + lane] if seen else 0.0
                    first = share * off if seen else 0.0
                    into[to + lane] += share
                    into[to + LANES + lane] += first
                    into[to + 2 * LANES + lane] += first * off if seen else 0.0


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
