"""Classes of graphs and the search over them, against every graph over a few variables."""

from __future__ import annotations

import itertools
import json
from functools import cache as remembered

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeslearn.errors import CapacityError
from bayeslearn.network import DAG
from bayeslearn.network.structure.score_based import ges as ges_module
from bayeslearn.network.structure.score_based.ges import ClassSearch, Delete, Insert, Turn, ges
from bayeslearn.network.structure.score_based.hill_climbing import (
    Partial,
    class_of,
    cliques,
    member,
    member_that_keeps,
    order_of,
)
from bayeslearn.network.structure.scoring.criteria import ScoreCache, StructureScore
from bayeslearn.network.structure.scoring.family_counts import FamilyCounts
from bayeslearn.network.structure.search_settings import BackgroundKnowledge, Budget
from bayeslearn.tables import DiscreteVariable, Schema, Table, as_table
from tests.oracle import networks as slow
from tests.properties import trials

KINDS = [Insert, Delete, Turn]


def sample(seed, n=5, rows=300):
    return slow.random_network(seed, n).sample(rows, random_state=seed)


def cached(table, score="bic"):
    return ScoreCache(FamilyCounts(table), StructureScore.parse(score))


def anything(cache):
    return BackgroundKnowledge().of(cache.counts.names)


def whole_score(cache, arcs):
    return sum(cache.family(x, tuple(np.flatnonzero(arcs[:, x]).tolist())) for x in range(cache.n))


def dag_of(names, arcs):
    return DAG.from_arcs([(names[c], names[x]) for c, x in np.argwhere(arcs)], names)


def random_arcs(rng, n, share=0.5):
    order = rng.permutation(n)
    return np.triu(rng.random((n, n)) < share, 1)[np.ix_(order, order)]


def is_acyclic(arcs):
    return not np.linalg.matrix_power(arcs.astype(float), len(arcs)).any()


def directions(pairs, n):
    """Every graph without cycles that joins these pairs."""
    for turned in itertools.product([False, True], repeat=len(pairs)):
        arcs = np.zeros((n, n), np.bool_)
        for (a, b), back in zip(pairs, turned, strict=True):
            arcs[(b, a) if back else (a, b)] = True
        if is_acyclic(arcs):
            yield arcs


def members(marks):
    pairs = np.argwhere(np.triu(marks | marks.T)).tolist()
    return [arcs for arcs in directions(pairs, len(marks)) if (class_of(arcs) == marks).all()]


@remembered
def all_graphs(n):
    pairs = list(itertools.combinations(range(n), 2))
    some = itertools.chain.from_iterable(itertools.combinations(pairs, k) for k in range(len(pairs) + 1))
    return [arcs for chosen in some for arcs in directions(chosen, n)]


@remembered
def all_classes(n):
    found = {}
    for arcs in all_graphs(n):
        found.setdefault(class_of(arcs).tobytes(), []).append(arcs)
    return found


### classes


def test_the_number_of_classes_is_known():
    """Gillispie and Perlman (2002), table 1."""
    assert [len(all_classes(n)) for n in (1, 2, 3, 4)] == [1, 2, 11, 185]
    assert len(all_graphs(4)) == 543


@given(seed=st.integers(0, 100_000), n=st.integers(1, 9))
def test_the_class_is_that_of_the_graph_by_name(seed, n):
    arcs = random_arcs(np.random.default_rng(seed), n)
    names = [f"v{i}" for i in range(n)]
    marks = Partial(class_of(arcs))
    by_name = dag_of(names, arcs).cpdag()
    assert {(names[c], names[x]) for c, x in np.argwhere(marks.arcs)} == by_name.directed
    assert {frozenset((names[c], names[x])) for c, x in np.argwhere(marks.edges)} == by_name.undirected


@given(seed=st.integers(0, 100_000), n=st.integers(1, 9))
def test_a_member_is_in_the_class(seed, n):
    rng = np.random.default_rng(seed)
    marks = class_of(random_arcs(rng, n))
    arcs = member(marks, rng.permutation(n))
    assert is_acyclic(arcs)
    np.testing.assert_array_equal(class_of(arcs), marks)


def test_no_member_where_there_is_none():
    square = np.zeros((4, 4), np.bool_)
    for a, b in [(0, 1), (1, 2), (2, 3), (3, 0)]:
        square[a, b] = square[b, a] = True
    assert member(square, np.arange(4)) is None


@given(seed=st.integers(0, 100_000))
def test_a_member_agrees_with_knowledge_when_any_does(seed):
    rng = np.random.default_rng(seed)
    n = 4
    marks = class_of(random_arcs(rng, n, 0.7))
    hidden = [f"v{i}" for i in range(n)]
    truth = random_arcs(rng, n, 0.9)
    required = np.argwhere(truth & (rng.random((n, n)) < 0.2)).tolist()
    forbidden = np.argwhere(truth.T & (rng.random((n, n)) < 0.3)).tolist()
    allowed = BackgroundKnowledge(
        required=[(hidden[a], hidden[b]) for a, b in required],
        forbidden=[(hidden[a], hidden[b]) for a, b in forbidden],
        max_parents=max([2, *truth.sum(axis=0)]) if required else int(rng.integers(1, 4)),
    ).of(hidden)
    good = [arcs for arcs in members(marks) if keeps(arcs, allowed)]
    found = member_that_keeps(marks, allowed, np.arange(n))
    assert (found is not None) == bool(good)
    assert found is None or any((found == arcs).all() for arcs in good)


