"""What the scikit-learn estimators of the package share: they read rows, read labels, and answer in batches.

ReadsRows          X as arrays, frames, dicts, tables, paths and sources; names of columns; markers of missing values
ReadsLabels        y as labels, with missing ones, or as the name of a column of X; classes, codes and weights
AnswersInBatches   an answer for each row, also of sources; predict_log_proba and score
PredictsClasses    all three, and predict: the most probable class
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import narwhals as nw
import numpy as np
import pyarrow as pa
from sklearn.base import is_regressor
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from bayeslearn import validation
from bayeslearn.distributions import Counts, Moments, StatisticsBundle
from bayeslearn.distributions.sufficient_statistics import assign
from bayeslearn.errors import BayeslearnError, DataError, MissingValuesError, ParameterError, ShapeError
from bayeslearn.sources.scanning import as_source, is_source, with_options
from bayeslearn.tables import DiscreteVariable, Schema, Table, as_table
from bayeslearn.tables.conversion import RawTable, columns_as_read
from bayeslearn.tables.discretization import all_numbers, with_numbers
from bayeslearn.tables.markers import Missing, class_array, distinct_labels, label_codes, missing_labels
from bayeslearn.tables.schema import require_known, require_unique
from bayeslearn.tables.sparse import checked_sparse

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from bayeslearn.tables.markers import Markers

    Floats = NDArray[np.float64]


### rows


class ReadsRows:
    """Reads X, and declares to scikit-learn that cells may be numbers, words or missing."""

    na_values: Markers = ()
    keep_default_na: bool = True

    #: What scikit-learn checks of an array, and the kinds of arrays that stay arrays.
    _array_checks: ClassVar[dict[str, Any]] = {"dtype": None, "ensure_all_finite": False}
    _array_kinds: ClassVar[str] = "iuf"
    #: The form in which the learner takes rows: any data with their columns, an array or a frame, or an array only.
    _form: ClassVar[Literal["any", "frame", "array"]] = "any"

    def _read_rows(self, X: Any, *, reset: bool) -> Any:
        """X as learners take it, with its columns checked and the markers of missing values of the estimator.

        An array of numbers stays an array, and other arrays become a dict of columns. Frames, dicts and tables stay
        what they are, the path of a file is read, and sources, patterns and lists of paths remain to be folded.
        `reset` is whether X determines the columns, as in `fit`; what a source has is noted when it is known.
        """
        if self._form != "any":
            return self._read_form(X, reset=reset)
        if is_source(X):
            return self._marked(X, reset=reset)
        if has_named_columns(X):
            if isinstance(X, str | os.PathLike):
                X = columns_as_read(X)
            elif not isinstance(X, Mapping | Table):
                return self._marked(self._checked_frame(X, reset=reset), reset=reset)
            if reset:
                self._note_columns(column_names(X))
            return self._marked(X, reset=reset)
        array = validate_data(self, X, **self._array_checks, reset=reset)
        names = self._array_names(array.shape[1], reset=reset)
        marked = self._marked(array, reset=reset, names=names)
        if isinstance(marked, np.ndarray) and marked.dtype.kind not in self._array_kinds:
            return {name: marked[:, j] for j, name in enumerate(names)}
        return marked

    def _read_form(self, X: Any, *, reset: bool) -> Any:
        """X as an array, or as the frame it is; columns of other data become an Arrow table."""
        X = as_table(X, allow_constant=True) if isinstance(X, str | os.PathLike) else X
        if isinstance(X, Table):
            X = with_numbers(X, [v for v in X.schema.discrete if all_numbers(v)])
        if isinstance(X, Table) or (isinstance(X, Mapping) and not hasattr(X, "tocsr")):
            X = pa.table(dict(columns_as_read(X)))
        sparse = get_tags(self).input_tags.sparse
        checked = validate_data(self, checked_sparse(X), **self._array_checks, accept_sparse=sparse, reset=reset)
        return X if self._form == "frame" and hasattr(type(X), "columns") else checked

    def _checked_frame(self, X: Any, *, reset: bool) -> Any:
        """A frame with the names of its columns checked; columns that training had not, such as a target, are left."""
        if hasattr(X, "collect"):
            X = nw.from_native(X).collect().to_native()
        names = column_names(X)
        require_unique(names)
        known = [] if reset else [str(name) for name in getattr(self, "feature_names_in_", ())]
        if 0 < len(known) < len(names) and set(known) <= set(names):
            X = nw.from_native(X).select(known).to_native()
        validate_data(self, X, reset=reset, skip_check_array=True)
        return X

    def _array_names(self, n: int, *, reset: bool) -> tuple[str, ...]:
        """The names of the columns of an array: those of training, or x0, x1, and so on."""
        known = () if reset else getattr(self, "feature_names_in_", ())
        return tuple(known) if len(known) == n else tuple(f"x{j}" for j in range(n))

    def _note_columns(self, names: Iterable[str], target: Any = None) -> None:
        """Keep the names of the columns of X, without those of the target."""
        targets = {target} if isinstance(target, str) else set(target or ())
        kept = [name for name in names if name not in targets]
        self.n_features_in_, self.feature_names_in_ = len(kept), np.array(kept, dtype=object)

    @property
    def _has_markers(self) -> bool:
        """Whether there are other markers than the default ones."""
        return Missing.of(self.na_values, keep_default_na=self.keep_default_na) != Missing.of()

    def _marked(self, X: Any, *, reset: bool, names: Iterable[str] | None = None) -> Any:
        """Data with the estimator's markers of missing values; the data themselves where it has only the default ones.

        Markers of single columns must name columns that are there when an estimator is fitted (`reset`). An array has
        the columns x0, x1, …, or those of `names`.
        """
        if not self._has_markers:
            return X
        if isinstance(X, np.ndarray) and X.ndim == 2:
            columns = [f"x{j}" for j in range(X.shape[1])] if names is None else list(names)
            if X.dtype.kind == "f":
                return without_markers(X, Missing.of(self.na_values, keep_default_na=self.keep_default_na), columns)
            X = {name: X[:, j] for j, name in enumerate(columns)}
        is_marked = isinstance(X, RawTable) and X.missing != Missing.of()  # the target may be gone, and its markers
        options: dict[str, Any] = {"na_values": self.na_values, "keep_default_na": self.keep_default_na}
        return with_options(X, **options, require_marked=reset and not is_marked)

    def __dir__(self) -> list[str]:
        """List the attributes that are there, also one that cannot be computed, such as an undefined evidence."""
        return [name for name in object.__dir__(self) if _is_there(self, name)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags


def _is_there(estimator: Any, name: str) -> bool:
    try:
        return hasattr(estimator, name)
    except BayeslearnError:
        return True


def has_named_columns(X: Any) -> bool:
    """Whether data are a frame, a dict of columns, a table, a source or paths: their columns have names."""
    if hasattr(X, "tocsr"):
        return False  # some sparse matrices are dicts
    return isinstance(X, Mapping | Table | str | os.PathLike) or hasattr(type(X), "columns") or is_source(X)


def column_names(X: Any) -> tuple[str, ...]:
    """The names of the columns of a table, a dict or a frame."""
    if isinstance(X, Table):
        return X.schema.names
    names = X if isinstance(X, Mapping) else getattr(X, "column_names", X.columns)  # Arrow calls them so
    return tuple(str(name) for name in names)


def n_rows(rows: Any) -> int:
    """How many rows there are."""
    if isinstance(rows, Mapping):
        return len(next(iter(rows.values()), ()))
    return rows.shape[0] if hasattr(rows, "shape") else len(rows)


def take_rows(rows: Any, index: NDArray[np.intp]) -> Any:
    """Some of the rows, in the form they have."""
    if isinstance(rows, Table | RawTable):
        return rows.take(index)
    if isinstance(rows, Mapping):
        return {name: _safe_indexing(column, index) for name, column in rows.items()}
    if hasattr(type(rows), "columns"):
        return nw.from_native(rows)[index].to_native()
    return _safe_indexing(rows, index)


def without_markers(x: NDArray[Any], markers: Missing, names: Iterable[str]) -> NDArray[Any]:
    """An array of floats with NaN in place of numbers that stand for no value."""
    found = np.column_stack([np.isin(x[:, j], list(markers.of_column(n).numbers)) for j, n in enumerate(names)])
    return np.where(found, np.nan, x)


def without_column(X: Any, name: str) -> Any:
    """A frame, a dict or a table without one of its columns, which it must have."""
    require_known([name], column_names(X))
    if isinstance(X, Table):
        return X.drop([name])
    if isinstance(X, RawTable):
        return X.select(other for other in X if other != name)
    if isinstance(X, Mapping):
        return {other: column for other, column in X.items() if str(other) != name}
    return nw.from_native(X).drop(name).to_native()


### labels


class Cases(NamedTuple):
    """Rows, the label or the target of each, and weights or None for ones."""

    rows: Any
    y: NDArray[Any]
    sample_weight: Floats | None


class ReadsLabels(ReadsRows):
    """Reads y: labels, or numbers of a regressor, of which some may be missing; or the name of the column of X."""

    classes_: NDArray[Any]
    #: What to do with rows without a label (None, NaN): "drop" them, raise an "error", or learn from them by "em".
    unlabeled: str = "drop"
    _unlabeled_choices: ClassVar[tuple[str, ...]] = ("drop", "error")

    def _read_cases(self, X: Any, y: Any, sample_weight: Any = None, *, reset: bool) -> Cases:
        """Rows in memory with labels and weights; rows that count nothing are left out, as are dropped ones."""
        if is_source(X):
            raise ParameterError(
                f"{type(self).__name__} takes all rows in memory, and a source is folded batch by batch",
                hint="read them, if they fit: source.table()",
            )
        X, y, sample_weight = self._split(X, y, sample_weight, reset=reset)
        rows, y = self._read_rows(X, reset=reset), checked_numbers(self, y) if is_regressor(self) else checked_labels(y)
        return self._counting(rows, y, sample_weight)

    def _split(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> tuple[Any, Any, Any]:
        """X without the columns that `y` and `sample_weight` name, and what these hold."""
        if y is None:
            raise ParameterError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        names = [name for name in (y, sample_weight) if isinstance(name, str)]
        if not names or not has_named_columns(X) or is_source(X):
            return X, y, sample_weight
        if isinstance(X, str | os.PathLike):
            X = columns_as_read(X) if self._form == "any" else as_table(X, allow_constant=True)
        X = self._marked(X, reset=reset)
        if isinstance(sample_weight, str):
            table = as_table(X, columns=[sample_weight], numeric=[sample_weight])
            X, sample_weight = without_column(X, sample_weight), table.values_of(sample_weight)
        if isinstance(y, str):
            X, y = without_column(X, y), self._named_target(X, y)
        return X, y, sample_weight

    def _named_target(self, X: Any, name: str) -> NDArray[Any]:
        """The labels that a column holds, None where they are missing; of a regressor numbers and NaN."""
        require_known([name], column_names(X))
        if is_regressor(self):
            return as_table(X, columns=[name], numeric=[name]).values_of(name)
        found = as_table(X, columns=[name], discrete=[name], allow_constant=True, max_states=1 << 20).column(name)
        return found if missing_labels(found).any() else class_array(found)

    def _counting(self, rows: Any, y: NDArray[Any], sample_weight: Any) -> Cases:
        """The cases that count: of positive weight, and with a label unless EM learns from the others too."""
        n = n_rows(rows)
        if n != len(y):
            raise ShapeError(
                f"Found input variables with inconsistent numbers of samples: {n} rows and {len(y)} labels"
            )
        w = None if sample_weight is None else validation.weights(sample_weight, n, name="sample_weight")
        keep = None if w is None or w.all() else w > 0
        if keep is not None and not keep.any():
            raise DataError(
                "every sample_weight is zero: no class is left to learn", hint="give at least one row a positive weight"
            )
        if validation.choice("unlabeled", self.unlabeled, self._unlabeled_choices) != "em":
            gone = missing_labels(y) if y.ndim == 1 else np.isnan(y).any(axis=1)
            if gone.any():
                self._refuse_missing(gone)
                keep = ~gone if keep is None else keep & ~gone
        if keep is None:
            return Cases(rows, y, w)
        index = np.flatnonzero(keep)
        if not len(index):
            raise DataError("no row that counts has a label", hint="give a label and a weight to some rows")
        y = class_array(y[index]) if y.dtype == object else y[index]
        return Cases(take_rows(rows, index), y, None if w is None else w[index])

    def _refuse_missing(self, gone: NDArray[np.bool_]) -> None:
        if self.unlabeled == "error":
            raise MissingValuesError(
                f"row {validation.first_position(gone)} has no label", hint='leave these rows out: unlabeled="drop"'
            )

    def _code_labels(self, y: NDArray[Any], classes: Any = None, *, reset: bool) -> NDArray[np.int32]:
        """The positions of labels among `classes_`, which `reset` learns or takes as given; −1 where it is missing."""
        if reset:
            self.classes_ = distinct_labels(y) if classes is None else np.unique(np.asarray(classes))
        return label_codes(y, self.classes_, check=not reset or classes is not None)


def checked_labels(y: Any) -> NDArray[Any]:
    """Labels as an array, None and NaN among them where they are missing."""
    y = column_or_1d(np.asarray(y), warn=True)
    seen = y[~missing_labels(y)] if y.dtype.kind in "Of" else y
    if y.dtype.kind == "f" and np.isinf(seen).any():
        raise DataError("Input y contains infinity, which is no label", hint="None and NaN are missing labels")
    if not len(seen) and len(y):
        raise DataError("no row has a label: all of them are None or NaN", hint="label at least some rows")
    if y.dtype.kind == "O" and set(map(type, seen.tolist())) <= {str, int, bool, float}:
        seen = np.array(seen.tolist())
    if seen.dtype.kind not in "iubUS":  # these can be nothing but classes
        check_classification_targets(seen)
    return y


def checked_numbers(estimator: Any, y: Any) -> Floats:
    """Targets of a regressor as an array, NaN where they are missing; several columns only if it takes them."""
    y = np.asarray(y)
    if y.ndim != 2 or not get_tags(estimator).target_tags.multi_output:
        y = column_or_1d(y, warn=True)
    y = validation.float_array("y", y)
    if np.isinf(y).any():
        raise DataError("Input y contains infinity, which is no target", hint="None and NaN are missing targets")
    return y


### answers


class AnswersInBatches(ReadsRows):
    """Answers for each row, also for the rows of a source, batch by batch."""

    def _columns_in(self) -> Schema:
        """The columns of the fitted model."""
        raise NotImplementedError

    def _answer(self, X: Any, question: str, *arguments: Any) -> Any:
        """What the model answers about the rows of X; the answers about the batches of a source are joined."""
        check_is_fitted(self)
        rows = self._read_rows(X, reset=False)
        if not is_source(rows):
            return self._ask(question, rows, *arguments)
        return joined([self._ask(question, table, *arguments) for table in self._source_of(rows).batches()])

    def _ask(self, question: str, rows: Any, *arguments: Any) -> Any:
        """What the model answers about rows in memory; `question` is the name of a method."""
        return getattr(self.model_, question)(rows, *arguments)  # type: ignore[attr-defined]

    def _source_of(self, rows: Any, target: str | None = None, sample_weight: Any = None) -> Any:
        """Data as a source of the columns of the model, whose cells keep their kind, and of the target."""
        variables = self._columns_in()
        states = [v.name for v in variables if isinstance(v, DiscreteVariable) and v.cuts is None]
        numbers = [v.name for v in variables if v.name not in states]
        if target is not None:
            (numbers if is_regressor(self) else states).append(target)
        return as_source(
            rows, columns=[*states, *numbers], discrete=states, numeric=numbers, allow_constant=True,
            max_states=1 << 20, sample_weight=sample_weight,
        )  # fmt: skip

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Score the predictions: the accuracy of a classifier, the R² of a regressor.

        Where X has named columns (a frame, a dict, a table, a path or a source), `y` and `sample_weight` may be names
        of columns. Rows of such a column whose target is missing are left out.
        """
        check_is_fitted(self)
        if isinstance(y, str) and self._form != "any":
            X, y, sample_weight = self._split(X, y, sample_weight, reset=False)  # type: ignore[attr-defined]
        if not isinstance(y, str):
            return float(super().score(X, y, sample_weight))  # type: ignore[misc]
        source = self._source_of(self._marked(X, reset=False), y, sample_weight)
        return _score_of(source.fold(BatchScore(self, y)))

    @available_if(lambda self: hasattr(self, "predict_proba"))  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Floats:
        """Return the logarithm of :meth:`predict_proba`; −inf where a probability is 0."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))  # type: ignore[attr-defined]


class PredictsClasses(AnswersInBatches, ReadsLabels):
    """Predicts the class that scores highest."""

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable label of each row, the first of `classes_` when tied."""
        best = np.argmax(self._class_scores(X), axis=1)
        return self.classes_[best]

    def _class_scores(self, X: Any) -> Floats:
        """Numbers that grow with the probability of each of `classes_`."""
        return self.predict_proba(X)  # type: ignore[attr-defined]


