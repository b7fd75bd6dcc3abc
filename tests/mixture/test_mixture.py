"""Mixtures: the laws that hold for every kind, the compiled twin, holes, weights, adding, and bad input."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

from bayeslearn import em
from bayeslearn.components.gaussian_sweep import compiled
from bayeslearn.components.rows import read
from bayeslearn.distributions import Categorical, MultivariateNormal, Normal, Poisson, StatisticsBundle
from bayeslearn.errors import (
    BayeslearnWarning,
    ConvergenceWarning,
    DataError,
    EmptyTableError,
    EvidenceError,
    MismatchError,
    ParameterError,
    ShapeError,
)
from bayeslearn.mixture import Batches, Component, MixtureModel, fit_mixture
from bayeslearn.mixture.em_fit import prior_of, start
from bayeslearn.mixture.inputs import parts_of
from bayeslearn.mixture.model import SHARES
from tests.properties import trials

KINDS = ["full", "tied", "diag", "spherical"]
RNG = np.random.default_rng(0)
TWO = np.concatenate([RNG.normal(-2, 1, (40, 3)), RNG.normal(2, [0.5, 1, 2], (60, 3))])


def with_holes(x, share, rng):
    return np.where(rng.random(x.shape) < share, np.nan, x)


def begun(x, k, covariance="full", prior="weak", family=None, seed=0, sample_weight=None):
    parts = parts_of(x, family, covariance)
    rows = read(parts, x, sample_weight)
    rng = np.random.default_rng(seed)
    return start(parts, rows, k, prior_of(prior, parts, rows, k), how="k-means++", equal=False, random_state=rng), rows


### laws


@trials(40)
@given(
    seed=st.integers(0, 10**6),
    k=st.integers(1, 4),
    kind=st.sampled_from(KINDS),
    holes=st.sampled_from([0.0, 0.3]),
    prior=st.sampled_from(["weak", None]),
)
def test_the_objective_never_falls(seed, k, kind, holes, prior):
    rng = np.random.default_rng(seed)
    x = with_holes(rng.normal(size=(40, 2)) * rng.gamma(1, size=2) + rng.integers(0, 3, (40, 1)) * 3, holes, rng)
    model, rows = begun(x, k, kind, prior, seed=seed)
    before = -np.inf
    for _ in range(6):
        statistics, log_p = model.expected_statistics(rows)
        objective = log_p + model.log_prior(None)
        assert objective >= before - 1e-9 * abs(objective)
        before = objective
        try:
            model = model.estimate(None, statistics)
        except EvidenceError:
            return


@trials(25)
@given(seed=st.integers(0, 10**6), k=st.integers(1, 3), holes=st.sampled_from([0.0, 0.3]))
def test_the_objective_never_falls_for_other_families(seed, k, holes):
    rng = np.random.default_rng(seed)
    states = np.where(rng.random(30) < holes, -1, rng.integers(0, 3, 30))
    counts = with_holes(rng.poisson(rng.choice([1, 8], 30)).astype(float), holes, rng)
    x = np.column_stack([states, counts, with_holes(rng.normal(size=30), holes, rng)])
    parts = parts_of(x, [Categorical(3), Poisson(), Normal()])
    rows = read_columns(parts, x)
    model = start(parts, rows, k, prior_of("weak", parts, rows, k), how="random", equal=False, random_state=rng)
    found = em.run(model, rows, prior=model.prior, tol=1e-3, max_iter=300)
    assert min((step.gain for step in found.history[1:]), default=0) >= -1e-9 * abs(found.objective)


def read_columns(parts, x):
    from bayeslearn.components.rows import Rows

    return Rows((parts[0].cells(x[:, 0].astype(int)), *(p.cells(c) for p, c in zip(parts[1:], x.T[1:], strict=True))))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("holes", [0.0, 0.3])
def test_statistics_of_halves_add_up_and_a_weight_of_two_is_the_row_twice(kind, holes):
    x = with_holes(TWO, holes, np.random.default_rng(1))
    model, _ = begun(x, 2, kind)
    whole, log_p = model.expected_statistics(x)
    halves = [model.expected_statistics(part) for part in (x[:37], x[37:])]
    assert whole.isclose(halves[0][0] + halves[1][0], rtol=1e-9, atol=1e-9)
    assert log_p == pytest.approx(halves[0][1] + halves[1][1], rel=1e-12)
    weights = np.where(np.arange(len(x)) % 3 == 0, 2.0, 1.0)
    weighted, log_w = model.expected_statistics(model.rows(x, weights))
    repeated, log_r = model.expected_statistics(np.repeat(x, weights.astype(int), axis=0))
    assert weighted.isclose(repeated, rtol=1e-9, atol=1e-9)
    assert log_w == pytest.approx(log_r, rel=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_densities_are_those_of_scipy_with_missing_cells_left_out(kind):
    model, _ = begun(TWO, 2, kind)
    x = with_holes(TWO[:10], 0.4, np.random.default_rng(2))
    mean, Σ = model.parameters[0]
    for row, log_p in zip(x, model.log_likelihood(x), strict=True):
        seen = ~np.isnan(row)
        terms = []
        for j in range(2):
            spread = {"full": lambda j=j: Σ[j], "tied": lambda: Σ, "diag": lambda j=j: np.diag(Σ[j])}
            cov = spread.get(kind, lambda j=j: np.eye(3) * Σ[j])()
            density = multivariate_normal(mean[j][seen], cov[np.ix_(seen, seen)]).pdf(row[seen]) if seen.any() else 1.0
            terms.append(model.weights[j] * density)
        assert log_p == pytest.approx(np.log(sum(terms)), rel=1e-10)


@pytest.mark.parametrize("kind", ["full", "tied"])
def test_a_missing_coordinate_is_expected_as_by_integration(kind):
    """One component, one missing cell: moments against a fine grid over the cell."""
    model, _ = begun(TWO, 1, kind)
    x = np.array([[0.5, np.nan, -1.0]])
    grid = np.linspace(-30, 30, 20_001)
    filled = np.column_stack([np.full_like(grid, 0.5), grid, np.full_like(grid, -1.0)])
    p = np.exp(model.log_likelihood(filled))
    p /= p.sum()
    mean = p @ filled
    scatter = (p[:, None] * (filled - mean)).T @ (filled - mean)
    found = model.expected_statistics(x)[0][model.parts[0].name]
    np.testing.assert_allclose(found.mean[0], mean, rtol=1e-9)
    np.testing.assert_allclose(found.scatter[0], scatter, atol=1e-9)


### the compiled twin


@pytest.mark.parametrize("dim", [1, 3, 8, 9])
@pytest.mark.parametrize("kind", KINDS)
def test_compiled_and_plain_agree(kind, dim):
    rng = np.random.default_rng(dim)
    n = 300 if dim == 3 else 20
    x = rng.normal(size=(n, dim)) + rng.integers(0, 2, (n, 1)) * 4 + 1e6
    weights = rng.random(n)
    if kind in {"diag", "spherical"} and dim > 1:
        x = with_holes(x, 0.2, rng)
    model, rows = begun(x, 3, kind)
    model = replace(model, weights=np.array([0.4, 0.6, 0.0]))
    for w in (None, weights):
        plain, log_p = model.expected_statistics(replace(rows, sample_weight=w))
        weighted = model.product.weighted(np.log(np.maximum(model.weights, 1e-320)), model.parameters)
        found = compiled(weighted, replace(rows, sample_weight=w))
        moments = found.statistics[model.parts[0].name]
        assert found.log_likelihood == pytest.approx(log_p, rel=1e-12)
        assert found.counts.isclose(plain[SHARES], rtol=1e-9, atol=1e-9)
        for a, b in zip(moments.arrays(), plain[model.parts[0].name].arrays(), strict=True):
            np.testing.assert_allclose(a[:2], b[:2], rtol=1e-8, atol=1e-8)


@pytest.mark.compiled
@pytest.mark.parametrize("kind", KINDS)
def test_any_number_of_threads_gives_the_same_answer(kind, monkeypatch):
    x = np.random.default_rng(0).normal(size=(100_000, 4)) + np.arange(100_000)[:, None] % 3
    model, rows = begun(x, 3, kind)
    found = []
    for threads in ("1", "2", "3"):
        monkeypatch.setenv("BAYESLEARN_THREADS", threads)
        found.append(model.expected_statistics(rows))
    assert found[0] == found[1] == found[2] or all(
        f[1] == found[0][1] and f[0].isclose(found[0][0], rtol=0, atol=0) for f in found
    )


@pytest.mark.compiled
def test_large_data_with_holes_take_both_ways():
    rng = np.random.default_rng(0)
    x = with_holes(rng.normal(size=(70_000, 4)) + rng.integers(0, 3, (70_000, 1)) * 3, 0.02, rng)
    model, rows = begun(x, 3)
    fast, log_fast = model.expected_statistics(rows)
    slow = model.weighted.expect_by_blocks(rows)
    assert fast.isclose(StatisticsBundle({SHARES: slow.counts, **slow.statistics}), rtol=1e-9, atol=1e-7)
    assert log_fast == pytest.approx(slow.log_likelihood, rel=1e-12)


### learning goes on


def test_online_em_comes_near_and_models_add():
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(-3, 1, (500, 2)), rng.normal(3, 1, (500, 2))])
    x = x[rng.permutation(1000)]
    model = fit_mixture(x[:100], 2)
    first = model
    for batch in np.array_split(x[100:], 9):
        model = model.update(batch)
    assert model.total_weight == pytest.approx(1000)
    best = fit_mixture(x, 2)
    assert model.log_likelihood(x).sum() > best.fit_info.log_likelihood - 5
    parts = [first.update(x[100:500], forgetting_factor=0.0), first.update(x[500:], forgetting_factor=0.0)]
    both = parts[0] + parts[1].reorder_components([1, 0]).align(parts[0])
    assert both.statistics.isclose(first.update(x[100:], forgetting_factor=0.0).statistics, rtol=1e-9, atol=1e-9)


def test_batches_are_the_whole():
    whole = fit_mixture(TWO, 2, tol=1e-8)
    prior, model = whole.prior, whole
    for batches in (list(np.array_split(TWO, 3)), lambda: iter(np.array_split(TWO, 3))):
        found = fit_mixture(Batches(batches), 2, prior=prior, init=begun(TWO, 2)[0], tol=1e-8)
        order = np.argsort(found.parameters[0].mean[:, 0])
        same = np.argsort(model.parameters[0].mean[:, 0])
        np.testing.assert_allclose(
            found.parameters[0].mean[order], model.parameters[0].mean[same], rtol=1e-3, atol=1e-4
        )
        assert found.fit_info.log_likelihood == pytest.approx(whole.fit_info.log_likelihood, rel=1e-6)


def test_samples_follow_the_mixture():
    model = fit_mixture(TWO, 2)
    (x,), labels = model.draw(20_000, 0)
    np.testing.assert_allclose(np.bincount(labels) / len(labels), model.weights, atol=0.02)
    for j in range(2):
        np.testing.assert_allclose(x[labels == j].mean(axis=0), model.parameters[0].mean[j], atol=0.06)


def test_responsibilities_sum_to_one_and_assign_the_largest():
    model = fit_mixture(TWO, 3)
    shares = model.predict_proba(TWO)
    np.testing.assert_allclose(shares.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_array_equal(shares.argmax(axis=1), model.predict(TWO))


def test_files_keep_everything(tmp_path):
    mixed = [Categorical(3), Poisson(), Normal(), MultivariateNormal(2, "spherical")]
    rng = np.random.default_rng(0)
    parts = parts_of(None, mixed)
    from bayeslearn.components.rows import Rows

    rows = Rows(
        (rng.integers(-1, 3, 50), rng.poisson(3, 50).astype(float), rng.normal(size=50), rng.normal(size=(50, 2)))
    )
    model = start(parts, rows, 2, prior_of("weak", parts, rows, 2), how="k-means++", equal=False, random_state=rng)
    models = [em.run(model, rows, prior=model.prior, tol=1).model]
    models += [fit_mixture(TWO, 2, covariance_type=kind, prior=prior) for kind in KINDS for prior in ("weak", None)]
    for model in models:
        for name in ("model.json", "model.json.gz"):
            model.save(tmp_path / name)
            read_back = MixtureModel.load(tmp_path / name)
            assert read_back.parts == model.parts
            np.testing.assert_array_equal(read_back.weights, model.weights)
            if model.statistics is not None:
                assert read_back.statistics.isclose(model.statistics, rtol=0, atol=0)
            for a, b in zip(read_back.parameters, model.parameters, strict=True):
                for one, other in zip(tuple(a), tuple(b), strict=True):
                    np.testing.assert_array_equal(one, other)


### bad input


@pytest.mark.parametrize(
    ("data", "k", "error", "match"),
    [
        (np.zeros((0, 2)), 1, EmptyTableError, "no rows"),
        (np.array([[1.0, np.inf]]), 1, DataError, "finite"),
        (np.ones((5, 2)), 2, DataError, "only 1 different rows, fewer than 2"),
        (TWO, 0, ParameterError, "`n_components` must be at least 1"),
        (np.zeros((2, 2, 2)), 1, ParameterError, "expected rows of numbers"),
        (TWO, 200, DataError, "only 100 different rows, fewer than 200"),
    ],
)
def test_bad_data_are_named(data, k, error, match):
    with pytest.raises(error, match=match):
        fit_mixture(data, k)


def test_a_constant_column_says_nothing_with_a_prior_and_is_named_without():
    x = np.column_stack([TWO[:, 0], np.full(100, 7.0)])
    for kind in KINDS:
        assert np.isfinite(fit_mixture(x, 2, covariance_type=kind).fit_info.log_likelihood)
    for kind in ("full", "diag"):
        with pytest.raises(EvidenceError, match="all alike"):
            fit_mixture(x, 2, covariance_type=kind, prior=None)


@pytest.mark.parametrize("kind", KINDS)
def test_duplicated_points_and_missing_rows_and_columns_have_an_answer(kind):
    twice = np.repeat([[0.0, 0.0], [1.0, 1.0], [5.0, 5.0]], 10, axis=0)
    assert np.isfinite(fit_mixture(twice, 3, covariance_type=kind).fit_info.log_likelihood)
    gone = TWO.copy()
    gone[:5] = np.nan
    gone[:, 1] = np.nan
    found = fit_mixture(gone, 2, covariance_type=kind)
    assert np.isfinite(found.fit_info.log_likelihood)
    assert np.isfinite(found.predict_proba(gone)).all()


def test_empty_components_are_kept_and_reported():
    x = np.concatenate([np.zeros(50), np.full(50, 10.0)])[:, None] + np.linspace(0, 1e-3, 100)[:, None]
    model, rows = begun(x, 2, "diag", None)
    three = fit_mixture(x, 2, covariance_type="diag", prior=None)
    parameters = type(three.parameters[0])(np.array([[0.0], [10.0], [1e6]]), np.full((3, 1), 1e-3))
    lonely = MixtureModel(model.parts, np.full(3, 1 / 3), (parameters,), prior_of(None, model.parts, rows, 3))
    with pytest.warns(BayeslearnWarning, match="1 of 3 components have less than half a row: 2"):
        found = fit_mixture(x, 3, covariance_type="diag", prior=None, init=lonely)
    assert found.weights[2] == 0
    assert found.parameters[0].mean[2, 0] == 1e6
    assert np.isfinite(found.predict_proba(x)).all()


def test_what_does_not_fit_is_refused():
    model = fit_mixture(TWO, 2)
    with pytest.raises(ShapeError, match="expected rows of 3 columns"):
        model.log_likelihood(TWO[:, :2])
    with pytest.raises(MismatchError, match="same parts and the same number of components"):
        model + fit_mixture(TWO, 3)
    with pytest.raises(ParameterError, match="gives its batches only once"):
        Batches(iter([TWO]))
    with pytest.raises(ParameterError, match="unexpected value for `distributions`: 'gauss'"):
        fit_mixture(TWO[:, 0], 2, distributions="gauss")
    with pytest.raises(ParameterError, match="categorical needs a number of states"):
        fit_mixture(TWO[:, 0], 2, distributions="categorical")
    with pytest.raises(ParameterError, match="there is no distribution 3"):
        Component.of(3)
    with pytest.raises(DataError, match="every weight is zero"):
        fit_mixture(TWO, 2, sample_weight=np.zeros(100))
    with pytest.warns(ConvergenceWarning, match="after 1 iterations"):
        fit_mixture(TWO, 2, max_iter=1, n_init=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit_mixture(TWO, 2)


@pytest.mark.slow
@pytest.mark.compiled
def test_ten_million_rows_in_batches_take_little_memory():
    import tracemalloc

    def batch(seed):
        rng = np.random.default_rng(seed)
        return rng.standard_normal((200_000, 8)) + 6 * rng.integers(0, 2, (200_000, 1))

    data = Batches(lambda: (batch(seed) for seed in range(50)))
    tracemalloc.start()
    with pytest.warns(ConvergenceWarning, match="after 1 iterations"):
        found = fit_mixture(data, 2, covariance_type="diag", n_init=1, max_iter=1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.total_weight == pytest.approx(10_000_000)
    assert peak < 6 * 200_000 * 8 * 8  # a few batches of the fifty
    np.testing.assert_allclose(found.weights, 0.5, atol=1e-3)


def test_distributions_by_name():
    counts = np.random.default_rng(0).poisson([2, 9, 2, 9] * 30).astype(float)
    by_name, by_object = (
        fit_mixture(counts, 2, distributions=family, random_state=0) for family in ("poisson", Poisson())
    )
    np.testing.assert_array_equal(by_name["x0"], by_object["x0"])
    one, two = (fit_mixture(TWO, 2, distributions=family, random_state=0) for family in ("gaussian", None))
    np.testing.assert_array_equal(one.parameters[0].mean, two.parameters[0].mean)
    several = fit_mixture(TWO[:, :2], 2, distributions=["gaussian", "gaussian"], random_state=0)
    assert [part.distribution.name for part in several.parts] == ["gaussian", "gaussian"]
