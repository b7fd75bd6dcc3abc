"""Rows in blocks, some thousand at a time, and cases: rows with the class of each, where it is known, and its weight.

    fold(collect) = collect(cases 1) + collect(cases 2) + …

A table gives slices of itself. A plain array is turned block by block, so that no copy of it is ever made. The cases of
a table are one batch, those of a source many: what learns by `fold` need not know.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from bayeslearn import kernels
from bayeslearn.errors import DataError
from bayeslearn.sources import as_source, is_source
from bayeslearn.tables import DiscreteVariable, Schema, Table, as_table
from bayeslearn.tables.schema import smallest_code_type

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from bayeslearn.components.component import Component
    from bayeslearn.tables import Source

    #: Columns of cells, or all of them in one array (columns, rows).
    Cells = list[NDArray[Any]] | NDArray[Any]

R = TypeVar("R")
S = TypeVar("S")

#: Rows of a block: its columns stay in the cache. Fixed, so that sums do not depend on the number of threads.
BLOCK = 1 << 12

#: Cells from which on two threads are worth their while.
MANY = 200_000

#: Cells of a source that are kept where rows are dealt out to folds.
SMALL = 1 << 20


class Other:
    """The name of the state that stands for all unknown states."""

    def __repr__(self) -> str:
        return "(unknown)"


OTHER = Other()


@dataclass(frozen=True)
class Rows:
    """A number of rows, and what gives the cells of those from one to another, column by column."""

    n: int
    width: int
    cells: Callable[[int, int], Cells]

    def blocks(self, function: Callable[[slice, Cells], R]) -> list[R]:
        """What a function makes of every block, in order, on both cores."""
        parts = [slice(a, min(a + BLOCK, self.n)) for a in range(0, self.n, BLOCK)]

        def one(part: slice) -> R:
            return function(part, self.cells(part.start, part.stop))

        return kernels.parallel(one, parts, worth=self.n * max(self.width, 1) > MANY)

    def take(self, index: NDArray[np.intp]) -> Rows:
        """These rows only."""
        return Rows(len(index), self.width, lambda a, b: self._scattered(index[a:b]))

    def _scattered(self, index: NDArray[np.intp]) -> Cells:
        """Cells of rows anywhere: of the blocks they lie in."""
        if not len(index):
            return self.cells(0, 0)
        runs = np.flatnonzero(np.diff(index // BLOCK)) + 1
        parts = []
        for group in np.split(index, runs):
            low = int(group.min())
            found = self.cells(low, int(group.max()) + 1)
            parts.append([read_only(column[group - low]) for column in found])
        return [read_only(np.concatenate(pieces)) for pieces in zip(*parts, strict=True)]


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """The same array, not to be written to: kernels are compiled for it once."""
    array.flags.writeable = False
    return array


### tables


def of_table(table: Table, columns: Sequence[Component]) -> Rows:
    """The rows of a table that has the columns of a model."""
    arrays = [
        table.codes_of(c.name) if isinstance(c.variable, DiscreteVariable) else table.values_of(c.name) for c in columns
    ]
    for column, array in zip(columns, arrays, strict=True):
        if column.kernels is None:  # those of kernels were checked when they were read
            column.cells(array)
    return Rows(table.n_rows, len(columns), lambda a, b: [array[a:b] for array in arrays])


def read(
    data: Any,
    columns: Sequence[Component],
    *,
    missing_columns: Literal["error", "missing"] = "error",
    sample_weight: Any = None,
) -> tuple[Rows, Table]:
    """Rows of new data by the columns of a model; a state that it does not know has the code behind the last."""
    if not columns:
        table = as_table(data)
        return Rows(table.n_rows, 0, lambda _a, _b: []), table
    if sample_weight is None and matches(data, [c.variable for c in columns]):
        return of_table(data, columns), data
    table = as_table(
        data,
        schema=schema_with_other(columns),
        handle_unknown="last",
        missing_columns=missing_columns,
        sample_weight=sample_weight,
    )
    return of_table(table, columns), table


def each(
    data: Any, columns: Sequence[Component], *, missing_columns: Literal["error", "missing"] = "error"
) -> Iterator[Rows]:
    """The same, batch by batch where they are those of a source."""
    if isinstance(data, Rows):
        yield data
    elif not is_source(data):
        yield read(data, columns, missing_columns=missing_columns)[0]
    elif columns:
        source = as_source(
            data, schema=schema_with_other(columns), handle_unknown="last", missing_columns=missing_columns
        )
        yield from (of_table(table, columns) for table in source.batches())
    else:
        yield from (Rows(table.n_rows, 0, lambda _a, _b: []) for table in as_source(data).batches())


def matches(data: Any, variables: Iterable[Any]) -> bool:
    """Whether data are a table that has these variables already."""
    return isinstance(data, Table) and all(v.name in data.schema and data.schema[v.name] == v for v in variables)


def by_schema(data: Any, schema: Schema, sample_weight: Any = None) -> Table:
    """A table that has the variables of a schema, in whatever order."""
    if not matches(data, schema):
        return as_table(data, schema=schema, sample_weight=sample_weight)
    return data if sample_weight is None else as_table(data, sample_weight=sample_weight)


def schema_with_other(columns: Sequence[Component]) -> Schema | None:
    """The columns of a model, with a state for those it does not know; None for a model without columns."""
    return Schema(with_other(c.variable) for c in columns) if columns else None


def with_other(variable: Any) -> Any:
    """A variable with a state for all that it does not know; intervals know every number."""
    if not isinstance(variable, DiscreteVariable) or variable.cuts is not None:
        return variable
    return DiscreteVariable(variable.name, (*variable.states, OTHER), read_as=variable.read_as, origin=variable.origin)


### cases


@dataclass(frozen=True, eq=False)
class Cases:
    """Rows in memory; a class of −1 is missing."""

    rows: Rows
    labels: NDArray[np.int32]
    sample_weight: NDArray[np.float64] | None = None

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
        weights = None if self.sample_weight is None else self.sample_weight[index]
        return Cases(self.rows.take(index), self.labels[index], weights)

    def only(self, places: list[int]) -> Cases:
        """The same with some of the columns."""

        def cells(a: int, b: int) -> Cells:
            found = self.rows.cells(a, b)
            return [found[j] for j in places]

        return replace(self, rows=Rows(self.rows.n, len(places), cells))

    def total(self, values: NDArray[np.float64]) -> float:
        """Σ w · value, a value for each."""
        return float(values.sum() if self.sample_weight is None else self.sample_weight @ values)


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


def kept(cases: Cases | SourceCases) -> Cases | SourceCases:
    """Those of a small source in one batch, so that rows are dealt out to folds as those of a table."""
    if isinstance(cases, Cases) or cases.source.n_rows * (len(cases.columns) + 1) > SMALL:
        return cases
    labels, weights, cells = zip(*cases.fold(arrays_of), strict=True)
    columns = [read_only(np.concatenate(parts)) for parts in zip(*cells, strict=True)]
    w = None if weights[0] is None else read_only(np.concatenate(weights))
    found = np.concatenate(labels)
    return Cases(Rows(len(found), len(columns), lambda a, b: [column[a:b] for column in columns]), found, w)


def arrays_of(cases: Cases) -> list[tuple[NDArray[np.int32], NDArray[np.float64] | None, Cells]]:
    """The classes, the weights and the cells of one batch."""
    return [(cases.labels, cases.sample_weight, cases.rows.cells(0, cases.rows.n))]


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
    w = None if table.sample_weight is None else np.asarray(table.sample_weight)
    return Cases(of_table(table, columns), table.codes_of(target).astype(np.int32), w)


def all_cases(source: Source, columns: Sequence[Component], target: str) -> Cases | SourceCases:
    """Those of a table or of a source."""
    if isinstance(source, Table):
        return cases_of(source, columns, target)
    return SourceCases(source, tuple(columns), target)


### arrays


def of_floats(x: NDArray[Any]) -> Rows:
    """An array of numbers, every column numeric."""
    kind = np.float64

    def cells(a: int, b: int) -> Cells:
        return read_only(np.ascontiguousarray(x[a:b].T, dtype=kind))

    return Rows(len(x), x.shape[1], cells)


def of_numbers(x: NDArray[Any], columns: Sequence[Component]) -> Rows:
    """An array of numbers by the columns of a model, which are numeric or intervals."""
    if all(c.kernels is not None and not isinstance(c.variable, DiscreteVariable) for c in columns):
        return of_floats(x)
    kinds = [
        smallest_code_type(c.variable.n_states + 1) if isinstance(c.variable, DiscreteVariable) else None
        for c in columns
    ]
    names = [c.name for c in columns]

    def cells(a: int, b: int) -> Cells:
        block = np.ascontiguousarray(x[a:b].T, dtype=np.float64)
        if np.isinf(block).any():
            require_finite(x, names)
        found = []
        for column, kind, numbers in zip(columns, kinds, block, strict=True):
            if kind is not None:
                found.append(read_only(column.variable.cut(numbers).astype(kind)))
            else:
                found.append(read_only(numbers.copy() if column.kernels else column.cells(numbers)))
        return found

    return Rows(len(x), x.shape[1], cells)


def of_integers(x: NDArray[Any], states: Sequence[Sequence[int]]) -> Rows:
    """An array of whole numbers, every column one of known states; other numbers have the code behind the last."""
    low = np.array([min(known) for known in states])
    start = np.cumsum([0, *(max(known) - min(known) + 2 for known in states)])
    kind = smallest_code_type(max(len(known) for known in states) + 1)
    table = np.empty(start[-1], kind)
    for known, a, least, b in zip(states, start, low, start[1:], strict=False):
        table[a:b] = len(known)
        table[np.array(known) - least + a + 1] = np.arange(len(known))

    def cells(a: int, b: int) -> Cells:
        codes = np.empty((len(states), b - a), kind)
        kernels.code_values(wide(x[a:b]), low, start, table, codes)
        return read_only(codes)

    return Rows(len(x), x.shape[1], cells)


def whole_states(x: NDArray[Any], most: int) -> list[list[int]] | None:
    """The different values of each column of whole numbers, if they are few and near each other."""
    for part in (x[:BLOCK], x):  # the first rows often show where the others lie
        low, high = part.min(axis=0).astype(object), part.max(axis=0).astype(object)
        if any(b - a >= 4 * most or max(abs(a), abs(b)) >= 2**31 for a, b in zip(low, high, strict=True)):
            return None
        found = _seen(x, low - most // 4, [b - a + 1 + 2 * (most // 4) for a, b in zip(low, high, strict=True)])
        if found is not None:
            return None if any(len(values) > most for values in found) else found
    return None


def _seen(x: NDArray[Any], low: NDArray[Any], sizes: Iterable[int]) -> list[list[int]] | None:
    """The values of each column, of `sizes` values from `low` on; None if there are others."""
    start, least = np.cumsum([0, *sizes]), low.astype(np.int64)
    seen = np.zeros(start[-1], np.uint8)

    def mark(a: int) -> int:
        return kernels.see_values(wide(x[a : a + 8 * BLOCK]), least, start, seen)

    if sum(kernels.parallel(mark, range(0, len(x), 8 * BLOCK), worth=x.size > MANY)):
        return None
    return [(np.flatnonzero(seen[a:b]) + v).tolist() for a, b, v in zip(start, start[1:], least, strict=False)]


def wide(block: NDArray[Any]) -> NDArray[np.int64]:
    """A block of whole numbers in the one type that kernels are compiled for; numbers beyond it become its largest."""
    if block.dtype == np.uint64:
        block = np.minimum(block, np.uint64(2**63 - 1))
    return read_only(np.ascontiguousarray(block, dtype=np.int64).view())


def require_finite(x: NDArray[Any], names: Sequence[str]) -> None:
    """No infinite number in an array."""
    for start in range(0, len(x), BLOCK):
        infinite = np.isinf(x[start : start + BLOCK])
        if infinite.any():
            row, j = (int(v) for v in np.argwhere(infinite)[0])
            raise DataError(
                f"column {names[j]!r} is {x[start + row, j]} in row {start + row}: infinity is no number to learn from",
                hint="make it missing (NaN) or a finite number",
            )
