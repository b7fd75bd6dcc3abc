"""Fit a Bayes optimal classifier: members on common folds, the pool of their out-of-fold predictions, final fits.

1. every member predicts each training row from the other folds              p_m(c | x_i, D without the fold of i)
2. the weights are those under which these predictions explain the labels    :mod:`bayeslearn.ensemble.pooling`
3. members of positive weight are fitted to all rows
"""

from __future__ import annotations

import time
import warnings
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayeslearn import validation
from bayeslearn.ensemble.inputs import read_cases
from bayeslearn.ensemble.members import CLASSIFIERS, FittedMember, chosen, fit_member
from bayeslearn.ensemble.model import BayesOptimalModel
from bayeslearn.ensemble.pooling import COMBINE, Pool, fit_pool, floored
from bayeslearn.ensemble.results import BayesOptimalFitInfo
from bayeslearn.ensemble.stacking import MemberScore, OutOfFold, inner_folds, out_of_fold, reason, seed_of
from bayeslearn.fit_info import with_fit_info
from bayeslearn.progress import part, reports_progress, should_stop
from bayeslearn.sources import with_options

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from bayeslearn.ensemble.inputs import Cases
    from bayeslearn.ensemble.members import Member
    from bayeslearn.progress import Reporter
    from bayeslearn.tables.markers import Markers

    Floats = NDArray[np.float64]

#: The share of the time that the folds take; the final fits have the rest.
FOLDS_SHARE = 0.8

#: Members of less weight than this are not kept.
MIN_WEIGHT = 1e-3


@reports_progress("Fitting a Bayes optimal classifier")
def fit_bayes_optimal(
    data: Any,
    target: Any,
    *,
    members: Any = None,
    combine: Literal["log_linear", "posterior", "mixture", "ridge"] = "log_linear",
    cv: int | None = None,
    classes: Sequence[Any] | None = None,
    columns: Iterable[str] | None = None,
    discrete: Iterable[str] = (),
    sample_weight: Any = None,
    time_limit: float | None = None,
    random_state: np.random.Generator | int | None = 0,
    progress: Any = None,
    na_values: Markers = (),
    keep_default_na: bool = True,
    drop_columns: Iterable[str] = (),
) -> BayesOptimalModel:
    """Fit a Bayes optimal classifier: the learners of this package, weighted by their out-of-fold predictions.

    Parameters
    ----------
    data
        Anything that :func:`~bayeslearn.as_table` takes; cells may be missing.
    target
        The column of classes, or the class of each row. Rows without a class are dropped.
    members
        Names of :data:`bayeslearn.ensemble.CLASSIFIERS`, estimators of this package, or pairs of a name and an
        estimator. None: the default members.
    combine
        ``"log_linear"``: a weight for each member and an offset for each class; ``"posterior"``: the posterior over
        single members; ``"mixture"``: weights of a mixture; ``"ridge"``: all coefficients.
    cv
        The number of inner folds. None: 5, and 3 from 20,000 rows on.
    classes
        The classes in their order; by default those of the rows, sorted.
    columns, discrete
        The columns to use, and columns whose numbers are names of states.
    sample_weight
        The weight of each row, or the column that holds it.
    time_limit
        Seconds; members that have no time left are left out. At least one member is fitted.
    random_state
        Seed or generator of the folds and of stochastic members.
    progress
        True for a bar, or a function that is called with a :class:`~bayeslearn.progress.Progress`; raising
        StopIteration ends the fit with the members so far.
    na_values, keep_default_na, drop_columns
        As in :func:`~bayeslearn.as_table`.

    Returns
    -------
    BayesOptimalModel
        With `fit_info`: the weight, out-of-fold accuracy and log loss, and seconds of each member.

    Examples
    --------
    >>> days = {"sky": ["sun", "sun", "rain", "rain"] * 5, "wind": [3.0, 9.5, 2.5, 8.0] * 5, "play": list("ynyn") * 5}
    >>> model = fit_bayes_optimal(days, "play", members=["naive-bayes", "k-nn"])
    >>> model.predict({"sky": ["sun", "rain"], "wind": [2.0, 9.0]}).tolist()
    ['y', 'n']
    """
    began = time.perf_counter()
    combine = validation.choice("combine", combine, COMBINE)
    n_folds = None if cv is None else validation.integer("cv", cv, min_value=2)
    limit = None if time_limit is None else validation.number("time_limit", time_limit, above=0)
    data = with_options(data, na_values=na_values, keep_default_na=keep_default_na, drop_columns=drop_columns)
    cases = read_cases(
        data, target, classes=classes, numeric=False, columns=columns, discrete=discrete, sample_weight=sample_weight
    )
    found = chosen(members, CLASSIFIERS)
    return fitted(cases, found, combine, n_folds, limit, seed_of(random_state), progress, began)


