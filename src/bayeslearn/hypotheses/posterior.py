"""The posterior over a finite space: a frozen value that keeps its prior and its evidence apart.

    P(h|D) ∝ P(h) Π P(d|h)         ln P(D) = ln Σ_h P(D|h) P(h)         P(next|D) = Σ_h P(next|h) P(h|D)

Because evidence is kept as statistics that add, cases can be added one at a time or at once, two posteriors of the same
prior can be merged, and cases can be taken back.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import logsumexp

from bayeslearn import validation
from bayeslearn.errors import ImpossibleDataError, ParameterError
from bayeslearn.families import Finite, LogLikelihoods

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.hypotheses.space import FiniteSpace


@dataclass(frozen=True)
class HypothesisRow:
    """One line of Bayes' theorem, for printing."""

    name: Hashable
    prior: float
    log_likelihood: float
    log_joint: float
    posterior: float

    @property
    def likelihood(self) -> float:
        """P(D|h); zero where it underflows."""
        return math.exp(self.log_likelihood)

    @property
    def joint(self) -> float:
        """P(D|h) P(h)."""
        return math.exp(self.log_joint)


@dataclass(frozen=True, eq=False)
class Posterior:
    """What is believed after some cases; start one with :meth:`FiniteSpace.posterior`."""

    space: FiniteSpace
    prior: Finite
    statistics: LogLikelihoods

    # -- evidence in and out

    def update(self, case: Any, *, weight: float = 1.0) -> Posterior:
        """One more case, counted `weight` times."""
        return self.update_batch([case], weights=[weight])

    def update_batch(self, cases: Sequence[Any], *, weights: ArrayLike | None = None) -> Posterior:
        """More cases; the same result as one after the other."""
        return self.weigh(self.space.logs(cases), weights=weights, cases=cases)

    def take_back(self, case: Any, *, weight: float = 1.0) -> Posterior:
        """The posterior as if this case had not been seen."""
        return self.take_back_batch([case], weights=[weight])

    def take_back_batch(self, cases: Sequence[Any], *, weights: ArrayLike | None = None) -> Posterior:
        """The posterior as if these cases had not been seen."""
        return replace(self, statistics=self.statistics - self.space.collect(cases, weights=weights))

    def weigh(
        self, logs: ArrayLike, *, weights: ArrayLike | None = None, cases: Sequence[Any] | None = None
    ) -> Posterior:
        """More cases, given as ln P(case|h) of shape (n, size); `cases` are only named in errors."""
        logs = validation.float_array("log likelihoods", logs)
        w = validation.weights(weights, len(logs))
        found = self.statistics + self.space.family.collect(logs, weights=w)
        if np.isneginf(self.prior.log_p + found.total).all():
            raise _impossible(np.isneginf(self._log_joint), logs, w, cases)
        return replace(self, statistics=found)

    def __add__(self, other: Posterior) -> Posterior:
        """Both bodies of evidence on the one prior they share."""
        self._require_same_start(other)
        merged = self.statistics + other.statistics
        if np.isneginf(self.prior.log_p + merged.total).all():
            raise ImpossibleDataError(
                "no hypothesis is possible under both bodies of evidence", hint="allow for noise, or add a hypothesis"
            )
        return replace(self, statistics=merged)

    def __sub__(self, other: Posterior) -> Posterior:
        """The evidence of `other` taken back."""
        self._require_same_start(other)
        return replace(self, statistics=self.statistics - other.statistics)

    def __mul__(self, factor: float) -> Posterior:
        """Evidence faded: every case counts `factor` times."""
        return replace(self, statistics=self.statistics * factor)

    __rmul__ = __mul__

    # -- what is believed

    @cached_property
    def distribution(self) -> Finite:
        """P(h|D), in the order of the space."""
        return self.space.family.update(self.prior, self.statistics)

    @property
    def probabilities(self) -> dict[Hashable, float]:
        """P(h|D) by name."""
        return dict(zip(self.space.names, self.distribution.mean().tolist(), strict=True))

    def __getitem__(self, name: Hashable) -> float:
        return float(self.distribution.mean()[self.space.position(name)])

    @property
    def map(self) -> list[Hashable]:
        """The most probable hypotheses, all that tie."""
        return self._named(self.distribution.modes())

    @property
    def ml(self) -> list[Hashable]:
        """The hypotheses of maximum likelihood, all that tie; the prior is not asked."""
        return self._named(Finite(self.statistics.total).modes())

    @property
    def log_evidence(self) -> float:
        """ln P(D)."""
        return float(self.space.family.log_evidence(self.prior, self.statistics))

    @property
    def evidence(self) -> float:
        """P(D); zero where it underflows."""
        return math.exp(self.log_evidence)

    def credible(self, level: float = 0.95) -> list[Hashable]:
        """The fewest hypotheses that hold at least `level` of the probability."""
        return self._named(self.distribution.interval(level))

    def draw(self, rng: np.random.Generator | int | None = None) -> Hashable:
        """The name of a hypothesis drawn by its probability (the Gibbs algorithm predicts with it)."""
        return self.space.names[int(self.distribution.draw(rng))]

    # -- what is expected

    def predictive(self, x: Any = None, *, noisy: bool = True) -> dict[Any, float]:
        """P(next|D) for every outcome, or every label of `x`: each hypothesis votes by its probability.

        With label noise the next label is the one written down; `noisy=False` gives the true one.
        """
        outcomes, logs = self.space.likelihood.outcomes_at(x, noisy=noisy)
        p = np.exp(logsumexp(self.distribution.log_p[:, None] + logs, axis=0))
        return dict(zip(outcomes, p.tolist(), strict=True))

    def log_predictive(self, case: Any) -> float:
        """ln P(case|D)."""
        return float(logsumexp(self.distribution.log_p + self.space.logs([case])[0]))

    # -- for printing

    def table(self) -> list[HypothesisRow]:
        """Prior, likelihood, joint and posterior of each hypothesis."""
        columns = (self.prior.mean(), self.statistics.total, self._log_joint, self.distribution.mean())
        rows = zip(self.space.names, *(column.tolist() for column in columns), strict=True)
        return [HypothesisRow(*row) for row in rows]

    def __repr__(self) -> str:
        best = sorted(self.probabilities.items(), key=lambda item: -item[1])[:6]
        shown = ", ".join(f"{name}: {p:.4g}" for name, p in best)
        return f"Posterior({shown}{', …' if len(self.space) > len(best) else ''})"

    # -- inside

    @property
    def _log_joint(self) -> NDArray[np.float64]:
        return self.prior.log_p + self.statistics.total

    def _named(self, mask: NDArray[np.bool_]) -> list[Hashable]:
        return [self.space.names[i] for i in np.flatnonzero(mask)]

    def _require_same_start(self, other: Posterior) -> None:
        if self.space.names != other.space.names:
            raise ParameterError("posteriors add only over the same hypotheses")
        if not np.allclose(self.prior.mean(), other.prior.mean(), rtol=1e-9, atol=0):
            raise ParameterError(
                "posteriors add only from the same prior, so that it counts once",
                hint="start both from one `space.posterior(prior)`",
            )


def _impossible(
    ruled_out: NDArray[np.bool_], logs: NDArray[np.float64], w: NDArray[np.float64], cases: Sequence[Any] | None
) -> ImpossibleDataError:
    """The error that names the first case at which no hypothesis was left."""
    never = np.isneginf(logs) & (w > 0)[:, None]
    gone = np.logical_or.accumulate(never, axis=0) | ruled_out
    i = int(np.argmax(gone.all(axis=1)))
    case = None if cases is None else cases[i]
    shown = f"case {i}" if cases is None else f"case {i}, {case!r:.100},"
    others = "" if never[i].all() else " that the prior and the cases before it leave"
    return ImpossibleDataError(
        f"{shown} has probability zero under every hypothesis{others}",
        hint="allow for noise (`noise=`), add a hypothesis, or look for a mistaken case",
        position=i,
        case=case,
    )
