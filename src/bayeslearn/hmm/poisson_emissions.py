"""Counts: Poisson emissions, looked up by the distinct counts of the data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from scipy.special import gammaln

from bayeslearn import validation
from bayeslearn.distributions import Gamma, Moments, Poisson, PoissonStatistics
from bayeslearn.distributions.poisson import poisson_counts
from bayeslearn.distributions.sufficient_statistics import frozen
from bayeslearn.errors import ShapeError
from bayeslearn.hmm.emission_statistics import Symbols
from bayeslearn.hmm.emissions import Emissions
from bayeslearn.hmm.observations import is_missing, one_column

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class PoissonEmissions(Emissions):
    """p(count | state) = λˣ e^−λ / x!.

    >>> PoissonEmissions("calls", [2.0, 9.0]).describe(1)
    'about 9'
    """

    kind: ClassVar[str] = "poisson"

    name: str
    rate: NDArray[np.float64]

    @classmethod
    def blank(cls, kind: Any, cells: Any, rows: int, names: tuple[str, ...] | None, symbols: Any) -> Self:  # noqa: ARG003
        """Rates of 1."""
        return cls((names or ("count",))[0], np.ones(rows))

    def __post_init__(self) -> None:
        rate = validation.not_negative("rate", validation.float_array("rate", self.rate))
        if rate.ndim != 1:
            raise ShapeError(f"expected a rate for each state, got shape {rate.shape}")
        object.__setattr__(self, "rate", frozen(rate))

    @property
    def n_states(self) -> int:
        """The number of states."""
        return len(self.rate)

    @property
    def distribution(self) -> Poisson:
        """Counts."""
        return Poisson()

    @property
    def parameters(self) -> NDArray[np.float64]:
        """λ."""
        return self.rate

    def with_parameters(self, parameters: NDArray[np.float64]) -> Self:
        """Other rates."""
        return replace(self, rate=parameters)

    by_moments: ClassVar[bool] = True

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The one column."""
        return (self.name,)

    def cells(self, x: Any) -> NDArray[np.float64]:
        """Whole numbers, not negative; NaN is missing."""
        column = one_column(x)
        if column.dtype == object:
            column = np.array([np.nan if is_missing(c) else c for c in column], dtype=object)
        return Poisson().cells(column)

    def draw(self, states: NDArray[np.intp], random_state: np.random.Generator) -> NDArray[Any]:
        """Random counts."""
        return poisson_counts(self.rate[states], random_state)

    def reading(self, cells: NDArray[Any]) -> Symbols:
        """Distinct counts are symbols."""
        seen = ~np.isnan(cells)
        values, place = np.unique(cells[seen], return_inverse=True)
        codes = np.full(len(cells), -1, np.int32)
        codes[seen] = place
        codes.flags.writeable = False  # as those of symbols: one compiled kernel for both

        def collected(n: NDArray[np.float64]) -> PoissonStatistics:
            return PoissonStatistics(n.sum(axis=1), n @ values, n @ gammaln(values + 1))

        return Symbols(codes, Poisson().log_prob(self.rate, values).T, collected)

    def default_prior(self, cells: NDArray[Any] | Moments, equivalent_sample_size: float) -> Gamma:
        """A prior with the mean of all counts."""
        if isinstance(cells, Moments):
            return Gamma.m_estimate(equivalent_sample_size, float(cells.mean) if cells.n > 0 else 1.0)
        seen = cells[~np.isnan(cells)]
        return Gamma.m_estimate(equivalent_sample_size, float(seen.mean()) if len(seen) else 1.0)

    def describe(self, state: int, max_states: int = 3) -> str:  # noqa: ARG002 - one number says it all
        """The rate."""
        return f"about {self.rate[state]:.4g}"
