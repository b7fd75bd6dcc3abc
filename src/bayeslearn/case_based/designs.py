"""Designs, and the ways in which they use cases: quantities of a case stand for those of the function.

A case is used as a whole where each of its arcs is asked for. Otherwise its other arcs are extra, and may never be the
opposite of what is asked for. A design reports how the specification was rewritten, what each case covers, and what is
uncovered.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.case_based.function_graph import Case, many
from bayeslearn.case_based.retrieval import matches_of
from bayeslearn.case_based.subgraph_matching import BoundMet, covered_arcs, embeddings
from bayeslearn.printable import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from bayeslearn.case_based.case_base import CaseBase
    from bayeslearn.case_based.function_graph import Arc, FunctionGraph
    from bayeslearn.case_based.retrieval import Match, Watch
    from bayeslearn.case_based.rewrite_rules import Rewrite

### cases in use


#: Ways to place one case, and ways in all, that one function is covered with at most.
MOST_WAYS, MOST_USES = 400, 2000


@dataclass(frozen=True)
class CaseUse:
    """A case in a design."""

    case: Case
    #: Quantity of the case → quantity of the design.
    mapping: dict[str, str]
    #: Arcs of the design that the case does.
    covered: tuple[Arc, ...]
    #: Arcs of the case that nobody asked for.
    surplus: tuple[Arc, ...] = ()

    def __str__(self) -> str:
        return printable(f"{self.case.name}: {', '.join(f'{a}→{b}' for a, b in self.mapping.items())}")

    def tells(self, graph: FunctionGraph) -> dict[str, str]:
        """The kinds of quantities that the graph leaves open, and this use does not."""
        kinds = self.case.function.kinds
        return {b: kinds[a] for a, b in self.mapping.items() if a in kinds and b not in graph.kinds}

    @property
    def rank(self) -> tuple[Any, ...]:
        """Which of two uses is taken where both do the same."""
        return len(self.surplus), self.case.name, tuple(self.mapping.items())


def uses_of(
    base: CaseBase,
    graph: FunctionGraph,
    watch: Watch,
    inherited: Iterable[CaseUse] = (),
    new: Iterable[Arc] | None = None,
) -> tuple[list[CaseUse], bool]:
    """Ways to use cases whole, one for each set of arcs and kinds; and whether these are all.

    If only the `new` arcs of a graph are new, what is `inherited` from the graph before holds for all others.
    """
    index, arcs = base.index, set(graph.arcs)
    fit = index.bounds(graph) == index.sizes
    if new is not None:
        fit &= index.touching(graph, new)
    found: dict[Any, CaseUse] = {}
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
) -> Iterator[CaseUse]:
    """The matches that cover most, as uses; at most so many cases are looked at."""
    for match in matches_of(base, Case("what is asked for", graph), most, watch, looks):
        yield used(match)


def used(match: Match) -> CaseUse:
    """A match as a use."""
    return CaseUse(match.case, match.mapping, match.covered, match.surplus)


def _placed(case: Case, graph: FunctionGraph) -> Iterator[CaseUse]:
    for mapping in embeddings(case.function, graph):
        yield CaseUse(case, mapping, tuple(covered_arcs(case.function, graph, mapping)))


def _keep(found: dict[Any, CaseUse], use: CaseUse, graph: FunctionGraph) -> None:
    """One use for each set of arcs, and of kinds that it tells: the first by rank."""
    key = use.covered, tuple(sorted(use.tells(graph).items()))
    if key not in found or use.rank < found[key].rank:
        found[key] = use


### together


def agreeing(told: dict[str, str], more: dict[str, str]) -> bool:
    """Whether no quantity would be of two kinds."""
    return all(told.get(node, kind) == kind for node, kind in more.items())


def opposes(use: CaseUse, graph: FunctionGraph) -> bool:
    """Whether something that a use does besides is the opposite of what the graph asks for."""
    signs = {arc[:2]: arc.sign for arc in graph.arcs}
    images = ((use.mapping.get(a), use.mapping.get(b), sign) for a, b, sign in use.surplus)
    return any(signs.get((a, b)) == -sign for a, b, sign in images if a and b)


def joints(uses: Iterable[CaseUse]) -> dict[str, list[str]]:
    """Quantities that several uses share, and what they are called in each."""
    places: dict[str, list[str]] = {}
    for use in uses:
        for own, node in use.mapping.items():
            places.setdefault(node, []).append(f"{use.case.name} {own}")
    return {node: names for node, names in sorted(places.items()) if len(names) > 1}


### designs


@dataclass(frozen=True)
class Design:
    """Cases that together cover a specification, or a part of it."""

    specification: Case
    #: The function after all rewrites, to whose quantities the uses refer, with the kinds that they tell.
    function: FunctionGraph
    steps: tuple[Rewrite, ...]
    uses: tuple[CaseUse, ...]
    #: Influences of the specification that are not covered, and what is left of them after the rewrites.
    left_open: tuple[Arc, ...]
    rest: tuple[Arc, ...]
    #: Whether no other choice of cases is better for this function.
    certain: bool = True

    @property
    def coverage(self) -> float:
        """The part of the specification that is covered."""
        return 1 - len(self.left_open) / len(self.specification.function)

    @property
    def shared(self) -> dict[str, list[str]]:
        """Where cases meet: quantities that several of them have, and their names there."""
        return joints(self.uses)

    @property
    def surplus(self) -> int:
        """How many arcs of the cases nobody asked for."""
        return sum(len(use.surplus) for use in self.uses)

    @property
    def rank(self) -> tuple[int, ...]:
        """The least is the best."""
        return len(self.left_open), len(self.uses), len(self.steps), self.surplus

    @property
    def covered(self) -> dict[str, tuple[Arc, ...]]:
        """The arcs of the function that each case does, by its name."""
        found: dict[str, tuple[Arc, ...]] = {}
        for use in self.uses:
            found[use.case.name] = (*found.get(use.case.name, ()), *use.covered)
        return found

    @property
    def structure(self) -> dict[str, Any]:
        """The structures of all cases, how their quantities are called here, and where they meet."""
        return {
            "parts": [
                {"case": use.case.name, "mapping": dict(use.mapping), "structure": use.case.structure}
                for use in self.uses
            ],
            "joints": self.shared,
            "left_open": [str(arc) for arc in self.left_open],
        }

    def as_case(self, name: str | None = None) -> Case:
        """The specification with this structure: a case that can be added to a base."""
        asked = self.specification
        return Case(name or asked.name, asked.function, self.structure, asked.attributes)

    def explain(self) -> list[str]:
        """The design in sentences."""
        n = len(self.specification.function)
        by = f"{many(len(self.uses), 'case')} after {many(len(self.steps), 'rewrite')}"
        return [
            f"{n - len(self.left_open)} of {n} influences are covered by {by}",
            *(f"rewritten by {step}" for step in self.steps),
            *map(_told, self.uses),
            *(f"{node} joins {' and '.join(names)}" for node, names in self.shared.items()),
            *(f"left open: {arc}" for arc in self.left_open),
        ]

    def __str__(self) -> str:
        return printable("\n".join(self.explain()))


@dataclass(frozen=True)
class Designs:
    """Designs for a specification, the best first."""

    specification: Case
    designs: tuple[Design, ...]
    #: How many forms of the specification were looked at.
    states: int
    #: What ended the search before everything was tried; None if nothing did.
    why: str | None
    #: The cases nearest to what the best design leaves open.
    near: tuple[Match, ...] = ()

    @property
    def best(self) -> Design:
        """The first of them."""
        return self.designs[0]

    def __iter__(self) -> Iterator[Design]:
        return iter(self.designs)

    def __len__(self) -> int:
        return len(self.designs)

    def __getitem__(self, i: int) -> Design:
        return self.designs[i]


def _told(use: CaseUse) -> str:
    more = f", and does besides: {', '.join(map(str, use.surplus))}" if use.surplus else ""
    return f"{use} covers {', '.join(map(str, use.covered))}{more}"
