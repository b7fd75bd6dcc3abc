"""Mixtures of Gaussians, and clusters of the rows of a table, as scikit-learn estimators."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, Self

import narwhals as nw
import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin, DensityMixin
from sklearn.utils.validation import check_is_fitted

from bayeslearn import validation
from bayeslearn.errors import ParameterError
from bayeslearn.estimators import AnswersInBatches
from bayeslearn.mixture.component_selection import select_components
from bayeslearn.mixture.em_fit import (
    EMOptions,
    default_criterion,
    fit_components,
    largest_first,
    value_of,
    warn_of_empty,
)
from bayeslearn.mixture.inputs import opened
from bayeslearn.sources.scanning import is_source
from bayeslearn.tables import Table, as_table
from bayeslearn.tables.conversion import RawTable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.em import EMResult
    from bayeslearn.mixture.model import MixtureModel
    from bayeslearn.mixture.results import ClusterReport, ComponentSelection
    from bayeslearn.tables import Schema
    from bayeslearn.tables.markers import Markers

    Floats = NDArray[np.float64]


class MixtureEstimator(AnswersInBatches, ABC):
    """What both estimators share: answers by a :class:`MixtureModel`."""

    model_: MixtureModel
    n_init: int
    random_state: Any

    @abstractmethod
    def _model_rows(self, rows: Any) -> Any:
        """Rows as the model takes them."""

    def predict(self, X: Any) -> NDArray[np.intp]:
        """Return the most probable component of each row."""
        return self._answer(X, "predict")

    def predict_proba(self, X: Any) -> Floats:
        """Return P(component | row)."""
        return self._answer(X, "predict_proba")

    def score_samples(self, X: Any) -> Floats:
        """Return ln p(row)."""
        return self._answer(X, "log_likelihood")

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:  # noqa: ARG002 - y: scikit-learn's form
        """Return the mean of ln p(row)."""
        return float(np.average(self.score_samples(X), weights=sample_weight))

    def bic(self, X: Any) -> float:
        """Return −2 ln P(D|θ) + ln n · parameters; lower is better."""
        return self._answer(self._in_memory(X), "bic")

    def aic(self, X: Any) -> float:
        """Return −2 ln P(D|θ) + 2 · parameters; lower is better."""
        return self._answer(self._in_memory(X), "aic")

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> NDArray[np.intp]:
        """Fit, and return the component of each row."""
        return self.fit(self._in_memory(X), y, sample_weight).labels_  # type: ignore[attr-defined]

    @staticmethod
    def _in_memory(X: Any) -> Any:
        """X, which must not be a source."""
        if is_source(X):
            raise ParameterError(
                "this takes the rows in memory, and X is a source", hint="read them, if they fit: source.table()"
            )
        return X

    def _ask(self, question: str, rows: Any, *arguments: Any) -> Any:
        return super()._ask(question, self._model_rows(rows), *arguments)

    def _columns_in(self) -> Schema:
        return self.model_.schema

    def _keep(self, found: EMResult[MixtureModel]) -> None:
        self.model_ = found.model
        self.n_components_ = found.model.n_components
        self.history_ = found.history
        self.converged_ = found.converged
        self.n_iter_ = found.n_iter
        warn_of_empty(found.model)


class GaussianMixture(MixtureEstimator, DensityMixin, BaseEstimator):  # type: ignore[misc]
    """A mixture of Gaussians by EM; values may be missing (NaN), rows may have weights, batches may follow.

    Parameters
    ----------
    n_components
        The number of components, or ``"auto"``: the number with the highest marginal likelihood (without a prior, the
        lowest BIC).
    covariance_type
        ``"full"``, ``"tied"``, ``"diag"`` or ``"spherical"``.
    prior
        ``"weak"`` keeps covariances regular; None is maximum likelihood; or a prior of the distribution.
    na_values, keep_default_na
        Markers of missing values, as in :func:`~bayeslearn.as_table`.
    init
        ``"k-means++"``, ``"random"`` or a :class:`MixtureModel`.
    n_init
        The number of initializations.
    tol, max_iter
        The gain in log-likelihood, in nats, at which EM has converged, and the maximum number of iterations.
    max_components
        The largest number that ``"auto"`` tries.
    random_state
        Seed or generator for initial values and for :meth:`sample`.

    Attributes
    ----------
    model_
        The :class:`MixtureModel`.
    weights_, means_, covariances_
        Its parameters.
    history_, converged_, n_iter_
        The iterations of EM, whether it converged, and their number.

    Examples
    --------
    >>> X = [[1.0, 2.0], [1.2, 1.9], [0.9, None], [8.0, 7.0], [8.3, 7.2], [None, 6.9]]
    >>> model = GaussianMixture(2, covariance_type="diag", random_state=0).fit(X)
    >>> labels = model.predict(X)
    >>> (labels[:3] == labels[0]).all() and (labels[3:] != labels[0]).all()
    np.True_
    """

    def __init__(
        self,
        n_components: int | Literal["auto"] = 1,
        *,
        covariance_type: str = "full",
        prior: Any = "weak",
        na_values: Markers = (),
        keep_default_na: bool = True,
        init: Any = "k-means++",
        n_init: int = 1,
        tol: float = 1e-4,
        max_iter: int = 1000,
        max_components: int = 20,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.prior = prior
        self.na_values = na_values
        self.keep_default_na = keep_default_na
        self.init = init
        self.n_init = n_init
        self.tol = tol
        self.max_iter = max_iter
        self.max_components = max_components
        self.random_state = random_state

    _array_checks = {"dtype": np.float64, "ensure_all_finite": "allow-nan"}  # noqa: RUF012 - read only

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:  # noqa: ARG002 - scikit-learn hands it over
        """Learn from rows of numbers, or from all columns of a frame, a table, a source or files.

        The weights of a source are the name of a column; its rows get no `labels_`.
        """
        rows = self._table(self._read_rows(X, reset=True))
        options = EMOptions(
            prior=self.prior, init=self.init, n_init=self.n_init, tol=self.tol, max_iter=self.max_iter,
            random_state=validation.generator(self.random_state),
        )  # fmt: skip
        source, parts = opened(rows, None, self.covariance_type, None, sample_weight)
        if isinstance(self.n_components, str):
            validation.choice("n_components", self.n_components, ["auto"])
            criterion = default_criterion(None, self.prior)
            found, _ = select_components(
                source, parts, options, criterion=criterion, max_components=self.max_components
            )
        else:
            found = fit_components(source, parts, self.n_components, options)
        self._keep(found)
        if is_source(rows):
            self._note_columns(self._columns_in().names)
        else:
            self.labels_ = self.model_.predict(rows)
        return self

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Add rows, as the model expects them by then (online EM); the first batch is learned as in `fit`."""
        if not hasattr(self, "model_"):
            return self.fit(X, y, sample_weight)
        rows = self._model_rows(self._read_rows(self._in_memory(X), reset=False))
        self.model_ = self.model_.update(rows, sample_weight=sample_weight)
        self.labels_ = self.model_.predict(rows)
        return self

    def sample(self, n_samples: int = 1) -> tuple[Floats, NDArray[np.intp]]:
        """Return rows drawn at random, and the component of each."""
        check_is_fitted(self)
        (x,), labels = self.model_.draw(n_samples, validation.generator(self.random_state))
        return x, labels

    @property
    def weights_(self) -> Floats:
        """The share of each component."""
        return self.model_.weights

    @property
    def means_(self) -> Floats:
        """The mean of each component."""
        return self.model_.parameters[0].mean

    @property
    def covariances_(self) -> Floats:
        """The covariance of each component, in the shape of its kind."""
        return self.model_.parameters[0].covariance

    def _table(self, rows: Any) -> Any:
        """Training rows as an array, a table or a source."""
        if isinstance(rows, np.ndarray | Table) or is_source(rows):
            return rows
        kinds = {} if isinstance(rows, Mapping) else nw.from_native(rows).schema
        numbers = [str(name) for name, kind in kinds.items() if kind.is_numeric()]
        return as_table(rows, numeric=numbers, allow_constant=True)

    def _model_rows(self, rows: Any) -> Any:
        return rows if isinstance(rows, np.ndarray) else as_table(rows, schema=self._columns_in())

    def _marked(self, X: Any, *, reset: bool, names: Any = None) -> Any:
        marked = super()._marked(X, reset=reset, names=names)
        if isinstance(marked, RawTable) and isinstance(X, np.ndarray):
            return np.stack([as_table(marked, columns=[n], numeric=[n]).values_of(n) for n in marked], axis=1)
        return marked

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.categorical = False
        return tags


