"""Equal rows, found fast and exactly.

Codes are packed into 64-bit words as digits of a mixed-radix number, key ← key · size + code, as many columns to a word
as fit; a float is a word of its own. One word is its own key. Several are hashed to one, and the groups are then
compared word by word; should two different rows ever share a hash, the words themselves are sorted instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    Words = NDArray[np.uint64]

#: Rows that are packed at once, so that the words stay in the processor's cache.
BLOCK = 1 << 15


def groups(
    codes: NDArray[np.signedinteger], sizes: Sequence[int], values: NDArray[np.float64]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The first row of each group of equal rows, in order of appearance, and the group of every row."""
    words = [*packed(codes, sizes), *(float_bits(x) for x in values)]
    if not words:
        n = codes.shape[1]
        return np.zeros(min(n, 1), dtype=np.intp), np.zeros(n, dtype=np.intp)
    first, group = grouped(words[0] if len(words) == 1 else hashed(words))
    if len(words) > 1 and not all(np.array_equal(word, word[first][group]) for word in words):
        first, group = grouped(np.stack(words, axis=1))
    return by_appearance(first, group)


def packed(codes: NDArray[np.signedinteger], sizes: Sequence[int]) -> Iterator[Words]:
    """The columns of codes as few words, one number per row; a missing cell is the digit 0."""
    start = 0
    while start < len(sizes):
        stop, room = start, 2**64
        while stop < len(sizes) and (left := room // (sizes[stop] + 1)):
            stop, room = stop + 1, left
        yield pack(codes[start:stop], sizes[start:stop])
        start = stop


def pack(codes: NDArray[np.signedinteger], sizes: Sequence[int]) -> Words:
    """One word per row: Σ (code + 1) · Π sizes before it."""
    word = np.zeros(codes.shape[1], dtype=np.uint64)
    signed = word.view(np.int64)  # arithmetic modulo 2⁶⁴ is the same for both
    for low in range(0, len(word), BLOCK):
        part = signed[low : low + BLOCK]
        for column, size in zip(codes, sizes, strict=True):
            part *= size + 1
            part += column[low : low + BLOCK]
            part += 1
    return word


def float_bits(x: NDArray[np.float64]) -> Words:
    """The bits of floats, with −0.0 as 0.0 and one NaN for all."""
    return np.where(np.isnan(x), np.nan, x + 0.0).view(np.uint64)


def hashed(words: Sequence[Words]) -> Words:
    """One 64-bit hash per row: multiply, fold the high bits down, take in the next word."""
    key = np.zeros_like(words[0])
    for word in words:
        key ^= word
        key *= np.uint64(0x9E3779B97F4A7C15)
        key ^= key >> np.uint64(29)
        key *= np.uint64(0xBF58476D1CE4E5B9)
        key ^= key >> np.uint64(32)
    return key


def grouped(keys: Words) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """First row and group of equal keys (a vector, or rows of a matrix)."""
    _, first, group = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    return first, group.reshape(-1)


def by_appearance(first: NDArray[np.intp], group: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The groups numbered in the order in which they first appear."""
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return first[order], rank[group]
