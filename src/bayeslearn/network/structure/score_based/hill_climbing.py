"""Hill climbing over structures: arcs are added, taken away and turned, the best change first.

    gain of c → x       score(x, parents + c) − score(x, parents)
    gain of no c → x    score(x, parents − c) − score(x, parents)
    gain of x → c       both of these together, for the arc c → x turned

A change touches one or two families, so after each only these are scored again. Changes that gain as much as each
other, such as the two directions of an arc between score-equivalent families, are distinguished by what else their
variables could gain and by their names, so that the order of columns does not matter.

Random restarts are iterated local search: search, change some arcs at random, search on from there, and keep the best.

Hill climbing often ends where arcs would have to turn together, each of which loses alone. So every round begins with
another graph of the same class, which scores the same and has other neighbors, and changes a few arcs of it.

Equivalence classes by position, from a graph to its class and back to one of its members:

    marks[a, b] and not marks[b, a]        a → b, the same in every member
    marks[a, b] and marks[b, a]            a — b, either way

:mod:`bayeslearn.network.equivalence` states the same by name.

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

from bayeslearn import kernels
from bayeslearn.network.equivalence import compelled_parents
from bayeslearn.network.structure.scoring.criteria import parents_of
from bayeslearn.network.structure.search_settings import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from bayeslearn.network.structure.scoring.criteria import Parents, ScoreCache
    from bayeslearn.network.structure.search_settings import Allowed, Budget

    Gains = NDArray[np.float64]
    Arcs = NDArray[np.bool_]
    Search = Callable[["Structure", Budget], NDArray[np.bool_]]


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

    def neighbors(self, x: int) -> list[int]:
        """Those joined to x without a direction."""
        return np.flatnonzero(self.edges[x]).tolist()

    def after(self, x: int, before: Collection[int]) -> Partial:
        """The same with x after some of its neighbors and before the others."""
        marks = self.marks.copy()
        for v in self.neighbors(x):
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
    """The marks of the class of a graph."""
    compelled = compelled_parents(order_of(arcs), dict(enumerate(sets_of(arcs.T))))
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
    neighbors are joined to everything that it is joined to.
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
    if arcs is None or (class_of(arcs) != marks).any() or (arcs.sum(axis=0) > allowed.max_parents).any():
        return None
    return arcs


def cliques(joined: NDArray[np.bool_], among: Sequence[int], most: int) -> Iterator[tuple[int, ...]]:
    """Every set of at most this many variables that are all joined to each other, the empty one first."""
    if most >= 0:
        yield ()
    if most > 0:
        for i, v in enumerate(among):
            for others in cliques(joined, [w for w in among[i + 1 :] if joined[v, w]], most - 1):
                yield v, *others


#: Gains that differ by less than this, relative to the score, are the same.
TIE = 1e-9

ADD, REMOVE, TURN = 0, 1, 2


class Structure:
    """A graph while it is searched over: who is whose parent, who can be reached from whom, and what a change gains."""

    def __init__(self, cache: ScoreCache, allowed: Allowed, start: NDArray[np.bool_]) -> None:
        self.cache, self.allowed = cache, allowed
        self.n = cache.n
        self.arcs = start.copy()  # arcs[c, x]: c → x
        self.reach = closure(self.arcs)
        self.scores = np.empty(self.n)  # of families; `score` is that of the whole graph
        self.add = np.full((self.n, self.n), -np.inf)  # add[x, c]: gain of c → x
        self.remove = np.full((self.n, self.n), -np.inf)
        self.rank = ranks(cache.counts.names)
        pairs = None if self.arcs.any() or not allowed.max_parents else cache.score_pairs()
        if pairs is None:
            for x in range(self.n):
                self.refresh(x)
        else:
            self.scores[:], self.add[:] = pairs.alone, pairs.scores - pairs.alone[:, None]
        self.score = float(self.scores.sum())

    @property
    def n_arcs(self) -> int:
        """How many arcs there are."""
        return int(np.count_nonzero(self.arcs))

    def parents(self, x: int) -> Parents:
        """The parents of a variable, by position."""
        return parents_of(self.arcs, x)

    def refresh(self, x: int) -> None:
        """What changes to the family of x would gain."""
        parents = self.parents(x)
        full = len(parents) >= self.allowed.max_parents
        more = -np.inf if full else self.cache.additions(x, parents)
        self.scores[x] = now = self.cache.family(x, parents)
        self.add[x], self.remove[x] = more - now, self.cache.removals(x, parents) - now

    def gains(self) -> NDArray[np.float64]:
        """The gain of every change that is allowed: (kind, c, x); −∞ for the others."""
        gain = np.empty((3, self.n, self.n))
        kernels.all_gains(*self._parts, gain)
        return gain

    @property
    def _parts(self) -> tuple[tuple[Gains, Gains], tuple[Arcs, Arcs], tuple[Arcs, Arcs]]:
        return (self.add, self.remove), (self.arcs, self.reach), (self.allowed.arcs, self.allowed.required)

    @property
    def tie(self) -> float:
        """Gains that differ by less are the same."""
        return TIE * (1 + abs(self.score))

    def best(self, gain: NDArray[np.float64] | None = None) -> tuple[tuple[int, int, int], float] | None:
        """The change that gains most, and what; of equals as in :mod:`~bayeslearn.kernels.arc_changes`."""
        if gain is None:
            kind, c, x, gained = kernels.best_of_all(*self._parts, self.tie, self.rank)
        else:
            kind, c, x, gained = kernels.best_change(gain, self.add, self.tie, self.rank)
        return None if kind < 0 else ((kind, c, x), gained)

    def change(self, kind: int, c: int, x: int) -> None:
        """Make a change."""
        if kind == ADD:
            self.arcs[c, x] = True
            above, below = self.reach[:, c].copy(), self.reach[x].copy()
            above[c] = below[x] = True
            self.reach |= above[:, None] & below
        else:
            self.arcs[c, x] = False
            if kind == TURN:
                self.arcs[x, c] = True
                self.refresh(c)
            self.reach = closure(self.arcs)
        self.refresh(x)
        self.score = float(self.scores.sum())

    def key(self, kind: int, c: int, x: int) -> bytes:
        """The graph that a change would make, as something to remember."""
        arcs = self.arcs.copy()
        arcs[c, x] = kind == ADD
        if kind == TURN:
            arcs[x, c] = True
        return np.packbits(arcs).tobytes()


def ranks(names: Sequence[str]) -> NDArray[np.int64]:
    """The place of each name when they are sorted."""
    rank = np.empty(len(names), np.int64)
    rank[np.argsort(np.array(names), kind="stable")] = np.arange(len(names))
    return rank


def before(order: Sequence[int]) -> NDArray[np.bool_]:
    """[a, b]: a comes before b in an order."""
    place = np.argsort(np.asarray(order, np.int64))
    return place[:, None] < place[None, :]


def closure(arcs: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """reach[a, b]: there is a way from a to b."""
    n = len(arcs)
    reach = np.zeros((n, n), np.bool_)
    waiting = arcs.sum(axis=1)
    ready = [v for v in range(n) if not waiting[v]]
    while ready:  # children first
        v = ready.pop()
        for p in np.flatnonzero(arcs[:, v]):
            reach[p] |= reach[v]
            reach[p, v] = True
            waiting[p] -= 1
            if not waiting[p]:
                ready.append(int(p))
    return reach


### searches


def hill_climb(structure: Structure, budget: Budget = UNLIMITED) -> NDArray[np.bool_]:
    """The graph on top of the hill."""
    climb(structure, budget)
    return structure.arcs


def climb(structure: Structure, budget: Budget = UNLIMITED, steps: int = 0) -> int:
    """Change what gains most until nothing gains; returns the number of steps."""
    while not budget.over(structure.score, structure.n_arcs, steps):
        best = structure.best()
        if best is None or best[1] <= structure.tie:
            break
        structure.change(*best[0])
        steps += 1
    return steps


def tabu(
    structure: Structure, budget: Budget = UNLIMITED, *, remembered: int = 10, patience: int = 10
) -> NDArray[np.bool_]:
    """Search with a tabu list: take the best change that leads to no recent graph, until none helps for a while."""
    steps = climb(structure, budget)
    best, best_score, since = structure.arcs.copy(), structure.score, 0
    seen = [np.packbits(structure.arcs).tobytes()]
    while since < patience and not budget.over(structure.score, structure.n_arcs, steps):
        gain = structure.gains()
        best_change = structure.best(gain)
        while best_change is not None and structure.key(*best_change[0]) in seen:
            gain[best_change[0]] = -np.inf
            best_change = structure.best(gain)
        if best_change is None:
            break
        structure.change(*best_change[0])
        steps += 1
        seen = [*seen, np.packbits(structure.arcs).tobytes()][-remembered:]
        since += 1
        if structure.score > best_score + TIE * (1 + abs(best_score)):
            best, best_score, since = structure.arcs.copy(), structure.score, 0
    return best


### restarts

#: The most arcs that are changed at random.
SHAKEN = 4


def restarted(
    search: Search,
    structure: Structure,
    budget: Budget = UNLIMITED,
    *,
    restarts: int,
    random_state: np.random.Generator,
) -> NDArray[np.bool_]:
    """The best graph of a search and this many more."""
    cache = structure.cache
    best = search(structure, budget)
    if not restarts:
        return best
    best_score = cache.graph(best)
    for _ in range(restarts):
        if budget.stopped:
            break
        other = Structure(cache, structure.allowed, another_member(structure, best, random_state))
        shake(other, random_state)
        found = search(other, budget)
        score = cache.graph(found)
        if score > best_score + TIE * (1 + abs(best_score)):
            best, best_score = found, score
    return best


def another_member(
    structure: Structure, arcs: NDArray[np.bool_], random_state: np.random.Generator
) -> NDArray[np.bool_]:
    """A graph of the same class that keeps to what is known; luck follows names, not positions."""
    rank = random_state.permutation(structure.n)[structure.rank]
    found = member_that_keeps(class_of(arcs), structure.allowed, rank)
    return arcs if found is None else found


def shake(structure: Structure, random_state: np.random.Generator) -> None:
    """A few changes at random."""
    for _ in range(random_state.integers(SHAKEN + 1)):
        changes = np.argwhere(structure.gains() > -np.inf)
        if not len(changes):
            return
        order = np.lexsort((structure.rank[changes[:, 2]], structure.rank[changes[:, 1]], changes[:, 0]))
        structure.change(*changes[order[random_state.integers(len(changes))]].tolist())
