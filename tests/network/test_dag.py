"""Graphs: how they are given, what they answer, and what they say about mistakes."""

import copy
import pickle

import numpy as np
import pytest

from bayeslearn.errors import CycleError, FormatError, ParameterError, UnknownColumnError
from bayeslearn.network import DAG
from bayeslearn.network.d_separation import ActivePath
from bayeslearn.network.equivalence import CPDAG, shd

ASIA = DAG.parse("[asia][tub|asia][smoke][lung|smoke][bronc|smoke][either|tub:lung][xray|either][dysp|bronc:either]")

### three ways to give one


def test_three_ways_to_the_same_graph():
    by_text = DAG.parse(" [A] [B]\n[C|A:B] ")
    by_arcs = DAG.from_arcs([("A", "C"), ("B", "C")])
    by_families = DAG({"C": ["A", "B"], "A": [], "B": ()})
    assert by_text == by_arcs == by_families
    assert len({by_text, by_arcs, by_families}) == 1
    assert str(by_text) == repr(by_text) == "[A][B][C|A:B]"
    assert by_text != DAG.parse("[A][B|C][C|A]")
    assert by_text != DAG.parse("[A][B][C|A:B][D]")
    assert by_text != "[A][B][C|A:B]"


def test_nodes_without_arcs_are_named():
    dag = DAG.from_arcs([("B", "C")], nodes=["A", "B"])
    assert dag.nodes == ("A", "B", "C")
    assert DAG.from_arcs([], nodes="Storm").nodes == ("Storm",)


def test_one_parent_needs_no_list():
    assert DAG({"Storm": (), "Camp": "Storm"}).parents("Camp") == ("Storm",)


def test_what_is_there():
    assert len(ASIA) == 8
    assert list(ASIA) == list(ASIA.nodes)
    assert "lung" in ASIA
    assert "lungs" not in ASIA
    assert ASIA.parents("dysp") == ("bronc", "either")
    assert ASIA.children("smoke") == ("lung", "bronc")
    assert ASIA.arcs[:2] == (("asia", "tub"), ("smoke", "lung"))
    assert len(DAG({})) == 0


def test_the_order_is_the_order_given_where_that_is_possible():
    assert DAG.parse("[A][B][C|A]").order == ("A", "B", "C")
    assert ASIA.order == ASIA.nodes
    assert DAG.parse("[D|C][C|A][B][A]").order == ("B", "A", "C", "D")


def test_it_is_frozen_and_can_be_copied_and_sent():
    with pytest.raises(TypeError, match="does not support item assignment"):
        ASIA.families["asia"] = ()
    for twin in (pickle.loads(pickle.dumps(ASIA)), copy.deepcopy(ASIA)):
        assert twin == ASIA
        assert twin.nodes == ASIA.nodes


### relatives


def test_relatives():
    assert ASIA.ancestors("either") == {"asia", "tub", "smoke", "lung"}
    assert ASIA.descendants("smoke") == {"lung", "bronc", "either", "xray", "dysp"}
    assert ASIA.ancestors(["tub", "asia"]) == {"asia"}
    assert ASIA.ancestors([]) == ASIA.descendants([]) == frozenset()
    assert ASIA.markov_blanket("bronc") == {"smoke", "dysp", "either"}
    assert ASIA.markov_blanket("asia") == {"tub"}
    assert str(ASIA.subgraph(["either", "lung", "asia"])) == "[asia][lung][either|lung]"
    assert ASIA.moral - ASIA.skeleton == {frozenset(("tub", "lung")), frozenset(("bronc", "either"))}


### separation


def test_chest_clinic():
    assert ASIA.d_separated("asia", ["smoke", "lung", "bronc"])
    assert not ASIA.d_separated("asia", "smoke", given="dysp")
    assert ASIA.d_separated(["asia", "tub"], "xray", given="either")
    assert ASIA.d_separated("lung", "bronc", given="smoke")
    assert not ASIA.d_separated("lung", "bronc", given=["smoke", "dysp"])
    assert ASIA.connected_given("asia") == {"tub", "either", "xray", "dysp"}
    assert ASIA.connected_given("asia", given="either") == {"tub", "smoke", "lung", "bronc", "dysp"}


