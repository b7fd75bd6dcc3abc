"""Regression and classification: least squares, logistic regression, radial basis functions, local regression."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeslearn import lazy_imports

if TYPE_CHECKING:
    from bayeslearn.regression import local as local
    from bayeslearn.regression.bayesian_linear import LinearFit as LinearFit
    from bayeslearn.regression.classification_fit import fit_logistic as fit_logistic
    from bayeslearn.regression.classification_fit import fit_rbf_classifier as fit_rbf_classifier
    from bayeslearn.regression.classification_model import ClassificationModel as ClassificationModel
    from bayeslearn.regression.classifiers import LogisticClassifier as LogisticClassifier
    from bayeslearn.regression.classifiers import RBFClassifier as RBFClassifier
    from bayeslearn.regression.explanation import FeatureExplanation as FeatureExplanation
    from bayeslearn.regression.feature_encoding import Encoded as Encoded
    from bayeslearn.regression.feature_encoding import Features as Features
    from bayeslearn.regression.fit_results import ClassificationFitInfo as ClassificationFitInfo
    from bayeslearn.regression.fit_results import LinearFitInfo as LinearFitInfo
    from bayeslearn.regression.fit_results import LocalFitInfo as LocalFitInfo
    from bayeslearn.regression.fit_results import RBFFitInfo as RBFFitInfo
    from bayeslearn.regression.local import LocalRegressionModel as LocalRegressionModel
    from bayeslearn.regression.local import LocalRegressor as LocalRegressor
    from bayeslearn.regression.local import fit_local as fit_local
    from bayeslearn.regression.local import lowess as lowess
    from bayeslearn.regression.logistic import LogisticFit as LogisticFit
    from bayeslearn.regression.rbf import RBFBasis as RBFBasis
    from bayeslearn.regression.rbf_fit import fit_rbf as fit_rbf
    from bayeslearn.regression.regression_model import RegressionModel as RegressionModel
    from bayeslearn.regression.regression_model import fit_linear as fit_linear
    from bayeslearn.regression.regressors import BayesianLinearRegressor as BayesianLinearRegressor
    from bayeslearn.regression.regressors import RBFRegressor as RBFRegressor
else:
    __getattr__, __dir__, __all__ = lazy_imports.attach(__name__)
