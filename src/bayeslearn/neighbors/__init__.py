"""k-nearest neighbors: models, distances, search indexes and estimators."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeslearn import lazy_imports

if TYPE_CHECKING:
    from bayeslearn.neighbors.distances import Distance as Distance
    from bayeslearn.neighbors.estimators import NeighborsClassifier as NeighborsClassifier
    from bayeslearn.neighbors.estimators import NeighborsRegressor as NeighborsRegressor
    from bayeslearn.neighbors.fit import NeighborsFitInfo as NeighborsFitInfo
    from bayeslearn.neighbors.fit import fit_neighbors as fit_neighbors
    from bayeslearn.neighbors.model import NeighborsModel as NeighborsModel
    from bayeslearn.neighbors.model_selection import FeatureWeights as FeatureWeights
    from bayeslearn.neighbors.model_selection import LeaveOneOut as LeaveOneOut
    from bayeslearn.neighbors.model_selection import leave_one_out as leave_one_out
    from bayeslearn.neighbors.model_selection import select_feature_weights as select_feature_weights
    from bayeslearn.neighbors.model_selection import select_n_neighbors as select_n_neighbors
    from bayeslearn.neighbors.search_index import Index as Index
    from bayeslearn.neighbors.search_index import build_index as build_index
    from bayeslearn.neighbors.voting import NeighborContribution as NeighborContribution
    from bayeslearn.neighbors.voting import NeighborExplanation as NeighborExplanation
else:
    __getattr__, __dir__, __all__ = lazy_imports.attach(__name__)
