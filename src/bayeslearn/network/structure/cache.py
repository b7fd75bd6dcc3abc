"""Scores of families, each worked out once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.network.structure.counts import FamilyCounts
    from bayeslearn.network.structure.scores import Score

Parents = tuple[int, ...]


class ScoreCache:
    """score(child, parents) by position; parents are sorted, so that their order does not matter."""

    def __init__(self, counts: FamilyCounts, score: Score) -> None:
        self.counts, self.score = counts, score
        self.n = len(counts.names)
        self._families: dict[tuple[int, Parents], float] = {}
        self._additions: dict[tuple[int, Parents], NDArray[np.float64]] = {}

    def family(self, child: int, parents: Parents) -> float:
        """The score of one family."""
        key = child, parents
        if key not in self._families:
            self._families[key] = self.score.family(self.counts.family(child, parents), self.counts.total)
        return self._families[key]

    def additions(self, child: int, parents: Parents) -> NDArray[np.float64]:
        """The score with each further column as one more parent; −∞ for the child and its parents."""
        key = child, parents
        if key not in self._additions:
            scores = np.full(self.n, -np.inf)
            others = np.array([v for v in range(self.n) if v != child and v not in parents], np.int64)
            if len(others):
                found = self.counts.extended(child, parents, others)
                scores[others] = self.score.extended(found.n, found.start, self.counts.total)
            self._additions[key] = scores
            for v in others.tolist():
                self._families.setdefault((child, tuple(sorted((*parents, v)))), float(scores[v]))
        return self._additions[key]

    def removals(self, child: int, parents: Parents) -> NDArray[np.float64]:
        """The score without each of the parents; −∞ elsewhere."""
        scores = np.full(self.n, -np.inf)
        for v in parents:
            scores[v] = self.family(child, tuple(p for p in parents if p != v))
        return scores

    def __len__(self) -> int:
        return len(self._families)
