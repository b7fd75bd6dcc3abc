"""Bayes optimal prediction: the learners of this package, weighted by their out-of-fold predictions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeslearn import lazy_imports

if TYPE_CHECKING:
    from bayeslearn.ensemble.estimators import BayesOptimalClassifier as BayesOptimalClassifier
    from bayeslearn.ensemble.estimators import BayesOptimalRegressor as BayesOptimalRegressor
    from bayeslearn.ensemble.fit import fit_bayes_optimal as fit_bayes_optimal
    from bayeslearn.ensemble.mean_pooling import MeanPool as MeanPool
    from bayeslearn.ensemble.members import CLASSIFIERS as CLASSIFIERS
    from bayeslearn.ensemble.members import REGRESSORS as REGRESSORS
    from bayeslearn.ensemble.members import Member as Member
    from bayeslearn.ensemble.model import BayesOptimalModel as BayesOptimalModel
    from bayeslearn.ensemble.pooling import Pool as Pool
    from bayeslearn.ensemble.regression_fit import fit_bayes_optimal_regression as fit_bayes_optimal_regression
    from bayeslearn.ensemble.regression_model import BayesOptimalRegressionModel as BayesOptimalRegressionModel
    from bayeslearn.ensemble.results import BayesOptimalFitInfo as BayesOptimalFitInfo
    from bayeslearn.ensemble.results import BayesOptimalRegressionFitInfo as BayesOptimalRegressionFitInfo
else:
    __getattr__, __dir__, __all__ = lazy_imports.attach(__name__)
