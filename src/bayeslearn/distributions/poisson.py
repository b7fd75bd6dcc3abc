"""Poisson likelihood with a gamma prior: how often something happens.

    p(x) = λˣ e^−λ / x!          λ ~ Gamma(a, b), b a rate          statistics: n, Σ x, Σ ln x!

The prior counts as b rows with a events. The predictive distribution is negative binomial.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.special import betainc, betaln, gammaincinv, gammaln, xlogy

from bayeslearn import validation
from bayeslearn.distributions.distribution import Distribution, register, standardized
from bayeslearn.distributions.moments import real_cells
from bayeslearn.distributions.sufficient_statistics import (
    NOTHING,
    Statistics,
    common_shape,
    fitted,
    frozen,
    kept,
    paired,
    ratio,
    require,
    shown,
)
from bayeslearn.errors import DataError, ImproperPriorError, ParameterError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.distributions.sufficient_statistics import Assignment

#: The largest rate of which counts of 64 bits are drawn.
MAX_RATE = 9.2e18

### statistics


@dataclass(frozen=True, eq=False)
class PoissonStatistics(Statistics):
    """Number of rows, number of events, and Σ ln x!, each of shape rows."""

    n: NDArray[np.float64]
    total: NDArray[np.float64]
    log_factorials: NDArray[np.float64]


### prior


@dataclass(frozen=True, eq=False)
class Gamma:
    """A distribution of a rate: `shape` events in `rate` cases seen before the data.

    >>> Gamma(6, 2).mean()
    array(3.)
    """

    shape: NDArray[np.float64]
    rate: NDArray[np.float64]

    def __post_init__(self) -> None:
        a, b = (
            validation.not_negative(name, validation.float_array(name, getattr(self, name)))
            for name in ("shape", "rate")
        )
        rows = common_shape(shape=a.shape, rate=b.shape)
        object.__setattr__(self, "shape", frozen(np.broadcast_to(a, rows)))
        object.__setattr__(self, "rate", frozen(np.broadcast_to(b, rows)))

    def __repr__(self) -> str:
        return f"Gamma(a={shown(self.shape)}, b={shown(self.rate)})"

    # -- the usual choices

    @classmethod
    def none(cls) -> Gamma:
        """No prior cases: the mean is the average count, which is maximum likelihood."""
        return cls(np.zeros(()), np.zeros(()))

    @classmethod
    def flat(cls) -> Gamma:
        """Every rate equally probable: the mode is the average count."""
        return cls(np.ones(()), np.zeros(()))

    @classmethod
    def jeffreys(cls) -> Gamma:
        """Half an event in no case, the same whatever the parameter is called."""
        return cls(np.full((), 0.5), np.zeros(()))

    @classmethod
    def m_estimate(cls, m: float, p: ArrayLike) -> Gamma:
        """`m` cases of mean `p`: estimates are (Σx + m p) / (n + m)."""
        mean = validation.not_negative("p", validation.float_array("p", p))
        return cls(validation.number("m", m, min_value=0) * mean, np.full(mean.shape, float(m)))

    @kept
    def of(self, shape: tuple[int, ...]) -> Gamma:
        """The same prior for every row."""
        return Gamma(*(fitted(v, shape) for v in (self.shape, self.rate)))

    # -- what it says

    def mean(self, otherwise: ArrayLike | None = None) -> NDArray[np.float64]:
        """a / b; `otherwise`, where given, in rows without cases."""
        if otherwise is None:
            self.require_cases("the mean")
            return np.asarray(self.shape / self.rate)
        return np.where(self.rate > NOTHING, ratio(self.shape, self.rate), otherwise)

    def log_cases(self, rate: ArrayLike) -> NDArray[np.float64]:
        """a ln λ − b λ."""
        return np.asarray(xlogy(self.shape, np.asarray(rate)) - self.rate * np.asarray(rate))

    def mode(self) -> NDArray[np.float64]:
        """(a − 1) / b, and 0 where a < 1."""
        self.require_cases("the mode")
        return np.asarray(np.maximum(self.shape - 1, 0.0) / self.rate)

    def draw(self, random_state: np.random.Generator | int | None = None) -> NDArray[np.float64]:
        """One rate per row; 0 where a = 0."""
        self.require_cases("a draw")
        return np.asarray(validation.generator(random_state).standard_gamma(self.shape) / self.rate)

    def interval(self, level: float = 0.95) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Equal-tailed bounds of λ; both 0 where a = 0."""
        tail = (1 - validation.number("level", level, above=0, below=1)) / 2
        self.require_cases("an interval")
        some = np.where(self.shape > 0, self.shape, 1.0)
        low, high = (np.where(self.shape > 0, gammaincinv(some, q), 0.0) / self.rate for q in (tail, 1 - tail))
        return low, high

    def log_pdf(self, rate: ArrayLike) -> NDArray[np.float64]:
        """Log density a ln b − ln Γ(a) + (a − 1) ln λ − b λ."""
        self.require_proper()
        λ = validation.not_negative("rate", validation.float_array("rate", rate))
        a, b = self.shape, self.rate
        return np.asarray(a * np.log(b) - gammaln(a) + xlogy(a - 1, λ) - b * λ)

    def require_cases(self, what: str) -> None:
        """An estimate needs b above 0."""
        require(
            self.rate > 0,
            f"{what} is undefined: it is based on no rows",
            hint="give a prior with pseudo-rows, for instance m_estimate(m=1, p=...)",
        )

    def require_proper(self) -> None:
        """Densities and evidence need a and b above 0."""
        require(
            (self.shape > 0) & (self.rate > 0),
            "a gamma prior with a = 0 or b = 0 is improper: its density and evidence are undefined",
            hint="use m_estimate(...), or Gamma(shape, rate) with both above 0",
            error=ImproperPriorError,
        )


