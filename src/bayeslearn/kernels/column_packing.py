"""Columns in the two forms that counting is quickest on: a bitmap for each state, and a row of bytes for each row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayeslearn.kernels._jit import inner, kernel, load_word, lowest_bits, popcount

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Eight bytes of one, and of all but the highest bit.
ONES, LOW = np.uint64(0x0101010101010101), np.uint64(0x7F7F7F7F7F7F7F7F)


@kernel
def pack_states(
    codes: NDArray[np.int8], first: NDArray[np.int64], words: NDArray[np.uint64], marginal: NDArray[np.float64]
) -> None:
    """A bitmap for each state of each column, which comes with zeros, and how many rows it has."""
    n = codes.shape[1]
    whole = n - n % 64 if codes.itemsize == 1 else 0  # what can be looked at eight by eight
    for column in range(len(codes)):
        line = codes[column].view(np.uint8)
        for state in range(first[column], first[column + 1]):
            for i in range(0, whole, 64):
                words[state, i >> 6] = equal_bytes(line, i, np.uint64(state - first[column]) * ONES)
        for i in range(whole, n):
            words[first[column] + codes[column, i], i >> 6] |= np.uint64(1) << np.uint64(i & 63)
        for state in range(first[column], first[column + 1]):
            rows = 0
            for w in range(words.shape[1]):
                rows += popcount(words[state, w])
            marginal[state] = rows


@inner
def equal_bytes(line: NDArray[np.uint8], begin: int, pattern: np.uint64) -> np.uint64:
    """A bit for each of 64 bytes: whether it is that of the pattern."""
    word = np.uint64(0)
    for k in range(8):
        other = load_word(line, begin + 8 * k) ^ pattern
        same = ~(((other & LOW) + LOW) | other | LOW) >> np.uint64(7)
        word |= lowest_bits(same) << np.uint64(8 * k)
    return word


@kernel
def pack_rows(codes: NDArray[np.int8], first: NDArray[np.int64], begin: int, end: int, ones: NDArray[np.uint8]) -> None:
    """ones[row, state] = 1 for every state that a row has, for some of the rows; comes with zeros."""
    for i in range(begin, end):
        for column in range(len(codes)):
            ones[i, first[column] + codes[column, i]] = 1
