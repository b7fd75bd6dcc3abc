"""Logistic regression and radial basis functions as scikit-learn classifiers."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from bayeslearn import validation
from bayeslearn.estimators import PredictsClasses
from bayeslearn.regression.classification_fit import bins_asked, fit_rbf_classifier, logistic
from bayeslearn.regression.fit_results import without_rows
from bayeslearn.regression.regressors import FunctionEstimator
from bayeslearn.regression.targets import default_names
from bayeslearn.tables.markers import class_array

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from bayeslearn.regression.classification_model import ClassificationModel
    from bayeslearn.regression.fit_results import TriedUnits
    from bayeslearn.tables.markers import Markers

    Floats = NDArray[np.float64]


class Classifier(FunctionEstimator, PredictsClasses, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """What both classifiers share: predictions of a :class:`ClassificationModel`."""

    model_: ClassificationModel

    @abstractmethod
    def _learn(self, rows: Any, y: Any, sample_weight: Any, classes: Any) -> ClassificationModel:
        """Return the model of these rows."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit; where X has named columns, `y` may be the name of a column."""
        return self._fit(X, y, sample_weight, None)

    def _fit(self, X: Any, y: Any, sample_weight: Any, classes: Any) -> Self:
        rows, labels, sample_weight = self._read_cases(X, y, sample_weight, reset=True)
        name = y if isinstance(y, str) else default_names(y, 1)[0]
        self.model_ = without_rows(self._learn(rows, labels, sample_weight, classes), target=name)
        self.classes_ = class_array(self.model_.classes)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add rows, the posterior as their prior: close to a fit to all rows.

        The first call determines the columns, and may name all `classes`.
        """
        if not hasattr(self, "model_"):
            known = None if classes is None else tuple(np.unique(np.asarray(classes)).tolist())
            return self._fit(X, y, sample_weight, known)
        rows, labels, weights = self._read_cases(X, y, sample_weight, reset=False)
        self.model_ = self.model_.update(rows, labels, sample_weight=weights)
        return self

    def predict_proba(self, X: Any) -> Floats:
        """Return P(class | row), a column for each of `classes_`."""
        return self._answer(X, "predict_proba")

    def predict_log_proba(self, X: Any) -> Floats:
        """Return ln P(class | row), exact where the probability is too small for a float."""
        design = self._answer(X, "design")
        return self.model_.fit.log_probability(design)

    def predict_interval(self, X: Any, level: float = 0.95) -> tuple[Floats, Floats]:
        """Return bounds of P(class | row) by the posterior of the coefficients."""
        return self._answer(X, "predict_interval", level)

    @property
    def log_marginal_likelihood_(self) -> float:
        """ln p(y | X) by Laplace's approximation."""
        return self.model_.log_marginal_likelihood()

    @property
    def n_iter_(self) -> int:
        """Iterations of the optimizer."""
        return self.model_.fit.n_iter


