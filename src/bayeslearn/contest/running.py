"""The contest: every learner on the same folds, and what came of it."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import validation
from bayeslearn.contest import judging
from bayeslearn.contest.learners import BASELINE, Baseline, Learner, chosen
from bayeslearn.contest.measuring import measured
from bayeslearn.contest.reading import Kind, Problem, read
from bayeslearn.contest.report import Contest, Failure, Line
from bayeslearn.em import told_to_stop
from bayeslearn.sources import with_options
from bayeslearn.tables.schema import name_list

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from bayeslearn.contest.measuring import Trial
    from bayeslearn.tables.markers import Markers


@dataclass(frozen=True)
class Step:
    """A fold that is done: of which learner, and which share of the contest that makes."""

    learner: str
    fold: int
    share: float


class Ended(Exception):  # noqa: N818 - no error: the time is over
    """A learner is not to go on."""


def contest(
    data: Any,
    target: str,
    *,
    learners: Any = None,
    folds: int = 10,
    kind: Kind = "auto",
    weights: Any = None,
    ignore: Iterable[str] = (),
    rng: np.random.Generator | int | None = 0,
    time_limit: float | None = None,
    progress: Callable[[Step], object] | None = None,
    missing: Markers = (),
    keep_default_na: bool = True,
    drop_columns: Iterable[str] = (),
) -> Contest:
    """Lazy and eager learners on the same folds of a table: time to train, time to ask, memory and error.

    Parameters
    ----------
    data, target
        Anything that :func:`~bayeslearn.as_table` takes, with holes, and the column to predict. Rows without a target
        take no part.
    learners
        Names of :func:`roster`, estimators with ``fit`` and ``predict``, classes of scikit-learn by name
        (``"RandomForestClassifier"``, ``"sklearn.svm.SVC"``), or a dict of these by a name of your own. All of ours if
        not given. Estimators of others see words as indicators, and the mean where a cell is missing.
    folds
        How many parts the rows are held out in.
    kind
        Whether the target is one of classes or a number; whole numbers that repeat themselves are classes if nothing is
        said.
    missing, keep_default_na, drop_columns
        As in :func:`~bayeslearn.as_table`.
    weights
        How often each row counts, or the column that says so.
    ignore
        Columns to leave out.
    rng
        The seed of the folds and of the learners that draw.
    time_limit
        Seconds for each learner, looked at when a fold is done: one that needs more is told among the failures.
    progress
        A function that is told of each :class:`Step`; by raising StopIteration it ends the contest, and learners that
        are not done are told among the failures.

    Examples
    --------
    >>> x = np.linspace(0, 6, 40)
    >>> found = contest({"x": x, "y": np.sin(x)}, "y", learners=["k-nn", "least-squares"], folds=5)
    >>> [line.name for line in found.lines]
    ['k-nn', 'least-squares', 'baseline']
    >>> found["k-nn"].lazy, found["least-squares"].verdict
    (True, 'worse')
    """
    data = with_options(data, missing=missing, keep_default_na=keep_default_na, drop_columns=drop_columns)
    validation.choice("kind", kind, ["auto", "classes", "numbers"])
    n = validation.integer("folds", folds, least=2)
    limit = None if time_limit is None else validation.number("time_limit", time_limit, above=0)
    seed = int(validation.generator(rng).integers(1 << 63))
    problem = read(data, target, kind=kind, weights=weights, ignore=list(name_list("ignore", ignore)), seed=seed)
    entrants = chosen(learners, "classes" if problem.classes else "numbers")
    fold, watch = problem.folds(n), Watch(len(entrants), n, limit, progress)
    nothing = Learner(BASELINE, Baseline(len(problem.classes)), lazy=False)
    trials = {BASELINE: (nothing, measured(problem, nothing, fold, seed, lambda _: None))}
    failures: list[Failure] = []
    for learner in entrants:
        try:
            trials[learner.name] = (learner, measured(problem, learner, fold, seed, watch.over(learner.name)))
        except Exception as error:  # noqa: BLE001 - whatever a learner dies of, the others go on
            failures.append(Failure(learner.name, reason(error)))
    return judged(problem, fold, trials, failures)


def reason(error: Exception) -> str:
    """One line on what went wrong."""
    words = str(getattr(error, "message", error)).strip().partition("\n")[0]
    if isinstance(error, Ended) or type(error).__module__ == "bayeslearn.errors":
        return words
    return f"{type(error).__name__}: {words}" if words else type(error).__name__


@dataclass
class Watch:
    """How long a learner has run, and whether anyone wants it to end."""

    n_learners: int
    n_folds: int
    limit: float | None
    progress: Callable[[Step], object] | None
    turn: int = -1
    stopped: bool = False

    def over(self, name: str) -> Callable[[int], None]:
        """What is told of each fold that a learner has done, and raises where there is to be no more."""
        if self.stopped:
            raise Ended("the contest was ended before its turn")
        self.turn += 1
        start, done = time.monotonic(), -1  # the fold that warms is none

        def heed(fold: int) -> None:
            nonlocal done
            done += 1
            share = (self.turn + (done + 1) / (self.n_folds + 1)) / self.n_learners
            self.stopped = told_to_stop(self.progress, Step(name, fold, share))
            if done == self.n_folds:
                return
            if self.stopped:
                raise Ended(f"the contest was ended after {done} of its {self.n_folds} folds")
            if self.limit is not None and time.monotonic() - start > self.limit:
                raise Ended(f"more than {self.limit:g} s for {done} of {self.n_folds} folds")

        return heed


### what came of it


def judged(
    problem: Problem, folds: NDArray[np.intp], trials: dict[str, tuple[Learner, Trial]], failures: list[Failure]
) -> Contest:
    """Lines with their errors, the best first, each beside the best."""
    classes, weights = bool(problem.classes), problem.weights
    losses = {name: losses_of(problem, trial) for name, (_, trial) in trials.items()}
    lines = [line(problem, *trials[name], losses[name]) for name in trials]
    lines.sort(key=lambda line: (line.error, np.inf if line.log_loss is None else line.log_loss))
    best, others = lines[0], lines[1:]
    p = judging.holm([
        judging.chance(losses[other.name], losses[best.name], weights, classes=classes) for other in others
    ])  # fmt: skip
    beside = [replace(other, p_value=value) for other, value in zip(others, p, strict=True)]
    return Contest(
        problem.target, "classes" if classes else "numbers", len(problem.said), len(problem.states.schema),
        int(folds.max()) + 1, problem.given - len(problem.said), (best, *beside), tuple(failures), problem.left_out,
        folds=problem.as_given(folds, -1),
    )  # fmt: skip


def losses_of(problem: Problem, trial: Trial) -> NDArray[np.float64]:
    """0 or 1 of a class, the square of what a number is off by."""
    return (trial.said != problem.said).astype(float) if problem.classes else (trial.said - problem.said) ** 2


def line(problem: Problem, learner: Learner, trial: Trial, losses: NDArray[np.float64]) -> Line:
    """One learner by itself."""
    error, spread = judging.error_of(losses, problem.weights, classes=bool(problem.classes))
    loss = None if trial.proba is None else judging.log_loss(trial.proba, problem.said, problem.weights)
    return Line(
        learner.name, learner.lazy, trial.train_seconds, trial.query_seconds, trial.kept_bytes, error, spread, loss,
        warned=trial.warned, losses=problem.as_given(losses, np.nan),
    )  # fmt: skip
