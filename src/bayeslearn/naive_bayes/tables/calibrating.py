"""Calibration: do cases that are said to be 90 % sure come true nine times in ten, and what to do if not.

Naive Bayes counts evidence that comes in several columns several times, so its log odds are too large by about as much
as it was counted. One number sets that right, the sharpness τ of the evidence,

    P(c | x) ∝ P(c) Π_j p(x_j | c)^τ        τ maximises Σ ln P(c_i | x_i), by models that have not seen row i

It is learned from a few rows as from many, needs no more for twenty classes than for two, and leaves the class shares
to rows that show nothing; a free curve (isotonic) needs thousands of rows for each class, and explanations would no
longer add up.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import log_softmax, softmax

from bayeslearn import validation
from bayeslearn.errors import ShapeError
from bayeslearn.families.statistics import ratio

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.naive_bayes.tables.model import NaiveBayes

#: Between these the sharpness is looked for.
LEAST, MOST = 1e-3, 10.0


@dataclass(frozen=True, eq=False)
class Calibration:
    """Reliability: rows by how sure their best class was, and how often it was right.

    >>> Calibration.of([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7]], [0, 1, 1], bins=2)
    Calibration(error 0.1333 over 3 cases)
    >>> print(Calibration.of([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7]], [0, 1, 1], bins=2))
    said           cases   sure  right
    0.50 … 1.00        3  0.800  0.667
    """

    #: Bounds of the bins, one more than there are bins.
    edges: NDArray[np.float64]
    cases: NDArray[np.float64]
    #: How sure the best class was on average, in each bin; 0 where there is no case.
    confidence: NDArray[np.float64]
    #: How often it was right.
    accuracy: NDArray[np.float64]

    @classmethod
    def of(
        cls, proba: ArrayLike, labels: ArrayLike, *, weights: ArrayLike | None = None, bins: int = 10
    ) -> Calibration:
        """Bins of equal width over the probability of the best class; `labels` are positions of classes."""
        p, y = validation.probabilities(proba), np.asarray(labels)
        if p.ndim != 2 or y.shape != p.shape[:1]:
            raise ShapeError(f"expected probabilities (n, classes) and n labels, got {p.shape} and {y.shape}")
        w = validation.weights(weights, len(y))
        top, right = p.max(axis=1), p.argmax(axis=1) == y
        n = validation.integer("bins", bins, least=1)
        place = np.clip(np.ceil(top * n).astype(int) - 1, 0, n - 1)
        cases, sure, hits = (
            np.bincount(place, w * v, minlength=n).astype(float) for v in (np.ones(len(y)), top, right)
        )
        return cls(np.linspace(0, 1, n + 1), cases, ratio(sure, cases), ratio(hits, cases))

    @property
    def error(self) -> float:
        """The expected calibration error: how far sureness and truth are apart, on average over the cases."""
        return float(ratio(self.cases @ np.abs(self.confidence - self.accuracy), self.cases.sum()))

    def __repr__(self) -> str:
        return f"Calibration(error {self.error:.4f} over {self.cases.sum():g} cases)"

    def __str__(self) -> str:
        head = f"{'said':<12} {'cases':>7}  {'sure':>5}  {'right':>5}"
        rows = zip(self.edges, self.edges[1:], self.cases, self.confidence, self.accuracy, strict=False)
        body = [f"{a:.2f} … {b:.2f}  {n:>7g}  {p:.3f}  {r:.3f}" for a, b, n, p, r in rows if n]
        return "\n".join([head, *body])


def calibration(model: NaiveBayes, data: Any, *, bins: int = 10, weights: Any = None) -> Calibration:
    """How reliable a model is on rows with labels, which should not be those it was learned from."""
    from bayeslearn.tables import Schema, as_table  # noqa: PLC0415 - only here

    labels = as_table(data, schema=Schema([model.target]), weights=weights)
    seen = np.flatnonzero(labels.code(model.target.name) >= 0)
    w = None if labels.weights is None else labels.weights[seen]
    return Calibration.of(model.predict_proba(data)[seen], labels.code(model.target.name)[seen], weights=w, bins=bins)


def calibrated(model: NaiveBayes, data: Any, *, folds: int = 10, weights: Any = None, rng: Any = 0) -> NaiveBayes:
    """The model with the sharpness that is best for rows out of fold."""
    from bayeslearn.naive_bayes.tables import validating  # noqa: PLC0415 - it judges what is made here

    found = validating.read_out_of_fold(model, data, folds=folds, weights=weights, rng=rng)
    return replace(model, sharpness=best_sharpness(found.log_shares, found.evidence, found.labels, found.weights))


def tempered(
    log_shares: NDArray[np.float64], evidence: NDArray[np.float64], sharpness: float | NDArray[np.float64]
) -> NDArray[np.float64]:
    """P(class | row) from ln P(class) and Σ_j ln p(x_j | class)."""
    return softmax(log_shares + sharpness * evidence, axis=1)


def best_sharpness(
    log_shares: NDArray[np.float64],
    evidence: NDArray[np.float64],
    labels: NDArray[np.int32],
    weights: NDArray[np.float64],
) -> float:
    """The τ of the highest likelihood; it is concave in τ, so there is one."""
    from scipy.optimize import minimize_scalar  # noqa: PLC0415 - slow to load

    floor = np.where(np.isfinite(evidence), evidence, -1e300)  # a class that cannot show the row
    at = np.arange(len(labels))

    def loss(sharpness: float) -> float:
        return -float(weights @ log_softmax(log_shares + sharpness * floor, axis=1)[at, labels])

    found = float(minimize_scalar(loss, bounds=(LEAST, MOST), method="bounded", options={"xatol": 1e-6}).x)
    return found if loss(found) < loss(1.0) else 1.0
