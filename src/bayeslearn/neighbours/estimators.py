"""Nearest neighbours as scikit-learn estimators: any columns, holes, weights, batches, reasons."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d, validate_data

from bayeslearn import validation
from bayeslearn.errors import DataError, MissingValuesError, ParameterError, listed
from bayeslearn.neighbours import reading
from bayeslearn.neighbours.learning import learned
from bayeslearn.sources.base import Scanned
from bayeslearn.sources.mixins import TakesCells
from bayeslearn.tables import Discrete, Numeric, Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.neighbours.explaining import Explanation
    from bayeslearn.neighbours.model import Neighbours
    from bayeslearn.tables.markers import Markers

    Floats = NDArray[np.float64]


class KeepsExamples(TakesCells, BaseEstimator):  # type: ignore[misc]
    """What both estimators share: the examples, how they are heard, and who is near."""

    model_: Neighbours

    def __init__(
        self,
        k: Any = 5,
        *,
        weights: Any = "uniform",
        metric: str = "scaled",
        attributes: Any = None,
        prior: Any = 1.0,
        index: str = "auto",
        max_k: int = 50,
        missing: Markers = (),
        keep_default_na: bool = True,
    ) -> None:
        self.k = k
        self.weights = weights
        self.metric = metric
        self.attributes = attributes
        self.prior = prior
        self.index = index
        self.max_k = max_k
        self.missing = missing
        self.keep_default_na = keep_default_na

    def kneighbors(self, X: Any, n_neighbors: int | None = None) -> tuple[Floats, NDArray[np.int64]]:
        """The distances and the numbers of the examples nearest to each row, the nearest first."""
        return self._ask("nearest", X, n_neighbors)

    def explain(self, X: Any) -> list[Explanation]:
        """For each row the neighbours that are heard, how far they are, what they weigh and what they say."""
        return self._ask("explain", X)

    @property
    def attribute_weights_(self) -> dict[str, float]:
        """The weight of every attribute."""
        return self.model_.distance.attribute_weights

    # -- data in

    def _learned(self, rows: Table, target: Any, said: NDArray[Any]) -> Self:
        found = learned(
            rows, target, said, k=self.k, metric=self.metric, attributes=self.attributes, max_k=self.max_k,
            weighting=self.weights, prior=self.prior, index=self.index,
        )  # fmt: skip
        self.model_, self.leave_one_out_, self.k_ = found.model, found.left_out, found.model.k
        return self

    def _joined(self, rows: Table, said: NDArray[Any]) -> tuple[Table, NDArray[Any]]:
        """The examples there were, and more."""
        return reading.joined(self.model_.examples, rows), np.concatenate([self.model_.said, said])

    def _rows(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> tuple[Table, NDArray[Any]]:
        """Checked examples and what they say."""
        if y is None:
            raise ParameterError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        given = self._given(X, reset=reset)
        y = column_or_1d(np.asarray(y), warn=True)
        w = None if sample_weight is None else validation.weights(sample_weight, len(y), name="sample_weight")
        if w is not None and not w.any():
            raise DataError("every sample_weight is zero: no example is left")
        rows = reading.examples(given) if reset else reading.more(self.model_.examples.schema, given)
        check_consistent_length(rows, y)
        bad = missing(y)
        if bad.any():
            raise MissingValuesError(
                f"Input y contains NaN or infinity: row {validation.first_position(bad)} has no target",
                hint="leave these rows out: an example that says nothing helps nobody",
            )
        return (rows if w is None else rows.with_weights(w)), y

    def _ask(self, question: str, X: Any, *more: Any) -> Any:
        check_is_fitted(self)
        return getattr(self.model_, question)(self._given(X, reset=False), *more)

    def _given(self, X: Any, *, reset: bool) -> Any:
        """Checked rows, with the markers of missing values."""
        return self._marked(self._checked(X, reset=reset), reset=reset)

    def _checked(self, X: Any, *, reset: bool) -> Any:
        sparse = hasattr(X, "tocsr")  # some of these are dicts too
        if not sparse and (isinstance(X, Mapping | Table | Scanned | str | os.PathLike) or hasattr(X, "columns")):
            if hasattr(X, "columns") and not isinstance(X, Table | Mapping):
                validate_data(self, X, reset=reset, skip_check_array=True)
            return X  # it names its own columns
        checked = validate_data(self, X, reset=reset, dtype=None, ensure_all_finite=False)
        if checked.dtype.kind in "iuf":
            return checked
        return {f"x{j}": checked[:, j] for j in range(checked.shape[1])}


class NeighboursClassifier(ClassifierMixin, KeepsExamples):  # type: ignore[misc]
    """The classes of the nearest examples; cells may be numbers, states and missing (NaN, None, "?").

    Parameters
    ----------
    k
        How many neighbours are heard; ``"loo"`` for the number with the least leave-one-out error, ``"all"`` for all.
    weights
        ``"uniform"``, ``"inverse-square"`` (an exact match wins), or a function of an array of distances.
    metric
        What numbers are divided by: ``"scaled"`` (standard deviation), ``"range"``, ``"euclidean"`` (nothing).
    attributes
        Weights of columns, by name or in order; ``"loo"`` to find them by leave-one-out, ``"remove"`` to find columns
        that can go.
    prior
        Cases that are spread evenly over the classes before any neighbour is heard, or a Dirichlet.
    index
        ``"auto"``, ``"tree"``, ``"brute"``, or ``"approximate"`` (needs usearch).
    max_k
        The largest k that ``"loo"`` tries.
    missing, keep_default_na
        Markers of missing values, as in :func:`~bayeslearn.as_table`.

    Attributes
    ----------
    model_
        The :class:`Neighbours`, to be explained and saved.
    k_, attribute_weights_, leave_one_out_
        What was chosen, and how every k fared.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> X = [["sunny", 25.0], ["rain", None], ["sunny", 28.5], ["rain", 14.0]]
    >>> model = NeighboursClassifier(1).fit(X, ["no", "yes", "no", "yes"])
    >>> model.predict([["rain", 12.0], [None, 27.0], ["snow", 26.0]])
    array(['yes', 'no', 'no'], dtype='<U3')
    """

    classes_: NDArray[Any]

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Keep the examples."""
        rows, y = self._rows(X, y, sample_weight, reset=True)
        return self._first(rows, y, None)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Keep more examples; the first call may tell all `classes`."""
        first = not hasattr(self, "model_")
        rows, y = self._rows(X, y, sample_weight, reset=first)
        if first:
            return self._first(rows, y, classes)
        return self._learned(*self._with_target(*self._joined(rows, self._codes(y))))

    def _first(self, rows: Table, y: NDArray[Any], classes: Any) -> Self:
        check_classification_targets(y)
        self.classes_ = np.unique(y if classes is None else np.asarray(classes))
        return self._learned(*self._with_target(rows, self._codes(y)))

    def _with_target(self, rows: Table, said: NDArray[Any]) -> tuple[Table, Discrete, NDArray[Any]]:
        name = "class" if "class" not in rows.schema else "class_label"
        return rows, Discrete(name, tuple(self.classes_.tolist())), said

    def _codes(self, y: NDArray[Any]) -> NDArray[np.int64]:
        unknown = np.setdiff1d(y, self.classes_)
        if len(unknown):
            raise ParameterError(
                f"labels {listed(unknown.tolist())} are not among the classes {listed(self.classes_.tolist())}",
                hint="tell all `classes` in the first call of partial_fit",
            )
        return np.searchsorted(self.classes_, y).astype(np.int64)

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable label of each row; of tied ones, that of the nearest neighbour."""
        best = self._ask("predict_codes", X)
        return self.classes_[best]

    def predict_proba(self, X: Any) -> Floats:
        """P(label | neighbours), a column for each of `classes_`."""
        return self._ask("predict_proba", X)


