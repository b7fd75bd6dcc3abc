"""Learners that answer before they are told: Halving, Weighted-Majority, and Bayes' mixture of experts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeslearn import lazy_imports

if TYPE_CHECKING:
    from bayeslearn.online.bounds import mistake_bound as mistake_bound
    from bayeslearn.online.estimators import WeightedMajorityClassifier as WeightedMajorityClassifier
    from bayeslearn.online.halving import Halving as Halving
    from bayeslearn.online.majority import WeightedMajority as WeightedMajority
    from bayeslearn.online.mixing import BayesMixture as BayesMixture
    from bayeslearn.online.playing import Course as Course
    from bayeslearn.online.playing import play as play
    from bayeslearn.online.statistics import Mistakes as Mistakes
    from bayeslearn.online.statistics import Record as Record
    from bayeslearn.online.tables import TableExperts as TableExperts
else:
    __getattr__, __dir__, __all__ = lazy_imports.attach(__name__)
