"""Bayesian networks: graph, tables, inference, learning, drawing and file formats."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeslearn import lazy_imports

if TYPE_CHECKING:
    from bayeslearn.network import drawing as drawing
    from bayeslearn.network import formats as formats
    from bayeslearn.network import inference as inference
    from bayeslearn.network import learning as learning
    from bayeslearn.network import structure as structure
    from bayeslearn.network.comparison import Comparison as Comparison
    from bayeslearn.network.comparison import compare as compare
    from bayeslearn.network.cpt import Cpt as Cpt
    from bayeslearn.network.equivalence import Cpdag as Cpdag
    from bayeslearn.network.equivalence import shd as shd
    from bayeslearn.network.estimators import BayesianNetworkClassifier as BayesianNetworkClassifier
    from bayeslearn.network.graph import Dag as Dag
    from bayeslearn.network.inference.answers import Beliefs as Beliefs
    from bayeslearn.network.inference.answers import CaseBeliefs as CaseBeliefs
    from bayeslearn.network.inference.answers import Explanation as Explanation
    from bayeslearn.network.inference.answers import JointBelief as JointBelief
    from bayeslearn.network.inference.exact import Exact as Exact
    from bayeslearn.network.inference.explanation import Reasons as Reasons
    from bayeslearn.network.inference.explanation import explain as explain
    from bayeslearn.network.inference.forward import draw as draw
    from bayeslearn.network.inference.forward import draws as draws
    from bayeslearn.network.inference.loopy import Loopy as Loopy
    from bayeslearn.network.inference.loopy import LoopyBeliefs as LoopyBeliefs
    from bayeslearn.network.inference.sampled import Sampled as Sampled
    from bayeslearn.network.inference.sampled import SampledBeliefs as SampledBeliefs
    from bayeslearn.network.inference.sensitivity_analysis import Sensitivity as Sensitivity
    from bayeslearn.network.inference.sensitivity_analysis import sensitivity as sensitivity
    from bayeslearn.network.inference.session import Session as Session
    from bayeslearn.network.learning.fit import TableFit as TableFit
    from bayeslearn.network.learning.fit import fit_tables as fit_tables
    from bayeslearn.network.learning.impute import MissingBeliefs as MissingBeliefs
    from bayeslearn.network.learning.impute import MissingCell as MissingCell
    from bayeslearn.network.learning.impute import missing_beliefs as missing_beliefs
    from bayeslearn.network.learning.online import OnlineTables as OnlineTables
    from bayeslearn.network.learning.online import fit_stream as fit_stream
    from bayeslearn.network.learning.priors import NetworkPrior as NetworkPrior
    from bayeslearn.network.learning.score import Score as Score
    from bayeslearn.network.learning.uncertainty import BeliefIntervals as BeliefIntervals
    from bayeslearn.network.learning.uncertainty import Interval as Interval
    from bayeslearn.network.learning.uncertainty import Support as Support
    from bayeslearn.network.learning.uncertainty import query_interval as query_interval
    from bayeslearn.network.network import BayesianNetwork as BayesianNetwork
    from bayeslearn.network.separation import ActivePath as ActivePath
    from bayeslearn.network.structure.doubt.averaged_networks import AveragedNetworks as AveragedNetworks
    from bayeslearn.network.structure.doubt.bootstrap import ArcStrength as ArcStrength
    from bayeslearn.network.structure.doubt.bootstrap import ArcStrengths as ArcStrengths
    from bayeslearn.network.structure.doubt.posterior import StructurePosterior as StructurePosterior
    from bayeslearn.network.structure.doubt.weighing import structure_posterior as structure_posterior
    from bayeslearn.network.structure.knowledge import Knowledge as Knowledge
    from bayeslearn.network.structure.learning import learn as learn
    from bayeslearn.network.structure.results import LearnedArc as LearnedArc
    from bayeslearn.network.structure.results import StructureFit as StructureFit
    from bayeslearn.network.structures import as_dag as as_dag
else:
    __getattr__, __dir__, __all__ = lazy_imports.attach(__name__)
