"""The families against slow twins, numeric integrals and scipy.stats."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from bayeslearn.distributions import (
    Bernoulli,
    Beta,
    Categorical,
    Dirichlet,
    Gamma,
    LinearGaussian,
    MultivariateNormal,
    Normal,
    NormalInverseGamma,
    NormalInverseWishart,
    Poisson,
    RegressionPrior,
    StudentT,
)
from tests.laws.strategies import KINDS, LAWS, weighted
from tests.oracle import families as slow

CATEGORICAL, NORMAL = (next(k for k in KINDS if k.name == name) for name in ("categorical", "gaussian"))
RNG = np.random.default_rng(20)


def close(a, b, *, rtol=1e-10, atol=0.0):
    np.testing.assert_allclose(a, b, rtol=rtol, atol=atol)


### statistics


@LAWS
@given(weighted(CATEGORICAL))
def test_counts_by_a_loop(xw):
    x, w = xw
    close(Categorical(3).collect(x, sample_weight=w).n, slow.counts(x, w, 3))


@LAWS
@given(weighted(NORMAL), st.sampled_from([0.0, 1e3, 1e8]))
def test_moments_by_fractions(xw, offset):
    x, w = xw[0] + offset, xw[1]
    statistics = Normal().collect(x, sample_weight=w)
    n, mean, m2 = slow.moments(x, w)
    close(statistics.n, n)
    close(statistics.mean, mean, rtol=1e-15, atol=1e-12)
    close(statistics.m2, m2, rtol=1e-12, atol=1e-12 * (1 + offset) ** 2 * 1e-12)


def test_scatter_by_fractions():
    x, w = RNG.normal(size=(30, 3)) + 1e6, RNG.random(30)
    close(MultivariateNormal(3).collect(x, sample_weight=w).scatter, slow.scatter(x, w), rtol=1e-9)


@pytest.mark.parametrize("batches", [1, 10, 1000])
def test_moments_far_from_the_origin(batches):
    """1000 draws of variance 1 at 10⁸: the textbook formula E[x²] − x̄² loses everything, the merge nothing."""
    x = np.random.default_rng(21).standard_normal(1000) + 1e8
    exact = slow.moments(x, np.ones(1000))
    assert abs((x**2).mean() - x.mean() ** 2 - exact[2] / 1000) > 0.1
    merged = sum(Normal().collect(part) for part in np.split(x, batches))
    close(merged.m2, exact[2], rtol=1e-6)
    close(merged.mean, exact[1], rtol=1e-15)
    columns = np.column_stack([x, x[::-1]])
    for covariance in ("full", "diag"):
        joint = sum(MultivariateNormal(2, covariance).collect(part) for part in np.split(columns, batches))
        square = np.diagonal(joint.scatter) if covariance == "full" else joint.m2
        close(square, [exact[2]] * 2, rtol=1e-6)


def test_soft_moments_far_from_each_other():
    """Two clusters 10⁸ apart, shared softly: each keeps its own variance."""
    x = np.concatenate([RNG.standard_normal(500), RNG.standard_normal(500) + 1e8])
    share = np.zeros((1000, 2))
    share[:500, 0] = share[500:, 1] = 0.5
    soft = Normal().collect(x, sample_weight=share)
    for k, part in enumerate(np.split(x, 2)):
        close(soft.m2[k], slow.moments(part, np.full(500, 0.5))[2], rtol=1e-6)


### closed forms


def test_beta_against_scipy():
    beta = Beta([81, 0.5, 3], [21, 0.5, 7])
    twin = stats.beta(beta.a, beta.b)
    close(beta.mean(), twin.mean())
    close(beta.interval(0.9), twin.interval(0.9))
    close(beta.log_pdf([0.2, 0.5, 0.9]), twin.logpdf([0.2, 0.5, 0.9]))


def test_dirichlet_against_scipy():
    alpha, θ = [0.5, 2.0, 3.5], [0.2, 0.3, 0.5]
    close(Dirichlet(alpha).log_pdf(θ), stats.dirichlet(alpha).logpdf(θ))
    close(Dirichlet(alpha).mean(), stats.dirichlet(alpha).mean())


def test_gamma_against_scipy():
    gamma = Gamma([0.5, 6.0], [3.0, 2.0])
    twin = stats.gamma(gamma.shape, scale=1 / gamma.rate)
    close(gamma.mean(), twin.mean())
    close(gamma.interval(0.9), twin.interval(0.9))
    close(gamma.log_pdf([0.7, 2.0]), twin.logpdf([0.7, 2.0]))


@pytest.mark.parametrize("level", [0.5, 0.9, 0.999])
def test_negative_binomial_against_scipy(level):
    a, b = np.array([0.5, 6.0, 400.0]), np.array([3.0, 0.02, 2.0])
    predictive, twin = Poisson().predictive(Gamma(a, b)), stats.nbinom(a, b / (b + 1))
    x = np.array([0, 1, 7, 150, 1000])
    close(predictive.log_prob(x), twin.logpmf(x[:, None]))
    close(predictive.mean(), twin.mean())
    close(predictive.interval(level), twin.interval(level))


@pytest.mark.parametrize("dof", [0.7, 3.0, 80.0, 1e7])
def test_student_against_scipy(dof):
    t, twin = StudentT(dof, 10.0, 2.0), stats.t(dof, 10.0, 2.0)
    x = np.array([-30.0, 9.0, 10.0, 14.5])
    close(t.log_prob(x), twin.logpdf(x), rtol=1e-9)
    close(t.interval(0.95), twin.interval(0.95), rtol=1e-9)


def test_poisson_and_normal_likelihoods_against_scipy():
    rates, counts = np.array([0.5, 4.0]), np.array([0, 3, 9])
    close(Poisson().log_prob(rates, counts), stats.poisson(rates).logpmf(counts[:, None]))
    mean, var, x = np.array([0.0, 2.0]), np.array([1.0, 9.0]), np.array([-1.0, 0.5, 30.0])
    close(Normal().log_prob((mean, var), x), stats.norm(mean, np.sqrt(var)).logpdf(x[:, None]))


def test_multivariate_likelihood_against_scipy():
    Σ, x = np.array([[2.0, 0.5], [0.5, 1.0]]), RNG.normal(size=(7, 2))
    kinds = {"full": Σ, "tied": Σ, "diag": np.diagonal(Σ), "spherical": np.array(2.0)}
    for covariance, value in kinds.items():
        matrix = value if value.ndim == 2 else np.diag(np.broadcast_to(value, 2))
        log_p = MultivariateNormal(2, covariance).log_prob(([1.0, -1.0], value), x)
        close(log_p, stats.multivariate_normal([1.0, -1.0], matrix).logpdf(x))


def test_normal_inverse_gamma_against_scipy():
    prior = NormalInverseGamma(1.0, 2.0, 6.0, 8.0)
    var = stats.invgamma(6.0, scale=8.0)
    low, high = prior.interval(0.9)
    close((low.var, high.var), var.interval(0.9))
    close((low.mean, high.mean), stats.t(12.0, 1.0, np.sqrt(8 / 6 / 2)).interval(0.9))
    close(prior.mean().var, var.mean())
    close(prior.log_pdf((0.5, 2.0)), var.logpdf(2.0) + stats.norm(1.0, 1.0).logpdf(0.5))


def test_normal_inverse_wishart_against_scipy():
    Ψ, Σ = np.array([[8.0, 1.0], [1.0, 5.0]]), np.array([[2.0, 0.5], [0.5, 1.0]])
    prior = NormalInverseWishart([1.0, -1.0], 2.0, 9.0, Ψ)
    close(prior.mean().covariance, stats.invwishart(9, Ψ).mean())
    log_p = stats.invwishart(9, Ψ).logpdf(Σ) + stats.multivariate_normal([1.0, -1.0], Σ / 2).logpdf([0.0, 0.0])
    close(prior.log_pdf(([0.0, 0.0], Σ)), log_p)
    predictive, x = prior.predictive(), RNG.normal(size=(5, 2))
    close(predictive.log_prob(x), stats.multivariate_t([1.0, -1.0], Ψ * 3 / (2 * 8), df=8).logpdf(x))


@pytest.mark.thorough
def test_draws_of_an_inverse_wishart_against_scipy():
    Ψ = np.array([[8.0, 1.0], [1.0, 5.0]])
    draws = NormalInverseWishart([0.0, 0.0], 1.0, 9.0, Ψ).of((4000, 2)).draw(22).covariance
    ours, theirs = draws[:, 0, 1], stats.invwishart(9, Ψ).rvs(4000, random_state=23)[:, 0, 1]
    assert stats.ks_2samp(ours, theirs).pvalue > 0.001


### evidence


def test_beta_evidence_by_quadrature():
    data = Bernoulli().collect([1, 1, 0, 1])
    close(np.exp(Bernoulli().log_evidence(Beta(2, 3), data)), slow.beta_evidence(2, 3, 3, 1), rtol=1e-8)


def test_gamma_evidence_by_quadrature():
    x = [2, 0, 5]
    close(
        np.exp(Poisson().log_evidence(Gamma(2.5, 1.5), Poisson().collect(x))),
        slow.gamma_evidence(2.5, 1.5, x),
        rtol=1e-8,
    )


def test_normal_evidence_by_quadrature():
    x = np.array([0.0, 2.5, 3.0])
    prior = NormalInverseGamma(1.0, 2.0, 5.0, 8.0)
    close(
        np.exp(Normal().log_evidence(prior, Normal().collect(x))),
        slow.normal_evidence(1.0, 2.0, 5.0, 8.0, x),
        rtol=1e-7,
    )


def test_multivariate_evidence_step_by_step():
    x, Ψ = RNG.normal(size=(6, 3)), np.diag([4.0, 5.0, 6.0]) + 0.5
    prior, family = NormalInverseWishart([0.5, 0.0, -0.5], 1.5, 6.0, Ψ), MultivariateNormal(3)
    close(
        family.log_evidence(prior, family.collect(x)),
        slow.niw_evidence([0.5, 0.0, -0.5], 1.5, 6.0, Ψ, x),
    )


def test_the_kinds_of_covariance_agree_in_one_column():
    """With one column and one row, full = tied and diagonal = spherical = the univariate normal."""
    x = RNG.normal(size=(9, 1))
    prior = NormalInverseGamma(1.0, 2.0, 5.0, 8.0)
    evidence = Normal().log_evidence(prior, Normal().collect(x[:, 0]))
    wishart = NormalInverseWishart([1.0], 2.0, 10.0, [[16.0]])
    for covariance, p in (("full", wishart), ("tied", wishart), ("diag", prior), ("spherical", prior)):
        family = MultivariateNormal(1, covariance)
        close(family.log_evidence(p, family.collect(x)), evidence)
        close(family.estimate(family.fit(x, prior=p)).covariance.item(), Normal().fit(x[:, 0], prior=prior).mean().var)


### regression


def test_regression_evidence_in_weight_space():
    X, y = RNG.normal(size=(7, 2)) + 3, RNG.normal(size=7)
    m, Λ, center = np.array([0.5, -1.0]), np.array([[2.0, 0.3], [0.3, 1.0]]), np.array([1.0, 2.0])
    prior = RegressionPrior.given(m, Λ, alpha=3.0, beta=2.0, intercept=0.7, kappa=1.5, center=center)
    family = LinearGaussian(2)
    ours = family.log_evidence(prior, family.collect(family.cases(X, y)))
    close(ours, slow.regression_evidence(X, y, m, Λ, 1.5, center, 0.7 + center @ m, 3.0, 2.0))


def test_least_squares_by_lstsq():
    X, y = RNG.normal(size=(40, 3)) * [1, 10, 0.1] + [0, 100, 5], RNG.normal(size=40)
    w = RNG.random(40) + 0.1
    family = LinearGaussian(3)
    a, b, var = family.estimate(family.fit(family.cases(X, y), prior=RegressionPrior.none(3), sample_weight=w))
    design = np.column_stack([np.ones(40), X]) * np.sqrt(w)[:, None]
    coef, rss, *_ = np.linalg.lstsq(design, y * np.sqrt(w))
    close(np.append(a, b), coef, rtol=1e-9)
    close(var, rss[0] / w.sum(), rtol=1e-9)


def test_ridge_by_its_normal_equations():
    X, y = RNG.normal(size=(15, 2)), RNG.normal(size=15) + 4
    family = LinearGaussian(2)
    a, b, _ = family.estimate(family.fit(family.cases(X, y), prior=RegressionPrior.ridge(2, precision=3.0)))
    Xc, yc = X - X.mean(axis=0), y - y.mean()
    coef = np.linalg.solve(Xc.T @ Xc + 3 * np.eye(2), Xc.T @ yc)
    close(b, coef)
    close(a, y.mean() - X.mean(axis=0) @ coef)


def test_reference_intervals_are_the_classical_ones():
    x, y = RNG.normal(size=20), RNG.normal(size=20)
    line = stats.linregress(x, y)
    family = LinearGaussian(1)
    posterior = family.fit(family.cases(x[:, None], y), prior=RegressionPrior.reference(1))
    low, high = posterior.interval(0.95)
    t = stats.t(18).ppf(0.975)
    close((low.coef[0], high.coef[0]), (line.slope - t * line.stderr, line.slope + t * line.stderr))
    close(
        (low.intercept, high.intercept),
        (line.intercept - t * line.intercept_stderr, line.intercept + t * line.intercept_stderr),
    )
    low, high = Normal().fit(y, prior=NormalInverseGamma.reference()).interval(0.95)
    close((low.mean, high.mean), stats.t(19, y.mean(), stats.sem(y)).interval(0.95))


def test_regression_far_from_the_origin():
    """Shifting inputs and outputs by 10⁷ leaves slope, noise and predictions as they were."""
    X, family = RNG.normal(size=(50, 2)), LinearGaussian(2)
    y = X @ [2.0, -1.0] + RNG.normal(size=50)
    near = family.fit(family.cases(X, y), prior=RegressionPrior.reference(2))
    far = family.fit(family.cases(X + 1e7, y + 1e7), prior=RegressionPrior.reference(2))
    close(far.mean().coef, near.mean().coef, rtol=1e-6)
    close(far.mean().var, near.mean().var, rtol=1e-6)
    there, here = (family.predictive(p).interval(X[:3] + s) for p, s in ((far, 1e7), (near, 0.0)))
    close(np.subtract(there, 1e7), here, rtol=1e-6, atol=1e-6)
