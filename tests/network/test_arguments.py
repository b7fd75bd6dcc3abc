"""Graphs, evidence and networks in the forms that callers have them; what cannot be taken is named."""

import numpy as np
import pandas as pd
import pytest

from bayeslearn import (
    DAG,
    BayesianNetwork,
    BayesianNetworkClassifier,
    fit_network,
    fit_parameters,
    read_network,
    write_network,
)
from bayeslearn.errors import FormatError, ParameterError, UnknownColumnError
from bayeslearn.network import (
    ExactInference,
    LoopyPropagation,
    SampledInference,
    as_dag,
    compare_networks,
    fit_parameters_online,
    query_interval,
    shd,
)
from bayeslearn.network.formats import format_network, parse_network
from bayeslearn.network.inference.explanation import explain
from bayeslearn.network.inference.forward_sampling import draw

DATA = pd.DataFrame({"a": ["x", "y"] * 20, "b": ["u", "u", "v", "v"] * 10, "c": ["p", "q", "q", "q"] * 10})
CHAIN = DAG.parse("[a][b|a][c|b]")


@pytest.fixture(scope="module")
def asia():
    return read_network("asia")


class Graph:
    """A graph as networkx has them: nodes and edges are views."""

    def __init__(self, edges, *, directed=True, nodes=()):
        self.edges, self.directed = list(edges), directed
        self.nodes = list(dict.fromkeys([*nodes, *(node for edge in edges for node in edge)]))

    def is_directed(self):
        return self.directed

    def __iter__(self):
        return iter(self.nodes)


class Model:
    """A model of pgmpy: nodes() and edges() are methods."""

    def nodes(self):
        return ["a", "b", "c"]

    def edges(self):
        return [("a", "b"), ("b", "c")]


FORMS = {
    "model string": "[a][b|a][c|b]",
    "chain": "a -> b -> c",
    "chains": "a->b; c<-b",
    "arcs": [("a", "b"), ("b", "c")],
    "set": {("a", "b"), ("b", "c")},
    "lists": [["a", "b"], ["b", "c"]],
    "arrows": ["a -> b", "b->c"],
    "parents": {"b": "a", "c": ["b"]},
    "DiGraph": Graph([("a", "b"), ("b", "c")]),
    "pgmpy": Model(),
    "DAG": CHAIN,
}


@pytest.mark.parametrize("form", FORMS)
def test_a_graph_is_taken_in_every_form(form):
    assert as_dag(FORMS[form]) == CHAIN
    assert fit_parameters(FORMS[form], DATA) == fit_parameters(CHAIN, DATA)


def test_networks_and_fits_are_graphs_too(asia):
    fit = fit_network(DATA)

    assert as_dag(asia) is asia.dag
    assert as_dag(fit) == fit.dag
    assert shd(asia, asia.dag) == 0
    assert shd(Graph([("a", "b")]), "[b][a|b]") == 1


def test_every_function_of_graphs_takes_a_digraph():
    graph = Graph([("a", "b")])
    states = {"a": ["x", "y"], "b": ["u", "v"]}

    assert fit_parameters_online(graph, [DATA], states=states).network.dag == as_dag(graph)
    assert BayesianNetwork.from_tables(graph, {"a": [0.5, 0.5], "b": np.eye(2)}, states=states).dag == as_dag(graph)
    model = BayesianNetworkClassifier(structure=Graph([("c", "a"), ("c", "b")]), target="c")
    naive = BayesianNetworkClassifier(structure="naive_bayes", target="c")
    X, y = DATA[["a", "b"]], DATA["c"]
    np.testing.assert_allclose(model.fit(X, y).predict_proba(X), naive.fit(X, y).predict_proba(X), rtol=1e-12)


def test_graphs_of_networkx_are_graphs():
    nx = pytest.importorskip("networkx")
    graph = nx.DiGraph([("a", "b"), ("b", "c")])

    assert as_dag(graph) == CHAIN
    assert fit_parameters(graph, DATA) == fit_parameters(CHAIN, DATA)
    with pytest.raises(ParameterError, match="the edges of a Graph have no direction"):
        as_dag(nx.Graph(graph))


