"""Regressions and classifications as files; see :mod:`bayeslearn.model_files`.

{"features": {...}, "basis": {"centres", "widths"} or null, "outputs": [...], "prior": {...}, "statistics": {...}}
{"features": {...}, "basis": ..., "target": ..., "classes": [...], "weights": [[...]], "precision": [[...]],
"prior": {"mean", "precision"}, "log_likelihood": ..., "iterations": ..., "cases": ..., "separated": ...}
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import model_files
from bayeslearn.errors import FormatError
from bayeslearn.families import JointMoments, RegressionPrior
from bayeslearn.functions.classification import Classification
from bayeslearn.functions.features import Features
from bayeslearn.functions.linear import LinearFit
from bayeslearn.functions.radial import RadialBasis
from bayeslearn.functions.regression import Regression
from bayeslearn.functions.sigmoid import SigmoidFit
from bayeslearn.functions.sigmoid_climbing import NormalPrior
from bayeslearn.model_files import plain
from bayeslearn.tables import Discrete

if TYPE_CHECKING:
    import os

    from bayeslearn.model_files import Reader

REGRESSION, CLASSIFICATION = "bayeslearn regression", "bayeslearn classification"

### writing


def write(model: Regression | Classification, path: str | os.PathLike[str]) -> None:
    """Write a model to a .json or .json.gz file, all or nothing."""
    shared = {
        "features": model.features.to_dict(),
        "basis": None if model.basis is None else plain(model.basis),
    }
    if isinstance(model, Regression):
        parts = {
            "outputs": list(model.outputs),
            "prior": plain(model.fit.prior),
            "statistics": plain(model.fit.statistics),
            **model_files.plain_lineage(model.fit.lineage),
        }
        model_files.write(path, REGRESSION, shared | parts)
    else:
        model_files.write(path, CLASSIFICATION, shared | classification_parts(model))


def classification_parts(model: Classification) -> dict[str, Any]:
    """What a classification is besides its features."""
    fit = model.fit
    return {
        "target": model.target,
        "classes": Discrete(model.target, model.classes).to_dict()["states"],
        "weights": fit.weights.tolist(),
        "precision": fit.precision.tolist(),
        "prior": plain(fit.prior),
        "log_likelihood": fit.log_likelihood,
        "iterations": fit.iterations,
        "cases": fit.cases,
        "separated": fit.separated,
    }


### reading


def read(path: str | os.PathLike[str]) -> Regression | Classification:
    """The model of a file, whichever it is."""
    try:
        return read_regression(path)
    except FormatError as error:
        if f'"format": {REGRESSION!r}' not in error.message:
            raise
    return read_classification(path)


def read_regression(path: str | os.PathLike[str]) -> Regression:
    """The regression of a file, checked in full."""
    return model_files.read(path, REGRESSION, regression_of)


def read_classification(path: str | os.PathLike[str]) -> Classification:
    """The classification of a file, checked in full."""
    return model_files.read(path, CLASSIFICATION, classification_of)


def regression_of(reader: Reader, document: dict[str, Any]) -> Regression:
    """The whole document."""
    keys: dict[str, Any] = {
        "features": dict, "basis": (dict, type(None)), "outputs": list, "prior": dict, "statistics": dict,
    }  # fmt: skip
    own = {key: value for key, value in document.items() if key not in {"lineage", "bases"}}
    entry, units, outputs, prior, statistics = reader.entries(own, keys, "a model")
    features, basis = features_of(reader, entry, units)
    if not outputs or not all(isinstance(name, str) for name in outputs):
        reader.wrong(f"{outputs!r:.60} are no names of outputs")
    d, m = (features.size if basis is None else basis.size), len(outputs)
    z = d + m
    found = moments_of(reader, statistics, z)
    shapes = {"kappa": (m,), "centre": (m, d + 1), "scatter": (m, d + 1, d + 1), "alpha": (m,)}
    parts = reader.entries(prior, dict.fromkeys(shapes, list), "a prior")
    arrays = {name: reader.numbers(part, name) for name, part in zip(shapes, parts, strict=True)}
    if any(array.shape != shapes[name] for name, array in arrays.items()):
        reader.wrong("the prior does not fit the inputs and outputs")
    fit = LinearFit(RegressionPrior(**arrays), found, d, reader.lineage(document, found))
    return Regression(features, tuple(outputs), fit, basis)


def moments_of(reader: Reader, entry: Any, wide: int) -> JointMoments:
    """Moments of so many columns."""
    parts = reader.entries(entry, {"n": (int, float), "mean": list, "scatter": list}, "statistics")
    n, mean, scatter = (reader.numbers(part, "statistics") for part in parts)
    if n < 0 or mean.shape != (wide,) or scatter.shape != (wide, wide):
        reader.wrong(f"expected the moments of {wide} columns, found {mean.shape} and {scatter.shape}")
    if not np.allclose(scatter, scatter.T) or (np.diagonal(scatter) < 0).any():
        reader.wrong("the scatter of the statistics is none")
    return JointMoments(n, mean, scatter)


def classification_of(reader: Reader, document: dict[str, Any]) -> Classification:
    """The whole document."""
    keys: dict[str, Any] = {
        "features": dict, "basis": (dict, type(None)), "target": str, "classes": list, "weights": list,
        "precision": list, "prior": dict, "log_likelihood": (int, float), "iterations": int, "cases": (int, float),
        "separated": bool,
    }  # fmt: skip
    entry, units, target, classes, weights, precision, prior, value, steps, cases, separated = reader.entries(
        document, keys, "a model"
    )
    features, basis = features_of(reader, entry, units)
    known = Discrete(target, tuple(classes)).states
    w, H = reader.numbers(weights, "weights"), reader.numbers(precision, "precision")
    size = (len(known) if len(known) > 2 else 1, 1 + (features.size if basis is None else basis.size))
    wide = size[0] * size[1]
    parts = reader.entries(prior, {"mean": list, "precision": list}, "a prior")
    mean, P = (reader.numbers(part, name) for part, name in zip(parts, ("mean", "precision"), strict=True))
    if w.shape != size or H.shape != (wide, wide) or mean.shape != (wide,) or P.shape != (wide, wide) or cases < 0:
        reader.wrong("the weights do not fit the inputs and classes")
    if not (np.allclose(H, H.T) and np.allclose(P, P.T)):
        reader.wrong("a precision is not symmetric")
    fit = SigmoidFit(w, H, NormalPrior(mean, P), float(value), steps, float(cases), separated)
    return Classification(features, target, known, fit, basis)


def features_of(reader: Reader, entry: Any, units: Any) -> tuple[Features, RadialBasis | None]:
    """The encoding and the radial units, if there are any."""
    features = Features.from_dict(entry)
    if units is None:
        return features, None
    centres, widths = reader.entries(units, {"centres": list, "widths": list}, "radial units")
    basis = RadialBasis(reader.numbers(centres, "centres"), reader.numbers(widths, "widths"))
    if basis.centres.shape[1] != features.size:
        reader.wrong(f"the radial units have {basis.centres.shape[1]} coordinates, and the features {features.size}")
    return features, basis
