"""Averaged one-dependence: every column in turn is a second parent of all others, and their answers are averaged.

    P(c, x) ≈ mean_j P(c, x_j) Π_{k ≠ j} P(x_k | c, x_j)

Nothing is searched and nothing is chosen: all of it is counts of two columns and the class, so it learns in one pass
and models add. Columns that lean on each other, which naive Bayes counts twice, are forgiven (Webb, Boughton
and Wang 2005).

What is left of this is corrected by one exponent, estimated out of fold as those of naive Bayes are:

    P(c | x) ∝ P(c) (P(c, x) / P(c))^τ        ln τ ~ N(0, 1)        counts without fold f = all counts − those of fold f
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from bayeslearn import codec, evaluation, kernels, validation
from bayeslearn.codec import Saved
from bayeslearn.components.product import normalized
from bayeslearn.distributions import Counts
from bayeslearn.errors import CapacityError, DataError, ParameterError, ShapeError
from bayeslearn.estimators import AnswersInBatches, ReadsLabels
from bayeslearn.fit_info import plain
from bayeslearn.model_values import ARRAY, NAME, NUMBER
from bayeslearn.naive_bayes.tabular.estimators import classes_of, labeled_source
from bayeslearn.naive_bayes.tabular.out_of_fold import FOLDS, best_exponent, is_calibrated
from bayeslearn.naive_bayes.tabular.row_blocks import BLOCK
from bayeslearn.reports import Grid, Pairs, Report, Reported
from bayeslearn.sources.scanning import as_source, is_source
from bayeslearn.sources.usability import dropping, warn_dropped
from bayeslearn.tables import DiscreteVariable, Schema, Table, as_table
from bayeslearn.tables.conversion import collected
from bayeslearn.tables.discretization import quantile_cuts
from bayeslearn.tables.intervals import weighted_values

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from bayeslearn.model_values import Reader
    from bayeslearn.tables.markers import Markers

#: Rows that the exponent is estimated on.
MOST_ROWS = 20_000

#: Counts of pairs that are kept at most.
MOST_CELLS = 1 << 27


@dataclass(frozen=True, eq=False, repr=False)
class AODEModel(Reported, Saved, kind="one-dependence", version=2):
    """Counts of (class, state, state) for every two columns, and the probabilities read off them.

    `counts.n` is (classes, states, states) over the states of all columns one after the other; on the diagonal stands
    how often a state was seen alone. Every distribution has a prior of `equivalent_sample_size`, spread evenly.
    """

    schema: Schema
    counts: Counts
    classes: Counts
    equivalent_sample_size: float
    min_count: float
    #: The names of the classes; 0, 1, ... when not given.
    labels: tuple[Any, ...] = ()
    #: The exponent τ of the evidence; 1 unless the model is calibrated.
    exponent: float = 1.0

    def __post_init__(self) -> None:
        k = len(self.classes.n)
        object.__setattr__(self, "labels", tuple(self.labels) or tuple(range(k)))
        if len(self.labels) != k:
            raise ShapeError(f"there are {k} classes, and {len(self.labels)} names of classes")
        object.__setattr__(self, "exponent", validation.number("exponent", self.exponent, above=0))

    @classmethod
    def empty(
        cls, schema: Schema, n_classes: int, equivalent_sample_size: float, min_count: float,
        labels: tuple[Any, ...] = (),
    ) -> AODEModel:  # fmt: skip
        """Nothing seen yet."""
        n = sum(v.n_states for v in schema.discrete)
        if n_classes * n * n > MOST_CELLS:
            raise CapacityError(
                f"the pairs of {n} states in {n_classes} classes need {n_classes * n * n:,} counts, "
                f"more than {MOST_CELLS:,}",
                hint="use columns with fewer states, or NaiveBayesClassifier",
            )
        counts, classes = Counts.zero((n_classes, n, n)), Counts.zero((n_classes,))
        return cls(schema, counts, classes, equivalent_sample_size, min_count, labels)

    @property
    def target(self) -> DiscreteVariable:
        """The classes as a variable, which is named "class"."""
        return DiscreteVariable("class", self.labels)

    @property
    def total_weight(self) -> float:
        """The number of rows with a class, weighted."""
        return float(self.classes.n.sum())

    def report(self) -> Report:
        """Return the columns, and the classes with their rows."""
        pairs = {"Columns": len(self.schema), "States": sum(v.n_states for v in self.schema.discrete)}
        rows = [[label, float(n)] for label, n in zip(self.labels, self.classes.n, strict=True)]
        title = f"Averaged one-dependence: {len(self.schema)} columns, {self.total_weight:,.10g} rows"
        return Report(title, Pairs(pairs), Grid(["class", "rows"], rows, "Classes"))

    def to_dict(self) -> dict[str, Any]:
        """Return the columns with their states, and the classes with their rows, as plain values."""
        columns = {v.name: [plain(state) for state in v.states] for v in self.schema.discrete}
        rows = {str(label): float(n) for label, n in zip(self.labels, self.classes.n, strict=True)}
        return {"columns": columns, "class_counts": rows, "total_weight": self.total_weight}

    @property
    def start(self) -> NDArray[np.int64]:
        """Where the states of each column begin."""
        sizes = [v.n_states for v in self.schema.discrete]
        return np.cumsum([0, *sizes[:-1]], dtype=np.int64)

    def plus(self, codes: NDArray[Any], labels: NDArray[np.int32], sample_weight: NDArray[np.float64]) -> AODEModel:
        """With more rows."""
        upper = np.zeros(self.counts.n.shape)
        kernels.count_pairs(codes, self.start, labels, sample_weight, upper)
        pairs = upper + np.swapaxes(np.triu(upper, 1), 1, 2)
        seen = labels >= 0
        classes = np.bincount(labels[seen], sample_weight[seen], minlength=len(upper)).astype(float)
        return replace(self, counts=self.counts + Counts(pairs), classes=self.classes + Counts(classes))

    def __add__(self, other: AODEModel) -> AODEModel:
        a, b = self.total_weight, other.total_weight
        exponent = (a * self.exponent + b * other.exponent) / (a + b) if a + b > 0 else self.exponent
        counts, classes = self.counts + other.counts, self.classes + other.classes
        return replace(self, counts=counts, classes=classes, exponent=exponent)

    @cached_property
    def logs(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """ln P(c), ln P(c, state) with −inf for states that are too rare to lead, and ln P(state | c, state)."""
        n, per_class = self.counts.n, self.classes.n
        column = np.repeat(np.arange(len(self.schema)), [v.n_states for v in self.schema.discrete])
        size = np.bincount(column)[column]
        alone = np.diagonal(n, axis1=1, axis2=2)
        in_column = column[:, None] == np.arange(len(self.schema))
        known = alone @ in_column  # (classes, columns): rows that show the column
        leads = alone.sum(axis=0) >= self.min_count
        m, k = self.equivalent_sample_size, len(n)
        shares = (per_class + m / k) / (per_class.sum() + m)
        with np.errstate(divide="ignore"):
            joint = (alone + m / (k * size)) / (known.sum(axis=0)[column] + m)
            parent = np.where(leads, np.log(joint), -np.inf).T
            both = n @ in_column  # (classes, states, columns): the state is seen, and so is the column
            child = np.log((n + m / size) / (both[:, :, column] + m))
        return np.log(shares), np.ascontiguousarray(parent), np.ascontiguousarray(child.transpose(1, 2, 0))

    def log_joint(self, codes: NDArray[Any]) -> NDArray[np.float64]:
        """ln P(class, row), shape (rows, classes)."""
        shares, parent, child = self.logs
        joint = np.tile(shares, (codes.shape[1], 1))
        start = self.start

        def block(a: int) -> None:
            part = np.ascontiguousarray(codes[:, a : a + BLOCK])
            part.flags.writeable = False
            kernels.average_parents(part, start, parent, child, joint[a : a + BLOCK])

        kernels.parallel(block, range(0, codes.shape[1], BLOCK), worth=codes.size > 100_000)
        return joint

    def proba(self, codes: NDArray[Any]) -> NDArray[np.float64]:
        """P(class | row), shape (rows, classes)."""
        shares = self.logs[0]
        return normalized((shares + self.exponent * (self.log_joint(codes) - shares)).T)[0].T

    def predict_proba(self, data: Any) -> NDArray[np.float64]:
        """P(class | row), shape (rows, classes); a state not seen in training is missing."""
        with collected():
            table = as_table(data, schema=self.schema, handle_unknown="missing")
        return self.proba(table.codes)

    def calibrated(self, codes: NDArray[Any], labels: NDArray[np.int32], sample_weight: Any) -> AODEModel:
        """The model with the exponent that rows of it, predicted out of fold, are most likely with."""
        fold = evaluation.folds(labels, min(FOLDS, len(labels)), random_state=0)
        nothing = AODEModel.empty(
            self.schema, len(self.labels), self.equivalent_sample_size, self.min_count, self.labels
        )
        joint, shares = (np.zeros((len(labels), len(self.labels))) for _ in range(2))
        for f in range(int(fold.max()) + 1):
            rows = np.flatnonzero(fold == f)
            mine = np.ascontiguousarray(codes[:, rows])
            part = nothing.plus(mine, labels[rows], sample_weight[rows])
            others = replace(self, counts=self.counts - part.counts, classes=self.classes - part.classes)
            joint[rows], shares[rows] = others.log_joint(mine), others.logs[0]
        return replace(self, exponent=best_exponent(shares, joint - shares, labels, sample_weight))

    def predict(self, data: Any) -> list[Any]:
        """The most probable class of each row, the first when tied."""
        return [self.labels[k] for k in self.predict_proba(data).argmax(axis=1).tolist()]

    # -- files

    def to_document(self) -> dict[str, Any]:
        """Return the counts as plain values.

        {"labels", "variables", "pairs", "classes", "cases", "least", "exponent"}
        """
        odd = [label for label in self.labels if not isinstance(label, NAME)]
        if odd:
            raise ParameterError(f"classes in a file are texts, numbers or truth values, not {odd[0]!r:.60}")
        prior = {"cases": self.equivalent_sample_size, "least": self.min_count, "exponent": self.exponent}
        counts = {"pairs": self.counts.n, "classes": self.classes.n}
        return {"labels": list(self.labels), **self.schema.to_dict(), **counts, **prior}

    @classmethod
    def from_document(cls, reader: Reader, document: dict[str, Any]) -> AODEModel:
        """Return the model of a document, all of which is checked."""
        keys: dict[str, Any] = {
            "labels": [NAME], "variables": [dict], "pairs": ARRAY, "classes": ARRAY, "cases": NUMBER, "least": NUMBER,
            "exponent": NUMBER,
        }  # fmt: skip
        labels, variables, pairs, classes, cases, least, exponent = reader.entries(document, keys, "a model")
        schema = Schema(reader.discrete(variable, "the column") for variable in variables)
        if not labels or not len(schema) or len(set(labels)) < len(labels) or min(cases, exponent) <= 0 or least < 0:
            reader.wrong(
                "it has no classes or columns, classes of the same name, or a prior or an exponent that is not above 0"
            )
        nothing = cls.empty(schema, len(labels), float(cases), float(least), tuple(labels))
        n = reader.amounts(pairs, "pairs", nothing.counts.n.shape)
        if (n != np.swapaxes(n, 1, 2)).any():
            reader.wrong("the counts of its pairs are not symmetric")
        per_class = reader.amounts(classes, "classes", (len(labels),))
        return replace(nothing, counts=Counts(n), classes=Counts(per_class), exponent=float(exponent))


@codec.upgrade("one-dependence", 1)
def with_exponent(_reader: Reader, document: dict[str, Any]) -> dict[str, Any]:
    """Version 1 had no exponent."""
    return document | {"exponent": 1.0}


@dataclass(frozen=True, eq=False)
class SampledCodes:
    """The codes, the classes and the weights of some rows."""

    codes: NDArray[Any]
    labels: NDArray[np.int32]
    sample_weight: NDArray[np.float64]

    def __add__(self, other: SampledCodes) -> SampledCodes:
        return SampledCodes(
            np.concatenate([self.codes, other.codes], axis=1),
            np.append(self.labels, other.labels),
            np.append(self.sample_weight, other.sample_weight),
        )

    def calibrated(self, model: AODEModel) -> AODEModel:
        """A model of these rows and maybe others, with its exponent."""
        seen = np.flatnonzero(self.labels >= 0)
        return model.calibrated(self.codes[:, seen], self.labels[seen], self.sample_weight[seen])


@dataclass(frozen=True)
class SampleCodes:
    """Takes every n-th row of a batch."""

    names: tuple[str, ...]
    target: str
    every: int

    def __call__(self, table: Table) -> SampledCodes:
        """Those of one batch."""
        w = np.ones(table.n_rows) if table.sample_weight is None else np.array(table.sample_weight)
        codes, labels = table.select(self.names).codes, table.codes_of(self.target).astype(np.int32)
        return SampledCodes(codes[:, :: self.every], labels[:: self.every], w[:: self.every])


@dataclass(frozen=True)
class CountPairs:
    """Counts the pairs of a batch."""

    empty: AODEModel
    target: str

    def __call__(self, table: Table) -> AODEModel:
        """Those of one batch."""
        w = np.ones(table.n_rows) if table.sample_weight is None else np.array(table.sample_weight)
        codes = table.select(self.empty.schema.names).codes
        return self.empty.plus(codes, table.codes_of(self.target).astype(np.int32), w)


class AODEClassifier(AnswersInBatches, ReadsLabels, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """P(class | x) by averaged one-dependence estimators (AODE), over states; numbers are cut into intervals.

    Parameters
    ----------
    equivalent_sample_size
        Cases that every distribution counts as seen before, spread evenly: an m-estimate.
    min_count
        A state leads only if it occurs in at least this many rows.
    n_bins
        Intervals that a numeric column is cut into at its quantiles.
    calibrate
        Estimate the exponent of the evidence out of fold, on at most 20,000 rows; ``"auto"`` does so with at least 20
        rows that have a label.
    na_values, keep_default_na
        Markers of missing values, as in :func:`~bayeslearn.as_table`; of X, and of the column that `y` names.
    unlabeled
        What to do with rows without a label (None, NaN): ``"drop"`` them or raise an ``"error"``.

    Attributes
    ----------
    model_
        The counts.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> X = [["a", "a"], ["a", "b"], ["b", "a"], ["b", "b"]] * 5
    >>> y = ["same" if u == v else "other" for u, v in X]
    >>> AODEClassifier().fit(X, y).score(X, y)         # naive Bayes cannot learn this
    1.0
    """

    model_: AODEModel

    def __init__(
        self,
        *,
        equivalent_sample_size: float = 1.0,
        min_count: float = 1.0,
        n_bins: int = 5,
        calibrate: bool | Literal["auto"] = "auto",
        na_values: Markers = (),
        keep_default_na: bool = True,
        unlabeled: Literal["drop", "error"] = "drop",
    ) -> None:
        self.equivalent_sample_size = equivalent_sample_size
        self.min_count = min_count
        self.n_bins = n_bins
        self.calibrate = calibrate
        self.na_values = na_values
        self.keep_default_na = keep_default_na
        self.unlabeled = unlabeled

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Count pairs; where X has named columns, `y` and `sample_weight` may be names of columns."""
        if is_source(X):
            return self._fit_source(self._marked(X, reset=True), y, sample_weight)
        rows, y, w = self._read_cases(X, y, sample_weight, reset=True)
        w = np.ones(len(y)) if w is None else w
        codes = self._code_labels(y, reset=True)
        table = self._table(self._columns(rows), w)
        self.model_ = self._empty(table.schema).plus(table.codes, codes, w)
        every = -(-len(codes) // MOST_ROWS)
        self._calibrate(lambda: SampledCodes(table.codes[:, ::every], codes[::every], w[::every]), len(codes))
        return self

    def _calibrate(self, sample: Callable[[], SampledCodes], n_rows: int) -> None:
        if is_calibrated(n_rows, len(self.classes_), calibrate=self.calibrate):
            self.model_ = sample().calibrated(self.model_)

    def _columns(self, rows: Any) -> Any:
        """An array as columns, other data unchanged."""
        if not isinstance(rows, np.ndarray):
            return rows
        return {name: rows[:, j] for j, name in enumerate(self._array_names(rows.shape[1], reset=False))}

    def _empty(self, schema: Schema) -> AODEModel:
        m = validation.number("equivalent_sample_size", self.equivalent_sample_size, above=0)
        min_count = validation.number("min_count", self.min_count, min_value=0)
        return AODEModel.empty(schema, len(self.classes_), m, min_count, tuple(self.classes_.tolist()))

    def _fit_source(self, X: Any, y: Any, sample_weight: Any) -> Self:
        source = labeled_source(X, y, {}, sample_weight)
        numbers = [v.name for v in source.schema.numeric]
        if numbers:
            from bayeslearn.sources import discretize  # noqa: PLC0415 - few ask for it

            if source.missing()[y]:
                raise DataError(
                    "numbers are cut at the quantiles of rows with a label, and some rows of the source have none",
                    hint="leave out these rows, or cut the columns before: bayeslearn.sources.discretized(source)",
                )
            source = discretize(source, numbers, n_bins=validation.integer("n_bins", self.n_bins, min_value=2))
        columns = Schema(v for v in source.schema if v.name != y)
        self.classes_ = classes_of(source.schema[y])
        self._note_columns(columns.names)
        target = DiscreteVariable(y, tuple(self.classes_.tolist()))
        coded = source.with_schema(Schema([target, *columns]))
        self.model_ = coded.fold(CountPairs(self._empty(columns), y))
        every = -(-source.n_rows // MOST_ROWS)
        self._calibrate(lambda: coded.fold(SampleCodes(columns.names, y, max(every, 1))), source.n_rows)
        return self

    def _table(self, columns: Any, w: NDArray[np.float64]) -> Table:
        bins = validation.integer("n_bins", self.n_bins, min_value=2)
        gone = dropping(columns, None)
        table = as_table(columns, allow_constant=True, dropped_columns=gone)
        warn_dropped(gone, named=True)
        cuts = {v.name: quantile_cuts(*weighted_values(table.values_of(v.name), w), bins) for v in table.schema.numeric}
        return table.apply_cuts(cuts)

    def predict_joint_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return ln P(label, row)."""
        return self._answer(X, "log_joint")

    def _ask(self, question: str, rows: Any, *arguments: Any) -> Any:
        with collected():
            table = as_table(self._columns(rows), schema=self.model_.schema, handle_unknown="missing")
        return super()._ask(question, table.codes, *arguments)

    def _columns_in(self) -> Schema:
        return self.model_.schema

    def _source_of(self, rows: Any, target: str | None = None, sample_weight: Any = None) -> Any:
        if target is not None:
            return super()._source_of(rows, target, sample_weight)
        with collected():
            return as_source(rows, schema=self.model_.schema, handle_unknown="missing")

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """P(label | what the row shows); a state not seen in training is missing."""
        return self._answer(X, "proba")

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable label of each row, the first in sorted order when tied."""
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]
