"""Find-S and candidate elimination as scikit-learn classifiers of two classes.

Every distinct value of a column is a state of its attribute. A value that is not in the training data satisfies no
required state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from bayeslearn import validation
from bayeslearn.errors import DataError
from bayeslearn.estimators import PredictsClasses
from bayeslearn.hypotheses.concept_learning.conjunctions import find_s, keep_consistent
from bayeslearn.hypotheses.concept_learning.examples import AttributeSpace, Examples, find_positive_label
from bayeslearn.hypotheses.concept_learning.version_space import VersionSpace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.hypotheses.concept_learning.conjunctions import Conjunction
    from bayeslearn.hypotheses.concept_learning.version_space import Vote


class ConceptClassifier(PredictsClasses, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The base of classifiers of two classes: labeled examples from X and y."""

    positive: Any
    positive_: Any

    _form = "array"
    _array_checks = {"dtype": None}  # noqa: RUF012 - read only

    def _examples(self, X: Any, y: Any, sample_weight: Any) -> Examples:
        """The examples with a weight above 0; the weight itself has no effect."""
        X, y, _ = self._read_cases(X, y, sample_weight, reset=True)
        kind = type_of_target(y, input_name="y", raise_unknown=True)
        if kind != "binary":
            raise DataError(
                f"Only binary classification is supported. The type of the target is {kind}.",
                hint="relabel the examples as inside or outside the concept",
            )
        self._code_labels(y, reset=True)
        if len(self.classes_) < 2:
            raise DataError(f"a concept needs examples of two classes, got one class only: {self.classes_[0]}")
        self.positive_ = find_positive_label(self.classes_.tolist(), self.positive)
        rows = X.tolist()
        names = getattr(self, "feature_names_in_", [f"x{i}" for i in range(X.shape[1])])
        attributes = AttributeSpace.from_rows(rows, [str(name) for name in names])
        return Examples(attributes, attributes.encode(rows), y == self.positive_)

    def _rows(self, X: Any) -> list[list[Any]]:
        check_is_fitted(self)
        return self._read_rows(X, reset=False).tolist()

    def _labels(self, inside: NDArray[np.bool_]) -> NDArray[Any]:
        where = int(np.flatnonzero(self.classes_ == self.positive_)[0])
        return self.classes_[np.where(inside, where, 1 - where)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.poor_score = True  # conjunctions of real numbers are poor
        tags.input_tags.allow_nan = tags.input_tags.categorical = False
        return tags


class FindSClassifier(ConceptClassifier):
    """Find-S: the most specific conjunction that covers the positive examples; everything else is negative.

    Parameters
    ----------
    positive
        The label of the concept; when not given, a label like "yes" or "+", else the later in sorted order.
    unlabeled
        What to do with rows without a label (None, NaN): ``"drop"`` them or raise an ``"error"``.

    Attributes
    ----------
    hypothesis_
        The conjunction found.
    consistent_
        Whether it covers no negative example; if it does, no conjunction is consistent.

    Examples
    --------
    >>> learner = FindSClassifier().fit([["sunny", "warm"], ["sunny", "cold"], ["rainy", "cold"]], ["yes", "yes", "no"])
    >>> learner.hypothesis_, learner.predict([["sunny", "mild"]])
    (⟨sunny, ?⟩, array(['yes'], dtype='<U3'))
    """

    hypothesis_: Conjunction
    consistent_: bool

    def __init__(self, *, positive: Any = None, unlabeled: Literal["drop", "error"] = "drop") -> None:
        self.positive = positive
        self.unlabeled = unlabeled

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Generalize to each positive example; rows of weight zero are dropped."""
        examples = self._examples(X, y, sample_weight)
        self.hypothesis_ = find_s(examples)
        self.consistent_ = bool((self.hypothesis_.covers_codes(examples.codes) == examples.labels).all())
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Positive where the hypothesis covers the row."""
        rows = self._rows(X)
        return self._labels(self.hypothesis_.covers(rows))


class VersionSpaceClassifier(ConceptClassifier):
    """Candidate elimination: all consistent conjunctions vote.

    Parameters
    ----------
    vote
        ``"majority"``: each member has one vote. ``"weighted"``: each has P(h) ∝ favor^(number of required attributes).
        ``"unanimous"``: positive if all members are, which is where the most specific one is.
    conflicts
        What to do with an example that leaves no conjunction: ``"error"`` or ``"drop"``.
    positive
        The label of the concept; when not given, a label like "yes" or "+", else the later in sorted order.
    favor
        Base of the weights: above 1 prefers specific members, below 1 general ones.
    unlabeled
        What to do with rows without a label (None, NaN): ``"drop"`` them or raise an ``"error"``.

    Attributes
    ----------
    version_space_
        The :class:`~bayeslearn.hypotheses.VersionSpace` learned.
    conflicts_
        Positions of the dropped examples among the rows with a label.

    Examples
    --------
    >>> learner = VersionSpaceClassifier().fit([["sunny", "warm"], ["rainy", "cold"]], ["yes", "no"])
    >>> learner.version_space_.general
    (⟨?, warm⟩, ⟨sunny, ?⟩)
    >>> learner.predict_proba([["sunny", "warm"], ["sunny", "cold"]]).round(3)
    array([[0.   , 1.   ],
           [0.667, 0.333]])
    """

    version_space_: VersionSpace
    conflicts_: NDArray[np.intp]

    def __init__(
        self,
        *,
        vote: str = "majority",
        conflicts: str = "error",
        positive: Any = None,
        favor: float = 1.0,
        unlabeled: Literal["drop", "error"] = "drop",
    ) -> None:
        self.vote = vote
        self.conflicts = conflicts
        self.positive = positive
        self.favor = favor
        self.unlabeled = unlabeled

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Eliminate the conjunctions that are inconsistent with an example; rows of weight zero are dropped."""
        validation.choice("vote", self.vote, ["majority", "weighted", "unanimous"])
        conflicts = validation.choice("conflicts", self.conflicts, ["error", "drop"])
        validation.number("favor", self.favor, above=0)
        examples = self._examples(X, y, sample_weight)
        keep = keep_consistent(examples) if conflicts == "drop" else np.ones(len(examples), dtype=bool)
        self.version_space_ = VersionSpace.fit(examples.only(keep))
        self.conflicts_ = np.flatnonzero(~keep)
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The share of the vote for each label, a column for each of `classes_`."""
        rows = self._rows(X)
        votes = self.version_space_.votes(rows, favor=self.favor if validation.as_word(self.vote) == "weighted" else 1)
        inside = np.array([self._share(vote) for vote in votes]).reshape(-1, 1)
        return np.where(self.classes_ == self.positive_, inside, 1 - inside)

    def _share(self, vote: Vote) -> float:
        return float(vote.unanimous is True) if validation.as_word(self.vote) == "unanimous" else vote.share
