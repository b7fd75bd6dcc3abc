"""Concept learning: conjunctions of attribute constraints, Find-S, candidate elimination and their Bayesian reading."""

from bayeslearn.hypotheses.concepts.attributes import Attributes
from bayeslearn.hypotheses.concepts.conjunction import Conjunction
from bayeslearn.hypotheses.concepts.examples import Examples, positive_label
from bayeslearn.hypotheses.concepts.learners import all_conjunctions, concept_space, find_s, list_then_eliminate
from bayeslearn.hypotheses.concepts.scan import keep_consistent
from bayeslearn.hypotheses.concepts.version_space import VersionSpace
from bayeslearn.hypotheses.concepts.vote import Vote

__all__ = [
    "Attributes",
    "Conjunction",
    "Examples",
    "VersionSpace",
    "Vote",
    "all_conjunctions",
    "concept_space",
    "find_s",
    "keep_consistent",
    "list_then_eliminate",
    "positive_label",
]
