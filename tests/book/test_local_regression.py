"""I4: locally weighted regression by three criteria, in closed form and by the gradient rule."""

from __future__ import annotations

import numpy as np
import pytest

from bayeslearn.regression.local import descend, fit_local

RNG = np.random.default_rng(4)
X = RNG.uniform(-2, 2, size=(60, 2))
Y = np.sin(X[:, 0]) + X[:, 1] ** 2 + 0.1 * RNG.normal(size=60)
QUERIES = RNG.uniform(-2, 2, size=(5, 2))
CRITERIA = {"neighbors": {"n_neighbors": 15}, "kernel": {"bandwidth": 2.1}, "kernel_neighbors": {"n_neighbors": 20}}


def kernel_of(name, u):
    """K as the formulas have it."""
    return {
        "gaussian": np.exp(-(u**2) / 2),
        "tricube": np.where(u < 1, (1 - np.minimum(u, 1) ** 3) ** 3, 0),
        "epanechnikov": np.where(u < 1, 1 - u**2, 0),
        "inverse_square": 1 / u**2,
    }[name]


def attributes(z, degree):
    """a_0 … a_p of rows about the query."""
    columns = [np.ones(len(z)), *(z.T if degree else [])]
    if degree == 2:
        columns += [z[:, 0] ** 2, z[:, 1] ** 2, z[:, 0] * z[:, 1]]
    return np.column_stack(columns)


def normal_equations(query, locality, kernel, degree, *, n_neighbors=None, bandwidth=None):
    """(AᵀKA) w = AᵀK f: w₀ is the fit at the query."""
    z = (X - query) / X.std(axis=0)
    d = np.sqrt((z**2).sum(axis=1))
    near = np.argsort(d)[: n_neighbors or len(X)]
    u = d[near] / (bandwidth or d[near].max())
    K = np.ones(len(near)) if locality == "neighbors" else kernel_of(kernel, u)
    A = attributes(z[near], degree)
    return np.linalg.solve(A.T @ (K[:, None] * A), A.T @ (K * Y[near]))[0]


@pytest.mark.parametrize("degree", [0, 1, 2])
@pytest.mark.parametrize("kernel", ["gaussian", "tricube", "epanechnikov", "inverse_square"])
@pytest.mark.parametrize("locality", CRITERIA)
def test_all_criteria_equal_the_weighted_normal_equations(locality, kernel, degree):
    how = CRITERIA[locality]
    found = fit_local(X, Y, degree=degree, locality=locality, kernel=kernel, **how).local_fits(QUERIES)
    expected = [normal_equations(q, locality, kernel, degree, **how) for q in QUERIES]
    np.testing.assert_allclose(found.mean, expected, rtol=1e-10)
    assert not found.ridged.any()
    assert not found.out_of_reach.any()


@pytest.mark.parametrize("degree", [0, 1, 2])
@pytest.mark.parametrize("locality", CRITERIA)
def test_the_gradient_rule_converges_to_them(locality, degree):
    model = fit_local(X, Y, degree=degree, locality=locality, **CRITERIA[locality])
    found = descend(model, QUERIES[:1], tol=1e-14)
    assert found.converged
    expected = normal_equations(QUERIES[0], locality, "tricube", degree, **CRITERIA[locality])
    np.testing.assert_allclose(found.value, expected, rtol=1e-9)
    assert (np.diff(found.errors) <= 1e-12 * found.errors[0]).all()


def test_a_rate_that_is_too_large_never_settles():
    model = fit_local(X, Y, n_neighbors=15)
    assert not descend(model, QUERIES[:1], rate=10.0, max_iter=500).converged
