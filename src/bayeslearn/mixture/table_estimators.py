"""Classes of the rows of a table as a scikit-learn estimator."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, Self

from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from bayeslearn import validation
from bayeslearn.mixture.answers import Answers
from bayeslearn.mixture.classes import by_size, find_classes, new_rows
from bayeslearn.mixture.reporting import describe
from bayeslearn.sources.scanning import is_source
from bayeslearn.tables import Table

if TYPE_CHECKING:
    from bayeslearn.mixture.reporting import ClassReport
    from bayeslearn.tables.markers import Markers


class TableClusterer(Answers, ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Classes of the rows of a table, whose columns may be words, numbers and counts, with holes.

    Parameters
    ----------
    n_classes
        How many, or ``"auto"``: as many as have the highest evidence.
    families
        Of columns, by name: ``"categorical"``, ``"normal"``, ``"poisson"``; columns of an array are x0, x1, and so on.
    covariance
        ``"full"`` or ``"tied"`` lets the normal columns vary together within a class.
    missing, keep_default_na
        Markers of missing values, as in :func:`~bayeslearn.as_table`.
    prior, n_init, tol, max_iter, most_classes, random_state
        As in :class:`GaussianMixture`.

    Attributes
    ----------
    model_
        The :class:`Mixture`, its largest class first.
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
        missing: Markers = (),
        keep_default_na: bool = True,
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
        self.missing = missing
        self.keep_default_na = keep_default_na
        self.prior = prior
        self.n_init = n_init
        self.tol = tol
        self.max_iter = max_iter
        self.most_classes = most_classes
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:  # noqa: ARG002 - scikit-learn hands it over
        """Find the classes; the rows of a source get no `labels_`, and its weights are the name of a column."""
        data = self._given(X, reset=True)
        found = by_size(find_classes(
            data, self.n_classes, families=self.families, covariance=self.covariance, prior=self.prior,
            restarts=validation.integer("n_init", self.n_init, least=1) - 1, tol=self.tol, max_iter=self.max_iter,
            most=self.most_classes, weights=sample_weight, rng=validation.generator(self.random_state), left_out={},
        ))  # fmt: skip
        self._learned(found.result)
        self.scores_ = found.scores
        if not is_source(data):
            self.labels_ = self.model_.assign(new_rows(self.model_, data))
        return self

    @property
    def report_(self) -> list[ClassReport]:
        """For every class its size and what distinguishes it."""
        return describe(self.model_)

    def _rows(self, X: Any) -> Any:
        check_is_fitted(self)
        return new_rows(self.model_, self._given(self._require_rows(X), reset=False))

    def _given(self, X: Any, *, reset: bool) -> Any:
        """Checked rows with the markers of missing values."""
        return self._marked(self._checked(X, reset=reset), reset=reset)

    def _checked(self, X: Any, *, reset: bool) -> Any:
        sparse = hasattr(X, "tocsr")  # some of these are dicts too
        if is_source(X) or (
            not sparse and (isinstance(X, Mapping | Table | str | os.PathLike) or hasattr(X, "columns"))
        ):
            return X  # it names its own columns
        checked = validate_data(self, X, reset=reset, dtype=None, ensure_all_finite=False)
        return {f"x{j}": checked[:, j] for j in range(checked.shape[1])}
