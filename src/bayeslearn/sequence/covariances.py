"""Numbers that depend on each other: normals with a full covariance; missing coordinates are integrated out.

Where a coordinate h of a row is missing and the others o are seen, a state of mean μ and covariance Σ expects

    x̂_h = μ_h + Σ_ho Σ_oo⁻¹ (x_o − μ_o)        and around it the covariance        Σ_hh − Σ_ho Σ_oo⁻¹ Σ_oh

Both go into the statistics, so that EM climbs also with holes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from bayeslearn import validation
from bayeslearn.distributions import Moments, MultivariateNormal, MultivariateParameters, NormalInverseWishart
from bayeslearn.distributions.cholesky import covariance_factor
from bayeslearn.distributions.sufficient_statistics import frozen
from bayeslearn.errors import ShapeError
from bayeslearn.sequence.normals import NormalBase, spread_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FullNormalEmissions(NormalBase):
    """Columns that depend on each other: means (S, d) and covariances (S, d, d)."""

    kind: ClassVar[str] = "full"

    columns: tuple[str, ...]
    mean: Floats
    covariance: Floats
    floor: Floats | float = 0.0

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

    def draw(self, states: NDArray[np.intp], rng: np.random.Generator) -> Floats:
        """Rows at random."""
        z = rng.standard_normal((len(states), len(self.columns)))
        return self.mean[states] + np.einsum("tij,tj->ti", covariance_factor(self.covariance)[states], z)

    @property
    def parameters(self) -> MultivariateParameters:
        """Means and covariances."""
        return MultivariateParameters(self.mean, self.covariance)

    def with_parameters(self, parameters: Any) -> Self:
        """Others, whose variances are not below the floor in any direction."""
        mean, Σ = parameters
        return replace(self, mean=mean, covariance=raised(np.asarray(Σ), np.asarray(self.floor)))

    def default_prior(self, cells: NDArray[Any] | Moments, cases: float) -> NormalInverseWishart:
        """So many cases of the mean and the variances of all rows."""
        mean, var = spread_of(cells)
        return NormalInverseWishart.unit_information(mean, np.diag(var), cases)

    def _spreads(self, state: int) -> Floats:
        return np.diagonal(self.covariance[state])


### helpers


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