class LogisticClassifier(Classifier):
    """Logistic regression with a Gaussian prior of the coefficients.

    Two classes have one unit; more have one each, and the softmax of all.

    Parameters
    ----------
    prior
        The precision of the coefficients of standardized features; None: maximum likelihood; ``"evidence"``: the
        precision of the highest marginal likelihood.
    features, n_bins
        ``"columns"``, or ``"columns_and_bins"``: numbers have indicators of their `n_bins` quantile bins too, so that
        their effect may bend, and columns with missing values an indicator of these.
    algorithm
        ``"auto"``: Newton's method for few rows and coefficients, L-BFGS for many, whose posterior precision is
        computed when it is first asked for; ``"newton"``, ``"lbfgs"``, or ``"gradient"``, the rule
        Δw = η Σ (d − h(x)) x with η the `rate`.
    tol, max_iter
        When the iterations end.
    discrete
        Columns whose numbers are names of states.
    na_values, keep_default_na
        Markers of missing values, as in :func:`~bayeslearn.as_table`; of X, and of the column that `y` names.
    unlabeled
        What to do with rows without a label (None, NaN): ``"drop"`` them or raise an ``"error"``.

    Attributes
    ----------
    model_
        The :class:`ClassificationModel`.
    classes_, coef_, intercept_
        In the units of the features, whose names are ``model_.features.names``.

    Examples
    --------
    >>> X = [[1.0], [2.0], [3.0], [4.0]]
    >>> model = LogisticClassifier().fit(X, ["no", "no", "yes", "yes"])
    >>> model.predict([[0.0], [5.0]])
    array(['no', 'yes'], dtype='<U3')
    """

    def __init__(
        self,
        *,
        prior: float | Literal["evidence"] | None = 1.0,
        features: Literal["columns", "columns_and_bins"] = "columns",
        n_bins: int = 5,
        algorithm: Literal["auto", "newton", "lbfgs", "gradient"] = "auto",
        rate: float | None = None,
        tol: float = 1e-10,
        max_iter: int | None = None,
        discrete: Iterable[str] = (),
        na_values: Markers = (),
        keep_default_na: bool = True,
        unlabeled: Literal["drop", "error"] = "drop",
    ) -> None:
        self.prior = prior
        self.features = features
        self.n_bins = n_bins
        self.algorithm = algorithm
        self.rate = rate
        self.tol = tol
        self.max_iter = max_iter
        self.discrete = discrete
        self.na_values = na_values
        self.keep_default_na = keep_default_na
        self.unlabeled = unlabeled

    def _learn(self, rows: Any, y: Any, sample_weight: Any, classes: Any) -> ClassificationModel:
        how = {"discrete": self.discrete, "sample_weight": sample_weight}
        options = {name: getattr(self, name) for name in ("algorithm", "rate", "tol", "max_iter")}
        bins = bins_asked(self.features, self.n_bins)
        return logistic(rows, y, how, options, prior=self.prior, bins=bins, classes=classes, keep_rows=False)

    def decision_function(self, X: Any) -> Floats:
        """w·x: of two classes the log odds of the second, (n,); of more, one column for each."""
        design = self._answer(X, "design")
        scores = self.model_.fit.scores(design)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    @property
    def coef_(self) -> Floats:
        """The coefficients of the features, (units, d)."""
        return self.model_.coef

    @property
    def intercept_(self) -> Floats:
        """The intercept of every unit."""
        return self.model_.intercept


class RBFClassifier(Classifier):
    """A radial basis function network for classes: Gaussian units around centers, and logistic output units.

    Parameters
    ----------
    n_units, centers, width, discrete, na_values, keep_default_na, max_units, random_state
        As in :class:`RBFRegressor`; units are selected by the marginal likelihood of a
        linear fit to the classes.
    prior
        Of the output weights, as in :class:`LogisticClassifier`.
    unlabeled
        As in :class:`LogisticClassifier`.

    Attributes
    ----------
    model_
        The :class:`ClassificationModel`.
    n_units_, tried_
        The number of units, and the marginal likelihood of all that were tried.

    Examples
    --------
    >>> X = [[0.0], [0.2], [1.0], [1.2], [2.0], [2.2]] * 4
    >>> model = RBFClassifier(random_state=0).fit(X, ["out", "out", "in", "in", "out", "out"] * 4)
    >>> model.predict([[0.1], [1.1], [2.1]])
    array(['out', 'in', 'out'], dtype='<U3')
    """

    def __init__(
        self,
        n_units: int | Literal["auto"] = "auto",
        *,
        centers: str = "k-means",
        width: Any = "auto",
        prior: float | Literal["evidence"] | None = "evidence",
        discrete: Iterable[str] = (),
        na_values: Markers = (),
        keep_default_na: bool = True,
        unlabeled: Literal["drop", "error"] = "drop",
        max_units: int = 128,
        random_state: Any = None,
    ) -> None:
        self.n_units = n_units
        self.centers = centers
        self.width = width
        self.prior = prior
        self.discrete = discrete
        self.na_values = na_values
        self.keep_default_na = keep_default_na
        self.unlabeled = unlabeled
        self.max_units = max_units
        self.random_state = random_state

    def _learn(self, rows: Any, y: Any, sample_weight: Any, classes: Any) -> ClassificationModel:
        return fit_rbf_classifier(
            rows, y, self.n_units, centers=self.centers, width=self.width, prior=self.prior, classes=classes,
            discrete=self.discrete, sample_weight=sample_weight, max_units=self.max_units,
            random_state=validation.generator(self.random_state),
        )  # fmt: skip

    @property
    def tried_(self) -> tuple[TriedUnits, ...]:
        """The numbers of units that were tried."""
        return self.model_.fit_info.tried

    @property
    def n_units_(self) -> int:
        """The number of units."""
        assert self.model_.basis is not None
        return self.model_.basis.size
