"""How a case can be used in a design: its quantities stand for those of the function, and some arcs are covered.

A case is used whole where each of its arcs is asked for. Else what it does besides is told as surplus, and may never
be the opposite of what is asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.cases.case import Case
from bayeslearn.cases.common import covered_arcs
from bayeslearn.cases.finding import matches_of
from bayeslearn.cases.matching import BoundMet, embeddings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from bayeslearn.cases.base import CaseBase
    from bayeslearn.cases.finding import Match
    from bayeslearn.cases.graph import Arc, FunctionGraph
    from bayeslearn.cases.watching import Watch

#: Ways to place one case, and ways in all, that one function is covered with at most.
MOST_WAYS, MOST_USES = 400, 2000


@dataclass(frozen=True)
class Use:
    """A case in a design."""

    case: Case
    #: Quantity of the case → quantity of the design.
    mapping: dict[str, str]
    #: Arcs of the design that the case does.
    covered: tuple[Arc, ...]
    #: Arcs of the case that nobody asked for.
    surplus: tuple[Arc, ...] = ()

    def __str__(self) -> str:
        return f"{self.case.name}: {', '.join(f'{a}→{b}' for a, b in self.mapping.items())}"

    def tells(self, graph: FunctionGraph) -> dict[str, str]:
        """The kinds of quantities that the graph leaves open, and this use does not."""
        kinds = self.case.function.kinds
        return {b: kinds[a] for a, b in self.mapping.items() if a in kinds and b not in graph.kinds}

    @property
    def rank(self) -> tuple[Any, ...]:
        """Which of two uses is taken where both do the same."""
        return len(self.surplus), self.case.name, tuple(self.mapping.items())


def uses_of(
    base: CaseBase, graph: FunctionGraph, watch: Watch, inherited: Iterable[Use] = (), new: Iterable[Arc] | None = None
) -> tuple[list[Use], bool]:
    """Ways to use cases whole, one for each set of arcs and kinds; and whether these are all.

    If only the `new` arcs of a graph are new, what is `inherited` from the graph before holds for all others.
    """
    index, arcs = base.index, set(graph.arcs)
    fit = index.bounds(graph) == index.sizes
    if new is not None:
        fit &= index.touching(graph, new)
    found: dict[Any, Use] = {}
    for use in inherited:
        if arcs.issuperset(use.covered) and not opposes(use, graph):
            _keep(found, use, graph)
    complete = True
    for row in np.flatnonzero(fit).tolist():
        ways = _placed(base.cases[row], graph)
        try:
            for use in islice(ways, MOST_WAYS):
                _keep(found, use, graph)
            complete &= next(ways, None) is None
        except BoundMet:
            complete = False
        if len(found) >= MOST_USES or watch.over():
            complete = False
            break
    return sorted(found.values(), key=lambda use: (-len(use.covered), use.rank)), complete


def partial_uses(
    base: CaseBase, graph: FunctionGraph, most: int, watch: Watch, looks: int | None = None
) -> Iterator[Use]:
    """The matches that cover most, as uses; at most so many cases are looked at."""
    for match in matches_of(base, Case("what is asked for", graph), most, watch, looks):
        yield used(match)


def used(match: Match) -> Use:
    """A match as a use."""
    return Use(match.case, match.mapping, match.covered, match.surplus)


def _placed(case: Case, graph: FunctionGraph) -> Iterator[Use]:
    for mapping in embeddings(case.function, graph):
        yield Use(case, mapping, tuple(covered_arcs(case.function, graph, mapping)))


def _keep(found: dict[Any, Use], use: Use, graph: FunctionGraph) -> None:
    """One use for each set of arcs, and of kinds that it tells: the first by rank."""
    key = use.covered, tuple(sorted(use.tells(graph).items()))
    if key not in found or use.rank < found[key].rank:
        found[key] = use


### together


def agreeing(told: dict[str, str], more: dict[str, str]) -> bool:
    """Whether no quantity would be of two kinds."""
    return all(told.get(node, kind) == kind for node, kind in more.items())


def opposes(use: Use, graph: FunctionGraph) -> bool:
    """Whether something that a use does besides is the opposite of what the graph asks for."""
    signs = {arc[:2]: arc.sign for arc in graph.arcs}
    images = ((use.mapping.get(a), use.mapping.get(b), sign) for a, b, sign in use.surplus)
    return any(signs.get((a, b)) == -sign for a, b, sign in images if a and b)


def joints(uses: Iterable[Use]) -> dict[str, list[str]]:
    """Quantities that several uses share, and what they are called in each."""
    places: dict[str, list[str]] = {}
    for use in uses:
        for own, node in use.mapping.items():
            places.setdefault(node, []).append(f"{use.case.name} {own}")
    return {node: names for node, names in sorted(places.items()) if len(names) > 1}
