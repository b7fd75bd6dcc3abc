"""Counts for structure search: one interface for rows in memory and rows of a source.

In memory they are those of one complete table, or of several that came one after the other. Counts add: what was
counted of earlier rows stays, and only the new ones are counted.

Of one complete table, one family is counted against other columns, all at once:

    N(parents, child, v)        for every other column v, in one pass

What was counted is remembered.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayeslearn import kernels
from bayeslearn.errors import CapacityError, MismatchError, MissingValuesError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from bayeslearn.kernels import family_cells
    from bayeslearn.tables import DiscreteVariable, Table


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

#: What is asked for, see :class:`Counts`, and of which columns.
Asked = tuple[str, Family]


class Rows:
    """The rows of one complete table by their codes (columns, rows); `weights` is empty where each counts once."""

    def __init__(
        self,
        codes: NDArray[np.signedinteger],
        sizes: NDArray[np.int64],
        sample_weight: NDArray[np.float64],
        *,
        memory: int = MEMORY,
        remainder: tuple[Rows, Rows] | None = None,
    ) -> None:
        self.codes, self.sizes, self.sample_weight = np.ascontiguousarray(codes), sizes, sample_weight
        self.n = codes.shape[1]
        self.size: list[int] = sizes.tolist()
        self._states = sum(self.size)
        #: Of counts: whole numbers, unless rows are weighted or more than these can count.
        self.dtype: type[Any] = np.float64 if len(sample_weight) or self.n > np.iinfo(np.int32).max else np.int32
        self._known: dict[tuple[int, Family], family_cells.Counts] = {}
        self.memory = self._free = memory
        #: A table and its other rows: what is known of it is not counted again here, but the difference is.
        self._remainder = remainder

    @property
    def worth(self) -> bool:
        """Whether all columns against all others are work for more than one thread."""
        return self.n * len(self.size) ** 2 > WORTH

    def family(self, family: Family) -> NDArray[np.float64]:
        """N of every cell of some columns, the last varying fastest."""
        if len(family) <= 2 and "pairs" in vars(self) and len(self.size) > 1 and not len(self.sample_weight):
            return self._of_pairs(*family)
        cell, whole = np.empty(self.n, np.int32), np.zeros((2, self._cells(family)))
        kernels.find_cells(self.codes, np.array(family, np.int64), self.sizes, cell)
        kernels.count_cells(cell, self.sample_weight, whole)
        return whole[0] + whole[1]

    def _of_pairs(self, x: int, y: int | None = None) -> NDArray[np.float64]:
        """The same of one or two columns, once all pairs are counted."""
        first = np.cumsum([0, *self.size])
        other = y if y is not None else int(x == 0)
        found = self.pairs[first[x] : first[x + 1], first[other] : first[other + 1]].astype(np.float64)
        return found.sum(axis=1) if y is None else found.reshape(-1)

    def extended(self, child: int, parents: Family) -> family_cells.Counts:
        """N(cell of parents and child, state), the states of all columns side by side; those of the family are void."""
        known = self._known.get((child, parents))
        if known is not None:
            return known
        if self._remainder is not None and self._remainder[0].knows(child, parents):
            whole, others = (rows.extended(child, parents) for rows in self._remainder)
            table = whole - others
            self._remember(child, parents, table)
            return table
        table = np.zeros((self._cells((*parents, child)), self._states), self.dtype)
        fewer, added = self._fewer(child, parents)
        kernels.extend_family(self.data, np.array((*parents, child)), self._all, fewer, added, table)
        self._remember(child, parents, table)
        return table

    def _fewer(self, child: int, parents: Family) -> tuple[family_cells.Counts, int]:
        """What is known without one column of the family, and which; else how many rows each state has.

        The one that is most often in the same state saves most: the largest part of what it splits is not counted.
        """
        without = [(child, parents[:k] + parents[k + 1 :]) for k in range(len(parents))]
        if parents:
            without.append((parents[-1], parents[:-1]))
        places = [k for k, key in enumerate(without) if key in self._known]
        if not places or len(self.sample_weight):
            return self.data[5].reshape(1, -1), -1
        family = (*parents, child)
        best = max(places, key=lambda k: self._commonest[family[k]])
        return self._known[without[best]], best

    @cached_property
    def _commonest(self) -> list[int]:
        """How many rows are in the commonest state of each column."""
        return np.maximum.reduceat(self.data[5], self.data[3][:-1]).tolist()

    def knows(self, child: int, parents: Family) -> bool:
        """Whether a family with all other columns was counted and is remembered."""
        return (child, parents) in self._known

    @cached_property
    def pairs(self) -> family_cells.Counts:
        """N(state, state) of all columns against all others, each pair counted once; remembered for each column."""
        states = self._pairs_left()
        first = np.cumsum([0, *self.size]).tolist()
        for x in range(len(self.size)):
            self._remember(x, (), states[first[x] : first[x + 1]])
        return states

    def _pairs_left(self) -> family_cells.Counts:
        if self._remainder is not None and "pairs" in vars(self._remainder[0]):
            whole, others = self._remainder
            return whole.pairs - others.pairs
        first, hands = np.cumsum([0, *self.size]).tolist(), kernels.thread_count() if self.worth else 1
        states, data = np.zeros((first[-1], first[-1]), self.dtype), self.data

        def count(hand: int) -> None:
            kernels.extend_columns(data, np.arange(hand, len(self.size), hands), states)

        kernels.parallel(count, range(hands))
        states += states.T
        return states

    def _remember(self, child: int, parents: Family, table: family_cells.Counts) -> None:
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
        """The arguments of :func:`~bayeslearn.kernels.extended_counts.extend_family`."""
        first = np.cumsum([0, *self.size], dtype=np.int64)
        bitmaps, marginal, ones = self._packed(first)
        byte = NEAR if ones.nbytes <= CACHE else FAR
        row = ROW + byte * 8 * ones.shape[1] if len(ones) else CELL * len(self.sizes)
        return self.codes, self.sample_weight, self.sizes, first, bitmaps, marginal, ones, WORD * bitmaps.shape[1] / row

    def _packed(self, first: NDArray[np.int64]) -> tuple[NDArray[np.uint64], family_cells.Counts, NDArray[np.uint64]]:
        """A bitmap for each state of each column and how many rows it has, and for each row a byte for each state.

        Weighted rows have no use for them, and bytes of too many rows are not made.
        """
        if len(self.sample_weight):
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
    """A number of words, filled up to whole blocks."""
    return -(-math.ceil(words) // BLOCK) * BLOCK


#: Cells of one family with all other columns that are counted; more would be mostly empty.
MOST_CELLS = 1 << 24


@dataclass(frozen=True)
class Extended:
    """Counts (parent cells, states of the child, states of all columns) and where the states of each column start.

    Those of the child and its parents mean nothing.
    """

    n: family_cells.Counts
    start: NDArray[np.int64]


class ColumnRows(NamedTuple):
    """Rows of some columns, those that agree perhaps as one; `weights` is empty where each counts once."""

    codes: NDArray[np.signedinteger]
    sample_weight: NDArray[np.float64]


class Counts(ABC):
    """Counts of families, wherever the rows are.

    family   N(v1, v2, …)                     for parameters, and for tests
    block    N(S, v) for every column v       for scores of S with one more parent
    rows     rows of some columns             for every parent set within these
    """

    #: Tables in memory that are counted; none where rows are in a source.
    parts: Sequence[Rows] = ()

    def __init__(self, variables: Iterable[DiscreteVariable], total: float) -> None:
        self.variables = tuple(variables)
        self.names = [v.name for v in self.variables]
        self.sizes = np.array([v.n_states for v in self.variables], np.int64)
        self.total = total
        #: Tests of independence by their kind, as they are answered and as they are asked, where rows are in a source.
        self.answers: dict[tuple[str, str], dict[tuple[int, ...], tuple[float, float, float]]] = {}
        self.tests: dict[tuple[str, str], dict[tuple[int, ...], None]] = {}

    @abstractmethod
    def fetch(self, asked: Iterable[Asked]) -> Iterator[tuple[Asked, Any]]:
        """All that is asked for, with its counts: in memory at once, from a source by a pass for all."""

    @abstractmethod
    def family(self, child: int, parents: Family) -> NDArray[np.float64]:
        """N(parents, child), an axis for each parent in order, then the child."""

    @abstractmethod
    def extended(self, child: int, parents: Family) -> Extended | None:
        """N(parents, child, v) for every column v; nothing where these are too many to count."""

    @abstractmethod
    def pairs(self) -> family_cells.Counts | None:
        """N(state, state) of all columns against all others; nothing where these are too many to count."""

    def expect(self, families: Iterable[Family] = (), blocks: Iterable[Family] = ()) -> None:  # noqa: B027
        """Announce what will be asked for; in memory that changes nothing."""

    @property
    @abstractmethod
    def rows(self) -> int:
        """How many rows there are."""

    @property
    def sample(self) -> FamilyCounts | None:
        """Counts of some rows, to guess by until all are counted; None where all are in memory."""
        return None

    @property
    def in_memory(self) -> FamilyCounts | None:
        """These counts, if more rows can be added to them."""
        return None

    @property
    def whole(self) -> bool:
        """Whether it is known that no row counts for less than one."""
        return False

    @property
    def most(self) -> int | None:
        """No count that a score asks for is larger, where all are whole."""
        return None

    @cached_property
    def start(self) -> NDArray[np.int64]:
        """Where the states of each column begin, all of them next to each other."""
        return np.cumsum([0, *self.sizes[:-1]], dtype=np.int64)

    @cached_property
    def states(self) -> int:
        """Of all columns together."""
        return int(self.sizes.sum())

    @cached_property
    def _size(self) -> list[int]:
        return self.sizes.tolist()

    def cells(self, child: int, parents: Family) -> int:
        """How many cells a family has."""
        return math.prod([self._size[v] for v in parents], start=self._size[child])

    def require_countable(self, child: int, parents: Family) -> None:
        """Refuse a family of too many cells."""
        cells = self.cells(child, parents)
        if cells > MOST_CELLS:
            raise CapacityError(
                f"{self.names[child]!r} with {len(parents)} parents has {cells:,.0f} cells, too many to count",
                hint="limit the number of parents, or give columns fewer states",
                cells=cells,
            )


class FamilyCounts(Counts):
    """Counts of the families of complete tables with the same columns and states; the cache is limited."""

    def __init__(self, table: Table, *, memory: int = MEMORY) -> None:
        if (table.codes < 0).any():
            name = next(name for name, cells in table.missing().items() if cells)
            raise MissingValuesError(
                f"column {name!r} has missing cells, and structure scores need complete rows",
                hint="complete the table first, or use structural EM",
                column=name,
            )
        super().__init__(table.schema.discrete, table.total_weight)
        weight = np.empty(0) if table.sample_weight is None else table.sample_weight
        self.parts = [Rows(table.codes, self.sizes, weight, memory=memory)]

    def __add__(self, other: FamilyCounts) -> FamilyCounts:
        """The counts of both tables, with what each remembers."""
        if not isinstance(other, FamilyCounts):
            return NotImplemented
        if self.variables != other.variables:
            raise MismatchError("counts add when their columns and states are the same, in the same order")
        both = FamilyCounts.__new__(FamilyCounts)
        Counts.__init__(both, self.variables, self.total + other.total)
        both.parts = [*self.parts, *other.parts]
        return both

    def without(self, others: Table, left: Table) -> FamilyCounts:
        """The counts of the rows that are `left` without the `others`, by the difference of what is known of all.

        What is not known is counted. Weights that are no whole numbers would not differ exactly: with weights, all is.
        """
        found = FamilyCounts(left, memory=self.parts[0].memory)
        if len(self.parts) == 1 and not len(self.sample_weight):
            whole, taken = self.parts[0], FamilyCounts(others, memory=self.parts[0].memory // 4).parts[0]
            codes, nothing = found.parts[0].codes, np.empty(0)
            found.parts = [Rows(codes, self.sizes, nothing, memory=whole.memory, remainder=(whole, taken))]
        return found

    # -- rows as they are

    @property
    def in_memory(self) -> FamilyCounts:
        """These."""
        return self

    @property
    def rows(self) -> int:
        """How many there are."""
        return sum(part.n for part in self.parts)

    @cached_property
    def codes(self) -> NDArray[np.signedinteger]:
        """All rows, (columns, rows)."""
        return self.parts[0].codes if len(self.parts) == 1 else np.concatenate([p.codes for p in self.parts], axis=1)

    @cached_property
    def sample_weight(self) -> NDArray[np.float64]:
        """The weight of each row; empty where each counts once."""
        if not any(len(part.sample_weight) for part in self.parts):
            return np.empty(0)
        return np.concatenate([p.sample_weight if len(p.sample_weight) else np.ones(p.n) for p in self.parts])

    @property
    def whole(self) -> bool:
        """Whether no case counts for less than one."""
        return bool((self.sample_weight[self.sample_weight > 0] >= 1).all())

    @property
    def most(self) -> int | None:
        """No count that a score asks for is larger, where all are whole."""
        return None if len(self.sample_weight) else self.rows + int(self.sizes.max())

    # -- counts

    def fetch(self, asked: Iterable[Asked]) -> Iterator[tuple[Asked, Any]]:
        """At once."""
        for one in asked:
            kind, columns = one
            if kind == "family":
                first, *more = (part.family(columns) for part in self.parts)
                yield one, sum(more, first).reshape(self.sizes[list(columns)])
            elif kind == "block":
                yield one, added_up(part.extended(columns[-1], columns[:-1]) for part in self.parts)
            else:
                yield one, ColumnRows(self.codes[list(columns)], self.sample_weight)

    def family(self, child: int, parents: Family) -> NDArray[np.float64]:
        """N(parents, child), an axis for each parent in order, then the child."""
        self.require_countable(child, parents)
        found: NDArray[np.float64]
        ((_, found),) = self.fetch([("family", (*parents, child))])
        return found

    def extended(self, child: int, parents: Family) -> Extended | None:
        """N(parents, child, v) for every column v; nothing where these are too many to count."""
        if self.cells(child, parents) * self.states > MOST_CELLS:
            return None
        ((_, table),) = self.fetch([("block", (*parents, child))])
        return Extended(table.reshape(-1, self._size[child], table.shape[1]), self.start)

    def pairs(self) -> family_cells.Counts | None:
        """N(state, state) of all columns against all others; nothing where these are too many to count."""
        if 8 * self.states**2 > self.parts[0].memory:
            return None
        return added_up(part.pairs for part in self.parts)


def added_up(tables: Iterable[family_cells.Counts]) -> family_cells.Counts:
    """One table unchanged, and the sum of several."""
    first, *more = tables
    return sum(more, first.astype(np.float64)) if more else first
