"""Networks and graphs of other libraries, there and back, with the answers that these libraries give."""

from __future__ import annotations

import contextlib
import itertools
import subprocess
import sys
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeslearn import DAG, BayesianNetwork, datasets, read_network
from bayeslearn.errors import CycleError, FormatError, ParameterError
from bayeslearn.network import as_dag
from tests.oracle import networks as slow
from tests.properties import trials

#: Parents and states whose order matters: sizes and every row differ.
UNEVEN = BayesianNetwork.from_tables(
    {"a": [], "b": [], "c": ["b", "a"]},
    {
        "a": [0.2, 0.8],
        "b": [0.5, 0.3, 0.2],
        "c": np.random.default_rng(0).dirichlet(np.ones(4), size=(3, 2)),
    },
    states={"a": ["no", "yes"], "b": ["low", "mid", "high"], "c": ["n", "e", "s", "w"]},
    name="uneven",
)
SHIPPED = {name: read_network(name) for name in datasets.list_networks()}
NETWORKS = SHIPPED | {"uneven": UNEVEN}

each_network = pytest.mark.parametrize("network", NETWORKS.values(), ids=NETWORKS)


@pytest.fixture(scope="module")
def gum():
    return pytest.importorskip("pyagrum")


@pytest.fixture(scope="module")
def pgmpy():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("pgmpy.inference")


def evidences(network):
    """No evidence, and each of some states of the last variable."""
    last = network.variables[-1]
    return [{}, *({last: state} for state in network.states(last)[:3])]


### pyAgrum


def beliefs_of_agrum(gum, net, evidence):
    engine = gum.LazyPropagation(net)
    engine.setEvidence({name: str(state) for name, state in evidence.items()})
    engine.makeInference()
    return {name: engine.posterior(name).toarray() for name in net.names()}


@each_network
def test_pyagrum_gives_the_same_answers(gum, network):
    net = network.to_pyagrum()
    for evidence in evidences(network):
        ours, theirs = network.query(evidence), beliefs_of_agrum(gum, net, evidence)
        for name, belief in ours.beliefs.items():
            np.testing.assert_allclose(list(belief.values()), theirs[name], rtol=0, atol=1e-9)


@each_network
def test_pyagrum_and_back(gum, network):
    again = BayesianNetwork.from_pyagrum(network.to_pyagrum())
    assert again == network
    assert again.name == network.name


def test_networks_of_pyagrum(gum):
    net = gum.fastBN("a{x|y|z}->c[3,5]<-b{-1|5};d[1,2.5,3.9]->b<-e{-0.5|5.01}", 4)
    found = BayesianNetwork.from_pyagrum(net)
    assert found.states("a") == ("x", "y", "z")
    assert (found.states("b"), found.states("c")) == ((-1, 5), (3, 4, 5))
    assert (found.states("d"), found.states("e")) == (("[1;2.5[", "[2.5;3.9]"), (-0.5, 5.01))
    for evidence in ({}, {"c": 4}):
        theirs = beliefs_of_agrum(gum, net, evidence)
        for name, belief in found.query(evidence).beliefs.items():
            np.testing.assert_allclose(list(belief.values()), theirs[name], rtol=0, atol=1e-9)


def test_states_that_are_written_alike_do_not_reach_pyagrum(gum):
    network = BayesianNetwork.from_tables("[x]", {"x": [0.3, 0.7]}, states={"x": (1, "1")})
    with pytest.raises(FormatError, match="two states of 'x' are both written '1'"):
        network.to_pyagrum()


### pgmpy


@each_network
@pytest.mark.filterwarnings("ignore")
def test_pgmpy_gives_the_same_answers(pgmpy, network):
    model = network.to_pgmpy()
    assert model.check_model()
    engine = pgmpy.VariableElimination(model)
    for evidence in evidences(network):
        ours = network.query(evidence)
        for name in list(ours.beliefs)[:8]:
            found = engine.query([name], evidence=evidence, show_progress=False)
            theirs = dict(zip(found.state_names[name], found.values, strict=True))
            assert {state: float(theirs[state]) for state in ours[name]} == pytest.approx(ours[name], rel=0, abs=1e-9)


@each_network
@pytest.mark.filterwarnings("ignore")
def test_pgmpy_and_back(pgmpy, network):
    assert BayesianNetwork.from_pgmpy(network.to_pgmpy()) == network


