"""Words and their positions: found in texts, given, or hashed.

    a.joined(b) -> (a and b, where the words of b are in it)        the positions of a stay as they are

so that counts over different vocabularies can be added. A vocabulary is immutable; its words are kept as bytes and
become strings when they are asked for.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import kernels, validation
from bayeslearn.capacity import require_numbers
from bayeslearn.errors import MismatchError, ParameterError, listed
from bayeslearn.naive_bayes.text.vocabulary_builder import SPARE, Lexicon, spared

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

#: The most words that a vocabulary can have: positions are 32-bit numbers.
MOST_WORDS = 2**31 - 1

### words that are known


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """A list of different words.

    >>> pets = Vocabulary.of(["cat", "dog"])
    >>> pets.position("dog"), "cow" in pets
    (1, False)
    >>> more, where = pets.joined(Vocabulary.of(["cow", "cat"]))
    >>> more.words, where.tolist()
    (('cat', 'dog', 'cow'), [2, 0])
    """

    lexicon: Lexicon

    @classmethod
    def of(cls, words: Iterable[str]) -> Vocabulary:
        """The vocabulary of these words, in this order."""
        words = [words] if isinstance(words, str) else list(words)
        odd = [word for word in words if not isinstance(word, str) or not word]
        if odd:
            raise ParameterError(f"a word of a vocabulary must be a text that is not empty, got {odd[0]!r}")
        made = cls(Lexicon.empty().joined(*packed(words))[0])
        if len(made) < len(words):
            twice = [word for word, n in Counter(words).items() if n > 1]
            raise ParameterError(f"words of a vocabulary must differ, and these stand in it twice: {listed(twice)}")
        return made

    def __len__(self) -> int:
        return len(self.lexicon.ends)

    def __iter__(self) -> Iterator[str]:
        return iter(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self._positions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Vocabulary):
            return NotImplemented
        a, b = self.lexicon, other.lexicon
        return a is b or (np.array_equal(a.ends, b.ends) and np.array_equal(a.words, b.words))

    def __hash__(self) -> int:
        return hash(self.lexicon.words.tobytes())

    def __repr__(self) -> str:
        shown = ", ".join(repr(unpacked(self.lexicon, i)) for i in range(min(len(self), 5)))
        return f"Vocabulary({len(self):,} words: {shown}{', …' if len(self) > 5 else ''})"

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Every word, in order."""
        ends = self.lexicon.ends.tolist()
        text = self.lexicon.words.tobytes()
        return tuple(text[a:b].decode("utf-8", "surrogatepass") for a, b in zip([0, *ends], ends, strict=False))

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {word: i for i, word in enumerate(self.words)}

    def position(self, word: str) -> int:
        """Where a word stands."""
        try:
            return self._positions[word]
        except KeyError:
            raise ParameterError(f"the word {word!r} is not in the vocabulary") from None

    def joined(self, other: Vocabulary) -> tuple[Vocabulary, NDArray[np.int32]]:
        """The new words of another vocabulary behind these, and where the words of the other are then."""
        require_kind(self, other)
        if self == other:
            return self, np.arange(len(self), dtype=np.int32)
        lexicon, numbers = self.lexicon.joined(other.lexicon.words, other.lexicon.ends)
        return (self if len(lexicon.ends) == len(self) else Vocabulary(lexicon)), numbers

    def only(self, positions: NDArray[np.integer]) -> Vocabulary:
        """The words at these positions."""
        ends = self.lexicon.ends
        starts = np.concatenate([[0], ends[:-1]])[positions] if len(ends) else ends
        lengths = ends[positions] - starts
        stops = np.cumsum(lengths)
        bytes_of = np.repeat(starts - (stops - lengths), lengths) + np.arange(stops[-1] if len(stops) else 0)
        return Vocabulary(Lexicon.empty().joined(spared(self.lexicon.words[bytes_of]), stops)[0])


