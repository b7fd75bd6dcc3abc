"""The normal-inverse-Wishart, a distribution of a mean vector and a covariance matrix, and cases with missing cells.

    μ | Σ ~ N(m, Σ/κ)        Σ ~ InverseWishart(ν, Ψ)        p(Σ) ∝ |Σ|^−(ν+d+1)/2 exp(−½ tr Ψ Σ⁻¹)

The normal-inverse-gamma of :mod:`.normal` is its case d = 1, with ν = 2α and Ψ = 2β, and like there the prior is
evidence: (κ, m, Ψ) + (n, x̄, M) = (κ', m', Ψ') by the merge of moments, ν' = ν + n.

What the improper priors (κ = 0, Ψ = 0) give, with M the scatter of n cases and one mean per covariance:

    prior         ν            mean of Σ           mode of Σ
    none          d + 1        M / n               M / (n + 2d + 3)
    flat         −(d + 2)      M / (n − 2d − 3)    M / n
    reference    −1            M / (n − d − 2)     M / (n + d + 1)

Of multivariate normals with missing cells what is there decides, and what is missing is expected.

    ln p(x_o) with the seen rows and columns of Σ          E[x_m | x_o] = μ_m + B (x_o − μ_o)          B = Σ_mo Σ_oo⁻¹

Rows that show the same cells are taken together. Sums are about the present means, so nothing cancels:

    n, Σ r δ, Σ r δδᵀ  →  (n, μ + Σrδ/n, Σrδδᵀ − (Σrδ)(Σrδ)ᵀ/n)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import multigammaln

from bayeslearn import validation
from bayeslearn.distributions.moments import JointMoments, Moments, in_range, pooled
from bayeslearn.distributions.normal import LOG_2PI, inverse_gamma_interval
from bayeslearn.distributions.student_t import (
    MultivariateT,
    StudentT,
    cholesky,
    covariance_factor,
    inverse_of,
    log_det,
    solve_lower,
)
from bayeslearn.distributions.sufficient_statistics import (
    NOTHING,
    common_shape,
    fitted,
    frozen,
    kept,
    ratio,
    require,
    shown,
)
from bayeslearn.errors import EvidenceError, ImproperPriorError, ParameterError, ShapeError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.errors import BayeslearnError

    Floats = NDArray[np.float64]


class MultivariateParameters(NamedTuple):
    """A mean vector (*rows, d) and a covariance, whose shape depends on its kind.

    full (*rows, d, d), tied (d, d), diagonal (*rows, d), spherical rows.
    """

    mean: NDArray[np.float64]
    covariance: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class NormalInverseWishart:
    """κ pseudo-rows of mean m; ν and Ψ are the spread of the covariance.

    `mu` (*rows, d) and `kappa` rows; `nu` rows and `psi` (*rows, d, d), unless the means along axes of length 1
    share one covariance.

    >>> NormalInverseWishart.unit_information([0, 0], [[1, 0], [0, 4]], equivalent_sample_size=2)
    NIW(μ=[0, 0], κ=2, ν=5, Ψ=[[2, 0], [0, 8]])
    """

    mu: NDArray[np.float64]
    kappa: NDArray[np.float64]
    nu: NDArray[np.float64]
    psi: NDArray[np.float64]

    def __post_init__(self) -> None:
        mu, kappa, nu, psi = (validation.float_array(f, getattr(self, f)) for f in ("mu", "kappa", "nu", "psi"))
        if not all(np.isfinite(a).all() for a in (mu, nu, psi)):
            raise ParameterError("`mu`, `nu` and `psi` must be finite")
        validation.not_negative("kappa", kappa)
        if mu.ndim == 0 or psi.shape[-2:] != (mu.shape[-1],) * 2:
            raise ShapeError(f"expected `mu` of shape (*rows, d) and `psi` (*rows, d, d), got {mu.shape}, {psi.shape}")
        if not np.allclose(psi, np.swapaxes(psi, -1, -2), rtol=1e-8, atol=0):
            raise ParameterError("`psi` must be symmetric")
        validation.not_negative("diagonal of psi", np.diagonal(psi, axis1=-2, axis2=-1))
        d = mu.shape[-1]
        rows = common_shape(mu=mu.shape[:-1], kappa=kappa.shape, nu=nu.shape, psi=psi.shape[:-2])
        shared = common_shape(nu=nu.shape, psi=psi.shape[:-2])
        shared = shared if len(shared) == len(rows) else rows
        for name, array, shape in (
            ("mu", mu, (*rows, d)),
            ("kappa", kappa, rows),
            ("nu", nu, shared),
            ("psi", psi, (*shared, d, d)),
        ):
            object.__setattr__(self, name, frozen(np.broadcast_to(array, shape)))

    def __repr__(self) -> str:
        return f"NIW(μ={shown(self.mu)}, κ={shown(self.kappa)}, ν={shown(self.nu)}, Ψ={shown(self.psi)})"

    # -- the usual choices; the table above says what the improper ones give

    @classmethod
    def none(cls, dim: int) -> NormalInverseWishart:
        """No prior cases: the posterior mean is the sample mean and M/n (maximum likelihood)."""
        return cls._improper(dim, dim + 1)

    @classmethod
    def flat(cls, dim: int, sharing: int = 1) -> NormalInverseWishart:
        """Every (μ, Σ) equally probable, when `sharing` means share Σ: the posterior mode is maximum likelihood."""
        return cls._improper(dim, -(dim + 1 + sharing))

    @classmethod
    def reference(cls, dim: int, sharing: int = 1) -> NormalInverseWishart:
        """Jeffreys' p(μ, Σ) ∝ |Σ|^−(d+1)/2, when `sharing` means share Σ."""
        return cls._improper(dim, -sharing)

    @classmethod
    def unit_information(
        cls, mean: ArrayLike, covariance: ArrayLike, equivalent_sample_size: float = 1
    ) -> NormalInverseWishart:
        """As if m rows of this mean and covariance were seen: E[Σ] = (M + m Σ₀ + …) / (n + m), `none` when m = 0."""
        m = validation.number("equivalent_sample_size", equivalent_sample_size, min_value=0)
        Σ = validation.float_array("covariance", covariance)
        if Σ.ndim < 2:
            raise ShapeError(f"expected a covariance matrix, got shape {Σ.shape}")
        d = Σ.shape[-1]
        mean = validation.float_array("mean", mean)
        mean = np.broadcast_to(mean, d) if mean.ndim == 0 else mean
        return cls(mean, np.asarray(m), np.asarray(d + 1 + m), m * Σ)

    @classmethod
    def _improper(cls, dim: int, nu: float) -> NormalInverseWishart:
        d = validation.integer("dim", dim, min_value=1)
        return cls(np.zeros(d), np.zeros(()), np.asarray(nu), np.zeros((d, d)))

    @kept
    def of(self, shape: tuple[int, ...], covariances: tuple[int, ...] | None = None) -> NormalInverseWishart:
        """The same prior for means of shape (*rows, d), each with its own Σ unless `covariances` shares them."""
        rows, d = shape[:-1], shape[-1]
        shared = rows if covariances is None else covariances
        mu, kappa = fitted(self.mu, shape, event=1), fitted(self.kappa, rows)
        nu, psi = fitted(self.nu, shared, shares=True), fitted(self.psi, (*shared, d, d), event=2, shares=True)
        return NormalInverseWishart(mu, kappa, nu, psi)

    # -- evidence adds

    def plus(self, statistics: JointMoments) -> NormalInverseWishart:
        """The posterior: moments of the prior and of the data merged, scatters pooled where Σ is shared."""
        both = JointMoments(self.kappa, self.mu, np.zeros((*self.mu.shape, self.dim))) + statistics
        n, scatter = pooled(statistics.n, self.nu.shape), pooled(both.scatter, self.psi.shape)
        return NormalInverseWishart(both.mean, both.n, self.nu + n, self.psi + scatter)

    def log_normalizer(self) -> NDArray[np.float64]:
        """Log of ∫ of what is proportional to the density: ln Γ_d(ν/2) + νd/2 ln 2 − ν/2 ln|Ψ| − d/2 Σ ln κ."""
        factor = self.require_proper("its evidence", error=ImproperPriorError)
        powers = self.nu / 2 * (self.dim * np.log(2) - log_det(factor))
        return multigammaln(self.nu / 2, self.dim) + powers - self.dim / 2 * pooled(np.log(self.kappa), self.nu.shape)

    # -- what it says

    @property
    def dim(self) -> int:
        """The length of the mean vector."""
        return self.mu.shape[-1]

    @property
    def sharing(self) -> float:
        """How many means share one covariance."""
        return self.kappa.size / max(self.nu.size, 1)

    def mean(self, otherwise: Any = None) -> MultivariateParameters:
        """m and Ψ/(ν − d − 1); those of `otherwise`, where given, in rows without cases."""
        if otherwise is not None:
            mean, Σ = (np.asarray(part, dtype=np.float64) for part in otherwise)
            cases = (self.nu - self.dim - 1)[..., None, None]
            Σ = np.where(cases > NOTHING, ratio(self.psi, cases), Σ.reshape(self.psi.shape))
            return MultivariateParameters(np.where(self.kappa[..., None] > NOTHING, self.mu, mean), Σ)
        return self._divided(self.nu - self.dim - 1, "mean", "use the mode, give more cases")

    def log_cases(self, parameters: tuple[ArrayLike, ArrayLike]) -> NDArray[np.float64]:
        """−½ ((ν − d − 1) ln|Σ| + tr (Ψ + κ δδᵀ) Σ⁻¹) with δ = μ − m, one number per covariance."""
        mean, Σ = (np.asarray(p, dtype=np.float64) for p in parameters)
        L = covariance_factor(np.broadcast_to(Σ, self.psi.shape))
        inverse = inverse_of(L)
        precision = np.swapaxes(inverse, -1, -2) @ inverse
        δ = mean - self.mu
        spread = np.einsum("...i,...ij,...j->...", δ, np.broadcast_to(precision, (*δ.shape, self.dim)), δ)
        own = (self.nu - self.dim - 1) * log_det(L) + (self.psi * precision).sum(axis=(-2, -1))
        return -(own + pooled(self.kappa * spread, self.nu.shape)) / 2

    def mode(self) -> MultivariateParameters:
        """m and Ψ/(ν + d + 1 + L), where L means share the covariance."""
        return self._divided(self.nu + self.dim + 1 + self.sharing, "mode", "give more cases")

    def _divided(self, by: NDArray[np.float64], what: str, hint: str) -> MultivariateParameters:
        require(
            self.kappa > 0,
            f"the {what} is undefined: it is based on no rows",
            hint="give a prior with pseudo-rows, for instance unit_information(...)",
        )
        require(
            by > 0,
            f"the {what} of the covariance is undefined: it is based on too few rows",
            hint=f"{hint}, or a prior such as unit_information(...)",
        )
        return MultivariateParameters(self.mu, self.psi / by[..., None, None])

    def draw(self, random_state: np.random.Generator | int | None = None) -> MultivariateParameters:
        """Σ = (A⁻¹Lᵀ)ᵀ(A⁻¹Lᵀ) with Ψ = LLᵀ and Bartlett's triangular A, then μ ~ N(m, Σ/κ)."""
        factor = self.require_proper("a draw")
        random_state, d = validation.generator(random_state), self.dim
        A = np.tril(random_state.standard_normal(self.psi.shape), -1)
        A[..., range(d), range(d)] = np.sqrt(random_state.chisquare(self.nu[..., None] - np.arange(d)))
        root = solve_lower(A, np.swapaxes(factor, -1, -2))
        z = random_state.standard_normal(self.mu.shape) / np.sqrt(self.kappa)[..., None]
        return MultivariateParameters(
            self.mu + np.einsum("...ji,...j->...i", root, z), np.swapaxes(root, -1, -2) @ root
        )

    def interval(self, level: float = 0.95) -> tuple[MultivariateParameters, MultivariateParameters]:
        """Equal-tailed bounds of each mean (Student t) and of each variance, the diagonal of Σ: shape (*rows, d)."""
        self.require_proper("an interval")
        dof = (self.nu - self.dim + 1)[..., None]
        variances = np.diagonal(self.psi, axis1=-2, axis2=-1)
        mean = StudentT(dof, self.mu, np.sqrt(variances / (dof * self.kappa[..., None]))).interval(level)
        var = inverse_gamma_interval(dof / 2, variances / 2, level)
        return MultivariateParameters(mean[0], var[0]), MultivariateParameters(mean[1], var[1])

    def log_pdf(self, parameters: tuple[ArrayLike, ArrayLike]) -> NDArray[np.float64]:
        """Log density of (μ, Σ), one number per covariance."""
        mean, Σ = (np.asarray(p, dtype=float) for p in parameters)
        L = covariance_factor(np.broadcast_to(Σ, self.psi.shape))
        trace = (solve_lower(L, self.require_proper("its density", error=ImproperPriorError)) ** 2).sum(axis=(-2, -1))
        z = solve_lower(L, (mean - self.mu)[..., None])[..., 0]
        normal = -(self.dim * LOG_2PI + log_det(L) + self.kappa * (z * z).sum(axis=-1)) / 2
        wishart = -((self.nu + self.dim + 1) * log_det(L) + trace) / 2
        return pooled(np.asarray(normal), self.nu.shape) + wishart - self.log_normalizer()

    def predictive(self) -> MultivariateT:
        """One more case: Student t with ν − d + 1 degrees of freedom and scale Ψ (1 + 1/κ) / (ν − d + 1)."""
        factor = self.require_proper("a prediction")
        dof = np.broadcast_to(self.nu - self.dim + 1, self.kappa.shape)
        return MultivariateT(dof, self.mu, factor * np.sqrt((1 + 1 / self.kappa) / dof)[..., None, None])

    def require_proper(self, what: str, *, error: type[BayeslearnError] = EvidenceError) -> NDArray[np.float64]:
        """Draws, densities and evidence need κ > 0, ν > d − 1 and Ψ positive definite; its Cholesky factor."""
        message = f"{what} is undefined: it takes more cases than columns, and columns that differ"
        hint = "give more cases, or a proper prior such as unit_information(mean, covariance)"
        known = pooled((self.kappa <= 0).astype(float), self.nu.shape) == 0
        require(known & (self.nu > self.dim - 1), message, hint=hint, error=error)
        return cholesky(self.psi, message=message, hint=hint, error=error)


