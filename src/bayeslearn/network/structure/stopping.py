"""Searches that are not over one graph: when to stop."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from bayeslearn.em import told_to_stop
from bayeslearn.network.structure.climbing import Climb

if TYPE_CHECKING:
    from bayeslearn.network.structure.climbing import Limits


def over(limits: Limits, score: float, arcs: int, steps: int) -> bool:
    """Whether to stop here: it is late, or whoever is told says so."""
    late = limits.deadline is not None and time.monotonic() > limits.deadline
    return late or told_to_stop(limits.progress, Climb(score, arcs, steps))
