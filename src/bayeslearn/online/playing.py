"""A learner led through a stream, with its mistakes, those of the best expert and the bound kept on the way."""

from __future__ import annotations

from collections.abc import Sized
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import ShapeError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

#: Points of a curve when the number of rounds is known, and rounds of a batch when it is not.
POINTS, BATCH = 512, 1024


@dataclass(frozen=True, eq=False)
class Course:
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


def play(
    learner: Any,
    xs: Any,
    ys: Any = None,
    *,
    every: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> Course:
    """Lead a learner through rounds in order; it is told each label after it guessed, and goes on from where it was.

    Parameters
    ----------
    learner
        A :class:`~bayeslearn.online.WeightedMajority` or :class:`~bayeslearn.online.Halving`.
    xs, ys
        What the experts are asked (or their advice), and the labels. Without `ys`, `xs` is an iterable of batches
        ``(xs, ys)``, which are held one at a time.
    every
        Rounds between two points of the curves.
    progress
        Called with the rounds played so far.

    Examples
    --------
    >>> from bayeslearn.online import WeightedMajority
    >>> advice = np.array([[0, 1], [0, 1], [1, 0], [0, 1], [0, 1]])
    >>> course = play(WeightedMajority(2), advice, np.zeros(5, int))
    >>> course.mistakes, course.best
    (array([0., 0., 0., 1., 1., 1.]), array([0., 0., 0., 1., 1., 1.]))
    """
    expected = bool(getattr(learner, "randomised", False))
    points = [_point(learner, expected=expected)]
    for some, labels in _batches(xs, ys, every):
        learner.partial_fit(some, labels)
        points.append(_point(learner, expected=expected))
        if progress is not None:
            progress(learner.rounds)
    rounds, mistakes, best, bounds = zip(*points, strict=True)
    return Course(np.array(rounds), np.array(mistakes), np.array(best), np.array(bounds), expected)


def _point(learner: Any, *, expected: bool) -> tuple[int, float, float, float]:
    best = float(learner.statistics.wrong.min())
    if expected:
        return learner.rounds, learner.expected_mistakes, best, learner.expected_bound
    return learner.rounds, float(learner.mistakes), best, learner.bound


def _batches(xs: Any, ys: Any, every: int | None) -> Iterator[tuple[Any, Any]]:
    if every is not None:
        validation.integer("every", every, least=1)
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
        raise ShapeError("rounds and labels are arrays or lists", hint="give a stream as batches: play(learner, pairs)")
    return len(values)
