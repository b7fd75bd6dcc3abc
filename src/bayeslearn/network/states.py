"""Networks whose variables get more states.

    a new state of the variable        n = 0, α = the mean of its row        P = (n + α) / Σ (n + α)
    a new state of a parent            n = 0, α = the mean of the other rows

So a new state is as probable as the prior alone makes it. In a table that was given, not learned, a new state of the
variable has probability 0; rows that rest on nothing are uniform.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.errors import ParameterError
from bayeslearn.families import Counts, Dirichlet
from bayeslearn.network.cpt import Cpt

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from bayeslearn.network.network import BayesianNetwork
    from bayeslearn.tables import Discrete


def add_states(network: BayesianNetwork, states: Mapping[str, Iterable[Any]]) -> BayesianNetwork:
    """Return the network with more states of some variables, appended to those they have.

    Parameters
    ----------
    network
        A network, learned or given.
    states
        States by variable; those that a variable already has are skipped.

    Examples
    --------
    >>> from bayeslearn import fit_tables
    >>> rain = fit_tables("[Rain]", {"Rain": ["yes", "no", "no"]}, prior="laplace").network
    >>> grown = add_states(rain, {"Rain": ["hail"]})
    >>> grown.states("Rain"), grown["Rain"].counts.n, grown["Rain"].p.round(3)
    (('no', 'yes', 'hail'), array([2., 1., 0.]), array([0.5  , 0.333, 0.167]))
    """
    grown = {name: with_states(network[name].variable, more) for name, more in states.items()}
    known = {cpt.name: grown.get(cpt.name, cpt.variable) for cpt in network}
    if all(known[cpt.name] == cpt.variable for cpt in network):
        return network
    return replace(network, cpts=tuple(grown_table(cpt, known) for cpt in network))


def with_states(variable: Discrete, states: Iterable[Any]) -> Discrete:
    """The variable with the states that it lacks."""
    new = [state for state in dict.fromkeys(states) if state not in variable.states]
    if new and variable.cuts is not None:
        raise ParameterError(
            f"{variable.name!r} has intervals for states, so {new[0]!r} cannot be added",
            hint="give numbers, which fall into the intervals",
        )
    return replace(variable, states=(*variable.states, *new)) if new else variable


def grown_table(cpt: Cpt, known: Mapping[str, Discrete]) -> Cpt:
    """A table over the grown variables."""
    variable, parents = known[cpt.name], tuple(known[v.name] for v in cpt.parents)
    shape = tuple(v.size for v in (*parents, variable))
    if shape == cpt.shape:
        return cpt
    counts = None if cpt.counts is None else Counts(padded(cpt.counts.n, shape))
    prior = None if cpt.prior is None else Dirichlet(averaged(cpt.prior.alpha, shape))
    n = np.zeros(shape) if counts is None else counts.n
    evidence = n + (0.0 if prior is None else prior.alpha) if cpt.learned else padded(cpt.p, shape)
    total = evidence.sum(axis=-1, keepdims=True)
    p = np.where(total > 0, evidence / np.where(total > 0, total, 1.0), 1 / variable.size)
    old = tuple(map(slice, cpt.shape))
    if variable.size == cpt.variable.size:  # only parents have grown: the old rows stay as they are
        p[old] = cpt.p
    elif cpt.learned:
        nothing = np.broadcast_to(total == 0, shape)[old]  # a row without evidence stays as it was
        p[old] = np.where(nothing, cpt.p, p[old])
        p[..., cpt.variable.size :] = np.where(total > 0, p[..., cpt.variable.size :], 0.0)
        p /= p.sum(axis=-1, keepdims=True)
    return Cpt(variable, parents, p, counts, prior)


def padded(array: NDArray[np.float64], shape: tuple[int, ...]) -> NDArray[np.float64]:
    """The array with zeros behind it along every axis."""
    return np.pad(array, [(0, size - have) for size, have in zip(shape, array.shape, strict=True)])


def averaged(array: NDArray[np.float64], shape: tuple[int, ...]) -> NDArray[np.float64]:
    """The array with its mean along an axis behind it, from the last axis to the first."""
    for axis in reversed(range(len(shape))):
        more = shape[axis] - array.shape[axis]
        array = np.concatenate([array, np.repeat(array.mean(axis=axis, keepdims=True), more, axis=axis)], axis=axis)
    return array
