"""Directed acyclic graphs over named nodes.

[Storm][BusTourGroup][Campfire|Storm:BusTourGroup]        every node with its parents, as R bnlearn writes it

`as_dag` reads a graph in any of these forms:

"[A][B|A]", "A -> B <- C; D"          a model string, or chains of arcs, or ``dag { ... }`` of dagitty
[("A", "B")], ["A -> B"]              arcs
{"A": [], "B": ["A"]}                 parents by node
nx.DiGraph, pgmpy models              anything directed with ``nodes`` and ``edges``; rustworkx graphs of names
pyAgrum networks                      ``arcs`` of numbered nodes with ``variable(number).name()``
DAG, BayesianNetwork, StructureFitInfo    unchanged
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from heapq import heapify, heappop, heappush
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

from bayeslearn import lazy_imports
from bayeslearn.errors import CycleError, ParameterError, UnknownColumnError, listed, nearest
from bayeslearn.network.conversions import GraphConversions
from bayeslearn.printable import printable
from bayeslearn.reports import Reported

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bayeslearn.network import d_separation, equivalence, graph_text, interop, reporting
    from bayeslearn.network.bayesian_network import BayesianNetwork
    from bayeslearn.network.d_separation import ActivePath, Nodes
    from bayeslearn.network.equivalence import CPDAG
    from bayeslearn.network.inference.results import Backend
    from bayeslearn.reports import Report
    from bayeslearn.tables import frames
else:  # a first query does without them
    equivalence = lazy_imports.Deferred("bayeslearn.network.equivalence")
    d_separation = lazy_imports.Deferred("bayeslearn.network.d_separation")
    graph_text = lazy_imports.Deferred("bayeslearn.network.graph_text")
    interop = lazy_imports.Deferred("bayeslearn.network.interop")
    reporting = lazy_imports.Deferred("bayeslearn.network.reporting")
    frames = lazy_imports.Deferred("bayeslearn.tables.frames")

#: It loads when something is drawn.
plots: Any = lazy_imports.Deferred("bayeslearn.plots")


@dataclass(frozen=True, eq=False)
class DAG(GraphConversions, Reported):
    """Nodes in the order given, each with its parents in the order given.

    >>> dag = DAG.parse("[Storm][Bus][Camp|Storm:Bus]")
    >>> dag.parents("Camp"), dag.children("Storm")
    (('Storm', 'Bus'), ('Camp',))
    >>> print(dag)
    [Storm][Bus][Camp|Storm:Bus]
    """

    families: Mapping[str, tuple[str, ...]]

    def __post_init__(self) -> None:
        if not hasattr(self.families, "items"):
            raise ParameterError(
                f"a DAG maps every node to its parents, got {self.families!r:.80}",
                hint='DAG.parse("[A][B|A]"), DAG.from_arcs([("A", "B")]), or bayeslearn.network.as_dag(graph)',
            )
        families = {_name(node): _names(parents) for node, parents in self.families.items()}
        for node, parents in families.items():
            unknown = [p for p in parents if p not in families]
            if unknown:
                raise UnknownColumnError(
                    f"node {node!r} has the parent {unknown[0]!r}, which is not a node",
                    hint=f"nodes are {listed(families)}",
                )
            if len(set(parents)) < len(parents):
                raise ParameterError(
                    f"node {node!r} names a parent twice: {listed(parents)}", hint="name each parent once"
                )
        object.__setattr__(self, "families", MappingProxyType(families))
        _ = self.order  # a cycle is found here, not when first asked

    # -- ways to give one; see also :mod:`bayeslearn.network.conversions`

    @classmethod
    def from_arcs(cls, arcs: Iterable[tuple[str, str]], nodes: Iterable[str] = ()) -> DAG:
        """From pairs (parent, child); `nodes` come first, and those without arcs need to be named there."""
        families: dict[str, list[str]] = {node: [] for node in _names(nodes)}
        for parent, child in map(_pair, arcs):
            families.setdefault(parent, [])
            families.setdefault(child, []).append(parent)
        return cls({node: tuple(parents) for node, parents in families.items()})

    def __str__(self) -> str:
        return printable(graph_text.model_string(self.families))

    def __repr__(self) -> str:
        return reporting.brief(str(self), f"<{reporting.dag_title(self)}>")

    def __eq__(self, other: object) -> bool:
        """The same nodes and arcs, in whatever order."""
        if not isinstance(other, DAG):
            return NotImplemented
        return set(self.nodes) == set(other.nodes) and set(self.arcs) == set(other.arcs)

    def __hash__(self) -> int:
        return hash((frozenset(self.nodes), frozenset(self.arcs)))

    def __reduce__(self) -> tuple[Any, ...]:
        return DAG, (dict(self.families),)  # a mapping proxy cannot be copied or sent to another process

    # -- what is there

    @property
    def nodes(self) -> tuple[str, ...]:
        """The names, in the order given."""
        return tuple(self.families)

    def __len__(self) -> int:
        return len(self.families)

    def __iter__(self) -> Iterator[str]:
        return iter(self.families)

    def __contains__(self, node: object) -> bool:
        return node in self.families

    @cached_property
    def arcs(self) -> tuple[tuple[str, str], ...]:
        """Pairs (parent, child)."""
        return tuple((parent, node) for node, parents in self.families.items() for parent in parents)

    def parents(self, node: str) -> tuple[str, ...]:
        """The parents of a node, in order."""
        try:
            return self.families[node]
        except (KeyError, TypeError):
            raise self._unknown(node) from None

    def children(self, node: str) -> tuple[str, ...]:
        """The children of a node, in the order of the nodes."""
        try:
            return self._children[node]
        except (KeyError, TypeError):
            raise self._unknown(node) from None

    def known(self, nodes: Nodes) -> tuple[str, ...]:
        """These nodes, each of them in the graph; one name stands for a list of one."""
        names = _names(nodes)
        for node in names:
            if node not in self.families:
                raise self._unknown(node)
        return names

    def _unknown(self, node: Any) -> UnknownColumnError:
        hint = nearest([node], self.families, "the nodes")
        return UnknownColumnError(f"there is no node {node!r}", hint=hint, node=node)

    @cached_property
    def _children(self) -> dict[str, tuple[str, ...]]:
        children: dict[str, list[str]] = {node: [] for node in self.families}
        for parent, child in self.arcs:
            children[parent].append(child)
        return {node: tuple(c) for node, c in children.items()}

    @cached_property
    def order(self) -> tuple[str, ...]:
        """Every node after its parents, otherwise in the order given."""
        names = self.nodes
        place = {node: i for i, node in enumerate(names)}
        waiting = {node: len(parents) for node, parents in self.families.items()}
        ready = [place[node] for node, n in waiting.items() if n == 0]
        heapify(ready)
        order = []
        while ready:
            order.append(node := names[heappop(ready)])
            for child in self._children[node]:
                waiting[child] -= 1
                if waiting[child] == 0:
                    heappush(ready, place[child])
        if len(order) < len(self.families):
            cycle = self._cycle({node for node, n in waiting.items() if n > 0})
            raise CycleError(f"the arcs form a cycle: {_walked(cycle)}", hint="take one of these arcs out", cycle=cycle)
        return tuple(order)

    def _cycle(self, stuck: set[str]) -> list[str]:
        """One cycle among nodes that wait for each other, found by going from parent to parent."""
        place: dict[str, int] = {}
        node = min(stuck)
        while node not in place:
            place[node] = len(place)
            node = next(p for p in self.families[node] if p in stuck)
        loop = list(place)[place[node] :]
        return [node, *reversed(loop)]

    # -- what it shows

    def report(self) -> Report:
        """Return the nodes with their parents."""
        return reporting.dag_report(self)

    def _repr_html_(self) -> str:
        return reporting.dag_report(self, picture=True).html()

    def to_dict(self) -> dict[str, Any]:
        """Return nodes and arcs as plain values."""
        return {"nodes": list(self.nodes), "arcs": [list(arc) for arc in self.arcs]}

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a data frame with a row for each arc: parent, child."""
        return frames.frame_of({"parent": [a for a, _ in self.arcs], "child": [b for _, b in self.arcs]}, backend)

    def to_svg(self, *, compact: bool | None = None) -> str:
        """Return the graph as SVG text; see :mod:`bayeslearn.network.visualization`."""
        from bayeslearn.network.visualization.renderers import draw  # noqa: PLC0415 - visualization knows graphs, not the reverse

        return draw(self, compact=compact)

    def plot(self, *, compact: bool | None = None, ax: Any = None) -> Any:
        """Draw the graph with matplotlib; see :func:`bayeslearn.plots.plot_network`."""
        return plots.plot_network(self, compact=compact, ax=ax)

    # -- relatives

    def ancestors(self, nodes: Nodes) -> frozenset[str]:
        """All nodes from which arcs lead to one of these."""
        return d_separation.closure(self.known(nodes), self.parents)

    def descendants(self, nodes: Nodes) -> frozenset[str]:
        """All nodes to which arcs lead from one of these."""
        return d_separation.closure(self.known(nodes), self.children)

    def markov_blanket(self, node: str) -> frozenset[str]:
        """Parents, children and their other parents: given these, the node is independent of the rest."""
        children = self.children(node)
        partners = (parent for child in children for parent in self.families[child])
        return frozenset((*self.parents(node), *children, *partners)) - {node}

    def subgraph(self, nodes: Nodes) -> DAG:
        """These nodes, in the order of the graph, and the arcs among them."""
        kept = set(self.known(nodes))
        return DAG({n: tuple(p for p in parents if p in kept) for n, parents in self.families.items() if n in kept})

    @cached_property
    def moral(self) -> frozenset[frozenset[str]]:
        """The moral graph, as pairs: arcs without direction, and the parents of each node joined."""
        return d_separation.moral(self)

    # -- separation, see :mod:`bayeslearn.network.d_separation`

    def d_separated(self, a: Nodes, b: Nodes, given: Nodes = ()) -> bool:
        """Whether `given` blocks every path between `a` and `b`, so that they are independent given it.

        >>> dag = DAG.parse("[Storm][Bus][Camp|Storm:Bus]")
        >>> dag.d_separated("Storm", "Bus"), dag.d_separated("Storm", "Bus", given="Camp")
        (True, False)
        >>> print(dag.active_path("Storm", "Bus", given="Camp"))
        Storm → Camp ← Bus, as 'Camp' is given
        """
        return d_separation.d_separated(self, a, b, given)

    def connected_given(self, a: Nodes, given: Nodes = ()) -> frozenset[str]:
        """All other nodes that `given` does not separate from `a`."""
        return d_separation.connected_given(self, a, given)

    def active_path(self, a: Nodes, b: Nodes, given: Nodes = ()) -> ActivePath | None:
        """Why `given` does not separate `a` and `b`: a shortest open path, or None when it does."""
        return d_separation.active_path(self, a, b, given)

    def minimal_separator(self, a: Nodes, b: Nodes, among: Nodes | None = None) -> frozenset[str] | None:
        """Nodes (taken from `among`) that separate `a` and `b`, none too many; None when there are no such."""
        return d_separation.minimal_separator(self, a, b, among)

    # -- equivalence, see :mod:`bayeslearn.network.equivalence`

    @cached_property
    def skeleton(self) -> frozenset[frozenset[str]]:
        """The arcs without their direction, as pairs."""
        return equivalence.skeleton(self)

    @cached_property
    def v_structures(self) -> frozenset[tuple[str, str, str]]:
        """Triples (a, c, b), a before b in the alphabet, with a → c ← b and no arc between a and b."""
        return equivalence.v_structures(self)

    def cpdag(self) -> CPDAG:
        """The equivalence class: arcs that all equivalent graphs share, and pairs that they join either way."""
        return equivalence.cpdag(self)

    def equivalent(self, other: DAG) -> bool:
        """Whether both graphs hold the same separations: the same skeleton and v-structures."""
        return equivalence.equivalent(self, other)

    def shd(self, other: DAG) -> int:
        """Pairs of nodes joined differently, arc by arc; `a.cpdag().shd(b.cpdag())` compares the classes."""
        return equivalence.shd(self, other)


