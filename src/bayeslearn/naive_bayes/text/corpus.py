"""A corpus: documents, and the class of each where it is known.

Made by :func:`~bayeslearn.naive_bayes.text.corpus_readers.read_corpus`, or from two lists.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.errors import EmptyTableError, MissingValuesError, ShapeError
from bayeslearn.naive_bayes.text.labels import in_order, listed_labels
from bayeslearn.tables.documents import DocumentMarkers

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, repr=False)
class Corpus:
    """Documents in order; a label of None is missing."""

    texts: Sequence[str]
    labels: Sequence[Any] = ()
    #: Where each document comes from: a path below the folder, or a row.
    names: Sequence[str] = ()
    #: What had to be mended while reading.
    notes: tuple[str, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        n = len(self.texts)
        object.__setattr__(self, "labels", self.labels or (None,) * n)
        object.__setattr__(self, "names", self.names or tuple(str(i) for i in range(n)))
        for name, given in (("labels", self.labels), ("names", self.names)):
            if len(given) != n:
                raise ShapeError(f"expected {n} {name}, one for each document, got {len(given)}")

    def __len__(self) -> int:
        return len(self.texts)

    def __repr__(self) -> str:
        unknown = f", {len(self) - self.n_labeled} without a label" if self.n_labeled < len(self) else ""
        return f"Corpus({len(self)} documents, {len(self.classes)} classes{unknown})"

    @property
    def classes(self) -> tuple[Any, ...]:
        """The classes that are named, in order."""
        return in_order([label for label in self.labels if label is not None])

    @property
    def n_labeled(self) -> int:
        """How many documents have a label."""
        return sum(label is not None for label in self.labels)

    def sizes(self) -> dict[Any, int]:
        """How many documents each class has."""
        return dict(Counter(label for label in self.labels if label is not None))

    def take(self, rows: ArrayLike) -> Corpus:
        """Some of the documents: places, or a mask."""
        chosen = np.asarray(rows)
        places: list[int] = (np.flatnonzero(chosen) if chosen.dtype == bool else chosen).tolist()
        texts, labels, names = ([column[i] for i in places] for column in (self.texts, self.labels, self.names))
        return Corpus(texts, labels, names)

    def __add__(self, other: Corpus) -> Corpus:
        mine, theirs = ((c.texts, c.labels, c.names, c.notes) for c in (self, other))
        texts, labels, names, notes = ([*a, *b] for a, b in zip(mine, theirs, strict=True))
        return Corpus(texts, labels, names, tuple(notes))

    def codes(self, classes: Sequence[Any]) -> NDArray[np.intp]:
        """The place of each label among the classes; −1 where there is none, or another."""
        places = {label: k for k, label in enumerate(classes)}
        return np.array([places.get(label, -1) for label in self.labels], dtype=np.intp)

    def labeled(self) -> Corpus:
        """The documents whose class is known; none at all is an error."""
        known = np.array([label is not None for label in self.labels], dtype=bool)
        if not known.any():
            raise MissingValuesError(
                f"none of the {len(self)} documents has a label",
                hint="name the column with `target` (--target), or keep the documents of each class in a folder",
            )
        return self if known.all() else self.take(known)


def as_corpus(texts: Corpus | Iterable[str], labels: Iterable[Any] | None = None) -> Corpus:
    """Documents and labels as a corpus: what is missing (None, NaN, '?' and '') becomes None."""
    if isinstance(texts, Corpus):
        return texts if labels is None else Corpus(texts.texts, _known(labels), texts.names, texts.notes)
    if isinstance(texts, str):
        raise ShapeError("expected documents, got one string", hint="put it into a list")
    documents = list(texts)
    corpus = Corpus(documents, _known(labels) if labels is not None else ())
    if not len(corpus):
        raise EmptyTableError("there are no documents")
    return corpus


def _known(labels: Iterable[Any]) -> list[Any]:
    return DocumentMarkers().labels(listed_labels(labels))
