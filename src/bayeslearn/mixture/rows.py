"""Rows as mixtures take them: the cells of every part side by side, with weights; whole or folded batch by batch.

fold(collect) = collect(batch 1) + collect(batch 2) + …
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import DataError, EmptyTableError, ParameterError, ShapeError, listed
from bayeslearn.tables import Discrete, Schema, Table, as_table
from bayeslearn.tables.folded import Sum
from bayeslearn.tables.table import read_only

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from bayeslearn.components import Component
    from bayeslearn.mixture.seeing import Seen
    from bayeslearn.sources.base import Scanned

S = TypeVar("S")


@dataclass(frozen=True, eq=False)
class Rows:
    """Checked cells, an array for every part whose first axis runs over the rows, and weights or None for ones."""

    cells: tuple[NDArray[Any], ...]
    weights: NDArray[np.float64] | None = None
    _blocks: dict[int, list[Rows]] = field(default_factory=dict, init=False, repr=False)

    def __len__(self) -> int:
        return len(self.cells[0])

    @property
    def total(self) -> float:
        """How many cases the rows stand for."""
        return float(len(self) if self.weights is None else self.weights.sum())

    def take(self, rows: Any) -> Rows:
        """Some of the rows."""
        cells = tuple(read_only(cells[rows]) for cells in self.cells)
        return Rows(cells, None if self.weights is None else self.weights[rows])

    def blocks(self, size: int) -> list[Rows]:
        """The rows in order, so many at a time."""
        if len(self) <= size:
            return [self]
        if size not in self._blocks:
            self._blocks[size] = [self.take(slice(start, start + size)) for start in range(0, len(self), size)]
        return self._blocks[size]

    def fold(self, collect: Callable[[Rows], S]) -> S:
        """`collect` of all rows: they are their own only batch."""
        return collect(self)

    def seen(self, parts: Sequence[Component]) -> Seen:
        """What all rows show, and rows to start from: themselves."""
        from bayeslearn.mixture.seeing import Seen, whole_of  # noqa: PLC0415 - it builds on rows

        return Seen(whole_of(parts, self), self)


@dataclass(frozen=True)
class Batches:
    """Rows that come in batches, again and again: EM over more data than fit into memory.

    `source` is a function that returns an iterator over arrays, tables or (rows, weights), or anything that can be
    iterated more than once. Each batch is read, checked, and let go.
    """

    source: Callable[[], Iterable[Any]] | Iterable[Any]

    def __post_init__(self) -> None:
        if isinstance(self.source, Iterator):
            raise ParameterError(
                "an iterator gives its batches only once, and EM reads them many times",
                hint="give a function that returns a new iterator, or a list",
            )

    def fold(self, collect: Callable[[Any], S]) -> S:
        """The sum over the batches as they come."""
        total: Sum[S] = Sum()
        for batch in self.source() if callable(self.source) else self.source:
            total.add(collect(batch))
        if total.total is None:
            raise EmptyTableError("there are no batches to learn from")
        return total.total


@dataclass(frozen=True, eq=False)
class FoldedRows:
    """A source, or batches, read as rows of known parts."""

    source: Batches | Scanned
    parts: tuple[Component, ...]

    def fold(self, collect: Callable[[Rows], S]) -> S:
        """The sum over the batches; none stays in memory."""
        return self.source.fold(Reading(self.parts, collect))

    def seen(self, parts: Sequence[Component]) -> Seen:
        """What all rows show, and rows to start from: all of few, a sample of many; by one pass."""
        assert tuple(parts) == self.parts
        return self._seen

    @cached_property
    def _seen(self) -> Seen:
        from bayeslearn.mixture.seeing import look  # noqa: PLC0415 - it builds on rows

        return look(self)


@dataclass(frozen=True)
class Reading:
    """What is made of a batch, once it is read; it may travel."""

    parts: tuple[Component, ...]
    collect: Callable[[Rows], Any]

    def __call__(self, batch: Any) -> Any:
        """Of one batch: rows, or rows and their weights."""
        pair = isinstance(batch, tuple) and len(batch) == 2
        return self.collect(in_batch(self.parts, *batch) if pair else in_batch(self.parts, batch))


def read(parts: Sequence[Component], data: Any, weights: Any = None) -> Rows:
    """Data as rows of these parts: what has their names by these, and coded by their states; others by order."""
    found = in_batch(parts, data, weights)
    if found.weights is not None and not found.weights.any():
        raise DataError("every weight is zero: no row is left to learn from")
    return found


def in_batch(parts: Sequence[Component], data: Any, weights: Any = None) -> Rows:
    """The same of a batch, all of whose rows may count for nothing."""
    if isinstance(data, Rows):
        return data if weights is None else Rows(data.cells, validation.weights(weights, len(data)))
    if has_names(data, parts):
        table = by_names(parts, data)
        w = table.weights if weights is None else weights
        found = Rows(tuple(part.cells(of_table(part, table)) for part in parts))
    else:
        w = weights
        found = Rows(tuple(of_array(parts, data)))
    if not len(found):
        raise EmptyTableError("there are no rows to learn from")
    return Rows(found.cells, None if w is None else validation.weights(w, len(found)))


def has_names(data: Any, parts: Sequence[Component]) -> bool:
    """Whether columns are told by their names: those of tables, dicts and files, and of frames that have them all."""
    if isinstance(data, Table | Mapping | str | os.PathLike):
        return True
    return hasattr(data, "columns") and {v.name for part in parts for v in part.columns} <= set(data.columns)


def by_names(parts: Sequence[Component], data: Any) -> Table:
    """The table of these parts; one whose states stand in another order is coded anew."""
    variables = [variable for part in parts for variable in part.columns]
    if isinstance(data, Table) and all(v.name in data.schema and data.schema[v.name] == v for v in variables):
        return data
    return as_table(data, schema=Schema(variables))


def of_table(part: Component, table: Table) -> NDArray[Any]:
    """The cells of a part in a table."""
    columns = [table.code(v.name) if isinstance(v, Discrete) else table.value(v.name) for v in part.columns]
    return np.column_stack(columns) if part.is_joint else columns[0]


def of_array(parts: Sequence[Component], data: Any) -> Iterator[NDArray[Any]]:
    """The cells of every part in the columns of an array, in order."""
    width = sum(len(part.columns) for part in parts)
    if width == 1 and np.ndim(data) == 1:
        yield parts[0].cells(data)
        return
    array = np.asarray(data) if not isinstance(data, np.ndarray) else data
    if array.ndim != 2 or array.shape[1] != width:
        names = listed([column.name for part in parts for column in part.columns])
        raise ShapeError(f"expected rows of {width} columns ({names}), got an array of shape {array.shape}")
    start = 0
    for part in parts:
        stop = start + len(part.columns)
        yield part.cells(array[:, start:stop] if part.is_joint else array[:, start])
        start = stop
