"""Mixtures: Gaussians, any family, and classes of the rows of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeslearn import lazy

if TYPE_CHECKING:
    from bayeslearn.mixture.choosing import Choice, choose_mixture
    from bayeslearn.mixture.classes import find_classes
    from bayeslearn.mixture.estimators import GaussianMixture
    from bayeslearn.mixture.learning import fit_mixture
    from bayeslearn.mixture.model import Mixture, MixturePrior
    from bayeslearn.mixture.parts import Part
    from bayeslearn.mixture.reporting import ClassReport, Difference, Doubt, describe, doubtful
    from bayeslearn.mixture.rows import Batches
    from bayeslearn.mixture.table_estimators import TableClusterer

#: The names of this room, by the module they live in; each is imported when first used.
_HOMES = {
    "Batches": "rows",
    "Choice": "choosing",
    "ClassReport": "reporting",
    "Difference": "reporting",
    "Doubt": "reporting",
    "GaussianMixture": "estimators",
    "Mixture": "model",
    "MixturePrior": "model",
    "Part": "parts",
    "TableClusterer": "table_estimators",
    "choose_mixture": "choosing",
    "describe": "reporting",
    "doubtful": "reporting",
    "find_classes": "classes",
    "fit_mixture": "learning",
}

__all__ = [
    "Batches",
    "Choice",
    "ClassReport",
    "Difference",
    "Doubt",
    "GaussianMixture",
    "Mixture",
    "MixturePrior",
    "Part",
    "TableClusterer",
    "choose_mixture",
    "describe",
    "doubtful",
    "find_classes",
    "fit_mixture",
]

__getattr__ = lazy.names_of(__name__, _HOMES)
