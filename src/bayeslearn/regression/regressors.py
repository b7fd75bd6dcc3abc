"""Least squares and radial basis functions as scikit-learn regressors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin

from bayeslearn import validation
from bayeslearn.errors import ParameterError
from bayeslearn.estimators import AnswersInBatches, ReadsLabels
from bayeslearn.regression.fit_results import without_rows
from bayeslearn.regression.rbf_fit import fit_rbf
from bayeslearn.regression.regression_model import RegressionModel, fit_linear
from bayeslearn.regression.targets import target_names
from bayeslearn.sources.scanning import is_source
from bayeslearn.tables.conversion import all_named

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from bayeslearn.regression.fit_results import TriedUnits
    from bayeslearn.tables import Schema
    from bayeslearn.tables.markers import Markers

    Floats = NDArray[np.float64]


class FunctionEstimator(AnswersInBatches, ReadsLabels, ABC):
    """What regressors and classifiers share: columns become features of a model."""

    _array_checks = {"dtype": None, "ensure_all_finite": "allow-nan"}  # noqa: RUF012 - read only
    _array_kinds = "iufb"

    def _read_rows(self, X: Any, *, reset: bool) -> Any:
        rows = super()._read_rows(X, reset=reset)
        if isinstance(rows, np.ndarray):
            return rows.astype(np.float64, copy=False)
        return all_named(rows) if reset and not is_source(rows) else rows

    def _columns_in(self) -> Schema:
        return self.model_.features.schema  # type: ignore[attr-defined]


class Regressor(FunctionEstimator, RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """What both regressors share: predictions of a :class:`RegressionModel`."""

    model_: RegressionModel

    @abstractmethod
    def _learn(self, rows: Any, y: Any, sample_weight: Any) -> RegressionModel:
        """Return the model of these rows."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit; where X has named columns, `y` may be the name of a column, or several names.

        A row without a target adds nothing.
        """
        rows = self._read_rows(X, reset=True)
        self.model_ = without_rows(self._learn(rows, require_targets(y), sample_weight))
        self._flat = isinstance(y, str) or (target_names(y) is None and np.asarray(y).ndim == 1)
        if hasattr(self, "feature_names_in_"):
            self._note_columns(self.feature_names_in_, target_names(y))
        elif is_source(rows):
            self._note_columns(self._columns_in().names)
        return self

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Add rows; the first batch determines the columns, the prior and the units."""
        if not hasattr(self, "model_"):
            return self.fit(X, y, sample_weight)
        X, y, sample_weight = self._split(X, y, sample_weight, reset=False)
        self.model_ = self.model_.update(self._read_rows(X, reset=False), y, sample_weight=sample_weight)
        return self

    def predict(self, X: Any, *, return_std: bool = False) -> Floats | tuple[Floats, Floats]:
        """Return the expected target of each row; with the standard deviation of a new y there."""
        mean = self._shaped(self._answer(X, "predict"))
        return (mean, self._shaped(self._answer(X, "predict_std"))) if return_std else mean

    def predict_interval(self, X: Any, level: float = 0.95) -> tuple[Floats, Floats]:
        """Return equal-tailed bounds of a new y at each row."""
        low, high = self._answer(X, "predict_interval", level)
        return self._shaped(low), self._shaped(high)

    @property
    def noise_(self) -> Any:
        """The standard deviation of the noise of every target; NaN of too few rows."""
        return self._shaped(self.model_.fit.noise[None])[0]

    @property
    def log_marginal_likelihood_(self) -> float:
        """ln p(y | X), all parameters integrated out; needs a proper prior."""
        return self.model_.log_marginal_likelihood()

    def _shaped(self, outputs: Floats) -> Floats:
        flat = outputs if outputs.ndim == 1 or outputs.shape[1] > 1 else outputs[:, 0]
        return flat if self._flat else flat.reshape(len(outputs), -1)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


def require_targets(y: Any) -> Any:
    """The targets, which must be given."""
    if y is None:
        raise ParameterError("this learner requires y to be passed, but the target y is None")
    return y