def packed(words: list[str]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Words as bytes, and where each ends."""
    coded = [word.encode("utf-8", "surrogatepass") for word in words]
    return spared(np.frombuffer(b"".join(coded), np.uint8)), np.cumsum([len(c) for c in coded], dtype=np.int64)


def unpacked(lexicon: Lexicon, i: int) -> str:
    """One word."""
    start = int(lexicon.ends[i - 1]) if i else 0
    return lexicon.words[start : lexicon.ends[i]].tobytes().decode("utf-8", "surrogatepass")


### words that are not kept


@dataclass(frozen=True)
class HashedVocabulary:
    """Positions by hash, for streams without end: nothing grows, and words cannot be read back.

    The position of a word never changes, from run to run and from version to version; two words may share one.

    >>> len(HashedVocabulary(1 << 20))
    1048576
    """

    size: int = 1 << 20

    def __post_init__(self) -> None:
        validation.integer("size", self.size, min_value=1, max_value=MOST_WORDS)
        require_numbers(f"{self.size:,} hashed words", (self.size,), copies=2, hint="hash to fewer positions")

    def __len__(self) -> int:
        return self.size

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str)

    @property
    def words(self) -> tuple[str, ...]:
        """Not known."""
        raise ParameterError("a hashed vocabulary does not know its words", hint="learn with a Vocabulary to read them")

    def position(self, word: str) -> int:
        """Where a word is counted."""
        numbers = np.empty(1, np.int32)
        kernels.hash_words(*packed([word]), self.size, numbers)
        return int(numbers[0])

    def joined(self, other: HashedVocabulary) -> tuple[HashedVocabulary, NDArray[np.int32]]:
        """The same, for only vocabularies of one size can be joined."""
        require_kind(self, other)
        return self, np.arange(self.size, dtype=np.int32)


@dataclass(frozen=True)
class ColumnVocabulary:
    """The columns of a matrix whose words are not known: x0, x1, …."""

    size: int

    def __post_init__(self) -> None:
        validation.integer("size", self.size, min_value=0, max_value=MOST_WORDS)

    def __len__(self) -> int:
        return self.size

    def __contains__(self, word: object) -> bool:
        return word in self.words

    @property
    def words(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(f"x{i}" for i in range(self.size))

    def position(self, word: str) -> int:
        """The number of a column."""
        if word not in self:
            raise ParameterError(f"there is no column {word!r}")
        return int(word[1:])

    def joined(self, other: ColumnVocabulary) -> tuple[ColumnVocabulary, NDArray[np.int32]]:
        """The same, for only matrices of one width can be joined."""
        require_kind(self, other)
        return self, np.arange(self.size, dtype=np.int32)


AnyVocabulary = Vocabulary | HashedVocabulary | ColumnVocabulary


def require_kind(a: Any, b: Any) -> None:
    """Only vocabularies of one kind can be joined, and of one size where words are not known."""
    if type(a) is not type(b) or (not isinstance(a, Vocabulary) and a != b):
        raise MismatchError(
            f"cannot join {a!r} and {b!r}",
            hint="count both with the same kind of vocabulary",
            differs="vocabulary",
        )


### which words to keep


def chosen(
    totals: NDArray[Any], *, min_count: float = 1, drop_top_words: int = 0, max_features: int | None = None
) -> NDArray[np.intp]:
    """The positions of words worth keeping, by how often each was seen; in order.

    The `drop_top_words` most frequent are left out, then those seen fewer than `min_count` times; of the others the
    `max_features` most frequent stay. Of words that are equally frequent the earlier counts as the more frequent.
    """
    validation.number("min_count", min_count, min_value=0)
    validation.integer("drop_top_words", drop_top_words, min_value=0)
    keep = np.asarray(totals) >= min_count
    if drop_top_words or max_features is not None:
        by_count = np.argsort(-np.asarray(totals), kind="stable")
        keep[by_count[:drop_top_words]] = False
        if max_features is not None:
            left = by_count[keep[by_count]]
            keep[left[validation.integer("max_features", max_features, min_value=1) :]] = False
    return np.flatnonzero(keep)


__all__ = ["MOST_WORDS", "SPARE", "AnyVocabulary", "ColumnVocabulary", "HashedVocabulary", "Vocabulary", "chosen"]
