"""Radial units: what they are, where they stand, how wide they are, and how many the evidence asks for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeslearn.errors import CapacityError, FormatError, MismatchError, ParameterError, ShapeError
from bayeslearn.regression import (
    ClassificationModel,
    RBFBasis,
    RBFClassifier,
    RegressionModel,
    fit_rbf,
    fit_rbf_classifier,
)
from bayeslearn.regression.rbf import MOST_UNITS, place
from bayeslearn.regression.rbf_fit import counts
from tests.properties import trials

RNG = np.random.default_rng(0)
X = np.sort(RNG.uniform(0, 10, 120))
WAVE = {"x": X, "y": np.sin(X) + RNG.normal(0, 0.1, 120), "z": np.cos(X) + RNG.normal(0, 0.1, 120)}
ASKED = {"x": np.linspace(0.5, 9.5, 30)}


@given(st.integers(0, 2**32 - 1))
@trials(20)
def test_units_are_gaussians_of_distance(seed):
    rng = np.random.default_rng(seed)
    x, centers, widths = rng.normal(size=(5, 3)), rng.normal(size=(4, 3)), rng.uniform(0.3, 2, 4)
    expected = [[np.exp(-np.sum((p - c) ** 2) / (2 * w * w)) for c, w in zip(centers, widths, strict=True)] for p in x]
    np.testing.assert_allclose(RBFBasis(centers, widths)(x), expected, rtol=1e-9, atol=1e-14)


@pytest.mark.thorough
@pytest.mark.parametrize("centers", ["all", "random", "farthest", "evidence", "k-means", "em"])
def test_every_way_finds_the_wave_and_its_noise(centers):
    found = fit_rbf(WAVE, ["y", "z"], centers=centers, max_units=16)
    np.testing.assert_allclose(
        found.predict(ASKED), np.column_stack([np.sin(ASKED["x"]), np.cos(ASKED["x"])]), atol=0.15
    )
    np.testing.assert_allclose(found.fit.noise, 0.1, rtol=0.25)
    assert found.basis.size == 120 if centers == "all" else 4 <= found.basis.size <= 16
    best = max(found.fit_info.tried, key=lambda t: t.log_marginal_likelihood)
    assert best.n_units == found.basis.size
    assert found.log_marginal_likelihood() == pytest.approx(best.log_marginal_likelihood, rel=1e-6)


def test_centers_where_they_should_be():
    x = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [2.0]])
    how = {"targets": np.zeros((6, 1)), "sample_weight": None, "random_state": np.random.default_rng(0)}
    assert place(x, 6, "all", **how)[0].tolist() == [[0.0], [1.0], [2.0], [10.0], [11.0]]
    assert place(x, 3, "farthest", **how)[0].tolist() == [[2.0], [11.0], [0.0]]
    assert len(place(x, 9, "farthest", **how)[0]) == 5
    assert sorted(place(x, 2, "k-means", **how)[0][:, 0].tolist()) == [1.25, 10.5]
    at = place(x, 4, "random", **how)[0][:, 0].tolist()
    assert len(set(at)) == 4
    step = (x > 5).astype(float)
    assert place(x, 1, "evidence", **{**how, "targets": step})[0][0, 0] >= 10


def test_units_by_expectation_maximization_are_those_of_the_mixture():
    """E6: EM places the centers and gives the widths."""
    rng = np.random.default_rng(1)
    x = np.concatenate([rng.normal(-5, 0.5, 200), rng.normal(4, 1.5, 200)])
    model = fit_rbf({"x": x, "y": (x > 0) * 2.0 + rng.normal(0, 0.1, 400)}, "y", 2, centers="em", width="nearest")
    order = np.argsort(model.basis.centers[:, 0])
    centers = model.basis.centers[order, 0] * model.features.spread + model.features.mean
    np.testing.assert_allclose(centers, [x[:200].mean(), x[200:].mean()], rtol=0.01)
    np.testing.assert_allclose(
        model.basis.widths[order] * model.features.spread, [x[:200].std(), x[200:].std()], rtol=0.05
    )


def test_widths_are_told_or_found():
    given = fit_rbf(WAVE, "y", 5, columns=["x"], width=0.7)
    np.testing.assert_array_equal(given.basis.widths, 0.7)
    each = fit_rbf(WAVE, "y", 3, columns=["x"], width=[0.2, 0.3, 0.4])
    assert each.basis.widths.tolist() == [0.2, 0.3, 0.4]
    alone = fit_rbf(WAVE, "y", 1, columns=["x"], width="nearest")
    assert alone.basis.size == 1


def test_words_and_holes_become_points():
    rows = {"hue": ["red", "blue", "red", "green", None] * 8, "size": [1.0, 5.0, 1.2, 9.0, 5.0] * 8}
    rows["y"] = [0.0, 1.0, 0.1, 4.0, 1.1] * 8
    model = fit_rbf(rows, "y", 4)
    assert model.features.names == ("hue=blue", "hue=green", "hue=red", "size")
    np.testing.assert_allclose(model.predict({"hue": ["green"], "size": [9.0]}), [4.0], atol=0.3)


def test_learning_goes_on_with_the_same_units(tmp_path):
    model = fit_rbf(WAVE, ["y", "z"], 8, columns=["x"])
    more = model.update(WAVE)
    assert more.total_weight == 240
    assert (model + model).fit.statistics.isclose(more.fit.statistics)
    model.save(tmp_path / "m.json")
    again = RegressionModel.load(tmp_path / "m.json")
    np.testing.assert_array_equal(again.predict(ASKED), model.predict(ASKED))
    assert (again + model).total_weight == 240
    with pytest.raises(MismatchError, match="the models have different radial units"):
        _ = model + fit_rbf(WAVE, ["y", "z"], 8, columns=["x"], width=0.3)
    with pytest.raises(FormatError, match=r"holds a model of the kind 'regression', not 'classification'"):
        ClassificationModel.load(tmp_path / "m.json")


### classes


def test_rings_are_told_apart():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(300, 2))
    ring = np.where((points**2).sum(axis=1) < 1, "inner", np.where((points**2).sum(axis=1) < 2.5, "middle", "outer"))
    model = RBFClassifier(random_state=0).fit(points[:200], ring[:200])
    assert model.classes_.tolist() == ["inner", "middle", "outer"]
    assert model.score(points[200:], ring[200:]) > 0.85
    np.testing.assert_allclose(model.predict_proba(points).sum(axis=1), 1, rtol=1e-12)


def test_classes_are_saved_and_go_on(tmp_path):
    rows = {"x": X, "side": np.where(np.sin(X) > 0, "up", "down")}
    model = fit_rbf_classifier(rows, "side", 8)
    assert len(model.fit_info.tried) == 5
    assert model.score(rows) > 0.95
    model.save(tmp_path / "m.json")
    np.testing.assert_array_equal(
        ClassificationModel.load(tmp_path / "m.json").predict_proba(rows), model.predict_proba(rows)
    )
    assert model.update(rows).fit.total_weight == 240


### bad input


def test_numbers_of_units():
    assert counts("auto", 1000, 30, "k-means") == [1, 2, 3, 4, 6, 8, 12, 16, 24, 30]
    assert counts("auto", 5, 30, "k-means") == [1, 2, 3, 4, 5]
    assert counts(7, 5, 30, "k-means") == [7]
    assert fit_rbf({"x": [1.0, 2.0, 2.0], "y": [1.0, 2.0, 2.1]}, "y", 7).basis.size == 2


def test_a_search_can_be_ended():
    seen = []

    def enough(now):
        seen.append(now.detail)
        if len(seen) == 7:
            raise StopIteration

    assert fit_rbf(WAVE, "y", progress=enough).fit_info.tried == tuple(seen)


def test_bad_input():
    for how, error, match in [
        ({"centers": "grid"}, ParameterError, "unexpected value for `centers`"),
        ({"width": "wide"}, ParameterError, "unexpected value for `width`"),
        ({"width": -1.0}, ParameterError, "`width` must be one number above 0"),
        ({"n_units": 0}, ParameterError, "`n_units` must be at least 1"),
        ({"n_units": "some"}, ParameterError, "unexpected value for `n_units`"),
    ]:
        with pytest.raises(error, match=match):
            fit_rbf(WAVE, "y", **how)
    many = np.arange(MOST_UNITS + 1.0)
    with pytest.raises(CapacityError, match="3001 radial units are too many"):
        fit_rbf({"x": many, "y": many}, "y", centers="all")
    with pytest.raises(ShapeError, match="expected centers of shape"):
        RBFBasis([1.0], [1.0])
    with pytest.raises(ParameterError, match="widths finite and above 0"):
        RBFBasis([[1.0]], [0.0])
