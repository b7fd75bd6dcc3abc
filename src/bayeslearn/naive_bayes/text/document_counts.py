"""Counts of words: documents as sparse rows.

    n_dw = how often word w stands in document d

The order of words within a document is not kept: naive Bayes uses a bag of words.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import kernels, validation
from bayeslearn.errors import BayeslearnError, CapacityError, DataError, ShapeError
from bayeslearn.naive_bayes.text.parallel_counts import Counted, counted
from bayeslearn.naive_bayes.text.text_inputs import Texts, warn_of_mended
from bayeslearn.naive_bayes.text.tokenizer import Tokenizer
from bayeslearn.naive_bayes.text.vocabulary import MOST_WORDS, ColumnVocabulary, Vocabulary, chosen
from bayeslearn.naive_bayes.text.vocabulary_builder import Lexicon, spared
from bayeslearn.tables.sparse import canonical, checked_sparse

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from bayeslearn.naive_bayes.text.vocabulary import HashedVocabulary

#: Counts below this number have their logarithms looked up.
MAX_LOGS = 1 << 12


@dataclass(frozen=True, eq=False)
class DocumentCounts:
    """Sparse rows: document d has counts[i] of word indices[i] for i in indptr[d] … indptr[d + 1] − 1.

    >>> counts, vocabulary = count(["a dog and a cat", "a cat"], Tokenizer(min_token_length=1))
    >>> counts.matrix.toarray()
    array([[2, 1, 1, 1],
           [1, 0, 0, 1]], dtype=int32)
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    counts: NDArray[Any]
    n_words: int

    def __post_init__(self) -> None:
        n_words = validation.integer("n_words", self.n_words, min_value=0, max_value=MOST_WORDS)
        indices = validation.indices("indices", self.indices, n_words)
        indptr = validation.offsets("indptr", self.indptr, len(indices))
        counts = np.asarray(self.counts)
        if counts.shape != indices.shape:
            raise ShapeError(f"expected counts of shape {indices.shape}, got {counts.shape}")
        require_counts(counts)
        self._store(indptr, indices.astype(np.int32), validation.owned(counts, count_type(counts)), n_words)

    @classmethod
    def trusted(cls, indptr: Any, indices: Any, counts: Any, n_words: int) -> DocumentCounts:
        """The counts of parts that were checked before, and that no other code writes to."""
        made = object.__new__(cls)
        made._store(indptr, indices, counts, n_words)
        return made

    def _store(self, *parts: Any) -> None:
        for name, part in zip(("indptr", "indices", "counts", "n_words"), parts, strict=True):
            object.__setattr__(self, name, validation.lock(part) if isinstance(part, np.ndarray) else part)

    @classmethod
    def of(cls, matrix: Any) -> DocumentCounts:
        """The counts of a matrix, sparse or not: rows are documents, columns are words."""
        if isinstance(matrix, DocumentCounts):
            return matrix
        from scipy import sparse  # noqa: PLC0415 - it takes long to load

        try:
            rows = sparse.csr_array(checked_sparse(matrix))
        except (TypeError, ValueError) as error:
            if isinstance(error, BayeslearnError):
                raise
            raise DataError(f"expected a matrix of counts, got {type(matrix).__name__}") from None
        if rows.ndim != 2:
            raise ShapeError(f"expected a matrix of counts, got shape {rows.shape}")
        require_counts(rows.data)
        rows = canonical(rows)
        if rows.shape[1] > MOST_WORDS:
            raise CapacityError(f"a matrix of counts may have {MOST_WORDS:,} columns, got {rows.shape[1]:,}")
        return cls.trusted(
            rows.indptr.astype(np.int64),
            rows.indices.astype(np.int32),
            rows.data.astype(count_type(rows.data)),
            rows.shape[1],
        )

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def __repr__(self) -> str:
        return f"DocumentCounts({len(self):,} documents, {self.n_words:,} words, {len(self.indices):,} counts)"

    @property
    def matrix(self) -> Any:
        """The same as a sparse matrix of SciPy."""
        from scipy import sparse  # noqa: PLC0415 - it takes long to load

        return sparse.csr_array((self.counts, self.indices, self.indptr), shape=(len(self), self.n_words))

    def __getitem__(self, rows: Any) -> DocumentCounts:
        """Some of the documents: a slice, a mask or positions."""
        picked = np.arange(len(self))[rows]
        if picked.ndim != 1:
            raise ShapeError("choose documents by a slice, a mask or a list of positions")
        lengths = np.diff(self.indptr)[picked]
        indptr = np.concatenate([[0], np.cumsum(lengths)])
        entries = np.repeat(self.indptr[:-1][picked] - indptr[:-1], lengths) + np.arange(indptr[-1])
        return DocumentCounts.trusted(indptr, self.indices[entries], self.counts[entries], self.n_words)

    def only(self, positions: NDArray[np.integer]) -> DocumentCounts:
        """The counts of some of the words, numbered anew in the order given."""
        new = np.full(self.n_words, -1, np.int32)
        new[positions] = np.arange(len(positions), dtype=np.int32)
        indices = new[self.indices]
        stay = indices >= 0
        before = np.concatenate([[0], np.cumsum(stay)])
        return DocumentCounts.trusted(before[self.indptr], indices[stay], self.counts[stay], len(positions))

    @property
    def totals(self) -> NDArray[np.float64]:
        """How often each word was seen."""
        return np.bincount(self.indices, self.counts, minlength=self.n_words).astype(float)

    @property
    def normalized(self) -> NDArray[np.float64]:
        """x_dw = ln(1 + n_dw) / ‖ln(1 + n_d)‖: the same entries for documents of length 1."""
        return unit_length(self.indptr, self.counts)

    @property
    def lengths(self) -> NDArray[np.float64]:
        """How many words each document has."""
        row = np.repeat(np.arange(len(self)), np.diff(self.indptr))
        return np.bincount(row, self.counts, minlength=len(self)).astype(float)


