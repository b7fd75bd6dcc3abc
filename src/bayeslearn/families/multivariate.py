"""Multivariate normal likelihood with four kinds of covariance.

    x ~ N(μ, Σ)

    covariance     Σ                   prior                     statistics                   parameters' covariance
    full           its own, any        normal-inverse-Wishart    JointMoments (*rows, d)      (*rows, d, d)
    tied           any, all rows' one  normal-inverse-Wishart    JointMoments (*rows, d)      (d, d)
    diagonal       its own, diagonal   normal-inverse-gamma      Moments (*rows, d)           (*rows, d)
    spherical      its own, σ² I       normal-inverse-gamma      Moments (*rows, d)           rows

There are two mechanisms, not four: tied is full with the scatters pooled over the rows, spherical is diagonal with the
squared deviations pooled over the columns. The last two know each cell by itself, so a cell may be missing (NaN); the
first two see a case as a whole, and take it whole or not at all.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import ParameterError, ShapeError
from bayeslearn.families.assignment import assign
from bayeslearn.families.family import Family
from bayeslearn.families.linalg import log_det, squared_distances
from bayeslearn.families.moments import JointMoments, Moments, missing_rows, pooled, real_cells
from bayeslearn.families.normal import LOG_2PI, Normal, NormalInverseGamma
from bayeslearn.families.statistics import common_shape
from bayeslearn.families.student import IndependentT
from bayeslearn.families.wishart import MultivariateParameters, NormalInverseWishart, covariance_factor

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.families.assignment import Assignment
    from bayeslearn.families.family import How
    from bayeslearn.families.student import MultivariateT

Covariance = Literal["full", "tied", "diagonal", "spherical"]


@dataclass(frozen=True)
class MultivariateNormal(Family[Any, Any]):
    """A vector of `dim` numbers; see the module for the kinds of covariance.

    >>> points = MultivariateNormal(2, covariance="diagonal")
    >>> posterior = points.fit([[0, 1], [2, 5], [4, np.nan]], prior=points.none())
    >>> points.estimate(posterior)
    MultivariateParameters(mean=array([2., 3.]), covariance=array([2.66666667, 4. ]))
    """

    dim: int
    covariance: Covariance = "full"

    def __post_init__(self) -> None:
        validation.integer("dim", self.dim, least=1)
        validation.choice("covariance", self.covariance, ["full", "tied", "diagonal", "spherical"])

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

    def unit_information(self, mean: ArrayLike, covariance: ArrayLike, cases: float = 1) -> Any:
        """`cases` of this mean and covariance: a matrix, d variances or one; each kind takes what it can express.

        Every mean rests on so many cases more, and so does every covariance.
        """
        d = self.dim
        m = validation.number("cases", cases, least=0)
        centre = np.broadcast_to(validation.float_array("mean", mean), (d,))
        Σ = validation.float_array("covariance", covariance)
        if Σ.shape not in {(), (d,), (d, d)}:
            raise ShapeError(f"expected a covariance of shape ({d}, {d}), ({d},) or (), got {Σ.shape}")
        if self._joint:
            Σ = Σ if Σ.ndim == 2 else np.diag(np.broadcast_to(Σ, d))
            return NormalInverseWishart.unit_information(centre, Σ, m)
        var = np.diagonal(Σ) if Σ.ndim == 2 else np.broadcast_to(Σ, d)
        if self.covariance == "diagonal":
            return NormalInverseGamma.unit_information(centre, var, m)
        each = NormalInverseGamma.unit_information(0.0, var.mean(keepdims=True), m * d)  # σ² rests on d cells a case
        return NormalInverseGamma(centre, np.full(d, m), each.alpha, each.beta)

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
        self, posterior: Any, *, how: How = "mean", rng: np.random.Generator | int | None = None
    ) -> MultivariateParameters:
        """Parameters read off a posterior; the covariance in the shape of its kind."""
        mean, spread = super().estimate(self._shaped(posterior), how=how, rng=rng)
        return MultivariateParameters(mean, spread.reshape(self._shapes(mean.shape[:-1])[1]))

    def log_evidence(self, prior: Any, statistics: Any) -> NDArray[np.float64]:
        """Log of the ratio of normalisers, − n d/2 ln 2π; one number in all when the rows are tied."""
        before = self._shaped(prior, statistics.mean.shape)
        gain = before.plus(statistics).log_normaliser() - before.log_normaliser()
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
        L = np.broadcast_to(covariance_factor(Σ), (*mean.shape, self.dim))
        gone = missing_rows(cells)
        if groups is None:
            log_p = self._log_density(cells, mean, L)
            return np.where(gone.reshape(-1, *[1] * (log_p.ndim - 1)), 0.0, log_p)
        if mean.ndim != 2:
            raise ShapeError(f"`groups` name one row of parameters each, but the rows have {mean.ndim - 1} axes")
        log_p = np.zeros(len(cells))
        for (k,), _, cases in assign(len(cells), groups=groups, n_groups=len(mean)).parts():
            log_p[cases] = self._log_density(cells[cases], mean[k], L[k])
        return np.where(gone, 0.0, log_p)

    def predictive(self, posterior: Any) -> MultivariateT | IndependentT:
        """Student t: multivariate, or column by column."""
        t = self._shaped(posterior).predictive()
        return t if self._joint else IndependentT(t.dof, t.location, t.scale)

    def draw(
        self, parameters: tuple[ArrayLike, ArrayLike], n: int, rng: np.random.Generator | int | None = None
    ) -> NDArray[np.float64]:
        """Vectors at random, (n, *rows, d)."""
        mean, Σ = self._parameters(parameters)
        if not self._joint:
            return Normal().draw((mean, Σ), n, rng)
        z = validation.generator(rng).standard_normal((n, *mean.shape))
        return mean + np.einsum("...ij,...j->...i", covariance_factor(Σ), z)

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
            "diagonal": ((*rows, d), (*rows, d)),
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

    def _log_density(
        self, x: NDArray[np.float64], mean: NDArray[np.float64], factor: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        return -(self.dim * LOG_2PI + log_det(factor) + squared_distances(x, mean, factor)) / 2
