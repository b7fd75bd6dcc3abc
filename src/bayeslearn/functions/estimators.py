"""Least squares and radial basis functions as scikit-learn regressors."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from bayeslearn import validation
from bayeslearn.errors import ParameterError
from bayeslearn.functions.radial_learning import fit_radial
from bayeslearn.functions.regression import Regression, fit_linear
from bayeslearn.functions.targets import target_names
from bayeslearn.sources.mixins import TakesCells
from bayeslearn.sources.scanning import is_source
from bayeslearn.tables import Table
from bayeslearn.tables.raw import all_named

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.functions.radial_learning import TriedUnits
    from bayeslearn.tables.markers import Markers

    Floats = NDArray[np.float64]


class ReadsTables(TakesCells):
    """What the estimators of this room share: rows as anything that is a table, or as an array."""

    def _rows(self, X: Any, *, reset: bool) -> Any:
        """Rows as features read them, with the markers of missing values."""
        return self._marked(self._checked(X, reset=reset), reset=reset)

    def _checked(self, X: Any, *, reset: bool) -> Any:
        """Rows as they are given; arrays are checked by scikit-learn."""
        sparse = hasattr(X, "tocsr")  # some of these are dicts too
        if is_source(X) or (not sparse and isinstance(X, Mapping | Table | str | os.PathLike)):
            return all_named(X) if reset and not is_source(X) else X
        if hasattr(X, "columns"):
            known = [] if reset else list(getattr(self, "feature_names_in_", []))
            if 0 < len(known) < len(X.columns) and set(known) <= set(X.columns):
                X = X[known]  # the target, say, may stand beside them
            validate_data(self, X, reset=reset, skip_check_array=True)
            return all_named(X) if reset else X
        array = validate_data(self, X, reset=reset, dtype=None, ensure_all_finite="allow-nan")
        if array.dtype.kind in "iufb":
            return array.astype(np.float64, copy=False)
        columns = {f"x{j}": array[:, j] for j in range(array.shape[1])}
        return all_named(columns) if reset else columns

    def _seen(self, features: Any, y: Any) -> None:
        """Note the columns that were given, without those that `y` names."""
        if not hasattr(self, "feature_names_in_"):
            self.n_features_in_ = getattr(self, "n_features_in_", len(features.schema))
            return
        given: Any = vars(self)["feature_names_in_"]
        names = [name for name in given if name not in (target_names(y) or ())]
        self.n_features_in_, self.feature_names_in_ = len(names), np.array(names, dtype=object)


def require_targets(y: Any) -> Any:
    """Targets that were given."""
    if y is None:
        raise ParameterError("this learner requires y to be passed, but the target y is None")
    return y


class Regressor(ReadsTables, RegressorMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """What both regressors share: answers by a :class:`Regression`."""

    model_: Regression

    @abstractmethod
    def _learn(self, rows: Any, y: Any, weights: Any) -> Regression:
        """The model of these rows."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn; where X is a table or a source, `y` may be the name of a column of it, or several names."""
        rows = self._rows(X, reset=True)
        self.model_ = self._learn(rows, require_targets(y), sample_weight)
        self._flat = isinstance(y, str) or (target_names(y) is None and np.asarray(y).ndim == 1)
        self._seen(self.model_.features, y)
        return self

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Add more rows; the first batch says what the columns are, and settles the prior and the units."""
        if not hasattr(self, "model_"):
            return self.fit(X, y, sample_weight)
        rows = self._rows(X, reset=False)
        self.model_ = self.model_.updated(rows, require_targets(y), weights=sample_weight)
        return self

    def predict(
        self, X: Any, *, return_std: bool = False, interval: float | None = None
    ) -> Floats | tuple[Floats, ...]:
        """The expected output at each row; with its standard deviation, or with bounds (low, high) of one more case."""
        check_is_fitted(self)
        rows = self._rows(X, reset=False)
        if interval is not None:
            found = self.model_.predicted(rows, level=interval)
            assert found.low is not None
            assert found.high is not None
            return self._told(found.mean), self._told(found.low), self._told(found.high)
        mean = self._told(self.model_.predict(rows))
        return (mean, self._told(self.model_.spread(rows))) if return_std else mean

    @property
    def noise_(self) -> Any:
        """The standard deviation of the noise, of every output; NaN where too few cases tell."""
        return self._told(self.model_.fit.noise[None])[0]

    @property
    def log_evidence_(self) -> float:
        """ln p(y | X) with all weights integrated out; it takes a proper prior."""
        return self.model_.log_evidence()

    def _told(self, outputs: Floats) -> Floats:
        return outputs[:, 0] if self._flat else outputs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


class LeastSquaresRegressor(Regressor):
    """Bayesian linear regression: least squares, with intervals, evidence, and batches that add up.

    Parameters
    ----------
    prior
        ``"reference"``: least squares and the textbooks' intervals; ``"none"``: maximum likelihood; ``"weak"``; a
        number of cases (ridge of standardised columns); ``"evidence"``: as many as the evidence asks for; or a
        :class:`~bayeslearn.families.RegressionPrior`.
    discrete
        Columns whose numbers are names of states.
    missing, keep_default_na
        Markers of missing values, as in :func:`~bayeslearn.as_table`; of X, and of the column that `y` names.

    Attributes
    ----------
    model_
        The :class:`Regression`, to be added, saved and updated.
    coef_, intercept_, noise_
        In the units of the features, whose names are ``model_.features.names``.

    Examples
    --------
    >>> model = LeastSquaresRegressor().fit([[1.0], [2.0], [3.0], [4.0]], [2.0, 4.0, 5.0, 8.0])
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
        missing: Markers = (),
        keep_default_na: bool = True,
    ) -> None:
        self.prior = prior
        self.discrete = discrete
        self.missing = missing
        self.keep_default_na = keep_default_na

    def _learn(self, rows: Any, y: Any, weights: Any) -> Regression:
        return fit_linear(rows, y, prior=self.prior, discrete=self.discrete, weights=weights)

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


