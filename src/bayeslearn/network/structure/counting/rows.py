"""Counts of one complete table: one family against other columns, all at once.

    N(parents, child, v)        for every other column v, in one pass

What was counted is remembered.
"""

from __future__ import annotations

import math
from functools import cached_property, partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import kernels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.kernels.family_cells import Counts

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

#: Cells from which on two threads pack them quicker than one.
PACKED = 1 << 18

#: Bytes of counts that are remembered for one table when nothing else is said.
MEMORY = 1 << 28

#: Work, rows by columns by columns, from which on two threads are quicker than one.
WORTH = 1 << 24

Family = tuple[int, ...]


class Rows:
    """The rows of one complete table by their codes (columns, rows); `weights` is empty where each counts once."""

    def __init__(
        self,
        codes: NDArray[np.signedinteger],
        sizes: NDArray[np.int64],
        weights: NDArray[np.float64],
        *,
        memory: int = MEMORY,
    ) -> None:
        self.codes, self.sizes, self.weights = np.ascontiguousarray(codes), sizes, weights
        self.n = codes.shape[1]
        self.size: list[int] = sizes.tolist()
        self._states = sum(self.size)
        #: Of counts: whole numbers, unless rows are weighted or more than these can count.
        self.dtype: type[Any] = np.float64 if len(weights) or self.n > np.iinfo(np.int32).max else np.int32
        self._known: dict[tuple[int, Family], Counts] = {}
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

    def extended(self, child: int, parents: Family) -> Counts:
        """N(cell of parents and child, state), the states of all columns side by side; those of the family are void."""
        known = self._known.get((child, parents))
        if known is not None:
            return known
        table = np.zeros((self._cells((*parents, child)), self._states), self.dtype)
        fewer, added = self._fewer(child, parents)
        kernels.extend_family(self.data, np.array((*parents, child)), self._all, fewer, added, table)
        self._remember(child, parents, table)
        return table

    def _fewer(self, child: int, parents: Family) -> tuple[Counts, int]:
        """What is known without one column of the family, and which; else how many rows each state has.

        The one that is most often in the same state saves most: the largest part of what it splits is not counted.
        """
        without = [(child, parents[:k] + parents[k + 1 :]) for k in range(len(parents))]
        if parents:
            without.append((parents[-1], parents[:-1]))
        places = [k for k, key in enumerate(without) if key in self._known]
        if not places or len(self.weights):
            return self.data[5].reshape(1, -1), -1
        family = (*parents, child)
        best = max(places, key=lambda k: self._commonest[family[k]])
        return self._known[without[best]], best

    @cached_property
    def _commonest(self) -> list[int]:
        """How many rows are in the commonest state of each column."""
        return np.maximum.reduceat(self.data[5], self.data[3][:-1]).tolist()

    @cached_property
    def pairs(self) -> Counts:
        """N(state, state) of all columns against all others, each pair counted once; remembered for each column."""
        first, hands = np.cumsum([0, *self.size]).tolist(), kernels.thread_count() if self.worth else 1
        states, data = np.zeros((first[-1], first[-1]), self.dtype), self.data

        def count(hand: int) -> None:
            kernels.extend_columns(data, np.arange(hand, len(self.size), hands), states)

        kernels.parallel(count, range(hands))
        states += states.T
        for x in range(len(self.size)):
            self._remember(x, (), states[first[x] : first[x + 1]])
        return states

    def _remember(self, child: int, parents: Family, table: Counts) -> None:
        if table.nbytes <= self._free:
            self._known[child, parents] = table
            self._free -= table.nbytes

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

    def _packed(self, first: NDArray[np.int64]) -> tuple[NDArray[np.uint64], Counts, NDArray[np.uint64]]:
        """A bitmap for each state of each column and how many rows it has, and for each row a byte for each state.

        Weighted rows have no use for them, and bytes of too many rows are not made.
        """
        if len(self.weights):
            return np.empty((0, 0), np.uint64), np.empty(0), np.empty((0, 0), np.uint64)
        states = int(first[-1])
        words, marginal = np.zeros((states, filled(self.n / 64)), np.uint64), np.empty(states, self.dtype)
        ones = np.zeros((self.n, filled(states / 8)), np.uint64)
        ones = ones if ones.nbytes <= MOST_BYTES else ones[:0]
        bytes_of = ones.view(np.uint8)
        parts = 4 * kernels.thread_count() if self.codes.size > PACKED else 1
        columns, rows = ([n * k // parts for k in range(parts + 1)] for n in (len(self.size), len(ones)))
        jobs = [
            *(
                partial(kernels.pack_states, self.codes[a:b], first[a : b + 1], words, marginal)
                for a, b in pairwise(columns)
            ),
            *(partial(kernels.pack_rows, self.codes, first, a, b, bytes_of) for a, b in pairwise(rows)),
        ]
        kernels.parallel(lambda job: job(), jobs, worth=parts > 1)
        return words, marginal, ones


def filled(words: float) -> int:
    """So many words, filled up to whole blocks."""
    return -(-math.ceil(words) // BLOCK) * BLOCK
