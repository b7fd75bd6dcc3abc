"""The way up the tree in logs, for numbers that meet in a clique and are too small to multiply.

    table     ln t = Σ ln factors + Σ messages of children
    message   ln Σ t, or ln max t, over what the parent does not see, less the largest of them

Products of 1e-155 leave the range of floating point, and what underflows to zero would count as impossible. Logs cost
an exponential for each entry, so this way is taken only where :mod:`.propagation` finds that a product may underflow.
It leaves each row of a table as P(the rest | separator, evidence below) and each message as 1, so that the way down is
the same as ever: there nothing is lost but probabilities below 1e-308.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.kernels._jit import inner
from bayeslearn.kernels.junction_tree import BELIEF, FACTOR
from bayeslearn.kernels.table_strides import factor_base, grow

if TYPE_CHECKING:
    from numpy.typing import NDArray


@inner
def add_logs(
    table: NDArray[np.float64],
    at: int,
    source: NDArray[np.float64],
    base: int,
    dims: NDArray[np.int64],
    strides: NDArray[np.int64],
    lo: int,
    hi: int,
    index: NDArray[np.int64],
    overwrite: bool,  # noqa: FBT001 - numba knows no keyword-only arguments
    in_logs: bool,  # noqa: FBT001
) -> None:
    """table[at + i] += ln source[base + i·strides] over the axes lo … hi (= to overwrite); messages are `in_logs`."""
    while True:
        for k in range(dims[hi - 1]):
            value = source[base + k * strides[hi - 1]]
            if not in_logs:
                value = np.log(value) if value > 0.0 else -np.inf
            table[at] = value if overwrite else table[at] + value
            at += 1
        d = hi - 2
        while d >= lo:
            index[d - lo] += 1
            base += strides[d]
            if index[d - lo] < dims[d]:
                break
            base -= strides[d] * dims[d]
            index[d - lo] = 0
            d -= 1
        if d < lo:
            break


@inner
def make_log_table(
    network: Any,
    plan: Any,
    c: int,
    codes: NDArray[np.int64],
    likelihood: NDArray[np.float64],
    weighed: NDArray[np.bool_],
    tables: NDArray[np.float64],
    messages: NDArray[np.float64],
    index: NDArray[np.int64],
) -> None:
    """The logs of clique c: the sum of those of its factors, likelihoods and messages."""
    cpt, belief_start = network[4], network[5]
    site, _, _, _, table, message, _, step_start, steps, dims, strides, _, _ = plan
    at, size = table[c], table[c + 1] - table[c]
    reached, count = 1, 0
    tables[at] = 0.0
    for s in range(step_start[c], step_start[c + 1]):
        kind, who, lo, hi, entries = steps[s, 0], steps[s, 1], steps[s, 2], steps[s, 3], steps[s, 4]
        if kind == BELIEF and not weighed[who]:
            continue
        if count > 0 and entries > reached:
            grow(tables, at, reached, entries // reached)
        reached = max(reached, entries)
        source, base = messages, message[0]
        if kind == BELIEF:
            source, base = likelihood, belief_start[who]
        elif kind == FACTOR:
            source, base = cpt, factor_base(network, site, codes, who)
        else:
            base = message[who]
        in_logs = kind != BELIEF and kind != FACTOR  # noqa: PLR1714 - the compiler has no sets
        add_logs(tables, at, source, base, dims, strides, lo, hi, index, count == 0, in_logs)
        count += 1
    if reached < size:
        grow(tables, at, reached, size // reached)


@inner
def log_sum(values: NDArray[np.float64], lo: int, hi: int) -> float:
    """ln Σ exp(values[lo … hi])."""
    top = -np.inf
    for i in range(lo, hi):
        top = max(top, values[i])
    if top == -np.inf:
        return top
    total = 0.0
    for i in range(lo, hi):
        total += np.exp(values[i] - top)
    return top + np.log(total)


@inner
def summed_inside(plan: Any, c: int, sizes: NDArray[np.int64], wanted: NDArray[np.bool_]) -> int:
    """Entries of the innermost axes of a clique that are summed out, being no part of what is maximized."""
    cols, start, axes = plan[3], plan[11], plan[12]
    inside, j = 1, start[c + 1] - 1
    while inside < cols[c] and not wanted[axes[j]]:
        inside *= sizes[axes[j]]
        j -= 1
    return inside


@inner
def collect_logs(
    network: Any,
    plan: Any,
    sizes: NDArray[np.int64],
    codes: NDArray[np.int64],
    likelihood: NDArray[np.float64],
    weighed: NDArray[np.bool_],
    wanted: NDArray[np.bool_],
    tables: NDArray[np.float64],
    messages: NDArray[np.float64],
) -> float:
    """Tables and messages from the leaves to the roots, in logs; returns ln P(e) but for the factors known altogether.

    Variables that are `wanted` are maximized, the others summed. Each row of a table is left divided by its sum, or by
    its largest entry; −∞ is returned when the evidence is impossible.
    """
    parent, rows, cols, table, message = plan[1], plan[2], plan[3], plan[4], plan[5]
    index = np.zeros(64, np.int64)
    log_p = 0.0
    for c in range(len(parent)):
        make_log_table(network, plan, c, codes, likelihood, weighed, tables, messages, index)
        inside = summed_inside(plan, c, sizes, wanted)
        at, to, top = table[c], message[c], -np.inf
        for r in range(to, to + rows[c]):
            best = -np.inf
            for k in range(at, at + cols[c], inside):
                best = max(best, log_sum(tables, k, k + inside))
            for i in range(at, at + cols[c]):
                tables[i] = np.exp(tables[i] - best) if best > -np.inf else 0.0
            messages[r] = best
            top = max(top, best)
            at += cols[c]
        if top == -np.inf:
            return top
        log_p += top
        for r in range(to, to + rows[c]):
            messages[r] -= top
    for r in range(message[len(parent)]):
        messages[r] = 1.0 if messages[r] > -np.inf else 0.0
    return log_p
