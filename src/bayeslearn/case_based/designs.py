"""Designs and their uses of cases.

A case is used as a whole if each of its arcs is in the specification. Otherwise its other arcs are extra, and none may
be the opposite of an arc of the specification. A design reports its rewrites, the arcs that each case covers, and the
uncovered ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import lazy_imports
from bayeslearn.case_based.function_graph import Case, arcs_text, many, mapping_text
from bayeslearn.case_based.retrieval import matches_of
from bayeslearn.case_based.subgraph_matching import BoundMet, covered_arcs, embeddings
from bayeslearn.printable import printable
from bayeslearn.reports import Grid, Report, Reported, Words
from bayeslearn.tables.frames import frame_of_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from bayeslearn.case_based.case_base import CaseBase
    from bayeslearn.case_based.function_graph import Arc, FunctionGraph
    from bayeslearn.case_based.retrieval import Match, Watch
    from bayeslearn.case_based.rewrite_rules import Rewrite
    from bayeslearn.tables.frames import Backend

plots: Any = lazy_imports.Deferred("bayeslearn.plots")

### uses of cases


#: The most mappings of one case, and of all cases, that are tried to cover one function.
MAX_WAYS, MAX_USES = 400, 2000


@dataclass(frozen=True)
class CaseUse:
    """The use of a case in a design: its mapping, and the arcs that it covers."""

    case: Case
    #: Quantity of the case → quantity of the design.
    mapping: dict[str, str]
    #: Arcs of the design that the case covers.
    covered: tuple[Arc, ...]
    #: Arcs of the case that are not in the design.
    extra: tuple[Arc, ...] = ()

    def __str__(self) -> str:
        return printable(f"{self.case.name}: {mapping_text(self.mapping)}")

    def added_kinds(self, graph: FunctionGraph) -> dict[str, str]:
        """Return the kinds of quantities that the graph does not have and this use adds."""
        kinds = self.case.function.kinds
        return {b: kinds[a] for a, b in self.mapping.items() if a in kinds and b not in graph.kinds}

    @property
    def rank(self) -> tuple[Any, ...]:
        """The order among uses that cover the same; the smallest is the best."""
        return len(self.extra), self.case.name, tuple(self.mapping.items())

    def to_dict(self) -> dict[str, Any]:
        """Return case, mapping and arcs as plain values."""
        arcs = {"covered": [str(arc) for arc in self.covered], "extra": [str(arc) for arc in self.extra]}
        return {"case": self.case.name, "mapping": dict(self.mapping), **arcs}


def uses_of(
    base: CaseBase,
    graph: FunctionGraph,
    watch: Watch,
    inherited: Iterable[CaseUse] = (),
    new: Iterable[Arc] | None = None,
) -> tuple[list[CaseUse], bool]:
    """Uses of whole cases, one for each set of arcs and kinds; and whether these are all.

    If only the `new` arcs of a graph are new, the uses `inherited` from the previous graph hold for all others.
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
            for use in islice(ways, MAX_WAYS):
                _keep(found, use, graph)
            complete &= next(ways, None) is None
        except BoundMet:
            complete = False
        if len(found) >= MAX_USES or watch.over():
            complete = False
            break
    return sorted(found.values(), key=lambda use: (-len(use.covered), use.rank)), complete


def partial_uses(
    base: CaseBase, graph: FunctionGraph, max_results: int, watch: Watch, looks: int | None = None
) -> Iterator[CaseUse]:
    """The matches that cover most, as uses; of at most `looks` cases."""
    for match in matches_of(base, Case("specification", graph), max_results, watch, looks):
        yield used(match)


def used(match: Match) -> CaseUse:
    """A match as a use."""
    return CaseUse(match.case, match.mapping, match.covered, match.extra)


def _placed(case: Case, graph: FunctionGraph) -> Iterator[CaseUse]:
    for mapping in embeddings(case.function, graph):
        yield CaseUse(case, mapping, tuple(covered_arcs(case.function, graph, mapping)))


