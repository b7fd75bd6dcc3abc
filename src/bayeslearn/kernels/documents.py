"""Documents to counts of words, and counts to sums and scores.

A character belongs to a class: 0 parts tokens, 1 makes words, 2 makes other tokens; a token is a run of one class. The
tokens of a document are written one after the other with a space between, so that an n-gram is a stretch of bytes like
any word. A document counts a word at the place where it met it first: nothing is sorted, nothing cleared in between.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.kernels._jit import inner, kernel, trailing_zeros
from bayeslearn.kernels.words import ALL, HASHED, NEW, NONE, SPARE, UPPER, append, fetch, hash_of, remember, same_bytes

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: The class of characters that make words, and that of a byte that begins a longer character.
WORD, MANY = 1, 255

#: Classes from this on are not ASCII.
STRANGE = np.uint8(128)

ONE = np.uint64(1)

#: Bytes of a document that are looked at together.
SEGMENT = 1 << 12

#: Where the classes of characters begin, behind those of bytes.
BYTES = 256

SPACE = 32


@inner
def width_of(byte: Any) -> Any:
    """Bytes of the character that begins with this one."""
    return 1 if byte < 0xC0 else 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4


@inner
def character(text: NDArray[np.uint8], at: int, width: int) -> Any:
    """The code point of a character of several bytes."""
    point = np.int64(text[at]) & (0x7F >> width)
    for i in range(at + 1, at + width):
        point = point << 6 | (np.int64(text[i]) & 0x3F)
    return point


@inner
def split_plain(
    text: NDArray[np.uint8],
    at: int,
    stop: int,
    classes: NDArray[np.uint8],
    run: Any,
    spans: NDArray[np.int64],
) -> Any:
    """Runs of one class that end within ASCII text[at:stop]: where they begin and end; −1 if it is not ASCII.

    Where the class changes is a bit, 64 of them a word: what a text looks like is not guessed byte by byte.
    """
    state, begin = run
    found, strange = 0, np.uint8(0)
    while at < stop:
        edges, before = NONE, np.uint8(state)
        width = min(stop - at, 64)
        for j in range(width):
            now = classes[text[at + j]]
            edges |= np.uint64(now != before) << np.uint64(j)
            strange |= now
            before = now
        if strange >= STRANGE:
            return -1, state, begin
        while edges != NONE:
            place = at + trailing_zeros(edges)
            edges &= edges - ONE
            if state != 0:
                spans[found, 0], spans[found, 1], spans[found, 2] = begin, place, state
                found += 1
            begin, state = place, np.int64(classes[text[place]])
        at += width
    return found, state, begin


@inner
def split_any(
    text: NDArray[np.uint8],
    at: int,
    stop: int,
    last: int,
    classes: NDArray[np.uint8],
    run: Any,
    spans: NDArray[np.int64],
) -> Any:
    """The same for any text, character by character; the last of them may end behind `stop`, not behind `last`."""
    state, begin = run
    found = 0
    while at < stop:
        byte, width = np.int64(text[at]), 1
        if byte < 128:
            now = np.int64(classes[byte])
        else:
            width = min(width_of(byte), last - at)
            now = np.int64(classes[BYTES + character(text, at, width)])
        if now != state:
            if state != 0:
                spans[found, 0], spans[found, 1], spans[found, 2] = begin, at, state
                found += 1
            begin, state = at, now
        at += width
    return found, state, begin, at


@inner
def characters(text: NDArray[np.uint8], begin: int, end: int) -> Any:
    """How many characters some bytes are."""
    n = 0
    for i in range(begin, end):
        n += (text[i] & np.uint8(0xC0)) != np.uint8(0x80)
    return n


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
            slot = np.int64(h >> UPPER) & last
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

    SPARE bytes may be read behind the last. `classes` holds the class of every byte, MANY for those of which it takes
    several to make a character, then of every character. `rules` are whether to write ASCII in lower case, the shortest
    word, the shortest and longest n-gram, what to do with words outside the vocabulary (KNOWN, NEW, HASHED), and its
    size where words are hashed. `vocabulary` is (table, words, ends), `found` (indptr, indices, counts). `room` is for
    the tokens of a document, the place of every word (−1 at first), where the last tokens begin, and for the tokens and
    n-grams of a SEGMENT and their hashes. `cursor` tells where to go on with more room, zeros in the beginning.
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


@kernel
def add_labelled(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    counts: NDArray[Any],
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
    counts: NDArray[Any],
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
    counts: NDArray[Any],
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
