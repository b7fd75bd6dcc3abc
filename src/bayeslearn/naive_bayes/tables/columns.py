"""One column of a naive Bayes model: its variable, its family, its prior; and what its cells say of the classes.

    categorical   ln p(x | c) = ln (n_cx + α_x) / (n_c + α₀)
    normal        ln p(x | c) = −½ (ln 2πσ² + (x − μ)²/σ²), or Student's t when parameters are integrated out
    poisson       ln p(x | c) = x ln λ − λ − ln x!,          or the negative binomial

A state that was never seen in training is one state more, with the prior share of an average one:

    p(new | c) = ᾱ / (n_c + α₀ + ᾱ)        ᾱ = α₀ / K

so it speaks for classes of which little was seen; without prior cases it says nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import kernels, validation
from bayeslearn.errors import BayeslearnError, DataError, ParameterError
from bayeslearn.families import Categorical, Counts, Dirichlet, Normal, Poisson
from bayeslearn.families.normal import LOG_2PI, positive
from bayeslearn.families.statistics import ratio
from bayeslearn.naive_bayes.tables.priors import ColumnPrior, Rule
from bayeslearn.tables import Discrete, Numeric

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    #: Adds what the cells of a block say, (columns, rows), to ln P(class, row), (classes, rows).
    Speaks = Callable[[NDArray[Any], NDArray[np.float64]], None]

FAMILIES = {"categorical": Discrete, "normal": Numeric, "poisson": Numeric}
ESTIMATES = ("mean", "integrated")


@dataclass(frozen=True, eq=False)
class Column:
    """A variable, the family of its values, and its prior."""

    variable: Discrete | Numeric
    family: str
    prior: ColumnPrior

    def __post_init__(self) -> None:
        validation.choice("family", self.family, FAMILIES)
        if not isinstance(self.variable, FAMILIES[self.family]):
            kind = "discrete" if isinstance(self.variable, Discrete) else "numeric"
            raise ParameterError(f"column {self.name!r} is {kind}, so it cannot be {self.family}")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Column):
            return NotImplemented
        same = (self.variable, self.family) == (other.variable, other.family)
        return same and repr(self.prior) == repr(other.prior)

    __hash__ = None  # type: ignore[assignment]

    @property
    def name(self) -> str:
        """The name of the column."""
        return self.variable.name

    @property
    def likelihood(self) -> Categorical | Normal | Poisson:
        """The family of the values, as an object."""
        if isinstance(self.variable, Discrete):
            return Categorical(self.variable.size)
        return Normal() if self.family == "normal" else Poisson()

    # -- evidence

    def prior_given(self, statistics: Any) -> Any:
        """The prior as an object of its family; None for numbers that are all alike, which say nothing."""
        return self.prior.given(statistics) if isinstance(self.prior, Rule) else self.prior.of(statistics.n.shape)

    def posterior(self, statistics: Any) -> Any:
        """Prior and evidence added, a row of parameters for each class; None where there is nothing to learn."""
        prior = self.prior_given(statistics)
        return None if prior is None else self.likelihood.update(prior, statistics)

    def grown(self, states: tuple[Any, ...]) -> Column:
        """The same column with more states, for which the prior must be a rule."""
        assert isinstance(self.variable, Discrete)
        if isinstance(self.prior, Dirichlet) and states != self.variable.states:
            raise DataError(
                f"column {self.name!r} shows the new state {states[self.variable.size]!r}, "
                "and its prior is told for the states known before",
                hint="declare all states in the schema, or give a prior for any number of them, such as m_estimate(2)",
            )
        return replace(self, variable=Discrete(self.name, states))

    def checked(self, cells: NDArray[Any]) -> NDArray[Any]:
        """Counts are whole and not negative."""
        if self.family == "poisson":
            try:
                Poisson().cells(cells)
            except DataError as error:
                raise DataError(f"column {self.name!r}: {error.message}", hint=error.hint, column=self.name) from None
        return cells

    # -- what it says

    def speaks(self, statistics: Any, estimate: str, sharpness: float = 1.0) -> Speaks | None:
        """What adds τ ln p(cell | class) of a block; None for a column that says nothing."""
        try:
            posterior = self.posterior(statistics)
            if posterior is None:
                return None
            if self.family == "categorical":
                return StateLogs(sharpness * state_logs(posterior.alpha, posterior.alpha - statistics.n))
            if estimate == "integrated":
                return AnyLogs(self.likelihood.predictive(posterior).log_prob, sharpness)
            mean = posterior.mean()
            if self.family == "poisson":
                return AnyLogs(partial(Poisson().log_prob, mean), sharpness)
            var = positive(mean.var)
            half = sharpness / 2
            return NormalLogs(np.stack([mean.mean, half / var, -half * (LOG_2PI + np.log(var))], axis=1))
        except BayeslearnError as error:
            raise type(error)(
                f"column {self.name!r}: {error.message}", hint=error.hint, column=self.name, **error.details
            ) from None


def state_logs(alpha: NDArray[np.float64], before: NDArray[np.float64]) -> NDArray[np.float64]:
    """ln p of a missing cell, of every state, and of a state that was never seen: (classes, 1 + states + 1)."""
    logs = np.zeros((len(alpha), alpha.shape[1] + 2))
    new = before.mean(axis=1)
    total = alpha.sum(axis=1)
    with np.errstate(divide="ignore"):
        logs[:, 1:-1] = np.log(ratio(alpha, np.broadcast_to(total[:, None], alpha.shape)))
        if (new > 0).all():
            logs[:, -1] = np.log(new / (total + new))
    logs[total == 0, 1:-1] = -np.log(alpha.shape[1])  # a class of which nothing is known
    return logs


class StateLogs:
    """τ ln p of the states of some columns, (columns, classes, 1 + states + 1)."""

    def __init__(self, *tables: NDArray[np.float64]) -> None:
        widest = max(table.shape[1] for table in tables)
        self.parts = np.stack([np.pad(t, ((0, 0), (0, widest - t.shape[1]))) for t in tables])

    def __call__(self, cells: NDArray[Any], joint: NDArray[np.float64]) -> None:
        """Add what a block says, (columns, rows)."""
        kernels.add_state_logs(cells, self.parts, joint)


class NormalLogs:
    """Mean, τ/2σ² and −½ τ ln 2πσ² of some columns, (columns, classes, 3)."""

    def __init__(self, *parts: NDArray[np.float64]) -> None:
        self.parts = np.stack(parts)

    def __call__(self, cells: NDArray[Any], joint: NDArray[np.float64]) -> None:
        """Add what a block says, (columns, rows)."""
        kernels.add_normal_logs(cells, self.parts, joint)


class AnyLogs:
    """What the objects of a family say of one column."""

    def __init__(self, log_prob: Callable[[Any], NDArray[np.float64]], sharpness: float) -> None:
        self.log_prob, self.sharpness = log_prob, sharpness

    def __call__(self, cells: NDArray[Any], joint: NDArray[np.float64]) -> None:
        """Add what a block says, (1, rows)."""
        joint += self.sharpness * self.log_prob(cells[0]).T


def together(speaks: Sequence[Speaks | None]) -> Speaks | None:
    """All columns as one, where all are words or all are normal."""
    for kind in (StateLogs, NormalLogs):
        if speaks and all(type(one) is kind for one in speaks):
            return kind(*(one.parts[0] for one in speaks))  # type: ignore[union-attr]
    return None


def new_states(variable: Any, states: Iterable[Any]) -> tuple[Any, ...]:
    """The states that a variable does not know; 1 and '1' are the same where data came by different ways."""
    from bayeslearn.tables.states import UNKNOWN, StateLookup  # noqa: PLC0415 - Arrow loads when data come in

    look = StateLookup(variable)
    return tuple(state for state in states if look(state) == UNKNOWN)


def padded(counts: Counts, size: int) -> Counts:
    """Counts with room for more states."""
    return Counts(np.pad(counts.n, ((0, 0), (0, size - counts.n.shape[1]))))
