"""Every learner on the same folds of a table: time to train and to predict, memory, and error.

    to train     seconds of one fit, the median over the folds
    per query    seconds of one predict of the rows held out, repeated up to a thousand, divided by their number,
                 the median over the folds
    keeps        bytes of the pickle of the fitted model after it predicted: its arrays, with any index it has built

The first fold is run once before it is timed, so that neither imports nor compilation count.
"""

from __future__ import annotations

import pickle
import time
import warnings
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayeslearn import evaluation, significance, validation
from bayeslearn.em import should_stop
from bayeslearn.errors import DataError, ParameterError
from bayeslearn.model_comparison.folds import Problem, read
from bayeslearn.model_comparison.learners import BASELINE, Baseline, Learner, Task, chosen
from bayeslearn.model_comparison.results import LearnerFailure, LearnerResult, ModelComparison
from bayeslearn.sources import with_options
from bayeslearn.tables.schema import name_list

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from bayeslearn.model_comparison.folds import Problem

    Floats = NDArray[np.float64]
    from collections.abc import Iterable

    from bayeslearn.tables.markers import Markers

### one learner


#: Rows that are asked about at once at least, so that what a call costs by itself does not count.
LEAST_QUERIES = 1000


@dataclass(frozen=True, eq=False)
class Trial:
    """What was measured of a learner, and what it said of every row that it had not seen."""

    train_seconds: float
    query_seconds: float
    kept_bytes: int | None
    said: NDArray[Any]
    #: P(class) of every row, where the learner tells it.
    proba: Floats | None
    warnings: tuple[str, ...]


def measured(
    problem: Problem, learner: Learner, folds: NDArray[np.intp], seed: int, heed: Callable[[int], None]
) -> Trial:
    """A learner on every fold; `heed` is told of each that is done, and may raise to end it."""
    n_folds, n_classes = int(folds.max()) + 1, len(problem.classes)
    said, proba = np.zeros_like(problem.said), np.full((len(folds), n_classes), np.nan)
    seconds = np.empty((n_folds, 2))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        parts = list(enumerate(evaluation.each_fold(folds)))
        for fold, (seen, new) in (parts[0], *parts):  # the first warms, and is written over
            queries = handed(problem, learner, np.resize(new, max(len(new), LEAST_QUERIES)))
            model, answer, seconds[fold] = run(problem, learner, seen, queries, seed)
            said[new] = checked(problem, answer)[: len(new)]
            if n_classes and hasattr(model, "predict_proba"):
                proba[new] = widened(model.predict_proba(handed(problem, learner, new)), model.classes_, n_classes)
            heed(fold)
        kept = bytes_of(model)
    train, ask = np.median(seconds, axis=0)
    told = tuple(dict.fromkeys(str(w.message).partition("\n")[0] for w in caught))
    return Trial(float(train), float(ask), kept, said, proba if n_classes and not np.isnan(proba).any() else None, told)


def run(
    problem: Problem, learner: Learner, seen: NDArray[np.intp], rows: Any, seed: int
) -> tuple[Any, Any, tuple[float, float]]:
    """A model of the rows seen, what it says of others, and the seconds: to train, and per query."""
    examples, said, how = handed(problem, learner, seen), problem.said[seen], {}
    model = learner.fresh(seed)
    if problem.states.sample_weight is not None:
        require_weights(model)
        how["sample_weight"] = problem.sample_weight[seen]
    start = time.perf_counter()
    model.fit(examples, said, **how)
    trained = time.perf_counter()
    answer = model.predict(rows)
    asked = time.perf_counter()
    return model, answer, (trained - start, (asked - trained) / len(rows))


### what goes in and comes out


def handed(problem: Problem, learner: Learner, rows: NDArray[np.intp]) -> Any:
    """Rows in the form that a learner likes."""
    if learner.form != "cells":
        return (problem.states if learner.form == "states" else problem.numbers).take(rows).with_weights(None)
    part = problem.states.take(rows)
    return np.column_stack([part.column(name) for name in part.schema.names])


