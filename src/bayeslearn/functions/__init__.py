"""Functions learned from examples: least squares, sigmoid units, radial basis functions, local regression."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeslearn import lazy

if TYPE_CHECKING:
    from bayeslearn.functions.classification import Classification, fit_radial_classes, fit_sigmoid
    from bayeslearn.functions.estimators import LeastSquaresRegressor, RadialBasisRegressor
    from bayeslearn.functions.estimators_classes import RadialBasisClassifier, SigmoidClassifier
    from bayeslearn.functions.features import Encoded, Features
    from bayeslearn.functions.linear import LinearFit
    from bayeslearn.functions.local import LocalModel, LocalRegressor, local_regression, smooth
    from bayeslearn.functions.radial import RadialBasis
    from bayeslearn.functions.radial_learning import RadialFit, fit_radial
    from bayeslearn.functions.regression import Regression, fit_linear
    from bayeslearn.functions.sigmoid import SigmoidFit

#: The names of this room, by the module they live in; each is imported when first used.
_HOMES = {
    "Classification": "classification",
    "Encoded": "features",
    "Features": "features",
    "LeastSquaresRegressor": "estimators",
    "LinearFit": "linear",
    "LocalModel": "local",
    "LocalRegressor": "local",
    "RadialBasis": "radial",
    "RadialBasisClassifier": "estimators_classes",
    "RadialBasisRegressor": "estimators",
    "RadialFit": "radial_learning",
    "Regression": "regression",
    "SigmoidClassifier": "estimators_classes",
    "SigmoidFit": "sigmoid",
    "fit_linear": "regression",
    "fit_radial": "radial_learning",
    "fit_radial_classes": "classification",
    "fit_sigmoid": "classification",
    "local_regression": "local",
    "smooth": "local",
}

__all__ = [
    "Classification",
    "Encoded",
    "Features",
    "LeastSquaresRegressor",
    "LinearFit",
    "LocalModel",
    "LocalRegressor",
    "RadialBasis",
    "RadialBasisClassifier",
    "RadialBasisRegressor",
    "RadialFit",
    "Regression",
    "SigmoidClassifier",
    "SigmoidFit",
    "fit_linear",
    "fit_radial",
    "fit_radial_classes",
    "fit_sigmoid",
    "local_regression",
    "smooth",
]

__getattr__ = lazy.names_of(__name__, _HOMES)