def unit_length(indptr: NDArray[np.int64], counts: NDArray[Any]) -> NDArray[np.float64]:
    """ln(1 + n) of each count, divided by the Euclidean length of its document.

    >>> unit_length(np.array([0, 2]), np.array([1, 1]))
    array([0.70710678, 0.70710678])
    """
    most = int(counts.max(initial=0)) if counts.dtype.kind == "i" else MAX_LOGS
    logs = np.log1p(np.arange(most + 1))[counts] if most < MAX_LOGS else np.log1p(counts)
    some = np.flatnonzero(indptr[1:] > indptr[:-1])
    squares = np.ones(len(indptr) - 1)
    if len(some):
        squares[some] = np.add.reduceat(logs * logs, indptr[some])
    logs *= np.repeat(1 / np.sqrt(np.where(squares > 0, squares, 1.0)), np.diff(indptr))
    return validation.lock(logs)


### checks


def require_counts(values: NDArray[Any]) -> None:
    """Numbers that are finite and not negative."""
    if not np.issubdtype(values.dtype, np.floating) and not np.issubdtype(values.dtype, np.integer):
        if values.dtype == bool:
            return
        raise DataError(f"counts must be numbers, got {values.dtype}")
    if not np.isfinite(values).all():
        raise DataError("counts of words must be finite, got NaN or infinity")
    if values.min(initial=0) < 0:
        raise DataError(
            f"Negative values in data: {values.min()} times a word?", hint="give counts, not scaled features"
        )


def count_type(values: NDArray[Any]) -> type[np.number[Any]]:
    """Whole numbers where counts are whole and fit, else floats."""
    whole = values.dtype == bool or np.issubdtype(values.dtype, np.integer)
    return np.int32 if whole and values.max(initial=0) < 2**31 else np.float64


### counting


def count(
    texts: Any,
    tokenizer: Tokenizer | None = None,
    vocabulary: Vocabulary | HashedVocabulary | None = None,
    *,
    min_count: float = 1,
    drop_top_words: int = 0,
    max_features: int | None = None,
    progress: Callable[[float], object] | None = None,
) -> tuple[DocumentCounts, Vocabulary | HashedVocabulary]:
    """The counts of texts, and their vocabulary; `progress` is called with the share that has been counted.

    Words outside a given vocabulary are skipped. Without one it is found on the way, words in the order they appear;
    then `min_count`, `drop_top_words` and `max_features` select the words to keep (:func:`~.vocabulary.chosen`).
    """
    tokenizer, texts = tokenizer or Tokenizer(), Texts.of(texts)
    if isinstance(vocabulary, ColumnVocabulary):
        raise DataError("these columns have no words to look for in texts", hint="give counts, or a Vocabulary")

    def work(span: Any) -> tuple[Counted, int]:
        column, begin, end, _ = span
        piece = column.piece(begin, end, lower=tokenizer.lower)
        part = counted(piece, tokenizer, vocabulary)
        if progress is not None:
            progress(next(finished) / len(spans))
        return part, piece.mended

    spans, finished = texts.spans(), itertools.count(1)
    done = kernels.parallel(work, spans)
    warn_of_mended(sum(mended for _, mended in done), len(texts))
    parts = [part for part, _ in done]
    if vocabulary is not None:
        return stacked(parts, len(vocabulary)), vocabulary
    counts, found = merged(parts)
    if min_count <= 1 and not drop_top_words and max_features is None:
        return counts, found
    kept = chosen(counts.totals, min_count=min_count, drop_top_words=drop_top_words, max_features=max_features)
    return counts.only(kept), found.only(kept)


def merged(parts: list[Counted]) -> tuple[DocumentCounts, Vocabulary]:
    """Pieces with separate vocabularies, as one."""
    words = spared(
        np.concatenate([part.words[: part.ends[-1] if len(part.ends) else 0] for part in parts] or [NOTHING])
    )
    sizes = [len(part.ends) for part in parts]
    shifts = np.cumsum([0, *(int(part.ends[-1]) if len(part.ends) else 0 for part in parts)])
    ends = np.concatenate([part.ends + shift for part, shift in zip(parts, shifts, strict=False)] or [NOTHING])
    lexicon, numbers = Lexicon.empty().joined(words, ends.astype(np.int64))
    own = np.split(numbers, np.cumsum(sizes)[:-1]) if parts else []
    renumbered = kernels.parallel(
        lambda pair: Counted(pair[0].indptr, pair[1][pair[0].indices], pair[0].counts), zip(parts, own, strict=True)
    )
    return stacked(renumbered, len(lexicon.ends)), Vocabulary(lexicon)


def stacked(parts: list[Counted], n_words: int) -> DocumentCounts:
    """Pieces of one vocabulary, one below the other."""
    if len(parts) == 1:
        return DocumentCounts.trusted(parts[0].indptr, parts[0].indices, parts[0].counts, n_words)
    if not parts:
        return DocumentCounts.trusted(np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.int32), n_words)
    shifts = np.cumsum([0, *(int(part.indptr[-1]) for part in parts)])
    indptr = [part.indptr[1:] + shift for part, shift in zip(parts, shifts, strict=False)]
    return DocumentCounts.trusted(
        np.concatenate([[0], *indptr]),
        np.concatenate([part.indices for part in parts]),
        np.concatenate([part.counts for part in parts]),
        n_words,
    )


NOTHING = np.zeros(0, np.uint8)
