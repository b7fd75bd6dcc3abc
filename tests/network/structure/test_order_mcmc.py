"""The posterior over structures against all orders and all graphs of a few variables."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logsumexp

from bayeslearn.errors import CapacityError, ConvergenceWarning, ParameterError, UnknownColumnError
from bayeslearn.kernels import order_mcmc
from bayeslearn.network import DAG
from bayeslearn.network.structure.score_based.parent_sets import parent_sets
from bayeslearn.network.structure.scoring.criteria import ScoreCache, StructureScore
from bayeslearn.network.structure.scoring.family_counts import FamilyCounts
from bayeslearn.network.structure.search_settings import BackgroundKnowledge, Budget
from bayeslearn.network.structure.uncertainty.order_mcmc import Chain, r_hat, sample_orders
from bayeslearn.network.structure.uncertainty.structure_posterior import Draw, StructurePosterior, orders_of
from bayeslearn.tables import as_table
from tests.oracle import networks as slow_networks
from tests.oracle import structures as slow
from tests.properties import trials


def sample(seed, n=4, rows=60):
    return slow_networks.random_network(seed, n).sample(rows, random_state=seed)


def cached(table, score="bdeu:1"):
    return ScoreCache(FamilyCounts(table), StructureScore.parse(score))


def weighed(pairs, n):
    """Σ weight · arcs / Σ weight from logs of weights."""
    logs = np.array([log for log, _ in pairs])
    share = np.exp(logs - logsumexp(logs))
    return sum((p * arcs for p, (_, arcs) in zip(share, pairs, strict=True)), np.zeros((n, n)))


def over_orders(cache, allowed):
    """P(c → x | D) by looking at every order and every parent set."""
    n, found = cache.n, []
    for order in itertools.permutations(range(n)):
        arcs, log = np.zeros((n, n)), 0.0
        for i, x in enumerate(order):
            fits = [s for s in slow.parent_sets(allowed, x) if set(s) <= set(order[:i])]
            scores = np.array([cache.family(x, s) for s in fits])
            weight = logsumexp(scores) if fits else -np.inf
            log += weight
            for s, score in zip(fits, scores, strict=True):
                arcs[list(s), x] += np.exp(score - weight)
        if log > -np.inf:
            found.append((log, arcs))
    return weighed(found, n)


def over_graphs(cache, allowed):
    """P(c → x | D) with every graph equally probable before the data."""
    graphs = [arcs for arcs in slow.all_dags(cache.n) if slow.is_allowed(allowed, arcs)]
    return weighed([(slow.graph_score(cache, arcs), arcs) for arcs in graphs], cache.n)


### laws


@given(seed=st.integers(0, 10_000), score=st.sampled_from(["bdeu:1", "k2", "bic"]))
@trials(20)
def test_an_order_is_summed_over_all_its_graphs(seed, score):
    cache = cached(sample(seed), score)
    allowed = BackgroundKnowledge(max_parents=2).of(cache.counts.names)
    sets = parent_sets(cache, allowed, dominated=True)
    chain = Chain(sets, np.random.default_rng(seed))
    chain.sample(1, 3)
    order = sets.by_name[chain.order].tolist()
    before = {x: set(order[:i]) for i, x in enumerate(order)}
    graphs = [g for g in slow.all_dags(4) if all(set(np.flatnonzero(g[:, x])) <= before[x] for x in range(4))]
    pairs = [(slow.graph_score(cache, g), g) for g in graphs if slow.is_allowed(allowed, g)]
    assert chain.log_scores[0] == pytest.approx(logsumexp([log for log, _ in pairs]), rel=1e-10)
    np.testing.assert_allclose(chain.arcs, weighed(pairs, 4), atol=1e-9)
    drawn = sets.arcs(chain.chosen[0])
    assert slow.is_allowed(allowed, drawn)
    assert all(set(np.flatnonzero(drawn[:, x])) <= before[x] for x in range(4))


@given(seed=st.integers(0, 10_000))
@trials(30)
def test_orders_of_a_graph_are_counted(seed):
    rng = np.random.default_rng(seed)
    arcs = np.triu(rng.random((5, 5)) < rng.random(), 1)
    dag = DAG.from_arcs([(str(c), str(x)) for c, x in np.argwhere(arcs)], nodes=list("01234"))
    assert orders_of(dag) == slow.linear_extensions(arcs)


def test_orders_that_are_all_the_same_are_all_seen():
    cache = cached(as_table({"a": ["x", "y"] * 20, "b": ["x", "x", "y", "y"] * 10}), "bdeu:1")
    found = sample_orders(cache, BackgroundKnowledge(max_parents=0).of(["a", "b"]), n_samples=20, thin=2)
    assert found.acceptance_rate == 1.0
    sets = parent_sets(cache, BackgroundKnowledge(max_parents=0).of(["a", "b"]), dominated=True)
    chain, seen = Chain(sets, np.random.default_rng(0)), set()
    for _ in range(20):
        chain.sample(1, 2)
        seen.add(tuple(chain.order.tolist()))
    assert seen == {(0, 1), (1, 0)}


def test_scores_far_apart_never_become_nan():
    table = as_table({"a": ["x", "y"] * 5000, "b": ["x", "y"] * 5000, "c": ["x", "x", "y", "y"] * 2500})
    cache = cached(table)
    found = sample_orders(cache, BackgroundKnowledge().of(cache.counts.names), n_samples=50)
    assert np.isfinite(found.arcs).all()
    assert found.edge_probability("a", "b") == pytest.approx(1.0)
    assert found.edge_probability("a", "c") < 0.3  # where b says all of a, a second parent costs little


### against enumeration


@pytest.mark.compiled
@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("score", ["bdeu:1", "bic"])
def test_arcs_come_near_those_over_all_orders(seed, score):
    cache = cached(sample(seed), score)
    allowed = BackgroundKnowledge().of(cache.counts.names)
    found = sample_orders(cache, allowed, n_samples=1500, thin=8, n_chains=2, random_state=seed)
    np.testing.assert_allclose(found.arcs, over_orders(cache, allowed), atol=0.04)
    assert found.converged
    assert found.log_scores.shape == (2, 1500)
    assert 0 < found.acceptance_rate <= 1


def test_knowledge_is_kept_to():
    cache = cached(sample(5))
    a, b, c, d = cache.counts.names
    allowed = BackgroundKnowledge(required=[(c, a)], forbidden=[(b, d), (d, b)], max_parents=2).of(cache.counts.names)
    found = sample_orders(cache, allowed, n_samples=1000, n_chains=2)
    np.testing.assert_allclose(found.arcs, over_orders(cache, allowed), atol=0.05)
    assert found.arc_probability(c, a) == pytest.approx(1.0)
    assert found.edge_probability(b, d) == 0.0
    assert all((c, a) in draw.dag.arcs and len(draw.dag.parents(a)) <= 2 for draw in found.draws)


@pytest.mark.parametrize("seed", [1, 4])
def test_draws_are_as_frequent_as_arcs_are_probable(seed):
    cache = cached(sample(seed))
    found = sample_orders(cache, BackgroundKnowledge().of(cache.counts.names), n_samples=2000, n_chains=2)
    drawn = np.zeros((4, 4))
    for dag, weight in found.draws:
        for c, x in dag.arcs:
            drawn[found.names.index(c), found.names.index(x)] += weight
    np.testing.assert_allclose(drawn, found.arcs, atol=0.04)
    weights = [draw.weight for draw in found.draws]
    assert sum(weights) == pytest.approx(1.0)
    assert weights == sorted(weights, reverse=True)
    assert len({draw.dag for draw in found.draws}) == len(found.draws)


@pytest.mark.compiled
@pytest.mark.parametrize("seed", [1, 2, 4])
def test_fair_draws_come_near_all_graphs(seed):
    cache = cached(sample(seed))
    allowed = BackgroundKnowledge().of(cache.counts.names)
    found = sample_orders(cache, allowed, n_samples=4000, n_chains=2)
    exact = over_graphs(cache, allowed)
    fair = found.symmetrized()
    np.testing.assert_allclose(fair.arcs, exact, atol=0.05)
    assert np.abs(fair.arcs - exact).max() < np.abs(over_orders(cache, allowed) - exact).max()
    assert sum(draw.weight for draw in fair.draws) == pytest.approx(1.0)


### the same for everyone


def test_columns_in_another_order_give_the_same():
    table = sample(7, 5)
    turned = table.select(np.random.default_rng(0).permutation(table.schema.names).tolist())
    one, other = (
        sample_orders(c, BackgroundKnowledge().of(c.counts.names), n_samples=100, random_state=3)
        for c in map(cached, (table, turned))
    )
    np.testing.assert_allclose(one.log_scores, other.log_scores, rtol=1e-9)
    assert all(other.arc_probability(a, b) == pytest.approx(p, abs=1e-9) for a, b, p in one.ranked_arcs())


@pytest.mark.compiled
def test_many_variables_are_narrowed_to_likely_parents(shared_data):
    table = as_table(shared_data / "samples" / "bnlearn-asia.csv").take(np.arange(1000))
    cache = cached(table)
    allowed = BackgroundKnowledge().of(cache.counts.names)
    every = sample_orders(cache, allowed, n_samples=100)
    few = sample_orders(cache, allowed, n_samples=100, candidates=3)
    np.testing.assert_allclose(few.arcs, every.arcs, atol=0.25)
    assert every.edge_probability("B", "D") > 0.99


def test_names_are_asked_for():
    cache = cached(sample(1))
    found = sample_orders(cache, BackgroundKnowledge().of(cache.counts.names), n_samples=50)
    a, b = cache.counts.names[:2]
    assert found.edge_probability(a, b) == found.arc_probability(a, b) + found.arc_probability(b, a)
    assert len(found.ranked_arcs()) == 12
    with pytest.raises(UnknownColumnError, match="no variable 'z'"):
        found.arc_probability(a, "z")


def test_one_variable_has_one_structure():
    cache = cached(as_table({"a": ["x", "y", "x"]}))
    found = sample_orders(cache, BackgroundKnowledge().of(["a"]), n_samples=4)
    assert found.draws == (Draw(DAG({"a": ()}), 1.0),)
    assert found.r_hat == 1.0


### budget and bad input


def test_time_that_is_over_leaves_a_first_part():
    cache = cached(sample(1))
    allowed = BackgroundKnowledge().of(cache.counts.names)
    found = sample_orders(cache, allowed, Budget(deadline=0.0), n_samples=200, n_chains=2)
    assert found.log_scores.shape == (2, 10)


def test_chains_that_do_not_agree_are_warned_of():
    cache = cached(sample(1, 6))
    with pytest.warns(ConvergenceWarning, match="chains over orders do not agree"):
        found = sample_orders(cache, BackgroundKnowledge().of(cache.counts.names), n_samples=2, thin=1, burn_in=0)
    assert not found.converged


def test_r_hat_knows_chains_apart():
    rng = np.random.default_rng(0)
    together = rng.normal(size=(4, 400))
    assert r_hat(together) == pytest.approx(1.0, abs=0.02)
    assert r_hat(together + np.arange(4)[:, None]) > 1.3
    assert r_hat(np.ones((2, 10))) == 1.0
    assert r_hat(np.repeat([[1.0], [2.0]], 10, axis=1)) == np.inf
    assert r_hat(np.ones((2, 3))) == np.inf


@pytest.mark.parametrize("score", ["loglik", "aic"])
def test_a_score_that_is_no_probability_is_refused(score):
    cache = cached(sample(1), score)
    with pytest.raises(ParameterError, match=f"{score!r} is no log probability"):
        sample_orders(cache, BackgroundKnowledge().of(cache.counts.names))


@pytest.mark.parametrize("wrong", [{"n_samples": 0}, {"n_chains": 0}, {"thin": 0}, {"burn_in": -1}, {"candidates": 0}])
def test_wrong_settings_are_named(wrong):
    cache = cached(sample(1))
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        sample_orders(cache, BackgroundKnowledge().of(cache.counts.names), **wrong)


def test_orders_of_large_graphs_are_not_counted():
    names = tuple(f"v{i}" for i in range(30))
    many = StructurePosterior(names, np.zeros((30, 30)), np.zeros((1, 4)), 1.0, 0.0, 0.5, ())
    with pytest.raises(CapacityError, match="at most 18 variables, got 30"):
        many.symmetrized()


def test_a_walk_visits_orders_as_often_as_they_are_probable():
    cache = cached(sample(2, 3))
    sets = parent_sets(cache, BackgroundKnowledge().of(cache.counts.names), dominated=True)
    chain = Chain(sets, np.random.default_rng(0))
    seen, scores, room = {}, {}, np.empty(3)
    for order in itertools.permutations(range(3)):
        scores[order] = order_mcmc.weigh_order(sets.arrays, np.argsort(order), 60.0, room)
        seen[order] = 0
    for _ in range(3000):
        chain.walk(3)
        seen[tuple(chain.order.tolist())] += 1
    top = logsumexp(list(scores.values()))
    for order, n in seen.items():
        assert n / 3000 == pytest.approx(np.exp(scores[order] - top), abs=0.05)
