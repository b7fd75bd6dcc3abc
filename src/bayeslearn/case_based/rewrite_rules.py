"""Rewrite rules as data: a pattern of arcs, and its replacement.

    pattern  A →+ B      replacement  A →+ x, x →+ B        chain expansion; the signs multiply

Quantities of the pattern stand for any of their kind. Those that only the replacement names are new; those that only
the pattern names go away, and may have no other arcs. A rule whose replacement contradicts an arc of the graph does not
apply.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayeslearn.case_based.function_graph import MAX_ARCS, MAX_NODES, Arc, FunctionGraph, graph_of
from bayeslearn.case_based.subgraph_matching import BoundMet, embeddings
from bayeslearn.errors import BayeslearnError, ParameterError
from bayeslearn.printable import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

SIGN_NAMES = {1: "+", -1: "−"}


@dataclass(frozen=True)
class Rule:
    """A named pattern and its replacement."""

    name: str
    pattern: FunctionGraph
    replacement: FunctionGraph

    def __init__(self, name: str, pattern: Any, replacement: Any) -> None:
        if not isinstance(name, str) or not name.strip() or not name.isprintable():
            raise ParameterError(f"the name of a rule is text, got {name!r:.80}")
        try:
            before, after = graph_of(pattern), graph_of(replacement)
        except BayeslearnError as error:
            raise type(error)(f"rule {name!r}: {error.message}", hint=error.hint, **error.details) from None
        if before.arcs == after.arcs:
            raise ParameterError(f"rule {name!r} changes nothing")
        kept = {node: kind for node, kind in before.kinds.items() if node in after.nodes}
        if wrong := [n for n, kind in after.kinds.items() if n in before.nodes and kind != before.kinds.get(n)]:
            raise ParameterError(
                f"rule {name!r} changes the kind of {wrong[0]!r}",
                hint="give kinds in the pattern, and for new quantities",
            )
        after = FunctionGraph(after.arcs, {**after.kinds, **kept})
        self.__dict__.update(name=name, pattern=before, replacement=after)

    def __reduce__(self) -> tuple[Any, ...]:
        return Rule, (self.name, self.pattern, self.replacement)

    def __str__(self) -> str:
        return printable(f"{self.name}: {self.pattern} becomes {self.replacement}")


@dataclass(frozen=True)
class Rewrite:
    """One application of a rule: the arcs before and after."""

    rule: str
    before: tuple[Arc, ...]
    after: tuple[Arc, ...]

    def __str__(self) -> str:
        return printable(f"{self.rule}: {', '.join(map(str, self.before))} becomes {', '.join(map(str, self.after))}")


def _chains() -> Iterator[Rule]:
    for first in (1, -1):
        for second in (1, -1):
            name = f"chain {SIGN_NAMES[first * second]} = {SIGN_NAMES[first]}·{SIGN_NAMES[second]}"
            yield Rule(name, [("A", "B", first * second)], [("A", "x", first), ("x", "B", second)])


#: A →± B becomes A →± x →± B, by the algebra of signs.
EXPANSIONS = tuple(_chains())

#: The reverse: a quantity between two others, which no other arc touches, is removed.
CONTRACTIONS = tuple(Rule(rule.name.replace("chain", "shorten"), rule.replacement, rule.pattern) for rule in EXPANSIONS)


def rewrites(rule: Rule, graph: FunctionGraph) -> Iterator[tuple[Rewrite, FunctionGraph]]:
    """Every graph that one application of a rule makes of a graph."""
    seen = set()
    try:
        for site in embeddings(rule.pattern, graph):
            done = _applied(rule, graph, site)
            if done is not None and done[1].arcs not in seen:
                seen.add(done[1].arcs)
                yield done
    except BoundMet:
        return


def _applied(rule: Rule, graph: FunctionGraph, site: dict[str, str]) -> tuple[Rewrite, FunctionGraph] | None:
    names = site | _fresh(rule, graph)
    before = {Arc(names[a], names[b], sign) for a, b, sign in rule.pattern.arcs}
    after = {Arc(names[a], names[b], sign) for a, b, sign in rule.replacement.arcs}
    kept = [arc for arc in graph.arcs if arc not in before]
    gone = {site[node] for node in rule.pattern.nodes if node not in rule.replacement.nodes}
    if any(gone & {arc.source, arc.target} for arc in kept):
        return None
    signs = {arc[:2]: arc.sign for arc in kept}
    if any(signs.get(arc[:2], arc.sign) != arc.sign for arc in after):
        return None
    new = {names[node]: kind for node, kind in rule.replacement.kinds.items() if node not in site}
    kinds = {node: kind for node, kind in graph.kinds.items() if node not in gone} | new
    arcs = sorted({*kept, *after})
    ends = {node for arc in arcs for node in arc[:2]}
    if len(arcs) > MAX_ARCS or len(ends) > MAX_NODES:
        return None
    made = FunctionGraph(arcs, {node: kind for node, kind in kinds.items() if node in ends})
    return Rewrite(rule.name, tuple(sorted(before)), tuple(sorted(after))), made


def _fresh(rule: Rule, graph: FunctionGraph) -> dict[str, str]:
    """Names for the new quantities of a rule."""
    found: dict[str, str] = {}
    number = 1
    for node in rule.replacement.nodes:
        if node not in rule.pattern.nodes:
            while f"x{number}" in graph.numbers:
                number += 1
            found[node] = f"x{number}"
            number += 1
    return found