def require_weights(model: Any) -> None:
    """An estimator that can count a row more often than once."""
    from sklearn.utils.validation import has_fit_parameter  # noqa: PLC0415 - loaded when a comparison begins

    if not has_fit_parameter(getattr(model, "estimator", model), "sample_weight"):
        raise ParameterError("it takes no weights of rows")


def checked(problem: Problem, answer: Any) -> NDArray[Any]:
    """Predictions that are classes, or finite numbers."""
    found = np.asarray(answer).ravel() if problem.classes else np.asarray(answer, np.float64).ravel()
    bad = ~np.isin(found, np.arange(len(problem.classes))) if problem.classes else ~np.isfinite(found)
    if bad.any():
        raise DataError(f"it predicts {found[bad][0]}, which is no {'class' if problem.classes else 'finite number'}")
    return found


def widened(proba: Any, classes: Any, n: int) -> Floats:
    """Probabilities of all classes: one that training had not shown has none."""
    found = np.zeros((len(proba), n))
    found[:, np.asarray(classes, np.intp)] = proba
    return found


def bytes_of(model: Any) -> int | None:
    """The size of a pickle, without making one of the arrays; None of what cannot be pickled."""
    apart: list[pickle.PickleBuffer] = []
    try:
        rest = pickle.dumps(model, protocol=5, buffer_callback=apart.append)
    except Exception:  # noqa: BLE001 - estimators of others may raise anything
        return None
    return len(rest) + sum(buffer.raw().nbytes for buffer in apart)


### all learners


@dataclass(frozen=True)
class ComparisonProgress:
    """A fold that is done: of which learner, and which fraction of the comparison that makes."""

    learner: str
    fold: int
    fraction: float


class Ended(Exception):  # noqa: N818 - no error: the time is over
    """A learner is not to go on."""


def compare_models(
    data: Any,
    target: str,
    *,
    learners: Any = None,
    cv: int = 10,
    task: Task | Literal["auto"] = "auto",
    sample_weight: Any = None,
    random_state: np.random.Generator | int | None = 0,
    time_limit: float | None = None,
    progress: Callable[[ComparisonProgress], object] | None = None,
    na_values: Markers = (),
    keep_default_na: bool = True,
    drop_columns: Iterable[str] = (),
) -> ModelComparison:
    """Compare lazy and eager learners on the same folds of a table: time to train and to predict, memory and error.

    Parameters
    ----------
    data, target
        Anything that :func:`~bayeslearn.as_table` takes, with holes, and the column to predict. Rows without a target
        take no part.
    learners
        Names of :func:`default_learners`, estimators with ``fit`` and ``predict``, classes of scikit-learn by name
        (``"RandomForestClassifier"``, ``"sklearn.svm.SVC"``), or a dict of these by a name of your own. All of ours if
        not given. Estimators of others see words as indicators, and the mean where a cell is missing.
    cv
        The number of folds.
    task
        ``"classification"``, ``"regression"``, or ``"auto"``: whole numbers that repeat themselves are classes.
    sample_weight
        The weight of each row, or the column that holds it.
    random_state
        The seed of the folds and of the learners that use random numbers.
    na_values, keep_default_na, drop_columns
        As in :func:`~bayeslearn.as_table`.
    time_limit
        Seconds for each learner, looked at when a fold is done: one that needs more is told among the failures.
    progress
        A function of each :class:`ComparisonProgress`; by raising StopIteration it ends the comparison, and learners
        that are not done are among the failures.

    Examples
    --------
    >>> x = np.linspace(0, 6, 40)
    >>> found = compare_models({"x": x, "y": np.sin(x)}, "y", learners=["k-nn", "least-squares"], cv=5)
    >>> [line.name for line in found.results]
    ['k-nn', 'least-squares', 'baseline']
    >>> found["k-nn"].is_lazy, found["least-squares"].verdict
    (True, 'worse')
    """
    dropped = name_list("drop_columns", drop_columns)
    if target in dropped:
        raise ParameterError(f"column {target!r} is to be both predicted and dropped")
    data = with_options(data, na_values=na_values, keep_default_na=keep_default_na, drop_columns=dropped)
    task = validation.choice("task", task, ["auto", "classification", "regression"])
    n = validation.integer("cv", cv, min_value=2)
    limit = None if time_limit is None else validation.number("time_limit", time_limit, above=0)
    seed = int(validation.generator(random_state).integers(1 << 63))
    problem = read(data, target, task=task, sample_weight=sample_weight, dropped=dropped, seed=seed)
    entrants = chosen(learners, "classification" if problem.classes else "regression")
    fold, watch = problem.folds(n), Watch(len(entrants), n, limit, progress)
    nothing = Learner(BASELINE, Baseline(len(problem.classes)), is_lazy=False)
    trials = {BASELINE: (nothing, measured(problem, nothing, fold, seed, lambda _: None))}
    failures: list[LearnerFailure] = []
    for learner in entrants:
        try:
            trials[learner.name] = (learner, measured(problem, learner, fold, seed, watch.over(learner.name)))
        except Exception as error:  # noqa: BLE001 - whatever a learner dies of, the others go on
            failures.append(LearnerFailure(learner.name, reason(error)))
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
    progress: Callable[[ComparisonProgress], object] | None
    turn: int = -1
    stopped: bool = False

    def over(self, name: str) -> Callable[[int], None]:
        """What is told of each fold that a learner has done, and raises where there is to be no more."""
        if self.stopped:
            raise Ended("the comparison was ended before its turn")
        self.turn += 1
        start, done = time.monotonic(), -1  # the fold that warms is none

        def heed(fold: int) -> None:
            nonlocal done
            done += 1
            share = (self.turn + (done + 1) / (self.n_folds + 1)) / self.n_learners
            self.stopped = should_stop(self.progress, ComparisonProgress(name, fold, share))
            if done == self.n_folds:
                return
            if self.stopped:
                raise Ended(f"the comparison was ended after {done} of its {self.n_folds} folds")
            if self.limit is not None and time.monotonic() - start > self.limit:
                raise Ended(f"more than {self.limit:g} s for {done} of {self.n_folds} folds")

        return heed


