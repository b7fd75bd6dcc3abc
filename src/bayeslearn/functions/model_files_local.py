"""Local regressions as files: the rows themselves, how they are fitted, and the names of the outputs.

    {"features": {...}, "outputs": [...], "rows": [[...]], "targets": [[...]], "weights": [...], "settings": {...},
     "standardise": ..., "noise_cases": ...}

A missing cell is null. What leave-one-out chose is written as chosen.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import model_files
from bayeslearn.functions.features import Features
from bayeslearn.functions.local.model import LocalModel
from bayeslearn.functions.local.settings import Settings

if TYPE_CHECKING:
    import os

    from bayeslearn.model_files import Reader

LOCAL = "bayeslearn local regression"

SETTINGS: dict[str, Any] = {
    "degree": int, "criterion": str, "kernel": str, "k": (int, type(None)),
    "bandwidth": (int, float, type(None)), "ridge": (int, float),
}  # fmt: skip


def write(model: LocalModel, outputs: tuple[str, ...], path: str | os.PathLike[str]) -> None:
    """Write a model to a .json or .json.gz file, all or nothing."""
    rows = model.rows.astype(object)
    rows[np.isnan(model.rows)] = None
    model_files.write(path, LOCAL, {
        "features": model.features.to_dict(),
        "outputs": list(outputs),
        "rows": rows.tolist(),
        "targets": model.outputs.reshape(len(model.rows), -1).tolist(),
        "weights": model.weights.tolist(),
        "settings": asdict(model.settings),
        "standardise": model.standardise,
        "noise_cases": model.noise_cases,
    })  # fmt: skip


def read(path: str | os.PathLike[str]) -> tuple[LocalModel, tuple[str, ...]]:
    """The model of a file and the names of its outputs, checked in full."""
    return model_files.read(path, LOCAL, model_of)


def model_of(reader: Reader, document: dict[str, Any]) -> tuple[LocalModel, tuple[str, ...]]:
    """The whole document."""
    keys: dict[str, Any] = {
        "features": dict, "outputs": list, "rows": list, "targets": list, "weights": list, "settings": dict,
        "standardise": bool, "noise_cases": (int, float),
    }  # fmt: skip
    entry, outputs, rows, targets, weights, settings, standardise, noise = reader.entries(document, keys, "a model")
    features = Features.from_dict(entry)
    if not outputs or not all(isinstance(name, str) for name in outputs):
        reader.wrong(f"{outputs!r:.60} are no names of outputs")
    reader.entries(settings, SETTINGS, "settings")
    x, y, w = points(reader, rows), reader.numbers(targets, "targets"), reader.numbers(weights, "weights")
    n = len(x)
    if not n or x.shape != (n, features.size) or y.shape != (n, len(outputs)) or w.shape != (n,):
        reader.wrong(f"rows {x.shape}, targets {y.shape} and weights {w.shape} do not fit each other")
    if (w < 0).any() or noise < 0:
        reader.wrong("a weight is below zero")
    flat = y[:, 0] if len(outputs) == 1 else y
    model = LocalModel(features, x, flat, w, Settings(**settings), frozenset(), standardise, float(noise))
    return model, tuple(outputs)


def points(reader: Reader, rows: list[Any]) -> Any:
    """Rows of numbers, null where a cell is missing."""
    if not all(isinstance(row, list) and len(row) == len(rows[0]) for row in rows):
        reader.wrong("the rows are of different lengths")
    holes = np.array([[cell is None for cell in row] for row in rows], dtype=bool).reshape(len(rows), -1)
    x = reader.numbers([[0.0 if cell is None else cell for cell in row] for row in rows], "rows")
    return np.where(holes, np.nan, x)
