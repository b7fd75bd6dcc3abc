"""Cells as given: missing values, and columns of any values."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import DataError, ShapeError
from bayeslearn.tables import DiscreteVariable, NumericVariable
from bayeslearn.tables.discretization import all_numbers
from bayeslearn.tables.markers import is_marker

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.tables import Table


def plain(symbol: Any) -> Any:
    """A Python value."""
    return symbol.item() if isinstance(symbol, np.generic) else symbol


def is_missing(symbol: Any) -> bool:
    """Whether a cell is missing: None, NaN or a default marker."""
    if isinstance(symbol, str):
        return is_marker(symbol)
    return symbol is None or (isinstance(symbol, float) and math.isnan(symbol))


def distinct(column: NDArray[np.object_]) -> tuple[list[Any], NDArray[np.intp]]:
    """Different symbols in order of appearance, and which one each row has; missing ones are one symbol."""
    seen: dict[Any, int] = {}
    place = np.array([seen.setdefault(None if is_missing(s) else s, len(seen)) for s in column], dtype=np.intp)
    return list(seen), place


def one_column(x: Any) -> NDArray[Any]:
    """A column, also when it is the only one of a table."""
    column = x if isinstance(x, np.ndarray) else as_objects(x)
    if column.ndim == 2 and column.shape[1] == 1:
        column = column[:, 0]
    if column.ndim != 1:
        raise ShapeError(f"expected one column of observations, got shape {column.shape}")
    return column


def as_objects(x: Any) -> NDArray[np.object_]:
    """A list of cells as an array of the objects they are: 1 and "1" stay different."""
    if not np.iterable(x):
        raise ShapeError(f"expected a cell for each row, got {x!r:.60}")
    cells = list(x)
    if any(isinstance(cell, list | tuple | np.ndarray) for cell in cells):
        return np.array([list(row) for row in cells], dtype=object)
    column = np.empty(len(cells), dtype=object)
    column[:] = cells
    return column


def number_rows(x: Any) -> NDArray[np.float64]:
    """Rows of numbers, also from lists with missing values; a single column may be flat."""
    array = x if isinstance(x, np.ndarray) else as_objects(x)
    if array.dtype == object:
        flat = [np.nan if is_missing(cell) else cell for cell in array.ravel()]
        array = validation.float_array("x", flat).reshape(array.shape)
    array = validation.float_array("x", array)
    return array[:, None] if array.ndim == 1 else array


def table_cells(table: Table, names: tuple[str, ...], *, numbers: bool = False) -> NDArray[Any]:
    """Columns side by side, a single one flat: numbers as floats, everything else as it was written.

    With `numbers`, columns whose states are all numbers are numbers, whatever was read of them.
    """

    def column(name: str) -> NDArray[Any]:
        variable = table.schema[name]
        if not (numbers and isinstance(variable, DiscreteVariable) and all_numbers(variable)):
            return table.column(name)
        values = np.array([*map(float, variable.states), np.nan])
        return values[table.codes_of(name)]

    if all(isinstance(table.schema[name], NumericVariable) for name in names):
        columns = [table.values_of(name) for name in names]
        return columns[0] if len(columns) == 1 else np.stack(columns, axis=1)
    written = [column(name) for name in names]
    if all(part.dtype.kind == "f" for part in written):
        return np.stack(written, axis=1)
    return written[0] if len(written) == 1 else np.array(written, dtype=object).T


def seen_symbols(cells: Any) -> tuple[Any, ...]:
    """The different symbols of the data, sorted where they can be."""
    column = one_column(cells if isinstance(cells, np.ndarray) else as_objects(cells))
    found = {plain(c) for c in column.tolist() if not is_missing(plain(c))}
    if not found:
        raise DataError("every symbol is missing: there is nothing to learn from")
    if all(isinstance(s, float) and s.is_integer() for s in found):  # whole numbers with holes are read as floats
        found = {int(s) for s in found}
    try:
        return tuple(sorted(found))
    except TypeError:
        return tuple(sorted(found, key=str))


def has_words(column: NDArray[Any]) -> bool:
    """Whether a column holds words or truth values, which are no numbers."""
    return column.dtype == object and any(isinstance(v, str | bool) and not is_missing(v) for v in map(plain, column))


#: A column of whole numbers has this many distinct values at least to be counts or measurements, not states.
MIN_DISTINCT = 3
#: The variance of counts, in units of their mean; it is 1 in each state, and larger where states differ.
COUNT_DISPERSION = (0.5, 10.0)
#: Counts with a larger mean are as good as Gaussian.
MAX_COUNT = 30.0


def column_kind(column: NDArray[Any]) -> str:
    """The distribution of a column next to others: categorical for text and for two whole numbers, counts, or Gaussian.

    Counts are whole numbers from 0 on with a mean up to 30, whose variance is between half and ten times their mean.
    """
    if has_words(column):
        return "categorical"
    x = number_rows(column)[:, 0]
    x = x[~np.isnan(x)]
    if not len(x) or (x != np.floor(x)).any() or x.min() < 0:
        return "gaussian"
    if len(np.unique(x)) < MIN_DISTINCT:
        return "categorical" if len(x) > MIN_DISTINCT else "gaussian"
    low, high = COUNT_DISPERSION
    few = x.mean() <= MAX_COUNT and low * x.mean() <= x.var() <= high * x.mean()
    return "poisson" if few else "gaussian"
