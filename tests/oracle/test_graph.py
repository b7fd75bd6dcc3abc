"""Separation and equivalence: laws first, then enumeration of paths, graphs and subsets."""

from functools import cache
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeslearn.network import DAG, BayesianNetwork
from tests.oracle import graph as slow
from tests.properties import trials


@st.composite
def dags(draw, most=6):
    """A graph over a to f, its nodes given in random order."""
    nodes = draw(st.permutations("abcdef"[: draw(st.integers(1, most))]))
    order = draw(st.permutations(nodes))
    arcs = [pair for pair in combinations(order, 2) if draw(st.booleans())]
    return DAG.from_arcs(arcs, nodes)


@st.composite
def dags_with_sets(draw, n_sets, most=6):
    """A graph, and so many sets of its nodes without common nodes; some may be empty."""
    dag = draw(dags(most))
    place = {node: draw(st.integers(0, n_sets)) for node in dag}
    return dag, *[{node for node in dag if place[node] == i} for i in range(n_sets)]


def plain(dag):
    return dict(dag.families)


@cache
def classes_of_four():
    return slow.classes(slow.every_dag("abcd"))


### laws


@given(dags_with_sets(4))
def test_separation_is_a_graphoid_with_composition(case):
    dag, x, y, z, w = case
    sep = dag.d_separated
    assert sep(x, y, z) == sep(y, x, z)
    assert sep(x, y | w, z) == (sep(x, y, z) and sep(x, w, z))  # decomposition and composition
    if sep(x, y | w, z):
        assert sep(x, y, z | w)  # weak union
    if sep(x, y, z) and sep(x, w, z | y):
        assert sep(x, y | w, z)  # contraction
    if sep(x, y, z | w) and sep(x, w, z | y):
        assert sep(x, y | w, z)  # intersection


@given(dags_with_sets(3), st.data())
def test_weak_transitivity(case, data):
    dag, x, y, z = case
    rest = sorted(set(dag) - x - y - z)
    if rest and dag.d_separated(x, y, z):
        node = {data.draw(st.sampled_from(rest))}
        if dag.d_separated(x, y, z | node):
            assert dag.d_separated(x, node, z) or dag.d_separated(node, y, z)


@given(dags())
def test_local_markov_property_and_blanket(dag):
    for node in dag:
        others = set(dag) - {node}
        parents, blanket = set(dag.parents(node)), dag.markov_blanket(node)
        assert dag.d_separated(node, others - parents - dag.descendants(node), parents)
        assert dag.d_separated(node, others - blanket, blanket)
        for one in blanket:  # none could be left out
            assert not dag.d_separated(node, one, blanket - {one})


@given(dags_with_sets(2))
def test_connected_nodes_are_those_that_are_not_separated(case):
    dag, a, z = case
    rest = set(dag) - a - z
    assert dag.connected_given(a, z) == {n for n in rest if not dag.d_separated(a, n, z)}


@trials(50)
@given(dags(most=4), st.integers(0, 2**32 - 1))
def test_separated_in_the_graph_is_independent_in_the_probabilities(dag, seed):
    """Random tables are faithful: they show all that the graph says, and nothing more."""
    rng = np.random.default_rng(seed)
    tables = {n: rng.dirichlet([1, 1, 1], size=[3] * len(dag.parents(n))) for n in dag}
    net = BayesianNetwork.from_tables(dag, tables, states={n: [0, 1, 2] for n in dag})
    cases = list(product(range(3), repeat=len(dag)))
    joint = np.exp(net.log_joint(dict(zip(dag.nodes, zip(*cases, strict=True), strict=True)))).reshape([3] * len(dag))
    np.testing.assert_allclose(joint.sum(), 1, rtol=1e-12)
    axis = {node: i for i, node in enumerate(dag.nodes)}
    for a, b in combinations(dag.nodes, 2):
        for z in slow.subsets(set(dag) - {a, b}):
            drop = tuple(axis[n] for n in dag if n not in {a, b, *z})
            p = joint.sum(axis=drop, keepdims=True)
            p_a, p_b, p_z = (p.sum(axis=k, keepdims=True) for k in (axis[b], axis[a], (axis[a], axis[b])))
            gap = np.abs(p * p_z - p_a * p_b).max()
            assert gap < 1e-14 if dag.d_separated(a, b, z) else gap > 1e-14


@given(dags(), st.randoms(use_true_random=False))
def test_the_order_of_nodes_and_parents_is_irrelevant(dag, random):
    nodes = random.sample(dag.nodes, len(dag))
    other = DAG({n: tuple(random.sample(dag.parents(n), len(dag.parents(n)))) for n in nodes})
    assert other == dag
    assert hash(other) == hash(dag)
    assert (other.cpdag(), other.moral, other.v_structures) == (dag.cpdag(), dag.moral, dag.v_structures)
    assert other.equivalent(dag)
    assert other.shd(dag) == 0


@given(st.data())
def test_the_distance_is_a_metric(data):
    graphs = [DAG.from_arcs(data.draw(dags(most=4)).arcs, nodes=list("abcd")) for _ in range(3)]
    for a, b, c in (graphs, [g.cpdag() for g in graphs]):
        assert (a.shd(b) == 0) == (a == b)
        assert a.shd(b) == b.shd(a)
        assert a.shd(c) <= a.shd(b) + b.shd(c)
        assert len(a.skeleton ^ b.skeleton) <= a.shd(b) <= len(a.skeleton | b.skeleton)


