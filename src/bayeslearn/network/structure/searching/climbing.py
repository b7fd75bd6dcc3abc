"""Hill climbing over structures: arcs are added, taken away and turned, the best change first.

    gain of c → x       score(x, parents + c) − score(x, parents)
    gain of no c → x    score(x, parents − c) − score(x, parents)
    gain of x → c       both of these together, for the arc c → x turned

A change touches one or two families, so after each only these are scored again. Changes that gain as much as each
other, such as the two directions of an arc between score-equivalent families, are told apart by what else their
variables could gain and by their names, so that the order of columns does not matter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayeslearn import kernels
from bayeslearn.network.structure.counting.cache import parents_of
from bayeslearn.network.structure.limits import FOREVER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from bayeslearn.network.structure.counting.cache import Parents, ScoreCache
    from bayeslearn.network.structure.knowledge import Allowed
    from bayeslearn.network.structure.limits import Limits

    Gains = NDArray[np.float64]
    Arcs = NDArray[np.bool_]

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
        pairs = None if self.arcs.any() or not allowed.most_parents else cache.score_pairs()
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
        full = len(parents) >= self.allowed.most_parents
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
        """The change that gains most, and what; of equals as :mod:`~bayeslearn.kernels.changing` says."""
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


def hill_climb(structure: Structure, limits: Limits = FOREVER) -> NDArray[np.bool_]:
    """The graph on top of the hill."""
    climb(structure, limits)
    return structure.arcs


def climb(structure: Structure, limits: Limits = FOREVER, steps: int = 0) -> int:
    """Change what gains most until nothing gains; returns the number of steps."""
    while not limits.over(structure.score, structure.n_arcs, steps):
        best = structure.best()
        if best is None or best[1] <= structure.tie:
            break
        structure.change(*best[0])
        steps += 1
    return steps


def tabu(
    structure: Structure, limits: Limits = FOREVER, *, remembered: int = 10, patience: int = 10
) -> NDArray[np.bool_]:
    """Climb, and go on over the best change that leads nowhere seen lately, until that has not helped for a while."""
    steps = climb(structure, limits)
    best, best_score, since = structure.arcs.copy(), structure.score, 0
    seen = [np.packbits(structure.arcs).tobytes()]
    while since < patience and not limits.over(structure.score, structure.n_arcs, steps):
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