def log_densities(mean: Floats, Σ: Floats, x: Floats) -> Floats:
    """ln p of the cells that are there, (n, k), for means (k, d)."""
    log_p = np.zeros((len(x), len(mean)))
    for rows, seen in patterns(x):
        if seen.any():
            L = covariance_factor(spread(Σ, mean.shape)[:, seen][:, :, seen])
            with np.errstate(over="ignore", invalid="ignore"):  # so far away that the density is 0
                z = (x[rows][:, seen] - mean[:, None, seen]) @ np.swapaxes(inverse_of(L), 1, 2)
                squares = (z * z).sum(axis=2).T
            squares[np.isnan(squares)] = np.inf
            log_p[rows] = -(seen.sum() * LOG_2PI + log_det(L) + squares) / 2
    return log_p


def expected_moments(parameters: Any, x: Floats, shares: Floats) -> JointMoments:
    """The moments of the cases, with what is missing expected, for shares (n, k)."""
    mean, Σ = parameters
    n, first = np.zeros(len(mean)), np.zeros(mean.shape)
    second = np.zeros((*mean.shape, mean.shape[1]))
    for rows, seen in patterns(x):
        if not seen.any():
            continue
        w, δ = shares[rows].T, x[rows] - mean[:, None]  # (k, n) and (k, n, d)
        n += w.sum(axis=1)
        if not seen.all():
            B, C = regression(spread(Σ, mean.shape), seen)
            δ[:, :, ~seen] = δ[:, :, seen] @ np.swapaxes(B, 1, 2)
            m = np.flatnonzero(~seen)
            second[:, m[:, None], m] += w.sum(axis=1)[:, None, None] * C
        first += (w[:, None] @ δ)[:, 0]
        second += np.swapaxes(w[:, :, None] * δ, 1, 2) @ δ
    return moved(mean, n, first, second)


