"""Local fits: laws, the family they belong to, leave-one-out, and rows that do not determine them."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import r2_score

from bayeslearn import plots
from bayeslearn.distributions import LinearGaussian, RegressionPrior
from bayeslearn.errors import (
    BayeslearnWarning,
    DataError,
    EvidenceError,
    MissingValuesError,
    ParameterError,
    ShapeError,
)
from bayeslearn.regression.local import (
    KERNELS,
    LocalFit,
    LocalRegressionModel,
    fit_local,
    kernel_weights,
    lowess,
)
from bayeslearn.regression.targets import examples
from tests.properties import trials

RNG = np.random.default_rng(8)
X = RNG.normal(size=(80, 2)) * [1, 50] + [3, -1000]
Y = np.sin(X[:, 0]) + X[:, 1] / 50 + 0.1 * RNG.normal(size=80)
WAYS = [
    {"locality": "neighbors", "n_neighbors": 12},
    {"locality": "kernel", "kernel": "gaussian", "bandwidth": 0.7},
    {"locality": "kernel", "kernel": "tricube", "bandwidth": 2.5},
    {"locality": "kernel_neighbors", "kernel": "epanechnikov", "n_neighbors": 15},
    {"locality": "kernel_neighbors", "kernel": "gaussian", "n_neighbors": 15, "bandwidth": 0.8},
]
ways = pytest.mark.parametrize("how", WAYS, ids=lambda how: "-".join(map(str, how.values())))


### laws


@ways
@trials(10)
@given(seed=st.integers(0, 2**32 - 1), degree=st.integers(0, 2), shift=st.floats(-1e4, 1e4), size=st.floats(1e-3, 1e3))
def test_polynomials_of_the_degree_are_met_and_units_do_not_matter(how, seed, degree, shift, size):
    rng = np.random.default_rng(seed)
    x, queries = rng.normal(size=(40, 2)), rng.normal(size=(3, 2))
    a, b, c = rng.normal(size=3)

    def polynomial(x):
        return c + (a * x[:, 0] - b * x[:, 1]) * (degree > 0) + x[:, 0] * x[:, 1] * (degree > 1)

    found = fit_local(x * size + shift, polynomial(x), degree=degree, **how).local_fits(queries * size + shift)
    known = ~found.ridged
    np.testing.assert_allclose(found.mean[known], polynomial(queries)[known], rtol=1e-6, atol=1e-6)


@ways
def test_outputs_are_answered_apart_and_linearly(how):
    both = np.column_stack([Y, 3 - 2 * Y])
    model = fit_local(X, both, degree=1, **how)
    found, one = model.local_fits(X[:7]), fit_local(X, Y, degree=1, **how).local_fits(X[:7])
    np.testing.assert_allclose(found.mean[:, 0], one.mean, rtol=1e-12)
    np.testing.assert_allclose(found.mean[:, 1], 3 - 2 * one.mean, rtol=1e-9)
    np.testing.assert_allclose(found.std, np.column_stack([one.std, 2 * one.std]), rtol=1e-9)
    assert found.interval()[0].shape == (7, 2)


def test_weight_two_is_the_row_twice_where_all_rows_count():
    w = np.arange(80) % 3
    how = {"locality": "kernel", "kernel": "gaussian", "bandwidth": 0.9, "noise_sample_size": 0}
    weighted, twice = fit_local(X, Y, sample_weight=w, **how), np.repeat(np.arange(80), w)
    repeated = fit_local(X[twice], Y[twice], **how)
    for name in ("mean", "std", "n"):
        np.testing.assert_allclose(
            getattr(weighted.local_fits(X), name), getattr(repeated.local_fits(X), name), rtol=1e-9
        )


def test_rows_add():
    whole = fit_local(X, Y, n_neighbors=14)
    parts = fit_local(X[:30], Y[:30], n_neighbors=14) + fit_local(X[30:], Y[30:], n_neighbors=14)
    np.testing.assert_allclose(parts.local_fits(X).mean, whole.local_fits(X).mean, rtol=1e-12)
    more = fit_local(X[:30], Y[:30], n_neighbors=14).update(X[30:], Y[30:])
    np.testing.assert_allclose(more.local_fits(X).interval(), whole.local_fits(X).interval(), rtol=1e-12)


@pytest.mark.compiled
def test_threads_do_not_matter(monkeypatch):
    x = RNG.normal(size=(400, 3))
    y = x.sum(axis=1) ** 2
    found = [threads(monkeypatch, n, x, y) for n in "12"]
    np.testing.assert_array_equal(*found)


def threads(monkeypatch, n, x, y):
    monkeypatch.setenv("BAYESLEARN_THREADS", n)
    return fit_local(x, y, n_neighbors=60).local_fits(x).mean


### the family


@ways
@pytest.mark.parametrize("noise_sample_size", [0.0, 7.0])
def test_the_posterior_is_that_of_the_linear_family(how, noise_sample_size):
    model = fit_local(X, Y, degree=1, noise_sample_size=noise_sample_size, **how)
    found = model.local_fits(X[:4])
    for i in range(4):
        rows, w = model.neighborhood(X[i : i + 1])
        w = w * w.sum() / (w**2).sum()
        line = LinearGaussian(2)
        statistics = line.collect(line.cases(model.space.points[rows], Y[rows]), sample_weight=w)
        ν, s2 = noise_sample_size, float(model.noise[0])
        prior = RegressionPrior(0.0, np.zeros(3), np.diag([0.0, 0.0, ν * s2]), -3 / 2 + ν / 2)
        t = line.update(prior, statistics).predictive(model.points(X[i : i + 1]))
        assert found.n[i] == pytest.approx(w.sum(), rel=1e-12)
        assert found.mean[i] == pytest.approx(float(t.location[0]), rel=1e-9)
        assert found.dof[i] == pytest.approx(float(t.dof[0]), rel=1e-9)
        np.testing.assert_allclose([b[i] for b in found.interval(0.9)], [b[0] for b in t.interval(0.9)], rtol=1e-8)
    np.testing.assert_allclose(found.predictive().interval(0.8), found.interval(0.8), rtol=1e-12)


def test_a_ridge_is_the_familys():
    how = {"locality": "neighbors", "n_neighbors": 20}
    model = fit_local(X, Y, ridge=3.0, **how)
    rows, _ = model.neighborhood(X[:1])
    line = LinearGaussian(2)
    cases = line.cases(model.space.points[rows], Y[rows])
    mean = line.predictive(line.fit(cases, prior=RegressionPrior.ridge(2, 3.0))).mean(model.points(X[:1]))
    np.testing.assert_allclose(model.local_fits(X[:1]).mean, mean, rtol=1e-10)
    assert not model.local_fits(X[:1]).ridged.any()


def test_slopes_are_told_in_the_units_of_the_attributes():
    x = np.column_stack([X, np.full(80, 5.0)])
    found = fit_local(x, 2 * X[:, 0] - X[:, 1] / 10, n_neighbors=20).local_fits(x[:3], slopes=True)
    np.testing.assert_allclose(found.slopes, [[2.0, -0.1, 0.0]] * 3, rtol=1e-9, atol=1e-12)


@pytest.mark.compiled
@pytest.mark.parametrize("of", ["y", "mean"])
def test_intervals_hold_what_they_say(of):
    rng = np.random.default_rng(1)
    held = []
    for _ in range(60):
        x, new = rng.uniform(0, 6, size=(300, 1)), rng.uniform(0.5, 5.5, size=(20, 1))
        y = 2 - x[:, 0] + rng.normal(scale=0.3, size=300)
        truth = 2 - new[:, 0] + (rng.normal(scale=0.3, size=20) if of == "y" else 0)
        low, high = fit_local(x, y, n_neighbors=30, noise_sample_size=0).local_fits(new).interval(0.9, of=of)
        held.append((low <= truth) & (truth <= high))
    assert np.mean(held) == pytest.approx(0.9, abs=0.04)


### leave-one-out


@ways
@pytest.mark.parametrize("degree", [0, 1, 2])
def test_leaving_one_out_is_fitting_without_it(how, degree):
    x, y = X[:24], Y[:24]
    model = fit_local(x, y, degree=degree, standardize=False, **how)
    found = model.leave_one_out()
    keep = ~np.eye(24, dtype=bool)
    refit = [
        fit_local(x[keep[i]], y[keep[i]], degree=degree, standardize=False, **how).local_fits(x[i : i + 1])
        for i in range(24)
    ]
    known = ~found.ridged  # elsewhere the radius of the rest is another, and so is the prior
    np.testing.assert_allclose(
        found.mean[known], [f.mean[0] for f, k in zip(refit, known, strict=True) if k], rtol=1e-8
    )


def test_the_hat_says_the_same():
    model = fit_local(X, Y, locality="kernel", kernel="gaussian", bandwidth=0.8)
    found, total = model.local_fits(X), np.array([model.neighborhood(x[None])[1].sum() for x in X])
    hat = found.n / total * found.spread  # K(0) = 1
    np.testing.assert_allclose(model.leave_one_out().mean, Y - (Y - found.mean) / (1 - hat), rtol=1e-8)


def test_where_the_hat_is_one_the_others_answer():
    x = np.array([[0.0], [1.0], [2.0], [30.0]])
    model = fit_local(x, [0.0, 1.0, 2.0, 5.0], degree=0, locality="kernel", bandwidth=3.0, standardize=False)
    assert model.local_fits(x).mean[-1] == 5.0
    found = model.leave_one_out()
    assert found.out_of_reach.tolist() == [False, False, False, True]
    assert found.mean[-1] == 2.0


@pytest.mark.parametrize("locality", ["neighbors", "kernel", "kernel_neighbors"])
def test_the_best_of_what_was_tried_is_taken(locality):
    model = fit_local(X[:30], Y[:30], locality=locality, degree="auto", n_neighbors="auto")
    errors = [tried.error for tried in model.tried]
    assert errors == sorted(errors)
    best = model.tried[0]
    assert model.settings == best.settings
    off = model.leave_one_out().mean - Y[:30]
    assert best.error == pytest.approx(np.sqrt((off**2).mean()), rel=1e-12)
    assert {tried.settings.degree for tried in model.tried} == {0, 1, 2}


def test_every_error_is_that_of_fits_without_the_row():
    x, y = X[:14], Y[:14]
    how = {"degree": 0, "standardize": False}
    tried = fit_local(x, y, **how).tried
    assert max(t.settings.n_neighbors for t in tried) == 13
    for t in tried:
        off = [
            fit_local(
                np.delete(x, i, axis=0),
                np.delete(y, i),
                degree=0,
                n_neighbors=t.settings.n_neighbors,
                standardize=False,
            )
            .local_fits(x[i : i + 1])
            .mean[0]
            - y[i]
            for i in range(14)
        ]
        assert t.error == pytest.approx(np.sqrt(np.mean(np.square(off))), rel=1e-9)


def test_some_rows_are_enough_to_choose():
    x = RNG.normal(size=(120, 1))
    one, two = (fit_local(x, x[:, 0] ** 3, loo_rows=20, random_state=5) for _ in range(2))
    assert [t.error for t in one.tried] == [t.error for t in two.tried]
    assert one.tried[0].ridged + one.tried[0].out_of_reach <= 20


def test_copies_of_a_row_do_not_hide_it():
    x = np.repeat([[0.0], [1.0]], 30, axis=0)
    found = fit_local(x, np.repeat([1.0, 4.0], 30), degree=0, n_neighbors=5).leave_one_out()
    np.testing.assert_allclose(found.mean, np.repeat([1.0, 4.0], 30), rtol=1e-12)


### lowess


@pytest.mark.parametrize("frac", [0.2, 0.5, 2 / 3, 1.0])
def test_lowess(frac):
    peer = pytest.importorskip("statsmodels.nonparametric.smoothers_lowess").lowess
    rng = np.random.default_rng(2)
    x = np.sort(rng.uniform(-5, 5, size=120))
    y = np.sin(x) + rng.normal(scale=0.3, size=120)
    np.testing.assert_allclose(
        lowess(x, y, frac=frac).mean, peer(y, x, frac=frac, it=0, delta=0.0, return_sorted=False), rtol=1e-9
    )
    at = np.linspace(-5, 5, 30)
    np.testing.assert_allclose(
        lowess(x, y, frac=frac, at=at).mean, peer(y, x, frac=frac, it=0, delta=0.0, xvals=at), rtol=1e-9
    )


### kernels of distance


@pytest.mark.parametrize("kernel", KERNELS)
def test_weights_fall_with_distance_and_the_compiled_ones_are_the_same(kernel):
    x = np.array([0.0, 0.4, 1.0, 1.7, 3.0])
    w = kernel_weights(kernel, x[1:], 2.0)
    assert (np.diff(w) <= 0).all()
    model = fit_local(
        x[1:, None], np.eye(4), degree=0, locality="kernel", kernel=kernel, bandwidth=2.0, standardize=False
    )
    np.testing.assert_allclose(model.local_fits([[0.0]]).mean[0], w / w.sum(), rtol=1e-12)


def test_inverse_squares_pass_through_the_rows():
    found = fit_local(X, Y, kernel="inverse_square", n_neighbors=10).local_fits(X)
    np.testing.assert_allclose(found.mean, Y, rtol=1e-12)
    assert not found.ridged.any()


### rows that do not determine a fit


def test_collinear_rows_get_a_ridge_and_it_is_told():
    t = np.linspace(0, 1, 20)
    found = fit_local(np.column_stack([t, 2 * t]), 3 * t, n_neighbors=8).local_fits([[0.5, 1.0], [0.25, 0.5]])
    assert found.ridged.all()
    np.testing.assert_allclose(found.mean, [1.5, 0.75], rtol=1e-4)
    np.testing.assert_allclose(found.parameters, 2, rtol=1e-3)
    assert repr(found) == "LocalFit(2 queries; 2 by ridge, 0 out of reach)"


def test_a_query_out_of_reach_is_answered_by_the_nearest():
    found = fit_local(X, Y, locality="kernel", bandwidth=0.5).local_fits([[1e6, 1e6], X[0]])
    assert found.out_of_reach.tolist() == [True, False]
    assert found.mean[0] in Y
    assert np.isfinite(found.std).all()


def test_equal_rows_and_attributes_that_do_not_vary():
    same = fit_local(np.ones((10, 2)), np.arange(10.0), n_neighbors=4)
    assert same.local_fits([[1, 1], [9, 9]]).mean.tolist() == [1.5, 1.5]
    copies = fit_local(np.repeat([[0.0], [1.0]], 6, axis=0), np.repeat([2.0, 3.0], 6), n_neighbors=6).local_fits(
        [[0.0], [1.0]]
    )
    np.testing.assert_allclose(copies.mean, [2, 3], rtol=1e-12)
    assert copies.ridged.all()
    wide = np.column_stack([X[:, 0], np.full(80, 7.0)])
    flat = fit_local(X[:, :1], Y, locality="kernel", bandwidth=1.0).local_fits(X[:5, :1])
    np.testing.assert_allclose(
        fit_local(wide, Y, locality="kernel", bandwidth=1.0).local_fits(np.add(wide[:5], [0, 100])).mean,
        flat.mean,
        rtol=1e-12,
    )


def test_fewer_rows_than_k_are_all_used():
    few, all_of_them = (
        fit_local(X[:10], Y[:10], locality="neighbors", n_neighbors=k).local_fits(X[:3]) for k in (50, 10)
    )
    np.testing.assert_array_equal(few.mean, all_of_them.mean)
    one = fit_local([[1.0]], [5.0])
    assert one.local_fits([[7.0]]).mean.tolist() == [5.0]
    assert one.local_fits([[7.0]]).interval() == (-np.inf, np.inf)
    assert one.local_fits([[7.0]]).std == np.inf
    with pytest.raises(EvidenceError, match="1 rows for 1 parameters"):
        one.local_fits([[7.0]]).predictive()
    with pytest.raises(EvidenceError, match="needs 2 rows, got 1"):
        one.leave_one_out()


def test_no_queries():
    with pytest.raises(DataError, match="no rows"):
        fit_local(X, Y, n_neighbors=5).local_fits(np.empty((0, 2)))


### tables


def test_states_and_holes():
    wind = ["weak", "strong"] * 20
    hours = [None if i == 7 else float(i) for i in range(40)]
    y = [2.0 * i + 10 * (wind[i] == "strong") for i in range(40)]
    rows = {"hours": hours, "wind": wind}
    model = fit_local(rows, y, columns=["hours", "wind"], n_neighbors=12)
    with pytest.warns(BayeslearnWarning, match=r"1 value of 'wind' \('gale'\)"):
        found = model.local_fits({"hours": [33.0, 33.0, None], "wind": ["weak", "strong", "gale"]})
    np.testing.assert_allclose(found.mean[:2], [66, 76], rtol=1e-3)
    assert 30 < found.mean[2] < 60
    assert "'hours', 'wind=weak'" in repr(model) or "'hours', 'wind=strong'" in repr(model)


### pictures


def test_the_picture_shows_rows_curve_and_band():
    pytest.importorskip("matplotlib")
    day = {"hour": np.arange(24.0), "degrees": np.sin(np.arange(24) / 4)}
    model = fit_local({"hour": day["hour"]}, day["degrees"], n_neighbors=9)
    axes = plots.plot_regression(model, examples(day, "degrees")).axes[0]
    rows, curve = axes.get_lines()
    assert rows.get_xydata().tolist() == np.column_stack(list(day.values())).tolist()
    np.testing.assert_allclose(curve.get_ydata(), model.local_fits(curve.get_xdata()[:, None]).mean, rtol=1e-9)
    assert len(axes.collections) == 1
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("hour", "degrees")


### bad input


@pytest.mark.parametrize(
    ("what", "error", "match"),
    [
        ({"target": [np.nan, np.nan]}, MissingValuesError, "missing in every row"),
        ({"target": [1.0]}, ShapeError, "one target per row"),
        ({"data": [1.0, 2.0]}, ShapeError, "rows of numbers"),
        ({"sample_weight": [0, 0]}, DataError, "every sample weight is zero"),
        ({"degree": 3}, ParameterError, "degree"),
        ({"locality": "E4"}, ParameterError, "locality"),
        ({"kernel": "cosine"}, ParameterError, "kernel"),
        ({"n_neighbors": 0}, ParameterError, "`n_neighbors`"),
        ({"n_neighbors": "some"}, ParameterError, "`n_neighbors`"),
        ({"bandwidth": -1.0}, ParameterError, "bandwidth"),
        ({"ridge": -1.0}, ParameterError, "ridge"),
        ({"noise_sample_size": -1.0}, ParameterError, "noise_sample_size"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else None,
)
def test_bad_input_is_named(what, error, match):
    with pytest.raises(error, match=match):
        fit_local(**({"data": [[1.0], [2.0]], "target": [1.0, 2.0]} | what))


def test_bad_questions_are_named():
    model = fit_local(X, Y, n_neighbors=5)
    with pytest.raises(ShapeError, match="2 columns"):
        model.local_fits([[1.0, 2.0, 3.0]])
    with pytest.raises(ParameterError, match="`of`"):
        model.local_fits(X[:1]).interval(of="median")
    with pytest.raises(ParameterError, match="different numbers of targets"):
        _ = model + fit_local(X, np.column_stack([Y, Y]), n_neighbors=5)
    assert isinstance(model.local_fits(X[:1]), LocalFit)


def test_the_number_of_neighbors_is_chosen_among_the_nearest():
    x = np.random.default_rng(0).uniform(0, 10, 60)
    model = fit_local(x[:, None], np.sin(x))
    assert model.settings.n_neighbors < 20
    assert model.tried[0].error < 0.05


def test_files_of_earlier_versions(tmp_path):
    model = fit_local(X, Y, kernel="inverse_square", n_neighbors=10)
    model.save(tmp_path / "m.json")
    document = json.loads((tmp_path / "m.json").read_text())
    for new, old in {"sample_weight": "weights", "noise_sample_size": "noise_cases"}.items():
        document[old] = document.pop(new)
    document["targets"], document["outputs"] = document["outputs"], document["targets"]
    settings = document["settings"]
    settings["k"] = settings.pop("n_neighbors")
    settings["criterion"] = {"kernel_neighbors": "E3"}[settings.pop("locality")]
    for version, kernel in ((2, "inverse square"), (3, "inverse_square")):
        settings["kernel"] = kernel
        (tmp_path / "old.json").write_text(json.dumps(document | {"version": version}))
        again = LocalRegressionModel.load(tmp_path / "old.json")
        assert again.settings == model.settings
        np.testing.assert_array_equal(again.predict(X[:5]), model.predict(X[:5]))


### more rows, fewer rows


def test_a_common_base_counts_once(tmp_path):
    base = fit_local({"x": X[:, 0], "y": Y}, "y", n_neighbors=10)
    one, two = base.update({"x": [0.5], "y": [7.0]}), base.update({"x": [-0.5], "y": [3.0]})
    both = base.update({"x": [0.5, -0.5], "y": [7.0, 3.0]})
    new = {"x": np.linspace(-1, 1, 9)}
    np.testing.assert_allclose((one + two).predict(new), both.predict(new), rtol=1e-12)
    assert len(base.merge(one, two).rows) == len(Y) + 2
    one.save(tmp_path / "one.json")
    assert len((LocalRegressionModel.load(tmp_path / "one.json") + two).rows) == len(Y) + 2
    np.testing.assert_allclose(both.remove({"x": [0.5], "y": [7.0]}).predict(new), two.predict(new), rtol=1e-12)
    assert both.discount(0.5).total_weight == both.total_weight / 2
    with pytest.raises(DataError, match="row 0 is not among the training rows"):
        base.remove({"x": [0.5], "y": [7.0]})


def test_scores_and_reports():
    model = fit_local({"x": X[:, 0], "z": X[:, 1], "y": Y}, "y", n_neighbors=20)
    rows = {"x": X[:, 0], "z": X[:, 1], "y": Y}
    assert model.score(rows) == pytest.approx(r2_score(Y, model.predict(rows)))
    low, high = model.predict_interval(rows, 0.5)
    assert (model.log_likelihood(rows, (low + high) / 2) > model.log_likelihood(rows, high)).all()
    assert model.sample(rows, 3, random_state=0).shape == (3, len(Y))
    info = model.fit_info
    assert info.errors["y"].rmse > 0
    assert info.settings == model.settings
    for shown in (model, info):
        assert "<td" in shown._repr_html_()
        json.dumps(shown.to_dict())
    assert list(model.to_frame().columns) == ["x", "z", "y"]
    assert fit_local({"x": [1.0, 2.0, 3.0], "y": [1.0, None, 3.0]}, "y").fit_info.n_missing_targets == 1
