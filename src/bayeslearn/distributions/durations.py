"""Positive numbers: waiting times, amounts, sizes.

exponential   p(x) = λ e^(−λx)                          λ ~ Gamma(a, b), conjugate: a + n, b + Σx
gamma         p(x) = b^a/Γ(a) x^(a−1) e^(−bx)           statistics n, Σx, Σ ln x; the shape by Newton's method
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from scipy.special import digamma, gammaln, polygamma

from bayeslearn import validation
from bayeslearn.distributions.distribution import Distribution, register, standardized
from bayeslearn.distributions.moments import real_cells
from bayeslearn.distributions.poisson import Gamma
from bayeslearn.distributions.priors import CasesDistribution, PriorCases
from bayeslearn.distributions.sufficient_statistics import Statistics, paired, ratio
from bayeslearn.errors import DataError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.distributions.sufficient_statistics import Assignment

    Floats = NDArray[np.float64]

#: The largest shape: numbers that are nearly all alike.
MAX_SHAPE = 1e8


def positive_cells(x: ArrayLike, *, zero: bool) -> Floats:
    """Numbers above 0, or from 0 on; NaN is missing."""
    cells = real_cells(x)
    odd = (cells < 0) | ((cells == 0) & (not zero))
    if odd.any():
        raise DataError(
            f"expected numbers {'not below' if zero else 'above'} 0, got {cells[odd][0]:g} at position "
            f"{validation.first_position(odd)}",
            hint="NaN marks a missing number",
        )
    return cells


### exponential


@dataclass(frozen=True, eq=False)
class Durations(Statistics):
    """How many numbers, and their sum."""

    n: Floats
    total: Floats


@register("exponential")
@dataclass(frozen=True)
class Exponential(Distribution[Durations, Gamma]):
    """Waiting times; NaN is missing.

    >>> Exponential().fit([2.0, 4.0], prior=Gamma(1, 3))
    Gamma(a=3, b=9)
    """

    centers_are_means: ClassVar[bool] = True
    prior_type: ClassVar[Any] = Gamma

    def cells(self, x: ArrayLike) -> Floats:
        """Numbers from 0 on; NaN is missing."""
        return positive_cells(x, zero=True)

    def gather(self, cells: Floats, to: Assignment) -> Durations:
        """Σ w and Σ w x."""
        seen = ~np.isnan(cells)
        return Durations(to.only(seen).sum(), to.only(seen).sum(np.where(seen, cells, 0.0)))

    def zero(self, rows: tuple[int, ...] = ()) -> Durations:
        """No data."""
        return Durations(np.zeros(rows), np.zeros(rows))

    def update(self, prior: Gamma, statistics: Durations) -> Gamma:
        """a + n, b + Σx."""
        before = prior.of(statistics.n.shape)
        return Gamma(before.shape + statistics.n, before.rate + statistics.total)

    def log_evidence(self, prior: Gamma, statistics: Durations) -> Floats:
        """a ln b − ln Γ(a) − (a + n) ln(b + Σx) + ln Γ(a + n)."""
        before, after = prior.of(statistics.n.shape), self.update(prior, statistics)
        before.require_proper()
        gain = [p.shape * np.log(p.rate) - gammaln(p.shape) for p in (before, after)]
        return np.asarray(gain[0] - gain[1])

    def log_prob(self, parameters: ArrayLike, x: ArrayLike, *, groups: ArrayLike | None = None) -> Floats:
        """ln λ − λx; 0 where x is missing."""
        x, rate = paired(self.cells(x), groups, validation.float_array("rate", parameters))
        with np.errstate(divide="ignore"):
            return np.where(np.isnan(x), 0.0, np.log(rate) - rate * x)

    def predictive(self, posterior: Gamma) -> Lomax:
        """Lomax with a and b."""
        posterior.require_cases("a prediction")
        return Lomax(posterior)

    def draw(self, parameters: ArrayLike, n: int, random_state: np.random.Generator | int | None = None) -> Floats:
        """Waiting times at random."""
        rate = validation.float_array("rate", parameters)
        return validation.generator(random_state).standard_exponential((n, *rate.shape)) / rate

    def like(self, parameters: ArrayLike, sample_size: float, *, center: float = 1.0, spread: float = 1.0) -> Gamma:  # noqa: ARG002
        """m cases whose sum is m/λ."""
        rate = np.asarray(parameters, dtype=float)
        return Gamma(np.full(rate.shape, float(sample_size)), sample_size / rate)

    def smoothed(self, pooled: Durations) -> Floats:
        """n / Σx of all rows; 1 where everything is 0."""
        return np.asarray(ratio(pooled.n.sum(), pooled.total.sum()) or 1.0)

    def log_likelihood(self, statistics: Durations, parameters: ArrayLike) -> Floats:
        """n ln λ − λ Σx."""
        rate = np.asarray(parameters)
        return np.asarray(statistics.n * np.log(rate) - rate * statistics.total)

    def centers(self, parameters: ArrayLike) -> Floats:
        """1/λ."""
        return 1 / np.asarray(parameters)

    def points(self, cells: Floats) -> Floats:
        """Logarithms, whose spread is the same whatever the rate is."""
        return standardized(np.log1p(cells)[:, None])

    def describe(self, parameters: Any, row: int, *, variable: Any = None, max_states: int = 3) -> str:  # noqa: ARG002
        """The mean."""
        return f"mean {1 / np.asarray(parameters)[row]:.4g}"


@dataclass(frozen=True)
class Lomax:
    """One more waiting time when the rate is Gamma(a, b): p(x) = a bᵃ / (b + x)^(a+1)."""

    rate: Gamma

    def log_prob(self, x: ArrayLike) -> Floats:
        """Log density of each number in every row; 0 where it is missing."""
        x, a, b = paired(positive_cells(x, zero=True), None, self.rate.shape, self.rate.rate)
        return np.where(np.isnan(x), 0.0, np.log(a) + a * np.log(b) - (a + 1) * np.log(b + x))

    def mean(self) -> Floats:
        """b / (a − 1), infinite up to a = 1."""
        a = self.rate.shape
        return np.where(a > 1, self.rate.rate / np.where(a > 1, a - 1, 1.0), np.inf)

    def draw(self, n: int, random_state: np.random.Generator | int | None = None) -> Floats:
        """A rate, then a waiting time."""
        random_state = validation.generator(random_state)
        shape = (n, *self.rate.shape.shape)
        return (
            random_state.standard_exponential(shape)
            * self.rate.rate
            / random_state.standard_gamma(self.rate.shape, shape)
        )


### gamma


class GammaParameters(NamedTuple):
    """Shape and rate."""

    shape: Floats
    rate: Floats


@dataclass(frozen=True, eq=False)
class GammaCases(PriorCases):
    """How many numbers, their sum, and the sum of their logarithms."""

    likelihood: ClassVar[str] = "gamma"

    total: Floats
    logs: Floats


@register("gamma")
@dataclass(frozen=True)
class GammaDistribution(CasesDistribution):
    """Positive numbers, skewed to the right; NaN is missing.

    >>> GammaDistribution().fit([1.0, 2.0, 3.0], prior=GammaCases.none()).mean().shape.round(3)
    np.float64(5.375)
    """

    centers_are_means: ClassVar[bool] = True
    prior_type: ClassVar[Any] = GammaCases

    def cells(self, x: ArrayLike) -> Floats:
        """Numbers above 0; NaN is missing."""
        return positive_cells(x, zero=False)

    def gather(self, cells: Floats, to: Assignment) -> GammaCases:
        """Σ w, Σ w x and Σ w ln x."""
        seen = ~np.isnan(cells)
        to, x = to.only(seen), np.where(seen, cells, 1.0)
        return GammaCases(to.sum(), to.sum(x), to.sum(np.log(x)))

    def most_likely(self, statistics: GammaCases) -> GammaParameters:
        """ln a − ψ(a) = ln x̄ − mean of ln x, by Newton's method; b = a/x̄."""
        mean = statistics.total / statistics.n
        s = np.maximum(np.log(mean) - statistics.logs / statistics.n, 1 / MAX_SHAPE)
        a = (3 - s + np.sqrt((s - 3) ** 2 + 24 * s)) / (12 * s)
        for _ in range(8):
            a = 1 / (1 / a + (np.log(a) - digamma(a) - s) / (a**2 * (1 / a - polygamma(1, a))))
        a = np.clip(a, 1 / MAX_SHAPE, MAX_SHAPE)
        return GammaParameters(a, a / mean)

    def log_likelihood(self, statistics: GammaCases, parameters: Any) -> Floats:
        """n (a ln b − ln Γ(a)) + (a − 1) Σ ln x − b Σx."""
        a, b = parameters
        each = a * np.log(b) - gammaln(a)
        return np.asarray(statistics.n * each + (a - 1) * statistics.logs - b * statistics.total)

    def log_prob(self, parameters: Any, x: ArrayLike, *, groups: ArrayLike | None = None) -> Floats:
        """a ln b − ln Γ(a) + (a − 1) ln x − bx; 0 where x is missing."""
        x, a, b = paired(self.cells(x), groups, *(np.asarray(p, dtype=float) for p in parameters))
        log_p = a * np.log(b) - gammaln(a) + (a - 1) * np.log(x) - b * x
        return np.where(np.isnan(x), 0.0, log_p)

    def draw(self, parameters: Any, n: int, random_state: np.random.Generator | int | None = None) -> Floats:
        """Numbers at random."""
        a, b = parameters
        return validation.generator(random_state).standard_gamma(a, (n, *np.shape(a))) / b

    def like(self, parameters: Any, sample_size: float, *, center: float = 1.0, spread: float = 1.0) -> GammaCases:  # noqa: ARG002
        """m cases with the expected sum and sum of logarithms."""
        a, b = (np.asarray(p, dtype=float) for p in parameters)
        return GammaCases(np.ones(a.shape), a / b, digamma(a) - np.log(b)) * sample_size

    def varies(self, pooled: GammaCases) -> bool:
        """Whether the numbers differ."""
        n, total, logs = (float(a.sum()) for a in pooled.arrays())
        return n > 0 and np.log(total / n) - logs / n > 1e-12

    def average(self, parameters: Any, sample_weight: Floats) -> GammaParameters:
        """The gamma distribution most like the mixture of the rows."""
        whole = self.like(parameters, 1.0)
        return self.most_likely(GammaCases(*(sample_weight @ a for a in whole.arrays())))

    def centers(self, parameters: Any) -> Floats:
        """a/b."""
        return np.asarray(parameters[0]) / np.asarray(parameters[1])

    def points(self, cells: Floats) -> Floats:
        """Logarithms."""
        return standardized(np.log(cells)[:, None])

    def describe(self, parameters: Any, row: int, *, variable: Any = None, max_states: int = 3) -> str:  # noqa: ARG002
        """The mean and the shape."""
        return f"mean {self.centers(parameters)[row]:.4g}, shape {parameters[0][row]:.3g}"
