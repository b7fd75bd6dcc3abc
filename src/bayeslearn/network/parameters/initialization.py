"""Initial probabilities of EM: from the prior, at random, or from a network."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import ParameterError, listed
from bayeslearn.network.bayesian_network import BayesianNetwork
from bayeslearn.network.parameters.em_steps import Tables, normalized_rows
from bayeslearn.network.parameters.incremental import require_same_states

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from bayeslearn.network.cpt import CPT

#: How far initial CPTs of hidden variables are from symmetry: the weight of a random CPT.
BROKEN = 0.5


def fixed_cells(frame: BayesianNetwork, frozen: Iterable[str], structure: object, start: object) -> NDArray[np.bool_]:
    """Whether each CPT entry is frozen."""
    names = list(frozen)
    for name in names:
        frame[name]
    if names and not (isinstance(structure, BayesianNetwork) or isinstance(start, BayesianNetwork)):
        raise ParameterError(
            f"the CPTs of {listed(names)} cannot be frozen: a graph has none",
            hint="give a network as structure or as init",
        )
    return np.concatenate([np.full(cpt.probabilities.size, cpt.name in names) for cpt in frame])


def given_numbers(start: BayesianNetwork, cpt: CPT) -> NDArray[np.float64]:
    """The table of another network, with parents and states in the order of this one."""
    variables = (*cpt.parents, cpt.variable)
    for variable in variables:
        require_same_states(variable, start[variable.name].variable)
    states = np.ix_(*([start.states(v.name).index(state) for state in v.states] for v in variables))
    return start[cpt.name].reorder_parents(v.name for v in cpt.parents)[states]


def all_starts(
    frame: BayesianNetwork,
    model: Tables,
    alpha: NDArray[np.float64],
    init: str | BayesianNetwork,
    unseen: set[str],
    n_init: int,
    random_state: np.random.Generator,
) -> Iterator[NDArray[np.float64]]:
    """The probabilities of each initialization."""
    compiled = model.compiled
    given = compiled.cpt
    if isinstance(init, BayesianNetwork):
        if init.dag != frame.dag:
            raise ParameterError(
                "the network to start from has another graph",
                hint="start from a network with the same arcs, or leave out `init`",
            )
        given = np.concatenate([given_numbers(init, cpt).reshape(-1) for cpt in frame])
    else:
        init = validation.choice("init", init, ["prior", "random"])
    fixed = np.zeros(len(given), np.bool_) if model.fixed is None else model.fixed
    even = normalized_rows(compiled, np.ones(len(given)), otherwise=given)
    around = np.concatenate(
        [
            np.full(cpt.probabilities.size, bool(unseen & {v.name for v in (*cpt.parents, cpt.variable)}))
            for cpt in frame
        ]
    )
    for number in range(n_init):
        luck = normalized_rows(compiled, random_state.standard_gamma(1.0, len(given)) + 1e-3, otherwise=even)
        if number > 0 or init == "random":
            p = luck
        elif isinstance(init, BayesianNetwork):
            p = given
        else:
            p = normalized_rows(compiled, alpha, otherwise=even)
            p = np.where(around, (1 - BROKEN) * p + BROKEN * luck, p)
        yield np.where(fixed, given, p)