def test_networks_of_pyagrum_are_graphs():
    gum = pytest.importorskip("pyagrum")

    assert as_dag(gum.fastBN("a->b->c")) == CHAIN


def test_nodes_without_arcs_stay():
    graph = Graph([("a", "b")], nodes=["a", "b", "c"])

    assert as_dag(graph) == as_dag("a -> b; c") == DAG.parse("[a][b|a][c]")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (Graph([("a", "b")], directed=False), "the edges of a Graph have no direction"),
        (["a", "b"], r"an arc must be a pair \(parent, child\), got 'a'"),
        (None, "a structure must be a graph, got NoneType"),
        (3, "a structure must be a graph, got int"),
        (DATA, "a structure must be a graph, got DataFrame"),
        ("a ->", "an arc has no node at one end"),
        ([("a", "b"), ("b", "a")], "the arcs form a cycle"),
        (Graph([(1, 2)]), "the name of a node must be text, got 1"),
    ],
)
def test_what_is_no_graph_is_named(given, message):
    with pytest.raises(ParameterError, match=message):
        fit_parameters(given, DATA)


@pytest.mark.parametrize("given", [[("a", "b")], "[a][b|a]", Graph([("a", "b")])])
def test_a_dag_says_how_else_to_make_one(given):
    with pytest.raises(ParameterError, match=r"a DAG maps every node to its parents[\s\S]*as_dag"):
        DAG(given)
    with pytest.raises((ParameterError, FormatError), match=r"a graph as text is text|not a model string"):
        DAG.parse(given if not isinstance(given, str) else "x")


### evidence

EVIDENCE = {
    "dict": {"smoke": "yes", "xray": "no"},
    "pairs": [("smoke", "yes"), ("xray", "no")],
    "text": "smoke=yes, xray = no",
    "texts": ["smoke=yes", "xray=no"],
    "row": pd.Series({"smoke": "yes", "dysp": None, "lung": np.nan, "bronc": pd.NA, "xray": "no"}),
}


@pytest.mark.parametrize("form", EVIDENCE)
def test_evidence_is_taken_in_every_form(asia, form):
    given, plain = EVIDENCE[form], EVIDENCE["dict"]
    expected = asia.query(plain)

    assert asia.query(given) == expected
    assert asia.inference.log_evidence(given) == pytest.approx(expected.log_evidence, rel=1e-12)
    assert asia.most_probable(given) == asia.most_probable(plain)
    assert np.array_equal(
        asia.inference.joint(["lung", "tub"], given).probabilities,
        asia.inference.joint(["lung", "tub"], plain).probabilities,
    )
    assert asia.inference.session().observe(given)["lung"] == asia.inference.session().observe(plain)["lung"]
    assert LoopyPropagation(asia).query(given) == LoopyPropagation(asia).query(plain)
    assert SampledInference(asia).query(given, n_samples=500, random_state=0) == SampledInference(asia).query(
        plain, n_samples=500, random_state=0
    )
    assert asia.explain(given, "lung") == asia.explain(plain, "lung")
    assert asia.to_svg(given) == asia.to_svg(plain)
    assert asia.do(given) == asia.do(plain)


def test_states_that_are_no_text_are_found_by_how_they_are_written():
    network = fit_parameters("[a][b|a]", {"a": [True, False, True], "b": [1, 2, 2]}, states={"b": [1, 2]})

    assert network.query("a=True").evidence == {"a": True}
    assert network.query("b=2").evidence == {"b": 2}


def test_names_alone_are_variables(asia):
    assert asia.query("lung") == asia.query({}, "lung")
    assert asia.query(["lung", "bronc"]) == asia.query({}, ["lung", "bronc"])
    assert asia.most_probable(["lung"]).case == asia.most_probable({}, ["lung"]).case


