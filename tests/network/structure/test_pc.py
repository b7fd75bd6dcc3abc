"""PC: with perfect answers exactly the class, with any answers a graph, and the order of columns does not matter."""

from __future__ import annotations

import time
import zlib
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeslearn.errors import ParameterError
from bayeslearn.network import DAG
from bayeslearn.network.structure.constraint_based.independence_tests import Answers, IndependenceTest, independence
from bayeslearn.network.structure.constraint_based.pc import Pattern, colliders, oriented, pc, skeleton
from bayeslearn.network.structure.score_based.hill_climbing import ranks
from bayeslearn.network.structure.scoring.family_counts import FamilyCounts
from bayeslearn.network.structure.search_settings import BackgroundKnowledge, Budget
from bayeslearn.tables import as_table
from tests.oracle import graph as slow_graphs
from tests.oracle import networks as slow

SEEDS = st.integers(0, 100_000)


### answers that need no data


def answered(p_value):
    """A test by a function of two positions and a set of them."""

    def test(tests):
        p = np.array([p_value(x, y, frozenset(z)) for x, y, *z in tests.tolist()], float)
        return Answers(-p, np.ones(len(p)), p)

    return test


def by_separation(dag):
    """The perfect test: d-separation."""
    names = dag.nodes
    return answered(lambda x, y, z: float(dag.d_separated(names[x], names[y], [names[v] for v in z])))


def by_chance(seed, share=0.3):
    """Answers that need not agree with any graph, the same for x, y and y, x."""

    def p_value(x, y, z):
        key = repr((seed, min(x, y), max(x, y), sorted(z))).encode()
        return float(np.random.default_rng(zlib.crc32(key)).random() < share) * 0.9 + 0.01

    return answered(p_value)


def random_dag(seed, n, density=0.4):
    rng = np.random.default_rng(seed)
    names = rng.permutation([f"v{i}" for i in range(n)]).tolist()
    arcs = [(a, b) for a, b in combinations(names, 2) if rng.random() < density]
    return DAG.from_arcs(arcs, rng.permutation(names).tolist())


def patterned(test, names, knowledge=None, **options):
    allowed = (knowledge or BackgroundKnowledge()).of(names)
    found = skeleton(test, allowed, ranks(names), **options)
    return found, *oriented(found, allowed)


def named(names, arcs):
    return {(names[a], names[b]) for a, b in np.argwhere(arcs)}


@given(seed=SEEDS, n=st.integers(1, 7), density=st.sampled_from([0.2, 0.4, 0.7]))
def test_with_perfect_answers_the_class_is_found(seed, n, density):
    dag = random_dag(seed, n, density)
    _, pattern, lost = patterned(by_separation(dag), dag.nodes)
    true = dag.cpdag()
    assert named(dag.nodes, pattern.arcs) == true.directed
    assert {frozenset(pair) for pair in named(dag.nodes, pattern.edges)} == true.undirected
    assert not pattern.contradictions
    assert not lost
    arcs, faithful = pattern.graph()
    assert faithful
    assert DAG.from_arcs(named(dag.nodes, arcs), dag.nodes).equivalent(dag)


def some_knowledge(dag, seed):
    """Arcs of the graph that are required, and some of their turned selves forbidden."""
    rng = np.random.default_rng(seed)
    required = [arc for arc in dag.arcs if rng.random() < 0.2]
    return BackgroundKnowledge(required=required, forbidden=[(b, a) for a, b in dag.arcs if rng.random() < 0.3])


@given(seed=SEEDS)
def test_with_knowledge_the_directions_are_those_of_all_graphs_that_agree_with_it(seed):
    dag = random_dag(seed, 5, 0.6)
    knowledge = some_knowledge(dag, seed)
    _, pattern, _ = patterned(by_separation(dag), dag.nodes, knowledge)
    agreeing = [
        set(other.arcs)
        for other in members(dag)
        if set(knowledge.required) <= set(other.arcs) and not set(knowledge.forbidden) & set(other.arcs)
    ]
    assert named(dag.nodes, pattern.arcs) == set.intersection(*agreeing)
    arcs, faithful = pattern.graph()
    assert faithful
    assert named(dag.nodes, arcs) in agreeing


