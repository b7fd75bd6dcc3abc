"""Equivalence classes by position: from a graph to its class, and from a class back to one of its members.

    marks[a, b] and not marks[b, a]        a → b, the same in every member
    marks[a, b] and marks[b, a]            a — b, either way

:mod:`bayeslearn.network.equivalence` says the same by name.

References
----------
Chickering (1995), A transformational characterization of equivalent Bayesian network structures. Dor and Tarsi (1992),
A simple algorithm to construct a consistent extension of a partially oriented graph.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from heapq import heappop, heappush
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from bayeslearn.network.structure.knowledge import Allowed


@dataclass(frozen=True, eq=False)
class Partial:
    """A graph of which some arcs have no direction."""

    marks: NDArray[np.bool_]

    @cached_property
    def joined(self) -> NDArray[np.bool_]:
        """joined[a, b]: in whatever direction."""
        return self.marks | self.marks.T

    @cached_property
    def arcs(self) -> NDArray[np.bool_]:
        """arcs[a, b]: a → b."""
        return self.marks & ~self.marks.T

    @cached_property
    def edges(self) -> NDArray[np.bool_]:
        """edges[a, b]: a — b."""
        return self.marks & self.marks.T

    def parents(self, x: int) -> list[int]:
        """Those with an arc into x."""
        return np.flatnonzero(self.arcs[:, x]).tolist()

    def neighbours(self, x: int) -> list[int]:
        """Those joined to x without a direction."""
        return np.flatnonzero(self.edges[x]).tolist()

    def after(self, x: int, before: Collection[int]) -> Partial:
        """The same with x after some of its neighbours and before the others."""
        marks = self.marks.copy()
        for v in self.neighbours(x):
            marks[(x, v) if v in before else (v, x)] = False
        return Partial(marks)

    def leads(self, a: int, b: int, avoiding: Collection[int]) -> bool:
        """Whether one can walk from a to b, never against an arc, other than by the step from a to b itself."""
        seen = np.zeros(len(self.marks), np.bool_)
        seen[[a, *avoiding]] = True
        front = self.marks[a] & ~seen
        front[b] = False
        while front.any():
            seen |= front
            front = self.marks[front].any(axis=0) & ~seen
            if front[b]:
                return True
        return False


def class_of(arcs: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The marks of the class of a graph: the arcs into each variable are labelled from the top to the bottom.

    An arc that is compelled into the last parent of x, from no parent of x, compels all arcs into x. So does a parent
    that is not joined to this last one. Otherwise x inherits what is compelled there, and its other arcs can be turned.
    """
    parents = sets_of(arcs.T)
    place: dict[int, int] = {}
    compelled: dict[int, set[int]] = {}
    for x in order_of(arcs):
        place[x] = len(place)
        compelled[x] = set()
        if parents[x]:
            last = max(parents[x], key=place.__getitem__)
            near = compelled[last] <= parents[x] <= parents[last] | {last}
            compelled[x] = compelled[last] if near else parents[x]
    marks = arcs | arcs.T
    turned = [(x, parent) for x, sure in compelled.items() for parent in sure]
    marks[tuple(np.array(turned, np.intp).reshape(-1, 2).T)] = False
    return marks


def order_of(arcs: NDArray[np.bool_]) -> list[int]:
    """Every variable after its parents."""
    children, waiting = sets_of(arcs), arcs.sum(axis=0).tolist()
    order = [x for x, parents in enumerate(waiting) if not parents]
    for x in order:  # grows while it is walked
        for child in children[x]:
            waiting[child] -= 1
            if not waiting[child]:
                order.append(child)
    return order


def sets_of(matrix: NDArray[np.bool_]) -> list[set[int]]:
    """Where each row is true."""
    sets: list[set[int]] = [set() for _ in matrix]
    for a, b in np.argwhere(matrix).tolist():
        sets[a].add(b)
    return sets


def member(marks: NDArray[np.bool_], rank: NDArray[np.int64]) -> NDArray[np.bool_] | None:
    """A graph with these arcs, the edges directed so that no v-structure is added; None when there is none.

    What can come last comes last, and of several the last by rank: a variable without children, all of whose
    neighbours are joined to everything that it is joined to.
    """
    partial = Partial(marks)
    arcs = partial.arcs.copy()
    children, edges, joined = sets_of(arcs), sets_of(partial.edges), sets_of(partial.joined)

    def fits(x: int) -> bool:
        return not children[x] and all(joined[x] <= joined[v] | {v} for v in edges[x])

    waiting = set(range(len(marks)))
    found: list[tuple[int, int]] = []
    looked_at: Iterable[int] = tuple(waiting)
    while True:
        for x in waiting.intersection(looked_at):
            if fits(x):
                waiting.remove(x)
                heappush(found, (-int(rank[x]), x))
        if not found:
            return None if waiting else arcs
        _, last = heappop(found)
        for v in edges[last]:
            arcs[v, last] = True
        looked_at = joined[last]  # others fit no better than before
        for v in looked_at:
            for sets in (children, edges, joined):
                sets[v].discard(last)


def member_that_keeps(marks: NDArray[np.bool_], allowed: Allowed, rank: NDArray[np.int64]) -> NDArray[np.bool_] | None:
    """A member of a class that agrees with what is known, or None.

    Members differ in the direction of edges only. None has more parents at once than another: the variables of a
    component share their parents outside it, and within it a largest clique decides.
    """
    kept = marks & allowed.arcs & ~allowed.required.T
    if ((marks | marks.T) != (kept | kept.T)).any() or (allowed.required & ~kept).any():
        return None
    arcs = member(kept, rank)
    if arcs is None or (class_of(arcs) != marks).any() or (arcs.sum(axis=0) > allowed.most_parents).any():
        return None
    return arcs


def cliques(joined: NDArray[np.bool_], among: Sequence[int], most: int) -> Iterator[tuple[int, ...]]:
    """Every set of at most so many variables that are all joined to each other, the empty one first."""
    if most >= 0:
        yield ()
    if most > 0:
        for i, v in enumerate(among):
            for others in cliques(joined, [w for w in among[i + 1 :] if joined[v, w]], most - 1):
                yield v, *others
