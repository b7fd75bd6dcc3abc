"""How learners are compared: SciPy's answers, and laws of weights."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import stats
from sklearn import metrics

from bayeslearn import evaluation, significance
from bayeslearn.errors import DataError, ParameterError, ShapeError

LOSSES = arrays.arrays(np.float64, st.integers(2, 30), elements=st.sampled_from([0.0, 1.0]))


@given(LOSSES, st.randoms(use_true_random=False))
def test_the_sign_test_is_the_binomial_one(a, random):
    b = np.array([random.choice([0.0, 1.0]) for _ in a])
    more, less = int((a > b).sum()), int((a < b).sum())
    expected = stats.binomtest(more, more + less).pvalue if more + less else 1.0
    assert significance.sign_test(a, b, np.ones(len(a))) == pytest.approx(expected, rel=1e-9)


@given(st.integers(0, 10**6))
def test_the_paired_t_test_is_scipys(seed):
    a, b = np.random.default_rng(seed).exponential(size=(2, 12))
    assert significance.paired_t_test(a, b, np.ones(12)) == pytest.approx(stats.ttest_rel(a, b).pvalue, rel=1e-9)
    assert significance.paired_t_test(a, a, np.ones(12)) == 1
    assert significance.paired_t_test(a + 1, a.round(), np.ones(12)) < 1


@given(LOSSES, st.integers(0, 10**6), st.booleans())
def test_a_weight_is_a_row_so_often(a, seed, classes):
    rng = np.random.default_rng(seed)
    b, w = rng.integers(0, 2, len(a)).astype(float), rng.integers(1, 4, len(a))
    rows = np.repeat(np.arange(len(a)), w)
    ones = np.ones(len(rows))
    weighed = significance.error_with_spread(a, w.astype(float), classes=classes)
    assert weighed == pytest.approx(significance.error_with_spread(a[rows], ones, classes=classes), rel=1e-9)
    together = significance.paired(a[rows], b[rows], ones, classes=classes).p_value
    assert significance.paired(a, b, w.astype(float), classes=classes).p_value == pytest.approx(
        together, rel=1e-7, abs=1e-12
    )


@given(st.lists(st.floats(0, 1), max_size=6))
def test_holm_keeps_the_order_and_only_raises(p):
    found = significance.holm(p)
    assert all(0 <= one <= other <= 1 for one, other in zip(p, found, strict=True))
    order = np.argsort(p, kind="stable")
    assert (np.diff(np.array(found)[order]) >= 0).all()
    if p:
        assert min(found) == min(1.0, len(p) * min(p))


def random_answers(seed, n=30, k=3):
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.ones(k), n), rng.integers(0, k, n), rng.exponential(size=n)


def test_metrics_are_scikit_learns():
    p, y, w = random_answers(0)
    found = evaluation.Metrics.of(p, y, classes="abc", sample_weight=w)
    best = p.argmax(axis=1)
    assert found.log_loss == pytest.approx(metrics.log_loss(y, p, sample_weight=w, labels=[0, 1, 2]), rel=1e-12)
    assert found.accuracy == pytest.approx(metrics.accuracy_score(y, best, sample_weight=w), rel=1e-12)
    np.testing.assert_allclose(found.confusion, metrics.confusion_matrix(y, best, sample_weight=w), rtol=1e-12)
    np.testing.assert_allclose(found.recall, metrics.recall_score(y, best, average=None, sample_weight=w), rtol=1e-12)
    np.testing.assert_allclose(
        found.precision, metrics.precision_score(y, best, average=None, sample_weight=w), rtol=1e-12
    )
    two = p[:, :2] / p[:, :2].sum(axis=1, keepdims=True)
    brier = evaluation.Metrics.of(two, y % 2, classes="ab", sample_weight=w).brier
    assert brier == pytest.approx(2 * metrics.brier_score_loss(y % 2, two[:, 1], sample_weight=w), rel=1e-12)


def test_an_impossible_class_counts_as_in_scikit_learn():
    certain, said = np.eye(2), np.array([1, 1])
    found = evaluation.Metrics.of(certain, said, classes="ab").log_loss
    assert found == pytest.approx(metrics.log_loss(said, certain, labels=[0, 1]), rel=1e-9)
    assert np.isfinite(found)


@given(st.integers(0, 10**6), st.integers(0, 30))
def test_metrics_of_parts_add(seed, cut):
    p, y, w = random_answers(seed)
    y[::7] = -1  # unknown
    a, b = (
        evaluation.Metrics.of(p[s], y[s], classes="abc", sample_weight=w[s]) for s in (slice(cut), slice(cut, None))
    )
    whole, both = evaluation.Metrics.of(p, y, classes="abc", sample_weight=w), a + b + evaluation.Metrics.none("abc")
    for name in ("confusion", "loss", "squares", "bins"):
        np.testing.assert_allclose(getattr(both, name), getattr(whole, name), rtol=1e-12, atol=1e-12)
    assert whole.calibration.error == pytest.approx(
        evaluation.Calibration.of(p[y >= 0], y[y >= 0], sample_weight=w[y >= 0]).error, rel=1e-9
    )


def test_metrics_that_say_nothing_are_refused():
    nothing = evaluation.Metrics.none("ab")
    for name in ("accuracy", "log_loss", "brier"):
        with pytest.raises(DataError, match="no row that counts has a known class"):
            getattr(nothing, name)
    with pytest.raises(ParameterError, match="different classes do not add"):
        _ = nothing + evaluation.Metrics.none("abc")
    with pytest.raises(ShapeError, match=r"expected probabilities of shape \(1, 2\), got \(1, 3\)"):
        evaluation.Metrics.of([[0.1, 0.2, 0.7]], [0], classes="ab")
    assert nothing.calibration.error == 0


@given(st.lists(st.integers(-1, 3), min_size=12, max_size=60), st.integers(2, 5), st.integers(0, 10**6))
def test_folds_show_every_class_alike(labels, k, seed):
    y = np.array(labels + [0] * k)
    fold = evaluation.folds(y, k, random_state=seed)
    for code in np.unique(y):
        sizes = np.bincount(fold[y == code], minlength=k)
        assert sizes.max() - sizes.min() <= 1
    assert (fold == evaluation.folds(y, k, random_state=seed)).all()


def test_folds_of_numbers_and_too_many_folds():
    assert np.bincount(evaluation.folds(10, 3)).tolist() == [4, 3, 3]
    with pytest.raises(DataError, match="2 rows with a known target cannot make 3 folds"):
        evaluation.folds([0, 1, -1], 3)
    with pytest.raises(ParameterError, match="`n_folds` must be at least 2"):
        evaluation.folds(10, 1)


def test_answers_are_those_of_the_other_folds():
    fold, y = np.array([0, 1, -1, 0, 1]), np.arange(5.0)
    found = evaluation.out_of_fold(fold, lambda train, test: y[train].sum() + 0 * y[test], np.full(5, np.nan))
    np.testing.assert_allclose(found, [7, 5, np.nan, 7, 5], rtol=0)


@given(st.lists(st.integers(-9, 9), min_size=2, max_size=12))
def test_sums_without_each_are_those_of_the_others(parts):
    assert evaluation.sums_without_each(parts) == [sum(parts) - part for part in parts]


def test_a_stratified_split_keeps_the_share_of_every_class():
    codes = np.repeat([0, 1, 2], [30, 9, 2])
    train, test = evaluation.stratified_split(codes, 1 / 3, np.random.default_rng(0))
    assert np.bincount(codes[train]).tolist() == [20, 6, 1]
    assert sorted([*train, *test]) == list(range(41))


def test_roc_curves_are_scikit_learns():
    p, y, w = random_answers(2)
    y[::5] = -1
    found, known = evaluation.Predictions(p, y, "abc", w), y >= 0
    for code, label in enumerate("abc"):
        area = metrics.roc_auc_score(y[known] == code, p[known, code], sample_weight=w[known])
        assert found.auc(label) == pytest.approx(area, rel=1e-12)
        assert metrics.auc(*found.roc(label)) == pytest.approx(area, rel=1e-12)
    assert found.metrics.log_loss == evaluation.Metrics.of(p, y, classes="abc", sample_weight=w).log_loss
    with pytest.raises(ParameterError, match="there is no class 'd'"):
        found.auc("d")
    with pytest.raises(ParameterError, match="no row is of class 'b', so that there is no ROC curve"):
        evaluation.Predictions([[0.5, 0.5]], [0], "ab").roc("b")


def test_paired_differences():
    a, b = np.array([1.0, 0, 1, 1]), np.array([0.0, 0, 0, 1])
    found = significance.paired(a, b, classes=True)
    assert (found.mean, found.p_value) == (0.5, significance.sign_test(a, b, np.ones(4)))
    assert significance.paired(a, b, classes=False).p_value == significance.paired_t_test(a, b, np.ones(4))
    assert found.standard_error == pytest.approx(np.std(a - b, ddof=1) / 2, rel=1e-12)
