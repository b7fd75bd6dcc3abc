"""Searches: what they reach, what they keep to, and that the order of columns does not matter."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeslearn.errors import CycleError, ParameterError, UnknownColumnError
from bayeslearn.network.structure.score_based.hill_climbing import ADD, REMOVE, TURN, Structure, climb, closure, tabu
from bayeslearn.network.structure.scoring.criteria import ScoreCache, StructureScore
from bayeslearn.network.structure.scoring.family_counts import FamilyCounts
from bayeslearn.network.structure.search_settings import BackgroundKnowledge, Budget
from bayeslearn.tables import as_table
from tests.oracle import networks as slow


def searched(table, score="bic", knowledge=None):
    cache = ScoreCache(FamilyCounts(table), StructureScore.parse(score))
    allowed = (knowledge or BackgroundKnowledge()).of(cache.counts.names)
    return Structure(cache, allowed, allowed.required)


def sample(seed, n=6, rows=300):
    return slow.random_network(seed, n).sample(rows, random_state=seed)


def arcs_by_name(structure, arcs=None):
    names = structure.cache.counts.names
    return {(names[c], names[x]) for c, x in np.argwhere(structure.arcs if arcs is None else arcs)}


def whole_score(structure, arcs):
    cache = structure.cache
    return sum(cache.family(x, tuple(np.flatnonzero(arcs[:, x]).tolist())) for x in range(cache.n))


@given(seed=st.integers(0, 10_000), score=st.sampled_from(["bic", "bdeu:2", "k2"]))
def test_every_gain_is_the_difference_of_two_scores_and_no_change_makes_a_cycle(seed, score):
    structure = searched(sample(seed, 5, 80), score)
    rng = np.random.default_rng(seed)
    for _ in range(6):
        gain = structure.gains()
        possible = np.argwhere(gain > -np.inf)
        if not len(possible):
            break
        for kind, c, x in possible:
            arcs = structure.arcs.copy()
            arcs[c, x] = kind == ADD
            if kind == TURN:
                arcs[x, c] = True
            assert not closure(arcs).diagonal().any()
            assert is_acyclic(arcs)
            change = whole_score(structure, arcs) - whole_score(structure, structure.arcs)
            assert gain[kind, c, x] == pytest.approx(change, rel=1e-9, abs=1e-8)
        structure.change(*possible[rng.integers(len(possible))].tolist())
        assert structure.score == pytest.approx(whole_score(structure, structure.arcs), rel=1e-12)
        np.testing.assert_array_equal(structure.reach, closure(structure.arcs))


def is_acyclic(arcs):
    power = np.linalg.matrix_power(arcs.astype(float), len(arcs))
    return not power.any()


def test_a_climb_ends_where_nothing_gains():
    structure = searched(sample(3))
    start = structure.score
    climb(structure)
    assert structure.score > start
    assert structure.gains().max() <= 1e-9 * (1 + abs(structure.score))


@given(seed=st.integers(0, 10_000))
def test_the_order_of_columns_and_rows_does_not_matter(seed):
    table = sample(seed)
    rng = np.random.default_rng(seed)
    turned = table.select(rng.permutation(table.schema.names).tolist()).take(rng.permutation(table.n_rows))
    one, other = searched(table), searched(turned)
    climb(one)
    climb(other)
    assert arcs_by_name(one) == arcs_by_name(other)


def test_tabu_is_never_worse_and_leaves_local_optima(shared_data):
    table = as_table(shared_data / "samples" / "bnlearn-asia.csv")
    structure = searched(table)
    climb(structure)
    reached = structure.score
    best = tabu(structure)
    assert whole_score(structure, best) >= reached
    assert whole_score(structure, best) == pytest.approx(-11107.2933, abs=1e-4)


@pytest.mark.parametrize(("score", "published"), [("bic", -24006.7342), ("k2", -23957.6758), ("bdeu:1", -24028.0948)])
def test_learning_test_is_the_true_structure(shared_data, score, published):
    structure = searched(as_table(shared_data / "samples" / "bnlearn-learning.test.csv"), score)
    climb(structure)
    assert structure.score == pytest.approx(published, abs=1e-4)
    skeleton = {frozenset(arc) for arc in arcs_by_name(structure)}
    assert skeleton == {frozenset(pair) for pair in ("AB", "AD", "CD", "BE", "FE")}


def test_limits_end_a_search():
    structure = searched(sample(3))

    def two(step):
        if step.steps == 2:
            raise StopIteration

    assert climb(structure, Budget(progress=two)) == 2
    assert climb(searched(sample(3)), Budget(deadline=0.0)) == 0


### knowledge


def test_knowledge_is_kept_to():
    table = sample(5)
    names = sorted(table.schema.names)
    a, b, c, d, e, _ = names
    knowledge = BackgroundKnowledge(
        required=[(a, b)], forbidden=[(c, d), (d, c)], tiers=[[a, b], [c, d]], roots=[e], max_parents=2
    )
    structure = searched(table, "aic", knowledge)
    tabu(structure)
    arcs = arcs_by_name(structure)
    assert (a, b) in arcs
    assert not arcs & {(c, d), (d, c), (c, a), (d, a), (c, b), (d, b)}
    assert all(x != e for _, x in arcs)
    assert structure.arcs.sum(axis=0).max() <= 2
    kinds = structure.gains()[[REMOVE, TURN]]
    assert (kinds[:, names.index(a), names.index(b)] == -np.inf).all() or table.schema.names != tuple(names)


@pytest.mark.parametrize(
    ("knowledge", "error", "match"),
    [
        (BackgroundKnowledge(required=[("a", "b"), ("b", "a")]), CycleError, "cycle"),
        (BackgroundKnowledge(required=[("a", "b")], forbidden=[("a", "b")]), ParameterError, "a -> b is required, but"),
        (BackgroundKnowledge(required=[("a", "b")], roots=["b"]), ParameterError, "a -> b is required, but"),
        (BackgroundKnowledge(required=[("a", "b")], leaves=["a"]), ParameterError, "a -> b is required, but"),
        (BackgroundKnowledge(required=[("a", "b")], tiers=[["b"], ["a"]]), ParameterError, "a -> b is required, but"),
        (
            BackgroundKnowledge(required=[("a", "c"), ("b", "c")], max_parents=1),
            ParameterError,
            "more required parents",
        ),
        (BackgroundKnowledge(forbidden=[("a", "z")]), UnknownColumnError, "knowledge names 'z'"),
    ],
)
def test_contradictions_are_named(knowledge, error, match):
    with pytest.raises(error, match=match):
        knowledge.of(["a", "b", "c"])
