"""Neighbors as evidence: counts and moments with priors, ties, weights, files."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeslearn.distributions import Categorical, Dirichlet, Normal, NormalInverseGamma
from bayeslearn.errors import (
    BayeslearnWarning,
    DataError,
    EmptyTableError,
    FormatError,
    MissingValuesError,
    ParameterError,
    ShapeError,
    WeightError,
)
from bayeslearn.neighbors import NeighborsModel, fit_neighbors, leave_one_out, select_feature_weights
from bayeslearn.neighbors.fit import REMOVAL
from tests.properties import trials

RNG = np.random.default_rng(0)
X, Q = RNG.normal(size=(60, 2)), RNG.normal(size=(15, 2))
WORDS, NUMBERS = np.where(X[:, 0] + RNG.normal(size=60) > 0, "up", "down"), X[:, 0] + RNG.normal(size=60)


def test_evidence_is_that_of_the_family():
    model = NeighborsModel.from_arrays(X, WORDS, k=7, weighting="inverse_square", prior=Dirichlet([2, 1]))
    d, rows = model.nearest(Q)
    w = 1 / d**2
    w *= (w.sum(axis=1) / (w**2).sum(axis=1))[:, None]
    for i in range(len(Q)):
        posterior = Categorical(2).fit(model.said[rows[i]], sample_weight=w[i], prior=Dirichlet([2, 1]))
        np.testing.assert_allclose(model.predict_proba(Q)[i], posterior.mean(), rtol=1e-9)
    prior = NormalInverseGamma.unit_information(0.5, 2.0)
    numbers = NeighborsModel.from_arrays(X, NUMBERS, k=7, prior=prior)
    low, high = numbers.predict_interval(Q, 0.8)
    for i in range(len(Q)):
        posterior = Normal().fit(NUMBERS[rows[i]], prior=prior)
        assert numbers.predict(Q)[i] == pytest.approx(float(posterior.mu))
        assert (low[i], high[i]) == pytest.approx(tuple(map(float, posterior.predictive().interval(0.8))))


@given(st.lists(st.sampled_from([1.0, 2.0, 3.0]), min_size=8, max_size=8), st.integers(1, 6), st.booleans())
@trials(25)
def test_a_row_of_weight_two_is_the_row_twice(sample_weight, k, by_distance):
    x, y = X[:8], NUMBERS[:8]
    how = {"k": k, "weighting": "inverse_square" if by_distance else "uniform", "metric": "scaled"}
    weighted = fit_neighbors({"a": x[:, 0], "b": x[:, 1], "y": y}, "y", sample_weight=sample_weight, **how).model
    twice = np.repeat(np.arange(8), np.array(sample_weight, int))
    repeated = fit_neighbors({"a": x[twice, 0], "b": x[twice, 1], "y": y[twice]}, "y", **how).model
    rows = {"a": Q[:, 0], "b": Q[:, 1]}
    np.testing.assert_allclose(weighted.predict(rows), repeated.predict(rows), rtol=1e-9)


def test_rows_that_are_parts_of_cases():
    model = fit_neighbors(
        {"x": [1.0, 2.0, 3.0], "y": ["a", "b", "b"]}, "y", k=1, sample_weight=[0.5, 0.25, 4], prior=0
    ).model
    np.testing.assert_allclose(model.predict_proba({"x": [0.0]}), [[0.5, 0.5]])


def test_an_exact_match_wins():
    model = NeighborsModel.from_arrays(
        {"x": [1.0, 1.5, 1.6, 1.0]}, [10.0, 0.0, 0.0, 20.0], k=4, weighting="inverse_square"
    )
    assert model.predict({"x": [1.0]}).tolist() == [15.0]
    assert model.predict({"x": [1.5]}).tolist() == [0.0]


def test_shepard_hears_all():
    model = NeighborsModel.from_arrays(X, NUMBERS, k=None, weighting="inverse_square", metric="euclidean")
    w = 1 / ((Q[:, None] - X) ** 2).sum(axis=2)
    np.testing.assert_allclose(model.predict(Q), (w * NUMBERS).sum(axis=1) / w.sum(axis=1), rtol=1e-9)


def test_a_function_of_distance():
    model = NeighborsModel.from_arrays(X, NUMBERS, k=9, weighting=lambda d: np.exp(-d))
    d, rows = model.nearest(Q)
    np.testing.assert_allclose(model.predict(Q), np.average(NUMBERS[rows], axis=1, weights=np.exp(-d)), rtol=1e-9)
    with pytest.raises(WeightError, match="not negative"):
        NeighborsModel.from_arrays(X, NUMBERS, weighting=lambda d: d - 1).predict(Q)
    with pytest.raises(DataError, match="no neighbor of row 0 has any weight"):
        NeighborsModel.from_arrays(X, NUMBERS, weighting=np.zeros_like).predict(Q)
    with pytest.raises(ParameterError, match="a weighting gives a weight for each"):
        NeighborsModel.from_arrays(X, NUMBERS, weighting=lambda d: 1.0).predict(Q)


def test_of_tied_classes_the_nearest_wins():
    model = NeighborsModel.from_arrays({"x": [1.0, 2.0, 3.0, 4.0]}, ["b", "a", "a", "b"], k=2)
    assert model.predict({"x": [1.4, 1.6, 3.6]}).tolist() == ["b", "a", "b"]
    assert NeighborsModel.from_arrays({"x": [1.0, 1.0]}, ["b", "a"], k=2).predict({"x": [0.0]}).tolist() == ["b"]


def test_intervals_hold_what_they_say():
    x = np.sort(RNG.uniform(0, 6, 600))
    y = np.sin(x) + 0.2 * RNG.normal(size=600)
    model = NeighborsModel.from_arrays({"x": x[::2]}, y[::2], k=15)
    low, high = model.predict_interval({"x": x[1::2]}, 0.9)
    assert 0.85 < np.mean((low < y[1::2]) & (y[1::2] < high)) < 0.95
    assert model.local_variance == pytest.approx(0.04, rel=0.35)


def test_targets_that_do_not_vary_have_no_interval_to_speak_of():
    low, high = NeighborsModel.from_arrays({"x": [1.0, 2.0]}, [5.0, 5.0], k=1).predict_interval({"x": [1.2]})
    assert low.tolist() == high.tolist() == [5.0]
    with pytest.raises(ParameterError, match="one neighbor alone has no spread"):
        NeighborsModel.from_arrays({"x": [1.0, 2.0]}, [5.0, 6.0], k=1, prior=0).predict_interval({"x": [1.2]})


### leave-one-out


@pytest.mark.parametrize("weighting", ["uniform", "inverse_square"])
@pytest.mark.parametrize("target", [WORDS, NUMBERS], ids=["classes", "numbers"])
def test_leaving_out_is_learning_without(weighting, target):
    n = 20
    model = NeighborsModel.from_arrays(X[:n], target[:n], weighting=weighting, metric="euclidean")
    found = leave_one_out(model, most=6)
    assert found.k == (1, 2, 3, 4, 5, 6)
    for k, error in zip(found.k, found.errors, strict=True):
        predicted = []
        for i in range(n):
            others = np.delete(np.arange(n), i)
            rest = NeighborsModel(
                model.examples.take(others), model.target, model.said[others], model.distance, k, weighting
            )
            predicted.append(rest.predict(X[i : i + 1])[0])
        expected = np.array(predicted)
        wrong = np.mean(expected != target[:n]) if target is WORDS else np.sqrt(np.mean((expected - target[:n]) ** 2))
        assert error == pytest.approx(wrong, rel=1e-9)
        if k == found.best and target is NUMBERS:
            np.testing.assert_allclose(found.predicted, expected, rtol=1e-9)
    assert found.error == min(found.errors)
    assert found.row_losses[found.uncertain_rows(1)[0]] == found.row_losses.max()


def test_leaving_out_among_many_that_are_the_same():
    found = leave_one_out(NeighborsModel.from_arrays({"x": [1.0] * 6}, list("aaaaab")), most=2)
    np.testing.assert_allclose(found.errors, [1 / 6, 1 / 6])


def test_leaving_out_rows_that_have_weights():
    rows = {"x": X[:12, 0], "y": NUMBERS[:12]}
    weighted = fit_neighbors(rows, "y", k=2, sample_weight=np.full(12, 2.0)).model
    plain = fit_neighbors(rows, "y", k=1).model
    assert leave_one_out(weighted, only=2).error == pytest.approx(leave_one_out(plain, only=1).error)


def test_nobody_left():
    with pytest.raises(EmptyTableError, match="nobody is left"):
        leave_one_out(NeighborsModel.from_arrays({"x": [1.0]}, ["a"], k=1))


def test_attributes_by_leave_one_out():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(150, 6))
    y = np.where(x[:, 0] * x[:, 1] > 0, "same", "other")
    model = NeighborsModel.from_arrays(x, y)
    found = select_feature_weights(model, among=REMOVAL, most=15)
    assert found.removed == ["x2", "x3", "x4", "x5"]
    assert found.after.error < found.before.error / 2
    assert found.model.k == found.after.best
    assert found.steps[-1][2] == pytest.approx(found.after.loss)
    fixed = select_feature_weights(model, among=REMOVAL, choose_k=False)
    assert fixed.model.k == 5


### files


@pytest.mark.parametrize("ending", ["json", "json.gz"])
def test_files_keep_everything(tmp_path, ending):
    rows = {"hue": ["red", None, "blue", "red"], "size": [1.0, 2.0, None, 4.5], "y": ["a", "b", "b", "a"]}
    model = fit_neighbors(
        rows, "y", k=2, sample_weight=[1, 2, 1, 3], weighting="inverse_square", attributes={"hue": 0.5},
        prior=Dirichlet([1, 1.5]),
    ).model  # fmt: skip
    model.save(tmp_path / f"m.{ending}")
    again = NeighborsModel.load(tmp_path / f"m.{ending}")
    asked = {"hue": ["blue", "green", None], "size": [1.5, None, 3.0]}
    np.testing.assert_array_equal(again.predict_proba(asked), model.predict_proba(asked))
    assert again.examples == model.examples
    more = again.update({"hue": ["green"], "size": [3.0]}, ["a"])
    assert more.predict({"hue": ["green"], "size": [3.0]}).tolist() == ["a"]
    numbers = NeighborsModel.from_arrays(X, NUMBERS, k=None)
    numbers.save(tmp_path / "n.json")
    np.testing.assert_array_equal(NeighborsModel.load(tmp_path / "n.json").predict(Q), numbers.predict(Q))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"k": 0}, "`k` must be at least 1"),
        ({"metric": "magic"}, "metric"),
        ({"cases": [1, 2]}, "shape"),
        ({"prior": -1}, "prior"),
        ({"prior": {"kind": "gamma", "shape": 1, "rate": 1}}, "gamma|prior"),
        ({"target": {"variable": {"name": "y", "kind": "discrete", "states": ["a"]}, "said": [0, 0, 7]}}, "below 1"),
        ({"target": {"variable": {"name": "y", "kind": "numeric"}, "said": [0, 0]}}, "3 cells, and there are 2"),
        ({"columns": []}, "no columns"),
    ],
    ids=["k", "metric", "cases", "prior", "other-prior", "codes", "lengths", "columns"],
)
def test_files_that_are_wrong(tmp_path, change, words):
    NeighborsModel.from_arrays({"x": [1.0, 2.0, 3.0]}, ["a", "b", "b"]).save(tmp_path / "m.json")
    document = json.loads((tmp_path / "m.json").read_text())
    (tmp_path / "m.json").write_text(json.dumps(document | change))
    with pytest.raises(FormatError, match=words):
        NeighborsModel.load(tmp_path / "m.json")


def test_a_function_cannot_be_saved(tmp_path):
    with pytest.raises(ParameterError, match="a function cannot be written"):
        NeighborsModel.from_arrays(X, NUMBERS, weighting=np.exp).save(tmp_path / "m.json")


### bad input


def test_what_cannot_be_learned():
    rows = {"x": [1.0, 2.0, 3.0], "y": ["a", None, "b"]}
    with pytest.raises(MissingValuesError, match="1 rows have no 'y', row 1 is the first"):
        fit_neighbors(rows, "y", unlabeled="error")
    with pytest.warns(BayeslearnWarning, match="1 rows without a .y. are dropped"):
        assert len(fit_neighbors(rows, "y", k=1).model.examples) == 2
    assert len(fit_neighbors(rows, "y", k=1, unlabeled="drop").model.examples) == 2
    with pytest.raises(EmptyTableError, match="no column beside 'y'"):
        fit_neighbors({"y": ["a", "b"]}, "y")
    with pytest.raises(ShapeError, match="a target for each of 3 rows"):
        NeighborsModel.from_arrays({"x": [1.0, 2.0, 3.0]}, ["a", "b"])
    with pytest.raises(ParameterError, match="there are only 3 examples"):
        NeighborsModel.from_arrays({"x": [1.0, 2.0, 3.0]}, ["a", "b", "b"], k=9).predict({"x": [1.0]})


def test_numbers_that_are_too_large():
    with pytest.raises(DataError, match="too large to be squared"):
        NeighborsModel.from_arrays({"x": [1e300, -1e300]}, ["a", "b"])
    assert NeighborsModel.from_arrays({"x": [1.0, 2.0]}, ["a", "b"], k=1).predict({"x": [1e300]}).tolist() == ["a"]
    with pytest.raises(DataError, match="must be finite"):
        NeighborsModel.from_arrays({"x": [0.0, 1e-20]}, ["a", "b"], k=1).predict({"x": [1e300]})


def test_what_cannot_be_asked():
    model = NeighborsModel.from_arrays(X, WORDS)
    with pytest.raises(ShapeError, match=r"expected rows of 2 columns \('x0', 'x1'\)"):
        model.predict(np.ones((2, 3)))
    with pytest.raises(Exception, match="x1"):
        model.predict({"x0": [1.0]})
    with pytest.raises(ParameterError, match="at least 1"):
        model.nearest(Q, 0)
    with pytest.raises(ParameterError, match="intervals are for numbers"):
        model.predict_interval(Q)
    with pytest.raises(ParameterError, match="the target 'target' is a number"):
        NeighborsModel.from_arrays(X, NUMBERS).predict_proba(Q)
    assert repr(model) == "NeighborsModel(target by 5 of 60 examples, uniform)"


def test_numbers_in_a_text_file_are_numbers(tmp_path):
    (tmp_path / "few.csv").write_text("x,word,y\n1,a,no\n2,b,no\n8,a,yes\n9,b,yes\n1,a,no\n9,b,yes\n")
    model = fit_neighbors(tmp_path / "few.csv", "y", k=1).model
    assert [type(v).__name__ for v in model.examples.schema] == ["NumericVariable", "DiscreteVariable"]
    assert model.predict({"x": [3, 7], "word": ["a", "a"]}).tolist() == ["no", "yes"]


def test_files_of_version_1_name_their_weighting_with_a_hyphen(tmp_path):
    model = NeighborsModel.from_arrays(X, WORDS, k=7, weighting="inverse_square")
    model.save(tmp_path / "m.json")
    old = (
        (tmp_path / "m.json")
        .read_text()
        .replace("inverse_square", "inverse-square")
        .replace('"version": 2', '"version": 1')
    )
    (tmp_path / "m.json").write_text(old)
    assert "inverse-square" in old
    assert NeighborsModel.load(tmp_path / "m.json").weighting == "inverse_square"
