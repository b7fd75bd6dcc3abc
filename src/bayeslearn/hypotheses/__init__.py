"""Bayes over finitely many hypotheses, and concept learning as a case of it.

The estimators need scikit-learn and are loaded when first asked for.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from bayeslearn.hypotheses.concepts import (
    Attributes,
    Conjunction,
    Examples,
    VersionSpace,
    Vote,
    all_conjunctions,
    concept_space,
    find_s,
    keep_consistent,
    list_then_eliminate,
)
from bayeslearn.hypotheses.mdl import (
    DescriptionLengths,
    description_lengths,
    exception_bits,
    exceptions,
    optimal_lengths,
)
from bayeslearn.hypotheses.posterior import HypothesisRow, Posterior
from bayeslearn.hypotheses.space import FiniteSpace

if TYPE_CHECKING:
    from bayeslearn.hypotheses.concepts.estimators import FindSClassifier, VersionSpaceClassifier
    from bayeslearn.hypotheses.estimators import BayesOptimalClassifier, GibbsClassifier

_ESTIMATORS = {
    "BayesOptimalClassifier": "bayeslearn.hypotheses.estimators",
    "GibbsClassifier": "bayeslearn.hypotheses.estimators",
    "FindSClassifier": "bayeslearn.hypotheses.concepts.estimators",
    "VersionSpaceClassifier": "bayeslearn.hypotheses.concepts.estimators",
}

__all__ = [
    "Attributes",
    "BayesOptimalClassifier",
    "Conjunction",
    "DescriptionLengths",
    "Examples",
    "FindSClassifier",
    "FiniteSpace",
    "GibbsClassifier",
    "HypothesisRow",
    "Posterior",
    "VersionSpace",
    "VersionSpaceClassifier",
    "Vote",
    "all_conjunctions",
    "concept_space",
    "description_lengths",
    "exception_bits",
    "exceptions",
    "find_s",
    "keep_consistent",
    "list_then_eliminate",
    "optimal_lengths",
]


def __getattr__(name: str) -> Any:
    if name in _ESTIMATORS:
        return getattr(importlib.import_module(_ESTIMATORS[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
