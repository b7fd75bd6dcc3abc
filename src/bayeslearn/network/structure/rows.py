"""Counts of one complete table: one family against all other columns at once.

    N(parents, child, v)        for every other column v, in one pass

The most frequent cell of the family is not counted at all, being what the others leave of each column; of the others,
the large ones are counted as bitmaps and the small ones row by row. What was counted is remembered.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from bayeslearn import kernels

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Nanoseconds, measured: for a word of a cell against a state, and for a row against a column.
WORD, ROW = 0.25, 1.5

#: Bytes of counts that are remembered for one table.
MEMORY = 1 << 28

Family = tuple[int, ...]


class Rows:
    """The rows of one complete table by their codes (columns, rows); `weights` is empty where each counts once."""

    def __init__(self, codes: NDArray[np.integer], sizes: NDArray[np.int64], weights: NDArray[np.float64]) -> None:
        self.codes, self.sizes, self.weights = np.ascontiguousarray(codes), sizes, weights
        self.n = codes.shape[1]
        self._first = np.cumsum([0, *sizes], dtype=np.int64)
        self._owner = np.repeat(np.arange(len(sizes)), sizes)
        self._counted = np.ones(len(self._owner), np.bool_)  # every state but the last of each column
        self._counted[self._first[1:] - 1] = False
        self._known: dict[tuple[int, Family], NDArray[np.float64]] = {}
        self._bytes = 0

    def family(self, family: Family) -> NDArray[np.float64]:
        """N of every cell of some columns, the last varying fastest."""
        return self._count_cells(self._cells(family), family)

    def extended(self, child: int, parents: Family) -> NDArray[np.float64]:
        """N(cell of parents and child, state), the states of all columns side by side; those of the family are void."""
        key = child, parents
        if key in self._known:
            return self._known[key]
        table = self._extend((*parents, child))
        if self._bytes + table.nbytes <= MEMORY:
            self._known[key] = table
            self._bytes += table.nbytes
        return table

    # -- one family

    def _cells(self, family: Family) -> NDArray[np.int32]:
        cell = np.empty(self.n, np.int32)
        kernels.find_cells(self.codes, np.array(family, np.int64), self.sizes, cell)
        return cell

    def _count_cells(self, cell: NDArray[np.int32], family: Family) -> NDArray[np.float64]:
        whole = np.zeros((2, int(np.prod(self.sizes[list(family)]))))
        kernels.count_cells(cell, self.weights, whole)
        return whole[0] + whole[1]

    # -- with every other column

    def _extend(self, family: Family) -> NDArray[np.float64]:
        cell = self._cells(family)
        whole = self._count_cells(cell, family)
        other = np.ones(len(self.sizes), np.bool_)
        other[list(family)] = False
        others = np.flatnonzero(other)
        table = np.zeros((len(whole), len(self._owner)))
        if len(self.weights):
            self._by_rows(np.arange(self.n, dtype=np.int32), cell, others, table)
            return table
        few = whole <= self._few(others)
        largest = int(np.argmax(whole))
        few[largest] = False
        rows = np.flatnonzero(few.take(cell)).astype(np.int32)
        self._by_rows(rows, cell, others, table)
        many = np.flatnonzero(~few & (np.arange(len(whole)) != largest))
        self._by_bitmaps(family, many, whole, others, table)
        table[largest] = self._marginal - table.sum(axis=0)
        return table

    def _few(self, others: NDArray[np.int64]) -> float:
        """Rows that take as long one by one as a whole cell does by bitmaps."""
        words, states = -(-self.n // 64), int((self.sizes[others] - 1).sum())
        return WORD * words * states / (ROW * max(len(others), 1))

    def _by_rows(
        self, rows: NDArray[np.int32], cell: NDArray[np.int32], others: NDArray[np.int64], table: NDArray[np.float64]
    ) -> None:
        kernels.extend_by_rows(rows, cell, self.codes, self.weights, others, self._first[others], table)

    def _by_bitmaps(
        self,
        family: Family,
        cells: NDArray[np.int64],
        whole: NDArray[np.float64],
        others: NDArray[np.int64],
        table: NDArray[np.float64],
    ) -> None:
        """Every state of a column but the last is counted; the last follows from the cell as a whole."""
        if not len(cells) or not len(others):
            return
        other = np.zeros(len(self.sizes), np.bool_)
        other[others] = True
        states = np.flatnonzero(self._counted & other[self._owner])
        members = np.stack(np.unravel_index(cells, self.sizes[list(family)]), axis=1) + self._first[list(family)]
        bitmaps = np.empty((len(cells), self._bitmaps.shape[1]), np.uint64)
        kernels.intersect_members(self._bitmaps, members.astype(np.int64), bitmaps)
        kernels.extend_by_bitmaps(bitmaps, cells, self._bitmaps, states, states, table)
        sums = np.add.reduceat(table[cells], self._first[:-1], axis=1)
        table[cells[:, None], self._first[1:][others] - 1] = whole[cells, None] - sums[:, others]

    @cached_property
    def _bitmaps(self) -> NDArray[np.uint64]:
        words = np.zeros((int(self._first[-1]), -(-self.n // 64)), np.uint64)

        def build(column: int) -> None:
            for state in range(self.sizes[column]):
                packed = np.packbits(self.codes[column] == state, bitorder="little")
                words[self._first[column] + state].view(np.uint8)[: len(packed)] = packed

        kernels.parallel(build, range(len(self.sizes)))
        return words

    @cached_property
    def _marginal(self) -> NDArray[np.float64]:
        """N of every state of every column."""
        return np.concatenate([self.family((v,)) for v in range(len(self.sizes))])