def members(dag):
    """Every graph of the class: each edge either way."""
    pairs = [tuple(pair) for pair in dag.cpdag().undirected]
    for ways in range(2 ** len(pairs)):
        arcs = [pair if ways >> i & 1 else pair[::-1] for i, pair in enumerate(pairs)]
        graph = dict.fromkeys(dag.nodes, ())
        for a, b in [*dag.cpdag().directed, *arcs]:
            graph[b] = (*graph[b], a)
        if slow_graphs.acyclic(graph) and DAG(graph).equivalent(dag):
            yield DAG(graph)


@given(seed=SEEDS, share=st.sampled_from([0.05, 0.15, 0.3]), known=st.booleans())
def test_whatever_the_answers_the_result_is_a_graph_on_the_skeleton(seed, share, known):
    names = tuple(f"v{i}" for i in np.random.default_rng(seed).permutation(7))
    knowledge = BackgroundKnowledge()
    if known:
        forbidden = [(b, a) for a, b in random_dag(seed, 7, 0.3).arcs]
        knowledge = BackgroundKnowledge(required=[("v0", "v1")], forbidden=set(forbidden) - {("v0", "v1")})
    found, pattern, lost = patterned(by_chance(seed, share), names, knowledge)
    arcs, faithful = pattern.graph()
    dag = DAG.from_arcs(named(names, arcs), names)  # no cycle
    left_out = {frozenset(names[v] for v in pair) for pair in lost}
    assert dag.skeleton | left_out == {frozenset(pair) for pair in named(names, found.edges)}
    assert named(names, pattern.arcs) <= set(dag.arcs)
    allowed = knowledge.of(names)
    assert not (arcs & ~allowed.arcs).any()
    assert not (allowed.required & ~arcs).any()
    if faithful:
        directed = named(names, pattern.arcs)
        assert all({(a, c), (b, c)} <= directed for a, c, b in dag.v_structures)


@given(seed=SEEDS, share=st.sampled_from([0.05, 0.15, 0.3]))
def test_the_order_of_columns_does_not_matter_even_where_answers_contradict(seed, share):
    names = [f"v{i}" for i in range(6)]
    turned = np.random.default_rng(seed).permutation(6).tolist()
    other_names = [names[v] for v in turned]
    by_name = by_chance(seed, share)

    def by_turned(tests):
        return by_name(np.array(turned)[tests])

    found, pattern, _ = patterned(by_name, names)
    other_found, other, _ = patterned(by_turned, other_names)
    assert named(names, pattern.marks) == named(other_names, other.marks)
    assert named(names, pattern.graph()[0]) == named(other_names, other.graph()[0])
    assert found.tests == other_found.tests
    np.testing.assert_array_equal(found.p_values[np.ix_(turned, turned)], other_found.p_values)


def test_knowledge_that_leaves_no_direction_costs_an_edge():
    joined = answered(lambda *_: 0.0)
    knowledge = BackgroundKnowledge(
        forbidden=[("b", "a"), ("c", "b"), ("a", "c")]
    )  # a → b → c → a, if all three are joined
    _, pattern, lost = patterned(joined, ["a", "b", "c"], knowledge)
    assert len(lost) == 1
    assert pattern.arcs.sum() == 2
    assert not pattern.edges.any()


### data


def sample(seed, n=5, rows=120):
    return slow.random_network(seed, n).sample(rows, random_state=seed)


def enough_rows(counts, x, y, given):
    """Five rows a cell on average, over the cells of the slices in which states occur together."""
    z, x, y = ([counts.codes[counts.names.index(v)] for v in names] for names in (sorted(given), [x], [y]))
    slices = np.array(z).T.tolist() if z else [[]] * counts.rows
    cells = 0
    for here in {tuple(s) for s in slices}:
        inside = [tuple(s) == here for s in slices]
        cells += len(set(x[0][inside].tolist())) * len(set(y[0][inside].tolist()))
    return counts.rows >= 5 * cells


def independent(counts, x, y, given, alpha, kind):
    return not enough_rows(counts, x, y, given) or independence(counts, x, y, sorted(given), kind=kind).p_value > alpha


