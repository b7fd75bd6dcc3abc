"""Compare lazy and eager learners on one table: time to train and to predict, memory and error."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeslearn import lazy_imports

if TYPE_CHECKING:
    from bayeslearn.model_comparison.compare import ComparisonProgress as ComparisonProgress
    from bayeslearn.model_comparison.compare import compare_models as compare_models
    from bayeslearn.model_comparison.cross_validation import HeldOutLikelihood as HeldOutLikelihood
    from bayeslearn.model_comparison.cross_validation import cross_validate as cross_validate
    from bayeslearn.model_comparison.learners import Learner as Learner
    from bayeslearn.model_comparison.learners import default_learners as default_learners
    from bayeslearn.model_comparison.results import LearnerFailure as LearnerFailure
    from bayeslearn.model_comparison.results import LearnerResult as LearnerResult
    from bayeslearn.model_comparison.results import ModelComparison as ModelComparison
else:
    __getattr__, __dir__, __all__ = lazy_imports.attach(__name__)
