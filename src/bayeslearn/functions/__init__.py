"""Functions learned from examples: least squares, sigmoid units, radial basis functions, local regression."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeslearn import lazy

if TYPE_CHECKING:
    from bayeslearn.functions.features import Encoded, Features

#: The names of this room, by the module they live in; each is imported when first used.
_HOMES = {
    "Encoded": "features",
    "Features": "features",
}

__all__ = [
    "Encoded",
    "Features",
]

__getattr__ = lazy.names_of(__name__, _HOMES)
