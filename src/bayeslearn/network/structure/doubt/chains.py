"""One random walk over orders, what it has seen so far, and whether several of them agree.

R̂² = (m − 1)/m + B/(m W)        B, W variance between and within the halves of all chains, m samples in each
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayeslearn import kernels
from bayeslearn.em import ROUNDING

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.network.structure.searching.parent_sets import ParentSets

#: exp of minus this is nothing beside 1.
NOTHING = 40.0


class Chain:
    """A walk from where a climb from a random order ends; orders are by number of name."""

    def __init__(self, sets: ParentSets, rng: np.random.Generator) -> None:
        self.sets, self.rng, n = sets, rng, sets.n
        self.depth = NOTHING + float(np.log(np.diff(sets.first).max()))
        self.order = sets.possible(rng.permutation(n))
        slack = ROUNDING * (1 + abs(float(sets.scores[sets.first[:-1]].sum())))
        kernels.climb_orders(sets.arrays, self.order, rng.permutation(n), np.empty(n, np.int64), slack)
        self.sums = np.zeros((n, n))
        self.log_scores: list[float] = []
        self.chosen: list[NDArray[np.int64]] = []
        self.moves = self.taken = 0

    def walk(self, steps: int) -> None:
        """Some moves: half of them to the next place, half to any."""
        n = self.sets.n
        if n < 2:
            return
        near = self.rng.integers(n - 1, size=steps)
        here = self.rng.integers(n, size=steps)
        there = (here + 1 + self.rng.integers(n - 1, size=steps)) % n
        moves = np.where(self.rng.random((steps, 1)) < 0.5, np.stack([near, near + 1], 1), np.stack([here, there], 1))
        log_uniform = np.log1p(-self.rng.random(steps))
        self.taken += kernels.walk_orders(self.sets.arrays, self.order, moves, log_uniform, self.depth)
        self.moves += steps

    def sample(self, n: int, thin: int) -> None:
        """So many orders, each with a graph drawn from it.

        A coin adds a move: a walk that takes every one, as of equal orders, would come to half of the orders only.
        """
        for more in self.rng.integers(2, size=n).tolist():
            self.walk(thin + more)
            chosen, uniform = np.empty(self.sets.n, np.int64), self.rng.random(self.sets.n)
            place = np.argsort(self.order)
            score = kernels.read_order(self.sets.arrays, place, self.depth, uniform, self.sums, chosen)
            self.log_scores.append(float(score))
            self.chosen.append(chosen)

    @property
    def n_arcs(self) -> int:
        """Arcs of the graph that was drawn last."""
        chosen = self.chosen[-1]
        return int((self.sets.start[chosen + 1] - self.sets.start[chosen]).sum())

    @property
    def arcs(self) -> NDArray[np.float64]:
        """P(c → x | D) by position."""
        found = np.empty_like(self.sums)
        found[np.ix_(self.sets.by_name, self.sets.by_name)] = self.sums / len(self.log_scores)
        return found


def r_hat(values: NDArray[np.float64]) -> float:
    """How much wider all chains, (chains, samples), are together than each by itself; the halves are chains too."""
    m = values.shape[1] // 2
    if m < 2:
        return np.inf
    halves = np.concatenate([values[:, :m], values[:, -m:]])
    within, between = halves.var(axis=1, ddof=1).mean(), m * halves.mean(axis=1).var(ddof=1)
    if within <= (ROUNDING * (1 + np.abs(values).max())) ** 2:
        return 1.0 if between <= (ROUNDING * (1 + np.abs(values).max())) ** 2 * m else np.inf
    return float(np.sqrt((m - 1) / m + between / (m * within)))
