"""Bayesian learning where evidence adds.

Everything public is reachable from here and loaded when first used: ``import bayeslearn`` costs next to nothing.
"""

from __future__ import annotations

from bayeslearn import lazy_imports

__version__ = "0.1.0"

TYPE_CHECKING = False  # as typing.TYPE_CHECKING, without the time that importing typing takes

if TYPE_CHECKING:
    from bayeslearn import case_based as case_based
    from bayeslearn import components as components
    from bayeslearn import datasets as datasets
    from bayeslearn import distributions as distributions
    from bayeslearn import em as em
    from bayeslearn import ensemble as ensemble
    from bayeslearn import errors as errors
    from bayeslearn import hmm as hmm
    from bayeslearn import hypotheses as hypotheses
    from bayeslearn import kernels as kernels
    from bayeslearn import learning_theory as learning_theory
    from bayeslearn import mixture as mixture
    from bayeslearn import model_comparison as model_comparison
    from bayeslearn import naive_bayes as naive_bayes
    from bayeslearn import neighbors as neighbors
    from bayeslearn import network as network
    from bayeslearn import online as online
    from bayeslearn import plots as plots
    from bayeslearn import regression as regression
    from bayeslearn import sources as sources
    from bayeslearn import tables as tables
    from bayeslearn import trees as trees
    from bayeslearn import validation as validation
    from bayeslearn.codec import load as load
    from bayeslearn.discretizer import Discretizer as Discretizer
    from bayeslearn.ensemble import BayesOptimalClassifier as BayesOptimalClassifier
    from bayeslearn.ensemble import BayesOptimalModel as BayesOptimalModel
    from bayeslearn.ensemble import BayesOptimalRegressor as BayesOptimalRegressor
    from bayeslearn.ensemble import fit_bayes_optimal as fit_bayes_optimal
    from bayeslearn.ensemble import fit_bayes_optimal_regression as fit_bayes_optimal_regression
    from bayeslearn.hmm import HiddenMarkovModel as HiddenMarkovModel
    from bayeslearn.hmm import HMMEstimator as HMMEstimator
    from bayeslearn.hmm import fit_hmm as fit_hmm
    from bayeslearn.hypotheses import Conjunction as Conjunction
    from bayeslearn.hypotheses import FindSClassifier as FindSClassifier
    from bayeslearn.hypotheses import FiniteSpace as FiniteSpace
    from bayeslearn.hypotheses import GibbsClassifier as GibbsClassifier
    from bayeslearn.hypotheses import HypothesisClassifier as HypothesisClassifier
    from bayeslearn.hypotheses import VersionSpace as VersionSpace
    from bayeslearn.hypotheses import VersionSpaceClassifier as VersionSpaceClassifier
    from bayeslearn.hypotheses import find_s as find_s
    from bayeslearn.learning_theory import KCNFClassifier as KCNFClassifier
    from bayeslearn.mixture import GaussianMixture as GaussianMixture
    from bayeslearn.mixture import MixedTypeClusterer as MixedTypeClusterer
    from bayeslearn.mixture import MixtureModel as MixtureModel
    from bayeslearn.mixture import fit_mixture as fit_mixture
    from bayeslearn.model_comparison import compare_models as compare_models
    from bayeslearn.model_comparison import cross_validate as cross_validate
    from bayeslearn.model_evaluation import NumericMetrics as NumericMetrics
    from bayeslearn.model_evaluation import evaluate as evaluate
    from bayeslearn.naive_bayes import AODEClassifier as AODEClassifier
    from bayeslearn.naive_bayes import NaiveBayesClassifier as NaiveBayesClassifier
    from bayeslearn.naive_bayes import NaiveBayesModel as NaiveBayesModel
    from bayeslearn.naive_bayes import TextClassifier as TextClassifier
    from bayeslearn.naive_bayes import TextModel as TextModel
    from bayeslearn.naive_bayes import fit_naive_bayes as fit_naive_bayes
    from bayeslearn.naive_bayes import fit_text as fit_text
    from bayeslearn.naive_bayes.text import CountVectorizer as CountVectorizer
    from bayeslearn.neighbors import NeighborsClassifier as NeighborsClassifier
    from bayeslearn.neighbors import NeighborsModel as NeighborsModel
    from bayeslearn.neighbors import NeighborsRegressor as NeighborsRegressor
    from bayeslearn.neighbors import fit_neighbors as fit_neighbors
    from bayeslearn.network import DAG as DAG
    from bayeslearn.network import BayesianNetwork as BayesianNetwork
    from bayeslearn.network import BayesianNetworkClassifier as BayesianNetworkClassifier
    from bayeslearn.network import NetworkImputer as NetworkImputer
    from bayeslearn.network import compare_networks as compare_networks
    from bayeslearn.network import fit_network as fit_network
    from bayeslearn.network import fit_parameters as fit_parameters
    from bayeslearn.network.formats import read_network as read_network
    from bayeslearn.network.formats import write_network as write_network
    from bayeslearn.network.structure import BackgroundKnowledge as BackgroundKnowledge
    from bayeslearn.online import Halving as Halving
    from bayeslearn.online import WeightedMajority as WeightedMajority
    from bayeslearn.online import WeightedMajorityClassifier as WeightedMajorityClassifier
    from bayeslearn.regression import BayesianLinearRegressor as BayesianLinearRegressor
    from bayeslearn.regression import LocalRegressor as LocalRegressor
    from bayeslearn.regression import LogisticClassifier as LogisticClassifier
    from bayeslearn.regression import RBFClassifier as RBFClassifier
    from bayeslearn.regression import RBFRegressor as RBFRegressor
    from bayeslearn.regression import fit_linear as fit_linear
    from bayeslearn.regression import fit_local as fit_local
    from bayeslearn.regression import fit_logistic as fit_logistic
    from bayeslearn.regression import fit_rbf as fit_rbf
    from bayeslearn.sources import scan as scan
    from bayeslearn.tables import DiscreteVariable as DiscreteVariable
    from bayeslearn.tables import NumericVariable as NumericVariable
    from bayeslearn.tables import Schema as Schema
    from bayeslearn.tables import Table as Table
    from bayeslearn.tables import as_table as as_table
    from bayeslearn.tables import contingency_tables as contingency_tables
    from bayeslearn.trees import BayesianForestClassifier as BayesianForestClassifier
    from bayeslearn.trees import BayesianForestModel as BayesianForestModel
    from bayeslearn.trees import BayesianForestRegressor as BayesianForestRegressor
    from bayeslearn.trees import fit_forest as fit_forest
else:
    __getattr__, __dir__, __all__ = lazy_imports.attach(__name__, "__version__")
