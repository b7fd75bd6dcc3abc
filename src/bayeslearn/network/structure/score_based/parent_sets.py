"""The parent sets that a variable may have, each with its score, best first.

    dominated   score(x, S) ≤ score(x, T) for some T ⊂ S: S is never chosen, for T fits wherever S does
    closed      every larger set is dominated, by a bound that is considered before counting

Sets grow by one parent at a time, and one pass over the data scores a set with all its further parents. Variables are
numbered by their names here, so that equal scores are distinguished by these: fewer parents first, then the alphabet.

The parent sets of one child come level by level, each set one parent larger than those before. A set is considered when
all sets of one parent less are still open, and no bound states that it cannot gain.

Bounds on what further parents can gain, by which most parent sets are never counted:

bic, aic    a further parent v gains at most N min(H(x | S), H(v)) in likelihood and pays q (r−1) (|v| − 1) times the
            price of a parameter, which only grows with S: once it cannot pay, it never can; and as no likelihood is
            above 1, score(x, S) ≤ − price · q (r−1)
k2, bdeu,   the first case of each cell has probability α / (rα + cases before) ≤ 1/r, and no later one more than 1:
bds         score(x, S) ≤ −ln r · (cells of x and S that occur), and these only grow with S
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Protocol

import numpy as np

from bayeslearn import kernels
from bayeslearn.em import ROUNDING
from bayeslearn.errors import CapacityError
from bayeslearn.network.structure.score_based.candidate_parents import levels, likely
from bayeslearn.network.structure.score_based.hill_climbing import ranks
from bayeslearn.network.structure.scoring.criteria import StructureScore, parents_of
from bayeslearn.network.structure.search_settings import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from bayeslearn.network.structure.scoring.criteria import Parents, ScoreCache
    from bayeslearn.network.structure.search_settings import Allowed, Budget


class Bound(Protocol):
    """Three questions about the parent sets of one child; sets are bits of candidates."""

    def may_gain(self, masks: NDArray[np.int64], scores: NDArray[np.float64]) -> NDArray[np.bool_] | None:
        """(set, candidate): whether it may gain next to a set of this score, or next to larger ones; None: it may."""

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
        plain = StructureScore("loglik")
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
        """Nothing is known about single candidates."""

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
        self.room = allowed.max_parents - len(self.required)
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

    def grow(self, budget: Budget) -> None:
        """Score what was proposed, or as much of it as there is time for."""
        base, added = self.proposed.T
        scores = self._scored(base, added, budget)
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

    def _scored(self, base: NDArray[np.int64], added: NDArray[np.int64], budget: Budget) -> NDArray[np.float64]:
        """The scores of these, a base with all it is extended by at once, until there is no more time."""
        found, most = [np.empty(0)], max(PART // max(self.cache.counts.rows, 1), 64)
        for begin in range(0, len(base), most):
            if budget.reached():
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
        """All sets by number, best first; those that rounding distinguishes are equal, and smaller ones go first."""
        masks = np.concatenate([masks for masks, _ in self.kept])
        scores = np.concatenate([scores for _, scores in self.kept])
        if self.floor is not None:  # the best alone is wanted
            near = scores >= scores.max() - ROUNDING * (1 + abs(self.best))
            masks, scores = masks[near], scores[near]
        sets = [np.sort(self.numbers[list(self.members(int(mask)))]).tolist() for mask in masks]
        level = levels(scores, ROUNDING * (1 + abs(self.best)))
        places = sorted(range(len(sets)), key=lambda i: (level[i], len(sets[i]), sets[i]))
        return [sets[i] for i in places], scores[places]


#: Candidates of one child, each a bit of a word; of more, the best alone are kept.
MOST_CANDIDATES = 62

#: A child and its candidates.
Known = tuple[int, bytes]

#: Rows that take as long as what each set takes besides them.
SET = 1 << 12

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
    #: Sets of this many parents were considered only where all that are one smaller are worth having; None: all were.
    narrowed: int | None = None

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
        """The order with required parents before their children, otherwise unchanged."""
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
    budget: Budget = UNLIMITED,
    *,
    candidates: NDArray[np.bool_] | None = None,
    dominated: bool = False,
    full: int | None = None,
    known: dict[Known, Sets] | None = None,
    standing: tuple[float, int] | None = None,
    floor: NDArray[np.float64] | None = None,
    work: float = math.inf,
) -> ParentSets:
    """All parent sets that knowledge allows and no other beats; when time runs out, those of few parents.

    Parameters
    ----------
    candidates
        candidates[c, x]: c is considered as a parent of x; every allowed arc when not given, of which no more than the
        best 62 alone are considered.
    dominated
        Keep every set, as sums over sets need.
    full
        Larger sets are considered only where all that are one parent smaller are worth having; default: every set.
    known
        Sets found before by the same score and knowledge, by child and candidates; what is found is added.
    standing
        Score and arcs of the best graph so far, for the callback; that of the required arcs when not given.
    floor
        Scores that some set of each variable is known to reach: none but the best sets are then wanted.
    work
        Sets times rows, and some more for each set, that may be considered; beyond, larger sets as with `full`.
    """
    can = likely(
        cache, allowed, MOST_CANDIDATES, among=allowed.arcs if candidates is None else allowed.arcs & candidates
    )
    by_name = np.argsort(ranks(cache.counts.names))
    known = {} if known is None else known
    keys = {int(x): (int(x), can[:, x].tobytes()) for x in by_name}
    new = [
        Growing(
            cache, allowed, can, x, by_name, keep_all=dominated, full=full, floor=None if floor is None else floor[x]
        )
        for x in keys
        if keys[x] not in known
    ]
    required = sum(child.best for child in new), int(allowed.required.sum())
    narrowed = _grow(new, allowed.max_parents, budget, standing or required, work / (cache.counts.rows + SET))
    found = {child.x: child.finished() for child in new}
    known |= {keys[x]: sets for x, sets in found.items()}
    sets = _gathered(by_name, [known[key] for key in keys.values()], allowed.required[np.ix_(by_name, by_name)])
    return replace(sets, narrowed=narrowed)


def _grow(
    children: list[Growing], most: int, budget: Budget, standing: tuple[float, int], affordable: float
) -> int | None:
    """Parent by parent, until there is nothing to add, nor time; the number of parents from which on not all were."""
    narrowed = None
    for level in range(most):
        growing = [child for child in children if not budget.reached() and child.propose(level)]
        scored = sum(child.n_sets for child in children)
        if narrowed is None and scored > affordable:
            narrowed = level + 1
            for child in growing:
                child.n_sets -= len(child.proposed)
                child.narrow()
            growing = [child for child in growing if child.propose(level)]
            scored = sum(child.n_sets for child in children)
        if scored > MOST_SETS:
            raise CapacityError(
                f"there are {scored:,} parent sets of up to {level + 1} parents, more than {MOST_SETS:,}",
                hint="limit the number of parents (max_parents), or the candidates",
                sets=scored,
            )
        if not growing or budget.over(*standing, level):
            break
        kernels.parallel(partial(Growing.grow, budget=budget), growing)
    return narrowed


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
