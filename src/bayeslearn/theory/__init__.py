"""Learning theory to compute with: sample sizes, VC dimensions, mistake bounds, and experiments that meet them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeslearn import lazy

if TYPE_CHECKING:
    from bayeslearn.theory.bound import Bound
    from bayeslearn.theory.classes import ConceptClass, read_class
    from bayeslearn.theory.concepts import BooleanConcepts
    from bayeslearn.theory.dimension import Shattered, growth, largest_shattered, sauer, shattering
    from bayeslearn.theory.estimators import KCNFClassifier
    from bayeslearn.theory.exhausting import Exhaustion, exhaustion
    from bayeslearn.theory.finite_bounds import agnostic, pac
    from bayeslearn.theory.games import MistakeBounds, MistakeGame, mistake_bounds
    from bayeslearn.theory.intervals import ErrorIntervals, error_intervals
    from bayeslearn.theory.k_cnf import KCNF, Clause
    from bayeslearn.theory.mistakes import find_s_mistakes, find_s_trial, find_s_worst_case, halving_mistakes
    from bayeslearn.theory.simulating import Simulation, find_s_learner, simulate
    from bayeslearn.theory.sizes import Size, read_size
    from bayeslearn.theory.standard_classes import StandardClass, standard
    from bayeslearn.theory.trials import Round, Trial
    from bayeslearn.theory.vc_bounds import network_dimension, perceptrons_dimension, vc, vc_lower
    from bayeslearn.theory.versus import Versus, bayes_versus_gibbs

#: The names of this room, by the module they live in; each is imported when first used.
_HOMES = {
    "BooleanConcepts": "concepts",
    "Bound": "bound",
    "Clause": "k_cnf",
    "ConceptClass": "classes",
    "ErrorIntervals": "intervals",
    "Exhaustion": "exhausting",
    "KCNF": "k_cnf",
    "KCNFClassifier": "estimators",
    "MistakeBounds": "games",
    "MistakeGame": "games",
    "Round": "trials",
    "Shattered": "dimension",
    "Simulation": "simulating",
    "Size": "sizes",
    "StandardClass": "standard_classes",
    "Trial": "trials",
    "Versus": "versus",
    "agnostic": "finite_bounds",
    "bayes_versus_gibbs": "versus",
    "error_intervals": "intervals",
    "exhaustion": "exhausting",
    "find_s_learner": "simulating",
    "find_s_mistakes": "mistakes",
    "find_s_trial": "mistakes",
    "find_s_worst_case": "mistakes",
    "growth": "dimension",
    "halving_mistakes": "mistakes",
    "largest_shattered": "dimension",
    "mistake_bounds": "games",
    "network_dimension": "vc_bounds",
    "pac": "finite_bounds",
    "perceptrons_dimension": "vc_bounds",
    "read_class": "classes",
    "read_size": "sizes",
    "sauer": "dimension",
    "shattering": "dimension",
    "simulate": "simulating",
    "standard": "standard_classes",
    "vc": "vc_bounds",
    "vc_lower": "vc_bounds",
}

__all__ = [
    "KCNF",
    "BooleanConcepts",
    "Bound",
    "Clause",
    "ConceptClass",
    "ErrorIntervals",
    "Exhaustion",
    "KCNFClassifier",
    "MistakeBounds",
    "MistakeGame",
    "Round",
    "Shattered",
    "Simulation",
    "Size",
    "StandardClass",
    "Trial",
    "Versus",
    "agnostic",
    "bayes_versus_gibbs",
    "error_intervals",
    "exhaustion",
    "find_s_learner",
    "find_s_mistakes",
    "find_s_trial",
    "find_s_worst_case",
    "growth",
    "halving_mistakes",
    "largest_shattered",
    "mistake_bounds",
    "network_dimension",
    "pac",
    "perceptrons_dimension",
    "read_class",
    "read_size",
    "sauer",
    "shattering",
    "simulate",
    "standard",
    "vc",
    "vc_lower",
]

__getattr__ = lazy.names_of(__name__, _HOMES)
