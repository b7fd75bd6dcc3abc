"""Fit a Bayes optimal regression: members on common folds, the pool of their out-of-fold means, final fits."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import significance, validation
from bayeslearn.ensemble.fit import FOLDS_SHARE, final_fits, without_rows
from bayeslearn.ensemble.inputs import read_cases
from bayeslearn.ensemble.mean_pooling import MeanPool, fit_mean_pool
from bayeslearn.ensemble.members import REGRESSORS, chosen, fit_member
from bayeslearn.ensemble.regression_model import BayesOptimalRegressionModel
from bayeslearn.ensemble.results import BayesOptimalRegressionFitInfo
from bayeslearn.ensemble.stacking import MemberScore, OutOfFold, inner_folds, out_of_fold, seed_of
from bayeslearn.fit_info import with_fit_info
from bayeslearn.progress import part, reports_progress
from bayeslearn.sources import with_options

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from bayeslearn.ensemble.inputs import Cases
    from bayeslearn.ensemble.members import Member
    from bayeslearn.progress import Reporter
    from bayeslearn.tables.markers import Markers

    Floats = NDArray[np.float64]

#: The level of the intervals whose coverage is reported.
LEVEL = 0.95


@reports_progress("Fitting a Bayes optimal regression")
def fit_bayes_optimal_regression(
    data: Any,
    target: Any,
    *,
    members: Any = None,
    cv: int | None = None,
    columns: Iterable[str] | None = None,
    discrete: Iterable[str] = (),
    sample_weight: Any = None,
    time_limit: float | None = None,
    random_state: np.random.Generator | int | None = 0,
    progress: Any = None,
    na_values: Markers = (),
    keep_default_na: bool = True,
    drop_columns: Iterable[str] = (),
) -> BayesOptimalRegressionModel:
    """Fit a Bayes optimal regression: the regressors of this package, weighted by their out-of-fold errors.

    Parameters
    ----------
    data, columns, discrete, sample_weight, time_limit, random_state, progress, na_values, keep_default_na, drop_columns
        As in :func:`fit_bayes_optimal`.
    target
        The column of numbers, or the number of each row. Rows without a number are dropped.
    members
        Names of :data:`bayeslearn.ensemble.REGRESSORS`, estimators of this package, or pairs of a name and an
        estimator. None: the default members.
    cv
        The number of inner folds. None: 5, and 3 from 20,000 rows on.

    Returns
    -------
    BayesOptimalRegressionModel
        With `fit_info`: the weight, out-of-fold R², log loss and seconds of each member, and the coverage of the 95 %
        intervals out of fold.

    Examples
    --------
    >>> x = np.linspace(0, 6, 60)
    >>> model = fit_bayes_optimal_regression({"x": x, "y": np.sin(x)}, "y", members=["linear", "k-nn"])
    >>> bool(abs(model.predict({"x": [1.5]})[0] - np.sin(1.5)) < 0.1)
    True
    """
    began = time.perf_counter()
    n_folds = None if cv is None else validation.integer("cv", cv, min_value=2)
    limit = None if time_limit is None else validation.number("time_limit", time_limit, above=0)
    data = with_options(data, na_values=na_values, keep_default_na=keep_default_na, drop_columns=drop_columns)
    cases = read_cases(
        data, target, classes=None, numeric=True, columns=columns, discrete=discrete, sample_weight=sample_weight
    )
    return fitted(cases, chosen(members, REGRESSORS), n_folds, limit, seed_of(random_state), progress, began)


def fitted(
    cases: Cases, members: list[Member], n_folds: int | None, limit: float | None, seed: int,
    progress: Reporter | None, began: float,
) -> BayesOptimalRegressionModel:  # fmt: skip
    """The model of cases and members."""
    usable = members if cases.informative else []
    fold = inner_folds(np.zeros(len(cases), np.intp), n_folds, seed) if usable else np.full(len(cases), -1)

    def answer(member: Member, train: NDArray[np.intp], test: NDArray[np.intp]) -> Floats:
        return fit_member(member, cases.take(train), seed).mean(cases.take(test).tables)[:, None]

    held_out = out_of_fold(
        usable if fold.max() >= 0 else [], fold, 1, answer,
        time_limit=None if limit is None else FOLDS_SHARE * limit, progress=part(progress, 0.0, FOLDS_SHARE),
    )  # fmt: skip
    known = held_out if len(held_out.rows) else without_rows(usable, held_out)
    average = float(np.average(cases.y, weights=cases.sample_weight))
    pool, means = pooled(cases, known, average)
    final, kept, notes = final_fits(cases, known.members, pool.coefficients, seed, part(progress, FOLDS_SHARE, 1.0))
    model = BayesOptimalRegressionModel(
        cases.columns, (cases.target.name,), remaining(pool, kept), final, average, float(cases.sample_weight.sum())
    )
    info = BayesOptimalRegressionFitInfo(
        n_rows=len(cases), dropped_columns=cases.dropped_columns, notes=(*known.notes, *notes),
        seconds=time.perf_counter() - began, n_folds=int(fold.max(initial=-1)) + 1,
        members=member_scores(cases, known, pool, means), **judged(cases, known, pool, means),
    )  # fmt: skip
    return with_fit_info(model, info)


def pooled(cases: Cases, known: OutOfFold, average: float) -> tuple[MeanPool, Floats]:
    """The pool, and the out-of-fold means (rows, members); the mean of the target where there is no member."""
    y, w = cases.y[known.rows], cases.sample_weight[known.rows]
    if known.members and len(known.rows):
        means = known.predictions[:, :, 0]
        return fit_mean_pool(means, y, w), means
    nobody = fit_mean_pool(np.full((len(cases), 1), average), cases.y, cases.sample_weight)
    m = max(len(known.members), 1)
    even = MeanPool(np.full(m, 1 / m), nobody.spread, nobody.level, nobody.slope, nobody.dof)
    return even, np.empty((0, len(known.members)))


def remaining(pool: MeanPool, kept: NDArray[np.bool_]) -> MeanPool:
    """The pool of the members that are kept; their weights sum to 1."""
    w = pool.coefficients[kept] if kept.any() else np.ones(1)
    w = w / w.sum() if w.sum() > 0 else np.full(len(w), 1 / len(w))
    return MeanPool(w, pool.spread, pool.level, pool.slope, pool.dof)


def judged(cases: Cases, known: OutOfFold, pool: MeanPool, means: Floats) -> dict[str, Any]:
    """R², log loss and coverage of the pool on the rows that it was learned from."""
    if not len(means) or not known.members:
        return {}
    y, w = cases.y[known.rows], cases.sample_weight[known.rows]
    found = pool.predictive(means)
    low, high = found.interval(LEVEL)
    inside = (low[:, 0] <= y) & (y <= high[:, 0])
    return {
        "r_squared": significance.score(pool.mean(means), y, w, classes=False),
        "log_loss": -float(np.average(found.log_pdf(y[:, None])[:, 0], weights=w)),
        "coverage": float(np.average(inside, weights=w)),
    }


def member_scores(cases: Cases, known: OutOfFold, pool: MeanPool, means: Floats) -> tuple[MemberScore, ...]:
    """What is reported of each member: R², and the log loss of a Student t around its means."""
    found = []
    y, w = cases.y[known.rows], cases.sample_weight[known.rows]
    for i, member in enumerate(known.members):
        score = loss = float("nan")
        if len(means):
            alone = fit_mean_pool(means[:, i : i + 1], y, w).predictive(means[:, i : i + 1])
            score = significance.score(means[:, i], y, w, classes=False)
            loss = -float(np.average(alone.log_pdf(y[:, None])[:, 0], weights=w))
        found.append(MemberScore(member.name, float(pool.coefficients[i]), score, loss, known.seconds[i]))
    return tuple(found)
