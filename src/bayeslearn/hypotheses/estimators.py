"""Classifiers that combine many hypotheses, each weighted by its posterior probability.

    Bayes optimal    P(v|x, D) = Σ_h P(v|x, h) P(h|D)          no classifier over the same h does better on average
    Gibbs            P(v|x, h) of one h drawn from P(h|D)       at most twice its expected error

A hypothesis that learns is weighted by how well it predicts labels that it has not seen:

    ln P(y|X, h)  ≈  Σ_i w_i ln P(y_i | x_i, h fitted without the fold of i)

The folds depend on the rows alone, not on their order or number: the different rows of each class, sorted, are dealt
out in turn. Equal rows share a fold, a row given twice is a row of weight 2, and no fold is predicted from a copy of
its rows. A class that shows one row only is left out of the sum.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from scipy.special import logsumexp
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from bayeslearn import evaluation, validation
from bayeslearn.errors import BayeslearnError, ParameterError
from bayeslearn.estimators import PredictsClasses
from bayeslearn.hypotheses.finite_space import FiniteSpace
from bayeslearn.hypotheses.likelihoods import label_logs, rows_of, with_noise
from bayeslearn.hypotheses.priors import PriorLike, named
from bayeslearn.tables.markers import label_codes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from bayeslearn.hypotheses.finite_space import HypothesisPosterior

### labels out of fold


#: The number of folds.
N_FOLDS = 5
#: The fold of rows that are never held out.
ALWAYS_TRAINING = -1


def folds_by_content(X: Any, codes: NDArray[np.intp]) -> NDArray[np.intp]:
    """The fold of each row, from its cells and its class."""
    keys = list(zip(codes.tolist(), _row_keys(X), strict=True))
    in_class = Counter(code for code, _ in set(keys))
    shared = sorted(key for key in set(keys) if in_class[key[0]] > 1)
    if not shared:
        return np.full(len(keys), ALWAYS_TRAINING)
    dealt = evaluation.folds([code for code, _ in shared], min(N_FOLDS, len(shared)), order=np.arange(len(shared)))
    found = dict(zip(shared, dealt.tolist(), strict=True))
    return np.array([found.get(key, ALWAYS_TRAINING) for key in keys], dtype=np.intp)


def out_of_fold_logs(
    classifier: Any,
    X: Any,
    codes: NDArray[np.intp],
    labels: tuple[Hashable, ...],
    *,
    sample_weight: NDArray[np.float64] | None = None,
    noise: float = 0.0,
) -> NDArray[np.float64]:
    """ln P(y_i|x_i) of each row by a clone fitted without its fold; 0 for rows never held out."""
    y = np.array(labels)[codes]

    def answer(train: NDArray[np.intp], test: NDArray[np.intp]) -> NDArray[np.float64]:
        w = None if sample_weight is None else sample_weight[train]
        model = fitted(classifier, _safe_indexing(X, train), y[train], w)
        return likelihood_logs(model, _safe_indexing(X, test), codes[test], labels, noise=noise)

    return evaluation.out_of_fold(folds_by_content(X, codes), answer, np.zeros(len(codes)))


def likelihood_logs(
    hypothesis: Any, X: Any, codes: NDArray[np.intp], labels: tuple[Hashable, ...], *, noise: float = 0.0
) -> NDArray[np.float64]:
    """ln P(y_i|x_i) of each row by a hypothesis that is fixed."""
    logs = with_noise(label_logs(hypothesis, X, labels), noise)
    return logs[np.arange(len(codes)), codes]


def fitted(classifier: Any, X: Any, y: NDArray[Any], sample_weight: NDArray[np.float64] | None) -> Any:
    """A fitted clone."""
    if sample_weight is None:
        return clone(classifier).fit(X, y)
    if not has_fit_parameter(classifier, "sample_weight"):
        raise ParameterError(
            f"sample_weight was given, and {type(classifier).__name__} does not take it",
            hint="leave the weights out, or the hypothesis",
        )
    return clone(classifier).fit(X, y, sample_weight=sample_weight)


def _row_keys(X: Any) -> list[Any]:
    """Something that is the same for equal rows, different for others, and can be sorted."""
    if hasattr(X, "tocsr"):
        X = X.tocsr(copy=True)
        X.sum_duplicates()
        X.eliminate_zeros()
        parts = [slice(*X.indptr[i : i + 2]) for i in range(X.shape[0])]
        return [(X.indices[part].tobytes(), X.data[part].tobytes()) for part in parts]
    array = np.asarray(X)
    if array.dtype == object:
        return [repr(row) for row in array.tolist()]
    if np.issubdtype(array.dtype, np.floating):
        array = array + 0.0  # −0 and 0 are the same value
    return [row.tobytes() for row in np.ascontiguousarray(array)]


### the classifiers


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


class _WeighsHypotheses(PredictsClasses, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """What both share: hypotheses weighed by the data; these get frames as they came, and check the cells."""

    _form = "frame"

    hypotheses: Any
    prior: PriorLike
    noise: float
    criterion: str
    classes: Sequence[Any] | None

    posterior_: HypothesisPosterior

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the hypotheses that need it, and weigh all of them by the labels."""
        X, y, w = self._read_cases(X, y, sample_weight, reset=True)
        names, given = named(self.hypotheses)
        learned = [h if is_fixed(h) else fitted(h, X, y, w) for h in given]
        self.classes_ = self._all_classes(X, y, learned)
        start = self._space(names, learned).posterior(self.prior)
        label_codes(y, self.classes_)
        own = self._marginal_likelihoods(names, given, learned)
        if own is not None:
            self.criterion_ = "log_marginal_likelihood"
            self.posterior_ = start.update_likelihoods([own])
            return self
        self.criterion_ = "likelihood" if _all_fixed(self) else "out_of_fold"
        self.posterior_ = start.update_likelihoods(self._weighed(X, y, w, given, learned), sample_weight=w)
        return self

    @available_if(_all_fixed)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Weigh the hypotheses by more labels; only where all of them are fixed, so that evidence adds."""
        first = not hasattr(self, "posterior_")
        X, y, w = self._read_cases(X, y, sample_weight, reset=first)
        names, given = named(self.hypotheses)
        if first:
            self.classes_ = self._all_classes(X, y, given, classes)
            self.posterior_ = self._space(names, given).posterior(self.prior)
            self.criterion_ = "likelihood"
        self.posterior_ = self.posterior_.update_likelihoods(self._weighed(X, y, w, given, given), sample_weight=w)
        return self

    # -- labels

    def _all_classes(self, X: Any, y: NDArray[Any], hypotheses: Any, given: Any = None) -> NDArray[Any]:
        """Every label: as declared, or those of the data and of the fixed hypotheses, sorted."""
        declared = self.classes if given is None else given
        if declared is not None:
            return np.unique(np.asarray(declared))
        seen = set(y.tolist())
        more = {label for h in hypotheses for label in _labels_of(h, X)} - seen
        return np.unique(np.array([*seen, *more]) if more else y)

    # -- evidence

    def _space(self, names: Any, hypotheses: Any) -> FiniteSpace:
        pairs = dict(zip(names, hypotheses, strict=True))
        return FiniteSpace.from_labelers(pairs, classes=self.classes_.tolist(), noise=self.noise)

    @property
    def _labels(self) -> tuple[Any, ...]:
        return tuple(self.classes_.tolist())

    def _weighed(self, X: Any, y: NDArray[Any], w: Any, given: Any, learned: Any) -> NDArray[np.float64]:
        """Log likelihoods, rows by hypotheses, from the labels."""
        codes = label_codes(y, self.classes_).astype(np.intp)
        columns = [
            likelihood_logs(new, X, codes, self._labels, noise=self.noise)
            if is_fixed(old)
            else out_of_fold_logs(old, X, codes, self._labels, sample_weight=w, noise=self.noise)
            for old, new in zip(given, learned, strict=True)
        ]
        return np.stack(columns, axis=1)

    def _marginal_likelihoods(self, names: Any, given: Any, learned: Any) -> list[float] | None:
        """The log marginal likelihood of each hypothesis, where that is what to weight them by."""
        criterion = validation.choice("criterion", self.criterion, ["auto", "log_marginal_likelihood", "out_of_fold"])
        own = [getattr(h, "log_marginal_likelihood_", getattr(h, "log_evidence_", None)) for h in learned]
        if criterion == "log_marginal_likelihood" and None in own:
            raise ParameterError(
                'criterion="log_marginal_likelihood" needs it of every hypothesis, '
                f"and {names[own.index(None)]!r} has none",
                hint='use criterion="out_of_fold"',
            )
        comparable = None not in own and not any(is_fixed(h) for h in given)
        wanted = criterion == "log_marginal_likelihood" or (criterion == "auto" and comparable)
        return own if wanted else None  # type: ignore[return-value]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        try:
            learners = [get_tags(h).input_tags for h in named(self.hypotheses)[1] if hasattr(h, "fit")]
        except BayeslearnError:
            learners = []  # reported by fit
        tags.input_tags.string = tags.input_tags.categorical = False
        tags.input_tags.sparse = bool(learners) and all(inner.sparse for inner in learners)
        tags.input_tags.allow_nan = bool(learners) and all(inner.allow_nan for inner in learners)
        return tags


class HypothesisClassifier(_WeighsHypotheses):
    """Every hypothesis votes with its posterior probability: P(v|x, D) = Σ_h P(v|x, h) P(h|D).

    Parameters
    ----------
    hypotheses
        A list of hypotheses, or of (name, hypothesis). Functions of a row of X (a dictionary when X is a frame) return
        a label or a probability for each label. They are fixed, and so are classifiers that are fitted already (wrap
        those in scikit-learn's `FrozenEstimator` where the whole may be cloned). Others are cloned and fitted.
    prior
        Over the hypotheses: see :mod:`bayeslearn.hypotheses.priors`. ``"uniform"`` by default.
    noise
        The rate at which labels in the data are wrong.
    criterion
        What a hypothesis that learns is weighted by. "log_marginal_likelihood" is its own `log_marginal_likelihood_`
        (or `log_evidence_`); "out_of_fold" is an estimate, the log probability of labels it was not fitted on; "auto"
        is the first if every hypothesis has it and none is fixed, for only then do they measure the same. Fixed
        hypotheses are weighted by the probability of the labels.
    classes
        Every label there is, when the data may not show them all, or when functions return arrays.
    unlabeled
        What to do with rows without a label (None, NaN): ``"drop"`` them or raise an ``"error"``.

    Attributes
    ----------
    posterior_
        The :class:`~bayeslearn.hypotheses.HypothesisPosterior`; rows can be removed from it.
    criterion_
        What was used: "likelihood" (all fixed), "log_marginal_likelihood" or "out_of_fold".

    Examples
    --------
    Three hypotheses with posteriors .4, .3, .3: the most probable one predicts +, and the vote −.

    >>> says = {"h1": "+", "h2": "-", "h3": "-"}
    >>> vote = HypothesisClassifier(
    ...     [(name, lambda x, v=v: v if x[0] else "-") for name, v in says.items()],
    ...     prior=[0.4, 0.3, 0.3], classes=["+", "-"],
    ... )
    >>> vote.fit([[0]], ["-"]).posterior_.map_hypotheses
    ['h1']
    >>> vote.classes_, vote.predict_proba([[1]]).round(3)
    (array(['+', '-'], dtype='<U1'), array([[0.4, 0.6]]))
    """

    def __init__(
        self,
        hypotheses: Any,
        *,
        prior: PriorLike = "uniform",
        noise: float = 0.0,
        criterion: str = "auto",
        classes: Sequence[Any] | None = None,
        unlabeled: Literal["drop", "error"] = "drop",
    ) -> None:
        self.hypotheses = hypotheses
        self.prior = prior
        self.noise = noise
        self.criterion = criterion
        self.classes = classes
        self.unlabeled = unlabeled

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probability of each label (the true one, where labels are noisy), a column for each of `classes_`."""
        check_is_fitted(self)
        X = self._read_rows(X, reset=False)
        logs = np.stack([label_logs(h, X, self._labels) for h in self.posterior_.space.hypotheses], axis=1)
        return np.exp(logsumexp(logs + self.posterior_.distribution.log_p[:, None], axis=1))


class GibbsClassifier(_WeighsHypotheses):
    """One hypothesis, drawn by its posterior probability, predicts: its expected error is at most twice the optimal.

    Each call of `predict` or `predict_proba` draws one hypothesis and uses it for all rows of the call. With a whole
    number as `random_state` every call draws the same one, so answers repeat; with a generator or None they vary.
    The other parameters are those of :class:`HypothesisClassifier`.
    """

    def __init__(
        self,
        hypotheses: Any,
        *,
        prior: PriorLike = "uniform",
        noise: float = 0.0,
        criterion: str = "auto",
        classes: Sequence[Any] | None = None,
        unlabeled: Literal["drop", "error"] = "drop",
        random_state: Any = None,
    ) -> None:
        self.hypotheses = hypotheses
        self.prior = prior
        self.noise = noise
        self.criterion = criterion
        self.classes = classes
        self.unlabeled = unlabeled
        self.random_state = random_state

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probability of each label by one hypothesis, drawn now; a column for each of `classes_`."""
        check_is_fitted(self)
        X = self._read_rows(X, reset=False)
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
