"""Locally weighted regression: one small fit around every query."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeslearn import lazy_imports

if TYPE_CHECKING:
    from bayeslearn.functions.local.answers import LocalFit as LocalFit
    from bayeslearn.functions.local.choosing import Tried as Tried
    from bayeslearn.functions.local.distance import KERNELS as KERNELS
    from bayeslearn.functions.local.distance import weigh as weigh
    from bayeslearn.functions.local.estimators import LocalRegressor as LocalRegressor
    from bayeslearn.functions.local.gradient import Descent as Descent
    from bayeslearn.functions.local.gradient import descend as descend
    from bayeslearn.functions.local.model import LocalModel as LocalModel
    from bayeslearn.functions.local.model import local_regression as local_regression
    from bayeslearn.functions.local.settings import Settings as Settings
    from bayeslearn.functions.local.smoothing import smooth as smooth
else:
    __getattr__, __dir__, __all__ = lazy_imports.attach(__name__)
