"""SPEC B8: the ALARM network found again from 3,000 cases, the order of its variables being given."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bayeslearn import fit_network, read_network
from bayeslearn.network import BackgroundKnowledge

ALARM = read_network("alarm")
ORDER = ALARM.dag.order


def log_factorials(n):
    return np.array([math.lgamma(k + 1) for k in range(n)])


def plain_k2(table, order):
    """Cooper and Herskovits as they wrote it: g(i, π) = Π_j (r−1)!/(N_j+r−1)! Π_k N_jk!, greedily, in their order."""
    fact = log_factorials(table.n_rows + 10)
    code = {name: table.codes_of(name).astype(int) for name in table.schema.names}
    size = {v.name: v.n_states for v in table.schema.discrete}

    def g(x, parents):
        cell = np.zeros(table.n_rows, int)
        for p in parents:
            cell = cell * size[p] + code[p]
        n = np.bincount(cell * size[x] + code[x]).astype(int)
        n = np.pad(n, (0, -len(n) % size[x])).reshape(-1, size[x])
        n = n[n.sum(axis=1) > 0]
        return float((fact[size[x] - 1] - fact[n.sum(axis=1) + size[x] - 1]).sum() + fact[n].sum())

    arcs = set()
    for i, x in enumerate(order):
        parents, old = [], g(x, [])
        while True:
            tried = [(g(x, [*parents, v]), v) for v in order[:i] if v not in parents]
            if not tried or max(tried)[0] <= old:
                break
            old, best = max(tried)
            parents.append(best)
        arcs |= {(p, x) for p in parents}
    return arcs


#: More parents than this are not looked for together.
THREE = BackgroundKnowledge(max_parents=3)


def errors(arcs):
    true = set(ALARM.dag.arcs)
    return len(true - set(arcs)), len(set(arcs) - true)


@pytest.mark.parametrize("seed", [0, 1])
def test_k2_finds_what_the_plain_algorithm_finds(seed):
    table = ALARM.sample(3000, random_state=seed)
    found = fit_network(table, algorithm="k2", criterion="k2", order=ORDER)
    assert set(found.dag.arcs) == plain_k2(table, ORDER)


def test_k2_is_a_few_arcs_off():
    """Greedy choice adds arcs that better parents make needless; two weak arcs into CATECHOL it cannot see."""
    found = [
        errors(fit_network(ALARM.sample(3000, random_state=s), algorithm="k2", criterion="k2", order=ORDER).dag.arcs)
        for s in range(20)
    ]
    assert np.median(found, axis=0).tolist() == [2.0, 3.5]


@pytest.mark.slow
def test_the_best_parents_are_two_weak_arcs_and_hardly_one_more_off():
    """The book has one arc missing and one added. Here SAO2 → CATECHOL is worth 12 nats in 3,000 cases and costs 15."""
    missing, added = [], []
    for seed in range(20):
        table = ALARM.sample(3000, random_state=seed)
        arcs = fit_network(
            table, algorithm="optimal_given_order", criterion="k2", order=ORDER, knowledge=THREE
        ).dag.arcs
        assert set(ALARM.dag.arcs) - set(arcs) <= {("SAO2", "CATECHOL"), ("INSUFFANESTH", "CATECHOL")}
        missing.append(errors(arcs)[0])
        added.append(errors(arcs)[1])
    assert np.median(missing) == 2
    assert np.median(added) <= 1


@pytest.mark.slow
def test_with_weak_parents_it_is_the_figure_of_the_book():
    """One arc missing and one added, the median of a hundred samples; of twenty it may be by chance two missing."""
    found = np.array([
        errors(fit_network(ALARM.sample(3000, random_state=s), algorithm="weak_parents_given_order", order=ORDER,
            knowledge=THREE).dag.arcs)
        for s in range(100)
    ])  # fmt: skip
    assert np.median(found, axis=0).tolist() == [1.0, 1.0]
    assert found[:, 0].min() == 1  # INSUFFANESTH → CATECHOL is never seen


@pytest.mark.thorough
def test_a_faint_parent_of_alarm():
    best, more = (
        set(fit_network(ALARM.sample(3000, random_state=1), algorithm=method, order=ORDER, knowledge=THREE).dag.arcs)
        for method in ("optimal_given_order", "weak_parents_given_order")
    )
    assert best <= more
    assert more - best == {("KINKEDTUBE", "PRESS"), ("KINKEDTUBE", "VENTLUNG"), ("SAO2", "CATECHOL")}


def information(target, of, given):
    """I(target; of | given) by the true network, in nats."""
    p = ALARM.inference.joint([target, of, *given]).probabilities

    def entropy(*axes):
        q = p.sum(axis=tuple(i for i in range(p.ndim) if i not in axes))
        return -(q[q > 0] * np.log(q[q > 0])).sum()

    z = tuple(range(2, p.ndim))
    return entropy(0, *z) + entropy(1, *z) - entropy(0, 1, *z) - entropy(*z)


def test_why_two_arcs_cannot_be_seen():
    """What 3,000 cases say of them on average, in nats, beside an arc into the same variable that is found."""
    others = ["ARTCO2", "TPR"]
    assert 3000 * information("CATECHOL", "INSUFFANESTH", others) == pytest.approx(0.42, abs=0.01)
    assert 3000 * information("CATECHOL", "SAO2", others) == pytest.approx(12.09, abs=0.01)
    assert 3000 * information("CATECHOL", "ARTCO2", ["TPR"]) == pytest.approx(248.71, abs=0.01)
