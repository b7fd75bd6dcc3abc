"""Functions learned from examples: least squares, sigmoid units, radial basis functions, local regression."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeslearn import lazy_imports

if TYPE_CHECKING:
    from bayeslearn.functions import local as local
    from bayeslearn.functions.classification import Classification as Classification
    from bayeslearn.functions.classification import fit_radial_classes as fit_radial_classes
    from bayeslearn.functions.classification import fit_sigmoid as fit_sigmoid
    from bayeslearn.functions.estimators import LeastSquaresRegressor as LeastSquaresRegressor
    from bayeslearn.functions.estimators import RadialBasisRegressor as RadialBasisRegressor
    from bayeslearn.functions.estimators_classes import RadialBasisClassifier as RadialBasisClassifier
    from bayeslearn.functions.estimators_classes import SigmoidClassifier as SigmoidClassifier
    from bayeslearn.functions.features import Encoded as Encoded
    from bayeslearn.functions.features import Features as Features
    from bayeslearn.functions.linear import LinearFit as LinearFit
    from bayeslearn.functions.local import LocalModel as LocalModel
    from bayeslearn.functions.local import LocalRegressor as LocalRegressor
    from bayeslearn.functions.local import local_regression as local_regression
    from bayeslearn.functions.local import smooth as smooth
    from bayeslearn.functions.radial import RadialBasis as RadialBasis
    from bayeslearn.functions.radial_learning import RadialFit as RadialFit
    from bayeslearn.functions.radial_learning import fit_radial as fit_radial
    from bayeslearn.functions.regression import Regression as Regression
    from bayeslearn.functions.regression import fit_linear as fit_linear
    from bayeslearn.functions.sigmoid import SigmoidFit as SigmoidFit
else:
    __getattr__, __dir__, __all__ = lazy_imports.attach(__name__)
