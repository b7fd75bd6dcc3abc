"""k-CNF as a scikit-learn classifier of two classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self

from bayeslearn.hypotheses.concept_learning.estimators import ConceptClassifier
from bayeslearn.learning_theory.k_cnf import KCNF

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class KCNFClassifier(ConceptClassifier):
    """k-CNF: a row is positive if every k of its values occur together in a positive example.

    Learns every k-CNF, and with it every k-term DNF, from examples without noise. Every different value of a column is
    a state of that attribute.

    Parameters
    ----------
    k
        Literals in a clause.
    positive
        The label of the concept; when not given, a label like "yes" or "+", else the later in sorted order.
    unlabeled
        What to do with rows without a label (None, NaN): ``"drop"`` them or raise an ``"error"``.

    Attributes
    ----------
    hypothesis_
        The :class:`~bayeslearn.learning_theory.KCNF` found.
    consistent_
        Whether it covers no negative example; if it does, no k-CNF is consistent.

    Examples
    --------
    >>> X = [["sunny", "warm"], ["rainy", "cold"], ["sunny", "cold"], ["rainy", "warm"]]
    >>> learner = KCNFClassifier(k=2).fit(X, ["yes", "yes", "no", "no"])
    >>> print(learner.hypothesis_)
    (x0≠sunny ∨ x1≠cold) ∧ (x0≠rainy ∨ x1≠warm)
    >>> learner.predict([["sunny", "warm"], ["sunny", "cold"]]).tolist()
    ['yes', 'no']
    """

    hypothesis_: KCNF
    consistent_: bool

    def __init__(self, k: int = 2, *, positive: Any = None, unlabeled: Literal["drop", "error"] = "drop") -> None:
        self.k = k
        self.positive = positive
        self.unlabeled = unlabeled

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Count the combinations of values in the positive examples; rows of weight zero are dropped."""
        examples = self._examples(X, y, sample_weight)
        self.hypothesis_ = KCNF.fit(examples, self.k)
        self.consistent_ = bool((self.hypothesis_.covers_codes(examples.codes) == examples.labels).all())
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Positive where the hypothesis covers the row."""
        return self._labels(self.covers(X))

    def covers(self, X: Any) -> NDArray[np.bool_]:
        """Which rows the hypothesis covers."""
        rows = self._rows(X)
        return self.hypothesis_.covers(rows)
