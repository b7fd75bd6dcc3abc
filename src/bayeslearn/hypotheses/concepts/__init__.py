"""Concept learning: conjunctions of attribute constraints, Find-S, candidate elimination and their Bayesian reading."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeslearn import lazy_imports

if TYPE_CHECKING:
    from bayeslearn.hypotheses.concepts.attributes import Attributes as Attributes
    from bayeslearn.hypotheses.concepts.conjunction import Conjunction as Conjunction
    from bayeslearn.hypotheses.concepts.examples import Examples as Examples
    from bayeslearn.hypotheses.concepts.examples import positive_label as positive_label
    from bayeslearn.hypotheses.concepts.learners import all_conjunctions as all_conjunctions
    from bayeslearn.hypotheses.concepts.learners import concept_space as concept_space
    from bayeslearn.hypotheses.concepts.learners import find_s as find_s
    from bayeslearn.hypotheses.concepts.learners import list_then_eliminate as list_then_eliminate
    from bayeslearn.hypotheses.concepts.scan import keep_consistent as keep_consistent
    from bayeslearn.hypotheses.concepts.version_space import VersionSpace as VersionSpace
    from bayeslearn.hypotheses.concepts.vote import Vote as Vote
else:
    __getattr__, __dir__, __all__ = lazy_imports.attach(__name__)
