"""Pools: the probabilities of several members as one, with weights learned from out-of-fold predictions.

    log-linear    ln P(c|x) = b_c + Σ_m w_m ln p_m(c|x) − ln Z(x)      w ≥ 0; a weight per member, an offset per class
    posterior     P(c|x) = Σ_m P(m|D) p_m(c|x)                         P(m|D) ∝ Π_i p_m(c_i|x_i)
    mixture       P(c|x) = Σ_m w_m p_m(c|x)                            w by EM, with a Dirichlet prior
    ridge         ln P(c|x) = b_c + Σ_m Σ_k W_cmk l_mk(x) − ln Z(x)    l: log probabilities, centered over the classes

Every p_m is mixed with a little of the even distribution first: p → (1 − ε) p + ε / K, so that no member can exclude a
class. The weights of the log-linear pool and of the ridge are posterior modes under Gaussian priors, found by L-BFGS;
both are convex.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

#: The kinds of pools, by the names that options have.
Combine = Literal["log_linear", "posterior", "mixture", "ridge"]
COMBINE: tuple[Combine, ...] = ("log_linear", "posterior", "mixture", "ridge")

#: The probability that is spread over all classes, evenly.
FLOOR = 1e-4

#: Precision of the prior of the weights of a log-linear pool around 1/members, and of the offsets around 0.
PRECISION = 1.0

#: Precision of the prior of the coefficients of the ridge.
RIDGE_PRECISION = 10.0

#: The parameter of the Dirichlet prior of a mixture, and the most iterations of its EM.
DIRICHLET, MAX_ITER = 2.0, 500


def floored(proba: Floats, floor: float = FLOOR) -> Floats:
    """Log probabilities of rows by classes, each mixed with the even distribution."""
    return np.log((1 - floor) * proba + floor / proba.shape[-1])


@dataclass(frozen=True, eq=False)
class Pool:
    """How the log probabilities of members, (rows, members, classes), become those of the pool.

    Attributes
    ----------
    combine
        The kind of the pool.
    coefficients
        The weight of each member; of a ridge (classes, members, classes).
    offsets
        The offset of each class; zero in pools that have none.
    """

    combine: str
    coefficients: Floats
    offsets: Floats

    @property
    def member_weights(self) -> Floats:
        """One weight per member; of a ridge the mean coefficient of a class for its own log probability."""
        if self.combine != "ridge":
            return self.coefficients
        return np.asarray(np.einsum("cmc->m", self.coefficients) / len(self.coefficients))

    def scores_by_member(self, logs: Floats) -> Floats:
        """What each member adds to the scores of the classes: of pools that are sums of logarithms."""
        if self.combine == "log_linear":
            return np.asarray(self.coefficients[:, None] * logs)
        centered = logs - logs.mean(axis=2, keepdims=True)
        return np.asarray(np.einsum("cmk,nmk->nmc", self.coefficients, centered))

    def scores(self, logs: Floats) -> Floats:
        """Log probabilities of the classes, up to a constant of the row."""
        if self.combine in {"log_linear", "ridge"}:
            return np.asarray(self.scores_by_member(logs).sum(axis=1) + self.offsets)
        with np.errstate(divide="ignore"):
            return np.asarray(logsumexp(logs + np.log(self.coefficients)[:, None], axis=1))

    def log_proba(self, logs: Floats) -> Floats:
        """ln P(class | row)."""
        found = self.scores(logs)
        return np.asarray(found - logsumexp(found, axis=1, keepdims=True))

    def without(self, members: NDArray[np.bool_]) -> Pool:
        """The pool of the other members, which have all the weight."""
        weights = self.coefficients[:, ~members] if self.combine == "ridge" else self.coefficients[~members]
        return Pool(self.combine, weights, self.offsets)


def fit_pool(combine: str, logs: Floats, codes: NDArray[np.intp], sample_weight: Floats) -> Pool:
    """The pool of out-of-fold log probabilities (rows, members, classes), given the class of each row."""
    kinds: dict[str, Callable[[Floats, NDArray[np.intp], Floats], Pool]] = {
        "log_linear": log_linear, "posterior": posterior, "mixture": mixture, "ridge": ridge,
    }  # fmt: skip
    return kinds[combine](logs, codes, sample_weight)


def log_linear(logs: Floats, codes: NDArray[np.intp], sample_weight: Floats) -> Pool:
    """The posterior mode of weights w ≥ 0 around 1/m, and of offsets around 0.

    −Σ_i ω_i ln softmax(b + Σ_m w_m l_im)_{c_i} + λ/2 (‖w − 1/m‖² + ‖b‖²)
    """
    n, m, k = logs.shape
    rows, level = np.arange(n), 1 / m
    flat = np.ascontiguousarray(logs.transpose(1, 0, 2)).reshape(m, n * k)

    def objective(theta: Floats) -> tuple[float, Floats]:
        w, b = theta[:m], theta[m:]
        scores = (w @ flat).reshape(n, k) + b
        log_p = scores - logsumexp(scores, axis=1, keepdims=True)
        loss = -float(sample_weight @ log_p[rows, codes])
        residual = np.exp(log_p)
        residual[rows, codes] -= 1
        residual *= sample_weight[:, None]
        near = np.concatenate([w - level, b])
        slope = np.concatenate([flat @ residual.ravel(), residual.sum(axis=0)])
        return loss + PRECISION / 2 * float(near @ near), slope + PRECISION * near

    start = np.concatenate([np.full(m, level), np.zeros(k)])
    bounds = [(0.0, None)] * m + [(None, None)] * k
    found = minimize(objective, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": MAX_ITER})
    return Pool("log_linear", np.maximum(found.x[:m], 0.0), found.x[m:])


def posterior(logs: Floats, codes: NDArray[np.intp], sample_weight: Floats) -> Pool:
    """Each member by the product of its out-of-fold probabilities, prior even."""
    own = sample_weight @ logs[np.arange(len(codes)), :, codes]
    return Pool("posterior", np.exp(own - logsumexp(own)), np.zeros(logs.shape[2]))


def mixture(logs: Floats, codes: NDArray[np.intp], sample_weight: Floats) -> Pool:
    """EM for the weights of a mixture with a Dirichlet prior."""
    p = np.exp(logs[np.arange(len(codes)), :, codes])
    m = p.shape[1]
    w = np.full(m, 1 / m)
    for _ in range(MAX_ITER):
        share = p * w
        share /= share.sum(axis=1, keepdims=True)
        new = sample_weight @ share + DIRICHLET - 1
        new /= new.sum()
        done = np.abs(new - w).max() < 1e-8
        w = new
        if done:
            break
    return Pool("mixture", w, np.zeros(logs.shape[2]))


def ridge(logs: Floats, codes: NDArray[np.intp], sample_weight: Floats) -> Pool:
    """Multinomial logistic regression on all centered log probabilities, around the mean of the members."""
    n, m, k = logs.shape
    rows = np.arange(n)
    x = (logs - logs.mean(axis=2, keepdims=True)).reshape(n, m * k)
    center = np.zeros((k, m, k))
    center[np.arange(k), :, np.arange(k)] = 1 / m
    middle = center.reshape(k, m * k)

    def objective(theta: Floats) -> tuple[float, Floats]:
        w, b = theta[:-k].reshape(k, m * k), theta[-k:]
        scores = x @ w.T + b
        log_p = scores - logsumexp(scores, axis=1, keepdims=True)
        residual = np.exp(log_p)
        residual[rows, codes] -= 1
        residual *= sample_weight[:, None]
        apart = w - middle
        loss = -float(sample_weight @ log_p[rows, codes])
        loss += RIDGE_PRECISION / 2 * float((apart**2).sum()) + PRECISION / 2 * float(b @ b)
        slope = np.concatenate(
            [(residual.T @ x + RIDGE_PRECISION * apart).ravel(), residual.sum(axis=0) + PRECISION * b]
        )
        return loss, slope

    start: Any = np.concatenate([middle.ravel(), np.zeros(k)])
    found = minimize(objective, start, jac=True, method="L-BFGS-B", options={"maxiter": MAX_ITER})
    return Pool("ridge", found.x[:-k].reshape(k, m, k), found.x[-k:])
