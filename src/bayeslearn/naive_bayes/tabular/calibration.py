"""Calibration: do cases that are said to be 90 % sure come true nine times in ten, and what to do if not.

Naive Bayes counts evidence that comes in several columns several times, so its log odds are too large by about as much
as it was counted. A number for each column sets that right, the sharpness τ of its evidence,

    P(c | x) ∝ P(c) Π_j p(x_j | c)^τ_j      τ maximizes Σ ln P(c_i | x_i) − λ/2 Σ_j (τ_j − τ̄)²

by models that have not seen row i. The prior says that columns are alike; how much so, λ, has the highest evidence

    ln P(labels | λ) ≈ max_τ [...] + (J − 1)/2 ln λ − ½ ln |H + λ (I − 11ᵀ/J)|        H the curvature of −Σ ln P

(Laplace). So few rows learn one number and many learn one for each column; no more is needed for twenty classes than
for two, the class shares are left to rows that show nothing, and explanations still add up, as they would not with a
free curve.
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

#: Between these the sharpness is looked for.
LEAST, MOST = 1e-3, 10.0

#: How much alike columns may be thought to be.
LIKENESS = tuple(10.0**e for e in range(-1, 6))

#: What no class can show counts as if it had this log probability, so that there is something to climb.
IMPOSSIBLE = -745.0


@dataclass(frozen=True, eq=False)
class OutOfFold:
    """Of rows with a label: class, weight and fold, and what a model without the fold says: ln P(c), ln p(x_j|c)."""

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
    """How reliable a model is on rows with labels, which should not be those it was learned from."""
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
    """The model with the sharpness of columns that is best for rows out of fold."""
    from bayeslearn.naive_bayes.tabular.out_of_fold import read_out_of_fold  # noqa: PLC0415 - it makes what is used here

    found = read_out_of_fold(model, data, folds=cv, sample_weight=sample_weight, random_state=random_state, apart=True)
    return replace(model, sharpness=best_sharpness(found))


def tempered(found: OutOfFold, sharpness: tuple[float, ...]) -> NDArray[np.float64]:
    """P(class | row) from ln P(class) and ln p(x_j | class)."""
    return softmax(found.log_shares + found.evidence @ np.asarray(sharpness), axis=1)


def best_sharpness(found: OutOfFold) -> tuple[float, ...]:
    """The τ of every column, by the likeness of the highest evidence; all 1 where that is no worse."""
    width = found.evidence.shape[2]
    sharpness = np.full(width, 0.5)
    tries = []
    for likeness in LIKENESS if width > 1 else LIKENESS[:1]:
        climb = Climb(found, likeness)
        sharpness = climb.best(sharpness)
        tries.append((climb.log_evidence(sharpness), sharpness))
    best = max(tries, key=lambda entry: entry[0])[1] if width else sharpness
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
        """The τ of the least loss."""
        from scipy.optimize import minimize  # noqa: PLC0415 - slow to load

        bounds = [(LEAST, MOST)] * self.width
        return np.asarray(minimize(self.loss, start, jac=True, bounds=bounds, method="L-BFGS-B").x)

    def loss(self, sharpness: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """The loss and its gradient: Σ w Σ_c (P(c) − [c = c_i]) ln p(x_j | c) + λ (τ_j − τ̄)."""
        logs = self._logs(sharpness)
        off, w = sharpness - sharpness.mean(), self.found.sample_weight
        miss = np.exp(logs)
        miss[self.own] -= 1
        slope = np.einsum("nc,ncj->j", miss * w[:, None], self.evidence, optimize=True)
        return float(self.likeness / 2 * off @ off - w @ logs[self.own]), slope + self.likeness * off

    def log_evidence(self, sharpness: NDArray[np.float64]) -> float:
        """ln P(labels | λ) by Laplace's approximation, up to what does not depend on λ."""
        p, e, w = np.exp(self._logs(sharpness)), self.evidence, self.found.sample_weight[:, None]
        mean = np.einsum("nc,ncj->nj", p, e) * np.sqrt(w)
        apart = (e * np.sqrt(p * w)[:, :, None]).reshape(-1, self.width)
        alike = np.eye(self.width) - 1 / self.width
        _, volume = np.linalg.slogdet(apart.T @ apart - mean.T @ mean + self.likeness * alike)
        return (self.width - 1) / 2 * np.log(self.likeness) - volume / 2 - self.loss(sharpness)[0]

    def _logs(self, sharpness: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(log_softmax(self.found.log_shares + self.evidence @ sharpness, axis=1))
