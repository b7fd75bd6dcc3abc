"""A table built from columns: which of them, their variables, their codes in one block.

Every column is tried before anything is reported, so that one message names all that is wrong.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from bayeslearn import validation
from bayeslearn.errors import DataError, EmptyTableError, ParameterError, ShapeError, listed
from bayeslearn.tables.columns import Column, column_weights
from bayeslearn.tables.gather import gather
from bayeslearn.tables.kinds import discover
from bayeslearn.tables.schema import Schema, require_known, require_unique
from bayeslearn.tables.states import code_by
from bayeslearn.tables.table import Table, code_type
from bayeslearn.tables.variables import Discrete, Numeric, Variable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.tables.convert import Request


def build(
    data: Any,
    request: Request,
    *,
    schema: Schema | None,
    names: tuple[str, ...] | None,
    weights: ArrayLike | str | None,
) -> Table:
    """A table of the data, by a schema or by what the columns show."""
    columns, names = gather(data, names, () if schema is None else schema.names)
    require_unique(column.name for column in columns)
    by_name = {column.name: column for column in columns}
    n = row_count(columns)
    if weights is None and isinstance(data, Table):
        weights = data.weights
    w = row_weights(weights, by_name, n, request)
    if schema is not None and request.absent == "missing":
        by_name = {name: missing_column(name, n) for name in schema.names} | by_name
    chosen = choose(by_name, names, schema, weights if isinstance(weights, str) else None)
    require_known(sorted(request.declares()), [column.name for column in chosen])
    if not chosen:
        raise EmptyTableError("the table has no columns")
    if n == 0:
        raise EmptyTableError(f"the table has no rows, only the columns {listed(by_name)}")
    return join(coded(chosen, request, known_variables(data, request, schema)), n, w)


def choose(
    by_name: dict[str, Column], names: tuple[str, ...] | None, schema: Schema | None, weight: str | None
) -> list[Column]:
    """The columns to take, in order."""
    if schema is not None:
        if names is not None:
            raise ParameterError("the schema already says which columns to take", hint="leave out `columns`")
        names = schema.names
    else:
        names = tuple(name for name in (by_name if names is None else names) if name != weight)
    require_known(names, by_name)
    require_unique(names)
    return [by_name[name] for name in names]


def missing_column(name: str, n: int) -> Column:
    """A column of which nothing is known."""
    return Column(name, pa.nulls(n, pa.string()))


def row_count(columns: list[Column]) -> int:
    """The one length of all columns."""
    lengths = {column.name: len(column) for column in columns}
    if len(set(lengths.values())) > 1:
        shown = ", ".join(f"{name!r} has {n}" for name, n in lengths.items())
        raise ShapeError(f"columns differ in their number of rows: {shown}", lengths=lengths)
    return next(iter(lengths.values()), 0)


def row_weights(
    weights: ArrayLike | str | None, by_name: dict[str, Column], n: int, request: Request
) -> NDArray[np.float64] | None:
    """The weights, given or taken from a column."""
    if weights is None:
        return None
    if isinstance(weights, str):
        require_known([weights], by_name)
        return column_weights(by_name[weights], request.missing)
    return validation.weights(weights, n)


### codes


def known_variables(data: Any, request: Request, schema: Schema | None) -> dict[str, Variable]:
    """The variables that are declared, or that a table already has and nothing else was said about."""
    if schema is not None:
        return {v.name: v for v in schema}
    kept = data.schema if isinstance(data, Table) else ()
    said = request.declares()
    known: dict[str, Variable] = {
        v.name: v for v in kept if v.name not in said and not (request.all_discrete and isinstance(v, Numeric))
    }
    return known | dict(request.states)


def coded(columns: list[Column], request: Request, known: dict[str, Variable]) -> list[tuple[Variable, NDArray[Any]]]:
    """Every column with its variable, or one error for all that cannot be coded.

    Columns about which nothing was said are left out instead, if someone wants to be told of them.
    """
    done: list[tuple[Variable, NDArray[Any]]] = []
    errors = []
    for column in columns:
        variable = known.get(column.name)
        try:
            if variable is None:
                done.append(discover(column, request))
            else:
                done.append((variable, code_by(column, variable, request.missing, request.unseen)))
        except DataError as error:
            if request.left_out is None or variable is not None:
                errors.append(error)
            else:
                request.left_out[column.name] = error.message
    if errors:
        raise together(errors)
    return done


def together(errors: list[DataError]) -> DataError:
    """One error that says everything, of the kind of the first."""
    if len(errors) == 1:
        return errors[0]
    hints = dict.fromkeys(error.hint for error in errors if error.hint)
    return type(errors[0])(
        ";\n".join(error.message for error in errors),
        hint="\nhint: ".join(hints) or None,
        columns=[error.details.get("column") for error in errors],
        errors=errors,
    )


def join(parts: Iterable[tuple[Variable, NDArray[Any]]], n: int, weights: NDArray[np.float64] | None) -> Table:
    """The columns in two blocks."""
    parts = list(parts)
    schema = Schema(variable for variable, _ in parts)
    codes = np.empty((len(schema.discrete), n), dtype=code_type(schema))
    values = np.empty((len(schema.numeric), n))
    for variable, array in parts:
        block = codes if isinstance(variable, Discrete) else values
        block[schema.place(variable.name)] = array
    return Table._trusted(schema, codes, values, weights)  # noqa: SLF001 - made of checked parts
