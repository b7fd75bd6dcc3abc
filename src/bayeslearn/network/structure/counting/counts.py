"""Counts for structure search, from one complete table or from several that came one after the other.

Counts add: what was counted of earlier rows stays, and only the new ones are looked at.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from bayeslearn.errors import CapacityError, MismatchError, MissingValuesError
from bayeslearn.network.structure.counting.rows import MEMORY, Rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from bayeslearn.kernels.family_cells import Counts
    from bayeslearn.network.structure.counting.rows import Family
    from bayeslearn.tables import Discrete, Table

#: Cells of one family with all other columns that are counted; more would be mostly empty.
MOST_CELLS = 1 << 24


@dataclass(frozen=True)
class Extended:
    """Counts (parent cells, states of the child, states of all columns) and where the states of each column start.

    Those of the child and its parents mean nothing.
    """

    n: Counts
    start: NDArray[np.int64]


class FamilyCounts:
    """Counts of the families of complete tables with the same columns and states; so many bytes are remembered."""

    def __init__(self, table: Table, *, memory: int = MEMORY) -> None:
        if (table.codes < 0).any():
            name = next(name for name, cells in table.missing().items() if cells)
            raise MissingValuesError(
                f"column {name!r} has missing cells, and structure scores need complete rows",
                hint="complete the table first, or use structural EM",
                column=name,
            )
        self.variables: tuple[Discrete, ...] = tuple(table.schema.discrete)
        self.names = [v.name for v in self.variables]
        self.sizes = np.array([v.size for v in self.variables], np.int64)
        self.total = table.total_weight
        weights = np.empty(0) if table.weights is None else table.weights
        self.parts = [Rows(table.codes, self.sizes, weights, memory=memory)]

    def __add__(self, other: FamilyCounts) -> FamilyCounts:
        """The counts of both tables, with what each remembers."""
        if not isinstance(other, FamilyCounts):
            return NotImplemented
        if self.variables != other.variables:
            raise MismatchError("counts add when their columns and states are the same, in the same order")
        both = FamilyCounts.__new__(FamilyCounts)
        both.variables, both.names, both.sizes = self.variables, self.names, self.sizes
        both.total = self.total + other.total
        both.parts = [*self.parts, *other.parts]
        return both

    # -- rows as they are

    @property
    def rows(self) -> int:
        """How many there are."""
        return sum(part.n for part in self.parts)

    @cached_property
    def codes(self) -> NDArray[np.signedinteger]:
        """All rows, (columns, rows)."""
        return self.parts[0].codes if len(self.parts) == 1 else np.concatenate([p.codes for p in self.parts], axis=1)

    @cached_property
    def weights(self) -> NDArray[np.float64]:
        """The weight of each row; empty where each counts once."""
        if not any(len(part.weights) for part in self.parts):
            return np.empty(0)
        return np.concatenate([part.weights if len(part.weights) else np.ones(part.n) for part in self.parts])

    @cached_property
    def whole(self) -> bool:
        """Whether no case counts for less than one."""
        return bool((self.weights[self.weights > 0] >= 1).all())

    @property
    def most(self) -> int | None:
        """No count that a score asks for is larger, where all are whole."""
        return None if len(self.weights) else self.rows + int(self.sizes.max())

    # -- counts

    def expect(self, families: Iterable[Family] = (), blocks: Iterable[Family] = ()) -> None:
        """What will be asked for; where rows are at hand that changes nothing."""

    @cached_property
    def start(self) -> NDArray[np.int64]:
        """Where the states of each column begin, all of them side by side."""
        return np.cumsum([0, *self.sizes[:-1]], dtype=np.int64)

    @cached_property
    def _states(self) -> int:
        """Of all columns together."""
        return int(self.sizes.sum())

    def cells(self, child: int, parents: Family) -> int:
        """How many cells a family has."""
        size = self.parts[0].size
        return math.prod([size[v] for v in parents], start=size[child])

    def family(self, child: int, parents: Family) -> NDArray[np.float64]:
        """N(parents, child), an axis for each parent in order, then the child."""
        if self.cells(child, parents) > MOST_CELLS:
            raise too_large(self.names, child, parents, self.cells(child, parents))
        first, *more = (part.family((*parents, child)) for part in self.parts)
        return sum(more, first).reshape(self.sizes[[*parents, child]])

    def extended(self, child: int, parents: Family) -> Extended | None:
        """N(parents, child, v) for every column v; nothing where these are too many to count."""
        if self.cells(child, parents) * self._states > MOST_CELLS:
            return None
        table = added_up(part.extended(child, parents) for part in self.parts)
        return Extended(table.reshape(-1, int(self.sizes[child]), table.shape[1]), self.start)

    def pairs(self) -> Counts | None:
        """N(state, state) of all columns against all others; nothing where these are too many to count."""
        if 8 * self._states**2 > self.parts[0].memory:
            return None
        return added_up(part.pairs for part in self.parts)


def added_up(tables: Iterable[Counts]) -> Counts:
    """One table as it is, and the sum of several."""
    first, *more = tables
    return sum(more, first.astype(np.float64)) if more else first


def too_large(names: Sequence[str], child: int, parents: Family, cells: int) -> CapacityError:
    """A family has too many cells."""
    return CapacityError(
        f"{names[child]!r} with {len(parents)} parents has {cells:,.0f} cells, too many to count",
        hint="limit the number of parents, or give columns fewer states",
        cells=cells,
    )