class Cpd:
    """What pgmpy calls a TabularCPD."""

    def __init__(self, values, states):
        self.values, self.state_names, self.variables = np.asarray(values), states, list(states)


class Model:
    """What pgmpy calls a DiscreteBayesianNetwork."""

    def __init__(self, *cpds):
        self.cpds = {cpd.variables[0]: cpd for cpd in cpds}

    def nodes(self):
        return list(self.cpds)

    def get_cpds(self, node):
        return self.cpds[node]


def test_each_axis_of_pgmpy_has_its_own_order_of_states():
    a = Cpd([0.25, 0.75], {"a": ["x", "y"]})
    b = Cpd([[0.1, 0.4], [0.9, 0.6]], {"b": [np.int64(0), np.int64(1)], "a": ["y", "x"]})
    found = BayesianNetwork.from_pgmpy(Model(a, b))
    assert found["b"].probabilities.tolist() == [[0.4, 0.6], [0.1, 0.9]]
    assert [type(state) for state in found.states("b")] == [int, int]


def test_a_node_of_pgmpy_without_a_table_is_named():
    with pytest.raises(ParameterError, match="the nodes 'b' have no TabularCPD"):
        BayesianNetwork.from_pgmpy(Model(Cpd([0.25, 0.75], {"a": ["x", "y"]}), type("", (), {"variables": ["b"]})()))


### networkx and rustworkx


@each_network
def test_networkx_and_back(network):
    graph = network.to_networkx()
    again = BayesianNetwork.from_networkx(graph)
    assert again == network
    assert again.name == network.name
    assert DAG.from_networkx(graph) == as_dag(graph) == network.dag
    assert DAG.from_networkx(network.dag.to_networkx()) == network.dag


def test_a_copy_of_a_graph_that_lists_edges_otherwise_is_the_same_network():
    networkx = pytest.importorskip("networkx")
    graph = UNEVEN.to_networkx()
    copy = networkx.DiGraph()
    copy.add_nodes_from(list(graph.nodes(data=True))[::-1])
    copy.add_edges_from(list(graph.edges())[::-1])
    assert BayesianNetwork.from_networkx(copy) == UNEVEN


def test_graphs_that_are_no_networks_are_refused():
    networkx = pytest.importorskip("networkx")
    with pytest.raises(ParameterError, match=r"'A', 'B' lack one of the attributes[\s\S]*fit_parameters"):
        BayesianNetwork.from_networkx(networkx.DiGraph([("A", "B")]))
    with pytest.raises(ParameterError, match="no direction"):
        DAG.from_networkx(networkx.Graph([("A", "B")]))
    with pytest.raises(CycleError, match="cycle"):
        DAG.from_networkx(networkx.DiGraph([("A", "B"), ("B", "A")]))
    graph = UNEVEN.to_networkx()
    graph.remove_edge("a", "c")
    with pytest.raises(ParameterError, match=r"the parents of 'c' are 'b', 'a', but its predecessors in the graph 'b'"):
        BayesianNetwork.from_networkx(graph)


def test_rustworkx_and_back():
    rustworkx = pytest.importorskip("rustworkx")
    graph = UNEVEN.to_rustworkx()
    assert isinstance(graph, rustworkx.PyDiGraph)
    assert graph.nodes() == list(UNEVEN)
    assert as_dag(graph) == as_dag(UNEVEN.dag.to_rustworkx()) == UNEVEN.dag
    assert rustworkx.is_directed_acyclic_graph(UNEVEN.dag.to_rustworkx())
    with pytest.raises(ParameterError, match="no direction"):
        as_dag(rustworkx.PyGraph())


### text


@given(seed=st.integers(0, 100_000), n=st.integers(1, 8))
@trials(50)
def test_text_and_back(seed, n):
    dag = slow.random_network(seed, n).dag
    for text in (dag.to_bnlearn(), dag.to_dagitty()):
        assert DAG.parse(text) == as_dag(text) == dag
    assert DAG.from_bnlearn(dag.to_bnlearn()).families == dag.families  # with the order of nodes and parents
    assert DAG.from_dagitty(dag.to_dagitty()).families == dag.families


ODD = ["wind speed", "a-b", "é", "日本", "x->y", "{", "1", "a,b", "dag", "it's", "a:b", "[", "|", "->"]


