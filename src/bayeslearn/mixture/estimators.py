"""Mixtures as scikit-learn estimators: Gaussians over arrays of numbers, and classes of the rows of any table."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin, DensityMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from bayeslearn import validation
from bayeslearn.mixture.choosing import choose_mixture
from bayeslearn.mixture.classes import by_size, find_classes, new_rows
from bayeslearn.mixture.learning import fit_mixture
from bayeslearn.mixture.reporting import describe
from bayeslearn.tables import Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.em import Result
    from bayeslearn.mixture.model import Mixture
    from bayeslearn.mixture.reporting import ClassReport

    Floats = NDArray[np.float64]


class _Answers:
    """What both share: answers about rows, once `model_` is there."""

    model_: Mixture

    def _rows(self, X: Any) -> Any:
        raise NotImplementedError

    def predict(self, X: Any) -> NDArray[np.intp]:
        """The most probable component of each row."""
        rows = self._rows(X)
        return self.model_.assign(rows)

    def predict_proba(self, X: Any) -> Floats:
        """P(component | row): the responsibilities."""
        rows = self._rows(X)
        return self.model_.responsibilities(rows)

    def score_samples(self, X: Any) -> Floats:
        """ln p(row)."""
        rows = self._rows(X)
        return self.model_.log_density(rows)

    def score(self, X: Any, y: Any = None) -> float:  # noqa: ARG002 - scikit-learn hands it over
        """The mean of ln p(row)."""
        return float(self.score_samples(X).mean())

    def bic(self, X: Any) -> float:
        """−2 ln P(D|θ) + free parameters · ln n: the lower the better."""
        rows = self._rows(X)
        return self.model_.bic(rows)

    def aic(self, X: Any) -> float:
        """−2 ln P(D|θ) + 2 · free parameters: the lower the better."""
        rows = self._rows(X)
        return self.model_.aic(rows)

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> NDArray[np.intp]:
        """Learn, and tell the component of each row."""
        return self.fit(X, y, sample_weight).labels_  # type: ignore[attr-defined]

    def _learned(self, found: Result[Mixture]) -> None:
        self.model_ = found.model
        self.history_ = found.history
        self.converged_ = found.converged
        self.n_iter_ = found.iterations

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.allow_nan = True
        return tags


class GaussianMixture(_Answers, DensityMixin, BaseEstimator):  # type: ignore[misc]
    """A mixture of Gaussians by EM; cells may be missing (NaN), rows may have weights, batches may follow.

    Parameters
    ----------
    n_components
        How many, or ``"auto"``: as many as have the highest evidence (the lowest BIC without a prior).
    covariance
        ``"full"``, ``"tied"``, ``"diagonal"`` or ``"spherical"``.
    prior
        ``"weak"`` keeps covariances regular, None is maximum likelihood, or a prior of the family.
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
        self.start = start
        self.n_init = n_init
        self.tol = tol
        self.max_iter = max_iter
        self.most_components = most_components
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:  # noqa: ARG002 - scikit-learn hands it over
        """Learn from rows of numbers."""
        rows = self._checked(X, reset=True)
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

    def _rows(self, X: Any) -> Floats:
        check_is_fitted(self)
        return self._checked(X, reset=False)

    def _checked(self, X: Any, *, reset: bool) -> Floats:
        return validate_data(self, X, reset=reset, dtype=np.float64, ensure_all_finite="allow-nan")


class TableClusterer(_Answers, ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Classes of the rows of a table, whose columns may be words, numbers and counts, with holes.

    Parameters
    ----------
    n_classes
        How many, or ``"auto"``: as many as have the highest evidence.
    families
        Of columns, by name: ``"categorical"``, ``"normal"``, ``"poisson"``; columns of an array are x0, x1, and so on.
    covariance
        ``"full"`` or ``"tied"`` lets the normal columns vary together within a class.
    prior, n_init, tol, max_iter, most_classes, random_state
        As in :class:`GaussianMixture`.

    Attributes
    ----------
    model_
        The :class:`Mixture`, its largest class first.
    report_
        For every class its size and what distinguishes it.
    scores_
        The evidence of every number of classes that was tried.

    Examples
    --------
    >>> rows = {"hue": ["red", "blue", "red", None] * 8, "size": [1.0, 9.0, 1.2, 9.1] * 8}
    >>> found = TableClusterer(random_state=0).fit(rows)
    >>> len(found.report_), str(found.report_[0].differences[0].column)
    (2, 'size')
    """

    def __init__(
        self,
        n_classes: int | Literal["auto"] = "auto",
        *,
        families: Mapping[str, str] | None = None,
        covariance: str | None = None,
        prior: Any = "weak",
        n_init: int = 4,
        tol: float = 1e-3,
        max_iter: int = 1000,
        most_classes: int = 20,
        random_state: Any = None,
    ) -> None:
        self.n_classes = n_classes
        self.families = families
        self.covariance = covariance
        self.prior = prior
        self.n_init = n_init
        self.tol = tol
        self.max_iter = max_iter
        self.most_classes = most_classes
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:  # noqa: ARG002 - scikit-learn hands it over
        """Find the classes."""
        data = self._given(X, reset=True)
        found = by_size(find_classes(
            data, self.n_classes, families=self.families, covariance=self.covariance, prior=self.prior,
            restarts=validation.integer("n_init", self.n_init, least=1) - 1, tol=self.tol, max_iter=self.max_iter,
            most=self.most_classes, weights=sample_weight, rng=validation.generator(self.random_state), left_out={},
        ))  # fmt: skip
        self._learned(found.result)
        self.scores_ = found.scores
        self.labels_ = self.model_.assign(new_rows(self.model_, data))
        return self

    @property
    def report_(self) -> list[ClassReport]:
        """For every class its size and what distinguishes it."""
        return describe(self.model_)

    def _rows(self, X: Any) -> Any:
        check_is_fitted(self)
        return new_rows(self.model_, self._given(X, reset=False))

    def _given(self, X: Any, *, reset: bool) -> Any:
        sparse = hasattr(X, "tocsr")  # some of these are dicts too
        if not sparse and (isinstance(X, Mapping | Table | str | os.PathLike) or hasattr(X, "columns")):
            return X  # it names its own columns
        checked = validate_data(self, X, reset=reset, dtype=None, ensure_all_finite=False)
        return {f"x{j}": checked[:, j] for j in range(checked.shape[1])}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags
