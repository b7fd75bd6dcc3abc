"""Softmax units by L-BFGS: the gradient, the maximum of Newton's method, sparse rows, weights, and bad input."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import check_grad
from scipy.sparse import coo_matrix, csr_array
from sklearn.linear_model import LogisticRegression

from bayeslearn.errors import DataError, ParameterError, ShapeError, WeightError
from bayeslearn.regression import LogisticFit
from bayeslearn.softmax import SAMPLE, Softmax, softmax_fit, with_ones
from tests.properties import trials

SEEDS = st.integers(0, 2**32 - 1)
#: Near enough that rounding is all that is left.
EXACT = 1e-7


def data(seed, n=60, d=3, k=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) * rng.uniform(0.1, 10, d)
    y = (X @ rng.normal(size=(d, k)) / 5 + rng.gumbel(size=(n, k))).argmax(axis=1)
    y[:k] = np.arange(k)
    return X, y, rng.uniform(0, 2, n)


@trials(15)
@given(SEEDS, st.sampled_from([2, 3, 5]), st.booleans())
def test_the_gradient_is_that_of_the_objective(seed, k, soft):
    X, y, w = data(seed, k=k)
    X /= X.std(axis=0)
    d = np.random.default_rng(seed).dirichlet(np.ones(k), len(y)) if soft else y
    units = k if k > 2 else 1
    rng = np.random.default_rng(seed)
    problem = Softmax.of(with_ones(X), d, k, w, rng.uniform(0, 2, (units, 4)), rng.normal(size=(units, 4)))
    at = rng.normal(size=units * 4)
    assert check_grad(lambda v: problem.value_and_gradient(v.reshape(units, 4))[0],
                      lambda v: problem.value_and_gradient(v.reshape(units, 4))[1].ravel(), at) < 1e-4  # fmt: skip


@trials(15)
@given(SEEDS, st.sampled_from([2, 3, 6]), st.sampled_from([0.01, 1.0, 30.0]))
def test_the_maximum_is_that_of_newton(seed, k, precision):
    X, y, w = data(seed, k=k)
    exact = LogisticFit.fit(X, np.eye(k)[y], sample_weight=w, strength=precision)
    found = softmax_fit(X, y, n_classes=k, sample_weight=w, precision=precision, tol=EXACT)
    assert found.converged
    np.testing.assert_allclose(found.probability(X), exact.probability(X), atol=1e-6)
    quick = softmax_fit(X, y, n_classes=k, sample_weight=w, precision=precision)
    np.testing.assert_allclose(quick.probability(X), exact.probability(X), atol=2e-3)


@trials(10)
@given(SEEDS, st.sampled_from([2, 4]))
def test_sparse_rows_shares_and_weights_change_nothing(seed, k):
    X, y, _ = data(seed, k=k)
    X[np.random.default_rng(seed).random(X.shape) < 0.5] = 0
    c = np.random.default_rng(seed).integers(0, 3, len(y))
    c[:k] = 1  # a class without rows has no maximum
    whole = softmax_fit(X, y, n_classes=k, sample_weight=c, tol=EXACT).weights
    for other in (
        softmax_fit(csr_array(X), y, n_classes=k, sample_weight=c, tol=EXACT),
        softmax_fit(coo_matrix(X), np.eye(k)[y], sample_weight=c, tol=EXACT),
        softmax_fit(np.repeat(X, c, axis=0), np.repeat(y, c), n_classes=k, tol=EXACT),
        softmax_fit(X, y, n_classes=k, sample_weight=c, tol=EXACT, init=np.ones_like(whole)),
    ):
        np.testing.assert_allclose(other.weights, whole, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("k", [2, 3])
def test_many_rows_begin_with_some_of_them(k):
    X, y, _ = data(1, n=4 * SAMPLE + 1, k=k)
    found = softmax_fit(X, y, tol=EXACT)
    peer = LogisticRegression(C=1.0, tol=1e-8, max_iter=10_000).fit(X, y)
    np.testing.assert_allclose(found.probability(X), peer.predict_proba(X), atol=1e-5)
    assert found.n_iter < 25


def test_more_columns_than_rows_and_columns_without_numbers():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.poisson(0.1, (50, 400)), np.zeros(50)]).astype(float)
    y = np.arange(50) % 4
    found, sparse = softmax_fit(X, y), softmax_fit(csr_array(X), y)
    np.testing.assert_allclose(found.probability(X), sparse.probability(csr_array(X)), atol=3e-3)
    assert (found.coef[:, -1] == 0).all()


def test_a_class_without_rows_needs_a_prior_of_intercepts():
    X, y, _ = data(2)
    found = softmax_fit(X, y, n_classes=4, intercept_precision=0.01)
    assert found.converged
    p = found.probability(X)
    assert p.shape == (60, 4)
    assert 0 < p[:, 3].max() < 0.2


def test_the_callback_ends_the_iterations():
    X, y, _ = data(3)
    seen = []
    found = softmax_fit(X, y, callback=lambda step, value: bool(seen.append((step, value)) or step == 3))
    assert found.n_iter == 3
    assert not found.converged
    assert [value for _, value in seen] == sorted(value for _, value in seen)
    assert not softmax_fit(X, y, max_iter=2).converged


def test_bad_input():
    X, y, _ = data(4)
    for call, error, match in [
        (lambda: softmax_fit(X, y[:-1]), ShapeError, "expected one target per row of X, got 59 for 60 rows"),
        (lambda: softmax_fit(X, -y), ParameterError, "y"),
        (lambda: softmax_fit(X[0], y), ShapeError, "expected inputs of shape"),
        (lambda: softmax_fit(X, y, precision=-1.0), ParameterError, "precision"),
        (lambda: softmax_fit(X, y, sample_weight=-np.ones(60)), WeightError, "sample_weight"),
        (lambda: softmax_fit(csr_array(X * np.nan), y), DataError, "not finite"),
        (lambda: softmax_fit(X * np.nan, y), DataError, "not finite"),
    ]:
        with pytest.raises(error, match=match):
            call()
