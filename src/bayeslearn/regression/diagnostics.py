"""What a learned function says of itself: its weights with intervals, and how far it is off new rows.

    leave-one-out error   √ mean (y_i − ŷ_i without row i)²        next to that of the mean, which uses no column
    held-out error        the same with every tenth of the rows predicted by the others

Rows are held out where the closed form is undefined, or where the prior comes from few rows and would come from the row
itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri

from bayeslearn import evaluation, validation
from bayeslearn.distributions import RegressionPrior
from bayeslearn.distributions.sufficient_statistics import ratio
from bayeslearn.errors import EvidenceError
from bayeslearn.regression.bayesian_linear import LinearFit, collect
from bayeslearn.regression.priors import prior_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.regression.classification_model import ClassificationModel
    from bayeslearn.regression.regression_model import RegressionModel
    from bayeslearn.regression.targets import Examples

    Floats = NDArray[np.float64]

INTERCEPT = "(intercept)"

#: How many rows for each weight are few.
FEW_ROWS = 10


@dataclass(frozen=True)
class Weight:
    """A weight of an output or a class; bounds are None where nothing tells them."""

    output: str
    name: str
    mean: float
    low: float | None
    high: float | None
    #: The mean times the standard deviation of the column: the change of the output, or of the log odds.
    effect: float = 0.0


@dataclass(frozen=True)
class LeftOut:
    """The error of rows that were left out, and that of the mean; `share` of the mean's squared error is explained."""

    rows: int
    error: float
    of_mean: float

    @property
    def share(self) -> float:
        """1 − (error / error of the mean)²."""
        return 1 - float(ratio(self.error**2, self.of_mean**2))


def weights_of(model: RegressionModel, level: float = 0.95) -> list[Weight]:
    """Intercept and coefficients of every output, by the names of the features or the numbers of the units."""
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
        Weight(output, name, float(m), None if a is None else float(a), None if b is None else float(b), float(e))
        for output, *rows in zip(model.outputs, mean, low, high, effect, strict=True)
        for name, m, a, b, e in zip([INTERCEPT, *names], *rows, strict=True)
    ]


def largest_first(weights: list[Weight]) -> list[Weight]:
    """Sort the weights of every output: the intercept, then by the size of the effect."""
    place = {output: i for i, output in enumerate(dict.fromkeys(w.output for w in weights))}
    return sorted(weights, key=lambda w: (place[w.output], w.name != INTERCEPT, -abs(w.effect)))


def class_weights(model: ClassificationModel, level: float = 0.95) -> list[Weight]:
    """The weights of every sigmoid unit, in the units of the columns, with bounds by Laplace."""
    tail = (1 - validation.number("level", level, above=0, below=1)) / 2
    k, wide = model.fit.weights.shape
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
        mean = back @ model.fit.weights[unit]
        half = -ndtri(tail) * np.sqrt(np.einsum("ij,jk,ik->i", back, Σ[unit, :, unit, :], back))
        effect = np.append(0.0, model.fit.weights[unit][1:])  # features are standardized
        for name, m, h, e in zip([INTERCEPT, *names], mean, half, effect, strict=True):
            free = model.fit.separated
            low, high = (None, None) if free else (float(m - h), float(m + h))
            found.append(Weight(str(label), name, float(m), low, high, float(e)))
    return found


def leave_one_out(model: RegressionModel, rows: Examples) -> list[LeftOut | None]:
    """The error of every output when each row is predicted from the others; None where they do not determine it."""
    return [
        judged(off, y, rows.sample_weight)
        for off, y in zip(model.leave_one_out_residuals(rows).T, rows.targets.T, strict=True)
    ]


def held_out(model: RegressionModel, rows: Examples, prior: Any, *, cv: int = 10) -> list[LeftOut | None]:
    """The error of every output when each tenth of the rows is predicted from the other tenths.

    The prior is made anew of the rows that a fit sees. None where there are fewer than two rows with an output.
    """
    x, y = model.design(rows.inputs), rows.targets
    known = np.flatnonzero(~np.isnan(y).any(axis=1))
    if len(known) < 2:
        return [None] * len(model.outputs)
    x, y, w = x[known], y[known], np.ones(len(known)) if rows.sample_weight is None else rows.sample_weight[known]
    fold = evaluation.folds(len(known), min(cv, len(known)))
    parts = [collect(x[test], y[test], w[test])[0] for _, test in evaluation.each_fold(fold)]
    if not all((w[train] > 0).any() for train, _ in evaluation.each_fold(fold)):
        return [None] * len(model.outputs)
    dim, off, apart = x.shape[1], np.empty(y.shape), np.empty(y.shape)
    others = evaluation.sums_without_each(parts)
    for statistics, (_, test) in zip(others, evaluation.each_fold(fold), strict=True):
        off[test] = y[test] - LinearFit(prior_of(prior, statistics, dim), statistics, dim).mean(x[test])
        apart[test] = y[test] - statistics.mean[dim:]
    error, of_mean = (np.sqrt(w @ gap**2 / w.sum()) for gap in (off, apart))
    return [LeftOut(len(known), float(e), float(m)) for e, m in zip(error, of_mean, strict=True)]


def needs_holding_out(model: RegressionModel, rows: Examples, prior: Any) -> bool:
    """Return whether errors in closed form would be undefined, or flatter a prior that comes from few rows."""
    from_data = prior_name(prior) not in {"none", "reference"} and not isinstance(prior, RegressionPrior)
    from_data &= bool((model.fit.prior.kappa > 0).any())  # "auto" that is the reference prior does not
    few = model.cases < FEW_ROWS * (model.fit.dim + 1)
    return model.basis is None and ((from_data and few) or None in leave_one_out(model, rows))


def prior_name(prior: Any) -> str:
    """A prior by its name; None is that of maximum likelihood."""
    return "none" if prior is None else str(prior)


def judged(off: Floats, y: Floats, weights: Floats | None) -> LeftOut | None:
    """Errors of rows that were left out, beside those of the mean of the others."""
    w = np.ones(len(y)) if weights is None else weights
    known = ~np.isnan(y) & (w > 0)
    off, y, w = off[known], y[known], w[known]
    n = w.sum()
    if np.isnan(off).any() or (n - w <= 0).any():
        return None
    apart = (y - (w @ y) / n) * n / (n - w)
    return LeftOut(len(y), float(np.sqrt(w @ off**2 / n)), float(np.sqrt(w @ apart**2 / n)))


def shrunk(model: RegressionModel) -> Floats:
    """How long the slopes of every output are, beside those of least squares, in standardized units; 1: as long."""
    free = LinearFit(RegressionPrior.reference(model.fit.dim), model.fit.statistics, model.fit.dim)
    scale = np.sqrt(np.diagonal(model.fit.statistics.cov)[: model.fit.dim])
    length, before = (np.linalg.norm(fit.coef * scale, axis=1) for fit in (model.fit, free))
    return np.asarray(np.where(before > 0, ratio(length, before), 1.0))
