"""Bounds on what further parents can gain, so that most parent sets are never counted.

bic, aic    a further parent v gains at most N min(H(x | S), H(v)) in likelihood and pays q (r−1) (|v| − 1) times the
            price of a parameter, which only grows with S: once it cannot pay, it never can; and as no likelihood is
            above 1, score(x, S) ≤ − price · q (r−1)
k2, bdeu,   the first case of each cell has probability α / (rα + cases before) ≤ 1/r, and no later one more than 1:
bds         score(x, S) ≤ −ln r · (cells of x and S that occur), and these only grow with S
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from bayeslearn.em import ROUNDING
from bayeslearn.network.structure.counting.scores import Score

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from bayeslearn.network.structure.counting.cache import Parents, ScoreCache


class Bound(Protocol):
    """Three questions about the parent sets of one child; sets are bits of candidates."""

    def may_gain(self, masks: NDArray[np.int64], scores: NDArray[np.float64]) -> NDArray[np.bool_] | None:
        """(set, candidate): whether it may gain beside a set of this score, or beside larger ones; None: it may."""

    def opened(
        self, masks: NDArray[np.int64], reached: NDArray[np.float64], members: Callable[[int], Parents]
    ) -> NDArray[np.bool_]:
        """Whether larger sets may beat what these or their subsets reach."""

    def may_reach(self, masks: NDArray[np.int64], score: float) -> NDArray[np.bool_]:
        """Whether these sets, or larger ones, may score as much."""


def bound_of(cache: ScoreCache, x: int, required: Parents, candidates: NDArray[np.int64]) -> Bound | None:
    """The bound that goes with the score; none for the likelihood, nor for cases that count for less than one."""
    if cache.score.name in {"aic", "bic"}:
        return _Price(cache, x, required, candidates)
    if cache.score.name in {"k2", "bdeu", "bds"} and cache.counts.whole:
        return _FirstCases(cache, x, required, candidates)
    return None


class _Price:
    """For likelihoods with a price for each parameter."""

    def __init__(self, cache: ScoreCache, x: int, required: Parents, candidates: NDArray[np.int64]) -> None:
        counts = cache.counts
        self.log_sizes = np.log(counts.sizes[candidates])
        parameters = int(np.prod(counts.sizes[list(required)], initial=1)) * (int(counts.sizes[x]) - 1)
        plain = Score("loglik")
        self.entropies = np.array([-plain.family(counts.family(int(v), ()), counts.total) for v in candidates])
        price = 0.5 * np.log(max(counts.total, 1.0)) if cache.score.name == "bic" else 1.0
        self.cost = price * parameters

    def may_gain(self, masks: NDArray[np.int64], scores: NDArray[np.float64]) -> NDArray[np.bool_]:
        cost = self.cost * np.exp(within(masks, self.log_sizes))
        gain = np.minimum(-(scores + cost)[:, None], self.entropies[None, :])
        return gain > cost[:, None] * np.expm1(self.log_sizes)[None, :]

    def opened(
        self,
        masks: NDArray[np.int64],
        reached: NDArray[np.float64],  # noqa: ARG002 - the other bound needs it
        members: Callable[[int], Parents],  # noqa: ARG002
    ) -> NDArray[np.bool_]:
        return np.ones(len(masks), np.bool_)

    def may_reach(self, masks: NDArray[np.int64], score: float) -> NDArray[np.bool_]:
        return self.cost * np.exp(within(masks, self.log_sizes)) <= -score + ROUNDING * (1 + abs(score))


class _FirstCases:
    """For probabilities of the cases themselves."""

    def __init__(self, cache: ScoreCache, x: int, required: Parents, candidates: NDArray[np.int64]) -> None:
        self.counts, self.x = cache.counts, x
        self.log_sizes = np.log(cache.counts.sizes[candidates])
        self.cells = cache.counts.cells(x, required)
        self.log_states = float(np.log(cache.counts.sizes[x]))

    def may_gain(self, masks: NDArray[np.int64], scores: NDArray[np.float64]) -> None:
        """Nothing is said of single candidates."""

    def opened(
        self, masks: NDArray[np.int64], reached: NDArray[np.float64], members: Callable[[int], Parents]
    ) -> NDArray[np.bool_]:
        cells = np.minimum(self.cells * np.exp(within(masks, self.log_sizes)), self.counts.rows)
        fine = cells * self.log_states < -reached
        for i in np.flatnonzero(~fine):
            occurring = np.count_nonzero(self.counts.family(self.x, members(int(masks[i]))))
            fine[i] = occurring * self.log_states < -reached[i]
        return fine

    def may_reach(self, masks: NDArray[np.int64], score: float) -> NDArray[np.bool_]:  # noqa: ARG002
        """The cells that occur are not known before they are counted."""
        return np.ones(len(masks), np.bool_)


def within(masks: NDArray[np.int64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The values of the members of each set, added."""
    return (masks[:, None] >> np.arange(len(values)) & 1) @ values
