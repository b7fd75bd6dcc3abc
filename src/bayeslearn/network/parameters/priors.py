"""Priors for all tables of a network: one rule, one per variable, tables of pseudo-counts, or another network."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayeslearn import validation
from bayeslearn.distributions import Dirichlet
from bayeslearn.distributions.categorical import DirichletRule, TablePrior
from bayeslearn.distributions.priors import dirichlet_prior
from bayeslearn.errors import ParameterError, UnknownColumnError, listed

if TYPE_CHECKING:
    from bayeslearn.network.bayesian_network import BayesianNetwork
    from bayeslearn.network.cpt import CPT

#: The prior of the network that is given as structure, else the usual one.
AUTO = "auto"

#: One row per CPT, spread evenly over its cells: the prior of `fit_network` and of fits to a graph.
USUAL = "bdeu:1"


@dataclass(frozen=True)
class NetworkPrior:
    """The probabilities of another network as a prior: α = n · P(variable, parents), n the equivalent sample size."""

    network: BayesianNetwork
    equivalent_sample_size: float

    def __post_init__(self) -> None:
        validation.number("equivalent_sample_size", self.equivalent_sample_size, above=0)

    def of_table(self, cpt: CPT) -> Dirichlet:
        """The pseudo-counts of one table."""
        family = [v.name for v in (*cpt.parents, cpt.variable)]
        for variable in (*cpt.parents, cpt.variable):
            if self.network[variable.name].variable.states != variable.states:
                raise ParameterError(
                    f"the prior network has the states {listed(self.network.states(variable.name))} for "
                    f"{variable.name!r}, but these are {listed(variable.states)}",
                    hint="add the missing states to it: `BayesianNetwork.add_states`",
                )
        return Dirichlet(self.equivalent_sample_size * self.network.inference.joint(family).probabilities)


Prior = Dirichlet | DirichletRule | NetworkPrior | str | Mapping[str, Any] | None


def prior_of(prior: Prior, cpt: CPT) -> Dirichlet:
    """The pseudo-counts of one table under a prior for the whole network."""
    if isinstance(prior, Mapping):
        prior = prior.get(cpt.name)
    if isinstance(prior, str) and prior == AUTO:
        return kept_prior(cpt)
    if prior is None or isinstance(prior, str):
        prior = parsed(prior)
    if isinstance(prior, NetworkPrior):
        return prior.of_table(cpt)
    if isinstance(prior, DirichletRule):
        return TablePrior.of_rule(prior, cpt.shape)
    return (prior if isinstance(prior, Dirichlet) else Dirichlet(prior)).of(cpt.shape)


def kept_prior(cpt: CPT) -> Dirichlet:
    """The prior that the table was learned under; the usual one where it was not learned."""
    if cpt.prior is not None:
        return cpt.prior
    return prior_of(None if cpt.is_learned else USUAL, cpt)


def parsed(text: str | None) -> Dirichlet | DirichletRule:
    """A prior of tables by its name: none (as is None), laplace, k2, jeffreys, bdeu:CASES, m:CASES.

    >>> parsed("bdeu:10")
    Dirichlet(α₀=10 per table)
    """
    return dirichlet_prior(text)


def priors_of(prior: Prior, network: BayesianNetwork) -> dict[str, Dirichlet]:
    """The pseudo-counts of every table."""
    if isinstance(prior, Mapping):
        odd = [name for name in prior if name not in network]
        if odd:
            raise UnknownColumnError(
                f"a prior is given for {listed(odd)}, not in the network",
                hint=f"variables are {listed(network.variables)}",
            )
    return {cpt.name: prior_of(prior, cpt) for cpt in network}
