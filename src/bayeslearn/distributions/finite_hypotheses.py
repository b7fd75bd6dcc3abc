"""Finitely many hypotheses: the posterior by Bayes' theorem, in log space.

    P(h|D) = P(D|h) P(h) / P(D)       P(D) = Σ_h P(D|h) P(h)       statistics: ln P(D|h), summed over the cases

A case that a hypothesis rules out has ln P = −∞, and −∞ cannot be removed by subtraction. So the statistic keeps two
numbers per hypothesis: the sum of the finite logs, and the weight of the cases it called impossible.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
from scipy.special import log_softmax, logsumexp

from bayeslearn import validation
from bayeslearn.capacity import require_numbers
from bayeslearn.distributions.distribution import Family
from bayeslearn.distributions.sufficient_statistics import Statistics, fitted, frozen, paired, remaining, shown
from bayeslearn.errors import ImpossibleDataError, ParameterError, ShapeError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.distributions.sufficient_statistics import Assignment

#: Two hypotheses are tied when their log probabilities differ by no more than this.
TIE = 1e-9

### statistics


@dataclass(frozen=True, eq=False)
class LogLikelihoods(Statistics):
    """The log likelihood of the data under each hypothesis, shape (*rows, size)."""

    finite: NDArray[np.float64]
    impossible: NDArray[np.float64]

    @property
    def total(self) -> NDArray[np.float64]:
        """ln P(D|h): −∞ as soon as one case was impossible."""
        return np.where(self.impossible > 0, -np.inf, self.finite)

    def __sub__(self, other: Self) -> Self:
        self.require_same_kind(other)
        return type(self)(self.finite - other.finite, remaining(self.impossible, other.impossible))


### prior


@dataclass(frozen=True, eq=False)
class FinitePrior:
    """A distribution of hypotheses, kept as normalized log probabilities of shape (*rows, size).

    >>> FinitePrior.given([0.008, 0.992]).mean()
    array([0.008, 0.992])
    """

    log_p: NDArray[np.float64]

    def __post_init__(self) -> None:
        log_p = validation.float_array("log_p", self.log_p)
        if log_p.ndim == 0 or log_p.shape[-1] == 0:
            raise ShapeError(f"expected one log probability per hypothesis, got shape {log_p.shape}")
        if np.isnan(log_p).any() or (log_p == np.inf).any() or (log_p == -np.inf).all(axis=-1).any():
            raise ParameterError("log probabilities must be numbers below infinity, not all -inf")
        object.__setattr__(self, "log_p", frozen(log_softmax(log_p, axis=-1)))

    def __repr__(self) -> str:
        return f"FinitePrior(p={shown(self.mean())})"

    @classmethod
    def uniform(cls, size: int) -> FinitePrior:
        """Every hypothesis equally probable."""
        n = validation.integer("size", size, min_value=1)
        require_numbers(f"{n:,} hypotheses", (n,), copies=4)
        return cls(np.zeros(n))

    @classmethod
    def given(cls, p: ArrayLike) -> FinitePrior:
        """Probabilities that sum to one."""
        with np.errstate(divide="ignore"):
            return cls(np.log(validation.probabilities(p, name="prior")))

    @classmethod
    def code_lengths(cls, bits: ArrayLike) -> FinitePrior:
        """The prior that a code implies: P(h) ∝ 2^−L(h)."""
        return cls(-np.log(2) * validation.not_negative("bits", validation.float_array("bits", bits)))

    def of(self, shape: tuple[int, ...]) -> FinitePrior:
        """The same prior for every row of `shape`."""
        return FinitePrior(fitted(self.log_p, shape, event=1))

    def mean(self) -> NDArray[np.float64]:
        """The probability of each hypothesis."""
        return np.exp(self.log_p)

    def mode(self) -> NDArray[np.intp]:
        """The index of the most probable hypothesis, the first of them when tied."""
        return self.modes().argmax(axis=-1)

    def modes(self) -> NDArray[np.bool_]:
        """Which hypotheses are most probable: all of those that tie."""
        return self.log_p >= self.log_p.max(axis=-1, keepdims=True) - TIE

    def draw(self, random_state: np.random.Generator | int | None = None) -> NDArray[np.intp]:
        """The index of a hypothesis drawn by its probability, one per row."""
        gumbel = validation.generator(random_state).gumbel(size=self.log_p.shape)
        return np.argmax(self.log_p + gumbel, axis=-1)

    def interval(self, level: float = 0.95) -> NDArray[np.bool_]:
        """The smallest set of hypotheses that holds at least `level` of the probability, as a mask."""
        validation.number("level", level, above=0, below=1)
        order = np.argsort(-self.log_p, axis=-1, kind="stable")
        before = np.cumsum(np.take_along_axis(self.mean(), order, -1), axis=-1)
        needed = np.roll(before, 1, axis=-1) < level
        needed[..., 0] = True
        mask = np.empty_like(needed)
        np.put_along_axis(mask, order, needed, axis=-1)
        return mask


### likelihood


@dataclass(frozen=True)
class FiniteHypotheses(Family[LogLikelihoods, FinitePrior]):
    """`size` hypotheses; a case is the row of log probabilities that they give it.

    >>> test = FiniteHypotheses(2)                                    # cancer, no cancer; P(positive | h) = .98, .03
    >>> posterior = test.fit(np.log([[0.98, 0.03]]), prior=FinitePrior.given([0.008, 0.992]))
    >>> posterior.mean().round(4)
    array([0.2085, 0.7915])
    """

    size: int

    def __post_init__(self) -> None:
        validation.integer("size", self.size, min_value=1)

    def cells(self, x: ArrayLike) -> NDArray[np.float64]:
        """Log likelihoods (n, size), −∞ where a case is impossible."""
        logs = validation.float_array("log likelihoods", x)
        if logs.ndim != 2 or logs.shape[1] != self.size:
            raise ShapeError(f"expected log likelihoods of shape (n, {self.size}), got {logs.shape}")
        if np.isnan(logs).any() or (logs == np.inf).any():
            where = validation.first_position(np.isnan(logs) | (logs == np.inf))
            raise ParameterError(f"log likelihoods must be numbers below infinity, got {logs[where]} at {where}")
        return logs

    def gather(self, cells: NDArray[np.float64], to: Assignment) -> LogLikelihoods:
        """Σ_i w_i ln P(d_i|h), finite logs and impossible cases apart."""
        never = np.isneginf(cells)
        return LogLikelihoods(to.sum(np.where(never, 0.0, cells)), to.sum(never.astype(float)))

    def zero(self, rows: tuple[int, ...] = ()) -> LogLikelihoods:
        """No data: likelihood 1."""
        return LogLikelihoods(np.zeros((*rows, self.size)), np.zeros((*rows, self.size)))

    def update(self, prior: FinitePrior, statistics: LogLikelihoods) -> FinitePrior:
        """ln P(h) + ln P(D|h), normalized."""
        joint = prior.of(statistics.finite.shape).log_p + statistics.total
        if np.isneginf(joint).all(axis=-1).any():
            raise ImpossibleDataError(
                "the data have probability zero under every hypothesis that the prior allows",
                hint="allow for noise, add a hypothesis, or look for a mistaken case",
            )
        return FinitePrior(joint)

    def log_evidence(self, prior: FinitePrior, statistics: LogLikelihoods) -> NDArray[np.float64]:
        """ln P(D) = ln Σ_h P(D|h) P(h)."""
        return logsumexp(prior.of(statistics.finite.shape).log_p + statistics.total, axis=-1)

    def log_prob(self, parameters: ArrayLike, x: ArrayLike, *, groups: ArrayLike | None = None) -> NDArray[np.float64]:
        """ln Σ_h P(d|h) p_h for probabilities p of the hypotheses."""
        logs, log_p = paired(self.cells(x), groups, self._log_p(parameters), event=1)
        nowhere = np.isnan(logs).any(axis=-1)
        return np.where(nowhere, 0.0, logsumexp(np.nan_to_num(logs, neginf=-np.inf) + log_p, axis=-1))

    def predictive(self, posterior: FinitePrior) -> FinitePredictive:
        """Every hypothesis predicts, weighted by its probability."""
        return FinitePredictive(self, posterior.mean())

    def draw(
        self, parameters: ArrayLike, n: int, random_state: np.random.Generator | int | None = None
    ) -> NDArray[np.intp]:
        """Indices of `n` hypotheses drawn by their probabilities."""
        log_p = self._log_p(parameters)
        gumbel = validation.generator(random_state).gumbel(size=(n, *log_p.shape))
        return np.argmax(log_p + gumbel, axis=-1)

    def _log_p(self, parameters: ArrayLike) -> NDArray[np.float64]:
        p = validation.not_negative("p", validation.float_array("p", parameters))
        if p.ndim == 0 or p.shape[-1] != self.size:
            raise ShapeError(f"expected probabilities of shape (*rows, {self.size}), got {p.shape}")
        with np.errstate(divide="ignore"):
            return np.log(p)


@dataclass(frozen=True)
class FinitePredictive:
    """One more case, as the whole space sees it."""

    family: FiniteHypotheses
    p: NDArray[np.float64]

    def log_prob(self, x: ArrayLike) -> NDArray[np.float64]:
        """ln Σ_h P(d|h) P(h|D)."""
        return self.family.log_prob(self.p, x)

    def mean(self) -> NDArray[np.float64]:
        """The probability of each hypothesis."""
        return self.p

    def draw(self, n: int, random_state: np.random.Generator | int | None = None) -> NDArray[np.intp]:
        """Hypotheses at random."""
        return self.family.draw(self.p, n, random_state)