### names


def _walked(path: list[str], most: int = 20) -> str:
    """The nodes of a path for a message; the middle of a long one is counted only."""
    if len(path) <= most:
        return " → ".join(path)
    return f"{' → '.join([*path[: most // 2], '…', *path[-2:]])} ({len(path) - 1} arcs)"


def _name(node: Any) -> str:
    if not isinstance(node, str):
        raise ParameterError(f"the name of a node must be text, got {node!r}")
    return node


def _names(nodes: Nodes) -> tuple[str, ...]:
    """One name stands for a list of one."""
    if isinstance(nodes, str):
        return (nodes,)
    try:
        names = tuple(nodes)
    except TypeError:
        raise ParameterError(f"names of nodes must be text or a list of it, got {nodes!r}") from None
    return tuple(_name(node) for node in names)


def _pair(arc: Any) -> tuple[str, str]:
    if isinstance(arc, str) and arc.count("->") == 1:
        arc = [end.strip() for end in arc.split("->")]
    if not isinstance(arc, tuple | list) or len(arc) != 2:
        raise ParameterError(
            f"an arc must be a pair (parent, child), got {arc!r:.80}", hint='write ("A", "B"), or "A -> B"'
        )
    return _name(arc[0]), _name(arc[1])


#: What :func:`as_dag` takes.
StructureLike: TypeAlias = Any


