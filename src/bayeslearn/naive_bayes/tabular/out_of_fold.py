"""Predictions of rows by models that have not seen them: cross-validation, and calibration by exponents.

    statistics without fold f = Σ_{g ≠ f} statistics of fold g

Evidence adds, so one pass over the rows is enough for all folds: row i goes to class c_i of its fold. A second one
predicts.

Calibration finds the exponent of each column that makes predicted probabilities agree with observed frequencies.
Naive Bayes counts evidence that several columns share several times, so that its log odds are too large. An exponent τ
for each of J columns corrects this,

    P(c | x) ∝ P(c) Π_j p(x_j | c)^τ_j      τ maximizes Σ ln P(c_i | x_i) − ½ Σ_j (τ_j − 1/√J)²,  τ ≥ 0.001

with models that are fitted without row i: the posterior mode under independent priors N(1/√J, 1). It is convex. The
number of parameters does not depend on the number of classes, a row without values gets the class probabilities, and
explanations still add up.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy.special import log_softmax, softmax

from bayeslearn import evaluation, validation
from bayeslearn.distributions import Counts, StatisticsBundle
from bayeslearn.evaluation import Calibration, Metrics
from bayeslearn.fit_info import plain
from bayeslearn.naive_bayes.tabular import row_blocks as blocks
from bayeslearn.naive_bayes.tabular.label_statistics import collect, count_labels, weighing_parameters
from bayeslearn.naive_bayes.tabular.row_blocks import Cases, SourceCases, cases_of
from bayeslearn.progress import reports_progress
from bayeslearn.reports import Grid, Report, Reported
from bayeslearn.sources import as_source, is_source
from bayeslearn.tables import Schema

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from bayeslearn.naive_bayes.tabular.model import NaiveBayesModel
    from bayeslearn.naive_bayes.tabular.row_blocks import Rows
    from bayeslearn.progress import ProgressCallback, Reporter


#: Bounds of the exponents.
LEAST, MOST = 1e-3, 10.0

#: Folds of a calibration, and the rows with a label from which on models are calibrated by default.
FOLDS, ENOUGH_ROWS = 5, 20

#: The log probability of values that are impossible in a class, so that the gradient is finite.
IMPOSSIBLE = -745.0


@dataclass(frozen=True, eq=False)
class OutOfFold:
    """Rows with a label: class, weight, fold, and ln P(c) and ln p(x_j|c) by a model fitted without the fold."""

    labels: NDArray[np.int32]
    sample_weight: NDArray[np.float64]
    fold: NDArray[np.intp]
    log_shares: NDArray[np.float64]
    #: (rows, classes, columns), or one column for all together.
    evidence: NDArray[np.float64]

    def take(self, rows: NDArray[Any]) -> OutOfFold:
        """Some of the rows."""
        return OutOfFold(*(array[rows] for array in vars(self).values()))


def calibration_curve(model: NaiveBayesModel, data: Any, *, n_bins: int = 10, sample_weight: Any = None) -> Calibration:
    """Return predicted probabilities and observed frequencies on rows with labels, not those of the fit."""
    from bayeslearn.tables import Schema, as_table  # noqa: PLC0415 - only here

    labels = as_table(data, schema=Schema([model.target]), sample_weight=sample_weight)
    seen = np.flatnonzero(labels.codes_of(model.target.name) >= 0)
    w = None if labels.sample_weight is None else labels.sample_weight[seen]
    return Calibration.of(
        model.predict_proba(data)[seen], labels.codes_of(model.target.name)[seen], sample_weight=w, n_bins=n_bins
    )


def calibrate(
    model: NaiveBayesModel, data: Any, *, cv: int = FOLDS, sample_weight: Any = None, random_state: Any = 0
) -> NaiveBayesModel:
    """Return the model with the exponents of columns that maximize the likelihood of the classes out of fold."""
    found = read_out_of_fold(model, data, folds=cv, sample_weight=sample_weight, random_state=random_state, apart=True)
    return replace(model, column_exponents=best_exponents(found))


def tempered(found: OutOfFold, exponents: tuple[float, ...]) -> NDArray[np.float64]:
    """P(class | row) from ln P(class) and ln p(x_j | class)."""
    return softmax(found.log_shares + found.evidence @ np.asarray(exponents), axis=1)


def is_calibrated(n_labeled: int, n_classes: int, *, calibrate: bool | Literal["auto"]) -> bool:
    """Whether a fit ends with a calibration: auto needs twenty rows, and two classes."""
    if isinstance(calibrate, str):
        validation.choice("calibrate", calibrate, ["auto"])
    return bool(calibrate) and n_classes > 1 and n_labeled >= (ENOUGH_ROWS if calibrate == "auto" else 2)


def best_exponents(found: OutOfFold) -> tuple[float, ...]:
    """The exponent of every column: the posterior mode."""
    from scipy.optimize import minimize  # noqa: PLC0415 - slow to load

    exponents = np.ones(found.evidence.shape[2])
    used = np.flatnonzero(np.ptp(found.evidence, axis=1).any(axis=0))  # the others do not tell classes apart
    if len(used):
        posterior = ExponentPosterior(replace(found, evidence=found.evidence[:, :, used]))
        bounds, start = [(LEAST, MOST)] * len(used), np.full(len(used), posterior.center)
        exponents[used] = minimize(posterior.loss, start, jac=True, bounds=bounds, method="L-BFGS-B").x
    return tuple(exponents.tolist())


def best_exponent(
    shares: NDArray[np.float64], evidence: NDArray[np.float64], labels: NDArray[Any], sample_weight: NDArray[np.float64]
) -> float:
    """The exponent τ of all evidence ln p(x | c), with ln P(c) of each row: the posterior mode of ln τ ~ N(0, 1).

    With the evidence e and P(c | x) ∝ P(c) exp(τ e_c), it is where

        ln τ + τ Σ w (Σ_c P(c | x) e_c − e_own) = 0
    """
    from scipy.optimize import brentq  # noqa: PLC0415 - slow to load

    own = np.arange(len(labels)), labels
    shares = np.maximum(shares, IMPOSSIBLE)
    evidence = np.maximum(evidence - evidence.max(axis=1, keepdims=True), IMPOSSIBLE)

    def slope(log_exponent: float) -> float:
        exponent = np.exp(log_exponent)
        p = softmax(shares + exponent * evidence, axis=1)
        return float(log_exponent + exponent * (sample_weight @ ((p * evidence).sum(axis=1) - evidence[own])))

    low, high = np.log(LEAST), np.log(MOST)
    if slope(low) >= 0:
        return LEAST
    return MOST if slope(high) <= 0 else float(np.exp(brentq(slope, low, high, xtol=1e-14)))


class ExponentPosterior:
    """−Σ w ln P(c_i | x_i) + ½ Σ_j (τ_j − 1/√J)² and its gradient; it is convex in τ."""

    def __init__(self, found: OutOfFold) -> None:
        n, classes, width = found.evidence.shape
        self.own, self.sample_weight, self.center = (np.arange(n), found.labels), found.sample_weight, width**-0.5
        self.shares = np.maximum(found.log_shares, IMPOSSIBLE)
        self.evidence = np.maximum(found.evidence, IMPOSSIBLE).reshape(n * classes, width)

    def loss(self, exponents: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """The loss and its gradient: Σ w Σ_c (P(c) − [c = c_i]) ln p(x_j | c) + τ_j − 1/√J."""
        logs = log_softmax(self.shares + (self.evidence @ exponents).reshape(self.shares.shape), axis=1)
        off, w = exponents - self.center, self.sample_weight
        miss = np.exp(logs)
        miss[self.own] -= 1
        slope = (miss * w[:, None]).ravel() @ self.evidence
        return float(off @ off / 2 - w @ logs[self.own]), slope + off


#: Of columns apart, and of all together, more numbers than this are not kept.
MOST_NUMBERS, MOST_SUMS = 1 << 20, 1 << 22


def read_out_of_fold(model: NaiveBayesModel, data: Any, *, sample_weight: Any = None, **options: Any) -> OutOfFold:
    """The out-of-fold predictions for the rows of any data."""
    schema = Schema([model.target, *(c.variable for c in model.columns)])
    if is_source(data):
        source = as_source(data, schema=schema, sample_weight=sample_weight)
        return out_of_folds(model, SourceCases(source, model.columns, model.target.name), **options)
    table = blocks.by_schema(data, schema, sample_weight)
    return out_of_fold(model, cases_of(table, model.columns, model.target.name), **options)


def out_of_fold(
    model: NaiveBayesModel, cases: Cases, *, folds: int = 10, random_state: Any = 0,
    progress: Callable[[float], object] | None = None, apart: bool = False,
) -> OutOfFold:  # fmt: skip
    """ln P(class) and Σ_j ln p(x_j|class) of every row with a label, by the statistics of the other folds.

    With the columns `apart`, ln p(x_j|class) of each; where these are too many, of a sample of rows.
    """
    k, labels = validation.integer("folds", folds, min_value=2), cases.labels
    seen = np.flatnonzero(labels >= 0)
    random_state = validation.generator(random_state)
    fold = evaluation.folds(labels, k, random_state=random_state)
    trained = without_each(model, by_fold(model, cases, fold, k), k)
    most = most_rows(model, k, apart=apart)
    if apart and len(seen) > most:
        seen = np.sort(random_state.choice(seen, most, replace=False))
    return said_of(trained, cases, fold, seen, apart=apart, progress=progress)


def by_fold(model: NaiveBayesModel, cases: Cases, fold: NDArray[np.intp], k: int) -> StatisticsBundle:
    """The statistics of every class in every fold."""
    size = model.target.n_states
    place = np.where(cases.labels >= 0, fold * size + cases.labels, -1).astype(np.int32)
    return StatisticsBundle({
        model.target.name: Counts(count_labels(place, k * size, cases.sample_weight)),
        **collect(model.product, cases.rows, place, k * size, cases.sample_weight, repeated_parameters(model, k)),
    })  # fmt: skip


def repeated_parameters(model: NaiveBayesModel, k: int) -> list[Any] | None:
    """The parameters by which rows count, in every fold those of the model."""
    found = weighing_parameters(model)
    place = np.tile(np.arange(model.target.n_states), k)
    return None if found is None else [
        None if θ is None else column.distribution.take(θ, place)
        for column, θ in zip(model.columns, found, strict=True)
    ]  # fmt: skip


def without_each(model: NaiveBayesModel, parts: StatisticsBundle, k: int) -> list[NaiveBayesModel]:
    """A model without the first fold, one without the second, and so on."""
    size = model.target.n_states
    per_fold = [StatisticsBundle({name: _slice(part, f, size) for name, part in parts.items()}) for f in range(k)]
    others: list[Any] = [sum(per_fold[g] for g in range(k) if g != f) for f in range(k)]
    return [replace(model, statistics=statistics, column_exponents=1.0) for statistics in others]


def said_of(
    trained: list[NaiveBayesModel], cases: Cases, fold: NDArray[np.intp], seen: NDArray[np.intp], *, apart: bool,
    progress: Callable[[float], object] | None = None,
) -> OutOfFold:  # fmt: skip
    """The predictions of the models for the rows that they were not fitted to."""
    size, width = trained[0].target.n_states, len(trained[0].columns) if apart else 1
    log_shares, evidence = np.empty((len(seen), size)), np.empty((len(seen), size, width))
    for f, model in enumerate(trained):
        asked = np.flatnonzero(fold[seen] == f)
        log_shares[asked] = model.class_log_prior
        if len(asked):
            evidence[asked] = _told(_evidence(model, cases.rows.take(seen[asked]), apart=apart))
        if progress is not None:
            progress((f + 1) / len(trained))
    w = np.ones(len(seen)) if cases.sample_weight is None else cases.sample_weight[seen]
    return OutOfFold(cases.labels[seen], w, fold[seen], log_shares, evidence)


### sources


def out_of_folds(
    model: NaiveBayesModel, cases: SourceCases, *, folds: int = 10, random_state: Any = 0,
    progress: Callable[[float], object] | None = None, apart: bool = False,
) -> OutOfFold:  # fmt: skip
    """The same for a source, by two passes: rows are dealt out within each batch; of many rows, a sample is asked."""
    k = validation.integer("folds", folds, min_value=2)
    deal = Deal(model, k, int(validation.generator(random_state).integers(1 << 62)))
    parts = cases.fold(deal)
    labeled = parts.labeled
    evaluation.require_rows(labeled, k)
    if progress is not None:
        progress(0.5)
    every = max(-(-labeled // most_rows(model, k, apart=apart)), 1)
    found = cases.fold(Ask(without_each(model, parts.statistics, k), deal, every, apart))
    if progress is not None:
        progress(1.0)
    return OutOfFold(*(np.concatenate(arrays) for arrays in zip(*(vars(o).values() for o in found), strict=True)))


@dataclass(frozen=True)
class Dealt:
    """The statistics of every class in every fold, and of how many rows."""

    statistics: StatisticsBundle
    labeled: int

    def __add__(self, other: Dealt) -> Dealt:
        return Dealt(self.statistics + other.statistics, self.labeled + other.labeled)


@dataclass(frozen=True)
class Deal:
    """Deals the rows of a batch out to folds, every time in the same way."""

    model: NaiveBayesModel
    folds: int
    seed: int

    def fold(self, cases: Cases) -> NDArray[np.intp]:
        """The fold of each row."""
        shown = [cases.labels, *cases.rows.cells(0, min(cases.rows.n, blocks.BLOCK))]
        mark = zlib.crc32(b"".join(np.ascontiguousarray(array).tobytes() for array in shown))
        rng = np.random.default_rng([self.seed, mark])
        order = rng.permutation(len(cases.labels))
        return (evaluation.dealt(cases.labels, self.folds, order) + rng.integers(self.folds)) % self.folds

    def __call__(self, cases: Cases) -> Dealt:
        """The statistics of one batch."""
        return Dealt(by_fold(self.model, cases, self.fold(cases), self.folds), labels_seen(cases))


@dataclass(frozen=True)
class Ask:
    """Predicts every `every`-th of the rows that have a label."""

    trained: list[NaiveBayesModel]
    deal: Deal
    every: int
    apart: bool

    def __call__(self, cases: Cases) -> list[OutOfFold]:
        """The predictions for one batch."""
        seen = np.flatnonzero(cases.labels >= 0)[:: self.every]
        return [said_of(self.trained, cases, self.deal.fold(cases), seen, apart=self.apart)]


### parts


def labels_seen(cases: Cases) -> int:
    """How many rows have a label."""
    return int(np.count_nonzero(cases.labels >= 0))


def most_rows(model: NaiveBayesModel, folds: int, *, apart: bool) -> int:
    """How many rows may be asked about."""
    width, most = (len(model.columns), MOST_NUMBERS) if apart else (1, MOST_SUMS)
    return max(most // max(width * model.target.n_states, 1), folds)


def _slice(part: Any, f: int, size: int) -> Any:
    return type(part)(*(array[f * size : (f + 1) * size] for array in part.arrays()))


def _evidence(model: NaiveBayesModel, rows: Rows, *, apart: bool) -> NDArray[np.float64]:
    """ln p(x_j|class) of every column, or of all together, (rows, classes, columns or 1)."""
    if apart:
        said = rows.blocks(lambda part, cells: model.density.each(cells, model.target.n_states, part.stop - part.start))
        return np.concatenate(said, axis=2).transpose(2, 1, 0)
    joint = model.map_rows(rows, lambda joint: joint.T, possible=False)
    shares = model.class_log_prior
    return (joint - np.where(np.isfinite(shares), shares, 0.0))[:, :, None]


def _told(evidence: NDArray[np.float64]) -> NDArray[np.float64]:
    """Evidence that some class can give; a row that none can show is left to the class shares."""
    shown = np.isfinite(evidence.sum(axis=2)).any(axis=1)
    return np.where(shown[:, None, None], evidence, 0.0)


@dataclass(frozen=True, eq=False, repr=False)
class CrossValidation(Reported):
    """Accuracy and mean log loss out of fold, and those of predictions by the class probabilities alone."""

    cv: int
    accuracy: float
    log_loss: float
    majority_accuracy: float
    majority_log_loss: float
    calibration: Calibration

    def report(self) -> Report:
        """Return accuracy, log loss and calibration."""
        rows = [
            ["accuracy", self.accuracy, self.majority_accuracy],
            ["log loss", self.log_loss, self.majority_log_loss],
            ["calibration error", self.calibration.error, None],
        ]
        title = f"{self.cv}-fold cross-validation: accuracy {self.accuracy:.4g}, log loss {self.log_loss:.4g}"
        return Report(title, Grid(["", "model", "class probabilities"], rows))

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers as plain values."""
        return {name: plain(value) for name, value in vars(self).items()}


