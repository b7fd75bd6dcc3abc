"""Finding the structure of a network: scores, searches and tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeslearn import lazy_imports

if TYPE_CHECKING:
    from bayeslearn.network.structure.fit import fit_network as fit_network
    from bayeslearn.network.structure.results import LearnedArc as LearnedArc
    from bayeslearn.network.structure.results import StructureFitInfo as StructureFitInfo
    from bayeslearn.network.structure.search_settings import BackgroundKnowledge as BackgroundKnowledge
    from bayeslearn.network.structure.uncertainty.bootstrap import ArcStrength as ArcStrength
    from bayeslearn.network.structure.uncertainty.bootstrap import ArcStrengths as ArcStrengths
    from bayeslearn.network.structure.uncertainty.model_averaging import AveragedNetworks as AveragedNetworks
    from bayeslearn.network.structure.uncertainty.order_mcmc import (
        sample_structure_posterior as sample_structure_posterior,
    )
    from bayeslearn.network.structure.uncertainty.structure_posterior import StructurePosterior as StructurePosterior
else:
    __getattr__, __dir__, __all__ = lazy_imports.attach(__name__)
