"""Mixtures of Gaussians and of other distributions, and clusters of tables with mixed columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeslearn import lazy_imports

if TYPE_CHECKING:
    from bayeslearn.components import Component as Component
    from bayeslearn.mixture.estimators import GaussianMixture as GaussianMixture
    from bayeslearn.mixture.estimators import MixedTypeClusterer as MixedTypeClusterer
    from bayeslearn.mixture.explanation import ComponentExplanation as ComponentExplanation
    from bayeslearn.mixture.fit import fit_mixture as fit_mixture
    from bayeslearn.mixture.hierarchy import ClusterHierarchy as ClusterHierarchy
    from bayeslearn.mixture.hierarchy import ClusterMerge as ClusterMerge
    from bayeslearn.mixture.inputs import Batches as Batches
    from bayeslearn.mixture.model import MixtureModel as MixtureModel
    from bayeslearn.mixture.model import MixturePrior as MixturePrior
    from bayeslearn.mixture.results import ClusterDifference as ClusterDifference
    from bayeslearn.mixture.results import ClusterReport as ClusterReport
    from bayeslearn.mixture.results import ComponentSelection as ComponentSelection
    from bayeslearn.mixture.results import MixtureFitInfo as MixtureFitInfo
    from bayeslearn.mixture.results import UncertainRow as UncertainRow
    from bayeslearn.mixture.results import describe_clusters as describe_clusters
    from bayeslearn.mixture.results import uncertain_rows as uncertain_rows
else:
    __getattr__, __dir__, __all__ = lazy_imports.attach(__name__)
