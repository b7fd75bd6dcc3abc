"""Learning theory to compute with: sample sizes, VC dimensions, mistake bounds, and experiments that meet them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeslearn import lazy_imports

if TYPE_CHECKING:
    from bayeslearn.theory.bound import Bound as Bound
    from bayeslearn.theory.classes import ConceptClass as ConceptClass
    from bayeslearn.theory.classes import read_class as read_class
    from bayeslearn.theory.concepts import BooleanConcepts as BooleanConcepts
    from bayeslearn.theory.dimension import Shattered as Shattered
    from bayeslearn.theory.dimension import growth as growth
    from bayeslearn.theory.dimension import largest_shattered as largest_shattered
    from bayeslearn.theory.dimension import sauer as sauer
    from bayeslearn.theory.dimension import shattering as shattering
    from bayeslearn.theory.estimators import KCNFClassifier as KCNFClassifier
    from bayeslearn.theory.exhausting import Exhaustion as Exhaustion
    from bayeslearn.theory.exhausting import exhaustion as exhaustion
    from bayeslearn.theory.finite_bounds import agnostic as agnostic
    from bayeslearn.theory.finite_bounds import pac as pac
    from bayeslearn.theory.games import MistakeBounds as MistakeBounds
    from bayeslearn.theory.games import MistakeGame as MistakeGame
    from bayeslearn.theory.games import mistake_bounds as mistake_bounds
    from bayeslearn.theory.intervals import ErrorIntervals as ErrorIntervals
    from bayeslearn.theory.intervals import error_intervals as error_intervals
    from bayeslearn.theory.k_cnf import KCNF as KCNF
    from bayeslearn.theory.k_cnf import Clause as Clause
    from bayeslearn.theory.mistakes import find_s_mistakes as find_s_mistakes
    from bayeslearn.theory.mistakes import find_s_trial as find_s_trial
    from bayeslearn.theory.mistakes import find_s_worst_case as find_s_worst_case
    from bayeslearn.theory.mistakes import halving_mistakes as halving_mistakes
    from bayeslearn.theory.simulating import Simulation as Simulation
    from bayeslearn.theory.simulating import find_s_learner as find_s_learner
    from bayeslearn.theory.simulating import simulate as simulate
    from bayeslearn.theory.sizes import Size as Size
    from bayeslearn.theory.sizes import read_size as read_size
    from bayeslearn.theory.standard_classes import StandardClass as StandardClass
    from bayeslearn.theory.standard_classes import standard as standard
    from bayeslearn.theory.trials import Round as Round
    from bayeslearn.theory.trials import Trial as Trial
    from bayeslearn.theory.vc_bounds import network_dimension as network_dimension
    from bayeslearn.theory.vc_bounds import perceptrons_dimension as perceptrons_dimension
    from bayeslearn.theory.vc_bounds import vc as vc
    from bayeslearn.theory.vc_bounds import vc_lower as vc_lower
    from bayeslearn.theory.versus import Versus as Versus
    from bayeslearn.theory.versus import bayes_versus_gibbs as bayes_versus_gibbs
else:
    __getattr__, __dir__, __all__ = lazy_imports.attach(__name__)
