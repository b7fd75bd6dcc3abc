"""What a learned function says of itself: its weights with intervals, and how far it is off new rows.

leave-one-out error   √ mean (y_i − ŷ_i without row i)²        beside that of the mean, which looks at no column
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri

from bayeslearn import validation
from bayeslearn.errors import EvidenceError
from bayeslearn.families import RegressionPrior
from bayeslearn.families.statistics import ratio
from bayeslearn.functions.linear import LinearFit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.functions.classification import Classification
    from bayeslearn.functions.regression import Regression
    from bayeslearn.functions.targets import Examples

    Floats = NDArray[np.float64]

INTERCEPT = "(intercept)"


@dataclass(frozen=True)
class Weight:
    """A weight of an output or a class; bounds are None where nothing tells them."""

    output: str
    name: str
    mean: float
    low: float | None
    high: float | None


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


def weights_of(model: Regression, level: float = 0.95) -> list[Weight]:
    """Intercept and coefficients of every output, by the names of the features or the numbers of the units."""
    names = model.features.names if model.basis is None else [f"unit {u}" for u in range(model.basis.size)]
    mean = np.column_stack([model.fit.intercept, model.fit.coef])
    low: Any = np.full(mean.shape, None)
    high: Any = low
    try:
        low, high = model.fit.coefficients().interval(level)
    except EvidenceError:
        validation.number("level", level, above=0, below=1)
    return [
        Weight(output, name, float(m), None if a is None else float(a), None if b is None else float(b))
        for output, *rows in zip(model.outputs, mean, low, high, strict=True)
        for name, m, a, b in zip([INTERCEPT, *names], *rows, strict=True)
    ]


def class_weights(model: Classification, level: float = 0.95) -> list[Weight]:
    """The weights of every sigmoid unit, in the units of the columns, with bounds by Laplace."""
    tail = (1 - validation.number("level", level, above=0, below=1)) / 2
    k, wide = model.fit.weights.shape
    names = model.features.names if model.basis is None else [f"unit {u}" for u in range(model.basis.size)]
    back = np.eye(wide)
    if model.basis is None:  # from standardised features to those of the columns
        scale = ratio(1.0, model.features.spread)
        back[1:, 1:] = np.diag(scale)
        back[0, 1:] = -model.features.mean * scale
    Σ = model.fit.covariance.reshape(k, wide, k, wide)
    classes = model.classes[1:] if k == 1 else model.classes
    found = []
    for unit, label in enumerate(classes):
        mean = back @ model.fit.weights[unit]
        half = -ndtri(tail) * np.sqrt(np.einsum("ij,jk,ik->i", back, Σ[unit, :, unit, :], back))
        for name, m, h in zip([INTERCEPT, *names], mean, half, strict=True):
            free = model.fit.separated
            bounds = (None, None) if free else (float(m - h), float(m + h))
            found.append(Weight(str(label), name, float(m), *bounds))
    return found


def leave_one_out(model: Regression, rows: Examples) -> list[LeftOut | None]:
    """The error of every output when each row is predicted from the others; None where they do not determine it."""
    return [judged(off, y, rows.weights) for off, y in zip(model.left_out(rows).T, rows.targets.T, strict=True)]


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


def shrunk(model: Regression) -> Floats:
    """How long the slopes of every output are, beside those of least squares, in standardised units; 1: as long."""
    free = LinearFit(RegressionPrior.reference(model.fit.dim), model.fit.statistics, model.fit.dim)
    scale = np.sqrt(np.diagonal(model.fit.statistics.cov)[: model.fit.dim])
    length, before = (np.linalg.norm(fit.coef * scale, axis=1) for fit in (model.fit, free))
    return np.asarray(np.where(before > 0, ratio(length, before), 1.0))
