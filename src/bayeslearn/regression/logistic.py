"""Logistic units: probabilities by cross entropy, with a Gaussian prior of the coefficients.

    h(x) = 1 / (1 + e^(−w·x))        G = Σ d ln h(x) + (1 − d) ln(1 − h(x))        ∂G/∂w = Σ (d − h(x)) x

d is 0 or 1, or a probability. More than two classes have a unit each, and h is their softmax: the gradient is the same.
With the prior w ~ N(m, P⁻¹), the weights maximize G − ½(w − m)ᵀP(w − m); around them the posterior is nearly normal
with precision H = P + Σ h(1 − h) x xᵀ (Laplace): that gives intervals, the evidence, and the prior of what comes next.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy.special import expit, log_softmax, logsumexp, ndtri

from bayeslearn import validation
from bayeslearn.distributions.sufficient_statistics import frozen
from bayeslearn.errors import MismatchError, ShapeError
from bayeslearn.regression.logistic_optimizers import (
    ALGORITHMS,
    OPEN,
    Codes,
    NormalPrior,
    Problem,
    activations,
    optimized,
    with_one,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.regression.logistic_optimizers import Maximum

    Floats = NDArray[np.float64]

Algorithm = Literal["auto", "newton", "lbfgs", "gradient"]


@dataclass(frozen=True, eq=False)
class LogisticFit:
    """Coefficients (units, 1 + d), the intercept first, their posterior precision, and their prior.

    >>> survive = np.repeat([1.0, 0.0], [92, 8])
    >>> LogisticFit.fit(np.zeros((100, 0)), survive, strength=0).probability(np.zeros((1, 0))).round(12).tolist()
    [[0.08, 0.92]]
    """

    coefficients: Floats
    #: The posterior precision, or the problem that it is computed from when it is asked for.
    curvature: Floats | Problem
    prior: NormalPrior
    log_likelihood: float = 0.0
    n_iter: int = 0
    #: The weight of all rows, and of those that the prior holds: the rows before the last update.
    total_weight: float = 0.0
    prior_weight: float = 0.0
    #: Whether the classes are separated, so that without a prior the coefficients have no maximum.
    separated: bool = False

    def __post_init__(self) -> None:
        weights = frozen(self.coefficients)
        object.__setattr__(self, "coefficients", weights)
        if isinstance(self.curvature, Problem):
            return
        precision = frozen(self.curvature)
        if weights.ndim != 2 or not weights.size or precision.shape != (weights.size,) * 2:
            raise ShapeError(f"coefficients {weights.shape} and their precision {precision.shape} do not fit")
        object.__setattr__(self, "curvature", precision)

    @property
    def precision(self) -> Floats:
        """H = P + Σ h(1 − h) x xᵀ, the posterior precision of the coefficients."""
        if isinstance(self.curvature, Problem):  # the rows are not needed any more
            object.__setattr__(self, "curvature", frozen(self.curvature.precision(self.coefficients.ravel())))
        return self.curvature  # type: ignore[return-value]

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"curvature": self.precision}

    @classmethod
    def fit(
        cls,
        X: ArrayLike,
        targets: ArrayLike | Codes,
        *,
        strength: float = 1.0,
        prior: NormalPrior | None = None,
        sample_weight: ArrayLike | None = None,
        algorithm: Algorithm = "auto",
        rate: float | None = None,
        tol: float = 1e-10,
        max_iter: int | None = None,
        init: ArrayLike | None = None,
        progress: Any = None,
        has_ones: bool = False,
    ) -> LogisticFit:
        """Fit inputs (n, d) and probabilities: (n,) of the second class, or (n, k) of all; or :class:`Codes`.

        Parameters
        ----------
        strength
            The prior precision of the coefficients; 0 is maximum likelihood. `prior` replaces it.
        algorithm
            ``"newton"``, ``"lbfgs"``, ``"gradient"``: w ← w + η Σ (d − h(x)) x with η the `rate`; or ``"auto"``:
            Newton's method for few rows and coefficients, L-BFGS for many, whose posterior precision is computed when
            it is first asked for.
        tol
            Iterations end when no coefficient can gain more than this, relative to the objective.
        has_ones
            Whether the first column of X is 1, for the intercept; otherwise it is put before X.
        """
        problem = Problem.of(X, targets, sample_weight, prior, strength, has_ones=has_ones)
        how = validation.choice("algorithm", algorithm, ["auto", *ALGORITHMS])
        return cls._at(problem, optimized(problem, how, rate, tol, max_iter, init, progress))

    @classmethod
    def _at(cls, problem: Problem, top: Maximum) -> LogisticFit:
        """The fit at the maximum."""
        return cls(
            top.weights.reshape(problem.shape), problem if top.precision is None else top.precision, problem.prior,
            top.log_likelihood,
            top.n_iter, float(problem.rows.sum()), 0.0, top.separated,
        )  # fmt: skip

    @property
    def dim(self) -> int:
        """The number of inputs."""
        return self.coefficients.shape[1] - 1

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return max(len(self.coefficients), 2)

    # -- answers

    def scores(self, X: ArrayLike) -> Floats:
        """w·x of every unit, (n, units)."""
        return with_one(X, self.dim) @ self.coefficients.T

    def probability(self, X: ArrayLike) -> Floats:
        """The probability of every class, (n, classes)."""
        return both(activations(self.scores(X)))

    def log_probability(self, X: ArrayLike) -> Floats:
        """Its logarithm, exact where the probability is too small for a float."""
        s = self.scores(X)
        s = np.column_stack([np.zeros(len(s)), s]) if s.shape[1] == 1 else s
        return np.asarray(log_softmax(s, axis=1))

    def interval(self, X: ArrayLike, level: float = 0.95) -> tuple[Floats, Floats]:
        """Bounds of the probability of every class by the posterior of the coefficients (Laplace), (n, classes)."""
        tail = (1 - validation.number("level", level, above=0, below=1)) / 2
        x = with_one(X, self.dim)
        if self.separated:  # the coefficients have no upper bound
            return np.zeros((len(x), self.n_classes)), np.ones((len(x), self.n_classes))
        logs = self.log_probability(X)
        others = [logsumexp(np.delete(logs, c, axis=1), axis=1) for c in range(self.n_classes)]
        log_odds = logs - np.column_stack(others)
        half = -ndtri(tail) * np.sqrt(self._variances(x, np.exp(logs)))
        return expit(log_odds - half), expit(log_odds + half)

    def _variances(self, x: Floats, p: Floats) -> Floats:
        """The variance of ln p/(1 − p) of every class."""
        Σ = self.covariance
        if len(self.coefficients) == 1:
            return np.repeat(np.einsum("ij,jk,ik->i", x, Σ, x)[:, None], 2, axis=1)
        k, wide = self.coefficients.shape
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

    def log_marginal_likelihood(self, *, by_unit: bool = False) -> float:
        """ln p(targets | inputs) by Laplace's approximation, up to the constant of the free intercepts.

        With `by_unit`, the curvature is that of each unit alone.
        """
        e = self._curvatures(by_unit=by_unit)
        e = e[e > OPEN * max(e.max(), 1e-300)]
        return (
            self.log_likelihood
            + self.prior.log_density(self.coefficients.ravel())
            - float(np.log(e / (2 * math.pi)).sum()) / 2
        )

    def _curvatures(self, *, by_unit: bool) -> Floats:
        """The eigenvalues of the precision, or of the blocks of the units."""
        if by_unit and isinstance(self.curvature, Problem):
            blocks = self.curvature.precisions_by_unit(self.coefficients)
            return np.asarray(np.linalg.eigvalsh(blocks), dtype=float).ravel()
        return np.asarray(np.linalg.eigvalsh(self.precision), dtype=float)

    # -- more rows

    def update(
        self, X: ArrayLike, targets: ArrayLike | Codes, *, sample_weight: ArrayLike | None = None
    ) -> LogisticFit:
        """Return the fit with more rows, the posterior as their prior: close to a fit to all rows (Laplace)."""
        prior = NormalPrior(self.coefficients.ravel(), self.precision)
        more = LogisticFit.fit(X, targets, prior=prior, sample_weight=sample_weight, init=self.coefficients)
        return replace(more, total_weight=self.total_weight + more.total_weight, prior_weight=self.total_weight)

    def __add__(self, other: LogisticFit) -> LogisticFit:
        """Merge fits with one prior, which counts once: P = P₁ + P₂ − P₀, and Pw = P₁w₁ + P₂w₂ − P₀w₀ (Laplace)."""
        if not isinstance(other, LogisticFit):
            return NotImplemented
        if not self.prior.same(other.prior):
            raise MismatchError(
                "the fits have different priors", hint="update both from one model, or fit both with one prior",
                differs="prior",
            )  # fmt: skip
        precision = self.precision + other.precision - self.prior.precision
        sides = ((self.precision, self.coefficients), (other.precision, other.coefficients))
        moment = sum(P @ w.ravel() for P, w in sides) - self.prior.precision @ self.prior.mean
        found = np.linalg.lstsq(precision, moment, rcond=OPEN)[0]
        coefficients = np.asarray(found, dtype=float).reshape(self.coefficients.shape)
        return replace(
            self, coefficients=coefficients, curvature=precision, n_iter=self.n_iter + other.n_iter,
            log_likelihood=self.log_likelihood + other.log_likelihood, separated=self.separated and other.separated,
            total_weight=self.total_weight + other.total_weight - self.prior_weight,
        )  # fmt: skip


def both(h: Floats) -> Floats:
    """The probabilities of all classes."""
    return np.column_stack([1 - h, h]) if h.shape[1] == 1 else h