def keeps(arcs, allowed):
    within = not (arcs & ~allowed.arcs).any() and not (allowed.required & ~arcs).any()
    return within and arcs.sum(axis=0).max() <= allowed.max_parents


@given(seed=st.integers(0, 100_000), most=st.integers(-1, 4))
def test_cliques_are_all_there(seed, most):
    joined = np.triu(np.random.default_rng(seed).random((5, 5)) < 0.6, 1)
    joined |= joined.T
    expected = [
        some
        for size in range(most + 1)
        for some in itertools.combinations(range(5), size)
        if all(joined[a, b] for a, b in itertools.combinations(some, 2))
    ]
    assert sorted(cliques(joined, range(5), most)) == sorted(expected)


### moves


def changed(arcs, kind):
    """Graphs one change away."""
    n = len(arcs)
    for c, x in itertools.permutations(range(n), 2):
        other = arcs.copy()
        if kind is Insert and not (arcs[c, x] or arcs[x, c]):
            other[c, x] = True
        elif kind is Delete and arcs[c, x]:
            other[c, x] = False
        elif kind is Turn and arcs[c, x]:
            other[c, x], other[x, c] = False, True
        else:
            continue
        if is_acyclic(other):
            yield other


def moves_from(cache, kind, marks):
    """The classes that moves lead to, and what they gain."""
    allowed = anything(cache)
    search, moves = ClassSearch(cache, allowed), kind(cache, allowed)
    search.at = Partial(marks)
    moves.look(search.at)
    for y, rows in enumerate(moves.rows):
        for before, gains in rows:
            for x in np.flatnonzero(gains > -np.inf).tolist():
                move = ges_module.Move(x, y, before, gains[x])
                if moves.open(search.at, move):
                    yield search.after(moves, move).tobytes(), gains[x]


def check_moves(cache, kind, marks, graphs):
    expected = {}
    for arcs in graphs:
        for other in changed(arcs, kind):
            gain = whole_score(cache, other) - whole_score(cache, arcs)
            expected[class_of(other).tobytes()] = gain
    expected.pop(marks.tobytes(), None)  # turning an arc that can be turned
    found = dict(moves_from(cache, kind, marks))
    assert found.keys() == expected.keys()
    for key, gain in moves_from(cache, kind, marks):
        assert gain == pytest.approx(expected[key], rel=1e-9, abs=1e-7)


@pytest.mark.parametrize("kind", KINDS)
def test_moves_lead_to_all_classes_one_change_of_some_member_away_and_no_others(kind):
    cache = cached(sample(1, 4, 100), "bdeu:3")
    for graphs in all_classes(4).values():
        check_moves(cache, kind, class_of(graphs[0]), graphs)


@pytest.mark.parametrize("kind", KINDS)
@trials(15)
@given(seed=st.integers(0, 100_000))
def test_the_same_of_some_classes_of_five_variables(kind, seed):
    cache = cached(sample(seed, 5, 60))
    marks = class_of(random_arcs(np.random.default_rng(seed), 5, 0.6))
    check_moves(cache, kind, marks, members(marks))


### the search


@given(seed=st.integers(0, 10_000), score=st.sampled_from(["bic", "bdeu:2", "aic"]))
def test_the_score_is_that_of_the_graph_and_no_move_gains(seed, score):
    cache = cached(sample(seed), score)
    steps = []
    arcs = ges(cache, anything(cache), Budget(progress=steps.append))
    assert is_acyclic(arcs)
    assert steps[-1].score == pytest.approx(whole_score(cache, arcs), rel=1e-10)
    assert steps[-1].score >= whole_score(cache, np.zeros_like(arcs))
    assert steps[-1].arcs == arcs.sum()
    scores = [step.score for step in steps]
    assert scores == sorted(scores)
    gains = [gain for kind in KINDS for _, gain in moves_from(cache, kind, class_of(arcs))]
    assert max(gains, default=0.0) <= 1e-9 * (1 + abs(steps[-1].score))


@trials(25)
@given(seed=st.integers(0, 10_000), score=st.sampled_from(["bic", "k2", "bdeu:2", "bds", "loglik"]))
def test_the_order_of_columns_does_not_matter(seed, score):
    table = sample(seed)
    names = np.random.default_rng(seed).permutation(table.schema.names).tolist()
    found = []
    for columns in (table.schema.names, names):
        cache = cached(table.select(columns), score)
        found.append(dag_of(cache.counts.names, ges(cache, anything(cache))))
    assert found[0] == found[1]


