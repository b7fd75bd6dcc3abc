"""Mixtures: Gaussians, any family, and classes of the rows of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeslearn import lazy_imports

if TYPE_CHECKING:
    from bayeslearn.components import Component as Component
    from bayeslearn.mixture.choosing import Choice as Choice
    from bayeslearn.mixture.choosing import choose_mixture as choose_mixture
    from bayeslearn.mixture.classes import find_classes as find_classes
    from bayeslearn.mixture.estimators import GaussianMixture as GaussianMixture
    from bayeslearn.mixture.estimators import TableClusterer as TableClusterer
    from bayeslearn.mixture.learning import fit_mixture as fit_mixture
    from bayeslearn.mixture.model import Mixture as Mixture
    from bayeslearn.mixture.model import MixturePrior as MixturePrior
    from bayeslearn.mixture.reporting import ClassReport as ClassReport
    from bayeslearn.mixture.reporting import Difference as Difference
    from bayeslearn.mixture.reporting import Doubt as Doubt
    from bayeslearn.mixture.reporting import describe as describe
    from bayeslearn.mixture.reporting import doubtful as doubtful
    from bayeslearn.mixture.rows import Batches as Batches
else:
    __getattr__, __dir__, __all__ = lazy_imports.attach(__name__)