### likelihood


@register("poisson")
@dataclass(frozen=True)
class Poisson(Distribution[PoissonStatistics, Gamma]):
    """Counts 0, 1, 2, …; NaN is missing.

    >>> Poisson().fit([2, 0, 4], prior=Gamma.m_estimate(m=1, p=2))
    Gamma(a=8, b=4)
    """

    def cells(self, x: ArrayLike) -> NDArray[np.float64]:
        """Whole numbers, not negative; NaN is missing."""
        return count_cells(x)

    def gather(self, cells: NDArray[np.float64], to: Assignment) -> PoissonStatistics:
        """Σ w, Σ w x and Σ w ln x!."""
        seen = ~np.isnan(cells)
        to, counts = to.only(seen), np.where(seen, cells, 0.0)
        return PoissonStatistics(to.sum(), to.sum(counts), to.sum(gammaln(counts + 1)))

    def zero(self, rows: tuple[int, ...] = ()) -> PoissonStatistics:
        """No data."""
        return PoissonStatistics(np.zeros(rows), np.zeros(rows), np.zeros(rows))

    def update(self, prior: Gamma, statistics: PoissonStatistics) -> Gamma:
        """a + Σx, b + n."""
        before = prior.of(statistics.n.shape)
        return Gamma(before.shape + statistics.total, before.rate + statistics.n)

    def log_evidence(self, prior: Gamma, statistics: PoissonStatistics) -> NDArray[np.float64]:
        """a ln b − ln Γ(a) − (a + Σx) ln(b + n) + ln Γ(a + Σx) − Σ ln x!."""
        before, after = prior.of(statistics.n.shape), self.update(prior, statistics)
        before.require_proper()
        gain = [p.shape * np.log(p.rate) - gammaln(p.shape) for p in (before, after)]
        return np.asarray(gain[0] - gain[1] - statistics.log_factorials)

    def log_prob(self, parameters: ArrayLike, x: ArrayLike, *, groups: ArrayLike | None = None) -> NDArray[np.float64]:
        """x ln λ − λ − ln x!; 0 where x is missing."""
        λ = validation.not_negative("rate", validation.float_array("rate", parameters))
        counts, λ = paired(count_cells(x), groups, λ)
        return np.where(np.isnan(counts), 0.0, xlogy(counts, λ) - λ - gammaln(counts + 1))

    def predictive(self, posterior: Gamma) -> NegativeBinomial:
        """Negative binomial with a and b."""
        posterior.require_cases("a prediction")
        return NegativeBinomial(posterior)

    def draw(
        self, parameters: ArrayLike, n: int, random_state: np.random.Generator | int | None = None
    ) -> NDArray[np.int64]:
        """Counts at random."""
        λ = validation.not_negative("rate", validation.float_array("rate", parameters))
        return validation.generator(random_state).poisson(λ, (n, *λ.shape))

    # -- what learners ask

    centers_are_means: ClassVar[bool] = True
    prior_type: ClassVar[Any] = Gamma

    def like(self, parameters: ArrayLike, sample_size: float, *, center: float = 1.0, spread: float = 1.0) -> Gamma:  # noqa: ARG002
        """m λ events in m cases."""
        return Gamma.m_estimate(sample_size, parameters)

    def smoothed(self, pooled: PoissonStatistics) -> NDArray[np.float64]:
        """(Σx + ½) / (n + 1)."""
        return np.asarray((pooled.total.sum() + 0.5) / (pooled.n.sum() + 1))

    def log_likelihood(self, statistics: PoissonStatistics, parameters: ArrayLike) -> NDArray[np.float64]:
        """Σx ln λ − n λ − Σ ln x!."""
        events = xlogy(statistics.total, np.asarray(parameters))
        return np.asarray(events - statistics.n * np.asarray(parameters) - statistics.log_factorials)

    def points(self, cells: NDArray[np.float64]) -> NDArray[np.float64]:
        """Square roots, whose spread is the same whatever the rate is."""
        return standardized(np.sqrt(cells)[:, None])

    def divergence(self, parameters: Any, whole: Any) -> NDArray[np.float64]:
        """λ ln λ/λ̄ − λ + λ̄."""
        rate, all_rows = np.asarray(parameters), np.broadcast_to(whole, np.shape(parameters))
        return np.asarray(xlogy(rate, ratio(rate, all_rows)) - rate + all_rows)