def strong_sample(seed, n, rows=100_000):
    """Binary variables, each of whose parents matters about as much as the others, and the arcs that made them."""
    rng = np.random.default_rng(seed)
    arcs = random_arcs(rng, n)
    codes = np.zeros((n, rows), np.int8)
    for x in order_of(arcs):
        weights = rng.uniform(1, 2, n) * rng.choice([-1, 1], n) * arcs[:, x]
        logit = weights @ (2 * codes - 1) + rng.uniform(-0.5, 0.5)
        codes[x] = rng.random(rows) < 1 / (1 + np.exp(-logit))
    schema = Schema(DiscreteVariable(f"v{i}", ["no", "yes"]) for i in range(n))
    return Table(schema, codes, np.empty((0, rows))).distinct(), arcs


@pytest.mark.parametrize("seed", range(8))
def test_many_rows_lead_to_the_best_class_of_all_which_is_the_true_one(seed):
    table, truth = strong_sample(seed, 4)
    cache = cached(table)
    found = class_of(ges(cache, anything(cache)))
    best = max(all_graphs(4), key=lambda arcs: whole_score(cache, arcs))
    np.testing.assert_array_equal(found, class_of(best))
    np.testing.assert_array_equal(found, class_of(truth))


@pytest.mark.parametrize(("n", "seeds"), [(5, (0, 1, 2, 3, 4)), (6, (0, 1, 2, 4, 6))])
def test_the_true_class_of_more_variables(n, seeds):
    for seed in seeds:
        table, truth = strong_sample(seed, n)
        cache = cached(table)
        np.testing.assert_array_equal(class_of(ges(cache, anything(cache))), class_of(truth))


@pytest.mark.parametrize("turning", [True, False])
@pytest.mark.parametrize(("sample", "reached", "off"), [("learning.test", -24006.7342, 0), ("asia", -11107.2933, 1)])
def test_published_samples(shared_data, sample, reached, off, turning):
    samples = shared_data / "samples"
    cache = cached(as_table(samples / f"bnlearn-{sample}.csv"))
    arcs = ges(cache, anything(cache), turning=turning)
    assert whole_score(cache, arcs) == pytest.approx(reached, abs=1e-4)
    truth = DAG.parse(json.loads((samples / "bnlearn-structures.json").read_text())[sample]["modelstring"])
    assert dag_of(cache.counts.names, arcs).cpdag().shd(truth.cpdag()) == off


@pytest.mark.slow
def test_alarm_is_climbed_higher_than_tabu_search_is_published_to_reach(shared_data):
    cache = cached(as_table(shared_data / "samples" / "bnlearn-alarm.csv.gz"))
    assert whole_score(cache, ges(cache, anything(cache))) > -220_180.9


def test_limits_end_a_search():
    cache = cached(sample(3, 6))

    def two(step):
        if step.steps == 2:
            raise StopIteration

    assert ges(cache, anything(cache), Budget(progress=two)).sum() == 2
    assert ges(cache, anything(cache), Budget(deadline=0.0)).sum() == 0


### knowledge and bad input


@given(seed=st.integers(0, 10_000), score=st.sampled_from(["bic", "aic", "k2"]))
def test_knowledge_is_kept_to(seed, score):
    table = sample(seed, 6)
    cache = cached(table, score)
    a, b, c, d, e, _ = np.random.default_rng(seed).permutation(table.schema.names).tolist()
    knowledge = BackgroundKnowledge(
        required=[(a, b)], forbidden=[(c, d), (d, c)], tiers=[[a, b], [c, d]], roots=[e], max_parents=2
    )
    allowed = knowledge.of(cache.counts.names)
    assert keeps(ges(cache, allowed), allowed)


def test_knowledge_turns_what_data_leave_open(shared_data):
    cache = cached(as_table(shared_data / "samples" / "bnlearn-learning.test.csv"))
    free = ges(cache, anything(cache))
    for arc in [("A", "B"), ("B", "A")]:
        arcs = ges(cache, BackgroundKnowledge(required=[arc]).of(cache.counts.names))
        assert arc in dag_of(cache.counts.names, arcs).arcs
        np.testing.assert_array_equal(class_of(arcs), class_of(free))


def test_classes_that_are_too_dense_are_refused(monkeypatch):
    monkeypatch.setattr(ges_module, "MOST_SETS", 4)
    cache = cached(sample(2, rows=50), "loglik")
    with pytest.raises(CapacityError, match="joined in more than 4 ways"):
        ges(cache, anything(cache))


@pytest.mark.parametrize("columns", [0, 1, 2])
def test_columns_that_say_nothing(columns):
    schema = Schema(DiscreteVariable(f"v{i}", ["only"]) for i in range(columns))
    cache = cached(Table(schema, np.zeros((columns, 3), np.int8), np.empty((0, 3))))
    assert not ges(cache, anything(cache)).any()


def test_a_column_twice_is_one_edge():
    codes = np.random.default_rng(1).integers(0, 2, 200)
    schema = Schema(DiscreteVariable(name, ["no", "yes"]) for name in "abc")
    cache = cached(Table(schema, np.stack([codes] * 3), np.empty((0, 200))))
    assert ges(cache, anything(cache)).sum() == 2
