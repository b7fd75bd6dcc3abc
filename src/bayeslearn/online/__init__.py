"""Learners that answer before they are told: Halving, Weighted-Majority, and Bayes' mixture of experts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeslearn import lazy

if TYPE_CHECKING:
    from bayeslearn.online.bounds import mistake_bound
    from bayeslearn.online.estimators import WeightedMajorityClassifier
    from bayeslearn.online.halving import Halving
    from bayeslearn.online.majority import WeightedMajority
    from bayeslearn.online.mixing import BayesMixture
    from bayeslearn.online.playing import Course, play
    from bayeslearn.online.statistics import Mistakes, Record
    from bayeslearn.online.tables import TableExperts

#: The names of this room, by the module they live in; each is imported when first used.
_HOMES = {
    "BayesMixture": "mixing",
    "Course": "playing",
    "Halving": "halving",
    "Mistakes": "statistics",
    "Record": "statistics",
    "TableExperts": "tables",
    "WeightedMajority": "majority",
    "WeightedMajorityClassifier": "estimators",
    "mistake_bound": "bounds",
    "play": "playing",
}

__all__ = [
    "BayesMixture",
    "Course",
    "Halving",
    "Mistakes",
    "Record",
    "TableExperts",
    "WeightedMajority",
    "WeightedMajorityClassifier",
    "mistake_bound",
    "play",
]

__getattr__ = lazy.names_of(__name__, _HOMES)
