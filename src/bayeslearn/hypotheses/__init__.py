"""Bayes over finitely many hypotheses, and concept learning as a case of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeslearn import lazy_imports

if TYPE_CHECKING:
    from bayeslearn.hypotheses.concept_learning.conjunctions import Conjunction as Conjunction
    from bayeslearn.hypotheses.concept_learning.conjunctions import all_conjunctions as all_conjunctions
    from bayeslearn.hypotheses.concept_learning.conjunctions import concept_space as concept_space
    from bayeslearn.hypotheses.concept_learning.conjunctions import find_s as find_s
    from bayeslearn.hypotheses.concept_learning.conjunctions import keep_consistent as keep_consistent
    from bayeslearn.hypotheses.concept_learning.conjunctions import list_then_eliminate as list_then_eliminate
    from bayeslearn.hypotheses.concept_learning.estimators import FindSClassifier as FindSClassifier
    from bayeslearn.hypotheses.concept_learning.estimators import VersionSpaceClassifier as VersionSpaceClassifier
    from bayeslearn.hypotheses.concept_learning.examples import AttributeSpace as AttributeSpace
    from bayeslearn.hypotheses.concept_learning.examples import Examples as Examples
    from bayeslearn.hypotheses.concept_learning.examples import find_positive_label as find_positive_label
    from bayeslearn.hypotheses.concept_learning.explanation import VoteExplanation as VoteExplanation
    from bayeslearn.hypotheses.concept_learning.version_space import VersionSpace as VersionSpace
    from bayeslearn.hypotheses.concept_learning.version_space import Vote as Vote
    from bayeslearn.hypotheses.estimators import GibbsClassifier as GibbsClassifier
    from bayeslearn.hypotheses.estimators import HypothesisClassifier as HypothesisClassifier
    from bayeslearn.hypotheses.finite_space import FiniteSpace as FiniteSpace
    from bayeslearn.hypotheses.finite_space import HypothesisPosterior as HypothesisPosterior
    from bayeslearn.hypotheses.priors import DescriptionLengths as DescriptionLengths
    from bayeslearn.hypotheses.priors import description_lengths as description_lengths
    from bayeslearn.hypotheses.priors import exception_bits as exception_bits
    from bayeslearn.hypotheses.priors import mistake_bits as mistake_bits
    from bayeslearn.hypotheses.priors import optimal_lengths as optimal_lengths
    from bayeslearn.hypotheses.results import HypothesisRow as HypothesisRow
else:
    __getattr__, __dir__, __all__ = lazy_imports.attach(__name__)
