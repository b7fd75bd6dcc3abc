"""What is said of rows by models that have not seen them: every fold by the statistics of the others.

    statistics without fold f = Σ_{g ≠ f} statistics of fold g

Evidence adds, so one pass over the rows is enough for all folds: row i goes to class c_i of its own fold. A second one
asks.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import evaluation, validation
from bayeslearn.distributions import Counts, StatisticsBundle
from bayeslearn.naive_bayes.tabular import row_blocks as blocks
from bayeslearn.naive_bayes.tabular.calibration import OutOfFold
from bayeslearn.naive_bayes.tabular.label_statistics import collect, count_labels
from bayeslearn.naive_bayes.tabular.row_blocks import Cases, SourceCases, cases_of
from bayeslearn.sources import as_source, is_source
from bayeslearn.tables import Schema

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from bayeslearn.naive_bayes.tabular.model import NaiveBayesModel
    from bayeslearn.naive_bayes.tabular.row_blocks import Rows

#: Of columns apart, more numbers than this are not kept.
MOST_NUMBERS = 1 << 22


def read_out_of_fold(model: NaiveBayesModel, data: Any, *, sample_weight: Any = None, **options: Any) -> OutOfFold:
    """What is said out of fold of the rows of any data."""
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
    size = model.target.size
    place = np.where(cases.labels >= 0, fold * size + cases.labels, -1).astype(np.int32)
    return StatisticsBundle({
        model.target.name: Counts(count_labels(place, k * size, cases.sample_weight)),
        **collect(model.product, cases.rows, place, k * size, cases.sample_weight),
    })  # fmt: skip


def without_each(model: NaiveBayesModel, parts: StatisticsBundle, k: int) -> list[NaiveBayesModel]:
    """A model without the first fold, one without the second, and so on."""
    size = model.target.size
    per_fold = [StatisticsBundle({name: _slice(part, f, size) for name, part in parts.items()}) for f in range(k)]
    others: list[Any] = [sum(per_fold[g] for g in range(k) if g != f) for f in range(k)]
    return [replace(model, statistics=statistics, column_exponents=1.0) for statistics in others]


def said_of(
    trained: list[NaiveBayesModel], cases: Cases, fold: NDArray[np.intp], seen: NDArray[np.intp], *, apart: bool,
    progress: Callable[[float], object] | None = None,
) -> OutOfFold:  # fmt: skip
    """What the models say of the rows that they have not seen."""
    size, width = trained[0].target.size, len(trained[0].columns) if apart else 1
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
    """Asks the models about every so many of the rows that have a label."""

    trained: list[NaiveBayesModel]
    deal: Deal
    every: int
    apart: bool

    def __call__(self, cases: Cases) -> list[OutOfFold]:
        """What is said of one batch."""
        seen = np.flatnonzero(cases.labels >= 0)[:: self.every]
        return [said_of(self.trained, cases, self.deal.fold(cases), seen, apart=self.apart)]


### parts


def labels_seen(cases: Cases) -> int:
    """How many rows have a label."""
    return int(np.count_nonzero(cases.labels >= 0))


def most_rows(model: NaiveBayesModel, folds: int, *, apart: bool) -> int:
    """How many rows may be asked about."""
    width = len(model.columns) if apart else 1
    return max(MOST_NUMBERS // max(width * model.target.size, 1), folds)


def _slice(part: Any, f: int, size: int) -> Any:
    return type(part)(*(array[f * size : (f + 1) * size] for array in part.arrays()))


def _evidence(model: NaiveBayesModel, rows: Rows, *, apart: bool) -> NDArray[np.float64]:
    """ln p(x_j|class) of every column, or of all together, (rows, classes, columns or 1)."""
    if apart:
        said = rows.blocks(lambda part, cells: model.density.each(cells, model.target.size, part.stop - part.start))
        return np.concatenate(said, axis=2).transpose(2, 1, 0)
    joint = model.map_rows(rows, lambda joint: joint.T, possible=False)
    shares = model.class_log_prior
    return (joint - np.where(np.isfinite(shares), shares, 0.0))[:, :, None]


def _told(evidence: NDArray[np.float64]) -> NDArray[np.float64]:
    """Evidence that some class can give; a row that none can show is left to the class shares."""
    shown = np.isfinite(evidence.sum(axis=2)).any(axis=1)
    return np.where(shown[:, None, None], evidence, 0.0)
