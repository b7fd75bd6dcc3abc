"""Planning an inference: from the variables left after evidence to a tree of cliques and the steps over it.

Evidence removes variables before anything is triangulated: that shrinks tables more than any trick over them can.

    1  a tree of cliques (:mod:`bayeslearn.kernels.triangulation`)
    2  layout: variables of a clique in reverse elimination order, so that the separator comes first and a message to
       the parent is a sum along contiguous rows
    3  steps: every factor and message as (dims, strides) over the outer axes of a clique, down to the innermost that it
       depends on; neighboring axes fused where they can be

A plan is a tuple of flat arrays; the values of the evidence do not matter for it, only which variables have some.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.kernels._jit import inner, kernel
from bayeslearn.kernels.triangulation import (
    clique_axes,
    cliques_by_variable,
    eliminate,
    log_table,
    make_cliques,
    moralize,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: How table size breaks ties between variables that would add as many edges.
TIE_BREAK = 1e-3

#: Entries that are worth one more try at a smaller plan, the most tries, the weights of table size in them, and how far
#: noise may move a variable in the order.
WORTH_A_TRY, MOST_TRIES, WEIGHTS, WIDTH = 1e5, 9, (3.0, 10.0, 1e-3), 10.0

#: Variables of a network from which those that are not active are left out, where they are most of them: rows of bits
#: take room and time for all.
MANY = 512

#: What a step multiplies into a clique on the way up, and reads from it on the way down.
FACTOR, MESSAGE, BELIEF = 0, 1, 2


@inner
def fuse(
    axes: NDArray[np.int64],
    first: int,
    end: int,
    sizes: NDArray[np.int64],
    stride_of: NDArray[np.int64],
    dims: NDArray[np.int64],
    strides: NDArray[np.int64],
    at: int,
) -> int:
    """Write (dims, strides) of a factor over the axes first … end of a clique, and return how many are left.

    Neighboring axes become one where one step of the outer is as long as the whole inner; axes of one state vanish.
    """
    used = 0
    for j in range(end - 1, first - 1, -1):  # from the innermost outwards, written backwards
        size, stride = sizes[axes[j]], stride_of[axes[j]]
        if size == 1:
            continue
        if used and stride == strides[at + used - 1] * dims[at + used - 1]:
            dims[at + used - 1] *= size
        else:
            dims[at + used] = size
            strides[at + used] = stride
            used += 1
    while used < 3:  # the runner has loops for three
        dims[at + used] = 1
        strides[at + used] = 0
        used += 1
    for j in range(used // 2):
        a, b = at + j, at + used - 1 - j
        dims[a], dims[b] = dims[b], dims[a]
        strides[a], strides[b] = strides[b], strides[a]
    return used


@inner
def clique_of_factor(
    scope_start: NDArray[np.int64],
    scope: NDArray[np.int64],
    kept: NDArray[np.bool_],
    near: NDArray[np.uint64],
    first: NDArray[np.int64],
    size: NDArray[np.int64],
    held: NDArray[np.int64],
    holders: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Every factor goes to the smallest clique that holds its active variables; −1 when it has none."""
    clique = np.full(len(kept), -1, np.int64)
    for f in range(len(kept)):
        if not kept[f]:
            continue
        rarest, fewest = -1, 0
        for i in range(scope_start[f], scope_start[f + 1]):
            v = scope[i]
            count = held[v + 1] - held[v]
            if count > 0 and (rarest < 0 or count < fewest):
                rarest, fewest = v, count
        if rarest < 0:
            continue
        for j in range(held[rarest], held[rarest + 1]):
            c = holders[j]
            if clique[f] >= 0 and size[c] >= size[clique[f]]:
                continue
            holds = True
            for i in range(scope_start[f], scope_start[f + 1]):
                v = scope[i]
                if held[v + 1] > held[v] and v != first[c]:
                    holds &= near[first[c], v >> 6] >> np.uint64(v & 63) & np.uint64(1) == np.uint64(1)
            if holds:
                clique[f] = c
    return clique


