"""Parent sets against all sets looked at one by one; bounds that never cut off what could be chosen."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeslearn.errors import CapacityError
from bayeslearn.network.structure.score_based import parent_sets as growing
from bayeslearn.network.structure.score_based.candidate_parents import greedy, likely, partners, wanted
from bayeslearn.network.structure.score_based.parent_sets import parent_sets
from bayeslearn.network.structure.scoring import criteria
from bayeslearn.network.structure.scoring.criteria import NAMES, ScoreCache, StructureScore
from bayeslearn.network.structure.scoring.family_counts import FamilyCounts
from bayeslearn.network.structure.search_settings import BackgroundKnowledge, Budget
from bayeslearn.tables import Table, as_table
from tests.oracle import networks as slow_networks
from tests.oracle import structures as slow
from tests.properties import trials

SCORES = [*NAMES, "bdeu:20"]


def sample(seed, n=5, rows=60):
    return slow_networks.random_network(seed, n).sample(rows, random_state=seed)


def cached(table, score="bic"):
    return ScoreCache(FamilyCounts(table), StructureScore.parse(score))


def some_knowledge(names, seed):
    """A required arc, a forbidden one and a limit, now and then."""
    rng = np.random.default_rng(seed)
    a, b, c = rng.permutation(names)[:3].tolist()
    return BackgroundKnowledge(
        required=[(a, b)] if rng.random() < 0.5 else [],
        forbidden=[(b, c)] if rng.random() < 0.5 else [],
        max_parents=None if rng.random() < 0.5 else int(rng.integers(1, len(names))),
    )


def weighted(table, seed):
    weights = np.random.default_rng(seed).random(table.n_rows) * 2
    return Table(table.schema, table.codes, table.values, weights)


@pytest.mark.compiled
@given(seed=st.integers(0, 10_000), score=st.sampled_from(SCORES), heavy=st.booleans())
def test_what_is_kept_is_what_no_subset_matches(seed, score, heavy):
    table = weighted(sample(seed), seed) if heavy else sample(seed)
    cache = cached(table, score)
    allowed = some_knowledge(cache.counts.names, seed).of(cache.counts.names)
    sets = parent_sets(cache, allowed)
    for x in range(cache.n):
        expected = {s: cache.family(x, s) for s in slow.parent_sets(allowed, x)}
        found = dict(sets.of(x))
        for parents, value in found.items():
            assert value == pytest.approx(expected[parents], rel=1e-9, abs=1e-9)
        for parents, value in expected.items():
            subsets = [expected[s] for s in expected if set(s) < set(parents)]
            best = max(subsets, default=-np.inf)
            slack = 1e-9 * (1 + abs(value))
            if value > best + slack:
                assert parents in found
            if value < best - slack:
                assert parents not in found
        values = np.array(list(found.values()))
        assert (np.diff(values) <= 1e-9 * np.abs(values[:-1])).all()


@given(seed=st.integers(0, 10_000), score=st.sampled_from(SCORES))
def test_with_the_dominated_there_are_all(seed, score):
    cache = cached(sample(seed, 4), score)
    allowed = some_knowledge(cache.counts.names, seed).of(cache.counts.names)
    sets = parent_sets(cache, allowed, dominated=True)
    for x in range(cache.n):
        expected = {s: cache.family(x, s) for s in slow.parent_sets(allowed, x)}
        assert dict(sets.of(x)) == {s: pytest.approx(v, rel=1e-9, abs=1e-9) for s, v in expected.items()}


@trials(30)
@given(seed=st.integers(0, 10_000), score=st.sampled_from(["bdeu:3", "bds", "k2", "loglik"]), heavy=st.booleans())
def test_few_rows_and_many_states_are_counted_by_what_occurs(seed, score, heavy):
    table = sample(seed, 5, 7)
    cache = cached(weighted(table, seed) if heavy else table, score)
    allowed = BackgroundKnowledge().of(cache.counts.names)
    sets = parent_sets(cache, allowed, dominated=True)
    for x in range(cache.n):
        for parents, value in sets.of(x):
            assert value == pytest.approx(cache.family(x, parents), rel=1e-9, abs=1e-9)


@given(seed=st.integers(0, 10_000), columns=st.integers(1, 5))
def test_folded_rows_are_the_rows(seed, columns):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 5, columns)
    codes = np.stack([rng.integers(0, size, 40) for size in sizes]).astype(np.int8)
    weights = rng.random(40)
    few = criteria.FEW
    try:
        criteria.FEW = int(rng.choice([1, few]))
        distinct, n = criteria.folded(codes, sizes, weights)
    finally:
        criteria.FEW = few
    expected = {}
    for row, weight in zip(codes.T.tolist(), weights, strict=True):
        expected[tuple(row)] = expected.get(tuple(row), 0.0) + weight
    assert {tuple(row): w for row, w in zip(distinct.T.tolist(), n, strict=True)} == pytest.approx(expected)


def test_very_many_columns_fold_as_well():
    codes = np.random.default_rng(0).integers(0, 4, (70, 30)).astype(np.int8)
    codes = np.hstack([codes, codes])
    distinct, n = criteria.folded(codes, np.full(70, 4), np.ones(60))
    assert distinct.shape == (70, 30)
    assert (n == 2).all()


@trials(30)
@given(seed=st.integers(0, 10_000), score=st.sampled_from(["bic", "bdeu"]))
def test_columns_in_another_order_give_the_same_sets(seed, score):
    table = sample(seed)
    turned = table.select(np.random.default_rng(seed).permutation(table.schema.names).tolist())
    found = []
    for t in (table, turned):
        cache = cached(t, score)
        names = cache.counts.names
        sets = parent_sets(cache, BackgroundKnowledge(max_parents=3).of(names))
        found.append({names[x]: [frozenset(names[p] for p in s) for s, _ in sets.of(x)] for x in range(cache.n)})
    assert found[0] == found[1]


### likely parents


def test_likely_parents_are_the_best_by_themselves():
    cache = cached(sample(1, 6, 300))
    allowed = BackgroundKnowledge().of(cache.counts.names)
    can = likely(cache, allowed, 2)
    for x in range(cache.n):
        gain = cache.additions(x, ())
        assert set(np.flatnonzero(can[:, x])) == set(np.argsort(-gain)[:2])
    last = np.argmin(cache.additions(0, ())[1:]) + 1
    first = np.zeros_like(can)
    first[last, 0] = True
    assert likely(cache, allowed, 2, first=first)[last, 0]


@trials(30)
@given(seed=st.integers(0, 1000))
def test_looking_for_likely_parents_keeps_to_knowledge(seed):
    cache = cached(sample(seed))
    allowed = some_knowledge(cache.counts.names, seed).of(cache.counts.names)
    can = likely(cache, allowed, 2)
    assert not (can & ~allowed.arcs).any()
    for more in (greedy(cache, allowed), partners(cache, allowed, can), wanted(cache, allowed, allowed.required, can)):
        assert not (more & ~allowed.arcs).any()


def test_partners_are_found_that_say_nothing_alone():
    rng = np.random.default_rng(0)
    a, b, c = rng.integers(0, 2, (3, 400))
    table = as_table({"a": a.astype(str), "b": b.astype(str), "c": c.astype(str), "x": (a ^ b).astype(str)})
    cache = cached(table)
    allowed = BackgroundKnowledge().of(cache.counts.names)
    can = np.zeros((4, 4), np.bool_)
    can[0, 3] = True
    assert np.flatnonzero(partners(cache, allowed, can)[:, 3]).tolist() == [1]


@trials(10)
@given(seed=st.integers(0, 1000))
def test_nothing_is_wanted_where_every_change_was_looked_at(seed):
    cache = cached(sample(seed, 4))
    allowed = BackgroundKnowledge().of(cache.counts.names)
    best = max(slow.all_dags(4), key=lambda arcs: slow.graph_score(cache, arcs))
    assert not wanted(cache, allowed, best, np.zeros((4, 4), np.bool_)).any()


### budget


def test_time_that_is_over_leaves_sets_of_few_parents():
    cache = cached(sample(3, 6, 200), "loglik")
    allowed = BackgroundKnowledge().of(cache.counts.names)
    assert [len(s) for s, _ in parent_sets(cache, allowed, Budget(deadline=0.0)).of(0)] == [0]

    def two(step):
        if step.steps == 2:
            raise StopIteration

    sets = parent_sets(cache, allowed, Budget(progress=two), dominated=True)
    assert max(len(s) for s, _ in sets.of(0)) == 2


def test_what_is_known_is_not_looked_at_again(monkeypatch):
    cache = cached(sample(3))
    allowed, known = BackgroundKnowledge().of(cache.counts.names), {}
    one = parent_sets(cache, allowed, known=known)
    monkeypatch.setattr(growing, "Growing", None)
    other = parent_sets(cache, allowed, known=known)
    assert all(one.of(x) == other.of(x) for x in range(cache.n))


def test_too_many_are_refused_with_their_number(monkeypatch):
    cache = cached(sample(3, 6, 30), "loglik")
    monkeypatch.setattr(growing, "MOST_SETS", 40)
    with pytest.raises(CapacityError, match="96 parent sets of up to 2 parents, more than 40") as error:
        parent_sets(cache, BackgroundKnowledge().of(cache.counts.names))
    assert error.value.details["sets"] == 96


def test_sets_of_too_many_cells_are_not_looked_at(monkeypatch):
    cache = cached(sample(3, 6, 30), "loglik")
    monkeypatch.setattr(criteria, "MOST_CELLS", 10)
    sets = parent_sets(cache, BackgroundKnowledge().of(cache.counts.names), dominated=True)
    for x in range(cache.n):
        assert max(cache.counts.cells(x, s) for s, _ in sets.of(x)) <= 10


@given(seed=st.integers(0, 10_000))
@trials(20)
def test_larger_sets_grow_from_what_is_worth_having(seed):
    cache = cached(sample(seed, 6), "aic")
    allowed = BackgroundKnowledge().of(cache.counts.names)
    every, some = parent_sets(cache, allowed), parent_sets(cache, allowed, full=2)
    for x in range(cache.n):
        found, fewer = dict(every.of(x)), dict(some.of(x))
        assert fewer.items() <= found.items()
        assert {s for s in found if len(s) <= 2} <= set(fewer)


def test_more_candidates_than_bits_are_narrowed(monkeypatch):
    cache = cached(sample(3, 6, 100))
    monkeypatch.setattr(growing, "MOST_CANDIDATES", 2)
    sets = parent_sets(cache, BackgroundKnowledge().of(cache.counts.names), dominated=True)
    for x in range(cache.n):
        assert len(set(itertools.chain.from_iterable(s for s, _ in sets.of(x)))) == 2
