"""The first pass over a source: its different rows if these are few, some of its rows, and all pairs of columns.

    rows     different rows, each with its weight         as long as they fit: then nothing else is ever asked
    some     every so many of the rows of each batch      to guess by which counts a search will ask for
    pairs    N(state, state) of all columns, missing being the first state of each

Rows that agree are one row with a weight, and to counts, scores and searches that is the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayeslearn.network.structure.counting.rows import Rows
from bayeslearn.network.structure.holes.completions import DRAWS
from bayeslearn.sources.base import Extent
from bayeslearn.tables import Table
from bayeslearn.tables.table import read_only

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.sources.base import Scanned

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
    """Looks at a batch."""

    room: int
    step: int
    pairs: bool

    def __call__(self, table: Table) -> Looked:
        """What it shows."""
        shifted, sizes = read_only(table.codes + 1), np.array([v.size + 1 for v in table.schema.discrete], np.int64)
        weights = np.empty(0) if table.weights is None else table.weights
        single = tuple(
            np.bincount(codes, table.weights, minlength=size).astype(float)
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
    """Look at all of a source of so many rows, whose columns are discrete."""
    wanted = max(min(SOME_ROWS, SOME_CELLS // len(source.schema)), 1)
    states = sum(v.size + 1 for v in source.schema.discrete)
    found: Looked = source.fold(Look(memory // ROWS, -(-rows // wanted), 8 * states**2 <= memory // PAIRS))
    vars(source)["totals"] = found.totals  # nobody needs to count them again
    return found


### columns that always go together


def twins(looked: Looked, names: tuple[str, ...]) -> list[list[str]]:
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
