"""Scores of families, each worked out once."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from bayeslearn.network.structure.counting.bulk import ChildRows
from bayeslearn.network.structure.counting.scores import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from bayeslearn.network.structure.counting.counts import FamilyCounts
    from bayeslearn.network.structure.counting.scores import Score
    from bayeslearn.network.structure.limits import Limits

Parents = tuple[int, ...]

T = TypeVar("T")


class Pairs(NamedTuple):
    """scores[x, v] of every column x with v as its only parent, −∞ for itself, and alone[x] with none."""

    scores: NDArray[np.float64]
    alone: NDArray[np.float64]


class ScoreCache:
    """score(child, parents) by position; parents are sorted, so that their order does not matter."""

    def __init__(self, counts: FamilyCounts, score: Score) -> None:
        self.counts, self.score = counts, score
        self.n = len(counts.names)
        self._families: dict[tuple[int, Parents], float] = {}
        self._additions: dict[tuple[int, Parents], NDArray[np.float64]] = {}
        self._pairs: Pairs | None = None

    @cached_property
    def terms(self) -> NDArray[np.float64]:
        """What the score needs of whole numbers, once for all families."""
        most = self.counts.most
        return UNKNOWN if most is None else self.score.terms(most)

    def family(self, child: int, parents: Parents) -> float:
        """The score of one family."""
        key = child, parents
        if key not in self._families:
            self._families[key] = self._family(child, parents)
        return self._families[key]

    def _family(self, child: int, parents: Parents) -> float:
        """Known already if one parent was once looked at as an addition to the others."""
        for i, v in enumerate(parents):
            fewer = self._additions.get((child, parents[:i] + parents[i + 1 :]))
            if fewer is not None and fewer[v] > -np.inf:
                return float(fewer[v])
        return self.score.family(self.counts.family(child, parents), self.counts.total)

    def graph(self, arcs: NDArray[np.bool_]) -> float:
        """The score of a whole graph, arcs[c, x] being c → x."""
        return sum(self.family(x, parents_of(arcs, x)) for x in range(self.n))

    def additions(self, child: int, parents: Parents) -> NDArray[np.float64]:
        """The score with each further column as one more parent; −∞ for the child, its parents and too large tables."""
        key = child, parents
        if key not in self._additions:
            self._additions[key] = self._extended(child, parents)
        return self._additions[key]

    def _extended(self, child: int, parents: Parents) -> NDArray[np.float64]:
        found = self.counts.extended(child, parents) if len(parents) < self.n - 1 else None
        if found is None:
            return np.full(self.n, -np.inf)
        wanted = np.ones(self.n, np.bool_)
        for v in (child, *parents):
            wanted[v] = False
        scores, without = self.score.extended(found.n, found.start, self.counts.total, self.terms, wanted)
        self._families.setdefault((child, parents), without)
        return scores

    def score_pairs(self) -> Pairs | None:
        """Every column with every other as its only parent, before they are asked for one by one; if they can be."""
        found = self.counts.pairs() if self.n > 1 and self._pairs is None else None
        if found is not None:
            self._pairs = Pairs(*self.score.pairs(found, self.counts.start, self.counts.total, self.terms))
            for x in range(self.n):
                self._additions[x, ()] = self._pairs.scores[x]
                self._families.setdefault((x, ()), float(self._pairs.alone[x]))
        return self._pairs

    def removals(self, child: int, parents: Parents) -> NDArray[np.float64]:
        """The score without each of the parents; −∞ elsewhere."""
        scores = np.full(self.n, -np.inf)
        for v in parents:
            scores[v] = self.family(child, tuple(p for p in parents if p != v))
        return scores

    def rows(self, columns: list[int]) -> ChildRows:
        """What scores every parent set of the first of these columns among the others."""
        counts = self.counts
        return ChildRows(self.score, counts.total, counts.codes[columns], counts.sizes[columns], counts.weights)

    # -- where rows are far away, scores may be guesses until they are asked for

    #: Whether they never are.
    certain = True

    def settled(self, search: Callable[[], T], limits: Limits) -> T:  # noqa: ARG002 - searches end by themselves
        """What a search finds."""
        return search()

    #: What to know of what was found, and passes that it took.
    notes: tuple[str, ...] = ()
    passes = 0

    def expect(self, arcs: NDArray[np.bool_]) -> None:
        """The counts of this graph may be asked for."""

    def __len__(self) -> int:
        return len(self._families) + sum(self.n - len(parents) - 1 for _, parents in self._additions)


def parents_of(arcs: NDArray[np.bool_], x: int) -> Parents:
    """The parents of a variable by position, sorted."""
    return tuple(arcs[:, x].nonzero()[0].tolist())
