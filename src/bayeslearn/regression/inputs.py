"""Training rows as a table, in which numbers are numeric, and new rows by the columns of training."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import DataError, EmptyTableError, ParameterError, ShapeError, listed
from bayeslearn.sources.scanning import is_source
from bayeslearn.tables import NumericVariable, Schema, Table, as_table
from bayeslearn.tables.state_encoding import all_numbers, with_numbers

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


def read(
    data: Any,
    *,
    columns: Iterable[str] | None = None,
    discrete: Iterable[str] = (),
    sample_weight: Any = None,
    max_states: int = 255,
    left_out: dict[str, str] | None = None,
) -> Table:
    """Training rows as a table in which numbers are numeric; a table keeps the kinds of its columns."""
    if isinstance(data, Table):
        return as_table(data, columns=columns, sample_weight=sample_weight)
    require_rows(data)
    discrete = strings(discrete)
    numbers = plain_numbers(data)
    if numbers is not None and columns is None and not discrete:
        schema = Schema(NumericVariable(f"x{j}") for j in range(numbers.shape[1]))
        return Table(
            schema, np.empty((0, len(numbers)), np.int8), require_finite(numbers, schema.names).T, sample_weight
        )
    table = as_table(
        data, columns=columns, discrete=discrete, sample_weight=sample_weight, max_states=max_states,
        allow_constant=True,
        left_out=left_out,
    )  # fmt: skip
    if not len(table.schema):
        raise EmptyTableError("no column is left to learn from")
    return with_numbers(table, [v for v in table.schema.discrete if v.name not in discrete and all_numbers(v)])


def require_rows(data: Any) -> None:
    """Refuse a source: only least squares adds up batches."""
    if is_source(data):
        raise ParameterError(
            "this fit needs all rows in memory, and a source is read batch by batch",
            hint="read them, if they fit: source.table(); least squares (fit_linear) takes a source",
        )


def strings(names: Any) -> tuple[str, ...]:
    """One name or several."""
    return (names,) if isinstance(names, str) else tuple(names)


def plain_numbers(data: Any) -> Floats | None:
    """A numeric matrix that is used without a copy, or None."""
    if isinstance(data, np.ndarray) and data.ndim == 2 and data.dtype.kind in "iuf" and data.size:
        return np.asarray(data, dtype=np.float64)
    return None


def named(data: Any, schema: Schema) -> Any:
    """Data whose columns have the names of training, by order where they have none."""
    if isinstance(data, np.ndarray) and data.dtype.names is None and data.ndim == 2:
        if data.shape[1] != len(schema):
            raise ShapeError(
                f"expected rows of {len(schema)} columns ({listed(schema.names)}), got an array of shape {data.shape}"
            )
        return {name: data[:, j] for j, name in enumerate(schema.names)}
    return data


def require_finite(x: Floats, names: tuple[str, ...]) -> Floats:
    """Numbers that are finite or missing."""
    wide = np.isinf(x)
    if wide.any():
        row, column = validation.first_position(wide)
        raise DataError(
            f"column {names[column]!r} holds {x[row, column]} in row {row}", hint="NaN marks a missing cell"
        )
    return x