def _keep(found: dict[Any, CaseUse], use: CaseUse, graph: FunctionGraph) -> None:
    """One use for each set of arcs and of kinds that it adds: the first by rank."""
    key = use.covered, tuple(sorted(use.added_kinds(graph).items()))
    if key not in found or use.rank < found[key].rank:
        found[key] = use


### several uses


def agreeing(known: dict[str, str], more: dict[str, str]) -> bool:
    """Whether no quantity has two kinds."""
    return all(known.get(node, kind) == kind for node, kind in more.items())


def opposes(use: CaseUse, graph: FunctionGraph) -> bool:
    """Whether an extra arc of a use is the opposite of an arc of the graph."""
    signs = {arc[:2]: arc.sign for arc in graph.arcs}
    images = ((use.mapping.get(a), use.mapping.get(b), sign) for a, b, sign in use.extra)
    return any(signs.get((a, b)) == -sign for a, b, sign in images if a and b)


def joints(uses: Iterable[CaseUse]) -> dict[str, list[str]]:
    """Quantities that several uses share, with their names in each."""
    places: dict[str, list[str]] = {}
    for use in uses:
        for own, node in use.mapping.items():
            places.setdefault(node, []).append(f"{use.case.name} {own}")
    return {node: names for node, names in sorted(places.items()) if len(names) > 1}


### designs


@dataclass(frozen=True, repr=False)
class Design(Reported):
    """Cases that together cover a specification, or a part of it."""

    specification: Case
    #: The function after all rewrites, to whose quantities the uses refer, with the kinds that they add.
    function: FunctionGraph
    steps: tuple[Rewrite, ...]
    uses: tuple[CaseUse, ...]
    #: Influences of the specification that are not covered, and their arcs after the rewrites.
    uncovered: tuple[Arc, ...]
    rest: tuple[Arc, ...]
    #: Whether no other choice of cases is better for this function.
    is_optimal: bool = True

    @property
    def coverage(self) -> float:
        """The share of the specification that is covered."""
        return 1 - len(self.uncovered) / len(self.specification.function)

    @property
    def shared(self) -> dict[str, list[str]]:
        """Quantities that several cases share, with their names in each."""
        return joints(self.uses)

    @property
    def n_extra(self) -> int:
        """The number of extra arcs of the cases."""
        return sum(len(use.extra) for use in self.uses)

    @property
    def rank(self) -> tuple[int, ...]:
        """The order among designs; the smallest is the best."""
        return len(self.uncovered), len(self.uses), len(self.steps), self.n_extra

    @property
    def covered(self) -> dict[str, tuple[Arc, ...]]:
        """The arcs of the function that each case covers, by its name."""
        found: dict[str, tuple[Arc, ...]] = {}
        for use in self.uses:
            found[use.case.name] = (*found.get(use.case.name, ()), *use.covered)
        return found

    @property
    def structure(self) -> dict[str, Any]:
        """The structures of all cases, their mappings, and the quantities that they share."""
        return {
            "parts": [
                {"case": use.case.name, "mapping": dict(use.mapping), "structure": use.case.structure}
                for use in self.uses
            ],
            "joints": self.shared,
            "uncovered": [str(arc) for arc in self.uncovered],
        }

    def as_case(self, name: str | None = None) -> Case:
        """Return the specification with this structure: a case that can be added to a base."""
        asked = self.specification
        return Case(name or asked.name, asked.function, self.structure, asked.attributes)

    def explain(self) -> list[str]:
        """Return the design as sentences."""
        n = len(self.specification.function)
        by = f"{many(len(self.uses), 'case')} after {many(len(self.steps), 'rewrite')}"
        return [
            f"{n - len(self.uncovered)} of {n} influences are covered by {by}",
            *(f"rewritten by {step}" for step in self.steps),
            *map(_sentence, self.uses),
            *(f"{node} joins {' and '.join(names)}" for node, names in self.shared.items()),
            *(f"not covered: {arc}" for arc in self.uncovered),
        ]

    def __str__(self) -> str:
        return printable("\n".join(self.explain()))

    def __repr__(self) -> str:
        return f"Design({', '.join(use.case.name for use in self.uses)}; {self.coverage:.0%} covered)"

    def report(self) -> Report:
        """Return the cases with their mappings and arcs, the rewrites, and the uncovered influences."""
        rows = [
            (use.case.name, mapping_text(use.mapping), arcs_text(use.covered), arcs_text(use.extra))
            for use in self.uses
        ]
        uses = Grid(["Case", "Mapping", "Covered", "Extra"], rows, "Cases") if rows else None
        first, *rest = self.explain()
        notes = rest[: len(self.steps)] + rest[len(self.steps) + len(self.uses) :]
        return Report(first, uses, Words(notes) if notes else None)

    def to_dict(self) -> dict[str, Any]:
        """Return function, rewrites, uses and structure as plain values."""
        return {
            "coverage": self.coverage, "function": str(self.function), "rewrites": [str(step) for step in self.steps],
            "uses": [use.to_dict() for use in self.uses], "uncovered": [str(arc) for arc in self.uncovered],
            "structure": self.structure, "is_optimal": self.is_optimal,
        }  # fmt: skip

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a frame with a row for each case of the design."""
        head = ["case", "mapping", "covered", "extra"]
        rows = ((u.case.name, mapping_text(u.mapping), arcs_text(u.covered), arcs_text(u.extra)) for u in self.uses)
        return frame_of_rows(head, rows, backend)

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the function and the arcs that each case covers (:func:`bayeslearn.plots.plot_function_graph`)."""
        return plots.plot_function_graph(self, ax=ax)


