"""F1, F2 and I5: least squares is maximum likelihood, probabilities by cross entropy, radial basis functions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from bayeslearn.regression import LinearFit, LogisticFit, fit_linear, fit_logistic, fit_rbf
from tests.properties import trials


@trials(20)
@given(st.integers(0, 2**32 - 1))
def test_f1_the_two_argmins_are_one(seed):
    """argmax Π p(d | h) over h under normal noise is argmin Σ (d − h(x))²."""
    rng = np.random.default_rng(seed)
    x, d = rng.normal(size=(20, 2)), rng.normal(size=20)
    fit = LinearFit.fit(x, d)
    found = np.append(fit.intercept, fit.coef)

    def minus_log_likelihood(h):
        a, b, log_σ = h[0], h[1:3], h[3]
        return np.sum((d - a - x @ b) ** 2) / (2 * np.exp(2 * log_σ)) + len(d) * log_σ

    likely = minimize(minus_log_likelihood, np.zeros(4), method="BFGS", options={"gtol": 1e-9}).x
    np.testing.assert_allclose(likely[:3], found, atol=1e-6)
    squares = minimize(lambda h: np.sum((d - h[0] - x @ h[1:]) ** 2), np.zeros(3), method="BFGS").x
    np.testing.assert_allclose(squares, found, atol=1e-5)


def test_f1_a_line_through_five_points():
    """A line, five examples with normal noise: the least-squares line is not the target, but its interval holds it."""
    x = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    d = 1 + 0.5 * x + np.array([0.2, -0.3, 0.1, 0.25, -0.15])
    line = fit_linear({"x": x, "d": d}, "d")
    slope = np.sum((x - 3) * (d - d.mean())) / 10
    assert line.fit.coef[0, 0] == pytest.approx(slope, rel=1e-12)
    assert line.fit.intercept[0] == pytest.approx(d.mean() - 3 * slope, rel=1e-12)
    error = [np.sum((d - line.predict({"x": x}) - δ) ** 2) for δ in (0, 0.01, -0.01)]
    assert min(error) == error[0]
    low, high = (bounds[0] for bounds in line.fit.coefficients().interval())
    assert (low < [1, 0.5]).all()
    assert (high > [1, 0.5]).all()


@pytest.mark.parametrize("method", ["newton", "lbfgs", "gradient"])
def test_f2_of_patients_who_are_alike_92_percent_survive(method):
    alike, survives = np.zeros((100, 0)), np.repeat([1.0, 0.0], [92, 8])
    unit = LogisticFit.fit(alike, survives, strength=0, algorithm=method)
    assert unit.probability(alike[:1])[0, 1] == pytest.approx(0.92, abs=1e-8)


def test_f2_two_kinds_of_patients():
    rows = {
        "symptom": np.repeat(["yes", "no"], 100),
        "lives": np.concatenate([np.repeat([1, 0], [92, 8]), np.repeat([1, 0], [8, 92])]),
    }
    found = fit_logistic(rows, "lives", prior=None).predict_proba({"symptom": ["yes", "no"]})
    np.testing.assert_allclose(found[:, 1], [0.92, 0.08], atol=1e-9)
    soft = fit_logistic({"symptom": ["yes", "no"]}, [0.92, 0.08], soft=True, prior=None)
    np.testing.assert_allclose(soft.predict_proba({"symptom": ["yes", "no"]})[:, 1], [0.92, 0.08], atol=1e-6)


def test_f2_the_gradient_rule_step_by_step():
    """Δw = η Σ (d − h(x)) x, by hand and by the learner; every step raises G(h, D)."""
    rng = np.random.default_rng(0)
    x, d, η = rng.normal(size=(30, 2)), rng.integers(0, 2, 30).astype(float), 0.05
    z, w, values = np.column_stack([np.ones(30), x]), np.zeros(3), []
    for _ in range(25):
        h = 1 / (1 + np.exp(-z @ w))
        values.append(np.sum(d * np.log(h) + (1 - d) * np.log(1 - h)))
        w = w + η * (d - h) @ z
    with pytest.warns(UserWarning, match="not converged after 25 iterations"):
        unit = LogisticFit.fit(x, d, strength=0, algorithm="gradient", rate=η, max_iter=25)
    np.testing.assert_allclose(unit.coefficients[0], w, rtol=1e-12)
    assert (np.diff(values) > 0).all()


def test_i5_a_center_for_every_example_passes_through_them_all():
    x = np.linspace(0, 1, 9)
    rows = {"x": x, "y": np.sin(5 * x)}
    exact = fit_rbf(rows, "y", centers="all", width=0.5, prior=1e-8)
    np.testing.assert_allclose(exact.predict(rows), rows["y"], atol=1e-3)
    fewer = fit_rbf(rows, "y", 4)
    assert fewer.basis.size == 4
    np.testing.assert_allclose(fewer.predict(rows), rows["y"], atol=0.1)


def test_i5_far_from_every_center_the_output_is_the_constant():
    rows = {"x": np.linspace(0, 1, 40), "y": np.linspace(0, 1, 40) ** 2}
    model = fit_rbf(rows, "y", 5)
    assert model.predict({"x": [1e4]})[0] == pytest.approx(model.fit.intercept[0], rel=1e-9)
