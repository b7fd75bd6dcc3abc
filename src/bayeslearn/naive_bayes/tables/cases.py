"""Cases: rows, the class of each where it is known, and how often each counts.

    fold(collect) = collect(cases 1) + collect(cases 2) + …

Those of a table are one batch, those of a source many: what learns by `fold` need not know.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from bayeslearn.naive_bayes.tables import rows as blocks
from bayeslearn.tables import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from bayeslearn.components import Component
    from bayeslearn.naive_bayes.tables.rows import Cells, Rows
    from bayeslearn.tables import Source

S = TypeVar("S")


@dataclass(frozen=True, eq=False)
class Cases:
    """Rows in memory; a class of −1 is one that nobody has told."""

    rows: Rows
    labels: NDArray[np.int32]
    weights: NDArray[np.float64] | None = None

    def fold(self, collect: Callable[[Cases], S]) -> S:
        """What is made of all of them, which are one batch."""
        return collect(self)

    @cached_property
    def seen(self) -> Cases:
        """Those whose class is known."""
        return self.take(np.flatnonzero(self.labels >= 0))

    @cached_property
    def hidden(self) -> Cases:
        """Those whose class is not known."""
        return self.take(np.flatnonzero(self.labels < 0))

    def take(self, index: NDArray[np.intp]) -> Cases:
        """Some of them."""
        weights = None if self.weights is None else self.weights[index]
        return Cases(self.rows.take(index), self.labels[index], weights)

    def only(self, places: list[int]) -> Cases:
        """The same with some of the columns."""

        def cells(a: int, b: int) -> Cells:
            found = self.rows.cells(a, b)
            return [found[j] for j in places]

        return replace(self, rows=blocks.Rows(self.rows.n, len(places), cells))

    def total(self, values: NDArray[np.float64]) -> float:
        """Σ w · value, a value for each."""
        return float(values.sum() if self.weights is None else self.weights @ values)


@dataclass(frozen=True, eq=False)
class SourceCases:
    """Those of a source, by the columns of a model and the column of the classes."""

    source: Source
    columns: tuple[Component, ...]
    target: str

    def fold(self, collect: Callable[[Cases], S]) -> S:
        """The sum over the batches."""
        return self.source.fold(Collect(self.columns, self.target, collect))

    def only(self, places: list[int]) -> SourceCases:
        """The same with some of the columns."""
        return replace(self, columns=tuple(self.columns[j] for j in places))


@dataclass(frozen=True)
class Collect:
    """What is made of one batch of a source."""

    columns: tuple[Component, ...]
    target: str
    collect: Callable[[Cases], Any]

    def __call__(self, table: Table) -> Any:
        """The cases of the batch, collected."""
        return self.collect(cases_of(table, self.columns, self.target))


def cases_of(table: Table, columns: Sequence[Component], target: str) -> Cases:
    """Those of a table that has the columns of a model."""
    w = None if table.weights is None else np.asarray(table.weights)
    return Cases(blocks.of_table(table, columns), table.code(target).astype(np.int32), w)


def all_cases(source: Source, columns: Sequence[Component], target: str) -> Cases | SourceCases:
    """Those of a table or of a source."""
    if isinstance(source, Table):
        return cases_of(source, columns, target)
    return SourceCases(source, tuple(columns), target)
