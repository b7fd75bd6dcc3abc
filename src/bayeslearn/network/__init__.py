"""Bayesian networks: graph, tables and the network value; inference and file formats have rooms of their own."""

from bayeslearn.network.cpt import Cpt
from bayeslearn.network.equivalence import Cpdag, shd
from bayeslearn.network.graph import Dag
from bayeslearn.network.inference.exact import Beliefs, CaseBeliefs, Exact
from bayeslearn.network.network import BayesianNetwork
from bayeslearn.network.separation import ActivePath

__all__ = ["ActivePath", "BayesianNetwork", "Beliefs", "CaseBeliefs", "Cpdag", "Cpt", "Dag", "Exact", "shd"]
