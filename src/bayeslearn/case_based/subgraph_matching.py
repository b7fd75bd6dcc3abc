"""Where one function graph is part of another, and the largest part that two of them have in common.

    embedding: injective, sign(a, b) = sign(m(a), m(b)) for every arc of the part, kinds equal unless one is not given

The whole may have more arcs among the same quantities. The search is VF2 of rustworkx, and ends at a limit.

For the largest common part each quantity is mapped to one of its kind or to none, the one with the most arcs first;
branches that cannot improve on the best are skipped, so the result is exact unless the limit on steps ends the search.
A mapping that would turn an influence into its opposite is no match.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bayeslearn import lazy_imports

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bayeslearn.case_based.function_graph import Arc, FunctionGraph

    Back = list[tuple[int, int, bool]]

rx: Any = lazy_imports.Deferred("rustworkx")

#: The most pairs of quantities that one search compares.
MAX_COMPARED = 20_000


class BoundMet(Exception):  # noqa: N818 - it ends a search, and is no error
    """A search reached its limit."""


def embeddings(part: FunctionGraph, whole: FunctionGraph, max_compared: int = MAX_COMPARED) -> Iterator[dict[str, str]]:
    """Every embedding, in a fixed order, as quantity of the part → quantity of the whole; BoundMet may end it."""
    if len(part) <= len(whole) and len(part.nodes) <= len(whole.nodes):
        found = rx.vf2_mapping(
            digraph(whole), digraph(part), agree(max_compared), operator.eq, id_order=True, subgraph=True, induced=False
        )
        for mapping in found:
            yield {part.nodes[b]: whole.nodes[a] for a, b in sorted(mapping.items(), key=operator.itemgetter(1))}


def embedding(part: FunctionGraph, whole: FunctionGraph) -> dict[str, str] | None:
    """The first embedding, or None."""
    return next(embeddings(part, whole), None)


def isomorphic(a: FunctionGraph, b: FunctionGraph) -> bool:
    """Whether two graphs differ in their names only; quantities without a kind match no others."""
    if a.fingerprint != b.fingerprint or len(a) != len(b):
        return False
    return bool(rx.is_isomorphic(digraph(a), digraph(b), operator.eq, operator.eq))


def digraph(graph: FunctionGraph) -> Any:
    """The graph as a rustworkx graph, made once."""
    if "_digraph" not in graph.__dict__:
        made = rx.PyDiGraph()
        made.add_nodes_from(graph.kind_list)
        made.add_edges_from([(a, b, sign) for (a, b), sign in graph.signs.items()])
        graph.__dict__["_digraph"] = made
    return graph.__dict__["_digraph"]


def agree(max_compared: int) -> Callable[[str | None, str | None], bool]:
    """A function that returns whether two kinds are compatible, and raises BoundMet after `max_compared` calls."""
    left = max_compared

    def same(a: str | None, b: str | None) -> bool:
        nonlocal left
        left -= 1
        if left < 0:
            raise BoundMet(f"more than {max_compared:,} comparisons")
        return a is None or b is None or a == b

    return same


### the largest common part


#: The most steps of one search.
MAX_STEPS = 20_000


@dataclass(frozen=True)
class Common:
    """A common part: its mapping, its number of arcs, and whether no other is larger."""

    mapping: dict[str, str]
    covered: int
    is_optimal: bool


def common_part(case: FunctionGraph, whole: FunctionGraph, *, min_arcs: int = 1, max_arcs: int | None = None) -> Common:
    """The mapping of quantities of a case that covers the most arcs, or none if it covers fewer than `min_arcs`.

    `max_arcs` is a known upper bound.
    """
    search = _Search(case, whole, min(len(case), len(whole)) if max_arcs is None else max_arcs, min_arcs - 1)
    search.go(0, 0, 0, len(case))
    pairs = {case.nodes[u]: whole.nodes[t] for u, t in search.best_mapping.items()}
    joined = {node for a, b, _ in covered_arcs(case, whole, pairs) for node in (a, b)}
    mapping = {a: b for a, b in sorted(pairs.items()) if b in joined}
    return Common(mapping, search.best if mapping else 0, search.steps <= MAX_STEPS)


def covered_arcs(case: FunctionGraph, whole: FunctionGraph, mapping: dict[str, str]) -> list[Arc]:
    """The arcs of the whole that a mapping puts arcs of the case on."""
    images = {(mapping.get(a), mapping.get(b), sign) for a, b, sign in case.arcs}
    return [arc for arc in whole.arcs if tuple(arc) in images]


@dataclass
class _Search:
    case: FunctionGraph
    whole: FunctionGraph
    most: int
    best: int
    steps: int = 0
    best_mapping: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.order = _order(self.case)
        place = {u: i for i, u in enumerate(self.order)}
        self.back: list[Back] = [[] for _ in self.order]
        for (a, b), sign in self.case.signs.items():
            later, earlier = (a, b) if place[a] > place[b] else (b, a)
            self.back[place[later]].append((earlier, sign, later == a))
        #: How many arcs a quantity has to those that come after it: lost when it goes nowhere.
        self.ahead = [0] * len(self.order)
        for back in self.back:
            for u, _, _ in back:
                self.ahead[u] += 1
        kinds = self.whole.kind_list
        self.fits = [
            [t for t, kind in enumerate(kinds) if own is None or kind is None or own == kind]
            for own in self.case.kind_list
        ]
        self.at: list[int] = [-1] * len(self.order)

    def go(self, depth: int, used: int, gained: int, rest: int) -> None:
        """Place what is left; `rest` of the arcs may still be gained."""
        if gained > self.best:
            self.best = gained
            self.best_mapping = {u: t for u, t in enumerate(self.at) if t >= 0}
        if depth == len(self.order) or self.best >= self.most:
            return
        u = self.order[depth]
        open_back = sum(self.at[v] >= 0 for v, _, _ in self.back[depth])
        rest -= open_back
        for gain, t in self.choices(depth, u, used):
            self.steps += 1
            if self.steps > MAX_STEPS:
                return
            if gained + gain + rest <= self.best:
                break
            self.at[u] = t
            self.go(depth + 1, used | 1 << t, gained + gain, rest)
        self.at[u] = -1
        if gained + rest - self.ahead[u] > self.best and self.steps <= MAX_STEPS:
            self.go(depth + 1, used, gained, rest - self.ahead[u])

    def choices(self, depth: int, u: int, used: int) -> list[tuple[int, int]]:
        """Where a quantity can go and how many arcs that gains, the most first."""
        found = []
        signs = self.whole.signs
        placed = [(self.at[v], sign, leaves) for v, sign, leaves in self.back[depth] if self.at[v] >= 0]
        for t in self.fits[u]:
            if used >> t & 1:
                continue
            gain = 0
            for at, sign, leaves in placed:
                there = signs.get((t, at) if leaves else (at, t), 0)
                if there == -sign:
                    break
                gain += there == sign
            else:
                found.append((gain, t))
        return sorted(found, key=lambda choice: (-choice[0], choice[1]))


def _order(case: FunctionGraph) -> list[int]:
    """The most joined first, then always the one with the most arcs to those before."""
    near: list[list[int]] = [[] for _ in case.nodes]
    for a, b in case.signs:
        near[a].append(b)
        near[b].append(a)
    order: list[int] = []
    left = set(range(len(near)))
    while left:
        u = max(left, key=lambda u: (sum(v not in left for v in near[u]), len(near[u]), -u))
        order.append(u)
        left.remove(u)
    return order