@inner
def cheapest_site(
    n: int, sizes: NDArray[np.int64], start: NDArray[np.int64], axes: NDArray[np.int64]
) -> NDArray[np.int64]:
    """For each variable the clique that reaches it over the fewest entries; −1 when it is not active."""
    site = np.full(n, -1, np.int64)
    fewest = np.zeros(n, np.int64)
    for c in range(len(start) - 1):
        reached = 1
        for j in range(start[c], start[c + 1]):
            v = axes[j]
            reached *= sizes[v]
            if site[v] < 0 or reached < fewest[v]:
                site[v], fewest[v] = c, reached
    return site


@inner
def add_step(
    kind: int,
    who: int,
    c: int,
    start: NDArray[np.int64],
    axes: NDArray[np.int64],
    sizes: NDArray[np.int64],
    stride_of: NDArray[np.int64],
    dims: NDArray[np.int64],
    strides: NDArray[np.int64],
    steps: NDArray[np.int64],
    used: NDArray[np.int64],
) -> None:
    """One more step over clique c: its axes end with the innermost that it depends on."""
    end, reached, size = start[c], 1, 1
    for j in range(start[c], start[c + 1]):
        size *= sizes[axes[j]]
        if stride_of[axes[j]] != 0 and sizes[axes[j]] > 1:
            end, reached = j + 1, size
    at, s = used[0], used[1]
    steps[s, 0], steps[s, 1], steps[s, 2] = kind, who, at
    steps[s, 3] = at + fuse(axes, start[c], end, sizes, stride_of, dims, strides, at)
    steps[s, 4], steps[s, 5] = reached, c
    used[0], used[1] = steps[s, 3], s + 1


