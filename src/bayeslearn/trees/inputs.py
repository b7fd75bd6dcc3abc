"""New rows by the columns of a forest, their targets, and what they add to its statistics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import DataError, ShapeError, listed
from bayeslearn.neighbors.inputs import is_numbers, of_numbers, targets_of
from bayeslearn.tables import as_table
from bayeslearn.trees.prunings import ClassLeaves, NumberLeaves

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.tables import Schema, Table
    from bayeslearn.trees.model import BayesianForestModel

    Floats = NDArray[np.float64]

__all__ = ["collected", "more_rows", "new_rows", "targets_of"]


def new_rows(schema: Schema, data: Any, sample_weight: Any = None) -> Table:
    """Rows by the columns of the training rows; states that these do not have are missing."""
    plain = isinstance(data, np.ndarray) and data.dtype.names is None
    if plain and data.shape[1:] != (len(schema),):
        expected = f"expected rows of {len(schema)} columns ({listed(schema.names)})"
        raise ShapeError(f"{expected}, got an array of shape {data.shape}")
    if is_numbers(data) and not schema.discrete:
        return of_numbers(data, schema, sample_weight)
    rows = {name: data[:, j] for j, name in enumerate(schema.names)} if plain else data
    return as_table(rows, schema=schema, handle_unknown="missing", sample_weight=sample_weight)


def more_rows(
    model: BayesianForestModel, data: Any, target: Any, sample_weight: Any
) -> tuple[Table, NDArray[Any], Floats]:
    """Rows that are added or removed: those with a target, the targets, and the weights."""
    rows = new_rows(model.schema, data, sample_weight)
    truth = targets_of(data, model.target.name if target is None else target, model.target)
    if len(truth) != len(rows):
        raise ShapeError(f"expected a target for each of {len(rows)} rows, got {len(truth)}")
    w = np.ones(len(rows)) if rows.sample_weight is None else np.asarray(rows.sample_weight)
    if model.is_classifier and (truth >= len(model.classes)).any():
        row = validation.first_position(truth >= len(model.classes))
        raise DataError(
            f"row {row} has a class of {model.target.name!r} that the forest does not know",
            hint=f"its classes are {listed(model.classes)}; fit a forest to the rows of all classes",
        )
    known = truth >= 0 if model.is_classifier else ~np.isnan(truth)
    if not known.all():
        there = np.flatnonzero(known)
        rows, truth, w = rows.take(there), truth[there], w[there]
    return rows, truth, w


def collected(model: BayesianForestModel, codes: NDArray[np.uint8], truth: NDArray[Any], weights: Floats) -> Any:
    """The statistics of the leaves that rows end at."""
    trees, n = model.trees, len(model.trees.leaf_nodes)
    leaves = trees.leaf_numbers[trees.leaves(codes)]
    y, w = np.tile(truth, len(trees)), np.tile(weights, len(trees))
    if model.is_classifier:
        return ClassLeaves.collect(leaves.ravel(), y, w, n, len(model.classes))
    return NumberLeaves.collect(leaves.ravel(), y, w, n)
