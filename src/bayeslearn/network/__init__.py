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
    from bayeslearn.network.cpt import CPT as CPT
    from bayeslearn.network.d_separation import ActivePath as ActivePath
    from bayeslearn.network.dag import DAG as DAG
    from bayeslearn.network.dag import as_dag as as_dag
    from bayeslearn.network.equivalence import CPDAG as CPDAG
    from bayeslearn.network.equivalence import Comparison as Comparison
    from bayeslearn.network.equivalence import compare_networks as compare_networks
    from bayeslearn.network.equivalence import shd as shd
    from bayeslearn.network.estimators import BayesianNetworkClassifier as BayesianNetworkClassifier
    from bayeslearn.network.evaluation import NetworkCrossValidation as NetworkCrossValidation
    from bayeslearn.network.evaluation import cross_validate as cross_validate
    from bayeslearn.network.holdout import BaselineComparison as BaselineComparison
    from bayeslearn.network.holdout import HoldoutScore as HoldoutScore
    from bayeslearn.network.holdout import evaluate_holdout as evaluate_holdout
    from bayeslearn.network.hybrid.network import HybridBayesianNetwork as HybridBayesianNetwork
    from bayeslearn.network.hybrid.nodes import Linear as Linear
    from bayeslearn.network.hybrid.nodes import LinearGaussianCPD as LinearGaussianCPD
    from bayeslearn.network.hybrid.results import HybridPosterior as HybridPosterior
    from bayeslearn.network.hybrid.results import NumericPosterior as NumericPosterior
    from bayeslearn.network.imputer import NetworkImputer as NetworkImputer
    from bayeslearn.network.inference.approximate import SampledInference as SampledInference
    from bayeslearn.network.inference.approximate import SampledPosterior as SampledPosterior
    from bayeslearn.network.inference.evidence_session import EvidenceSession as EvidenceSession
    from bayeslearn.network.inference.explanation import EvidenceExplanation as EvidenceExplanation
    from bayeslearn.network.inference.explanation import Sensitivity as Sensitivity
    from bayeslearn.network.inference.junction_tree import ExactInference as ExactInference
    from bayeslearn.network.inference.loopy_propagation import LoopyPosterior as LoopyPosterior
    from bayeslearn.network.inference.loopy_propagation import LoopyPropagation as LoopyPropagation
    from bayeslearn.network.inference.results import JointPosterior as JointPosterior
    from bayeslearn.network.inference.results import MostProbableExplanation as MostProbableExplanation
    from bayeslearn.network.inference.results import Posterior as Posterior
    from bayeslearn.network.inference.results import PosteriorTable as PosteriorTable
    from bayeslearn.network.parameters.credible_intervals import Interval as Interval
    from bayeslearn.network.parameters.credible_intervals import PosteriorIntervals as PosteriorIntervals
    from bayeslearn.network.parameters.credible_intervals import RowSupport as RowSupport
    from bayeslearn.network.parameters.credible_intervals import query_interval as query_interval
    from bayeslearn.network.parameters.em_steps import LogLikelihood as LogLikelihood
    from bayeslearn.network.parameters.fit import fit_parameters as fit_parameters
    from bayeslearn.network.parameters.imputation import ImputationPosterior as ImputationPosterior
    from bayeslearn.network.parameters.imputation import MissingCell as MissingCell
    from bayeslearn.network.parameters.imputation import missing_beliefs as missing_beliefs
    from bayeslearn.network.parameters.online_em import OnlineEM as OnlineEM
    from bayeslearn.network.parameters.online_em import fit_parameters_online as fit_parameters_online
    from bayeslearn.network.parameters.priors import NetworkPrior as NetworkPrior
    from bayeslearn.network.parameters.results import ParameterFitInfo as ParameterFitInfo
    from bayeslearn.network.structure.fit import fit_network as fit_network
    from bayeslearn.network.structure.results import LearnedArc as LearnedArc
    from bayeslearn.network.structure.results import StructureFitInfo as StructureFitInfo
    from bayeslearn.network.structure.search_settings import BackgroundKnowledge as BackgroundKnowledge
    from bayeslearn.network.structure.uncertainty.bootstrap import ArcStrength as ArcStrength
    from bayeslearn.network.structure.uncertainty.bootstrap import ArcStrengths as ArcStrengths
    from bayeslearn.network.structure.uncertainty.model_averaging import AveragedNetworks as AveragedNetworks
    from bayeslearn.network.structure.uncertainty.order_mcmc import (
        sample_structure_posterior as sample_structure_posterior,
    )
    from bayeslearn.network.structure.uncertainty.structure_posterior import StructurePosterior as StructurePosterior
else:
    __getattr__, __dir__, __all__ = lazy_imports.attach(__name__)
