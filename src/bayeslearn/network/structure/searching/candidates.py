"""Which arcs are worth a look, as arcs[c, x], when all parent sets would be too many (Friedman, Nachman, Pe'er 1999).

likely      gain most by themselves
greedy      gain most beside the best ones before them, cycles or not
partners    gain beside one of the likely ones much more than alone, as the other parent of a child does
wanted      would gain in a graph that was found, as one more parent or in the place of another
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayeslearn.em import ROUNDING
from bayeslearn.network.structure.counting.cache import parents_of
from bayeslearn.network.structure.limits import FOREVER
from bayeslearn.network.structure.searching.climbing import closure, ranks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.network.structure.counting.cache import Parents, ScoreCache
    from bayeslearn.network.structure.knowledge import Allowed
    from bayeslearn.network.structure.limits import Limits

#: How many of those that gain are taken at a time.
FEW = 3


def likely(
    cache: ScoreCache,
    allowed: Allowed,
    most: int,
    *,
    among: NDArray[np.bool_] | None = None,
    first: NDArray[np.bool_] | None = None,
) -> NDArray[np.bool_]:
    """Of the arcs to each variable, `among` all that are allowed, the `most` that gain most; `first` before others."""
    can = (allowed.arcs if among is None else among) & ~allowed.required
    for x in np.flatnonzero(can.sum(axis=0) > most).tolist():
        gain = np.where(can[:, x], cache.additions(x, parents_of(allowed.required, x)), -np.inf)
        if first is not None:
            gain[first[:, x] & can[:, x]] = np.inf
        can[:, x] = False
        can[_best(cache, x, gain, most, any_gain=True), x] = True
    return can


def greedy(cache: ScoreCache, allowed: Allowed, limits: Limits = FOREVER) -> NDArray[np.bool_]:
    """The best further parents of each variable, one after the other as long as they gain, and the next best."""
    found = np.zeros((cache.n, cache.n), np.bool_)
    for x in range(cache.n):
        parents = parents_of(allowed.required, x)
        while len(parents) < allowed.most_parents and not limits.reached():
            gain = _gain(cache, allowed, x, parents)
            best = _best(cache, x, gain, FEW)
            if not len(best):
                break
            found[best, x] = True
            parents = tuple(sorted((*parents, int(best[0]))))
    return found


def partners(
    cache: ScoreCache, allowed: Allowed, can: NDArray[np.bool_], limits: Limits = FOREVER
) -> NDArray[np.bool_]:
    """For each arc c → x that `can` be there the variable that gains by c most, if it then gains at all."""
    found = np.zeros_like(can)
    for x in range(cache.n):
        required = parents_of(allowed.required, x)
        alone = _gain(cache, allowed, x, required)
        for c in np.flatnonzero(can[:, x]).tolist() if len(required) + 2 <= allowed.most_parents else []:
            if limits.reached():
                return found
            beside = _gain(cache, allowed, x, tuple(sorted((*required, c))))
            more = np.where((beside > _slack(cache, x)) & ~can[:, x], beside, -np.inf)
            more[np.isfinite(more)] -= alone[np.isfinite(more)]
            found[_best(cache, x, more, 1), x] = True
    return found


def wanted(
    cache: ScoreCache, allowed: Allowed, arcs: NDArray[np.bool_], can: NDArray[np.bool_], limits: Limits = FOREVER
) -> NDArray[np.bool_]:
    """Arcs beyond those that `can` be there that would better this graph, cycles apart."""
    found = np.zeros_like(arcs)
    reach = closure(arcs)
    for x in range(cache.n):
        parents = parents_of(arcs, x)
        now = cache.family(x, parents)
        loose = [p for p in parents if not allowed.required[p, x]]
        bases = [tuple(q for q in parents if q != p) for p in loose]
        if len(parents) < allowed.most_parents:
            bases.append(parents)
        for base in bases:
            if limits.reached():
                return found
            gain = _gain(cache, allowed, x, base) + cache.family(x, base) - now
            gain[can[:, x] | reach[x]] = -np.inf
            found[_best(cache, x, gain, FEW), x] = True
    return found


def _gain(cache: ScoreCache, allowed: Allowed, x: int, parents: Parents) -> NDArray[np.float64]:
    return np.where(allowed.arcs[:, x], cache.additions(x, parents) - cache.family(x, parents), -np.inf)


def _best(
    cache: ScoreCache, x: int, gain: NDArray[np.float64], most: int, *, any_gain: bool = False
) -> NDArray[np.int64]:
    """The `most` that gain most, and that gain at all; of equals the first by name."""
    slack = _slack(cache, x)
    places = np.lexsort((ranks(cache.counts.names), levels(gain, slack)))[:most]
    return places[gain[places] > (-np.inf if any_gain else slack)]


def _slack(cache: ScoreCache, x: int) -> float:
    return ROUNDING * (1 + abs(cache.family(x, ())))


def levels(values: NDArray[np.float64], slack: float) -> NDArray[np.int64]:
    """0 for the largest, 1 for the next and so on; values that differ by rounding only are on the same level."""
    order = np.argsort(-values, kind="stable")
    falls = -np.diff(np.clip(values[order], -1e300, 1e300), prepend=np.inf) > slack
    level = np.empty(len(values), np.int64)
    level[order] = np.cumsum(falls)
    return level
