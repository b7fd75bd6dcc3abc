"""Questions to a network: planned once, answered often."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeslearn import lazy_imports

if TYPE_CHECKING:
    from bayeslearn.network.inference.approximate import Sampled as Sampled
    from bayeslearn.network.inference.approximate import SampledBeliefs as SampledBeliefs
    from bayeslearn.network.inference.evidence_session import Session as Session
    from bayeslearn.network.inference.explanation import Reasons as Reasons
    from bayeslearn.network.inference.explanation import Sensitivity as Sensitivity
    from bayeslearn.network.inference.explanation import explain as explain
    from bayeslearn.network.inference.explanation import sensitivity as sensitivity
    from bayeslearn.network.inference.forward_sampling import draw as draw
    from bayeslearn.network.inference.forward_sampling import draws as draws
    from bayeslearn.network.inference.junction_tree import Exact as Exact
    from bayeslearn.network.inference.loopy_propagation import Loopy as Loopy
    from bayeslearn.network.inference.loopy_propagation import LoopyBeliefs as LoopyBeliefs
    from bayeslearn.network.inference.results import Beliefs as Beliefs
    from bayeslearn.network.inference.results import CaseBeliefs as CaseBeliefs
    from bayeslearn.network.inference.results import Explanation as Explanation
    from bayeslearn.network.inference.results import JointBelief as JointBelief
else:
    __getattr__, __dir__, __all__ = lazy_imports.attach(__name__)
