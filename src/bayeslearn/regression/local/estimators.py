"""Locally weighted regression as a scikit-learn estimator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from bayeslearn.estimators import AnswersInBatches, ReadsLabels
from bayeslearn.regression.local.model_fit import fit_local
from bayeslearn.tables.conversion import all_named

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from bayeslearn.regression.local.model import LocalRegressionModel
    from bayeslearn.regression.local.model_selection import Tried
    from bayeslearn.regression.local.results import LocalFit
    from bayeslearn.regression.local.settings import Settings
    from bayeslearn.tables import Schema
    from bayeslearn.tables.markers import Markers

    Floats = NDArray[np.float64]


class LocalRegressor(AnswersInBatches, ReadsLabels, RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Locally weighted regression: a constant, linear or quadratic fit to the rows around every query.

    Parameters
    ----------
    degree
        0, 1, 2 or ``"auto"``.
    locality
        ``"neighbors"``: the nearest rows, all with weight 1; ``"kernel"``: all rows, weighted by the kernel;
        ``"kernel_neighbors"``: the nearest rows, weighted by the kernel.
    kernel
        ``"tricube"``, ``"gaussian"``, ``"epanechnikov"``, ``"inverse_square"`` or ``"uniform"``.
    n_neighbors
        The number of neighbors, at most all rows; ``"auto"`` by leave-one-out.
    bandwidth
        The distance where the kernel ends, or ``"auto"``. None: that of the farthest neighbor; with
        ``locality="kernel"`` it is ``"auto"``.
    ridge
        The prior precision of the slopes.
    standardize
        Whether the unit of a feature is its standard deviation.
    noise_sample_size
        The equivalent sample size of the noise of all rows around a query.
    discrete
        Columns whose numbers are names of states.
    na_values, keep_default_na
        Markers of missing values, as in :func:`~bayeslearn.as_table`.
    loo_rows, random_state
        The largest number of rows that are left out, and the seed of their sample.

    Attributes
    ----------
    model_
        The :class:`LocalRegressionModel`, which keeps the rows.
    settings_, tried_
        The settings, and those that leave-one-out tried, the best first.

    Examples
    --------
    >>> X = np.linspace(0, 6, 30)[:, None]
    >>> model = LocalRegressor(degree=2, n_neighbors=12).fit(X, np.sin(X[:, 0]))
    >>> model.predict([[1.5], [4.5]]).round(2)
    array([ 1.  , -0.98])
    """

    def __init__(
        self,
        degree: int | Literal["auto"] = 1,
        *,
        locality: Literal["neighbors", "kernel", "kernel_neighbors"] = "kernel_neighbors",
        kernel: str = "tricube",
        n_neighbors: int | Literal["auto"] | None = "auto",
        bandwidth: float | Literal["auto"] | None = None,
        ridge: float = 0.0,
        standardize: bool = True,
        noise_sample_size: float = 10.0,
        discrete: Iterable[str] = (),
        na_values: Markers = (),
        keep_default_na: bool = True,
        loo_rows: int | None = 5000,
        random_state: Any = None,
    ) -> None:
        self.degree = degree
        self.locality = locality
        self.kernel = kernel
        self.n_neighbors = n_neighbors
        self.bandwidth = bandwidth
        self.ridge = ridge
        self.standardize = standardize
        self.noise_sample_size = noise_sample_size
        self.discrete = discrete
        self.na_values = na_values
        self.keep_default_na = keep_default_na
        self.loo_rows = loo_rows
        self.random_state = random_state

    model_: LocalRegressionModel

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Keep the rows, and select the settings that are "auto"."""
        self._keep(X, y, sample_weight)
        _ = self.model_.settings  # selected now, not with the first query
        return self

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Keep more rows; settings that are "auto" are selected again with the next query."""
        if not hasattr(self, "model_"):
            return self._keep(X, y, sample_weight)
        rows, outputs, weights = self._read_cases(X, y, sample_weight, reset=False)
        self.model_ = self.model_.update(rows, outputs, sample_weight=weights)
        return self

    def predict(self, X: Any, *, return_std: bool = False) -> Floats | tuple[Floats, Floats]:
        """Return the value of the fit at each query; with the standard deviation of a new y there."""
        if return_std:
            return self._answer(X, "mean_and_std")
        return self._answer(X, "mean")

    def _ask(self, question: str, rows: Any, *arguments: Any) -> Any:
        found = self.model_.local_fits(rows, noise=question != "mean")
        if question == "interval":
            return found.interval(arguments[0], of=arguments[1])
        return found.mean if question == "mean" else (found.mean, found.std)

    def predict_interval(self, X: Any, level: float = 0.95, *, of: Literal["y", "mean"] = "y") -> tuple[Floats, Floats]:
        """Return equal-tailed bounds of a new y at each query, or of the function."""
        return self._answer(X, "interval", level, of)

    def local_fits(self, X: Any, *, slopes: bool = False, noise: bool = True) -> LocalFit:
        """Return the fits: means, intervals, effective numbers of rows, where a ridge was needed."""
        check_is_fitted(self)
        return self.model_.local_fits(self._read_rows(X, reset=False), slopes=slopes, noise=noise)

    @property
    def settings_(self) -> Settings:
        """The settings of the fits."""
        return self.model_.settings

    @property
    def tried_(self) -> tuple[Tried, ...]:
        """The settings that leave-one-out tried, the best first."""
        return self.model_.tried

    _array_checks = {"dtype": np.float64, "ensure_all_finite": "allow-nan"}  # noqa: RUF012 - read only

    def _keep(self, X: Any, y: Any, sample_weight: Any) -> Self:
        rows, outputs, weights = self._read_cases(X, y, sample_weight, reset=True)
        self.model_ = fit_local(
            rows if isinstance(rows, np.ndarray) else all_named(rows), outputs, degree=self.degree,
            locality=self.locality, kernel=self.kernel, n_neighbors=self.n_neighbors, bandwidth=self.bandwidth,
            ridge=self.ridge, standardize=self.standardize, noise_sample_size=self.noise_sample_size,
            discrete=self.discrete, sample_weight=weights, loo_rows=self.loo_rows, random_state=self.random_state,
        )  # fmt: skip
        return self

    def _columns_in(self) -> Schema:
        return self.model_.features.schema

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.categorical = False
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = True
        return tags
