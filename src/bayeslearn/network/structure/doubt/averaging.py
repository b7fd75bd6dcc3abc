"""The averaged network: the arcs that most resamples agree on.

What is required is there. Pairs above the threshold are joined, the strongest first, each in its more probable
direction. An arc that knowledge forbids, that would close a cycle, or that would be one parent too many is dropped.
Pairs whose direction is open, as probable one way as the other, go the way that knowledge leaves; where it leaves both,
they come last, and are directed so that they add no v-structure where that is possible.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bayeslearn import validation
from bayeslearn.network.structure.knowledge import Knowledge
from bayeslearn.network.structure.searching.classes import member
from bayeslearn.network.structure.searching.climbing import closure, ranks

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from bayeslearn.network.structure.doubt.bootstrap import ArcStrength, ArcStrengths
    from bayeslearn.network.structure.knowledge import Allowed

    Way = tuple[int, int]


@dataclass(frozen=True, eq=False)
class Averaged:
    """The arcs, and those that were left out though strong, with the reason."""

    arcs: NDArray[np.bool_]
    dropped: Mapping[ArcStrength, str]


def averaged(
    strengths: ArcStrengths, threshold: float | None = None, *, sure: float = 0.5, allowed: Allowed | None = None
) -> Averaged:
    """The graph of the arcs stronger than a threshold, by default the one that the strengths themselves suggest.

    Directions of at most the probability `sure` are open.
    """
    least = strengths.threshold() if threshold is None else validation.number("threshold", threshold, least=0, most=1)
    sure = validation.number("sure", sure, least=0.5, most=1)
    place = {name: i for i, name in enumerate(strengths.names)}
    found = _Growing(Knowledge().of(strengths.names) if allowed is None else allowed)
    edges: dict[ArcStrength, Way] = {}
    for arc in strengths.table():
        a, b = place[arc.parent], place[arc.child]
        if arc.strength <= least or found.joined(a, b):
            continue
        ways = found.possible([(a, b), (b, a)]) if arc.direction <= sure else [(a, b)]
        if len(ways) > 1:
            edges[arc] = a, b
        else:
            found.join(arc, ways or [(a, b)])
    found.join_all(edges, ranks(strengths.names))
    return Averaged(found.arcs, found.dropped)


class _Growing:
    """A graph that keeps to what is known, and what it could not take."""

    def __init__(self, allowed: Allowed) -> None:
        self.allowed, self.arcs = allowed, allowed.required.copy()
        self.dropped: dict[ArcStrength, str] = {}

    def joined(self, a: int, b: int) -> bool:
        """Whether there is an arc between both."""
        return bool(self.arcs[a, b] or self.arcs[b, a])

    def possible(self, ways: Iterable[Way]) -> list[Way]:
        """Those that knowledge leaves."""
        return [way for way in ways if self.allowed.arcs[way]]

    def against(self, way: Way) -> str | None:
        """What speaks against an arc beside the others."""
        c, x = way
        if not self.allowed.arcs[way]:
            return "goes against what is known"
        if closure(self.arcs)[x, c]:
            return "would have closed a cycle"
        return "would have been one parent too many" if self.arcs[:, x].sum() >= self.allowed.most_parents else None

    def join(self, arc: ArcStrength, ways: Iterable[Way]) -> None:
        """An arc, in the first way that nothing speaks against."""
        reasons = {way: self.against(way) for way in ways}
        fine = [way for way, why in reasons.items() if why is None]
        if fine:
            self.arcs[fine[0]] = True
        else:
            self.dropped[arc] = str(next(iter(reasons.values())))

    def join_all(self, edges: Mapping[ArcStrength, Way], rank: NDArray[np.int64]) -> None:
        """Open directions with no further v-structure; when that cannot be, each in a way that can."""
        marks = self.arcs.copy()
        for a, b in edges.values():
            marks[a, b] = marks[b, a] = True
        whole = member(marks, rank)
        if whole is not None and (whole.sum(axis=0) <= self.allowed.most_parents).all():
            self.arcs = whole
            return
        for arc, (a, b) in edges.items():
            self.join(arc, [(a, b), (b, a)])