@pytest.mark.parametrize(
    ("a", "b", "given", "text"),
    [
        ("asia", "tub", (), "asia → tub"),
        ("lung", "bronc", (), "lung ← smoke → bronc"),
        ("xray", "asia", (), "xray ← either ← tub ← asia"),
        ("tub", "lung", "either", "tub → either ← lung, as 'either' is given"),
        ("tub", "lung", "xray", "tub → either ← lung, as 'xray' below 'either' is given"),
        (
            "asia",
            "smoke",
            ["xray", "lung", "dysp"],
            "asia → tub → either → dysp ← bronc ← smoke, as 'dysp' is given",
        ),
    ],
)
def test_why_two_nodes_are_connected(a, b, given, text):
    assert str(ASIA.active_path(a, b, given)) == text


def test_two_meetings_are_both_explained():
    dag = DAG.parse("[A][B][C][X|A:B][Y|B:C][Z|Y]")
    path = dag.active_path("A", "C", given=["X", "Z"])
    assert path == ActivePath(("A", "X", "B", "Y", "C"), ("→", "←", "→", "←"), (("X", "X"), ("Y", "Z")))
    assert str(path).endswith("as 'X' is given and 'Z' below 'Y' is given")


def test_separated_nodes_have_no_path_to_show():
    assert ASIA.active_path("asia", "smoke") is None


def test_separators():
    assert ASIA.minimal_separator("asia", "smoke") == frozenset()
    assert ASIA.minimal_separator("asia", "tub") is None
    assert ASIA.minimal_separator("lung", "bronc") == {"smoke"}
    assert ASIA.minimal_separator("lung", "bronc", among=["asia", "tub"]) is None
    assert ASIA.minimal_separator(["asia", "tub"], "xray") == {"either"}
    assert ASIA.minimal_separator("lung", "dysp") == {"either", "smoke"}  # the one nearest to the first
    assert ASIA.minimal_separator("dysp", "lung") == {"either", "bronc"}


def test_a_separator_that_opens_a_path_blocks_it_elsewhere():
    dag = DAG.parse("[A][Y][C|A:Y][B|C:Y]")
    assert not dag.d_separated("A", "B", given="C")
    assert dag.minimal_separator("A", "B") == {"C", "Y"}
    assert dag.minimal_separator("A", "B", among="C") is None


def test_empty_sets_are_separated_from_all():
    assert ASIA.d_separated([], "asia")
    assert ASIA.minimal_separator([], []) == frozenset()
    assert ASIA.connected_given([]) == frozenset()


def test_many_ways_down_are_walked_once():
    ladder = {"A": (), "B": (), "l0": ("A", "B"), "r0": ("A", "B")}
    for i in range(1, 60):
        ladder |= {f"l{i}": (f"l{i - 1}", f"r{i - 1}"), f"r{i}": (f"l{i - 1}", f"r{i - 1}")}
    dag = DAG(ladder)
    assert dag.active_path("A", "B", given="r59").opened == (("l0", "r59"),)


### equivalence


def test_the_class_of_chest_clinic():
    cpdag = ASIA.cpdag()
    sure = {("tub", "either"), ("lung", "either"), ("either", "xray"), ("either", "dysp"), ("bronc", "dysp")}
    assert cpdag.directed == sure
    assert cpdag.undirected == {frozenset(p) for p in [("asia", "tub"), ("smoke", "lung"), ("smoke", "bronc")]}
    assert cpdag.skeleton == ASIA.skeleton
    assert cpdag.nodes == set(ASIA.nodes)
    assert ASIA.v_structures == {("lung", "either", "tub"), ("bronc", "dysp", "either")}


def test_chains_and_forks_are_equivalent_and_a_collider_is_not():
    chain, back, fork = DAG.parse("[A][B|A][C|B]"), DAG.parse("[C][B|C][A|B]"), DAG.parse("[B][A|B][C|B]")
    collider = DAG.parse("[A][C][B|A:C]")
    assert chain.equivalent(back)
    assert chain.equivalent(fork)
    assert not chain.equivalent(collider)
    assert not chain.equivalent(DAG.parse("[A][B|A][C|B][D]"))
    assert str(chain.cpdag()) == "A — B, B — C"
    assert repr(collider.cpdag()) == "CPDAG(A → B, C → B)"


