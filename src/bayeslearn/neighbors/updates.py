"""Models of nearest neighbors with more rows, fewer rows, and the rows of several models."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.distributions import row_lineage
from bayeslearn.errors import EmptyTableError, MismatchError
from bayeslearn.neighbors import inputs
from bayeslearn.neighbors.distances import Distance

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.distributions.row_lineage import RowLineage
    from bayeslearn.neighbors.model import NeighborsModel
    from bayeslearn.tables import Table, Variable

    Floats = NDArray[np.float64]
    Rows = NDArray[np.int64]


def with_rows(model: NeighborsModel, data: Any, target: Any, sample_weight: Any) -> NeighborsModel:
    """The model with more rows."""
    table, variable, found = read(model, data, target, sample_weight)
    lineage = row_lineage.extended(
        lineage_of(model), [table.codes, table.values, found, table.sample_weight], len(table)
    )
    return joined(model, table, variable, found, lineage)


def without_rows(model: NeighborsModel, data: Any, target: Any, sample_weight: Any) -> NeighborsModel:
    """The model without some of its rows."""
    table, _, found = read(model, data, target, sample_weight)
    left = inputs.remaining(inputs.joined(model.examples, table), np.concatenate([model.targets, found]), len(model))
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
    variable, found = inputs.recoded_targets(one.target, other.target, other.targets[theirs])
    return joined(kept, other.examples.take(theirs), variable, found, lineage)


def read(model: NeighborsModel, data: Any, target: Any, sample_weight: Any) -> tuple[Table, Variable, NDArray[Any]]:
    """Rows that are added or removed, by the columns of the model."""
    name = model.target.name if target is None else target
    if not isinstance(name, str):
        table = inputs.more(model.examples.schema, data, sample_weight)
        return table, *inputs.read_targets(name, model.target.name, like=model.target)
    return inputs.more_labeled(model.examples.schema, model.target, data, name, sample_weight)


def joined(
    model: NeighborsModel, table: Table, variable: Variable, targets: Any, lineage: RowLineage
) -> NeighborsModel:
    """The model with more rows, and the distance of all."""
    rows = inputs.joined(model.examples, table) if len(table) else model.examples
    distance = Distance.learn(rows, model.distance.metric, model.distance.feature_weights)
    both = np.concatenate([model.targets, targets])
    return replace(model, examples=rows, target=variable, targets=both, distance=distance, lineage=lineage)


def with_weights(model: NeighborsModel, sample_weight: Floats, rows: Rows) -> NeighborsModel:
    """The model of some of its rows with these weights."""
    table = model.examples.take(rows).with_weights(None if (sample_weight == 1).all() else sample_weight)
    distance = Distance.learn(table, model.distance.metric, model.distance.feature_weights)
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
