"""Documents to counts of words, and counts to sums and scores.

A character belongs to a class: 0 parts tokens, 1 makes words, 2 makes other tokens; a token is a run of one class. The
tokens of a document are written one after the other with a space between, so that an n-gram is a stretch of bytes like
any word. A document counts a word at the place where it met it first: nothing is sorted, nothing cleared in between.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.kernels._jit import inner, kernel
from bayeslearn.kernels.words import ALL, HASHED, KNOWN, NEW, SPARE, UPPER, hash_of, slot_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Classes of characters that make tokens; any length will do for the second.
WORD, OTHER = 1, 2

SPACE = 32


@inner
def width_of(byte: int) -> Any:
    """Bytes of the character that begins with this one."""
    return 1 if byte < 0xC0 else 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4


@inner
def character(text: NDArray[np.uint8], at: int, width: int) -> Any:
    """The code point of a character of several bytes."""
    point = np.int64(text[at]) & (0x7F >> width)
    for i in range(at + 1, at + width):
        point = point << 6 | (np.int64(text[i]) & 0x3F)
    return point


@kernel
def count_words(
    text: NDArray[np.uint8],
    starts: NDArray[np.int64],
    classes: NDArray[np.uint8],
    folded: NDArray[np.uint8],
    rules: tuple[int, int, int, int, int],
    vocabulary: tuple[NDArray[np.uint64], NDArray[np.uint8], NDArray[np.int64]],
    found: tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]],
    room: tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int32]],
    cursor: NDArray[np.int64],
) -> bool:
    """The counts of the documents text[starts[d]:starts[d + 1]]; false where there was no room to go on.

    `classes` holds the class of every character (of the first 128 where there are no others), `folded` what the first
    128 are written as. `rules` are the shortest word, the shortest and longest n-gram, what to do with words outside
    the vocabulary (KNOWN, NEW, HASHED), and its size where words are hashed. `vocabulary` is (table, words, ends),
    `found` (indptr, indices, counts). `room` is for the tokens of a document, for where the last of them begin, and for
    the place of every word (−1 at first). `cursor` tells where to go on with more room, zeros in the beginning.
    """
    shortest, low, high, unknown, size = rules
    table, words, ends = vocabulary
    indptr, indices, counts = found
    line, begins, place = room
    document, i, first, m, begin, tokens, length, state, n_words, used, filled = cursor
    grams = high - low + 1
    while document < len(starts) - 1:
        stop = starts[document + 1]
        while i <= stop:
            byte, width, now = 0, 1, 0
            if i < stop:
                byte = np.int64(text[i])
                if byte < 128:
                    now = np.int64(classes[byte])
                else:
                    width = min(width_of(byte), stop - i)
                    now = np.int64(classes[character(text, i, width)])
            if now != state:
                if state == OTHER or (state == WORD and length >= shortest):
                    begins[tokens % high] = begin
                    most = grams * (m - begins[max(tokens - high + 1, 0) % high])
                    if filled + grams > len(indices) or (
                        unknown == NEW
                        and (
                            2 * (n_words + grams) > len(table)
                            or n_words + grams > len(ends)
                            or used + most + SPARE > len(words)
                        )
                    ):
                        cursor[:] = (document, i, first, m, begin, tokens, length, state, n_words, used, filled)
                        return False
                    tokens += 1
                    for n in range(low, min(high, tokens) + 1):
                        at = begins[(tokens - n) % high]
                        h = hash_of(line, at, m - at)
                        if unknown == HASHED:
                            number = np.int64(h >> UPPER) % size
                        else:
                            slot = slot_of(line, at, m - at, h, table, words, ends)
                            number = np.int64(table[slot, 1] & (ALL >> UPPER)) - 1
                            if number < 0:
                                if unknown == KNOWN:
                                    continue
                                number = n_words
                                for j in range(m - at):
                                    words[used + j] = line[at + j]
                                used += m - at
                                n_words += 1
                                ends[number] = used
                                table[slot, 0], table[slot, 1] = h, np.uint64((m - at) << 32 | n_words)
                        if place[number] >= first:
                            counts[place[number]] += 1
                        else:
                            place[number] = filled
                            indices[filled], counts[filled] = number, 1
                            filled += 1
                    if high == 1:
                        m = 0
                    else:
                        line[m] = SPACE
                        m += 1
                elif state != 0:
                    m = begin
                state, begin, length = now, m, 0
            if now != 0:
                if width == 1:
                    line[m] = folded[byte]
                else:
                    for j in range(width):
                        line[m + j] = text[i + j]
                m += width
                length += 1
            i += width
        i, m, begin, tokens, length, state = stop, 0, 0, 0, 0, 0
        document += 1
        first = indptr[document] = filled
    cursor[:] = (document, i, first, m, begin, tokens, length, state, n_words, used, filled)
    return True


@kernel
def add_labelled(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    counts: NDArray[np.float64],
    labels: NDArray[np.int64],
    weights: NDArray[np.float64],
    low: int,
    high: int,
    into: NDArray[np.float64],
) -> None:
    """into[w, labels[d]] += weights[d] · n_dw for the labels from `low` to below `high`; a label of −1 is nobody's."""
    for d in range(len(labels)):
        k = labels[d]
        if low <= k < high:
            for i in range(indptr[d], indptr[d + 1]):
                into[indices[i], k] += weights[d] * counts[i]


@kernel
def add_shared(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    counts: NDArray[np.float64],
    shares: NDArray[np.float64],
    low: int,
    high: int,
    into: NDArray[np.float64],
) -> None:
    """into[w, k] += shares[d, k] · n_dw for the classes from `low` to below `high`."""
    for d in range(len(shares)):
        for i in range(indptr[d], indptr[d + 1]):
            n = counts[i]
            row = into[indices[i]]
            for k in range(low, high):
                row[k] += n * shares[d, k]


@kernel
def score_documents(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    counts: NDArray[np.float64],
    logs: NDArray[np.float64],
    first: int,
    into: NDArray[np.float64],
) -> None:
    """into[d − first, k] += Σ_w n_dw logs[w, k] for as many documents as `into` has rows, from `first` on."""
    for d in range(len(into)):
        out = into[d]
        for i in range(indptr[first + d], indptr[first + d + 1]):
            n = counts[i]
            row = logs[indices[i]]
            for k in range(len(out)):
                out[k] += n * row[k]
