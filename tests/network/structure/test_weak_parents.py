"""Faint parents: the test of an effect by itself, and the parents that it finds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2
from sklearn.linear_model import LogisticRegression

from bayeslearn.network import BackgroundKnowledge, fit_network
from bayeslearn.network.structure.constraint_based.independence_tests import independence
from bayeslearn.network.structure.score_based.candidate_parents import NO_EFFECT, effect, with_weak_parents
from bayeslearn.network.structure.scoring.family_counts import FamilyCounts
from bayeslearn.network.structure.search_settings import Budget
from bayeslearn.tables import as_table
from tests.properties import trials


def random_counts(seed, slices=4, least=1):
    rng = np.random.default_rng(seed)
    r, s = rng.integers(2, 4, 2)
    return rng.integers(least, 30, (slices, r, s)).astype(float)


def by_regression(n):
    """2 (ln P with an effect − ln P without), x being explained by a constant in each slice and by y."""
    slices, _, s = n.shape
    z, x, y = (axis.ravel() for axis in np.indices(n.shape))

    def fit(*columns):
        rows = np.hstack([np.eye(size)[column] for column, size in columns])
        model = LogisticRegression(C=np.inf, fit_intercept=False, solver="newton-cg", tol=1e-8, max_iter=10_000)
        model.fit(rows, x, sample_weight=n.ravel())
        return n.ravel() @ model.predict_log_proba(rows)[np.arange(len(x)), x]

    return 2 * (fit((z, slices), (y, s)) - fit((z, slices)))


@pytest.mark.thorough
@trials(15)
@given(seed=st.integers(0, 100_000))
def test_an_effect_is_that_of_a_logistic_regression(seed):
    n = random_counts(seed)
    found = effect(n)
    assert found.statistic == pytest.approx(by_regression(n), rel=1e-8, abs=1e-8)
    assert found.degrees == (n.shape[1] - 1) * (n.shape[2] - 1)
    assert found.p_value == pytest.approx(chi2.sf(found.statistic, found.degrees), rel=1e-9)


def test_in_one_slice_it_is_the_test_of_independence():
    rng = np.random.default_rng(2)
    table = as_table({"x": rng.choice(list("abc"), 90).tolist(), "y": rng.choice(list("de"), 90).tolist()})
    n = FamilyCounts(table).family(1, (0,))[None]
    assert effect(n).statistic == pytest.approx(independence(table, "x", "y").statistic, rel=1e-9)


def test_effects_that_cancel_are_none():
    up, down = np.array([[30.0, 10.0], [10.0, 30.0]]), np.array([[10.0, 30.0], [30.0, 10.0]])
    assert effect(np.stack([up, down])).statistic == pytest.approx(0.0, abs=1e-9)
    assert effect(np.stack([up, up])).p_value < 1e-8


@given(seed=st.integers(0, 100_000), level=st.sampled_from([1e-4, 0.01, 0.2]))
def test_what_is_not_looked_at_would_not_have_reached_the_level(seed, level):
    n = random_counts(seed, least=0)
    whole, looked = effect(n), effect(n, level)
    assert (whole.p_value <= level) == (looked.p_value <= level)
    assert looked in (whole, NO_EFFECT)


def test_slices_in_which_nothing_varies_say_nothing():
    n = random_counts(3)
    still = np.zeros((2, *n.shape[1:]))
    still[0, 0], still[1, :, 0] = 500.0, 500.0
    assert effect(np.concatenate([n, still])) == effect(n)
    assert effect(still) == NO_EFFECT
    assert effect(np.zeros((0, 2, 2))) == NO_EFFECT


# -- parents

NAMES = ["a", "b", "c", "faint", "idle", "x"]


def shifted(seed=0, rows=2000):
    """x follows the sum of three causes of four states, and a fourth shifts it a little."""
    rng = np.random.default_rng(seed)
    a, b, c = rng.integers(0, 4, (3, rows))
    faint, idle = rng.integers(0, 2, (2, rows))
    odds = 1.2 * (a + b + c - 4.5) + 0.7 * (faint - 0.5)
    x = rng.random(rows) < 1 / (1 + np.exp(-odds))
    return as_table(dict(zip(NAMES, (v.astype(str).tolist() for v in (a, b, c, faint, idle, x)), strict=True)))


def test_a_parent_that_the_table_does_not_pay_for():
    best, more = (
        fit_network(shifted(), algorithm=m, order=NAMES).dag
        for m in ("optimal_given_order", "weak_parents_given_order")
    )
    assert best.parents("x") == ("a", "b", "c")
    assert set(more.parents("x")) == {"a", "b", "c", "faint"}
    assert set(more.arcs) - set(best.arcs) == {("faint", "x")}


def test_the_order_of_columns_does_not_matter():
    table = shifted(1)
    turned = table.select(list(reversed(NAMES)))
    one, other = (fit_network(t, algorithm="weak_parents_given_order", order=NAMES).dag for t in (table, turned))
    assert set(one.arcs) == set(other.arcs)


@pytest.mark.parametrize("known", [BackgroundKnowledge(forbidden=[("faint", "x")]), BackgroundKnowledge(max_parents=3)])
def test_what_is_known_is_kept_to(known):
    found = fit_network(shifted(), algorithm="weak_parents_given_order", order=NAMES, knowledge=known).dag
    assert found.parents("x") == ("a", "b", "c")


def test_so_many_false_arcs_are_expected():
    """Twelve columns that have nothing to do with each other, forty times."""
    names, added = [f"v{i:02}" for i in range(12)], []
    for seed in range(40):
        codes = np.random.default_rng(seed).integers(0, 3, (12, 500)).astype(str)
        counts = FamilyCounts(as_table(dict(zip(names, codes.tolist(), strict=True))))
        nothing = np.zeros((12, 12), np.bool_)
        arcs = with_weak_parents(counts, nothing, range(12), BackgroundKnowledge().of(names), false=2.0)
        assert not arcs[np.tril_indices(12)].any()
        added.append(arcs.sum())
    assert 1.4 < np.mean(added) < 2.6


def test_a_search_that_is_over_looks_no_further():
    counts, over = FamilyCounts(shifted()), Budget(deadline=0.0)
    nothing = np.zeros((6, 6), np.bool_)
    assert not with_weak_parents(counts, nothing, range(6), BackgroundKnowledge().of(NAMES), over).any()
