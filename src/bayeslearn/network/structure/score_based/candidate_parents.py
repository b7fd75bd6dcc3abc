"""Which arcs are worth a look, as arcs[c, x], when all parent sets would be too many (Friedman, Nachman, Pe'er 1999).

likely      gain most alone
greedy      gain most next to the best ones before them, cycles or not
partners    gain next to one of the likely ones much more than alone, as the other parent of a child does
wanted      would gain in a graph that was found, as one more parent or in the place of another

Weak parents are those whose effect is beyond chance, though the full table of the family does not pay for them.

A score asks a further parent to pay for every combination with the others. Where there are many of these, a parent that
shifts its child a little in all of them is left out, and the more so the more parents there are. So the best parents
are found by the score, and then those are added, the surest first, whose effect alone has a p-value below

    level = expected false arcs / arcs that could be added

An effect of a column on another is the same in all slices that other columns make of the rows:

    full         the law of x given y differs from slice to slice as it likes          ln P = Σ N_zxy ln N_zxy / N_zy
    effect       ln m_zxy = a_zx + b_zy + c_xy                  y shifts x in every slice by as much, on a scale of odds
    none         m_zxy = N_zx N_zy / N_z                        y implies nothing about x in any slice

    statistic    2 Σ N_zxy ln m_zxy(effect) / m_zxy(none)       by a χ² law with (r_x − 1) (r_y − 1) degrees of freedom

A test of the full association has that many degrees of freedom in every slice: the effect of a weak parent is lost
among them. The fit of `effect` has the sums N_zx, N_zy and N_xy of the rows, and is found by scaling to each in turn.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import chdtrc, xlogy

from bayeslearn.em import ROUNDING
from bayeslearn.network.structure.score_based.hill_climbing import before, closure, ranks
from bayeslearn.network.structure.scoring.criteria import parents_of
from bayeslearn.network.structure.search_settings import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from bayeslearn.network.structure.scoring.criteria import Parents, ScoreCache
    from bayeslearn.network.structure.scoring.family_counts import Counts
    from bayeslearn.network.structure.search_settings import Allowed, Budget


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


def greedy(cache: ScoreCache, allowed: Allowed, budget: Budget = UNLIMITED) -> NDArray[np.bool_]:
    """The best further parents of each variable, one after the other as long as they gain, and the next best."""
    found = np.zeros((cache.n, cache.n), np.bool_)
    for x in range(cache.n):
        parents = parents_of(allowed.required, x)
        while len(parents) < allowed.max_parents and not budget.reached():
            gain = _gain(cache, allowed, x, parents)
            best = _best(cache, x, gain, FEW)
            if not len(best):
                break
            found[best, x] = True
            parents = tuple(sorted((*parents, int(best[0]))))
    return found


def partners(
    cache: ScoreCache, allowed: Allowed, can: NDArray[np.bool_], budget: Budget = UNLIMITED
) -> NDArray[np.bool_]:
    """For each arc c → x that `can` be there the variable that gains by c most, if it then gains at all."""
    found = np.zeros_like(can)
    for x in range(cache.n):
        required = parents_of(allowed.required, x)
        alone = _gain(cache, allowed, x, required)
        for c in np.flatnonzero(can[:, x]).tolist() if len(required) + 2 <= allowed.max_parents else []:
            if budget.reached():
                return found
            beside = _gain(cache, allowed, x, tuple(sorted((*required, c))))
            more = np.where((beside > _slack(cache, x)) & ~can[:, x], beside, -np.inf)
            more[np.isfinite(more)] -= alone[np.isfinite(more)]
            found[_best(cache, x, more, 1), x] = True
    return found


def wanted(
    cache: ScoreCache, allowed: Allowed, arcs: NDArray[np.bool_], can: NDArray[np.bool_], budget: Budget = UNLIMITED
) -> NDArray[np.bool_]:
    """Arcs beyond those that `can` be there that would better this graph, cycles apart."""
    found = np.zeros_like(arcs)
    reach = closure(arcs)
    for x in range(cache.n):
        parents = parents_of(arcs, x)
        now = cache.family(x, parents)
        loose = [p for p in parents if not allowed.required[p, x]]
        bases = [tuple(q for q in parents if q != p) for p in loose]
        if len(parents) < allowed.max_parents:
            bases.append(parents)
        for base in bases:
            if budget.reached():
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


#: Turns of scaling at most, and the share of the cases that sums may then still be off by.
TURNS, OFF = 500, 1e-7


class Effect(NamedTuple):
    """The answer of the test; a small p-value supports an effect."""

    statistic: float
    degrees: int
    p_value: float


NO_EFFECT = Effect(0.0, 0, 1.0)


def effect(n: NDArray[np.floating | np.integer], level: float = 1.0) -> Effect:
    """Test N(slice, x, y); where the full association would not reach the level, the effect is not considered."""
    n = telling(np.asarray(n, np.float64))
    if not len(n):
        return NO_EFFECT
    degrees = math.prod(int(np.count_nonzero(n.sum(axis=axes))) - 1 for axes in ((0, 2), (0, 1)))
    none = independent(n)
    if level < 1 and chdtrc(degrees, twice(n, n, none)) > level:
        return NO_EFFECT
    statistic = max(twice(n, scaled(n, none), none), 0.0)
    return Effect(statistic, degrees, float(chdtrc(degrees, statistic)))


def telling(n: NDArray[np.float64]) -> NDArray[np.float64]:
    """The slices in which both columns vary: others imply nothing about an effect."""
    of_x, of_y = (np.count_nonzero(n.sum(axis=axis), axis=1) for axis in (2, 1))
    return n[(of_x > 1) & (of_y > 1)]


def independent(n: NDArray[np.float64]) -> NDArray[np.float64]:
    """m(none)."""
    return n.sum(axis=2, keepdims=True) * n.sum(axis=1, keepdims=True) / n.sum(axis=(1, 2), keepdims=True)


def scaled(n: NDArray[np.float64], start: NDArray[np.float64]) -> NDArray[np.float64]:
    """m(effect)."""
    fitted, wanted = start.copy(), [n.sum(axis=axis, keepdims=True) for axis in (0, 2, 1)]
    for _ in range(TURNS):
        off = np.abs(fitted.sum(axis=0, keepdims=True) - wanted[0]).max()
        if off <= OFF * n.sum():
            break
        for axis, sums in zip((0, 2, 1), wanted, strict=True):
            now = fitted.sum(axis=axis, keepdims=True)
            fitted *= np.divide(sums, now, out=np.zeros_like(now), where=now > 0)
    return fitted


def twice(n: NDArray[np.float64], fitted: NDArray[np.float64], none: NDArray[np.float64]) -> float:
    """2 Σ n ln fitted / none."""
    return 2 * float((xlogy(n, fitted) - xlogy(n, none)).sum())


#: Arcs that are added by chance, on average over the whole graph.
FALSE = 1.0


def with_weak_parents(
    counts: Counts,
    arcs: NDArray[np.bool_],
    order: Sequence[int],
    allowed: Allowed,
    budget: Budget = UNLIMITED,
    *,
    false: float = FALSE,
) -> NDArray[np.bool_]:
    """A graph whose arcs point forward in the order, with the weak parents that its variables have."""
    arcs = arcs.copy()
    free = allowed.arcs & before(order) & ~arcs
    level, rank = false / max(int(free.sum()), 1), ranks(counts.names)
    counts.expect(blocks=[(*parents_of(arcs, x), x) for x in order if free[:, x].any()])
    for x in order:
        while not budget.reached() and arcs[:, x].sum() < allowed.max_parents:
            best = surest(counts, x, arcs[:, x], free[:, x] & ~arcs[:, x], rank, level)
            if best is None:
                break
            arcs[best, x] = True
    return arcs


def surest(
    counts: Counts,
    x: int,
    parents: NDArray[np.bool_],
    free: NDArray[np.bool_],
    rank: NDArray[np.int64],
    level: float,
) -> int | None:
    """The further parent whose effect is surest, of equals the first by rank; none where all could be chance."""
    found = counts.extended(x, tuple(np.flatnonzero(parents).tolist())) if free.any() else None
    if found is None:
        return None
    p = {
        v: effect(found.n[:, :, found.start[v] : found.start[v] + counts.sizes[v]], level).p_value
        for v in np.flatnonzero(free).tolist()
    }
    best = min(p, key=lambda v: (p[v], rank[v]))
    return best if p[best] <= level else None
