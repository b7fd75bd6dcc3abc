"""Nearest neighbors as scikit-learn estimators: any columns, holes, weights, batches, reasons."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, is_classifier

from bayeslearn.estimators import AnswersInBatches, ReadsLabels
from bayeslearn.neighbors import inputs
from bayeslearn.neighbors.fit import learned
from bayeslearn.sources.scanning import as_source, is_source
from bayeslearn.tables import DiscreteVariable, NumericVariable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.neighbors.model import NeighborsModel
    from bayeslearn.neighbors.voting import NeighborExplanation
    from bayeslearn.tables import Schema, Table
    from bayeslearn.tables.markers import Markers

    Floats = NDArray[np.float64]


class NeighborsEstimator(AnswersInBatches, ReadsLabels):
    """What both estimators share: the examples, how they are weighted, and which are near."""

    model_: NeighborsModel

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
        na_values: Markers = (),
        keep_default_na: bool = True,
        unlabeled: Literal["drop", "error"] = "drop",
    ) -> None:
        self.k = k
        self.weights = weights
        self.metric = metric
        self.attributes = attributes
        self.prior = prior
        self.index = index
        self.max_k = max_k
        self.na_values = na_values
        self.keep_default_na = keep_default_na
        self.unlabeled = unlabeled

    def kneighbors(self, X: Any, n_neighbors: int | None = None) -> tuple[Floats, NDArray[np.int64]]:
        """The distances and the numbers of the examples nearest to each row, the nearest first."""
        return self._answer(X, "nearest", n_neighbors)

    def explain(self, X: Any) -> list[NeighborExplanation]:
        """For each row the neighbors that are heard, how far they are, what they weigh and what they say."""
        return self._answer(X, "explain")

    @property
    def attribute_weights_(self) -> dict[str, float]:
        """The weight of every attribute."""
        return self.model_.distance.attribute_weights

    # -- data in

    def _keep(self, rows: Table, target: Any, y: NDArray[Any]) -> Self:
        found = learned(
            rows, target, y, k=self.k, metric=self.metric, attributes=self.attributes, max_k=self.max_k,
            weighting=self.weights, prior=self.prior, index=self.index,
        )  # fmt: skip
        self.model_, self.leave_one_out_, self.k_ = found.model, found.left_out, found.model.k
        return self

    def _joined(self, rows: Table, y: NDArray[Any]) -> tuple[Table, NDArray[Any]]:
        """The examples there were, and more."""
        return inputs.joined(self.model_.examples, rows), np.concatenate([self.model_.said, y])

    def _examples(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> tuple[Table, NDArray[Any]]:
        """Checked examples and their targets; a source is read into memory."""
        if is_source(X):
            X = inputs.examples(as_source(X), discrete=[y] if isinstance(y, str) and is_classifier(self) else ())
        rows, y, w = self._read_cases(X, y, sample_weight, reset=reset)
        table = inputs.examples(rows) if reset else inputs.more(self.model_.examples.schema, rows)
        return (table if w is None else table.with_weights(w)), y

    def _columns_in(self) -> Schema:
        return self.model_.examples.schema


class NeighborsClassifier(NeighborsEstimator, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The classes of the nearest examples; cells may be numbers, states and missing (NaN, None, "?").

    Parameters
    ----------
    k
        How many neighbors are heard; ``"auto"`` for the number with the least leave-one-out error, ``"all"`` for all.
    weights
        ``"uniform"``, ``"inverse_square"`` (an exact match wins), or a function of an array of distances.
    metric
        What numbers are divided by: ``"scaled"`` (standard deviation), ``"range"``, ``"euclidean"`` (nothing).
    attributes
        Weights of columns, by name or in order; ``"auto"`` to find them by leave-one-out, ``"remove"`` to find columns
        that can go.
    prior
        Cases that are spread evenly over the classes before any neighbor is heard, or a Dirichlet.
    index
        ``"auto"``, ``"tree"``, ``"brute"``, or ``"approximate"`` (needs usearch).
    max_k
        The largest k that ``"auto"`` tries.
    na_values, keep_default_na
        Markers of missing values, as in :func:`~bayeslearn.as_table`; of X, and of the column that `y` names.
    unlabeled
        What to do with rows without a target (None, NaN): ``"drop"`` them or raise an ``"error"``.

    Attributes
    ----------
    model_
        The :class:`NeighborsModel`, to be explained and saved.
    k_, attribute_weights_, leave_one_out_
        What was chosen, and how every k fared.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> X = [["sunny", 25.0], ["rain", None], ["sunny", 28.5], ["rain", 14.0]]
    >>> model = NeighborsClassifier(1).fit(X, ["no", "yes", "no", "yes"])
    >>> model.predict([["rain", 12.0], [None, 27.0], ["snow", 26.0]])
    array(['yes', 'no', 'no'], dtype='<U3')
    """

    classes_: NDArray[Any]

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Keep the examples; where X has named columns, `y` and `sample_weight` may be names of columns."""
        return self._add(X, y, None, sample_weight, reset=True)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Keep more examples; the first call may name all `classes`."""
        return self._add(X, y, classes, sample_weight, reset=not hasattr(self, "model_"))

    def _add(self, X: Any, y: Any, classes: Any, sample_weight: Any, *, reset: bool) -> Self:
        rows, y = self._examples(X, y, sample_weight, reset=reset)
        codes = self._code_labels(y, classes, reset=reset).astype(np.int64)
        if not reset:
            rows, codes = self._joined(rows, codes)
        name = "class" if "class" not in rows.schema else "class_label"
        return self._keep(rows, DiscreteVariable(name, tuple(self.classes_.tolist())), codes)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable label of each row; of tied ones, that of the nearest neighbor."""
        best = self._answer(X, "predict_codes")
        return self.classes_[best]

    def predict_proba(self, X: Any) -> Floats:
        """Return P(label | neighbors), a column for each of `classes_`."""
        return self._answer(X, "predict_proba")


class NeighborsRegressor(NeighborsEstimator, RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """The mean of what the nearest examples say, and an interval in which one more case lies.

    Parameters and attributes are those of :class:`NeighborsClassifier`; `prior` is of the variance only: so many cases
    whose spread is that between nearest neighbors, or a NormalInverseGamma.

    Examples
    --------
    >>> model = NeighborsRegressor(2).fit([[1.0], [2.0], [8.0], [9.0]], [10.0, 12.0, 50.0, 54.0])
    >>> model.predict([[1.4], [8.6]])
    array([11., 52.])
    >>> low, high = model.predict_interval([[1.4]], level=0.5)
    >>> float(low[0]) < 11 < float(high[0])
    True
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Keep the examples; where X has named columns, `y` and `sample_weight` may be names of columns."""
        rows, y = self._examples(X, y, sample_weight, reset=True)
        return self._keep(rows, NumericVariable("target"), y)

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Keep more examples."""
        if not hasattr(self, "model_"):
            return self.fit(X, y, sample_weight)
        table, y = self._joined(*self._examples(X, y, sample_weight, reset=False))
        return self._keep(table, NumericVariable("target"), y)

    def predict(self, X: Any) -> Floats:
        """Return the mean of the target at each row."""
        return self._answer(X, "predict")

    def predict_interval(self, X: Any, level: float = 0.95) -> tuple[Floats, Floats]:
        """Return equal-tailed bounds of the target of one more case at each row."""
        return self._answer(X, "predict_interval", level)
