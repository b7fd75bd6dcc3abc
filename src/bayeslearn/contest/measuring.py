"""One learner over all folds: how long it takes to train and to ask, what it keeps, and what it says.

    to train     seconds of one fit, the median over the folds
    per query    seconds of one predict of the rows held out, over and over up to a thousand, divided by their number,
                 the median over the folds
    keeps        bytes of the pickle of the fitted model after it was asked: its arrays, with any index it has built

The first fold is run once before it is timed, so that neither imports nor compilation count.
"""

from __future__ import annotations

import pickle
import time
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.errors import DataError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from bayeslearn.contest.learners import Learner
    from bayeslearn.contest.reading import Problem

    Floats = NDArray[np.float64]

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
    warned: tuple[str, ...]


def measured(
    problem: Problem, learner: Learner, folds: NDArray[np.intp], seed: int, heed: Callable[[int], None]
) -> Trial:
    """A learner on every fold; `heed` is told of each that is done, and may raise to end it."""
    n_folds, n_classes = int(folds.max()) + 1, len(problem.classes)
    said, proba = np.zeros_like(problem.said), np.full((len(folds), n_classes), np.nan)
    seconds = np.empty((n_folds, 2))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for fold in (0, *range(n_folds)):  # the first warms, and is written over
            new = np.flatnonzero(folds == fold)
            queries = handed(problem, learner, np.resize(new, max(len(new), LEAST_QUERIES)))
            model, answer, seconds[fold] = run(problem, learner, np.flatnonzero(folds != fold), queries, seed)
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
    if problem.states.weights is not None:
        require_weights(model)
        how["sample_weight"] = problem.weights[seen]
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
    return np.column_stack([part.decode(name) for name in part.schema.names])


def require_weights(model: Any) -> None:
    """An estimator that can count a row more often than once."""
    from sklearn.utils.validation import has_fit_parameter  # noqa: PLC0415 - loaded when a contest begins

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
