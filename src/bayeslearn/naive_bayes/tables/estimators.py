"""Naive Bayes as a scikit-learn classifier: any columns, holes, weights, batches, missing labels, reasons."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from bayeslearn import validation
from bayeslearn.errors import DataError, ParameterError, listed
from bayeslearn.naive_bayes.tables import rows as blocks
from bayeslearn.naive_bayes.tables.calibrating import Calibration
from bayeslearn.naive_bayes.tables.cases import Cases
from bayeslearn.naive_bayes.tables.columns import new_states
from bayeslearn.naive_bayes.tables.inputs import Input, finite, is_source
from bayeslearn.naive_bayes.tables.labels import checked_labels, known_classes, label_codes, missing_labels, read_source
from bayeslearn.naive_bayes.tables.learning import column_of, framed, told_families
from bayeslearn.naive_bayes.tables.priors import require_columns
from bayeslearn.naive_bayes.tables.source_estimators import MAX_STATES, TakesSources, share_right
from bayeslearn.naive_bayes.tables.tallying import added, labelled
from bayeslearn.sources import is_source as folded
from bayeslearn.sources.mixins import TakesCells
from bayeslearn.tables import Discrete, Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.em import Step
    from bayeslearn.naive_bayes.tables.explaining import Contributions
    from bayeslearn.naive_bayes.tables.model import NaiveBayes
    from bayeslearn.naive_bayes.tables.rows import Rows
    from bayeslearn.tables.markers import Markers


class NaiveBayesClassifier(TakesSources, TakesCells, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """P(class | x) with words, numbers and counts in one model; cells may be missing (NaN, None, "?") everywhere.

    Parameters
    ----------
    families
        ``"auto"``: text, truth values and categories are categorical, floats of an array normal, whole numbers of an
        array categorical; columns of a frame as :func:`~bayeslearn.as_table` judges them. A dict tells it for some
        columns: ``"categorical"``, ``"normal"``, ``"poisson"``, or ``"cut:5"`` for intervals at the quantiles. A plain
        array has the columns x0, x1, and so on.
    prior, class_prior, estimate
        As in :meth:`NaiveBayes.learn`: every class starts with one case that looks like all rows, the class shares with
        one case each, and posterior means are plugged in.
    calibrate
        Learn out of fold how much the evidence of each column counts, at the cost of a second pass
        (:mod:`bayeslearn.naive_bayes.tables.calibrating`).
    missing, keep_default_na
        Markers of missing values, as in :func:`~bayeslearn.as_table`; of X, and of the column that `y` names.
    max_iter, tol
        Of EM, where labels are missing (None or NaN in `y`).
    random_state
        Of the folds.

    Attributes
    ----------
    model_
        The :class:`NaiveBayes` learned, to be added, explained, faded and saved.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.
    n_iter_
        Iterations of EM, one where every row has a label.

    Examples
    --------
    >>> X = [["sunny", 25.0], ["rain", None], ["sunny", 28.5], ["rain", 14.0]]
    >>> model = NaiveBayesClassifier().fit(X, ["no", "yes", "no", "yes"])
    >>> model.predict([["rain", 12.0], [None, 27.0], ["snow", 26.0]])
    array(['yes', 'no', 'no'], dtype='<U3')

    Rows without a label help too:

    >>> more = NaiveBayesClassifier().fit([*X, ["rain", 11.0]], ["no", "yes", "no", "yes", None])
    >>> more.model_.cases
    5.0
    """

    model_: NaiveBayes
    classes_: NDArray[Any]
    n_iter_: int

    def __init__(
        self,
        *,
        families: Literal["auto"] | Mapping[str, str] = "auto",
        prior: Any = None,
        class_prior: Any = None,
        estimate: Literal["mean", "integrated"] = "mean",
        calibrate: bool = False,
        missing: Markers = (),
        keep_default_na: bool = True,
        max_iter: int = 200,
        tol: float = 1e-4,
        random_state: Any = None,
    ) -> None:
        self.families = families
        self.prior = prior
        self.class_prior = class_prior
        self.estimate = estimate
        self.calibrate = calibrate
        self.missing = missing
        self.keep_default_na = keep_default_na
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    # -- learning

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from rows with labels; where X is a table, a path or a source, `y` names a column of it.

        Patterns, directories and lists of paths are read batch by batch, as is a source (:func:`~bayeslearn.scan`);
        `sample_weight` may then be a column too.
        """
        self.n_iter_ = 1
        if folded(X):
            self._fit_source(self._marked(X, reset=True), y, sample_weight)
            return self
        given, y, w = self._cases(X, y, sample_weight, reset=True)
        self.classes_ = known_classes(y)
        frame, rows = self._framed(given)
        cases = Cases(rows, label_codes(y, self.classes_), w)
        self.model_ = finite(given, lambda: labelled(frame, cases, **self._climb()))
        if self.calibrate:
            self._sharpen(cases)
        return self

    def _climb(self) -> dict[str, Any]:
        return {"tol": self.tol, "max_iter": self.max_iter, "progress": self._count}

    def _count(self, step: Step) -> None:
        self.n_iter_ = max(step.iteration, 1)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add more rows, with states that are new or not; the first call may tell all `classes`.

        Batches of rows with labels add up exactly to the whole; one without adds what is expected of it by then.
        """
        first = not hasattr(self, "model_")
        if folded(X):
            self._partial_fit_source(self._marked(X, reset=True), y, classes, sample_weight)
            return self
        given, y, w = self._cases(X, y, sample_weight, reset=first)
        if first:
            self.classes_ = known_classes(y) if classes is None else np.unique(np.asarray(classes))
            self.model_, rows = self._framed(given)
            self.n_iter_ = 1
        seen = y[~missing_labels(y)]
        unknown = np.setdiff1d(seen, self.classes_)
        if len(unknown):
            raise ParameterError(
                f"labels {listed(unknown.tolist())} are not among the classes {listed(self.classes_.tolist())}",
                hint="tell all `classes` in the first call of partial_fit",
            )
        if not first:
            fresh = given.states(self.model_.columns).items()
            self.model_ = self.model_.grown({n: new_states(self.model_[n].variable, found) for n, found in fresh})
            rows = given.rows(self.model_.columns)
        codes = label_codes(y, self.classes_)
        self.model_ = finite(given, lambda: added(self.model_, Cases(rows, codes, w)))
        return self

    def _framed(self, given: Input) -> tuple[NaiveBayes, Rows]:
        """A model with the columns of the data and nothing learned yet, and the rows."""
        families = self._families(given.names)
        variables, found = given.variables(families, MAX_STATES)
        frame = self._frame(variables)
        return frame, blocks.of_table(found, frame.columns) if isinstance(found, Table) else found

    def _families(self, names: Iterable[str]) -> Mapping[str, str]:
        """What is told of the families; it speaks of columns that are there."""
        families = {} if isinstance(self.families, str) and self.families == "auto" else self.families
        if not isinstance(families, Mapping):
            raise ParameterError(f"`families` must be 'auto' or a dict of columns, got {self.families!r}")
        for what, told in (("families", families), ("prior", self.prior)):
            require_columns(what, told, list(names))
        return families

    def _frame(self, variables: list[Any]) -> NaiveBayes:
        """A model of columns that has seen nothing yet."""
        names = [v.name for v in variables]
        kinds = told_families(self._families(names))
        columns = [column_of(v, kinds.get(v.name), self.prior) for v in variables]
        target = Discrete("class" if "class" not in names else "class_label", tuple(self.classes_.tolist()))
        return framed(target, columns, self.class_prior, self.estimate)

    # -- predicting

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable label of each row, the first in sorted order when tied."""
        best = self._asked(X, "predict_codes")
        return self.classes_[best]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """P(label | what the row shows), a column for each of `classes_`."""
        return self._asked(X, "predict_proba")

    def predict_joint_log_proba(self, X: Any) -> NDArray[np.float64]:
        """ln P(label, what the row shows)."""
        return self._asked(X, "log_joint")

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """ln P(label | what the row shows), exact also where the probability is too small for a float."""
        joint = self._asked(X, "log_joint")
        top = joint.max(axis=1, keepdims=True)
        return joint - top - np.log(np.exp(joint - top).sum(axis=1, keepdims=True))

    def explain(self, X: Any, *, of: Any = None, against: Any = None) -> Contributions:
        """How much each cell speaks for a label, against another or all others, in log odds that add up."""
        return self.model_.explain(self._given(X).data, of=of, against=against)

    def calibration(self, X: Any, y: Any, *, bins: int = 10, sample_weight: Any = None) -> Calibration:
        """How reliable the probabilities are on rows with labels, which should not be those learned from."""
        proba = self.predict_proba(X)
        y = column_or_1d(y)
        unknown = np.setdiff1d(y, self.classes_)
        if len(unknown):
            raise ParameterError(f"labels {listed(unknown.tolist())} are not among the classes")
        return Calibration.of(proba, label_codes(y, self.classes_), weights=sample_weight, bins=bins)

    def _asked(self, X: Any, question: str) -> NDArray[Any]:
        given = self._given(X)
        rows = given.data if folded(X) else given.rows(self.model_.columns)
        return finite(given, lambda: getattr(self.model_, question)(rows))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of rows whose label is predicted; where X is a source, a path or a table, `y` names a column."""
        check_is_fitted(self)
        if isinstance(y, str) and is_source(X):
            return share_right(self.model_, self._marked(X, reset=True), y, sample_weight)
        return float(super().score(X, y, sample_weight))

    # -- data in

    def _given(self, X: Any) -> Input:
        check_is_fitted(self)
        return Input.of(X, self, reset=False)

    def _cases(self, X: Any, y: Any, weights: Any, *, reset: bool) -> tuple[Input, NDArray[Any], Any]:
        """Checked columns, labels and weights; rows of weight zero are as good as absent."""
        if is_source(X):
            X, y, weights = read_source(self._marked(X, reset=reset), y, weights)
            if reset:
                self.n_features_in_ = len(X.schema)
                self.feature_names_in_ = np.array(X.schema.names, dtype=object)
        given, y = Input.of(X, self, reset=reset), checked_labels(y)
        check_consistent_length(given, y)
        if weights is None:
            return given, y, None
        w = validation.weights(weights, len(y), name="sample_weight")
        if not w.any():
            raise DataError("every sample_weight is zero: no class is left to learn")
        seen = np.flatnonzero(w > 0)
        return given.take(seen) if len(seen) < len(w) else given, y[seen], w[seen]