### what came of it


def judged(
    problem: Problem, folds: NDArray[np.intp], trials: dict[str, tuple[Learner, Trial]], failures: list[LearnerFailure]
) -> ModelComparison:
    """Lines with their errors, the best first, each beside the best."""
    classes, weights = bool(problem.classes), problem.sample_weight
    losses = {name: losses_of(problem, trial) for name, (_, trial) in trials.items()}
    lines = [line(problem, *trials[name], losses[name]) for name in trials]
    lines.sort(key=lambda line: (line.error, np.inf if line.log_loss is None else line.log_loss))
    best, others = lines[0], lines[1:]
    beaten = partial(significance.paired, b=losses[best.name], sample_weight=weights, classes=classes)
    p = significance.holm([beaten(losses[other.name]).p_value for other in others])
    beside = [replace(other, p_value=value) for other, value in zip(others, p, strict=True)]
    return ModelComparison(
        problem.target, "classification" if classes else "regression", len(problem.said), len(problem.states.schema),
        int(folds.max()) + 1, problem.given - len(problem.said), (best, *beside), tuple(failures),
        problem.dropped_columns, fold_ids=problem.as_given(folds, -1),
    )  # fmt: skip


def losses_of(problem: Problem, trial: Trial) -> NDArray[np.float64]:
    """0 or 1 of a class, the square of what a number is off by."""
    return (trial.said != problem.said).astype(float) if problem.classes else (trial.said - problem.said) ** 2


def line(problem: Problem, learner: Learner, trial: Trial, losses: NDArray[np.float64]) -> LearnerResult:
    """One learner by itself."""
    error, spread = significance.error_with_spread(losses, problem.sample_weight, classes=bool(problem.classes))
    loss = None
    if trial.proba is not None:
        loss, _ = evaluation.mean_with_error(evaluation.log_losses(trial.proba, problem.said), problem.sample_weight)
    return LearnerResult(
        learner.name, learner.is_lazy, trial.train_seconds, trial.query_seconds, trial.kept_bytes, error, spread, loss,
        warnings=trial.warnings, losses=problem.as_given(losses, np.nan),
    )  # fmt: skip
