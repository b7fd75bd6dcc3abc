"""Multivariate normal likelihood with four kinds of covariance.

    x ~ N(μ, Σ)

    covariance     Σ                   prior                     statistics                   parameters' covariance
    full           its own, any        normal-inverse-Wishart    JointMoments (*rows, d)      (*rows, d, d)
    tied           any, all rows' one  normal-inverse-Wishart    JointMoments (*rows, d)      (d, d)
    diag           its own, diagonal   normal-inverse-gamma      Moments (*rows, d)           (*rows, d)
    spherical      its own, σ² I       normal-inverse-gamma      Moments (*rows, d)           rows

There are two mechanisms, not four: tied is full with the scatters pooled over the rows, spherical is diagonal with the
squared deviations pooled over the columns. The last two treat each cell separately, so a cell may be missing (NaN); the
first two need complete rows: statistics skip others, unless parameters give their expectation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np

from bayeslearn import validation
from bayeslearn.distributions.distribution import Distribution, Reach, register
from bayeslearn.distributions.moments import JointMoments, Moments, pooled, real_cells, require_squares, together
from bayeslearn.distributions.normal import (
    LOG_2PI,
    REGULAR,
    Normal,
    NormalInverseGamma,
    NormalParameters,
    collapse,
    enlarged,
    moments_log_likelihood,
    reach_of,
    require_spread,
    varies,
)
from bayeslearn.distributions.normal_inverse_wishart import (
    MultivariateParameters,
    NormalInverseWishart,
    expected_moments,
    log_densities,
)
from bayeslearn.distributions.student_t import IndependentT, cholesky, covariance_factor, inverse_of, log_det
from bayeslearn.distributions.sufficient_statistics import NOTHING, assign, common_shape
from bayeslearn.errors import ParameterError, ShapeError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.distributions.distribution import How
    from bayeslearn.distributions.student_t import MultivariateT
    from bayeslearn.distributions.sufficient_statistics import Assignment

Covariance = Literal["full", "tied", "diag", "spherical"]


@register("multivariate_gaussian")
@dataclass(frozen=True)
class MultivariateNormal(Distribution[Any, Any]):
    """A vector of `dim` numbers; see the module for the kinds of covariance.

    >>> points = MultivariateNormal(2, covariance="diag")
    >>> posterior = points.fit([[0, 1], [2, 5], [4, np.nan]], prior=points.none())
    >>> points.estimate(posterior)
    MultivariateParameters(mean=array([2., 3.]), covariance=array([2.66666667, 4. ]))
    """

    dim: int
    covariance: Covariance = "full"
    #: Known, and the same for all columns and rows of a spherical one: then only means are learned.
    variance: float | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        validation.integer("dim", self.dim, min_value=1)
        kinds = ["full", "tied", "diag", "spherical"] if self.variance is None else ["spherical"]
        object.__setattr__(self, "covariance", validation.choice("covariance", self.covariance, kinds))
        if self.variance is not None:
            validation.number("variance", self.variance, above=0)

    # -- priors, of the class that the kind takes

    def none(self) -> Any:
        """No prior cases: the posterior mean is maximum likelihood."""
        return NormalInverseWishart.none(self.dim) if self._joint else NormalInverseGamma.none()

    def reference(self, rows: tuple[int, ...] = ()) -> Any:
        """Jeffreys' prior: intervals of the means are the classical ones."""
        sharing = {"tied": math.prod(rows), "spherical": self.dim}.get(self.covariance, 1)
        if self._joint:
            return NormalInverseWishart.reference(self.dim, sharing)
        return NormalInverseGamma.reference(sharing)

    def unit_information(self, mean: ArrayLike, covariance: ArrayLike, equivalent_sample_size: float = 1) -> Any:
        """As if rows of this mean and covariance had been seen; the covariance is a matrix, d variances or one.

        Each kind takes what it can express. Every mean and every covariance gains this number of pseudo-rows.
        """
        d = self.dim
        m = validation.number("equivalent_sample_size", equivalent_sample_size, min_value=0)
        center = np.broadcast_to(validation.float_array("mean", mean), (d,))
        Σ = validation.float_array("covariance", covariance)
        if Σ.shape not in {(), (d,), (d, d)}:
            raise ShapeError(f"expected a covariance of shape ({d}, {d}), ({d},) or (), got {Σ.shape}")
        if self._joint:
            Σ = Σ if Σ.ndim == 2 else np.diag(np.broadcast_to(Σ, d))
            return NormalInverseWishart.unit_information(center, Σ, m)
        var = np.diagonal(Σ) if Σ.ndim == 2 else np.broadcast_to(Σ, d)
        if self.covariance == "diag":
            return NormalInverseGamma.unit_information(center, var, m)
        each = NormalInverseGamma.unit_information(0.0, var.mean(keepdims=True), m * d)  # σ² rests on d cells a case
        return NormalInverseGamma(center, np.full(d, m), each.alpha, each.beta)

    # -- the four steps

    def cells(self, x: ArrayLike) -> NDArray[np.float64]:
        """Rows of `dim` finite numbers; NaN is missing."""
        return real_cells(x, self.dim)

    def gather(self, cells: NDArray[np.float64], to: Assignment) -> Any:
        """n = Σ w, x̄ = Σ w x / n, and squared deviations: of each column, or the scatter matrix."""
        return (JointMoments if self._joint else Moments).collect(cells, to)

    def zero(self, rows: tuple[int, ...] = ()) -> Any:
        """No data."""
        return (JointMoments if self._joint else Moments).zero((*rows, self.dim))

    def update(self, prior: Any, statistics: Any) -> Any:
        """Moments of prior and data, merged."""
        return self._shaped(prior, statistics.mean.shape).plus(statistics)

    def estimate(
        self,
        posterior: Any,
        *,
        how: How = "mean",
        random_state: np.random.Generator | int | None = None,
        otherwise: Any = None,
    ) -> MultivariateParameters:
        """Parameters read off a posterior; the covariance in the shape of its kind."""
        shaped = self._shaped(posterior)
        rows = shaped.mu.shape[:-1]
        if self.variance is not None:
            mean = shaped.mu if otherwise is None else np.where(shaped.kappa > NOTHING, shaped.mu, otherwise[0])
            return MultivariateParameters(mean, np.full(rows, self.variance))
        mean, spread = super().estimate(shaped, how=how, random_state=random_state, otherwise=otherwise)
        return MultivariateParameters(mean, spread.reshape(self._shapes(rows)[1]))

    def log_evidence(self, prior: Any, statistics: Any) -> NDArray[np.float64]:
        """Log of the ratio of normalizers, − n d/2 ln 2π; one number in all when the rows are tied."""
        before = self._shaped(prior, statistics.mean.shape)
        if self.variance is not None:
            return self._known_evidence(before, statistics)
        gain = before.plus(statistics).log_normalizer() - before.log_normalizer()
        cells = pooled(statistics.n, gain.shape) * (self.dim if self._joint else 1)
        evidence = gain - cells / 2 * LOG_2PI
        if self.covariance == "tied":
            return evidence.reshape(())
        return np.asarray(evidence if self._joint else evidence.sum(axis=-1))

    def log_prob(
        self, parameters: tuple[ArrayLike, ArrayLike], x: ArrayLike, *, groups: ArrayLike | None = None
    ) -> NDArray[np.float64]:
        """−½ (d ln 2π + ln|Σ| + (x − μ)ᵀ Σ⁻¹ (x − μ)); missing cells are integrated out."""
        mean, Σ = self._parameters(parameters)
        cells = real_cells(x, self.dim)
        if not self._joint:
            var = np.broadcast_to(Σ, mean.shape)
            columns = [((mean[..., j], var[..., j]), cells[:, j]) for j in range(self.dim)]
            return sum(
                (Normal().log_prob(p, column, groups=groups) for p, column in columns[1:]),
                start=Normal().log_prob(*columns[0], groups=groups),
            )
        flat = log_densities(mean.reshape(-1, self.dim), Σ.reshape(-1, self.dim, self.dim), cells)
        if groups is None:
            return flat.reshape(len(cells), *mean.shape[:-1])
        if mean.ndim != 2:
            raise ShapeError(f"`groups` name one row of parameters each, but the rows have {mean.ndim - 1} axes")
        to = assign(len(cells), groups=groups, n_groups=len(mean)).groups
        assert to is not None
        return np.where(to < 0, 0.0, flat[np.arange(len(cells)), to])

    def predictive(self, posterior: Any) -> MultivariateT | IndependentT:
        """Student t: multivariate, or column by column."""
        t = self._shaped(posterior).predictive()
        return t if self._joint else IndependentT(t.dof, t.location, t.scale)

    def draw(
        self, parameters: tuple[ArrayLike, ArrayLike], n: int, random_state: np.random.Generator | int | None = None
    ) -> NDArray[np.float64]:
        """Vectors at random, (n, *rows, d)."""
        mean, Σ = self._parameters(parameters)
        if not self._joint:
            return Normal().draw((mean, Σ), n, random_state)
        z = validation.generator(random_state).standard_normal((n, *mean.shape))
        return mean + np.einsum("...ij,...j->...i", covariance_factor(Σ), z)

    def _known_evidence(self, prior: NormalInverseGamma, statistics: Moments) -> NDArray[np.float64]:
        """The evidence of means alone: −½ (n ln 2πσ² + (M + nκ/(n + κ) (x̄ − m)²) / σ²) + ½ ln κ/(κ + n)."""
        n, κ, σ2 = statistics.n, prior.kappa, self.variance
        assert σ2 is not None
        square = statistics.m2 + n * κ / (n + κ) * (statistics.mean - prior.mu) ** 2
        cells = -(n * (LOG_2PI + math.log(σ2)) + square / σ2) / 2 + np.log(κ / (κ + n)) / 2
        return cells.sum(axis=-1)

    # -- what learners ask

    points_of_columns: ClassVar[bool] = True

    @property
    def prior_types(self) -> tuple[type, ...]:
        """Of whole covariances or of variances."""
        return (NormalInverseWishart if self._joint else NormalInverseGamma,)

    @property
    def n_columns(self) -> int:
        """The length of a vector."""
        return self.dim

    @classmethod
    def accepts(cls, variables: Sequence[Any]) -> bool:
        """Columns of numbers."""
        return len(variables) > 0 and not any(hasattr(variable, "states") for variable in variables)

    @classmethod
    def over(cls, variables: Sequence[Any]) -> Self:
        """As many columns as there are variables."""
        return cls(len(variables))

    def expected(self, cells: NDArray[np.float64], to: Assignment, parameters: Any) -> Any:
        """The moments of cases, with what is missing in a row expected given what is there."""
        if not self._joint or not np.isnan(cells).any():
            return self.gather(cells, to)
        return expected_moments(parameters, cells, to.sample_weight)

    def like(self, parameters: Any, sample_size: float, *, center: float = 1.0, spread: float = 1.0) -> Any:
        """m cases of this mean and covariance; means count for `center` of them, covariances are `spread` of it."""
        mean, Σ = parameters
        prior = self.unit_information(mean, spread * np.asarray(Σ), sample_size)
        return prior if center == 1 else replace(prior, kappa=center * prior.kappa)

    def smoothed(self, pooled: Moments) -> MultivariateParameters:
        """The mean and the variances of the columns; 1 where all cells are alike."""
        return MultivariateParameters(*Normal().smoothed(pooled))

    def pooled(self, pooled: Moments, sample_size: float = 1.0, *, center: float = 1.0, spread: float = 1.0) -> Any:
        """m cases that look like all, column by column, given the moments of the columns."""
        mean, var = self.smoothed(pooled)
        scale = np.where(varies(together(pooled)), spread, 1.0)
        return self.like((mean, var * scale), sample_size, center=center)

    def require_range(self, cells: NDArray[np.float64], what: str) -> None:
        """Numbers whose squares can be added up."""
        require_squares(f"numbers in {what!r}", cells)

    def varies(self, pooled: Moments) -> bool:
        """Whether the numbers of every column differ."""
        return bool(varies(together(pooled)).all())

    def marginal(self) -> MultivariateNormal:
        """The marginals of the columns."""
        return MultivariateNormal(self.dim, "diag")

    def log_prior(self, prior: Any, parameters: Any) -> float:
        """The log likelihood of the cases that a prior stands for."""
        return float(np.sum(self._shaped(prior, np.shape(parameters[0])).log_cases(parameters)))

    def log_likelihood(self, statistics: Any, parameters: Any) -> NDArray[np.float64]:
        """−½ (n (d ln 2π + ln|Σ|) + tr (M + n δδᵀ) Σ⁻¹) with δ = x̄ − μ."""
        if not self._joint:
            return moments_log_likelihood(statistics, parameters)
        mean, Σ = parameters
        L = covariance_factor(np.broadcast_to(Σ, statistics.scatter.shape))
        δ = statistics.mean - mean
        square = statistics.scatter + statistics.n[..., None, None] * δ[..., :, None] * δ[..., None, :]
        inverse = inverse_of(L)
        trace = np.einsum("...ai,...ij,...aj->...", inverse, square, inverse)
        return -(statistics.n * (self.dim * LOG_2PI + log_det(L)) + trace) / 2

    def n_parameters(self, rows: int) -> int:
        """Means, and what of the covariances can be chosen."""
        d, full = self.dim, self.dim * (self.dim + 1) // 2
        if self.variance is not None:
            return rows * d
        return rows * d + {"full": rows * full, "tied": full, "diag": rows * d, "spherical": rows}[self.covariance]

    def take(self, parameters: Any, rows: NDArray[np.intp]) -> MultivariateParameters:
        """Some rows; a covariance that all share stays."""
        mean, Σ = parameters
        return MultivariateParameters(mean[rows], Σ if self.covariance == "tied" else Σ[rows])

    def require_regular(self, parameters: Any, what: str) -> None:
        """Covariances that have not collapsed in any direction."""
        Σ = np.asarray(parameters[1])
        require_spread(np.diagonal(Σ, axis1=-2, axis2=-1) if self._joint else Σ, what)
        if self._joint:
            cholesky(Σ, message=collapse(what), hint=REGULAR)

    def reach(self, parameters: Any) -> Reach:
        """The means, and the largest and smallest standard deviation of a column."""
        Σ = np.asarray(parameters[1])
        return reach_of(parameters[0], Σ, np.diagonal(Σ, axis1=-2, axis2=-1) if self._joint else None)

    def widened(self, parameters: Any, factor: float) -> MultivariateParameters:
        """σ · factor."""
        return MultivariateParameters(parameters[0], enlarged(parameters[1], factor))

    def marginals(self, parameters: Any) -> list[tuple[Distribution[Any, Any], Any]]:
        """A normal for each column."""
        mean = np.asarray(parameters[0])
        var = self.variances(parameters)
        return [(Normal(), NormalParameters(mean[:, c], var[:, c])) for c in range(self.dim)]

    def covariances(self, parameters: Any) -> NDArray[np.float64]:
        """The covariance matrix of each row, (rows, dim, dim), whatever the kind."""
        mean, Σ = (np.asarray(p) for p in parameters)
        if self._joint:
            return np.broadcast_to(Σ, (*mean.shape, self.dim))
        return self.variances(parameters)[..., None] * np.eye(self.dim)

    def variances(self, parameters: Any) -> NDArray[np.float64]:
        """The variance of each column in each row, (rows, dim)."""
        mean, Σ = (np.asarray(p) for p in parameters)
        k, d = mean.shape
        if self._joint:
            return np.diagonal(np.broadcast_to(Σ, (k, d, d)), axis1=1, axis2=2)
        return np.broadcast_to(Σ if Σ.ndim == 2 else Σ.reshape(k, 1), (k, d))

    def describe(self, parameters: Any, row: int, *, variable: Any = None, max_states: int = 3) -> str:  # noqa: ARG002
        """Mean ± standard deviation of each column."""
        parts = [each.describe(p, row) for each, p in self.marginals(parameters)]
        return ", ".join(parts[:max_states]) + (", …" if len(parts) > max_states else "")

    # -- what the kinds differ in

    @property
    def _joint(self) -> bool:
        return self.covariance in {"full", "tied"}

    def _shapes(self, rows: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The covariance as it broadcasts against the rows, and as users see it."""
        d = self.dim
        return {
            "full": ((*rows, d, d), (*rows, d, d)),
            "tied": ((*[1] * len(rows), d, d), (d, d)),
            "diag": ((*rows, d), (*rows, d)),
            "spherical": ((*rows, 1), rows),
        }[self.covariance]

    def _shaped(self, prior: Any, shape: tuple[int, ...] | None = None) -> Any:
        """The prior for means of `shape`, its covariances shared as the kind has it."""
        kind = NormalInverseWishart if self._joint else NormalInverseGamma
        if not isinstance(prior, kind):
            raise ParameterError(
                f"{self.covariance} covariance takes a prior of class {kind.__name__}, got {prior!r:.80}",
                hint="the family makes one that fits: none(), reference() or unit_information(mean, covariance)",
            )
        shape = common_shape(mu=prior.mu.shape, dim=(self.dim,)) if shape is None else shape
        broad = self._shapes(shape[:-1])[0]
        return prior.of(shape, broad[: len(shape) - 1] if self._joint else broad)

    def _parameters(self, parameters: tuple[ArrayLike, ArrayLike]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        mean = validation.float_array("mean", parameters[0])
        Σ = validation.float_array("covariance", parameters[1])
        if mean.ndim == 0 or mean.shape[-1] != self.dim:
            raise ShapeError(f"expected means of shape (*rows, {self.dim}), got {mean.shape}")
        broad, natural = self._shapes(mean.shape[:-1])
        if Σ.shape != natural:
            raise ShapeError(f"expected a {self.covariance} covariance of shape {natural}, got {Σ.shape}")
        return mean, Σ.reshape(broad)
