"""Halving: the majority of the hypotheses that were never wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.online.learners import _Learner

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable


class Halving(_Learner):
    """The majority vote of those that agree with every round so far: log₂|H| mistakes at most.

    The truth must be among the hypotheses; an :class:`~bayeslearn.errors.InconsistentDataError` tells when it is not.
    Hypotheses are given as the experts of :class:`WeightedMajority`, of which this is the case β = 0.

    Examples
    --------
    >>> learner = Halving([lambda x, a=a: x >= a for a in range(1, 9)])  # where do numbers get large?
    >>> for x in [4, 6, 5, 7]:
    ...     learner = learner.learn_one(x, x >= 6)
    >>> learner.mistakes, learner.bound, learner.size
    (2, 3.0, 1)
    >>> learner.predict_one(5), learner.predict_one(6)
    (False, True)
    """

    def __init__(self, experts: Any, *, labels: Iterable[Hashable] | None = None, prior: Any = None) -> None:
        super().__init__(experts, 0.0, labels, prior)

    @property
    def consistent(self) -> tuple[Any, ...]:
        """The hypotheses that were never wrong, by name."""
        return tuple(name for name, wrong in zip(self.experts, self.statistics.wrong, strict=True) if not wrong)

    @property
    def size(self) -> int:
        """How many they are."""
        return int(np.count_nonzero(self.statistics.wrong == 0))
