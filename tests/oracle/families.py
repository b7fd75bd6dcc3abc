"""Slow, obvious twins of the families: loops, exact fractions, numeric integrals and scipy.stats."""

import math
from fractions import Fraction

import numpy as np
from scipy import integrate, stats


def counts(x, w, size):
    """How much weight each state has, case by case."""
    n = [0.0] * size
    for state, weight in zip(x, w, strict=True):
        if state >= 0:
            n[state] += weight
    return n


def moments(x, w):
    """Weight, mean and squared deviations, in exact fractions."""
    pairs = [(Fraction(float(v)), Fraction(float(a))) for v, a in zip(x, w, strict=True) if not math.isnan(v)]
    n = sum((a for _, a in pairs), Fraction(0))
    if n == 0:
        return 0.0, 0.0, 0.0
    mean = sum(a * v for v, a in pairs) / n
    return float(n), float(mean), float(sum(a * (v - mean) ** 2 for v, a in pairs))


def scatter(x, w):
    """The scatter matrix, entry by entry, in exact fractions."""
    rows = [[Fraction(float(v)) for v in row] for row in x]
    weights = [Fraction(float(a)) for a in w]
    n, d = sum(weights), len(rows[0])
    mean = [sum(a * row[j] for row, a in zip(rows, weights, strict=True)) / n for j in range(d)]
    return [
        [
            float(sum(a * (r[i] - mean[i]) * (r[j] - mean[j]) for r, a in zip(rows, weights, strict=True)))
            for j in range(d)
        ]
        for i in range(d)
    ]


def beta_evidence(a, b, successes, failures):
    """∫ p^s (1 − p)^f Beta(p; a, b) dp."""
    return integrate.quad(lambda p: p**successes * (1 - p) ** failures * stats.beta(a, b).pdf(p), 0, 1)[0]


def gamma_evidence(a, b, x):
    """∫ Π Poisson(x; λ) Gamma(λ; a, b) dλ."""
    rate = stats.gamma(a, scale=1 / b)
    return integrate.quad(lambda λ: math.prod(stats.poisson(λ).pmf(v) for v in x) * rate.pdf(λ), 0, 60)[0]


def normal_evidence(m, κ, α, β, x):
    """∬ Π N(x; μ, σ²) N(μ; m, σ²/κ) InverseGamma(σ²; α, β) dμ dσ², over μ = m + σt and σ² = exp(u)."""

    def normal(value, mean, var):
        return math.exp(-((value - mean) ** 2) / (2 * var)) / math.sqrt(2 * math.pi * var)

    def joint(t, u):
        var = math.exp(u)
        μ = m + math.sqrt(var) * t
        gamma = β**α / math.gamma(α) * var ** (-α - 1) * math.exp(-β / var)
        return math.prod(normal(v, μ, var) for v in x) * normal(μ, m, var / κ) * gamma * math.sqrt(var) * var

    return integrate.dblquad(joint, -3, 8, -8, 8, epsabs=1e-13, epsrel=1e-9)[0]


def regression_evidence(X, y, m, Λ, κ, center, level, α, β):
    """y is multivariate t: in weight space, with the intercept as a column and its precision in the prior."""
    n = len(y)
    design = np.column_stack([np.ones(n), X - center])  # the intercept is the level at the center
    precision = np.block([[np.array([[κ]]), np.zeros((1, len(m)))], [np.zeros((len(m), 1)), Λ]])
    coef = np.append(level, m)
    shape = β / α * (np.eye(n) + design @ np.linalg.inv(precision) @ design.T)
    return stats.multivariate_t(design @ coef, shape, df=2 * α).logpdf(y)


def niw_evidence(m, κ, ν, Ψ, X):
    """Chain of one-step predictions, each a multivariate t with its own update formulas."""
    total, d = 0.0, len(m)
    m, Ψ = np.array(m, dtype=float), np.array(Ψ, dtype=float)
    for x in X:
        dof = ν - d + 1
        total += stats.multivariate_t(m, Ψ * (κ + 1) / (κ * dof), df=dof).logpdf(x)
        Ψ = Ψ + κ / (κ + 1) * np.outer(x - m, x - m)
        m, κ, ν = (κ * m + x) / (κ + 1), κ + 1, ν + 1
    return total
