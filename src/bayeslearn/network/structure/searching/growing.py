"""The parent sets of one child, level by level: each set one parent larger than those before.

A set is looked at when all sets of one parent less are still open, and no bound says that it cannot gain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayeslearn.em import ROUNDING
from bayeslearn.network.structure.counting.cache import parents_of
from bayeslearn.network.structure.searching.bounds import bound_of
from bayeslearn.network.structure.searching.candidates import levels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.network.structure.counting.cache import Parents, ScoreCache
    from bayeslearn.network.structure.knowledge import Allowed
    from bayeslearn.network.structure.limits import Limits

#: Rows times sets between two looks at the clock.
PART = 1 << 27

#: Sets, as numbers of variables by name, and their scores.
Sets = tuple[list[list[int]], "NDArray[np.float64]"]


class Growing:
    """The parent sets of one child, level by level; a set is the bits of its candidates, the required left out."""

    def __init__(
        self,
        cache: ScoreCache,
        allowed: Allowed,
        can: NDArray[np.bool_],
        x: int,
        by_name: NDArray[np.int64],
        *,
        keep_all: bool,
        full: int | None,
        floor: float | None = None,
    ) -> None:
        self.cache, self.x, self.keep_all, self.full, self.floor = cache, x, keep_all, full, floor
        self.required = parents_of(allowed.required, x)
        self.room = allowed.most_parents - len(self.required)
        self.candidates = np.array([v for v in by_name if can[v, x]], np.int64)
        self.numbers = np.argsort(by_name)
        self.rows = cache.rows([x, *self.required, *self.candidates.tolist()])
        self.bound = None if keep_all else bound_of(cache, x, self.required, self.candidates)
        self.masks, self.scores = np.zeros(1, np.int64), np.array([cache.family(x, self.required)])
        self.reached = self.scores.copy()  # by a set or one within it
        self.better = np.ones(1, np.bool_)  # than every set within it
        self.proposed = np.empty((0, 2), np.int64)
        self.kept = [(self.masks, self.scores)]
        self.n_sets, self.best = 1, float(self.scores[0])

    def members(self, mask: int) -> Parents:
        """The parents of a set, by position."""
        chosen = [int(c) for i, c in enumerate(self.candidates) if mask >> i & 1]
        return tuple(sorted((*self.required, *chosen)))

    def propose(self, level: int) -> bool:
        """The sets of one more parent all of whose subsets are still there; whether there are any."""
        self.proposed = np.empty((0, 2), np.int64)
        if level >= self.room or not len(self.masks):
            return False
        bits = np.int64(1) << np.arange(len(self.candidates), dtype=np.int64)
        base, added = np.nonzero(bits[None, :] > self.masks[:, None])
        masks = self.masks[base] | bits[added]
        fine = np.ones(len(masks), np.bool_)
        may = None if self.bound is None else self.bound.may_gain(self.masks, self.scores)
        for bit, v in zip(bits, range(len(bits)), strict=True):
            has = np.flatnonzero(fine & (masks & bit != 0))
            at, there = self._find(masks[has] ^ bit)
            if may is not None:
                there &= may[at, v]
            fine[has[~there]] = False
        fine &= self.rows.countable(self._columns(masks))
        if self.floor is not None and self.bound is not None:
            fine &= self.bound.may_reach(masks, max(self.best, self.floor))
        self.proposed = np.stack([base[fine], added[fine]], axis=1)
        self.n_sets += len(self.proposed)
        return len(self.proposed) > 0

    def narrow(self) -> None:
        """From here on only sets all of whose subsets are worth having."""
        self.full = 0
        self.masks, self.scores, self.reached = (a[self.better] for a in (self.masks, self.scores, self.reached))

    def grow(self, limits: Limits) -> None:
        """Score what was proposed, or as much of it as there is time for."""
        base, added = self.proposed.T
        scores = self._scored(base, added, limits)
        base, added = base[: len(scores)], added[: len(scores)]
        masks = self.masks[base] | (np.int64(1) << added)
        if not len(masks):
            self.masks = masks
            return
        below = self._best_below(masks)
        better = scores > below + ROUNDING * (1 + np.abs(below))
        self.kept.append((masks, scores) if self.keep_all else (masks[better], scores[better]))
        reached = np.maximum(scores, below)
        self.best = max(self.best, float(reached.max()))
        level = int(masks[0]).bit_count() + len(self.required)
        opened = np.ones(len(masks), np.bool_) if self.full is None or level < self.full else better
        if self.bound is not None:
            least = reached if self.floor is None else np.maximum(reached, max(self.best, self.floor))
            opened &= self.bound.opened(masks, least, self.members)
        order = np.flatnonzero(opened)[np.argsort(masks[opened])]
        self.masks, self.scores, self.reached, self.better = masks[order], scores[order], reached[order], better[order]

    def _scored(self, base: NDArray[np.int64], added: NDArray[np.int64], limits: Limits) -> NDArray[np.float64]:
        """The scores of these, a base with all it is extended by at once, until there is no more time."""
        found, most = [], max(PART // max(self.cache.counts.rows, 1), 64)
        for begin in range(0, len(base), most):
            if begin and limits.reached():
                break
            bases, some = np.unique(base[begin : begin + most], return_inverse=True)
            columns = 1 + len(self.required) + added[begin : begin + most]
            found.append(self.rows.scores(self._columns(self.masks[bases]), some, columns))
        return np.concatenate(found)

    def _columns(self, masks: NDArray[np.int64]) -> NDArray[np.int64]:
        """The required parents and the members of each set as columns of the rows; all sets are as large."""
        within = masks[:, None] >> np.arange(len(self.candidates)) & 1
        size = int(within[:1].sum())
        chosen = np.nonzero(within)[1].reshape(len(masks), size) + 1 + len(self.required)
        required = np.broadcast_to(np.arange(1, 1 + len(self.required)), (len(masks), len(self.required)))
        return np.ascontiguousarray(np.hstack([required, chosen]), np.int64)

    def _find(self, masks: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        at = np.minimum(np.searchsorted(self.masks, masks), len(self.masks) - 1)
        return at, self.masks[at] == masks

    def _best_below(self, masks: NDArray[np.int64]) -> NDArray[np.float64]:
        """The best score of all sets within each of these."""
        best = np.full(len(masks), -np.inf)
        for bit in np.int64(1) << np.arange(len(self.candidates), dtype=np.int64):
            has = np.flatnonzero(masks & bit)
            best[has] = np.maximum(best[has], self.reached[self._find(masks[has] ^ bit)[0]])
        return best

    def finished(self) -> Sets:
        """All sets by number, best first; those that rounding tells apart are equal, and smaller ones go first."""
        masks = np.concatenate([masks for masks, _ in self.kept])
        scores = np.concatenate([scores for _, scores in self.kept])
        if self.floor is not None:  # the best alone is wanted
            near = scores >= scores.max() - ROUNDING * (1 + abs(self.best))
            masks, scores = masks[near], scores[near]
        sets = [np.sort(self.numbers[list(self.members(int(mask)))]).tolist() for mask in masks]
        level = levels(scores, ROUNDING * (1 + abs(self.best)))
        places = sorted(range(len(sets)), key=lambda i: (level[i], len(sets[i]), sets[i]))
        return [sets[i] for i in places], scores[places]
