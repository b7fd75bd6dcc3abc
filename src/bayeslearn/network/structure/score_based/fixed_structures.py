"""Structures found without searching over graphs: by an order of the variables, as a tree, or around a target.

K2          for each variable in turn, its best next parent among those before it, as long as the score rises
tree        the spanning tree of highest mutual information           I(x; y) = Σ P(x, y) ln P(x, y) / P(x) P(y)
TAN         the target above every variable, and a tree of highest I(x; y | target) among them
naive       the target above every variable
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayeslearn import kernels
from bayeslearn.network.structure.score_based.hill_climbing import TIE, before, ranks
from bayeslearn.network.structure.scoring.criteria import ScoreCache, StructureScore
from bayeslearn.network.structure.scoring.family_counts import MOST_CELLS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from bayeslearn.network.structure.scoring.family_counts import Counts
    from bayeslearn.network.structure.search_settings import Allowed


def k2(cache: ScoreCache, order: Sequence[int], allowed: Allowed) -> NDArray[np.bool_]:
    """Parents of each variable among those before it in the order, added one by one."""
    possible = allowed.arcs & before(order)
    arcs, rank = allowed.required.copy(), ranks(cache.counts.names)
    if len(cache.counts.parts) != 1:
        for x in order:
            arcs[:, x] = _chosen_by_sums(cache, x, possible[:, x], allowed, rank)
        return arcs
    rows, score = cache.counts.parts[0], cache.score
    data = rows.data
    bounds, price, known = (allowed.max_parents, float(MOST_CELLS), TIE), score.price(cache.counts.total), cache.terms
    hands = kernels.thread_count() if rows.worth else 1

    def choose(hand: int) -> None:
        children = np.array(order[hand::hands], np.int64)  # in turn: late ones have more to choose from
        kernels.greedy_parents(data, children, possible, rank, bounds, (score.kind, price), known, arcs)

    kernels.parallel(choose, range(hands))
    return arcs


def _chosen_by_sums(
    cache: ScoreCache, x: int, possible: NDArray[np.bool_], allowed: Allowed, rank: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """The best next parent as long as the score rises, where counts are not those of one table."""
    chosen = allowed.required[:, x].copy()
    while chosen.sum() < allowed.max_parents and (possible & ~chosen).any():
        parents = tuple(np.flatnonzero(chosen).tolist())
        scores = np.where(possible & ~chosen, cache.additions(x, parents), -np.inf)
        now = cache.family(x, parents)
        slack = TIE * (1 + abs(now))
        near = np.flatnonzero(scores >= scores.max() - slack)
        if scores.max() <= now + slack:
            break
        chosen[min(near, key=lambda v: rank[v])] = True
    return chosen


def naive(n: int, target: int) -> NDArray[np.bool_]:
    """The target above every variable."""
    arcs = np.zeros((n, n), np.bool_)
    arcs[target] = True
    arcs[target, target] = False
    return arcs


def tree(counts: Counts, root: int | None = None) -> NDArray[np.bool_]:
    """The tree of Chow and Liu, its arcs pointing away from the root, the first name when none is given."""
    rank = ranks(counts.names)
    return spanning_tree(information(counts, ()), int(np.argmin(rank)) if root is None else root, rank)


def tan(counts: Counts, target: int, root: int | None = None) -> NDArray[np.bool_]:
    """The naive structure with a tree among the variables, its arcs pointing away from the root, the first by name."""
    rank = ranks(counts.names)
    bits = information(counts, (target,))
    bits[target] = bits[:, target] = -np.inf
    others = [v for v in range(len(counts.names)) if v != target]
    arcs = naive(len(counts.names), target)
    if not others:
        return arcs
    return arcs | spanning_tree(bits, min(others, key=lambda v: rank[v]) if root is None else root, rank)


def information(counts: Counts, given: tuple[int, ...]) -> NDArray[np.float64]:
    """N · I(x; y | given) for every pair, the same in both directions."""
    cache = ScoreCache(counts, StructureScore("loglik"))
    n = cache.n
    found = np.full((n, n), -np.inf)
    if given:
        counts.expect(blocks=[(*given, x) for x in range(n) if x not in given])
    for x in range(n):
        if x not in given:
            found[x] = cache.additions(x, given) - cache.family(x, given)
    return np.where(np.isneginf(found), -np.inf, np.maximum((found + found.T) / 2, 0.0))


def spanning_tree(weight: NDArray[np.float64], root: int, rank: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Prim's: the heaviest edge from the tree to a variable outside, of equals the first by name."""
    n = len(weight)
    arcs, inside = np.zeros((n, n), np.bool_), np.zeros(n, np.bool_)
    inside[root] = True
    while True:
        edges = np.where(inside[:, None] & ~inside[None, :], weight, -np.inf)
        top = edges.max()
        if top == -np.inf:
            return arcs
        near = np.argwhere(edges >= top - TIE * (1 + abs(top)))
        c, x = min(near.tolist(), key=lambda edge: (rank[edge[1]], rank[edge[0]]))
        arcs[c, x] = inside[x] = True
