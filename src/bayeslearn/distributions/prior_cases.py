"""Distributions whose prior is cases: statistics of as many cases as count before the data.

    posterior = prior + statistics        parameters = argmax_θ ln P(posterior | θ)

Statistics and priors are of one class, and literally add. Estimates maximize the likelihood of the data and of the
cases before them, which is what EM climbs. There is no closed form of the evidence: it is approximated as by BIC,

    ln P(D) ≈ ln P(after | θ_after) − ln P(before | θ_before) − d/2 ln (n_after / n_before)

with d the numbers that can be chosen, and predictions are made with the estimate itself.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from bayeslearn.distributions.distribution import Distribution, by_name, first_of
from bayeslearn.distributions.sufficient_statistics import NOTHING, Statistics, remaining
from bayeslearn.errors import EvidenceError, ImproperPriorError, ParameterError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PriorCases(Statistics):
    """Statistics of cases, seen or before the data; the first field is how many."""

    #: The name of the distribution of the cases.
    likelihood: ClassVar[str]

    n: Floats

    @classmethod
    def none(cls) -> Self:
        """No case at all."""
        return by_name(cls.likelihood)().zero()

    def of(self, shape: tuple[int, ...]) -> Self:
        """The same cases in every row."""
        rows = self.n.ndim
        return type(self)(*(np.broadcast_to(a, (*shape, *a.shape[rows:])) for a in self.arrays()))

    def __sub__(self, other: Self) -> Self:
        self.require_same_kind(other)
        pairs = zip(self.arrays()[1:], other.arrays()[1:], strict=True)
        return type(self)(remaining(self.n, other.n), *(a - b for a, b in pairs))  # sums may be below 0

    def mean(self, otherwise: Any = None) -> Any:
        """The most likely parameters; `otherwise` in rows without cases."""
        empty = self.n <= NOTHING
        if not empty.any():
            return by_name(self.likelihood)().most_likely(self)
        if otherwise is None:
            raise EvidenceError(
                "an estimate is undefined: it rests on no case at all", hint="give a prior, for instance pooled:1"
            )
        some = by_name(self.likelihood)().like(otherwise, 1.0)
        filled = type(self)(*(
            np.where(empty.reshape(empty.shape + (1,) * (a.ndim - empty.ndim)), b, a)
            for a, b in zip(self.arrays(), some.of(self.n.shape).arrays(), strict=True)
        ))  # fmt: skip
        found, kept = by_name(self.likelihood)().most_likely(filled), otherwise
        return type(found)(*(np.where(empty, b, a) for a, b in zip(found, kept, strict=True)))

    mode = mean

    def log_cases(self, parameters: Any) -> Floats:
        """The log likelihood of the cases."""
        return by_name(self.likelihood)().log_likelihood(self, parameters)

    def draw(self, random_state: np.random.Generator | int | None = None) -> Any:  # noqa: ARG002 - as of other priors
        """There is no distribution to draw from."""
        raise ParameterError(f"parameters of a {self.likelihood} distribution cannot be drawn, only estimated")

    def interval(self, level: float = 0.95) -> Any:  # noqa: ARG002 - as of other priors
        """There are no credible bounds."""
        raise ParameterError(f"parameters of a {self.likelihood} distribution have no credible bounds")


class CasesDistribution(Distribution[Any, Any]):
    """A distribution of numbers whose prior is cases."""

    n_free: ClassVar[int] = 2

    @abstractmethod
    def most_likely(self, statistics: Any) -> Any:
        """The parameters under which statistics are most likely; every row has some."""

    @abstractmethod
    def log_likelihood(self, statistics: Any, parameters: Any) -> Floats:
        """ln P of the cases behind statistics, one number per row."""

    def update(self, prior: Any, statistics: Any) -> Any:
        """Cases before the data and seen ones."""
        return prior.of(statistics.n.shape) + statistics

    def log_evidence(self, prior: Any, statistics: Any) -> Floats:
        """As by BIC; see the module."""
        before, after = prior.of(statistics.n.shape), self.update(prior, statistics)
        if (before.n <= NOTHING).any():
            raise ImproperPriorError("a prior without cases has no evidence", hint="take pooled:1")
        value = [self.log_likelihood(cases, self.most_likely(cases)) for cases in (after, before)]
        return value[0] - value[1] - self.n_free / 2 * np.log(after.n / before.n)

    def predictive(self, posterior: Any) -> Plugged:
        """The distribution with its estimate."""
        return Plugged(self, posterior.mean())

    def zero(self, rows: tuple[int, ...] = ()) -> Any:
        """No data."""
        return self.prior_type(*(np.zeros(rows) for _ in fields(self.prior_type)))


@dataclass(frozen=True)
class Plugged:
    """A prediction that takes estimated parameters for the true ones."""

    distribution: Any
    parameters: Any

    def log_prob(self, x: ArrayLike) -> Floats:
        """Log probability of each case."""
        return self.distribution.log_prob(self.parameters, x)

    def mean(self) -> Floats:
        """The center of each row."""
        return self.distribution.centers(self.parameters)

    def draw(self, n: int, random_state: np.random.Generator | int | None = None) -> NDArray[Any]:
        """Cases at random."""
        return self.distribution.draw(self.parameters, n, random_state)


def rows_of(parameters: Any) -> tuple[int, ...]:
    """The shape of the rows of parameters."""
    return np.shape(first_of(parameters))
