"""What statistics and priors say of parameters, one function for every family.

    ln P(D | θ)          from the statistics of D alone, one number per component
    ln of the prior      the prior counts as cases, and this is their log likelihood

so prior and data are maximised together by the posterior mean, which is what EM estimates:

    Dirichlet(α)         Σ α ln θ                                             θ  = (α + n) / (α₀ + N)
    Gamma(a, b)          a ln λ − b λ                                         λ  = (a + Σx) / (b + n)
    NIG(m, κ, α, β)      −(α − 1) ln σ² − (β + κ/2 (μ − m)²) / σ²             σ² = β' / (α' − 1)
    NIW(m, κ, ν, Ψ)      −½ ((ν − d − 1) ln|Σ| + tr (Ψ + κ δδᵀ) Σ⁻¹)          Σ  = Ψ' / (ν' − d − 1)

Without prior cases all of these are 0: maximum likelihood.
"""

from __future__ import annotations

from functools import singledispatch
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import xlogy

from bayeslearn.families import (
    Counts,
    Dirichlet,
    Gamma,
    JointMoments,
    Moments,
    NormalInverseGamma,
    NormalInverseWishart,
    Totals,
)
from bayeslearn.families.linalg import log_det
from bayeslearn.families.normal import LOG_2PI
from bayeslearn.families.wishart import covariance_factor

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: The weight of a case that stands in for none: too little to count beside others.
NEXT_TO_NOTHING = 1e-9


def inverse_of(factor: NDArray[np.float64]) -> NDArray[np.float64]:
    """L⁻¹ of small Cholesky factors, many at once; rows are scaled first, so that units do not matter."""
    scale = np.linalg.norm(factor, axis=-1)
    return np.tril(np.linalg.inv(factor / scale[..., :, None])) / scale[..., None, :]


### the prior


@singledispatch
def log_prior(prior: Any, parameters: Any) -> float:
    """The log likelihood of the cases that a prior of the components stands for."""
    raise NotImplementedError(f"no mixture of {type(prior).__name__} priors, with {type(parameters).__name__}")


@log_prior.register(Dirichlet)
def _(prior: Dirichlet, theta: Any) -> float:
    return float(xlogy(prior.of(np.shape(theta)).alpha, theta).sum())


@log_prior.register(Gamma)
def _(prior: Gamma, rate: Any) -> float:
    before = prior.of(np.shape(rate))
    return float((xlogy(before.shape, rate) - before.rate * rate).sum())


@log_prior.register(NormalInverseGamma)
def _(prior: NormalInverseGamma, parameters: Any) -> float:
    mean, var = parameters[0], np.reshape(parameters[1], prior.beta.shape)
    spread = (prior.kappa * (mean - prior.mu) ** 2 / 2 / var).sum()
    return float(-((prior.alpha - 1) * np.log(var) + prior.beta / var).sum() - spread)


@log_prior.register(NormalInverseWishart)
def _(prior: NormalInverseWishart, parameters: Any) -> float:
    mean, Σ = parameters
    L = covariance_factor(np.broadcast_to(Σ, prior.psi.shape))
    inverse = inverse_of(L)
    precision = np.swapaxes(inverse, -1, -2) @ inverse
    δ = mean - prior.mu
    spread = np.einsum("k,ki,kij,kj->", prior.kappa, δ, np.broadcast_to(precision, (*δ.shape, prior.dim)), δ)
    own = (prior.nu - prior.dim - 1) * log_det(L) + (prior.psi * precision).sum(axis=(-2, -1))
    return float(-(own.sum() + spread) / 2)


### the data


@singledispatch
def log_likelihood(statistics: Any, parameters: Any) -> NDArray[np.float64]:
    """ln P(D | θ) of the data behind the statistics, one number per component."""
    raise NotImplementedError(f"no mixture of {type(statistics).__name__}, with {type(parameters).__name__}")


@log_likelihood.register(Counts)
def _(statistics: Counts, theta: Any) -> NDArray[np.float64]:
    return xlogy(statistics.n, theta).sum(axis=-1)


@log_likelihood.register(Totals)
def _(statistics: Totals, rate: Any) -> NDArray[np.float64]:
    return np.asarray(xlogy(statistics.total, rate) - statistics.n * rate - statistics.log_factorials)


@log_likelihood.register(Moments)
def _(statistics: Moments, parameters: Any) -> NDArray[np.float64]:
    mean, var = parameters
    var = np.asarray(var).reshape(np.shape(var) + (1,) * (statistics.n.ndim - np.ndim(var)))
    square = statistics.m2 + statistics.n * (statistics.mean - mean) ** 2
    cells = -(statistics.n * (LOG_2PI + np.log(var)) + square / var) / 2
    return cells if cells.ndim == 1 else cells.sum(axis=-1)


@log_likelihood.register(JointMoments)
def _(statistics: JointMoments, parameters: Any) -> NDArray[np.float64]:
    mean, Σ = parameters
    d = statistics.mean.shape[-1]
    L = covariance_factor(np.broadcast_to(Σ, statistics.scatter.shape))
    δ = statistics.mean - mean
    square = statistics.scatter + statistics.n[..., None, None] * δ[..., :, None] * δ[..., None, :]
    inverse = inverse_of(L)
    trace = np.einsum("...ai,...ij,...aj->...", inverse, square, inverse)
    return -(statistics.n * (d * LOG_2PI + log_det(L)) + trace) / 2


### nothing


def knows_nothing(prior: Any) -> bool:
    """Whether a component could rest on no case at all."""
    cases = {Dirichlet: "strength", Gamma: "rate"}.get(type(prior), "kappa")
    return bool((getattr(prior, cases) == 0).any())


@singledispatch
def stand_in(statistics: Any, parameters: Any, least: float) -> Any:
    """Where less than `least` cases were seen, next to nothing that looks like the parameters: so they are kept."""
    raise NotImplementedError(f"no mixture of {type(statistics).__name__}, {type(parameters).__name__}, {least}")


@stand_in.register(Counts)
def _(statistics: Counts, theta: Any, least: float) -> Counts:
    few = statistics.n.sum(axis=-1, keepdims=True) < least
    return Counts(np.where(few, NEXT_TO_NOTHING * np.asarray(theta), statistics.n))


@stand_in.register(Totals)
def _(statistics: Totals, rate: Any, least: float) -> Totals:
    few = statistics.n < least
    n, total = (np.where(few, NEXT_TO_NOTHING * v, s) for v, s in ((1.0, statistics.n), (rate, statistics.total)))
    return Totals(n, total, np.where(few, 0.0, statistics.log_factorials))


@stand_in.register(Moments)
def _(statistics: Moments, parameters: Any, least: float) -> Moments:
    few = statistics.n < least
    mean, var = parameters
    var = np.asarray(var).reshape(np.shape(var) + (1,) * (few.ndim - np.ndim(var)))
    like = (np.ones(()), mean, NEXT_TO_NOTHING * var)
    n, centre, m2 = (np.where(few, v, s) for v, s in zip(like, statistics.arrays(), strict=True))
    return Moments(np.where(few, NEXT_TO_NOTHING, n), centre, m2)


@stand_in.register(JointMoments)
def _(statistics: JointMoments, parameters: Any, least: float) -> JointMoments:
    few = statistics.n < least
    mean = np.where(few[:, None], parameters[0], statistics.mean)
    scatter = np.where(few[:, None, None], NEXT_TO_NOTHING * np.asarray(parameters[1]), statistics.scatter)
    return JointMoments(np.where(few, NEXT_TO_NOTHING, statistics.n), mean, scatter)
