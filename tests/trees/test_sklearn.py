"""Forests as scikit-learn estimators."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayeslearn import BayesianForestClassifier, BayesianForestRegressor
from tests.trees.test_model import MORE, ROWS

EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": "rows are drawn by their places",
    "check_sample_weight_equivalence_on_sparse_data": "rows are drawn by their places",
}


@parametrize_with_checks(
    [BayesianForestClassifier(5, random_state=0), BayesianForestRegressor(5, random_state=0)],
    expected_failed_checks=lambda _: EXPECTED,
)
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


def test_iris():
    X, y = load_iris(return_X_y=True)
    assert cross_val_score(BayesianForestClassifier(30, random_state=0), X, y, cv=3).mean() > 0.92


def test_frames_with_missing_values_and_named_columns():
    frame = ROWS.drop(columns="y")
    by_name = BayesianForestClassifier(10, random_state=0).fit(frame, "kind")
    by_array = BayesianForestClassifier(10, random_state=0).fit(frame.drop(columns="kind"), frame["kind"])
    p = by_name.predict_proba(MORE[["x", "z", "hue"]])
    np.testing.assert_array_equal(p, by_array.predict_proba(MORE[["x", "z", "hue"]]))
    assert list(by_name.feature_names_in_) == ["x", "z", "hue"]
    assert by_name.score(MORE.drop(columns="y"), "kind") > 0.7
    assert len(by_name.explain(MORE[:2][["x", "z", "hue"]])) == 2


def test_attributes_of_random_forests_are_there():
    X, y = load_iris(return_X_y=True)
    model = BayesianForestClassifier(20, random_state=0).fit(X, y)
    assert model.feature_importances_.sum() == pytest.approx(1)
    assert model.oob_decision_function_.shape == (150, 3)
    assert model.oob_score_ > 0.9
    numbers = BayesianForestRegressor(20, random_state=0).fit(X[:, :3], X[:, 3])
    assert numbers.oob_prediction_.shape == (150,)
    low, high = numbers.predict_interval(X[:, :3], 0.9)
    assert np.mean((low <= X[:, 3]) & (X[:, 3] <= high)) > 0.8


def test_more_rows_are_counted_in_the_trees_of_the_first():
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(0).permutation(150)
    X, y = X[order], y[order]
    model = BayesianForestClassifier(5, random_state=0).partial_fit(X[:100], y[:100])
    trees = model.model_.trees
    model.partial_fit(X[100:], y[100:])
    assert model.model_.trees is trees
    assert model.model_.total_weight == pytest.approx(150)
    numbers = (
        BayesianForestRegressor(5, random_state=0).partial_fit(X[:100], X[:100, 0]).partial_fit(X[100:], X[100:, 0])
    )
    assert numbers.model_.total_weight == pytest.approx(150)


def test_settings_are_those_of_the_constructor():
    model = BayesianForestClassifier(7, max_features=2, split_probability=0.3)
    assert clone(model).get_params()["split_probability"] == 0.3
    assert model.fit(pd.DataFrame({"a": [1, 2, 3, 4], "b": [1.0, 0, 1, 0]}), [0, 1, 0, 1]).model_.n_trees == 7
