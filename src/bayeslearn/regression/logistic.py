"""The sigmoid unit: probabilities by cross entropy, with a normal prior of the weights.

    h(x) = 1 / (1 + e^(−w·x))        G = Σ d ln h(x) + (1 − d) ln(1 − h(x))        ∂G/∂w = Σ (d − h(x)) x

d is 0 or 1, or a probability. More than two classes have a unit each, and h is their softmax: the gradient is the same.
With the prior w ~ N(m, P⁻¹), the weights maximize G − ½(w − m)ᵀP(w − m); around them the posterior is nearly normal
with precision H = P + Σ h(1 − h) x xᵀ (Laplace): that gives intervals, the evidence, and the prior of what comes next.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy.special import expit, log_softmax, logsumexp, ndtri

from bayeslearn import validation
from bayeslearn.distributions.sufficient_statistics import frozen
from bayeslearn.errors import ShapeError
from bayeslearn.regression.logistic_optimizers import (
    CLIMBS,
    OPEN,
    NormalPrior,
    Problem,
    activations,
    climb,
    with_one,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.regression.logistic_optimizers import Top

    Floats = NDArray[np.float64]

Method = Literal["newton", "lbfgs", "gradient"]


@dataclass(frozen=True, eq=False)
class LogisticFit:
    """Weights (units, 1 + d), the intercept first, their precision, and the prior they began with.

    >>> survive = np.repeat([1.0, 0.0], [92, 8])
    >>> LogisticFit.learn(np.zeros((100, 0)), survive, strength=0).probability(np.zeros((1, 0))).round(12).tolist()
    [[0.08, 0.92]]
    """

    weights: Floats
    precision: Floats
    prior: NormalPrior
    log_likelihood: float = 0.0
    iterations: int = 0
    cases: float = 0.0
    #: Whether the classes are separated, so that without a prior the weights have no end.
    separated: bool = False

    def __post_init__(self) -> None:
        weights, precision = frozen(self.weights), frozen(self.precision)
        if weights.ndim != 2 or not weights.size or precision.shape != (weights.size,) * 2:
            raise ShapeError(f"weights {weights.shape} and their precision {precision.shape} do not fit each other")
        object.__setattr__(self, "weights", weights)
        object.__setattr__(self, "precision", precision)

    @classmethod
    def learn(
        cls,
        X: ArrayLike,
        targets: ArrayLike,
        *,
        strength: float = 1.0,
        prior: NormalPrior | None = None,
        sample_weight: ArrayLike | None = None,
        method: Method = "newton",
        rate: float | None = None,
        tol: float = 1e-10,
        max_iter: int | None = None,
        start: ArrayLike | None = None,
        progress: Callable[[int, float], object] | None = None,
    ) -> LogisticFit:
        """Learn from inputs (n, d) and probabilities: (n,) of the second class, or (n, k) of all.

        Parameters
        ----------
        strength
            The precision of the weights before the data; 0 is maximum likelihood. `prior` tells more.
        method
            ``"newton"``, ``"lbfgs"``, or ``"gradient"``: w ← w + η Σ (d − h(x)) x with η the `rate`.
        tol
            The climb ends when no weight can gain more than this, relative to the objective.
        """
        problem = Problem.of(X, targets, sample_weight, prior, strength)
        how = validation.choice("method", method, list(CLIMBS))
        return cls.at(problem, climb(problem, how, rate, tol, max_iter, start, progress))

    @classmethod
    def at(cls, problem: Problem, top: Top) -> LogisticFit:
        """What is known at the top of a climb."""
        return cls(
            top.weights.reshape(problem.shape), top.precision, problem.prior, problem.log_likelihood(top.weights),
            top.steps, float(problem.rows.sum()), top.separated,
        )  # fmt: skip

    @property
    def dim(self) -> int:
        """How many inputs there are."""
        return self.weights.shape[1] - 1

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return max(len(self.weights), 2)

    # -- what it says

    def scores(self, X: ArrayLike) -> Floats:
        """w·x of every unit, (n, units)."""
        return with_one(X, self.dim) @ self.weights.T

    def probability(self, X: ArrayLike) -> Floats:
        """The probability of every class, (n, classes)."""
        return both(activations(self.scores(X)))

    def log_probability(self, X: ArrayLike) -> Floats:
        """Its logarithm, exact where the probability is too small for a float."""
        s = self.scores(X)
        s = np.column_stack([np.zeros(len(s)), s]) if s.shape[1] == 1 else s
        return np.asarray(log_softmax(s, axis=1))

    def interval(self, X: ArrayLike, level: float = 0.95) -> tuple[Floats, Floats]:
        """Bounds of the probability of every class, as well as the weights are known (Laplace), (n, classes)."""
        tail = (1 - validation.number("level", level, above=0, below=1)) / 2
        x = with_one(X, self.dim)
        if self.separated:  # the weights could be anything beyond
            return np.zeros((len(x), self.n_classes)), np.ones((len(x), self.n_classes))
        logs = self.log_probability(X)
        others = [logsumexp(np.delete(logs, c, axis=1), axis=1) for c in range(self.n_classes)]
        log_odds = logs - np.column_stack(others)
        half = -ndtri(tail) * np.sqrt(self._variances(x, np.exp(logs)))
        return expit(log_odds - half), expit(log_odds + half)

    def _variances(self, x: Floats, p: Floats) -> Floats:
        """The variance of ln p/(1 − p) of every class."""
        Σ = self.covariance
        if len(self.weights) == 1:
            return np.repeat(np.einsum("ij,jk,ik->i", x, Σ, x)[:, None], 2, axis=1)
        k, wide = self.weights.shape
        found = np.empty(p.shape)
        for c in range(k):
            # ∂ ln p_c/(1 − p_c) / ∂s_j = [j = c] − [j ≠ c] p_j/(1 − p_c)
            slope = -p / np.clip(1 - p[:, [c]], 1e-300, None)
            slope[:, c] = 1.0
            g = (slope[:, :, None] * x[:, None, :]).reshape(len(x), k * wide)
            found[:, c] = np.einsum("ij,jk,ik->i", g, Σ, g)
        return found

    @cached_property
    def covariance(self) -> Floats:
        """H⁻¹, over the directions that are determined."""
        return np.asarray(np.linalg.pinv(self.precision, rcond=OPEN, hermitian=True), dtype=float)

    def log_evidence(self) -> float:
        """ln p(targets | inputs) by Laplace's approximation, up to the constant of the free intercepts."""
        e = np.linalg.eigvalsh(self.precision)
        e = e[e > OPEN * max(e.max(), 1e-300)]
        return (
            self.log_likelihood
            + self.prior.log_density(self.weights.ravel())
            - float(np.log(e / (2 * math.pi)).sum()) / 2
        )

    # -- learning goes on

    def update(self, X: ArrayLike, targets: ArrayLike, *, sample_weight: ArrayLike | None = None) -> LogisticFit:
        """More cases, with what is known as their prior: near to learning all at once, as far as it is normal."""
        prior = NormalPrior(self.weights.ravel(), self.precision)
        more = LogisticFit.learn(X, targets, prior=prior, sample_weight=sample_weight, start=self.weights)
        return replace(more, cases=self.cases + more.cases)


def both(h: Floats) -> Floats:
    """The probabilities of all classes."""
    return np.column_stack([1 - h, h]) if h.shape[1] == 1 else h
