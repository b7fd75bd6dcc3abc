"""Graphs and networks of other libraries: networkx, rustworkx, pgmpy and pyAgrum.

No library is imported before one of its functions is called. The axes of a CPT are the parents in their order, then the
variable itself; pgmpy has the variable first, pyAgrum has the axes in reverse order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import lazy_imports
from bayeslearn.errors import ParameterError, listed
from bayeslearn.network.cpt import CPT
from bayeslearn.tables.variables import DiscreteVariable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import ArrayLike

    from bayeslearn.network.cpt import Factorization
    from bayeslearn.network.dag import DAG

    Graph = tuple[list[str], list[tuple[str, str]]]

networkx: Any = lazy_imports.Optional("networkx", "graphs of networkx", "interop")
pgmpy_models: Any = lazy_imports.Optional("pgmpy.models", "networks of pgmpy", "interop")
pgmpy_factors: Any = lazy_imports.Optional("pgmpy.factors.discrete", "networks of pgmpy", "interop")
pyagrum: Any = lazy_imports.Optional("pyagrum", "networks of pyAgrum", "interop")

### graphs


def is_graph(graph: Any) -> bool:
    """Whether an object is a graph of another library, with nodes and edges or arcs."""
    return hasattr(graph, "nodes") and (hasattr(graph, "edges") or hasattr(graph, "arcs"))


def graph_of(graph: Any) -> Graph:
    """The nodes and arcs of a graph of networkx, rustworkx, pgmpy or pyAgrum."""
    if hasattr(graph, "arcs") and hasattr(graph, "variable"):
        return agrum_graph(graph)
    require_directed(graph)
    if hasattr(graph, "node_indices"):
        return rustworkx_graph(graph)
    nodes = graph.nodes() if callable(graph.nodes) else graph.nodes
    edges = graph.edges() if callable(graph.edges) else graph.edges
    return list(nodes), [tuple(edge)[:2] for edge in edges]


def require_directed(graph: Any) -> None:
    """Refuse a graph without directions."""
    directed = getattr(graph, "is_directed", None)
    if (callable(directed) and not directed()) or type(graph).__name__ == "PyGraph":
        raise ParameterError(
            f"the edges of a {type(graph).__name__} have no direction", hint="give a DiGraph, or a list of arcs"
        )


def rustworkx_graph(graph: Any) -> Graph:
    """The nodes and arcs of a graph of rustworkx, whose nodes hold names, or something with a name."""
    names = {index: getattr(graph[index], "name", graph[index]) for index in graph.node_indices()}
    return list(names.values()), [(names[a], names[b]) for a, b in graph.edge_list()]


def agrum_graph(network: Any) -> Graph:
    """The nodes and arcs of a network of pyAgrum: its nodes are numbers with names."""
    names = {node: network.variable(node).name() for node in network.nodes()}
    return [names[node] for node in sorted(names)], [(names[a], names[b]) for a, b in sorted(network.arcs())]


def dag_to_networkx(dag: DAG) -> Any:
    """A DiGraph of the names."""
    graph = networkx.DiGraph()
    graph.add_nodes_from(dag.nodes)
    graph.add_edges_from(dag.arcs)
    return graph


def to_rustworkx(dag: DAG, nodes: Mapping[str, Any]) -> Any:
    """A PyDiGraph whose nodes hold these objects, and whose edges hold nothing."""
    import rustworkx  # noqa: PLC0415 - loads when it is asked for

    graph = rustworkx.PyDiGraph()
    index = dict(zip(dag, graph.add_nodes_from([nodes[node] for node in dag]), strict=True))
    graph.add_edges_from_no_data([(index[parent], index[child]) for parent, child in dag.arcs])
    return graph


### networks in networkx


def network_to_networkx(network: Factorization) -> Any:
    """A DiGraph with the states, the parents in their order and the probabilities of each node."""
    graph = dag_to_networkx(network.dag)
    graph.graph["name"] = network.name
    for cpt in network:
        parents = tuple(v.name for v in cpt.parents)
        graph.nodes[cpt.name].update(states=cpt.variable.states, parents=parents, probabilities=cpt.probabilities)
    return graph


def cpts_from_networkx(graph: Any) -> tuple[CPT, ...]:
    """The CPTs of a DiGraph whose nodes have states and probabilities."""
    require_directed(graph)
    held = dict(graph.nodes(data=True))
    bare = [node for node, attributes in held.items() if not {"states", "parents", "probabilities"} <= set(attributes)]
    if bare:
        raise ParameterError(
            f"the nodes {listed(bare)} lack one of the attributes 'states', 'parents' and 'probabilities'",
            hint="a graph has no probabilities; fit_parameters(graph, data) estimates them",
        )
    for node, attributes in held.items():
        if set(attributes["parents"]) != set(graph.predecessors(node)):
            raise ParameterError(
                f"the parents of {node!r} are {listed(attributes['parents'])}, but its predecessors in the graph "
                f"{listed(graph.predecessors(node))}",
                hint="change arcs in the network: BayesianNetwork.from_tables",
            )
    variables = {node: DiscreteVariable(node, tuple(attributes["states"])) for node, attributes in held.items()}
    return tuple(
        CPT(variables[node], tuple(variables[p] for p in attributes["parents"]), attributes["probabilities"])
        for node, attributes in held.items()
    )


### pgmpy


def to_pgmpy(network: Factorization) -> Any:
    """A DiscreteBayesianNetwork of pgmpy."""
    model = pgmpy_models.DiscreteBayesianNetwork()
    model.add_nodes_from(network.variables)
    model.add_edges_from(network.dag.arcs)
    for cpt in network:
        p = np.moveaxis(cpt.probabilities, -1, 0).reshape(cpt.variable.n_states, -1)
        parents = [v.name for v in cpt.parents]
        states = {v.name: list(v.states) for v in (cpt.variable, *cpt.parents)}
        sizes = [v.n_states for v in cpt.parents]
        model.add_cpds(
            pgmpy_factors.TabularCPD(
                cpt.name, cpt.variable.n_states, p, parents or None, sizes or None, state_names=states
            )
        )
    return model


def cpts_from_pgmpy(model: Any) -> tuple[CPT, ...]:
    """The CPTs of a discrete network of pgmpy."""
    nodes = list(model.nodes())
    cpds = {node: model.get_cpds(node) for node in nodes}
    bare = [node for node, cpd in cpds.items() if not hasattr(cpd, "state_names")]
    if bare:
        raise ParameterError(
            f"the nodes {listed(bare)} have no TabularCPD",
            hint="add one to each node with add_cpds, or take the graph only: DAG.from_networkx(model)",
        )
    variables = {node: DiscreteVariable(str(node), plain_states(cpd.state_names[node])) for node, cpd in cpds.items()}
    return tuple(cpt_from_pgmpy(cpd, variables) for cpd in cpds.values())


def cpt_from_pgmpy(cpd: Any, variables: Mapping[Any, DiscreteVariable]) -> CPT:
    """One CPT; the states of each axis are brought into the order that the variable itself has them in."""
    names, p = list(cpd.variables), np.asarray(cpd.values, dtype=float)
    for axis, name in enumerate(names):
        places = {state: i for i, state in enumerate(plain_states(cpd.state_names[name]))}
        p = np.take(p, [places[state] for state in variables[name].states], axis=axis)
    child, *parents = (variables[name] for name in names)
    return CPT(child, tuple(parents), np.moveaxis(p, 0, -1))


def plain_states(states: Iterable[Any]) -> tuple[Any, ...]:
    """States as Python has them."""
    return tuple(state.item() if isinstance(state, np.generic) else state for state in states)


### pyAgrum


def to_pyagrum(network: Factorization) -> Any:
    """A BayesNet of pyAgrum; its states are text."""
    from bayeslearn.network.formats.network_builder import state_names  # noqa: PLC0415 - loads when it is asked for

    net = pyagrum.BayesNet(network.name)
    for cpt in network:
        net.add(pyagrum.LabelizedVariable(cpt.name, cpt.name, state_names(cpt.variable)))
    for parent, child in network.dag.arcs:
        net.addArc(parent, child)
    for cpt in network:
        cell = net.cpt(cpt.name)
        p = reordered(cpt.probabilities, [*(v.name for v in cpt.parents), cpt.name], cell.names[::-1])
        cell.fillWith(p.reshape(-1).tolist())
    return net


def cpts_from_pyagrum(net: Any) -> tuple[CPT, ...]:
    """The CPTs of a BayesNet of pyAgrum."""
    variables = {net.variable(node).name(): agrum_variable(net.variable(node)) for node in sorted(net.nodes())}
    return tuple(cpt_from_pyagrum(net.cpt(name), variables) for name in variables)


def cpt_from_pyagrum(cell: Any, variables: Mapping[str, DiscreteVariable]) -> CPT:
    """One CPT."""
    child, *parents = cell.names
    p = reordered(cell.toarray(), cell.names[::-1], [*parents, child])
    return CPT(variables[child], tuple(variables[name] for name in parents), p)


def agrum_variable(variable: Any) -> DiscreteVariable:
    """A variable with its labels, which are numbers where pyAgrum has such."""
    kinds = {pyagrum.VarType_RANGE: int, pyagrum.VarType_INTEGER: int, pyagrum.VarType_NUMERICAL: float}
    return DiscreteVariable(variable.name(), tuple(map(kinds.get(variable.varType(), str), variable.labels())))


def reordered(p: ArrayLike, names: Sequence[str], wanted: Sequence[str]) -> Any:
    """An array with its axes in another order."""
    return np.transpose(p, [list(names).index(name) for name in wanted])