def plain_skeleton(table, alpha, kind):
    """PC-stable as it is told: every test by itself, the first that separates is recorded."""
    names = sorted(table.schema.names)
    counts = FamilyCounts(table)
    near = {x: [y for y in names if y != x] for x in names}
    separating, size = {}, 0
    while any(len(near[x]) > size for x in names if near[x]):
        frozen = {x: list(near[x]) for x in names}
        for x, y in combinations(names, 2):
            if y in frozen[x]:
                sets = [
                    set(z) for v, w in ((x, y), (y, x)) for z in combinations([u for u in frozen[v] if u != w], size)
                ]
                found = [z for z in sets if independent(counts, x, y, z, alpha, kind)]
                if found:
                    near[x].remove(y)
                    near[y].remove(x)
                    separating[frozenset((x, y))] = found[0]
        size += 1
    return {frozenset((x, y)) for x in names for y in near[x]}, separating


@given(seed=SEEDS, alpha=st.sampled_from([0.01, 0.2]), kind=st.sampled_from(["g_test", "chi2", "mutual_information"]))
def test_the_skeleton_is_that_of_the_plain_algorithm(seed, alpha, kind):
    table = sample(seed, 4, rows=60)
    result = learned(table, significance_level=alpha, kind=kind)
    edges, separating = plain_skeleton(table, alpha, kind)
    assert result.cpdag.skeleton == edges
    assert {pair: set(z) for pair, z in result.separating.items()} == separating
    for pair, z in result.separating.items():
        test = independence(table, *sorted(pair), z, kind=kind)
        enough = enough_rows(FamilyCounts(table), *pair, z)
        assert result.p_values[pair] == pytest.approx(test.p_value if enough else 1.0, rel=1e-9)
        assert test.p_value > alpha or not enough
    assert all(result.p_values[pair] <= alpha for pair in edges)
    assert result.dag.skeleton == edges


def learned(table, knowledge=None, **options):
    counts = FamilyCounts(table)
    return pc(counts, (knowledge or BackgroundKnowledge()).of(counts.names), **options)


@given(seed=SEEDS)
def test_the_order_of_columns_and_rows_does_not_matter(seed):
    table = sample(seed)
    rng = np.random.default_rng(seed)
    turned = table.select(rng.permutation(table.schema.names).tolist()).take(rng.permutation(table.n_rows))
    one, other = learned(table), learned(turned)
    assert (one.cpdag, one.dag, one.n_tests, one.notes) == (other.cpdag, other.dag, other.n_tests, other.notes)
    assert one.separating == other.separating
    assert one.p_values == other.p_values


def test_learning_test_is_the_true_class(shared_data):
    result = learned(as_table(shared_data / "samples" / "bnlearn-learning.test.csv"))
    assert result.cpdag == DAG.parse("[A][C][F][B|A][D|A:C][E|B:F]").cpdag()
    assert not result.notes


def test_a_tie_of_separating_sets_leaves_the_triple_open(shared_data):
    result = learned(as_table(shared_data / "samples" / "bnlearn-asia.csv"), significance_level=0.05)
    assert {frozenset("BS"), frozenset("LS")} <= result.cpdag.undirected
    assert any("left open: 'B — S — L'" in note for note in result.notes)


@given(seed=SEEDS, share=st.sampled_from([0.05, 0.15, 0.3]))
def test_v_structures_have_the_majority_and_rules_do_not_rest_on_ties(seed, share):
    names = tuple(f"v{i}" for i in range(6))
    found, pattern, _ = patterned(by_chance(seed, share), names)
    votes = found.votes()
    for (a, b), sets in votes.items():
        for c in np.flatnonzero(found.edges[a] & found.edges[b]).tolist():
            without = sum(c not in z for _, z in sets)
            assert ((a, c, b) in pattern.undecided) == (2 * without == len(sets))
    colliding = {
        (a, c, b)
        for (a, b), sets in votes.items()
        for c in np.flatnonzero(found.edges[a] & found.edges[b]).tolist()
        if 2 * sum(c not in z for _, z in sets) > len(sets)
    }
    if not colliding:  # nothing else gives a first direction
        assert not pattern.arcs.any()


