"""What states emit: a likelihood for each state, with its conjugate prior.

Emissions are frozen values: the parameters of every state, a row each. They are learned like everything else,

    statistics = gather(cells, γ)        posterior = prior + statistics        parameters = its mean

where γ weighs each row for each state. The posterior mean maximises the likelihood together with

    log_prior = Σ α ln θ        a ln λ − b λ        −(α − 1) ln σ² − (β + κ(μ − m)²/2) / σ²

which is the log likelihood of the cases that the prior stands for; EM climbs the sum of both. A state of which nothing
is expected any more, and of which the prior says nothing, stays as it is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from bayeslearn.errors import MismatchError
from bayeslearn.families.statistics import ratio
from bayeslearn.sequence.observing import Rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.families import Moments
    from bayeslearn.sequence.observing import Reading

#: Less weight than this is nothing.
NOTHING = 1e-10


class Emissions(ABC):
    """The parameters of all states; see the module."""

    kind: ClassVar[str]

    @property
    @abstractmethod
    def size(self) -> int:
        """How many states there are."""

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """The names of the observed columns."""

    # -- observations

    @abstractmethod
    def cells(self, x: Any) -> NDArray[Any]:
        """Observations checked and in their working form, a row each."""

    @abstractmethod
    def log_prob(self, cells: NDArray[Any]) -> NDArray[np.float64]:
        """ln p(x | state): (rows, S), 0 where x is missing."""

    @abstractmethod
    def draw(self, states: NDArray[np.intp], rng: np.random.Generator) -> NDArray[Any]:
        """An observation for each state of a path, as users see it."""

    def reading(self, cells: NDArray[Any]) -> Reading:
        """What an E step needs; by log likelihoods of rows, unless there is a quicker way."""
        return Rows(self.log_prob(cells), lambda gamma: self.gather(cells, gamma))

    # -- learning

    @abstractmethod
    def gather(self, cells: NDArray[Any], gamma: NDArray[np.float64]) -> Any:
        """Statistics of observations, each giving its share γ to every state."""

    @abstractmethod
    def estimate(self, prior: Any, statistics: Any) -> Self:
        """Posterior means."""

    @abstractmethod
    def log_prior(self, prior: Any) -> float:
        """Log likelihood of the cases that the prior stands for."""

    @abstractmethod
    def default_prior(self, cells: NDArray[Any] | Moments, cases: float) -> Any:
        """A prior of so many cases for each state that look like all rows, given these or their moments."""

    def floored(self, cells: NDArray[Any] | Moments) -> Self:  # noqa: ARG002 - only variances can fall to nothing
        """The same, safe from densities that become infinite on these data."""
        return self

    # -- as a value

    @abstractmethod
    def permuted(self, order: NDArray[np.intp]) -> Self:
        """The states in another order."""

    @abstractmethod
    def centres(self) -> NDArray[np.float64] | None:
        """A number for each state by which to order them, where there is one."""

    @abstractmethod
    def described(self, state: int, most: int = 3) -> str:
        """What a state emits, in a few words."""

    def require_like(self, other: Emissions) -> None:
        """Only emissions of one kind, size and columns have statistics that add."""
        if type(self) is not type(other) or self.size != other.size or self.names != other.names:
            raise MismatchError(
                f"these models emit different things: {self.kind} {self.names} and {other.kind} {other.names}",
                differs="emissions",
            )


def shares(counts: NDArray[np.float64], otherwise: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows divided by their sums; `otherwise` where a row has nothing."""
    total = counts.sum(axis=-1, keepdims=True)
    return np.where(total > NOTHING, ratio(counts, total), otherwise)
