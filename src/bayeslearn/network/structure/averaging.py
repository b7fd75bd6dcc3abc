"""The averaged network: the arcs that most resamples agree on.

Pairs above the threshold are joined, the strongest first, each in its more probable direction. An arc that would close
a cycle is dropped. Pairs whose direction is open, as probable one way as the other, come last, and are directed so that
they add no v-structure where that is possible.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayeslearn import validation
from bayeslearn.network.structure.classes import member
from bayeslearn.network.structure.climbing import closure, ranks

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from bayeslearn.network.structure.bootstrap import ArcStrength, ArcStrengths


@dataclass(frozen=True, eq=False)
class Averaged:
    """The arcs, and those left out, for they would have closed a cycle."""

    arcs: NDArray[np.bool_]
    dropped: tuple[ArcStrength, ...]


def averaged(strengths: ArcStrengths, threshold: float | None = None, *, sure: float = 0.5) -> Averaged:
    """The graph of the arcs stronger than a threshold, by default the one that the strengths themselves suggest.

    Directions of at most the probability `sure` are open.
    """
    least = strengths.threshold() if threshold is None else validation.number("threshold", threshold, least=0, most=1)
    sure = validation.number("sure", sure, least=0.5, most=1)
    place = {name: i for i, name in enumerate(strengths.names)}
    strong = [arc for arc in strengths.table() if arc.strength > least]
    directed = [arc for arc in strong if arc.direction > sure]
    arcs, dropped = _without_cycles([(place[arc.parent], place[arc.child]) for arc in directed], len(place))
    open_ = [(place[arc.parent], place[arc.child]) for arc in strong if arc.direction <= sure]
    return Averaged(_directed(arcs, open_, ranks(strengths.names)), tuple(directed[i] for i in dropped))


def _without_cycles(wanted: Iterable[tuple[int, int]], n: int) -> tuple[NDArray[np.bool_], list[int]]:
    """The arcs one by one, and which of them close a cycle with those before."""
    arcs, dropped = np.zeros((n, n), np.bool_), []
    for i, (c, x) in enumerate(wanted):
        if closure(arcs)[x, c]:
            dropped.append(i)
        else:
            arcs[c, x] = True
    return arcs, dropped


def _directed(arcs: NDArray[np.bool_], edges: Iterable[tuple[int, int]], rank: NDArray[np.int64]) -> NDArray[np.bool_]:
    """The arcs and edges, by a graph with no further v-structure; when there is none, each where it closes no cycle."""
    marks = arcs.copy()
    for a, b in edges:
        marks[a, b] = marks[b, a] = True
    found = member(marks, rank)
    if found is not None:
        return found
    found = arcs.copy()
    for a, b in edges:
        found[(b, a) if closure(found)[b, a] else (a, b)] = True
    return found
