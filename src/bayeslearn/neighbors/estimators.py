"""Nearest neighbors as scikit-learn estimators: any columns, missing values, weights, batches, explanations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, is_classifier

from bayeslearn.estimators import AnswersInBatches, ReadsLabels
from bayeslearn.neighbors import inputs
from bayeslearn.neighbors.fit import fitted
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
    """What both estimators share: the training rows, the distance, and the weights of neighbors."""

    model_: NeighborsModel

    def __init__(
        self,
        n_neighbors: Any = 5,
        *,
        weights: Any = "uniform",
        metric: str = "scaled",
        feature_weights: Any = None,
        prior: Any = 1.0,
        algorithm: str = "auto",
        max_neighbors: int = 50,
        na_values: Markers = (),
        keep_default_na: bool = True,
        unlabeled: Literal["drop", "error"] = "drop",
    ) -> None:
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.metric = metric
        self.feature_weights = feature_weights
        self.prior = prior
        self.algorithm = algorithm
        self.max_neighbors = max_neighbors
        self.na_values = na_values
        self.keep_default_na = keep_default_na
        self.unlabeled = unlabeled

    @property
    def _calibrates(self) -> bool:
        """Whether the probabilities of classes are calibrated."""
        return False

    def kneighbors(self, X: Any, n_neighbors: int | None = None) -> tuple[Floats, NDArray[np.int64]]:
        """Return the distances and the positions of the training rows nearest to each row, the nearest first."""
        return self._answer(X, "nearest", n_neighbors)

    def explain(self, X: Any) -> list[NeighborExplanation]:
        """Return an explanation for each row: its neighbors, their distances, weights and targets."""
        return self._answer(X, "explain")

    @property
    def feature_weights_(self) -> dict[str, float]:
        """The weight of every feature in the distance."""
        return self.model_.distance.feature_weights

    # -- data in

    def _keep(self, rows: Table, target: Any, y: NDArray[Any]) -> Self:
        alone = len(rows) < 2 and isinstance(self.n_neighbors, str) and self.n_neighbors == "auto"
        self.model_ = fitted(
            rows, target, y, n_neighbors=1 if alone else self.n_neighbors, metric=self.metric,
            feature_weights=self.feature_weights,
            max_neighbors=self.max_neighbors, weights=self.weights, prior=self.prior, algorithm=self.algorithm,
            calibrate=self._calibrates,
        )  # fmt: skip
        self.leave_one_out_, self.n_neighbors_ = self.model_.fit_info.searched, self.model_.n_neighbors
        return self

    def _joined(self, rows: Table, y: NDArray[Any]) -> tuple[Table, NDArray[Any]]:
        """The training rows so far, and more."""
        return inputs.joined(self.model_.examples, rows), np.concatenate([self.model_.targets, y])

    def _examples(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> tuple[Table, NDArray[Any]]:
        """Checked training rows and their targets; a source is read into memory."""
        if is_source(X):
            X = inputs.examples(as_source(X), discrete=[y] if isinstance(y, str) and is_classifier(self) else ())
        rows, y, w = self._read_cases(X, y, sample_weight, reset=reset)
        table = inputs.examples(rows) if reset else inputs.more(self.model_.examples.schema, rows)
        return (table if w is None else table.with_weights(w)), y

    def _columns_in(self) -> Schema:
        return self.model_.examples.schema


class NeighborsClassifier(NeighborsEstimator, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Classification by the nearest training rows; cells are numbers, states or missing (NaN, None, "?").

    Parameters
    ----------
    n_neighbors
        The number of neighbors; ``"auto"`` (the default) for that of the lowest leave-one-out error, ``"all"`` for all
        rows.
    weights
        ``"uniform"``, ``"inverse_square"`` (the default; an exact match wins), or a function of an array of distances.
    metric
        The unit of numeric columns: ``"scaled"`` (standard deviation), ``"range"``, ``"euclidean"`` (1).
    feature_weights
        Weights of columns, by name or in order; ``"auto"`` to select them by leave-one-out, ``"select"`` to select
        features (weights 0 and 1).
    prior
        Equivalent sample size of a prior that is even over the classes, or a Dirichlet.
    algorithm
        The search index: ``"auto"``, ``"kd_tree"``, ``"brute"``, or ``"approximate"`` (needs usearch).
    max_neighbors
        The largest number of neighbors that ``"auto"`` tries.
    calibrate
        Whether probabilities are raised to the power of the lowest leave-one-out log loss, which does not change the
        predicted classes; ``"auto"``: where the number of neighbors is selected by leave-one-out.
    na_values, keep_default_na
        Markers of missing values, as in :func:`~bayeslearn.as_table`; of X, and of the column that `y` names.
    unlabeled
        What to do with rows without a target (None, NaN): ``"drop"`` them or raise an ``"error"``.

    Attributes
    ----------
    model_
        The :class:`NeighborsModel`.
    n_neighbors_, feature_weights_, leave_one_out_
        The selected settings, and the error by number of neighbors, if it was searched.
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

    def __init__(
        self,
        n_neighbors: Any = "auto",
        *,
        weights: Any = "inverse_square",
        metric: str = "scaled",
        feature_weights: Any = None,
        prior: Any = 1.0,
        algorithm: str = "auto",
        max_neighbors: int = 50,
        calibrate: bool | Literal["auto"] = "auto",
        na_values: Markers = (),
        keep_default_na: bool = True,
        unlabeled: Literal["drop", "error"] = "drop",
    ) -> None:
        super().__init__(
            n_neighbors, weights=weights, metric=metric, feature_weights=feature_weights, prior=prior,
            algorithm=algorithm, max_neighbors=max_neighbors, na_values=na_values, keep_default_na=keep_default_na,
            unlabeled=unlabeled,
        )  # fmt: skip
        self.calibrate = calibrate

    @property
    def _calibrates(self) -> bool:
        if self.calibrate == "auto":
            return isinstance(self.n_neighbors, str) and self.n_neighbors == "auto"
        return bool(self.calibrate)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Keep the training rows; where X has named columns, `y` and `sample_weight` may be names of columns."""
        return self._add(X, y, None, sample_weight, reset=True)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Keep more training rows; the first call may name all `classes`."""
        return self._add(X, y, classes, sample_weight, reset=not hasattr(self, "model_"))

    def _add(self, X: Any, y: Any, classes: Any, sample_weight: Any, *, reset: bool) -> Self:
        rows, y = self._examples(X, y, sample_weight, reset=reset)
        codes = self._code_labels(y, classes, reset=reset).astype(np.int64)
        if not reset:
            rows, codes = self._joined(rows, codes)
        name = "class" if "class" not in rows.schema else "class_label"
        return self._keep(rows, DiscreteVariable(name, tuple(self.classes_.tolist())), codes)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable label of each row; of tied labels, that of the nearest neighbor."""
        best = self._answer(X, "predict_codes")
        return self.classes_[best]

    def predict_proba(self, X: Any) -> Floats:
        """Return P(label | neighbors), a column for each of `classes_`."""
        return self._answer(X, "predict_proba")


class NeighborsRegressor(NeighborsEstimator, RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Regression by the mean of the nearest training rows, with intervals.

    Parameters and attributes are those of :class:`NeighborsClassifier`, but for `calibrate`; by default 5 neighbors
    have equal weights. `prior` is of the variance only: an equivalent
    sample size whose variance is that between nearest neighbors, or a NormalInverseGamma.

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
        """Keep the training rows; where X has named columns, `y` and `sample_weight` may be names of columns."""
        rows, y = self._examples(X, y, sample_weight, reset=True)
        return self._keep(rows, NumericVariable("target"), y)

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Keep more training rows."""
        if not hasattr(self, "model_"):
            return self.fit(X, y, sample_weight)
        table, y = self._joined(*self._examples(X, y, sample_weight, reset=False))
        return self._keep(table, NumericVariable("target"), y)

    def predict(self, X: Any) -> Floats:
        """Return the mean of the target at each row."""
        return self._answer(X, "predict")

    def predict_interval(self, X: Any, level: float = 0.95) -> tuple[Floats, Floats]:
        """Return equal-tailed bounds of the target of one more row at each row."""
        return self._answer(X, "predict_interval", level)
