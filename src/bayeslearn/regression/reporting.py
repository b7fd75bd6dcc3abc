"""What regression models show: reports, plain values and frames."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from bayeslearn.fit_info import plain
from bayeslearn.regression import diagnostics
from bayeslearn.reports import Grid, Pairs, Report
from bayeslearn.tables.frames import frame_of

if TYPE_CHECKING:
    from bayeslearn.regression.classification_model import ClassificationModel
    from bayeslearn.regression.diagnostics import Coefficient
    from bayeslearn.regression.local.model import LocalRegressionModel
    from bayeslearn.regression.regression_model import RegressionModel
    from bayeslearn.tables.frames import Backend

#: Coefficients that a report shows, the largest effects first.
MAX_COEFFICIENTS = 30


def coefficients(model: Any, level: float = 0.95) -> list[Coefficient]:
    """The coefficients of a model, those with the largest effects first; none of radial units."""
    if model.basis is not None:
        return []
    of = diagnostics.class_coefficients if hasattr(model, "classes") else diagnostics.coefficients_of
    return diagnostics.largest_first(of(model, level))


def coefficient_grid(found: list[Coefficient], level: float) -> Grid | None:
    """Coefficients with their intervals; a column names the target where there are several."""
    if not found:
        return None
    outputs = list(dict.fromkeys(w.output for w in found))
    each = max(MAX_COEFFICIENTS // len(outputs), 2)
    shown = [w for name in outputs for w in [w for w in found if w.output == name][:each]]
    rest = len(found) - len(shown)
    several = len(outputs) > 1
    head = [*(["Target"] if several else []), "Feature", "Mean", *(f"{side} {level:.4g}" for side in ("Low", "High"))]
    rows = [[*([w.output] if several else []), w.name, w.mean, w.low, w.high] for w in shown]
    title = "Coefficients, largest effects first" + (f" ({len(shown)} of {len(shown) + rest})" if rest else "")
    return Grid(head, rows, title, max_rows=len(rows))


def coefficient_frame(model: Any, level: float, backend: Backend) -> Any:
    """A data frame with a row for each coefficient."""
    rows = [asdict(w) for w in coefficients(model, level)]
    names = ("output", "name", "mean", "low", "high", "effect")
    columns = {name: [row[name] for row in rows] for name in names}
    return frame_of({"target": columns.pop("output"), **columns}, backend)


### models


def regression_report(model: RegressionModel) -> Report:
    """The size of a regression model and its coefficients."""
    noise = dict(zip(model.targets, model.fit.noise.tolist(), strict=True))
    what = "Linear regression" if model.basis is None else "Radial basis function network"
    units = {} if model.basis is None else {"Radial units": model.basis.size}
    return Report(
        f"{what} of {', '.join(model.targets)}",
        Pairs({
            "Rows": model.total_weight, "Features": model.features.size, **units,
            **{noise_name(name, model.targets): value for name, value in noise.items()},
        }),
        coefficient_grid(coefficients(model), 0.95),
    )  # fmt: skip


def noise_name(name: str, targets: tuple[str, ...]) -> str:
    """The name of the standard deviation of the noise of a target."""
    return "Noise (standard deviation)" if len(targets) == 1 else f"Noise of {name} (standard deviation)"


def plain_regression(model: RegressionModel) -> dict[str, Any]:
    """Targets, features and coefficients as plain values."""
    noise = dict(zip(model.targets, model.fit.noise.tolist(), strict=True))
    return plain({
        "targets": model.targets, "features": model.feature_names, "total_weight": model.total_weight,
        "units": None if model.basis is None else model.basis.size, "noise": noise,
        "coefficients": [asdict(w) for w in coefficients(model)],
    })  # fmt: skip


def classification_report(model: ClassificationModel) -> Report:
    """The size of a classifier and its coefficients."""
    what = "Logistic regression" if model.basis is None else "Radial basis function network"
    units = {} if model.basis is None else {"Radial units": model.basis.size}
    return Report(
        f"{what} of {model.target}",
        Pairs({"Rows": model.total_weight, "Classes": list(model.classes), "Features": model.features.size, **units}),
        coefficient_grid(coefficients(model), 0.95),
    )


def plain_classification(model: ClassificationModel) -> dict[str, Any]:
    """Target, classes, features and coefficients as plain values."""
    return plain({
        "target": model.target, "classes": model.classes, "features": model.feature_names,
        "total_weight": model.total_weight, "units": None if model.basis is None else model.basis.size,
        "coefficients": [asdict(w) for w in coefficients(model)],
    })  # fmt: skip


### local models


def local_report(model: LocalRegressionModel) -> Report:
    """The settings of a local regression."""
    size = {"Rows": len(model.rows), "Features": list(model.features.names)}
    return Report(f"Local regression of {', '.join(model.targets)}", Pairs(size | settings(model)))


def settings(model: LocalRegressionModel) -> dict[str, Any]:
    """How the fits of a local regression are made."""
    found = asdict(model.settings)
    names = {"n_neighbors": "Neighbors"}
    return {names.get(name, name.capitalize()): value for name, value in found.items() if value is not None}


def plain_local(model: LocalRegressionModel) -> dict[str, Any]:
    """Targets, features and settings as plain values."""
    return plain({
        "targets": model.targets, "features": model.features.names, "n_rows": len(model.rows),
        "settings": asdict(model.settings),
    })  # fmt: skip


def local_frame(model: LocalRegressionModel, backend: Backend) -> Any:
    """The training rows as points, with their targets and weights."""
    outputs = model.outputs.reshape(len(model.rows), -1)
    columns = dict(zip(model.features.names, model.rows.T, strict=True))
    columns |= dict(zip(model.targets, outputs.T, strict=True))
    if (model.sample_weight != 1).any():
        columns["sample_weight"] = model.sample_weight
    return frame_of(columns, backend)
