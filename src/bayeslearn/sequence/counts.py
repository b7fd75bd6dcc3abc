"""Counts: Poisson emissions, looked up by the distinct counts of the data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from scipy.special import gammaln, xlogy

from bayeslearn import validation
from bayeslearn.errors import ShapeError
from bayeslearn.families import Gamma, Moments, Poisson, Totals
from bayeslearn.families.statistics import frozen
from bayeslearn.sequence.cells import is_missing, one_column
from bayeslearn.sequence.emissions import NOTHING, Emissions
from bayeslearn.sequence.observing import Symbols

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class PoissonEmissions(Emissions):
    """p(count | state) = λˣ e^−λ / x!.

    >>> PoissonEmissions("calls", [2.0, 9.0]).described(1)
    'about 9'
    """

    kind: ClassVar[str] = "poisson"

    name: str
    rate: NDArray[np.float64]

    def __post_init__(self) -> None:
        rate = validation.not_negative("rate", validation.float_array("rate", self.rate))
        if rate.ndim != 1:
            raise ShapeError(f"expected a rate for each state, got shape {rate.shape}")
        object.__setattr__(self, "rate", frozen(rate))

    @property
    def size(self) -> int:
        """How many states there are."""
        return len(self.rate)

    @property
    def names(self) -> tuple[str, ...]:
        """The one column."""
        return (self.name,)

    def cells(self, x: Any) -> NDArray[np.float64]:
        """Whole numbers, not negative; NaN is missing."""
        column = one_column(x)
        if column.dtype == object:
            column = np.array([np.nan if is_missing(c) else c for c in column], dtype=object)
        return Poisson().cells(column)

    def log_prob(self, cells: NDArray[Any]) -> NDArray[np.float64]:
        """x ln λ − λ − ln x!."""
        return Poisson().log_prob(self.rate, cells)

    def draw(self, states: NDArray[np.intp], rng: np.random.Generator) -> NDArray[Any]:
        """Counts at random."""
        return rng.poisson(self.rate[states])

    def reading(self, cells: NDArray[Any]) -> Symbols:
        """Distinct counts are symbols."""
        seen = ~np.isnan(cells)
        values, place = np.unique(cells[seen], return_inverse=True)
        codes = np.full(len(cells), -1, np.int32)
        codes[seen] = place
        codes.flags.writeable = False  # as those of symbols: one compiled kernel for both

        def collected(n: NDArray[np.float64]) -> Totals:
            return Totals(n.sum(axis=1), n @ values, n @ gammaln(values + 1))

        return Symbols(codes, Poisson().log_prob(self.rate, values).T, collected)

    def gather(self, cells: NDArray[Any], gamma: NDArray[np.float64]) -> Totals:
        """Σ γ and Σ γ x."""
        return Poisson().collect(cells, weights=gamma)

    def estimate(self, prior: Any, statistics: Totals) -> Self:
        """(Σx + a) / (n + b)."""
        after = Poisson().update(prior, statistics)
        alive = after.rate > NOTHING
        return replace(self, rate=np.where(alive, after.shape / np.where(alive, after.rate, 1.0), self.rate))

    def log_prior(self, prior: Any) -> float:
        """a ln λ − b λ."""
        before = prior.of(self.rate.shape)
        return float((xlogy(before.shape, self.rate) - before.rate * self.rate).sum())

    def default_prior(self, cells: NDArray[Any] | Moments, cases: float) -> Gamma:
        """So many cases of the mean of all."""
        if isinstance(cells, Moments):
            return Gamma.m_estimate(cases, float(cells.mean) if cells.n > 0 else 1.0)
        seen = cells[~np.isnan(cells)]
        return Gamma.m_estimate(cases, float(seen.mean()) if len(seen) else 1.0)

    def permuted(self, order: NDArray[np.intp]) -> Self:
        """The states in another order."""
        return replace(self, rate=self.rate[order])

    def centres(self) -> NDArray[np.float64]:
        """The rates."""
        return self.rate

    def described(self, state: int, most: int = 3) -> str:  # noqa: ARG002 - one number says it all
        """The rate."""
        return f"about {self.rate[state]:.4g}"