@dataclass(frozen=True)
class BatchScore:
    """Statistics of a batch that a score is read off."""

    estimator: Any
    target: str

    def __call__(self, table: Table) -> StatisticsBundle:
        """Those of one batch."""
        numbers = is_regressor(self.estimator)
        y: NDArray[Any] = table.values_of(self.target) if numbers else table.column(self.target)
        known = np.flatnonzero(~missing_labels(y))
        w = np.ones(len(known)) if table.sample_weight is None else np.asarray(table.sample_weight)[known]
        table, y = table.take(known).drop([self.target]).with_weights(None), y[known]
        found = self.estimator.predict(table) if len(known) else y
        if numbers:
            rows = assign(len(y), sample_weight=w)
            return StatisticsBundle(y=Moments.collect(y, rows), squares=Moments.collect((y - found) ** 2, rows))
        return StatisticsBundle(right=Counts(np.array([w @ (np.asarray(found, dtype=object) == y), w.sum()])))


def _score_of(sums: StatisticsBundle) -> float:
    """The accuracy, or the R², of the sums over all batches."""
    from bayeslearn.evaluation import accuracy  # noqa: PLC0415 - fits do without it

    if "right" in sums:
        return accuracy(*sums["right"].n.tolist())
    return 1 - float(sums["squares"].mean / sums["y"].var)


def joined(parts: list[Any]) -> Any:
    """The answers about several batches as one: arrays after another, tuples of arrays by place."""
    if isinstance(parts[0], tuple):
        return tuple(np.concatenate(side) for side in zip(*parts, strict=True))
    if isinstance(parts[0], list):
        return [answer for part in parts for answer in part]
    return np.concatenate(parts)
