"""Searching over orders of the variables instead of graphs (Teyssier and Koller 2005).

    score(order) = Σ_x max over S before x of score(x, S)        the best graph of an order, for each x by itself

An order has one neighbour for each variable and each place to put it. Passing one other variable changes what two
variables may have as parents and no more, so all places of a variable are tried in one walk along the order. A climb
ends where no variable gains by another place; from there some are thrown elsewhere and the climb goes on, and the
better of both orders stays. The search begins where hill climbing over graphs ends, so it is never worse.

Only likely parents are looked at, see `candidates`: round by round those are added that would still gain in the graph
that the search has found, until there are none.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from bayeslearn import kernels, validation
from bayeslearn.em import ROUNDING
from bayeslearn.errors import ParameterError
from bayeslearn.network.structure.counting.cache import parents_of
from bayeslearn.network.structure.limits import FOREVER
from bayeslearn.network.structure.searching.candidates import greedy, likely, partners, wanted
from bayeslearn.network.structure.searching.climbing import Structure, before, climb
from bayeslearn.network.structure.searching.parent_sets import MOST_CANDIDATES, parent_sets
from bayeslearn.network.structure.searching.simple import k2

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from bayeslearn.network.structure.counting.cache import ScoreCache
    from bayeslearn.network.structure.knowledge import Allowed
    from bayeslearn.network.structure.limits import Limits
    from bayeslearn.network.structure.searching.growing import Sets
    from bayeslearn.network.structure.searching.parent_sets import Known, ParentSets

#: Parent sets of no more than this are all looked at.
FULL = 4

#: How many variables are thrown elsewhere, at least and below.
THROWN = (2, 9)


def best_parents(
    cache: ScoreCache,
    order: Sequence[int],
    allowed: Allowed,
    limits: Limits = FOREVER,
    *,
    full: int | None = None,
    work: float = math.inf,
) -> tuple[NDArray[np.bool_], int | None]:
    """The best graph whose arcs all point forward in the order, and the number of parents that ended the full search.

    From that number on not all sets were looked at, see :func:`parent_sets`; None: all were. Where all take too long,
    `full` looks at larger ones only if all that are one smaller are worth having. Parents that are chosen one by one
    are what a set has to beat, and what is left where there is no time.
    """
    fits = replace(allowed, arcs=allowed.arcs & _before(cache, order, allowed))
    candidates, floor, first = fits.arcs, None, None
    if cache.certain or (candidates.sum(axis=0) > MOST_CANDIDATES).any():
        first = k2(cache, order, allowed)
        candidates = likely(cache, fits, MOST_CANDIDATES, first=first)
        floor = np.array([cache.family(x, parents_of(first, x)) for x in range(cache.n)])
    sets = parent_sets(
        cache, fits, limits, candidates=candidates, full=full, floor=floor if cache.certain else None, work=work
    )
    arcs, scores = sets.arcs(sets.first[:-1]), sets.scores[sets.first[:-1]][np.argsort(sets.by_name)]
    if first is not None and floor is not None:
        ahead = floor > scores + ROUNDING * (1 + np.abs(scores))
        arcs[:, ahead] = first[:, ahead]
    return arcs, sets.narrowed


def _before(cache: ScoreCache, order: Sequence[int], allowed: Allowed) -> NDArray[np.bool_]:
    if sorted(order) != list(range(cache.n)):
        raise ParameterError(
            f"an order names each of the {cache.n} variables once, got {list(order)}",
            hint="list all variables, each of them once",
        )
    earlier = before(order)
    wrong = np.argwhere(allowed.required & ~earlier)
    if len(wrong):
        c, x = (cache.counts.names[v] for v in wrong[0])
        raise ParameterError(
            f"the arc {c} -> {x} is required, but {x!r} comes first in the order",
            hint=f"put {c!r} before {x!r}, or do not require the arc",
        )
    return earlier


### without an order


def order_search(
    cache: ScoreCache,
    allowed: Allowed,
    limits: Limits = FOREVER,
    *,
    rng: np.random.Generator | int | None = 0,
    candidates: int = 8,
    starts: int = 10,
    throws: int = 100,
) -> NDArray[np.bool_]:
    """The graph of the best order found.

    Parameters
    ----------
    candidates
        How many likely parents each variable has to begin with.
    starts
        Random orders to climb from, besides one of the graph that hill climbing finds.
    throws
        How often variables are thrown elsewhere in vain before the search gives up.
    """
    validation.integer("candidates", candidates, least=1, most=MOST_CANDIDATES)
    validation.integer("starts", starts, least=0)
    validation.integer("throws", throws, least=0)
    search = _Search(cache, allowed, limits, validation.generator(rng))
    hill = Structure(cache, allowed, allowed.required)
    climb(hill, limits)
    if limits.stopped:
        return hill.arcs
    can = likely(cache, allowed, candidates)
    can |= greedy(cache, allowed, limits) | partners(cache, allowed, can, limits)
    can |= (hill.arcs | hill.arcs.T) & allowed.arcs
    best = search.started(can, hill, starts)
    while not limits.stopped:
        best = search.thrown(best, throws)
        more = wanted(cache, allowed, best.arcs, can, limits)
        if not more.any():
            break
        can |= more
        best = search.climbed(search.sets(can, best), best.order)
    return best.arcs if best.score >= hill.score - slack(hill.score) else hill.arcs


@dataclass(frozen=True)
class _Found:
    """An order, by numbers of names, and the parent set that it leaves each variable."""

    sets: ParentSets
    order: NDArray[np.int64]
    chosen: NDArray[np.int64]
    score: float

    @property
    def arcs(self) -> NDArray[np.bool_]:
        return self.sets.arcs(self.chosen)


class _Search:
    """Climbs over orders until told to stop."""

    def __init__(self, cache: ScoreCache, allowed: Allowed, limits: Limits, rng: np.random.Generator) -> None:
        self.cache, self.allowed, self.limits, self.rng = cache, allowed, limits, rng
        self.climbs = 0
        self.known: dict[Known, Sets] = {}
        self.n = cache.n

    def sets(self, can: NDArray[np.bool_], best: Structure | _Found) -> ParentSets:
        """The parent sets among these arcs, while this graph is the best so far."""
        standing = best.score, int(best.arcs.sum())
        return parent_sets(
            self.cache, self.allowed, self.limits, candidates=can, full=FULL, known=self.known, standing=standing
        )

    def started(self, can: NDArray[np.bool_], hill: Structure, starts: int) -> _Found:
        """The best of climbs from an order of a graph, ancestors first, and from some random orders."""
        sets = self.sets(can, hill)
        best = self.climbed(sets, np.argsort(hill.reach.sum(axis=0)[sets.by_name], kind="stable"))
        for _ in range(starts):
            if self.limits.stopped:
                break
            best = self.better(best, self.climbed(sets, self.rng.permutation(self.n)))
        return best

    def thrown(self, best: _Found, throws: int) -> _Found:
        """Go on from the best order with some variables thrown elsewhere, until that has not helped for long."""
        since = 0
        while since < throws and not self.limits.stopped:
            order = best.order.tolist()
            for _ in range(self.rng.integers(*THROWN)):
                order.insert(self.rng.integers(self.n), order.pop(self.rng.integers(self.n)))
            found = self.better(best, self.climbed(best.sets, order))
            since = since + 1 if found.score <= best.score + slack(best.score) else 0
            best = found
        return best

    def climbed(self, sets: ParentSets, order: Iterable[int]) -> _Found:
        """The order where a climb from this one ends."""
        order, chosen = sets.possible(order), np.empty(self.n, np.int64)
        visits = self.rng.permutation(self.n)
        score = kernels.climb_orders(sets.arrays, order, visits, chosen, slack(sets.scores[sets.first[:-1]].sum()))
        self.climbs += 1
        arcs = int((sets.start[chosen + 1] - sets.start[chosen]).sum())
        if not self.limits.stopped:
            self.limits.over(score, arcs, self.climbs)
        return _Found(sets, order, chosen, score)

    @staticmethod
    def better(one: _Found, other: _Found) -> _Found:
        """The better one; of equals the other, so that the search wanders along plateaus."""
        return other if other.score >= one.score - slack(one.score) else one


def slack(score: float) -> float:
    """How far apart scores may be and still be the same."""
    return ROUNDING * (1 + abs(score))
