"""Gaussian emissions: columns are independent given the state, or have a full covariance.

If columns are independent, a missing value contributes nothing. Otherwise, if the coordinate h of a row is missing and
the others o are observed, a state of mean μ and covariance Σ expects

    x̂_h = μ_h + Σ_ho Σ_oo⁻¹ (x_o − μ_o)        and around it the covariance        Σ_hh − Σ_ho Σ_oo⁻¹ Σ_oh

Both are part of the statistics, so that EM also maximizes the likelihood with missing values.

Variances have a floor, far below what the data show: without it one row alone in a state would have an infinite
density.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from bayeslearn import validation
from bayeslearn.distributions import (
    Moments,
    MultivariateNormal,
    MultivariateParameters,
    NormalInverseGamma,
    NormalInverseWishart,
)
from bayeslearn.distributions.moments import in_range, real_cells, require_range, require_squares
from bayeslearn.distributions.normal import positive
from bayeslearn.distributions.student_t import covariance_factor
from bayeslearn.distributions.sufficient_statistics import frozen
from bayeslearn.errors import ShapeError
from bayeslearn.hmm.emission_statistics import Normals
from bayeslearn.hmm.emissions import Emissions
from bayeslearn.hmm.observations import number_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

#: The floor of a variance, as a share of that of the data.
FLOOR = 1e-9


class NormalBase(Emissions):
    """What both kinds share: means of named columns."""

    columns: tuple[str, ...]
    mean: Floats
    floor: Floats | float

    @property
    def n_states(self) -> int:
        """The number of states."""
        return len(self.mean)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The columns."""
        return self.columns

    many_columns: ClassVar[bool] = True
    by_moments: ClassVar[bool] = True

    def cells(self, x: Any) -> Floats:
        """Rows of finite numbers; NaN is missing."""
        return real_cells(number_rows(x), len(self.columns))

    def with_floor(self, cells: Floats | Moments) -> Self:
        """Variances that cannot fall below a small share of that of the data."""
        return self if np.all(self.floor) else replace(self, floor=FLOOR * spread_of(cells)[1])  # type: ignore[type-var]

    def centers(self) -> Floats:
        """The means of the first column."""
        return self.mean[:, 0]

    def _check_mean(self) -> Floats:
        mean = validation.float_array("mean", self.mean)
        mean = mean[:, None] if mean.ndim == 1 else mean
        if mean.ndim != 2 or mean.shape[1] != len(self.columns) or not np.isfinite(mean).all():
            raise ShapeError(f"expected finite means of shape (states, {len(self.columns)}), got {self.mean!r:.80}")
        object.__setattr__(self, "columns", tuple(self.columns))
        object.__setattr__(self, "mean", frozen(mean))
        return mean

    def _check_floor(self) -> Floats:
        return frozen(validation.not_negative("floor", validation.broadcast("floor", self.floor, self.mean.shape[1:])))

    @abstractmethod
    def _spreads(self, state: int) -> Floats:
        """The variance of each column in a state."""

    def describe(self, state: int, max_states: int = 3) -> str:
        """Mean ± deviation of each column."""
        spread = np.sqrt(self._spreads(state))
        parts = [f"{m:.4g} ± {s:.3g}" for m, s in zip(self.mean[state], spread, strict=True)]
        if len(parts) > 1:
            parts = [f"{name} {part}" for name, part in zip(self.columns, parts, strict=True)]
        return ", ".join(parts[:max_states]) + (", …" if len(parts) > max_states else "")


@dataclass(frozen=True, eq=False)
class GaussianEmissions(NormalBase):
    """Columns that are independent given the state, each normal: means and variances (S, columns).

    >>> GaussianEmissions(("heat",), [[10.0], [20.0]], [[4.0], [9.0]]).describe(0)
    '10 ± 2'
    """

    kind: ClassVar[str] = "gaussian"

    columns: tuple[str, ...]
    mean: Floats
    var: Floats
    floor: Floats | float = 0.0

    @classmethod
    def blank(cls, kind: Any, cells: Any, rows: int, names: tuple[str, ...] | None, symbols: Any) -> Self:  # noqa: ARG003
        """Means of 0 and variances of 1."""
        d = number_rows(cells).shape[1]
        columns = names or tuple(f"x{j}" for j in range(d))
        return cls(columns, np.zeros((rows, d)), np.ones((rows, d)))

    def __post_init__(self) -> None:
        mean = self._check_mean()
        var = validation.float_array("var", self.var)
        var = var[:, None] if var.ndim == 1 and len(var) == len(mean) else var
        object.__setattr__(self, "var", frozen(positive(validation.broadcast("var", var, mean.shape))))
        object.__setattr__(self, "floor", self._check_floor())

    @property
    def distribution(self) -> MultivariateNormal:
        """Columns that are independent given the state."""
        return MultivariateNormal(len(self.columns), "diag")

    def draw(self, states: NDArray[np.intp], random_state: np.random.Generator) -> Floats:
        """Random rows."""
        return self.mean[states] + np.sqrt(self.var[states]) * random_state.standard_normal(
            (len(states), len(self.columns))
        )

    def reading(self, cells: NDArray[Any]) -> Normals:
        """The reading by a kernel."""
        return Normals(cells, self.mean, self.var)

    def gather(self, cells: NDArray[Any], gamma: Floats) -> Moments:
        """Moments of each state and column."""
        reading = self.reading(cells)
        totals = reading.totals()
        reading.take_rows(slice(None), gamma, totals)
        return reading.statistics(totals)

    @property
    def parameters(self) -> MultivariateParameters:
        """Means and variances."""
        return MultivariateParameters(self.mean, self.var)

    def with_parameters(self, parameters: Any) -> Self:
        """Others, whose variances are not below the floor."""
        mean, var = parameters
        return replace(self, mean=mean, var=np.maximum(var, self.floor))

    def default_prior(self, cells: NDArray[Any] | Moments, equivalent_sample_size: float) -> NormalInverseGamma:
        """A prior with the mean and the variance of all rows."""
        return NormalInverseGamma.unit_information(*spread_of(cells), equivalent_sample_size)

    def _spreads(self, state: int) -> Floats:
        return self.var[state]


