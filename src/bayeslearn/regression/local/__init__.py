"""Locally weighted regression: a fit around every query."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeslearn import lazy_imports

if TYPE_CHECKING:
    from bayeslearn.regression.local.estimators import LocalRegressor as LocalRegressor
    from bayeslearn.regression.local.gradient_descent import Descent as Descent
    from bayeslearn.regression.local.gradient_descent import descend as descend
    from bayeslearn.regression.local.model import LocalRegressionModel as LocalRegressionModel
    from bayeslearn.regression.local.model_fit import fit_local as fit_local
    from bayeslearn.regression.local.model_fit import lowess as lowess
    from bayeslearn.regression.local.model_selection import Tried as Tried
    from bayeslearn.regression.local.results import LocalFit as LocalFit
    from bayeslearn.regression.local.settings import KERNELS as KERNELS
    from bayeslearn.regression.local.settings import Settings as Settings
    from bayeslearn.regression.local.settings import kernel_weights as kernel_weights
else:
    __getattr__, __dir__, __all__ = lazy_imports.attach(__name__)
