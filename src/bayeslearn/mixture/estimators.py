"""Mixtures of Gaussians as a scikit-learn estimator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, DensityMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from bayeslearn import validation
from bayeslearn.mixture.answers import Answers
from bayeslearn.mixture.choosing import choose_mixture
from bayeslearn.mixture.learning import fit_mixture
from bayeslearn.sources.base import Scanned
from bayeslearn.sources.scanning import as_source, is_paths, is_source
from bayeslearn.tables import Schema, Table, as_table
from bayeslearn.tables.raw import RawTable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.tables.markers import Markers

    Floats = NDArray[np.float64]


class GaussianMixture(Answers, DensityMixin, BaseEstimator):  # type: ignore[misc]
    """A mixture of Gaussians by EM; cells may be missing (NaN), rows may have weights, batches may follow.

    Parameters
    ----------
    n_components
        How many, or ``"auto"``: as many as have the highest evidence (the lowest BIC without a prior).
    covariance
        ``"full"``, ``"tied"``, ``"diagonal"`` or ``"spherical"``.
    prior
        ``"weak"`` keeps covariances regular, None is maximum likelihood, or a prior of the family.
    missing, keep_default_na
        Markers of missing values, as in :func:`~bayeslearn.as_table`.
    start
        ``"k-means++"``, ``"random"`` or a :class:`Mixture`.
    n_init
        How many starts to climb from.
    tol, max_iter
        Nats that an iteration must gain, and how many iterations there may be.
    most_components
        The most that ``"auto"`` tries.
    random_state
        Of the starts and of :meth:`sample`.

    Attributes
    ----------
    model_
        The :class:`Mixture`, to be added, saved and updated.
    weights_, means_, covariances_
        Its parameters.
    history_, converged_, n_iter_
        How EM climbed.

    Examples
    --------
    >>> X = [[1.0, 2.0], [1.2, 1.9], [0.9, None], [8.0, 7.0], [8.3, 7.2], [None, 6.9]]
    >>> model = GaussianMixture(2, covariance="diagonal", random_state=0).fit(X)
    >>> labels = model.predict(X)
    >>> (labels[:3] == labels[0]).all() and (labels[3:] != labels[0]).all()
    np.True_
    """

    def __init__(
        self,
        n_components: int | Literal["auto"] = 1,
        *,
        covariance: str = "full",
        prior: Any = "weak",
        missing: Markers = (),
        keep_default_na: bool = True,
        start: Any = "k-means++",
        n_init: int = 1,
        tol: float = 1e-4,
        max_iter: int = 1000,
        most_components: int = 20,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.covariance = covariance
        self.prior = prior
        self.missing = missing
        self.keep_default_na = keep_default_na
        self.start = start
        self.n_init = n_init
        self.tol = tol
        self.max_iter = max_iter
        self.most_components = most_components
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:  # noqa: ARG002 - scikit-learn hands it over
        """Learn from rows of numbers, or from all columns of a source, a table or files.

        The weights of a source are the name of a column; its rows get no `labels_`.
        """
        rows = self._named(X) if is_named(X) else self._checked(X, reset=True)
        how: dict[str, Any] = {
            "covariance": self.covariance, "prior": self.prior, "start": self.start, "tol": self.tol,
            "max_iter": self.max_iter, "rng": validation.generator(self.random_state),
            "restarts": validation.integer("n_init", self.n_init, least=1) - 1, "weights": sample_weight,
        }  # fmt: skip
        if isinstance(self.n_components, str):
            validation.choice("n_components", self.n_components, ["auto"])
            by: Any = "bic" if self.prior is None else "evidence"
            self._learned(choose_mixture(rows, by=by, most=self.most_components, **how).result)
        else:
            self._learned(fit_mixture(rows, self.n_components, **how))
        if not is_source(rows):
            self.labels_ = self.model_.assign(rows)
        return self

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Add more rows, as the model expects them by then (online EM); the first batch is learned by itself."""
        if not hasattr(self, "model_"):
            return self.fit(X, y, sample_weight)
        rows = self._checked(X, reset=False)
        self.model_ = self.model_.updated(rows, weights=sample_weight)
        self.labels_ = self.model_.assign(rows)
        return self

    def sample(self, n_samples: int = 1) -> tuple[Floats, NDArray[np.intp]]:
        """Rows at random, and the component of each."""
        check_is_fitted(self)
        (x,), labels = self.model_.sample(n_samples, rng=validation.generator(self.random_state))
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

    def _rows(self, X: Any) -> Any:
        check_is_fitted(self)
        if is_named(self._require_rows(X)):
            return as_table(self._marked(X, reset=False), schema=Schema(self.model_.parts[0].columns))
        return self._checked(X, reset=False)

    def _named(self, X: Any) -> Any:
        """A source or a table, whose columns have names."""
        rows = self._marked(X, reset=True)
        rows = rows if isinstance(rows, Scanned) else as_source(rows)
        self.feature_names_in_ = np.array(rows.schema.names, dtype=object)
        self.n_features_in_ = len(rows.schema)
        return rows

    def _checked(self, X: Any, *, reset: bool) -> Floats:
        """Rows of numbers; what a marker stands for is NaN, also if it is a word."""
        if not self._has_markers:
            return validate_data(self, X, reset=reset, dtype=np.float64, ensure_all_finite="allow-nan")
        given = validate_data(self, X, reset=reset, dtype=None, ensure_all_finite=False)
        marked = self._marked(given, reset=reset, names=getattr(self, "feature_names_in_", None))
        if isinstance(marked, RawTable):
            marked = np.stack([as_table(marked, columns=[n], numeric=[n]).value(n) for n in marked], axis=1)
        return validation.float_array("X", marked)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.categorical = False
        return tags


def is_named(X: Any) -> bool:
    """Whether data are a source, a table or files, which need no check by scikit-learn."""
    return isinstance(X, Scanned | Table) or is_paths(X)
