"""Training rows and their targets, new rows by their columns, and models with more rows or fewer rows.

Numbers are numeric, however few they are.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import validation
from bayeslearn.distributions import row_lineage
from bayeslearn.errors import (
    BayeslearnWarning,
    DataError,
    EmptyTableError,
    MismatchError,
    MissingValuesError,
    ShapeError,
    listed,
    outside,
)
from bayeslearn.neighbors.distances import Distance, with_another
from bayeslearn.sources.usability import dropping, named_columns, warn_dropped, without_identifiers
from bayeslearn.tables import DiscreteVariable, NumericVariable, Schema, Table, Variable, as_table
from bayeslearn.tables.discretization import all_numbers, with_numbers
from bayeslearn.tables.schema import require_finite

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from bayeslearn.distributions.row_lineage import RowLineage
    from bayeslearn.neighbors.model import NeighborsModel

    Floats = NDArray[np.float64]
    Rows = NDArray[np.int64]


def examples(data: Any, *, sample_weight: Any = None, discrete: Iterable[str] = (), **how: Any) -> Table:
    """Training rows as a table; a table keeps the kinds of its columns."""
    if isinstance(data, Table):
        return as_table(data, sample_weight=sample_weight, columns=how.get("columns"))
    if is_numbers(data) and not how and not discrete:
        return of_numbers(data, Schema(NumericVariable(f"x{j}") for j in range(data.shape[1])), sample_weight)
    gone = dropping(data, None)
    table = as_table(
        data, discrete=discrete, sample_weight=sample_weight, allow_constant=True, dropped_columns=gone, **how
    )
    warn_dropped(gone, named=True)
    return with_numbers(table, [v for v in table.schema.discrete if v.name not in discrete and all_numbers(v)])


def new_rows(schema: Schema, data: Any, *, missing_columns: str = "error") -> Table:
    """Rows by the columns of the training rows; a state that these do not have gets a separate code, the last."""
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
    """A matrix of numbers, which can be used directly."""
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
    """More training rows: columns keep their kinds, and states may be new."""
    plain = isinstance(data, np.ndarray)
    if plain and data.shape[1:] != (len(schema),):
        raise ShapeError(f"expected rows of {len(schema)} columns ({listed(schema.names)}), got shape {data.shape}")
    if is_numbers(data) and not schema.discrete:
        return of_numbers(data, schema, sample_weight)
    kinds = {"discrete": [v.name for v in schema.discrete], "numeric": [v.name for v in schema.numeric]}
    rows = {name: data[:, j] for j, name in enumerate(schema.names)} if plain else data
    declared: dict[str, Any] = {} if isinstance(data, Table) else kinds
    return as_table(rows, columns=schema.names, sample_weight=sample_weight, allow_constant=True, **declared)


def more_labeled(
    schema: Schema, target: Any, data: Any, name: str, sample_weight: Any
) -> tuple[Table, Variable, NDArray[Any]]:
    """More training rows with the column of their targets."""
    kinds: dict[str, list[str]] = {"discrete": [], "numeric": []}
    for variable, column in [*((v, v.name) for v in schema), (target, name)]:
        kinds["discrete" if isinstance(variable, DiscreteVariable) else "numeric"].append(column)
    declared: dict[str, Any] = {} if isinstance(data, Table) else kinds
    table = as_table(
        data, columns=[*schema.names, name], sample_weight=sample_weight, allow_constant=True,
        max_states=MAX_CLASSES, **declared,
    )  # fmt: skip
    cells = table.column(name) if isinstance(target, DiscreteVariable) else table.values_of(name)
    return table.drop([name]), *read_targets(cells, target.name, like=target)


def remaining(rows: Table, targets: NDArray[Any], n: int) -> NDArray[np.float64]:
    """The weights of the first n rows when the others are removed from them."""
    w = np.ones(rows.n_rows) if rows.sample_weight is None else rows.sample_weight
    return row_lineage.remaining(np.column_stack([rows.codes.T, rows.values.T, targets]), w, n)


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


#: The largest number of classes.
MAX_CLASSES = 1 << 16


def labeled(
    data: Any,
    target: Any,
    *,
    task: str,
    columns: Iterable[str] | None,
    sample_weight: Any,
    unlabeled: str,
    max_states: int,
    dropped: dict[str, str] | None = None,
) -> tuple[Table, Any, NDArray[Any], dict[str, str]]:
    """Training rows, the target, its values, and the dropped columns with reasons; no row lacks its target.

    Columns that cannot be used are dropped with a warning, or recorded in `dropped` by a caller that reports them.
    """
    task = validation.choice("task", task, ["auto", "classification", "regression"])
    unlabeled = validation.choice("unlabeled", unlabeled, ["warn", "error", "drop"])
    if isinstance(target, str):
        rows, variable, found, gone = named_target(data, target, task, columns, sample_weight, max_states, dropped)
    else:
        how = {} if columns is None else {"columns": columns}
        rows, gone = examples(data, sample_weight=sample_weight, **how), {}
        name = str(getattr(target, "name", None) or "target")
        name = name if name not in rows.schema else f"{name}_target"
        variable, found = read_targets(target, name, discrete=task == "classification")
        if len(found) != len(rows):
            raise ShapeError(f"expected a target for each of {len(rows)} rows, got {len(found)}")
    missing = found < 0 if isinstance(variable, DiscreteVariable) else np.isnan(found)
    if missing.any():
        if unlabeled == "error":
            raise MissingValuesError(
                f"{missing.sum()} rows have no {variable.name!r}, the first is row "
                f"{validation.first_position(missing)}",
                hint='drop them: unlabeled="drop"',
            )
        if unlabeled == "warn":
            warnings.warn(
                f"{missing.sum()} rows without a {variable.name!r} are dropped", BayeslearnWarning, stacklevel=outside()
            )
        there = np.flatnonzero(~missing)
        rows, found = rows.take(there), found[there]
    return rows, variable, found, gone


def named_target(
    data: Any, target: str, task: str, columns: Any, sample_weight: Any, max_states: int, dropped: Any
) -> tuple[Table, Any, NDArray[Any], dict[str, str]]:
    """Training rows without one of the columns, which is the target."""
    dropped_columns = dropping(data, dropped, columns)
    table = as_table(
        data, columns=None if columns is None else [*columns, target], sample_weight=sample_weight,
        discrete=[target] if task == "classification" else (), numeric=[target] if task == "regression" else (),
        max_states=max_states, allow_constant=True, dropped_columns=dropped_columns,
    )  # fmt: skip
    if target in (dropped_columns or ()):
        raise DataError(f"the target cannot be used: {dropped_columns[target]}")  # type: ignore[index]
    table = without_identifiers(table, dropped_columns, keep=[target, *named_columns(data)])
    warn_dropped(dropped_columns)
    variable = table.schema[target]
    rows = table.drop([target])
    if not isinstance(data, Table):
        rows = with_numbers(rows, [v for v in rows.schema.discrete if all_numbers(v)])
    if not len(rows.schema):
        raise EmptyTableError(f"there is no column besides {target!r} to find neighbors by")
    discrete = isinstance(variable, DiscreteVariable)
    found = table.codes_of(target).astype(np.int64) if discrete else np.array(table.values_of(target))
    return rows, variable, found, dict(dropped_columns or {})


def targets_of(data: Any, target: Any, like: Any) -> NDArray[Any]:
    """Targets of new rows: codes, −1 where missing and one more than all for another class; or numbers."""
    name, rows = (target, data) if isinstance(target, str) else (like.name, {like.name: target})
    if isinstance(like, DiscreteVariable):
        schema = with_another(Schema([DiscreteVariable(name, like.states, read_as=like.read_as, origin=like.origin)]))
        return as_table(rows, schema=schema, handle_unknown="last").codes[0].astype(np.int64)
    return np.array(as_table(rows, schema=Schema([NumericVariable(name)])).values[0])


def recoded_targets(mine: Any, theirs: Any, targets: NDArray[Any]) -> tuple[Any, NDArray[Any]]:
    """The target with the classes of two models, and targets of the second by its codes."""
    variable = widened(mine, theirs)
    if not isinstance(variable, DiscreteVariable) or theirs == variable:
        return variable, targets
    place = np.array([variable.states.index(state) for state in theirs.states], np.int64)
    return variable, place[targets]


def read_targets(
    y: Any, name: str, *, like: Variable | None = None, discrete: bool = False
) -> tuple[Variable, NDArray[Any]]:
    """A target and its value in each row: text and truth values are classes, numbers are numbers unless `discrete`.

    More rows of a known target are read as `like` it, and may have new classes.
    """
    if isinstance(like, DiscreteVariable) or discrete:
        column = as_table({name: y}, discrete=[name], allow_constant=True, max_states=MAX_CLASSES)
        variable: Any = widened(like, column.schema[name]) if like is not None else column.schema[name]
        if variable == like:
            variable = like
        return variable, coded(as_table(column, schema=Schema([variable])))
    column = as_table({name: y}, allow_constant=True, max_states=MAX_CLASSES, numeric=() if like is None else [name])
    found = column.schema[name]
    if isinstance(found, DiscreteVariable) and not any(isinstance(s, str) for s in found.states) and all_numbers(found):
        column = with_numbers(column, [found])
    return column.schema[name], coded(column)


def coded(column: Table) -> NDArray[Any]:
    """The only column of a table, as codes or numbers."""
    return column.codes[0].astype(np.int64) if column.schema.discrete else np.array(column.values[0])


def with_rows(model: NeighborsModel, data: Any, target: Any, sample_weight: Any) -> NeighborsModel:
    """The model with more rows."""
    table, variable, found = read(model, data, target, sample_weight)
    lineage = row_lineage.extended(
        lineage_of(model), [table.codes, table.values, found, table.sample_weight], len(table)
    )
    return grown(model, table, variable, found, lineage)


def without_rows(model: NeighborsModel, data: Any, target: Any, sample_weight: Any) -> NeighborsModel:
    """The model without some of its rows."""
    table, _, found = read(model, data, target, sample_weight)
    left = remaining(joined(model.examples, table), np.concatenate([model.targets, found]), len(model))
    kept = np.flatnonzero(left > 0)
    if not len(kept):
        raise EmptyTableError("no training row would be left", hint="keep at least one row")
    return with_weights(model, left[kept], kept)


def merged(one: NeighborsModel, other: NeighborsModel) -> NeighborsModel:
    """The model with the rows of both; rows that one was updated from and both have count once."""
    require_same(one, other)
    mine, theirs, lineage = row_lineage.merged(
        lineage_of(one), lineage_of(other), one.sample_weight, other.sample_weight
    )
    kept = replace(one, examples=one.examples.take(mine), targets=one.targets[mine], lineage=None)
    variable, found = recoded_targets(one.target, other.target, other.targets[theirs])
    return grown(kept, other.examples.take(theirs), variable, found, lineage)


def read(model: NeighborsModel, data: Any, target: Any, sample_weight: Any) -> tuple[Table, Variable, NDArray[Any]]:
    """Rows that are added or removed, by the columns of the model."""
    name = model.target.name if target is None else target
    if not isinstance(name, str):
        table = more(model.examples.schema, data, sample_weight)
        return table, *read_targets(name, model.target.name, like=model.target)
    return more_labeled(model.examples.schema, model.target, data, name, sample_weight)


def grown(model: NeighborsModel, table: Table, variable: Variable, targets: Any, lineage: RowLineage) -> NeighborsModel:
    """The model with more rows, and the distance of all."""
    rows = joined(model.examples, table) if len(table) else model.examples
    distance = Distance.fit(rows, model.distance.metric, model.distance.feature_weights)
    both = np.concatenate([model.targets, targets])
    return replace(model, examples=rows, target=variable, targets=both, distance=distance, lineage=lineage)


def with_weights(model: NeighborsModel, sample_weight: Floats, rows: Rows) -> NeighborsModel:
    """The model of some of its rows with these weights."""
    table = model.examples.take(rows).with_weights(None if (sample_weight == 1).all() else sample_weight)
    distance = Distance.fit(table, model.distance.metric, model.distance.feature_weights)
    lineage = row_lineage.taken(lineage_of(model), rows)
    return replace(model, examples=table, targets=model.targets[rows], distance=distance, lineage=lineage)


def lineage_of(model: NeighborsModel) -> RowLineage:
    """The update that each row came with."""
    table = model.examples
    arrays = [table.codes, table.values, model.targets, table.sample_weight]
    return row_lineage.started(model.lineage, arrays, len(table))


def require_same(one: NeighborsModel, other: NeighborsModel) -> None:
    """Only models of the same columns, target and distance can be merged."""
    kinds = [{v.name: type(v) for v in (*m.examples.schema, m.target)} for m in (one, other)]
    settings = [(m.target.name, m.distance.metric, m.feature_weights) for m in (one, other)]
    if kinds[0] != kinds[1] or settings[0] != settings[1]:
        raise MismatchError(
            "the models have different columns, targets, metrics or feature weights",
            hint="fit both with the same settings", differs="settings",
        )  # fmt: skip
