"""Gradient ascent on ln P(D | w), from the same expected counts as EM.

    ∂ ln P(D | w) / ∂w_ijk = Σ_d P(y_ij, u_ik | d) / w_ijk = n_ijk / w_ijk

With prior cases α the hill is that of EM, ln P(D | w) + Σ α ln w, its gradient (n_ijk + α_ijk) / w_ijk. Two ways up:

    gradient    w ← w + η · gradient, then each row back to the nearest one that sums to 1
    lbfgs       w = softmax(z) row by row, ∂/∂z_ijk = n_ijk + α_ijk − w_ijk · Σ_k (n_ijk + α_ijk), steps by L-BFGS

The nearest row has a constant less in every cell. Rows divided by their sums would come to rest at w ∝ √n instead: at
the top all cells of a row have the same gradient, and only a constant taken off leaves them where they are.

Where w is zero the gradient is 0/0. Such a cell stays zero, as in EM; if the prior counts cases for it, an EM step
moves it off zero before the ascent begins. A step leaves a cell a tenth of what it has, so that none makes a zero.

Both end with the estimate from the last expected counts, an EM step, so that the tables are those that their counts and
prior give.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import rel_entr

from bayeslearn import em, validation
from bayeslearn.distributions.sufficient_statistics import ratio
from bayeslearn.errors import ConvergenceWarning, ImpossibleDataError, ParameterError, option, outside
from bayeslearn.network.parameters.em_steps import normalized_rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from bayeslearn.distributions import Counts
    from bayeslearn.network.inference.compiled_network import Compiled
    from bayeslearn.network.parameters.em_steps import Tables
    from bayeslearn.progress import ProgressCallback

#: What a cell keeps of itself in any one step, and what it never falls below on the way.
KEPT, LEAST = 0.1, 1e-30

#: How η grows after a gain unless it was given, and how often it is halved before there is nothing more to gain.
GROWTH, HALVINGS = 1.2, 60

#: Steps that L-BFGS remembers, and how far ln w may move from the largest cell of its row.
REMEMBERED, RANGE = 20, 50.0


def climb_of(algorithm: str, step: float | None) -> Callable[..., em.EMResult[Tables]]:
    """The way up that was asked for, to be called as :func:`em.run` is."""
    algorithm = validation.choice("algorithm", algorithm, ["em", "gradient", "lbfgs"])
    if step is not None and algorithm != "gradient":
        raise ParameterError(
            f"`step` is the η of gradient ascent, but the algorithm is {algorithm!r}",
            hint=f"set {option('algorithm', 'gradient')}",
        )
    if algorithm == "gradient":
        return partial(ascend, step=step)
    return em.run if algorithm == "em" else ascend_softmax


### the ascent


@dataclass(frozen=True)
class Place:
    """Where the ascent stands: the tables, and what they expect of the data."""

    model: Tables
    statistics: Counts
    #: n + α where tables may move, 0 elsewhere.
    cases: NDArray[np.float64]
    step: em.EMStep

    @cached_property
    def row_cases(self) -> NDArray[np.float64]:
        """Σ_k (n + α) of the row that each cell lies in."""
        compiled = self.model.compiled
        return np.add.reduceat(self.cases, compiled.row_start)[compiled.row_of]

    @property
    def gradient(self) -> NDArray[np.float64]:
        """(n + α) / w, and 0 where w is 0."""
        return ratio(self.cases, self.model.p)

    @property
    def softmax_gradient(self) -> NDArray[np.float64]:
        """n + α − w · Σ_k (n + α)."""
        return self.cases - self.model.p * self.row_cases

    @cached_property
    def promise(self) -> float:
        """Σ (n + α) ln(w'/w), w' being the tables after an EM step: at least this much is left to gain."""
        return float(rel_entr(self.cases, self.row_cases * self.model.p).sum())


class Climb:
    """The way up ln P(D | w) + Σ α ln w so far; the top is where an EM step promises no more than `tol` nats."""

    def __init__(
        self,
        model: Tables,
        source: em.Foldable,
        *,
        prior: NDArray[np.float64] | None = None,
        tol: float = 1e-6,
        max_iter: int = 200,
        progress: ProgressCallback | None = None,
        checkpoint: Callable[[Tables, em.EMStep], object] | None = None,
    ) -> None:
        self.tol = validation.number("tol", tol, min_value=0)
        self.max_iter = validation.integer("max_iter", max_iter, min_value=1)
        self.source, self.prior, self.progress, self.checkpoint = source, prior, progress, checkpoint
        self.history: list[em.EMStep] = []
        self.go(self._start(model))

    def _start(self, model: Tables) -> Place:
        """The model, or the result of an EM step if the prior rules it out."""
        found = em.expect(model, self.source, 0)
        if model.log_prior(self.prior) == -math.inf:
            model = model.estimate(self.prior, found.statistics)
            found = em.expect(model, self.source, 0)
        step = em.EMStep(0, found.log_likelihood, model.log_prior(self.prior), math.inf)
        return self._place(model, found.statistics, step)

    def look(self, p: NDArray[np.float64]) -> Place | None:
        """What the next step would lead to, or None where the data are impossible."""
        before, last = self.here.model, self.here.step
        model = before.with_p(p if before.fixed is None else np.where(before.fixed, before.p, p))
        try:
            found = em.expect(model, self.source, last.iteration + 1)
        except ImpossibleDataError:
            return None
        step = em.next_step(last, found.log_likelihood, model.log_prior(self.prior))
        return self._place(model, found.statistics, step)

    def _place(self, model: Tables, statistics: Counts, step: em.EMStep) -> Place:
        cases = statistics.n if self.prior is None else statistics.n + self.prior
        return Place(model, statistics, cases if model.fixed is None else np.where(model.fixed, 0.0, cases), step)

    def go(self, there: Place) -> None:
        """Take the step."""
        self.here = there
        self.history.append(there.step)
        if self.checkpoint is not None and there.step.iteration > 0:
            self.checkpoint(there.model, there.step)
        self.stopped = em.has_to_stop(self.progress, self.history, self.tol, self.max_iter)

    @property
    def at_top(self) -> bool:
        """Whether there is no more to gain than was asked for."""
        return self.here.promise <= max(self.tol, em.slack(self.here.step))

    @property
    def goes_on(self) -> bool:
        """Whether another step is wanted."""
        return not (self.at_top or self.stopped) and self.here.step.iteration < self.max_iter

    def ended(self, what: str) -> em.EMResult[Tables]:
        """What the ascent came to; a warning with the numbers when that is not the top."""
        counts, model = self.here.statistics, self.here.model.estimate(self.prior, self.here.statistics)
        last = self.history[-1]
        found = em.expect(model, self.source, last.iteration)
        objective = em.next_step(last, found.log_likelihood, model.log_prior(self.prior))
        self.history[-1] = replace(objective, iteration=last.iteration, gain=last.gain + objective.gain)
        if self.checkpoint is not None:
            self.checkpoint(model, replace(self.history[-1], last=True))
        if not (self.at_top or self.stopped):
            warnings.warn(
                f"{what} stopped after {self.here.step.iteration} iterations, where an EM step would still gain "
                f"{self.here.promise:.1e}, asked for {self.tol:.0e}\n\nhint: raise `max_iter`, or loosen `tol`",
                ConvergenceWarning,
                stacklevel=outside(),
            )
        return em.EMResult(model, counts, tuple(self.history), self.at_top)


### w ← w + η · gradient


def ascend(model: Tables, source: em.Foldable, *, step: float | None = None, **settings: Any) -> em.EMResult[Tables]:
    """The book's rule, with the settings of :func:`em.run`.

    `step` is η, the same for all cells. Without it η is 1 / (cases of the row) to begin with, and a fifth more after
    each gain. Either way it is halved when the objective would fall, so that it never does.
    """
    eta = 1.0 if step is None else validation.number("step", step, above=0)
    climb = Climb(model, source, **settings)
    while climb.goes_on:
        there, eta = _uphill(climb, eta, relative=step is None)
        if there is None:
            break
        climb.go(there)
        eta *= GROWTH if step is None else 1.0
    return climb.ended("gradient ascent")


def _uphill(climb: Climb, eta: float, *, relative: bool) -> tuple[Place | None, float]:
    """The next place that is not lower, and the η that leads there; None when every step leads down."""
    here, w = climb.here, climb.here.model.p
    direction = ratio(here.gradient, here.row_cases) if relative else here.gradient
    for _ in range(HALVINGS):
        there = climb.look(nearest_rows(here.model.compiled, w + eta * direction, w))
        if there is not None and there.step.gain >= 0:
            return there, eta
        eta /= 2
    return None, eta


def nearest_rows(compiled: Compiled, v: NDArray[np.float64], before: NDArray[np.float64]) -> NDArray[np.float64]:
    """The nearest to v whose rows sum to one: max(v − τ, least), τ one for each row; zeros of `before` stay."""
    least = np.where(before > LEAST, np.maximum(KEPT * before, LEAST), before)
    above = before > 0
    while True:
        excess = np.add.reduceat(np.where(above, v, least), compiled.row_start) - 1
        tau = ratio(excess, np.add.reduceat(above.astype(np.float64), compiled.row_start))[compiled.row_of]
        below = above & (v - tau < least)
        if not below.any():
            return normalized_rows(compiled, np.where(above, v - tau, least), otherwise=before)
        above &= ~below


### w = softmax(z)


def ascend_softmax(model: Tables, source: em.Foldable, **settings: Any) -> em.EMResult[Tables]:
    """L-BFGS in softmax coordinates, with the settings of :func:`em.run`."""
    from scipy.optimize import minimize  # noqa: PLC0415 - loads when it is needed

    climb = Climb(model, source, **settings)
    coordinates = Coordinates.at(climb.here)
    seen: dict[bytes, Place] = {}

    def depth(x: Any) -> tuple[float, NDArray[np.float64]]:
        there = climb.look(coordinates.tables(x))
        if there is None:  # as deep as the start is, and more: a number that a line search can work with
            return -climb.here.step.objective + 1 + abs(climb.history[0].objective), np.zeros(len(x))
        seen[x.tobytes()] = there
        return -there.step.objective, -coordinates.gradient(there)

    def arrive(intermediate_result: Any) -> None:
        climb.go(seen[intermediate_result.x.tobytes()])
        seen.clear()
        if not climb.goes_on:
            raise StopIteration

    if climb.goes_on:
        most = climb.max_iter
        minimize(
            depth,
            coordinates.start,
            jac=True,
            bounds=coordinates.bounds,
            method="L-BFGS-B",
            callback=arrive,
            options={"maxiter": most, "maxfun": 100 * most, "maxcor": REMEMBERED, "ftol": 0.0, "gtol": 0.0},
        )
    return climb.ended("L-BFGS")


@dataclass(frozen=True)
class Coordinates:
    """x = z · √(1 + cases of the row) where w = softmax(z) may move: rows of many and of few cases are curved alike."""

    compiled: Compiled
    p: NDArray[np.float64]
    free: NDArray[np.bool_]
    #: z at the start, 0 for the largest cell of each row.
    z: NDArray[np.float64]
    scale: NDArray[np.float64]

    @classmethod
    def at(cls, place: Place) -> Coordinates:
        """Coordinates around a place."""
        compiled, p, fixed = place.model.compiled, place.model.p, place.model.fixed
        with np.errstate(divide="ignore"):
            z = np.log(p / np.maximum.reduceat(p, compiled.row_start)[compiled.row_of])
        free = p > 0 if fixed is None else (p > 0) & ~fixed
        return cls(compiled, p, free, z, np.sqrt(1 + place.row_cases))

    @property
    def start(self) -> NDArray[np.float64]:
        """x of the place."""
        return (np.maximum(self.z, -RANGE) * self.scale)[self.free]

    @property
    def bounds(self) -> list[tuple[float, float]]:
        """Ranges of x that keep tables from zero."""
        return [(-most, most) for most in (RANGE * self.scale[self.free]).tolist()]

    def tables(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """w of x."""
        z = self.z.copy()
        z[self.free] = x / self.scale[self.free]
        e = np.exp(z - np.maximum.reduceat(z, self.compiled.row_start)[self.compiled.row_of])
        return np.where(self.free, normalized_rows(self.compiled, e, otherwise=self.p), self.p)

    def gradient(self, place: Place) -> NDArray[np.float64]:
        """∂/∂x."""
        return (place.softmax_gradient / self.scale)[self.free]
