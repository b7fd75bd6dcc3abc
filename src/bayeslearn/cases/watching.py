"""What ends a search early: the time it may take, or the caller."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bayeslearn import validation
from bayeslearn.em import told_to_stop

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class SearchStep:
    """How far a search has come: what it looked at, of how many at most, and the arcs that the best answer covers."""

    done: int
    of: int
    covered: int


class Watch:
    """Asked after every step whether to go on."""

    def __init__(self, time_limit: float | None, progress: Callable[[SearchStep], object] | None) -> None:
        limit = None if time_limit is None else validation.number("time_limit", time_limit, least=0)
        self.end = None if limit is None else time.monotonic() + limit
        self.progress = progress
        #: Why the search ended early; None while it goes on.
        self.why: str | None = None

    def stops(self, step: SearchStep) -> bool:
        """Whether this step is the last; then `why` says why."""
        if self.why is None and told_to_stop(self.progress, step):
            self.why = "it was told to stop"
        if self.why is None and self.over():
            self.why = "the time was up"
        return self.why is not None

    def over(self) -> bool:
        """Whether the time is up."""
        return self.end is not None and time.monotonic() > self.end

    def inner(self) -> Watch:
        """For a search within this one: the same time, and nobody is told."""
        watch = Watch(None, None)
        watch.end = self.end
        return watch
