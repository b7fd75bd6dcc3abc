"""Priors of every table of a hidden Markov model: cases seen before the data.

Told by a word for all tables, or table by table; the words are those of :mod:`bayeslearn.distributions.priors`, and
m:1, one case in every row, is the default.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayeslearn.distributions.priors import Pooled, dirichlet_prior, parse_prior
from bayeslearn.errors import ParameterError, listed
from bayeslearn.sequence.mixed import MixtureEmissions, MixturePrior

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from bayeslearn.distributions import Moments
    from bayeslearn.sequence.emissions import Emissions

#: One case in every row before any is seen, when nobody says otherwise.
DEFAULT = "m:1"

PARTS = ("start", "transitions", "emissions", "weights")


@dataclass(frozen=True)
class ChainPrior:
    """A prior for each table: Dirichlets of the start and the transitions, and what the emissions take."""

    start: Any
    transitions: Any
    emissions: Any


def prior_of(told: Any, emissions: Emissions, cells: NDArray[Any] | Moments | None) -> ChainPrior:
    """The prior that a word, a dict or None, which is no prior at all, stands for."""
    if isinstance(told, ChainPrior):
        return told
    parts = told if isinstance(told, Mapping) else dict.fromkeys(PARTS, told)
    odd = [name for name in parts if name not in PARTS]
    if odd:
        raise ParameterError(f"there is no prior of {listed(odd)}", hint=f"the tables are {', '.join(PARTS)}")
    given = {name: parts.get(name, DEFAULT) for name in PARTS}
    return ChainPrior(
        dirichlet_prior(given["start"]),
        dirichlet_prior(given["transitions"]),
        emission_prior(given["emissions"], given["weights"], emissions, cells),
    )


def emission_prior(told: Any, weights: Any, emissions: Emissions, cells: NDArray[Any] | Moments | None) -> Any:
    """A prior of the emissions, from a word or as it is."""
    if isinstance(emissions, MixtureEmissions):
        if isinstance(told, MixturePrior):
            return told
        return MixturePrior(dirichlet_prior(weights), emission_prior(told, None, emissions.parts, cells))
    found = parse_prior(told, emissions.distribution)
    if not isinstance(found, Pooled):
        if not emissions.distribution.takes(found):
            raise ParameterError(f"there is no prior {told!r:.60} of emissions", hint="take m:1, pooled:1 or none")
        return found
    if cells is None:
        raise ParameterError("a prior that looks like the data needs data", hint="give the prior as an object")
    return emissions.default_prior(cells, found.cases)


def checked(prior: ChainPrior, n: int, emissions: Emissions) -> ChainPrior:
    """A prior that fits tables of n states; the error comes here, not in the middle of learning."""
    prior.start.of((n,))
    prior.transitions.of((n, n))
    emissions.log_prior(prior.emissions)
    return prior


def masked(prior: Any, table: NDArray[np.float64]) -> NDArray[np.float64]:
    """α for every entry that can be: what is zero stays zero."""
    alpha: NDArray[np.float64] = prior.of(table.shape).alpha
    return alpha * (table > 0)
