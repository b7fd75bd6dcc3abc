"""Scores of very many families of one child, for searches that look at every parent set.

Only the child and its candidates matter, so rows that agree on these are one row with a weight. Sets with as many cells
are counted and scored together: to a score they look like one family with many candidates. States of the parents that
never occur add nothing to a Bayesian score, and where there are many of them they are not counted.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from bayeslearn import kernels
from bayeslearn.network.structure.counting.counts import MOST_CELLS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from bayeslearn.network.structure.counting.scores import Score

#: Cells that are counted before they are scored.
BATCH = 1 << 19

#: Numbers that rows are counted by without sorting them.
FEW = 1 << 22


class ChildRows:
    """The rows of a table as one child and some columns see them; the child is column 0."""

    def __init__(
        self,
        score: Score,
        total: float,
        codes: NDArray[np.integer],
        sizes: NDArray[np.int64],
        weights: NDArray[np.float64],
    ) -> None:
        self.score, self.total, self.sizes = score, total, sizes
        weights = weights if len(weights) else np.ones(codes.shape[1])
        self.codes, self.weights = folded(codes, sizes, weights)

    def scores(
        self, parents: NDArray[np.int64], base: NDArray[np.int64], added: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """The score of the child with the columns parents[base] and added, for each pair of these."""
        found = np.empty(len(base))
        states = self.sizes[parents].prod(axis=1, dtype=float)[base]
        for part in self._batches(states, self.sizes[added]):
            start = np.cumsum([0, *self.sizes[added[part]]], dtype=np.int64)
            q = int(states[part[0]])
            table = np.empty((self._rows(q) * int(self.sizes[0]), int(start[-1])))
            kernels.extend_sets(
                self.codes, self.weights, self.sizes, parents, base[part], added[part], start[:-1], q, table
            )
            n = table.reshape(-1, int(self.sizes[0]), int(start[-1]))
            score = self.score
            if score.name == "bdeu":  # the same α for each of fewer cells
                score = replace(score, cases=score.cases * len(n) / q)
            found[part], _ = score.extended(n, start[:-1], self.total)
        return found

    def _rows(self, states: int) -> int:
        """Rows of a table of counts: no more than can occur, unless those that do not have their price."""
        return states if self.score.name in {"aic", "bic"} else min(states, max(len(self.weights), 1))

    def _batches(self, states: NDArray[np.float64], sizes: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
        """Families whose bases have as many states, not too many at a time."""
        order = np.argsort(states, kind="stable")
        filled = np.cumsum((states * sizes)[order]) * self.sizes[0] // BATCH
        ends = np.flatnonzero((np.diff(states[order]) != 0) | (np.diff(filled) != 0)) + 1
        yield from (part for part in np.split(order, ends) if len(part))

    def countable(self, parents: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether the child with these parents has few enough cells; more would be mostly empty."""
        return self.sizes[parents].prod(axis=1, dtype=float) * self.sizes[0] <= MOST_CELLS


def folded(
    codes: NDArray[np.integer], sizes: NDArray[np.int64], weights: NDArray[np.float64]
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Distinct rows and the weight of each; codes have a row for each column."""
    key, largest = np.zeros(codes.shape[1], np.int64), 1
    for column, size in zip(codes, sizes.tolist(), strict=True):
        if largest * size >= 1 << 62:
            key = np.unique(key, return_inverse=True)[1]
            largest = int(key.max()) + 1
        key, largest = key * size + column, largest * size
    if largest > FEW:
        key = np.unique(key, return_inverse=True)[1]
        largest = int(key.max(initial=0)) + 1
    row = np.full(largest, -1, np.int64)
    row[key] = np.arange(len(key))
    seen = row >= 0
    distinct = np.ascontiguousarray(codes[:, row[seen]], dtype=np.int32)
    return distinct, np.bincount(key, weights, minlength=largest)[seen].astype(np.float64)