@pytest.mark.parametrize("given", [["lung", "snow"], "snow", 5, {"lung"}, [("a", "b", "c")]])
def test_what_is_no_evidence_is_named(asia, given):
    with pytest.raises(ParameterError, match=r"evidence must map variables[\s\S]*variables=\[\"lung\"\]"):
        asia.query(given)


def test_a_table_is_no_evidence(asia):
    with pytest.raises(ParameterError, match=r"evidence is one observation, got a DataFrame[\s\S]*predict_proba"):
        asia.query(pd.DataFrame([{"smoke": "yes"}]))


def test_one_variable_is_asked_for_by_its_name(asia):
    plain = asia.query({"smoke": "yes"}, variables=["lung"])

    assert asia.query({"smoke": "yes"}, variables="lung") == plain
    assert asia.query({"smoke": "yes"}, "lung") == plain
    assert asia.most_probable({"smoke": "yes"}, variables="lung").case == {"lung": "no"}
    assert set(asia.predict_proba([{"smoke": "yes"}], variables="lung").beliefs) == {"lung"}
    assert asia.inference.joint("lung").names == ("lung",)
    assert set(LoopyPropagation(asia).query(variables="lung").beliefs) == {"lung"}
    assert set(SampledInference(asia).query(variables="lung", n_samples=100, random_state=0).beliefs) == {"lung"}
    fitted = fit_parameters(CHAIN, DATA, prior="laplace")
    assert set(query_interval(fitted, "a=x", "b", n_samples=10, random_state=0).intervals) == {"b"}


def test_asking_for_a_list_where_one_variable_is_meant(asia):
    for ask in (lambda: asia.predict([{"smoke": "yes"}], ["lung"]), lambda: asia.explain({"smoke": "yes"}, ["lung"])):
        with pytest.raises(UnknownColumnError, match=r"there is no variable \['lung'\]"):
            ask()


### networks


def test_functions_of_networks_take_networks_engines_and_fits(asia):
    fit = fit_network(DATA)

    assert read_network(asia) is asia
    assert explain(asia, {"xray": "yes"}, "lung") == explain(asia.inference, {"xray": "yes"}, "lung")
    assert (
        ExactInference(asia.inference).network
        is LoopyPropagation(asia.inference).network
        is SampledInference(asia.inference).network
        is asia
    )
    assert draw(asia.inference, 5, random_state=0) == asia.sample(5, random_state=0)
    assert compare_networks(fit, fit).distance == 0
    assert format_network(fit, "bif") == format_network(fit, "bif")


@pytest.mark.parametrize(
    "ask",
    [
        lambda: explain("asia", {"xray": "yes"}, "lung"),
        lambda: ExactInference("asia"),
        lambda: SampledInference("asia"),
        lambda: LoopyPropagation("asia"),
        lambda: draw("asia", 5),
        lambda: compare_networks("asia", "asia"),
        lambda: format_network("asia", "bif"),
        lambda: write_network("asia", "net.bif"),
    ],
)
def test_the_name_of_a_file_is_no_network(ask):
    with pytest.raises(ParameterError, match=r"expected a Bayesian network, got str[\s\S]*read_network\('asia'\)"):
        ask()


def test_a_graph_is_no_network():
    with pytest.raises(ParameterError, match=r"expected a Bayesian network, got DAG[\s\S]*fit_parameters"):
        compare_networks(CHAIN, CHAIN)


@pytest.mark.parametrize("path", [None, 5, ["asia"]])
def test_what_is_no_path_is_named(asia, path):
    with pytest.raises(ParameterError, match="expected the name of a file, got"):
        read_network(path)
    with pytest.raises(ParameterError, match="expected the name of a file, got"):
        write_network(asia, path)


def test_bytes_are_no_text_of_a_network():
    with pytest.raises(ParameterError, match="expected the text of a network, got bytes"):
        parse_network(b"BAYES", "uai")