@inner
def sorted_by_clique(steps: NDArray[np.int64], cliques: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where the steps of each clique start, and the steps in that order, those over the fewest entries first."""
    step_start = np.zeros(cliques + 1, np.int64)
    for s in range(len(steps)):
        step_start[steps[s, 5] + 1] += 1
    for c in range(cliques):
        step_start[c + 1] += step_start[c]
    ordered = np.empty_like(steps)
    end = step_start[:-1].copy()
    for s in range(len(steps)):
        c = steps[s, 5]
        at = end[c]
        while at > step_start[c] and ordered[at - 1, 4] > steps[s, 4]:
            for k in range(6):
                ordered[at, k] = ordered[at - 1, k]
            at -= 1
        for k in range(6):
            ordered[at, k] = steps[s, k]
        end[c] += 1
    return step_start, ordered


@inner
def all_steps(
    scope_start: NDArray[np.int64],
    scope: NDArray[np.int64],
    scope_stride: NDArray[np.int64],
    sizes: NDArray[np.int64],
    order: NDArray[np.int64],
    parent: NDArray[np.int64],
    separators: NDArray[np.int64],
    site: NDArray[np.int64],
    clique: NDArray[np.int64],
    start: NDArray[np.int64],
    axes: NDArray[np.int64],
) -> Any:
    """Steps of factors, messages and beliefs, clique by clique, those over the fewest entries first."""
    cliques, longest = len(parent), 0
    for c in range(cliques):
        longest = max(longest, start[c + 1] - start[c])
    count = len(clique) + cliques + len(order)
    dims = np.empty(count * (longest + 3), np.int64)
    strides = np.empty(count * (longest + 3), np.int64)
    steps = np.empty((count, 6), np.int64)
    used = np.zeros(2, np.int64)
    stride_of = np.zeros(len(sizes), np.int64)  # of the factor at hand, along every variable; zero again after each
    for job in range(count):  # factors, then messages, then beliefs
        f, c, v = job, job - len(clique), -1
        if job >= len(clique) + cliques:
            v = order[job - len(clique) - cliques]
        kind, who, home, stride = FACTOR, f, -1, 1
        if v >= 0:
            kind, who, home = BELIEF, v, site[v]
            stride_of[v] = 1
        elif c >= 0:
            kind, who, home = MESSAGE, c, parent[c]
            for j in range(separators[c] - 1, start[c] - 1, -1):
                stride_of[axes[j]] = stride
                stride *= sizes[axes[j]]
        else:
            home = clique[f]
            for i in range(scope_start[f], scope_start[f + 1]):
                stride_of[scope[i]] = scope_stride[i]
        if home >= 0:
            add_step(kind, who, home, start, axes, sizes, stride_of, dims, strides, steps, used)
        if v >= 0:
            stride_of[v] = 0
        elif c >= 0:
            for j in range(start[c], separators[c]):
                stride_of[axes[j]] = 0
        else:
            for i in range(scope_start[f], scope_start[f + 1]):
                stride_of[scope[i]] = 0
    step_start, sorted_steps = sorted_by_clique(steps[: used[1]], cliques)
    return step_start, sorted_steps, dims[: used[0]], strides[: used[0]]


@inner
def lay_out(
    scope_start: NDArray[np.int64],
    scope: NDArray[np.int64],
    scope_stride: NDArray[np.int64],
    sizes: NDArray[np.int64],
    kept: NDArray[np.bool_],
    near: NDArray[np.uint64],
    order: NDArray[np.int64],
    tree: Any,
) -> Any:
    """Steps 4 and 5: the tables of the cliques and the steps over them.

    Returns, for v a variable, f a factor and c a clique:

        site[v]             the clique that v is read from, −1 when v is not active
        parent[c]           −1 for a root
        rows[c], cols[c]    entries of its separator, and of the rest
        table[c]            where its table starts; the last entry is the total
        message[c]          where its message starts
        clique[f]           where f is multiplied in, −1 when all of it is observed
        step_start[c]       where its steps start
        steps               of each: kind, who (f, c or v), first and last of its dims, entries it goes over, clique
        dims, strides       the fused axes of every step
        start[c], axes      the variables of each clique, outermost first
    """
    n = len(sizes)
    _, first, last, parent = tree
    cliques = len(first)
    when = np.full(n, -1, np.int64)
    for i in range(len(order)):
        when[order[i]] = i
    start, axes = clique_axes(near, first, when)
    rows = np.ones(cliques, np.int64)
    cols = np.ones(cliques, np.int64)
    table = np.zeros(cliques + 1, np.int64)
    message = np.zeros(cliques + 1, np.int64)
    separators = start[:-1].copy()  # where the separator of each ends among the axes
    for c in range(cliques):
        for j in range(start[c], start[c + 1]):
            if when[axes[j]] > when[last[c]]:
                rows[c] *= sizes[axes[j]]
                separators[c] = j + 1
            else:
                cols[c] *= sizes[axes[j]]
        table[c + 1] = table[c] + rows[c] * cols[c]
        message[c + 1] = message[c] + rows[c]
    held, holders = cliques_by_variable(n, start, axes)
    clique = clique_of_factor(scope_start, scope, kept, near, first, rows * cols, held, holders)
    site = cheapest_site(n, sizes, start, axes)
    step_start, steps, dims, strides = all_steps(
        scope_start, scope, scope_stride, sizes, order, parent, separators, site, clique, start, axes
    )
    return site, parent, rows, cols, table, message, clique, step_start, steps, dims, strides, start, axes


@inner
def plan_of(
    scope_start: NDArray[np.int64],
    scope: NDArray[np.int64],
    scope_stride: NDArray[np.int64],
    sizes: NDArray[np.int64],
    log_size: NDArray[np.float64],
    active: NDArray[np.bool_],
    kept: NDArray[np.bool_],
    noise: NDArray[np.float64],
    weight: float,
    limit: float,
) -> Any:
    """A plan over all variables, active or not."""
    near = moralize(scope_start, scope, active, kept)
    order = np.empty(len(active), np.int64)
    count = eliminate(near, active, log_size, noise, weight, order)
    tree = make_cliques(near, order[:count], log_size)
    entries = 0.0
    for c in range(len(tree[1])):
        entries += np.exp(log_table(near, log_size, tree[1][c]))
    if entries > limit:
        count = 0
        tree = make_cliques(near, order[:0], log_size)
    return entries, lay_out(scope_start, scope, scope_stride, sizes, kept, near, order[:count], tree)


@inner
def fewer(
    scope_start: NDArray[np.int64],
    scope: NDArray[np.int64],
    scope_stride: NDArray[np.int64],
    active: NDArray[np.bool_],
    kept: NDArray[np.bool_],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The active variables alone, in the order they have: the tables that hold some of them, and their scopes."""
    place = np.cumsum(active) - 1
    tables = np.empty(len(kept), np.int64)
    starts = np.zeros(len(kept) + 1, np.int64)
    few = np.empty(len(scope), np.int64)
    strides = np.empty(len(scope), np.int64)
    count = at = 0
    for f in range(len(kept)):
        if not kept[f]:
            continue
        for i in range(scope_start[f], scope_start[f + 1]):
            if active[scope[i]]:
                few[at], strides[at] = place[scope[i]], scope_stride[i]
                at += 1
        if at > starts[count]:
            tables[count] = f
            count += 1
            starts[count] = at
    return tables[:count], starts[: count + 1], few[:at], strides[:at]


@inner
def among_all(steps: Any, variables: NDArray[np.int64], tables: NDArray[np.int64], n: int, kept: int) -> Any:
    """A plan of some variables and tables with the numbers that they have among all."""
    few_sites, parent, rows, cols, table, message, few_cliques, step_start, steps_of, dims, strides, start, axes = steps
    site = np.full(n, -1, np.int64)
    site[variables] = few_sites
    clique = np.full(kept, -1, np.int64)
    clique[tables] = few_cliques
    for s in range(len(steps_of)):
        if steps_of[s, 0] == FACTOR:
            steps_of[s, 1] = tables[steps_of[s, 1]]
        elif steps_of[s, 0] == BELIEF:
            steps_of[s, 1] = variables[steps_of[s, 1]]
    return site, parent, rows, cols, table, message, clique, step_start, steps_of, dims, strides, start, variables[axes]


@kernel
def plan(
    scope_start: NDArray[np.int64],
    scope: NDArray[np.int64],
    scope_stride: NDArray[np.int64],
    sizes: NDArray[np.int64],
    log_size: NDArray[np.float64],
    active: NDArray[np.bool_],
    kept: NDArray[np.bool_],
    noise: NDArray[np.float64],
    weight: float,
    limit: float,
) -> Any:
    """All steps for one try at an elimination order: the entries of its tables, and the plan.

    With more entries than `limit` the plan is left empty; the number is a float, so that it cannot overflow.
    """
    n = len(active)
    variables = np.flatnonzero(active)
    if n < MANY or 2 * len(variables) > n:
        return plan_of(scope_start, scope, scope_stride, sizes, log_size, active, kept, noise, weight, limit)
    tables, starts, few, strides = fewer(scope_start, scope, scope_stride, active, kept)
    all_active, all_kept = np.ones(len(variables), np.bool_), np.ones(len(tables), np.bool_)
    entries, steps = plan_of(
        starts, few, strides, sizes[variables], log_size[variables], all_active, all_kept, noise[variables], weight,
        limit,
    )  # fmt: skip
    return entries, among_all(steps, variables, tables, n, len(kept))


@kernel
def best_plan(
    scope_start: NDArray[np.int64],
    scope: NDArray[np.int64],
    scope_stride: NDArray[np.int64],
    sizes: NDArray[np.int64],
    log_size: NDArray[np.float64],
    active: NDArray[np.bool_],
    kept: NDArray[np.bool_],
    limit: float,
) -> Any:
    """The smallest of several tries, the more the larger the tables: a try costs less than a large table does."""
    noise, luck = np.zeros(len(active)), 1
    entries, steps = plan(scope_start, scope, scope_stride, sizes, log_size, active, kept, noise, TIE_BREAK, limit)
    for k in range(min(MOST_TRIES, int(min(entries, 1e9) / WORTH_A_TRY))):
        for v in range(len(noise)):
            luck = (luck * 1103515245 + 12345) % 2147483648  # any numbers do, as long as they are always the same
            noise[v] = 0.0 if k < len(WEIGHTS) else WIDTH * luck / 2147483648
        weight = WEIGHTS[k % len(WEIGHTS)]
        fewer, other = plan(scope_start, scope, scope_stride, sizes, log_size, active, kept, noise, weight, limit)
        if fewer < entries:
            entries, steps = fewer, other
    return entries, steps
