"""The Bayes optimal classifier and regressor as scikit-learn estimators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self

from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from bayeslearn.ensemble.fit import fit_bayes_optimal
from bayeslearn.ensemble.regression_fit import fit_bayes_optimal_regression
from bayeslearn.estimators import AnswersInBatches, PredictsClasses, ReadsLabels
from bayeslearn.tables.markers import class_array

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from bayeslearn.ensemble.model import BayesOptimalModel
    from bayeslearn.ensemble.regression_model import BayesOptimalRegressionModel
    from bayeslearn.tables import Schema
    from bayeslearn.tables.markers import Markers

    Floats = NDArray[np.float64]


class BayesOptimalClassifier(PredictsClasses, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The learners of this package, each weighted by how well it predicts rows that it was not fitted to.

    Parameters
    ----------
    members
        Names of :data:`bayeslearn.ensemble.CLASSIFIERS`, estimators of this package, or pairs of a name and an
        estimator. None: naive Bayes, AODE, logistic regression with and without bins, nearest neighbors and a forest.
    combine
        ``"log_linear"``: ln P(c|x) = b_c + Σ_m w_m ln p_m(c|x) − ln Z, w ≥ 0; ``"posterior"``: the posterior over
        single members; ``"mixture"``: weights of a mixture; ``"ridge"``: a coefficient for every member and two
        classes.
    cv
        The number of inner folds. None: 5, and 3 from 20,000 rows on.
    time_limit
        Seconds; members that have no time left are left out.
    random_state
        Of the folds and of stochastic members.
    na_values, keep_default_na
        Markers of missing values, as in :func:`~bayeslearn.as_table`; of X, and of the column that `y` names.
    unlabeled
        What to do with rows without a label (None, NaN): ``"drop"`` them or raise an ``"error"``.

    Attributes
    ----------
    model_
        The :class:`BayesOptimalModel`; ``model_.weights`` has the weight of each member, and ``model_.fit_info`` the
        out-of-fold accuracy, log loss and seconds of each.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> X = [["sun", 3.0], ["sun", 9.5], ["rain", 2.5], ["rain", 8.0]] * 5
    >>> model = BayesOptimalClassifier().fit(X, list("ynyn") * 5)
    >>> model.predict([["sun", 2.0], ["rain", 9.0], [None, 8.5]]).tolist()
    ['y', 'n', 'n']
    """

    model_: BayesOptimalModel

    def __init__(
        self,
        members: Any = None,
        *,
        combine: Literal["log_linear", "posterior", "mixture", "ridge"] = "log_linear",
        cv: int | None = None,
        time_limit: float | None = None,
        random_state: Any = 0,
        na_values: Markers = (),
        keep_default_na: bool = True,
        unlabeled: Literal["drop", "error"] = "drop",
    ) -> None:
        self.members = members
        self.combine = combine
        self.cv = cv
        self.time_limit = time_limit
        self.random_state = random_state
        self.na_values = na_values
        self.keep_default_na = keep_default_na
        self.unlabeled = unlabeled

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit; where X has named columns, `y` and `sample_weight` may be names of columns."""
        rows, labels, weights = self._read_cases(X, y, sample_weight, reset=True)
        self.model_ = fit_bayes_optimal(
            rows, labels, members=self.members, combine=self.combine, cv=self.cv, sample_weight=weights,
            time_limit=self.time_limit, random_state=self.random_state,
        )  # fmt: skip
        self.classes_ = class_array(self.model_.classes)
        return self

    def predict_proba(self, X: Any) -> Floats:
        """Return P(class | row), a column for each of `classes_`."""
        return self._answer(X, "predict_proba")

    def _columns_in(self) -> Schema:
        return self.model_.schema


class BayesOptimalRegressor(AnswersInBatches, ReadsLabels, RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """The regressors of this package, each weighted by how well it predicts rows that it was not fitted to.

    Parameters
    ----------
    members
        Names of :data:`bayeslearn.ensemble.REGRESSORS`, estimators of this package, or pairs of a name and an
        estimator. None: linear regression, nearest neighbors, radial basis functions and a forest.
    cv, time_limit, random_state, na_values, keep_default_na, unlabeled
        As in :class:`BayesOptimalClassifier`.

    Attributes
    ----------
    model_
        The :class:`BayesOptimalRegressionModel`; ``model_.fit_info`` has the out-of-fold R² of each member, and the
        coverage of the intervals.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> X = [[float(i)] for i in range(40)]
    >>> model = BayesOptimalRegressor(["linear", "k-nn"]).fit(X, [2.0 * i for i in range(40)])
    >>> model.predict([[10.5]]).round(1)
    array([21.])
    """

    model_: BayesOptimalRegressionModel

    def __init__(
        self,
        members: Any = None,
        *,
        cv: int | None = None,
        time_limit: float | None = None,
        random_state: Any = 0,
        na_values: Markers = (),
        keep_default_na: bool = True,
        unlabeled: Literal["drop", "error"] = "drop",
    ) -> None:
        self.members = members
        self.cv = cv
        self.time_limit = time_limit
        self.random_state = random_state
        self.na_values = na_values
        self.keep_default_na = keep_default_na
        self.unlabeled = unlabeled

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit; where X has named columns, `y` and `sample_weight` may be names of columns."""
        rows, numbers, weights = self._read_cases(X, y, sample_weight, reset=True)
        self.model_ = fit_bayes_optimal_regression(
            rows, numbers, members=self.members, cv=self.cv, sample_weight=weights, time_limit=self.time_limit,
            random_state=self.random_state,
        )  # fmt: skip
        return self

    def predict(self, X: Any) -> Floats:
        """Return the expected target of each row."""
        return self._answer(X, "predict")

    def predict_interval(self, X: Any, level: float = 0.95) -> tuple[Floats, Floats]:
        """Return equal-tailed bounds of a new target at each row."""
        return self._answer(X, "predict_interval", level)

    def _columns_in(self) -> Schema:
        return self.model_.schema
