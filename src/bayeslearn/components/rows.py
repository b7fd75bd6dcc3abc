"""Rows as products take them: the cells of every component side by side, with weights."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import DataError, EmptyTableError, ShapeError, listed
from bayeslearn.tables import DiscreteVariable, Schema, Table, as_table
from bayeslearn.tables.table import read_only

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from bayeslearn.components.component import Component

S = TypeVar("S")


@dataclass(frozen=True, eq=False)
class Rows:
    """Checked cells, an array for every part whose first axis runs over the rows, and weights or None for ones."""

    cells: tuple[NDArray[Any], ...]
    sample_weight: NDArray[np.float64] | None = None
    _blocks: dict[int, list[Rows]] = field(default_factory=dict, init=False, repr=False)

    def __len__(self) -> int:
        return len(self.cells[0])

    @property
    def total(self) -> float:
        """The total weight of the rows."""
        return float(len(self) if self.sample_weight is None else self.sample_weight.sum())

    def take(self, rows: Any) -> Rows:
        """Some of the rows."""
        cells = tuple(read_only(cells[rows]) for cells in self.cells)
        return Rows(cells, None if self.sample_weight is None else self.sample_weight[rows])

    def blocks(self, size: int) -> list[Rows]:
        """The rows in order, at most `size` at a time."""
        if len(self) <= size:
            return [self]
        if size not in self._blocks:
            self._blocks[size] = [self.take(slice(start, start + size)) for start in range(0, len(self), size)]
        return self._blocks[size]

    def fold(self, collect: Callable[[Rows], S]) -> S:
        """`collect` of all rows: they are their own only batch."""
        return collect(self)


def read(parts: Sequence[Component], data: Any, sample_weight: Any = None) -> Rows:
    """Data as rows of these parts: what has their names by these, and coded by their states; others by order."""
    found = in_batch(parts, data, sample_weight)
    if found.sample_weight is not None and not found.sample_weight.any():
        raise DataError("every weight is zero: no row is left to learn from")
    return found


def in_batch(parts: Sequence[Component], data: Any, sample_weight: Any = None) -> Rows:
    """The same of a batch, all of whose rows may count for nothing."""
    if isinstance(data, Rows):
        return data if sample_weight is None else Rows(data.cells, validation.weights(sample_weight, len(data)))
    if has_names(data, parts):
        table = by_names(parts, data)
        w = table.sample_weight if sample_weight is None else sample_weight
        found = Rows(tuple(part.cells(of_table(part, table)) for part in parts))
    else:
        w = sample_weight
        found = Rows(tuple(of_array(parts, data)))
    if not len(found):
        raise EmptyTableError("there are no rows to learn from")
    return Rows(found.cells, None if w is None else validation.weights(w, len(found)))


def has_names(data: Any, parts: Sequence[Component]) -> bool:
    """Whether columns are found by their names: those of tables, dicts and files, and of frames that have them all."""
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
    columns = [
        table.codes_of(v.name) if isinstance(v, DiscreteVariable) else table.values_of(v.name) for v in part.columns
    ]
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
