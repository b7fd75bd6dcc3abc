"""Add states to the variables of a network, for data in which a variable takes a value that was not seen before.

    n    0 in every new cell
    α    what the rule of the prior gives a table of the new shape (bdeu:1 stays 1 per table, laplace 1 per cell,
         m:2 stays 2 per row); of a prior without a rule (pseudo-counts, another network, m with its own shares) the
         mean α of the known states
    θ    (n + α) / Σ (n + α)

A row without counts and prior keeps its probabilities, and its new states get probability 0; the rows of a new state of
a parent are uniform. The new states follow the known ones, so codes of the known states do not change.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.distributions import Counts, Dirichlet, StatisticsBundle
from bayeslearn.distributions.categorical import TablePrior, shares
from bayeslearn.distributions.lineage import mapped
from bayeslearn.errors import MismatchError, ParameterError
from bayeslearn.network.cpt import CPT
from bayeslearn.tables.state_encoding import StateLookup

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from bayeslearn.network.bayesian_network import BayesianNetwork
    from bayeslearn.tables import DiscreteVariable, Schema


def add_states(network: BayesianNetwork, states: Mapping[str, Iterable[Any]]) -> BayesianNetwork:
    """Return the network with more states.

    Parameters
    ----------
    network
        A network, learned or given.
    states
        The new states of each variable that gains some, in their order. Known states are skipped.

    Raises
    ------
    MismatchError
        A variable with cuts: its intervals cover all numbers already.

    >>> from bayeslearn import fit_parameters
    >>> net = fit_parameters("[Rain]", {"Rain": ["yes", "no", "no"]}, prior="laplace")
    >>> add_states(net, {"Rain": ["drizzle"]})["Rain"].probabilities.round(3)             # no, yes, drizzle
    array([0.5  , 0.333, 0.167])
    """
    grown = {name: with_states(network[name].variable, new) for name, new in states.items()}
    grown = {name: variable for name, variable in grown.items() if variable.n_states > network[name].variable.n_states}
    if not grown:
        return network
    cpts = tuple(grown_cpt(cpt, grown) for cpt in network)
    wider = {cpt.name: cpt.shape for cpt in cpts}

    def with_zeros(counts: StatisticsBundle) -> StatisticsBundle:
        return StatisticsBundle(
            {n: Counts(padded(c.n, np.subtract(wider[n], c.n.shape).tolist())) for n, c in counts.items()}
        )

    return replace(network, cpts=cpts, lineage=mapped(network.lineage, with_zeros))


def add_states_of(network: BayesianNetwork, schema: Schema) -> BayesianNetwork:
    """Return the network with the states that its variables have in a schema."""
    return add_states(network, {v.name: v.states for v in schema.discrete if v.name in network and v.cuts is None})


def unite_states(a: BayesianNetwork, b: BayesianNetwork) -> tuple[BayesianNetwork, BayesianNetwork]:
    """Return both networks with the states of both: those of the first, then the new ones of the second.

    States with the same number or truth value have the name of the first: 1 and '1', as in data that are coded.
    """
    shared = [name for name in a.variables if name in b]
    names = {name: named_like(b[name].variable, a[name].variable) for name in shared}
    cpts = [
        replace(
            cpt, variable=names.get(cpt.name, cpt.variable), parents=tuple(names.get(v.name, v) for v in cpt.parents)
        )
        for cpt in b
    ]
    b = replace(b, cpts=tuple(cpts))
    free = [name for name in shared if a[name].variable.cuts is None and names[name].cuts is None]
    a = add_states(a, {name: b.states(name) for name in free})
    return a, add_states(b, {name: a.states(name) for name in free})


def named_like(variable: DiscreteVariable, known: DiscreteVariable) -> DiscreteVariable:
    """The variable with states named as in another, where they have the same number or truth value."""
    if variable.cuts is not None or known.cuts is not None:
        return variable
    look = StateLookup(known)
    codes = [look(state) for state in variable.states]
    names = [known.states[code] if code >= 0 else state for code, state in zip(codes, variable.states, strict=True)]
    return variable if len(set(names)) < len(names) else replace(variable, states=tuple(names))


def with_states(variable: DiscreteVariable, states: Iterable[Any]) -> DiscreteVariable:
    """The variable with these states after its own."""
    if isinstance(states, str):
        raise ParameterError(
            f"the new states of {variable.name!r} must be a list of names, got {states!r}",
            hint=f"put them into a list: add_states({{{variable.name!r}: [{states!r}]}})",
        )
    known = {(type(state), state) for state in variable.states}
    new = [state for state in dict.fromkeys(states) if (type(state), state) not in known]
    if new and variable.cuts is not None:
        raise MismatchError(
            f"{variable.name!r} is a number cut into intervals and cannot gain the state {new[0]!r}",
            hint="give numbers, or the names of its intervals",
            differs="states",
            column=variable.name,
        )
    return replace(variable, states=(*variable.states, *new)) if new else variable


def grown_cpt(cpt: CPT, grown: Mapping[str, DiscreteVariable]) -> CPT:
    """The table over the variables with more states."""
    before = (*cpt.parents, cpt.variable)
    after = [grown.get(v.name, v) for v in before]
    more = [new.n_states - old.n_states for old, new in zip(before, after, strict=True)]
    if not any(more):
        return cpt
    n, prior = padded(cpt.observed_counts.n, more), grown_prior(cpt, more)
    weight = n if prior is None else n + prior.alpha
    p = shares(weight, grown_p(cpt.probabilities, more), nothing=0.0)
    return CPT(after[-1], tuple(after[:-1]), p, None if cpt.counts is None else Counts(n), prior)


def grown_prior(cpt: CPT, more: Sequence[int]) -> Dirichlet | None:
    """The same prior for a table with more cells."""
    prior = cpt.prior
    if prior is None:
        return None
    shape = tuple(np.add(cpt.shape, more).tolist())
    if isinstance(prior, TablePrior) and (prior.rule.spread is None or more[-1] == 0):
        return TablePrior.of_rule(prior.rule, shape)
    alpha = prior.alpha
    for axis, extra in enumerate(more):
        mean = np.repeat(alpha.mean(axis=axis, keepdims=True), extra, axis=axis)
        alpha = np.concatenate([alpha, mean], axis=axis)
    return Dirichlet(alpha)


def grown_p(p: NDArray[np.float64], more: Sequence[int]) -> NDArray[np.float64]:
    """Probabilities of rows without counts and prior: 0 for a new state, uniform for a new state of a parent."""
    known = padded(p, [0] * (len(more) - 1) + [more[-1]])
    return padded(known, [*more[:-1], 0], fill=1 / known.shape[-1])


def padded(array: NDArray[np.float64], more: Sequence[int], fill: float = 0.0) -> NDArray[np.float64]:
    """The array with this many more entries at the end of each axis."""
    return np.pad(array, [(0, extra) for extra in more], constant_values=fill)
