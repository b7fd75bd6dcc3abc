"""Priors of every table of a hidden Markov model: cases seen before the data.

Told by a word for all tables, or table by table; the words are those of :mod:`bayeslearn.distributions.priors`, and
m:1, one case in every row, is the default.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayeslearn.distributions.priors import dirichlet_prior
from bayeslearn.errors import ParameterError, listed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from bayeslearn.distributions import Moments
    from bayeslearn.hmm.emissions import Emissions

#: One case in every row before any is seen, when nobody says otherwise.
DEFAULT = "m:1"

PARTS = ("start", "transitions", "emissions", "weights")


@dataclass(frozen=True)
class HMMPrior:
    """A prior for each table: Dirichlets of the start and the transitions, and what the emissions take."""

    start: Any
    transitions: Any
    emissions: Any


def prior_of(prior: Any, emissions: Emissions, cells: NDArray[Any] | Moments | None) -> HMMPrior:
    """The prior that a word, a dict or None, which is no prior at all, stands for."""
    if isinstance(prior, HMMPrior):
        return prior
    parts = prior if isinstance(prior, Mapping) else dict.fromkeys(PARTS, prior)
    odd = [name for name in parts if name not in PARTS]
    if odd:
        raise ParameterError(f"there is no prior of {listed(odd)}", hint=f"the tables are {', '.join(PARTS)}")
    given = {name: parts.get(name, DEFAULT) for name in PARTS}
    return HMMPrior(
        dirichlet_prior(given["start"]),
        dirichlet_prior(given["transitions"]),
        emissions.prior_of(given["emissions"], given["weights"], cells),
    )


def checked(prior: HMMPrior, n: int, emissions: Emissions) -> HMMPrior:
    """A prior that fits tables of n states; the error comes here, not in the middle of learning."""
    prior.start.of((n,))
    prior.transitions.of((n, n))
    emissions.log_prior(prior.emissions)
    return prior


def masked(prior: Any, table: NDArray[np.float64]) -> NDArray[np.float64]:
    """α for every entry that can be: what is zero stays zero."""
    alpha: NDArray[np.float64] = prior.of(table.shape).alpha
    return alpha * (table > 0)
