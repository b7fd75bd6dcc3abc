"""Bayesian networks: graph, tables and the network value; inference and file formats have rooms of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeslearn import lazy

if TYPE_CHECKING:
    from bayeslearn.network.comparison import Comparison, compare
    from bayeslearn.network.cpt import Cpt
    from bayeslearn.network.equivalence import Cpdag, shd
    from bayeslearn.network.estimators import BayesianNetworkClassifier
    from bayeslearn.network.graph import Dag
    from bayeslearn.network.inference.answers import Beliefs, CaseBeliefs, Explanation, JointBelief
    from bayeslearn.network.inference.exact import Exact
    from bayeslearn.network.inference.explain import Reasons, explain
    from bayeslearn.network.inference.forward import draw, draws
    from bayeslearn.network.inference.loopy import Loopy, LoopyBeliefs
    from bayeslearn.network.inference.sampled import Sampled, SampledBeliefs
    from bayeslearn.network.inference.sensitivity import Sensitivity, sensitivity
    from bayeslearn.network.inference.session import Session
    from bayeslearn.network.learning.fit import TableFit, fit_tables
    from bayeslearn.network.learning.impute import MissingBeliefs, MissingCell, missing_beliefs
    from bayeslearn.network.learning.online import OnlineTables, fit_stream
    from bayeslearn.network.learning.priors import NetworkPrior
    from bayeslearn.network.learning.score import Score
    from bayeslearn.network.learning.uncertainty import BeliefIntervals, Interval, Support, query_interval
    from bayeslearn.network.network import BayesianNetwork
    from bayeslearn.network.separation import ActivePath
    from bayeslearn.network.structure.doubt.averaged_networks import AveragedNetworks
    from bayeslearn.network.structure.doubt.bootstrap import ArcStrength, ArcStrengths
    from bayeslearn.network.structure.doubt.posterior import StructurePosterior
    from bayeslearn.network.structure.doubt.weighing import structure_posterior
    from bayeslearn.network.structure.knowledge import Knowledge
    from bayeslearn.network.structure.learning import learn
    from bayeslearn.network.structure.results import LearnedArc, StructureFit
    from bayeslearn.network.structures import as_dag

#: The names of this room, by the module they live in; each is imported when first used.
_HOMES = {
    "ActivePath": "separation",
    "ArcStrength": "structure.doubt.bootstrap",
    "ArcStrengths": "structure.doubt.bootstrap",
    "AveragedNetworks": "structure.doubt.averaged_networks",
    "BayesianNetwork": "network",
    "BayesianNetworkClassifier": "estimators",
    "BeliefIntervals": "learning.uncertainty",
    "Beliefs": "inference.answers",
    "CaseBeliefs": "inference.answers",
    "Comparison": "comparison",
    "Cpdag": "equivalence",
    "Cpt": "cpt",
    "Dag": "graph",
    "Exact": "inference.exact",
    "Explanation": "inference.answers",
    "Interval": "learning.uncertainty",
    "JointBelief": "inference.answers",
    "Knowledge": "structure.knowledge",
    "LearnedArc": "structure.results",
    "Loopy": "inference.loopy",
    "LoopyBeliefs": "inference.loopy",
    "MissingBeliefs": "learning.impute",
    "MissingCell": "learning.impute",
    "NetworkPrior": "learning.priors",
    "OnlineTables": "learning.online",
    "Reasons": "inference.explain",
    "Sampled": "inference.sampled",
    "SampledBeliefs": "inference.sampled",
    "Score": "learning.score",
    "Sensitivity": "inference.sensitivity",
    "Session": "inference.session",
    "StructureFit": "structure.results",
    "StructurePosterior": "structure.doubt.posterior",
    "Support": "learning.uncertainty",
    "TableFit": "learning.fit",
    "as_dag": "structures",
    "compare": "comparison",
    "draw": "inference.forward",
    "draws": "inference.forward",
    "explain": "inference.explain",
    "fit_stream": "learning.online",
    "fit_tables": "learning.fit",
    "learn": "structure.learning",
    "missing_beliefs": "learning.impute",
    "query_interval": "learning.uncertainty",
    "sensitivity": "inference.sensitivity",
    "shd": "equivalence",
    "structure_posterior": "structure.doubt.weighing",
}

__all__ = [
    "ActivePath",
    "ArcStrength",
    "ArcStrengths",
    "AveragedNetworks",
    "BayesianNetwork",
    "BayesianNetworkClassifier",
    "BeliefIntervals",
    "Beliefs",
    "CaseBeliefs",
    "Comparison",
    "Cpdag",
    "Cpt",
    "Dag",
    "Exact",
    "Explanation",
    "Interval",
    "JointBelief",
    "Knowledge",
    "LearnedArc",
    "Loopy",
    "LoopyBeliefs",
    "MissingBeliefs",
    "MissingCell",
    "NetworkPrior",
    "OnlineTables",
    "Reasons",
    "Sampled",
    "SampledBeliefs",
    "Score",
    "Sensitivity",
    "Session",
    "StructureFit",
    "StructurePosterior",
    "Support",
    "TableFit",
    "as_dag",
    "compare",
    "draw",
    "draws",
    "explain",
    "fit_stream",
    "fit_tables",
    "learn",
    "missing_beliefs",
    "query_interval",
    "sensitivity",
    "shd",
    "structure_posterior",
]

__getattr__ = lazy.names_of(__name__, _HOMES)
