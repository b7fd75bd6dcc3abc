"""Choosing states for a whole case: the most probable ones together, or a draw from their joint posterior.

up     as in propagation, with the largest entry of a row in place of its sum for what is to be maximized
down   from the roots to the leaves, each clique chooses in the row that its separator, known by then, selects
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.kernels._jit import inner, kernel
from bayeslearn.kernels.log_propagation import collect_logs, summed_inside
from bayeslearn.kernels.propagation import collect, is_safe, known_factors, make_table, send_up

if TYPE_CHECKING:
    from numpy.typing import NDArray


@inner
def climb_to_maximum(
    network: Any,
    plan: Any,
    sizes: NDArray[np.int64],
    codes: NDArray[np.int64],
    likelihood: NDArray[np.float64],
    weighed: NDArray[np.bool_],
    wanted: NDArray[np.bool_],
    tables: NDArray[np.float64],
    messages: NDArray[np.float64],
    least: Any,
) -> float:
    """Messages up the tree as in `collect_up`, with the largest entry of a row in place of its sum.

    Variables that are not wanted go first in every order, so they are the innermost, and are summed. NaN is returned
    where a product may underflow.
    """
    parent, rows, cols, table, message = plan[1], plan[2], plan[3], plan[4], plan[5]
    index = np.zeros(64, np.int64)
    log_p, product = known_factors(network, plan, codes), 1.0
    if log_p == -np.inf:
        return log_p
    for c in range(len(parent)):
        taken, low = make_table(network, plan, c, codes, likelihood, weighed, tables, messages, least, index)
        if least is not None:
            if not taken > -np.inf:
                return taken
            log_p += taken
        inner = summed_inside(plan, c, sizes, wanted)
        at, top = table[c], 0.0
        for r in range(rows[c]):
            best = 0.0
            for _ in range(cols[c] // inner):
                total = 0.0
                for i in range(at, at + inner):
                    total += tables[i]
                at += inner
                best = max(best, total)
            messages[message[c] + r] = best
            top = max(top, best)
        if not top > 0.0:
            return -np.inf
        if least is None:
            product *= top  # in range altogether
        else:
            log_p += np.log(top)
        send_up(plan, c, top, low, messages, least)
    return log_p + np.log(product)


@inner
def choose_down(
    plan: Any,
    sizes: NDArray[np.int64],
    wanted: NDArray[np.bool_],
    tables: NDArray[np.float64],
    found: NDArray[np.int64],
) -> None:
    """After the upward pass a table holds the maximum over the completions of each of its entries: read the choice off.

    From the roots to the leaves each clique takes the best entry of the row that its separator, known by then, selects.
    """
    parent, cols, table, start, axes = plan[1], plan[3], plan[4], plan[11], plan[12]
    for c in range(len(parent) - 1, -1, -1):
        inner = summed_inside(plan, c, sizes, wanted)
        if inner == cols[c]:  # nothing to choose, and the separator may be unknown
            continue
        row, j = 0, start[c]
        while found[axes[j]] >= 0:
            row = row * sizes[axes[j]] + found[axes[j]]
            j += 1
        at = table[c] + row * cols[c]
        best, most = 0, -1.0
        for k in range(cols[c] // inner):
            total = 0.0
            for i in range(at + k * inner, at + (k + 1) * inner):
                total += tables[i]
            if total > most:
                best, most = k, total
        last = start[c + 1] - 1
        while not wanted[axes[last]] and inner > 1:
            inner //= sizes[axes[last]]
            last -= 1
        for k in range(last, j - 1, -1):
            found[axes[k]] = best % sizes[axes[k]]
            best //= sizes[axes[k]]


@kernel
def most_probable(
    network: Any,
    plan: Any,
    sizes: NDArray[np.int64],
    codes: NDArray[np.int64],
    likelihood: NDArray[np.float64],
    weighed: NDArray[np.bool_],
    wanted: NDArray[np.bool_],
    tables: NDArray[np.float64],
    messages: NDArray[np.float64],
    found: NDArray[np.int64],
) -> float:
    """The most probable states of the wanted variables together, into `found`; returns ln P(these, e).

    With all variables wanted this is the most probable case. The plan must have the wanted variables go last.
    """
    if is_safe(network, plan, likelihood, weighed):
        log_p = climb_to_maximum(network, plan, sizes, codes, likelihood, weighed, wanted, tables, messages, None)
    else:
        least = np.empty(len(plan[1]), np.float64)
        log_p = climb_to_maximum(network, plan, sizes, codes, likelihood, weighed, wanted, tables, messages, least)
    if np.isnan(log_p):
        log_p = collect_logs(network, plan, sizes, codes, likelihood, weighed, wanted, tables, messages)
        log_p += known_factors(network, plan, codes)
    for v in range(len(sizes)):
        found[v] = 0 if sizes[v] == 1 else codes[v]
    if log_p > -np.inf:
        choose_down(plan, sizes, wanted, tables, found)
    return log_p


@inner
def draw_down(
    network: Any,
    plan: Any,
    sizes: NDArray[np.int64],
    codes: NDArray[np.int64],
    likelihood: NDArray[np.float64],
    weighed: NDArray[np.bool_],
    tables: NDArray[np.float64],
    messages: NDArray[np.float64],
    uniform: NDArray[np.float64],
    found: NDArray[np.int64],
) -> float:
    """A case drawn from P(all | e), into `found`; returns ln P(e).

    After the way up each row of a table is P(the rest | separator) up to a factor: from the roots to the leaves each
    clique draws an entry of the row that its separator, drawn by then, selects. It uses the number in `uniform` of its
    innermost variable, which is in no later clique, so that no two cliques share one.
    """
    parent, cols, table, start, axes = plan[1], plan[3], plan[4], plan[11], plan[12]
    index = np.zeros(64, np.int64)
    scale = np.empty(len(parent), np.float64)
    log_p = collect(network, plan, sizes, codes, likelihood, weighed, tables, messages, scale, index)
    if log_p == -np.inf:
        return log_p
    for v in range(len(sizes)):
        found[v] = 0 if sizes[v] == 1 else codes[v]
    for c in range(len(parent) - 1, -1, -1):
        row, j = 0, start[c]
        while j < start[c + 1] and found[axes[j]] >= 0:
            row = row * sizes[axes[j]] + found[axes[j]]
            j += 1
        at = table[c] + row * cols[c]
        total = 0.0
        for i in range(at, at + cols[c]):
            total += tables[i]
        left, chosen = uniform[axes[start[c + 1] - 1]] * total, -1
        for i in range(cols[c]):
            if tables[at + i] > 0.0 and (left >= 0.0 or chosen < 0):
                chosen = i
                left -= tables[at + i]
        for k in range(start[c + 1] - 1, j - 1, -1):
            found[axes[k]] = chosen % sizes[axes[k]]
            chosen //= sizes[axes[k]]
    return log_p
