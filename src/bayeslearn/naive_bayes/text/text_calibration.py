"""Exponents that make the probabilities of text models agree with observed frequencies.

Words of a document depend on each other, so that naive Bayes counts the same evidence several times. Variants v of it
are pooled with exponents, which shrink their scores, and each class has an offset:

    ln P(k|d)  =  ln P(k) + b_k + Σ_v β_v Σ_w x_dw W_vwk  − ln Z        β, b maximize  Σ_d ln P(k_d|d) + ln prior

over held-out documents (:mod:`~bayeslearn.naive_bayes.text.held_out`). b_k ~ N(0, 1); ln β_v ~ N(m, 1), with m where
scores have a mean size of 1. The pool of weights is one matrix, Σ_v β_v W_v: it predicts and explains as any other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import log_softmax

from bayeslearn.evaluation import Metrics

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

#: The standard deviations of ln β_v and of b_k.
SPREAD, OFFSET = 1.0, 1.0
MAX_ITER, TOL = 300, 1e-9
#: Newton steps at the end, and parameters up to which they are taken.
NEWTON, MAX_NEWTON = 3, 200
#: The least mean size of scores.
LEAST = 1e-300


@dataclass(frozen=True)
class PoolMember:
    """A likelihood whose weights are pooled, with its exponent and its prior; None is the prior of the model."""

    likelihood: str
    exponent: float
    prior: float | None = None


@dataclass(frozen=True, eq=False)
class TextCalibration:
    """What was learned from held-out documents.

    Attributes
    ----------
    members
        The pooled likelihoods, with their exponents β.
    class_offsets
        b of each class; that of other classes is 0.
    n_documents
        The weight of the documents that it is based on.
    """

    members: tuple[PoolMember, ...]
    class_offsets: Mapping[Any, float]
    n_documents: float

    def offsets(self, classes: Sequence[Any]) -> Floats:
        """b of these classes, shape (K,)."""
        return np.array([self.class_offsets.get(name, 0.0) for name in classes], float)

    def to_dict(self) -> dict[str, Any]:
        """Return members, offsets and the number of documents as plain values."""
        members = [{"likelihood": m.likelihood, "exponent": m.exponent, "prior": m.prior} for m in self.members]
        offsets = {str(name): value for name, value in self.class_offsets.items()}
        return {"members": members, "class_offsets": offsets, "n_documents": self.n_documents}


@dataclass(frozen=True, eq=False)
class Pooled:
    """Exponents and offsets, and the metrics of the held-out documents under them."""

    exponents: Floats
    offsets: Floats
    metrics: Metrics


def pool(
    scores: Sequence[Floats], log_p_classes: Floats, shares: Floats, sample_weight: Floats, classes: Sequence[Any]
) -> Pooled:
    """The exponents and offsets of scores (n, K) of held-out documents, with ln P(k) of each (n, K).

    >>> right = np.array([[2.0, 0], [0, 1], [1, 0], [0, 2], [0, 3]])
    >>> labels = np.eye(2)[[0, 1, 0, 1, 0]]
    >>> found = pool([right, 0 * right], np.zeros((5, 2)), labels, np.ones(5), ["x", "y"])
    >>> bool(found.exponents[0] > 0), found.metrics.accuracy
    (True, 0.8)
    """
    from scipy.optimize import minimize  # noqa: PLC0415 - slow to load

    centered = [s - s.mean(axis=1, keepdims=True) for s in scores]
    weights, total = sample_weight[:, None] * shares, sample_weight * shares.sum(axis=1)
    sizes = np.array([max(np.average(np.abs(s).mean(axis=1), weights=total), LEAST) for s in centered])
    parts = [s / size for s, size in zip(centered, sizes, strict=True)]
    m, k = len(parts), shares.shape[1]

    def logs(p: Floats) -> Floats:
        joint = log_p_classes + p[m:]
        for part, exponent in zip(parts, np.exp(p[:m]), strict=True):
            joint += exponent * part
        return np.asarray(log_softmax(joint, axis=1))

    def loss(p: Floats) -> tuple[float, Floats]:
        found = logs(p)
        miss = np.exp(found) * total[:, None] - weights
        slope = [np.exp(e) * np.vdot(miss, part) + e / SPREAD**2 for e, part in zip(p, parts, strict=False)]
        value = p[:m] @ p[:m] / (2 * SPREAD**2) + p[m:] @ p[m:] / (2 * OFFSET**2) - np.vdot(weights, found)
        return float(value), np.concatenate([slope, miss.sum(axis=0) + p[m:] / OFFSET**2])

    best = minimize(
        loss, np.zeros(m + k), jac=True, method="L-BFGS-B",
        options={"maxiter": MAX_ITER, "ftol": 1e-15, "gtol": TOL * max(total.sum(), 1.0)},
    ).x  # fmt: skip

    def curvature(p: Floats) -> Floats:
        found, scales = np.exp(logs(p)), np.exp(p[:m])
        rows = [scale * part for scale, part in zip(scales, parts, strict=True)]
        off = [row - (found * row).sum(axis=1, keepdims=True) for row in rows]
        table = np.zeros((m + k, m + k))
        shares_of_classes = found * total[:, None]
        table[m:, m:] = np.diag(shares_of_classes.sum(axis=0) + 1 / OFFSET**2) - found.T @ shares_of_classes
        miss = shares_of_classes - weights
        for i in range(m):
            table[i, m:] = table[m:, i] = (shares_of_classes * off[i]).sum(axis=0)
            for j in range(m):
                table[i, j] = np.vdot(shares_of_classes * off[i], off[j])
            table[i, i] += np.vdot(miss, rows[i]) + 1 / SPREAD**2
        return table

    for _ in range(NEWTON if m + k <= MAX_NEWTON else 0):  # to the last digits, whatever the order of the documents
        step = np.linalg.solve(curvature(best), loss(best)[1])
        if np.abs(step).max() > 0.1:
            break
        best = best - step
    p = np.exp(logs(best))
    metrics = Metrics.none(classes)
    for c in range(k):  # a soft label is several documents of less weight
        some = weights[:, c] > 0
        codes = np.full(int(some.sum()), c)
        metrics += Metrics.of(p[some], codes, classes=classes, sample_weight=weights[some, c])
    return Pooled(np.exp(best[:m]) / sizes, best[m:], metrics)