class MixedTypeClusterer(MixtureEstimator, ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Clusters of the rows of a table with categorical, numeric and count columns; values may be missing.

    Parameters
    ----------
    n_components
        The number of clusters, or ``"auto"``: the number with the highest marginal likelihood.
    distributions
        The distribution of columns by name: ``"categorical"``, ``"gaussian"``, ``"poisson"`` and so on; the columns of
        an array are x0, x1, and so on.
    covariance_type
        ``"full"`` or ``"tied"`` lets Gaussian columns vary together within a cluster; by default they are independent.
    na_values, keep_default_na
        Markers of missing values, as in :func:`~bayeslearn.as_table`.
    prior, n_init, tol, max_iter, max_components, random_state
        As in :class:`GaussianMixture`.

    Attributes
    ----------
    model_
        The :class:`MixtureModel`, its largest component first.
    n_components_
        The number of its components.
    selection_
        The criterion of every number of components that was tried: a :class:`ComponentSelection`.

    Examples
    --------
    >>> rows = {"hue": ["red", "blue", "red", None] * 8, "size": [1.0, 9.0, 1.2, 9.1] * 8}
    >>> found = MixedTypeClusterer(random_state=0).fit(rows)
    >>> len(found.report_), str(found.report_[0].differences[0].column)
    (2, 'size')
    """

    def __init__(
        self,
        n_components: int | Literal["auto"] = "auto",
        *,
        distributions: Mapping[str, Any] | None = None,
        covariance_type: str | None = None,
        na_values: Markers = (),
        keep_default_na: bool = True,
        prior: Any = "weak",
        n_init: int = 4,
        tol: float = 1e-3,
        max_iter: int = 1000,
        max_components: int = 20,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.distributions = distributions
        self.covariance_type = covariance_type
        self.na_values = na_values
        self.keep_default_na = keep_default_na
        self.prior = prior
        self.n_init = n_init
        self.tol = tol
        self.max_iter = max_iter
        self.max_components = max_components
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:  # noqa: ARG002 - scikit-learn hands it over
        """Find the clusters; the rows of a source get no `labels_`, and its weights are the name of a column."""
        rows = _columns(self._read_rows(X, reset=True))
        options = EMOptions(
            prior=self.prior, n_init=self.n_init, tol=self.tol, max_iter=self.max_iter,
            random_state=validation.generator(self.random_state),
        )  # fmt: skip
        found, self.selection_ = clusters_of(
            rows, self.n_components, self.distributions or {}, self.covariance_type, sample_weight, options,
            self.max_components,
        )  # fmt: skip
        self._keep(found)
        if is_source(rows):
            self._note_columns(self._columns_in().names)
        else:
            self.labels_ = self.predict(X)
        return self

    @property
    def report_(self) -> list[ClusterReport]:
        """The size of every component and what distinguishes it."""
        from bayeslearn.mixture.results import describe_clusters  # noqa: PLC0415 - only here

        return describe_clusters(self.model_)

    def _model_rows(self, rows: Any) -> Any:
        columns = _columns(rows, getattr(self, "feature_names_in_", None))
        if isinstance(columns, Mapping) and not columns:
            raise ParameterError("there are no columns")
        return as_table(columns, schema=self._columns_in(), handle_unknown="missing")


def _columns(rows: Any, names: Any = None) -> Any:
    """The columns of an array by name, other data unchanged."""
    if not isinstance(rows, np.ndarray):
        return rows
    names = [f"x{j}" for j in range(rows.shape[1])] if names is None else names
    return {name: rows[:, j] for j, name in enumerate(names)}


def clusters_of(
    rows: Any,
    n_components: int | Literal["auto"],
    distributions: Mapping[str, Any],
    covariance_type: str | None,
    sample_weight: Any,
    options: EMOptions,
    max_components: int,
) -> tuple[EMResult[MixtureModel], ComponentSelection]:
    """The clusters of the rows of a table, and the criterion of every number of them that was tried."""
    from bayeslearn.mixture.mixed_table import parts_of_schema, read_table  # noqa: PLC0415 - not of Gaussians
    from bayeslearn.mixture.results import ComponentSelection  # noqa: PLC0415 - as above

    table, _ = read_table(rows, distributions, None, sample_weight, 255, {})
    source, parts = opened(table, parts_of_schema(table.schema, distributions, covariance_type or "diag"))
    criterion = "marginal_likelihood"
    if n_components == "auto":
        found, scores = select_components(source, parts, options, criterion=criterion, max_components=max_components)
    else:
        criterion = default_criterion(None, options.prior)
        found = fit_components(source, parts, n_components, options)
        scores = {found.model.n_components: value_of(found, criterion)}
    return largest_first(found), ComponentSelection(criterion, scores)
