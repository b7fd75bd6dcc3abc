"""Numbers of which many are 0: a point mass at 0, and a continuous distribution of the rest.

    zero_inflated   p(0) = π        p(x) = (1 − π) N(x; μ, σ²)               x ≠ 0
    log_normal      p(0) = π        p(x) = (1 − π) N(ln x; μ, σ²)/x          x > 0; what is below 0 counts as 0

    statistics      n, the weight m, the mean and the squared deviations of what is not 0 (or of its logarithms)
    estimate        π = (n − m)/n        μ, σ² the mean and the variance of the rest

The pooled prior has half a case at 0, so that a first 0 is possible.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy.special import xlog1py, xlogy

from bayeslearn import validation
from bayeslearn.distributions.distribution import register, standardized
from bayeslearn.distributions.moments import Moments, real_cells
from bayeslearn.distributions.normal import LOG_2PI
from bayeslearn.distributions.priors import CasesDistribution, PriorCases
from bayeslearn.distributions.sufficient_statistics import NOTHING, fading, paired, ratio, remaining
from bayeslearn.errors import EvidenceError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.distributions.sufficient_statistics import Assignment

    Floats = NDArray[np.float64]

#: The cases at 0 that a pooled prior has seen.
ZEROS = 0.5


class PointMassParameters(NamedTuple):
    """P(0), and the mean and the variance of the rest."""

    zero: Floats
    mean: Floats
    variance: Floats


@dataclass(frozen=True, eq=False)
class PointMassCases(PriorCases):
    """How many numbers; how many are not 0, their mean and their squared deviations."""

    likelihood: ClassVar[str] = "zero_inflated"

    rest: Floats
    location: Floats
    squares: Floats

    @property
    def moments(self) -> Moments:
        """Those of the numbers that are not 0."""
        return Moments(self.rest, self.location, self.squares)

    def __add__(self, other: Self) -> Self:
        self.require_same_kind(other)
        return self._of(self.n + other.n, self.moments + other.moments)

    def __sub__(self, other: Self) -> Self:
        self.require_same_kind(other)
        return self._of(remaining(self.n, other.n), self.moments - other.moments)

    def __mul__(self, factor: float) -> Self:
        factor = fading(factor)
        return self._of(self.n * factor, self.moments * factor)

    def _of(self, n: Floats, moments: Moments) -> Self:
        return type(self)(n, *moments.arrays())


@dataclass(frozen=True, eq=False)
class LogCases(PointMassCases):
    """The same of the logarithms."""

    likelihood: ClassVar[str] = "log_normal"


@register("zero_inflated")
@dataclass(frozen=True)
class ZeroInflated(CasesDistribution):
    """Numbers of which many are 0, the rest normal; NaN is missing.

    >>> found = ZeroInflated().fit([0.0, 0.0, 4.0, 6.0], prior=PointMassCases.none()).mean()
    >>> tuple(map(float, found))
    (0.5, 5.0, 1.0)
    """

    n_free: ClassVar[int] = 3
    prior_type: ClassVar[Any] = PointMassCases

    def cells(self, x: ArrayLike) -> Floats:
        """Numbers; NaN is missing."""
        return real_cells(x)

    def of_rest(self, x: Floats) -> Floats:
        """What is normal, of numbers that are not 0."""
        return x

    def gather(self, cells: Floats, to: Assignment) -> Any:
        """The weight of all numbers, and the moments of those that are not 0."""
        seen = ~np.isnan(cells)
        rest = seen & (cells != 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            moments = Moments.collect(np.where(rest, self.of_rest(np.where(rest, cells, 1.0)), np.nan), to)
        return self.prior_type(to.only(seen).sum(), *moments.arrays())

    def most_likely(self, statistics: Any) -> PointMassParameters:
        """(n − m)/n, and mean and variance of the rest; those of all rows where a row has no rest."""
        zero = 1 - np.minimum(ratio(statistics.rest, statistics.n), 1.0)
        mean, variance = statistics.location, ratio(statistics.squares, statistics.rest)
        empty = statistics.rest <= NOTHING
        if empty.any() and not empty.all():
            whole = statistics.rest.sum()
            middle = (statistics.rest * mean).sum() / whole
            spread = (statistics.squares + statistics.rest * (mean - middle) ** 2).sum() / whole
            mean, variance = np.where(empty, middle, mean), np.where(empty, spread, variance)
        return PointMassParameters(zero, mean, np.where(variance > 0, variance, np.finfo(float).tiny))

    def log_likelihood(self, statistics: Any, parameters: Any) -> Floats:
        """(n − m) ln π + m ln(1 − π) − ½ (m ln 2πσ² + Σ(x − μ)²/σ²)."""
        zero, μ, σ2 = (np.asarray(p, dtype=float) for p in parameters)
        m = statistics.rest
        square = statistics.squares + m * (statistics.location - μ) ** 2
        mass = xlogy(np.maximum(statistics.n - m, 0.0), zero) + xlog1py(m, -zero)
        return np.asarray(mass - (m * (LOG_2PI + np.log(σ2)) + square / σ2) / 2)

    def log_prob(self, parameters: Any, x: ArrayLike, *, groups: ArrayLike | None = None) -> Floats:
        """ln π at 0, else ln(1 − π) and the log density of the rest; 0 where x is missing."""
        x, zero, μ, σ2 = paired(self.cells(x), groups, *(np.asarray(p, dtype=float) for p in parameters))
        rest = ~np.isnan(x) & (x != 0)
        y = self.of_rest(np.where(rest, x, 1.0))
        with np.errstate(divide="ignore"):
            density = np.log1p(-zero) - (LOG_2PI + np.log(σ2) + (y - μ) ** 2 / σ2) / 2 - self.log_slope(x, rest)
            return np.where(np.isnan(x), 0.0, np.where(rest, density, np.log(zero)))

    def log_slope(self, x: Floats, rest: NDArray[np.bool_]) -> Floats | float:  # noqa: ARG002 - as of logarithms
        """The logarithm of dx/dy, which the density of y is divided by."""
        return 0.0

    def draw(self, parameters: Any, n: int, random_state: np.random.Generator | int | None = None) -> Floats:
        """Numbers at random."""
        zero, μ, σ2 = (np.asarray(p, dtype=float) for p in parameters)
        rng = validation.generator(random_state)
        shape = (n, *np.shape(μ))
        rest = self.to_numbers(μ + np.sqrt(σ2) * rng.standard_normal(shape))
        return np.where(rng.random(shape) < zero, 0.0, rest)

    def to_numbers(self, y: Floats) -> Floats:
        """Numbers of what is normal."""
        return y

    def like(self, parameters: Any, sample_size: float, *, center: float = 1.0, spread: float = 1.0) -> Any:  # noqa: ARG002
        """m cases with these shares, mean and variance."""
        zero, μ, σ2 = (np.asarray(p, dtype=float) for p in parameters)
        n = np.full(μ.shape, float(sample_size))
        return self.prior_type(n, n * (1 - zero), μ, n * (1 - zero) * spread * σ2)

    def smoothed(self, pooled: Any) -> PointMassParameters:
        """Those of all rows, with half a case more at 0."""
        zeros = self.prior_type(*(np.full(pooled.n.shape, v) for v in (ZEROS, 0.0, 0.0, 0.0)))
        return self.most_likely(pooled + zeros)

    def varies(self, pooled: Any) -> bool:
        """Whether the numbers that are not 0 differ."""
        return bool(pooled.squares.sum() > 0)

    def average(self, parameters: Any, sample_weight: Floats) -> PointMassParameters:
        """The parameters of the mixture of the rows."""
        zero, μ, σ2 = (np.asarray(p, dtype=float) for p in parameters)
        rest = sample_weight * (1 - zero)
        share = rest / np.maximum(rest.sum(axis=-1, keepdims=True), np.finfo(float).tiny)
        mean = share @ μ
        return PointMassParameters(sample_weight @ zero, mean, share @ (σ2 + μ**2) - mean**2)

    def require_regular(self, parameters: Any, what: str) -> None:
        """Every variance is above the least."""
        if not (parameters[2] > np.finfo(float).tiny).all():
            raise EvidenceError(
                f"{what}: numbers that are all alike have no spread", hint="give a prior, such as pooled:1"
            )

    def centers(self, parameters: Any) -> Floats:
        """(1 − π) μ."""
        return (1 - np.asarray(parameters[0])) * np.asarray(parameters[1])

    def describe(self, parameters: Any, row: int, *, variable: Any = None, max_states: int = 3) -> str:  # noqa: ARG002
        """P(0), and the mean and the spread of the rest."""
        zero, μ, σ2 = (np.asarray(p)[row] for p in parameters)
        return f"0 {zero:.3g}, else {self.describe_rest(float(μ), float(np.sqrt(σ2)))}"

    def describe_rest(self, mean: float, spread: float) -> str:
        """The rest in words."""
        return f"{mean:.4g} ± {spread:.3g}"


@register("log_normal")
@dataclass(frozen=True)
class LogNormal(ZeroInflated):
    """Numbers from 0 on, skewed to the right: those above 0 have normal logarithms; NaN is missing.

    >>> found = LogNormal().fit([1.0, 100.0], prior=LogCases.none()).mean()
    >>> round(float(np.exp(found.mean)), 6)
    10.0
    """

    prior_type: ClassVar[Any] = LogCases

    def cells(self, x: ArrayLike) -> Floats:
        """Numbers from 0 on, as which numbers below 0 count; NaN is missing."""
        return np.maximum(real_cells(x), 0.0)

    def of_rest(self, x: Floats) -> Floats:
        """Logarithms."""
        return np.asarray(np.log(x))

    def log_slope(self, x: Floats, rest: NDArray[np.bool_]) -> Floats:
        """The logarithm of x."""
        return np.log(np.where(rest, x, 1.0))

    def to_numbers(self, y: Floats) -> Floats:
        """Exponentials."""
        return np.exp(y)

    def centers(self, parameters: Any) -> Floats:
        """(1 − π) exp(μ + σ²/2)."""
        zero, μ, σ2 = (np.asarray(p, dtype=float) for p in parameters)
        return (1 - zero) * np.exp(np.minimum(μ + σ2 / 2, 700.0))

    def points(self, cells: Floats) -> Floats:
        """Logarithms, moved so that 0 has one."""
        return standardized(np.log1p(cells)[:, None])

    def describe_rest(self, mean: float, spread: float) -> str:
        """The median and the factor of one standard deviation."""
        return f"{np.exp(mean):.4g} times or by {np.exp(spread):.3g}"
