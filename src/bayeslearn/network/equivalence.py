"""Graphs that say the same: equivalence classes, their common arcs, and distances.

Two graphs are equivalent, that is they hold the same separations, when they have the same skeleton and the same
v-structures a → c ← b with a and b not joined. What the members of a class share is its CPDAG:

    a → b      every member has this arc: it is compelled
    a — b      some members have a → b, others b → a: it is reversible

References
----------
Verma and Pearl (1990), equivalence. Chickering (1995), A transformational characterization of equivalent Bayesian
network structures. Tsamardinos, Brown and Aliferis (2006), the structural Hamming distance.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from bayeslearn.errors import ParameterError, UnknownColumnError, listed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bayeslearn.network.graph import Dag

    Arc = tuple[str, str]
    Pair = frozenset[str]


@dataclass(frozen=True)
class Cpdag:
    """An equivalence class: the arcs that all its members share, and the pairs that they join either way.

    >>> from bayeslearn.network import Dag
    >>> Dag.parse("[A][B][C|A:B][D|C][E][F|E]").cpdag()
    Cpdag(A → C, B → C, C → D, E — F)
    """

    nodes: frozenset[str]
    directed: frozenset[Arc]
    undirected: frozenset[Pair]

    def __init__(
        self, nodes: Iterable[str], directed: Iterable[Iterable[str]] = (), undirected: Iterable[Iterable[str]] = ()
    ) -> None:
        object.__setattr__(self, "nodes", frozenset(nodes))
        object.__setattr__(self, "directed", frozenset(tuple(arc) for arc in directed))
        object.__setattr__(self, "undirected", frozenset(frozenset(pair) for pair in undirected))
        for pair in (*self.directed, *self.undirected):
            unknown = sorted(set(pair) - self.nodes)
            if unknown:
                raise UnknownColumnError(
                    f"the pair {listed(sorted(pair))} names {listed(unknown)}, not among the nodes",
                    hint=f"nodes are {listed(sorted(self.nodes))}",
                )
            if len(set(pair)) != 2 or len(pair) != 2:
                raise ParameterError(f"an arc joins two nodes, got {listed(pair)}")
        if len(self.skeleton) < len(self.directed) + len(self.undirected):
            twice = sorted(a for a in self.directed if a[::-1] in self.directed or frozenset(a) in self.undirected)
            raise ParameterError(f"the pair {listed(twice[0])} is joined twice", hint="give one direction, or none")

    def __str__(self) -> str:
        arcs = [*(f"{a} → {b}" for a, b in sorted(self.directed)), *(" — ".join(p) for p in self._sorted_pairs())]
        return ", ".join(arcs)

    def __repr__(self) -> str:
        return f"Cpdag({self})"

    def _sorted_pairs(self) -> list[list[str]]:
        return sorted(sorted(pair) for pair in self.undirected)

    @property
    def skeleton(self) -> frozenset[Pair]:
        """The pairs that are joined, in whatever direction."""
        return self.undirected.union(frozenset(arc) for arc in self.directed)

    def shd(self, other: Cpdag) -> int:
        """How many pairs of nodes are joined differently in two classes; see :func:`shd`."""
        return shd(self, other)


### what decides the class


def skeleton(dag: Dag) -> frozenset[Pair]:
    """The arcs without their direction."""
    return frozenset(frozenset(arc) for arc in dag.arcs)


def v_structures(dag: Dag) -> frozenset[tuple[str, str, str]]:
    """Triples (a, c, b), a before b in the alphabet, with a → c ← b and no arc between a and b."""
    triples = (
        (a, c, b)
        for c, parents in dag.families.items()
        for a, b in combinations(sorted(parents), 2)
        if a not in dag.families[b] and b not in dag.families[a]
    )
    return frozenset(triples)


def equivalent(a: Dag, b: Dag) -> bool:
    """Whether two graphs hold the same separations: same nodes, skeleton and v-structures."""
    return set(a) == set(b) and a.skeleton == b.skeleton and a.v_structures == b.v_structures


### the class


def cpdag(dag: Dag) -> Cpdag:
    """The class of a graph, by labelling the arcs into each node, from the top of the graph to the bottom."""
    place = {node: i for i, node in enumerate(dag.order)}
    parents = {node: set(dag.families[node]) for node in dag.order}
    compelled: dict[str, set[str]] = {}
    for node in dag.order:
        nearest = max(parents[node], key=place.__getitem__, default=None)
        compelled[node] = set() if nearest is None else _compelled(nearest, parents[node], parents, compelled)
    directed = {(parent, node) for node, sure in compelled.items() for parent in sure}
    return Cpdag(dag, directed, (arc for arc in dag.arcs if arc not in directed))


def _compelled(x: str, mine: set[str], parents: dict[str, set[str]], compelled: dict[str, set[str]]) -> set[str]:
    """Which of the arcs into a node with the parents `mine`, x the last of them, are compelled.

    A compelled w → x with w no parent of the node compels x → node (or w → x ← node would be new), and with it the
    others. So does a parent z that is not joined to x, by z → node ← x. Otherwise the arcs from those w are compelled,
    lest turning them close the cycle w → x → node → w, and the rest can be turned.
    """
    joined = parents[x] | {x}
    return compelled[x] if compelled[x] <= mine <= joined else mine


### distance


def shd(a: Dag | Cpdag, b: Dag | Cpdag) -> int:
    """How many pairs of nodes are joined differently: an arc too many, too few, turned, or with a direction too many.

    Two graphs are compared arc by arc, two classes by their CPDAGs. Data cannot tell members of a class apart, so that
    a learned graph is best judged by `shd(a.cpdag(), b.cpdag())`, which is what R bnlearn reports.
    """
    from bayeslearn.network.structures import as_dag  # noqa: PLC0415 - graphs know their classes

    a, b = (graph if isinstance(graph, Cpdag) else as_dag(graph) for graph in (a, b))
    if isinstance(a, Cpdag) != isinstance(b, Cpdag):
        raise ParameterError(
            "cannot compare a graph with an equivalence class", hint="take the class of the graph too, with `.cpdag()`"
        )
    odd = sorted(set(a.nodes) ^ set(b.nodes))
    if odd:
        raise ParameterError(
            f"the graphs differ in their nodes: only one has {listed(odd)}",
            hint="compare graphs over the same variables",
            nodes=odd,
        )
    marks, others = _marks(a), _marks(b)
    return sum(marks.get(pair, ()) != others.get(pair, ()) for pair in marks.keys() | others.keys())


def _marks(graph: Dag | Cpdag) -> dict[Pair, tuple[str, ...] | None]:
    """For each pair that is joined its arc, or None where either way is possible."""
    if isinstance(graph, Cpdag):
        marks: dict[Pair, tuple[str, ...] | None] = dict.fromkeys(graph.undirected)
        return marks | {frozenset(arc): arc for arc in graph.directed}
    return {frozenset(arc): arc for arc in graph.arcs}
