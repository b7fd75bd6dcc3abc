"""Least squares and radial basis functions as scikit-learn regressors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin

from bayeslearn import validation
from bayeslearn.errors import ParameterError
from bayeslearn.estimators import AnswersInBatches, ReadsLabels
from bayeslearn.regression.rbf_fit import fit_rbf
from bayeslearn.regression.regression_model import RegressionModel, fit_linear
from bayeslearn.regression.targets import target_names
from bayeslearn.sources.scanning import is_source
from bayeslearn.tables.raw import all_named

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from bayeslearn.regression.rbf_fit import TriedUnits
    from bayeslearn.tables import Schema
    from bayeslearn.tables.markers import Markers

    Floats = NDArray[np.float64]


class FunctionEstimator(AnswersInBatches, ReadsLabels, ABC):
    """What regressors and classifiers share: columns become features of a model, whose `features` say how."""

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
    """What both regressors share: answers by a :class:`RegressionModel`."""

    model_: RegressionModel

    @abstractmethod
    def _learn(self, rows: Any, y: Any, sample_weight: Any) -> RegressionModel:
        """The model of these rows."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn; where X has named columns, `y` may be the name of a column, or several names.

        A row without a target adds nothing.
        """
        rows = self._read_rows(X, reset=True)
        self.model_ = self._learn(rows, require_targets(y), sample_weight)
        self._flat = isinstance(y, str) or (target_names(y) is None and np.asarray(y).ndim == 1)
        if hasattr(self, "feature_names_in_"):
            self._note_columns(self.feature_names_in_, target_names(y))
        elif is_source(rows):
            self._note_columns(self._columns_in().names)
        return self

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Add more rows; the first batch determines the columns, the prior and the units."""
        if not hasattr(self, "model_"):
            return self.fit(X, y, sample_weight)
        X, y, sample_weight = self._split(X, y, sample_weight, reset=False)
        self.model_ = self.model_.update(self._read_rows(X, reset=False), y, sample_weight=sample_weight)
        return self

    def predict(
        self, X: Any, *, return_std: bool = False, interval: float | None = None
    ) -> Floats | tuple[Floats, ...]:
        """Return the expected output at each row; with its standard deviation, or bounds (low, high) of a new y."""
        if interval is not None:
            return tuple(map(self._shaped, self._answer(X, "bounds", interval)))
        mean = self._shaped(self._answer(X, "predict"))
        return (mean, self._shaped(self._answer(X, "spread"))) if return_std else mean

    def _ask(self, question: str, rows: Any, *arguments: Any) -> Any:
        if question != "bounds":
            return super()._ask(question, rows, *arguments)
        found = self.model_.predicted(rows, level=arguments[0])
        return found.mean, found.low, found.high

    @property
    def noise_(self) -> Any:
        """The standard deviation of the noise, of every output; NaN where too few rows determine it."""
        return self._shaped(self.model_.fit.noise[None])[0]

    @property
    def log_evidence_(self) -> float:
        """ln p(y | X) with all weights integrated out; it takes a proper prior."""
        return self.model_.log_evidence()

    def _shaped(self, outputs: Floats) -> Floats:
        return outputs[:, 0] if self._flat else outputs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


def require_targets(y: Any) -> Any:
    """Targets that were given."""
    if y is None:
        raise ParameterError("this learner requires y to be passed, but the target y is None")
    return y


class BayesianLinearRegressor(Regressor):
    """Bayesian linear regression: least squares, with intervals, evidence, and batches that add up.

    Parameters
    ----------
    prior
        ``"reference"``: least squares and the textbooks' intervals; ``"none"``: maximum likelihood; ``"weak"``; a
        number of cases (ridge of standardized columns); ``"evidence"``: as many as the evidence asks for; or a
        :class:`~bayeslearn.distributions.RegressionPrior`.
    discrete
        Columns whose numbers are names of states.
    na_values, keep_default_na
        Markers of missing values, as in :func:`~bayeslearn.as_table`; of X, and of the column that `y` names.

    Attributes
    ----------
    model_
        The :class:`RegressionModel`, to be added, saved and updated.
    coef_, intercept_, noise_
        In the units of the features, whose names are ``model_.features.names``.

    Examples
    --------
    >>> model = BayesianLinearRegressor().fit([[1.0], [2.0], [3.0], [4.0]], [2.0, 4.0, 5.0, 8.0])
    >>> model.coef_, model.predict([[5.0]])
    (array([1.9]), array([9.5]))
    >>> mean, low, high = model.predict([[5.0]], interval=0.95)
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
        """The output where every feature is 0."""
        return float(self.model_.fit.intercept[0]) if self._flat else self.model_.fit.intercept

    @property
    def rank_(self) -> int:
        """How many coefficients are determined."""
        return self.model_.fit.rank


class RBFRegressor(Regressor):
    """A radial basis function network: Gaussian units around centers, and a linear output fitted to all rows.

    Parameters
    ----------
    n_units
        How many, or ``"auto"``: as many as have the highest evidence, `most_units` at most.
    centers
        ``"k-means"``, ``"em"``, ``"random"``, ``"farthest"``, ``"evidence"``, or ``"all"``: one for every example.
    width
        ``"auto"``, ``"nearest"``, or standard deviations; see :func:`fit_rbf`.
    prior
        Of the output weights, as in :class:`BayesianLinearRegressor`.
    discrete
        Columns whose numbers are names of states.
    na_values, keep_default_na
        Markers of missing values, as in :func:`~bayeslearn.as_table`; of X, and of the column that `y` names.
    random_state
        Of the centers.

    Attributes
    ----------
    model_
        The :class:`RegressionModel`, to be added, saved and updated.
    n_units_, tried_
        How many units there are, and the evidence of all that were tried.

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
        most_units: int = 128,
        random_state: Any = None,
    ) -> None:
        self.n_units = n_units
        self.centers = centers
        self.width = width
        self.prior = prior
        self.discrete = discrete
        self.na_values = na_values
        self.keep_default_na = keep_default_na
        self.most_units = most_units
        self.random_state = random_state

    tried_: tuple[TriedUnits, ...]

    def _learn(self, rows: Any, y: Any, sample_weight: Any) -> RegressionModel:
        found = fit_rbf(
            rows, y, self.n_units, centers=self.centers, width=self.width, prior=self.prior, discrete=self.discrete,
            sample_weight=sample_weight, most=self.most_units, random_state=validation.generator(self.random_state),
        )  # fmt: skip
        self.tried_ = found.tried
        return found.model

    @property
    def n_units_(self) -> int:
        """How many units there are."""
        assert self.model_.basis is not None
        return self.model_.basis.size
