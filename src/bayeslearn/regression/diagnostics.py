"""What regression models show: coefficients with intervals, errors on rows that the fit has not seen, reports.

    leave-one-out error      √ mean (y_i − ŷ_i without row i)²        compared with that of the mean, without columns
    cross-validated error    the same with each tenth of the rows predicted from the others

Cross-validation replaces leave-one-out where its closed form is undefined, or where the prior is estimated from few
rows and would depend on the row itself.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri

from bayeslearn import evaluation, validation
from bayeslearn.distributions import RegressionPrior
from bayeslearn.distributions.sufficient_statistics import ratio
from bayeslearn.errors import EvidenceError
from bayeslearn.fit_info import plain
from bayeslearn.regression.bayesian_linear import LinearFit, collect, prior_of
from bayeslearn.reports import Grid, Pairs, Report
from bayeslearn.tables.frames import frame_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.regression.classification_model import ClassificationModel
    from bayeslearn.regression.local.model import LocalRegressionModel
    from bayeslearn.regression.regression_model import RegressionModel
    from bayeslearn.regression.targets import Examples
    from bayeslearn.tables.frames import Backend

    Floats = NDArray[np.float64]


INTERCEPT = "(intercept)"

#: The number of rows for each coefficient that is small.
FEW_ROWS = 10


@dataclass(frozen=True)
class Coefficient:
    """A coefficient of a target or a class; bounds are None where they are undefined."""

    output: str
    name: str
    mean: float
    low: float | None
    high: float | None
    #: The mean times the standard deviation of the column: the change of the target, or of the log odds.
    effect: float = 0.0


@dataclass(frozen=True)
class PredictionError:
    """The root mean squared error on rows that the fit has not seen, and that of predicting their mean."""

    n_rows: int
    rmse: float
    rmse_of_mean: float

    @property
    def r_squared(self) -> float:
        """1 − (error / error of the mean)²: the share of the variance that is explained."""
        return 1 - float(ratio(self.rmse**2, self.rmse_of_mean**2))

    def to_dict(self) -> dict[str, float]:
        """Return the errors as plain values."""
        return {**asdict(self), "r_squared": self.r_squared}


def coefficients_of(model: RegressionModel, level: float = 0.95) -> list[Coefficient]:
    """Intercept and coefficients of every target, by the names of the features or the numbers of the units."""
    names = model.features.names if model.basis is None else [f"unit {u}" for u in range(model.basis.size)]
    mean = np.column_stack([model.fit.intercept, model.fit.coef])
    low: Any = np.full(mean.shape, None)
    high: Any = low
    try:
        low, high = model.fit.coefficients().interval(level)
    except EvidenceError:
        validation.number("level", level, above=0, below=1)
    effect = mean * np.append(0.0, np.sqrt(np.diagonal(model.fit.statistics.cov)[: model.fit.dim]))
    return [
        Coefficient(output, name, float(m), None if a is None else float(a), None if b is None else float(b), float(e))
        for output, *rows in zip(model.targets, mean, low, high, effect, strict=True)
        for name, m, a, b, e in zip([INTERCEPT, *names], *rows, strict=True)
    ]


def largest_first(weights: list[Coefficient]) -> list[Coefficient]:
    """Sort the coefficients of every target: the intercept, then by the size of the effect."""
    place = {output: i for i, output in enumerate(dict.fromkeys(w.output for w in weights))}
    return sorted(weights, key=lambda w: (place[w.output], w.name != INTERCEPT, -abs(w.effect)))


def class_coefficients(model: ClassificationModel, level: float = 0.95) -> list[Coefficient]:
    """The coefficients of every logistic unit, in the units of the columns, with bounds by Laplace."""
    tail = (1 - validation.number("level", level, above=0, below=1)) / 2
    k, wide = model.fit.coefficients.shape
    names = model.features.names if model.basis is None else [f"unit {u}" for u in range(model.basis.size)]
    back = np.eye(wide)
    if model.basis is None:  # from standardized features to those of the columns
        scale = ratio(1.0, model.features.spread)
        back[1:, 1:] = np.diag(scale)
        back[0, 1:] = -model.features.mean * scale
    Σ = model.fit.covariance.reshape(k, wide, k, wide)
    classes = model.classes[1:] if k == 1 else model.classes
    found = []
    for unit, label in enumerate(classes):
        mean = back @ model.fit.coefficients[unit]
        half = -ndtri(tail) * np.sqrt(np.einsum("ij,jk,ik->i", back, Σ[unit, :, unit, :], back))
        effect = np.append(0.0, model.fit.coefficients[unit][1:])  # features are standardized
        for name, m, h, e in zip([INTERCEPT, *names], mean, half, effect, strict=True):
            free = model.fit.separated
            low, high = (None, None) if free else (float(m - h), float(m + h))
            found.append(Coefficient(str(label), name, float(m), low, high, float(e)))
    return found


def leave_one_out(model: RegressionModel, rows: Examples) -> list[PredictionError | None]:
    """The error of every target when each row is predicted from the others; None where they do not determine it."""
    return [
        judged(off, y, rows.sample_weight)
        for off, y in zip(
            model.leave_one_out_residuals(rows).reshape(len(rows.targets), -1).T, rows.targets.T, strict=True
        )
    ]


def cross_validated(
    model: RegressionModel, rows: Examples, prior: Any, *, cv: int = 10
) -> list[PredictionError | None]:
    """The error of every target when each tenth of the rows is predicted from the other tenths.

    The prior is estimated anew from the rows of each fit. None where fewer than two rows have a target.
    """
    x, y = model.design(rows.inputs), rows.targets
    known = np.flatnonzero(~np.isnan(y).any(axis=1))
    if len(known) < 2:
        return [None] * len(model.targets)
    x, y, w = x[known], y[known], np.ones(len(known)) if rows.sample_weight is None else rows.sample_weight[known]
    fold = evaluation.folds(len(known), min(cv, len(known)))
    parts = [collect(x[test], y[test], w[test])[0] for _, test in evaluation.each_fold(fold)]
    if not all((w[train] > 0).any() for train, _ in evaluation.each_fold(fold)):
        return [None] * len(model.targets)
    dim, off, apart = x.shape[1], np.empty(y.shape), np.empty(y.shape)
    others = evaluation.sums_without_each(parts)
    for statistics, (_, test) in zip(others, evaluation.each_fold(fold), strict=True):
        off[test] = y[test] - LinearFit(prior_of(prior, statistics, dim), statistics, dim).mean(x[test])
        apart[test] = y[test] - statistics.mean[dim:]
    error, of_mean = (np.sqrt(w @ gap**2 / w.sum()) for gap in (off, apart))
    return [PredictionError(len(known), float(e), float(m)) for e, m in zip(error, of_mean, strict=True)]


def needs_cross_validation(model: RegressionModel, rows: Examples, prior: Any) -> bool:
    """Return whether leave-one-out is undefined, or too low for a prior that is estimated from few rows."""
    from_data = prior_name(prior) not in {"none", "reference"} and not isinstance(prior, RegressionPrior)
    from_data &= bool((model.fit.prior.kappa > 0).any())  # "auto" that is the reference prior does not
    few = model.total_weight < FEW_ROWS * (model.fit.dim + 1)
    return model.basis is None and ((from_data and few) or None in leave_one_out(model, rows))


def prior_name(prior: Any) -> str:
    """A prior by its name; None is that of maximum likelihood."""
    return "none" if prior is None else str(prior)


def judged(off: Floats, y: Floats, weights: Floats | None) -> PredictionError | None:
    """The errors of rows that were left out, and those of the mean of the others."""
    w = np.ones(len(y)) if weights is None else weights
    known = ~np.isnan(y) & (w > 0)
    off, y, w = off[known], y[known], w[known]
    n = w.sum()
    if np.isnan(off).any() or (n - w <= 0).any():
        return None
    apart = (y - (w @ y) / n) * n / (n - w)
    return PredictionError(len(y), float(np.sqrt(w @ off**2 / n)), float(np.sqrt(w @ apart**2 / n)))


def shrinkage(model: RegressionModel) -> Floats:
    """The length of the standardized coefficients of every target, relative to that of least squares."""
    free = LinearFit(RegressionPrior.reference(model.fit.dim), model.fit.statistics, model.fit.dim)
    scale = np.sqrt(np.diagonal(model.fit.statistics.cov)[: model.fit.dim])
    length, before = (np.linalg.norm(fit.coef * scale, axis=1) for fit in (model.fit, free))
    return np.asarray(np.where(before > 0, ratio(length, before), 1.0))


#: Coefficients that a report shows, the largest effects first.
MAX_COEFFICIENTS = 30


def coefficients(model: Any, level: float = 0.95) -> list[Coefficient]:
    """The coefficients of a model, those with the largest effects first; none of radial units."""
    if model.basis is not None:
        return []
    of = class_coefficients if hasattr(model, "classes") else coefficients_of
    return largest_first(of(model, level))


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
