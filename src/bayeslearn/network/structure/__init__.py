"""Finding the structure of a network: scores, searches and tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeslearn import lazy_imports

if TYPE_CHECKING:
    from bayeslearn.network.structure.doubt.averaged_networks import AveragedNetworks as AveragedNetworks
    from bayeslearn.network.structure.doubt.bootstrap import ArcStrength as ArcStrength
    from bayeslearn.network.structure.doubt.bootstrap import ArcStrengths as ArcStrengths
    from bayeslearn.network.structure.doubt.posterior import StructurePosterior as StructurePosterior
    from bayeslearn.network.structure.doubt.weighing import structure_posterior as structure_posterior
    from bayeslearn.network.structure.knowledge import Knowledge as Knowledge
    from bayeslearn.network.structure.learning import learn as learn
    from bayeslearn.network.structure.results import LearnedArc as LearnedArc
    from bayeslearn.network.structure.results import StructureFit as StructureFit
else:
    __getattr__, __dir__, __all__ = lazy_imports.attach(__name__)
