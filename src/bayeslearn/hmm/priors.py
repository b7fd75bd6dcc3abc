"""Priors of the parameters of a hidden Markov model: pseudo-counts added to the data.

One name stands for all parameters, or a dict has one for each; :mod:`bayeslearn.distributions.priors` lists the names.
The default is m:1, an equivalent sample size of 1 in every row of probabilities.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from bayeslearn.distributions import Dirichlet
from bayeslearn.distributions.priors import dirichlet_prior
from bayeslearn.errors import ParameterError, listed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from bayeslearn.distributions import Moments
    from bayeslearn.hmm.emissions import Emissions

#: An equivalent sample size of 1 in every row.
DEFAULT = "m:1"

PARTS = ("startprob", "transmat", "emissions", "weights")


@dataclass(frozen=True)
class HMMPrior:
    """Priors of start probabilities and transition probabilities, which are Dirichlet, and of the emissions."""

    startprob: Any
    transmat: Any
    emissions: Any


def prior_of(prior: Any, emissions: Emissions, cells: NDArray[Any] | Moments | None) -> HMMPrior:
    """The prior of a name or of a dict of names; None for maximum likelihood."""
    if isinstance(prior, HMMPrior):
        return prior
    parts = prior if isinstance(prior, Mapping) else dict.fromkeys(PARTS, prior)
    odd = [name for name in parts if name not in PARTS]
    if odd:
        raise ParameterError(f"there is no prior of {listed(odd)}", hint=f"the parameters are {', '.join(PARTS)}")
    given = {name: parts.get(name, DEFAULT) for name in PARTS}
    return HMMPrior(
        dirichlet_prior(given["startprob"]),
        dirichlet_prior(given["transmat"]),
        emissions.prior_of(given["emissions"], given["weights"], cells),
    )


def checked(prior: HMMPrior, n: int, emissions: Emissions) -> HMMPrior:
    """The prior, checked against the number of states before the fit begins."""
    prior.startprob.of((n,))
    prior.transmat.of((n, n))
    emissions.log_prior(prior.emissions)
    return prior


def masked(prior: Any, table: NDArray[np.float64]) -> NDArray[np.float64]:
    """α of every entry that is not zero; zeros stay zero."""
    alpha: NDArray[np.float64] = prior.of(table.shape).alpha
    return alpha * (table > 0)


def reordered(prior: HMMPrior, emissions: Emissions, order: NDArray[np.intp]) -> HMMPrior:
    """The prior of the states in another order."""
    return HMMPrior(
        along_states(prior.startprob, order),
        along_states(prior.transmat, order),
        emissions.reorder_prior(prior.emissions, order),
    )


def along_states(prior: Any, order: NDArray[np.intp]) -> Any:
    """A Dirichlet over states, or a rule of one, with the states in another order."""
    if isinstance(prior, Dirichlet):
        alpha = prior.alpha[..., order]
        return Dirichlet(alpha[order] if alpha.ndim == 2 and len(alpha) == len(order) else alpha)
    return prior if prior.spread is None else replace(prior, spread=prior.spread[order])


def is_exchangeable(prior: HMMPrior) -> bool:
    """Whether the prior treats all states alike, so that their order means nothing."""
    dirichlets = (prior.startprob, prior.transmat)
    return all(not isinstance(p, Dirichlet) and p.spread is None for p in dirichlets)
