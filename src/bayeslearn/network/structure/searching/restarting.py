"""Iterated local search: search, change some arcs at random, search on from there, and keep the best.

A climb often ends where arcs would have to turn together, each of which loses by itself. So every round begins with
another graph of the same class, which scores the same and has other neighbours, and changes a few arcs of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayeslearn.network.structure.limits import FOREVER
from bayeslearn.network.structure.searching.classes import class_of, member_that_keeps
from bayeslearn.network.structure.searching.climbing import TIE, Structure

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from bayeslearn.network.structure.limits import Limits

    Search = Callable[[Structure, Limits], NDArray[np.bool_]]

#: The most arcs that are changed at random.
SHAKEN = 4


def restarted(
    search: Search, structure: Structure, limits: Limits = FOREVER, *, restarts: int, rng: np.random.Generator
) -> NDArray[np.bool_]:
    """The best graph of a search and so many more."""
    cache = structure.cache
    best = search(structure, limits)
    if not restarts:
        return best
    best_score = cache.graph(best)
    for _ in range(restarts):
        if limits.stopped:
            break
        other = Structure(cache, structure.allowed, another_member(structure, best, rng))
        shake(other, rng)
        found = search(other, limits)
        score = cache.graph(found)
        if score > best_score + TIE * (1 + abs(best_score)):
            best, best_score = found, score
    return best


def another_member(structure: Structure, arcs: NDArray[np.bool_], rng: np.random.Generator) -> NDArray[np.bool_]:
    """A graph of the same class that keeps to what is known; luck follows names, not positions."""
    rank = rng.permutation(structure.n)[structure.rank]
    found = member_that_keeps(class_of(arcs), structure.allowed, rank)
    return arcs if found is None else found


def shake(structure: Structure, rng: np.random.Generator) -> None:
    """A few changes at random."""
    for _ in range(rng.integers(SHAKEN + 1)):
        changes = np.argwhere(structure.gains() > -np.inf)
        if not len(changes):
            return
        order = np.lexsort((structure.rank[changes[:, 2]], structure.rank[changes[:, 1]], changes[:, 0]))
        structure.change(*changes[order[rng.integers(len(changes))]].tolist())
