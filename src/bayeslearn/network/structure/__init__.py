"""Finding the structure of a network: scores, searches and tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeslearn import lazy_imports

if TYPE_CHECKING:
    from bayeslearn.network.structure.fit_network import learn as learn
    from bayeslearn.network.structure.results import LearnedArc as LearnedArc
    from bayeslearn.network.structure.results import StructureFit as StructureFit
    from bayeslearn.network.structure.search_settings import Knowledge as Knowledge
    from bayeslearn.network.structure.uncertainty.bootstrap import ArcStrength as ArcStrength
    from bayeslearn.network.structure.uncertainty.bootstrap import ArcStrengths as ArcStrengths
    from bayeslearn.network.structure.uncertainty.model_averaging import AveragedNetworks as AveragedNetworks
    from bayeslearn.network.structure.uncertainty.order_mcmc import StructurePosterior as StructurePosterior
    from bayeslearn.network.structure.uncertainty.order_mcmc import structure_posterior as structure_posterior
else:
    __getattr__, __dir__, __all__ = lazy_imports.attach(__name__)
