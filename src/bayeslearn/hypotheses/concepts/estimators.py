"""Find-S and candidate elimination as scikit-learn classifiers of two classes.

Every different value of a column is a state of that attribute, whatever its type. A value that training did not show is
simply not the one a hypothesis requires.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from bayeslearn import validation
from bayeslearn.errors import DataError
from bayeslearn.hypotheses.concepts.attributes import Attributes
from bayeslearn.hypotheses.concepts.examples import Examples, positive_label
from bayeslearn.hypotheses.concepts.learners import find_s
from bayeslearn.hypotheses.concepts.scan import keep_consistent
from bayeslearn.hypotheses.concepts.version_space import VersionSpace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.hypotheses.concepts.conjunction import Conjunction
    from bayeslearn.hypotheses.concepts.vote import Vote


class ConceptClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """What both share: data in."""

    positive: Any
    classes_: NDArray[Any]
    positive_: Any

    def _examples(self, X: Any, y: Any) -> Examples:
        X, y = validate_data(self, X, y, dtype=None)
        kind = type_of_target(y, input_name="y", raise_unknown=True)
        if kind != "binary":
            raise DataError(
                f"Only binary classification is supported. The type of the target is {kind}.",
                hint="relabel the examples as inside or outside the concept",
            )
        self.classes_ = np.unique(y)
        if len(self.classes_) < 2:
            raise DataError(f"a concept needs examples of two classes, got one class only: {self.classes_[0]}")
        self.positive_ = positive_label(self.classes_.tolist(), self.positive)
        rows = X.tolist()
        names = getattr(self, "feature_names_in_", [f"x{i}" for i in range(X.shape[1])])
        attributes = Attributes.seen(rows, [str(name) for name in names])
        return Examples(attributes, attributes.encode(rows), y == self.positive_)

    def _rows(self, X: Any) -> list[list[Any]]:
        check_is_fitted(self)
        return validate_data(self, X, dtype=None, reset=False).tolist()

    def _labels(self, inside: NDArray[np.bool_]) -> NDArray[Any]:
        where = int(np.flatnonzero(self.classes_ == self.positive_)[0])
        return self.classes_[np.where(inside, where, 1 - where)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.poor_score = True  # conjunctions cannot say much of real numbers
        tags.input_tags.string = True
        return tags


class FindSClassifier(ConceptClassifier):
    """The most specific conjunction that covers the positive examples; everything else is negative.

    Parameters
    ----------
    positive
        The label of the concept; when not given, a label like "yes" or "+", else the later in sorted order.

    Attributes
    ----------
    hypothesis_
        The conjunction found.
    consistent_
        Whether it also leaves out every negative example: if not, no conjunction does.

    Examples
    --------
    >>> learner = FindSClassifier().fit([["sunny", "warm"], ["sunny", "cold"], ["rainy", "cold"]], ["yes", "yes", "no"])
    >>> learner.hypothesis_, learner.predict([["sunny", "mild"]])
    (⟨sunny, ?⟩, array(['yes'], dtype='<U3'))
    """

    hypothesis_: Conjunction
    consistent_: bool

    def __init__(self, *, positive: Any = None) -> None:
        self.positive = positive

    def fit(self, X: Any, y: Any) -> Self:
        """Generalise from one positive example to the next."""
        examples = self._examples(X, y)
        self.hypothesis_ = find_s(examples)
        self.consistent_ = bool((self.hypothesis_.covers(self._rows(X)) == examples.labels).all())
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Positive where the hypothesis covers the row."""
        rows = self._rows(X)
        return self._labels(self.hypothesis_.covers(rows))


class VersionSpaceClassifier(ConceptClassifier):
    """Every conjunction that agrees with the examples votes.

    Parameters
    ----------
    vote
        "majority": each member has one vote. "weighted": each has P(h) ∝ favour^(number of required attributes).
        "unanimous": positive only if all members say so, which is where the most specific one does.
    conflicts
        What to do with an example that leaves no conjunction: "error", or "skip" to set it aside.
    positive
        The label of the concept; when not given, a label like "yes" or "+", else the later in sorted order.
    favour
        For the weighted vote: above 1 favours specific members, below 1 general ones.

    Attributes
    ----------
    version_space_
        The :class:`~bayeslearn.hypotheses.VersionSpace` learned.
    conflicts_
        Positions of the examples set aside.

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
        self, *, vote: str = "majority", conflicts: str = "error", positive: Any = None, favour: float = 1.0
    ) -> None:
        self.vote = vote
        self.conflicts = conflicts
        self.positive = positive
        self.favour = favour

    def fit(self, X: Any, y: Any) -> Self:
        """Eliminate the conjunctions that disagree with an example, in order."""
        validation.choice("vote", self.vote, ["majority", "weighted", "unanimous"])
        validation.choice("conflicts", self.conflicts, ["error", "skip"])
        validation.number("favour", self.favour, above=0)
        examples = self._examples(X, y)
        keep = keep_consistent(examples) if self.conflicts == "skip" else np.ones(len(examples), dtype=bool)
        self.version_space_ = VersionSpace.learn(examples.only(keep))
        self.conflicts_ = np.flatnonzero(~keep)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """The label that wins the vote, the first of `classes_` when tied."""
        best = np.argmax(self.predict_proba(X), axis=1)
        return self.classes_[best]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The share of the vote for each label, a column for each of `classes_`."""
        rows = self._rows(X)
        votes = self.version_space_.votes(rows, favour=self.favour if self.vote == "weighted" else 1)
        inside = np.array([self._share(vote) for vote in votes]).reshape(-1, 1)
        return np.where(self.classes_ == self.positive_, inside, 1 - inside)

    def _share(self, vote: Vote) -> float:
        return float(vote.unanimous is True) if self.vote == "unanimous" else vote.share
