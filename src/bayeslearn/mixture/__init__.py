"""Mixtures: Gaussians, any family, and classes of the rows of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeslearn import lazy

if TYPE_CHECKING:
    from bayeslearn.mixture.learning import fit_mixture
    from bayeslearn.mixture.model import Mixture, MixturePrior
    from bayeslearn.mixture.parts import Part
    from bayeslearn.mixture.rows import Batches

#: The names of this room, by the module they live in; each is imported when first used.
_HOMES = {
    "Batches": "rows",
    "Mixture": "model",
    "MixturePrior": "model",
    "Part": "parts",
    "fit_mixture": "learning",
}

__all__ = [
    "Batches",
    "Mixture",
    "MixturePrior",
    "Part",
    "fit_mixture",
]

__getattr__ = lazy.names_of(__name__, _HOMES)
