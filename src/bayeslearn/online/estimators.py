"""Weighted-Majority as a scikit-learn classifier of classifiers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self

import narwhals as nw
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from bayeslearn import evaluation, validation
from bayeslearn.capacity import require_numbers
from bayeslearn.errors import BayeslearnError, ParameterError, WeightError
from bayeslearn.estimators import AnswersInBatches, ReadsLabels, take_rows
from bayeslearn.online.experts import Predictors, objects
from bayeslearn.online.weighted_majority import WeightedMajority
from bayeslearn.tables.markers import distinct_labels, label_codes

if TYPE_CHECKING:
    from numpy.typing import NDArray


class WeightedMajorityClassifier(AnswersInBatches, ReadsLabels, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Classifiers vote, and each mistake of one multiplies its weight by β.

    `fit` counts the out-of-fold mistakes of each classifier. `partial_fit` counts the mistakes on a batch before the
    classifiers learn it. Functions and fitted classifiers do not learn; with them alone, batches equal the whole.

    Parameters
    ----------
    estimators
        A list of classifiers, of functions of a row, or of (name, one of these). Wrap fitted ones in scikit-learn's
        `FrozenEstimator` where the whole may be cloned.
    beta
        The factor of the weight of a classifier for each mistake, 0.5 by default.
    prior
        Weights of the classifiers before the first row, in order or by name; ``"uniform"`` by default.
    teach
        Whether `partial_fit` also fits the classifiers that have it; otherwise it updates the weights only.
    cv
        The number of folds of `fit`, stratified by class.
    unlabeled
        What to do with rows without a label (None, NaN): ``"drop"`` them or raise an ``"error"``.

    Attributes
    ----------
    learner_
        The :class:`~bayeslearn.online.WeightedMajority`: weights, mistakes, regret and bound.
    estimators_
        The fitted classifiers.
    classes_
        The labels, sorted.

    Examples
    --------
    >>> from sklearn.naive_bayes import BernoulliNB, GaussianNB
    >>> X, y = [[0, 1], [1, 1], [0, 3], [1, 3], [0, 1], [1, 3]], [0, 0, 1, 1, 0, 1]
    >>> vote = WeightedMajorityClassifier([BernoulliNB(), GaussianNB()], cv=3).fit(X, y)
    >>> vote.learner_.best, vote.learner_.best_mistakes
    ('GaussianNB', 0)
    >>> vote.predict([[0, 3], [1, 1]])
    array([1, 0])
    """

    learner_: WeightedMajority
    estimators_: list[Any]

    _form = "frame"

    def __init__(
        self,
        estimators: Any,
        *,
        beta: float = 0.5,
        prior: Any = "uniform",
        teach: bool = True,
        cv: int = 5,
        unlabeled: Literal["drop", "error"] = "drop",
    ) -> None:
        self.estimators = estimators
        self.beta = beta
        self.prior = prior
        self.teach = teach
        self.cv = cv
        self.unlabeled = unlabeled

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Weigh the classifiers by their mistakes out of fold, then fit them on all rows.

        A weight is a whole number of rounds. Rows of weight zero are left out.
        """
        X, y = self._rounds(X, y, sample_weight, reset=True)
        names, given = self._named()
        self._start(names, distinct_labels(y))
        advice = [said(e, X) if is_fixed(e) else self._out_of_fold(e, X, y) for e in given]
        self.estimators_ = [e if is_fixed(e) else clone(e).fit(X, y) for e in given]
        self.learner_.partial_fit(np.column_stack(advice), objects(y.tolist()))
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Ask the classifiers, weigh them by their mistakes, then teach those that learn so."""
        first = not hasattr(self, "learner_")
        X, y = self._rounds(X, y, sample_weight, reset=first)
        if first:
            names, given = self._named()
            odd = [e for e in given if not (is_fixed(e) or hasattr(e, "partial_fit"))]
            if odd:
                raise ParameterError(f"{odd[0]!r:.60} has no `partial_fit`", hint="call `fit` first, or freeze it")
            self._start(names, distinct_labels(y) if classes is None else np.unique(classes))
            self.estimators_ = [e if is_fixed(e) else clone(e) for e in given]
        label_codes(y, self.classes_)
        advice = [said(e, X) if is_fixed(e) else nothing(len(y)) for e in self.estimators_]
        self.learner_.partial_fit(np.column_stack(advice), objects(y.tolist()))
        for new, old in zip(self.estimators_, self._named()[1], strict=True):
            learns = hasattr(new, "partial_fit") and not is_fixed(old)
            if learns and (self.teach or not is_fixed(new)):
                new.partial_fit(X, y, **({} if is_fixed(new) else {"classes": self.classes_}))
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of most weight, the first in sorted order when tied."""
        advice = self._advice(X)
        return self.classes_[np.maximum(self.learner_.guess_codes(advice), 0)]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The share of the weight for each of `classes_`."""
        advice = self._advice(X)
        return self.learner_.predict_proba(advice)

    # -- inside

    def _rounds(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> tuple[Any, NDArray[Any]]:
        """Rows and labels, each as often as it counts."""
        X, y, w = self._read_cases(X, y, sample_weight, reset=reset)
        if w is None or (w == 1).all():
            return X, y
        if (w != w.astype(np.int64)).any():
            raise WeightError(
                f"sample_weight must be whole numbers, got {w[w != w.astype(np.int64)][0]:g}: a mistake costs a round",
                hint="give 0 to leave a row out, or how often it counts",
            )
        require_numbers(f"{w.sum():,.0f} rounds", (int(w.sum()),), copies=2)
        index = np.repeat(np.arange(len(y)), w.astype(np.int64))
        return take_rows(X, index), y[index]

    def _advice(self, X: Any) -> NDArray[Any]:
        check_is_fitted(self, "learner_")
        X = self._read_rows(X, reset=False)
        return np.column_stack([said(e, X) for e in self.estimators_])

    def _named(self) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        if isinstance(self.estimators, str) or not hasattr(self.estimators, "__iter__") or not len(self.estimators):
            raise ParameterError(f"`estimators` must be a list of classifiers, got {self.estimators!r:.60}")
        panel = Predictors.of(self.estimators)
        return panel.names, panel.members

    def _start(self, names: tuple[Any, ...], classes: NDArray[Any]) -> None:
        self.classes_ = classes
        experts = [str(name) for name in names]
        self.learner_ = WeightedMajority(experts, beta=self.beta, classes=classes.tolist(), prior=self.prior)

    def _out_of_fold(self, estimator: Any, X: Any, y: NDArray[Any]) -> NDArray[Any]:
        """The predictions of clones for the rows that they did not learn from; a single row is never held out."""
        cv, nobody = validation.integer("cv", self.cv, min_value=2), nothing(len(y))
        if len(y) < 2:
            return nobody
        codes = label_codes(y, self.classes_)
        fold = evaluation.folds(codes, min(cv, len(y)), order=np.arange(len(y)))

        def advise(train: Any, test: Any) -> Any:
            return said(clone(estimator).fit(take_rows(X, train), y[train]), take_rows(X, test))

        return evaluation.out_of_fold(fold, advise, nobody)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        try:
            inner = [get_tags(e).input_tags for e in self._named()[1] if hasattr(e, "fit")]
        except BayeslearnError:
            inner = []  # said by fit
        tags.input_tags.string = tags.input_tags.categorical = False
        tags.input_tags.allow_nan = bool(inner) and all(i.allow_nan for i in inner)
        return tags


def is_fixed(estimator: Any) -> bool:
    """Whether it can be asked: a function, or a classifier that is fitted."""
    if not hasattr(estimator, "fit"):
        return True
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        return False
    return True


def said(estimator: Any, X: Any) -> NDArray[Any]:
    """The label of each row."""
    if hasattr(estimator, "predict"):
        return objects(np.asarray(estimator.predict(X)).tolist())
    rows = nw.from_native(X).rows(named=True) if hasattr(type(X), "columns") else X
    return objects([estimator(x) for x in rows])


def nothing(n: int) -> NDArray[Any]:
    """No advice."""
    return objects([None] * n)
