"""The plans of :mod:`.planning` without a compiler: rows of bits are Python's integers, and tables of steps are lists.

A plan is made as there, step for step, but from one try at an elimination order. It takes milliseconds, where loading
the compiler takes half a second.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: How table size breaks ties, and kinds of steps, as in :mod:`.planning`.
TIE_BREAK = 1e-3
FACTOR, MESSAGE, BELIEF = 0, 1, 2


def best_plan(
    scope_start: NDArray[np.int64],
    scope: NDArray[np.int64],
    scope_stride: NDArray[np.int64],
    sizes: NDArray[np.int64],
    log_size: NDArray[np.float64],
    active: NDArray[np.bool_],
    kept: NDArray[np.bool_],
    limit: float,
) -> tuple[float, Any]:
    """The first of the tries that :func:`.planning.best_plan` makes."""
    noise = np.zeros(len(active))
    return plan(scope_start, scope, scope_stride, sizes, log_size, active, kept, noise, TIE_BREAK, limit)


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
) -> tuple[float, Any]:
    """All steps for one try at an elimination order; see :func:`.planning.plan`."""
    starts, flat, strides = scope_start.tolist(), scope.tolist(), scope_stride.tolist()
    spans = list(pairwise(starts))[: len(kept)]
    scopes = [flat[a:b] if keep else [] for (a, b), keep in zip(spans, kept.tolist(), strict=True)]
    inside = active.tolist()
    factors = [[v for v in held if inside[v]] for held in scopes]
    logs = log_size.tolist()
    order, near = eliminate(moral_graph(len(inside), factors), inside, logs, noise.tolist(), weight)
    tree = Cliques(order, near, logs)
    entries = math.fsum(math.exp(size) for size in tree.log_sizes)
    if entries > limit:
        tree = Cliques([], near, logs)
        factors = [[] for _ in factors]
    steps = Layout(tree, sizes.tolist(), factors)
    return entries, steps.arrays(scopes, [strides[a:b] for a, b in spans])


### graph


def moral_graph(n: int, factors: list[list[int]]) -> list[set[int]]:
    """Neighbors of each variable: those that share a factor with it."""
    near: list[set[int]] = [set() for _ in range(n)]
    for held in factors:
        for v in held:
            near[v].update(held)
    for v, others in enumerate(near):
        others.discard(v)
    return near


def eliminate(
    near: list[set[int]], active: list[bool], logs: list[float], noise: list[float], weight: float
) -> tuple[list[int], list[set[int]]]:
    """The order in which variables go, and the neighbors of each when it went: least missing edges first."""
    bits = [1 << v for v in range(len(near))]
    rows = [sum(map(bits.__getitem__, others)) for others in near]

    def key(v: int) -> float:
        others, row = near[v], rows[v]
        count = len(others)
        missing = count * (count - 1) - sum([(row & rows[u]).bit_count() for u in others]) if count > 1 else 0
        return missing + weight * sum(map(logs.__getitem__, sorted(others)), logs[v]) + noise[v]

    keys = [key(v) if inside else math.inf for v, inside in enumerate(active)]
    order = []
    for _ in range(sum(active)):
        v = keys.index(min(keys))
        order.append(v)
        keys[v] = math.inf
        changed = join(v, near, rows, bits)
        for u in changed:
            keys[u] = key(u)
    return order, near


def join(v: int, near: list[set[int]], rows: list[int], bits: list[int]) -> set[int]:
    """Connect the neighbors of a variable that goes, which they lose; return those whose neighborhood changes."""
    others, row = near[v], rows[v]
    changed = set(others)
    for u in others:
        before = rows[u] ^ bits[v]
        rows[u] = (before | row) & ~bits[u]
        near[u].discard(v)
        if rows[u] != before:
            near[u] |= others
            near[u].discard(u)
            changed |= near[u]
    return changed


### cliques


class Cliques:
    """The cliques of an elimination, children before their parents; see :func:`.planning.make_cliques`."""

    def __init__(self, order: list[int], near: list[set[int]], logs: list[float]) -> None:
        self.order = order
        self.when = [-1] * len(near)
        for i, v in enumerate(order):
            self.when[v] = i
        after = {v: min(near[v], key=self.when.__getitem__, default=-1) for v in order}
        self._merge(near, after)
        self.axes = [
            sorted([v, *near[v]], key=self.when.__getitem__, reverse=True) for v in self.first
        ]  # the last to go outermost
        self.held = [set(held) for held in self.axes]
        self.log_sizes = [sum(logs[v] for v in held) for held in self.axes]
        self.holders: list[list[int]] = [[] for _ in near]
        for c, held in enumerate(self.axes):
            for v in held:
                self.holders[v].append(c)
        self.parent = [self._smallest_parent(c, near[v], after[v]) for c, v in enumerate(self.last)]

    def _merge(self, near: list[set[int]], after: dict[int, int]) -> None:
        """First and last variable of each clique: one within the clique of another is merged into it."""
        home: dict[int, int] = {}
        first: list[int] = []
        last: list[int] = []
        for v in self.order:
            if v not in home:
                home[v] = len(first)
                first.append(v)
                last.append(v)
            last[home[v]] = v
            u = after[v]
            if u >= 0 and u not in home and len(near[u]) + 1 == len(near[v]):
                home[u] = home[v]
        numbered = sorted(range(len(first)), key=lambda c: self.when[last[c]])
        self.first, self.last = [first[c] for c in numbered], [last[c] for c in numbered]

    def _smallest_parent(self, c: int, separator: set[int], after: int) -> int:
        """The smallest later clique that holds a separator, −1 where there is none."""
        later = (d for d in self.holders[after] if d > c and separator <= self.held[d]) if after >= 0 else ()
        return min(later, key=self.log_sizes.__getitem__, default=-1)


### steps


class Layout:
    """The tables of the cliques and the steps over them; see :func:`.planning.lay_out`."""

    def __init__(self, tree: Cliques, sizes: list[int], factors: list[list[int]]) -> None:
        self.tree, self.sizes = tree, sizes
        last = [tree.when[v] for v in tree.last]
        self.separators = [[v for v in axes if tree.when[v] > end] for axes, end in zip(tree.axes, last, strict=True)]
        self.rows = [math.prod([sizes[v] for v in held]) for held in self.separators]
        self.entries = [math.prod([sizes[v] for v in axes]) for axes in tree.axes]
        self.home = [self._smallest_holder(held) for held in factors]
        self.site = self._cheapest_sites()
        self.dims: list[int] = []
        self.strides: list[int] = []

    def _smallest_holder(self, held: list[int]) -> int:
        """The smallest clique that holds the variables of a factor, −1 where it has none."""
        if not held:
            return -1
        rarest = min(held, key=lambda v: len(self.tree.holders[v]))
        fitting = (c for c in self.tree.holders[rarest] if self.tree.held[c].issuperset(held))
        return min(fitting, key=self.entries.__getitem__)

    def _cheapest_sites(self) -> list[int]:
        """For each variable the clique that reaches it over the fewest entries, −1 when it is not active."""
        site, fewest = [-1] * len(self.sizes), [math.inf] * len(self.sizes)
        for c, axes in enumerate(self.tree.axes):
            reached = 1
            for v in axes:
                reached *= self.sizes[v]
                if reached < fewest[v]:
                    site[v], fewest[v] = c, reached
        return site

    def arrays(self, scopes: list[list[int]], scope_strides: list[list[int]]) -> Any:
        """The plan as kernels take it."""
        tree = self.tree
        steps = [
            self._step(FACTOR, f, c, dict(zip(scopes[f], scope_strides[f], strict=True)))
            for f, c in enumerate(self.home)
            if c >= 0
        ]
        steps += [
            self._step(MESSAGE, c, parent, self._message_strides(c))
            for c, parent in enumerate(tree.parent)
            if parent >= 0
        ]
        steps += [self._step(BELIEF, v, self.site[v], {v: 1}) for v in tree.order]
        steps.sort(key=lambda step: (step[5], step[4]))
        counts = [0] * len(tree.axes)
        for step in steps:
            counts[step[5]] += 1
        cols = [whole // rows for whole, rows in zip(self.entries, self.rows, strict=True)]
        flat = [v for axes in tree.axes for v in axes]
        return (
            whole_numbers(self.site), whole_numbers(tree.parent), whole_numbers(self.rows), whole_numbers(cols),
            starts_of(self.entries), starts_of(self.rows), whole_numbers(self.home), starts_of(counts),
            whole_numbers(steps).reshape(-1, 6), whole_numbers(self.dims), whole_numbers(self.strides),
            starts_of([len(axes) for axes in tree.axes]), whole_numbers(flat),
        )  # fmt: skip

    def _message_strides(self, c: int) -> dict[int, int]:
        strides, stride = {}, 1
        for v in reversed(self.separators[c]):
            strides[v] = stride
            stride *= self.sizes[v]
        return strides

    def _step(self, kind: int, who: int, c: int, stride_of: dict[int, int]) -> tuple[int, int, int, int, int, int]:
        """One step over clique c, whose fused axes are added to those of all steps; see :func:`.planning.fuse`."""
        sizes, axes = self.sizes, self.tree.axes[c]
        end = max((j for j, v in enumerate(axes) if v in stride_of and sizes[v] > 1), default=-1) + 1
        dims: list[int] = []
        strides: list[int] = []
        entries = 1
        for v in reversed(axes[:end]):
            size = sizes[v]
            if size == 1:
                continue
            entries *= size
            stride = stride_of.get(v, 0)
            if dims and stride == strides[-1] * dims[-1]:
                dims[-1] *= size
            else:
                dims.append(size)
                strides.append(stride)
        while len(dims) < 3:
            dims.append(1)
            strides.append(0)
        at = len(self.dims)
        self.dims += dims[::-1]
        self.strides += strides[::-1]
        return kind, who, at, len(self.dims), entries, c


def whole_numbers(values: Any) -> NDArray[np.int64]:
    """A list as an array."""
    return np.array(values, np.int64)


def starts_of(lengths: list[int]) -> NDArray[np.int64]:
    """Where parts of some lengths start, and where the last ends."""
    return np.cumsum([0, *lengths], dtype=np.int64)
