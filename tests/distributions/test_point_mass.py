"""Point masses at 0, and kernel densities over cells: against the formula, and as columns of naive Bayes."""

from __future__ import annotations

import numpy as np
import pytest

from bayeslearn import load
from bayeslearn.distributions import (
    Categorical,
    Dirichlet,
    KernelDensity,
    LogCases,
    LogNormal,
    PointMassCases,
    ZeroInflated,
)
from bayeslearn.distributions.kernel_density import smoothed
from bayeslearn.naive_bayes import fit_naive_bayes

X = np.array([0.0, 0.0, 0.0, 1.0, 2.0, 8.0])


@pytest.mark.parametrize(("distribution", "prior", "of"), [
    (ZeroInflated(), PointMassCases.none(), lambda x: x), (LogNormal(), LogCases.none(), np.log)
])  # fmt: skip
def test_zeros_have_a_probability_and_the_rest_a_density(distribution, prior, of):
    found = distribution.estimate(distribution.fit(X, prior=prior))
    y = of(X[3:])
    assert tuple(found) == pytest.approx((0.5, y.mean(), y.var()))
    logs = distribution.log_prob(found, [0.0, 2.0, np.nan])
    slope = 0.0 if isinstance(distribution, LogNormal) is False else np.log(2.0)
    normal = -0.5 * (np.log(2 * np.pi * y.var()) + (of(2.0) - y.mean()) ** 2 / y.var())
    assert logs == pytest.approx([np.log(0.5), np.log(0.5) + normal - slope, 0.0])


def test_a_first_zero_is_possible():
    model = fit_naive_bayes({"x": [1.0, 2.0, 3.0, 5.0], "y": list("aabb")}, "y", distributions={"x": "log_normal"})
    assert np.isfinite(model.log_joint({"x": [0.0, -4.0]})).all()
    np.testing.assert_array_equal(*model.predict_proba({"x": [0.0, -4.0]}))


def test_the_estimate_is_that_of_the_formula():
    n = np.array([[5.0, 1.0, 0.0, 3.0], [0.0, 2.0, 2.0, 0.0]])
    shares = n / n.sum(axis=1, keepdims=True)
    mean = shares.mean(axis=0)
    u = np.array([mean[:g].sum() + mean[g] / 2 for g in range(4)])
    spread = [np.sqrt(sum(s * (v - s_u) ** 2 for s, v in zip(row, u, strict=True))) for row in shares
              if (s_u := float(row @ u)) is not None]  # fmt: skip
    weight = n.sum(axis=1) / n.sum()
    h = max(0.5 * weight @ spread * (weight @ n.sum(axis=1)) ** -0.2, 0.5 * np.median(np.diff(u)))
    theta = np.array([[sum(row[k] * np.exp(-((u[g] - u[k]) ** 2) / (2 * h * h)) for k in range(4)) for g in range(4)]
                      for row in n])  # fmt: skip
    np.testing.assert_allclose(smoothed(n), theta / theta.sum(axis=1, keepdims=True), rtol=1e-12)
    np.testing.assert_allclose(KernelDensity(4).estimate(Dirichlet(n)), smoothed(n), rtol=1e-12)


def test_a_class_without_rows_and_one_cell():
    assert smoothed(np.zeros((2, 1))).tolist() == [[1.0], [1.0]]
    found = smoothed(np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 3.0]]))
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-12)
    kept = KernelDensity(3).estimate(Dirichlet([[0.0, 0, 0], [1, 0, 3]]), otherwise=np.full((2, 3), 1 / 3))
    np.testing.assert_allclose(kept[0], 1 / 3, rtol=1e-12)


def test_a_kernel_density_tells_two_humps_from_one(tmp_path):
    rng = np.random.default_rng(0)
    y = np.arange(600) % 2
    x = np.where(y == 0, rng.normal(0, 0.5, 600), rng.normal(3, 0.5, 600) * rng.choice([-1, 1], 600))
    rows = {"x": x, "y": np.array(["one", "two"])[y]}
    model = fit_naive_bayes(rows, "y", distributions="kernel_density", calibrate=False)
    assert model.score(rows) > 0.98
    assert (model.update(rows) - fit_naive_bayes(rows, like=model)).isclose(model)
    theta = model["x"].distribution.estimate(model.posterior("x"))
    counts = model.statistics["x"].n
    assert np.abs(np.diff(theta)).sum() < np.abs(np.diff(counts / counts.sum(axis=1, keepdims=True))).sum() / 2
    model.save(tmp_path / "m.json")
    np.testing.assert_array_equal(load(tmp_path / "m.json").predict_proba(rows), model.predict_proba(rows))
    why = model.explain({"x": [0.1, None]}, of="one", against="two")
    joint = model.log_joint({"x": [0.1, None]})
    np.testing.assert_allclose(why.log_odds, joint[:, 0] - joint[:, 1], rtol=1e-9)
    drawn = model.sample(500, random_state=0)
    assert drawn.values_of("x").std() == pytest.approx(x.std(), rel=0.1)
    assert abs(model.impute({"x": [None], "y": ["two"]})["x"][0]) > 1.5
    assert isinstance(model["x"].distribution, Categorical)
