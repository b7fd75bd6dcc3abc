"""Cells of any data replaced: the data come back in their kind, with their index, types and order.

Each kind of data has a function that takes the names of its columns, in their order, and a :class:`Fill` for some of
them. A column keeps its type if the new values fit; else it takes a wider one, at last that of Python objects.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bayeslearn.tables.arrow_columns import gather, is_rows
from bayeslearn.tables.columns import one_dictionary
from bayeslearn.tables.file_readers import file_table
from bayeslearn.tables.schema import Schema
from bayeslearn.tables.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Fills = Mapping[str, "Fill"]

#: What libraries raise when a value does not fit into a column.
MISFIT = (pa.ArrowException, TypeError, ValueError, OverflowError)


@dataclass(frozen=True)
class Fill:
    """New values for some rows of a column, as Python objects."""

    rows: NDArray[np.intp]
    values: list[Any]

    def into(self, cells: list[Any]) -> list[Any]:
        """A list of cells with the new values."""
        cells = list(cells)
        for row, value in zip(self.rows.tolist(), self.values, strict=True):
            cells[row] = value
        return cells


def in_memory(data: Any) -> Any:
    """Data whose cells can be replaced: a file becomes an Arrow table, a lazy frame is collected."""
    if isinstance(data, str | os.PathLike):
        return file_table(data)
    if isinstance(data, Mapping):
        return {name: values if hasattr(values, "dtype") or is_arrow(values) else listed(values) for name, values in
                data.items()}  # fmt: skip
    frame = nw.from_native(data, pass_through=True)
    return frame.collect().to_native() if isinstance(frame, nw.LazyFrame) else data


def completed(data: Any, schema: Schema, complete: Callable[[Table], Table], **markers: Any) -> Any:
    """The data with missing values filled, in the same kind of container.

    `complete` fills a table of a schema, `markers` are those of missing values. Other columns of the data, and observed
    values, stay unchanged.
    """
    from bayeslearn.tables.conversion import as_table  # noqa: PLC0415 - it reads all kinds of data

    data = in_memory(data)
    found, _ = gather(data, None, tuple(schema.names))
    names = [column.name for column in found]
    weights = data.sample_weight if isinstance(data, Table) else None
    cells = {column.name: column.data for column in found}
    table = as_table(cells, schema=schema, missing_columns="missing", sample_weight=weights, **markers)
    full, fills = complete(table), {}
    for name in names:
        if name in schema:
            variable = schema[name]
            states = getattr(variable, "states", None)
            before, after = (t.values_of(name) if states is None else t.codes_of(name) for t in (table, full))
            rows = np.flatnonzero(np.isnan(before) if states is None else before < 0)
            new = after[rows].tolist()
            if len(rows):
                fills[name] = Fill(rows, new if states is None else [states[code] for code in new])
    return table_completed(data, schema, fills) if isinstance(data, Table) else fill_cells(data, names, fills)


def table_completed(table: Table, schema: Schema, fills: Fills) -> Table:
    """A table whose columns are filled; they have the variables of the schema."""
    from bayeslearn.tables.conversion import as_table  # noqa: PLC0415 - it reads all kinds of data

    names, columns = set(schema.names), {name: list(table.column(name)) for name in table.schema.names}
    columns |= {name: fill.into(columns[name]) for name, fill in fills.items()}
    variables = Schema(schema[v.name] if v.name in names else v for v in table.schema)
    return as_table(columns, schema=variables, sample_weight=table.sample_weight)


def is_arrow(values: Any) -> bool:
    """Whether a column is Arrow data."""
    return isinstance(values, pa.Array | pa.ChunkedArray)


def listed(values: Any) -> Any:
    """A column that can be read more than once; what is no column stays unchanged, to be reported."""
    plain = isinstance(values, str | list | tuple) or not hasattr(values, "__iter__")
    return values if plain else list(values)


def fill_cells(data: Any, names: Sequence[str], fills: Fills) -> Any:
    """The data with new values in some cells; `names` are those of the columns, in their order."""
    if is_rows(data):
        return rows_filled(data, names, fills)
    for kind, filled in FILLERS:
        if isinstance(data, kind):
            return filled(data, names, fills)
    if nw.dependencies.is_pandas_dataframe(data):
        return pandas_filled(data, names, fills)
    return frame_filled(data, names, fills)


### Python


def dict_filled(data: Mapping[Any, Any], _names: Sequence[str], fills: Fills) -> dict[Any, Any]:
    """A dict of columns, each of which keeps its kind."""
    return {
        name: column_filled(values, fills[str(name)]) if str(name) in fills else values for name, values in data.items()
    }


def column_filled(values: Any, fill: Fill) -> Any:
    """One column: a series, an Arrow or NumPy array, a tuple or a list."""
    series = nw.from_native(values, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        if is_arrow(values):
            return arrow_filled(values, fill)
        return pandas_column(values, fill) if series.implementation.is_pandas() else series_filled(series, fill)
    if is_arrow(values):
        return arrow_filled(values, fill)
    if isinstance(values, np.ndarray):
        return numpy_filled(values, fill)
    cells = fill.into(values)
    return tuple(cells) if isinstance(values, tuple) else cells


def rows_filled(data: Sequence[Any], names: Sequence[str], fills: Fills) -> Any:
    """A list of rows, each a list or a tuple of cells."""
    rows = list(data)
    for j, name in enumerate(names):
        for row, value in pairs(fills.get(name)):
            cells = [*rows[row][:j], value, *rows[row][j + 1 :]]
            rows[row] = tuple(cells) if isinstance(rows[row], tuple) else cells
    return tuple(rows) if isinstance(data, tuple) else rows


def records_filled(data: Sequence[Any], _names: Sequence[str], fills: Fills) -> Any:
    """A list of dicts; a cell that a row does not mention is added to it."""
    rows = list(data)
    for key in dict.fromkeys(key for row in data for key in row):
        for row, value in pairs(fills.get(str(key))):
            rows[row] = {**rows[row], key: value}
    return tuple(rows) if isinstance(data, tuple) else rows


def pairs(fill: Fill | None) -> list[tuple[int, Any]]:
    """Rows and their new values."""
    return [] if fill is None else list(zip(fill.rows.tolist(), fill.values, strict=True))


### NumPy


def array_filled(data: NDArray[Any], names: Sequence[str], fills: Fills) -> NDArray[Any]:
    """A matrix, or an array with named fields."""
    if data.dtype.names is not None:
        return fields_filled(data, fills)
    parts = {j: numpy_filled(data[:, j], fills[name]) for j, name in enumerate(names) if name in fills}
    full = data.astype(common_type([data.dtype, *(part.dtype for part in parts.values())]))
    for j, part in parts.items():
        full[:, j] = part
    return full


def common_type(dtypes: list[Any]) -> Any:
    """A type for all columns of a matrix: that of objects if some hold text and some numbers."""
    kinds = {"text" if dtype.kind == "U" else "number" if dtype.kind in "iufb" else dtype.kind for dtype in dtypes}
    return np.result_type(*dtypes) if len(kinds) == 1 else np.dtype(object)


def fields_filled(data: NDArray[Any], fills: Fills) -> NDArray[Any]:
    """An array with named fields."""
    names = data.dtype.names or ()
    parts = {n: numpy_filled(data[n].reshape(-1), fills[n]) if n in fills else data[n].reshape(-1) for n in names}
    full = np.empty(data.shape, dtype=[(name, part.dtype) for name, part in parts.items()])
    for name, part in parts.items():
        full[name] = part.reshape(data.shape)
    return full


def numpy_filled(array: NDArray[Any], fill: Fill) -> NDArray[Any]:
    """A one-dimensional array."""
    values = fill.values
    if array.dtype.kind == "U" and all(isinstance(value, str) for value in values):
        array = array.astype(np.result_type(array.dtype, np.array(values)))
    elif not fits(array.dtype, values):
        array = array.astype(wider(array.dtype, values))
    full = array.copy()
    for row, value in pairs(fill):
        full[row] = value
    return full


def fits(dtype: Any, values: list[Any]) -> bool:
    """Whether a NumPy type holds values without changing them."""
    if dtype.kind == "b":
        return all(isinstance(value, bool) for value in values)
    if dtype.kind == "f":
        return all(is_number(value) for value in values)
    if dtype.kind in "iu":
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        return all(is_number(value) and value == int(value) and low <= value <= high for value in values)
    return bool(dtype.kind == "O")


def wider(dtype: Any, values: list[Any]) -> Any:
    """A NumPy type for what is there and for new values."""
    numeric = dtype.kind in "iuf" and all(is_number(value) for value in values)
    return np.result_type(dtype, np.array(values)) if numeric else np.dtype(object)


def is_number(value: Any) -> bool:
    """Whether a value is a number, and no truth value."""
    return isinstance(value, int | float) and not isinstance(value, bool)


### pandas


def pandas_filled(data: Any, names: Sequence[str], fills: Fills) -> Any:
    """A pandas frame, column by column, wherever its index leads."""
    full = data.copy()
    for j, name in enumerate(names):
        if name in fills:
            full.isetitem(j, pandas_column(data.iloc[:, j], fills[name]))
    return full


def pandas_column(series: Any, fill: Fill) -> Any:
    """A pandas series with its index; a category that is new is added to the others."""
    array = series.array.copy()
    try:
        if hasattr(array, "categories"):
            array = array.add_categories([v for v in dict.fromkeys(fill.values) if v not in array.categories])
        plain = isinstance(series.dtype, np.dtype)
        if plain and series.dtype.kind != "O":
            array = numpy_filled(series.to_numpy(), fill)
        elif plain:
            array = as_objects(series.to_numpy(), fill)
        else:
            array[fill.rows] = fill.values
    except MISFIT:
        array = as_objects(series.to_numpy(dtype=object), fill)
    if str(array.dtype) != "object":
        return type(series)(array, index=series.index, name=series.name)
    if len(fill.rows) == len(series):  # nothing is left of the old column, so the new one has the type of its values
        return type(series)(fill.values, index=series.index, name=series.name)
    return type(series)(array, index=series.index, name=series.name, dtype=object)


def as_objects(array: NDArray[Any], fill: Fill) -> NDArray[Any]:
    """An array of Python objects."""
    full = array.astype(object)
    for row, value in pairs(fill):
        full[row] = value
    return full


### Arrow and other frames


def arrow_table_filled(data: Any, _names: Sequence[str], fills: Fills) -> Any:
    """An Arrow table with its metadata."""
    for name, fill in fills.items():
        at = data.schema.get_field_index(name)
        column = arrow_filled(data.column(at), fill)
        data = data.set_column(at, data.schema.field(at).with_type(column.type), column)
    return data


def arrow_filled(data: Any, fill: Fill) -> Any:
    """Arrow data of any type."""
    try:
        if pa.types.is_dictionary(data.type):
            return dictionary_filled(data, fill)
        numeric = pa.types.is_integer(data.type) or pa.types.is_floating(data.type)
        if not pa.types.is_null(data.type) and not (numeric and any(isinstance(v, bool) for v in fill.values)):
            mask = np.zeros(len(data), np.bool_)
            mask[fill.rows] = True
            return pc.replace_with_mask(data, pa.array(mask), arrow_values(fill.values, data.type))
    except MISFIT:
        pass
    cells = fill.into(data.to_pylist())
    try:
        found = pa.array(cells)
    except MISFIT:
        found = pa.array([None if cell is None else str(cell) for cell in cells])
    return pa.chunked_array([found]) if isinstance(data, pa.ChunkedArray) else found


def arrow_values(values: list[Any], kind: Any) -> Any:
    """Values of an Arrow type; decimals by way of floats."""
    return pa.array(values).cast(kind) if pa.types.is_decimal(kind) else pa.array(values, type=kind)


def dictionary_filled(data: Any, fill: Fill) -> Any:
    """Dictionary data; a value that is new goes to the end of the dictionary."""
    coded = one_dictionary(data)
    entries = {value: code for code, value in enumerate(coded.dictionary.to_pylist())}
    places = np.asarray(pc.fill_null(coded.indices, -1)).astype(np.int64)
    places[fill.rows] = [entries.setdefault(value, len(entries)) for value in fill.values]
    kind = data.type
    dictionary = coded.dictionary if len(entries) == len(coded.dictionary) else pa.array(list(entries), kind.value_type)
    indices = pa.array(places, mask=places < 0).cast(kind.index_type)
    return pa.DictionaryArray.from_arrays(indices, dictionary, ordered=kind.ordered)


def frame_filled(data: Any, names: Sequence[str], fills: Fills) -> Any:
    """A polars frame, or any other of narwhals."""
    frame = nw.from_native(data, eager_only=True)
    new = [
        nw.from_native(series_filled(frame[:, j], fills[name]), series_only=True)
        for j, name in enumerate(names)
        if name in fills
    ]
    return frame.with_columns(*new).to_native() if new else frame.clone().to_native()


def series_filled(series: nw.Series[Any], fill: Fill) -> Any:
    """A series of a frame; one of polars gets the new values behind the old, and takes each cell from its place."""
    native = series.to_native()
    if not series.implementation.is_polars():
        return series.scatter(fill.rows.tolist(), fill.values).to_native()
    import polars as pl  # noqa: PLC0415 - it is there, for the frame came from it

    kind, name = native.dtype, native.name
    try:
        if not (kind.is_numeric() and any(isinstance(v, bool) for v in fill.values)) and kind not in {
            pl.Null,
            pl.Object,
        }:
            place = np.arange(len(native))
            place[fill.rows] = len(native) + np.arange(len(fill.rows))
            return pl.concat([native, pl.Series(name, fill.values, dtype=kind, strict=True)]).gather(place)
    except (*MISFIT, pl.exceptions.PolarsError):
        pass
    cells = fill.into(native.to_list())
    return pl.Series(name, cells, dtype=pl.Object) if kind == pl.Object else pl.Series(name, cells, strict=False)


FILLERS: tuple[tuple[Any, Callable[[Any, Sequence[str], Fills], Any]], ...] = (
    (pa.Table, arrow_table_filled),
    (np.ndarray, array_filled),
    (Mapping, dict_filled),
    (Sequence, records_filled),
)