@dataclass(frozen=True, repr=False)
class Designs(Reported):
    """Designs for a specification, the best first."""

    specification: Case
    designs: tuple[Design, ...]
    #: The number of rewritten forms of the specification that were examined.
    n_states: int
    #: Why the search ended early; None if it is complete.
    stop_reason: str | None
    #: The cases nearest to the influences that the best design does not cover.
    near: tuple[Match, ...] = ()

    @property
    def best(self) -> Design:
        """The best design."""
        return self.designs[0]

    def report(self) -> Report:
        """Return the best design, and a line for each of the others."""
        head = ["Design", "Coverage", "Cases", "Rewrites", "Extra arcs", "Names"]
        rows = [
            (i, f"{d.coverage:.0%}", len(d.uses), len(d.steps), d.n_extra, ", ".join(u.case.name for u in d.uses))
            for i, d in enumerate(self.designs, 1)
        ]
        examined = f"{many(self.n_states, 'form')} of the function examined"
        notes = Words(examined + (f"; {self.stop_reason}" if self.stop_reason else ""))
        best = self.best.report()
        return Report(f"{self.specification.name}: {best.title}", *best.blocks, Grid(head, rows, "Designs"), notes)

    def to_dict(self) -> dict[str, Any]:
        """Return the specification, all designs and the nearest cases as plain values."""
        return {
            "specification": str(self.specification.function), "stop_reason": self.stop_reason,
            "n_states": self.n_states, "designs": [design.to_dict() for design in self.designs],
            "near": [match.to_dict() for match in self.near],
        }  # fmt: skip

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a frame with a row for each design."""
        rows = (
            (d.coverage, len(d.uses), len(d.steps), d.n_extra, ", ".join(u.case.name for u in d.uses))
            for d in self.designs
        )
        return frame_of_rows(["coverage", "n_cases", "n_rewrites", "n_extra", "cases"], rows, backend)

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the best design (:func:`bayeslearn.plots.plot_function_graph`)."""
        return plots.plot_function_graph(self.best, ax=ax)

    def __iter__(self) -> Iterator[Design]:
        return iter(self.designs)

    def __len__(self) -> int:
        return len(self.designs)

    def __getitem__(self, i: int) -> Design:
        return self.designs[i]


def _sentence(use: CaseUse) -> str:
    more = f", extra: {', '.join(map(str, use.extra))}" if use.extra else ""
    return f"{use} covers {', '.join(map(str, use.covered))}{more}"