class RadialBasisRegressor(Regressor):
    """A radial basis function network: Gaussian units around centres, and a linear output fitted to all rows.

    Parameters
    ----------
    n_units
        How many, or ``"auto"``: as many as have the highest evidence, `most_units` at most.
    centres
        ``"k-means"``, ``"em"``, ``"random"``, ``"farthest"``, ``"evidence"``, or ``"all"``: one for every example.
    width
        ``"auto"``, ``"nearest"``, or standard deviations; see :func:`fit_radial`.
    prior
        Of the output weights, as in :class:`LeastSquaresRegressor`.
    discrete
        Columns whose numbers are names of states.
    missing, keep_default_na
        Markers of missing values, as in :func:`~bayeslearn.as_table`; of X, and of the column that `y` names.
    random_state
        Of the centres.

    Attributes
    ----------
    model_
        The :class:`Regression`, to be added, saved and updated.
    n_units_, tried_
        How many units there are, and the evidence of all that were tried.

    Examples
    --------
    >>> x = np.linspace(0, 6, 40)[:, None]
    >>> model = RadialBasisRegressor(random_state=0).fit(x, np.sin(x[:, 0]))
    >>> bool(np.abs(model.predict(x) - np.sin(x[:, 0])).max() < 0.01)
    True
    """

    def __init__(
        self,
        n_units: int | Literal["auto"] = "auto",
        *,
        centres: str = "k-means",
        width: Any = "auto",
        prior: Any = "evidence",
        discrete: Iterable[str] = (),
        missing: Markers = (),
        keep_default_na: bool = True,
        most_units: int = 128,
        random_state: Any = None,
    ) -> None:
        self.n_units = n_units
        self.centres = centres
        self.width = width
        self.prior = prior
        self.discrete = discrete
        self.missing = missing
        self.keep_default_na = keep_default_na
        self.most_units = most_units
        self.random_state = random_state

    tried_: tuple[TriedUnits, ...]

    def _learn(self, rows: Any, y: Any, weights: Any) -> Regression:
        found = fit_radial(
            rows, y, self.n_units, centres=self.centres, width=self.width, prior=self.prior, discrete=self.discrete,
            weights=weights, most=self.most_units, rng=validation.generator(self.random_state),
        )  # fmt: skip
        self.tried_ = found.tried
        return found.model

    @property
    def n_units_(self) -> int:
        """How many units there are."""
        assert self.model_.basis is not None
        return self.model_.basis.size
