"""Orders: the best graph of one, and the best order; never worse than what simpler searches find."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeslearn import kernels
from bayeslearn.errors import ParameterError
from bayeslearn.network.structure import search_settings as budget_module
from bayeslearn.network.structure.score_based import fixed_structures
from bayeslearn.network.structure.score_based import order_search as order_search_module
from bayeslearn.network.structure.score_based import parent_sets as growing
from bayeslearn.network.structure.score_based.hill_climbing import Structure, tabu
from bayeslearn.network.structure.score_based.order_search import best_parents, exact, order_search
from bayeslearn.network.structure.score_based.parent_sets import parent_sets
from bayeslearn.network.structure.scoring.criteria import ChildRows, ScoreCache, StructureScore
from bayeslearn.network.structure.scoring.family_counts import FamilyCounts
from bayeslearn.network.structure.search_settings import BackgroundKnowledge, Budget
from bayeslearn.tables import as_table
from tests.oracle import networks as slow_networks
from tests.oracle import structures as slow
from tests.properties import trials

SCORES = ["bic", "aic", "k2", "bdeu:2", "bds", "loglik"]


def sample(seed, n=5, rows=100):
    return slow_networks.random_network(seed, n).sample(rows, random_state=seed)


def cached(table, score="bic"):
    return ScoreCache(FamilyCounts(table), StructureScore.parse(score))


class Clock:
    """Time that passes only when told to."""

    now = 0.0

    def monotonic(self):
        return self.now


def is_acyclic(arcs):
    return not np.linalg.matrix_power(arcs.astype(float), len(arcs)).any()


### a given order


@given(seed=st.integers(0, 10_000), score=st.sampled_from(SCORES), most=st.sampled_from([None, 1, 2]))
@trials(50)
def test_every_variable_has_its_best_parents_of_those_before_it(seed, score, most):
    cache = cached(sample(seed), score)
    order = np.random.default_rng(seed).permutation(cache.n).tolist()
    a, b = (cache.counts.names[v] for v in order[1:3])
    allowed = BackgroundKnowledge(required=[(a, b)] if seed % 2 else [], max_parents=most).of(cache.counts.names)
    found, _ = best_parents(cache, order, allowed)
    assert slow.is_allowed(allowed, found)
    for i, x in enumerate(order):
        best = max(cache.family(x, s) for s in slow.parent_sets(allowed, x) if set(s) <= set(order[:i]))
        parents = tuple(np.flatnonzero(found[:, x]).tolist())
        assert cache.family(x, parents) == pytest.approx(best, rel=1e-10, abs=1e-8)
        assert set(parents) <= set(order[:i])
    greedy = fixed_structures.k2(cache, order, allowed)
    assert slow.graph_score(cache, found) >= slow.graph_score(cache, greedy) - 1e-7


@pytest.mark.compiled
def test_the_clock_is_looked_at_between_parts_of_a_level(monkeypatch):
    cache, clock, plain = cached(sample(3, 12, 60), "loglik"), Clock(), ChildRows.scores

    def a_second_each(self, *asked):
        clock.now += 1.0
        return plain(self, *asked)

    monkeypatch.setattr(budget_module, "time", clock)
    monkeypatch.setattr(growing, "PART", 1)  # 64 sets at a time
    monkeypatch.setattr(ChildRows, "scores", a_second_each)
    found, _ = best_parents(cache, range(12), BackgroundKnowledge().of(cache.counts.names), Budget(deadline=25.0))
    assert 25 < clock.now <= 25 + 2 * kernels.thread_count()  # the levels take 11, 10, 12 and more parts
    assert is_acyclic(found)


@pytest.mark.compiled
@given(seed=st.integers(0, 10_000), score=st.sampled_from(SCORES))
@trials(15)
def test_beyond_a_budget_of_work_sets_grow_from_those_worth_having(seed, score):
    cache = cached(sample(seed, 6), score)
    allowed = BackgroundKnowledge().of(cache.counts.names)
    every, some = (best_parents(cache, range(6), allowed, work=work) for work in (np.inf, 1.0))
    assert (every[1], some[1]) == (None, 1)
    late, _ = best_parents(cache, range(6), allowed, Budget(deadline=0.0))
    greedy = fixed_structures.k2(cache, range(6), allowed)
    scores = [slow.graph_score(cache, arcs) for arcs in (greedy, late, some[0], every[0])]
    assert (np.diff(scores) >= -1e-7).all()


def test_many_candidates_are_narrowed_to_those_that_k2_takes_first(monkeypatch):
    cache = cached(sample(4, 6, 300), "aic")
    allowed = BackgroundKnowledge().of(cache.counts.names)
    monkeypatch.setattr(order_search_module, "MOST_CANDIDATES", 3)
    order = range(6)
    greedy = fixed_structures.k2(cache, order, allowed)
    assert greedy.sum(axis=0).max() <= 3
    found, _ = best_parents(cache, order, allowed)
    assert slow.graph_score(cache, found) >= slow.graph_score(cache, greedy) - 1e-7


@pytest.mark.parametrize("order", [[0, 1, 2], [0, 1, 2, 2], [0, 1, 2, 4]])
def test_an_order_names_every_variable_once(order):
    cache = cached(sample(0, 4))
    with pytest.raises(ParameterError, match="each of the 4 variables once"):
        best_parents(cache, order, BackgroundKnowledge().of(cache.counts.names))


def test_an_order_against_what_is_required_is_refused():
    cache = cached(sample(0, 4))
    names = cache.counts.names
    with pytest.raises(ParameterError, match=f"{names[2]} -> {names[1]} is required, but '{names[1]}' comes first"):
        best_parents(cache, range(4), BackgroundKnowledge(required=[(names[2], names[1])]).of(names))


### any order


@given(seed=st.integers(0, 10_000), score=st.sampled_from(SCORES))
@trials(20)
def test_a_climb_ends_where_no_variable_gains_by_another_place(seed, score):
    cache = cached(sample(seed), score)
    n = cache.n
    sets = parent_sets(cache, BackgroundKnowledge().of(cache.counts.names))
    rng = np.random.default_rng(seed)
    order, chosen = rng.permutation(n), np.empty(n, np.int64)
    start = kernels.choose(sets.arrays, np.argsort(order), chosen)
    reached = kernels.climb_orders(sets.arrays, order, rng.permutation(n), chosen, 1e-9)
    assert reached >= start - 1e-9
    again = np.empty(n, np.int64)
    assert kernels.choose(sets.arrays, np.argsort(order), again) == pytest.approx(reached, rel=1e-12)
    np.testing.assert_array_equal(again, chosen)
    for i, j in itertools.product(range(n), repeat=2):
        moved = order.tolist()
        moved.insert(j, moved.pop(i))
        assert kernels.choose(sets.arrays, np.argsort(moved), again) <= reached + 1e-7


@given(seed=st.integers(0, 10_000), score=st.sampled_from(SCORES))
@trials(25)
def test_few_variables_are_searched_to_the_best(seed, score):
    cache = cached(sample(seed), score)
    names = cache.counts.names
    a, b = np.random.default_rng(seed).permutation(names)[:2].tolist()
    allowed = BackgroundKnowledge(required=[(a, b)] if seed % 2 else [], max_parents=None if seed % 3 else 2).of(names)
    found = order_search(cache, allowed, throws=20)
    assert slow.is_allowed(allowed, found)
    assert is_acyclic(found)
    best = slow.graph_score(cache, exact(cache, allowed))
    assert slow.graph_score(cache, found) == pytest.approx(best, rel=1e-9, abs=1e-7)


@given(seed=st.integers(0, 10_000))
@trials(25)
def test_the_order_of_columns_and_rows_does_not_matter(seed):
    table = sample(seed, 6)
    rng = np.random.default_rng(seed)
    turned = table.select(rng.permutation(table.schema.names).tolist()).take(rng.permutation(table.n_rows))
    found = []
    for t in (table, turned):
        cache = cached(t)
        names = cache.counts.names
        arcs = order_search(cache, BackgroundKnowledge().of(names), random_state=seed, candidates=2, throws=10)
        found.append({(names[c], names[x]) for c, x in np.argwhere(arcs)})
    assert found[0] == found[1]


def test_the_same_seed_finds_the_same():
    cache = cached(sample(1, 8, 200))
    allowed = BackgroundKnowledge().of(cache.counts.names)
    one, other = (order_search(cache, allowed, random_state=7) for _ in range(2))
    np.testing.assert_array_equal(one, other)


def test_likely_parents_are_added_until_none_is_wanted():
    cache = cached(sample(2, 8, 400), "aic")
    allowed = BackgroundKnowledge().of(cache.counts.names)
    found = order_search(cache, allowed, candidates=1)
    assert slow.graph_score(cache, found) == pytest.approx(slow.graph_score(cache, exact(cache, allowed)), rel=1e-4)


def test_asia_is_no_worse_than_tabu(shared_data):
    cache = cached(as_table(shared_data / "samples" / "bnlearn-asia.csv"))
    found = order_search(cache, BackgroundKnowledge().of(cache.counts.names))
    assert slow.graph_score(cache, found) == pytest.approx(-11107.2933, abs=1e-4)


@pytest.mark.slow
def test_alarm_is_better_than_its_own_network(shared_data):
    cache = cached(as_table(shared_data / "samples" / "bnlearn-alarm.csv.gz"))
    allowed = BackgroundKnowledge(max_parents=4).of(cache.counts.names)
    found = slow.graph_score(cache, order_search(cache, allowed))
    assert found >= -218632.3157 - 1e-3
    assert found > slow.graph_score(cache, tabu(Structure(cache, allowed, allowed.required)))


def test_limits_end_a_search():
    cache = cached(sample(3, 6))
    allowed = BackgroundKnowledge(required=[cache.counts.names[:2]]).of(cache.counts.names)
    told = []

    def five(step):
        told.append(step)
        if len(told) == 5:
            raise StopIteration

    assert is_acyclic(order_search(cache, allowed, Budget(progress=five)))
    assert len(told) == 5
    late = order_search(cache, allowed, Budget(deadline=0.0))
    np.testing.assert_array_equal(late, allowed.required)


@pytest.mark.parametrize(
    "wrong", [{"candidates": 0}, {"candidates": 63}, {"starts": -1}, {"throws": -1}, {"random_state": "x"}]
)
def test_wrong_settings_are_named(wrong):
    cache = cached(sample(0, 3))
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        order_search(cache, BackgroundKnowledge().of(cache.counts.names), **wrong)
