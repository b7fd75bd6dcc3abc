"""Counts for structure search: one family against all candidates at once, and everything remembered.

N(parents, child, candidate)        for every candidate of a child in one pass
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import kernels
from bayeslearn.errors import CapacityError, MissingValuesError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.tables import Table

#: Nanoseconds, measured: for a word of a cell against a state, and for a row against a candidate.
WORD, ROW = 0.45, 1.6

#: Cells of one family with one candidate that are counted; more would be mostly empty.
MOST_CELLS = 1 << 24


@dataclass(frozen=True)
class Extended:
    """Counts (parent cells, states of the child, states of all candidates) and where each candidate's states start."""

    n: NDArray[np.float64]
    start: NDArray[np.int64]


class FamilyCounts:
    """Counts of the families of one complete table."""

    def __init__(self, table: Table) -> None:
        if (table.codes < 0).any():
            name = next(name for name, cells in table.missing().items() if cells)
            raise MissingValuesError(
                f"column {name!r} has missing cells, and structure scores need complete rows",
                hint="complete the table first, or use structural EM",
                column=name,
            )
        self.names = [v.name for v in table.schema.discrete]
        self.sizes = np.array([v.size for v in table.schema.discrete], np.int64)
        self.rows = table.n_rows
        self.total = table.total_weight
        self.codes = np.ascontiguousarray(table.codes)
        self.weights = np.empty(0) if table.weights is None else table.weights
        self._first = np.cumsum([0, *self.sizes], dtype=np.int64)

    @cached_property
    def _bitmaps(self) -> NDArray[np.uint64]:
        words = np.zeros((int(self._first[-1]), -(-self.rows // 64)), np.uint64)

        def build(column: int) -> None:
            for state in range(self.sizes[column]):
                packed = np.packbits(self.codes[column] == state, bitorder="little")
                words[self._first[column] + state].view(np.uint8)[: len(packed)] = packed

        kernels.parallel(build, range(len(self.sizes)))
        return words

    def family(self, child: int, parents: tuple[int, ...]) -> NDArray[np.float64]:
        """N(parents, child), an axis for each parent in order, then the child."""
        cell, cells = self._cell_of_rows((*parents, child))
        weights = self.weights if len(self.weights) else None
        shape = [int(self.sizes[v]) for v in (*parents, child)]
        return np.bincount(cell, weights, minlength=cells).astype(np.float64).reshape(shape)

    def extended(self, child: int, parents: tuple[int, ...], candidates: NDArray[np.int64]) -> Extended:
        """N(parents, child, candidate) for each candidate."""
        sizes = self.sizes[candidates]
        start = np.cumsum([0, *sizes], dtype=np.int64)
        cells = int(np.prod(self.sizes[[*parents, child]], dtype=float))
        if cells * int(start[-1]) > MOST_CELLS:
            raise CapacityError(
                f"{self.names[child]!r} with {len(parents)} parents has {cells:,} cells, too many to count",
                hint="limit the number of parents, or give columns fewer states",
                cells=cells,
            )
        by_bitmaps = WORD * cells * int((sizes - 1).sum()) / 64 < ROW * len(candidates)
        if by_bitmaps and not len(self.weights):
            n = self._by_bitmaps(child, parents, candidates, start)
        else:
            n = self._by_rows(child, parents, candidates, start)
        return Extended(n.reshape(-1, int(self.sizes[child]), int(start[-1])), start[:-1])

    def _by_rows(
        self, child: int, parents: tuple[int, ...], candidates: NDArray[np.int64], start: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        cell, cells = self._cell_of_rows((*parents, child))
        table = np.zeros((cells, int(start[-1])))
        kernels.extend_by_rows(cell, self.codes, self.weights, candidates, start, table)
        return table

    def _by_bitmaps(
        self, child: int, parents: tuple[int, ...], candidates: NDArray[np.int64], start: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Every state but the last of a candidate is counted; the last follows from the cell as a whole."""
        bitmaps = self._bitmaps
        cells = bitmaps[self._first[child] : self._first[child + 1]]
        if parents:
            cells = self._cell_bitmaps((*parents, child))
        wanted = np.concatenate([self._first[c] + np.arange(self.sizes[c] - 1) for c in candidates]).astype(np.int64)
        found = np.zeros((len(cells), len(wanted)), np.int64)
        kernels.extend_by_bitmaps(cells, bitmaps, wanted, found)
        whole = self.family(child, parents).reshape(-1)
        table = np.zeros((len(cells), int(start[-1])))
        last = start[1:] - 1
        kept = np.ones(int(start[-1]), np.bool_)
        kept[last] = False
        table[:, kept] = found
        sums = np.add.reduceat(table, start[:-1], axis=1)
        table[:, last] = whole[:, None] - sums
        return table

    def _cell_bitmaps(self, family: tuple[int, ...]) -> NDArray[np.uint64]:
        bitmaps = self._bitmaps
        cells = bitmaps[self._first[family[0]] : self._first[family[0] + 1]]
        for v in family[1:]:
            larger = np.empty((len(cells) * int(self.sizes[v]), cells.shape[1]), np.uint64)
            kernels.intersect_all(cells, bitmaps, int(self._first[v]), int(self.sizes[v]), larger)
            cells = larger
        return cells

    def _cell_of_rows(self, family: tuple[int, ...]) -> tuple[NDArray[np.int32], int]:
        cell: Any = self.codes[family[0]].astype(np.int32)
        for v in family[1:]:
            cell = cell * np.int32(self.sizes[v]) + self.codes[v]
        return cell, int(np.prod(self.sizes[list(family)]))
