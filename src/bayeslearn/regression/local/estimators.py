"""Locally weighted regression as a scikit-learn estimator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from bayeslearn.estimators import AnswersInBatches, ReadsLabels
from bayeslearn.regression.local.model import local_regression

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
    """A fit around every query: constant, linear or quadratic, to the rows that are near it.

    Parameters
    ----------
    degree
        0, 1, 2 or ``"auto"``.
    criterion
        ``"E1"``: the k nearest rows alike; ``"E2"``: all rows by their weight; ``"E3"``: the k nearest by weight.
    kernel
        ``"tricube"``, ``"gaussian"``, ``"epanechnikov"``, ``"inverse_square"`` or ``"uniform"``.
    k
        How many rows E1 and E3 look at, at most all; ``"auto"``: as many as predict rows left out best.
    bandwidth
        Where the kernel ends, or ``"auto"``. None: at the k-th nearest row; for E2 it is ``"auto"``.
    ridge
        The prior's precision of the slopes.
    standardize
        Whether attributes are told in their standard deviations, so that a distance means the same in all.
    noise_cases
        How many cases the noise of all rows counts for, beside the rows around a query.
    discrete
        Columns of a table whose numbers are names.
    na_values, keep_default_na
        Markers of missing values, as in :func:`~bayeslearn.as_table`.
    loo_rows, random_state
        The most rows that are left out, and by what they are drawn.

    Attributes
    ----------
    model_
        The :class:`LocalRegressionModel`, which keeps the rows.
    settings_, tried_
        How it fits, and what leave-one-out tried, the best first.

    Examples
    --------
    >>> X = np.linspace(0, 6, 30)[:, None]
    >>> model = LocalRegressor(degree=2, k=12).fit(X, np.sin(X[:, 0]))
    >>> model.predict([[1.5], [4.5]]).round(2)
    array([ 1.  , -0.98])
    """

    def __init__(
        self,
        degree: int | Literal["auto"] = 1,
        *,
        criterion: Literal["E1", "E2", "E3"] = "E3",
        kernel: str = "tricube",
        k: int | Literal["auto"] | None = "auto",
        bandwidth: float | Literal["auto"] | None = None,
        ridge: float = 0.0,
        standardize: bool = True,
        noise_cases: float = 10.0,
        discrete: Iterable[str] = (),
        na_values: Markers = (),
        keep_default_na: bool = True,
        loo_rows: int | None = 5000,
        random_state: Any = None,
    ) -> None:
        self.degree = degree
        self.criterion = criterion
        self.kernel = kernel
        self.k = k
        self.bandwidth = bandwidth
        self.ridge = ridge
        self.standardize = standardize
        self.noise_cases = noise_cases
        self.discrete = discrete
        self.na_values = na_values
        self.keep_default_na = keep_default_na
        self.loo_rows = loo_rows
        self.random_state = random_state

    model_: LocalRegressionModel

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Keep the rows, and choose what is to be chosen."""
        self._keep(X, y, sample_weight)
        _ = self.model_.settings  # chosen now, not when the first query comes
        return self

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Keep these rows too; what is to be chosen is chosen when the next query comes."""
        if not hasattr(self, "model_"):
            return self._keep(X, y, sample_weight)
        rows, outputs, weights = self._read_cases(X, y, sample_weight, reset=False)
        self.model_ = self.model_.update(rows, outputs, sample_weight=weights)
        return self

    def predict(self, X: Any, *, return_std: bool = False) -> Floats | tuple[Floats, Floats]:
        """The value of the fit at each query; with the standard deviation of a new y there."""
        if return_std:
            return self._answer(X, "mean_and_std")
        return self._answer(X, "mean")

    def _ask(self, question: str, rows: Any, *arguments: Any) -> Any:
        found = self.model_.at(rows, noise=question != "mean")
        if question == "interval":
            return found.interval(arguments[0], of=arguments[1])
        return found.mean if question == "mean" else (found.mean, found.std)

    def interval(self, X: Any, level: float = 0.95, *, of: Literal["y", "mean"] = "y") -> tuple[Floats, Floats]:
        """Equal-tailed bounds of a new y at each query, or of the function."""
        return self._answer(X, "interval", level, of)

    def answers(self, X: Any, *, slopes: bool = False, noise: bool = True) -> LocalFit:
        """All that the fits say: means, intervals, effective rows, where a ridge had to help."""
        check_is_fitted(self)
        return self.model_.at(self._read_rows(X, reset=False), slopes=slopes, noise=noise)

    @property
    def settings_(self) -> Settings:
        """How the fits are made."""
        return self.model_.settings

    @property
    def tried_(self) -> tuple[Tried, ...]:
        """What leave-one-out tried, the best first."""
        return self.model_.tried

    _array_checks = {"dtype": np.float64, "ensure_all_finite": "allow-nan"}  # noqa: RUF012 - read only

    def _keep(self, X: Any, y: Any, sample_weight: Any) -> Self:
        rows, outputs, weights = self._read_cases(X, y, sample_weight, reset=True)
        self.model_ = local_regression(
            rows, outputs, degree=self.degree, criterion=self.criterion, kernel=self.kernel, k=self.k,
            bandwidth=self.bandwidth, ridge=self.ridge, standardize=self.standardize, noise_cases=self.noise_cases,
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
