"""The best network of all against every graph looked at; and what is said when it would not fit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeslearn.errors import CapacityError
from bayeslearn.network.structure.score_based.hill_climbing import Structure, tabu
from bayeslearn.network.structure.score_based.order_search import exact
from bayeslearn.network.structure.scoring.criteria import NAMES, ScoreCache, StructureScore
from bayeslearn.network.structure.scoring.family_counts import FamilyCounts
from bayeslearn.network.structure.search_settings import BackgroundKnowledge, Budget
from bayeslearn.tables import as_table
from tests.oracle import networks as slow_networks
from tests.oracle import structures as slow
from tests.properties import trials

DAGS = {n: list(slow.all_dags(n)) for n in (3, 4)}


def sample(seed, n=4, rows=80):
    return slow_networks.random_network(seed, n).sample(rows, random_state=seed)


def cached(table, score="bic"):
    return ScoreCache(FamilyCounts(table), StructureScore.parse(score))


def some_knowledge(names, seed):
    rng = np.random.default_rng(seed)
    a, b, c = rng.permutation(names)[:3].tolist()
    return BackgroundKnowledge(
        required=[(a, b)] if rng.random() < 0.4 else [],
        forbidden=[(b, c)] if rng.random() < 0.4 else [],
        tiers=[[a], [c]] if rng.random() < 0.3 else [],
        max_parents=None if rng.random() < 0.5 else int(rng.integers(1, len(names))),
    )


def test_there_are_as_many_graphs_as_robinson_counts():
    assert len(DAGS[3]) == 25
    assert len(DAGS[4]) == 543


@pytest.mark.parametrize("score", [*NAMES, "bdeu:10"])
@given(seed=st.integers(0, 10_000), n=st.sampled_from([3, 4]))
@trials(15)
def test_no_graph_is_better(score, seed, n):
    cache = cached(sample(seed, n), score)
    allowed = some_knowledge(cache.counts.names, seed).of(cache.counts.names)
    found = exact(cache, allowed)
    assert slow.is_allowed(allowed, found)
    best = max(slow.graph_score(cache, arcs) for arcs in DAGS[n] if slow.is_allowed(allowed, arcs))
    assert slow.graph_score(cache, found) == pytest.approx(best, rel=1e-10, abs=1e-8)


@given(seed=st.integers(0, 10_000))
@trials(30)
def test_the_order_of_columns_and_rows_does_not_matter(seed):
    table = sample(seed, 5)
    rng = np.random.default_rng(seed)
    turned = table.select(rng.permutation(table.schema.names).tolist()).take(rng.permutation(table.n_rows))
    found = []
    for t in (table, turned):
        cache = cached(t)
        names = cache.counts.names
        found.append({(names[c], names[x]) for c, x in np.argwhere(exact(cache, BackgroundKnowledge().of(names)))})
    assert found[0] == found[1]


def test_asia_is_no_worse_than_tabu(shared_data):
    cache = cached(as_table(shared_data / "samples" / "bnlearn-asia.csv"))
    allowed = BackgroundKnowledge().of(cache.counts.names)
    best = tabu(Structure(cache, allowed, allowed.required))
    found = slow.graph_score(cache, exact(cache, allowed))
    assert found >= slow.graph_score(cache, best) - 1e-6
    assert found == pytest.approx(-11107.2933, abs=1e-4)


def test_time_that_is_over_leaves_a_graph_that_is_allowed():
    table = sample(3, 6)
    names = table.schema.names
    cache = cached(table)
    allowed = BackgroundKnowledge(required=[(names[4], names[0]), (names[0], names[1])]).of(names)
    for stop in range(6):
        calls = iter(range(stop))
        arcs = exact(cache, allowed, Budget(progress=lambda _, calls=calls: next(calls)))  # StopIteration in its turn
        assert slow.is_allowed(allowed, arcs)
        assert not np.linalg.matrix_power(arcs.astype(float), 6).any()
    assert slow.is_allowed(allowed, exact(cache, allowed, Budget(deadline=0.0)))


def test_one_variable_is_a_network_too():
    cache = cached(as_table({"a": ["x", "y", "x"]}))
    assert exact(cache, BackgroundKnowledge().of(["a"])).tolist() == [[False]]


def test_what_does_not_fit_is_refused_before_it_is_tried():
    table = as_table({f"v{i}": ["x", "y"] for i in range(40)})
    cache = cached(table)
    with pytest.raises(CapacityError, match="over 40 variables needs 9,437,184 MiB, more than 1,024 MiB") as error:
        exact(cache, BackgroundKnowledge().of(cache.counts.names))
    assert error.value.details["bytes"] == 9 * 2.0**40