@dataclass(frozen=True)
class NegativeBinomial:
    """One more count when the rate is Gamma(a, b): p(x) = Γ(a+x)/(Γ(a) x!) (b/(b+1))ᵃ (1/(b+1))ˣ."""

    rate: Gamma

    def log_prob(self, x: ArrayLike) -> NDArray[np.float64]:
        """Log probability of each count in every row; 0 where x is missing."""
        counts, a, b = paired(count_cells(x), None, self.rate.shape, self.rate.rate)
        some = np.where(a > 0, a, 1.0)
        ways = -betaln(some, counts + 1) - np.log(some + counts)
        log_p = ways - some * np.log1p(1 / b) - counts * np.log1p(b)
        never = np.where(counts == 0, 0.0, -np.inf)  # a = 0: the rate is 0 for sure
        return np.where(np.isnan(counts), 0.0, np.where(a > 0, log_p, never))

    def mean(self) -> NDArray[np.float64]:
        """a / b."""
        return self.rate.mean()

    def draw(self, n: int, random_state: np.random.Generator | int | None = None) -> NDArray[np.int64]:
        """A rate, then a count."""
        random_state = validation.generator(random_state)
        return poisson_counts(
            random_state.standard_gamma(self.rate.shape, (n, *self.rate.shape.shape)) / self.rate.rate, random_state
        )

    def interval(self, level: float = 0.95) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Counts (low, high): each the first whose cumulated probability reaches its tail."""
        tail = (1 - validation.number("level", level, above=0, below=1)) / 2
        return self._quantile(tail), self._quantile(1 - tail)

    def _quantile(self, q: float) -> NDArray[np.float64]:
        a, b = self.rate.shape, self.rate.rate
        some, success = np.where(a > 0, a, 1.0), b / (b + 1)

        def reached(k: NDArray[np.float64]) -> NDArray[np.bool_]:
            return np.asarray((a == 0) | (betainc(some, k + 1, success) >= q))

        low, high = np.full(a.shape, -1.0), np.zeros(a.shape)  # low is never enough, high is in the end
        while not (enough := reached(high)).all():
            low, high = np.where(enough, low, high), np.where(enough, high, 2 * high + 1)
        while (high - low > 1).any():
            middle = np.floor((low + high) / 2)
            enough = reached(middle)
            low, high = np.where(enough, low, middle), np.where(enough, middle, high)
        return high


def count_cells(x: ArrayLike) -> NDArray[np.float64]:
    """Whole numbers, not negative; NaN is missing."""
    counts = real_cells(x)
    odd = (counts < 0) | (counts != np.floor(counts)) & ~np.isnan(counts)
    if odd.any():
        raise DataError(
            f"counts must be whole and not negative, got {counts[odd][0]:g} at position "
            f"{validation.first_position(odd)}",
            hint="NaN marks a missing count",
        )
    return counts


def poisson_counts(rate: NDArray[np.float64], random_state: np.random.Generator) -> NDArray[np.int64]:
    """Counts of these rates, which must be such that counts of 64 bits hold them."""
    if not (rate <= MAX_RATE).all():
        raise ParameterError(f"a rate of {rate.max():g} is too large to draw counts from: {MAX_RATE:g} is the limit")
    return random_state.poisson(rate)
