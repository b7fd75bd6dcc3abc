"""Averaged one-dependence: every column in turn is a second parent of all others, and their answers are averaged.

    P(c, x) ≈ mean_j P(c, x_j) Π_{k ≠ j} P(x_k | c, x_j)

Nothing is searched and nothing is chosen: all of it is counts of two columns and the class, so it learns in one pass
and models add. Columns that lean on each other, which naive Bayes counts twice, are forgiven (Webb, Boughton
and Wang 2005).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from bayeslearn import kernels, validation
from bayeslearn.errors import CapacityError, DataError
from bayeslearn.families import Counts
from bayeslearn.naive_bayes.tables.answers import normalised
from bayeslearn.naive_bayes.tables.inputs import Input
from bayeslearn.naive_bayes.tables.labels import checked_labels, known_classes, label_codes, missing_labels
from bayeslearn.naive_bayes.tables.rows import BLOCK
from bayeslearn.naive_bayes.tables.source_estimators import classes_of, labelled_source
from bayeslearn.sources import as_source
from bayeslearn.sources import is_source as folded
from bayeslearn.sources.mixins import TakesCells
from bayeslearn.sources.usability import dropping, warn_dropped
from bayeslearn.tables import Discrete, Schema, Table, as_table
from bayeslearn.tables.discretise import quantile_cuts
from bayeslearn.tables.interval_values import weighted_values
from bayeslearn.tables.notes import collected

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.tables.markers import Markers

#: Counts of pairs that are kept at most.
MOST_CELLS = 1 << 27


@dataclass(frozen=True, eq=False)
class OneDependence:
    """Counts of (class, state, state) for every two columns, and the probabilities read off them.

    `counts.n` is (classes, states, states) over the states of all columns one after the other; on the diagonal stands
    how often a state was seen by itself. `cases` stand before the data in every distribution, spread evenly.
    """

    schema: Schema
    counts: Counts
    classes: Counts
    cases: float
    least: float

    @classmethod
    def empty(cls, schema: Schema, n_classes: int, cases: float, least: float) -> OneDependence:
        """Nothing seen yet."""
        n = sum(v.size for v in schema.discrete)
        if n_classes * n * n > MOST_CELLS:
            raise CapacityError(
                f"the pairs of {n} states in {n_classes} classes need {n_classes * n * n:,} counts, "
                f"more than {MOST_CELLS:,}",
                hint="use columns with fewer states, or NaiveBayesClassifier",
            )
        return cls(schema, Counts.zero((n_classes, n, n)), Counts.zero((n_classes,)), cases, least)

    @property
    def start(self) -> NDArray[np.int64]:
        """Where the states of each column begin."""
        sizes = [v.size for v in self.schema.discrete]
        return np.cumsum([0, *sizes[:-1]], dtype=np.int64)

    def plus(self, codes: NDArray[Any], labels: NDArray[np.int32], weights: NDArray[np.float64]) -> OneDependence:
        """With more rows."""
        upper = np.zeros(self.counts.n.shape)
        kernels.count_pairs(codes, self.start, labels, weights, upper)
        pairs = upper + np.swapaxes(np.triu(upper, 1), 1, 2)
        seen = labels >= 0
        classes = np.bincount(labels[seen], weights[seen], minlength=len(upper)).astype(float)
        return OneDependence(
            self.schema, self.counts + Counts(pairs), self.classes + Counts(classes), self.cases, self.least
        )

    def __add__(self, other: OneDependence) -> OneDependence:
        return replace(self, counts=self.counts + other.counts, classes=self.classes + other.classes)

    @cached_property
    def logs(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """ln P(c), ln P(c, state) with −inf for states that are too rare to lead, and ln P(state | c, state)."""
        n, per_class = self.counts.n, self.classes.n
        column = np.repeat(np.arange(len(self.schema)), [v.size for v in self.schema.discrete])
        size = np.bincount(column)[column]
        alone = np.diagonal(n, axis1=1, axis2=2)
        in_column = column[:, None] == np.arange(len(self.schema))
        known = alone @ in_column  # (classes, columns): rows that show the column
        leads = alone.sum(axis=0) >= self.least
        m, k = self.cases, len(n)
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


@dataclass(frozen=True)
class CountPairs:
    """Counts the pairs of a batch."""

    empty: OneDependence
    target: str

    def __call__(self, table: Table) -> OneDependence:
        """Those of one batch."""
        w = np.ones(table.n_rows) if table.weights is None else np.array(table.weights)
        codes = table.select(self.empty.schema.names).codes
        return self.empty.plus(codes, table.code(self.target).astype(np.int32), w)


class AveragedOneDependenceClassifier(TakesCells, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """P(class | x) by averaged one-dependence estimators (AODE), over states; numbers are cut into intervals.

    Parameters
    ----------
    cases
        Cases that every distribution counts as seen before, spread evenly: an m-estimate.
    least
        A state leads only if it was seen in at least so many rows.
    bins
        Intervals that a numeric column is cut into at its quantiles.
    missing, keep_default_na
        Markers of missing values, as in :func:`~bayeslearn.as_table`; of X, and of the column that `y` names.

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
    >>> AveragedOneDependenceClassifier().fit(X, y).score(X, y)         # naive Bayes cannot learn this
    1.0
    """

    model_: OneDependence
    classes_: NDArray[Any]

    def __init__(
        self,
        *,
        cases: float = 1.0,
        least: float = 1.0,
        bins: int = 5,
        missing: Markers = (),
        keep_default_na: bool = True,
    ) -> None:
        self.cases = cases
        self.least = least
        self.bins = bins
        self.missing = missing
        self.keep_default_na = keep_default_na

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Count pairs; rows without a label are left out. `y` names a column where X is a source, or paths of files."""
        if folded(X):
            return self._fit_source(self._marked(X, reset=True), y, sample_weight)
        given, y = Input.of(X, self, reset=True), checked_labels(y)
        check_consistent_length(given, y)
        w = validation.weights(sample_weight, len(y), name="sample_weight")
        use = np.flatnonzero((w > 0) & ~missing_labels(y))
        if not len(use):
            raise DataError("every sample_weight is zero: no class is left to learn")
        self.classes_ = known_classes(y[use])
        table = self._table(given.data, w, use)
        self.model_ = self._empty(table.schema).plus(table.codes, label_codes(y[use], self.classes_), w[use])
        return self

    def _empty(self, schema: Schema) -> OneDependence:
        cases, least = validation.number("cases", self.cases, above=0), validation.number("least", self.least, least=0)
        return OneDependence.empty(schema, len(self.classes_), cases, least)

    def _fit_source(self, X: Any, y: Any, weights: Any) -> Self:
        source = labelled_source(X, y, {}, weights)
        numbers = [v.name for v in source.schema.numeric]
        if numbers:
            from bayeslearn.sources import discretised  # noqa: PLC0415 - few ask for it

            if source.missing()[y]:
                raise DataError(
                    "numbers are cut at the quantiles of rows with a label, and some rows of the source have none",
                    hint="leave out these rows, or cut the columns before: bayeslearn.sources.discretised(source)",
                )
            source = discretised(source, numbers, bins=validation.integer("bins", self.bins, least=2))
        columns = Schema(v for v in source.schema if v.name != y)
        self.classes_ = classes_of(source.schema[y])
        self.n_features_in_ = len(columns)
        self.feature_names_in_ = np.array(columns.names, dtype=object)
        target = Discrete(y, tuple(self.classes_.tolist()))
        self.model_ = source.with_schema(Schema([target, *columns])).fold(CountPairs(self._empty(columns), y))
        return self

    def _table(self, columns: Any, w: NDArray[np.float64], use: NDArray[np.intp]) -> Table:
        bins = validation.integer("bins", self.bins, least=2)
        gone = dropping(columns, None)
        table = as_table(columns, allow_constant=True, left_out=gone).take(use)
        warn_dropped(gone, named=True)
        cuts = {
            v.name: quantile_cuts(*weighted_values(table.value(v.name), w[use]), bins) for v in table.schema.numeric
        }
        return table.cut(cuts)

    def predict_joint_log_proba(self, X: Any) -> NDArray[np.float64]:
        """ln P(label, what the row shows)."""
        check_is_fitted(self)
        if folded(X):
            with collected():
                source = as_source(self._marked(X, reset=False), schema=self.model_.schema, unseen="missing")
            return np.concatenate([self.model_.log_joint(table.codes) for table in source.batches()])
        with collected():
            table = as_table(Input.of(X, self, reset=False).data, schema=self.model_.schema, unseen="missing")
        return self.model_.log_joint(table.codes)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """P(label | what the row shows); a state not seen in training is missing."""
        return normalised(self.predict_joint_log_proba(X).T)[0].T

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """The logarithm of :meth:`predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable label of each row, the first in sorted order when tied."""
        best = self.predict_joint_log_proba(X).argmax(axis=1)
        return self.classes_[best]
