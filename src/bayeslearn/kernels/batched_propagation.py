"""Running one plan for eight cases side by side: the case is the innermost axis of every table.

For small networks one tree serves every case, and evidence enters as a likelihood that is 0 or 1. Tables are (entries,
LANES), so each step of a loop works on eight cases with the same instruction, and what it costs to find the next entry
is shared by them. The steps are those of :mod:`.propagation`; the product of the tables of the network, which is the
same for every case, is made once. Eight cases in which a product may underflow get NaN, for the caller to run alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.kernels._jit import inner, kernel
from bayeslearn.kernels.junction_tree import BELIEF, FACTOR, MESSAGE
from bayeslearn.kernels.propagation import FAINT, LEAST, MOST, is_safe
from bayeslearn.kernels.simd_vectors import LANES, all_lanes, plus, put, row, times
from bayeslearn.kernels.table_strides import EDGE, grow, multiply, rescaled

if TYPE_CHECKING:
    from numpy.typing import NDArray


@inner
def next_line(
    dims: NDArray[np.int64], strides: NDArray[np.int64], lo: int, d: int, index: NDArray[np.int64], base: int
) -> int:
    """Turn the odometer over the axes lo … d; the new offset, or −1 when it is back at the start."""
    while d >= lo:
        index[d - lo] += 1
        base += strides[d]
        if index[d - lo] < dims[d]:
            return base
        base -= strides[d] * dims[d]
        index[d - lo] = 0
        d -= 1
    return -1


@inner
def multiply_each(
    table: NDArray[np.float64],
    at: int,
    factor: NDArray[np.float64],
    base: int,
    dims: NDArray[np.int64],
    strides: NDArray[np.int64],
    lo: int,
    hi: int,
    index: NDArray[np.int64],
    overwrite: bool,  # noqa: FBT001 - numba knows no keyword-only arguments
) -> None:
    """table[at + i, :] ·= factor[base + i·strides, :] (= to overwrite)."""
    b, c = dims[hi - 2], dims[hi - 1]
    sb, sc = strides[hi - 2], strides[hi - 1]
    while base >= 0:
        for j in range(b):
            for k in range(c):
                line = base + j * sb + k * sc
                if overwrite:
                    put(table, at, row(factor, line))
                else:
                    put(table, at, times(row(table, at), row(factor, line)))
                at += 1
        base = next_line(dims, strides, lo, hi - 3, index, base)


@inner
def add_each(
    table: NDArray[np.float64],
    at: int,
    target: NDArray[np.float64],
    base: int,
    dims: NDArray[np.int64],
    strides: NDArray[np.int64],
    lo: int,
    hi: int,
    index: NDArray[np.int64],
) -> None:
    """target[base + i·strides, :] += table[at + i, :]."""
    b, c = dims[hi - 2], dims[hi - 1]
    sb, sc = strides[hi - 2], strides[hi - 1]
    while base >= 0:
        for j in range(b):
            for k in range(c):
                line = base + j * sb + k * sc
                put(target, line, plus(row(target, line), row(table, at)))
                at += 1
        base = next_line(dims, strides, lo, hi - 3, index, base)


@inner
def observe(
    codes: NDArray[np.int64],
    sizes: NDArray[np.int64],
    belief_start: NDArray[np.int64],
    likelihood: NDArray[np.float64],
    weighed: NDArray[np.bool_],
) -> None:
    """Likelihoods of hard evidence: 1 for the state seen (or for all when none was), 0 for the others."""
    for v in range(len(sizes)):
        weighed[v] = False
        for lane in range(LANES):
            weighed[v] |= codes[lane, v] >= 0
        if weighed[v]:
            for k in range(sizes[v]):
                for lane in range(LANES):
                    code = codes[lane, v]
                    likelihood[belief_start[v] + k, lane] = 1.0 if code < 0 or code == k else 0.0


@inner
def rescale(tables: NDArray[np.float64], lo: int, hi: int, log_p: NDArray[np.float64]) -> float:
    """Divide a table by its largest entry, case by case, so that more factors may come; the logs go to `log_p`.

    Returns the least entry of all cases that is left and not zero.
    """
    top, least = np.zeros(LANES), np.inf
    for i in range(lo, hi):
        for lane in range(LANES):
            top[lane] = max(top[lane], tables[i, lane])
    for lane in range(LANES):
        if top[lane] > 0.0:  # a case that is impossible stays zero, and is found so when it is summed
            log_p[lane] += np.log(top[lane])
            top[lane] = 1.0 / top[lane]
    for i in range(lo, hi):
        for lane in range(LANES):
            tables[i, lane] *= top[lane]
            if tables[i, lane] > 0.0:
                least = min(least, tables[i, lane])
    return least


@inner
def least_positive(messages: NDArray[np.float64], lo: int, hi: int) -> float:
    """The least entry of a message that is not zero, of all cases."""
    least = 1.0
    for r in range(lo, hi):
        for lane in range(LANES):
            if messages[r, lane] > 0.0:
                least = min(least, messages[r, lane])
    return least


@inner
def shared_products(
    network: Any, plan: Any, shared: NDArray[np.float64], least: NDArray[np.float64], index: NDArray[np.int64]
) -> float:
    """The product of the factors of every clique, the same for all cases; returns the log of what was taken out.

    `least` gets a bound below the positive entries of each clique. NaN is returned where a product may underflow.
    """
    cpt_start, cpt, least_of_factor = network[3], network[4], network[7]
    table, step_start, steps, dims, strides = plan[4], plan[7], plan[8], plan[9], plan[10]
    log_p = 0.0
    for c in range(len(table) - 1):
        at, size, reached, count, low = table[c], table[c + 1] - table[c], 1, 0, 1.0
        shared[at] = 1.0
        for s in range(step_start[c], step_start[c + 1]):
            kind, who, lo, hi, entries = steps[s, 0], steps[s, 1], steps[s, 2], steps[s, 3], steps[s, 4]
            if kind == FACTOR:
                if count > 0 and entries > reached:
                    grow(shared, at, reached, entries // reached)
                reached = max(reached, entries)
                if low * least_of_factor[who] < EDGE:
                    log_top, low = rescaled(shared, at, at + reached)
                    log_p += log_top
                    if low * least_of_factor[who] < EDGE:
                        return np.nan
                low *= least_of_factor[who]
                multiply(shared, at, cpt, cpt_start[who], dims, strides, lo, hi, index, count == 0)
                count += 1
        if reached < size:
            grow(shared, at, reached, size // reached)
        least[c] = low
    return log_p


@inner
def grow_each(table: NDArray[np.float64], at: int, n: int, repeat: int) -> None:
    """Repeat each of n entries, in place."""
    for i in range(n - 1, -1, -1):
        value = row(table, at + i)
        for k in range(at + i * repeat, at + (i + 1) * repeat):
            put(table, k, value)


@inner
def grow_into(table: NDArray[np.float64], at: int, n: int, repeat: int, shared: NDArray[np.float64]) -> None:
    """Repeat each of n entries, in place, multiplied by what all cases share."""
    for i in range(n - 1, -1, -1):
        value = row(table, at + i)
        for k in range(at + i * repeat, at + (i + 1) * repeat):
            put(table, k, times(value, all_lanes(shared[k])))


@inner
def shrink_each(table: NDArray[np.float64], at: int, n: int, many: int) -> None:
    """Sum `many` entries at a time into one, in place, n of them."""
    k = at
    for i in range(at, at + n):
        total = all_lanes(0.0)
        for _ in range(many):
            total = plus(total, row(table, k))
            k += 1
        put(table, i, total)


@inner
def make_tables(
    network: Any,
    plan: Any,
    c: int,
    likelihood: NDArray[np.float64],
    weighed: NDArray[np.bool_],
    shared: NDArray[np.float64],
    tables: NDArray[np.float64],
    messages: NDArray[np.float64],
    log_p: NDArray[np.float64],
    least: Any,
    least_shared: NDArray[np.float64],
    index: NDArray[np.int64],
) -> float:
    """Clique c as the product of its likelihoods and messages, and of what all cases share.

    Returns a bound below its positive entries, 0 where a product may underflow; `least` holds that of each message, or
    is None where no product can underflow.
    """
    belief_start = network[5]
    table, message, step_start, steps, dims, strides = plan[4], plan[5], plan[7], plan[8], plan[9], plan[10]
    at, size, reached, count, low = table[c], table[c + 1] - table[c], 1, 0, 1.0
    for s in range(step_start[c], step_start[c + 1]):
        kind, who, lo, hi, entries = steps[s, 0], steps[s, 1], steps[s, 2], steps[s, 3], steps[s, 4]
        if kind == FACTOR or (kind == BELIEF and not weighed[who]):
            continue
        if count > 0 and entries > reached:
            grow_each(tables, at, reached, entries // reached)
        reached = max(reached, entries)
        if kind == MESSAGE:
            if least is not None:
                if low * least[who] < EDGE:
                    low = rescale(tables, at, at + reached, log_p)
                    if low * least[who] < EDGE:
                        return 0.0
                low *= least[who]
            multiply_each(tables, at, messages, message[who], dims, strides, lo, hi, index, count == 0)
        else:
            multiply_each(tables, at, likelihood, belief_start[who], dims, strides, lo, hi, index, count == 0)
        count += 1
    if count == 0:
        for lane in range(LANES):
            tables[at, lane] = 1.0
    if least is not None:
        if low * least_shared[c] < EDGE:
            low = rescale(tables, at, at + reached, log_p)
            if low * least_shared[c] < EDGE:
                return 0.0
        low *= least_shared[c]
    grow_into(tables, at, reached, size // reached, shared)
    return low


@inner
def collect(
    network: Any,
    plan: Any,
    likelihood: NDArray[np.float64],
    weighed: NDArray[np.bool_],
    shared: NDArray[np.float64],
    tables: NDArray[np.float64],
    messages: NDArray[np.float64],
    scale: NDArray[np.float64],
    log_p: NDArray[np.float64],
    least: Any,
    least_shared: NDArray[np.float64],
    index: NDArray[np.int64],
) -> bool:
    """Tables and messages up the tree; a case whose evidence is impossible gets −∞ and zeros from there on.

    Returns False where a product may underflow; `least` as for `make_tables`.
    """
    parent, rows, cols, table, message = plan[1], plan[2], plan[3], plan[4], plan[5]
    inverse = np.empty((1, LANES))
    product = np.ones(LANES)
    for c in range(len(parent)):
        low = make_tables(
            network, plan, c, likelihood, weighed, shared, tables, messages, log_p, least, least_shared, index
        )
        if low == 0.0:
            return False
        at, to = table[c], message[c]
        whole = all_lanes(0.0)
        for r in range(to, to + rows[c]):
            total = all_lanes(0.0)
            for _ in range(cols[c]):
                total = plus(total, row(tables, at))
                at += 1
            put(messages, r, total)
            whole = plus(whole, total)
        put(scale, c, whole)
        for lane in range(LANES):
            inverse[0, lane] = 1.0 / scale[c, lane] if scale[c, lane] > 0.0 else 0.0
            if 0.0 < scale[c, lane] < LEAST:
                log_p[lane] += np.log(scale[c, lane])
            else:
                product[lane] *= scale[c, lane]
            if product[lane] < LEAST or product[lane] > MOST:
                log_p[lane] += np.log(product[lane]) if product[lane] > 0.0 else -np.inf
                product[lane] = 1.0
        for r in range(to, to + rows[c]):
            put(messages, r, times(row(messages, r), row(inverse, 0)))
        if least is not None:
            least[c] = low / max(1.0, scale[c].max())
            if least[c] < FAINT:
                least[c] = least_positive(messages, to, to + rows[c])
    for lane in range(LANES):
        log_p[lane] += np.log(product[lane])
    return True


@inner
def turn_each(
    plan: Any,
    c: int,
    tables: NDArray[np.float64],
    messages: NDArray[np.float64],
    scale: NDArray[np.float64],
) -> None:
    """Clique c as P(clique | e): a root divided by its sum, any other times what its parent put in its message."""
    parent, rows, cols, table, message = plan[1], plan[2], plan[3], plan[4], plan[5]
    at = table[c]
    for r in range(message[c], message[c] + rows[c]):
        if parent[c] < 0:
            for lane in range(LANES):
                messages[r, lane] = 1.0 / scale[c, lane] if scale[c, lane] > 0.0 else 0.0
        ratio = row(messages, r)
        for _ in range(cols[c]):
            put(tables, at, times(row(tables, at), ratio))
            at += 1


@inner
def distribute(
    network: Any,
    plan: Any,
    tables: NDArray[np.float64],
    messages: NDArray[np.float64],
    scale: NDArray[np.float64],
    above: NDArray[np.float64],
    beliefs: NDArray[np.float64],
    index: NDArray[np.int64],
) -> None:
    """Ratios down the tree; each table becomes a belief, is read off and shrinks in place."""
    belief_start = network[5]
    parent, rows, table, message = plan[1], plan[2], plan[4], plan[5]
    step_start, steps, dims, strides = plan[7], plan[8], plan[9], plan[10]
    for c in range(len(parent) - 1, -1, -1):
        turn_each(plan, c, tables, messages, scale)
        at, reached = table[c], table[c + 1] - table[c]
        for s in range(step_start[c + 1] - 1, step_start[c] - 1, -1):
            kind, who, lo, hi, entries = steps[s, 0], steps[s, 1], steps[s, 2], steps[s, 3], steps[s, 4]
            if kind == FACTOR:
                continue
            if entries < reached:
                shrink_each(tables, at, entries, reached // entries)
                reached = entries
            if kind == BELIEF:
                add_each(tables, at, beliefs, belief_start[who], dims, strides, lo, hi, index)
                continue
            for r in range(rows[who]):
                put(above, r, all_lanes(0.0))
            add_each(tables, at, above, 0, dims, strides, lo, hi, index)
            for r in range(rows[who]):
                for lane in range(LANES):
                    below = messages[message[who] + r, lane] * scale[who, lane]
                    messages[message[who] + r, lane] = above[r, lane] / below if below > 0.0 else 0.0


@kernel
def propagate_lanes(
    network: Any,
    plan: Any,
    sizes: NDArray[np.int64],
    codes: NDArray[np.int64],
    beliefs: NDArray[np.float64],
    log_p: NDArray[np.float64],
) -> None:
    """Cases (n, variables), n a multiple of LANES: beliefs (n, entries) and ln P(e) of each.

    ln P(e) is NaN, and no beliefs are written, where a product may underflow.
    """
    belief_start = network[5]
    parent, rows, table, message = plan[1], plan[2], plan[4], plan[5]
    index = np.zeros(64, np.int64)
    shared, least, least_shared = np.empty(table[-1]), np.empty(len(parent)), np.empty(len(parent))
    safe = is_safe(network, plan, shared, np.zeros(len(sizes), np.bool_))
    taken_out = shared_products(network, plan, shared, least_shared, index)
    tables = np.empty((table[-1], LANES))
    messages = np.empty((message[-1], LANES))
    scale = np.empty((len(parent), LANES))
    above = np.empty((max(rows), LANES))
    likelihood = np.ones((belief_start[-1], LANES))
    found = np.empty((belief_start[-1], LANES))
    weighed = np.zeros(len(sizes), np.bool_)
    for first in range(0, len(codes), LANES):
        observe(codes[first : first + LANES], sizes, belief_start, likelihood, weighed)
        logs = log_p[first : first + LANES]
        logs[:] = taken_out
        if safe:
            collect(
                network, plan, likelihood, weighed, shared, tables, messages, scale, logs, None, least_shared, index
            )
        elif np.isnan(taken_out) or not collect(
            network, plan, likelihood, weighed, shared, tables, messages, scale, logs, least, least_shared, index
        ):
            logs[:] = np.nan
            continue
        found[:] = 0.0
        distribute(network, plan, tables, messages, scale, above, found, index)
        for i in range(belief_start[-1]):
            for lane in range(LANES):
                beliefs[first + lane, i] = found[i, lane]
