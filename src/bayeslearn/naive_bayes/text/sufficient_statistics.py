"""The statistics of a text learner: documents and words of each class, as values that add.

    documents_k = Σ_d s_dk        words_kw = Σ_d s_dk n_dw        present_kw = Σ_d s_dk [n_dw > 0]
                                  normalized_kw = Σ_d s_dk x_dw   x_dw = ln(1 + n_dw) / ‖ln(1 + n_d)‖

with s_dk the share of document d that class k gets: 0 or 1 for a label, anything between for a soft label.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from bayeslearn import kernels, validation
from bayeslearn.capacity import require_numbers
from bayeslearn.distributions.sufficient_statistics import fading, frozen, remaining
from bayeslearn.errors import EvidenceError, MismatchError, ParameterError, ShapeError, listed
from bayeslearn.naive_bayes.text.labels import coded
from bayeslearn.naive_bayes.text.vocabulary import ColumnVocabulary, Vocabulary

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.naive_bayes.text.document_counts import DocumentCounts
    from bayeslearn.naive_bayes.text.vocabulary import AnyVocabulary

#: Entries below which a second thread is not worth it.
FEW = 1 << 15

#: The tables that are collected on request, and all tables.
OPTIONAL = {"present": "documents that hold a word", "normalized": "words of documents of length 1"}
TABLES = ("words", *OPTIONAL)


@dataclass(frozen=True, eq=False)
class TextStatistics:
    """Documents (K,), words (K, V) and, on request, documents with a word and documents of length 1 (K, V)."""

    classes: tuple[Any, ...]
    vocabulary: AnyVocabulary
    documents: NDArray[np.float64]
    words: NDArray[np.float64]
    present: NDArray[np.float64] | None = None
    normalized: NDArray[np.float64] | None = None

    __array_ufunc__: ClassVar[None] = None  # NumPy numbers leave 2·a to __rmul__

    def __post_init__(self) -> None:
        object.__setattr__(self, "classes", tuple(self.classes))
        shape = (len(self.classes), len(self.vocabulary))
        for name, wanted in (("documents", shape[:1]), *((name, shape) for name in TABLES)):
            value = getattr(self, name)
            if value is None and name in OPTIONAL:
                continue
            if np.shape(value) != wanted:
                raise ShapeError(f"expected `{name}` of shape {wanted}, got {np.shape(value)}")
            object.__setattr__(self, name, frozen(value))
        if len(set(self.classes)) < len(self.classes):
            raise ParameterError(f"classes must differ, got {listed(self.classes)}")

    @classmethod
    def zero(
        cls, classes: Sequence[Any] = (), vocabulary: AnyVocabulary | None = None, *, present: bool = False,
        normalized: bool = False,
    ) -> TextStatistics:  # fmt: skip
        """No documents."""
        vocabulary = Vocabulary.of([]) if vocabulary is None else vocabulary
        shape = (len(vocabulary), len(classes))
        names = ["words", *["present"] * present, *["normalized"] * normalized]
        return cls(tuple(classes), vocabulary, np.zeros(len(classes)), **{name: np.zeros(shape).T for name in names})

    def __repr__(self) -> str:
        size = f"{len(self.classes)} classes, {len(self.vocabulary):,} words"
        return f"TextStatistics({size}, {self.documents.sum():,.6g} documents)"

    # -- evidence adds

    def __add__(self, other: TextStatistics) -> TextStatistics:
        a, b = self._framed(other)
        return a._combined(b, np.add)

    def __radd__(self, other: int) -> Self:
        # sum() starts from the number 0, the identity of every statistic
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __sub__(self, other: TextStatistics) -> TextStatistics:
        a, b = self._framed(other)
        if len(a.classes) > len(self.classes) or len(a.vocabulary) > len(self.vocabulary):
            raise EvidenceError(
                "more evidence removed than had been added: it has classes or words that were never seen",
                hint="remove only documents that were added",
            )
        return a._combined(b, remaining)

    def __mul__(self, factor: float) -> TextStatistics:
        factor = fading(factor)
        return self._combined(self, lambda a, _: factor * a)

    __rmul__ = __mul__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TextStatistics) and self.isclose(other, rtol=0, atol=0)

    __hash__ = None  # type: ignore[assignment]

    def isclose(self, other: TextStatistics, *, rtol: float = 1e-10, atol: float = 1e-12) -> bool:
        """Whether both hold the same numbers up to rounding, in whatever order classes and words are."""
        same = set(self.classes) == set(other.classes) and len(self.vocabulary) == len(other.vocabulary)
        if not same or set(self.tables()) != set(other.tables()):
            return False
        a, b = self._framed(other)
        pairs = zip(a.arrays(), b.arrays(), strict=True)
        return all(x.shape == y.shape and np.allclose(x, y, rtol=rtol, atol=atol) for x, y in pairs)

    # -- other frames

    def only(self, positions: NDArray[np.integer]) -> TextStatistics:
        """The same for some of the words."""
        if not isinstance(self.vocabulary, Vocabulary):
            raise ParameterError(
                "words can be left out of a Vocabulary only",
                hint="use no min_count, drop_top_words or max_features with hashed words",
            )
        tables = {name: table[:, positions] for name, table in self.tables().items()}
        return TextStatistics(self.classes, self.vocabulary.only(positions), self.documents, **tables)

    def with_classes(self, classes: Sequence[Any]) -> TextStatistics:
        """The same with classes in this order; new ones have seen nothing."""
        classes = tuple(classes)
        if classes == self.classes:
            return self
        if missing := set(self.classes) - set(classes):
            raise ParameterError(f"the classes {listed(sorted(missing, key=str))} would be lost")
        where = np.array([classes.index(c) for c in self.classes], np.intp)
        return self._spread(classes, self.vocabulary, where, np.arange(len(self.vocabulary)))

    def _framed(self, other: TextStatistics) -> tuple[TextStatistics, TextStatistics]:
        """Both with the classes and words of both; the order is that of this one."""
        if not isinstance(other, TextStatistics):
            raise ParameterError(f"cannot add {type(other).__name__} to TextStatistics")
        if odd := sorted(set(self.tables()) ^ set(other.tables())):
            raise MismatchError(
                f"only one of these statistics has the table {odd[0]!r}: the {OPTIONAL[odd[0]]}",
                hint=f"collect both with {odd[0]}=True",
                differs=odd[0],
            )
        classes = tuple(dict.fromkeys([*self.classes, *other.classes]))
        vocabulary, where = self.vocabulary.joined(other.vocabulary)  # type: ignore[arg-type]
        theirs = np.array([classes.index(c) for c in other.classes], np.intp)
        mine = np.arange(len(self.classes))
        a = self._spread(classes, vocabulary, mine, np.arange(len(self.vocabulary)))
        return a, other._spread(classes, vocabulary, theirs, where)

    def _spread(
        self, classes: tuple[Any, ...], vocabulary: AnyVocabulary, rows: NDArray[Any], columns: NDArray[Any]
    ) -> TextStatistics:
        """The same numbers at other places; nothing elsewhere."""
        unmoved = len(columns) == len(vocabulary) and (columns == np.arange(len(columns))).all()
        if classes == self.classes and unmoved:
            return self
        documents = np.zeros(len(classes))
        documents[rows] = self.documents
        tables = {}
        for name, table in self.tables().items():
            wide = np.zeros((len(vocabulary), len(classes)))
            wide[np.ix_(columns, rows)] = table.T
            tables[name] = validation.lock(wide).T
        return TextStatistics(classes, vocabulary, documents, **tables)

    def tables(self) -> dict[str, NDArray[np.float64]]:
        """The tables (K, V) that were collected, by their names."""
        return {name: table for name in TABLES if (table := getattr(self, name)) is not None}

    def arrays(self) -> list[NDArray[np.float64]]:
        """Documents, words and the other tables that were collected."""
        return [self.documents, *self.tables().values()]

    def _combined(self, other: TextStatistics, operation: Callable[..., Any]) -> TextStatistics:
        documents, theirs = validation.lock(operation(self.documents, other.documents)), other.tables()
        tables = {name: validation.lock(operation(a, theirs[name])) for name, a in self.tables().items()}
        return TextStatistics(self.classes, self.vocabulary, documents, **tables)


### collecting


def collect(
    counts: DocumentCounts,
    labels: Any,
    *,
    vocabulary: AnyVocabulary | None = None,
    classes: Sequence[Any] | None = None,
    sample_weight: ArrayLike | None = None,
    present: bool = False,
    normalized: bool = False,
) -> TextStatistics:
    """The statistics of documents with labels, or with an array (n, K) of the share of each of `classes`.

    `classes` are the labels in sorted order when not given. Words are x0, x1, … without a vocabulary.

    >>> from bayeslearn.naive_bayes.text import count
    >>> counts, vocabulary = count(["spam spam", "ham"])
    >>> collect(counts, ["bad", "good"], vocabulary=vocabulary).words
    array([[2., 0.],
           [0., 1.]])
    """
    vocabulary = ColumnVocabulary(counts.n_words) if vocabulary is None else vocabulary
    if len(vocabulary) != counts.n_words:
        raise ShapeError(f"the counts have {counts.n_words:,} words, the vocabulary has {len(vocabulary):,}")
    w = validation.weights(sample_weight, len(counts))
    names, codes, shares = coded(labels, len(counts), classes)
    given = {"words": counts.counts}
    given |= {"present": validation.lock(np.ones_like(counts.counts))} if present else {}
    given |= {"normalized": counts.normalized} if normalized else {}
    if shares is None:
        documents = np.bincount(codes, w, minlength=len(names)).astype(float)
        tables = {name: _sums(counts, n, len(names), kernels.add_labeled, codes, w) for name, n in given.items()}
    else:
        shares = np.ascontiguousarray(shares * w[:, None])
        documents = shares.sum(axis=0)
        tables = {name: _sums(counts, n, len(names), kernels.add_shared, shares) for name, n in given.items()}
    return TextStatistics(names, vocabulary, documents, **tables)


def _sums(
    counts: DocumentCounts, values: NDArray[Any], n_classes: int, add: Callable[..., None], *given: Any
) -> NDArray[np.float64]:
    """The sums of all classes, each thread with separate classes."""
    shape = (counts.n_words, n_classes)
    require_numbers(
        f"the counts of {shape[0]:,} words in {shape[1]:,} classes", shape, copies=2,
        hint="learn with fewer words: min_count, max_features or a smaller n_hash_features",
    )  # fmt: skip
    into = np.zeros(shape)
    cuts = np.linspace(0, n_classes, min(kernels.thread_count(), n_classes) + 1).astype(int).tolist()
    kernels.parallel(
        lambda span: add(counts.indptr, counts.indices, values, *given, *span, into),
        itertools.pairwise(cuts),
        worth=len(counts.indices) > FEW,
    )
    return validation.lock(into).T
