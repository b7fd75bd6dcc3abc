"""Counts of families over a source: as many as are asked for together come by one pass.

    families     N(v1, v2, …)                    for tables, and for tests
    blocks       N(S, v) for every column v      for scores of S with one more parent
    rows         different rows of some columns  for every parent set within these

What one pass brings is bounded; more is brought by several. Where cells are missing a batch is completed before it is
counted (:mod:`.completing`), and the counts are expected ones.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.network.structure.counting.counts import MOST_CELLS, Extended, FamilyCounts, too_large
from bayeslearn.network.structure.counting.rows import Rows
from bayeslearn.network.structure.sourced.looking import ROWS, Distinct
from bayeslearn.tables import Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from bayeslearn.network.structure.counting.rows import Family
    from bayeslearn.network.structure.sourced.completing import Complete
    from bayeslearn.network.structure.sourced.looking import Looked
    from bayeslearn.sources.base import Extent
    from bayeslearn.tables import Discrete, Source

    Asked = tuple[str, Family]

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
    #: What fills holes, where there are some.
    complete: Complete | None = None

    def __call__(self, table: Table) -> Counted:
        """All that is asked for."""
        if self.complete is None:
            return self.of(table)
        return reduce(add, (self.of(part, exact=exact) for part, exact in self.complete.parts(table)))

    def of(self, table: Table, *, exact: bool = True) -> Counted:
        """The same of complete rows."""
        sizes = np.array([v.size for v in table.schema.discrete], np.int64)
        rows = Rows(table.codes, sizes, np.empty(0) if table.weights is None else table.weights, memory=0)
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


class SourceCounts(ABC):
    """Counts of the families of a source, with the questions of `FamilyCounts`."""

    def __init__(self, source: Source, totals: Extent, sample: Table, *, memory: int) -> None:
        self.source, self.memory = source, memory
        self.variables: tuple[Discrete, ...] = tuple(source.schema.discrete)
        self.names = [v.name for v in self.variables]
        self.sizes = np.array([v.size for v in self.variables], np.int64)
        self.total, self.rows = totals.weight, totals.rows
        #: Passes over the source for these counts.
        self.passes = 0
        #: The counts that searches guess by.
        self.sample = FamilyCounts(sample)
        self.known: dict[Family, NDArray[np.float64]] = {}
        self._blocks: dict[Family, NDArray[np.float64]] = {}
        #: Tests of independence by what they are asked of, as they are answered and as they are asked.
        self.answers: dict[tuple[str, str], dict[tuple[int, ...], tuple[float, float, float]]] = {}
        self.tests: dict[tuple[str, str], dict[tuple[int, ...], None]] = {}

    #: There are no rows at hand, and their logarithms would be too many to be worked out beforehand.
    parts: tuple[Rows, ...] = ()
    whole, most = False, None

    #: Whether all pairs are counted already.
    paired = False
    complete: Complete | None = None
    exact = True

    @cached_property
    def start(self) -> NDArray[np.int64]:
        """Where the states of each column begin, all of them side by side."""
        return np.cumsum([0, *self.sizes[:-1]], dtype=np.int64)

    @cached_property
    def states(self) -> int:
        """Of all columns together."""
        return int(self.sizes.sum())

    def cells(self, child: int, parents: Family) -> int:
        """How many cells a family has."""
        return math.prod(self.sizes[[child, *parents]].tolist())

    # -- as they are asked for

    def expect(self, families: Iterable[Family] = (), blocks: Iterable[Family] = ()) -> None:
        """Bring together what will be asked for."""
        asked: list[Asked] = [("family", f) for f in dict.fromkeys(map(ordered, families)) if f not in self.known]
        asked += [("block", b) for b in dict.fromkeys(map(ordered, blocks)) if b not in self._blocks]
        for (kind, family), counts in self.fetched(asked):
            (self.known if kind == "family" else self._blocks)[family] = counts

    def family(self, child: int, parents: Family) -> NDArray[np.float64]:
        """N(parents, child), an axis for each parent in order, then the child."""
        if self.cells(child, parents) > MOST_CELLS:
            raise too_large(self.names, child, parents, self.cells(child, parents))
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

    def fetched(self, asked: Iterable[Asked]) -> Iterator[tuple[Asked, Any]]:
        """What is asked for with its counts, by as few passes as its size allows."""
        asked = list(asked)
        rows = sum(kind == "rows" for kind, _ in asked)
        for part in self._passes(asked):
            self.passes += 1
            found: Counted = self.source.fold(Count(tuple(part), self.memory // ROWS // max(rows, 1), self.complete))
            self.exact = self.exact and found.exact
            yield from zip(part, found.parts, strict=True)

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
    """Counts of a source without holes, whose first pass brought singles and pairs."""

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
    """Expected counts of a source with holes under a network, whose variables are the columns in their order."""

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