def fitted(
    cases: Cases, members: list[Member], combine: Any, n_folds: int | None, limit: float | None, seed: int,
    progress: Reporter | None, began: float,
) -> BayesOptimalModel:  # fmt: skip
    """The model of cases and members."""
    target: Any = cases.target
    several = cases.informative
    fold = inner_folds(cases.y, n_folds, seed) if several else np.full(len(cases), -1)

    def answer(member: Member, train: NDArray[np.intp], test: NDArray[np.intp]) -> Floats:
        model = fit_member(member, cases.take(train), seed)
        return model.proba(cases.take(test).tables, target)

    held_out = out_of_fold(
        members if fold.max() >= 0 else [], fold, target.n_states, answer,
        time_limit=None if limit is None else FOLDS_SHARE * limit, progress=part(progress, 0.0, FOLDS_SHARE),
    )  # fmt: skip
    known = held_out if len(held_out.rows) else without_rows(members if several else [], held_out)
    logs = floored(known.predictions)
    weights = cases.sample_weight[known.rows]
    pool = pooled(combine, logs, cases.y[known.rows], weights, shares(cases))
    needed = np.ones(len(known.members)) if combine == "ridge" else pool.member_weights
    final, kept, notes = final_fits(cases, known.members, needed, seed, part(progress, FOLDS_SHARE, 1.0))
    scores = member_scores(known, logs, cases, pool)
    model = BayesOptimalModel(cases.columns, target, pool.without(~kept), final, float(cases.sample_weight.sum()))
    metrics = judged(pool, logs, cases, known) if len(known.rows) and known.members else (None, None)
    return with_fit_info(model, BayesOptimalFitInfo(
        n_rows=len(cases), dropped_columns=cases.dropped_columns, notes=(*known.notes, *notes),
        seconds=time.perf_counter() - began, combine=combine, n_folds=int(fold.max(initial=-1)) + 1, members=scores,
        accuracy=metrics[0], log_loss=metrics[1],
    ))  # fmt: skip


def without_rows(members: list[Member], held_out: OutOfFold) -> OutOfFold:
    """All members, where there are too few rows to hold any out."""
    nothing = np.empty((0, len(members), held_out.predictions.shape[2]))
    return OutOfFold(tuple(members), held_out.rows, nothing, (0.0,) * len(members), held_out.notes, stopped=False)


def shares(cases: Cases) -> Floats:
    """The logarithms of the shares of the classes, each with one row more."""
    target: Any = cases.target
    n = np.bincount(cases.y, cases.sample_weight, minlength=target.n_states) + 1.0
    return np.asarray(np.log(n / n.sum()))


def pooled(combine: str, logs: Floats, codes: NDArray[np.intp], weights: Floats, log_shares: Floats) -> Pool:
    """The pool of members; the shares of the classes where there is none, and even weights without held-out rows."""
    n, m, k = logs.shape
    if not m:
        return Pool("log_linear", np.empty(0), log_shares)
    if not n:
        return Pool("log_linear", np.full(m, 1 / m), np.zeros(k))
    return fit_pool(combine, logs, codes, weights)


def final_fits(
    cases: Cases, members: Sequence[Member], weights: Floats, seed: int, progress: Reporter | None
) -> tuple[tuple[FittedMember, ...], NDArray[np.bool_], list[str]]:
    """Members of positive weight fitted to all rows, which of the members these are, and what went wrong."""
    kept, final, notes = weights[: len(members)] >= MIN_WEIGHT, [], []
    for i in np.flatnonzero(kept).tolist():
        should_stop(progress, i / len(members), f"{members[i].name}, all rows")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                final.append(fit_member(members[i], cases, seed))
        except Exception as error:  # noqa: BLE001 - the other members predict without this one
            kept[i] = False
            notes.append(f"{members[i].name}: left out, {reason(error)}")
    return tuple(final), kept, notes


### out-of-fold scores


def judged(pool: Pool, logs: Floats, cases: Cases, known: OutOfFold) -> tuple[float, float]:
    """Accuracy and log loss of the pool on the rows that its weights were learned from."""
    return accuracy_and_loss(pool.log_proba(logs), cases, known.rows)


def accuracy_and_loss(log_p: Floats, cases: Cases, rows: NDArray[np.intp]) -> tuple[float, float]:
    """The weighted accuracy, and the weighted mean of −ln P(class)."""
    codes, w = cases.y[rows], cases.sample_weight[rows]
    own = log_p[np.arange(len(rows)), codes]
    return float(np.average(log_p.argmax(axis=1) == codes, weights=w)), -float(np.average(own, weights=w))


def member_scores(known: OutOfFold, logs: Floats, cases: Cases, pool: Pool) -> tuple[MemberScore, ...]:
    """What is reported of each member."""
    found = []
    for i, member in enumerate(known.members):
        score, loss = accuracy_and_loss(logs[:, i], cases, known.rows) if len(known.rows) else (np.nan, np.nan)
        weight = float(pool.member_weights[i])
        found.append(MemberScore(member.name, weight, score, loss, known.seconds[i]))
    return tuple(found)
