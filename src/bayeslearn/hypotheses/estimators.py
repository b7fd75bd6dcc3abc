"""Classifiers that let many hypotheses speak, weighted by what the data say of each.

Bayes optimal    P(v|x, D) = Σ_h P(v|x, h) P(h|D)          no classifier over the same h does better on average
Gibbs            P(v|x, h) of one h drawn from P(h|D)       at most twice its expected error
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy.special import logsumexp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from bayeslearn import validation
from bayeslearn.errors import BayeslearnError, DataError, ParameterError, listed
from bayeslearn.hypotheses.likelihoods import label_logs, rows_of
from bayeslearn.hypotheses.out_of_fold import fitted, likelihood_logs, out_of_fold_logs
from bayeslearn.hypotheses.priors import PriorLike, named
from bayeslearn.hypotheses.space import FiniteSpace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from bayeslearn.hypotheses.posterior import Posterior


def is_fixed(hypothesis: Any) -> bool:
    """Whether a hypothesis has nothing left to learn: a function, or a classifier that is fitted already."""
    if not hasattr(hypothesis, "fit"):
        return True
    try:
        check_is_fitted(hypothesis)
    except NotFittedError:
        return False
    return True


def _all_fixed(estimator: Any) -> bool:
    return all(is_fixed(h) for h in named(estimator.hypotheses)[1])


class _HypothesisClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """What both share: hypotheses weighed by the data."""

    hypotheses: Any
    prior: PriorLike
    noise: float
    evidence: str
    classes: Sequence[Any] | None

    posterior_: Posterior
    classes_: NDArray[Any]

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the hypotheses that need it, and weigh all of them by the labels."""
        X, y, w = self._cases(X, y, sample_weight, reset=True)
        names, given = named(self.hypotheses)
        learned = [h if is_fixed(h) else fitted(h, X, y, w) for h in given]
        self.classes_ = self._all_classes(X, y, learned)
        self._require_known(y)
        start = self._space(names, learned).posterior(self.prior)
        own = self._own_evidence(names, given, learned)
        if own is not None:
            self.evidence_ = "log_evidence"
            self.posterior_ = start.weigh([own])
            return self
        self.evidence_ = "likelihood" if _all_fixed(self) else "out_of_fold"
        self.posterior_ = start.weigh(self._weighed(X, y, w, given, learned), weights=w)
        return self

    @available_if(_all_fixed)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Weigh the hypotheses by more labels; only where all of them are fixed, so that evidence adds."""
        first = not hasattr(self, "posterior_")
        X, y, w = self._cases(X, y, sample_weight, reset=first)
        names, given = named(self.hypotheses)
        if first:
            self.classes_ = self._all_classes(X, y, given, classes)
            self.posterior_ = self._space(names, given).posterior(self.prior)
            self.evidence_ = "likelihood"
        self._require_known(y)
        self.posterior_ = self.posterior_.weigh(self._weighed(X, y, w, given, given), weights=w)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable label of each row, the first in sorted order when tied."""
        best = np.argmax(self.predict_proba(X), axis=1)
        return self.classes_[best]

    # -- data in

    def _cases(self, X: Any, y: Any, weights: Any, *, reset: bool) -> tuple[Any, NDArray[Any], Any]:
        """Checked rows, labels and weights; rows of weight zero are as good as absent."""
        X, y = self._frame_or_array(X, y, reset=reset)
        check_classification_targets(y)
        if weights is None:
            return X, y, None
        w = validation.weights(weights, len(y), name="sample_weight")
        if not w.any():
            raise DataError("every sample_weight is zero: no class is left to learn")
        seen = np.flatnonzero(w > 0)
        return _safe_indexing(X, seen), y[seen], w[seen]

    def _frame_or_array(self, X: Any, y: Any = "no_validation", *, reset: bool) -> Any:
        """Shapes and names checked here; cells are the business of the hypotheses, which get frames as they came."""
        sparse = get_tags(self).input_tags.sparse
        how = {"dtype": None, "ensure_all_finite": False, "accept_sparse": sparse, "reset": reset}
        checked = validate_data(self, X, y, **how)
        frame = hasattr(X, "columns")
        if isinstance(checked, tuple):
            return (X if frame else checked[0]), checked[1]
        return X if frame else checked

    def _all_classes(self, X: Any, y: NDArray[Any], hypotheses: Any, given: Any = None) -> NDArray[Any]:
        """Every label: as declared, or as seen in the data and said by the fixed hypotheses, sorted."""
        declared = self.classes if given is None else given
        if declared is not None:
            return np.unique(np.asarray(declared))
        seen = set(y.tolist())
        more = {label for h in hypotheses for label in _labels_of(h, X)} - seen
        return np.unique(np.array([*seen, *more]) if more else y)

    def _require_known(self, y: NDArray[Any]) -> None:
        odd = np.setdiff1d(y, self.classes_).tolist()
        if odd:
            raise DataError(
                f"y holds the label {odd[0]!r}, which is not among the classes {listed(self._labels)}",
                hint="declare every label with `classes`",
            )

    # -- evidence

    def _space(self, names: Any, hypotheses: Any) -> FiniteSpace:
        pairs = dict(zip(names, hypotheses, strict=True))
        return FiniteSpace.labelling(pairs, labels=self.classes_.tolist(), noise=self.noise)

    @property
    def _labels(self) -> tuple[Any, ...]:
        return tuple(self.classes_.tolist())

    def _weighed(self, X: Any, y: NDArray[Any], w: Any, given: Any, learned: Any) -> NDArray[np.float64]:
        """Log likelihoods, cases by hypotheses, from the labels."""
        codes = np.searchsorted(self.classes_, y)
        columns = [
            likelihood_logs(new, X, codes, self._labels, noise=self.noise)
            if is_fixed(old)
            else out_of_fold_logs(old, X, codes, self._labels, weights=w, noise=self.noise)
            for old, new in zip(given, learned, strict=True)
        ]
        return np.stack(columns, axis=1)

    def _own_evidence(self, names: Any, given: Any, learned: Any) -> list[float] | None:
        """The `log_evidence_` of each hypothesis, where that is what to weigh them by."""
        validation.choice("evidence", self.evidence, ["auto", "log_evidence", "out_of_fold"])
        own = [getattr(h, "log_evidence_", None) for h in learned]
        if self.evidence == "log_evidence" and None in own:
            raise ParameterError(
                f'evidence="log_evidence" needs it of every hypothesis, and {names[own.index(None)]!r} has none',
                hint='use evidence="out_of_fold"',
            )
        comparable = None not in own and not any(is_fixed(h) for h in given)
        return own if self.evidence == "log_evidence" or (self.evidence == "auto" and comparable) else None  # type: ignore[return-value]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        try:
            learners = [get_tags(h).input_tags for h in named(self.hypotheses)[1] if hasattr(h, "fit")]
        except BayeslearnError:
            learners = []  # said by fit
        tags.input_tags.sparse = bool(learners) and all(inner.sparse for inner in learners)
        tags.input_tags.allow_nan = bool(learners) and all(inner.allow_nan for inner in learners)
        return tags


