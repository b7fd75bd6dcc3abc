"""A component: columns, the distribution of their cells, and its prior.

    p(x | row) = p(x | θ_row)        a row of parameters belongs to a class, a component of a mixture or a state

Kernels are registered by the name of a distribution (:func:`register_kernels`) and take many columns of it at once.
Without them the distribution itself is asked, and the answers are the same.
Two come with the package: for columns of states, and for columns of numbers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from bayeslearn import kernels
from bayeslearn.distributions.categorical import Counts
from bayeslearn.distributions.distribution import Distribution, names
from bayeslearn.distributions.kernel_density import KernelDensity
from bayeslearn.distributions.moments import Moments
from bayeslearn.distributions.normal import LOG_2PI, positive
from bayeslearn.distributions.priors import Rule, n_rows
from bayeslearn.distributions.sufficient_statistics import ratio
from bayeslearn.errors import BayeslearnError, DataError, ParameterError
from bayeslearn.tables.schema import smallest_code_type
from bayeslearn.tables.table import read_only
from bayeslearn.tables.variables import DiscreteVariable, NumericVariable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Labels = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Component:
    """Columns, the distribution of their cells, and its prior.

    >>> from bayeslearn.distributions import Poisson
    >>> Component.of(Poisson(), "visits")
    Component(columns=(NumericVariable(name='visits'),), distribution=Poisson(), prior=None)
    """

    columns: tuple[DiscreteVariable | NumericVariable, ...]
    distribution: Any
    prior: Any = None

    def __post_init__(self) -> None:
        if not isinstance(self.distribution, Distribution):
            raise ParameterError(
                f"there is no distribution {self.distribution!r:.60}", hint=f"there is {', '.join(names())}"
            )
        if not self.distribution.accepts(self.columns):
            kind = "discrete" if isinstance(self.columns[0], DiscreteVariable) else "numeric"
            raise ParameterError(f"column {self.name!r} is {kind}, so it cannot be {self.distribution.name}")

    @classmethod
    def of(cls, distribution: Any, *names: str, prior: Any = None) -> Component:
        """A component over columns with these names, x0, x1, … when there are none."""
        names = names or tuple(f"x{i}" for i in range(getattr(distribution, "n_columns", 1)))
        numbers = tuple(NumericVariable(name) for name in names)
        if isinstance(distribution, Distribution) and not distribution.accepts(numbers):
            return cls((DiscreteVariable(names[0], tuple(range(distribution.n_states))),), distribution, prior)  # type: ignore[attr-defined]
        return cls(numbers, distribution, prior)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Component):
            return NotImplemented
        same = (self.columns, self.distribution) == (other.columns, other.distribution)
        return same and repr(self.prior) == repr(other.prior)

    def __hash__(self) -> int:
        return hash((self.columns, self.distribution))

    @property
    def name(self) -> str:
        """The name of its column, or of its columns."""
        return ", ".join(column.name for column in self.columns)

    @property
    def variable(self) -> Any:
        """Its one column."""
        return self.columns[0]

    @property
    def is_joint(self) -> bool:
        """Whether a case is a vector of numbers."""
        return self.distribution.points_of_columns

    @property
    def kernels(self) -> Kernels | None:
        """What takes many columns of the distribution at once."""
        return kernels_of(self.distribution.name)

    # -- cells

    def cells(self, x: Any) -> NDArray[Any]:
        """Checked cells; a component of vectors over one column takes it as a table of one."""
        if self.is_joint and np.ndim(x) == 1:
            x = np.asarray(x)[:, None]
        try:
            found = self.distribution.cells(x)
        except DataError as error:
            raise type(error)(f"column {self.name!r}: {error.message}", hint=error.hint, columns=self.name) from None
        return found if self.kernels is None else self.kernels.cells(self, found)

    # -- evidence

    def prior_given(self, statistics: Any) -> Any:
        """The prior as an object of its distribution; None where cases are all alike, which are no evidence."""
        if isinstance(self.prior, Rule):
            return self.prior.given(self.distribution, statistics)
        return self.distribution.shaped(self.prior, n_rows(statistics))

    def posterior(self, statistics: Any) -> Any:
        """Prior and evidence added, a row of parameters for each class; None where there is nothing to learn."""
        prior = self.prior_given(statistics) if isinstance(self.prior, Rule) else self.prior
        return None if prior is None else self.distribution.update(prior, statistics)

    def estimate(self, prior: Any, statistics: Any, before: Any) -> Any:
        """Posterior means; rows without data and prior keep the parameters they had before."""
        found = self.distribution.estimate(self.distribution.update(prior, statistics), otherwise=before)
        self.distribution.require_regular(found, self.name)
        return found

    def density(self, parameters: Any) -> Density:
        """What adds ln p of cells under every row of parameters."""
        if self.kernels is not None:
            return self.kernels.density(parameters)
        return AnyDensity(partial(self.distribution.log_prob, parameters))

    def posterior_density(self, statistics: Any, estimate: str, sharpness: float = 1.0) -> Density | None:
        """The same times `sharpness`, by posterior means or with parameters integrated out; None without evidence."""
        try:
            posterior = self.posterior(statistics)
            if posterior is None:
                return None
            if self.kernels is not None:
                found = self.kernels.posterior_density(posterior, statistics, estimate, sharpness)
                if found is not None:
                    return found
            if estimate == "integrated":
                return AnyDensity(self.distribution.predictive(posterior).log_prob, sharpness)
            return AnyDensity(partial(self.distribution.log_prob, self.distribution.estimate(posterior)), sharpness)
        except BayeslearnError as error:
            raise type(error)(
                f"column {self.name!r}: {error.message}", hint=error.hint, column=self.name, **error.details
            ) from None


### densities


class Density(Protocol):
    """Adds ln p of a block of cells to ln P(row, case)."""

    def __call__(self, cells: NDArray[Any], joint: Floats) -> None:
        """Add ln p of cells, (columns, cases), to `joint`, (rows, cases)."""


class AnyDensity:
    """That of one component, by the distribution itself."""

    def __init__(self, log_prob: Callable[[Any], Floats], sharpness: float = 1.0) -> None:
        self.log_prob, self.sharpness = log_prob, sharpness

    def __call__(self, cells: NDArray[Any], joint: Floats) -> None:
        """Add ln p of cells, (1, cases, ...)."""
        joint += self.sharpness * self.log_prob(cells[0]).T


class ColumnDensity(ABC):
    """That of several columns at once, each with a separate table: those of one class become one."""

    tables: Floats

    @abstractmethod
    def __init__(self, *tables: Floats) -> None:
        """Of these tables, one for each column."""

    @abstractmethod
    def __call__(self, cells: NDArray[Any], joint: Floats) -> None:
        """Add ln p of cells, (columns, cases)."""


### kernels


class Kernels(Protocol):
    """What takes many columns of a distribution at once."""

    def cells(self, component: Component, cells: NDArray[Any]) -> NDArray[Any]:
        """Checked cells in the one form that kernels are compiled for."""

    def density(self, parameters: Any) -> Density:
        """ln p under parameters."""

    def posterior_density(self, posterior: Any, statistics: Any, estimate: str, sharpness: float) -> Density | None:
        """ln p under a posterior; None where the distribution itself is asked."""

    def collect(
        self,
        components: Sequence[Component],
        cells: NDArray[Any],
        labels: Labels,
        sample_weight: Floats,
        rows: int,
    ) -> Sequence[Any]:
        """What a block of cells, (columns, cases), shows of every component and row of parameters."""

    def statistics(self, component: Component, blocks: NDArray[Any]) -> Any:
        """The statistics of what blocks showed of one component."""


_kernels: dict[str, Kernels] = {}


def register_kernels(name: str) -> Callable[[type[Any]], type[Any]]:
    """Let kernels take the columns of a distribution."""

    def named(cls: type[Any]) -> type[Any]:
        _kernels[name] = cls()
        return cls

    return named


def kernels_of(name: str) -> Kernels | None:
    """The kernels that are registered for a distribution."""
    return _kernels.get(name)


### kernels of states and of numbers

#: The largest factor of a squared distance: with it a distance of 0 is 0 in the narrowest normal, too.
MAX_FACTOR = float(np.finfo(float).max)


class StateDensity(ColumnDensity):
    """ln p of the states of some columns, (columns, rows, 1 + states + 1): missing, every state, and an unseen one."""

    def __init__(self, *tables: Floats) -> None:
        widest = max(table.shape[1] for table in tables)
        self.tables = np.stack([np.pad(t, ((0, 0), (0, widest - t.shape[1]))) for t in tables])

    def __call__(self, cells: NDArray[Any], joint: Floats) -> None:
        """Add ln p of cells, (columns, cases)."""
        kernels.add_state_logs(cells, self.tables, joint)


class NormalDensity(ColumnDensity):
    """Mean, 1/2σ² and −½ ln 2πσ² of some columns, (columns, rows, 3)."""

    def __init__(self, *tables: Floats) -> None:
        self.tables = np.stack(tables)

    def __call__(self, cells: NDArray[Any], joint: Floats) -> None:
        """Add ln p of cells, (columns, cases)."""
        kernels.add_normal_logs(cells, self.tables, joint)


@register_kernels("categorical")
class StateKernels:
    """Columns of states.

    A state that was never seen in training is one state more, with the prior share of an average one:

        p(new | c) = ᾱ / (n_c + α₀ + ᾱ)        ᾱ = α₀ / K

    so it favors classes with little data; without a prior it adds nothing.
    """

    def cells(self, component: Component, cells: NDArray[Any]) -> NDArray[Any]:
        """Codes of the smallest type, not to be written to."""
        return read_only(cells.astype(smallest_code_type(component.variable.n_states + 1)))

    def density(self, parameters: Floats) -> StateDensity:
        """ln p of probabilities (rows, states)."""
        tables = np.zeros((len(parameters), parameters.shape[1] + 2))
        with np.errstate(divide="ignore"):
            tables[:, 1:-1] = np.log(parameters)
        return StateDensity(tables)

    def posterior_density(self, posterior: Any, statistics: Any, _estimate: str, sharpness: float) -> StateDensity:
        """ln p of posterior means; integrated is the same."""
        alpha, before = posterior.alpha, posterior.alpha - statistics.n
        tables = np.zeros((len(alpha), alpha.shape[1] + 2))
        new, total = before.mean(axis=1), alpha.sum(axis=1)
        with np.errstate(divide="ignore"):
            tables[:, 1:-1] = np.log(ratio(alpha, np.broadcast_to(total[:, None], alpha.shape)))
            if (new > 0).all():
                tables[:, -1] = np.log(new / (total + new))
        tables[total == 0, 1:-1] = -np.log(alpha.shape[1])  # a class of which nothing is known
        return StateDensity(sharpness * tables)

    def collect(
        self,
        components: Sequence[Component],
        cells: NDArray[Any],
        labels: Labels,
        sample_weight: Floats,
        rows: int,
    ) -> Floats:
        """How often each state shows."""
        counts = np.zeros((len(components), max(c.variable.n_states for c in components) + 2, rows))
        kernels.count_classes(cells, labels, sample_weight, counts)
        return counts

    def statistics(self, component: Component, blocks: Floats) -> Counts:
        """Counts (rows, states)."""
        return Counts(np.ascontiguousarray(blocks.sum(axis=0)[1 : component.variable.n_states + 1].T))


@register_kernels("kernel_density")
class SmoothedKernels(StateKernels):
    """Columns of cells, whose probabilities are smoothed."""

    def posterior_density(self, posterior: Any, statistics: Any, _estimate: str, sharpness: float) -> StateDensity:  # noqa: ARG002
        """ln p of the smoothed shares; every number has a cell."""
        theta = KernelDensity(posterior.alpha.shape[-1]).estimate(posterior)
        tables = np.zeros((len(theta), theta.shape[1] + 2))
        with np.errstate(divide="ignore"):
            tables[:, 1:-1] = sharpness * np.log(theta)
        return StateDensity(tables)


@register_kernels("gaussian")
class NormalKernels:
    """Columns of numbers."""

    def cells(self, component: Component, cells: NDArray[Any]) -> NDArray[Any]:  # noqa: ARG002 - as of others
        """Numbers side by side, not to be written to."""
        return read_only(np.ascontiguousarray(cells, dtype=np.float64))

    def density(self, parameters: Any) -> NormalDensity:
        """ln p of means and variances."""
        mean, variance = parameters
        return self._density(mean, variance, 1.0)

    def posterior_density(
        self, posterior: Any, _statistics: Any, estimate: str, sharpness: float
    ) -> NormalDensity | None:
        """ln p of posterior means; Student's t is left to the distribution."""
        if estimate == "integrated":
            return None
        mean, variance = posterior.mean()
        return self._density(mean, variance, sharpness)

    def _density(self, mean: Floats, variance: Floats, sharpness: float) -> NormalDensity:
        variance, half = positive(variance), sharpness / 2
        with np.errstate(over="ignore"):
            factor = np.minimum(half / variance, MAX_FACTOR)
        return NormalDensity(np.stack([mean, factor, -half * (LOG_2PI + np.log(variance))], axis=1))

    def collect(
        self,
        components: Sequence[Component],
        cells: NDArray[Any],
        labels: Labels,
        sample_weight: Floats,
        rows: int,
    ) -> Floats:
        """n, x̄ and M of each row of parameters."""
        moments = np.empty((len(components), 3, rows))
        with np.errstate(invalid="ignore"):  # infinity is reported by who knows the column
            kernels.class_moments(cells, labels, sample_weight, moments)
        return moments

    def statistics(self, component: Component, blocks: Floats) -> Moments:  # noqa: ARG002 - as of others
        """Moments, merged by the pairwise formula."""
        n, mean, m2 = blocks.transpose(1, 0, 2)
        total = n.sum(axis=0)
        center = ratio((n * mean).sum(axis=0), total)
        slip = ratio((n * (mean - center)).sum(axis=0), total)  # what rounding left of the mean
        return Moments(total, center + slip, m2.sum(axis=0) + (n * (mean - center - slip) ** 2).sum(axis=0))
