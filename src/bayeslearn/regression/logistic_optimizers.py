"""Optimizers of logistic units: the objective, its gradient and curvature, and three algorithms.

    G = Σ d ln h(x) + (1 − d) ln(1 − h(x)) − ½(w − m)ᵀP(w − m)        ∂G/∂w = Σ (d − h(x)) x − P(w − m)

The maximum is unique. Where the classes are separated and there is no prior, there is none, which is a warning.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import expit, logsumexp, softmax

from bayeslearn import validation
from bayeslearn.distributions.moments import in_range, require_range
from bayeslearn.errors import BayeslearnWarning, CapacityError, ConvergenceWarning, ShapeError
from bayeslearn.progress import should_stop
from bayeslearn.regression.targets import probabilities

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

#: Weights at most, of all units together: their precision is a matrix.
MOST_WEIGHTS = 5000

#: Directions with less than this share of the largest precision are open: rounding is all they have.
OPEN = 1e-11

#: How exactly a sum over the rows is known, relative to itself.
ROUNDING = 1e-13

#: Numbers in the largest array that the curvature of some rows takes.
BLOCK = 1 << 22

#: A direction in which less than this share of the curvature is left runs away: the classes are separated along it.
RUN_AWAY = 1e-5


@dataclass(frozen=True, eq=False)
class NormalPrior:
    """w ~ N(mean, precision⁻¹) of all weights of all units in a row, unit after unit, each with its intercept first."""

    mean: Floats
    precision: Floats

    @classmethod
    def of(cls, n_units: int, dim: int, strength: float, *, intercept: float = 0.0) -> NormalPrior:
        """Weights near 0 with this precision; intercepts are free."""
        own = np.append(intercept, np.full(dim, validation.number("prior", strength, min_value=0)))
        return cls(np.zeros(n_units * (dim + 1)), np.diag(np.tile(own, n_units)))

    def same(self, other: NormalPrior) -> bool:
        """Whether another prior is equal."""
        return np.array_equal(self.mean, other.mean) and np.array_equal(self.precision, other.precision)

    def log_density(self, w: Floats) -> float:
        """ln p(w), up to the constant of directions that are free."""
        δ, own = w - self.mean, np.diagonal(self.precision)
        diagonal = np.count_nonzero(self.precision) == np.count_nonzero(own)
        e = own if diagonal else np.linalg.eigvalsh(self.precision)
        e = e[e > OPEN * max(e.max(initial=0.0), 1e-300)]
        return float(np.log(e / (2 * math.pi)).sum() - δ @ self.precision @ δ) / 2


### the objective


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows with their weights, and the prior."""

    x: Floats
    d: Floats
    rows: Floats
    prior: NormalPrior

    @classmethod
    def of(
        cls, X: ArrayLike, targets: ArrayLike, sample_weight: Any, prior: NormalPrior | None, strength: float
    ) -> Problem:
        """Return the checked problem, without rows whose target is missing."""
        x, d = with_one(X, None), probabilities(targets)
        if len(x) != len(d):
            raise ShapeError(f"expected one target per row of X, got {len(d)} for {len(x)} rows")
        w = validation.weights(sample_weight, len(x))
        known = ~np.isnan(d).any(axis=1) & (w > 0)
        d = d[known, 1:] if d.shape[1] == 2 else d[known]
        if d.shape[1] * x.shape[1] > MOST_WEIGHTS:
            raise CapacityError(f"{d.shape[1] * x.shape[1]} coefficients are more than the limit of {MOST_WEIGHTS}")
        prior = NormalPrior.of(d.shape[1], x.shape[1] - 1, strength) if prior is None else prior
        if prior.mean.shape != (d.shape[1] * x.shape[1],):
            raise ShapeError(f"a prior of {prior.mean.shape[0]} weights does not fit {d.shape[1]} × {x.shape[1]}")
        return cls(x[known], d, w[known], prior)

    @property
    def shape(self) -> tuple[int, int]:
        """How many units, and how many weights each has."""
        return self.d.shape[1], self.x.shape[1]

    def log_likelihood(self, w: Floats) -> float:
        """Σ d ln h + (1 − d) ln(1 − h), in the form that does not overflow: minus the cross entropy."""
        s = self.x @ w.reshape(self.shape).T
        top = np.logaddexp(0, s[:, 0]) if s.shape[1] == 1 else logsumexp(s, axis=1)
        return float(self.rows @ ((self.d * s).sum(axis=1) - top))

    def objective(self, w: Floats) -> float:
        """The log likelihood less what the prior takes off."""
        δ = w - self.prior.mean
        return self.log_likelihood(w) - float(δ @ self.prior.precision @ δ) / 2

    def gradient(self, w: Floats) -> Floats:
        """Σ (d − h(x)) x − P(w − m)."""
        h = activations(self.x @ w.reshape(self.shape).T)
        ascent = (self.rows[:, None] * (self.d - h)).T @ self.x
        return np.asarray(ascent.ravel() - self.prior.precision @ (w - self.prior.mean))

    def precision(self, w: Floats) -> Floats:
        """P + Σ (diag h − h hᵀ) ⊗ x xᵀ."""
        k, wide = self.shape
        H = np.array(self.prior.precision)
        step = max(BLOCK // (k * wide), 1)
        for start in range(0, len(self.x), step):
            x, rows = self.x[start : start + step], self.rows[start : start + step, None]
            h = activations(x @ w.reshape(self.shape).T)
            for unit in range(k):
                own = slice(unit * wide, (unit + 1) * wide)
                share = h[:, [unit]] * (1 - h) if k == 1 else h[:, [unit]]
                H[own, own] += (rows * share * x).T @ x
            if k > 1:
                both = (np.sqrt(rows)[:, :, None] * h[:, :, None] * x[:, None, :]).reshape(len(x), k * wide)
                H -= both.T @ both
        return H

    def redundancy(self) -> Floats:
        """Σ n nᵀ over the directions n that shift all units alike in a weight that the prior leaves free.

        Neither the likelihood nor the prior changes along them, so that H n = 0 and gᵀ n = 0: with c Σ n nᵀ added, H is
        regular, and H⁻¹ g the shortest answer as before.
        """
        k, wide = self.shape
        own = np.diagonal(self.prior.precision).reshape(k, wide)
        free = np.flatnonzero((own == 0).all(axis=0))
        n = np.zeros((k * wide, len(free) if k > 1 else 0))
        for place, weight in enumerate(free[: n.shape[1]]):
            n[weight::wide, place] = 1 / math.sqrt(k)
        return n @ n.T


class Maximum(NamedTuple):
    """Where the iterations ended."""

    weights: Floats
    precision: Floats
    n_iter: int
    separated: bool


def optimized(
    problem: Problem, algorithm: str, rate: float | None, tol: float, max_iter: int | None, init: ArrayLike | None,
    progress: Any,
) -> Maximum:  # fmt: skip
    """The weights of the highest objective, and how sharp it is there."""
    validation.number("tol", tol, min_value=0)
    most = {"newton": 100, "lbfgs": 2000, "gradient": 100_000}[algorithm] if max_iter is None else max_iter
    validation.integer("max_iter", most, min_value=1)
    w = np.array(problem.prior.mean) if init is None else np.array(init, dtype=float).ravel()
    with in_range():
        w, steps, settled = ALGORITHMS[algorithm](problem, w, tol, most, rate, progress)
        H = problem.precision(w)
    require_range(w, H)
    separated = runs_away(problem, H)
    if separated:
        warnings.warn(
            "the classes are separated: without a prior the coefficients have no maximum, and the iterations stopped "
            "where the likelihood no longer rises\n\nhint: use a prior, for instance prior=1.0",
            BayeslearnWarning, stacklevel=4,
        )  # fmt: skip
    elif not settled:
        warnings.warn(
            f"not converged after {steps} iterations (tol={tol:g})\n\nhint: increase `max_iter`",
            ConvergenceWarning, stacklevel=4,
        )  # fmt: skip
    return Maximum(w, H, steps, separated)


def runs_away(problem: Problem, H: Floats) -> bool:
    """Whether the curvature vanishes in some direction: there the likelihood rises without bound."""
    first = problem.precision(np.zeros(len(H)))
    e, V = np.linalg.eigh(first)
    known = e > 1e-10 * max(e.max(), 1e-300)
    root = V[:, known] / np.sqrt(e[known])
    left = np.linalg.eigvalsh(root.T @ H @ root)
    return bool(left.size and left.min() < RUN_AWAY)


### algorithms


def newton(
    problem: Problem, w: Floats, tol: float, most: int, rate: float | None, progress: Any
) -> tuple[Floats, int, bool]:
    """w ← w + H⁻¹ g, halved until the objective rises."""
    value, redundancy = problem.objective(w), problem.redundancy()
    for step in range(1, most + 1):
        g, H = problem.gradient(w), problem.precision(w)
        move = solved(H + H.trace() / len(H) * redundancy, g)
        size = 1.0 if rate is None else rate
        reached = problem.objective(w + size * move)
        while size > 1e-10 and reached < value - ROUNDING * abs(value):
            size /= 2
            reached = problem.objective(w + size * move)
        if size <= 1e-10:
            return w, step, True
        w = w + size * move
        settled = float(g @ move) <= (1e-3 * tol + ROUNDING) * (1 + abs(value))
        value = max(reached, value)
        if settled or stopped(progress, step, most, value):
            return w, step, True
    return w, most, False


def solved(H: Floats, g: Floats) -> Floats:
    """H⁻¹ g; the shortest answer where H is singular."""
    require_range(H, g)
    try:
        L = np.linalg.cholesky(H)
        if np.diagonal(L).min() ** 2 > 1e-12 * np.diagonal(H).max():
            return np.asarray(np.linalg.solve(H, g), dtype=float)
    except np.linalg.LinAlgError:
        pass
    return np.asarray(np.linalg.lstsq(H, g, rcond=1e-12)[0], dtype=float)


def lbfgs(
    problem: Problem, w: Floats, tol: float, most: int, _rate: float | None, progress: Any
) -> tuple[Floats, int, bool]:
    """SciPy's L-BFGS."""
    from scipy.optimize import minimize  # noqa: PLC0415 - loaded when asked for

    steps = 0

    def step_done(now: Any) -> None:
        nonlocal steps
        steps += 1
        if stopped(progress, steps, most, problem.objective(now)):
            raise StopIteration

    limits: Any = {
        "maxiter": most, "ftol": tol * 1e-6, "gtol": tol * max(problem.rows.sum(), 1.0), "maxfun": 10 * most,
    }  # fmt: skip
    found = minimize(
        lambda v: -problem.objective(v), w, jac=lambda v: -problem.gradient(v), method="L-BFGS-B", callback=step_done,
        options=limits,
    )  # type: ignore[call-overload]  # fmt: skip
    return np.asarray(found.x), int(found.nit), bool(found.status != 1)


def gradient(
    problem: Problem, w: Floats, tol: float, most: int, rate: float | None, progress: Any
) -> tuple[Floats, int, bool]:
    """The book's rule w ← w + η Σ (d − h(x)) x; the default η cannot lower the objective."""
    square = (problem.rows[:, None] * problem.x).T @ problem.x
    require_range(square)
    top = np.linalg.norm(square, 2) / (4 if problem.shape[0] == 1 else 2)
    η = 1 / max(float(top + np.linalg.norm(problem.prior.precision, 2)), 1e-300) if rate is None else rate
    validation.number("rate", η, above=0)
    for step in range(1, most + 1):
        g = problem.gradient(w)
        w = w + η * g
        if float(np.abs(g).max()) <= tol * max(problem.rows.sum(), 1.0):
            return w, step, True
        if progress is not None and stopped(progress, step, most, problem.objective(w)):
            return w, step, True
    return w, most, False


def stopped(progress: Any, step: int, most: int, value: float) -> bool:
    """Report a step; return whether the callback asks to stop. The end is not known: the fraction is an estimate."""
    return should_stop(progress, max(1 - 0.9**step, step / most), f"iteration {step}, objective {value:.8g}")


ALGORITHMS = {"newton": newton, "lbfgs": lbfgs, "gradient": gradient}

### units


def activations(s: Floats) -> Floats:
    """h of every unit: the sigmoid of one, the softmax of several."""
    if s.shape[1] == 1:
        return np.asarray(expit(s))
    return np.asarray(softmax(s, axis=1))


def with_one(X: ArrayLike, dim: int | None) -> Floats:
    """Inputs with a 1 before them, for the intercept."""
    x = validation.float_array("X", X)
    if x.ndim != 2 or dim not in {None, x.shape[1]}:
        raise ShapeError(f"expected inputs of shape (n, {'d' if dim is None else dim}), got {x.shape}")
    return np.column_stack([np.ones(len(x)), x])
