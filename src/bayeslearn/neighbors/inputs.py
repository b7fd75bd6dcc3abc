"""Examples and their targets, and new rows by the columns of the examples. Numbers stay numbers, however few."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.errors import DataError, EmptyTableError, ShapeError, listed
from bayeslearn.neighbors.distances import with_another
from bayeslearn.sources.usability import dropping, warn_dropped
from bayeslearn.tables import DiscreteVariable, NumericVariable, Schema, Table, Variable, as_table
from bayeslearn.tables.numeric_states import all_numbers, with_numbers
from bayeslearn.tables.schema import require_finite

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray


def examples(data: Any, *, sample_weight: Any = None, discrete: Iterable[str] = (), **how: Any) -> Table:
    """Training rows as a table; one that is a table already says itself what is what."""
    if isinstance(data, Table):
        return as_table(data, sample_weight=sample_weight, columns=how.get("columns"))
    if is_numbers(data) and not how and not discrete:
        return of_numbers(data, Schema(NumericVariable(f"x{j}") for j in range(data.shape[1])), sample_weight)
    gone = dropping(data, None)
    table = as_table(data, discrete=discrete, sample_weight=sample_weight, allow_constant=True, left_out=gone, **how)
    warn_dropped(gone, named=True)
    return with_numbers(table, [v for v in table.schema.discrete if v.name not in discrete and all_numbers(v)])


def new_rows(schema: Schema, data: Any, *, missing_columns: str = "error") -> Table:
    """Rows by the columns of the examples; a state that these do not show has a code of its own, the last."""
    columns = getattr(data, "shape", (0, 0))[1:]
    plain = isinstance(data, np.ndarray) and data.dtype.names is None
    if plain and columns != (len(schema),):
        expected = f"expected rows of {len(schema)} columns ({listed(schema.names)})"
        raise ShapeError(f"{expected}, got an array of shape {data.shape}")
    if is_numbers(data) and not schema.discrete:
        return of_numbers(data, schema)
    rows = {name: data[:, j] for j, name in enumerate(schema.names)} if plain else data
    return as_table(rows, schema=with_another(schema), handle_unknown="last", missing_columns=missing_columns)  # type: ignore[arg-type]


def is_numbers(data: Any) -> bool:
    """A matrix of numbers, which can be used as it is."""
    return isinstance(data, np.ndarray) and data.ndim == 2 and data.dtype.kind in "iuf"


def of_numbers(x: NDArray[Any], schema: Schema, sample_weight: Any = None) -> Table:
    """The same as a table."""
    if not x.size:
        raise EmptyTableError(f"there is nothing in an array of shape {x.shape}")
    x = x.astype(np.float64, copy=False)
    with np.errstate(over="ignore", invalid="ignore"):
        total = x.sum()
    if not np.isfinite(total):  # NaN is missing; else a number is infinite, or their sum is
        for name, column in zip(schema.names, x.T, strict=True):
            require_finite(name, column)
    return Table(schema, np.empty((0, len(x)), np.int8), x.T, sample_weight)


def more(schema: Schema, data: Any, sample_weight: Any = None) -> Table:
    """More examples: columns are of the kinds they were, and their states may be new."""
    plain = isinstance(data, np.ndarray)
    if plain and data.shape[1:] != (len(schema),):
        raise ShapeError(f"expected rows of {len(schema)} columns ({listed(schema.names)}), got shape {data.shape}")
    if is_numbers(data) and not schema.discrete:
        return of_numbers(data, schema, sample_weight)
    kinds = {"discrete": [v.name for v in schema.discrete], "numeric": [v.name for v in schema.numeric]}
    rows = {name: data[:, j] for j, name in enumerate(schema.names)} if plain else data
    told: dict[str, Any] = {} if isinstance(data, Table) else kinds
    return as_table(rows, columns=schema.names, sample_weight=sample_weight, allow_constant=True, **told)


def joined(one: Table, other: Table) -> Table:
    """The rows of both under the same columns, with the states of both."""
    schema = Schema(widened(v, other.schema[v.name]) for v in one.schema)
    return Table.concat([recoded(one, schema), recoded(other, schema)])


def widened(variable: Any, other: Any) -> Any:
    """A column with the states of both."""
    if isinstance(variable, DiscreteVariable) and isinstance(other, DiscreteVariable):
        return DiscreteVariable(
            variable.name, (*variable.states, *(s for s in other.states if s not in variable.states))
        )
    if isinstance(variable, DiscreteVariable) or isinstance(other, DiscreteVariable):
        raise DataError(f"column {variable.name!r} holds numbers in some rows and states in others")
    return variable


def recoded(table: Table, schema: Schema) -> Table:
    """The rows by the codes of another schema."""
    if table.schema == schema:
        return table
    found = as_table({n: table.column(n) for n in schema.names}, schema=schema)
    return found if table.sample_weight is None else found.with_weights(table.sample_weight)


### targets


#: More classes than this are taken for a mistake.
MOST_CLASSES = 1 << 16


def targets(
    y: Any, name: str, *, like: Variable | None = None, discrete: bool = False
) -> tuple[Variable, NDArray[Any]]:
    """A target and what each row says of it: text and truth values are classes, numbers are numbers if not told.

    Where one is known already, more rows are read as it was, and may show new classes.
    """
    if isinstance(like, DiscreteVariable) or discrete:
        column = as_table({name: y}, discrete=[name], allow_constant=True, max_states=MOST_CLASSES)
        variable: Any = widened(like, column.schema[name]) if like is not None else column.schema[name]
        if variable == like:
            variable = like
        return variable, coded(as_table(column, schema=Schema([variable])))
    column = as_table({name: y}, allow_constant=True, max_states=MOST_CLASSES, numeric=() if like is None else [name])
    found = column.schema[name]
    if isinstance(found, DiscreteVariable) and not any(isinstance(s, str) for s in found.states) and all_numbers(found):
        column = with_numbers(column, [found])
    return column.schema[name], coded(column)


def coded(column: Table) -> NDArray[Any]:
    """The only column of a table, as codes or numbers."""
    return column.codes[0].astype(np.int64) if column.schema.discrete else np.array(column.values[0])
