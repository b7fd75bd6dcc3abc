"""Angles: directions, times of day, phases, in radians.

    p(x) = e^(κ cos(x − μ)) / 2π I₀(κ)        statistics n, Σ cos x, Σ sin x        I₁(κ)/I₀(κ) = R̄

R̄ is the length of the mean of the vectors (cos x, sin x), and μ is its direction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from scipy.special import i0e, i1e

from bayeslearn import validation
from bayeslearn.distributions.distribution import register
from bayeslearn.distributions.moments import real_cells
from bayeslearn.distributions.priors import CasesDistribution, PriorCases
from bayeslearn.distributions.sufficient_statistics import paired

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.distributions.sufficient_statistics import Assignment

    Floats = NDArray[np.float64]

#: The largest concentration: angles that are nearly all alike.
MAX_CONCENTRATION = 1e6


class Direction(NamedTuple):
    """The mean angle and the concentration around it."""

    mean: Floats
    concentration: Floats


@dataclass(frozen=True, eq=False)
class VonMisesCases(PriorCases):
    """How many angles, the sum of their cosines, and the sum of their sines."""

    likelihood: ClassVar[str] = "von_mises"

    cosines: Floats
    sines: Floats


def mean_length(concentration: Floats) -> Floats:
    """I₁(κ)/I₀(κ): the expected length of the mean vector."""
    return i1e(concentration) / i0e(concentration)


@register("von_mises")
@dataclass(frozen=True)
class VonMises(CasesDistribution):
    """Angles in radians, at any turn; NaN is missing.

    >>> found = VonMises().fit([0.1, 6.2, 0.0], prior=VonMisesCases.none()).mean()
    >>> round(float(found.mean), 4)
    0.0056
    """

    centers_are_means: ClassVar[bool] = True
    prior_type: ClassVar[Any] = VonMisesCases

    def cells(self, x: ArrayLike) -> Floats:
        """Angles; NaN is missing."""
        return real_cells(x)

    def gather(self, cells: Floats, to: Assignment) -> VonMisesCases:
        """Σ w, Σ w cos x and Σ w sin x."""
        seen = ~np.isnan(cells)
        to, x = to.only(seen), np.where(seen, cells, 0.0)
        return VonMisesCases(to.sum(), to.sum(np.cos(x)), to.sum(np.sin(x)))

    def most_likely(self, statistics: VonMisesCases) -> Direction:
        """The direction of the mean vector, and κ of its length by Newton's method."""
        length = np.clip(
            np.hypot(statistics.cosines, statistics.sines) / statistics.n, 0.0, mean_length(np.array(MAX_CONCENTRATION))
        )
        κ = length * (2 - length**2) / (1 - length**2)
        for _ in range(8):
            a = mean_length(κ)
            slope = 1 - a * a - np.where(κ > 0, a / np.where(κ > 0, κ, 1.0), 0.5)
            κ = np.clip(κ - (a - length) / slope, 0.0, MAX_CONCENTRATION)
        return Direction(np.arctan2(statistics.sines, statistics.cosines), κ)

    def log_likelihood(self, statistics: VonMisesCases, parameters: Any) -> Floats:
        """κ (cos μ Σ cos x + sin μ Σ sin x) − n ln 2π I₀(κ)."""
        μ, κ = parameters
        along = np.cos(μ) * statistics.cosines + np.sin(μ) * statistics.sines
        return np.asarray(κ * (along - statistics.n) - statistics.n * np.log(2 * np.pi * i0e(κ)))

    def log_prob(self, parameters: Any, x: ArrayLike, *, groups: ArrayLike | None = None) -> Floats:
        """κ cos(x − μ) − ln 2π I₀(κ); 0 where x is missing."""
        x, μ, κ = paired(self.cells(x), groups, *(np.asarray(p, dtype=float) for p in parameters))
        return np.where(np.isnan(x), 0.0, κ * (np.cos(x - μ) - 1) - np.log(2 * np.pi * i0e(κ)))

    def draw(self, parameters: Any, n: int, random_state: np.random.Generator | int | None = None) -> Floats:
        """Angles at random, from −π to π."""
        μ, κ = parameters
        return validation.generator(random_state).vonmises(μ, κ, (n, *np.shape(μ)))

    def like(self, parameters: Any, sample_size: float, *, center: float = 1.0, spread: float = 1.0) -> VonMisesCases:  # noqa: ARG002
        """m cases with the expected mean vector."""
        μ, κ = (np.asarray(p, dtype=float) for p in parameters)
        length = mean_length(κ)
        return VonMisesCases(np.ones(μ.shape), length * np.cos(μ), length * np.sin(μ)) * sample_size

    def average(self, parameters: Any, sample_weight: Floats) -> Direction:
        """The one with the mean vector of the rows."""
        return self.most_likely(VonMisesCases(*(sample_weight @ a for a in self.like(parameters, 1.0).arrays())))

    def points(self, cells: Floats) -> Floats:
        """Cosines and sines; a missing angle is in the middle."""
        return np.nan_to_num(np.column_stack([np.cos(cells), np.sin(cells)]))

    def describe(self, parameters: Any, row: int, *, variable: Any = None, max_states: int = 3) -> str:  # noqa: ARG002
        """The mean angle and the concentration."""
        return f"{parameters[0][row]:.4g} rad, concentration {parameters[1][row]:.3g}"
