"""Questions to a network: planned once, answered often."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeslearn import lazy_imports

if TYPE_CHECKING:
    from bayeslearn.network.inference.approximate import SampledInference as SampledInference
    from bayeslearn.network.inference.approximate import SampledPosterior as SampledPosterior
    from bayeslearn.network.inference.evidence_session import EvidenceSession as EvidenceSession
    from bayeslearn.network.inference.explanation import EvidenceExplanation as EvidenceExplanation
    from bayeslearn.network.inference.explanation import Sensitivity as Sensitivity
    from bayeslearn.network.inference.junction_tree import ExactInference as ExactInference
    from bayeslearn.network.inference.loopy_propagation import LoopyPosterior as LoopyPosterior
    from bayeslearn.network.inference.loopy_propagation import LoopyPropagation as LoopyPropagation
    from bayeslearn.network.inference.results import JointPosterior as JointPosterior
    from bayeslearn.network.inference.results import MostProbableExplanation as MostProbableExplanation
    from bayeslearn.network.inference.results import Posterior as Posterior
    from bayeslearn.network.inference.results import PosteriorTable as PosteriorTable
else:
    __getattr__, __dir__, __all__ = lazy_imports.attach(__name__)
