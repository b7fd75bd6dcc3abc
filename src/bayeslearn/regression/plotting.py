"""Plots of regression models: the curve over one numeric column, or predicted against observed values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.errors import EvidenceError, ParameterError
from bayeslearn.printable import plot_label
from bayeslearn.regression.classification_model import ClassificationModel
from bayeslearn.regression.diagnostics import INTERCEPT, coefficients
from bayeslearn.regression.targets import Examples, examples
from bayeslearn.tables import as_table

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from bayeslearn.regression.diagnostics import Coefficient
    from bayeslearn.regression.feature_encoding import Features

    Floats = NDArray[np.float64]

#: Points on a curve, and the largest number of rows that are drawn.
POINTS, MOST_ROWS = 300, 5000
#: Coefficients that are drawn.
MOST_BARS = 40


def answers_of(model: Any, level: float) -> Callable[[Any], tuple[Floats, Floats, Floats]]:
    """Mean, low and high of the first target (of classes: the probability of the last) at any rows."""

    def at(rows: Any) -> tuple[Floats, Floats, Floats]:
        if isinstance(model, ClassificationModel):
            low, high = model.predict_interval(rows, level)
            return model.predict_proba(rows)[:, -1], low[:, -1], high[:, -1]
        mean = model.predict(rows)
        try:
            low, high = model.predict_interval(rows, level)
        except EvidenceError:  # too few rows
            low = high = np.full(mean.shape, np.nan)
        mean, low, high = (np.reshape(a, (len(mean), -1))[:, 0] for a in (mean, low, high))
        return mean, low, high

    return at


def paint(axes: Any, model: Any, rows: Examples, level: float = 0.95) -> None:
    """The function over its only numeric column, with its interval; else predicted against observed values."""
    features: Features = model.features
    at, name = answers_of(model, level), rows.names[0]
    y = observed(model, rows)
    shown = np.flatnonzero(~np.isnan(y))[:MOST_ROWS]
    numeric = len(features.schema) == 1 and len(features.schema.numeric) == 1
    table = features.table(rows.inputs)
    label = f"P({name}={model.classes[-1]})" if isinstance(model, ClassificationModel) else name
    if numeric:
        column = features.schema.names[0]
        x = table.values_of(column)
        axes.plot(x[shown], y[shown], ".", color="black", markersize=4)
        over = np.linspace(np.nanmin(x), np.nanmax(x), POINTS)
        mean, low, high = at({column: over})
        axes.plot(over, mean)
        axes.fill_between(over, low, high, alpha=0.2, label=f"{100 * level:g} % interval")
        axes.set(xlabel=plot_label(column), ylabel=plot_label(label))
        axes.legend(frameon=False)
        return
    mean, low, high = at(table.take(shown))
    axes.errorbar(mean, y[shown], xerr=[mean - low, high - mean], fmt=".", elinewidth=0.4, markersize=4)
    if not isinstance(model, ClassificationModel):
        ends = [float(np.nanmin(y[shown])), float(np.nanmax(y[shown]))]
        axes.plot(ends, ends, color="gray", linewidth=0.8)
    observed_name = f"Observed {name}" if not isinstance(model, ClassificationModel) else f"Observed {label[2:-1]}"
    axes.set(xlabel=plot_label(f"Predicted {label}, {100 * level:g} % interval", 60), ylabel=plot_label(observed_name))


def coefficients_of(model: Any, level: float) -> list[Coefficient]:
    """The coefficients of a linear or logistic model, the largest effects first; none of other models."""
    if getattr(model, "basis", True) is not None:
        return []
    return [w for w in coefficients(model, level) if w.name != INTERCEPT][:MOST_BARS]


def paint_coefficients(axes: Any, model: Any, found: list[Coefficient], level: float) -> None:
    """A point with its interval for each coefficient."""
    several = len({w.output for w in found}) > 1
    labels = [plot_label(f"{w.name} ({w.output})" if several else w.name) for w in found]
    mean, low, high = (np.array([getattr(w, name) for w in found]) for name in ("mean", "low", "high"))
    axes.errorbar(mean, range(len(found)), xerr=[mean - low, high - mean], fmt="o", capsize=3)
    axes.axvline(0.0, color="gray", linewidth=0.8)
    axes.set_yticks(range(len(found)), labels)
    axes.invert_yaxis()
    what = "Log odds per unit" if isinstance(model, ClassificationModel) else "Change of the target per unit"
    axes.set(xlabel=f"{what}, {100 * level:g} % interval")
    axes.set_title("Coefficients, largest effects first")


def observed(model: Any, rows: Examples) -> Floats:
    """The first target, or 1 where a row is of the last class."""
    if not isinstance(model, ClassificationModel):
        return rows.targets[:, 0]
    last = model.classes[-1]
    return np.array([np.nan if label is None else float(label == last) for label in rows.targets.tolist()])


def examples_of(model: Any, data: Any, target: Any) -> Examples:
    """The rows that are drawn, with their targets."""
    if isinstance(data, Examples):
        return data
    if data is None:
        if not hasattr(model, "rows"):
            raise ParameterError("the model does not keep its rows", hint="give the rows to draw: plot(data)")
        if model.features.schema.discrete:
            raise ParameterError(
                "training rows with categorical columns cannot be drawn", hint="give the rows to draw: plot(data)"
            )
        columns = dict(zip(model.features.schema.names, model.rows.T, strict=True))
        return Examples(as_table(columns, schema=model.features.schema), model.outputs.reshape(len(model.rows), -1),
                        model.targets)  # fmt: skip
    if isinstance(model, ClassificationModel):
        return examples(data, model.target if target is None else target, classes=True)
    names = model.targets if target is None else target
    return examples(data, names[0] if len(model.targets) == 1 and isinstance(names, tuple) else names)