@dataclass(frozen=True, eq=False)
class FullGaussianEmissions(NormalBase):
    """Columns that depend on each other: means (S, d) and covariances (S, d, d)."""

    kind: ClassVar[str] = "full"
    label: ClassVar[str] = "gaussian, full covariance"

    columns: tuple[str, ...]
    mean: Floats
    covariance: Floats
    floor: Floats | float = 0.0

    @classmethod
    def blank(cls, kind: Any, cells: Any, rows: int, names: tuple[str, ...] | None, symbols: Any) -> Self:  # noqa: ARG003
        """Means of 0 and covariances of 1."""
        d = number_rows(cells).shape[1]
        columns = names or tuple(f"x{j}" for j in range(d))
        return cls(columns, np.zeros((rows, d)), np.repeat(np.eye(d)[None], rows, axis=0))

    def __post_init__(self) -> None:
        mean = self._check_mean()
        Σ = validation.float_array("covariance", self.covariance)
        if Σ.shape != (*mean.shape, mean.shape[1]):
            raise ShapeError(f"expected covariances of shape {(*mean.shape, mean.shape[1])}, got {Σ.shape}")
        object.__setattr__(self, "covariance", frozen(Σ))
        covariance_factor(Σ)  # is there one?
        object.__setattr__(self, "floor", self._check_floor())

    @property
    def distribution(self) -> MultivariateNormal:
        """Columns that depend on each other."""
        return MultivariateNormal(len(self.columns), "full")

    def draw(self, states: NDArray[np.intp], random_state: np.random.Generator) -> Floats:
        """Random rows."""
        z = random_state.standard_normal((len(states), len(self.columns)))
        return self.mean[states] + np.einsum("tij,tj->ti", covariance_factor(self.covariance)[states], z)

    @property
    def parameters(self) -> MultivariateParameters:
        """Means and covariances."""
        return MultivariateParameters(self.mean, self.covariance)

    def with_parameters(self, parameters: Any) -> Self:
        """Others, whose variances are not below the floor in any direction."""
        mean, Σ = parameters
        return replace(self, mean=mean, covariance=raised(np.asarray(Σ), np.asarray(self.floor)))

    def default_prior(self, cells: NDArray[Any] | Moments, equivalent_sample_size: float) -> NormalInverseWishart:
        """A prior with the mean and the variances of all rows."""
        mean, var = spread_of(cells)
        return NormalInverseWishart.unit_information(mean, np.diag(var), equivalent_sample_size)

    def first_statistics(self, cells: NDArray[Any], gamma: Floats) -> Any:
        """Those that the variances of all data expect."""
        mean, var = spread_of(cells)
        start = replace(
            self, mean=np.tile(mean, (self.n_states, 1)), covariance=np.tile(np.diag(var), (self.n_states, 1, 1))
        )
        return start.gather(cells, gamma)

    def _spreads(self, state: int) -> Floats:
        return np.diagonal(self.covariance[state])


### helpers


def spread_of(cells: Floats | Moments) -> tuple[Floats, Floats]:
    """Means and variances of columns, or of their moments; 1 for the variance of a column that does not vary."""
    require_squares("observations", cells.mean if isinstance(cells, Moments) else cells)
    with in_range():
        if isinstance(cells, Moments):
            mean, var = cells.mean, cells.var
        elif np.isnan(cells).any():
            seen = ~np.isnan(cells)
            n = np.maximum(seen.sum(axis=0), 1)
            mean = np.where(seen, cells, 0.0).sum(axis=0) / n
            var = np.where(seen, (cells - mean) ** 2, 0.0).sum(axis=0) / n
        else:
            mean, var = cells.mean(axis=0), cells.var(axis=0)
    require_range(mean, var)
    tiny = 1e-12 * np.maximum(np.abs(mean), 1.0)
    return mean, np.where(np.sqrt(var) > tiny, var, 1.0)


def raised(Σ: Floats, floor: Floats) -> Floats:
    """The nearest covariances in likelihood with no direction below the floor: eigenvalues of Σ/floor at least 1."""
    if not floor.all():
        return Σ
    root = np.sqrt(floor)
    scale = root[:, None] * root
    values, vectors = np.linalg.eigh(Σ / scale)
    if (values >= 1).all():
        return Σ
    lifted = np.einsum("sij,sj,skj->sik", vectors, np.maximum(values, 1.0), vectors) * scale
    fine = np.asarray((values >= 1).all(axis=1))[:, None, None]
    return np.where(fine, Σ, (lifted + np.swapaxes(lifted, 1, 2)) / 2)
