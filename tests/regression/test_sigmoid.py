"""Sigmoid units: the gradient, three ways to one top, evidence and intervals, and classes that are separated."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.optimize import check_grad
from scipy.special import expit

from bayeslearn.errors import (
    BayeslearnWarning,
    CapacityError,
    ConvergenceWarning,
    DataError,
    MismatchError,
    MissingValuesError,
    ParameterError,
    ShapeError,
    UnknownStateError,
)
from bayeslearn.regression import ClassificationModel, LogisticClassifier, LogisticFit, fit_logistic
from bayeslearn.regression.logistic_optimizers import NormalPrior, Problem
from tests.properties import trials

SEEDS = st.integers(0, 2**32 - 1)


def data(seed, n=40, d=2, k=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    D = rng.dirichlet(np.ones(k), size=n)
    return X, D, rng.uniform(0, 2, n)


### laws


@trials(20)
@given(SEEDS, st.sampled_from([2, 3]), st.sampled_from([0.0, 0.7]))
def test_the_gradient_is_that_of_the_objective(seed, k, strength):
    X, D, w = data(seed, k=k)
    problem = Problem.of(X, D, w, None, strength)
    at = np.random.default_rng(seed).normal(size=problem.prior.mean.size)
    assert check_grad(problem.objective, problem.gradient, at) < 1e-4
    step = 1e-5
    slope = [(problem.gradient(at + step * e) - problem.gradient(at - step * e)) / (2 * step) for e in np.eye(len(at))]
    np.testing.assert_allclose(problem.precision(at), -np.array(slope), atol=1e-5)


@trials(10)
@given(SEEDS, st.sampled_from([2, 3]))
def test_three_ways_lead_to_one_top(seed, k):
    X, D, w = data(seed, k=k)
    found = [LogisticFit.fit(X, D, sample_weight=w, strength=0.5, algorithm=m) for m in ("newton", "lbfgs", "gradient")]
    for other in found[1:]:
        np.testing.assert_allclose(other.coefficients, found[0].coefficients, atol=1e-5)
        assert other.log_likelihood == pytest.approx(found[0].log_likelihood, rel=1e-7)


@trials(15)
@given(SEEDS)
def test_weight_two_is_the_row_twice_and_soft_targets_are_shares(seed):
    X, D, _ = data(seed, n=10)
    twice = np.repeat(np.arange(10), 2)
    one, other = LogisticFit.fit(X, D, sample_weight=np.full(10, 2.0)), LogisticFit.fit(X[twice], D[twice])
    np.testing.assert_allclose(one.coefficients, other.coefficients, atol=1e-9)
    hard = LogisticFit.fit(
        np.concatenate([X, X]), np.repeat([0.0, 1.0], 10), sample_weight=np.concatenate([D[:, 0], D[:, 1]])
    )
    np.testing.assert_allclose(LogisticFit.fit(X, D[:, 1]).coefficients, hard.coefficients, atol=1e-9)


def test_two_classes_as_two_units_are_one():
    X, D, _ = data(0)
    np.testing.assert_allclose(
        LogisticFit.fit(X, D).probability(X), LogisticFit.fit(X, D[:, 1]).probability(X), rtol=1e-12
    )


### evidence and intervals


def test_the_evidence_is_nearly_the_integral():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(60, 1))
    d = (rng.random(60) < expit(1.5 * x[:, 0])).astype(float)
    prior = NormalPrior(np.zeros(2), np.diag([1e8, 2.0]))  # the intercept is as good as known
    fit = LogisticFit.fit(x, d, prior=prior)
    problem = Problem.of(x, d, None, prior, 0.0)

    def density(w):
        return np.exp(problem.log_likelihood(np.array([0.0, w])) + 40 - w * w) * np.sqrt(2 / (2 * np.pi))

    assert fit.log_marginal_likelihood() == pytest.approx(np.log(quad(density, -5, 8)[0]) - 40, abs=0.02)


@pytest.mark.parametrize("k", [2, 3])
def test_intervals_hold_what_the_weights_could_be(k):
    X, D, w = data(3, n=800, k=k)
    fit = LogisticFit.fit(X, D, sample_weight=w)
    drawn = np.random.default_rng(0).multivariate_normal(fit.coefficients.ravel(), fit.covariance, 4000)
    at = X[:5]
    p = np.array(
        [LogisticFit(v.reshape(fit.coefficients.shape), fit.precision, fit.prior).probability(at) for v in drawn]
    )
    low, high = fit.interval(at, 0.9)
    np.testing.assert_allclose(np.quantile(p, [0.05, 0.95], axis=0), [low, high], atol=0.015)


def test_what_is_known_is_the_prior_of_what_comes_next():
    X, D, w = data(4, n=400)
    whole = LogisticFit.fit(X, D, sample_weight=w)
    parts = LogisticFit.fit(X[:200], D[:200], sample_weight=w[:200]).update(X[200:], D[200:], sample_weight=w[200:])
    np.testing.assert_allclose(parts.coefficients, whole.coefficients, atol=0.02)
    assert parts.total_weight == pytest.approx(whole.total_weight)


### bins


def test_bins_follow_an_effect_that_bends(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=600)
    rows = {"x": x, "y": np.where(np.abs(x) + 0.2 * rng.normal(size=600) > 0.7, "out", "in")}
    straight, bent = (fit_logistic(rows, "y", features=kind) for kind in ("columns", "columns_and_bins"))
    assert bent.score(rows) > straight.score(rows) + 0.2
    for explained, p in zip(bent.explain(rows)[:20], bent.predict_proba(rows), strict=False):
        assert explained.average + sum(explained.contributions.values()) == pytest.approx(explained.predicted)
        assert explained.predicted == pytest.approx(np.log(p.max() / (1 - p.max())))
    bent.save(tmp_path / "m.json")
    again = ClassificationModel.load(tmp_path / "m.json")
    np.testing.assert_array_equal(again.predict_proba({"x": [None, 0.1]}), bent.predict_proba({"x": [None, 0.1]}))
    parts = again.update(rows).merge(again.update(rows))
    assert parts.total_weight == 1800
    estimator = LogisticClassifier(features="columns_and_bins").fit(x[:, None], rows["y"])
    np.testing.assert_allclose(estimator.predict_proba(x[:, None]), bent.predict_proba(rows), rtol=1e-9)
    with pytest.raises(ParameterError, match="features"):
        fit_logistic(rows, "y", features="bins")


### many rows


@pytest.mark.parametrize("k", [2, 4])
def test_many_rows_and_coefficients_have_the_same_posterior(k, monkeypatch):
    X, D, w = data(6, n=300, d=4, k=k)
    y = D.argmax(axis=1)
    exact = fit_logistic(X, y, sample_weight=w)
    monkeypatch.setattr("bayeslearn.regression.logistic_optimizers.NEWTON_WORK", 0)
    large = fit_logistic(X, y, sample_weight=w)
    assert isinstance(large.fit.curvature, Problem)
    np.testing.assert_allclose(large.fit.coefficients, exact.fit.coefficients, atol=1e-3)
    copied = pickle.loads(pickle.dumps(large))
    for one, other in zip(large.predict_interval(X), exact.predict_interval(X), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-3)
    assert not isinstance(large.fit.curvature, Problem)
    assert not isinstance(copied.fit.curvature, Problem)
    assert large.log_marginal_likelihood() == pytest.approx(exact.log_marginal_likelihood(), abs=1e-4)
    both = [model.update(X, y).fit.coefficients for model in (large, exact)]
    np.testing.assert_allclose(*both, atol=1e-3)


@pytest.mark.parametrize("k", [2, 4])
def test_the_curvature_of_units_alone_chooses_about_the_same_prior(k, monkeypatch):
    X, D, _ = data(7, n=400, d=5, k=k)
    y = (X @ np.random.default_rng(0).normal(size=(5, k)) + np.log(D)).argmax(axis=1)
    exact = fit_logistic(X, y, prior="evidence").fit_info.precision
    monkeypatch.setattr("bayeslearn.regression.logistic_optimizers.NEWTON_WORK", 0)
    monkeypatch.setattr("bayeslearn.regression.classification_fit.EVIDENCE_WORK", 0)
    quick = fit_logistic(X, y, prior="evidence").fit_info.precision
    assert abs(np.log10(quick / exact)) < 0.51 if k > 2 else quick == exact


### classes that are separated


@pytest.mark.parametrize("y", [[0, 0, 1, 1], [0, 0, 1, 2]], ids=["two", "three"])
def test_separated_classes_are_told_and_finite(y):
    rows = {"x": [0.0, 1.0, 2.0, 3.0]}
    with pytest.warns(BayeslearnWarning, match="the classes are separated: without a prior"):
        model = fit_logistic(rows, y, prior=None)
    assert model.fit.separated
    assert np.isfinite(model.coef).all()
    assert model.predict(rows).tolist() == y
    low, high = model.predict_interval(rows)
    assert (low == 0).all()
    assert (high == 1).all()
    held = fit_logistic(rows, y, prior=1.0)
    assert not held.fit.separated
    assert np.abs(held.coef).max() < 5


def test_one_class_on_one_side_only_is_separated_too():
    with pytest.warns(BayeslearnWarning, match="separated"):
        LogisticFit.fit([[0.0], [1.0], [2.0], [2.0], [3.0]], [0, 0, 1, 0, 1], strength=0)


def test_columns_that_repeat_each_other_take_the_shortest_weights():
    X, D, _ = data(5)
    twice = LogisticFit.fit(np.column_stack([X, X]), D, strength=0)
    np.testing.assert_allclose(twice.coefficients[:, 1:3], twice.coefficients[:, 3:], atol=1e-8)
    np.testing.assert_allclose(
        twice.probability(np.column_stack([X, X])), LogisticFit.fit(X, D, strength=0).probability(X), atol=1e-8
    )
    assert not twice.separated


### models


ROWS = {"age": [20.0, 30.0, None, 50.0, 60.0, 70.0], "sex": ["f", "m", "f", "m", None, "f"]}
LIVES = ["yes", "yes", "no", "yes", "no", "no"]


def test_models_and_files(tmp_path):
    model = fit_logistic({**ROWS, "lives": LIVES}, "lives")
    assert repr(model) == "ClassificationModel(lives of age, sex: logistic units; 6 rows)"
    assert model.classes == ("no", "yes")
    s = np.array([[45.0, 1.0]]) @ model.coef.T + model.intercept
    assert model.predict_proba({"age": [45.0], "sex": ["m"]})[0, 1] == pytest.approx(expit(s[0, 0]), rel=1e-12)
    model.save(tmp_path / "m.json.gz")
    again = ClassificationModel.load(tmp_path / "m.json.gz")
    np.testing.assert_array_equal(again.predict_proba(ROWS), model.predict_proba(ROWS))
    assert again.log_marginal_likelihood() == pytest.approx(model.log_marginal_likelihood(), rel=1e-12)
    assert again.update({**ROWS, "lives": LIVES}).fit.total_weight == 12


def test_the_evidence_chooses_the_prior():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 6))
    noise = fit_logistic(X, rng.integers(0, 2, 80), prior="evidence")
    real = fit_logistic(X, (X[:, 0] - X[:, 1] + 0.3 * rng.logistic(size=80) > 0).astype(int), prior="evidence")
    strength = [np.diagonal(model.fit.prior.precision).max() for model in (noise, real)]
    assert strength[0] > 5
    assert strength[1] < 0.5


def test_bad_input():
    X = np.zeros((3, 1))
    for d, error, match in [
        ([0.0, 1.0], ShapeError, "got 2 for 3 rows"),
        ([0.0, 1.0, 1.5], DataError, "soft targets are probabilities"),
        (np.full((3, 3), 0.5), DataError, "and 1 together"),
        (np.zeros((3, 1)), ShapeError, "expected probabilities of shape"),
    ]:
        with pytest.raises(error, match=match):
            LogisticFit.fit(X, d)
    with pytest.raises(CapacityError, match="more than the limit of 5000"):
        LogisticFit.fit(np.zeros((3, 6000)), [0.0, 1.0, 1.0])
    with pytest.raises(ParameterError, match="unexpected value for `algorithm`"):
        LogisticFit.fit(X, [0.0, 1.0, 1.0], algorithm="magic")
    with pytest.raises(DataError, match="the target has one class only, 'yes'"):
        fit_logistic(ROWS, ["yes"] * 6)
    with pytest.raises(MissingValuesError, match="missing in every row"):
        fit_logistic(ROWS, [None] * 6)
    with pytest.raises(UnknownStateError, match="labels 'maybe' are not among the classes 'no', 'yes'"):
        fit_logistic(ROWS, ["maybe", *LIVES[1:]], classes=["no", "yes"])
    with pytest.raises(ParameterError, match="expected 2 columns of probabilities, one per class, got 3"):
        fit_logistic(ROWS, np.full((6, 3), 1 / 3), soft=True, classes=["a", "b"])
    with pytest.warns(ConvergenceWarning, match="not converged after 2 iterations"):
        LogisticFit.fit(*data(0)[:2], algorithm="gradient", max_iter=2)


### the verbs of models


def test_scores_likelihoods_and_explanations():
    model = fit_logistic({**ROWS, "lives": LIVES}, "lives")
    rows = {**ROWS, "lives": LIVES}
    p = model.predict_proba(rows)
    codes = [None if label is None else model.classes.index(label) for label in LIVES]
    expected = [0.0 if code is None else np.log(p[i, code]) for i, code in enumerate(codes)]
    np.testing.assert_allclose(model.log_likelihood(rows), expected, rtol=1e-9)
    known = [i for i, code in enumerate(codes) if code is not None]
    assert model.score(rows) == np.mean(model.predict(rows)[known] == np.array(LIVES, object)[known])
    for explained, each in zip(model.explain(rows), p, strict=True):
        assert explained.predicted == pytest.approx(np.log(each.max() / (1 - each.max())))


def test_a_common_base_counts_once():
    rng = np.random.default_rng(5)
    x = rng.normal(size=900)
    y = np.where(x + rng.logistic(size=900) > 0, "up", "down")
    parts = [{"x": x[part], "y": y[part]} for part in (slice(0, 300), slice(300, 600), slice(600, 900))]
    base = fit_logistic(parts[0], "y")
    one, two = base.update(parts[1]), base.update(parts[2])
    both = one.merge(two)
    assert both.total_weight == 900
    np.testing.assert_allclose(both.coef, base.update(parts[1]).update(parts[2]).coef, rtol=0.02)
    with pytest.raises(MismatchError, match="different classes, encodings or units"):
        base.merge(fit_logistic(parts[1], "y"))
    with pytest.raises(MismatchError, match="different priors"):
        one.merge(base)


def test_the_fit_reports_what_it_found():
    model = fit_logistic({**ROWS, "lives": LIVES}, "lives")
    info = model.fit_info.to_dict()
    assert info["targets"] == ["lives"]
    assert 0 <= info["training_accuracy"] <= 1
    for shown in (model, model.fit_info):
        assert "<td" in shown._repr_html_()
        json.dumps(shown.to_dict())
