"""Mistakes of experts and of the learner: counts that add, bounds, and their curve over the rounds.

    w_i ∝ p_i β^wrong_i        p: the prior        statistics: wrong, n_predictions, rounds

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

from bayeslearn import lazy_imports, validation
from bayeslearn.distributions.sufficient_statistics import Statistics, ratio
from bayeslearn.errors import ParameterError, ShapeError
from bayeslearn.progress import reports_progress, should_stop
from bayeslearn.reports import Grid, Report, Reported
from bayeslearn.tables.frames import frame_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.tables.frames import Backend

    Floats = NDArray[np.float64]

plots: Any = lazy_imports.Deferred("bayeslearn.plots")


@dataclass(frozen=True, eq=False)
class MistakeCounts(Statistics):
    """The number of mistakes and of predictions of each expert, and the number of rounds."""

    wrong: NDArray[np.float64]
    n_predictions: NDArray[np.float64]
    rounds: NDArray[np.float64]

    @classmethod
    def none(cls, n: int) -> MistakeCounts:
        """Those of n experts before the first round."""
        return cls(np.zeros(n), np.zeros(n), np.zeros(()))

    @property
    def error(self) -> NDArray[np.float64]:
        """The error rate of each expert: mistakes by predictions."""
        return ratio(self.wrong, self.n_predictions)


@dataclass(frozen=True)
class RunRecord:
    """The mistakes of the learner itself. Unlike those of the experts, they depend on the order of the rounds."""

    #: The number of wrong predictions.
    mistakes: int = 0
    #: The expected number of mistakes of predictions drawn by the weights.
    expected: float = 0.0
    #: The number of learners that were merged.
    starts: int = 1
    #: The smallest share of the weight that voted in a round with a mistake, and in any round.
    voting_share_if_wrong: float = 1.0
    voting_share: float = 1.0

    def __add__(self, other: RunRecord) -> RunRecord:
        return RunRecord(
            self.mistakes + other.mistakes,
            self.expected + other.expected,
            self.starts + other.starts,
            min(self.voting_share_if_wrong, other.voting_share_if_wrong),
            min(self.voting_share, other.voting_share),
        )


def counted(n: int, what: str) -> str:
    """A number of things, in words."""
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"


### bounds


def weighted_majority_bound(
    n_mistakes: float,
    n_experts: float,
    *,
    beta: float = 0.5,
    randomized: bool = False,
    starts: int = 1,
    voting_share: float = 1.0,
) -> float:
    """Upper bound on the mistakes of the vote if one expert makes `n_mistakes`; on their expectation if `randomized`.

    Parameters
    ----------
    n_mistakes, n_experts
        The mistakes of the best expert, and the number of experts.
    beta
        The factor of the weight of an expert for each mistake.
    randomized
        Whether predictions are drawn by the weights.
    starts
        The number of learners that were merged.
    voting_share
        The smallest share of the weight that votes.

    Examples
    --------
    >>> round(weighted_majority_bound(10, 16), 2), round(weighted_majority_bound(0, 16, beta=0), 2)
    (33.73, 4.0)
    >>> round(weighted_majority_bound(10, 16, beta=0.8, randomized=True), 2)
    25.02
    """
    k = validation.number("n_mistakes", n_mistakes, min_value=0)
    n = validation.number("n_experts", n_experts, min_value=1)
    validation.number("voting_share", voting_share, min_value=0, max_value=1)
    return least_bound(
        [k], [-math.log(n)], beta=beta, randomized=randomized, starts=validation.integer("starts", starts, min_value=1),
        voting_share=voting_share,
    )  # fmt: skip


def least_bound(
    wrong: ArrayLike,
    log_prior: ArrayLike,
    *,
    beta: float,
    randomized: bool = False,
    starts: int = 1,
    voting_share: float = 1.0,
) -> float:
    """The smallest of the bounds of the experts, each by its mistakes and its prior."""
    beta = validation.number("beta", beta, min_value=0, below=1)
    if randomized and beta == 0:
        raise ParameterError("the randomized vote has no bound at β = 0")
    wrong, log_prior = np.asarray(wrong, np.float64), np.asarray(log_prior, np.float64)
    cost = np.where(wrong > 0, wrong * -math.log(beta) if beta else np.inf, 0.0) - starts * log_prior
    taken = voting_share * (1 - beta) if randomized else -math.log1p(-voting_share * (1 - beta) / 2)
    return float(cost.min()) / taken if taken > 0 else math.inf  # no expert voted


### a run and its curve


#: Points of a curve when the number of rounds is known, and rounds of a batch when it is not.
POINTS, BATCH = 512, 1024


@dataclass(frozen=True, eq=False, repr=False)
class MistakeCurve(Reported):
    """Mistakes of a learner and of its best expert by the number of rounds; the first point is the start."""

    rounds: NDArray[np.int64]
    mistakes: Floats
    #: The mistakes of the best expert up to the round.
    best: Floats
    bounds: Floats
    #: Whether the mistakes are expected ones, of a randomized vote.
    expected: bool = False

    @property
    def regret(self) -> Floats:
        """The mistakes minus those of the best expert."""
        return self.mistakes - self.best

    def report(self) -> Report:
        """Return the last point, and some points of the curve."""
        title = (
            f"{self.mistakes[-1]:.4g} mistakes in {self.rounds[-1]:,} rounds, {self.best[-1]:.4g} of the best expert, "
            f"bound {self.bounds[-1]:.4g}"
        )
        shown = np.unique(np.linspace(0, len(self.rounds) - 1, min(len(self.rounds), 6)).astype(int)).tolist()
        rows = [(int(self.rounds[i]), *(float(values[i]) for values in self._values().values())) for i in shown]
        return Report(title, Grid(["Rounds", "Mistakes", "Best expert", "Regret", "Bound"], rows))

    def to_dict(self) -> dict[str, Any]:
        """Return rounds, mistakes, mistakes of the best expert, regret and bounds as lists."""
        return {"rounds": self.rounds.tolist(), **{name: v.tolist() for name, v in self._values().items()}}

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a frame with a row for each point."""
        return frame_of({"rounds": self.rounds, **self._values()}, backend)

    def plot(self, name: str = "Learner", *, ax: Any = None) -> Any:
        """Draw the mistakes by rounds (:func:`bayeslearn.plots.plot_mistake_curve`)."""
        return plots.plot_mistake_curve(self, name, ax=ax)

    def _values(self) -> dict[str, Floats]:
        return {"mistakes": self.mistakes, "best": self.best, "regret": self.regret, "bounds": self.bounds}


@reports_progress("Online learning")
def run_online(
    learner: Any,
    X: Any,
    y: Any = None,
    *,
    every: int | None = None,
    progress: Any = None,
) -> MistakeCurve:
    """Run a learner over rounds in order: it predicts each label before it learns it. The learner is updated in place.

    Parameters
    ----------
    learner
        A :class:`~bayeslearn.online.WeightedMajority` or :class:`~bayeslearn.online.Halving`.
    X, y
        The instances (or the advice of the experts), and the labels. Without `y`, `X` is an iterable of batches
        ``(X, y)``, which are held in memory one at a time.
    every
        Rounds between two points of the curve.
    progress
        True for a progress bar, or a function of :class:`~bayeslearn.progress.Progress`, whose `detail` is the number
        of rounds.

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
    n_rounds, before = (None if y is None else _size(y)), learner.rounds
    for some, labels in _batches(X, y, every):
        learner.partial_fit(some, labels)
        points.append(_point(learner, expected=expected))
        done = learner.rounds - before
        if should_stop(progress, done / n_rounds if n_rounds else 0.0, f"{done:,} rounds", done):
            break
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
