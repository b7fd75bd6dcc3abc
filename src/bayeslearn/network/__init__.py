"""Bayesian networks: graph, tables and the network value; inference and file formats have rooms of their own."""

from bayeslearn.network.cpt import Cpt
from bayeslearn.network.equivalence import Cpdag, shd
from bayeslearn.network.graph import Dag
from bayeslearn.network.inference.answers import Beliefs, CaseBeliefs, Explanation, JointBelief
from bayeslearn.network.inference.exact import Exact
from bayeslearn.network.inference.explain import Reasons, explain
from bayeslearn.network.inference.forward import draw, draws
from bayeslearn.network.inference.loopy import Loopy, LoopyBeliefs
from bayeslearn.network.inference.sampled import Sampled, SampledBeliefs
from bayeslearn.network.inference.session import Session
from bayeslearn.network.network import BayesianNetwork
from bayeslearn.network.separation import ActivePath

__all__ = [
    "ActivePath",
    "BayesianNetwork",
    "Beliefs",
    "CaseBeliefs",
    "Cpdag",
    "Cpt",
    "Dag",
    "Exact",
    "Explanation",
    "JointBelief",
    "Loopy",
    "LoopyBeliefs",
    "Reasons",
    "Sampled",
    "SampledBeliefs",
    "Session",
    "draw",
    "draws",
    "explain",
    "shd",
]
