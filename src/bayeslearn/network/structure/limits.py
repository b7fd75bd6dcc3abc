"""When a search must end, and who is told how it stands."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field, replace
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
    #: Those that a part of the work is taken from, see :meth:`sooner`: who stops the part stops the whole.
    whole: Limits | None = field(default=None, repr=False)
    #: Whether a search was ended.
    stopped: bool = field(default=False, init=False)

    def over(self, score: float, arcs: int, steps: int) -> bool:
        """Whether to stop where a search stands."""
        return self.told(Climb(score, arcs, steps))

    def told(self, now: Any) -> bool:
        """Tell how things stand; whether to stop there."""
        if not self.reached() and told_to_stop(self.progress, now):
            self.stop()
        return self.stopped

    def reached(self) -> bool:
        """Whether to stop, with nothing to tell."""
        ended = self.whole is not None and self.whole.stopped
        self.stopped = self.stopped or ended or self.left() < 0
        return self.stopped

    def stop(self) -> None:
        """End this search, and all that it is a part of."""
        self.stopped = True
        if self.whole is not None:
            self.whole.stop()

    def left(self) -> float:
        """Seconds until the deadline."""
        return math.inf if self.deadline is None else self.deadline - time.monotonic()

    def sooner(self, seconds: float) -> Limits:
        """The same for a part of the work, which is to leave so many seconds to what comes after it."""
        return replace(self, deadline=None if self.deadline is None else self.deadline - seconds, whole=self)


#: No limit at all.
FOREVER = Limits()
