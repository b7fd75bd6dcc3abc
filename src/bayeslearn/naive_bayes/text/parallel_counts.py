"""Texts to counts, piece by piece on every core, the same whatever their number.

Each piece finds its words; then the pieces are joined in order, so that words are numbered as they appear.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from bayeslearn import kernels
from bayeslearn.naive_bayes.text.vocabulary import HashedVocabulary, Vocabulary
from bayeslearn.naive_bayes.text.vocabulary_builder import SPARE, Lexicon, stretched

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.naive_bayes.text.text_inputs import Piece
    from bayeslearn.naive_bayes.text.tokenizer import Tokenizer

#: What is done with words outside the vocabulary: passed over, added; or words are hashed.
KNOWN, NEW, HASHED = 0, 1, 2


@dataclass(frozen=True, eq=False)
class Counted:
    """Counts of a piece as sparse rows, and the words that it found."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    counts: NDArray[np.int32]
    words: NDArray[np.uint8] = field(default_factory=lambda: np.zeros(SPARE, np.uint8))
    ends: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))


def counted(piece: Piece, tokenizer: Tokenizer, vocabulary: Vocabulary | HashedVocabulary | None) -> Counted:
    """The counts of a piece, in a given vocabulary or in one that it finds."""
    low, high = tokenizer.ngram_range
    most = (kernels.SEGMENT + 2) * (high - low + 1)
    lexicon = vocabulary.lexicon if isinstance(vocabulary, Vocabulary) else Lexicon.empty()
    table, words, ends = lexicon.arrays
    unknown = NEW if vocabulary is None else HASHED if isinstance(vocabulary, HashedVocabulary) else KNOWN
    size = 0 if vocabulary is None else len(vocabulary)
    text, starts = piece.text, piece.starts
    line = np.empty(2 * int(np.diff(starts).max(initial=0)) * (high > 1) + 2 * SPARE, np.uint8)
    place, begins = np.full(max(size, 1), -1, np.int32), np.zeros(high, np.int64)
    segment = (np.empty((kernels.SEGMENT + 2, 3), np.int64), np.empty((most, 2), np.int64), np.empty(most, np.uint64))
    indptr = np.zeros(len(starts), np.int64)
    indices, counts = (np.empty(len(text) // 8 + 16, np.int32) for _ in range(2))
    rules = (bool(tokenizer.lower), tokenizer.min_token_length, low, high, unknown, size)
    classes = tokenizer.classes(ascii_only=piece.is_ascii)
    cursor = np.zeros(10, np.int64)
    cursor[7:9] = len(ends), len(words) - SPARE
    while not kernels.count_words(
        text, starts, classes, rules, (table, words, ends), (indptr, indices, counts), (line, place, begins, *segment),
        cursor,
    ):  # fmt: skip
        n, used, filled = cursor[7:].tolist()
        if filled + most > len(indices):
            indices, counts = (stretched(a, 2 * len(a) + most) for a in (indices, counts))
        elif 2 * (n + most) > len(table):
            table = kernels.wider_table(table)
        elif n + most > len(ends):
            ends = stretched(ends, 2 * n + most)
            place = stretched(place, len(ends), fill=-1)
        else:
            words = stretched(words, 2 * len(words) + 8 * most)
    n, used, filled = cursor[7:].tolist()
    found = (indptr, indices[:filled].copy(), counts[:filled].copy())
    if unknown != NEW:
        return Counted(*found)
    words = words[: used + SPARE].copy()
    words[used:] = 0
    return Counted(*found, words, ends[:n].copy())
