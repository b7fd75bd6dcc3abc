"""Locally weighted regression: one small fit around every query."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeslearn import lazy

if TYPE_CHECKING:
    from bayeslearn.functions.local.answers import LocalFit
    from bayeslearn.functions.local.choosing import Tried
    from bayeslearn.functions.local.distance import KERNELS, weigh
    from bayeslearn.functions.local.estimators import LocalRegressor
    from bayeslearn.functions.local.gradient import Descent, descend
    from bayeslearn.functions.local.model import LocalModel, local_regression
    from bayeslearn.functions.local.settings import Settings
    from bayeslearn.functions.local.smoothing import smooth

#: The names of this room, by the module they live in; each is imported when first used.
_HOMES = {
    "Descent": "gradient",
    "KERNELS": "distance",
    "LocalFit": "answers",
    "LocalModel": "model",
    "LocalRegressor": "estimators",
    "Settings": "settings",
    "Tried": "choosing",
    "descend": "gradient",
    "local_regression": "model",
    "smooth": "smoothing",
    "weigh": "distance",
}

__all__ = [
    "KERNELS",
    "Descent",
    "LocalFit",
    "LocalModel",
    "LocalRegressor",
    "Settings",
    "Tried",
    "descend",
    "local_regression",
    "smooth",
    "weigh",
]

__getattr__ = lazy.names_of(__name__, _HOMES)
