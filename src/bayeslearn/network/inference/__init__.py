"""Questions to a network: planned once, answered often."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeslearn import lazy_imports

if TYPE_CHECKING:
    from bayeslearn.network.inference.answers import Beliefs as Beliefs
    from bayeslearn.network.inference.answers import CaseBeliefs as CaseBeliefs
    from bayeslearn.network.inference.answers import Explanation as Explanation
    from bayeslearn.network.inference.answers import JointBelief as JointBelief
    from bayeslearn.network.inference.exact import Exact as Exact
    from bayeslearn.network.inference.explanation import Reasons as Reasons
    from bayeslearn.network.inference.explanation import explain as explain
    from bayeslearn.network.inference.forward import draw as draw
    from bayeslearn.network.inference.forward import draws as draws
    from bayeslearn.network.inference.loopy import Loopy as Loopy
    from bayeslearn.network.inference.loopy import LoopyBeliefs as LoopyBeliefs
    from bayeslearn.network.inference.sampled import Sampled as Sampled
    from bayeslearn.network.inference.sampled import SampledBeliefs as SampledBeliefs
    from bayeslearn.network.inference.sensitivity_analysis import Sensitivity as Sensitivity
    from bayeslearn.network.inference.sensitivity_analysis import sensitivity as sensitivity
    from bayeslearn.network.inference.session import Session as Session
else:
    __getattr__, __dir__, __all__ = lazy_imports.attach(__name__)
