"""Counts of families over a source: as many as are asked for together come by one pass.

What one pass brings is bounded; more is brought by several. Where cells are missing a batch is completed before it is
counted (`incomplete_rows.Complete`), and the counts are expected ones.

The first pass over a source: its different rows if these are few, some of its rows, and all pairs of columns.

    rows     different rows, each with its weight         as long as they fit: then nothing else is ever asked
    some     every k-th row of each batch                 to guess by which counts a search will ask for
    pairs    N(state, state) of all columns, missing being the first state of each

Rows that agree are one row with a weight, and to counts, scores and searches that is the same.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import validation
from bayeslearn.network.structure.scoring.family_counts import (
    MOST_CELLS,
    ColumnRows,
    Counts,
    Extended,
    FamilyCounts,
    Rows,
)
from bayeslearn.network.structure.search_settings import DRAWS
from bayeslearn.sources.base import Extent
from bayeslearn.tables import Table
from bayeslearn.tables.table import read_only

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from bayeslearn.network.structure.missing_data.incomplete_rows import Complete
    from bayeslearn.network.structure.scoring.family_counts import Asked, Family
    from bayeslearn.sources.base import Scanned
    from bayeslearn.tables import Source


#: Cells of the rows that guesses rest on.
SOME_CELLS = 1 << 22

#: And how many of these rows there are at most.
SOME_ROWS = 1 << 16

#: Of the bytes that learning may take, those for different rows, and those for pairs, are one part in so many.
ROWS, PAIRS = 8, 16


@dataclass(frozen=True)
class Distinct:
    """Different rows and their weights; nothing once they take more room than they may."""

    table: Table | None
    room: int

    @classmethod
    def of(cls, table: Table, room: int) -> Distinct:
        """Those of one batch."""
        found = table.distinct()
        return cls(found if room_of(found) <= room else None, room)

    @property
    def columns(self) -> ColumnRows | None:
        """Their codes and weights."""
        if self.table is None:
            return None
        return ColumnRows(self.table.codes, validation.weights(self.table.sample_weight, self.table.n_rows))

    def __add__(self, other: Distinct) -> Distinct:
        if self.table is None or other.table is None:
            return Distinct(None, 0)
        return Distinct.of(Table.concat([self.table, other.table]), min(self.room, other.room))


def room_of(table: Table) -> int:
    """Bytes of rows and their weights."""
    return int(table.codes.nbytes) + 8 * table.n_rows


@dataclass(frozen=True)
class Looked:
    """What the first pass brings."""

    totals: Extent
    rows: Distinct
    some: Table
    #: How often each column is missing, then how often it shows each of its states.
    single: tuple[NDArray[np.float64], ...]
    #: Nothing where these are too many.
    pairs: NDArray[np.float64] | None

    def __add__(self, other: Looked) -> Looked:
        return Looked(
            self.totals + other.totals,
            self.rows + other.rows,
            Table.concat([self.some, other.some]),
            tuple(a + b for a, b in zip(self.single, other.single, strict=True)),
            None if self.pairs is None or other.pairs is None else self.pairs + other.pairs,
        )


@dataclass(frozen=True)
class Look:
    """The first pass over a batch."""

    room: int
    step: int
    pairs: bool

    def __call__(self, table: Table) -> Looked:
        """What it shows."""
        shifted, sizes = read_only(table.codes + 1), np.array([v.n_states + 1 for v in table.schema.discrete], np.int64)
        weights = np.empty(0) if table.sample_weight is None else table.sample_weight
        single = tuple(
            np.bincount(codes, table.sample_weight, minlength=size).astype(float)
            for codes, size in zip(shifted, sizes, strict=True)
        )
        return Looked(
            Extent.of(table),
            Distinct.of(table, self.room // (DRAWS if (table.codes < 0).any() else 1)),
            table.take(np.arange(self.step // 2 % table.n_rows, table.n_rows, self.step)),
            single,
            Rows(shifted, sizes, weights, memory=0).pairs.astype(np.float64) if self.pairs else None,
        )


def look(source: Scanned, memory: int, rows: int) -> Looked:
    """The first pass over a source of `rows` rows, whose columns are discrete."""
    wanted = max(min(SOME_ROWS, SOME_CELLS // len(source.schema)), 1)
    states = sum(v.n_states + 1 for v in source.schema.discrete)
    return source.fold(Look(memory // ROWS, -(-rows // wanted), 8 * states**2 <= memory // PAIRS))


### columns that always go together


def twins_by_pairs(looked: Looked, names: tuple[str, ...]) -> list[list[str]]:
    """Groups of columns that are the same but for the names of their states, by their pairs."""
    if looked.pairs is None:
        return []
    first = np.cumsum([0, *map(len, looked.single)])
    groups: list[list[int]] = []
    for x in range(len(names)):
        for group in groups:
            y = group[0]
            if goes_with(looked.pairs[first[x] : first[x + 1], first[y] : first[y + 1]] > 0):
                group.append(x)
                break
        else:
            groups.append([x])
    return [[names[x] for x in group] for group in groups if len(group) > 1]


def goes_with(seen: NDArray[np.bool_]) -> bool:
    """Whether each state of one column goes with one of the other; missing, the first, with missing."""
    alone = (seen.sum(axis=0) <= 1).all() and (seen.sum(axis=1) <= 1).all()
    return bool(alone) and not (seen[0, 1:].any() or seen[1:, 0].any())


#: Of the bytes that learning may take, those for what one pass brings are one part in so many.
PASS = 16


@dataclass(frozen=True)
class Counted:
    """What a pass brings, or a part of it."""

    parts: tuple[Any, ...]
    #: Whether no row stands for draws of its completions.
    exact: bool = True

    def __add__(self, other: Counted) -> Counted:
        parts = tuple(a + b for a, b in zip(self.parts, other.parts, strict=True))
        return Counted(parts, self.exact and other.exact)


@dataclass(frozen=True)
class Count:
    """Counts a batch: a family, a block of one with all columns, or the different rows of one."""

    asked: tuple[Asked, ...]
    room: int
    #: What fills missing values, where there are some.
    complete: Complete | None = None

    def __call__(self, table: Table) -> Counted:
        """All that is asked for."""
        if self.complete is None:
            return self.of(table)
        return reduce(add, (self.of(part, exact=exact) for part, exact in self.complete.parts(table)))

    def of(self, table: Table, *, exact: bool = True) -> Counted:
        """The same of complete rows."""
        sizes = np.array([v.n_states for v in table.schema.discrete], np.int64)
        rows = Rows(table.codes, sizes, np.empty(0) if table.sample_weight is None else table.sample_weight, memory=0)
        families = [family for kind, family in self.asked if kind == "family"]
        dense = dict(zip(families, table.counter.count(families), strict=True)) if families else {}
        names = table.schema.names
        return Counted(
            tuple(
                np.ascontiguousarray(dense[family][tuple(slice(-1) for _ in family)])
                if kind == "family"
                else rows.extended(family[-1], family[:-1]).astype(np.float64)  # those of all shards may be very many
                if kind == "block"
                else Distinct.of(table.select([names[v] for v in family]), self.room)
                for kind, family in self.asked
            ),
            exact,
        )


class SourceCounts(Counts):
    """Counts of the families of a source; what was asked for is remembered."""

    def __init__(self, source: Source, totals: Extent, sample: Table, *, memory: int) -> None:
        super().__init__(source.schema.discrete, totals.weight)
        self.source, self.memory, self._rows = source, memory, totals.rows
        #: Passes over the source for these counts.
        self.passes = 0
        self._sample = FamilyCounts(sample)
        self.known: dict[Family, NDArray[np.float64]] = {}
        self._blocks: dict[Family, NDArray[np.float64]] = {}

    #: Whether all pairs are counted already.
    paired = False
    complete: Complete | None = None
    exact = True

    @property
    def sample(self) -> FamilyCounts:
        """The counts that searches guess by."""
        return self._sample

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return self._rows

    # -- as they are asked for

    def expect(self, families: Iterable[Family] = (), blocks: Iterable[Family] = ()) -> None:
        """Bring together what will be asked for."""
        asked: list[Asked] = [("family", f) for f in dict.fromkeys(map(ordered, families)) if f not in self.known]
        asked += [("block", b) for b in dict.fromkeys(map(ordered, blocks)) if b not in self._blocks]
        for (kind, family), counts in self.fetch(asked):
            (self.known if kind == "family" else self._blocks)[family] = counts

    def family(self, child: int, parents: Family) -> NDArray[np.float64]:
        """N(parents, child), an axis for each parent in order, then the child."""
        self.require_countable(child, parents)
        columns = (*parents, child)
        self.expect(families=[columns])
        key = ordered(columns)
        return np.ascontiguousarray(self.known[key].transpose([key.index(v) for v in columns]))

    def extended(self, child: int, parents: Family) -> Extended | None:
        """N(parents, child, v) for every column v; nothing where these are too many to count."""
        if self.cells(child, parents) * self.states > MOST_CELLS:
            return None
        pairs = None if parents else self.pairs()
        if pairs is not None:
            return self.block((child,), pairs[self.start[child] : self.start[child] + self.sizes[child]], child)
        key = ordered((*parents, child))
        self.expect(blocks=[key])
        return self.block(key, self._blocks[key], child, parents)

    @abstractmethod
    def pairs(self) -> NDArray[np.float64] | None:
        """N(state, state) of all columns against all others; nothing where these are too many to count."""

    def block(self, key: Family, counts: NDArray[np.float64], child: int, parents: Family = ()) -> Extended:
        """Counts of a set of columns with all others, as the family of one of them."""
        whole = counts.reshape([*self.sizes[list(key)], -1])
        turned = whole.transpose([*(key.index(v) for v in (*parents, child)), len(key)])
        return Extended(np.ascontiguousarray(turned).reshape(-1, int(self.sizes[child]), counts.shape[1]), self.start)

    # -- passes

    def fetch(self, asked: Iterable[Asked]) -> Iterator[tuple[Asked, Any]]:
        """By as few passes as the size of what is asked for allows; rows are None where they take too much memory."""
        asked = list(asked)
        rows = sum(kind == "rows" for kind, _ in asked)
        for part in self._passes(asked):
            self.passes += 1
            found: Counted = self.source.fold(Count(tuple(part), self.memory // ROWS // max(rows, 1), self.complete))
            self.exact = self.exact and found.exact
            for one, counts in zip(part, found.parts, strict=True):
                yield one, counts.columns if one[0] == "rows" else counts

    def _passes(self, asked: list[Asked]) -> Iterator[list[Asked]]:
        part: list[Asked] = []
        room = self.memory // PASS // 8
        for one in asked:
            cells = self._cells(one)
            if part and cells > room:
                yield part
                part, room = [], self.memory // PASS // 8
            part.append(one)
            room -= cells
        if part:
            yield part

    def _cells(self, asked: Asked) -> int:
        kind, family = asked
        cells = math.prod(self.sizes[list(family)].tolist())
        return 0 if kind == "rows" else cells * self.states if kind == "block" else cells


class SeenCounts(SourceCounts):
    """Counts of a source without missing values, whose first pass brought singles and pairs."""

    def __init__(self, source: Source, looked: Looked, *, memory: int) -> None:
        super().__init__(source, looked.totals, looked.some, memory=memory)
        self.looked, self.paired = looked, looked.pairs is not None
        self.known.update(((v,), n[1:]) for v, n in enumerate(looked.single))

    def pairs(self) -> NDArray[np.float64] | None:
        """Without what is missing, which the first pass counted as well."""
        if self.looked.pairs is None:
            return None
        first = np.cumsum([0, *map(len, self.looked.single)])[:-1]
        kept = np.concatenate([np.arange(1, len(n)) + at for n, at in zip(self.looked.single, first, strict=True)])
        return np.ascontiguousarray(self.looked.pairs[np.ix_(kept, kept)])


class ExpectedCounts(SourceCounts):
    """Expected counts of rows with missing values under a network, whose variables are the columns in their order."""

    def __init__(self, source: Source, totals: Extent, some: Table, complete: Complete, *, memory: int) -> None:
        super().__init__(source, totals, Table.concat(part for part, _ in complete.parts(some)), memory=memory)
        self.complete = complete

    def pairs(self) -> NDArray[np.float64] | None:
        """By a pass."""
        if 8 * self.states**2 > self.memory // PASS:
            return None
        blocks = [(v,) for v in range(len(self.names))]
        self.expect(blocks=blocks)
        return np.concatenate([self._blocks[block] for block in blocks])


def ordered(family: Iterable[int]) -> Family:
    """By position, so that the same columns are the same family."""
    return tuple(sorted(family))
