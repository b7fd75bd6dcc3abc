"""Running a plan: products up the tree, ratios down again, beliefs read off.

    up     table = Π factors · Π messages of children        message = Σ over what the parent does not see
    down   table · (parent's Σ onto the separator) / message
    belief P(v | e) = Σ over the rest of a table that holds v

Every message is normalised on the way up and the logs of the sums add to ln P(e), so nothing underflows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.kernels._jit import kernel
from bayeslearn.kernels.planning import plan

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Factors that may be multiplied into a table before it is rescaled.
OFTEN = 8


@kernel
def multiply(
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
    """table[at + i] ·= factor[base + i·strides] over the axes lo … hi, at least three of them (= to overwrite).

    The three innermost axes are plain loops; an odometer turns the others.
    """
    a, b, c = dims[hi - 3], dims[hi - 2], dims[hi - 1]
    sa, sb, sc = strides[hi - 3], strides[hi - 2], strides[hi - 1]
    while True:
        for i in range(a):
            for j in range(b):
                line = base + i * sa + j * sb
                if overwrite:
                    for k in range(c):
                        table[at + k] = factor[line + k * sc]
                elif sc == 0:
                    value = factor[line]
                    for k in range(c):
                        table[at + k] *= value
                elif sc == 1:
                    for k in range(c):
                        table[at + k] *= factor[line + k]
                else:
                    for k in range(c):
                        table[at + k] *= factor[line + k * sc]
                at += c
        d = hi - 4
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


@kernel
def add_up(
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
    """target[base + i·strides] += table[at + i] over the axes lo … hi, of which there are at least three."""
    a, b, c = dims[hi - 3], dims[hi - 2], dims[hi - 1]
    sa, sb, sc = strides[hi - 3], strides[hi - 2], strides[hi - 1]
    while True:
        for i in range(a):
            for j in range(b):
                line = base + i * sa + j * sb
                if sc == 0:
                    total = 0.0
                    for k in range(c):
                        total += table[at + k]
                    target[line] += total
                else:
                    for k in range(c):
                        target[line + k * sc] += table[at + k]
                at += c
        d = hi - 4
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


@kernel
def rescaled(tables: NDArray[np.float64], lo: int, hi: int) -> float:
    """Divide a table by its largest entry, so that more factors may come; the log of it, −∞ when all is zero."""
    top = 0.0
    for i in range(lo, hi):
        top = max(top, tables[i])
    if top == 0.0:
        return -np.inf
    inverse = 1.0 / top
    for i in range(lo, hi):
        tables[i] *= inverse
    return np.log(top)


@kernel
def counted(tables: NDArray[np.float64], table: NDArray[np.int64], times: NDArray[np.int64], c: int) -> float:
    """One more factor went into a table: after every few it is rescaled; returns the log taken out."""
    times[c] += 1
    return rescaled(tables, table[c], table[c + 1]) if times[c] % OFTEN == 0 else 0.0


@kernel
def fill_tables(
    network: Any,
    plan: Any,
    codes: NDArray[np.int64],
    likelihood: NDArray[np.float64],
    weighed: NDArray[np.bool_],
    tables: NDArray[np.float64],
    times: NDArray[np.int64],
    index: NDArray[np.int64],
) -> float:
    """Multiply every factor and likelihood into its clique; returns the log of what was taken out on the way.

    `times` counts what went into each clique: after every few the table is rescaled, or hundreds would underflow.
    """
    scope_start, scope, scope_stride, cpt_start, cpt, belief_start, kept = network
    (
        site, _, _, _, table, _, factor_clique,
        factor_step, _, belief_step, dims, strides, _, _,
    ) = plan  # fmt: skip
    cliques = len(table) - 1
    times[:] = 0
    log_p = 0.0
    for f in range(len(kept)):
        if not kept[f]:
            continue
        base = cpt_start[f]
        for i in range(scope_start[f], scope_start[f + 1]):
            if site[scope[i]] < 0:
                base += codes[scope[i]] * scope_stride[i]
        c = factor_clique[f]
        if c < 0:
            if cpt[base] == 0.0:
                return -np.inf
            log_p += np.log(cpt[base])
            continue
        lo, hi = factor_step[f, 0], factor_step[f, 0] + factor_step[f, 1]
        multiply(tables, table[c], cpt, base, dims, strides, lo, hi, index, times[c] == 0)
        log_p += counted(tables, table, times, c)
    for c in range(cliques):
        if times[c] == 0:
            tables[table[c] : table[c + 1]] = 1.0
    for v in range(len(site)):
        if weighed[v] and site[v] >= 0:
            lo, hi = belief_step[v, 0], belief_step[v, 0] + belief_step[v, 1]
            multiply(tables, table[site[v]], likelihood, belief_start[v], dims, strides, lo, hi, index, False)
            log_p += counted(tables, table, times, site[v])
    return log_p


@kernel
def send_up(
    plan: Any,
    c: int,
    total: float,
    tables: NDArray[np.float64],
    messages: NDArray[np.float64],
    times: NDArray[np.int64],
    index: NDArray[np.int64],
) -> float:
    """Divide the message of a clique by `total` and multiply it into the parent; returns the log taken out."""
    _, parent, rows, _, table, message, _, _, message_step, _, dims, strides, _, _ = plan
    inverse = 1.0 / total
    for r in range(message[c], message[c] + rows[c]):
        messages[r] *= inverse
    p = parent[c]
    if p < 0:
        return np.log(total)
    lo, hi = message_step[c, 0], message_step[c, 0] + message_step[c, 1]
    multiply(tables, table[p], messages, message[c], dims, strides, lo, hi, index, False)
    return np.log(total) + counted(tables, table, times, p)


@kernel
def collect_up(
    plan: Any,
    tables: NDArray[np.float64],
    messages: NDArray[np.float64],
    scale: NDArray[np.float64],
    times: NDArray[np.int64],
    index: NDArray[np.int64],
) -> float:
    """Messages from the leaves to the roots; returns the log of what they sum to."""
    _, parent, rows, cols, table, message, _, _, _, _, _, _, _, _ = plan
    log_p = 0.0
    for c in range(len(parent)):
        at, to, width = table[c], message[c], cols[c]
        total = 0.0
        for r in range(rows[c]):
            row = 0.0
            for i in range(width):
                row += tables[at + i]
            at += width
            messages[to + r] = row
            total += row
        if not total > 0.0:
            return -np.inf
        scale[c] = total
        log_p += send_up(plan, c, total, tables, messages, times, index)
    return log_p


@kernel
def distribute_down(
    plan: Any,
    tables: NDArray[np.float64],
    messages: NDArray[np.float64],
    scale: NDArray[np.float64],
    index: NDArray[np.int64],
) -> None:
    """From the roots to the leaves: afterwards every table is the belief of its clique."""
    _, parent, rows, cols, table, message, _, _, message_step, _, dims, strides, _, _ = plan
    widest = 0
    for c in range(len(rows)):
        widest = max(widest, rows[c])
    above = np.empty(widest, np.float64)
    for c in range(len(parent) - 1, -1, -1):
        p = parent[c]
        if p < 0:
            inverse = 1.0 / scale[c]
            for i in range(table[c], table[c + 1]):
                tables[i] *= inverse
            continue
        for r in range(rows[c]):
            above[r] = 0.0
        lo, hi = message_step[c, 0], message_step[c, 0] + message_step[c, 1]
        add_up(tables, table[p], above, 0, dims, strides, lo, hi, index)
        at, sent, width = table[c], message[c], cols[c]
        for r in range(rows[c]):
            below = messages[sent + r] * scale[c]
            ratio = above[r] / below if below > 0.0 else 0.0
            for i in range(width):
                tables[at + i] *= ratio
            at += width


@kernel
def read_beliefs(
    network: Any,
    plan: Any,
    sizes: NDArray[np.int64],
    codes: NDArray[np.int64],
    tables: NDArray[np.float64],
    beliefs: NDArray[np.float64],
    index: NDArray[np.int64],
) -> None:
    """P(v | e) of every variable of the plan, one after the other; certainty where it was observed."""
    _, _, _, _, _, belief_start, _ = network
    site, _, _, _, table, _, _, _, _, belief_step, dims, strides, _, _ = plan
    for v in range(len(site)):
        to = belief_start[v]
        for k in range(sizes[v]):
            beliefs[to + k] = 0.0
        c = site[v]
        if c < 0:
            if codes[v] >= 0:
                beliefs[to + codes[v]] = 1.0
            continue
        lo, hi = belief_step[v, 0], belief_step[v, 0] + belief_step[v, 1]
        add_up(tables, table[c], beliefs, to, dims, strides, lo, hi, index)
        total = 0.0
        for k in range(sizes[v]):
            total += beliefs[to + k]
        for k in range(sizes[v]):
            beliefs[to + k] /= total


@kernel
def climb_to_maximum(
    plan: Any,
    tables: NDArray[np.float64],
    messages: NDArray[np.float64],
    times: NDArray[np.int64],
    index: NDArray[np.int64],
) -> float:
    """Messages up the tree as in `collect_up`, with the largest entry of a row in place of its sum."""
    _, parent, rows, cols, table, message, _, _, _, _, _, _, _, _ = plan
    log_p = 0.0
    for c in range(len(parent)):
        at, to, width = table[c], message[c], cols[c]
        top = 0.0
        for r in range(rows[c]):
            best = 0.0
            for i in range(width):
                best = max(best, tables[at + i])
            at += width
            messages[to + r] = best
            top = max(top, best)
        if not top > 0.0:
            return -np.inf
        log_p += send_up(plan, c, top, tables, messages, times, index)
    return log_p


@kernel
def most_probable(
    network: Any,
    plan: Any,
    sizes: NDArray[np.int64],
    codes: NDArray[np.int64],
    likelihood: NDArray[np.float64],
    weighed: NDArray[np.bool_],
    tables: NDArray[np.float64],
    messages: NDArray[np.float64],
    found: NDArray[np.int64],
) -> float:
    """The most probable case that agrees with the evidence, into `found`; returns its ln P(case, e).

    After the climb a table holds the best that can be reached with each of its entries, so the choice is read off from
    the roots to the leaves: each clique takes the best entry of the row that its separator, known by then, selects.
    """
    _, parent, rows, cols, table, _, _, _, _, _, _, _, start, axes = plan
    index = np.zeros(64, np.int64)
    times = np.empty(len(parent), np.int64)
    log_p = fill_tables(network, plan, codes, likelihood, weighed, tables, times, index)
    if log_p == -np.inf:
        return log_p
    log_p += climb_to_maximum(plan, tables, messages, times, index)
    if log_p == -np.inf:
        return log_p
    for v in range(len(sizes)):
        found[v] = codes[v]
    for c in range(len(parent) - 1, -1, -1):
        row, reach, j = 0, 1, start[c]
        while reach < rows[c]:
            row = row * sizes[axes[j]] + found[axes[j]]
            reach *= sizes[axes[j]]
            j += 1
        at = table[c] + row * cols[c]
        best = 0
        for i in range(cols[c]):
            if tables[at + i] > tables[at + best]:
                best = i
        for k in range(start[c + 1] - 1, j - 1, -1):
            if found[axes[k]] < 0:
                found[axes[k]] = best % sizes[axes[k]]
            best //= sizes[axes[k]]
    return log_p


@kernel
def propagate(
    network: Any,
    plan: Any,
    sizes: NDArray[np.int64],
    codes: NDArray[np.int64],
    likelihood: NDArray[np.float64],
    weighed: NDArray[np.bool_],
    tables: NDArray[np.float64],
    messages: NDArray[np.float64],
    beliefs: NDArray[np.float64],
) -> float:
    """One case: every belief, and ln P(e); −∞ and no beliefs when the evidence is impossible."""
    parent = plan[1]
    index = np.zeros(64, np.int64)
    scale = np.empty(len(parent), np.float64)
    times = np.empty(len(parent), np.int64)
    log_p = fill_tables(network, plan, codes, likelihood, weighed, tables, times, index)
    if log_p == -np.inf:
        return log_p
    log_p += collect_up(plan, tables, messages, scale, times, index)
    if log_p == -np.inf:
        return log_p
    distribute_down(plan, tables, messages, scale, index)
    read_beliefs(network, plan, sizes, codes, tables, beliefs, index)
    return log_p


@kernel
def propagate_cases(
    network: Any,
    sizes: NDArray[np.int64],
    log_size: NDArray[np.float64],
    codes: NDArray[np.int64],
    weight: float,
    limit: float,
    beliefs: NDArray[np.float64],
    log_p: NDArray[np.float64],
) -> int:
    """Each case (n, variables) with a plan of its own, kept while the same variables are observed.

    Returns −1, or the first case whose tables would have more than `limit` entries.
    """
    scope_start, scope, scope_stride, _, _, _, kept = network
    n = codes.shape[1]
    noise = np.zeros(n)
    likelihood = np.ones(1)
    weighed = np.zeros(n, np.bool_)
    active = codes[0] < 0
    tables = np.empty(0)
    messages = np.empty(0)
    entries, steps = plan(scope_start, scope, scope_stride, sizes, log_size, active, kept, noise, weight, limit)
    for i in range(len(codes)):
        same = True
        for v in range(n):
            same &= active[v] == (codes[i, v] < 0)
        if not same:
            active = codes[i] < 0
            entries, steps = plan(scope_start, scope, scope_stride, sizes, log_size, active, kept, noise, weight, limit)
        if entries > limit:
            return i
        if len(tables) < steps[4][-1]:
            tables = np.empty(steps[4][-1])
        if len(messages) < steps[5][-1]:
            messages = np.empty(steps[5][-1])
        log_p[i] = propagate(network, steps, sizes, codes[i], likelihood, weighed, tables, messages, beliefs[i])
    return -1
