"""Exponential, gamma, von Mises, negative binomial, Student's t and multinomial: against scipy, laws, and learners."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import optimize, stats

from bayeslearn import load, scan
from bayeslearn.distributions import Multinomial
from bayeslearn.distributions.distribution import by_name
from bayeslearn.distributions.sufficient_statistics import Assignment
from bayeslearn.errors import DataError, EvidenceError, ParameterError
from bayeslearn.hmm import fit_hmm
from bayeslearn.mixture import fit_mixture
from bayeslearn.mixture.results import describe_clusters
from bayeslearn.naive_bayes import NaiveBayesClassifier, fit_naive_bayes

N = 400

#: Two rows of parameters of each, and scipy's distribution of one row.
CASES = {
    "exponential": (np.array([0.5, 3.0]), lambda θ: stats.expon(scale=1 / θ)),
    "gamma": ((np.array([2.0, 9.0]), np.array([1.0, 0.5])), lambda a, b: stats.gamma(a, scale=1 / b)),
    "von-mises": ((np.array([0.5, -2.5]), np.array([3.0, 8.0])), lambda μ, κ: stats.vonmises(κ, loc=μ)),
    "negative-binomial": ((np.array([3.0, 20.0]), np.array([1.5, 4.0])), lambda μ, r: stats.nbinom(r, r / (r + μ))),
    "student-t": (
        (np.array([0.0, 8.0]), np.array([1.0, 4.0]), np.array([3.0, 5.0])),
        lambda μ, σ2, ν: stats.t(ν, loc=μ, scale=np.sqrt(σ2)),
    ),
}
#: Without zeros these are normal and log-normal.
CASES |= {
    "zero-inflated": (
        (np.zeros(2), np.array([-3.0, 8.0]), np.array([1.0, 4.0])),
        lambda _, μ, σ2: stats.norm(μ, np.sqrt(σ2)),
    ),
    "log-normal": (
        (np.zeros(2), np.array([-3.0, 2.0]), np.array([1.0, 0.25])),
        lambda _, μ, σ2: stats.lognorm(np.sqrt(σ2), scale=np.exp(μ)),
    ),
}
NAMES = list(CASES)


def parameters_of(name):
    given = CASES[name][0]
    if not isinstance(given, tuple):
        return given
    found = by_name(name)().most_likely(by_name(name)().like(given, 1.0))
    return type(found)(*given)


def rows_of(name, n=N, seed=0):
    """Numbers of both rows, and the row of each."""
    drawn = by_name(name)().draw(parameters_of(name), n, seed)
    return drawn.T.ravel().astype(float), np.repeat([0, 1], n)


@pytest.mark.parametrize("name", NAMES)
def test_densities_are_those_of_scipy(name):
    distribution, θ = by_name(name)(), parameters_of(name)
    x = rows_of(name, 20)[0]
    found = distribution.log_prob(θ, x)
    for j in range(2):
        one = CASES[name][1](*(p[j] for p in θ)) if isinstance(θ, tuple) else CASES[name][1](θ[j])
        expected = one.logpmf(x) if hasattr(one.dist, "logpmf") else one.logpdf(x)
        np.testing.assert_allclose(found[:, j], expected, rtol=1e-9, atol=1e-9)
    missing = distribution.log_prob(θ, [np.nan])
    assert (missing == 0).all()


@pytest.mark.parametrize("name", NAMES)
def test_estimates_maximize_the_likelihood(name):
    distribution = by_name(name)()
    x = rows_of(name)[0][:N]
    statistics = distribution.collect(x, sample_weight=np.ones((N, 1)))
    θ = distribution.estimate(distribution.update(distribution.none(), statistics))
    for _ in range(200):
        statistics = distribution.expected(distribution.cells(x), Assignment(np.ones((N, 1))), θ)
        θ = distribution.estimate(distribution.update(distribution.none(), statistics))
    best = distribution.log_prob(θ, x).sum()
    flat = np.concatenate([np.atleast_1d(p) for p in (θ if isinstance(θ, tuple) else (θ,))])

    def loss(free):
        parts = tuple(np.array([v]) for v in free)
        given = type(θ)(*parts) if isinstance(θ, tuple) else parts[0]
        with np.errstate(all="ignore"):
            value = -distribution.log_prob(given, x).sum()
        if name in {"zero-inflated", "log-normal"} and free[0] < 0:  # a probability
            return 1e12
        return value if np.isfinite(value) else 1e12

    other = optimize.minimize(loss, flat, method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-8})
    assert best >= -other.fun - 1e-4


@pytest.mark.parametrize("name", NAMES)
def test_statistics_add(name):
    distribution, θ = by_name(name)(), parameters_of(name)
    x, _ = rows_of(name, 30)
    shares = np.random.default_rng(0).dirichlet([1, 1], len(x))
    for collect in (distribution.gather, lambda cells, to: distribution.expected(cells, to, θ)):
        cells = distribution.cells(x)
        whole = collect(cells, Assignment(shares))
        one, two = (collect(cells[part], Assignment(shares[part])) for part in (slice(20), slice(20, None)))
        assert (one + two).isclose(whole, rtol=1e-9, atol=1e-9)
        assert (whole - two).isclose(one, rtol=1e-9, atol=1e-9)
        assert (whole * 2).isclose(whole + whole, rtol=1e-12, atol=1e-12)
        assert distribution.zero((2,)).isclose(whole * 0, rtol=1e-12, atol=1e-12)
        weighted = collect(cells, Assignment(2 * shares))
        assert weighted.isclose(whole + whole, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_cases_before_the_data_look_like_the_parameters(name):
    distribution, θ = by_name(name)(), parameters_of(name)
    found = distribution.estimate(distribution.like(θ, 7.0))
    for a, b in zip(*((p if isinstance(p, tuple) else (p,)) for p in (found, θ)), strict=True):
        np.testing.assert_allclose(a, b, rtol=0.05 if name == "negative-binomial" else 1e-6)
    kept = distribution.estimate(distribution.update(distribution.none(), distribution.zero((2,))), otherwise=θ)
    np.testing.assert_allclose(np.asarray(kept), np.asarray(θ), rtol=1e-12)
    with pytest.raises(EvidenceError, match="no rows"):
        distribution.estimate(distribution.update(distribution.none(), distribution.zero((2,))))


@pytest.mark.parametrize("name", NAMES)
def test_naive_bayes(name, tmp_path):
    x, y = rows_of(name)
    rows = {"x": x, "y": np.array(["a", "b"])[y]}
    model = fit_naive_bayes(rows, "y", distributions={"x": name}, calibrate=False)
    distribution, θ = by_name(name)(), parameters_of(name)
    bayes = distribution.log_prob(θ, x).argmax(axis=1)
    assert np.mean(model.predict_codes({"x": x}) == bayes) > 0.97
    estimator = NaiveBayesClassifier(distributions={"x0": name}, calibrate=False).fit(x[:, None], rows["y"])
    np.testing.assert_allclose(estimator.predict_proba(x[:, None]), model.predict_proba({"x": x}), rtol=1e-9)
    model.save(tmp_path / "m.json")
    np.testing.assert_array_equal(load(tmp_path / "m.json").predict_proba({"x": x}), model.predict_proba({"x": x}))
    source = scan([{k: v[i::3] for k, v in rows.items()} for i in range(3)])
    folded = fit_naive_bayes(source, "y", distributions={"x": name}, calibrate=False)
    np.testing.assert_allclose(folded.predict_proba({"x": x}), model.predict_proba({"x": x}), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_mixture(name, tmp_path):
    x = rows_of(name)[0]
    found = fit_mixture(x, 2, distributions=name, random_state=0)
    history = [step.objective for step in found.fit_info.history]
    assert all(b >= a - 1e-6 * abs(a) for a, b in itertools.pairwise(history))
    labels = found.predict(x)
    true = by_name(name)().log_prob(parameters_of(name), x).argmax(axis=1)
    agree = np.mean(labels == true)
    assert max(agree, 1 - agree) > 0.8
    found.save(tmp_path / "m.json")
    np.testing.assert_array_equal(load(tmp_path / "m.json").predict(x), labels)
    assert np.isfinite(found.log_marginal_likelihood(x))
    assert len(found.draw(5, 0)[1]) == 5
    classes = fit_mixture({"x": x}, 2, distributions={"x": name}, random_state=0)
    assert describe_clusters(classes)[0].differences[0].divergence > 0.05


@pytest.mark.parametrize("name", NAMES)
def test_hidden_markov_model(name, tmp_path):
    x = np.concatenate([by_name(name)().draw(parameters_of(name), 30, seed)[:, seed % 2] for seed in range(12)])
    states = np.repeat(np.arange(12) % 2, 30)
    model = fit_hmm(x.astype(float), 2, emissions=name, n_init=3)
    agree = np.mean(model.decode(x.astype(float)).states == np.array(model.states)[states])
    assert max(agree, 1 - agree) > 0.85
    model.save(tmp_path / "m.json")
    assert load(tmp_path / "m.json").log_likelihood(x.astype(float)) == model.log_likelihood(x.astype(float))


def test_hidden_markov_models_read_columns_of_tables_as_numbers():
    table = {"x": [1, 1, 2, 1, 9, 8, 9, 9, 1, 2, 1, 2]}  # few whole numbers, which would be symbols
    model = fit_hmm(table, 2, emissions="gamma", columns=["x"], n_init=1)
    assert model.emissions.kind == "gamma"
    assert sorted(model.emissions.centers())[1] > 5


def test_student_t_sees_through_outliers():
    x = np.concatenate([np.random.default_rng(0).normal(0, 1, 200), [1e4]])
    rows = {"x": np.r_[x, x + 6], "y": ["a"] * 201 + ["b"] * 201}
    model = fit_naive_bayes(rows, "y", distributions={"x": "student_t"})
    location = model.posterior("x").mean().location
    np.testing.assert_allclose(location, [0, 6], atol=0.3)


def test_multinomial():
    rng = np.random.default_rng(0)  # whatever tests ran before
    counts = np.concatenate([rng.multinomial(40, p, 60) for p in ([0.7, 0.2, 0.1], [0.1, 0.3, 0.6])])
    distribution = Multinomial(3)
    θ = np.array([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]])
    expected = np.column_stack([stats.multinomial(40, p).logpmf(counts) for p in θ])
    np.testing.assert_allclose(distribution.log_prob(θ, counts), expected, rtol=1e-10)
    model = fit_mixture(counts, 2, distributions=distribution, random_state=0)
    labels = model.predict(counts)
    assert len(set(labels[:60])) == len(set(labels[60:])) == 1
    assert labels[0] != labels[60]
    with pytest.raises(DataError, match="some of its counts only"):
        distribution.cells([[1, np.nan, 2]])


@pytest.mark.parametrize(("name", "bad"), [("exponential", -1), ("gamma", 0), ("negative-binomial", 1.5)])
def test_numbers_that_cannot_be_are_named(name, bad):
    with pytest.raises(DataError, match=r"'x'.*position 1"):
        fit_naive_bayes({"x": [1.0, bad, 2.0], "y": list("aab")}, "y", distributions={"x": name})


def test_priors_without_a_distribution_of_parameters():
    posterior = by_name("gamma")().like((np.array(2.0), np.array(1.0)), 3.0)
    with pytest.raises(ParameterError, match="cannot be drawn"):
        posterior.draw()
    with pytest.raises(ParameterError, match="no credible bounds"):
        posterior.interval()
