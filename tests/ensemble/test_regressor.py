"""The Bayes optimal regressor: weights, intervals and their coverage, explanations, files."""

from __future__ import annotations

import numpy as np
import pytest

import bayeslearn
from bayeslearn import BayesOptimalRegressor, fit_bayes_optimal_regression
from bayeslearn.ensemble.mean_pooling import fit_mean_pool
from bayeslearn.errors import MissingValuesError, ParameterError

CHEAP = ["linear", "k-nn"]


def curved(n=300, seed=0):
    """A curve in x, a step in a word, and noise that grows with z."""
    rng = np.random.default_rng(seed)
    x, z, word = rng.uniform(-3, 3, n), rng.uniform(0, 1, n), rng.choice(["a", "b"], n)
    y = 2 * np.sin(x) + (word == "a") + rng.normal(size=n) * (0.2 + z)
    return {"x": x, "z": np.where(rng.random(n) < 0.05, np.nan, z), "word": word}, y


@pytest.fixture(scope="module")
def fitted():
    rows, y = curved()
    return fit_bayes_optimal_regression(rows | {"y": y}, "y", members=CHEAP)


def test_intervals_cover_new_rows(fitted):
    rows, y = curved(2000, seed=1)
    for level in (0.5, 0.8, 0.95):
        low, high = fitted.predict_interval(rows, level)
        covered = ((low <= y) & (y <= high)).mean()
        assert abs(covered - level) < 0.05, (level, covered)
    assert abs(fitted.fit_info.coverage - 0.95) < 0.04


def test_it_is_better_than_its_members(fitted):
    rows, y = curved(1000, seed=2)
    linear = bayeslearn.fit_linear(
        dict(zip(("x", "z", "word", "y"), [*curved()[0].values(), curved()[1]], strict=True)), "y"
    )
    assert fitted.score(rows, y) > linear.score(rows, y)
    assert fitted.score(rows | {"y": y}) == pytest.approx(fitted.score(rows, y))
    assert fitted.weights["k-nn"] > 0.5
    assert sum(fitted.weights.values()) == pytest.approx(1)
    info = fitted.fit_info
    assert info.r_squared >= max(m.score for m in info.members) - 0.01
    assert "R² out of fold" in info.summary()
    assert info.to_dict()["coverage"] == info.coverage


def test_explanations_add_up(fitted):
    rows, _ = curved(5, seed=3)
    predicted = fitted.predict(rows)
    for i, one in enumerate(fitted.explain(rows)):
        assert one.average + sum(one.contributions.values()) == pytest.approx(predicted[i])


@pytest.mark.parametrize("name", ["m.json", "m.model"])
def test_files(fitted, tmp_path, name):
    rows, y = curved(20, seed=4)
    fitted.save(tmp_path / name)
    again = bayeslearn.load(tmp_path / name)
    np.testing.assert_allclose(again.predict(rows), fitted.predict(rows), rtol=1e-12)
    np.testing.assert_allclose(again.log_likelihood(rows, y), fitted.log_likelihood(rows, y), rtol=1e-12)


def test_units_of_the_target_are_irrelevant():
    rows, y = curved(100)
    one, other = (fit_bayes_optimal_regression(rows, scale * y, members=CHEAP) for scale in (1.0, 1000.0))
    assert other.weights == pytest.approx(one.weights, abs=1e-3)
    np.testing.assert_allclose(other.predict_interval(rows)[0], 1000 * one.predict_interval(rows)[0], rtol=0.02)


def test_weights_of_members_are_convex_and_least_squares():
    rng = np.random.default_rng(0)
    y = rng.normal(size=400)
    means = np.column_stack([y + rng.normal(size=400), y + 2 * rng.normal(size=400), y + 50 * rng.normal(size=400)])
    pool = fit_mean_pool(means, y, np.ones(400))
    assert pool.coefficients.sum() == pytest.approx(1)
    assert (pool.coefficients >= 0).all()
    np.testing.assert_allclose(pool.coefficients, [0.8, 0.2, 0.0], atol=0.06)


@pytest.mark.parametrize("n", [1, 2, 4])
def test_few_rows(n):
    model = fit_bayes_optimal_regression({"x": [0.0, 1.0, 2.0, 3.0][:n]}, [0.0, 1.0, 2.5, 3.0][:n], members=["linear"])
    assert np.isfinite(model.predict({"x": [1.5]})).all()


def test_no_column_that_varies():
    model = BayesOptimalRegressor(CHEAP).fit([[1.0], [1.0], [1.0]], [1.0, 2.0, 3.0])
    assert model.predict([[1.0]])[0] == pytest.approx(2.0)
    assert not model.model_.members


def test_errors():
    with pytest.raises(ParameterError, match="there is no member 'aode'"):
        fit_bayes_optimal_regression({"x": [1.0, 2.0]}, [1.0, 2.0], members=["aode"])
    with pytest.raises(MissingValuesError, match="no row that counts has a 'y'"):
        fit_bayes_optimal_regression({"x": [1.0, 2.0]}, [np.nan, np.nan])
