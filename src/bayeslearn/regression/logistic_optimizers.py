"""Optimizers of logistic units: the objective, its gradient and curvature, and three algorithms.

    G = Σ d ln h(x) + (1 − d) ln(1 − h(x)) − ½(w − m)ᵀP(w − m)        ∂G/∂w = Σ (d − h(x)) x − P(w − m)

The maximum is unique. Where the classes are separated and there is no prior, there is none, which is a warning.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import expit, softmax

from bayeslearn import validation
from bayeslearn.distributions.moments import in_range, require_range
from bayeslearn.errors import BayeslearnWarning, CapacityError, ConvergenceWarning, ShapeError, outside
from bayeslearn.progress import should_stop
from bayeslearn.regression.targets import probabilities
from bayeslearn.softmax import Softmax, ascend, exponentials, scores

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

#: Rows times the square of the number of weights up to which Newton's method is used, and the precision is computed at
#: once. Of more, L-BFGS is used, and the precision is computed when it is asked for; rows are kept until then, up to
#: so many bytes.
NEWTON_WORK, LARGE_WORK, KEPT_BYTES = 2 * 10**6, 5 * 10**8, 1 << 28

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

    @cached_property
    def is_diagonal(self) -> bool:
        """Whether the weights are independent."""
        return bool(np.count_nonzero(self.precision) == np.count_nonzero(np.diagonal(self.precision)))

    def by_unit(self, units: int) -> tuple[Floats, Floats | None]:
        """The precision as :class:`Softmax` takes it, and the mean, None where it is 0."""
        mean = self.mean.reshape(units, -1) if self.mean.any() else None
        if not self.is_diagonal:
            return self.precision, mean
        return np.ascontiguousarray(np.diagonal(self.precision).reshape(units, -1)), mean

    def penalty(self, w: Floats) -> float:
        """½(w − m)ᵀP(w − m)."""
        δ = w.ravel() - self.mean
        pull = np.diagonal(self.precision) * δ if self.is_diagonal else self.precision @ δ
        return float(δ @ pull) / 2

    def log_density(self, w: Floats) -> float:
        """ln p(w), up to the constant of directions that are free."""
        e = np.diagonal(self.precision) if self.is_diagonal else np.linalg.eigvalsh(self.precision)
        e = e[e > OPEN * max(e.max(initial=0.0), 1e-300)]
        return float(np.log(e / (2 * math.pi)).sum()) / 2 - self.penalty(w)


### the objective


class Codes(NamedTuple):
    """The class of each row by its position, −1 where it is missing, and how many classes there are."""

    codes: NDArray[np.intp]
    n_classes: int

    def __len__(self) -> int:
        return len(self.codes)


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows with a 1 before them, their classes and weights, and the prior."""

    softmax: Softmax
    prior: NormalPrior

    @classmethod
    def of(
        cls, X: ArrayLike, targets: Any, sample_weight: Any, prior: NormalPrior | None, strength: float,
        *, has_ones: bool = False,
    ) -> Problem:  # fmt: skip
        """Return the checked problem, without rows whose target is missing."""
        x: Floats = np.asarray(X) if has_ones else with_one(X, None)
        hard = isinstance(targets, Codes)
        d: NDArray[Any] = targets.codes if hard else probabilities(targets)
        k = targets.n_classes if hard else d.shape[1]
        if len(x) != len(d):
            raise ShapeError(f"expected one target per row of X, got {len(d)} for {len(x)} rows")
        known = d >= 0 if hard else ~np.isnan(d).any(axis=1)
        w = None if sample_weight is None else validation.weights(sample_weight, len(x))
        known = known if w is None else known & (w > 0)
        if not known.all():
            x, d, w = x[known], d[known], None if w is None else w[known]
        units = k if k > 2 else 1
        if units * x.shape[1] > MOST_WEIGHTS:
            raise CapacityError(f"{units * x.shape[1]} coefficients are more than the limit of {MOST_WEIGHTS}")
        prior = NormalPrior.of(units, x.shape[1] - 1, strength) if prior is None else prior
        if prior.mean.shape != (units * x.shape[1],):
            raise ShapeError(f"a prior of {prior.mean.shape[0]} weights does not fit {units} × {x.shape[1]}")
        return cls(Softmax.of(x, d, k, w, *prior.by_unit(units)), prior)

    @property
    def x(self) -> Floats:
        """The rows, (n, 1 + d)."""
        return self.softmax.x

    @cached_property
    def rows(self) -> Floats:
        """The weight of each row."""
        return np.ones(len(self.x)) if self.softmax.rows is None else self.softmax.rows

    @property
    def shape(self) -> tuple[int, int]:
        """How many units, and how many weights each has."""
        return self.softmax.shape

    @property
    def work(self) -> int:
        """How many products the precision sums, about."""
        return len(self.x) * self.prior.mean.size**2

    def value_and_gradient(self, w: Floats) -> tuple[float, Floats]:
        """The log likelihood less what the prior takes off, and Σ (d − h(x)) x − P(w − m)."""
        value, slope = self.softmax.value_and_gradient(w.reshape(self.shape))
        return value, slope.ravel()

    def objective(self, w: Floats) -> float:
        """The log likelihood less what the prior takes off."""
        return self.value_and_gradient(w)[0]

    def gradient(self, w: Floats) -> Floats:
        """Σ (d − h(x)) x − P(w − m)."""
        return self.value_and_gradient(w)[1]

    def log_likelihood(self, w: Floats) -> float:
        """Σ d ln h + (1 − d) ln(1 − h): minus the cross entropy."""
        return self.objective(w) + self.prior.penalty(w)

    def precision(self, w: Floats) -> Floats:
        """P + Σ (diag h − h hᵀ) ⊗ x xᵀ."""
        k, wide = self.shape
        if k == 1:
            h = self.softmax.activations(w.reshape(self.shape))[0]
            root = np.sqrt(self.rows * h * (1 - h))[:, None] * self.x
            return np.asarray(self.prior.precision + root.T @ root)
        one, other = np.triu_indices(k, 1)
        i, j = np.triu_indices(wide)
        sums = np.zeros((len(one), len(i)))
        step = max(BLOCK // (len(i) + len(one)), 1)
        for start in range(0, len(self.x), step):
            x = self.x[start : start + step]
            h = exponentials(scores(w.reshape(self.shape), x))[0]
            pairs = np.empty((len(i), len(x)))
            at, columns = 0, np.ascontiguousarray(x.T)
            for row in range(wide):
                np.multiply(columns[row:], columns[row], out=pairs[at : at + wide - row])
                at += wide - row
            sums += (h[one] * h[other] * self.rows[start : start + step]) @ pairs.T
        H = np.array(self.prior.precision).reshape(k, wide, k, wide)
        for a, b, values in zip(one.tolist(), other.tolist(), sums, strict=True):
            block = np.empty((wide, wide))
            block[i, j] = block[j, i] = values
            H[a, :, b] -= block
            H[b, :, a] -= block
            H[a, :, a] += block
            H[b, :, b] += block
        return H.reshape(k * wide, k * wide)

    def precisions_by_unit(self, w: Floats) -> Floats:
        """The blocks of the precision that units have alone, (units, q, q)."""
        k, wide = self.shape
        h = self.softmax.activations(w)
        own = np.array([self.prior.precision[i * wide : (i + 1) * wide, i * wide : (i + 1) * wide] for i in range(k)])
        for i in range(k):
            root = np.sqrt(self.rows * h[i] * (1 - h[i]))[:, None] * self.x
            own[i] += root.T @ root
        return own

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
    """Where the iterations ended; without a precision where that is costly and not needed yet."""

    weights: Floats
    precision: Floats | None
    n_iter: int
    separated: bool
    log_likelihood: float


def optimized(
    problem: Problem, algorithm: str, rate: float | None, tol: float, max_iter: int | None, init: ArrayLike | None,
    progress: Any,
) -> Maximum:  # fmt: skip
    """The weights of the highest objective, and how sharp it is there."""
    validation.number("tol", tol, min_value=0)
    work = problem.work
    if algorithm == "auto" and work > NEWTON_WORK:
        algorithm, tol = "lbfgs", tol * (1e3 if work > LARGE_WORK else 1)  # of many rows `tol` itself suffices
    algorithm = "newton" if algorithm == "auto" else algorithm
    most = {"newton": 100, "lbfgs": 2000, "gradient": 100_000}[algorithm] if max_iter is None else max_iter
    validation.integer("max_iter", most, min_value=1)
    w = None if init is None else np.array(init, dtype=float).ravel()
    with in_range():
        w, value, steps, settled = ALGORITHMS[algorithm](problem, w, tol, most, rate, progress)
        bounded = is_bounded(problem)
        later = bounded and work > NEWTON_WORK and problem.x.nbytes <= KEPT_BYTES
        H = None if later else problem.precision(w)
    require_range(w, *([] if H is None else [H]))
    separated = H is not None and not bounded and runs_away(problem, H)
    if separated:
        warnings.warn(
            "the classes are separated: without a prior the coefficients have no maximum, and the iterations stopped "
            "where the likelihood no longer rises\n\nhint: use a prior, for instance prior=1.0",
            BayeslearnWarning, stacklevel=outside(),
        )  # fmt: skip
    elif not settled:
        warnings.warn(
            f"not converged after {steps} iterations (tol={tol:g})\n\nhint: increase `max_iter`",
            ConvergenceWarning, stacklevel=outside(),
        )  # fmt: skip
    return Maximum(w, H, steps, separated, value + problem.prior.penalty(w))


def is_bounded(problem: Problem) -> bool:
    """Whether the prior holds every weight, but for intercepts of classes that have rows."""
    if not problem.prior.is_diagonal:
        return False
    own = np.diagonal(problem.prior.precision).reshape(problem.shape)
    if not (own[:, 1:] > 0).all():
        return False
    n = problem.softmax.class_weights()
    return bool((own[:, 0] > 0).all() or (n > 0).all())


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
    problem: Problem, w: Floats | None, tol: float, most: int, rate: float | None, progress: Any
) -> tuple[Floats, float, int, bool]:
    """w ← w + H⁻¹ g, halved until the objective rises."""
    w = np.array(problem.prior.mean) if w is None else w
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
            return w, value, step, True
        settled = float(g @ move) <= (1e-3 * tol + ROUNDING) * (1 + abs(value))
        w, value = w + size * move, reached
        if settled or stopped(progress, step, most, value):
            return w, value, step, True
    return w, value, most, False


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
    problem: Problem, w: Floats | None, tol: float, most: int, _rate: float | None, progress: Any
) -> tuple[Floats, float, int, bool]:
    """L-BFGS, shaped by the curvature of a sample (:mod:`bayeslearn.softmax`)."""

    def step_done(step: int, value: float) -> bool:
        return stopped(progress, step, most, value)

    init = None if w is None else w.reshape(problem.shape)
    found = ascend(problem.softmax, init, gain=max(1e-3 * tol, ROUNDING), max_iter=most, callback=step_done)
    return found.weights.ravel(), found.objective, found.n_iter, found.converged or found.stopped


def gradient(
    problem: Problem, w: Floats | None, tol: float, most: int, rate: float | None, progress: Any
) -> tuple[Floats, float, int, bool]:
    """The book's rule w ← w + η Σ (d − h(x)) x; the default η cannot lower the objective."""
    w = np.array(problem.prior.mean) if w is None else w
    square = (problem.rows[:, None] * problem.x).T @ problem.x
    require_range(square)
    top = np.linalg.norm(square, 2) / (4 if problem.shape[0] == 1 else 2)
    η = 1 / max(float(top + np.linalg.norm(problem.prior.precision, 2)), 1e-300) if rate is None else rate
    validation.number("rate", η, above=0)
    value, g = problem.value_and_gradient(w)
    for step in range(1, most + 1):
        largest = float(np.abs(g).max())
        w = w + η * g
        value, g = problem.value_and_gradient(w)
        if largest <= tol * max(problem.rows.sum(), 1.0) or stopped(progress, step, most, value):
            return w, value, step, True
    return w, value, most, False


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
