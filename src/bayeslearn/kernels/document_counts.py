"""Documents to counts of words.

A token is a run of characters of one class. The tokens of a document are written one after the other with a space
between, so that an n-gram is a stretch of bytes like any word. A document counts a word at the place where it met it
first: nothing is sorted, nothing cleared in between.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.kernels._jit import inner, kernel
from bayeslearn.kernels.text_splitting import characters, split_any, split_plain
from bayeslearn.kernels.word_hash_table import (
    ALL,
    HASHED,
    NEW,
    NONE,
    SPARE,
    UPPER,
    append,
    fetch,
    hash_of,
    remember,
    same_bytes,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: The class of characters that make words, whose length counts.
WORD = 1

SPACE = 32

#: Bytes of a document that are looked at together.
SEGMENT = 1 << 12


@inner
def enter(
    text: NDArray[np.uint8],
    spans: NDArray[np.int64],
    found: int,
    hashes: NDArray[np.uint64],
    rules: tuple[bool, int, int, int, int, int],
    vocabulary: tuple[NDArray[np.uint64], NDArray[np.uint8], NDArray[np.int64]],
    counted: tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]],
    so_far: Any,
) -> Any:
    """Count the words text[begin:end]; the numbers of words, of their bytes and of counts after that."""
    lower, _, _, _, unknown, size = rules
    table, words, ends = vocabulary
    place, indices, counts = counted
    first, n_words, used, filled = so_far
    last = len(table) - 1
    for t in range(found):
        hashes[t] = hash_of(text, spans[t, 0], spans[t, 1] - spans[t, 0], lower)
        fetch(table, np.int64(hashes[t] >> UPPER) & last)
    for t in range(found):
        h, length = hashes[t], spans[t, 1] - spans[t, 0]
        number: Any = -1
        if unknown == HASHED:
            number = np.int64(h >> UPPER) % size
        else:
            slot = np.int64(h >> UPPER) & last  # slot_of, written out: a call takes half as long again
            while table[slot, 1] != NONE:
                if table[slot, 0] == h and np.int64(table[slot, 1] >> UPPER) == length:
                    known = np.int64(table[slot, 1] & (ALL >> UPPER)) - 1
                    if length <= SPARE or same_bytes(words, ends[known] - length, text, spans[t, 0], length, lower):
                        number = known
                        break
                slot = (slot + 1) & last
            if number < 0 and unknown == NEW:
                append(text, spans[t, 0], length, lower, words, used)
                number = n_words
                n_words += 1
                used += length
                ends[number] = used
                table[slot, 0], table[slot, 1] = h, np.uint64(length << 32 | n_words)
        spans[t, 0] = number
    for t in range(found):
        number = spans[t, 0]
        if number >= 0:
            seen = place[number] >= first  # as often as not: no branch to guess
            where = place[number] if seen else filled
            counts[where] = (counts[where] if seen else 0) + 1
            indices[where], place[number] = number, where
            filled += not seen
    return n_words, used, filled


@kernel
def count_words(
    text: NDArray[np.uint8],
    starts: NDArray[np.int64],
    classes: NDArray[np.uint8],
    rules: tuple[bool, int, int, int, int, int],
    vocabulary: tuple[NDArray[np.uint64], NDArray[np.uint8], NDArray[np.int64]],
    found: tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]],
    room: tuple[Any, Any, Any, Any, Any, Any],
    cursor: NDArray[np.int64],
) -> bool:
    """The counts of the documents text[starts[d]:starts[d + 1]]; false where there was no room to go on.

    SPARE bytes may be read behind the last. `classes` is as in :mod:`~.splitting`. `rules` are whether to write it in
    lower case, the shortest word, the shortest and longest n-gram, what to do with words outside the vocabulary (KNOWN,
    NEW, HASHED), and its size where words are hashed. `vocabulary` is (table, words, ends), `found` (indptr, indices,
    counts). `room` is for the tokens of a document, the place of every word (−1 at first), where the last tokens begin,
    and for the tokens and n-grams of a SEGMENT and their hashes. `cursor` holds the position to continue from, zeros in
    the beginning.
    """
    lower, shortest, low, high, unknown, _ = rules
    table, words, ends = vocabulary
    indptr, indices, counts = found
    line, place, begins, spans, stretches, hashes = room
    counted = (place, indices, counts)
    document, i, first, state, begin, m, tokens, n_words, used, filled = cursor
    grams = high - low + 1
    while document < len(starts) - 1:
        stop = starts[document + 1]
        while i < stop:
            end = min(i + SEGMENT, stop)
            n, now, open_at = split_plain(text, i, end, classes, (state, begin), spans)
            plain = n >= 0
            if not plain:
                n, now, open_at, end = split_any(text, i, end, stop, classes, (state, begin), spans)
            if end == stop and now != 0:
                spans[n, 0], spans[n, 1], spans[n, 2] = open_at, stop, now
                n, now = n + 1, 0
            kept, long = 0, 0
            for t in range(n):
                length = spans[t, 1] - spans[t, 0]
                size = length if plain else characters(text, spans[t, 0], spans[t, 1])
                spans[kept, 0], spans[kept, 1] = spans[t, 0], spans[t, 1]
                kept += (spans[t, 2] != WORD) | (size >= shortest)
                long += length + 1
            most: Any = kept * grams
            if filled + most > len(indices) or (
                unknown == NEW
                and (
                    2 * (n_words + most) > len(table)
                    or n_words + most > len(ends)
                    or used + high * grams * (long + (m - begins[0] if high > 1 else 0)) + SPARE > len(words)
                )
            ):
                remember(cursor, (document, i, first, state, begin, m, tokens, n_words, used, filled))
                return False
            so_far = (first, n_words, used, filled)
            if high == 1:
                n_words, used, filled = enter(text, spans, kept, hashes, rules, vocabulary, counted, so_far)
            else:
                most = np.int64(0)  # a plain 0 would be a type of its own
                for t in range(kept):
                    for k in range(high - 1):
                        begins[k] = begins[k + 1]
                    begins[high - 1] = m
                    append(text, spans[t, 0], spans[t, 1] - spans[t, 0], lower, line, m)
                    m += spans[t, 1] - spans[t, 0]
                    tokens += 1
                    for k in range(low, min(high, tokens) + 1):
                        stretches[most, 0], stretches[most, 1] = begins[high - k], m
                        most += 1
                    line[m] = SPACE
                    m += 1
                n_words, used, filled = enter(line, stretches, most, hashes, rules, vocabulary, counted, so_far)
            i, state, begin = end, now, open_at
        m, tokens, state = 0, 0, 0
        for k in range(high):
            begins[k] = 0
        document += 1
        first = indptr[document] = filled
    remember(cursor, (document, i, first, state, begin, m, tokens, n_words, used, filled))
    return True
