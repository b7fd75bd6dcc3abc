"""Graphs in whatever form a caller has them.

"[A][B|A]", "A -> B <- C; D"          a model string, or chains of arcs
[("A", "B")], ["A -> B"]              arcs
{"A": [], "B": ["A"]}                 parents by node
nx.DiGraph, pgmpy models              anything directed with ``nodes`` and ``edges``
pyAgrum networks                      ``arcs`` of numbered nodes with ``variable(number).name()``
Dag, BayesianNetwork, StructureFit    as they are
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

from bayeslearn.errors import ParameterError
from bayeslearn.network.graph import Dag

if TYPE_CHECKING:
    from bayeslearn.network.network import BayesianNetwork

#: The signs of an arc.
ARROW = re.compile("(->|<-)")

#: What :func:`as_dag` takes.
StructureLike: TypeAlias = Any


def as_dag(structure: StructureLike, nodes: Iterable[str] = ()) -> Dag:
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
    known = structure if isinstance(structure, Dag) else getattr(structure, "dag", None)
    if isinstance(known, Dag):  # also of a network, or of what learned one
        return known
    if isinstance(structure, str):
        return _from_chains(structure) if ARROW.search(structure) and "[" not in structure else Dag.parse(structure)
    if isinstance(structure, Mapping):
        return _from_parents(structure, nodes)
    if hasattr(structure, "arcs") and hasattr(structure, "variable"):
        return _from_agrum(structure)
    if hasattr(structure, "nodes") and hasattr(structure, "edges"):
        return _from_graph(structure)
    if hasattr(structure, "columns") or not isinstance(structure, Iterable):
        raise ParameterError(
            f"a structure must be a graph, got {type(structure).__name__}",
            hint='give a model string "[A][B|A]", arcs [("A", "B")], parents {"B": ["A"]}, a network or a DiGraph',
        )
    return Dag.from_arcs(structure, nodes)


def as_network(given: Any) -> BayesianNetwork:
    """Return the network itself, or that of an engine or of what a learner returned."""
    from bayeslearn.network.network import BayesianNetwork  # noqa: PLC0415 - networks know graphs

    network = given if isinstance(given, BayesianNetwork) else getattr(given, "network", None)
    if isinstance(network, BayesianNetwork):
        return network
    if isinstance(given, str | os.PathLike):
        hint = f"read it first: read_network({os.fspath(given)!r})"
    elif isinstance(given, Dag) or hasattr(given, "edges"):
        hint = "a graph has no probabilities; fit_tables(graph, data) estimates them"
    else:
        hint = "read_network reads one from a file, learn and fit_tables fit one to data"
    raise ParameterError(f"expected a Bayesian network, got {type(given).__name__} {given!r:.60}", hint=hint)


def _from_chains(text: str) -> Dag:
    """Chains of arcs, as the fast syntax of pyAgrum has them: ``A -> B <- C; D``."""
    nodes, arcs = list[str](), list[tuple[str, str]]()
    for chain in filter(str.strip, text.split(";")):
        names = [name.strip() for name in ARROW.split(chain)[::2]]
        if not all(names):
            raise ParameterError(f"an arc has no node at one end: {chain.strip()!r:.60}", hint='write "A -> B <- C; D"')
        nodes += names
        signs = ARROW.findall(chain)
        arcs += [(a, b) if sign == "->" else (b, a) for (a, b), sign in zip(pairwise(names), signs, strict=True)]
    return Dag.from_arcs(dict.fromkeys(arcs), dict.fromkeys(nodes))


def _from_parents(parents: Mapping[Any, Any], nodes: Iterable[str]) -> Dag:
    """Parents by node; a node or a parent that is not listed itself has none."""
    families = {node: (given,) if isinstance(given, str) else tuple(given or ()) for node, given in parents.items()}
    others = dict.fromkeys(p for given in families.values() for p in given if p not in families)
    return Dag({**dict.fromkeys((*others, *nodes), ()), **families})


def _from_graph(graph: Any) -> Dag:
    """A graph of networkx, or of a program that is made like it."""
    directed = getattr(graph, "is_directed", None)
    if callable(directed) and not directed():
        raise ParameterError(
            f"the edges of a {type(graph).__name__} have no direction", hint="give a DiGraph, or a list of arcs"
        )
    nodes = graph.nodes() if callable(graph.nodes) else graph.nodes
    edges = graph.edges() if callable(graph.edges) else graph.edges
    return Dag.from_arcs([tuple(edge)[:2] for edge in edges], list(nodes))


def _from_agrum(network: Any) -> Dag:
    """A network of pyAgrum: its nodes are numbers with names."""
    names = {node: network.variable(node).name() for node in network.nodes()}
    return Dag.from_arcs(
        [(names[parent], names[child]) for parent, child in sorted(network.arcs())],
        [names[node] for node in sorted(names)],
    )