def as_dag(structure: StructureLike, nodes: Iterable[str] = ()) -> DAG:
    """Return the graph of a structure.

    Parameters
    ----------
    structure
        A graph in one of the forms above.
    nodes
        Nodes that a list of arcs may leave out, in the order that the graph takes.

    >>> as_dag(["A -> B", ("C", "B")])
    [A][B|A:C][C]
    >>> as_dag({"A": [], "B": "A"})
    [A][B|A]
    """
    known = structure if isinstance(structure, DAG) else getattr(structure, "dag", None)
    if isinstance(known, DAG):  # also of a network, or of what learned one
        return known
    if isinstance(structure, str):
        return DAG.parse(structure)
    if isinstance(structure, Mapping):
        return _from_parents(structure, nodes)
    if interop.is_graph(structure):
        return DAG.from_networkx(structure)
    if hasattr(structure, "columns") or not isinstance(structure, Iterable):
        raise ParameterError(
            f"a structure must be a graph, got {type(structure).__name__}",
            hint='give a model string "[A][B|A]", arcs [("A", "B")], parents {"B": ["A"]}, a network or a DiGraph',
        )
    return DAG.from_arcs(structure, nodes)


def as_network(given: Any, *, numeric: bool = False) -> BayesianNetwork:
    """Return the network itself, or that of an engine or of what a learner returned; with numeric nodes if allowed."""
    from bayeslearn.network.bayesian_network import BayesianNetwork  # noqa: PLC0415 - networks know graphs

    network = given if isinstance(given, BayesianNetwork) else getattr(given, "network", None)
    if isinstance(network, BayesianNetwork):
        if not numeric and network.numeric_names:
            raise ParameterError(
                f"this is available for networks of states only, and {listed(network.numeric_names)} are numeric",
                hint="query, predict, impute, sample and score take numbers; discretize for the rest: "
                "fit_parameters(structure, data, numeric='discretize')",
            )
        return network
    if isinstance(given, str | os.PathLike):
        hint = f"read it first: read_network({os.fspath(given)!r})"
    elif isinstance(given, DAG) or hasattr(given, "edges"):
        hint = "a graph has no probabilities; fit_parameters(graph, data) estimates them"
    else:
        hint = "read_network reads one from a file, learn and fit_parameters fit one to data"
    raise ParameterError(f"expected a Bayesian network, got {type(given).__name__} {given!r:.60}", hint=hint)


def _from_parents(parents: Mapping[Any, Any], nodes: Iterable[str]) -> DAG:
    """Parents by node; a node or a parent that is not listed itself has none."""
    families = {node: (given,) if isinstance(given, str) else tuple(given or ()) for node, given in parents.items()}
    others = dict.fromkeys(p for given in families.values() for p in given if p not in families)
    return DAG({**dict.fromkeys((*others, *nodes), ()), **families})
