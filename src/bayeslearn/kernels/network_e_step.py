"""The E step of a network: expected family counts of folded rows, each group of missing variables separately."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.kernels._jit import inner, kernel
from bayeslearn.kernels.joint_completion import draw_down, most_probable
from bayeslearn.kernels.junction_tree import best_plan
from bayeslearn.kernels.propagation import propagate

if TYPE_CHECKING:
    from numpy.typing import NDArray


@inner
def members(groups: NDArray[np.uint64], g: int, active: NDArray[np.bool_]) -> None:
    """Which variables a group has."""
    for v in range(len(active)):
        active[v] = (groups[g, v >> 6] >> np.uint64(v & 63)) & np.uint64(1) == np.uint64(1)


@inner
def touching(
    scope_start: NDArray[np.int64], scope: NDArray[np.int64], active: NDArray[np.bool_], kept: NDArray[np.bool_]
) -> None:
    """Which tables hold a variable of the group."""
    for f in range(len(kept)):
        kept[f] = False
        for i in range(scope_start[f], scope_start[f + 1]):
            kept[f] |= active[scope[i]]


@kernel
def infer_items(
    network: Any,
    sizes: NDArray[np.int64],
    log_size: NDArray[np.float64],
    groups: NDArray[np.uint64],
    item_start: NDArray[np.int64],
    first: int,
    last: int,
    codes: NDArray[np.int64],
    weights: NDArray[np.float64],
    soft: NDArray[np.int64],
    likelihoods: NDArray[np.float64],
    has_likelihood: NDArray[np.bool_],
    limit: float,
    families: NDArray[np.float64],
    log_p: NDArray[np.float64],
) -> int:
    """Items of the groups first … last: ln P of what each shows, and weight · P(family | it) added to `families`.

    Items (codes by row) are sorted by group. `soft` is the row of likelihoods that an item has, −1 for none. Returns
    −1, or the group whose tables would have more than `limit` entries.
    """
    scope_start, scope, scope_stride, cpt_start, cpt, belief_start, _, least = network
    n = len(sizes)
    nothing, none = np.empty(0), np.zeros(n, np.bool_)
    active, kept = np.empty(n, np.bool_), np.empty(len(cpt_start) - 1, np.bool_)
    tables, messages = np.empty(0), np.empty(0)
    for g in range(first, last):
        members(groups, g, active)
        touching(scope_start, scope, active, kept)
        entries, steps = best_plan(scope_start, scope, scope_stride, sizes, log_size, active, kept, limit)
        if entries > limit:
            return g
        if len(tables) < steps[4][-1]:
            tables = np.empty(steps[4][-1])
        if len(messages) < steps[5][-1]:
            messages = np.empty(steps[5][-1])
        part = (scope_start, scope, scope_stride, cpt_start, cpt, belief_start, kept, least)
        for i in range(item_start[g], item_start[g + 1]):
            given = nothing if soft[i] < 0 else likelihoods[soft[i]]
            weighed = none if soft[i] < 0 else has_likelihood[soft[i]]
            log_p[i] = propagate(
                part, steps, sizes, codes[i], given, weighed, tables, messages, nothing, families, weights[i]
            )
    return -1


@kernel
def complete_items(
    network: Any,
    sizes: NDArray[np.int64],
    log_size: NDArray[np.float64],
    groups: NDArray[np.uint64],
    item_start: NDArray[np.int64],
    first: int,
    last: int,
    codes: NDArray[np.int64],
    row: NDArray[np.int64],
    uniform: NDArray[np.float64],
    limit: float,
    found: NDArray[np.int32],
    log_p: NDArray[np.float64],
) -> int:
    """Items of the groups first … last completed, into `found` (items, variables): −1 outside their group.

    Item i is read from row[i] of `codes`. With `uniform` empty it is completed by the most probable states of its group
    together, else by a draw from their joint posterior, with the numbers of its row of `uniform` (rows, variables):
    groups of one row use different numbers. Returns as `infer_items` does.
    """
    scope_start, scope, scope_stride, cpt_start, cpt, belief_start, _, least = network
    n = len(sizes)
    nothing, none, wanted = np.ones(1), np.zeros(n, np.bool_), np.ones(n, np.bool_)
    active, kept = np.empty(n, np.bool_), np.empty(len(cpt_start) - 1, np.bool_)
    case = np.empty(n, np.int64)
    for g in range(first, last):
        members(groups, g, active)
        touching(scope_start, scope, active, kept)
        entries, steps = best_plan(scope_start, scope, scope_stride, sizes, log_size, active, kept, limit)
        if entries > limit:
            return g
        tables, messages = np.empty(steps[4][-1]), np.empty(steps[5][-1])
        part = (scope_start, scope, scope_stride, cpt_start, cpt, belief_start, kept, least)
        for i in range(item_start[g], item_start[g + 1]):
            shown = codes[row[i]]
            if len(uniform) == 0:
                log_p[i] = most_probable(part, steps, sizes, shown, nothing, none, wanted, tables, messages, case)
            else:
                log_p[i] = draw_down(part, steps, sizes, shown, nothing, none, tables, messages, uniform[row[i]], case)
            for v in range(n):
                found[i, v] = case[v] if active[v] and log_p[i] > -np.inf else -1
    return -1
