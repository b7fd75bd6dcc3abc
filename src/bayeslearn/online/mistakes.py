"""Mistakes of experts and of the learner: counts that add, bounds, and their curve over the rounds.

    w_i ∝ p_i β^wrong_i        p: the prior, weights before the first round        statistics: wrong, spoke, rounds

A vote over n experts, one of which makes k mistakes, makes at most

    Weighted-Majority    (k ln(1/β) + ln n) / ln(2/(1+β))      β = 1/2: (k + log₂ n) / log₂(4/3), some 2.4 (k + log₂ n)
    Halving              log₂ n                                β = 0 and k = 0
    randomized           (k ln(1/β) + ln n) / (1 − β)          on average

Each mistake takes at least (1−β)/2 of the weight that voted, and the weight of one expert stays. Where only a share s
of the weight voted, a mistake takes s(1−β)/2 of the whole; with a prior p, ln n is ln(1/p) of that expert.
"""

from __future__ import annotations

import math
from collections.abc import Sized
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import validation
from bayeslearn.distributions.sufficient_statistics import Statistics, ratio
from bayeslearn.errors import ParameterError, ShapeError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class MistakeCounts(Statistics):
    """Rounds in which each expert was wrong, in which it spoke at all, and how many rounds there were."""

    wrong: NDArray[np.float64]
    spoke: NDArray[np.float64]
    rounds: NDArray[np.float64]

    @classmethod
    def none(cls, n: int) -> MistakeCounts:
        """Those of n experts before the first round."""
        return cls(np.zeros(n), np.zeros(n), np.zeros(()))

    @property
    def error(self) -> NDArray[np.float64]:
        """The share of its advice that was wrong, for each expert."""
        return ratio(self.wrong, self.spoke)


@dataclass(frozen=True)
class RunRecord:
    """How the learner itself did. Unlike the mistakes of experts it depends on the order of rounds."""

    #: Guesses that were wrong.
    mistakes: int = 0
    #: The mistakes that a guess drawn by the weights would make on average.
    expected: float = 0.0
    #: Learners whose rounds are told here together.
    starts: int = 1
    #: The least share of the weight that spoke when the learner was wrong, and in any round.
    spoken_if_wrong: float = 1.0
    spoken: float = 1.0

    def __add__(self, other: RunRecord) -> RunRecord:
        return RunRecord(
            self.mistakes + other.mistakes,
            self.expected + other.expected,
            self.starts + other.starts,
            min(self.spoken_if_wrong, other.spoken_if_wrong),
            min(self.spoken, other.spoken),
        )


def counted(n: int, what: str) -> str:
    """So many of them."""
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"


### bounds


def weighted_majority_bound(
    n_mistakes: float,
    n_experts: float,
    *,
    beta: float = 0.5,
    randomized: bool = False,
    starts: int = 1,
    spoken: float = 1.0,
) -> float:
    """The most mistakes of the vote, if one expert makes `n_mistakes`; the most expected ones if `randomized`.

    >>> round(weighted_majority_bound(10, 16), 2), round(weighted_majority_bound(0, 16, beta=0), 2)
    (33.73, 4.0)
    >>> round(weighted_majority_bound(10, 16, beta=0.8, randomized=True), 2)
    25.02
    """
    k = validation.number("n_mistakes", n_mistakes, min_value=0)
    n = validation.number("n_experts", n_experts, min_value=1)
    validation.number("spoken", spoken, min_value=0, max_value=1)
    return least_bound(
        [k], [-math.log(n)], beta=beta, randomized=randomized, starts=validation.integer("starts", starts, min_value=1),
        spoken=spoken,
    )  # fmt: skip


def least_bound(
    wrong: ArrayLike,
    log_prior: ArrayLike,
    *,
    beta: float,
    randomized: bool = False,
    starts: int = 1,
    spoken: float = 1.0,
) -> float:
    """The least of the bounds that the experts give, each by its mistakes and its prior."""
    beta = validation.number("beta", beta, min_value=0, below=1)
    if randomized and beta == 0:
        raise ParameterError("the randomized vote has no bound at β = 0 unless an expert is never wrong")
    wrong, log_prior = np.asarray(wrong, np.float64), np.asarray(log_prior, np.float64)
    cost = np.where(wrong > 0, wrong * -math.log(beta) if beta else np.inf, 0.0) - starts * log_prior
    taken = spoken * (1 - beta) if randomized else -math.log1p(-spoken * (1 - beta) / 2)
    return float(cost.min()) / taken if taken > 0 else math.inf  # nobody spoke: no expert answers for it


### a run and its curve


#: Points of a curve when the number of rounds is known, and rounds of a batch when it is not.
POINTS, BATCH = 512, 1024


