"""Learners that keep their examples: nearest neighbours, their distances and their indexes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeslearn import lazy

if TYPE_CHECKING:
    from bayeslearn.neighbours.attributes import Attributes, choose_attributes
    from bayeslearn.neighbours.distances import Distance
    from bayeslearn.neighbours.estimators import NeighboursClassifier, NeighboursRegressor
    from bayeslearn.neighbours.explaining import Explanation, Voice
    from bayeslearn.neighbours.indexes import Index, build
    from bayeslearn.neighbours.learning import learn_neighbours
    from bayeslearn.neighbours.leaving_out import LeaveOneOut, leave_one_out, with_best_k
    from bayeslearn.neighbours.model import Neighbours

#: The names of this room, by the module they live in; each is imported when first used.
_HOMES = {
    "Attributes": "attributes",
    "Distance": "distances",
    "Explanation": "explaining",
    "Index": "indexes",
    "LeaveOneOut": "leaving_out",
    "Neighbours": "model",
    "NeighboursClassifier": "estimators",
    "NeighboursRegressor": "estimators",
    "Voice": "explaining",
    "build": "indexes",
    "choose_attributes": "attributes",
    "learn_neighbours": "learning",
    "leave_one_out": "leaving_out",
    "with_best_k": "leaving_out",
}

__all__ = [
    "Attributes",
    "Distance",
    "Explanation",
    "Index",
    "LeaveOneOut",
    "Neighbours",
    "NeighboursClassifier",
    "NeighboursRegressor",
    "Voice",
    "build",
    "choose_attributes",
    "learn_neighbours",
    "leave_one_out",
    "with_best_k",
]

__getattr__ = lazy.names_of(__name__, _HOMES)
