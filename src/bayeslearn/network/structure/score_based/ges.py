"""Greedy equivalence search: from class to class of graphs that are equivalent, the best move first.

Moves insert an arc, delete one or turn one in some member of the class, and the score of a class is that of its
members. In the limit of many rows inserting and then deleting finds the best class of all.

For variables x, y and neighbors S of y that are all joined to each other, P the parents of y, ad(x) all that is
joined to x and ne(x) its neighbors, that is joined without a direction:

    insert x → y    score(y, P + S + x) − score(y, P + S)       not joined; ne(y) ∩ ad(x) ⊆ S; S blocks the way y ⇝ x
    delete x → y    score(y, P + S − x) − score(y, P + S + x)   x → y or x — y; S ⊆ ad(x)
    turn to x → y   what inserting it gains, and what x gains without y:
                    score(x, Q − y) − score(x, Q + y)           Q = parents of x + S ∩ ne(x)
      from y → x    ne(y) ∩ ad(x) ⊆ S; S + ne(x) block every other way y ⇝ x
      from y — x    S ⊄ ne(x); S ∩ ne(x) separates the rest of S from the rest of ne(y) ∩ ne(x), within ne(y)

The member is one where just S, of the neighbors of y, comes before y. A way never goes against an arc.

References
----------
Chickering (2002), Optimal structure identification with greedy search. Hauser and Bühlmann (2012), Characterization
and greedy learning of interventional Markov equivalence classes of directed acyclic graphs, for the turning.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from bayeslearn.errors import CapacityError
from bayeslearn.network.structure.score_based.hill_climbing import (
    TIE,
    Partial,
    class_of,
    cliques,
    member,
    member_that_keeps,
    ranks,
)
from bayeslearn.network.structure.search_settings import UNLIMITED, Budget

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from numpy.typing import NDArray

    from bayeslearn.network.structure.scoring.criteria import Parents, ScoreCache
    from bayeslearn.network.structure.search_settings import Allowed

    #: Neighbors that come before y, and what moves of each x gain.
    Row = tuple[Parents, NDArray[np.float64]]

#: Sets of neighbors of one variable that are considered; more means that the classes are hardly sparse.
MOST_SETS = 1 << 12


@dataclass(frozen=True)
class Move:
    """A change of the arc x → y, in a member where of the neighbors of y just `before` come before it."""

    x: int
    y: int
    before: Parents
    gain: float


class Moves(ABC):
    """Moves of one kind from the class at hand, and what they gain."""

    def __init__(self, cache: ScoreCache, allowed: Allowed) -> None:
        self.cache, self.allowed = cache, allowed
        self.rank = ranks(cache.counts.names)
        self.at: Partial | None = None
        self.rows: list[list[Row]] = [[] for _ in range(cache.n)]

    def look(self, at: Partial) -> None:
        """Work out what has changed since the last look: around variables whose arcs did."""
        stale = np.ones(self.cache.n, np.bool_)
        if self.at is not None:
            changed = at.marks != self.at.marks
            touched = changed.any(axis=0) | changed.any(axis=1)
            stale = touched | at.joined[touched].any(axis=0)
        self.at = at
        for y in np.flatnonzero(stale).tolist():
            self.rows[y] = list(self.gains(at, y))

    def best_first(self, slack: float) -> Iterator[Move]:
        """Moves that gain more than `slack`; those that gain as much as each other by name."""
        rows = [(y, before) for y, found in enumerate(self.rows) for before, _ in found]
        gain = np.array([gains for found in self.rows for _, gains in found]).reshape(len(rows), self.cache.n)
        order = np.argsort(-gain[gain > slack])
        gains, places, begin = gain[gain > slack][order], np.argwhere(gain > slack)[order], 0
        while begin < len(gains):
            end = int(np.searchsorted(-gains, slack - gains[begin], side="right"))
            near = (Move(x, rows[row][0], rows[row][1], float(gain[row, x])) for row, x in places[begin:end].tolist())
            yield from sorted(near, key=self._by_name)
            begin = end

    def _by_name(self, move: Move) -> tuple[int, int, list[int]]:
        return int(self.rank[move.y]), int(self.rank[move.x]), sorted(self.rank[list(move.before)].tolist())

    def sets(self, at: Partial, y: int) -> Iterator[Parents]:
        """Neighbors of y that are all joined to each other, few enough to be its parents."""
        most = self.allowed.max_parents - len(at.parents(y))
        found = list(islice(cliques(at.joined, at.neighbors(y), most), MOST_SETS + 1))
        if len(found) > MOST_SETS:
            raise CapacityError(
                f"the neighbors of {self.cache.counts.names[y]!r} are joined in more than {MOST_SETS} ways",
                hint="limit the number of parents, or take a score that asks more of an arc, such as bic",
            )
        yield from found

    def score(self, y: int, parents: Collection[int]) -> float:
        """The score of a family, in whatever order its parents are."""
        return self.cache.family(y, tuple(sorted(parents)))

    # -- what kinds of moves differ in

    @abstractmethod
    def gains(self, at: Partial, y: int) -> Iterator[Row]:
        """The rows of y."""

    def open(self, at: Partial, move: Move) -> bool:
        """Whether no cycle would arise: a new arc needs that only those before y lead to x; asked only of the best."""
        return bool(at.marks[move.x, move.y]) or not at.leads(move.y, move.x, move.before)

    def prepared(self, at: Partial, move: Move) -> Partial:
        """The class with directions such that the move is one change of its members."""
        return at.after(move.y, move.before)

    def change(self, arcs: NDArray[np.bool_], move: Move) -> None:
        """The one change of a member."""
        arcs[move.x, move.y] = True


class Insert(Moves):
    """x → y where there was nothing."""

    def gains(self, at: Partial, y: int) -> Iterator[Row]:
        """All x at once, for each set."""
        parents, neighbors = at.parents(y), at.neighbors(y)
        apart = (self.allowed.arcs | self.allowed.arcs.T)[y] & ~at.joined[y]
        for before in self.sets(at, y):
            left = [v for v in neighbors if v not in before]
            free = apart & ~at.joined[left].any(axis=0)
            if len(parents) + len(before) < self.allowed.max_parents and free.any():
                family = tuple(sorted((*parents, *before)))
                gain = self.cache.additions(y, family) - self.cache.family(y, family)
                yield before, np.where(free, gain, -np.inf)


class Delete(Moves):
    """No x → y."""

    def gains(self, at: Partial, y: int) -> Iterator[Row]:
        """Each x with an arc into y or without direction, for each set that is joined to it."""
        parents = set(at.parents(y))
        loose = at.marks[:, y] & ~(self.allowed.required | self.allowed.required.T)[y]
        for before in self.sets(at, y):
            gain = np.full(self.cache.n, -np.inf)
            for x in np.flatnonzero(loose & at.joined[list(before)].all(axis=0)).tolist():
                others = parents.union(before) - {x}
                gain[x] = self.score(y, others) - self.score(y, others | {x})
            yield before, gain

    def prepared(self, at: Partial, move: Move) -> Partial:
        """With x before y as well."""
        return at.after(move.y, {*move.before, move.x})

    def change(self, arcs: NDArray[np.bool_], move: Move) -> None:
        """The arc is gone."""
        arcs[move.x, move.y] = False


class Turn(Moves):
    """x → y where there was y → x or y — x."""

    def gains(self, at: Partial, y: int) -> Iterator[Row]:
        """Each x below y or without direction."""
        parents = set(at.parents(y))
        for before in self.sets(at, y):
            gain = np.full(self.cache.n, -np.inf)
            mine = parents.union(before)
            for x in np.flatnonzero(at.marks[y]).tolist():
                if len(mine) < self.allowed.max_parents and self._fits(at, x, y, before):
                    its = set(at.parents(x)).union(v for v in before if at.edges[x, v]) - {y}
                    gain[x] = self.score(y, mine | {x}) - self.score(y, mine)
                    gain[x] += self.score(x, its) - self.score(x, its | {y})
            yield before, gain

    @staticmethod
    def _fits(at: Partial, x: int, y: int, before: Parents) -> bool:
        left = [v for v in at.neighbors(y) if v not in before]
        if not at.edges[x, y]:
            return not at.joined[x, left].any()
        own = [v for v in before if not at.edges[x, v]]
        if x in before or not own:
            return False
        return not _connected(at.edges, own, [v for v in left if at.edges[x, v]], {*left, *own} - {x})

    def open(self, at: Partial, move: Move) -> bool:
        """Those next to x come after it, and lead to it no more."""
        return super().open(at, replace(move, before=(*move.before, *at.neighbors(move.x))))

    def prepared(self, at: Partial, move: Move) -> Partial:
        """With x after y, and otherwise as early as it can be."""
        return super().prepared(at, move).after(move.x, {*move.before, move.y})

    def change(self, arcs: NDArray[np.bool_], move: Move) -> None:
        """The arc is turned."""
        arcs[move.y, move.x], arcs[move.x, move.y] = False, True


def _connected(edges: NDArray[np.bool_], some: list[int], others: list[int], within: set[int]) -> bool:
    """Whether edges lead from some variables to others, over these only."""
    front, left = set(some), within - set(some)
    while front:
        if not front.isdisjoint(others):
            return True
        front = {v for v in left if edges[v, list(front)].any()}
        left -= front
    return False


class ClassSearch:
    """Where the search over classes stands."""

    def __init__(self, cache: ScoreCache, allowed: Allowed) -> None:
        self.cache, self.allowed = cache, allowed
        self.rank = ranks(cache.counts.names)
        self.nothing_known = allowed.anything
        self.steps = 0
        self.at = Partial(class_of(allowed.required))
        self.seen = {self.at.marks.tobytes()}
        families = (tuple(np.flatnonzero(parents).tolist()) for parents in allowed.required.T)
        self.score = sum(cache.family(x, parents) for x, parents in enumerate(families))

    @property
    def arcs(self) -> NDArray[np.bool_]:
        """A member of the class that keeps to what is known."""
        arcs = member_that_keeps(self.at.marks, self.allowed, self.rank)
        assert arcs is not None  # no other class is gone to
        return arcs

    def possible(self, marks: NDArray[np.bool_]) -> bool:
        """Whether some member of a class agrees with what is known."""
        return self.nothing_known or member_that_keeps(marks, self.allowed, self.rank) is not None

    def step(self, moves: Moves) -> bool:
        """Make the best move that leads to a class not seen before, one of whose members agrees with what is known.

        Scores that differ within a class could lead in circles otherwise.
        """
        moves.look(self.at)
        for move in moves.best_first(TIE * (1 + abs(self.score))):
            if moves.open(self.at, move):
                marks = self.after(moves, move)
                if marks.tobytes() not in self.seen and self.possible(marks):
                    self.seen.add(marks.tobytes())
                    self.at, self.score, self.steps = Partial(marks), self.score + move.gain, self.steps + 1
                    return True
        return False

    def after(self, moves: Moves, move: Move) -> NDArray[np.bool_]:
        """The class that a move leads to."""
        arcs = member(moves.prepared(self.at, move).marks, self.rank)
        assert arcs is not None  # what the conditions of a move are for
        moves.change(arcs, move)
        return class_of(arcs)


def ges(cache: ScoreCache, allowed: Allowed, budget: Budget = UNLIMITED, *, turning: bool = True) -> NDArray[np.bool_]:
    """Insert while that gains, then delete, then turn, and all again until nothing gains.

    The graph is a member of the class that is found, and one that keeps to what is known: classes without such a member
    are not gone to. Scores should be the same for all members of a class, as loglik, aic, bic and bdeu are. With k2 and
    bds the search works as well, but other members of the class can score more or less than the one returned.
    """
    search = ClassSearch(cache, allowed)
    kinds = [kind(cache, allowed) for kind in (Insert, Delete, Turn)[: 3 if turning else 2]]
    kind = idle = 0
    while idle < len(kinds) and not budget.over(search.score, int(search.at.joined.sum()) // 2, search.steps):
        moved = search.step(kinds[kind])
        kind, idle = (kind, 0) if moved else ((kind + 1) % len(kinds), idle + 1)
    return search.arcs
