"""Numbers with outliers: Student's t with location μ, scale σ and ν degrees of freedom.

    p(x) = Γ((ν+1)/2) / (Γ(ν/2) √(νπ) σ) (1 + z²/ν)^(−(ν+1)/2)        z = (x − μ)/σ

It is a normal whose precision is scaled by a hidden u ~ Gamma(ν/2, ν/2). What is expected of it, given a case,

    E[u] = (ν + 1)/(ν + z²)        E[ln u] = ψ((ν+1)/2) − ln((ν + z²)/2)

makes outliers count for less, and statistics of normals with these weights are enough:

    μ = Σux/Σu        σ² = Σu(x − μ)²/n        ln(ν/2) − ψ(ν/2) + 1 + Σ(ln u − u)/n = 0

Without parameters every u is 1; learners weight the rows again with the estimated ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy.special import digamma, gammaln

from bayeslearn import validation
from bayeslearn.distributions.distribution import register
from bayeslearn.distributions.moments import Moments, real_cells
from bayeslearn.distributions.priors import CasesDistribution, PriorCases
from bayeslearn.distributions.sufficient_statistics import paired, remaining
from bayeslearn.errors import EvidenceError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.distributions.sufficient_statistics import Assignment

    Floats = NDArray[np.float64]

#: The degrees of freedom that are told apart: below, there are hardly moments; above, it is a normal.
DEGREES = (0.5, 200.0)


class HeavyTails(NamedTuple):
    """Location, squared scale and degrees of freedom."""

    location: Floats
    scale: Floats
    dof: Floats


@dataclass(frozen=True, eq=False)
class ScaledCases(PriorCases):
    """How many numbers, Σu, the mean and the squared deviations weighted by u, and Σ(u − ln u) − n."""

    likelihood: ClassVar[str] = "student_t"

    scales: Floats
    location: Floats
    squares: Floats
    excess: Floats

    @property
    def moments(self) -> Moments:
        """Those weighted by u."""
        return Moments(self.scales, self.location, self.squares)

    def __add__(self, other: Self) -> Self:
        self.require_same_kind(other)
        return self._of(self.n + other.n, self.moments + other.moments, self.excess + other.excess)

    def __sub__(self, other: Self) -> Self:
        self.require_same_kind(other)
        n, excess = remaining(self.n, other.n), remaining(self.excess, other.excess)
        return self._of(n, self.moments - other.moments, excess)

    def __mul__(self, factor: float) -> Self:
        return self._of(self.n * factor, self.moments * factor, self.excess * factor)

    def _of(self, n: Floats, moments: Moments, excess: Floats) -> Self:
        scales, location, squares = moments.arrays()
        return type(self)(n, scales, location, squares, excess)


@register("student_t")
@dataclass(frozen=True)
class HeavyTailed(CasesDistribution):
    """Numbers with outliers; NaN is missing."""

    centers_are_means: ClassVar[bool] = True
    n_free: ClassVar[int] = 3
    n_passes: ClassVar[int] = 20
    prior_type: ClassVar[Any] = ScaledCases

    def cells(self, x: ArrayLike) -> Floats:
        """Numbers; NaN is missing."""
        return real_cells(x)

    def gather(self, cells: Floats, to: Assignment) -> ScaledCases:
        """Every number as of a normal."""
        n, mean, squares = Moments.collect(cells, to).arrays()
        return ScaledCases(n, n, mean, squares, np.zeros(n.shape))

    def expected(self, cells: Floats, to: Assignment, parameters: Any) -> ScaledCases:
        """Numbers weighted by E[u], and what is expected of u − ln u."""
        seen = ~np.isnan(cells)
        to, x = to.only(seen), np.where(seen, cells, 0.0)
        μ, σ2, ν = (to.each(np.asarray(p, dtype=float)) for p in parameters)
        if to.sample_weight.ndim == 2:
            x = x[:, None]
        distance = ν + (x - μ) ** 2 / np.where(σ2 > 0, σ2, 1.0)
        u = (ν + 1) / np.where(distance > 0, distance, 1.0)
        scales, n = to.total(u * np.ones_like(distance)), to.sum()
        mean = to.total(u * x) / np.where(scales > 0, scales, 1.0)
        squares = to.total(u * (x - to.each(mean)) ** 2)
        logs = digamma((ν + 1) / 2) - np.log(np.where(distance > 0, distance, 1.0) / 2)
        return ScaledCases(n, scales, mean, squares, np.maximum(to.total(u - logs) - n, 0.0))

    def most_likely(self, statistics: ScaledCases) -> HeavyTails:
        """The weighted mean, Σu(x − μ)²/n, and ν by bisection."""
        low, high = (np.full(statistics.n.shape, np.log(ν)) for ν in DEGREES)
        excess = statistics.excess / statistics.n
        for _ in range(60):
            half = np.exp((low + high) / 2) / 2
            grows = np.log(half) - digamma(half) > excess
            low, high = np.where(grows, (low + high) / 2, low), np.where(grows, high, (low + high) / 2)
        return HeavyTails(statistics.location, statistics.squares / statistics.n, np.exp((low + high) / 2))

    def log_likelihood(self, statistics: ScaledCases, parameters: Any) -> Floats:
        """ln P of the numbers and of what is expected of their scales; without terms that no parameter changes."""
        μ, σ2, ν = (np.asarray(p, dtype=float) for p in parameters)
        square = statistics.squares + statistics.scales * (statistics.location - μ) ** 2
        of_scales = statistics.n * (ν / 2 * np.log(ν / 2) - gammaln(ν / 2) - ν / 2) - ν / 2 * statistics.excess
        return -(statistics.n * np.log(2 * np.pi * σ2) + square / σ2) / 2 + of_scales

    def log_prob(self, parameters: Any, x: ArrayLike, *, groups: ArrayLike | None = None) -> Floats:
        """The log density; 0 where x is missing."""
        x, μ, σ2, ν = paired(self.cells(x), groups, *(np.asarray(p, dtype=float) for p in parameters))
        constant = gammaln((ν + 1) / 2) - gammaln(ν / 2) - np.log(ν * np.pi * σ2) / 2
        return np.where(np.isnan(x), 0.0, constant - (ν + 1) / 2 * np.log1p((x - μ) ** 2 / (σ2 * ν)))

    def draw(self, parameters: Any, n: int, random_state: np.random.Generator | int | None = None) -> Floats:
        """Numbers at random."""
        μ, σ2, ν = parameters
        return μ + np.sqrt(σ2) * validation.generator(random_state).standard_t(ν, (n, *np.shape(μ)))

    def like(self, parameters: Any, sample_size: float, *, center: float = 1.0, spread: float = 1.0) -> ScaledCases:
        """m cases with the expected squares and scales; the location has the weight of `center` of them."""
        μ, σ2, ν = (np.asarray(p, dtype=float) for p in parameters)
        one, excess = np.ones(μ.shape), np.log(ν / 2) - digamma(ν / 2)
        return ScaledCases(
            sample_size * one, center * sample_size * one, μ, sample_size * spread * σ2, sample_size * excess
        )  # fmt: skip

    def varies(self, pooled: ScaledCases) -> bool:
        """Whether the numbers differ."""
        return bool(pooled.squares.sum() > 0)

    def average(self, parameters: Any, sample_weight: Floats) -> HeavyTails:
        """The mean location, squared scales with the spread of the locations, and the mean degrees of freedom."""
        μ, σ2, ν = parameters
        mean = sample_weight @ μ
        return HeavyTails(mean, sample_weight @ σ2 + sample_weight @ μ**2 - mean**2, sample_weight @ ν)

    def require_regular(self, parameters: Any, what: str) -> None:
        """Every scale is above 0."""
        if not (parameters[1] > 0).all():
            raise EvidenceError(
                f"{what}: numbers that are all alike have no scale", hint="give a prior, such as pooled:1"
            )

    def describe(self, parameters: Any, row: int, *, variable: Any = None, max_states: int = 3) -> str:  # noqa: ARG002
        """The location, the scale and the degrees of freedom."""
        return (
            f"{parameters[0][row]:.4g} ± {np.sqrt(parameters[1][row]):.3g}, {parameters[2][row]:.3g} degrees of freedom"
        )
