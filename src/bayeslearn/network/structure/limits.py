"""When a search must end, and who is told how it stands."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bayeslearn.em import told_to_stop

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Climb:
    """Where a search stands."""

    score: float
    arcs: int
    steps: int


@dataclass
class Limits:
    """A moment, someone who may say so, and memory; one that was reached stays reached, for all that it serves."""

    deadline: float | None = None
    progress: Callable[[Any], object] | None = None
    #: Bytes that a search may take for what it remembers.
    memory: int = 1 << 30
    #: Whether a search was ended.
    stopped: bool = field(default=False, init=False)

    def over(self, score: float, arcs: int, steps: int) -> bool:
        """Whether to stop where a search stands."""
        return self.told(Climb(score, arcs, steps))

    def told(self, now: Any) -> bool:
        """Tell how things stand; whether to stop there."""
        self.stopped = self.reached() or told_to_stop(self.progress, now)
        return self.stopped

    def reached(self) -> bool:
        """Whether to stop, with nothing to tell."""
        late = self.deadline is not None and time.monotonic() > self.deadline
        self.stopped = self.stopped or late
        return self.stopped


#: No limit at all.
FOREVER = Limits()
