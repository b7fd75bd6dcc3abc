"""How learners are compared: SciPy's answers, and laws of weights."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import stats
from sklearn import metrics

from bayeslearn.contest import judging

LOSSES = arrays.arrays(np.float64, st.integers(2, 30), elements=st.sampled_from([0.0, 1.0]))


@given(LOSSES, st.randoms(use_true_random=False))
def test_the_sign_test_is_the_binomial_one(a, random):
    b = np.array([random.choice([0.0, 1.0]) for _ in a])
    more, less = int((a > b).sum()), int((a < b).sum())
    expected = stats.binomtest(more, more + less).pvalue if more + less else 1.0
    assert judging.sign_test(a, b, np.ones(len(a))) == pytest.approx(expected, rel=1e-9)


@given(st.integers(0, 10**6))
def test_the_paired_t_test_is_scipys(seed):
    a, b = np.random.default_rng(seed).exponential(size=(2, 12))
    assert judging.paired_t(a, b, np.ones(12)) == pytest.approx(stats.ttest_rel(a, b).pvalue, rel=1e-9)
    assert judging.paired_t(a, a, np.ones(12)) == 1
    assert judging.paired_t(a + 1, a.round(), np.ones(12)) < 1


@given(LOSSES, st.integers(0, 10**6), st.booleans())
def test_a_weight_is_a_row_so_often(a, seed, classes):
    rng = np.random.default_rng(seed)
    b, w = rng.integers(0, 2, len(a)).astype(float), rng.integers(1, 4, len(a))
    rows = np.repeat(np.arange(len(a)), w)
    ones = np.ones(len(rows))
    weighed = judging.error_of(a, w.astype(float), classes=classes)
    assert weighed == pytest.approx(judging.error_of(a[rows], ones, classes=classes), rel=1e-9)
    together = judging.chance(a[rows], b[rows], ones, classes=classes)
    assert judging.chance(a, b, w.astype(float), classes=classes) == pytest.approx(together, rel=1e-7, abs=1e-12)


@given(st.lists(st.floats(0, 1), max_size=6))
def test_holm_keeps_the_order_and_only_raises(p):
    found = judging.holm(p)
    assert all(0 <= one <= other <= 1 for one, other in zip(p, found, strict=True))
    order = np.argsort(p, kind="stable")
    assert (np.diff(np.array(found)[order]) >= 0).all()
    if p:
        assert min(found) == min(1.0, len(p) * min(p))


def test_log_loss_is_scikit_learns():
    rng = np.random.default_rng(0)
    proba, said, w = rng.dirichlet(np.ones(3), 20), rng.integers(0, 3, 20), rng.exponential(size=20)
    expected = metrics.log_loss(said, proba, sample_weight=w, labels=[0, 1, 2])
    assert judging.log_loss(proba, said, w) == pytest.approx(expected, rel=1e-12)
    assert judging.log_loss(np.eye(2), np.array([1, 1]), np.ones(2)) == pytest.approx(-np.log(1e-12) / 2)
