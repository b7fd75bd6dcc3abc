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
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from bayeslearn import validation
from bayeslearn.distributions.distribution import first_of
from bayeslearn.distributions.row_assignment import Assignment
from bayeslearn.errors import MismatchError, ShapeError
from bayeslearn.sequence.cells import number_rows
from bayeslearn.sequence.observing import Rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.distributions import Moments
    from bayeslearn.sequence.data import Sequences
    from bayeslearn.sequence.observing import Reading


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

    if TYPE_CHECKING:  # fields of some, properties of others

        @property
        def distribution(self) -> Any:
            """The distribution of an observation in a state."""

        @property
        def parameters(self) -> Any:
            """The parameters of the distribution, a row for each state."""

    @abstractmethod
    def with_parameters(self, parameters: Any) -> Self:
        """The same emissions with others."""

    # -- observations

    @abstractmethod
    def cells(self, x: Any) -> NDArray[Any]:
        """Observations checked and in their working form, a row each."""

    def require_fit(self, data: Sequences) -> None:
        """Sequences, which anybody may have made, have the cells and the states of these emissions."""
        if vars(data).get("_fits") is self:  # arrays of sequences cannot be written to
            return
        self.require_cells(data.cells)
        if data.known is not None:
            validation.indices("known", data.known, self.size, least=-1)
        vars(data)["_fits"] = self

    #: The dimensions of one cell in its working form are those of the columns.
    many_columns: ClassVar[bool] = False

    def require_cells(self, cells: NDArray[Any]) -> None:
        """Cells that may have been made for other emissions have the shape and the codes of these."""
        shape = (len(self.names),) if self.many_columns else ()
        if cells.shape[1:] != shape or cells.dtype != np.float64:
            raise ShapeError(
                f"expected observations of shape {('n', *shape)} as floats, got {cells.shape} of {cells.dtype}",
                hint="read the sequences with the model that they are for: model.sequences(...)",
            )

    def log_prob(self, cells: NDArray[Any]) -> NDArray[np.float64]:
        """ln p(x | state): (rows, S), 0 where x is missing."""
        return self.distribution.log_prob(self.parameters, cells)

    def draw(self, states: NDArray[np.intp], rng: np.random.Generator) -> NDArray[Any]:
        """An observation for each state of a path, as users see it."""
        drawn = self.distribution.draw(self.parameters, len(states), rng)
        return drawn[np.arange(len(states)), states]

    def reading(self, cells: NDArray[Any]) -> Reading:
        """What an E step needs; by log likelihoods of rows, unless there is a quicker way."""
        return Rows(self.log_prob(cells), lambda gamma: self.gather(cells, gamma))

    # -- learning

    def gather(self, cells: NDArray[Any], gamma: NDArray[np.float64]) -> Any:
        """Statistics of observations, each giving its share γ to every state."""
        return self.distribution.expected(cells, Assignment(gamma), self.parameters)

    def estimate(self, prior: Any, statistics: Any) -> Self:
        """Posterior means; states that rest on nothing stay as they are."""
        posterior = self.distribution.update(prior, statistics)
        return self.with_parameters(self.distribution.estimate(posterior, otherwise=self.parameters))

    def log_prior(self, prior: Any) -> float:
        """Log likelihood of the cases that the prior stands for."""
        return self.distribution.log_prior(prior, self.parameters)

    def default_prior(self, cells: NDArray[Any] | Moments, cases: float) -> Any:
        """A prior of so many cases for each state that look like all rows, given these or their moments."""
        whole = self.distribution.marginal().collect(cells, weights=np.ones((len(cells), 1)))  # type: ignore[arg-type]
        return self.distribution.pooled(whole, cases)

    #: Whether the moments of all rows are enough for a default prior; else rows are looked at.
    by_moments: ClassVar[bool] = False

    def floored(self, cells: NDArray[Any] | Moments) -> Self:  # noqa: ARG002 - only variances can fall to nothing
        """The same, safe from densities that become infinite on these data."""
        return self

    # -- as a value

    def permuted(self, order: NDArray[np.intp]) -> Self:
        """The states in another order."""
        return self.with_parameters(self.distribution.take(self.parameters, order))

    def centres(self) -> NDArray[np.float64] | None:
        """A number for each state by which to order them, where there is one."""
        return self.distribution.centers(self.parameters)

    def described(self, state: int, most: int = 3) -> str:
        """What a state emits, in a few words."""
        return self.distribution.describe(self.parameters, state, most=most)

    def require_like(self, other: Emissions) -> None:
        """Only emissions of one kind, size and columns have statistics that add."""
        if type(self) is not type(other) or self.size != other.size or self.names != other.names:
            raise MismatchError(
                f"these models emit different things: {self.kind} {self.names} and {other.kind} {other.names}",
                differs="emissions",
            )


@dataclass(frozen=True, eq=False)
class ColumnEmissions(Emissions):
    """Numbers of any registered distribution of one column; those that kernels know have classes of their own."""

    name: str
    distribution: Any
    parameters: Any

    @property
    def kind(self) -> str:  # type: ignore[override]
        """The name of the distribution."""
        return self.distribution.name

    @property
    def size(self) -> int:
        """How many states there are."""
        return len(first_of(self.parameters))

    @property
    def names(self) -> tuple[str, ...]:
        """The one column."""
        return (self.name,)

    def with_parameters(self, parameters: Any) -> Self:
        """The same emissions with others."""
        return replace(self, parameters=parameters)

    def cells(self, x: Any) -> NDArray[Any]:
        """Numbers that the distribution takes; NaN is missing."""
        return self.distribution.cells(number_rows(x)[:, 0])

    def require_like(self, other: Emissions) -> None:
        """Of the same distribution."""
        super().require_like(other)
        if isinstance(other, ColumnEmissions) and self.distribution != other.distribution:
            raise MismatchError(f"these models emit {self.kind} and {other.kind}", differs="emissions")
