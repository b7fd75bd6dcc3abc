"""How long the parts of structural EM take, so that none is begun that would end after the deadline."""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass
class Pace:
    """Seconds that a part took; nothing is known of what was not done yet."""

    #: Completing the rows under a network.
    completion: float = 0.0
    #: One iteration of EM, and what goes before the first.
    iteration: float = 0.0
    opening: float = 0.0
    #: When the present fit began, and when its last iteration ended.
    _begin: float = 0.0
    _last: float | None = None

    @property
    def fitting(self) -> float:
        """The least that fitting tables takes: what goes before EM, and one iteration."""
        return self.opening + self.iteration

    @property
    def turn(self) -> float:
        """The least that a turn takes; the search in it ends when it must."""
        return self.completion + self.fitting

    def of_rows(self, times: float) -> Pace:
        """What to expect of so many times as many rows."""
        return Pace(times * self.completion, times * self.iteration, times * self.opening)

    @contextmanager
    def completing(self) -> Iterator[None]:
        """Around a completion."""
        begin = time.monotonic()
        yield
        self.completion = max(self.completion, time.monotonic() - begin)  # one that is remembered takes no time

    @contextmanager
    def fitting_tables(self) -> Iterator[None]:
        """Around a fit of tables."""
        self._begin, self._last = time.monotonic(), None
        yield
        if self._last is None:  # complete rows are counted, without an iteration
            self.opening = time.monotonic() - self._begin

    def step(self) -> None:
        """After every iteration of EM, the first of which only looks at the rows."""
        now = time.monotonic()
        if self._last is None:
            self.opening = now - self._begin
        else:
            self.iteration = now - self._last
        self._last = now
