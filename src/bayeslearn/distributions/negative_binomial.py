"""Counts that spread wider than a Poisson distribution.

    p(x) = Γ(x + r)/(Γ(r) x!) (r/(r+μ))^r (μ/(r+μ))^x        variance μ + μ²/r

Its statistics are how many counts lie in each of some bins, and their sums: counts below 64 have a bin each, larger
ones share bins that grow by a fifth. The mean μ is exact; the likelihood of the dispersion r sees large counts as the
mean of their bin.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from scipy.special import digamma, gammaln, xlogy

from bayeslearn import validation
from bayeslearn.distributions.distribution import register, standardized
from bayeslearn.distributions.poisson import count_cells
from bayeslearn.distributions.priors import CasesDistribution, PriorCases
from bayeslearn.distributions.sufficient_statistics import paired, ratio

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.distributions.sufficient_statistics import Assignment

    Floats = NDArray[np.float64]

#: The first counts of the bins.
EDGES = np.unique(np.concatenate([np.arange(64), np.round(64 * 1.2 ** np.arange(128))]))

#: The largest and the smallest dispersion: a Poisson distribution, and the widest that is told apart.
DISPERSIONS = (1e-3, 1e6)


class Dispersed(NamedTuple):
    """The mean and the dispersion r."""

    mean: Floats
    dispersion: Floats


@dataclass(frozen=True, eq=False)
class DispersedCases(PriorCases):
    """How many counts, in each bin too, the sum of those of each bin, and Σ ln x!."""

    likelihood: ClassVar[str] = "negative_binomial"

    binned: Floats
    totals: Floats
    log_factorials: Floats


@register("negative_binomial")
@dataclass(frozen=True)
class DispersedCounts(CasesDistribution):
    """Counts 0, 1, 2, … whose variance is larger than their mean; NaN is missing.

    >>> found = DispersedCounts().fit([0, 0, 1, 12, 2, 0, 30], prior=DispersedCases.none()).mean()
    >>> round(float(found.mean), 3), round(float(found.dispersion), 3)
    (6.429, 0.253)
    """

    centers_are_means: ClassVar[bool] = True
    prior_type: ClassVar[Any] = DispersedCases

    def cells(self, x: ArrayLike) -> Floats:
        """Whole numbers, not negative; NaN is missing."""
        return count_cells(x)

    def gather(self, cells: Floats, to: Assignment) -> DispersedCases:
        """Σ w and Σ w x of every bin, and Σ w ln x!."""
        seen = ~np.isnan(cells)
        to, x = to.only(seen), np.where(seen, cells, 0.0)
        one_hot = (np.searchsorted(EDGES, x, side="right") - 1)[:, None] == np.arange(len(EDGES))
        return DispersedCases(to.sum(), to.sum(one_hot * 1.0), to.sum(one_hot * x[:, None]), to.sum(gammaln(x + 1)))

    def zero(self, rows: tuple[int, ...] = ()) -> DispersedCases:
        """No data."""
        bins = np.zeros((*rows, len(EDGES)))
        return DispersedCases(np.zeros(rows), bins, bins, np.zeros(rows))

    def most_likely(self, statistics: DispersedCases) -> Dispersed:
        """Σx/n, and the r at which the likelihood stops to grow, by bisection."""
        μ = np.maximum(statistics.totals.sum(axis=-1) / statistics.n, 1e-12)
        shown = ratio(statistics.totals, statistics.binned)
        low, high = (np.full(μ.shape, np.log(r)) for r in DISPERSIONS)
        for _ in range(60):
            r = np.exp((low + high) / 2)
            slope = (statistics.binned * digamma(shown + r[..., None])).sum(axis=-1) - statistics.n * digamma(r)
            grows = slope + statistics.n * np.log(r / (r + μ)) > 0
            low, high = np.where(grows, np.log(r), low), np.where(grows, high, np.log(r))
        return Dispersed(μ, np.exp((low + high) / 2))

    def log_likelihood(self, statistics: DispersedCases, parameters: Any) -> Floats:
        """Σ ln Γ(x + r) − n ln Γ(r) − Σ ln x! + n r ln r/(r+μ) + Σx ln μ/(r+μ)."""
        μ, r = (np.asarray(p, dtype=float) for p in parameters)
        shown = ratio(statistics.totals, statistics.binned)
        ways = (statistics.binned * gammaln(shown + r[..., None])).sum(axis=-1) - statistics.n * gammaln(r)
        total = statistics.totals.sum(axis=-1)
        return ways - statistics.log_factorials + statistics.n * r * np.log(r / (r + μ)) + xlogy(total, μ / (r + μ))

    def log_prob(self, parameters: Any, x: ArrayLike, *, groups: ArrayLike | None = None) -> Floats:
        """The same of each count; 0 where it is missing."""
        x, μ, r = paired(self.cells(x), groups, *(np.asarray(p, dtype=float) for p in parameters))
        ways = gammaln(x + r) - gammaln(r) - gammaln(x + 1)
        return np.where(np.isnan(x), 0.0, ways + r * np.log(r / (r + μ)) + xlogy(x, μ / (r + μ)))

    def draw(self, parameters: Any, n: int, random_state: np.random.Generator | int | None = None) -> NDArray[np.int64]:
        """A rate, then a count."""
        μ, r = parameters
        random_state = validation.generator(random_state)
        return random_state.poisson(random_state.standard_gamma(r, (n, *np.shape(r))) * μ / r)

    def like(self, parameters: Any, sample_size: float, *, center: float = 1.0, spread: float = 1.0) -> DispersedCases:  # noqa: ARG002
        """m cases, each in the bins by its probabilities."""
        μ, r = (np.asarray(p, dtype=float) for p in parameters)
        cut = np.append(EDGES, EDGES[-1] * 1.2)
        middle = np.where(np.diff(cut) > 1, (cut[:-1] + cut[1:] - 1) / 2, EDGES)
        log_p = gammaln(middle + r[..., None]) - gammaln(r[..., None]) - gammaln(middle + 1)
        log_p = log_p + (r * np.log(r / (r + μ)))[..., None] + middle * np.log(μ / (r + μ))[..., None]
        p = np.exp(log_p) * np.diff(cut)
        p /= p.sum(axis=-1, keepdims=True)
        totals = p * middle
        totals *= (μ / np.maximum(totals.sum(axis=-1), 1e-300))[..., None]  # the mean is kept
        logs = (p * gammaln(middle + 1)).sum(axis=-1)
        return DispersedCases(np.ones(μ.shape), p, totals, logs) * sample_size

    def smoothed(self, pooled: DispersedCases) -> Dispersed:
        """Those of all rows, in which some count is above 0."""
        total = DispersedCases(*(a.sum(axis=0) if a.ndim else a for a in pooled.arrays()))
        found = self.most_likely(total)
        return Dispersed(np.maximum(found.mean, 0.5 / (total.n + 1)), found.dispersion)

    def average(self, parameters: Any, sample_weight: Floats) -> Dispersed:
        """The one most like the mixture of the rows."""
        return self.most_likely(DispersedCases(*(
            np.tensordot(sample_weight, a, axes=(1, 0)) for a in self.like(parameters, 1.0).arrays()
        )))  # fmt: skip

    def points(self, cells: Floats) -> Floats:
        """Square roots."""
        return standardized(np.sqrt(cells)[:, None])

    def describe(self, parameters: Any, row: int, *, variable: Any = None, max_states: int = 3) -> str:  # noqa: ARG002
        """The mean and the dispersion."""
        return f"mean {parameters[0][row]:.4g}, dispersion {parameters[1][row]:.3g}"
