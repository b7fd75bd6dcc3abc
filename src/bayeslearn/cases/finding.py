"""Cases that do what a specification asks for, the best first.

    exact     the case does exactly this
    whole     the case does all of this, and more
    part      the case does a part of this, and nothing else
    common    a part of the case does a part of this
    similar   nothing is shared; the most alike by :mod:`bayeslearn.cases.index` are shown, so that there is an answer

Ranked by the arcs covered, then by the fewest arcs the case has besides, then by likeness, then by name.

    score = covered / (covered + left open + surplus)           1 for an exact match

Cases are looked at in the order of what they could cover at best, so most are never looked at.
"""

from __future__ import annotations

from bisect import insort
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import validation
from bayeslearn.cases.case import Case, specification
from bayeslearn.cases.common import Common, common_part, covered_arcs
from bayeslearn.cases.matching import BoundMet, embedding
from bayeslearn.cases.watching import SearchStep, Watch
from bayeslearn.errors import EmptyTableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bayeslearn.cases.base import CaseBase
    from bayeslearn.cases.graph import Arc, FunctionGraph

    #: How a match ranks, the least first: arcs not covered, surplus, unlikeness, number of the case.
    Rank = tuple[int, int, float, int]


@dataclass(frozen=True)
class Match:
    """A case beside a specification."""

    case: Case
    kind: str
    #: Quantity of the case → quantity of the specification.
    mapping: dict[str, str]
    #: Arcs of the specification that the case does, and those that it does not.
    covered: tuple[Arc, ...]
    left_open: tuple[Arc, ...]
    #: Arcs of the case that nobody asked for.
    surplus: tuple[Arc, ...]
    #: How alike both are as bags of features, in [0, 1].
    likeness: float
    #: Whether no mapping of this case covers more.
    certain: bool = True

    @property
    def score(self) -> float:
        """The arcs in common by the arcs in either."""
        return len(self.covered) / (len(self.covered) + len(self.left_open) + len(self.surplus))

    @property
    def coverage(self) -> float:
        """The part of the specification that is covered."""
        return len(self.covered) / (len(self.covered) + len(self.left_open))

    def __str__(self) -> str:
        pairs = ", ".join(f"{a}→{b}" for a, b in self.mapping.items())
        return f"{self.case.name}: {self.kind}, score {self.score:.3g}" + (f", {pairs}" if pairs else "")


@dataclass(frozen=True)
class Found:
    """The matches of a specification, the best first; if the search ended early, `why` says why."""

    specification: Case
    matches: tuple[Match, ...]
    why: str | None = None

    @property
    def best(self) -> Match:
        """The first of them."""
        return self.matches[0]

    @property
    def complete(self) -> bool:
        """Whether nothing better was left out: the search ended by itself, and every match is certain."""
        return self.why is None and all(match.certain for match in self.matches)

    def __iter__(self) -> Iterator[Match]:
        return iter(self.matches)

    def __len__(self) -> int:
        return len(self.matches)

    def __getitem__(self, i: int) -> Match:
        return self.matches[i]


def find(
    base: CaseBase,
    spec: Any,
    *,
    most: int = 10,
    time_limit: float | None = None,
    progress: Callable[[SearchStep], object] | None = None,
) -> Found:
    """The best cases for a specification.

    Parameters
    ----------
    base
        The cases; those without a structure answer nothing.
    spec
        A case, a function graph, or statements such as ``"Qc, Qh ->+ Qm"``.
    most
        How many matches to return at most.
    time_limit
        Seconds; the best so far are returned when they are over.
    progress
        Called with every :class:`~bayeslearn.cases.watching.SearchStep`; raising StopIteration ends the search with the
        best so far.
    """
    validation.integer("most", most, least=1)
    asked = specification(spec)
    if not base.cases:
        raise EmptyTableError("the case base holds no case with a structure", hint="add cases to it")
    watch = Watch(time_limit, progress)
    matches = matches_of(base, asked, most, watch)
    return Found(asked, tuple(matches) or similar(base, asked, most), watch.why)


def matches_of(base: CaseBase, asked: Case, most: int, watch: Watch, looks: int | None = None) -> list[Match]:
    """The best matches that cover anything, in their order; at most so many cases are looked at, the likeliest."""
    index = base.index
    bounds, likeness = index.bounds(asked.function), index.likeness(asked)
    n, rows = len(asked.function), np.flatnonzero(bounds)
    rows = rows[np.lexsort((rows, -likeness[rows], index.sizes[rows] - bounds[rows], -bounds[rows]))]
    kept: list[tuple[Rank, Match]] = []  # the best so far, in their order
    for i, row in enumerate(rows[:looks].tolist()):
        size, unlike, bound = int(index.sizes[row]), -float(likeness[row]), int(bounds[row])
        needed = 1
        if len(kept) == most:
            last = kept[-1][0]
            needed = n - last[0] + ((last[0], size - n + last[0], unlike, row) > last)
        if needed > bound or watch.stops(SearchStep(i, len(rows), n - kept[0][0][0] if kept else 0)):
            break
        match = compared(base.cases[row], asked, needed, bound, -unlike)
        if match.covered:
            insort(kept, ((len(match.left_open), len(match.surplus), unlike, row), match), key=itemgetter(0))
            del kept[most:]
    return [match for _, match in kept]


def similar(base: CaseBase, asked: Case, most: int) -> tuple[Match, ...]:
    """The cases most alike, whatever they cover."""
    likeness = base.index.likeness(asked)
    best = np.argsort(-likeness, kind="stable")[:most]
    return tuple(_match(base.cases[row], asked, Common({}, 0, certain=True), float(likeness[row])) for row in best)


### one case


def compared(case: Case, asked: Case, needed: int, bound: int, likeness: float) -> Match:
    """The best match of one case, if it covers as much as needed: as a whole, or the largest common part."""
    function, whole = case.function, asked.function
    certain = True
    if bound == min(len(function), len(whole)):
        try:
            mapping = embedded(function, whole)
        except BoundMet:
            mapping, certain = None, False
        if mapping is not None:
            return _match(case, asked, Common(mapping, bound, certain=True), likeness)
        bound -= certain
    return _match(case, asked, common_part(function, whole, least=needed, most=bound), likeness)


def embedded(function: FunctionGraph, whole: FunctionGraph) -> dict[str, str] | None:
    """Either graph as a part of the other, as quantity of the first → quantity of the second."""
    if len(function) <= len(whole):
        return embedding(function, whole)
    back = embedding(whole, function)
    return None if back is None else dict(sorted((a, b) for b, a in back.items()))


def _match(case: Case, asked: Case, common: Common, likeness: float) -> Match:
    covered = covered_arcs(case.function, asked.function, common.mapping)
    done = set(covered)
    surplus = [arc for arc in case.function.arcs if _image(arc, common.mapping) not in done]
    kinds = {(0, 0): "exact", (0, 1): "whole", (1, 0): "part", (1, 1): "common"}
    left = tuple(arc for arc in asked.function.arcs if arc not in done)
    kind = kinds[bool(left), bool(surplus)] if covered else "similar"
    return Match(case, kind, common.mapping, tuple(covered), left, tuple(surplus), likeness, common.certain)


def _image(arc: Arc, mapping: dict[str, str]) -> tuple[str | None, str | None, int]:
    return mapping.get(arc.source), mapping.get(arc.target), arc.sign
