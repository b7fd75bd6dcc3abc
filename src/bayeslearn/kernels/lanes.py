"""Running one plan for eight cases side by side: the case is the innermost axis of every table.

For small networks one tree serves every case, and evidence enters as a likelihood that is 0 or 1. Tables are (entries,
LANES), so each step of a loop works on eight cases with the same instruction, and what it costs to find the next entry
is shared by them. The steps are those of :mod:`.propagation`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.kernels._jit import kernel
from bayeslearn.kernels.propagation import OFTEN

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Cases side by side: two vectors of four doubles.
LANES = 8


@kernel
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


@kernel
def multiply_shared(
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
    """table[at + i, :] ·= factor[base + i·strides], the same for all cases (= to overwrite)."""
    b, c = dims[hi - 2], dims[hi - 1]
    sb, sc = strides[hi - 2], strides[hi - 1]
    while base >= 0:
        for j in range(b):
            for k in range(c):
                value = factor[base + j * sb + k * sc]
                if overwrite:
                    for lane in range(LANES):
                        table[at, lane] = value
                else:
                    for lane in range(LANES):
                        table[at, lane] *= value
                at += 1
        base = next_line(dims, strides, lo, hi - 3, index, base)


@kernel
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
) -> None:
    """table[at + i, :] ·= factor[base + i·strides, :], each case its own."""
    b, c = dims[hi - 2], dims[hi - 1]
    sb, sc = strides[hi - 2], strides[hi - 1]
    while base >= 0:
        for j in range(b):
            for k in range(c):
                line = base + j * sb + k * sc
                for lane in range(LANES):
                    table[at, lane] *= factor[line, lane]
                at += 1
        base = next_line(dims, strides, lo, hi - 3, index, base)


@kernel
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
                for lane in range(LANES):
                    target[line, lane] += table[at, lane]
                at += 1
        base = next_line(dims, strides, lo, hi - 3, index, base)


@kernel
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


@kernel
def rescale(tables: NDArray[np.float64], lo: int, hi: int, log_p: NDArray[np.float64]) -> None:
    """Divide a table by its largest entry, case by case, so that more factors may come; the logs go to `log_p`."""
    top = np.zeros(LANES)
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


@kernel
def fill(
    network: Any,
    plan: Any,
    likelihood: NDArray[np.float64],
    weighed: NDArray[np.bool_],
    tables: NDArray[np.float64],
    log_p: NDArray[np.float64],
    times: NDArray[np.int64],
    index: NDArray[np.int64],
) -> None:
    """Multiply every factor and likelihood into its clique, rescaling it after every few."""
    _, _, _, cpt_start, cpt, belief_start, kept = network
    site, _, _, _, table, _, clique, factor_step, _, belief_step, dims, strides, _, _ = plan
    times[:] = 0
    for f in range(len(kept)):
        if kept[f]:
            lo, c = factor_step[f, 0], clique[f]
            hi = lo + factor_step[f, 1]
            multiply_shared(tables, table[c], cpt, cpt_start[f], dims, strides, lo, hi, index, times[c] == 0)
            times[c] += 1
            if times[c] % OFTEN == 0:
                rescale(tables, table[c], table[c + 1], log_p)
    for c in range(len(table) - 1):
        if times[c] == 0:
            for i in range(table[c], table[c + 1]):
                for lane in range(LANES):
                    tables[i, lane] = 1.0
    for v in range(len(site)):
        if weighed[v] and site[v] >= 0:
            lo = belief_step[v, 0]
            hi = lo + belief_step[v, 1]
            c = site[v]
            multiply_each(tables, table[c], likelihood, belief_start[v], dims, strides, lo, hi, index)
            times[c] += 1
            if times[c] % OFTEN == 0:
                rescale(tables, table[c], table[c + 1], log_p)


@kernel
def collect(
    plan: Any,
    tables: NDArray[np.float64],
    messages: NDArray[np.float64],
    scale: NDArray[np.float64],
    log_p: NDArray[np.float64],
    times: NDArray[np.int64],
    index: NDArray[np.int64],
) -> None:
    """Messages up the tree; a case whose evidence is impossible gets −∞ and zeros from there on."""
    _, parent, rows, cols, table, message, _, _, message_step, _, dims, strides, _, _ = plan
    inverse = np.empty(LANES)
    product = np.ones(LANES)
    for c in range(len(parent)):
        at, to, width = table[c], message[c], cols[c]
        for lane in range(LANES):
            scale[c, lane] = 0.0
        for r in range(rows[c]):
            for lane in range(LANES):
                messages[to + r, lane] = 0.0
            for _ in range(width):
                for lane in range(LANES):
                    messages[to + r, lane] += tables[at, lane]
                at += 1
            for lane in range(LANES):
                scale[c, lane] += messages[to + r, lane]
        for lane in range(LANES):
            total = scale[c, lane]
            inverse[lane] = 1.0 / total if total > 0.0 else 0.0
            product[lane] *= total
            if product[lane] < 1e-200 or product[lane] > 1e200:  # a log is dear: take it only before leaving the range
                log_p[lane] += np.log(product[lane]) if product[lane] > 0.0 else -np.inf
                product[lane] = 1.0
        for r in range(rows[c]):
            for lane in range(LANES):
                messages[to + r, lane] *= inverse[lane]
        p = parent[c]
        if p >= 0:
            lo = message_step[c, 0]
            hi = lo + message_step[c, 1]
            multiply_each(tables, table[p], messages, to, dims, strides, lo, hi, index)
            times[p] += 1
            if times[p] % OFTEN == 0:
                rescale(tables, table[p], table[p + 1], log_p)
    for lane in range(LANES):
        log_p[lane] += np.log(product[lane])


@kernel
def distribute(
    plan: Any,
    tables: NDArray[np.float64],
    messages: NDArray[np.float64],
    scale: NDArray[np.float64],
    above: NDArray[np.float64],
    index: NDArray[np.int64],
) -> None:
    """Ratios down the tree: afterwards every table is the belief of its clique."""
    _, parent, rows, cols, table, message, _, _, message_step, _, dims, strides, _, _ = plan
    for c in range(len(parent) - 1, -1, -1):
        at, sent, width, p = table[c], message[c], cols[c], parent[c]
        if p >= 0:
            for r in range(rows[c]):
                for lane in range(LANES):
                    above[r, lane] = 0.0
            lo = message_step[c, 0]
            hi = lo + message_step[c, 1]
            add_each(tables, table[p], above, 0, dims, strides, lo, hi, index)
        for r in range(rows[c]):
            for lane in range(LANES):
                below = scale[c, lane] * (messages[sent + r, lane] if p >= 0 else 1.0)
                over = above[r, lane] if p >= 0 else 1.0
                messages[sent + r, lane] = over / below if below > 0.0 else 0.0
            for _ in range(width):
                for lane in range(LANES):
                    tables[at, lane] *= messages[sent + r, lane]
                at += 1


@kernel
def propagate_lanes(
    network: Any,
    plan: Any,
    sizes: NDArray[np.int64],
    codes: NDArray[np.int64],
    beliefs: NDArray[np.float64],
    log_p: NDArray[np.float64],
) -> None:
    """Cases (n, variables), n a multiple of LANES: beliefs (n, entries) and ln P(e) of each."""
    _, _, _, _, _, belief_start, _ = network
    site, parent, rows, _, table, message, _, _, _, belief_step, dims, strides, _, _ = plan
    tables = np.empty((table[-1], LANES))
    messages = np.empty((message[-1], LANES))
    scale = np.empty((len(parent), LANES))
    above = np.empty((max(rows), LANES))
    likelihood = np.ones((belief_start[-1], LANES))
    found = np.empty((belief_start[-1], LANES))
    weighed = np.zeros(len(sizes), np.bool_)
    index = np.zeros(64, np.int64)
    times = np.empty(len(parent), np.int64)
    for first in range(0, len(codes), LANES):
        observe(codes[first : first + LANES], sizes, belief_start, likelihood, weighed)
        logs = log_p[first : first + LANES]
        fill(network, plan, likelihood, weighed, tables, logs, times, index)
        collect(plan, tables, messages, scale, logs, times, index)
        distribute(plan, tables, messages, scale, above, index)
        found[:] = 0.0
        for v in range(len(sizes)):
            lo = belief_step[v, 0]
            add_each(tables, table[site[v]], found, belief_start[v], dims, strides, lo, lo + belief_step[v, 1], index)
        for i in range(belief_start[-1]):
            for lane in range(LANES):
                beliefs[first + lane, i] = found[i, lane]