@given(dags())
def test_every_node_comes_after_its_parents_and_otherwise_as_given(dag):
    assert sorted(dag.order) == sorted(dag.nodes)
    assert all(dag.order.index(p) < dag.order.index(n) for p, n in dag.arcs)
    sorted_already = DAG({n: dag.parents(n) for n in dag.order})
    assert sorted_already.order == dag.order


@given(dags())
def test_model_strings_come_back(dag):
    again = DAG.parse(str(dag))
    assert (again, again.nodes, dict(again.families)) == (dag, dag.nodes, plain(dag))


### the slow twins


@given(dags())
def test_relatives(dag):
    graph = plain(dag)
    assert dag.skeleton == slow.pairs(graph)
    assert dag.moral == slow.moral(graph)
    for node in dag:
        assert dag.ancestors(node) == slow.ancestors(graph, node)
        assert dag.descendants(node) == slow.descendants(graph, node)
        assert set(dag.children(node)) == {n for n in graph if node in graph[n]}
        assert dag.markov_blanket(node) == {n for pair in slow.moral(graph) if node in pair for n in pair - {node}}


@given(dags_with_sets(3))
def test_separation_against_all_paths_and_against_the_moral_graph(case):
    dag, a, b, z = case
    answer = dag.d_separated(a, b, z)
    assert answer == slow.separated(plain(dag), a, b, z)
    assert answer == slow.separated_in_moral_graph(plain(dag), a, b, z)


def test_separation_in_every_graph_over_four_nodes():
    for graph in slow.every_dag("abcd"):
        dag = DAG(graph)
        said = {
            (a, b, frozenset(z))
            for a, b in combinations("abcd", 2)
            for z in slow.subsets(set("abcd") - {a, b})
            if dag.d_separated(a, b, z)
        }
        assert said == slow.statements(graph)


@given(dags_with_sets(3))
def test_the_explanation_is_a_shortest_open_path(case):
    dag, a, b, z = case
    graph, found = plain(dag), dag.active_path(a, b, z)
    every = [path for x in a for y in b for path in slow.open_paths(graph, x, y, z)]
    if found is None:
        assert not every
        return
    assert len(found.nodes) == min(map(len, every))
    assert list(found.nodes) in every
    for (left, right), arrow in zip(zip(found.nodes, found.nodes[1:], strict=False), found.arrows, strict=True):
        assert (left in graph[right]) if arrow == "→" else (right in graph[left])
    triples = list(zip(found.nodes, found.nodes[1:], found.nodes[2:], strict=False))
    assert [m for m, _ in found.opened] == [m for x, m, y in triples if x in graph[m] and y in graph[m]]
    assert all(below in z and below in {m} | slow.descendants(graph, m) for m, below in found.opened)


@given(dags_with_sets(2, most=5), st.data())
def test_minimal_separators_against_all_subsets(case, data):
    dag, a, b = case
    among = data.draw(st.sets(st.sampled_from(dag.nodes)) | st.none())
    every = slow.minimal_separators(plain(dag), a, b, set(dag) if among is None else among)
    found = dag.minimal_separator(a, b, among=among)
    assert found in every if every else found is None


def test_minimal_separators_in_every_graph_over_four_nodes():
    for graph in slow.every_dag("abcd"):
        for among in slow.subsets("cd"):
            every = slow.minimal_separators(graph, "a", "b", among)
            found = DAG(graph).minimal_separator("a", "b", among=among)
            assert found in every if every else found is None


def test_classes_of_four_nodes_against_what_their_members_say():
    groups = classes_of_four()
    assert (sum(map(len, groups)), len(groups)) == (543, 185)
    everyone = [(DAG(graph), i) for i, members in enumerate(groups) for graph in members]
    for (a, i), (b, j) in combinations(everyone, 2):
        assert a.equivalent(b) == (i == j)


def test_cpdags_of_four_nodes_are_what_the_members_share():
    for members in classes_of_four():
        directed, undirected = slow.shared_arcs(members)
        for graph in members:
            cpdag = DAG(graph).cpdag()
            assert (cpdag.directed, cpdag.undirected) == (directed, undirected)


@pytest.mark.parametrize(("n", "graphs", "classes"), [(1, 1, 1), (2, 3, 2), (3, 25, 11), (4, 543, 185)])
def test_how_many_classes_there_are(n, graphs, classes):
    """Gillispie and Perlman (2001), table 1."""
    found = [DAG(graph).cpdag() for graph in slow.every_dag("abcde"[:n])]
    assert (len(found), len(set(found))) == (graphs, classes)


@pytest.mark.slow
def test_how_many_classes_of_five_nodes_there_are():
    found = [DAG(graph).cpdag() for graph in slow.every_dag("abcde")]
    assert (len(found), len(set(found))) == (29281, 8782)


@given(dags())
def test_cpdags_of_larger_graphs_decide_equivalence(dag):
    """Turn each arc that can be turned by itself: the class stays if, and only if, both ends have the same parents."""
    cpdag = dag.cpdag()
    for parent, child in dag.arcs:
        covered = set(dag.parents(child)) - {parent} == set(dag.parents(parent))
        arcs = [(child, parent) if arc == (parent, child) else arc for arc in dag.arcs]
        if slow.acyclic(families := {n: tuple(p for p, c in arcs if c == n) for n in dag}):
            turned = DAG(families)
            assert turned.equivalent(dag) == (turned.cpdag() == cpdag) == covered
            assert dag.shd(turned) == 1
