"""Linear fits: evidence adds, agreement with LAPACK, intervals of the textbooks, evidence, and what stays open."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import linalg, stats
from scipy.stats import t as student
from sklearn.metrics import r2_score

from bayeslearn.distributions import RegressionPrior
from bayeslearn.errors import DataError, EvidenceError, MismatchError, ParameterError, ShapeError
from bayeslearn.regression import LinearFit, RegressionModel, fit_linear, fit_rbf
from bayeslearn.regression.bayesian_linear import (
    LITTLE,
    best,
    best_strength,
    collect,
    prior_of,
    strength_evidence,
    weak,
)
from tests.properties import trials


def data(seed, n=30, d=3, m=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * rng.uniform(0.1, 10, d) + rng.uniform(-5, 5, d)
    return X, X @ rng.normal(size=(d, m)) + rng.normal(size=(n, m))


SEEDS = st.integers(0, 2**32 - 1)

### laws


@trials(30)
@given(SEEDS, st.integers(1, 29))
def test_batches_add_up_and_can_be_taken_back(seed, cut):
    X, Y = data(seed)
    whole, one, other = (LinearFit.fit(X[s], Y[s]) for s in (slice(None), slice(cut), slice(cut, None)))
    assert (one + other).statistics.isclose(whole.statistics)
    assert one.update(X[cut:], Y[cut:]).statistics.isclose(whole.statistics)
    np.testing.assert_allclose((one + other).coef, whole.coef, rtol=1e-7, atol=1e-9)
    back = whole - other
    np.testing.assert_allclose(back.statistics.mean, one.statistics.mean, rtol=1e-8, atol=1e-9)


@trials(20)
@given(SEEDS)
def test_weight_two_is_the_row_twice(seed):
    X, Y = data(seed, n=12)
    twice = np.repeat(np.arange(12), np.where(np.arange(12) % 2, 2, 1))
    weighted = LinearFit.fit(X, Y, sample_weight=np.where(np.arange(12) % 2, 2.0, 1.0))
    assert weighted.statistics.isclose(LinearFit.fit(X[twice], Y[twice]).statistics)
    assert (2 * weighted).total_weight == 36


### agreement


@trials(30)
@given(SEEDS)
def test_least_squares_are_those_of_lapack(seed):
    X, Y = data(seed)
    fit = LinearFit.fit(X, Y)
    expected = linalg.lstsq(np.column_stack([np.ones(len(X)), X]), Y)[0]
    np.testing.assert_allclose(np.column_stack([fit.intercept, fit.coef]).T, expected, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(
        LinearFit.fit(X, Y, prior=RegressionPrior.none(3)).coef, expected[1:].T, rtol=1e-10, atol=1e-12
    )


@pytest.mark.parametrize("n", [4, 30])
def test_open_directions_take_the_shortest_answer(n):
    X, Y = data(0, n=n, d=3)
    wide = np.column_stack([X, X[:, 0] - 2 * X[:, 1], np.full(n, 7.0), X[:, 2]])
    fit = LinearFit.fit(wide, Y)
    centered = wide - wide.mean(axis=0)
    np.testing.assert_allclose(fit.coef.T, np.linalg.lstsq(centered, Y - Y.mean(axis=0))[0], rtol=1e-9, atol=1e-12)
    assert fit.rank == 3
    plain = LinearFit.fit(X, Y)
    np.testing.assert_allclose(fit.mean(wide), plain.mean(X), rtol=1e-9)
    if n > 4:
        np.testing.assert_allclose(fit.predictive(wide).interval(), plain.predictive(X).interval(), rtol=1e-9)


def test_fewer_cases_than_coefficients():
    X, Y = data(1, n=3, d=6)
    fit = LinearFit.fit(X, Y)
    np.testing.assert_allclose(fit.mean(X), Y, rtol=1e-9)
    assert np.isnan(fit.noise).all()
    with pytest.raises(EvidenceError, match="3 rows are too few for 3 coefficients"):
        fit.predictive(X)
    moments, d = collect(X, Y)
    held = LinearFit(weak(moments, d, 1.0), moments, d)
    low, high = held.predictive(X).interval()
    assert ((low < Y) & (Y < high)).all()


def test_intervals_are_those_of_the_textbooks():
    X, Y = data(2, m=1)
    fit = LinearFit.fit(X, Y)
    Z = np.column_stack([np.ones(30), X])
    b, residual = linalg.lstsq(Z, Y[:, 0])[:2]
    s2 = residual / (30 - 4)
    inverse = np.linalg.inv(Z.T @ Z)
    t = stats.t(26).ppf(0.975)
    low, high = (bounds[0] for bounds in fit.coefficients().interval())
    np.testing.assert_allclose(low, b - t * np.sqrt(s2 * np.diag(inverse)), rtol=1e-9)
    np.testing.assert_allclose(high, b + t * np.sqrt(s2 * np.diag(inverse)), rtol=1e-9)
    at = np.array([1.0, 0.5, -2.0, 3.0])
    half = t * np.sqrt(s2 * (1 + at @ inverse @ at))
    low, high = fit.predictive(at[None, 1:]).interval()
    assert (high - low) / 2 == pytest.approx(half, rel=1e-9)
    assert fit.noise[0] == pytest.approx(np.sqrt(s2), rel=1e-12)


@pytest.mark.parametrize("prior", ["reference", 3.0])
def test_leaving_one_out_in_closed_form(prior):
    X, Y = data(3, n=15)
    w = np.arange(15) % 3 + 0.5
    moments, d = collect(X, Y, w)
    prior = prior_of(prior, moments, d)
    found = LinearFit(prior, moments, d).leave_one_out_residuals(X, Y, sample_weight=w)
    for i in range(15):
        rest = np.arange(15) != i
        apart = LinearFit.fit(X[rest], Y[rest], prior=prior, sample_weight=w[rest])
        np.testing.assert_allclose(found[i], Y[i] - apart.mean(X[i : i + 1])[0], rtol=1e-8)


def test_a_case_that_decides_alone_cannot_be_left_out():
    fit = LinearFit.fit([[0.0], [0.0], [1.0]], [1.0, 2.0, 5.0])
    assert np.isnan(fit.leave_one_out_residuals([[0.0], [0.0], [1.0]], [1.0, 2.0, 5.0])[:, 0]).tolist() == [
        False,
        False,
        True,
    ]


### evidence


@trials(15)
@given(SEEDS)
def test_the_evidence_of_all_strengths_at_once(seed):
    moments, d = collect(*data(seed))
    strengths = np.array([1e-3, 0.5, 1.0, 40.0, 1e4])
    apart = [
        LinearFit(weak(moments, d, s, noise=LITTLE), moments, d).log_marginal_likelihood().sum() for s in strengths
    ]
    together = strength_evidence(moments, d, strengths)
    np.testing.assert_allclose(together - together[0], np.array(apart) - apart[0], rtol=1e-7, atol=1e-7)
    top = best_strength(moments, d)
    around = strength_evidence(moments, d, np.array([top / 1.1, top, top * 1.1]))
    assert around[1] >= around.max() - 1e-6


def test_evidence_shrinks_what_says_nothing():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 10)), rng.normal(size=40)
    moments, d = collect(X, y)
    assert best_strength(moments, d) > 20
    held = LinearFit(best(moments, d), moments, d)
    assert np.abs(held.coef).max() < np.abs(LinearFit.fit(X, y).coef).max() / 2


def test_priors_by_name():
    moments, d = collect(*data(0))
    for name, α in [("none", 1.0), (None, 1.0), ("reference", -2.0), ("weak", 1.5), ("evidence", 1.5), (2.0, 1.5)]:
        np.testing.assert_array_equal(prior_of(name, moments, d).alpha, α)
    own = RegressionPrior.ridge(d, 2.0)
    assert prior_of(own, moments, d) is own
    with pytest.raises(ParameterError, match="there is no prior 'strong'"):
        prior_of("strong", moments, d)
    with pytest.raises(ParameterError, match="`prior` must be above 0"):
        prior_of(-1.0, moments, d)
    with pytest.raises(ParameterError, match="`prior` must be a name"):
        prior_of([1], moments, d)


### models


ROWS = {"x": [1.0, 2.0, None, 4.0, 5.0], "hue": ["a", "b", "a", "b", None], "y": [1.0, 3.0, 2.0, 5.0, None]}


def test_a_model_keeps_its_columns_and_adds(tmp_path):
    model = fit_linear(ROWS, "y", prior="weak")
    assert repr(model) == "RegressionModel(y of x, hue: least squares; 4 rows)"
    new = {"x": [None], "hue": ["green"]}
    found, (low, high) = model.features.encode(new), model.predict_interval(new)
    assert found.filled == {"x": 1, "hue": 1}
    assert found.unseen == {"hue": ("green",)}
    assert low < model.predict(new) < high
    more = model.update(ROWS)
    assert more.total_weight == 8
    assert (model + model).fit.statistics.isclose(more.fit.statistics)
    assert (more - model).fit.statistics.isclose(model.fit.statistics)
    assert (0.5 * more).total_weight == 4
    for name in ("model.json", "model.json.gz"):
        model.save(tmp_path / name)
        again = RegressionModel.load(tmp_path / name)
        np.testing.assert_array_equal(again.predict(ROWS), model.predict(ROWS))
        assert (again + model).total_weight == 8


def test_only_what_began_alike_is_added():
    model = fit_linear(ROWS, "y")
    with pytest.raises(MismatchError, match="the fits have different priors"):
        _ = model + fit_linear(ROWS, "y", prior="none")
    with pytest.raises(MismatchError, match="the models have different columns"):
        _ = model + fit_linear(ROWS, "y", columns=["x"])
    with pytest.raises(MismatchError, match="the models have different targets"):
        _ = model + fit_linear({**ROWS, "z": ROWS["y"]}, "z", columns=["x", "hue"])


def test_columns_that_do_not_vary_are_told_and_harmless():
    rows = {"x": [1.0, 2.0, 3.0, 4.0], "same": [3.0] * 4, "y": [2.0, 4.0, 5.0, 8.0]}
    model = fit_linear(rows, "y")
    assert model.features.constant == ("same",)
    np.testing.assert_allclose(model.fit.coef, [[1.9, 0.0]], rtol=1e-12)
    alone = fit_linear(rows, "y", columns=["x"])
    assert model.predict_interval(rows)[1][0] == pytest.approx(alone.predict_interval(rows)[1][0])


def test_bad_input():
    for X, y, error, match in [
        ([1.0, 2.0], [1.0, 2.0], ShapeError, r"expected inputs of shape \(n, d\)"),
        ([[1.0], [2.0]], [1.0], ShapeError, "got 1 for 2 rows"),
        ([[1.0], [2.0]], [1.0, np.inf], DataError, "y contains infinity"),
        ([[1.0], [np.nan]], [1.0, 2.0], DataError, "is missing, and a regression needs its inputs"),
    ]:
        with pytest.raises(error, match=match):
            LinearFit.fit(X, y)
    with pytest.raises(EvidenceError, match="nothing was learned yet"):
        _ = LinearFit.fit(np.zeros((0, 2)), np.zeros(0)).coef
    with pytest.raises(DataError, match="there is no column to learn from besides the target"):
        fit_linear({"y": [1.0, 2.0]}, "y")


### the verbs of models

LINE = {"x": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "hue": list("ababab"), "y": [2.0, 4.0, 5.0, 8.0, 9.0, 13.0]}


def test_predictions_have_scores_likelihoods_and_draws():
    model, y = fit_linear(LINE, "y"), np.array(LINE["y"])
    assert model.predict(LINE).shape == (6,)
    assert model.score(LINE) == pytest.approx(r2_score(y, model.predict(LINE)))
    t = model.predictive(LINE)
    expected = student(t.dof[:, 0], t.location[:, 0], t.scale[:, 0]).logpdf(y)
    np.testing.assert_allclose(model.log_likelihood(LINE), expected, rtol=1e-9)
    assert model.log_likelihood(LINE, [2.0, None, *y[2:]])[1] == 0
    drawn = model.sample(LINE, 4000, random_state=0)
    np.testing.assert_allclose(drawn.mean(axis=0), model.predict(LINE), atol=0.2)


def test_explanations_add_up_to_the_prediction():
    model = fit_linear(LINE, "y")
    for explained, mean in zip(model.explain(LINE), model.predict(LINE), strict=True):
        assert explained.predicted == pytest.approx(mean)
        assert explained.average + sum(explained.contributions.values()) == pytest.approx(mean)
    with pytest.raises(ParameterError, match="radial units have no contributions"):
        fit_rbf(LINE, "y", 2).explain(LINE)


def test_rows_are_removed_merged_and_discounted():
    base = fit_linear(LINE, "y", prior="weak")
    more = {"x": [7.0, 8.0], "hue": ["a", "b"], "y": [13.0, 17.0]}
    other = {"x": [9.0], "hue": ["a"], "y": [18.0]}
    one, two = base.update(more), base.update(other)
    whole = base.update({name: more[name] + other[name] for name in more})
    np.testing.assert_allclose(one.merge(two).coef, whole.coef, rtol=1e-9)
    np.testing.assert_allclose(one.remove(more).coef, base.coef, rtol=1e-9)
    assert base.merge(one, two, one).total_weight == 11  # the second `one` counts its own rows again
    assert whole.discount(0.5).total_weight == 4.5


def test_the_fit_reports_what_it_found():
    rows = {**LINE, "<id>": [f"r{i}" for i in range(6)], "same": [1.0] * 6}
    model = fit_linear({name: cells * 4 for name, cells in rows.items()}, "y", columns=["x", "hue", "same"])
    info = model.fit_info
    assert (info.n_rows, info.targets, info.prior_used[0]) == (24, ("y",), "reference")
    assert info.error_kind == "leave_one_out"
    assert info.errors["y"].r_squared > 0.9
    assert [w.name for w in info.coefficients()][:2] == ["(intercept)", "x"]
    assert info.to_dict()["constant_features"] == ["same"]
    assert pickle.loads(pickle.dumps(info)).to_dict()["rank"] == 2  # without the rows
    narrow, wide = (info.coefficients(level)[1] for level in (0.5, 0.9))
    assert wide.low < narrow.low < narrow.high < wide.high
    for shown in (model, info, model.explain(rows)[0]):
        assert "<td" in shown._repr_html_()
        json.dumps(shown.to_dict())
    assert list(model.to_frame().columns) == ["target", "name", "mean", "low", "high", "effect"]
