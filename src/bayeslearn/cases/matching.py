"""Where one function graph is part of another: every arc on an arc of the same sign, every quantity on one of its kind.

    embedding: injective, sign(a, b) = sign(m(a), m(b)) for every arc of the part, kinds equal unless one is not told

The whole may have more arcs among the same quantities. The search is VF2 of rustworkx, and ends at a bound.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from bayeslearn import lazy_imports

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bayeslearn.cases.graph import FunctionGraph

rx: Any = lazy_imports.Deferred("rustworkx")

#: Pairs of quantities that one search compares at most.
MOST_COMPARED = 20_000


class BoundMet(Exception):  # noqa: N818 - it ends a search, and is no error
    """A search looked at as much as it may."""


def embeddings(part: FunctionGraph, whole: FunctionGraph, most: int = MOST_COMPARED) -> Iterator[dict[str, str]]:
    """Every embedding, in a fixed order, as quantity of the part → quantity of the whole; BoundMet may end it."""
    if len(part) <= len(whole) and len(part.nodes) <= len(whole.nodes):
        found = rx.vf2_mapping(
            digraph(whole), digraph(part), agree(most), operator.eq, id_order=True, subgraph=True, induced=False
        )
        for mapping in found:
            yield {part.nodes[b]: whole.nodes[a] for a, b in sorted(mapping.items(), key=operator.itemgetter(1))}


def embedding(part: FunctionGraph, whole: FunctionGraph) -> dict[str, str] | None:
    """The first embedding, or None."""
    return next(embeddings(part, whole), None)


def isomorphic(a: FunctionGraph, b: FunctionGraph) -> bool:
    """Whether two graphs differ in their names only: kinds that are not told match no others here."""
    if a.fingerprint != b.fingerprint or len(a) != len(b):
        return False
    return bool(rx.is_isomorphic(digraph(a), digraph(b), operator.eq, operator.eq))


def digraph(graph: FunctionGraph) -> Any:
    """The graph as rustworkx has it; made once."""
    if "_digraph" not in graph.__dict__:
        made = rx.PyDiGraph()
        made.add_nodes_from(graph.kind_list)
        made.add_edges_from([(a, b, sign) for (a, b), sign in graph.signs.items()])
        graph.__dict__["_digraph"] = made
    return graph.__dict__["_digraph"]


def agree(most: int) -> Callable[[str | None, str | None], bool]:
    """Whether two kinds can be one; so often and no more."""
    left = most

    def same(a: str | None, b: str | None) -> bool:
        nonlocal left
        left -= 1
        if left < 0:
            raise BoundMet(f"more than {most:,} comparisons")
        return a is None or b is None or a == b

    return same
