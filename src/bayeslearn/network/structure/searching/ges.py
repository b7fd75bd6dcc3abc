"""Greedy equivalence search: from class to class of graphs that say the same, the best move first.

Moves insert an arc, delete one or turn one in some member of the class, see :mod:`.class_moves`, and the score of a
class is that of its members. In the limit of many rows inserting and then deleting finds the best class of all.

References
----------
Chickering (2002), Optimal structure identification with greedy search.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayeslearn.network.structure.limits import FOREVER, Limits
from bayeslearn.network.structure.searching.class_moves import Delete, Insert, Turn
from bayeslearn.network.structure.searching.classes import Partial, class_of, member, member_that_keeps
from bayeslearn.network.structure.searching.climbing import TIE, ranks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.network.structure.counting.cache import ScoreCache
    from bayeslearn.network.structure.knowledge import Allowed
    from bayeslearn.network.structure.searching.class_moves import Move, Moves


class ClassSearch:
    """Where the search over classes stands."""

    def __init__(self, cache: ScoreCache, allowed: Allowed) -> None:
        self.cache, self.allowed = cache, allowed
        self.rank = ranks(cache.counts.names)
        anything = allowed.arcs.sum() == cache.n * (cache.n - 1) and allowed.most_parents >= cache.n - 1
        self.nothing_known = anything and not allowed.required.any()
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


def ges(cache: ScoreCache, allowed: Allowed, limits: Limits = FOREVER, *, turning: bool = True) -> NDArray[np.bool_]:
    """Insert while that gains, then delete, then turn, and all again until nothing gains.

    The graph is a member of the class that is found, and one that keeps to what is known: classes without such a member
    are not gone to. Scores should be the same for all members of a class, as loglik, aic, bic and bdeu are. With k2 and
    bds the search works as well, but other members of the class can score more or less than the one returned.
    """
    search = ClassSearch(cache, allowed)
    kinds = [kind(cache, allowed) for kind in (Insert, Delete, Turn)[: 3 if turning else 2]]
    kind = idle = 0
    while idle < len(kinds) and not limits.over(search.score, int(search.at.joined.sum()) // 2, search.steps):
        moved = search.step(kinds[kind])
        kind, idle = (kind, 0) if moved else ((kind + 1) % len(kinds), idle + 1)
    return search.arcs
