"""Calibration: the exponent of each column that makes predicted probabilities agree with observed frequencies.

Naive Bayes counts evidence that several columns share several times, so that its log odds are too large. An exponent τ
for each column corrects this,

    P(c | x) ∝ P(c) Π_j p(x_j | c)^τ_j      τ maximizes Σ ln P(c_i | x_i) − λ/2 Σ_j (τ_j − τ̄)²

with models that are fitted without row i. The prior is that exponents are alike; its precision λ maximizes

    ln P(labels | λ) ≈ max_τ [...] + (J − 1)/2 ln λ − ½ ln |H + λ (I − 11ᵀ/J)|        H the curvature of −Σ ln P

(Laplace's approximation). Few rows give one exponent for all columns, many rows one for each. The number of parameters
does not depend on the number of classes, a row without values gets the class probabilities, and explanations still add
up.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import log_softmax, softmax

from bayeslearn.evaluation import Calibration

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.naive_bayes.tabular.model import NaiveBayesModel

#: Bounds of the exponents.
LEAST, MOST = 1e-3, 10.0

#: The precisions λ that are compared.
LIKENESS = tuple(10.0**e for e in range(-1, 6))

#: The log probability of values that are impossible in a class, so that the gradient is finite.
IMPOSSIBLE = -745.0


@dataclass(frozen=True, eq=False)
class OutOfFold:
    """Rows with a label: class, weight, fold, and ln P(c) and ln p(x_j|c) by a model fitted without the fold."""

    labels: NDArray[np.int32]
    sample_weight: NDArray[np.float64]
    fold: NDArray[np.intp]
    log_shares: NDArray[np.float64]
    #: (rows, classes, columns), or one column for all together.
    evidence: NDArray[np.float64]

    def take(self, rows: NDArray[Any]) -> OutOfFold:
        """Some of the rows."""
        return OutOfFold(*(array[rows] for array in vars(self).values()))


def calibration_curve(model: NaiveBayesModel, data: Any, *, n_bins: int = 10, sample_weight: Any = None) -> Calibration:
    """Return predicted probabilities and observed frequencies on rows with labels, not those of the fit."""
    from bayeslearn.tables import Schema, as_table  # noqa: PLC0415 - only here

    labels = as_table(data, schema=Schema([model.target]), sample_weight=sample_weight)
    seen = np.flatnonzero(labels.codes_of(model.target.name) >= 0)
    w = None if labels.sample_weight is None else labels.sample_weight[seen]
    return Calibration.of(
        model.predict_proba(data)[seen], labels.codes_of(model.target.name)[seen], sample_weight=w, n_bins=n_bins
    )


def calibrate(
    model: NaiveBayesModel, data: Any, *, cv: int = 10, sample_weight: Any = None, random_state: Any = 0
) -> NaiveBayesModel:
    """Return the model with the exponents of columns that maximize the likelihood of the classes out of fold."""
    from bayeslearn.naive_bayes.tabular.out_of_fold import read_out_of_fold  # noqa: PLC0415 - it makes what is used here

    found = read_out_of_fold(model, data, folds=cv, sample_weight=sample_weight, random_state=random_state, apart=True)
    return replace(model, column_exponents=best_exponents(found))


def tempered(found: OutOfFold, exponents: tuple[float, ...]) -> NDArray[np.float64]:
    """P(class | row) from ln P(class) and ln p(x_j | class)."""
    return softmax(found.log_shares + found.evidence @ np.asarray(exponents), axis=1)


def best_exponents(found: OutOfFold) -> tuple[float, ...]:
    """The exponent of every column, by the best precision λ; all 1 where that is no worse."""
    width = found.evidence.shape[2]
    exponents = np.full(width, 0.5)
    tries = []
    for likeness in LIKENESS if width > 1 else LIKENESS[:1]:
        climb = Climb(found, likeness)
        exponents = climb.best(exponents)
        tries.append((climb.log_evidence(exponents), exponents))
    best = max(tries, key=lambda entry: entry[0])[1] if width else exponents
    plain = Climb(found, 0.0)
    return tuple(best.tolist()) if plain.loss(best)[0] < plain.loss(np.ones(width))[0] else (1.0,) * width


class Climb:
    """−Σ w ln P(c_i | x_i) + λ/2 Σ_j (τ_j − τ̄)², its gradient and its curvature; it is convex in τ."""

    def __init__(self, found: OutOfFold, likeness: float) -> None:
        self.found, self.likeness = found, likeness
        n, _, self.width = found.evidence.shape
        self.own = np.arange(n), found.labels
        self.evidence = np.maximum(found.evidence, IMPOSSIBLE)

    def best(self, start: NDArray[np.float64]) -> NDArray[np.float64]:
        """The exponents of the smallest loss."""
        from scipy.optimize import minimize  # noqa: PLC0415 - slow to load

        bounds = [(LEAST, MOST)] * self.width
        return np.asarray(minimize(self.loss, start, jac=True, bounds=bounds, method="L-BFGS-B").x)

    def loss(self, exponents: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """The loss and its gradient: Σ w Σ_c (P(c) − [c = c_i]) ln p(x_j | c) + λ (τ_j − τ̄)."""
        logs = self._logs(exponents)
        off, w = exponents - exponents.mean(), self.found.sample_weight
        miss = np.exp(logs)
        miss[self.own] -= 1
        slope = np.einsum("nc,ncj->j", miss * w[:, None], self.evidence, optimize=True)
        return float(self.likeness / 2 * off @ off - w @ logs[self.own]), slope + self.likeness * off

    def log_evidence(self, exponents: NDArray[np.float64]) -> float:
        """ln P(labels | λ) by Laplace's approximation, up to what does not depend on λ."""
        p, e, w = np.exp(self._logs(exponents)), self.evidence, self.found.sample_weight[:, None]
        mean = np.einsum("nc,ncj->nj", p, e) * np.sqrt(w)
        apart = (e * np.sqrt(p * w)[:, :, None]).reshape(-1, self.width)
        alike = np.eye(self.width) - 1 / self.width
        _, volume = np.linalg.slogdet(apart.T @ apart - mean.T @ mean + self.likeness * alike)
        return (self.width - 1) / 2 * np.log(self.likeness) - volume / 2 - self.loss(exponents)[0]

    def _logs(self, exponents: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(log_softmax(self.found.log_shares + self.evidence @ exponents, axis=1))
