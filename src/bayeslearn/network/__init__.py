"""Bayesian networks: graph, tables, inference, learning, drawing and file formats."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeslearn import lazy_imports

if TYPE_CHECKING:
    from bayeslearn.network import formats as formats
    from bayeslearn.network import inference as inference
    from bayeslearn.network import parameters as parameters
    from bayeslearn.network import structure as structure
    from bayeslearn.network import visualization as visualization
    from bayeslearn.network.bayesian_network import BayesianNetwork as BayesianNetwork
    from bayeslearn.network.cpt import Cpt as Cpt
    from bayeslearn.network.d_separation import ActivePath as ActivePath
    from bayeslearn.network.dag import Dag as Dag
    from bayeslearn.network.dag import as_dag as as_dag
    from bayeslearn.network.equivalence import Comparison as Comparison
    from bayeslearn.network.equivalence import Cpdag as Cpdag
    from bayeslearn.network.equivalence import compare as compare
    from bayeslearn.network.equivalence import shd as shd
    from bayeslearn.network.estimators import BayesianNetworkClassifier as BayesianNetworkClassifier
    from bayeslearn.network.evaluation import NetworkCrossValidation as NetworkCrossValidation
    from bayeslearn.network.evaluation import cross_validate as cross_validate
    from bayeslearn.network.inference.approximate import Sampled as Sampled
    from bayeslearn.network.inference.approximate import SampledBeliefs as SampledBeliefs
    from bayeslearn.network.inference.evidence_session import Session as Session
    from bayeslearn.network.inference.explanation import Reasons as Reasons
    from bayeslearn.network.inference.explanation import Sensitivity as Sensitivity
    from bayeslearn.network.inference.explanation import explain as explain
    from bayeslearn.network.inference.explanation import sensitivity as sensitivity
    from bayeslearn.network.inference.forward_sampling import draw as draw
    from bayeslearn.network.inference.forward_sampling import draws as draws
    from bayeslearn.network.inference.junction_tree import Exact as Exact
    from bayeslearn.network.inference.loopy_propagation import Loopy as Loopy
    from bayeslearn.network.inference.loopy_propagation import LoopyBeliefs as LoopyBeliefs
    from bayeslearn.network.inference.results import Beliefs as Beliefs
    from bayeslearn.network.inference.results import CaseBeliefs as CaseBeliefs
    from bayeslearn.network.inference.results import Explanation as Explanation
    from bayeslearn.network.inference.results import JointBelief as JointBelief
    from bayeslearn.network.parameters.credible_intervals import BeliefIntervals as BeliefIntervals
    from bayeslearn.network.parameters.credible_intervals import Interval as Interval
    from bayeslearn.network.parameters.credible_intervals import Support as Support
    from bayeslearn.network.parameters.credible_intervals import query_interval as query_interval
    from bayeslearn.network.parameters.em_steps import Score as Score
    from bayeslearn.network.parameters.fit import TableFit as TableFit
    from bayeslearn.network.parameters.fit import fit_tables as fit_tables
    from bayeslearn.network.parameters.imputation import MissingBeliefs as MissingBeliefs
    from bayeslearn.network.parameters.imputation import MissingCell as MissingCell
    from bayeslearn.network.parameters.imputation import missing_beliefs as missing_beliefs
    from bayeslearn.network.parameters.online_em import OnlineTables as OnlineTables
    from bayeslearn.network.parameters.online_em import fit_stream as fit_stream
    from bayeslearn.network.parameters.priors import NetworkPrior as NetworkPrior
    from bayeslearn.network.structure.fit_network import learn as learn
    from bayeslearn.network.structure.results import LearnedArc as LearnedArc
    from bayeslearn.network.structure.results import StructureFit as StructureFit
    from bayeslearn.network.structure.search_settings import Knowledge as Knowledge
    from bayeslearn.network.structure.uncertainty.bootstrap import ArcStrength as ArcStrength
    from bayeslearn.network.structure.uncertainty.bootstrap import ArcStrengths as ArcStrengths
    from bayeslearn.network.structure.uncertainty.model_averaging import AveragedNetworks as AveragedNetworks
    from bayeslearn.network.structure.uncertainty.order_mcmc import StructurePosterior as StructurePosterior
    from bayeslearn.network.structure.uncertainty.order_mcmc import structure_posterior as structure_posterior
else:
    __getattr__, __dir__, __all__ = lazy_imports.attach(__name__)