def test_distances_of_graphs_and_of_classes_differ():
    chain, back, collider = DAG.parse("[A][B|A][C|B]"), DAG.parse("[C][B|C][A|B]"), DAG.parse("[A][C][B|A:C]")
    assert (chain.shd(back), chain.cpdag().shd(back.cpdag())) == (2, 0)
    assert (chain.shd(collider), chain.cpdag().shd(collider.cpdag())) == (1, 2)
    assert shd(chain, DAG.parse("[A][B][C]")) == shd(DAG.parse("[A][B][C]"), chain) == 2


def test_a_class_can_be_given():
    assert CPDAG("AB", [], ["AB"]) == DAG.parse("[A][B|A]").cpdag() == DAG.parse("[B][A|B]").cpdag()
    assert CPDAG(["A", "B"]) != CPDAG(["A", "B", "C"])


def test_a_random_graph_of_many_nodes():
    rng = np.random.default_rng(0)
    n = 441
    parents = [rng.choice(i, min(i, rng.integers(4)), replace=False) for i in range(n)]
    dag = DAG({f"n{i}": [f"n{j}" for j in chosen] for i, chosen in enumerate(parents)})
    cpdag = dag.cpdag()
    assert len(cpdag.directed) + len(cpdag.undirected) == len(dag.arcs)
    assert cpdag.directed >= {arc for a, c, b in dag.v_structures for arc in ((a, c), (b, c))}
    fence = dag.minimal_separator("n440", "n3")
    assert dag.d_separated("n440", "n3", given=fence)


def test_long_chains_need_no_recursion():
    n = 5000
    chain = DAG({f"n{i}": [f"n{i - 1}"] if i else [] for i in range(n)})
    assert len(chain.ancestors("n4999")) == 4999
    assert chain.minimal_separator("n0", "n4999") == {"n1"}
    assert len(chain.active_path("n0", "n4999").nodes) == n
    assert len(chain.cpdag().undirected) == n - 1


### mistakes


@pytest.mark.parametrize(
    ("text", "cycle"),
    [
        ("[A|A]", ["A", "A"]),
        ("[A|C][B|A][C|B][D|C][E]", ["A", "B", "C", "A"]),
        ("[X|Y][A|X][Y|Z][Z|X]", ["X", "Z", "Y", "X"]),
    ],
)
def test_cycles_are_named(text, cycle):
    with pytest.raises(CycleError, match="the arcs form a cycle: " + " → ".join(cycle)) as caught:
        DAG.parse(text)
    assert caught.value.details["cycle"] == cycle
    assert "take one of these arcs out" in caught.value.hint


def test_a_long_cycle_is_named_as_fast_as_it_is_walked():
    n = 100_000  # half a second when the nodes passed are a set, minutes when they are a list
    ring = {f"n{i}": [f"n{(i - 1) % n}"] for i in range(n)}
    with pytest.raises(CycleError, match=r": n7 → n8 → .* → n16 → … → n6 → n7 \(100000 arcs\)\n") as caught:
        DAG({**ring, "tail": ["n7"], "a tail": ["tail"]})
    cycle = caught.value.details["cycle"]
    assert cycle == [f"n{(7 + i) % n}" for i in range(n + 1)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not a model string from column 1 on: ''"),
        ("A", "not a model string from column 1 on: 'A'"),
        ("[A][B|A", r"not a model string from column 4 on: '\[B\|A'"),
        ("[A] x [B]", r"not a model string from column 4 on: 'x \[B\]'"),
        ("[A][B][A]", "node 'A' stands twice in the model string"),
        ("[A][ ]", r"a name is empty in '\[ \]'"),
        ("[A][B|A:]", r"a name is empty in '\[B\|A:\]'"),
    ],
)
def test_bad_model_strings(text, message):
    with pytest.raises(FormatError, match=message):
        DAG.parse(text)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: DAG.parse("[A|Z]"), UnknownColumnError, "node 'A' has the parent 'Z', which is not a node"),
        (lambda: DAG.parse("[A][B|A:A]"), ParameterError, "node 'B' names a parent twice: 'A', 'A'"),
        (lambda: DAG({1: ()}), ParameterError, "the name of a node must be text, got 1"),
        (lambda: DAG({"A": (1,)}), ParameterError, "the name of a node must be text, got 1"),
        (lambda: DAG({"A": 7}), ParameterError, "names of nodes must be text or a list of it, got 7"),
        (lambda: DAG.from_arcs(["AB"]), ParameterError, r"an arc must be a pair \(parent, child\), got 'AB'"),
        (lambda: DAG.from_arcs([("A", "B", "C")]), ParameterError, "an arc must be a pair"),
        (lambda: DAG.from_arcs([("A", "B"), ("A", "B")]), ParameterError, "names a parent twice"),
    ],
)
def test_bad_graphs(make, error, message):
    with pytest.raises(error, match=message):
        make()


