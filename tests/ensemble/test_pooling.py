"""Pools: their laws, and the optimum of their weights."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logsumexp

from bayeslearn.ensemble.pooling import COMBINE, PRECISION, Pool, fit_pool, floored
from tests.properties import trials


def stacked(seed, n=60, m=3, k=3):
    """Out-of-fold log probabilities of members of which the first is best, and the classes."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(k, size=n)
    scores = rng.normal(size=(n, m, k))
    scores[np.arange(n)[:, None], np.arange(m), codes[:, None]] += np.linspace(2.5, 0.0, m)
    return floored(np.exp(scores - logsumexp(scores, axis=2, keepdims=True))), codes


@pytest.mark.parametrize("combine", COMBINE)
@trials(10)
@given(seed=st.integers(0, 1000))
def test_every_pool_is_a_distribution_and_prefers_the_better_member(combine, seed):
    logs, codes = stacked(seed, n=200)
    pool = fit_pool(combine, logs, codes, np.ones(len(codes)))
    np.testing.assert_allclose(np.exp(pool.log_proba(logs)).sum(axis=1), 1, rtol=1e-12)
    assert pool.member_weights.argmax() == 0
    own = pool.log_proba(logs)[np.arange(len(codes)), codes].mean()
    assert own >= logs[np.arange(len(codes)), :, codes].mean(axis=0).max() - 0.02


@pytest.mark.parametrize("combine", COMBINE)
def test_a_row_of_weight_two_is_a_row_twice(combine):
    logs, codes = stacked(0)
    doubled = np.r_[np.arange(len(codes)), np.arange(10)]
    w = np.ones(len(codes))
    w[:10] = 2
    one, other = fit_pool(combine, logs, codes, w), fit_pool(combine, logs[doubled], codes[doubled], np.ones(70))
    np.testing.assert_allclose(one.log_proba(logs), other.log_proba(logs), atol=2e-3)


@pytest.mark.parametrize("combine", COMBINE)
def test_the_order_of_members_is_irrelevant(combine):
    logs, codes = stacked(1)
    one = fit_pool(combine, logs, codes, np.ones(60))
    other = fit_pool(combine, logs[:, ::-1], codes, np.ones(60))
    np.testing.assert_allclose(one.log_proba(logs), other.log_proba(logs[:, ::-1]), atol=2e-3)


def objective(theta, logs, codes):
    m = logs.shape[1]
    scores = np.einsum("m,nmk->nk", theta[:m], logs) + theta[m:]
    loss = -(scores - logsumexp(scores, axis=1, keepdims=True))[np.arange(len(codes)), codes].sum()
    return loss + PRECISION / 2 * (((theta[:m] - 1 / m) ** 2).sum() + (theta[m:] ** 2).sum())


def test_the_weights_of_a_log_linear_pool_are_the_mode():
    logs, codes = stacked(2)
    pool = fit_pool("log_linear", logs, codes, np.ones(60))
    best = np.concatenate([pool.coefficients, pool.offsets])
    rng = np.random.default_rng(0)
    for step in rng.normal(scale=0.02, size=(50, len(best))):
        near = best + step
        near[:3] = np.maximum(near[:3], 0)
        assert objective(near, logs, codes) >= objective(best, logs, codes) - 1e-6


def test_a_posterior_is_the_product_of_the_probabilities():
    logs, codes = stacked(3, n=5)
    own = logs[np.arange(5), :, codes].sum(axis=0)
    pool = fit_pool("posterior", logs, codes, np.ones(5))
    np.testing.assert_allclose(pool.coefficients, np.exp(own) / np.exp(own).sum(), rtol=1e-10)
    expected = np.einsum("m,nmk->nk", pool.coefficients, np.exp(logs))
    np.testing.assert_allclose(np.exp(pool.log_proba(logs)), expected, rtol=1e-10)


def test_no_member_excludes_a_class():
    p = np.array([[[1.0, 0.0]], [[0.0, 1.0]]])
    assert np.isfinite(floored(p)).all()
    np.testing.assert_allclose(np.exp(floored(p)).sum(axis=2), 1)


def test_a_pool_without_a_member():
    logs, codes = stacked(4)
    pool = fit_pool("log_linear", logs, codes, np.ones(60))
    rest = pool.without(np.array([False, True, False]))
    expected = pool.scores(logs) - pool.coefficients[1] * logs[:, 1]
    np.testing.assert_allclose(rest.scores(logs[:, [0, 2]]), expected, rtol=1e-10)
    assert isinstance(rest, Pool)
