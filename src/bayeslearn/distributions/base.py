"""The four steps that every learner is made of, and that every family offers.

    statistics = family.collect(x, weights=...)
    posterior  = family.update(prior, statistics)
    parameters = family.estimate(posterior)               mean, mode or a draw
                 family.log_evidence(prior, statistics)   the model score, from the same numbers

A family is a small value (its size, its dimension); a prior is a distribution of parameters; nothing is mutated.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, Self, TypeVar

from bayeslearn import validation
from bayeslearn.distributions.sufficient_statistics import assign

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.distributions.sufficient_statistics import Assignment, Statistics

How = Literal["mean", "mode", "draw"]


class Prior(Protocol):
    """A distribution of parameters, before or after the data."""

    def of(self, shape: tuple[int, ...]) -> Self:
        """The same prior for every row; `shape` is that of θ, of p, of a rate or of the mean: (*rows, size of one)."""

    def mean(self) -> Any:
        """The expected parameters."""

    def mode(self) -> Any:
        """The most probable parameters."""

    def draw(self, random_state: np.random.Generator | int | None = None) -> Any:
        """Parameters drawn at random."""

    def interval(self, level: float = 0.95) -> Any:
        """Equal-tailed credible bounds (low, high) of each parameter."""


class Predictive(Protocol):
    """A distribution of one more case, parameters integrated out.

    Most also offer ``mean()`` and, for numbers, ``interval(level)``; a regression asks for its inputs first.
    """

    def log_prob(self, x: ArrayLike) -> NDArray[np.float64]:
        """Log probability (or density) of each case; shape (n, *rows)."""

    def draw(self, n: Any, random_state: np.random.Generator | int | None = None) -> NDArray[Any]:
        """Cases drawn at random, shape (n, *rows); a regression takes its inputs in place of `n`."""


S = TypeVar("S", bound="Statistics")
P = TypeVar("P", bound=Prior)


class Family(ABC, Generic[S, P]):
    """A likelihood with its conjugate prior."""

    def collect(
        self,
        x: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        n_groups: int | None = None,
    ) -> S:
        """The additive statistics of `x`; missing cells add nothing. Weights and groups as in `assignment`."""
        cells = self.cells(x)
        return self.gather(cells, assign(len(cells), sample_weight=sample_weight, groups=groups, n_groups=n_groups))

    @abstractmethod
    def cells(self, x: ArrayLike) -> NDArray[Any]:
        """Cases checked and in their working form, the first axis running over them."""

    @abstractmethod
    def gather(self, cells: NDArray[Any], to: Assignment) -> S:
        """The statistics of checked cases, each giving its share to the rows that `to` says."""

    @abstractmethod
    def zero(self, rows: tuple[int, ...] = ()) -> S:
        """The statistics of no data."""

    @abstractmethod
    def update(self, prior: P, statistics: S) -> P:
        """The posterior: prior and evidence added."""

    @abstractmethod
    def log_evidence(self, prior: P, statistics: S) -> NDArray[np.float64]:
        """Log probability of the data with the parameters integrated out, one number per row of parameters."""

    @abstractmethod
    def log_prob(self, parameters: Any, x: ArrayLike, *, groups: ArrayLike | None = None) -> NDArray[np.float64]:
        """Log probability of each case: (n, *rows), or (n,) under the row of parameters that `groups` names.

        A missing cell has log probability 0: it is integrated out. So has a case whose group is −1.
        """

    @abstractmethod
    def predictive(self, posterior: P) -> Predictive:
        """The distribution of one more case."""

    @abstractmethod
    def draw(self, parameters: Any, n: Any, random_state: np.random.Generator | int | None = None) -> NDArray[Any]:
        """`n` cases at random for every row of parameters: (n, *rows); a regression takes its inputs for `n`."""

    def estimate(
        self,
        posterior: P,
        *,
        how: How = "mean",
        random_state: np.random.Generator | int | None = None,
        otherwise: Any = None,
    ) -> Any:
        """Parameters read off a posterior: its mean, its mode or a draw.

        Rows that rest on nothing have no mean: they are those of `otherwise`, or an error when it is not given.
        """
        how = validation.choice("how", how, ["mean", "mode", "draw"])
        if how == "draw":
            return posterior.draw(validation.generator(random_state))
        if how == "mode":
            return posterior.mode()
        return posterior.mean() if otherwise is None else posterior.mean(otherwise)  # type: ignore[call-arg]

    def fit(
        self,
        x: ArrayLike,
        *,
        prior: P,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        n_groups: int | None = None,
    ) -> P:
        """Collect, then update: the posterior given `x`."""
        return self.update(prior, self.collect(x, sample_weight=sample_weight, groups=groups, n_groups=n_groups))
