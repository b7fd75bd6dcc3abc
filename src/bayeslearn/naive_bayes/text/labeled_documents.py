"""Documents in memory with their labels, checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import ConstantColumnError, MissingValuesError, ParameterError
from bayeslearn.naive_bayes.text.corpus import as_corpus

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, eq=False)
class Labeled:
    """Documents, which of them have a label, and the labels (or shares) of those."""

    texts: Sequence[str]
    known: NDArray[np.bool_]
    labels: Any
    classes: tuple[Any, ...]
    sample_weight: NDArray[np.float64]

    @classmethod
    def of(cls, texts: Any, labels: Any, classes: Sequence[Any] | None, sample_weight: ArrayLike | None) -> Labeled:
        """Documents and labels, checked."""
        shares = are_shares(labels)
        corpus = as_corpus(texts, None if shares else labels)
        w = validation.weights(sample_weight, len(corpus))
        if shares:
            table = validation.float_array("labels", labels)
            if classes is None:
                raise ParameterError("labels that are shares need `classes`, a name for each column")
            known = np.isfinite(table).all(axis=1) & (table.sum(axis=1) > 0)
            names = tuple(classes)
            given: Any = table[known]
        else:
            known = np.array([label is not None for label in corpus.labels], dtype=bool)
            given = [label for label in corpus.labels if label is not None]
            names = tuple(classes) if classes is not None else corpus.classes
        require_classes(int(known.sum()), len(corpus), names)
        return cls(corpus.texts, known, given, names, w)

    def only_known(self) -> list[str]:
        """The documents that have a label."""
        return [text for text, known in zip(self.texts, self.known, strict=True) if known]


def are_shares(labels: Any) -> bool:
    """Whether labels are shares of classes, (n, K); a tuple is a label."""
    return labels is not None and np.ndim(labels) == 2 and not isinstance(labels[0], tuple)


def require_classes(labeled: int, n: int, classes: Sequence[Any]) -> None:
    """Check that there are labels, of two classes at least if some documents have none."""
    if not labeled:
        raise MissingValuesError(
            f"none of the {n} documents has a label", hint="label a few, or name the column: target='label'"
        )
    if len(classes) < 2 and labeled < n:
        raise ConstantColumnError(
            f"all documents with a label are of one class, {classes[0]!r}: the other documents cannot be classified",
            hint="add documents of another class",
        )
