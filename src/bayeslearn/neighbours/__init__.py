"""Learners that keep their examples: nearest neighbours, their distances and their indexes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeslearn import lazy_imports

if TYPE_CHECKING:
    from bayeslearn.neighbours.attributes import Attributes as Attributes
    from bayeslearn.neighbours.attributes import choose_attributes as choose_attributes
    from bayeslearn.neighbours.distances import Distance as Distance
    from bayeslearn.neighbours.estimators import NeighboursClassifier as NeighboursClassifier
    from bayeslearn.neighbours.estimators import NeighboursRegressor as NeighboursRegressor
    from bayeslearn.neighbours.explaining import Explanation as Explanation
    from bayeslearn.neighbours.explaining import Voice as Voice
    from bayeslearn.neighbours.indexes import Index as Index
    from bayeslearn.neighbours.indexes import build as build
    from bayeslearn.neighbours.learning import learn_neighbours as learn_neighbours
    from bayeslearn.neighbours.leaving_out import LeaveOneOut as LeaveOneOut
    from bayeslearn.neighbours.leaving_out import leave_one_out as leave_one_out
    from bayeslearn.neighbours.leaving_out import with_best_k as with_best_k
    from bayeslearn.neighbours.model import Neighbours as Neighbours
else:
    __getattr__, __dir__, __all__ = lazy_imports.attach(__name__)
