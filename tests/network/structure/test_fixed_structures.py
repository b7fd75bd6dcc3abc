"""Structures by an order, as trees, and around a target."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeslearn import read_network
from bayeslearn.network.structure.score_based.fixed_structures import information, k2, naive, tan, tree
from bayeslearn.network.structure.score_based.hill_climbing import closure
from bayeslearn.network.structure.scoring.criteria import ScoreCache, StructureScore
from bayeslearn.network.structure.scoring.family_counts import FamilyCounts
from bayeslearn.network.structure.search_settings import BackgroundKnowledge
from tests.oracle import networks as slow


def counted(seed, n=5, rows=200):
    return FamilyCounts(slow.random_network(seed, n).sample(rows, random_state=seed))


def slow_information(counts, x, y, given=()):
    """Σ N(x, y, z) ln N(x, y, z) N(z) / N(x, z) N(y, z), cell by cell."""
    total = 0.0
    codes = counts.codes
    z = [tuple(codes[v, i] for v in given) for i in range(counts.rows)]
    rows = list(zip(codes[x], codes[y], z, strict=True))
    for a, b, c in set(rows):
        n = rows.count((a, b, c))
        n_x = sum(r[0] == a and r[2] == c for r in rows)
        n_y = sum(r[1] == b and r[2] == c for r in rows)
        total += n * np.log(n * sum(r[2] == c for r in rows) / (n_x * n_y))
    return total


@given(seed=st.integers(0, 10_000))
def test_information_is_that_of_its_formula(seed):
    counts = counted(seed, 4, 60)
    for given_, pairs in (((), itertools.combinations(range(4), 2)), ((0,), itertools.combinations(range(1, 4), 2))):
        found = information(counts, given_)
        for x, y in pairs:
            assert found[x, y] == found[y, x]
            assert found[x, y] == pytest.approx(slow_information(counts, x, y, given_), rel=1e-9, abs=1e-9)


@given(seed=st.integers(0, 10_000))
def test_a_tree_is_the_heaviest_of_all(seed):
    counts = counted(seed, 4)
    weight = information(counts, ())
    arcs = tree(counts)
    assert arcs.sum() == 3
    assert arcs.sum(axis=0).max() == 1
    assert not closure(arcs).diagonal().any()
    pairs = list(itertools.combinations(range(4), 2))
    trees = [t for t in itertools.combinations(pairs, 3) if len({v for pair in t for v in pair}) == 4 and connected(t)]
    heaviest = max(sum(weight[pair] for pair in t) for t in trees)
    assert weight[arcs].sum() == pytest.approx(heaviest, rel=1e-9, abs=1e-7)


def connected(edges):
    reached = {edges[0][0]}
    for _ in edges:
        reached |= {v for edge in edges if reached & set(edge) for v in edge}
    return len(reached) == 4


def test_naive_and_tan_put_the_target_above_all():
    counts = counted(3)
    assert naive(5, 2).sum() == 4
    arcs = tan(counts, 2)
    assert arcs[2].sum() == 4
    assert arcs[:, 2].sum() == 0
    assert arcs.sum() == 4 + 3
    assert arcs.sum(axis=0).max() == 2
    assert not closure(arcs).diagonal().any()
    for root in (0, 4):
        rooted = tan(counts, 2, root)
        assert rooted[:, root].sum() == 1
        assert ((rooted | rooted.T) == (arcs | arcs.T)).all()


def test_k2_keeps_to_its_order_and_to_knowledge():
    network = read_network("asia")
    counts = FamilyCounts(network.sample(3000, random_state=0))
    cache = ScoreCache(counts, StructureScore("k2"))
    order = [counts.names.index(name) for name in network.dag.order]
    arcs = k2(cache, order, BackgroundKnowledge().of(counts.names))
    place = {v: i for i, v in enumerate(order)}
    assert all(place[c] < place[x] for c, x in np.argwhere(arcs).tolist())
    smoke, lung = (counts.names.index(name) for name in ("smoke", "lung"))
    assert arcs[smoke, lung]
    limited = k2(cache, order, BackgroundKnowledge(forbidden=[("smoke", "lung")], max_parents=1).of(counts.names))
    assert not limited[smoke, lung]
    assert limited.sum(axis=0).max() <= 1


@given(seed=st.integers(0, 10_000))
def test_k2_stops_where_no_parent_gains(seed):
    counts = counted(seed)
    cache, allowed = ScoreCache(counts, StructureScore("bic")), BackgroundKnowledge().of(counts.names)
    arcs = k2(cache, range(5), allowed)
    for x in range(5):
        parents = tuple(np.flatnonzero(arcs[:, x]).tolist())
        assert cache.family(x, parents) >= cache.additions(x, parents)[:x].max(initial=-np.inf) - 1e-5