class NeighboursRegressor(RegressorMixin, KeepsExamples):  # type: ignore[misc]
    """The mean of what the nearest examples say, and an interval in which one more case lies.

    Parameters and attributes are those of :class:`NeighboursClassifier`; `prior` is of the variance only: so many cases
    whose spread is that between nearest neighbours, or a NormalInverseGamma.

    Examples
    --------
    >>> model = NeighboursRegressor(2).fit([[1.0], [2.0], [8.0], [9.0]], [10.0, 12.0, 50.0, 54.0])
    >>> model.predict([[1.4], [8.6]])
    array([11., 52.])
    >>> low, high = model.predict_interval([[1.4]], level=0.5)
    >>> float(low[0]) < 11 < float(high[0])
    True
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Keep the examples."""
        rows, y = self._rows(X, y, sample_weight, reset=True)
        return self._learned(rows, Numeric("target"), validation.float_array("y", y))

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Keep more examples."""
        if not hasattr(self, "model_"):
            return self.fit(X, y, sample_weight)
        rows, y = self._rows(X, y, sample_weight, reset=False)
        table, said = self._joined(rows, validation.float_array("y", y))
        return self._learned(table, Numeric("target"), said)

    def predict(self, X: Any) -> Floats:
        """The mean of the target at each row."""
        return self._ask("predict", X)

    def predict_interval(self, X: Any, level: float = 0.95) -> tuple[Floats, Floats]:
        """Equal-tailed bounds of the target of one more case at each row."""
        return self._ask("predict_interval", X, level)


def missing(y: NDArray[Any]) -> NDArray[np.bool_]:
    """Where a target is None, NaN or infinite."""
    if y.dtype.kind == "f":
        return ~np.isfinite(y)
    if y.dtype.kind != "O":
        return np.zeros(len(y), np.bool_)
    return np.array([v is None or v != v for v in y.tolist()], np.bool_)  # noqa: PLR0124 - NaN