class BayesianLinearRegressor(Regressor):
    """Bayesian linear regression: least squares with intervals, marginal likelihood and batches that add up.

    Parameters
    ----------
    prior
        ``"reference"``: least squares and the textbooks' intervals; ``"none"``: maximum likelihood; ``"weak"``; a
        number: equivalent sample size (ridge of standardized columns); ``"evidence"``: that of the highest marginal
        likelihood; or a :class:`~bayeslearn.distributions.RegressionPrior`.
    discrete
        Columns whose numbers are names of states.
    na_values, keep_default_na
        Markers of missing values, as in :func:`~bayeslearn.as_table`; of X, and of the column that `y` names.

    Attributes
    ----------
    model_
        The :class:`RegressionModel`.
    coef_, intercept_, noise_
        In the units of the features, whose names are ``model_.features.names``.

    Examples
    --------
    >>> model = BayesianLinearRegressor().fit([[1.0], [2.0], [3.0], [4.0]], [2.0, 4.0, 5.0, 8.0])
    >>> model.coef_, model.predict([[5.0]])
    (array([1.9]), array([9.5]))
    >>> low, high = model.predict_interval([[5.0]], level=0.95)
    >>> low.round(2), high.round(2)
    (array([5.48]), array([13.52]))
    """

    def __init__(
        self,
        *,
        prior: Any = "reference",
        discrete: Iterable[str] = (),
        na_values: Markers = (),
        keep_default_na: bool = True,
    ) -> None:
        self.prior = prior
        self.discrete = discrete
        self.na_values = na_values
        self.keep_default_na = keep_default_na

    def _learn(self, rows: Any, y: Any, sample_weight: Any) -> RegressionModel:
        return fit_linear(rows, y, prior=self.prior, discrete=self.discrete, sample_weight=sample_weight)

    @property
    def coef_(self) -> Floats:
        """The coefficients of the features, (d,) or (m, d)."""
        return self.model_.fit.coef[0] if self._flat else self.model_.fit.coef

    @property
    def intercept_(self) -> Any:
        """The prediction where every feature is 0."""
        return float(self.model_.fit.intercept[0]) if self._flat else self.model_.fit.intercept

    @property
    def rank_(self) -> int:
        """The number of determined coefficients."""
        return self.model_.fit.rank


class RBFRegressor(Regressor):
    """A radial basis function network: Gaussian units around centers, and a linear output fitted to all rows.

    Parameters
    ----------
    n_units
        The number of units, or ``"auto"``: that of the highest marginal likelihood, up to `max_units`.
    centers
        ``"k-means"``, ``"em"``, ``"random"``, ``"farthest"``, ``"evidence"``, or ``"all"``: one for every row.
    width
        ``"auto"``, ``"nearest"``, or standard deviations; see :func:`fit_rbf`.
    prior
        Of the output weights, as in :class:`BayesianLinearRegressor`.
    discrete
        Columns whose numbers are names of states.
    na_values, keep_default_na
        Markers of missing values, as in :func:`~bayeslearn.as_table`; of X, and of the column that `y` names.
    random_state
        Seed or generator for the centers.

    Attributes
    ----------
    model_
        The :class:`RegressionModel`.
    n_units_, tried_
        The number of units, and the marginal likelihood of all that were tried.

    Examples
    --------
    >>> x = np.linspace(0, 6, 40)[:, None]
    >>> model = RBFRegressor(random_state=0).fit(x, np.sin(x[:, 0]))
    >>> bool(np.abs(model.predict(x) - np.sin(x[:, 0])).max() < 0.01)
    True
    """

    def __init__(
        self,
        n_units: int | Literal["auto"] = "auto",
        *,
        centers: str = "k-means",
        width: Any = "auto",
        prior: Any = "evidence",
        discrete: Iterable[str] = (),
        na_values: Markers = (),
        keep_default_na: bool = True,
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
        self.max_units = max_units
        self.random_state = random_state

    def _learn(self, rows: Any, y: Any, sample_weight: Any) -> RegressionModel:
        return fit_rbf(
            rows, y, self.n_units, centers=self.centers, width=self.width, prior=self.prior, discrete=self.discrete,
            sample_weight=sample_weight, max_units=self.max_units, random_state=validation.generator(self.random_state),
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
