"""A learner played with, round by round."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable


@dataclass(frozen=True)
class Round:
    """A point, what the learner guessed, and what it is."""

    point: Hashable
    guess: bool
    label: bool


@dataclass(frozen=True)
class Trial:
    """A learner played with: every round in order."""

    rounds: tuple[Round, ...]

    @property
    def mistakes(self) -> int:
        """How many guesses were wrong."""
        return sum(r.guess != r.label for r in self.rounds)

    @property
    def examples(self) -> list[tuple[Hashable, bool]]:
        """The points and their labels."""
        return [(r.point, r.label) for r in self.rounds]

    def __str__(self) -> str:
        lines = [f"  {r.point}: {r.label:d}{'' if r.guess == r.label else ', not as guessed'}" for r in self.rounds]
        return "\n".join([f"{self.mistakes} mistakes in {len(self.rounds)} rounds", *lines])