@dataclass(frozen=True, eq=False)
class MistakeCurve:
    """How it went, after so many rounds each: the first point is the start."""

    rounds: NDArray[np.int64]
    mistakes: Floats
    #: The mistakes of the expert that was best by then.
    best: Floats
    bounds: Floats
    #: Whether mistakes are those expected of a vote at random.
    expected: bool = False

    @property
    def regret(self) -> Floats:
        """Mistakes more than those of the best expert by then."""
        return self.mistakes - self.best

    def __str__(self) -> str:
        return (
            f"{self.mistakes[-1]:.4g} mistakes in {self.rounds[-1]:,} rounds, {self.best[-1]:.4g} of the best expert, "
            f"bound {self.bounds[-1]:.4g}"
        )


def run_online(
    learner: Any,
    X: Any,
    y: Any = None,
    *,
    every: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> MistakeCurve:
    """Lead a learner through rounds in order; it is told each label after it guessed, and goes on from where it was.

    Parameters
    ----------
    learner
        A :class:`~bayeslearn.online.WeightedMajority` or :class:`~bayeslearn.online.Halving`.
    X, y
        What the experts are asked (or their advice), and the labels. Without `y`, `X` is an iterable of batches
        ``(X, y)``, which are held one at a time.
    every
        Rounds between two points of the curves.
    progress
        Called with the rounds played so far.

    Examples
    --------
    >>> from bayeslearn.online import WeightedMajority
    >>> advice = np.array([[0, 1], [0, 1], [1, 0], [0, 1], [0, 1]])
    >>> curve = run_online(WeightedMajority(2), advice, np.zeros(5, int))
    >>> curve.mistakes, curve.best
    (array([0., 0., 0., 1., 1., 1.]), array([0., 0., 0., 1., 1., 1.]))
    """
    expected = bool(getattr(learner, "randomized", False))
    points = [_point(learner, expected=expected)]
    for some, labels in _batches(X, y, every):
        learner.partial_fit(some, labels)
        points.append(_point(learner, expected=expected))
        if progress is not None:
            progress(learner.rounds)
    rounds, mistakes, best, bounds = zip(*points, strict=True)
    return MistakeCurve(np.array(rounds), np.array(mistakes), np.array(best), np.array(bounds), expected)


def _point(learner: Any, *, expected: bool) -> tuple[int, float, float, float]:
    best = float(learner.statistics.wrong.min())
    if expected:
        return learner.rounds, learner.expected_mistakes, best, learner.expected_bound
    return learner.rounds, float(learner.mistakes), best, learner.bound


def _batches(xs: Any, ys: Any, every: int | None) -> Iterator[tuple[Any, Any]]:
    if every is not None:
        validation.integer("every", every, min_value=1)
    if ys is None:
        for some, labels in xs:
            yield from _cut(some, labels, every or BATCH)
    else:
        yield from _cut(xs, ys, every or max(1, -(-_size(ys) // POINTS)))


def _cut(xs: Any, ys: Any, every: int) -> Iterator[tuple[Any, Any]]:
    if _size(xs) != _size(ys):
        raise ShapeError(f"expected a label for each of {_size(xs)} rounds, got {_size(ys)}")
    for start in range(0, _size(ys), every):
        yield xs[start : start + every], ys[start : start + every]


def _size(values: Iterable[Any]) -> int:
    if not isinstance(values, Sized):
        raise ShapeError(
            "rounds and labels are arrays or lists", hint="give a stream as batches: run_online(learner, pairs)"
        )
    return len(values)


def paint_mistake_curve(axes: Any, curve: MistakeCurve, name: str = "learner") -> None:
    """Mistakes of the learner and of the best expert, the bound above them, and regret between the two."""
    told = "expected mistakes" if curve.expected else "mistakes"
    axes.fill_between(curve.rounds, curve.best, curve.mistakes, alpha=0.2, label=f"regret: {curve.regret[-1]:.4g}")
    axes.plot(curve.rounds, curve.mistakes, label=f"{name}: {curve.mistakes[-1]:.4g}")
    axes.plot(curve.rounds, curve.best, color="black", linewidth=1, label=f"best expert: {curve.best[-1]:.4g}")
    finite = np.isfinite(curve.bounds)
    if finite.any():
        last = curve.bounds[finite][-1]
        axes.plot(curve.rounds[finite], curve.bounds[finite], color="gray", linestyle="--", label=f"bound: {last:.4g}")
    axes.set(xlabel="rounds", ylabel=told, xlim=(curve.rounds[0], curve.rounds[-1]), ylim=(0, None))
    axes.legend(frameon=False, loc="upper left")
