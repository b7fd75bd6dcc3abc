"""The columns of a naive Bayes model: their priors as they are given, and states that they gain.

A prior is one word for all columns, an object, or a mapping by the names of columns.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.distributions.categorical import Categorical, Counts, Dirichlet
from bayeslearn.distributions.distribution import by_name, column_names
from bayeslearn.distributions.priors import Pooled, parse_prior
from bayeslearn.errors import DataError, ParameterError, listed
from bayeslearn.tables import Discrete
from bayeslearn.tables.schema import require_known

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bayeslearn.components import Component

#: The prior of columns for which nobody says otherwise.
DEFAULT = "pooled:1"


def prior_of(prior: Any, name: str, distribution: Any) -> Any:
    """The prior of one column: its own, or one for all that take it; the others have pooled:1."""
    if isinstance(prior, Mapping):
        return prior_of(prior.get(name, DEFAULT), name, distribution)
    if not (prior is None or isinstance(prior, str)) and not distribution.takes(prior) and is_prior(prior):
        return Pooled()  # one for columns of another distribution
    try:
        return parse_prior(prior, distribution)
    except ParameterError as error:
        raise ParameterError(f"column {name!r}: {error.message}", hint=error.hint, column=name) from None


def is_prior(prior: Any) -> bool:
    """Whether some distribution takes this."""
    kinds = (by_name(name) for name in column_names())
    return isinstance(prior, tuple(kind for cls in kinds for kind in (cls.prior_type, *cls.prior_rules)))


def require_columns(what: str, given: Any, names: list[str]) -> None:
    """A mapping speaks of columns that are there."""
    if isinstance(given, Mapping):
        try:
            require_known(list(given), names)
        except ParameterError as error:
            raise type(error)(f"`{what}`: {error.message}", hint=error.hint, columns=listed(given)) from None


### states


def with_states(column: Component, states: tuple[Any, ...]) -> Component:
    """The same column with more states, for which the prior must be a rule."""
    known = column.variable.states
    if isinstance(column.prior, Dirichlet) and states != known:
        raise DataError(
            f"column {column.name!r} shows the new state {states[len(known)]!r}, "
            "and its prior is told for the states known before",
            hint="declare all states in the schema, or give a prior for any number of them, such as m_estimate(2)",
        )
    return replace(column, columns=(Discrete(column.name, states),), distribution=Categorical(len(states)))


def new_states(variable: Any, states: Iterable[Any]) -> tuple[Any, ...]:
    """The states that a variable does not know; 1 and '1' are the same where data came by different ways."""
    from bayeslearn.tables.states import UNKNOWN, StateLookup  # noqa: PLC0415 - Arrow loads when data come in

    look = StateLookup(variable)
    return tuple(state for state in states if look(state) == UNKNOWN)


def padded(counts: Counts, size: int) -> Counts:
    """Counts with room for more states."""
    return Counts(np.pad(counts.n, ((0, 0), (0, size - counts.n.shape[1]))))
