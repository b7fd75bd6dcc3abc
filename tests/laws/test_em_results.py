"""What EM gives back agrees with itself: θ = estimate(prior, statistics), wherever the climb stopped."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from bayeslearn import fit_network, fit_parameters
from bayeslearn.errors import BayeslearnWarning
from bayeslearn.hmm import fit_hmm
from bayeslearn.mixture import fit_mixture
from bayeslearn.network import OnlineEM
from tests.network.parameters.test_fit import with_holes
from tests.oracle import networks as slow
from tests.properties import trials


def assert_agrees(network):
    """Every row that rests on something is (n + α) / Σ (n + α)."""
    for cpt in network:
        n = cpt.counts.n + cpt.alpha
        total = n.sum(axis=-1, keepdims=True)
        rests = np.broadcast_to(total > 0, n.shape)
        assert_allclose(cpt.probabilities[rests], (n / np.where(total > 0, total, 1))[rests], rtol=1e-12, atol=1e-15)


@trials(60)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(1, 5),
    method=st.sampled_from(["em", "gradient", "lbfgs"]),
    max_iter=st.integers(1, 6),
    prior=st.sampled_from(["laplace", "bdeu:1", "m:2"]),
    share=st.sampled_from([0.0, 0.3]),
)
def test_tables_are_those_of_their_counts(seed, n, method, max_iter, prior, share):
    truth = slow.random_network(seed, n)
    table = with_holes(truth, 15, seed + 1, share)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayeslearnWarning)
        fit = fit_parameters(truth, table, prior=prior, algorithm=method, max_iter=max_iter)
    assert_agrees(fit)
    assert fit.fit_info.log_likelihood == pytest.approx(fit.score(table).log_likelihood, rel=1e-9)
    # what an update without rows gives is the network itself
    again = fit.update(table.take([]))
    assert again.isclose(fit, rtol=1e-12)


def test_the_figures_of_one_iteration():
    rows = {"A": ["x"] * 8 + ["y"] * 2, "B": ["u"] * 4 + [None] * 4 + ["v"] * 2}
    with pytest.warns(match="stopped after 1 iterations"):
        network = fit_parameters("[A][B|A]", rows, prior=None, max_iter=1, tol=0)
    assert_agrees(network)


def test_a_climb_that_is_stopped_at_once():
    def stop(_):
        raise StopIteration

    truth = slow.random_network(3, 4)
    for method in ("em", "gradient", "lbfgs"):
        fit = fit_parameters(truth, with_holes(truth, 30, 1, 0.3), prior="laplace", algorithm=method, progress=stop)
        assert_agrees(fit)


def test_tables_that_learn_from_batches():
    truth = slow.random_network(7, 4)
    learner = OnlineEM(truth, prior="bdeu:1")
    for seed in range(4):
        learner.update(with_holes(truth, 12, seed, 0.3))
        assert_agrees(learner.network)


def test_structures_learned_from_rows_with_holes():
    truth = slow.random_network(11, 4)
    assert_agrees(fit_network(with_holes(truth, 80, 2, 0.2)))
    assert_agrees(fit_network(truth.sample(80, random_state=3)))


@trials(20)
@given(seed=st.integers(0, 1000), max_iter=st.integers(1, 5), prior=st.sampled_from(["weak", None]))
def test_mixtures(seed, max_iter, prior):
    rng = np.random.default_rng(seed)
    x = np.concatenate([rng.normal(-2, 1, (30, 2)), rng.normal(2, 1.5, (30, 2))])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayeslearnWarning)
        model = fit_mixture(x, 2, prior=prior, max_iter=max_iter, random_state=seed, n_init=1)
    again = model.estimate(model.prior, model.statistics)
    assert_allclose(again.weights, model.weights, rtol=1e-12)
    for a, b in zip(again.parameters[0], model.parameters[0], strict=True):
        assert_allclose(a, b, rtol=1e-10)


@trials(20)
@given(seed=st.integers(0, 1000), max_iter=st.integers(1, 5), emissions=st.sampled_from(["gaussian", "categorical"]))
def test_hidden_markov_models(seed, max_iter, emissions):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=40) if emissions == "gaussian" else rng.integers(0, 3, 40)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayeslearnWarning)
        model = fit_hmm([x], 2, emissions=emissions, max_iter=max_iter, random_state=seed, n_init=1)
    again = model.estimate(model.prior, model.statistics)
    assert_allclose(again.startprob, model.startprob, rtol=1e-12)
    assert_allclose(again.transmat, model.transmat, rtol=1e-12)
    for a, b in zip(vars(again.emissions).values(), vars(model.emissions).values(), strict=True):
        if isinstance(a, np.ndarray):
            assert_allclose(a, b, rtol=1e-10)
