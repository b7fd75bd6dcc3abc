"""Any data as named Arrow columns.

Frames of every library come through narwhals, column by column, so that an index never turns into data. Python objects
that Arrow has no common type for stay a list, to be reported or, when declared discrete, kept unchanged.

Arrow has no type for intervals and periods of pandas. Intervals that touch each other are those between cuts, as a
discretized column has them, so that numbers find theirs; others are states in their order. A period is the date at
which it starts.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import date, time, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
import pyarrow as pa

from bayeslearn.errors import EmptyTableError, ParameterError, ShapeError
from bayeslearn.tables.columns import Column, arrow_column, arrow_columns
from bayeslearn.tables.conversion import RawTable
from bayeslearn.tables.intervals import below, interval_names
from bayeslearn.tables.schema import require_unique
from bayeslearn.tables.table import Table
from bayeslearn.tables.variables import DiscreteVariable, state_array

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Names = tuple[str, ...] | None


def pandas_column(name: str, series: Any) -> Column | None:
    """A pandas series of intervals, of categories that are intervals, or of periods; None for any other."""
    kind = type(series.dtype).__name__
    if kind == "PeriodDtype":
        return Column(name, pa.array(series.dt.to_timestamp(), from_pandas=True))
    if kind == "IntervalDtype":
        series, kind = series.astype("category"), "CategoricalDtype"
    if kind != "CategoricalDtype" or type(series.dtype.categories.dtype).__name__ != "IntervalDtype":
        return None
    series = series.cat.reorder_categories(series.cat.categories.sort_values())
    intervals, codes = series.cat.categories, series.cat.codes.to_numpy()
    cuts = cuts_between(intervals)
    names = list(map(str, intervals)) if cuts is None else list(interval_names(cuts))
    place = pa.array(codes, mask=codes < 0).cast(pa.int32())
    return Column(name, pa.DictionaryArray.from_arrays(place, pa.array(names)), declared=True, cuts=cuts)


def cuts_between(intervals: Any) -> tuple[float, ...] | None:
    """The cuts between intervals that touch and are closed on one side; None for others, such as those of dates."""
    if intervals.closed not in {"left", "right"} or intervals.dtype.subtype.kind not in "iuf" or len(intervals) < 2:
        return None
    if any(a != b for (_, a), (b, _) in pairwise(zip(intervals.left, intervals.right, strict=True))):
        return None
    bounds = [float(x) for x in intervals.right[:-1]]
    return tuple(bounds if intervals.closed == "right" else map(below, bounds))


def gather(data: Any, names: Names, expected: tuple[str, ...]) -> tuple[list[Column], Names]:
    """The columns of any data, and which of them were asked for (an array has no names but those it is given)."""
    if isinstance(data, np.ndarray) and data.dtype.names is None:
        return array_columns(data, names, expected), None
    if is_rows(data):
        return sequence_columns(data, names, expected), None
    reader = next((read for kind, read in READERS if isinstance(data, kind)), frame_columns)
    return reader(data), names


### frames


def frame_columns(data: Any) -> list[Column]:
    """The columns of a pandas, polars or pyarrow frame, or of any other of narwhals."""
    try:
        frame = nw.from_native(data)
    except TypeError:
        raise ParameterError(
            f"cannot read a table from {type(data).__name__}",
            hint="give a data frame, a 2-D array, a dict of columns, a list of dicts, or the path of a file",
        ) from None
    except nw.exceptions.DuplicateError:
        require_unique(str(name) for name in getattr(data, "column_names", data.columns))
        raise
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    return [series_column(str(series.name), series) for series in frame.iter_columns()]


def series_column(name: str, series: nw.Series[Any]) -> Column:
    """One column of a frame."""
    special = pandas_column(name, series.to_native()) if series.implementation.is_pandas() else None
    if special is not None:
        return special
    polars, objects = series.implementation.is_polars(), series.dtype == nw.Object
    if objects and polars:
        return list_column(name, series.to_list())
    try:
        data = series.to_arrow()
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return list_column(name, series.to_list())
    if objects and pa.types.is_floating(data.type):
        return list_column(name, series.to_list())  # booleans may hide among the floats
    return arrow_column(name, data, declared=series.implementation.is_pandas_like())


### Python and NumPy


def dict_columns(data: Mapping[Any, Any]) -> list[Column]:
    """The columns of a dict."""
    return [any_column(str(name), values) for name, values in data.items()]


def structured_columns(data: NDArray[Any]) -> list[Column]:
    """The fields of a structured array."""
    return [numpy_column(name, data[name].reshape(-1)) for name in data.dtype.names or ()]


def any_column(name: str, values: Any) -> Column:
    """One column given as a series, an Arrow or NumPy array, or a sequence."""
    series = nw.from_native(values, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        return series_column(name, series)
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return arrow_column(name, values)
    if isinstance(values, np.ndarray):
        if values.ndim != 1:
            raise ShapeError(
                f"column {name!r} must have one dimension, got shape {values.shape}",
                hint="give each column by a separate name",
            )
        return numpy_column(name, values)
    if isinstance(values, str) or not hasattr(values, "__iter__"):
        raise ShapeError(
            f"column {name!r} must be a list of values, got {values!r:.80}",
            hint="put it into a list, with a value for each row",
        )
    return list_column(name, list(values))


def list_column(name: str, values: list[Any]) -> Column:
    """Python objects: Arrow when they are of one kind, else unchanged."""
    plain = [v.item() if isinstance(v, np.generic) and v.dtype.kind in "biufU" else v for v in values]
    types = set(map(type, plain))
    if types & {int, float} and any(issubclass(kind, bool | date | time | timedelta) for kind in types):
        return Column(name, plain)  # Arrow would take the numbers for truth values or days
    try:
        return arrow_column(name, pa.array(plain, from_pandas=True))
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return Column(name, plain)


def numpy_column(name: str, values: NDArray[Any]) -> Column:
    """A one-dimensional array."""
    if values.dtype == object:
        return list_column(name, values.tolist())
    mask = np.ma.getmaskarray(values) if isinstance(values, np.ma.MaskedArray) else None
    plain = np.ascontiguousarray(values)
    if plain.dtype.kind in "iuf":
        plain = plain.astype(plain.dtype.newbyteorder("="), copy=False)
        plain = plain.astype(np.float64) if plain.dtype.itemsize > 8 else plain
    try:
        return Column(name, pa.array(plain, mask=mask, from_pandas=True))
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return list_column(name, plain.tolist())


def array_columns(data: NDArray[Any], names: Names, expected: tuple[str, ...]) -> list[Column]:
    """The columns of a matrix, under the names given."""
    if data.ndim != 2:
        raise ShapeError(
            f"expected an array of rows and columns, got shape {data.shape}", hint="use x.reshape(-1, 1) for one column"
        )
    names = array_names(data.shape[1], names, expected)
    return [numpy_column(name, data[:, j]) for j, name in enumerate(names)]


def array_names(n: int, names: Names, expected: tuple[str, ...]) -> tuple[str, ...]:
    """The names of columns that have none: those given, those of the schema, or x0, x1 and so on."""
    if names is None:
        return expected if len(expected) == n else tuple(f"x{j}" for j in range(n))
    if len(names) != n:
        raise ShapeError(
            f"expected {n} names of columns, one for each column of the array, got {len(names)}",
            hint="give a name for each column, or none",
        )
    return names


def is_rows(data: Any) -> bool:
    """Whether the data are a list of lists, one for each row."""
    return isinstance(data, list | tuple) and len(data) > 0 and isinstance(data[0], list | tuple)


def sequence_columns(data: Sequence[Any], names: Names, expected: tuple[str, ...]) -> list[Column]:
    """The columns of a list of rows, all of the same length."""
    n = len(data[0])
    for number, row in enumerate(data):
        if not isinstance(row, list | tuple) or len(row) != n:
            raise ShapeError(
                f"row {number} must hold {n} cells, as row 0 does, got {row!r:.80}",
                hint="write None for a missing cell, so that all rows have the same length",
            )
    columns = zip(*data, strict=True)
    return [
        list_column(name, list(cells)) for name, cells in zip(array_names(n, names, expected), columns, strict=True)
    ]


def record_columns(rows: Sequence[Any]) -> list[Column]:
    """The columns of a list of dicts; a cell that a row does not mention is missing."""
    if not rows:
        raise EmptyTableError("the table has no rows", hint="give at least one row")
    odd = next((i for i, row in enumerate(rows) if not isinstance(row, Mapping)), None)
    if odd is not None:
        raise ShapeError(
            f"expected a list of rows, each a dict, got {rows[odd]!r:.80} at position {odd}",
            hint="one column is given as {'name': [...]}",
        )
    keys = dict.fromkeys(key for row in rows for key in row)
    return [list_column(str(key), [row.get(key) for row in rows]) for key in keys]


def table_columns(table: Table) -> list[Column]:
    """The columns of a table, to be coded anew."""
    return [table_column(table, name) for name in table.schema.names]


def table_column(table: Table, name: str) -> Column:
    """One column of a table; states keep their order."""
    variable = table.schema[name]
    if not isinstance(variable, DiscreteVariable):
        return numpy_column(name, table.values_of(name))
    states = list_column(name, state_array(variable)[:-1].tolist()).data
    if isinstance(states, list):
        return Column(name, table.column(name).tolist())
    code = table.codes_of(name).astype(np.int32)
    return Column(name, pa.DictionaryArray.from_arrays(pa.array(code, mask=code < 0), states), declared=True)


def file_columns(path: str | os.PathLike[str]) -> list[Column]:
    """The columns of a file."""
    from bayeslearn.tables.file_readers import read_file  # noqa: PLC0415 - data in memory need no readers

    return read_file(path)


def raw_columns(data: RawTable) -> list[Column]:
    """The columns of a raw table, as they were read."""
    return list(data.columns)


#: How each kind of data with named columns is read; anything else is tried as a frame.
READERS: tuple[tuple[Any, Callable[[Any], list[Column]]], ...] = (
    ((str, os.PathLike), file_columns),
    (Table, table_columns),
    (RawTable, raw_columns),
    (pa.Table, arrow_columns),
    (np.ndarray, structured_columns),
    (Mapping, dict_columns),
    (Sequence, record_columns),
)
