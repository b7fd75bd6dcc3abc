"""Bayesian forests: trees of thresholds whose predictions are averages over all prunings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeslearn import lazy_imports

if TYPE_CHECKING:
    from bayeslearn.trees.estimators import BayesianForestClassifier as BayesianForestClassifier
    from bayeslearn.trees.estimators import BayesianForestRegressor as BayesianForestRegressor
    from bayeslearn.trees.fit import ForestFitInfo as ForestFitInfo
    from bayeslearn.trees.fit import fit_forest as fit_forest
    from bayeslearn.trees.model import BayesianForestModel as BayesianForestModel
else:
    __getattr__, __dir__, __all__ = lazy_imports.attach(__name__)
