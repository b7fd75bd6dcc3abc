"""Learned functions on matplotlib axes: the curve of one column of numbers, or what was said against what was so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.regression.classification_model import ClassificationModel
from bayeslearn.regression.regression_model import RegressionModel

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from bayeslearn.regression.feature_encoding import Features
    from bayeslearn.regression.targets import Examples

    Floats = NDArray[np.float64]

#: Points on a curve, and rows that are drawn at most.
POINTS, MOST_ROWS = 300, 5000


def answers_of(model: Any, level: float) -> Callable[[Any], tuple[Floats, Floats, Floats]]:
    """Mean, low and high of the first output (of classes: the probability of the last) at any rows."""

    def at(rows: Any) -> tuple[Floats, Floats, Floats]:
        if isinstance(model, RegressionModel):
            found = model.predicted(rows, level=level)
            assert found.low is not None
            assert found.high is not None
            return found.mean[:, 0], found.low[:, 0], found.high[:, 0]
        if isinstance(model, ClassificationModel):
            low, high = model.interval(rows, level)
            return model.predict_proba(rows)[:, -1], low[:, -1], high[:, -1]
        fit = model.at(rows)
        mean, low, high = (np.asarray(a).reshape(len(fit), -1)[:, 0] for a in (fit.mean, *fit.interval(level)))
        return mean, low, high

    return at


def paint(axes: Any, model: Any, rows: Examples, level: float = 0.95) -> None:
    """The function over its only column, with its interval; or rows as predicted against what they are."""
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
        axes.fill_between(over, low, high, alpha=0.2, label=f"{100 * level:g} %")
        axes.set(xlabel=column, ylabel=label)
        axes.legend(frameon=False)
        return
    mean, low, high = at(table.take(shown))
    axes.errorbar(mean, y[shown], xerr=[mean - low, high - mean], fmt=".", elinewidth=0.4, markersize=4)
    if not isinstance(model, ClassificationModel):
        ends = [float(np.nanmin(y[shown])), float(np.nanmax(y[shown]))]
        axes.plot(ends, ends, color="gray", linewidth=0.8)
    axes.set(xlabel=f"{label}, predicted, {100 * level:g} %", ylabel=name)


def observed(model: Any, rows: Examples) -> Floats:
    """What was seen: the first output, or 1 where a row is of the last class."""
    if not isinstance(model, ClassificationModel):
        return rows.targets[:, 0]
    last = model.classes[-1]
    return np.array([np.nan if label is None else float(label == last) for label in rows.targets.tolist()])
