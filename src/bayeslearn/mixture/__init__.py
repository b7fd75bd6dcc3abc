"""Mixtures: Gaussians, any family, and classes of the rows of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeslearn import lazy_imports

if TYPE_CHECKING:
    from bayeslearn.components import Component as Component
    from bayeslearn.mixture.cluster_report import ClusterDifference as ClusterDifference
    from bayeslearn.mixture.cluster_report import ClusterReport as ClusterReport
    from bayeslearn.mixture.cluster_report import UncertainRow as UncertainRow
    from bayeslearn.mixture.cluster_report import describe_clusters as describe_clusters
    from bayeslearn.mixture.cluster_report import uncertain_rows as uncertain_rows
    from bayeslearn.mixture.estimators import GaussianMixture as GaussianMixture
    from bayeslearn.mixture.estimators import MixedTypeClusterer as MixedTypeClusterer
    from bayeslearn.mixture.fit import fit_mixture as fit_mixture
    from bayeslearn.mixture.inputs import Batches as Batches
    from bayeslearn.mixture.mixed_table import find_classes as find_classes
    from bayeslearn.mixture.model import MixtureModel as MixtureModel
    from bayeslearn.mixture.model import MixturePrior as MixturePrior
    from bayeslearn.mixture.model_selection import ComponentSelection as ComponentSelection
    from bayeslearn.mixture.model_selection import choose_mixture as choose_mixture
else:
    __getattr__, __dir__, __all__ = lazy_imports.attach(__name__)
