"""The normal-inverse-gamma of a regression: a distribution of intercept, slopes and noise.

    y = a + xᵀb + ε,  ε ~ N(0, σ²)

It is a prior of the level a + cᵀb at a center c, where the level is independent of the slopes:

    a + cᵀb | σ² ~ N(l, σ²/κ)      b | σ² ~ N(m, σ²Λ⁻¹)      σ² ~ InverseGamma(α, β)

and is evidence of the same kind: κ cases around (c, l) with scatter S = [[Λ, Λm], [mᵀΛ, mᵀΛm + 2β]]. So the posterior
is a merge of moments, α' = α + n/2, and m = Λ⁻¹S_xy, 2β = S_yy − mᵀΛm are read off S when they are asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import gammaln

from bayeslearn import validation
from bayeslearn.distributions.moments import JointMoments
from bayeslearn.distributions.normal import LOG_2PI, inverse_gamma_interval, positive
from bayeslearn.distributions.student_t import COLLINEAR, StudentT, cholesky, log_det, solve_lower, squared_distances
from bayeslearn.distributions.sufficient_statistics import common_shape, fitted, frozen, require, shown
from bayeslearn.errors import EvidenceError, ImproperPriorError, ParameterError, ShapeError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.errors import BayeslearnError


class LinearParameters(NamedTuple):
    """Intercept (rows), coefficients (*rows, d) and noise variance (rows)."""

    intercept: NDArray[np.float64]
    coef: NDArray[np.float64]
    var: NDArray[np.float64]


class _Solution(NamedTuple):
    """The solution of the normal equations: Λ = LLᵀ, m = Λ⁻¹S_xy and 2β = S_yy − mᵀΛm."""

    factor: NDArray[np.float64]
    coef: NDArray[np.float64]
    beta: NDArray[np.float64]


### prior


@dataclass(frozen=True, eq=False)
class RegressionPrior:
    """A distribution of (a, b, σ²): κ cases around `center` = (c, l) with scatter S, and α; see the module.

    Most often made by :meth:`none`, :meth:`ridge`, :meth:`unit_information` or :meth:`given`.
    """

    kappa: NDArray[np.float64]
    center: NDArray[np.float64]
    scatter: NDArray[np.float64]
    alpha: NDArray[np.float64]

    def __post_init__(self) -> None:
        names = ("kappa", "center", "scatter", "alpha")
        kappa, center, scatter, alpha = (validation.float_array(name, getattr(self, name)) for name in names)
        if not all(np.isfinite(a).all() for a in (center, scatter, alpha)):
            raise ParameterError("`center`, `scatter` and `alpha` must be finite")
        validation.not_negative("kappa", kappa)
        if center.ndim == 0 or scatter.shape[-2:] != (center.shape[-1],) * 2:
            raise ShapeError(
                f"expected `center` of shape (*rows, d + 1) and `scatter` (*rows, d + 1, d + 1), "
                f"got {center.shape} and {scatter.shape}"
            )
        z = center.shape[-1]
        rows = common_shape(kappa=kappa.shape, center=center.shape[:-1], scatter=scatter.shape[:-2], alpha=alpha.shape)
        shapes = (rows, (*rows, z), (*rows, z, z), rows)
        for name, array, shape in zip(names, (kappa, center, scatter, alpha), shapes, strict=True):
            object.__setattr__(self, name, frozen(np.broadcast_to(array, shape)))

    def __repr__(self) -> str:
        Λ = self.scatter[..., :-1, :-1]
        return f"NIG(κ={shown(self.kappa)}, center={shown(self.center)}, Λ={shown(Λ)}, α={shown(self.alpha)})"

    # -- the usual choices

    @classmethod
    def none(cls, dim: int) -> RegressionPrior:
        """No prior cases: the posterior mean is least squares and RSS/n (maximum likelihood)."""
        return cls._improper(dim, 1.0)

    @classmethod
    def reference(cls, dim: int) -> RegressionPrior:
        """Jeffreys' p(a, b, σ²) ∝ 1/σ²: intervals are the classical ones, with n − d − 1 degrees of freedom."""
        return cls._improper(dim, -(dim + 1) / 2)

    @classmethod
    def ridge(cls, dim: int, precision: float) -> RegressionPrior:
        """Slopes near 0, intercept free: the posterior mean minimizes Σ(y − a − xᵀb)² + precision·|b|²."""
        return cls._improper(dim, 1.0, validation.number("precision", precision, above=0))

    @classmethod
    def unit_information(
        cls, dim: int, *, mean: float = 0.0, var: float = 1.0, x_mean: ArrayLike = 0.0, x_var: ArrayLike = 1.0,
        equivalent_sample_size: float = 1,
    ) -> RegressionPrior:  # fmt: skip
        """As if rows were seen whose y has this mean and variance and is independent of x; columns of x have theirs."""
        d = validation.integer("dim", dim, min_value=0)
        m = validation.number("equivalent_sample_size", equivalent_sample_size, above=0)
        means, spread = (
            np.append(np.broadcast_to(validation.float_array(name, x), d), validation.number(name, y))
            for name, x, y in (("mean", x_mean, mean), ("var", x_var, var))
        )
        validation.not_negative("var", spread)
        return cls(np.asarray(m), means, m * np.diag(spread), np.asarray(1 + m / 2))

    @classmethod
    def given(
        cls, coef: ArrayLike, precision: ArrayLike, *, alpha: float, beta: float,
        intercept: float = 0.0, kappa: float = 0.0, center: ArrayLike = 0.0,
    ) -> RegressionPrior:  # fmt: skip
        """b ~ N(coef, σ²·precision⁻¹), and independently of it the level at `center` ~ N(intercept + …, σ²/kappa)."""
        b = validation.float_array("coef", coef)
        Λ = validation.float_array("precision", precision)
        if b.ndim != 1 or Λ.shape != (len(b), len(b)):
            raise ShapeError(f"expected `coef` (d,) and `precision` (d, d), got {b.shape} and {Λ.shape}")
        c = np.broadcast_to(validation.float_array("center", center), b.shape)
        rate = 2 * validation.number("beta", beta, min_value=0)
        S = np.block([[Λ, (Λ @ b)[:, None]], [(b @ Λ)[None, :], np.array([[b @ Λ @ b + rate]])]])
        return cls(np.asarray(kappa), np.append(c, intercept + c @ b), S, np.asarray(alpha))

    @classmethod
    def _improper(cls, dim: int, alpha: float, precision: float = 0.0) -> RegressionPrior:
        z = validation.integer("dim", dim, min_value=0) + 1
        slopes = np.append(np.full(z - 1, precision), 0.0)
        return cls(np.zeros(()), np.zeros(z), np.diag(slopes), np.asarray(alpha))

    def of(self, shape: tuple[int, ...]) -> RegressionPrior:
        """The same prior for coefficients of shape (*rows, d)."""
        rows, z = shape[:-1], shape[-1] + 1
        center, scatter = fitted(self.center, (*rows, z), event=1), fitted(self.scatter, (*rows, z, z), event=2)
        return RegressionPrior(fitted(self.kappa, rows), center, scatter, fitted(self.alpha, rows))

    # -- evidence adds

    def plus(self, statistics: JointMoments) -> RegressionPrior:
        """The posterior: moments of the prior and of the data, merged."""
        both = JointMoments(self.kappa, self.center, np.zeros(self.scatter.shape)) + statistics
        return RegressionPrior(both.n, both.mean, self.scatter + both.scatter, self.alpha + statistics.n / 2)

    def log_normalizer(self) -> NDArray[np.float64]:
        """Log of ∫ of what is proportional to the density: ln Γ(α) − α ln β − ½ ln κ − ½ ln|Λ|."""
        L, _, β = self.require_proper("its evidence", error=ImproperPriorError)
        return gammaln(self.alpha) - self.alpha * np.log(β) - (np.log(self.kappa) + log_det(L)) / 2

    # -- what it says

    @property
    def dim(self) -> int:
        """The number of inputs."""
        return self.center.shape[-1] - 1

    @cached_property
    def solution(self) -> _Solution:
        """Slopes and noise, read off the scatter."""
        S = self.scatter
        L = cholesky(
            S[..., :-1, :-1],
            message="the inputs do not determine the coefficients: too few cases, a constant column or collinear ones",
            hint="give more cases, drop a column, or use a prior such as ridge(dim, precision)",
        )
        w = solve_lower(L, S[..., :-1, -1:])
        coef = np.asarray(np.linalg.solve(np.swapaxes(L, -1, -2), w)[..., 0], dtype=np.float64)
        rest = S[..., -1, -1] - (w * w).sum(axis=(-2, -1))
        return _Solution(L, coef, np.where(rest <= COLLINEAR * S[..., -1, -1], 0.0, rest) / 2)

    def mean(self) -> LinearParameters:
        """l − cᵀm, m and β/(α − 1)."""
        return self._divided(self.alpha - 1, "mean")

    def mode(self) -> LinearParameters:
        """l − cᵀm, m and β/(α + 1 + (d + 1)/2)."""
        return self._divided(self.alpha + 1 + (self.dim + 1) / 2, "mode")

    def _divided(self, by: NDArray[np.float64], what: str) -> LinearParameters:
        hint = "give more cases, or a prior such as unit_information(dim, ...)"
        require(self.kappa > 0, f"the {what} is undefined: it is based on no rows", hint=hint)
        require(by > 0, f"the {what} of the variance is undefined: it is based on too few rows", hint=hint)
        _, coef, β = self.solution
        return LinearParameters(self._intercept(coef), coef, np.asarray(β / by))

    def draw(self, random_state: np.random.Generator | int | None = None) -> LinearParameters:
        """σ² = β/g with g ~ Gamma(α), then b ~ N(m, σ²Λ⁻¹) and the level ~ N(l, σ²/κ)."""
        L, m, β = self.require_proper("a draw")
        random_state = validation.generator(random_state)
        var = np.asarray(β / random_state.standard_gamma(self.alpha))
        z = random_state.standard_normal((*m.shape, 1))
        b = m + np.sqrt(var)[..., None] * np.linalg.solve(np.swapaxes(L, -1, -2), z)[..., 0]
        level = np.sqrt(var / self.kappa) * random_state.standard_normal(var.shape)
        return LinearParameters(np.asarray(self._intercept(b) + level), b, var)

    def interval(self, level: float = 0.95) -> tuple[LinearParameters, LinearParameters]:
        """Equal-tailed bounds: coefficients are Student t with 2α degrees of freedom, 1/σ² is gamma."""
        L, m, β = self.require_proper("an interval")
        unit = solve_lower(L, np.broadcast_to(np.eye(self.dim), L.shape))  # L⁻¹: column norms are those of Λ⁻¹
        noise = β / self.alpha
        slopes = StudentT(2 * self.alpha[..., None], m, np.sqrt(noise[..., None] * (unit**2).sum(axis=-2)))
        at_zero = self.predictive(np.zeros((1, self.dim)), noise=0)
        (low_a, high_a), (low_b, high_b) = at_zero.interval(level), slopes.interval(level)
        low_v, high_v = inverse_gamma_interval(self.alpha, β, level)
        return LinearParameters(low_a[0], low_b, low_v), LinearParameters(high_a[0], high_b, high_v)

    def log_pdf(self, parameters: tuple[ArrayLike, ArrayLike, ArrayLike]) -> NDArray[np.float64]:
        """Log density of (a, b, σ²)."""
        L, m, β = self.require_proper("its density", error=ImproperPriorError)
        a, b = (np.asarray(p, dtype=float) for p in parameters[:2])
        var = positive(parameters[2])
        slopes = np.einsum("...ji,...j->...i", L, b - m)
        square = 2 * β + self.kappa * (a - self._intercept(b)) ** 2 + (slopes**2).sum(axis=-1)
        powers = (self.dim + 1) / 2 * (LOG_2PI + np.log(var)) + (self.alpha + 1) * np.log(var)
        return np.asarray(-square / (2 * var) - powers - self.log_normalizer())

    def predictive(self, X: NDArray[np.float64], *, noise: float = 1.0) -> StudentT:
        """y at each x: location l + (x − c)ᵀm, scale² = β/α (1 + 1/κ + (x − c)ᵀΛ⁻¹(x − c)); shape (n, *rows)."""
        L, m, β = self.require_proper("a prediction")
        c = self.center[..., :-1]
        location = np.empty((len(X), *self.kappa.shape))
        for row in np.ndindex(self.kappa.shape):
            location[:, *row] = self.center[row][-1] + (X - c[row]) @ m[row]
        spread = noise + 1 / self.kappa + squared_distances(X, c, L)
        dof = np.broadcast_to(2 * self.alpha, location.shape)
        return StudentT(dof, location, np.sqrt(β / self.alpha * spread))

    def _intercept(self, b: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(self.center[..., -1] - (self.center[..., :-1] * b).sum(axis=-1))

    def require_proper(self, what: str, *, error: type[BayeslearnError] = EvidenceError) -> _Solution:
        """Draws, densities and evidence need κ, α and β above 0 and Λ positive definite; returns the solution."""
        message = f"{what} is undefined: it takes more cases than coefficients, and some noise"
        hint = "give more cases, or a proper prior such as unit_information(dim, ...)"
        require((self.kappa > 0) & (self.alpha > 0), message, hint=hint, error=error)
        try:
            solution = self.solution
        except EvidenceError as singular:
            raise error(message, hint=hint, **singular.details) from None
        require(solution.beta > 0, message, hint=hint, error=error)
        return solution
