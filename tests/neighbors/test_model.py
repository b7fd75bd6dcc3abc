"""Votes of neighbors: counts and moments with priors, ties, weights; more and fewer rows; reports; files."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import r2_score

from bayeslearn.distributions import Categorical, Dirichlet, Normal, NormalInverseGamma
from bayeslearn.errors import (
    BayeslearnWarning,
    DataError,
    EmptyTableError,
    FormatError,
    MismatchError,
    MissingValuesError,
    ParameterError,
    ShapeError,
    WeightError,
)
from bayeslearn.neighbors import (
    NeighborsClassifier,
    NeighborsModel,
    fit_neighbors,
    leave_one_out,
    select_feature_weights,
)
from bayeslearn.neighbors.fit import REMOVAL
from tests.properties import trials

RNG = np.random.default_rng(0)
X, Q = RNG.normal(size=(60, 2)), RNG.normal(size=(15, 2))
WORDS, NUMBERS = np.where(X[:, 0] + RNG.normal(size=60) > 0, "up", "down"), X[:, 0] + RNG.normal(size=60)


def test_statistics_are_those_of_the_distribution():
    model = NeighborsModel.from_arrays(X, WORDS, n_neighbors=7, weights="inverse_square", prior=Dirichlet([2, 1]))
    d, rows = model.nearest(Q)
    w = 1 / d**2
    w *= (w.sum(axis=1) / (w**2).sum(axis=1))[:, None]
    for i in range(len(Q)):
        posterior = Categorical(2).fit(model.targets[rows[i]], sample_weight=w[i], prior=Dirichlet([2, 1]))
        np.testing.assert_allclose(model.predict_proba(Q)[i], posterior.mean(), rtol=1e-9)
    prior = NormalInverseGamma.unit_information(0.5, 2.0)
    numbers = NeighborsModel.from_arrays(X, NUMBERS, n_neighbors=7, prior=prior)
    low, high = numbers.predict_interval(Q, 0.8)
    for i in range(len(Q)):
        posterior = Normal().fit(NUMBERS[rows[i]], prior=prior)
        assert numbers.predict(Q)[i] == pytest.approx(float(posterior.mu))
        assert (low[i], high[i]) == pytest.approx(tuple(map(float, posterior.predictive().interval(0.8))))


@given(st.lists(st.sampled_from([1.0, 2.0, 3.0]), min_size=8, max_size=8), st.integers(1, 6), st.booleans())
@trials(25)
def test_a_row_of_weight_two_is_the_row_twice(sample_weight, k, by_distance):
    x, y = X[:8], NUMBERS[:8]
    how = {"n_neighbors": k, "weights": "inverse_square" if by_distance else "uniform", "metric": "scaled"}
    weighted = fit_neighbors({"a": x[:, 0], "b": x[:, 1], "y": y}, "y", sample_weight=sample_weight, **how)
    twice = np.repeat(np.arange(8), np.array(sample_weight, int))
    repeated = fit_neighbors({"a": x[twice, 0], "b": x[twice, 1], "y": y[twice]}, "y", **how)
    rows = {"a": Q[:, 0], "b": Q[:, 1]}
    np.testing.assert_allclose(weighted.predict(rows), repeated.predict(rows), rtol=1e-9)


def test_rows_of_fractional_weight():
    model = fit_neighbors(
        {"x": [1.0, 2.0, 3.0], "y": ["a", "b", "b"]}, "y", n_neighbors=1, sample_weight=[0.5, 0.25, 4], prior=0
    )
    np.testing.assert_allclose(model.predict_proba({"x": [0.0]}), [[0.5, 0.5]])


def test_an_exact_match_wins():
    model = NeighborsModel.from_arrays(
        {"x": [1.0, 1.5, 1.6, 1.0]}, [10.0, 0.0, 0.0, 20.0], n_neighbors=4, weights="inverse_square"
    )
    assert model.predict({"x": [1.0]}).tolist() == [15.0]
    assert model.predict({"x": [1.5]}).tolist() == [0.0]


def test_shepard_uses_all_rows():
    model = NeighborsModel.from_arrays(X, NUMBERS, n_neighbors=None, weights="inverse_square", metric="euclidean")
    w = 1 / ((Q[:, None] - X) ** 2).sum(axis=2)
    np.testing.assert_allclose(model.predict(Q), (w * NUMBERS).sum(axis=1) / w.sum(axis=1), rtol=1e-9)


def test_a_function_of_distance():
    model = NeighborsModel.from_arrays(X, NUMBERS, n_neighbors=9, weights=lambda d: np.exp(-d))
    d, rows = model.nearest(Q)
    np.testing.assert_allclose(model.predict(Q), np.average(NUMBERS[rows], axis=1, weights=np.exp(-d)), rtol=1e-9)
    with pytest.raises(WeightError, match="not negative"):
        NeighborsModel.from_arrays(X, NUMBERS, weights=lambda d: d - 1).predict(Q)
    with pytest.raises(DataError, match="no neighbor of row 0 has any weight"):
        NeighborsModel.from_arrays(X, NUMBERS, weights=np.zeros_like).predict(Q)
    with pytest.raises(ParameterError, match="must return a weight for each"):
        NeighborsModel.from_arrays(X, NUMBERS, weights=lambda d: 1.0).predict(Q)


def test_of_tied_classes_the_nearest_wins():
    model = NeighborsModel.from_arrays({"x": [1.0, 2.0, 3.0, 4.0]}, ["b", "a", "a", "b"], n_neighbors=2)
    assert model.predict({"x": [1.4, 1.6, 3.6]}).tolist() == ["b", "a", "b"]
    assert NeighborsModel.from_arrays({"x": [1.0, 1.0]}, ["b", "a"], n_neighbors=2).predict({"x": [0.0]}).tolist() == [
        "b"
    ]


def test_intervals_hold_what_they_say():
    x = np.sort(RNG.uniform(0, 6, 600))
    y = np.sin(x) + 0.2 * RNG.normal(size=600)
    model = NeighborsModel.from_arrays({"x": x[::2]}, y[::2], n_neighbors=15)
    low, high = model.predict_interval({"x": x[1::2]}, 0.9)
    assert 0.85 < np.mean((low < y[1::2]) & (y[1::2] < high)) < 0.95
    assert model.local_variance == pytest.approx(0.04, rel=0.35)


def test_targets_that_do_not_vary_have_no_interval_to_speak_of():
    low, high = NeighborsModel.from_arrays({"x": [1.0, 2.0]}, [5.0, 5.0], n_neighbors=1).predict_interval({"x": [1.2]})
    assert low.tolist() == high.tolist() == [5.0]
    with pytest.raises(ParameterError, match="the variance of one neighbor is undefined"):
        NeighborsModel.from_arrays({"x": [1.0, 2.0]}, [5.0, 6.0], n_neighbors=1, prior=0).predict_interval({"x": [1.2]})


### leave-one-out


@pytest.mark.parametrize("weights", ["uniform", "inverse_square"])
@pytest.mark.parametrize("target", [WORDS, NUMBERS], ids=["classes", "numbers"])
def test_leaving_out_is_learning_without(weights, target):
    n = 20
    model = NeighborsModel.from_arrays(X[:n], target[:n], weights=weights, metric="euclidean")
    found = leave_one_out(model, max_neighbors=6)
    assert found.n_neighbors == (1, 2, 3, 4, 5, 6)
    for k, error in zip(found.n_neighbors, found.errors, strict=True):
        predicted = []
        for i in range(n):
            others = np.delete(np.arange(n), i)
            rest = NeighborsModel(
                model.examples.take(others), model.target, model.targets[others], model.distance, k, weights
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
    found = leave_one_out(NeighborsModel.from_arrays({"x": [1.0] * 6}, list("aaaaab")), max_neighbors=2)
    np.testing.assert_allclose(found.errors, [1 / 6, 1 / 6])


def test_leaving_out_rows_that_have_weights():
    rows = {"x": X[:12, 0], "y": NUMBERS[:12]}
    weighted = fit_neighbors(rows, "y", n_neighbors=2, sample_weight=np.full(12, 2.0))
    plain = fit_neighbors(rows, "y", n_neighbors=1)
    assert leave_one_out(weighted, n_neighbors=2).error == pytest.approx(leave_one_out(plain, n_neighbors=1).error)


def test_one_row_cannot_be_left_out():
    with pytest.raises(EmptyTableError, match="needs 2 rows, got 1"):
        leave_one_out(NeighborsModel.from_arrays({"x": [1.0]}, ["a"], n_neighbors=1))


def test_attributes_by_leave_one_out():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(150, 6))
    y = np.where(x[:, 0] * x[:, 1] > 0, "same", "other")
    model = NeighborsModel.from_arrays(x, y)
    found = select_feature_weights(model, among=REMOVAL, max_neighbors=15)
    assert found.removed == ["x2", "x3", "x4", "x5"]
    assert found.after.error < found.before.error / 2
    assert found.model.n_neighbors == found.after.best
    assert found.steps[-1][2] == pytest.approx(found.after.loss)
    fixed = select_feature_weights(model, among=REMOVAL, select_neighbors=False)
    assert fixed.model.n_neighbors == 5


### files


@pytest.mark.parametrize("ending", ["json", "json.gz"])
def test_files_keep_everything(tmp_path, ending):
    rows = {"hue": ["red", None, "blue", "red"], "size": [1.0, 2.0, None, 4.5], "y": ["a", "b", "b", "a"]}
    model = fit_neighbors(
        rows, "y", n_neighbors=2, sample_weight=[1, 2, 1, 3], weights="inverse_square", feature_weights={"hue": 0.5},
        prior=Dirichlet([1, 1.5]),
    )  # fmt: skip
    model.save(tmp_path / f"m.{ending}")
    again = NeighborsModel.load(tmp_path / f"m.{ending}")
    asked = {"hue": ["blue", "green", None], "size": [1.5, None, 3.0]}
    np.testing.assert_array_equal(again.predict_proba(asked), model.predict_proba(asked))
    assert again.examples == model.examples
    more = again.update({"hue": ["green"], "size": [3.0]}, ["a"])
    assert more.predict({"hue": ["green"], "size": [3.0]}).tolist() == ["a"]
    numbers = NeighborsModel.from_arrays(X, NUMBERS, n_neighbors=None)
    numbers.save(tmp_path / "n.json")
    np.testing.assert_array_equal(NeighborsModel.load(tmp_path / "n.json").predict(Q), numbers.predict(Q))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"n_neighbors": 0}, "`n_neighbors` must be at least 1"),
        ({"metric": "magic"}, "metric"),
        ({"sample_weight": [1, 2]}, "shape"),
        ({"prior": -1}, "prior"),
        ({"prior": {"kind": "gamma", "shape": 1, "rate": 1}}, "gamma|prior"),
        ({"target": {"variable": {"name": "y", "kind": "discrete", "states": ["a"]}, "cells": [0, 0, 7]}}, "below 1"),
        ({"target": {"variable": {"name": "y", "kind": "numeric"}, "cells": [0, 0]}}, "3 cells, and there are 2"),
        ({"columns": []}, "no columns"),
    ],
    ids=["n_neighbors", "metric", "weights", "prior", "other-prior", "codes", "lengths", "columns"],
)
def test_files_that_are_wrong(tmp_path, change, words):
    NeighborsModel.from_arrays({"x": [1.0, 2.0, 3.0]}, ["a", "b", "b"]).save(tmp_path / "m.json")
    document = json.loads((tmp_path / "m.json").read_text())
    (tmp_path / "m.json").write_text(json.dumps(document | change))
    with pytest.raises(FormatError, match=words):
        NeighborsModel.load(tmp_path / "m.json")


def test_a_function_cannot_be_saved(tmp_path):
    with pytest.raises(ParameterError, match="a function cannot be written"):
        NeighborsModel.from_arrays(X, NUMBERS, weights=np.exp).save(tmp_path / "m.json")


### bad input


def test_what_cannot_be_learned():
    rows = {"x": [1.0, 2.0, 3.0], "y": ["a", None, "b"]}
    with pytest.raises(MissingValuesError, match="1 rows have no 'y', the first is row 1"):
        fit_neighbors(rows, "y", unlabeled="error")
    with pytest.warns(BayeslearnWarning, match="1 rows without a .y. are dropped"):
        assert len(fit_neighbors(rows, "y", n_neighbors=1).examples) == 2
    assert len(fit_neighbors(rows, "y", n_neighbors=1, unlabeled="drop").examples) == 2
    with pytest.raises(EmptyTableError, match="no column besides 'y'"):
        fit_neighbors({"y": ["a", "b"]}, "y")
    with pytest.raises(ShapeError, match="a target for each of 3 rows"):
        NeighborsModel.from_arrays({"x": [1.0, 2.0, 3.0]}, ["a", "b"])
    with pytest.raises(ParameterError, match="there are only 3 training rows"):
        NeighborsModel.from_arrays({"x": [1.0, 2.0, 3.0]}, ["a", "b", "b"], n_neighbors=9).predict({"x": [1.0]})


def test_numbers_that_are_too_large():
    with pytest.raises(DataError, match="too large to be squared"):
        NeighborsModel.from_arrays({"x": [1e300, -1e300]}, ["a", "b"])
    assert NeighborsModel.from_arrays({"x": [1.0, 2.0]}, ["a", "b"], n_neighbors=1).predict(
        {"x": [1e300]}
    ).tolist() == ["a"]
    with pytest.raises(DataError, match="must be finite"):
        NeighborsModel.from_arrays({"x": [0.0, 1e-20]}, ["a", "b"], n_neighbors=1).predict({"x": [1e300]})


def test_what_cannot_be_asked():
    model = NeighborsModel.from_arrays(X, WORDS)
    with pytest.raises(ShapeError, match=r"expected rows of 2 columns \('x0', 'x1'\)"):
        model.predict(np.ones((2, 3)))
    with pytest.raises(Exception, match="x1"):
        model.predict({"x0": [1.0]})
    with pytest.raises(ParameterError, match="at least 1"):
        model.nearest(Q, 0)
    with pytest.raises(ParameterError, match="intervals are for numeric targets"):
        model.predict_interval(Q)
    with pytest.raises(ParameterError, match="the target 'target' is a number"):
        NeighborsModel.from_arrays(X, NUMBERS).predict_proba(Q)
    assert repr(model) == "NeighborsModel(target by 5 of 60 rows, uniform)"


def test_numbers_in_a_text_file_are_numbers(tmp_path):
    (tmp_path / "few.csv").write_text("x,word,y\n1,a,no\n2,b,no\n8,a,yes\n9,b,yes\n1,a,no\n9,b,yes\n")
    model = fit_neighbors(tmp_path / "few.csv", "y", n_neighbors=1)
    assert [type(v).__name__ for v in model.examples.schema] == ["NumericVariable", "DiscreteVariable"]
    assert model.predict({"x": [3, 7], "word": ["a", "a"]}).tolist() == ["no", "yes"]


def test_files_of_earlier_versions(tmp_path):
    model = NeighborsModel.from_arrays(X, WORDS, n_neighbors=7, weights="inverse_square", algorithm="kd_tree")
    model.save(tmp_path / "m.json")
    document = json.loads((tmp_path / "m.json").read_text())
    for new, old in {
        "n_neighbors": "k",
        "weights": "weighting",
        "algorithm": "index",
        "sample_weight": "cases",
    }.items():
        document[old] = document.pop(new)
    document["target"]["said"] = document["target"].pop("cells")
    for version, weighting in ((1, "inverse-square"), (2, "inverse_square")):
        changed = {"version": version, "weighting": weighting, "index": "tree"}
        (tmp_path / "old.json").write_text(json.dumps(document | changed))
        again = NeighborsModel.load(tmp_path / "old.json")
        assert (again.n_neighbors, again.weights, again.algorithm) == (7, "inverse_square", "kd_tree")
        np.testing.assert_array_equal(again.predict_proba(Q), model.predict_proba(Q))


### more rows, fewer rows

ROWS = {"hue": ["red", None, "blue", "red"], "size": [1.0, 2.0, None, 4.5], "y": ["a", "b", "b", "a"]}
MORE = {"hue": ["green"], "size": [3.0], "y": ["c"]}
OTHER = {"hue": ["red", "blue"], "size": [1.5, 5.0], "y": ["a", "b"]}


def rows_of(model):
    return sorted(map(str, model.to_frame("pyarrow").to_pylist()))


def test_a_common_base_counts_once():
    base = fit_neighbors(ROWS, "y", n_neighbors=2)
    one, two = base.update(MORE), base.update(OTHER)
    both = base.update(MORE).update(OTHER)
    assert rows_of(one + two) == rows_of(two + one) == rows_of(both) == rows_of(base.merge(one, two, base))
    assert (len(one + base), len(one + one)) == (5, 6)
    assert len(base + base) == 8  # two sites may have observed equal rows
    assert len((one + two) + base) == 7
    np.testing.assert_allclose((one + two).predict_proba(OTHER), both.predict_proba(OTHER), rtol=1e-12)


def test_a_common_base_counts_once_after_files_and_removal(tmp_path):
    base = fit_neighbors(ROWS, "y", n_neighbors=2)
    one, two = base.update(MORE), base.update(OTHER)
    for name, model in (("one", one), ("two", two)):
        model.save(tmp_path / f"{name}.json")
    again = [NeighborsModel.load(tmp_path / f"{name}.json") for name in ("one", "two")]
    assert rows_of(again[0] + again[1]) == rows_of(one + two)
    fewer = one.remove({name: cells[:1] for name, cells in ROWS.items()})
    assert len(fewer) == 4
    assert len(fewer.discount(0.5) + two) == 7


def test_rows_are_removed():
    base = fit_neighbors(ROWS, "y", n_neighbors=2)
    assert rows_of(base.update(MORE).update(OTHER).remove(MORE).remove(OTHER)) == rows_of(base)
    array = NeighborsModel.from_arrays(X, NUMBERS)
    fewer, expected = array.remove(X[40:], NUMBERS[40:]), NeighborsModel.from_arrays(X[:40], NUMBERS[:40])
    np.testing.assert_allclose(fewer.predict(Q), expected.predict(Q), rtol=1e-12)
    with pytest.raises(DataError, match="row 0 is not among the training rows"):
        base.remove({"hue": ["red", "red"], "size": [1.0, 1.0], "y": ["a", "a"]})
    with pytest.raises(EmptyTableError, match="no training row would be left"):
        base.remove(ROWS)


def test_weights_are_removed_and_discounted():
    x, y = [1.0, 1.0, 1.0], ["a", "a", "b"]
    model = fit_neighbors({"x": x, "y": y}, "y", n_neighbors=1, sample_weight=[2.0, 1.0, 3.0])
    fewer = model.remove({"x": [1.0, 1.0], "y": ["a", "b"]}, sample_weight=[2.0, 1.0])
    assert fewer.sample_weight.tolist() == [1.0, 2.0]
    assert model.discount(0.5).sample_weight.tolist() == [1.0, 0.5, 1.5]
    with pytest.raises(ParameterError, match="`forgetting_factor` must be above 0"):
        model.discount(0)


@pytest.mark.parametrize(
    "other",
    [
        NeighborsModel.from_arrays({"x": [1.0], "z": [1.0]}, ["a"]),
        NeighborsModel.from_arrays({"x": [1.0]}, ["a"], metric="range"),
        NeighborsModel.from_arrays({"x": [1.0]}, [1.0]),
    ],
    ids=["columns", "metric", "target"],
)
def test_models_that_cannot_be_merged(other):
    with pytest.raises(MismatchError, match="different columns, targets, metrics"):
        NeighborsModel.from_arrays({"x": [1.0]}, ["a"]).merge(other)


### scores


def test_scores_and_likelihoods():
    model = NeighborsModel.from_arrays(X, WORDS)
    p = model.predict_proba(X)
    codes = np.searchsorted(["down", "up"], WORDS)
    np.testing.assert_allclose(model.log_likelihood(X, WORDS), np.log(p[np.arange(60), codes]), rtol=1e-12)
    assert model.score(X, WORDS) == np.mean(model.predict(X) == WORDS)
    assert model.log_likelihood(X[:3], ["up", None, "left"])[1:].tolist() == [0, -np.inf]
    numbers = fit_neighbors({"a": X[:, 0], "b": X[:, 1], "y": NUMBERS}, "y")
    rows = {"a": Q[:, 0], "b": Q[:, 1], "y": Q[:, 0]}
    assert numbers.score(rows) == pytest.approx(r2_score(Q[:, 0], numbers.predict(rows)))
    low, high = numbers.predict_interval(rows, 0.5)
    inside, outside = (numbers.log_likelihood(rows, y) for y in ((low + high) / 2, high + 1))
    assert (inside > outside).all()


### what is shown


def test_the_fit_reports_what_it_found():
    rows = {
        "name": [f"r{i}" for i in range(60)],
        "a": X[:, 0],
        "noise": X[:, 1],
        "y": np.where(X[:, 0] > 0, "<b>", "-"),
    }
    with pytest.warns(BayeslearnWarning, match="name"):
        model = fit_neighbors(rows, "y", feature_weights="select")
    info = model.fit_info
    assert info.n_rows == 60
    assert info.n_neighbors == model.n_neighbors == info.leave_one_out.best
    assert list(info.dropped_columns) == ["name"]
    assert info.feature_selection.removed == ["noise"]
    assert info.to_dict()["leave_one_out"]["errors"]["1"] == info.leave_one_out.errors[0]
    assert len(info.uncertain_rows(3)) == 3
    for shown in (info, model, info.leave_one_out, info.feature_selection, model.explain(rows)[0]):
        assert "<td" in shown._repr_html_()
        assert "<b>" not in shown._repr_html_()
        assert len(repr(shown)) < 200
        assert shown.summary() in str(shown)
    for shown in (model, info.leave_one_out, info.feature_selection, model.explain(rows)[0]):
        assert len(shown.to_frame()) > 0
        json.dumps(shown.to_dict())


def test_targets_apart_from_the_rows():
    model = fit_neighbors(X, WORDS, n_neighbors=3)
    np.testing.assert_array_equal(model.predict(Q), NeighborsModel.from_arrays(X, WORDS, n_neighbors=3).predict(Q))
    assert fit_neighbors(X, [1, 2] * 30, task="classification", n_neighbors=3).classes == (1, 2)
    with pytest.raises(ShapeError, match="a target for each of 60 rows"):
        fit_neighbors(X, WORDS[:3])


def test_one_row():
    info = fit_neighbors({"x": [1.0], "y": ["a"]}, "y", n_neighbors=1).fit_info
    assert info.leave_one_out is None
    assert "Training rows" in info.summary()
    json.dumps(info.to_dict())


### calibration


def test_calibrated_probabilities_have_a_lower_leave_one_out_loss(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = np.where(X[:, 0] + 2 * rng.logistic(size=400) > 0, "up", "down")
    rows = {"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "y": y}
    new = {"a": rng.normal(size=900), "b": rng.normal(size=900), "c": rng.normal(size=900)}
    new["y"] = np.where(new["a"] + 2 * rng.logistic(size=900) > 0, "up", "down")
    settings = {"n_neighbors": 3, "weights": "inverse_square"}
    plain, calibrated = (fit_neighbors(rows, "y", calibrate=c, **settings) for c in (False, True))
    assert plain.exponent == 1
    assert 0 < calibrated.exponent < 0.9
    assert calibrated.log_likelihood(new).mean() > plain.log_likelihood(new).mean()
    assert (calibrated.predict(new) == plain.predict(new)).all()
    p, q = calibrated.predict_proba(new), plain.predict_proba(new)
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(np.log(p[:, 1] / p[:, 0]), calibrated.exponent * np.log(q[:, 1] / q[:, 0]), rtol=1e-9)
    codes = (new["y"] == "up").astype(int)
    np.testing.assert_allclose(calibrated.log_likelihood(new), np.log(p[np.arange(900), codes]), rtol=1e-9)
    calibrated.save(tmp_path / "m.json")
    np.testing.assert_array_equal(NeighborsModel.load(tmp_path / "m.json").predict_proba(new), p)


def test_of_many_rows_some_are_left_out(monkeypatch):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 2))
    y = (X[:, 0] > 0).astype(int)
    whole = NeighborsClassifier().fit(X, y)
    monkeypatch.setattr("bayeslearn.neighbors.model_selection.MAX_JUDGED", 100)
    some = NeighborsClassifier().fit(X, y)
    assert some.leave_one_out_.error < 0.1
    assert len(some.leave_one_out_.row_losses) == len(whole.leave_one_out_.row_losses) == 300
