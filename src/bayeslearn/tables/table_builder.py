"""A table built from columns: which of them, their variables, their codes in one block.

Every column is tried before anything is reported, so that one message names all that is wrong.
"""

from __future__ import annotations

import gc
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from bayeslearn import validation
from bayeslearn.errors import (
    DataError,
    EmptyTableError,
    MixedTypesError,
    ParameterError,
    ShapeError,
    joined,
    listed,
    option,
    short,
)
from bayeslearn.tables.arrow_columns import gather, list_column
from bayeslearn.tables.columns import Column, column_weights, is_missing
from bayeslearn.tables.conversion import RawTable
from bayeslearn.tables.schema import Schema, code_type, require_known, require_unique
from bayeslearn.tables.table import Table
from bayeslearn.tables.type_inference import discover, interpreted, sources_of, with_origins
from bayeslearn.tables.variables import DiscreteVariable, NumericVariable, Variable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.tables.conversion import Request


#: Clauses of an error about many columns, and the characters of each.
MOST_CLAUSES, MOST_CLAUSE = 5, 160


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pause Python's garbage collector: the objects of very many columns are all kept, and would be visited often."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@collector_paused()
def build(
    data: Any,
    request: Request,
    *,
    schema: Schema | None,
    names: tuple[str, ...] | None,
    sample_weight: ArrayLike | str | None,
) -> Table:
    """A table of the data, by a schema or by what the columns show."""
    columns, names = gather(data, names, () if schema is None else schema.names)
    require_unique(column.name for column in columns)
    by_name = {column.name: column for column in columns}
    n = row_count(columns)
    if sample_weight is None and isinstance(data, Table | RawTable):
        sample_weight = data.sample_weight
    require_known([*request.dropped, *request.missing.by_column], by_name)
    w = row_weights(sample_weight, by_name, n, request)
    dropped = frozenset(request.dropped)
    by_name = {name: column for name, column in by_name.items() if name not in dropped}
    if schema is not None:
        by_name = with_origins(by_name, schema, request.missing)
    if schema is not None and request.absent == "missing":
        by_name = {name: missing_column(name, n) for name in schema.names} | by_name
    raw = None if names is None else sources_of(names, by_name)
    chosen = choose(by_name, raw, schema, sample_weight if isinstance(sample_weight, str) else None)
    known = known_variables(data, request, schema)
    if schema is None and n:
        chosen = interpreted(chosen, request, known, names)
    require_known(sorted(request.declares()), [column.name for column in chosen])
    if not chosen:
        raise EmptyTableError("the table has no columns", hint="give a file or a frame with at least one column")
    if n == 0:
        raise EmptyTableError(
            f"the table has no rows, only the columns {listed(by_name)}",
            hint="rows must follow the names of the columns",
        )
    return join(coded(chosen, request, known), n, w)


def choose(
    by_name: dict[str, Column], names: tuple[str, ...] | None, schema: Schema | None, weight: str | None
) -> list[Column]:
    """The columns to take, in order."""
    if schema is not None:
        if names is not None:
            raise ParameterError(
                "the schema already declares which columns to take", hint=f"leave out {option('columns')}"
            )
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
        shown = joined(f"{name!r} has {n}" for name, n in lengths.items())
        raise ShapeError(
            f"columns differ in their number of rows: {shown}", hint="give every column the same rows", lengths=lengths
        )
    return next(iter(lengths.values()), 0)


def row_weights(
    sample_weight: ArrayLike | str | None, by_name: dict[str, Column], n: int, request: Request
) -> NDArray[np.float64] | None:
    """The weights, given or taken from a column."""
    if sample_weight is None:
        return None
    if isinstance(sample_weight, str):
        require_known([sample_weight], by_name)
        return column_weights(by_name[sample_weight], request.missing)
    return validation.owned(validation.weights(sample_weight, n))


### codes


def known_variables(data: Any, request: Request, schema: Schema | None) -> dict[str, Variable]:
    """The variables that are declared, or that a table already has without other declarations."""
    if schema is not None:
        return {v.name: v for v in schema}
    kept = data.schema if isinstance(data, Table) else ()
    said = request.declares()
    known: dict[str, Variable] = {
        v.name: v for v in kept if v.name not in said and not (request.all_discrete and isinstance(v, NumericVariable))
    }
    return known | dict(request.states)


def coded(columns: list[Column], request: Request, known: dict[str, Variable]) -> list[tuple[Variable, NDArray[Any]]]:
    """Every column with its variable, or one error for all that cannot be coded.

    Columns without declarations are dropped instead, if the caller takes a report of them.
    """
    if known:
        from bayeslearn.tables.state_encoding import code_by  # noqa: PLC0415 - new columns are coded without it
    done: list[tuple[Variable, NDArray[Any]]] = []
    errors = []
    for column in columns:
        variable = known.get(column.name)
        try:
            done.append(understood(column, request) if variable is None else code_by(column, variable, request))
        except DataError as error:
            if request.dropped_columns is None or variable is not None:
                errors.append(error)
            else:
                request.dropped_columns[column.name] = error.message
    if errors:
        raise together(errors)
    return done


def understood(column: Column, request: Request) -> tuple[Variable, NDArray[Any]]:
    """The variable that a column shows; numbers among which there are words that often mark missing cells stay numbers.

    What then is treated as missing is noted.
    """
    try:
        return discover(without_markers(column, request), request)
    except MixedTypesError:
        from bayeslearn.tables.state_encoding import suspect_words  # noqa: PLC0415 - as above

        words = suspect_words(column, request.missing)
        if not words:
            raise
    request.notes.words[column.name] = words
    request = replace(request, missing=request.missing.also(column.name, words))
    return discover(without_markers(column, request), request)


def without_markers(column: Column, request: Request) -> Column:
    """Python objects without the markers among them, so that numbers are numbers; other columns unchanged."""
    if not isinstance(column.data, list) or request.all_discrete or column.name in request.discrete:
        return column
    markers = request.missing.of_column(column.name)
    return list_column(column.name, [None if is_missing(value, markers) else value for value in column.data])


def together(errors: list[DataError]) -> DataError:
    """One error with all messages, of the kind of the first."""
    if len(errors) == 1:
        return errors[0]
    columns = [error.details.get("column") for error in errors]
    hints = [error.hint for error in errors if error.hint][:1]
    if all(columns):
        more = ", ..." if len(columns) > MOST_CLAUSES else ""
        hints.append(f"drop these columns with {option('drop_columns', columns[:MOST_CLAUSES])}{more}")
    return type(errors[0])(
        joined((short(error.message, MOST_CLAUSE) for error in errors), MOST_CLAUSES, separator=";\n"),
        hint="\nhint: ".join(short(hint, MOST_CLAUSE) for hint in hints) or None,
        columns=columns,
        errors=errors,
    )


def join(parts: Iterable[tuple[Variable, NDArray[Any]]], n: int, sample_weight: NDArray[np.float64] | None) -> Table:
    """The columns in two blocks."""
    parts = list(parts)
    schema = Schema(variable for variable, _ in parts)
    codes = np.empty((len(schema.discrete), n), dtype=code_type(schema))
    values = np.empty((len(schema.numeric), n))
    for variable, array in parts:
        block = codes if isinstance(variable, DiscreteVariable) else values
        block[schema.place(variable.name)] = array
    return Table._trusted(schema, codes, values, sample_weight)  # noqa: SLF001 - made of checked parts
