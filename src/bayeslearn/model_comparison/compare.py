"""Every learner on the same folds of a table: time to train and to predict, memory, and error.

    train time    seconds of one fit, the median over the folds
    query time    seconds of one prediction of the held-out rows, repeated up to a thousand, by their number, the median
                  over the folds
    memory        bytes of the pickle of the fitted model after its predictions: arrays, and any index that it built

The first fold runs once before it is timed, so that imports and compilation do not count.
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
from bayeslearn.errors import DataError, ParameterError
from bayeslearn.model_comparison.folds import Problem, read
from bayeslearn.model_comparison.learners import BASELINE, Baseline, Learner, Task, chosen
from bayeslearn.model_comparison.results import LearnerFailure, LearnerResult, ModelComparison
from bayeslearn.progress import reports_progress, should_stop
from bayeslearn.sources import with_options
from bayeslearn.tables.schema import name_list

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from bayeslearn.progress import Reporter

    Floats = NDArray[np.float64]
    from collections.abc import Iterable

    from bayeslearn.tables.markers import Markers

### one learner


#: The fewest rows of a timed prediction, so that the constant cost of a call does not count.
MIN_QUERIES = 1000


@dataclass(frozen=True, eq=False)
class Trial:
    """The measurements of a learner, and its out-of-fold predictions."""

    train_seconds: float
    query_seconds: float
    kept_bytes: int | None
    predictions: NDArray[Any]
    #: P(class) of every row, if the learner predicts it.
    proba: Floats | None
    warnings: tuple[str, ...]


def measured(
    problem: Problem, learner: Learner, fold_ids: NDArray[np.intp], seed: int, heed: Callable[[int], None]
) -> Trial:
    """A learner on every fold; `heed` is called after each, and may raise to end it."""
    n_folds, n_classes = int(fold_ids.max()) + 1, len(problem.classes)
    predictions, proba = np.zeros_like(problem.targets), np.full((len(fold_ids), n_classes), np.nan)
    seconds = np.empty((n_folds, 2))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        parts = list(enumerate(evaluation.each_fold(fold_ids)))
        for fold, (seen, new) in (parts[0], *parts):  # the first is repeated
            queries = handed(problem, learner, np.resize(new, max(len(new), MIN_QUERIES)))
            model, answer, seconds[fold] = run(problem, learner, seen, queries, seed)
            predictions[new] = checked(problem, answer)[: len(new)]
            if n_classes and hasattr(model, "predict_proba"):
                proba[new] = widened(model.predict_proba(handed(problem, learner, new)), model.classes_, n_classes)
            heed(fold)
        kept = bytes_of(model)
    train, ask = np.median(seconds, axis=0)
    messages = tuple(dict.fromkeys(str(w.message).partition("\n")[0] for w in caught))
    known = proba if n_classes and not np.isnan(proba).any() else None
    return Trial(float(train), float(ask), kept, predictions, known, messages)


def run(
    problem: Problem, learner: Learner, seen: NDArray[np.intp], rows: Any, seed: int
) -> tuple[Any, Any, tuple[float, float]]:
    """A model of the training rows, its predictions of others, and the seconds of training and of a prediction."""
    examples, targets, how = handed(problem, learner, seen), problem.targets[seen], {}
    model = learner.fresh(seed)
    if problem.states.sample_weight is not None:
        require_weights(model)
        how["sample_weight"] = problem.sample_weight[seen]
    start = time.perf_counter()
    model.fit(examples, targets, **how)
    trained = time.perf_counter()
    answer = model.predict(rows)
    asked = time.perf_counter()
    return model, answer, (trained - start, (asked - trained) / len(rows))


### rows and predictions


def handed(problem: Problem, learner: Learner, rows: NDArray[np.intp]) -> Any:
    """Rows in the form of a learner."""
    if learner.form != "cells":
        return (problem.states if learner.form == "states" else problem.numbers).take(rows).with_weights(None)
    part = problem.states.take(rows)
    return np.column_stack([part.column(name) for name in part.schema.names])


def require_weights(model: Any) -> None:
    """Require that an estimator takes sample weights."""
    from sklearn.utils.validation import has_fit_parameter  # noqa: PLC0415 - loaded when a comparison begins

    if not has_fit_parameter(getattr(model, "estimator", model), "sample_weight"):
        raise ParameterError("it takes no sample weights")


def checked(problem: Problem, answer: Any) -> NDArray[Any]:
    """Predictions that are classes, or finite numbers."""
    found = np.asarray(answer).ravel() if problem.classes else np.asarray(answer, np.float64).ravel()
    bad = ~np.isin(found, np.arange(len(problem.classes))) if problem.classes else ~np.isfinite(found)
    if bad.any():
        raise DataError(f"it predicts {found[bad][0]}, which is no {'class' if problem.classes else 'finite number'}")
    return found


def widened(proba: Any, classes: Any, n: int) -> Floats:
    """Probabilities of all classes; a class that is not in the training rows has probability 0."""
    found = np.zeros((len(proba), n))
    found[:, np.asarray(classes, np.intp)] = proba
    return found


def bytes_of(model: Any) -> int | None:
    """The size of a pickle, without copies of its arrays; None if the model cannot be pickled."""
    apart: list[pickle.PickleBuffer] = []
    try:
        rest = pickle.dumps(model, protocol=5, buffer_callback=apart.append)
    except Exception:  # noqa: BLE001 - estimators of others may raise anything
        return None
    return len(rest) + sum(buffer.raw().nbytes for buffer in apart)


### all learners


@dataclass(frozen=True)
class ComparisonProgress:
    """The `detail` of the progress of a comparison: the learner and the fold that is done."""

    learner: str
    fold: int


class Ended(Exception):  # noqa: N818 - no error: the time is over
    """A learner is stopped."""


@reports_progress("Comparing models")
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
    progress: Any = None,
    na_values: Markers = (),
    keep_default_na: bool = True,
    drop_columns: Iterable[str] = (),
) -> ModelComparison:
    """Compare lazy and eager learners on the same folds of a table: time to train and to predict, memory and error.

    Parameters
    ----------
    data, target
        Anything that :func:`~bayeslearn.as_table` takes, and the column to predict. Rows without a target are dropped.
    learners
        Names of :func:`default_learners`, estimators with ``fit`` and ``predict``, classes of scikit-learn by name
        (``"RandomForestClassifier"``, ``"sklearn.svm.SVC"``), or a dict of these by name. By default all learners of
        this package. For other estimators, categorical columns become indicators and missing values the mean.
    cv
        The number of folds.
    task
        ``"classification"``, ``"regression"``, or ``"auto"``: repeated whole numbers are classes.
    sample_weight
        The weight of each row, or the column that holds it.
    random_state
        Seed or generator of the folds and of stochastic learners.
    na_values, keep_default_na, drop_columns
        As in :func:`~bayeslearn.as_table`.
    time_limit
        Seconds per learner, checked after each fold; slower learners are among the failures.
    progress
        True for a progress bar, or a function of :class:`~bayeslearn.progress.Progress` with a
        :class:`ComparisonProgress` as `detail`; if it raises StopIteration, the comparison ends, and learners that are
        not done are among the failures.

    Examples
    --------
    >>> x = np.linspace(0, 6, 40)
    >>> found = compare_models({"x": x, "y": np.sin(x)}, "y", learners=["k-nn", "least-squares"], cv=5)
    >>> [result.name for result in found.results]
    ['k-nn', 'least-squares', 'baseline']
    >>> found["k-nn"].is_lazy, found["least-squares"].verdict
    (True, 'worse')
    """
    dropped = name_list("drop_columns", drop_columns)
    if target in dropped:
        raise ParameterError(f"column {target!r} is both the target and dropped")
    data = with_options(data, na_values=na_values, keep_default_na=keep_default_na, drop_columns=dropped)
    task = validation.choice("task", task, ["auto", "classification", "regression"])
    n = validation.integer("cv", cv, min_value=2)
    limit = None if time_limit is None else validation.number("time_limit", time_limit, above=0)
    seed = int(validation.generator(random_state).integers(1 << 63))
    problem = read(data, target, task=task, sample_weight=sample_weight, dropped=dropped, seed=seed)
    entrants = chosen(learners, "classification" if problem.classes else "regression")
    fold, watch = problem.folds(n), Watch(len(entrants), n, limit, progress)
    baseline = Learner(BASELINE, Baseline(len(problem.classes)), is_lazy=False)
    trials = {BASELINE: (baseline, measured(problem, baseline, fold, seed, lambda _: None))}
    failures: list[LearnerFailure] = []
    for learner in entrants:
        try:
            trials[learner.name] = (learner, measured(problem, learner, fold, seed, watch.over(learner.name)))
        except Exception as error:  # noqa: BLE001 - the other learners continue
            failures.append(LearnerFailure(learner.name, reason(error)))
    return judged(problem, fold, trials, failures)


def reason(error: Exception) -> str:
    """The reason of a failure, in one line."""
    words = str(getattr(error, "message", error)).strip().partition("\n")[0]
    if isinstance(error, Ended) or type(error).__module__ == "bayeslearn.errors":
        return words
    return f"{type(error).__name__}: {words}" if words else type(error).__name__


@dataclass
class Watch:
    """The time of each learner, and whether the callback ends the comparison."""

    n_learners: int
    n_folds: int
    limit: float | None
    progress: Reporter | None
    turn: int = -1
    stopped: bool = False

    def over(self, name: str) -> Callable[[int], None]:
        """Return a function that reports each fold of a learner, and raises to end it."""
        if self.stopped:
            raise Ended("the comparison was ended before it")
        self.turn += 1
        start, done = time.monotonic(), -1  # the repeated fold does not count

        def heed(fold: int) -> None:
            nonlocal done
            done += 1
            share = (self.turn + (done + 1) / (self.n_folds + 1)) / self.n_learners
            step = ComparisonProgress(name, fold)
            self.stopped = should_stop(self.progress, share, f"{name}, fold {fold + 1}", step)
            if done == self.n_folds:
                return
            if self.stopped:
                raise Ended(f"the comparison was ended after {done} of its {self.n_folds} folds")
            if self.limit is not None and time.monotonic() - start > self.limit:
                raise Ended(f"more than {self.limit:g} s for {done} of {self.n_folds} folds")

        return heed


### results


def judged(
    problem: Problem,
    fold_ids: NDArray[np.intp],
    trials: dict[str, tuple[Learner, Trial]],
    failures: list[LearnerFailure],
) -> ModelComparison:
    """The results of all learners, the best first, each compared with the best."""
    classes, weights = bool(problem.classes), problem.sample_weight
    losses = {name: losses_of(problem, trial) for name, (_, trial) in trials.items()}
    lines = [line(problem, *trials[name], losses[name]) for name in trials]
    lines.sort(key=lambda line: (line.error, np.inf if line.log_loss is None else line.log_loss))
    best, others = lines[0], lines[1:]
    beaten = partial(significance.paired, b=losses[best.name], sample_weight=weights, classes=classes)
    p = significance.holm([beaten(losses[other.name]).p_value for other in others])
    beside = [replace(other, p_value=value) for other, value in zip(others, p, strict=True)]
    return ModelComparison(
        problem.target, "classification" if classes else "regression", len(problem.targets), len(problem.states.schema),
        int(fold_ids.max()) + 1, problem.given - len(problem.targets), (best, *beside), tuple(failures),
        problem.dropped_columns, fold_ids=problem.as_given(fold_ids, -1),
    )  # fmt: skip


def losses_of(problem: Problem, trial: Trial) -> NDArray[np.float64]:
    """The loss of each row: 0 or 1 for classes, the squared error for numbers."""
    if problem.classes:
        return (trial.predictions != problem.targets).astype(float)
    return np.asarray((trial.predictions - problem.targets) ** 2)


def line(problem: Problem, learner: Learner, trial: Trial, losses: NDArray[np.float64]) -> LearnerResult:
    """The result of one learner."""
    error, spread = significance.error_with_spread(losses, problem.sample_weight, classes=bool(problem.classes))
    loss = None
    if trial.proba is not None:
        loss, _ = evaluation.mean_with_error(evaluation.log_losses(trial.proba, problem.targets), problem.sample_weight)
    return LearnerResult(
        learner.name, learner.is_lazy, trial.train_seconds, trial.query_seconds, trial.kept_bytes, error, spread, loss,
        warnings=trial.warnings, losses=problem.as_given(losses, np.nan),
    )  # fmt: skip
