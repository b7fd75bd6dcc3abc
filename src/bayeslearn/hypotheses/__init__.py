"""Bayes over finitely many hypotheses, and concept learning as a case of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeslearn import lazy_imports

if TYPE_CHECKING:
    from bayeslearn.hypotheses import concepts as concepts
    from bayeslearn.hypotheses.concepts import Attributes as Attributes
    from bayeslearn.hypotheses.concepts import Conjunction as Conjunction
    from bayeslearn.hypotheses.concepts import Examples as Examples
    from bayeslearn.hypotheses.concepts import VersionSpace as VersionSpace
    from bayeslearn.hypotheses.concepts import Vote as Vote
    from bayeslearn.hypotheses.concepts import all_conjunctions as all_conjunctions
    from bayeslearn.hypotheses.concepts import concept_space as concept_space
    from bayeslearn.hypotheses.concepts import find_s as find_s
    from bayeslearn.hypotheses.concepts import keep_consistent as keep_consistent
    from bayeslearn.hypotheses.concepts import list_then_eliminate as list_then_eliminate
    from bayeslearn.hypotheses.concepts.estimators import FindSClassifier as FindSClassifier
    from bayeslearn.hypotheses.concepts.estimators import VersionSpaceClassifier as VersionSpaceClassifier
    from bayeslearn.hypotheses.estimators import BayesOptimalClassifier as BayesOptimalClassifier
    from bayeslearn.hypotheses.estimators import GibbsClassifier as GibbsClassifier
    from bayeslearn.hypotheses.mdl import DescriptionLengths as DescriptionLengths
    from bayeslearn.hypotheses.mdl import description_lengths as description_lengths
    from bayeslearn.hypotheses.mdl import exception_bits as exception_bits
    from bayeslearn.hypotheses.mdl import exceptions as exceptions
    from bayeslearn.hypotheses.mdl import optimal_lengths as optimal_lengths
    from bayeslearn.hypotheses.posterior import HypothesisRow as HypothesisRow
    from bayeslearn.hypotheses.posterior import Posterior as Posterior
    from bayeslearn.hypotheses.space import FiniteSpace as FiniteSpace
else:
    __getattr__, __dir__, __all__ = lazy_imports.attach(__name__)
