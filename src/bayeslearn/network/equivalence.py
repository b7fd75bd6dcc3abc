"""Graphs that are equivalent: equivalence classes, their common arcs, and distances.

Two graphs are equivalent, that is they hold the same separations, when they have the same skeleton and the same
v-structures a → c ← b with a and b not joined. What the members of a class share is its CPDAG:

    a → b      every member has this arc: it is compelled
    a — b      some members have a → b, others b → a: it is reversible

References
----------
Verma and Pearl (1990), equivalence. Chickering (1995), A transformational characterization of equivalent Bayesian
network structures. Tsamardinos, Brown and Aliferis (2006), the structural Hamming distance.

Two networks side by side: the arcs they share, how far they are apart, and how well each explains the same cases.

shared, reversed, only one  what becomes of every pair that is joined
distance                    pairs that are joined differently, between the classes of equivalent graphs
BIC                         ln P(D) − ½ ln N · free parameters, with the tables unchanged
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from bayeslearn import lazy_imports
from bayeslearn.errors import ParameterError, UnknownColumnError, joined, listed
from bayeslearn.fit_info import plain
from bayeslearn.network.dag import DAG, as_dag, as_network
from bayeslearn.printable import printable
from bayeslearn.reports import Grid, Pairs, Report, Reported

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping

    from numpy.typing import NDArray

    from bayeslearn.network import reporting
    from bayeslearn.network.bayesian_network import BayesianNetwork
    from bayeslearn.network.inference.results import Backend
    from bayeslearn.tables import Table, frames
    from bayeslearn.tables.markers import Markers

    Pair = frozenset[str]

    Arc = tuple[str, str]
else:  # it loads when something is shown
    reporting = lazy_imports.Deferred("bayeslearn.network.reporting")
    frames = lazy_imports.Deferred("bayeslearn.tables.frames")

#: What becomes of an arc in a comparison.
ARC_KINDS = ("shared", "reversed", "only_in_first", "only_in_second")

#: Rows that are scored together.
ROWS = 1 << 16

Node = TypeVar("Node", bound="Hashable")


@dataclass(frozen=True)
class CPDAG(Reported):
    """An equivalence class: the arcs that all its members share, and the pairs that they join either way.

    >>> from bayeslearn.network import DAG
    >>> DAG.parse("[A][B][C|A:B][D|C][E][F|E]").cpdag()
    CPDAG(A → C, B → C, C → D, E — F)
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
        return printable(", ".join(arcs))

    def __repr__(self) -> str:
        return f"CPDAG({self})"

    def report(self) -> Report:
        """Return the edges."""
        return reporting.cpdag_report(self)

    def to_dict(self) -> dict[str, Any]:
        """Return nodes and edges as plain values."""
        directed = [list(arc) for arc in sorted(self.directed)]
        return {"nodes": sorted(self.nodes), "directed": directed, "undirected": self._sorted_pairs()}

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a data frame with a row for each edge: from, to, directed."""
        return reporting.cpdag_frame(self, backend)

    def _sorted_pairs(self) -> list[list[str]]:
        return sorted(sorted(pair) for pair in self.undirected)

    @property
    def skeleton(self) -> frozenset[Pair]:
        """The pairs that are joined, in whatever direction."""
        return self.undirected.union(frozenset(arc) for arc in self.directed)

    def shd(self, other: CPDAG) -> int:
        """How many pairs of nodes are joined differently in two classes; see :func:`shd`."""
        return shd(self, other)


### what decides the class


def skeleton(dag: DAG) -> frozenset[Pair]:
    """The arcs without their direction."""
    return frozenset(frozenset(arc) for arc in dag.arcs)


def v_structures(dag: DAG) -> frozenset[tuple[str, str, str]]:
    """Triples (a, c, b), a before b in the alphabet, with a → c ← b and no arc between a and b."""
    triples = (
        (a, c, b)
        for c, parents in dag.families.items()
        for a, b in combinations(sorted(parents), 2)
        if a not in dag.families[b] and b not in dag.families[a]
    )
    return frozenset(triples)


def equivalent(a: DAG, b: DAG) -> bool:
    """Whether two graphs hold the same separations: same nodes, skeleton and v-structures."""
    return set(a) == set(b) and a.skeleton == b.skeleton and a.v_structures == b.v_structures


### the class


def cpdag(dag: DAG) -> CPDAG:
    """The class of a graph, by labeling the arcs into each node, from the top of the graph to the bottom."""
    compelled = compelled_parents(dag.order, {node: set(parents) for node, parents in dag.families.items()})
    directed = {(parent, node) for node, sure in compelled.items() for parent in sure}
    return CPDAG(dag, directed, (arc for arc in dag.arcs if arc not in directed))


def compelled_parents(order: Iterable[Node], parents: Mapping[Node, set[Node]]) -> dict[Node, set[Node]]:
    """The parents of each node whose arc every equivalent graph has, for nodes in an order that puts parents first.

    Let x be the last parent of a node. A compelled w → x with w no parent of the node compels x → node (or w → x ← node
    would be new), and with it the others. So does a parent z that is not joined to x, by z → node ← x. Otherwise the
    arcs from those w are compelled, lest turning them close the cycle w → x → node → w, and the rest can be turned.
    """
    place: dict[Node, int] = {}
    compelled: dict[Node, set[Node]] = {}
    for node in order:
        mine = parents[node]
        last = max(mine, key=place.__getitem__, default=None)
        near = last is not None and compelled[last] <= mine <= parents[last] | {last}
        compelled[node] = compelled[last] if near and last is not None else mine
        place[node] = len(place)
    return compelled


### distance


def shd(a: DAG | CPDAG, b: DAG | CPDAG) -> int:
    """How many pairs of nodes are joined differently: an arc too many, too few, turned, or with a direction too many.

    Two graphs are compared arc by arc, two classes by their CPDAGs. Data cannot tell members of a class apart, so that
    a learned graph is best judged by `shd(a.cpdag(), b.cpdag())`, which is what R bnlearn reports.
    """
    a, b = (graph if isinstance(graph, CPDAG) else as_dag(graph) for graph in (a, b))
    if isinstance(a, CPDAG) != isinstance(b, CPDAG):
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


def _marks(graph: DAG | CPDAG) -> dict[Pair, tuple[str, ...] | None]:
    """For each pair that is joined its arc, or None where either way is possible."""
    if isinstance(graph, CPDAG):
        marks: dict[Pair, tuple[str, ...] | None] = dict.fromkeys(graph.undirected)
        return marks | {frozenset(arc): arc for arc in graph.directed}
    return {frozenset(arc): arc for arc in graph.arcs}


@dataclass(frozen=True)
class NetworkScore:
    """The log-likelihood of rows under one network, and its BIC."""

    total_weight: float
    log_likelihood: float
    n_parameters: int
    #: Rows of probability zero.
    impossible: int = 0

    @property
    def mean_log_likelihood(self) -> float:
        """The mean log-likelihood of a row."""
        return self.log_likelihood / self.total_weight if self.total_weight > 0 else float("nan")

    @property
    def bic(self) -> float:
        """ln P(D) − ½ ln N · parameters."""
        return self.log_likelihood - 0.5 * float(np.log(max(self.total_weight, 1.0))) * self.n_parameters

    def to_dict(self) -> dict[str, Any]:
        """Return all fields, the mean and BIC as plain values."""
        return vars(self) | {"mean_log_likelihood": self.mean_log_likelihood, "bic": self.bic}


@dataclass(frozen=True, repr=False)
class Comparison(Reported):
    """What two networks have in common, and what not."""

    #: Pairs joined differently, between the classes of the graphs: what data can tell.
    distance: int
    #: Pairs joined differently, arc by arc.
    arc_distance: int
    #: Whether the graphs hold the same separations.
    equivalent: bool
    shared: tuple[Arc, ...]
    #: As the first network has them.
    reversed: tuple[Arc, ...]
    only_in_first: tuple[Arc, ...]
    only_in_second: tuple[Arc, ...]
    #: Variables that the other lacks; it then counts as having them without arcs.
    variables_only_in_first: tuple[str, ...] = ()
    variables_only_in_second: tuple[str, ...] = ()
    #: On the variables that both have, when data are given.
    log_likelihoods: tuple[NetworkScore, NetworkScore] | None = None

    def __repr__(self) -> str:
        return f"Comparison({len(self.shared)} shared arcs, distance {self.distance})"

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as plain values."""
        return plain(vars(self))

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a data frame with a row for each arc: parent, child, found (shared, reversed, only_in_first, ...)."""
        rows = [(*arc, kind) for kind in ARC_KINDS for arc in getattr(self, kind)]
        columns = {name: [row[i] for row in rows] for i, name in enumerate(("parent", "child", "found"))}
        return frames.frame_of(columns, backend)

    def report(self) -> Report:
        """Return the distance, the arcs by what becomes of them, and the log-likelihoods."""
        facts: dict[str, Any] = {
            "Distance": self.distance,
            "Distance arc by arc": self.arc_distance,
            "Equivalent": self.equivalent,
        }
        lacking = {
            "Variables only in first": self.variables_only_in_first,
            "Variables only in second": self.variables_only_in_second,
        }
        arcs = [
            [kind.replace("_", " "), len(found), joined(" → ".join(arc) for arc in found)]
            for kind in ARC_KINDS
            for found in [getattr(self, kind)]
        ]
        scores = [
            [name, of.mean_log_likelihood, of.log_likelihood, of.n_parameters, of.bic, of.impossible]
            for name, of in zip(("first", "second"), self.log_likelihoods or (), strict=False)
        ]
        head = ["network", "per row", "log-likelihood", "parameters", "BIC", "impossible rows"]
        return Report(
            "Comparison of two networks",
            Pairs(facts | {name: ", ".join(names) for name, names in lacking.items() if names}),
            Grid(["arcs", "number", ""], arcs),
            Grid(head, scores) if scores else None,
        )


def compare_networks(
    a: BayesianNetwork,
    b: BayesianNetwork,
    data: Any = None,
    *,
    na_values: Markers = (),
    keep_default_na: bool = True,
    handle_unknown: Literal["missing", "error"] = "missing",
) -> Comparison:
    """Compare the structures of two networks, and the log-likelihood of rows under each.

    Rows are compared by the variables that both networks have; missing values are marginalized out.
    The options of reading rows are those of :meth:`~bayeslearn.BayesianNetwork.score`.

    >>> from bayeslearn.network import fit_parameters
    >>> days = {"rain": ["yes", "no", "no", "yes"], "wet": ["yes", "no", "no", "yes"]}
    >>> one, two = (fit_parameters(graph, days) for graph in ("[rain][wet|rain]", "[wet][rain|wet]"))
    >>> found = compare_networks(one, two)
    >>> found.reversed, found.distance, found.arc_distance, found.equivalent
    ((('rain', 'wet'),), 0, 1, True)
    """
    from bayeslearn.sources import with_options  # noqa: PLC0415 - graphs are compared without data

    a, b = as_network(a, numeric=True), as_network(b, numeric=True)
    data = with_options(data, na_values=na_values, keep_default_na=keep_default_na)
    only_a, only_b = (tuple(v for v in x.variables if v not in y) for x, y in ((a, b), (b, a)))
    left, right = _widened(a.dag, only_b), _widened(b.dag, only_a)
    arcs, others = set(left.arcs), set(right.arcs)
    return Comparison(
        distance=shd(left.cpdag(), right.cpdag()),
        arc_distance=shd(left, right),
        equivalent=equivalent(a.dag, b.dag),
        shared=_sorted(arcs & others),
        reversed=_sorted(arc for arc in arcs if arc[::-1] in others),
        only_in_first=_sorted(arc for arc in arcs if not {arc, arc[::-1]} & others),
        only_in_second=_sorted(arc for arc in others if not {arc, arc[::-1]} & arcs),
        variables_only_in_first=only_a,
        variables_only_in_second=only_b,
        log_likelihoods=None if data is None else _explained(a, b, data, handle_unknown),
    )


def _widened(dag: DAG, more: Iterable[str]) -> DAG:
    """The graph with other variables next to it, joined to nothing."""
    return DAG({**dag.families, **dict.fromkeys(more, ())})


def _sorted(arcs: Iterable[Arc]) -> tuple[Arc, ...]:
    return tuple(sorted(arcs))


def _explained(a: BayesianNetwork, b: BayesianNetwork, data: Any, unseen: Any) -> tuple[NetworkScore, NetworkScore]:
    from bayeslearn.sources import as_source  # noqa: PLC0415 - as above

    shared = [name for name in a.variables if name in b]
    if not shared:
        raise ParameterError(
            "the networks share no variable, so that no row can be compared",
            hint=f"one has {listed(a.variables)}, the other {listed(b.variables)}",
        )
    one, other = (
        as_source(data, schema=network.schema.select(shared), missing_columns="missing", handle_unknown=unseen)
        for network in (a, b)
    )
    found = NetworkScore(0.0, 0.0, a.n_parameters, 0), NetworkScore(0.0, 0.0, b.n_parameters, 0)
    for x, y in zip(one.batches(ROWS), other.batches(ROWS), strict=True):
        gone = (x.codes < 0) | (y.codes < 0)  # what one network does not know is hidden from both
        found = _plus(found[0], a, x, gone), _plus(found[1], b, y, gone)
    return found


def _plus(found: NetworkScore, network: BayesianNetwork, table: Table, gone: NDArray[np.bool_]) -> NetworkScore:
    """The score of some more rows."""
    score = network.score(type(table)(table.schema, np.where(gone, -1, table.codes), table.values, table.sample_weight))
    return replace(
        found,
        total_weight=found.total_weight + score.weight,
        log_likelihood=found.log_likelihood + score.log_likelihood,
        impossible=found.impossible + len(score.impossible),
    )
