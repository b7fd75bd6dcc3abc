"""A vocabulary while it is being made: bytes of words one after the other, where they end, and a table to find them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from bayeslearn import kernels

if TYPE_CHECKING:
    from numpy.typing import NDArray

T = TypeVar("T", bound=np.generic)

#: Slots of a table without words; twice as many whenever half of them are taken.
SLOTS = 1 << 12

#: Bytes that kernels may read behind the last word.
SPARE = 8


@dataclass(frozen=True, eq=False)
class Lexicon:
    """Words as kernels read them; see :mod:`bayeslearn.kernels.word_hash_table`."""

    table: NDArray[np.uint64]
    words: NDArray[np.uint8]
    ends: NDArray[np.int64]

    @classmethod
    def empty(cls) -> Lexicon:
        """No words."""
        return cls(np.zeros((SLOTS, 2), np.uint64), np.zeros(SPARE, np.uint8), np.zeros(0, np.int64))

    @property
    def arrays(self) -> tuple[NDArray[np.uint64], NDArray[np.uint8], NDArray[np.int64]]:
        """Table, words, ends."""
        return self.table, self.words, self.ends

    def joined(self, words: NDArray[np.uint8], ends: NDArray[np.int64]) -> tuple[Lexicon, NDArray[np.int32]]:
        """These words and those that are new among others, and the numbers that the others have then."""
        n, used = len(self.ends), len(self.words) - SPARE
        table = self.table.copy()
        text, stops = stretched(self.words, used + len(words)), stretched(self.ends, n + len(ends))
        numbers, cursor = np.empty(len(ends), np.int32), np.array([0, n, used])
        while not kernels.join_words(words, ends, (table, text, stops), numbers, cursor):
            table = kernels.wider_table(table)
        _, n, used = cursor.tolist()
        return Lexicon(table, spared(text[:used]), stops[:n].copy()), numbers


def stretched(array: NDArray[T], length: int, *, fill: int = 0) -> NDArray[T]:
    """The same entries with room for more, up to `length`."""
    wide = np.full(length, fill, array.dtype)
    wide[: len(array)] = array
    return wide


def spared(words: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Bytes with SPARE zeros behind them."""
    return np.concatenate([words, np.zeros(SPARE, np.uint8)])