class BayesOptimalClassifier(_HypothesisClassifier):
    """Every hypothesis votes with its posterior probability: P(v|x, D) = Σ_h P(v|x, h) P(h|D).

    Parameters
    ----------
    hypotheses
        A list of hypotheses, or of (name, hypothesis). Functions of a row of X (a dictionary when X is a frame) return
        a label or a probability for each label. They are fixed, and so are classifiers that are fitted already (wrap
        those in scikit-learn's `FrozenEstimator` where the whole may be cloned). Others are cloned and fitted.
    prior
        Over the hypotheses: see :mod:`bayeslearn.hypotheses.priors`. Uniform when not given.
    noise
        The rate at which labels in the data are wrong.
    evidence
        What a hypothesis that learned is weighed by. "log_evidence" is its own `log_evidence_`; "out_of_fold" is an
        estimate, the log probability of labels it was not fitted on (:mod:`bayeslearn.hypotheses.out_of_fold`); "auto"
        is the first when every hypothesis has it and none is fixed, for only then do they measure the same. Fixed
        hypotheses are weighed by the probability of the labels.
    classes
        Every label there is, when the data may not show them all, or when functions return arrays.

    Attributes
    ----------
    posterior_
        The posterior over the hypotheses, a :class:`~bayeslearn.hypotheses.Posterior`; cases can be taken back from it.
    evidence_
        Which evidence was used: "likelihood" (all fixed), "log_evidence" or "out_of_fold".

    Examples
    --------
    Three hypotheses with posteriors .4, .3, .3: the most probable one says +, and the vote says −.

    >>> says = {"h1": "+", "h2": "-", "h3": "-"}
    >>> vote = BayesOptimalClassifier(
    ...     [(name, lambda x, v=v: v if x[0] else "-") for name, v in says.items()],
    ...     prior=[0.4, 0.3, 0.3], classes=["+", "-"],
    ... )
    >>> vote.fit([[0]], ["-"]).posterior_.map
    ['h1']
    >>> vote.classes_, vote.predict_proba([[1]]).round(3)
    (array(['+', '-'], dtype='<U1'), array([[0.4, 0.6]]))
    """

    def __init__(
        self,
        hypotheses: Any,
        *,
        prior: PriorLike = None,
        noise: float = 0.0,
        evidence: str = "auto",
        classes: Sequence[Any] | None = None,
    ) -> None:
        self.hypotheses = hypotheses
        self.prior = prior
        self.noise = noise
        self.evidence = evidence
        self.classes = classes

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probability of each label (the true one, where labels are noisy), a column for each of `classes_`."""
        check_is_fitted(self)
        X = self._frame_or_array(X, reset=False)
        logs = np.stack([label_logs(h, X, self._labels) for h in self.posterior_.space.hypotheses], axis=1)
        return np.exp(logsumexp(logs + self.posterior_.distribution.log_p[:, None], axis=1))


class GibbsClassifier(_HypothesisClassifier):
    """One hypothesis, drawn by its posterior probability, predicts: its expected error is at most twice the optimal.

    Each call of `predict` or `predict_proba` draws one hypothesis and uses it for all rows of the call. With a whole
    number as `random_state` every call draws the same one, so answers repeat; with a generator or None they vary.
    The other parameters are those of :class:`BayesOptimalClassifier`.
    """

    def __init__(
        self,
        hypotheses: Any,
        *,
        prior: PriorLike = None,
        noise: float = 0.0,
        evidence: str = "auto",
        classes: Sequence[Any] | None = None,
        random_state: Any = None,
    ) -> None:
        self.hypotheses = hypotheses
        self.prior = prior
        self.noise = noise
        self.evidence = evidence
        self.classes = classes
        self.random_state = random_state

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probability of each label by one hypothesis, drawn now; a column for each of `classes_`."""
        check_is_fitted(self)
        X = self._frame_or_array(X, reset=False)
        drawn = int(self.posterior_.distribution.draw(validation.generator(self.random_state)))
        return np.exp(label_logs(self.posterior_.space.hypotheses[drawn], X, self._labels))


def _labels_of(hypothesis: Any, X: Any) -> list[Any]:
    """The labels that a hypothesis is known to use."""
    if hasattr(hypothesis, "classes_"):
        return np.asarray(hypothesis.classes_).tolist()
    if hasattr(hypothesis, "predict"):
        return np.asarray(hypothesis.predict(X)).tolist()
    answers = [hypothesis(x) for x in rows_of(X)] if callable(hypothesis) else []
    named_labels = [list(answer) if isinstance(answer, Mapping) else [answer] for answer in answers]
    return [label for labels in named_labels for label in labels if isinstance(label, Hashable)]