def patterns(x: Floats) -> Iterator[tuple[NDArray[np.intp] | slice, NDArray[np.bool_]]]:
    """Rows that show the same cells, and which these are."""
    holes = np.isnan(x)
    if not holes.any():
        yield slice(None), np.ones(x.shape[1], np.bool_)
        return
    _, group = np.unique(np.packbits(holes, axis=1), axis=0, return_inverse=True)
    order = np.argsort(group.ravel(), kind="stable")
    for rows in np.split(order, np.cumsum(np.bincount(group.ravel()))[:-1]):
        yield rows, ~holes[rows[0]]


def regression(Σ: Floats, seen: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """B and Cov[x_m | x_o] of every component."""
    inverse = inverse_of(covariance_factor(Σ[:, seen][:, :, seen]))
    half = inverse @ Σ[:, seen][:, :, ~seen]  # L⁻¹ Σ_om
    turned = np.swapaxes(half, 1, 2)
    return turned @ inverse, Σ[:, ~seen][:, :, ~seen] - turned @ half


def spread(Σ: Floats, shape: tuple[int, ...]) -> Floats:
    """A covariance for every component, also where they share one."""
    return np.broadcast_to(Σ, (*shape, shape[1]))


def moved(mean: Floats, n: Floats, first: Floats, second: Floats) -> Any:
    """Sums about the present means as moments."""
    with in_range():
        if second.ndim == 2:
            return Moments(n, mean + ratio(first, n), np.maximum(second - ratio(first, n) * first, 0.0))
        shift = ratio(first, n[:, None])
        scatter = second - shift[:, :, None] * first[:, None, :]
    return JointMoments(n, mean + shift, (scatter + np.swapaxes(scatter, 1, 2)) / 2)
