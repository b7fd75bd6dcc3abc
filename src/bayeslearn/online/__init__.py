"""Learners that predict a label before they receive it: Halving, Weighted-Majority, Bayes mixtures of experts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeslearn import lazy_imports

if TYPE_CHECKING:
    from bayeslearn.online.bayes_mixture import BayesMixture as BayesMixture
    from bayeslearn.online.estimators import WeightedMajorityClassifier as WeightedMajorityClassifier
    from bayeslearn.online.experts import TableExperts as TableExperts
    from bayeslearn.online.explanation import ExpertVotes as ExpertVotes
    from bayeslearn.online.mistakes import MistakeCounts as MistakeCounts
    from bayeslearn.online.mistakes import MistakeCurve as MistakeCurve
    from bayeslearn.online.mistakes import RunRecord as RunRecord
    from bayeslearn.online.mistakes import run_online as run_online
    from bayeslearn.online.mistakes import weighted_majority_bound as weighted_majority_bound
    from bayeslearn.online.weighted_majority import Halving as Halving
    from bayeslearn.online.weighted_majority import WeightedMajority as WeightedMajority
else:
    __getattr__, __dir__, __all__ = lazy_imports.attach(__name__)
