"""Counts of one complete table: one family against other columns, all at once.

    N(parents, child, v)        for every other column v, in one pass

What was counted is remembered.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import kernels

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Nanoseconds, measured: for a word of a cell against a state, and for a row against a column.
WORD, CELL = 0.25, 1.5

#: The same for a row of bytes, and for each of its bytes, where all rows are near and where they are far.
ROW, NEAR, FAR = 3.0, 0.02, 0.08

#: Bytes that are near.
CACHE = 1 << 22

#: Words that a row of bytes or a bitmap is filled up to, so that machines find no remainder.
BLOCK = 16

#: Bytes of all rows, a byte for each state, beyond which they are not worth their place.
MOST_BYTES = 1 << 26

#: Rows whose bytes are made at a time.
SLICE = 1 << 12

#: Bytes of counts that are remembered for one table when nothing else is said.
MEMORY = 1 << 28

#: Work, rows by columns by columns, from which on two threads are quicker than one.
WORTH = 1 << 21

Family = tuple[int, ...]


class Rows:
    """The rows of one complete table by their codes (columns, rows); `weights` is empty where each counts once."""

    def __init__(
        self,
        codes: NDArray[np.integer],
        sizes: NDArray[np.int64],
        weights: NDArray[np.float64],
        *,
        memory: int = MEMORY,
    ) -> None:
        self.codes, self.sizes, self.weights = np.ascontiguousarray(codes), sizes, weights
        self.n = codes.shape[1]
        self.size: list[int] = sizes.tolist()
        self._states = sum(self.size)
        self._known: dict[tuple[int, Family], NDArray[np.float64]] = {}
        self.memory = self._free = memory

    @property
    def worth(self) -> bool:
        """Whether all columns against all others are work for more than one thread."""
        return self.n * len(self.size) ** 2 > WORTH

    def family(self, family: Family) -> NDArray[np.float64]:
        """N of every cell of some columns, the last varying fastest."""
        cell, whole = np.empty(self.n, np.int32), np.zeros((2, self._cells(family)))
        kernels.find_cells(self.codes, np.array(family, np.int64), self.sizes, cell)
        kernels.count_cells(cell, self.weights, whole)
        return whole[0] + whole[1]

    def extended(self, child: int, parents: Family) -> NDArray[np.float64]:
        """N(cell of parents and child, state), the states of all columns side by side; those of the family are void."""
        known = self._known.get((child, parents))
        if known is not None:
            return known
        table = self._extend((*parents, child), self._all)
        self._remember(child, parents, table)
        return table

    @cached_property
    def pairs(self) -> NDArray[np.float64]:
        """N(state, state) of all columns against all others, each pair counted once; remembered for each column."""
        place, first = np.arange(len(self.size)), np.cumsum([0, *self.size]).tolist()
        states = np.zeros((first[-1], first[-1]))

        def count(x: int) -> None:
            states[first[x] : first[x + 1], first[x + 1] :] = self._extend((x,), place > x)[:, first[x + 1] :]

        kernels.parallel(count, place.tolist(), worth=self.worth)
        states += states.T
        for x in range(len(self.size)):
            self._remember(x, (), states[first[x] : first[x + 1]])
        return states

    def _remember(self, child: int, parents: Family, table: NDArray[np.float64]) -> None:
        if table.nbytes <= self._free:
            self._known[child, parents] = table
            self._free -= table.nbytes

    def _extend(self, family: Family, wanted: NDArray[np.bool_]) -> NDArray[np.float64]:
        table = np.zeros((self._cells(family), self._states))
        kernels.extend_family(self.data, np.array(family, np.int64), wanted, table)
        return table

    @cached_property
    def _all(self) -> NDArray[np.bool_]:
        return np.ones(len(self.size), np.bool_)

    def _cells(self, family: Family) -> int:
        return math.prod([self.size[v] for v in family])

    @cached_property
    def data(self) -> tuple[Any, ...]:
        """All that :func:`~bayeslearn.kernels.extending.extend_family` looks at."""
        first = np.cumsum([0, *self.size], dtype=np.int64)
        bitmaps, marginal, ones = self._packed(first)
        byte = NEAR if ones.nbytes <= CACHE else FAR
        row = ROW + byte * 8 * ones.shape[1] if len(ones) else CELL * len(self.sizes)
        return self.codes, self.weights, self.sizes, first, bitmaps, marginal, ones, WORD * bitmaps.shape[1] / row

    def _packed(self, first: NDArray[np.int64]) -> tuple[NDArray[np.uint64], NDArray[np.float64], NDArray[np.uint64]]:
        """A bitmap for each state of each column and how many rows it has, and for each row a byte for each state.

        Weighted rows have no use for them, and bytes of too many rows are not made.
        """
        if len(self.weights):
            return np.empty((0, 0), np.uint64), np.empty(0), np.empty((0, 0), np.uint64)
        states = int(first[-1])
        words, marginal = np.zeros((states, filled(self.n / 64)), np.uint64), np.empty(states)
        ones = np.zeros((self.n, filled(states / 8)), np.uint64)
        ones = ones if ones.nbytes <= MOST_BYTES else ones[:0]
        worth = self.codes.size > 1 << 20

        def pack(column: int) -> None:
            some = slice(column, column + columns)
            kernels.pack_states(self.codes[some], first[column : column + columns + 1], words, marginal)

        def spread(begin: int) -> None:
            kernels.pack_rows(self.codes, first, begin, min(begin + SLICE, len(ones)), ones.view(np.uint8))

        columns = 1 if worth else len(self.size)
        kernels.parallel(pack, range(0, len(self.size), columns), worth=worth)
        kernels.parallel(spread, range(0, len(ones), SLICE), worth=worth)
        return words, marginal, ones


def filled(words: float) -> int:
    """So many words, filled up to whole blocks."""
    return -(-math.ceil(words) // BLOCK) * BLOCK
