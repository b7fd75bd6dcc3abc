"""Searching over orders of the variables instead of graphs (Teyssier and Koller 2005).

    score(order) = Σ_x max over S before x of score(x, S)        the best graph of an order, for each x separately

An order has one neighbor for each variable and each place to put it. Passing one other variable changes what two
variables may have as parents and no more, so all places of a variable are tried in one walk along the order. A search
ends where no variable gains by another place; from there some are moved at random and the search continues, and the
better of both orders is kept. The search begins where hill climbing over graphs ends, so it is never worse.

Only likely parents are considered, see :mod:`.candidate_parents`: round by round those are added that would still gain
in the graph that the search has found, until there are none.

The best network of all is found by dynamic programming over sets of variables (Silander and Myllymäki 2006):

    best(W) = max over x in W of  best(W − x) + max over S within W − x of score(x, S)

Some variable of W is the last one, a sink whose parents are all in the rest, and the rest is optimal alone. The sinks
from the whole set down to nothing are an order, backwards, and its best parent sets are the network.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from bayeslearn import kernels, validation
from bayeslearn.em import ROUNDING
from bayeslearn.errors import CapacityError, ParameterError
from bayeslearn.network.structure.score_based.candidate_parents import greedy, likely, partners, wanted
from bayeslearn.network.structure.score_based.fixed_structures import k2
from bayeslearn.network.structure.score_based.hill_climbing import Structure, before, climb
from bayeslearn.network.structure.score_based.parent_sets import MOST_CANDIDATES, parent_sets
from bayeslearn.network.structure.scoring.criteria import parents_of
from bayeslearn.network.structure.search_settings import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from bayeslearn.network.structure.score_based.parent_sets import Known, ParentSets, Sets
    from bayeslearn.network.structure.scoring.criteria import ScoreCache
    from bayeslearn.network.structure.search_settings import Allowed, Budget


#: Bytes for each set of variables: the best score, and its sink.
BYTES = 9

#: Sets of variables between two looks at the clock.
PART = 1 << 16


def exact(cache: ScoreCache, allowed: Allowed, budget: Budget = UNLIMITED) -> NDArray[np.bool_]:
    """The graph of the highest score that knowledge allows.

    Sets of variables double with each further one: 20 take 9 MB and 25 take 300 MB. When time runs out, the first
    variables by name are in their best order and the others follow.
    """
    need = BYTES * 2.0**cache.n
    if need > budget.memory:
        raise CapacityError(
            f"the best of all networks over {cache.n} variables needs {need / 2**20:,.0f} MiB, "
            f"more than {budget.memory / 2**20:,.0f} MiB",
            hint="search over orders instead, leave columns out, or raise `memory_limit`",
            bytes=need,
        )
    standing = cache.graph(allowed.required), int(allowed.required.sum())
    sets = parent_sets(cache, allowed, budget, standing=standing)
    order = best_order(sets, budget, standing)
    place, chosen = np.argsort(order), np.empty(cache.n, np.int64)
    kernels.choose(sets.arrays, place, chosen)
    return sets.arcs(chosen)


def best_order(
    sets: ParentSets, budget: Budget = UNLIMITED, standing: tuple[float, int] = (0.0, 0)
) -> NDArray[np.int64]:
    """The order of the best network, by number of name; `progress` reports the best score so far."""
    n = sets.n
    best, sink = np.full(1 << n, -np.inf), np.full(1 << n, -1, np.int8)
    best[0] = 0.0
    slack = ROUNDING * (1 + abs(float(sets.scores[sets.first[:-1]].sum())))
    done = 1
    while done < 1 << n and not budget.over(*standing, done):
        end = min(done + PART, 1 << n)
        kernels.best_sinks(sets.first, sets.masks, sets.scores, done, end, slack, best, sink)
        done = end
    whole = done.bit_length() - 1  # every set of this many first variables has been seen
    while best[(1 << whole) - 1] == -np.inf:
        whole -= 1
    order, left = [], (1 << whole) - 1
    while left:
        order.append(int(sink[left]))
        left ^= 1 << order[-1]
    return sets.possible([*reversed(order), *range(whole, n)])


#: Parent sets of no more than this are all considered.
FULL = 4

#: How many variables are thrown elsewhere, at least and below.
THROWN = (2, 9)


def best_parents(
    cache: ScoreCache,
    order: Sequence[int],
    allowed: Allowed,
    budget: Budget = UNLIMITED,
    *,
    full: int | None = None,
    work: float = math.inf,
) -> tuple[NDArray[np.bool_], int | None]:
    """The best graph whose arcs all point forward in the order, and the number of parents that ended the full search.

    From that number on not all sets were considered, see :func:`parent_sets`; None: all were. Where all take too long,
    `full` considers larger ones only if all that are one smaller are worth having. Parents that are chosen one by one
    are what a set has to beat, and what is left where there is no time.
    """
    fits = replace(allowed, arcs=allowed.arcs & _before(cache, order, allowed))
    candidates, floor, first = fits.arcs, None, None
    if cache.certain or (candidates.sum(axis=0) > MOST_CANDIDATES).any():
        first = k2(cache, order, allowed)
        candidates = likely(cache, fits, MOST_CANDIDATES, first=first)
        floor = np.array([cache.family(x, parents_of(first, x)) for x in range(cache.n)])
    sets = parent_sets(
        cache, fits, budget, candidates=candidates, full=full, floor=floor if cache.certain else None, work=work
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
    budget: Budget = UNLIMITED,
    *,
    random_state: np.random.Generator | int | None = 0,
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
        Random initial orders, besides one of the graph that hill climbing finds.
    throws
        The number of unsuccessful random restarts before the search ends.
    """
    validation.integer("candidates", candidates, min_value=1, max_value=MOST_CANDIDATES)
    validation.integer("starts", starts, min_value=0)
    validation.integer("throws", throws, min_value=0)
    search = _Search(cache, allowed, budget, validation.generator(random_state))
    hill = Structure(cache, allowed, allowed.required)
    climb(hill, budget)
    if budget.stopped:
        return hill.arcs
    can = likely(cache, allowed, candidates)
    can |= greedy(cache, allowed, budget) | partners(cache, allowed, can, budget)
    can |= (hill.arcs | hill.arcs.T) & allowed.arcs
    best = search.started(can, hill, starts)
    while not budget.stopped:
        best = search.thrown(best, throws)
        more = wanted(cache, allowed, best.arcs, can, budget)
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
    """Hill climbing over orders until it is stopped."""

    def __init__(self, cache: ScoreCache, allowed: Allowed, budget: Budget, random_state: np.random.Generator) -> None:
        self.cache, self.allowed, self.budget, self.rng = cache, allowed, budget, random_state
        self.climbs = 0
        self.known: dict[Known, Sets] = {}
        self.n = cache.n

    def sets(self, can: NDArray[np.bool_], best: Structure | _Found) -> ParentSets:
        """The parent sets among these arcs, while this graph is the best so far."""
        standing = best.score, int(best.arcs.sum())
        return parent_sets(
            self.cache, self.allowed, self.budget, candidates=can, full=FULL, known=self.known, standing=standing
        )

    def started(self, can: NDArray[np.bool_], hill: Structure, starts: int) -> _Found:
        """The best result from an order of a graph, ancestors first, and from some random orders."""
        sets = self.sets(can, hill)
        best = self.climbed(sets, np.argsort(hill.reach.sum(axis=0)[sets.by_name], kind="stable"))
        for _ in range(starts):
            if self.budget.stopped:
                break
            best = self.better(best, self.climbed(sets, self.rng.permutation(self.n)))
        return best

    def thrown(self, best: _Found, throws: int) -> _Found:
        """Continue from the best order with some variables moved at random, until that has not helped for long."""
        since = 0
        while since < throws and not self.budget.stopped:
            order = best.order.tolist()
            for _ in range(self.rng.integers(*THROWN)):
                order.insert(self.rng.integers(self.n), order.pop(self.rng.integers(self.n)))
            found = self.better(best, self.climbed(best.sets, order))
            since = since + 1 if found.score <= best.score + slack(best.score) else 0
            best = found
        return best

    def climbed(self, sets: ParentSets, order: Iterable[int]) -> _Found:
        """The local optimum from this order."""
        order, chosen = sets.possible(order), np.empty(self.n, np.int64)
        visits = self.rng.permutation(self.n)
        score = kernels.climb_orders(sets.arrays, order, visits, chosen, slack(sets.scores[sets.first[:-1]].sum()))
        self.climbs += 1
        arcs = int((sets.start[chosen + 1] - sets.start[chosen]).sum())
        if not self.budget.stopped:
            self.budget.over(score, arcs, self.climbs)
        return _Found(sets, order, chosen, score)

    @staticmethod
    def better(one: _Found, other: _Found) -> _Found:
        """The better one; of equals the other, so that the search wanders along plateaus."""
        return other if other.score >= one.score - slack(one.score) else one


def slack(score: float) -> float:
    """How far apart scores may be and still be the same."""
    return ROUNDING * (1 + abs(score))