@pytest.mark.parametrize("name", ODD)
def test_odd_names_go_through_dagitty(name):
    dag = DAG({name: (), "B": (name,)})
    assert DAG.from_dagitty(dag.to_dagitty()) == dag


@pytest.mark.parametrize("name", ["a:b", "[", "x]", "|", " a", "a ", "\n"])
def test_names_that_a_model_string_cannot_hold_are_refused(name):
    with pytest.raises(FormatError, match="a model string cannot carry the name"):
        DAG({name: ()}).to_bnlearn()


@pytest.mark.parametrize("name", ['say "x"', "\x1b", ""])
def test_names_that_dagitty_cannot_hold_are_refused(name):
    with pytest.raises(FormatError, match="dagitty cannot carry the name"):
        DAG({name: ()}).to_dagitty()


@pytest.mark.parametrize(
    ("text", "model"),
    [
        ("dag{A->B}", "[A][B|A]"),
        ("dag { A -> B B -> C }", "[A][B|A][C|B]"),
        ("dag { A -> B <- C -> D }", "[A][B|A:C][C][D|C]"),
        ("dag { A -> { B C } ; D }", "[A][B|A][C|A][D]"),
        ("dag { {A B} -> C [beta=.3] }", "[A][B][C|A:B]"),
        ('dag m {\nbb="-5,-4,7,3"\nA [exposure,pos="-2.2,-1.5"]\nB [outcome]\nA -> B\n}\n', "[A][B|A]"),
        ('dag { "wind speed" -> B_1 ; "wind speed" [pos="0,]1"] }', "[wind speed][B_1|wind speed]"),
        ("dag { A -> B\nA -> B }", "[A][B|A]"),
        ("dag { x-ray -> a.b }", "[x-ray][a.b|x-ray]"),
    ],
)
def test_graphs_as_dagitty_writes_them(text, model):
    assert DAG.from_dagitty(text) == DAG.parse(text) == DAG.from_bnlearn(model)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("dag { A <-> B }", "line 1 of the graph: a DAG has no edge '<->'"),
        ("dag {\nA\nA -- B }", "line 3 of the graph: a DAG has no edge '--'"),
        ("pdag { A -- B }", "expected a graph of dagitty, dag { ... }, found a pdag"),
        ("A -> B", "expected a graph of dagitty"),
        ("dag { A -> ", "expected the name of a node, found the end of the text"),
        ("dag { A -> }", "expected the name of a node, found '}'"),
        ("dag { A -> B } C", "expected the end of the graph, found 'C'"),
        ("dag { A -> { B ", "expected the name of a node, found the end of the text"),
        ("dag { A -> B", "expected the name of a node, found the end of the text"),
        ('dag { "A -> B }', "expected the name of a node"),
    ],
)
def test_graphs_of_dagitty_that_are_refused(text, message):
    with pytest.raises(FormatError) as caught:
        DAG.from_dagitty(text)
    assert message in str(caught.value)


@given(st.text(alphabet='dag {}[]->< ;,="AB|:\n\\', max_size=40))
@trials(200)
def test_whatever_a_text_holds_it_is_a_graph_or_an_error(text):
    for begin in ("dag {", ""):
        with contextlib.suppress(FormatError, ParameterError, CycleError):
            DAG.parse(begin + text)


### libraries that are not there


WITHOUT = """
import sys
from importlib.abc import MetaPathFinder
from bayeslearn import DAG, read_network
from bayeslearn.errors import MissingDependencyError

class Nothing(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] in {"networkx", "pgmpy", "pyagrum"}:
            raise ModuleNotFoundError(name, name=name)

assert not {"networkx", "pgmpy", "pyagrum"} & set(sys.modules)
sys.meta_path.insert(0, Nothing())
net = read_network("asia")
for convert in (net.to_networkx, net.dag.to_networkx, net.to_pgmpy, net.to_pyagrum):
    try:
        convert()
    except MissingDependencyError as error:
        print(error.message, error.hint)
"""


def test_libraries_that_are_not_there():
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        f"{what} need the optional package {name!r}, which is not installed pip install 'bayeslearn[interop]'"
        for name, what in itertools.chain(
            [("networkx", "graphs of networkx")] * 2,
            [("pgmpy", "networks of pgmpy"), ("pyagrum", "networks of pyAgrum")],
        )
    ]
