"""Computational learning theory: sample complexity, VC dimension, mistake bounds, and simulations of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeslearn import lazy_imports

if TYPE_CHECKING:
    from bayeslearn.learning_theory.bayes_vs_gibbs import BayesGibbsComparison as BayesGibbsComparison
    from bayeslearn.learning_theory.bayes_vs_gibbs import compare_bayes_gibbs as compare_bayes_gibbs
    from bayeslearn.learning_theory.concept_class import ConceptClass as ConceptClass
    from bayeslearn.learning_theory.concept_class import ShatteredSet as ShatteredSet
    from bayeslearn.learning_theory.concept_class import find_shattering as find_shattering
    from bayeslearn.learning_theory.concept_class import growth_function as growth_function
    from bayeslearn.learning_theory.concept_class import largest_shattered as largest_shattered
    from bayeslearn.learning_theory.concept_class import read_class as read_class
    from bayeslearn.learning_theory.concept_class import sauer_bound as sauer_bound
    from bayeslearn.learning_theory.estimators import KCNFClassifier as KCNFClassifier
    from bayeslearn.learning_theory.hypothesis_counts import HypothesisCount as HypothesisCount
    from bayeslearn.learning_theory.intervals import ErrorIntervals as ErrorIntervals
    from bayeslearn.learning_theory.intervals import error_intervals as error_intervals
    from bayeslearn.learning_theory.k_cnf import KCNF as KCNF
    from bayeslearn.learning_theory.k_cnf import Clause as Clause
    from bayeslearn.learning_theory.mistake_bounds import MistakeBounds as MistakeBounds
    from bayeslearn.learning_theory.mistake_bounds import MistakeGame as MistakeGame
    from bayeslearn.learning_theory.mistake_bounds import Round as Round
    from bayeslearn.learning_theory.mistake_bounds import Trial as Trial
    from bayeslearn.learning_theory.mistake_bounds import exact_mistake_bounds as exact_mistake_bounds
    from bayeslearn.learning_theory.mistake_bounds import find_s_mistake_bound as find_s_mistake_bound
    from bayeslearn.learning_theory.mistake_bounds import find_s_trial as find_s_trial
    from bayeslearn.learning_theory.mistake_bounds import find_s_worst_case as find_s_worst_case
    from bayeslearn.learning_theory.mistake_bounds import halving_mistake_bound as halving_mistake_bound
    from bayeslearn.learning_theory.pac_bounds import Bound as Bound
    from bayeslearn.learning_theory.pac_bounds import agnostic_bound as agnostic_bound
    from bayeslearn.learning_theory.pac_bounds import pac_bound as pac_bound
    from bayeslearn.learning_theory.simulations import BooleanConcepts as BooleanConcepts
    from bayeslearn.learning_theory.simulations import EpsilonExhaustion as EpsilonExhaustion
    from bayeslearn.learning_theory.simulations import Simulation as Simulation
    from bayeslearn.learning_theory.simulations import find_s_learner as find_s_learner
    from bayeslearn.learning_theory.simulations import simulate_exhaustion as simulate_exhaustion
    from bayeslearn.learning_theory.simulations import simulate_pac as simulate_pac
    from bayeslearn.learning_theory.standard_classes import StandardClass as StandardClass
    from bayeslearn.learning_theory.standard_classes import standard_class as standard_class
    from bayeslearn.learning_theory.vc_bounds import network_dimension as network_dimension
    from bayeslearn.learning_theory.vc_bounds import perceptrons_dimension as perceptrons_dimension
    from bayeslearn.learning_theory.vc_bounds import vc_bound as vc_bound
    from bayeslearn.learning_theory.vc_bounds import vc_lower_bound as vc_lower_bound
else:
    __getattr__, __dir__, __all__ = lazy_imports.attach(__name__)
