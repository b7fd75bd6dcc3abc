"""Models of nearest neighbors as documents: settings, and columns with their cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.codec import upgrade
from bayeslearn.errors import ParameterError
from bayeslearn.model_values import ARRAY, NUMBER, plain_prior
from bayeslearn.neighbors.distances import Distance
from bayeslearn.tables import DiscreteVariable, Schema, Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.model_values import Reader
    from bayeslearn.neighbors.model import NeighborsModel


def to_document(model: NeighborsModel) -> dict[str, Any]:
    """The model as plain values and arrays.

    {"metric", "n_neighbors", "weights", "prior", "algorithm", "target": {"variable", "cells"},
     "columns": [{"variable", "weight", "cells"}, ...], "sample_weight": weights of the rows, or null,
     "lineage"?: {"names", "bases", "rows"}}

    Cells are codes of states or numbers, null where they are missing.
    """
    if callable(model.weights):
        raise ParameterError("a function cannot be written to a file", hint="use weights that have a name")
    feature_weights, table = model.distance.feature_weights, model.examples
    number = isinstance(model.prior, int | float)
    document = {
        "metric": model.distance.metric,
        "n_neighbors": model.n_neighbors,
        "weights": model.weights,
        "prior": float(model.prior) if number else plain_prior(model.prior),
        "algorithm": model.algorithm,
        "target": {"variable": model.target.to_dict(), "cells": model.targets},  # type: ignore[attr-defined]
        "columns": [
            {"variable": v.to_dict(), "weight": feature_weights[v.name], "cells": plain_cells(table, v)}  # type: ignore[attr-defined]
            for v in table.schema
        ],
        "sample_weight": table.sample_weight,
    }
    return document if model.lineage is None else document | {"lineage": model.lineage.to_dict()}


def from_document(reader: Reader, document: dict[str, Any]) -> tuple[Any, ...]:
    """The fields of the model of a document, all of which is checked."""
    keys: dict[str, Any] = {
        "metric": str, "n_neighbors": (int, type(None)), "weights": str, "prior": (*NUMBER, dict), "algorithm": str,
        "target": dict, "columns": [dict], "sample_weight": (*ARRAY, type(None)),
    }  # fmt: skip
    metric, n_neighbors, weights, prior, algorithm, target, columns, sample_weight = reader.model(document, keys)
    variable, given = reader.entries(target, {"variable": dict, "cells": ARRAY}, "the target")
    cells: dict[str, Any] = {"variable": dict, "weight": NUMBER, "cells": ARRAY}
    entries = [reader.entries(column, cells, "a column") for column in columns]
    what: Any = reader.variable(variable)
    targets = read_cells(reader, what, given, None)
    n = len(targets)
    schema = Schema(reader.variable(entry) for entry, _, _ in entries)
    found = {v.name: read_cells(reader, v, entry[2], n) for v, entry in zip(schema, entries, strict=True)}
    codes = np.array([found[v.name] for v in schema.discrete], np.int64).reshape(len(schema.discrete), n)
    values = np.array([found[v.name] for v in schema.numeric]).reshape(len(schema.numeric), n)
    w = None if sample_weight is None else reader.numbers(sample_weight, "sample_weight")
    table = Table(schema, codes, values, w)
    distance = Distance.learn(table, metric, {v.name: e[1] for v, e in zip(schema, entries, strict=True)})
    read_prior = reader.prior(prior, of="a target") if isinstance(prior, dict) else prior
    lineage = reader.row_lineage(document, n)
    return table, what, targets, distance, n_neighbors, weights, read_prior, algorithm, lineage


def plain_cells(table: Table, variable: Any) -> NDArray[Any]:
    """A column, masked where it is missing."""
    if isinstance(variable, DiscreteVariable):
        return np.ma.masked_less(table.codes_of(variable.name), 0)
    return np.ma.masked_invalid(table.values_of(variable.name))


def read_cells(reader: Reader, variable: Any, entry: Any, n: int | None) -> NDArray[Any]:
    """Codes or numbers of one column, as many as there are rows."""
    x = reader.array(entry, variable.name, missing=True)
    if x.ndim != 1:
        reader.wrong(f"the cells of column {variable.name!r} are not numbers")
    if n is not None and len(x) != n:
        reader.wrong(f"column {variable.name!r} has {len(x)} cells, and there are {n} rows")
    if not isinstance(variable, DiscreteVariable):
        return x.astype(np.float64)
    codes = np.where(np.isnan(x), -1, x)
    if (codes != np.round(codes)).any() or (codes < -1).any() or (codes >= variable.size).any():
        reader.wrong(f"the codes of column {variable.name!r} must be whole numbers below {variable.size}")
    return codes.astype(np.int64)


### files of earlier versions


@upgrade("neighbors", 1)
def with_underscore(_reader: Reader, parts: dict[str, Any]) -> dict[str, Any]:
    """Name the weights as version 2 does."""
    return parts | {"weighting": "inverse_square"} if parts.get("weighting") == "inverse-square" else parts


#: Keys as versions 1 and 2 named them.
RENAMED = {"k": "n_neighbors", "weighting": "weights", "index": "algorithm", "cases": "sample_weight"}


@upgrade("neighbors", 2)
def with_full_names(_reader: Reader, parts: dict[str, Any]) -> dict[str, Any]:
    """Name settings as parameters are named, and the index by its algorithm."""
    named = {RENAMED.get(key, key): value for key, value in parts.items()}
    if named.get("algorithm") == "tree":
        named["algorithm"] = "kd_tree"
    target = named.get("target")
    if isinstance(target, dict):
        named["target"] = {"cells" if key == "said" else key: value for key, value in target.items()}
    return named
