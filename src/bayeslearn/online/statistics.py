"""What is remembered of experts: how often each was wrong. Weights are read off, so learners over the same experts add.

w_i ∝ p_i β^wrong_i        p: the prior, weights before the first round        statistics: wrong, spoke, rounds
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayeslearn.families.statistics import Statistics, ratio

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Mistakes(Statistics):
    """Rounds in which each expert was wrong, in which it spoke at all, and how many rounds there were."""

    wrong: NDArray[np.float64]
    spoke: NDArray[np.float64]
    rounds: NDArray[np.float64]

    @classmethod
    def none(cls, n: int) -> Mistakes:
        """Those of n experts before the first round."""
        return cls(np.zeros(n), np.zeros(n), np.zeros(()))

    @property
    def error(self) -> NDArray[np.float64]:
        """The share of its advice that was wrong, for each expert."""
        return ratio(self.wrong, self.spoke)


@dataclass(frozen=True)
class Record:
    """How the learner itself did. Unlike the mistakes of experts it depends on the order of rounds."""

    #: Guesses that were wrong.
    mistakes: int = 0
    #: The mistakes that a guess drawn by the weights would make on average.
    expected: float = 0.0
    #: Learners whose rounds are told here together.
    starts: int = 1
    #: The least share of the weight that spoke when the learner was wrong, and in any round.
    spoken_if_wrong: float = 1.0
    spoken: float = 1.0

    def __add__(self, other: Record) -> Record:
        return Record(
            self.mistakes + other.mistakes,
            self.expected + other.expected,
            self.starts + other.starts,
            min(self.spoken_if_wrong, other.spoken_if_wrong),
            min(self.spoken, other.spoken),
        )


def counted(n: int, what: str) -> str:
    """So many of them."""
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"