@reports_progress("Cross-validation")
def cross_validate(
    model: NaiveBayesModel,
    data: Any,
    *,
    cv: int = 10,
    calibrate: bool = False,
    sample_weight: Any = None,
    random_state: Any = 0,
    progress: Reporter | ProgressCallback | bool | None = None,
) -> CrossValidation:
    """Return the cross-validation of the distributions and priors of a model on data with labels.

    Parameters
    ----------
    model
        A naive Bayes model; its statistics are not used.
    data
        Rows with labels, not necessarily those of the fit; rows without a label are ignored.
    cv
        The number of folds.
    calibrate
        Estimate the exponents of the columns of each fold from the other folds. A sample of rows is predicted where the
        table is too large, and for a source (:func:`~bayeslearn.scan`).
    sample_weight
        The weight of each row, or the column that holds it; 1 by default.
    random_state
        Seed or generator of the folds.
    progress
        True for a bar, or a function that is called with a :class:`~bayeslearn.progress.Progress`.
    """
    found = read_out_of_fold(
        model,
        data,
        folds=cv,
        sample_weight=sample_weight,
        random_state=random_state,
        progress=progress,
        apart=calibrate,
    )
    return judged(found, calibrate=calibrate)


def judged(found: OutOfFold, *, calibrate: bool = False) -> CrossValidation:
    """Accuracy, log loss and calibration of out-of-fold predictions."""
    k = int(found.fold.max()) + 1
    proba = np.empty(found.log_shares.shape)
    for f in range(k):
        here = found.fold == f
        exponents = best_exponents(found.take(~here)) if calibrate else (1.0,) * found.evidence.shape[2]
        proba[here] = tempered(found.take(here), exponents)
    classes = range(found.evidence.shape[1])
    here = Metrics.of(proba, found.labels, classes=classes, sample_weight=found.sample_weight)
    shares = Metrics.of(np.exp(found.log_shares), found.labels, classes=classes, sample_weight=found.sample_weight)
    return CrossValidation(k, here.accuracy, here.log_loss, shares.accuracy, shares.log_loss, here.calibration)