def test_rule_1_does_not_rest_on_an_open_triple():
    edges = np.zeros((4, 4), np.bool_)
    for a, b in ((0, 2), (1, 2), (2, 3)):
        edges[a, b] = edges[b, a] = True
    collider = {(0, 1): [(0.5, ())], (0, 3): [(0.5, (2,))], (1, 3): [(0.5, (2,))]}
    tied = collider | {(0, 3): [(0.5, ()), (0.5, (2,))], (1, 3): [(0.5, ()), (0.5, (2,))]}
    for votes, directed in ((collider, {(0, 2), (1, 2), (2, 3)}), (tied, {(0, 2), (1, 2)})):
        pattern = Pattern(edges, np.arange(4))
        found, pattern.undecided = colliders(edges, votes, np.arange(4))
        pattern.collide(found)
        pattern.follow()
        assert {tuple(arc) for arc in np.argwhere(pattern.arcs).tolist()} == directed


def test_noise_in_few_rows_joins_nothing():
    rng = np.random.default_rng(9)
    table = as_table({f"v{i}": rng.integers(0, 3, 80).astype(str) for i in range(6)})
    result = learned(table)
    assert not result.cpdag.skeleton
    assert "less than 5 rows a cell" in result.notes[0]
    unguarded = skeleton(
        IndependenceTest(FamilyCounts(table)), BackgroundKnowledge().of(table.schema.names), np.arange(6)
    )
    assert unguarded.edges.any()


def test_knowledge_is_kept_to():
    table = sample(5, 6)
    a, b, c, d, e, f = sorted(table.schema.names)
    knowledge = BackgroundKnowledge(required=[(a, f)], forbidden=[(c, d), (d, c)], tiers=[[b], [c, d]], roots=[e])
    result = learned(table, knowledge, significance_level=0.9)
    directed = result.cpdag.directed
    assert (a, f) in directed
    assert frozenset((a, f)) not in result.p_values
    assert frozenset((c, d)) not in result.cpdag.skeleton
    assert not {(c, b), (d, b)} & set(result.dag.arcs)
    assert not result.dag.parents(e)
    assert all(e not in pair for pair in result.cpdag.undirected)
    assert directed <= set(result.dag.arcs)


def test_sets_have_a_largest_size():
    result = learned(sample(7), most_given=0, significance_level=0.3)
    assert result.n_tests >= 10
    assert set(result.separating.values()) <= {()}


def test_limits_end_the_tests_with_the_edges_that_are_left():
    table = sample(3, 6)
    told = []

    def two(step):
        told.append(step)
        if len(told) == 2:
            raise StopIteration

    counts = FamilyCounts(table)
    allowed = BackgroundKnowledge().of(counts.names)
    whole = pc(counts, allowed, significance_level=0.001)
    part = pc(counts, allowed, significance_level=0.001, budget=Budget(progress=two))
    assert len(told) == 2
    assert told[0].steps == 15
    assert part.cpdag.skeleton >= whole.cpdag.skeleton
    assert "stopped after" in part.notes[-1]
    late = pc(counts, allowed, budget=Budget(deadline=time.monotonic() - 1))
    assert late.n_tests == 15


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"significance_level": 0}, "`significance_level` must be above 0"),
        ({"significance_level": 1}, "`significance_level` must be below 1"),
        ({"kind": "t"}, "unexpected value for `kind`"),
        ({"degrees": "few"}, "unexpected value for `degrees`"),
        ({"most_given": -1}, "`most_given` must be at least 0"),
        ({"knowledge": BackgroundKnowledge(max_parents=1)}, "cannot limit the number of parents"),
    ],
)
def test_bad_input_is_named(options, match):
    with pytest.raises(ParameterError, match=match):
        learned(sample(0), **options)


def test_constant_columns_stand_alone():
    table = as_table({"a": list("xyxy") * 5, "b": list("xyxx") * 5, "c": ["k"] * 20}, allow_constant=True)
    result = learned(table)
    assert result.cpdag.skeleton == {frozenset("ab")}
    assert IndependenceTest(FamilyCounts(table))(np.array([[0, 2]])).p_value == 1


def test_columns_that_determine_each_other_are_told_of():
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 200)
    b = np.where(rng.random(200) < 0.9, a, 1 - a)
    result = learned(as_table({"a": a.astype(str), "twin": a.astype(str), "b": b.astype(str)}))
    assert result.cpdag.skeleton == {frozenset(("a", "twin"))}
    assert result.notes == ("left out without a test, for given others nothing varies: 'a — b', 'b — twin'",)
