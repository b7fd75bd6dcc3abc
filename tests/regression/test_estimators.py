"""The estimators keep scikit-learn's contract, and answer as scikit-learn does where it can."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayeslearn.errors import DataError, MissingValuesError, ParameterError, ShapeError
from bayeslearn.regression import (
    BayesianLinearRegressor,
    LogisticClassifier,
    RBFClassifier,
    RBFRegressor,
)


@pytest.mark.thorough
@parametrize_with_checks(
    [
        BayesianLinearRegressor(),
        LogisticClassifier(),
        RBFRegressor(),
        RBFRegressor(25, random_state=0),
        RBFClassifier(4, prior=1.0, random_state=0),
    ],
)
def test_estimators(estimator, check):
    check(estimator)


RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3)) * [1, 10, 100] + [0, 5, -300]
Y = X @ RNG.normal(size=(3, 2)) + RNG.normal(size=(60, 2))
LABELS = np.where(X[:, 0] + RNG.logistic(size=60) > 0, "yes", "no")
THREE = np.array(["a", "b", "c"])[RNG.integers(0, 3, 60)]
ROWS = {"x": X[:, 0], "size": X[:, 1], "hue": np.where(X[:, 2] > -300, "red", "blue"), "y": Y[:, 0], "z": Y[:, 1]}


def test_least_squares_is_what_scikit_learn_finds():
    mine, peer = BayesianLinearRegressor().fit(X, Y), LinearRegression().fit(X, Y)
    np.testing.assert_allclose(mine.coef_, peer.coef_, rtol=1e-10)
    np.testing.assert_allclose(mine.intercept_, peer.intercept_, rtol=1e-10)
    np.testing.assert_allclose(mine.predict(X), peer.predict(X), rtol=1e-10)
    assert mine.score(X, Y) == pytest.approx(peer.score(X, Y), rel=1e-12)


def test_a_prior_of_so_many_cases_is_ridge():
    z = (X - X.mean(axis=0)) / X.std(axis=0)
    mine, peer = BayesianLinearRegressor(prior=7.0).fit(X, Y[:, 0]), Ridge(alpha=7.0).fit(z, Y[:, 0])
    np.testing.assert_allclose(mine.coef_ * X.std(axis=0), peer.coef_, rtol=1e-10)
    np.testing.assert_allclose(mine.predict(X), peer.predict(z), rtol=1e-10)


@pytest.mark.parametrize("y", [LABELS, THREE], ids=["two classes", "three classes"])
def test_sigmoid_units_are_logistic_regression(y):
    z = (X - X.mean(axis=0)) / X.std(axis=0)
    mine, peer = (
        LogisticClassifier(prior=2.0).fit(X, y),
        LogisticRegression(C=0.5, tol=1e-12, max_iter=10_000).fit(z, y),
    )
    np.testing.assert_allclose(mine.predict_proba(X), peer.predict_proba(z), rtol=1e-5)
    np.testing.assert_allclose(mine.coef_ * X.std(axis=0), peer.coef_, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(mine.decision_function(X), peer.decision_function(z), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(np.exp(mine.predict_log_proba(X)), mine.predict_proba(X), rtol=1e-12)
    assert (mine.predict(X) == peer.predict(z)).all()


@pytest.mark.parametrize("learner", [BayesianLinearRegressor(), RBFRegressor(5, random_state=0)])
def test_columns_by_name_batches_and_intervals(learner):
    frame = pd.DataFrame(ROWS)
    one = learner.fit(frame.drop(columns=["z"]), "y")
    assert one.model_.targets == ("y",)
    assert one.n_features_in_ == 3
    mean, (low, high) = one.predict(frame), one.predict_interval(frame, 0.9)
    assert mean.shape == (60,)
    assert np.mean((low <= Y[:, 0]) & (Y[:, 0] <= high)) > 0.8
    assert (one.predict(frame, return_std=True)[1] > 0).all()
    both = learner.fit(ROWS, ["y", "z"])
    assert both.predict(ROWS).shape == (60, 2)
    assert both.noise_.shape == (2,)


def test_batches_are_the_whole():
    whole, parts = BayesianLinearRegressor().fit(X, Y), BayesianLinearRegressor()
    for rows in np.array_split(np.arange(60), 4):
        parts.partial_fit(X[rows], Y[rows])
    np.testing.assert_allclose(parts.predict_interval(X, 0.5), whole.predict_interval(X, 0.5), rtol=1e-9)
    assert parts.model_.total_weight == 60


@pytest.mark.parametrize("learner", [LogisticClassifier(), RBFClassifier(4, prior=1.0, random_state=2)])
def test_classes_by_name_batches_and_intervals(learner):
    names = {**ROWS, "well": LABELS}
    found = learner.fit({k: v for k, v in names.items() if k not in {"y", "z"}}, "well")
    assert found.classes_.tolist() == ["no", "yes"]
    p, (low, high) = found.predict_proba(names), found.predict_interval(names)
    assert ((low < p) & (p < high)).all()
    np.testing.assert_allclose(low[:, 0], 1 - high[:, 1], rtol=1e-9)
    assert found.score(names, LABELS) > 0.6
    before = found.model_.fit.total_weight
    found.partial_fit(names, LABELS)
    assert found.model_.fit.total_weight == 2 * before


def test_batches_of_classes_are_nearly_the_whole():
    whole = LogisticClassifier().fit(X, LABELS)
    parts = LogisticClassifier().partial_fit(X[:40], LABELS[:40], classes=["no", "yes"])
    parts.partial_fit(X[40:], LABELS[40:])
    np.testing.assert_allclose(parts.predict_proba(X), whole.predict_proba(X), atol=0.05)


def test_a_class_may_show_later():
    first = THREE != "c"
    model = LogisticClassifier().partial_fit(X[first], THREE[first], classes=["a", "b", "c"])
    assert model.predict_proba(X)[:, 2].max() < 0.1
    model.partial_fit(X[~first], THREE[~first])
    assert model.predict_proba(X)[:, 2].mean() > 0.2


@pytest.mark.parametrize("learner", [BayesianLinearRegressor(), RBFRegressor(3, random_state=0)])
def test_what_a_regression_cannot_learn(learner):
    for y, error, match in [
        (np.full(60, np.nan), MissingValuesError, "the target is missing in every row"),
        (LABELS, DataError, "regression needs numeric targets"),
        (Y[:50], ShapeError, "got 50 for 60 rows"),
        (None, ParameterError, "the target y is None"),
    ]:
        with pytest.raises(error, match=match):
            learner.fit(X, y)
    with pytest.raises(DataError, match="target 'hue' holds states such as 'blue'"):
        learner.fit(ROWS, "hue")
    with pytest.raises(DataError, match="every sample weight is zero"):
        learner.fit(X, Y, sample_weight=np.zeros(60))


def test_rows_without_a_target_add_nothing():
    holed = Y[:, 0].copy()
    holed[::3] = np.nan
    there = ~np.isnan(holed)
    model = BayesianLinearRegressor().fit(X, holed)
    assert model.model_.total_weight == there.sum()
    np.testing.assert_allclose(model.coef_, BayesianLinearRegressor().fit(X[there], holed[there]).coef_, rtol=1e-10)
    some = [None if i % 3 == 0 else label for i, label in enumerate(LABELS)]
    assert LogisticClassifier().fit(X, some).model_.fit.total_weight == 40


def test_equal_targets_have_no_noise():
    model = BayesianLinearRegressor().fit(X, np.full(60, 5.0))
    mean, (low, high) = model.predict(X), model.predict_interval(X, 0.95)
    np.testing.assert_allclose(mean, 5, rtol=1e-12)
    np.testing.assert_allclose(high - low, 0, atol=1e-6)
    assert model.noise_ == pytest.approx(0, abs=1e-6)
    radial = RBFRegressor(3, random_state=0).fit(X, np.full(60, 5.0))
    np.testing.assert_allclose(radial.predict(X), 5, rtol=1e-6)
