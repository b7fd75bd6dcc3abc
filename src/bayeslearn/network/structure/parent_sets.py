"""The parent sets that a variable may have, each with its score, best first.

    dominated   score(x, S) ≤ score(x, T) for some T ⊂ S: S is never chosen, for T fits wherever S does
    closed      every larger set is dominated, by a bound that is looked at before anything is counted: see `bounds`

Sets grow by one parent at a time, and one pass over the data scores a set with all its further parents. Variables are
numbered by their names here, so that equal scores are told apart by these: fewer parents first, then the alphabet.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from bayeslearn import kernels
from bayeslearn.em import ROUNDING
from bayeslearn.errors import CapacityError
from bayeslearn.network.structure.bounds import bound_of
from bayeslearn.network.structure.bulk import ChildRows
from bayeslearn.network.structure.candidates import levels, likely, parents_of
from bayeslearn.network.structure.climbing import FOREVER, ranks
from bayeslearn.network.structure.stopping import over

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from bayeslearn.network.structure.cache import Parents, ScoreCache
    from bayeslearn.network.structure.climbing import Limits
    from bayeslearn.network.structure.knowledge import Allowed

#: Candidates of one child, each a bit of a word; of more, the best by themselves are kept.
MOST_CANDIDATES = 62

#: A child and its candidates; its sets, as numbers by name, and their scores.
Known = tuple[int, bytes]
Sets = tuple[list[list[int]], "NDArray[np.float64]"]

#: Parent sets of all children together.
MOST_SETS = 1 << 25


@dataclass(frozen=True)
class ParentSets:
    """Sets of each variable, best first, by number in the order of names.

    The sets of variable x are first[x] to first[x + 1]; the members of set s are members[start[s] : start[s + 1]].
    """

    #: The position of the variable with each number.
    by_name: NDArray[np.int64]
    first: NDArray[np.int64]
    start: NDArray[np.int64]
    members: NDArray[np.int64]
    scores: NDArray[np.float64]
    #: required[c, x]: every set of x has c.
    required: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.scores)

    @property
    def n(self) -> int:
        """How many variables there are."""
        return len(self.by_name)

    @property
    def arrays(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """What kernels take."""
        return self.first, self.start, self.members, self.scores

    @cached_property
    def masks(self) -> NDArray[np.int64]:
        """Each set as the bits of its members."""
        masks = np.zeros(len(self), np.int64)
        np.bitwise_or.at(masks, np.repeat(np.arange(len(self)), np.diff(self.start)), np.int64(1) << self.members)
        return masks

    def of(self, position: int) -> list[tuple[Parents, float]]:
        """The sets of the variable at a position, best first, by positions and with their scores."""
        x = int(np.flatnonzero(self.by_name == position)[0])
        return [
            (
                tuple(sorted(self.by_name[self.members[self.start[s] : self.start[s + 1]]].tolist())),
                float(self.scores[s]),
            )
            for s in range(self.first[x], self.first[x + 1])
        ]

    def arcs(self, chosen: NDArray[np.int64]) -> NDArray[np.bool_]:
        """The graph in which each variable has its chosen set, by position."""
        arcs = np.zeros((self.n, self.n), np.bool_)
        for x, s in enumerate(chosen):
            arcs[self.by_name[self.members[self.start[s] : self.start[s + 1]]], self.by_name[x]] = True
        return arcs

    def possible(self, order: Iterable[int]) -> NDArray[np.int64]:
        """The order with required parents before their children, otherwise as it is."""
        waiting, left = self.required.sum(axis=0), [int(x) for x in order]
        found = []
        while left:
            found.append(next(x for x in left if not waiting[x]))
            left.remove(found[-1])
            waiting -= self.required[found[-1]]
        return np.array(found, np.int64)


def parent_sets(
    cache: ScoreCache,
    allowed: Allowed,
    limits: Limits = FOREVER,
    *,
    candidates: NDArray[np.bool_] | None = None,
    dominated: bool = False,
    known: dict[Known, Sets] | None = None,
) -> ParentSets:
    """All parent sets that knowledge allows and no other beats; when time runs out, those of few parents.

    Parameters
    ----------
    candidates
        candidates[c, x]: c is considered as a parent of x; every allowed arc when not given, of which no more than the
        best 62 by themselves are looked at.
    dominated
        Keep every set, as sums over sets need.
    known
        Sets found before by the same score and knowledge, by child and candidates; what is found is added.
    """
    can = likely(
        cache, allowed, MOST_CANDIDATES, among=allowed.arcs if candidates is None else allowed.arcs & candidates
    )
    by_name = np.argsort(ranks(cache.counts.names))
    known = {} if known is None else known
    keys = {int(x): (int(x), can[:, x].tobytes()) for x in by_name}
    new = [_Growing(cache, allowed, can, x, by_name, keep_all=dominated) for x in keys if keys[x] not in known]
    _grow(new, allowed, limits)
    found = {child.x: child.finished() for child in new}
    known |= {keys[x]: sets for x, sets in found.items()}
    return _gathered(by_name, [known[key] for key in keys.values()], allowed.required[np.ix_(by_name, by_name)])


def _grow(children: list[_Growing], allowed: Allowed, limits: Limits) -> None:
    """Parent by parent, until there is nothing to add, nor time."""
    for level in range(allowed.most_parents):
        growing = [child for child in children if child.propose(level)]
        scored = sum(child.n_sets for child in children)
        if scored > MOST_SETS:
            raise CapacityError(
                f"there are {scored:,} parent sets of up to {level + 1} parents, more than {MOST_SETS:,}",
                hint="limit the number of parents (most_parents), or the candidates",
                sets=scored,
            )
        if not growing or over(limits, sum(child.best for child in children), int(allowed.required.sum()), level):
            break
        kernels.parallel(_Growing.grow, growing)


### one child


class _Growing:
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
    ) -> None:
        self.cache, self.x, self.keep_all = cache, x, keep_all
        self.required = parents_of(allowed.required, x)
        self.room = allowed.most_parents - len(self.required)
        self.candidates = np.array([v for v in by_name if can[v, x]], np.int64)
        self.numbers = np.argsort(by_name)
        self.rows = ChildRows(cache, [x, *self.required, *self.candidates.tolist()])
        self.bound = None if keep_all else bound_of(cache, x, self.required, self.candidates)
        self.masks, self.scores = np.zeros(1, np.int64), np.array([cache.family(x, self.required)])
        self.reached = self.scores.copy()  # by a set or one within it
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
        for bit, v in zip(bits, range(len(bits)), strict=True):
            has = np.flatnonzero(fine & (masks & bit != 0))
            at, there = self._find(masks[has] ^ bit)
            if self.bound is not None:
                there &= self.bound.may_gain(v, self.scores[at], self.masks[at])
            fine[has[~there]] = False
        self.proposed = np.stack([base[fine], added[fine]], axis=1)
        self.n_sets += len(self.proposed)
        return len(self.proposed) > 0

    def grow(self) -> None:
        """Score what was proposed, a base with all it is extended by at once."""
        base, added = self.proposed.T
        bases, base = np.unique(base, return_inverse=True)
        scores = self.rows.scores(self._columns(self.masks[bases]), base, 1 + len(self.required) + added)
        base = bases[base]
        masks = self.masks[base] | (np.int64(1) << added)
        below = self._best_below(masks)
        better = scores > below + ROUNDING * (1 + np.abs(below))
        self.kept.append((masks, scores) if self.keep_all else (masks[better], scores[better]))
        reached = np.maximum(scores, below)
        self.best = max(self.best, float(reached.max()))
        order = np.argsort(masks)
        self.masks, self.scores, self.reached = masks[order], scores[order], reached[order]
        if self.bound is not None:
            opened = self.bound.opened(self.masks, self.reached, self.members)
            self.masks, self.scores, self.reached = self.masks[opened], self.scores[opened], self.reached[opened]

    def _columns(self, masks: NDArray[np.int64]) -> NDArray[np.int64]:
        """The required parents and the members of each set, as columns of the rows; all sets are as large."""
        within = masks[:, None] >> np.arange(len(self.candidates)) & 1
        chosen = np.nonzero(within)[1].reshape(len(masks), -1) + 1 + len(self.required)
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
        sets = [np.sort(self.numbers[list(self.members(int(mask)))]).tolist() for mask in masks]
        level = levels(scores, ROUNDING * (1 + abs(self.best)))
        places = sorted(range(len(sets)), key=lambda i: (level[i], len(sets[i]), sets[i]))
        return [sets[i] for i in places], scores[places]


def _gathered(by_name: NDArray[np.int64], found: list[Sets], required: NDArray[np.bool_]) -> ParentSets:
    sets = [members for children, _ in found for members in children]
    return ParentSets(
        by_name,
        np.cumsum([0, *(len(scores) for _, scores in found)], dtype=np.int64),
        np.cumsum([0, *map(len, sets)], dtype=np.int64),
        np.array([v for members in sets for v in members], np.int64),
        np.concatenate([scores for _, scores in found]),
        required,
    )
