"""Cells as they came: what is missing, and columns of whatever they hold."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import ShapeError
from bayeslearn.tables.markers import is_marker

if TYPE_CHECKING:
    from numpy.typing import NDArray


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
    """Rows of numbers, also from lists with holes; one column may come without brackets."""
    array = x if isinstance(x, np.ndarray) else as_objects(x)
    if array.dtype == object:
        flat = [np.nan if is_missing(cell) else cell for cell in array.ravel()]
        array = validation.float_array("x", flat).reshape(array.shape)
    array = validation.float_array("x", array)
    return array[:, None] if array.ndim == 1 else array
