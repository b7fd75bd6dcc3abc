"""Models as files; see :mod:`bayeslearn.model_files`. Examples are kept whole, and the distance is learned from them.

    {"target": {"variable", "said"}, "columns": [{"variable", "weight", "cells"}, ...], "cases": [...] or null,
     "metric", "k", "weighting", "prior", "index"}

Cells are codes of states or numbers, null where they are missing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import model_files
from bayeslearn.errors import ParameterError
from bayeslearn.neighbours.distances import Distance
from bayeslearn.neighbours.model import Neighbours
from bayeslearn.tables import Discrete, Schema, Table
from bayeslearn.tables.variables import variable_from_dict

if TYPE_CHECKING:
    import os

    from numpy.typing import NDArray

    from bayeslearn.model_files import Reader

LABEL = "bayeslearn neighbours"


def write(model: Neighbours, path: str | os.PathLike[str]) -> None:
    """Write a model to a .json or .json.gz file, all or nothing."""
    if callable(model.weighting):
        raise ParameterError("a function cannot be written to a file", hint="name the weighting, or give none")
    model_files.write(path, LABEL, parts_of(model))


def parts_of(model: Neighbours) -> dict[str, Any]:
    """The model as plain values."""
    told, table = model.distance.attribute_weights, model.examples
    number = isinstance(model.prior, int | float)
    return {
        "metric": model.distance.metric,
        "k": model.k,
        "weighting": model.weighting,
        "prior": float(model.prior) if number else model_files.plain_prior(model.prior),
        "index": model.index,
        "target": {"variable": model.target.to_dict(), "said": model.said.tolist()},  # type: ignore[attr-defined]
        "columns": [
            {"variable": v.to_dict(), "weight": told[v.name], "cells": cells(table, v)}  # type: ignore[attr-defined]
            for v in table.schema
        ],
        "cases": None if table.weights is None else table.weights.tolist(),
    }


def cells(table: Table, variable: Any) -> list[Any]:
    """A column, with None where it is missing."""
    if isinstance(variable, Discrete):
        return [None if code < 0 else code for code in table.code(variable.name).tolist()]
    return [None if x != x else x for x in table.value(variable.name).tolist()]  # noqa: PLR0124 - NaN


def read(path: str | os.PathLike[str]) -> Neighbours:
    """The model of a file, checked in full."""
    return model_files.read(path, LABEL, model_of)


def model_of(reader: Reader, document: dict[str, Any]) -> Neighbours:
    """The whole document."""
    keys: dict[str, Any] = {
        "metric": str, "k": (int, type(None)), "weighting": str, "prior": (int, float, dict), "index": str,
        "target": dict, "columns": list, "cases": (list, type(None)),
    }  # fmt: skip
    metric, k, weighting, prior, index, target, columns, cases = reader.entries(document, keys, "a model")
    variable, said = reader.entries(target, {"variable": dict, "said": list}, "the target")
    entries = [
        reader.entries(c, {"variable": dict, "weight": (int, float), "cells": list}, "a column") for c in columns
    ]
    schema = Schema(variable_from_dict(entry) for entry, _, _ in entries)
    found = {v.name: column(reader, v, entry[2], len(said)) for v, entry in zip(schema, entries, strict=True)}
    codes = np.array([found[v.name] for v in schema.discrete], np.int64).reshape(len(schema.discrete), len(said))
    values = np.array([found[v.name] for v in schema.numeric]).reshape(len(schema.numeric), len(said))
    table = Table(schema, codes, values, None if cases is None else reader.numbers(cases, "cases"))
    what: Any = variable_from_dict(variable)
    told = {v.name: entry[1] for v, entry in zip(schema, entries, strict=True)}
    return Neighbours(
        table, what, column(reader, what, said, len(said)), Distance.learn(table, metric, told), k, weighting,
        reader.prior(prior, of="a target") if isinstance(prior, dict) else prior, index,
    )  # fmt: skip


def column(reader: Reader, variable: Any, entry: list[Any], n: int) -> NDArray[Any]:
    """Codes or numbers of one column."""
    if len(entry) != n:
        reader.wrong(f"column {variable.name!r} has {len(entry)} cells, and there are {n} examples")
    discrete = isinstance(variable, Discrete)
    x = reader.numbers([(-1 if discrete else 0.0) if cell is None else cell for cell in entry], variable.name)
    if x.ndim != 1:
        reader.wrong(f"the cells of column {variable.name!r} are not numbers")
    if not discrete:
        return np.where([cell is None for cell in entry], np.nan, x)
    if (x != np.round(x)).any() or (x < -1).any() or (x >= variable.size).any():
        reader.wrong(f"the codes of column {variable.name!r} must be whole numbers below {variable.size}")
    return x.astype(np.int64)
