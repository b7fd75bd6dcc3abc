"""Local fits: laws, the family they belong to, leave-one-out, and rows that do not determine them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

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
    kernel_weights,
    local_regression,
    lowess,
)
from bayeslearn.regression.targets import examples
from tests.properties import trials

RNG = np.random.default_rng(8)
X = RNG.normal(size=(80, 2)) * [1, 50] + [3, -1000]
Y = np.sin(X[:, 0]) + X[:, 1] / 50 + 0.1 * RNG.normal(size=80)
WAYS = [
    {"criterion": "E1", "k": 12},
    {"criterion": "E2", "kernel": "gaussian", "bandwidth": 0.7},
    {"criterion": "E2", "kernel": "tricube", "bandwidth": 2.5},
    {"criterion": "E3", "kernel": "epanechnikov", "k": 15},
    {"criterion": "E3", "kernel": "gaussian", "k": 15, "bandwidth": 0.8},
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

    found = local_regression(x * size + shift, polynomial(x), degree=degree, **how).at(queries * size + shift)
    known = ~found.ridged
    np.testing.assert_allclose(found.mean[known], polynomial(queries)[known], rtol=1e-6, atol=1e-6)


@ways
def test_outputs_are_answered_apart_and_linearly(how):
    both = np.column_stack([Y, 3 - 2 * Y])
    model = local_regression(X, both, degree=1, **how)
    found, one = model.at(X[:7]), local_regression(X, Y, degree=1, **how).at(X[:7])
    np.testing.assert_allclose(found.mean[:, 0], one.mean, rtol=1e-12)
    np.testing.assert_allclose(found.mean[:, 1], 3 - 2 * one.mean, rtol=1e-9)
    np.testing.assert_allclose(found.std, np.column_stack([one.std, 2 * one.std]), rtol=1e-9)
    assert found.interval()[0].shape == (7, 2)


def test_weight_two_is_the_row_twice_where_all_rows_count():
    w = np.arange(80) % 3
    how = {"criterion": "E2", "kernel": "gaussian", "bandwidth": 0.9, "noise_cases": 0}
    weighted, twice = local_regression(X, Y, sample_weight=w, **how), np.repeat(np.arange(80), w)
    repeated = local_regression(X[twice], Y[twice], **how)
    for name in ("mean", "std", "n"):
        np.testing.assert_allclose(getattr(weighted.at(X), name), getattr(repeated.at(X), name), rtol=1e-9)


def test_rows_add():
    whole = local_regression(X, Y, k=14)
    parts = local_regression(X[:30], Y[:30], k=14) + local_regression(X[30:], Y[30:], k=14)
    np.testing.assert_allclose(parts.at(X).mean, whole.at(X).mean, rtol=1e-12)
    more = local_regression(X[:30], Y[:30], k=14).update(X[30:], Y[30:])
    np.testing.assert_allclose(more.at(X).interval(), whole.at(X).interval(), rtol=1e-12)


@pytest.mark.compiled
def test_threads_do_not_matter(monkeypatch):
    x = RNG.normal(size=(400, 3))
    y = x.sum(axis=1) ** 2
    found = [threads(monkeypatch, n, x, y) for n in "12"]
    np.testing.assert_array_equal(*found)


def threads(monkeypatch, n, x, y):
    monkeypatch.setenv("BAYESLEARN_THREADS", n)
    return local_regression(x, y, k=60).at(x).mean


### the family


@ways
@pytest.mark.parametrize("noise_cases", [0.0, 7.0])
def test_the_posterior_is_that_of_the_linear_family(how, noise_cases):
    model = local_regression(X, Y, degree=1, noise_cases=noise_cases, **how)
    found = model.at(X[:4])
    for i in range(4):
        rows, w = model.neighbourhood(X[i : i + 1])
        w = w * w.sum() / (w**2).sum()
        line = LinearGaussian(2)
        statistics = line.collect(line.cases(model.space.points[rows], Y[rows]), sample_weight=w)
        ν, s2 = noise_cases, float(model.noise[0])
        prior = RegressionPrior(0.0, np.zeros(3), np.diag([0.0, 0.0, ν * s2]), -3 / 2 + ν / 2)
        t = line.update(prior, statistics).predictive(model.points(X[i : i + 1]))
        assert found.n[i] == pytest.approx(w.sum(), rel=1e-12)
        assert found.mean[i] == pytest.approx(float(t.location[0]), rel=1e-9)
        assert found.dof[i] == pytest.approx(float(t.dof[0]), rel=1e-9)
        np.testing.assert_allclose([b[i] for b in found.interval(0.9)], [b[0] for b in t.interval(0.9)], rtol=1e-8)
    np.testing.assert_allclose(found.predictive().interval(0.8), found.interval(0.8), rtol=1e-12)


def test_a_ridge_is_the_familys():
    how = {"criterion": "E1", "k": 20}
    model = local_regression(X, Y, ridge=3.0, **how)
    rows, _ = model.neighbourhood(X[:1])
    line = LinearGaussian(2)
    cases = line.cases(model.space.points[rows], Y[rows])
    mean = line.predictive(line.fit(cases, prior=RegressionPrior.ridge(2, 3.0))).mean(model.points(X[:1]))
    np.testing.assert_allclose(model.at(X[:1]).mean, mean, rtol=1e-10)
    assert not model.at(X[:1]).ridged.any()


def test_slopes_are_told_in_the_units_of_the_attributes():
    x = np.column_stack([X, np.full(80, 5.0)])
    found = local_regression(x, 2 * X[:, 0] - X[:, 1] / 10, k=20).at(x[:3], slopes=True)
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
        low, high = local_regression(x, y, k=30, noise_cases=0).at(new).interval(0.9, of=of)
        held.append((low <= truth) & (truth <= high))
    assert np.mean(held) == pytest.approx(0.9, abs=0.04)


### leave-one-out


@ways
@pytest.mark.parametrize("degree", [0, 1, 2])
def test_leaving_one_out_is_fitting_without_it(how, degree):
    x, y = X[:24], Y[:24]
    model = local_regression(x, y, degree=degree, standardize=False, **how)
    found = model.leave_one_out()
    keep = ~np.eye(24, dtype=bool)
    refit = [
        local_regression(x[keep[i]], y[keep[i]], degree=degree, standardize=False, **how).at(x[i : i + 1])
        for i in range(24)
    ]
    known = ~found.ridged  # elsewhere the radius of the rest is another, and so is the prior
    np.testing.assert_allclose(
        found.mean[known], [f.mean[0] for f, k in zip(refit, known, strict=True) if k], rtol=1e-8
    )


def test_the_hat_says_the_same():
    model = local_regression(X, Y, criterion="E2", kernel="gaussian", bandwidth=0.8)
    found, total = model.at(X), np.array([model.neighbourhood(x[None])[1].sum() for x in X])
    hat = found.n / total * found.spread  # K(0) = 1
    np.testing.assert_allclose(model.leave_one_out().mean, Y - (Y - found.mean) / (1 - hat), rtol=1e-8)


def test_where_the_hat_is_one_the_others_answer():
    x = np.array([[0.0], [1.0], [2.0], [30.0]])
    model = local_regression(x, [0.0, 1.0, 2.0, 5.0], degree=0, criterion="E2", bandwidth=3.0, standardize=False)
    assert model.at(x).mean[-1] == 5.0
    found = model.leave_one_out()
    assert found.out_of_reach.tolist() == [False, False, False, True]
    assert found.mean[-1] == 2.0


@pytest.mark.parametrize("criterion", ["E1", "E2", "E3"])
def test_the_best_of_what_was_tried_is_taken(criterion):
    model = local_regression(X[:30], Y[:30], criterion=criterion, degree="auto", k="auto")
    errors = [tried.error for tried in model.tried]
    assert errors == sorted(errors)
    best = model.tried[0]
    assert model.settings == best.settings
    off = model.leave_one_out().mean - Y[:30]
    assert best.error == pytest.approx(np.sqrt((off**2).mean()), rel=1e-12)
    assert {tried.settings.degree for tried in model.tried} == {0, 1, 2}


def test_every_error_is_that_of_fits_without_the_row():
    x, y = X[:14], Y[:14]
    tried = local_regression(x, y, degree=0, standardize=False).tried
    assert max(t.settings.k for t in tried) == 13
    for t in tried:
        off = [
            local_regression(np.delete(x, i, axis=0), np.delete(y, i), degree=0, k=t.settings.k, standardize=False)
            .at(x[i : i + 1])
            .mean[0]
            - y[i]
            for i in range(14)
        ]
        assert t.error == pytest.approx(np.sqrt(np.mean(np.square(off))), rel=1e-9)


def test_some_rows_are_enough_to_choose():
    x = RNG.normal(size=(120, 1))
    one, two = (local_regression(x, x[:, 0] ** 3, loo_rows=20, random_state=5) for _ in range(2))
    assert [t.error for t in one.tried] == [t.error for t in two.tried]
    assert one.tried[0].ridged + one.tried[0].out_of_reach <= 20


def test_copies_of_a_row_do_not_hide_it():
    x = np.repeat([[0.0], [1.0]], 30, axis=0)
    found = local_regression(x, np.repeat([1.0, 4.0], 30), degree=0, k=5).leave_one_out()
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
    model = local_regression(
        x[1:, None], np.eye(4), degree=0, criterion="E2", kernel=kernel, bandwidth=2.0, standardize=False
    )
    np.testing.assert_allclose(model.at([[0.0]]).mean[0], w / w.sum(), rtol=1e-12)


def test_inverse_squares_pass_through_the_rows():
    found = local_regression(X, Y, kernel="inverse_square", k=10).at(X)
    np.testing.assert_allclose(found.mean, Y, rtol=1e-12)
    assert not found.ridged.any()


### rows that do not determine a fit


def test_collinear_rows_get_a_ridge_and_it_is_told():
    t = np.linspace(0, 1, 20)
    found = local_regression(np.column_stack([t, 2 * t]), 3 * t, k=8).at([[0.5, 1.0], [0.25, 0.5]])
    assert found.ridged.all()
    np.testing.assert_allclose(found.mean, [1.5, 0.75], rtol=1e-4)
    np.testing.assert_allclose(found.parameters, 2, rtol=1e-3)
    assert repr(found) == "LocalFit(2 queries; 2 by ridge, 0 out of reach)"


def test_a_query_out_of_reach_is_answered_by_the_nearest():
    found = local_regression(X, Y, criterion="E2", bandwidth=0.5).at([[1e6, 1e6], X[0]])
    assert found.out_of_reach.tolist() == [True, False]
    assert found.mean[0] in Y
    assert np.isfinite(found.std).all()


def test_equal_rows_and_attributes_that_do_not_vary():
    same = local_regression(np.ones((10, 2)), np.arange(10.0), k=4)
    assert same.at([[1, 1], [9, 9]]).mean.tolist() == [1.5, 1.5]
    copies = local_regression(np.repeat([[0.0], [1.0]], 6, axis=0), np.repeat([2.0, 3.0], 6), k=6).at([[0.0], [1.0]])
    np.testing.assert_allclose(copies.mean, [2, 3], rtol=1e-12)
    assert copies.ridged.all()
    wide = np.column_stack([X[:, 0], np.full(80, 7.0)])
    flat = local_regression(X[:, :1], Y, criterion="E2", bandwidth=1.0).at(X[:5, :1])
    np.testing.assert_allclose(
        local_regression(wide, Y, criterion="E2", bandwidth=1.0).at(np.add(wide[:5], [0, 100])).mean,
        flat.mean,
        rtol=1e-12,
    )


def test_fewer_rows_than_k_are_all_used():
    few, all_of_them = (local_regression(X[:10], Y[:10], criterion="E1", k=k).at(X[:3]) for k in (50, 10))
    np.testing.assert_array_equal(few.mean, all_of_them.mean)
    one = local_regression([[1.0]], [5.0])
    assert one.at([[7.0]]).mean.tolist() == [5.0]
    assert one.at([[7.0]]).interval() == (-np.inf, np.inf)
    assert one.at([[7.0]]).std == np.inf
    with pytest.raises(EvidenceError, match="1 rows for 1 numbers"):
        one.at([[7.0]]).predictive()
    with pytest.raises(EvidenceError, match="without it none"):
        one.leave_one_out()


def test_no_queries():
    with pytest.raises(DataError, match="no rows"):
        local_regression(X, Y, k=5).at(np.empty((0, 2)))


### tables


def test_states_and_holes():
    wind = ["weak", "strong"] * 20
    hours = [None if i == 7 else float(i) for i in range(40)]
    y = [2.0 * i + 10 * (wind[i] == "strong") for i in range(40)]
    model = local_regression({"hours": hours, "wind": wind}, y, k=12)
    with pytest.warns(BayeslearnWarning, match=r"1 value of 'wind' \('gale'\)"):
        found = model.at({"hours": [33.0, 33.0, None], "wind": ["weak", "strong", "gale"]})
    np.testing.assert_allclose(found.mean[:2], [66, 76], rtol=1e-3)
    assert 30 < found.mean[2] < 60
    assert "'hours', 'wind=weak'" in repr(model) or "'hours', 'wind=strong'" in repr(model)


### pictures


def test_the_picture_shows_rows_curve_and_band():
    pytest.importorskip("matplotlib")
    day = {"hour": np.arange(24.0), "degrees": np.sin(np.arange(24) / 4)}
    model = local_regression({"hour": day["hour"]}, day["degrees"], k=9)
    axes = plots.plot_regression(model, examples(day, "degrees")).axes[0]
    rows, curve = axes.get_lines()
    assert rows.get_xydata().tolist() == np.column_stack(list(day.values())).tolist()
    np.testing.assert_allclose(curve.get_ydata(), model.at(curve.get_xdata()[:, None]).mean, rtol=1e-9)
    assert len(axes.collections) == 1
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("hour", "degrees")


### bad input


@pytest.mark.parametrize(
    ("what", "error", "match"),
    [
        ({"y": [1.0, np.nan]}, MissingValuesError, "y at 1 is nan"),
        ({"y": [1.0]}, ShapeError, "one y per row"),
        ({"X": [1.0, 2.0]}, ShapeError, "rows of numbers"),
        ({"sample_weight": [0, 0]}, EvidenceError, "weight zero"),
        ({"degree": 3}, ParameterError, "degree"),
        ({"criterion": "E4"}, ParameterError, "criterion"),
        ({"kernel": "cosine"}, ParameterError, "kernel"),
        ({"k": 0}, ParameterError, "`k`"),
        ({"k": "some"}, ParameterError, "`k`"),
        ({"bandwidth": -1.0}, ParameterError, "bandwidth"),
        ({"ridge": -1.0}, ParameterError, "ridge"),
        ({"noise_cases": -1.0}, ParameterError, "noise_cases"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else None,
)
def test_bad_input_is_named(what, error, match):
    with pytest.raises(error, match=match):
        local_regression(**({"X": [[1.0], [2.0]], "y": [1.0, 2.0]} | what))


def test_bad_questions_are_named():
    model = local_regression(X, Y, k=5)
    with pytest.raises(ShapeError, match="2 columns"):
        model.at([[1.0, 2.0, 3.0]])
    with pytest.raises(ParameterError, match="`of`"):
        model.at(X[:1]).interval(of="median")
    with pytest.raises(ParameterError, match="different numbers of outputs"):
        _ = model + local_regression(X, np.column_stack([Y, Y]), k=5)
    assert isinstance(model.at(X[:1]), LocalFit)


def test_the_number_of_neighbors_is_chosen_among_the_nearest():
    x = np.random.default_rng(0).uniform(0, 10, 60)
    model = local_regression(x[:, None], np.sin(x))
    assert model.settings.k < 20
    assert model.tried[0].error < 0.05


def test_files_of_version_2_name_their_kernel_with_a_blank(tmp_path):
    model = local_regression(X, Y, kernel="inverse_square", k=10)
    model.save(tmp_path / "m.json")
    old = (
        (tmp_path / "m.json")
        .read_text()
        .replace("inverse_square", "inverse square")
        .replace('"version": 3', '"version": 2')
    )
    (tmp_path / "m.json").write_text(old)
    assert "inverse square" in old
    assert LocalRegressionModel.load(tmp_path / "m.json").settings == model.settings