@pytest.mark.parametrize(
    "ask",
    [
        ASIA.parents,
        ASIA.children,
        ASIA.ancestors,
        lambda node: ASIA.descendants(["asia", node]),
        ASIA.markov_blanket,
        lambda node: ASIA.subgraph([node]),
        lambda node: ASIA.d_separated("asia", "tub", given=node),
        ASIA.connected_given,
        lambda node: ASIA.active_path(node, "tub"),
        lambda node: ASIA.minimal_separator("asia", "xray", among=[node]),
    ],
)
def test_unknown_nodes(ask):
    with pytest.raises(UnknownColumnError, match="there is no node 'lungs'") as caught:
        ask("lungs")
    assert caught.value.hint == "did you mean 'lung'?"
    with pytest.raises(UnknownColumnError, match="nodes are 'asia', 'tub', 'smoke'"):
        ask("Q")


def test_a_list_is_no_node():
    with pytest.raises(UnknownColumnError, match=r"there is no node \['asia'\]"):
        ASIA.parents(["asia"])


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: ASIA.d_separated("asia", ["tub", "asia"]), "`a` and `b` share 'asia'"),
        (lambda: ASIA.d_separated("asia", "tub", given=["tub"]), "`b` and `given` share 'tub'"),
        (lambda: ASIA.connected_given(["asia", "tub"], ["tub", "asia"]), "`a` and `given` share 'asia', 'tub'"),
        (lambda: ASIA.active_path("asia", "asia"), "`a` and `b` share 'asia'"),
        (lambda: ASIA.minimal_separator("asia", "asia"), "`a` and `b` share 'asia'"),
    ],
)
def test_sets_that_share_nodes(ask, message):
    with pytest.raises(ParameterError, match=message) as caught:
        ask()
    assert "name it once" in caught.value.hint


def test_graphs_that_cannot_be_compared():
    with pytest.raises(ParameterError, match="the graphs differ in their nodes: only one has 'C'"):
        DAG.parse("[A][B]").shd(DAG.parse("[A][B][C]"))
    with pytest.raises(ParameterError, match="cannot compare a graph with an equivalence class"):
        shd(ASIA, ASIA.cpdag())


@pytest.mark.parametrize(
    ("directed", "undirected", "error", "message"),
    [
        (["AZ"], [], UnknownColumnError, "the pair 'A', 'Z' names 'Z', not among the nodes"),
        ([], ["A"], ParameterError, "an arc joins two nodes, got 'A'"),
        (["ABC"], [], ParameterError, "an arc joins two nodes, got 'A', 'B', 'C'"),
        (["AA"], [], ParameterError, "an arc joins two nodes, got 'A', 'A'"),
        (["AB", "BA"], [], ParameterError, "the pair 'A', 'B' is joined twice"),
        (["BA"], ["AB"], ParameterError, "the pair 'B', 'A' is joined twice"),
    ],
)
def test_bad_classes(directed, undirected, error, message):
    with pytest.raises(error, match=message):
        CPDAG("ABC", directed, undirected)
