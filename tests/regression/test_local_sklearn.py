"""Local regression keeps scikit-learn's contract."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayeslearn.errors import DataError
from bayeslearn.regression.local import LocalRegressor
from bayeslearn.tables import as_table

#: What cannot hold, and why.
EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": "the k nearest rows are counted, however much they weigh",
    "check_sample_weight_equivalence_on_sparse_data": "there is no sparse input",
}


@pytest.mark.thorough
@parametrize_with_checks([LocalRegressor(loo_rows=20)], expected_failed_checks=lambda _: EXPECTED)
def test_estimators(estimator, check):
    check(estimator)


RNG = np.random.default_rng(3)
X = RNG.normal(size=(90, 3))
Y = X[:, 0] ** 2 - X[:, 1] + 0.1 * RNG.normal(size=90)


def test_constant_fits_are_those_of_scikit_learns_neighbors():
    ours = LocalRegressor(0, locality="neighbors", n_neighbors=7, standardize=False).fit(X, Y)
    theirs = KNeighborsRegressor(7).fit(X, Y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-12)


def test_batches_equal_the_whole():
    model = LocalRegressor(loo_rows=None, degree=0)
    for rows in np.array_split(np.arange(90), 4):
        model.partial_fit(X[rows], Y[rows])
    whole = LocalRegressor(loo_rows=None, degree=0).fit(X, Y)
    np.testing.assert_allclose(model.predict(X), whole.predict(X), rtol=1e-12)
    assert model.settings_ == whole.settings_
    assert model.tried_[0].error == pytest.approx(whole.tried_[0].error, rel=1e-12)


def test_deviations_and_intervals():
    model = LocalRegressor(2, n_neighbors=40).fit(X, Y)
    mean, std = model.predict(X, return_std=True)
    low, high = model.predict_interval(X, 0.5)
    assert ((low < mean) & (mean < high)).all()
    assert (std > 0.05).all()
    assert (np.abs(mean - Y) < 3 * std).mean() > 0.95
    assert model.local_fits(X[:2], slopes=True).slopes.shape == (2, 3)


def test_tables():
    rows = {"length": np.arange(30.0), "kind": ["a", "b", "c"] * 10}
    y = 2 * np.arange(30.0) + np.tile([0, 5, 9], 10)
    for data in (rows, as_table(rows)):
        model = LocalRegressor(n_neighbors=20).fit(data, y)
        np.testing.assert_allclose(model.predict({"length": [10.0, 11.0], "kind": ["b", "c"]}), [25, 31], rtol=1e-2)


def test_infinite_cells_are_refused():
    with pytest.raises((DataError, ValueError), match="infinity"):
        LocalRegressor().fit([[1.0], [np.inf]], [1, 2])
