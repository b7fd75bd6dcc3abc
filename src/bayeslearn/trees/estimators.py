"""Bayesian forests as scikit-learn estimators: any columns, missing values, weights, batches, explanations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, is_classifier

from bayeslearn.estimators import AnswersInBatches, PredictsClasses, ReadsLabels
from bayeslearn.neighbors.inputs import examples
from bayeslearn.tables import DiscreteVariable, NumericVariable
from bayeslearn.trees.fit import fitted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.regression.explanation import FeatureExplanation
    from bayeslearn.tables import Schema, Table
    from bayeslearn.tables.markers import Markers
    from bayeslearn.trees.model import BayesianForestModel

    Floats = NDArray[np.float64]


#: The parameters that a fit takes.
PARAMETERS = (
    "n_estimators", "max_features", "max_depth", "min_samples_leaf", "max_bins", "split_probability",
    "equivalent_sample_size", "calibrate", "random_state",
)  # fmt: skip


class ForestEstimator(AnswersInBatches, ReadsLabels):
    """What both estimators share: how trees are grown, and the prior of prunings."""

    model_: BayesianForestModel

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        max_features: Any = "auto",
        max_depth: int | None = None,
        min_samples_leaf: float = 1,
        max_bins: int = 255,
        split_probability: float = 0.5,
        equivalent_sample_size: float = 0.5,
        calibrate: bool = True,
        random_state: Any = None,
        na_values: Markers = (),
        keep_default_na: bool = True,
        unlabeled: Literal["drop", "error"] = "drop",
    ) -> None:
        self.n_estimators = n_estimators
        self.max_features = max_features
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.max_bins = max_bins
        self.split_probability = split_probability
        self.equivalent_sample_size = equivalent_sample_size
        self.calibrate = calibrate
        self.random_state = random_state
        self.na_values = na_values
        self.keep_default_na = keep_default_na
        self.unlabeled = unlabeled

    def explain(self, X: Any) -> list[FeatureExplanation]:
        """Return for each row what every column adds to the prediction."""
        return self._answer(X, "explain")

    @property
    def feature_importances_(self) -> Floats:
        """The share of each column in what all splits explain, in the order of the columns."""
        return np.array([*self.model_.feature_importances.values()])

    @property
    def oob_score_(self) -> float | None:
        """The accuracy, or R², of the predictions out of bag."""
        return self.model_.fit_info.out_of_bag_score

    # -- data in

    def _keep(self, rows: Table, target: Any, y: NDArray[Any]) -> Self:
        self.model_ = fitted(rows, target, y, **{name: getattr(self, name) for name in PARAMETERS})
        return self

    def _count(self, X: Any, y: Any, sample_weight: Any) -> Self:
        """Count more rows in the leaves of the trees."""
        rows, y, w = self._read_cases(X, y, sample_weight, reset=False)
        if is_classifier(self):
            y = self.classes_[self._code_labels(y, reset=False)]
        self.model_ = self.model_.update(rows, y, sample_weight=w)
        return self

    def _examples(self, X: Any, y: Any, sample_weight: Any) -> tuple[Table, NDArray[Any]]:
        """Checked training rows and their targets."""
        rows, y, w = self._read_cases(X, y, sample_weight, reset=True)
        table = examples(rows)
        return (table if w is None else table.with_weights(w)), y

    def _columns_in(self) -> Schema:
        return self.model_.schema


class BayesianForestClassifier(ForestEstimator, PredictsClasses, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Classification by randomized trees, averaged over all prunings; cells are numbers, states or missing.

    Parameters
    ----------
    n_estimators
        The number of trees.
    max_features
        Columns that are tried at each split: ``"sqrt"`` of their number, ``"all"``, a number, or a share below 1;
        ``"auto"`` is the square root for classes and 0.7 for numbers.
    max_depth
        The greatest depth of a tree; None for no limit.
    min_samples_leaf
        The least weight of the sampled rows in a leaf.
    max_bins
        The number of bins of a numeric column, at most 255.
    split_probability
        The prior probability that a node is split, in the average over prunings.
    equivalent_sample_size
        The weight of the parent's prediction as the prior of a node's.
    calibrate
        Whether probabilities are sharpened by one exponent learned out of bag.
    random_state
        Seed or generator of the samples.
    na_values, keep_default_na
        Markers of missing values, as in :func:`~bayeslearn.as_table`; of X, and of the column that `y` names.
    unlabeled
        What to do with rows without a target (None, NaN): ``"drop"`` them or raise an ``"error"``.

    Attributes
    ----------
    model_
        The :class:`BayesianForestModel`.
    oob_score_, oob_decision_function_
        The accuracy on rows out of bag, and their probabilities (rows, classes); NaN where every tree saw the row.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> X = [["sunny", 25.0], ["rain", None], ["sunny", 28.5], ["rain", 14.0]] * 5
    >>> model = BayesianForestClassifier(random_state=0).fit(X, ["no", "yes", "no", "yes"] * 5)
    >>> model.predict([["rain", 12.0], ["sunny", 27.0]])
    array(['yes', 'no'], dtype='<U3')
    """

    classes_: NDArray[Any]

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit a forest; where X has named columns, `y` and `sample_weight` may be names of columns."""
        return self._fit(X, y, None, sample_weight)

    def _fit(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> Self:
        rows, y = self._examples(X, y, sample_weight)
        codes = self._code_labels(y, classes, reset=True).astype(np.int64)
        name = "class" if "class" not in rows.schema else "class_label"
        return self._keep(rows, DiscreteVariable(name, tuple(self.classes_.tolist())), codes)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Count more rows in the leaves; the first call grows the trees, and may name all `classes`."""
        if hasattr(self, "model_"):
            return self._count(X, y, sample_weight)
        return self._fit(X, y, classes, sample_weight)

    @property
    def oob_decision_function_(self) -> Floats:
        """P(class) of each training row, from trees that did not see it."""
        return self.model_.fit_info.out_of_bag_proba

    def predict_proba(self, X: Any) -> Floats:
        """Return P(class | row), a column for each of `classes_`."""
        return self._answer(X, "predict_proba")


class BayesianForestRegressor(ForestEstimator, RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Regression by randomized trees, averaged over all prunings, with intervals.

    Parameters and attributes are those of :class:`BayesianForestClassifier`; `calibrate` scales the intervals, and
    `oob_prediction_` has the mean of each training row, from trees that did not see it.

    Examples
    --------
    >>> x = [[float(i)] for i in range(60)]
    >>> model = BayesianForestRegressor(random_state=0).fit(x, [abs(i - 30.0) for i in range(60)])
    >>> low, high = model.predict_interval([[10.0]], level=0.9)
    >>> bool(low[0] < 20.0 < high[0])
    True
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit a forest; where X has named columns, `y` and `sample_weight` may be names of columns."""
        rows, y = self._examples(X, y, sample_weight)
        return self._keep(rows, NumericVariable("target"), y)

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Count more rows in the leaves; the first call grows the trees."""
        return self._count(X, y, sample_weight) if hasattr(self, "model_") else self.fit(X, y, sample_weight)

    @property
    def oob_prediction_(self) -> Floats:
        """The mean of each training row, from trees that did not see it."""
        return self.model_.fit_info.out_of_bag_prediction

    def predict(self, X: Any) -> Floats:
        """Return the mean of the target at each row."""
        return self._answer(X, "predict")

    def predict_interval(self, X: Any, level: float = 0.95) -> tuple[Floats, Floats]:
        """Return equal-tailed bounds of the target of one more row at each row."""
        return self._answer(X, "predict_interval", level)
