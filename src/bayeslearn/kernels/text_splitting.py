"""Texts to runs of characters of one class: where each begins and ends.

A character belongs to a class: 0 parts tokens, 1 makes words, 2 makes other tokens. `classes` holds the class of every
byte, MANY for those of which it takes several to make a character, then of every character from BYTES on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.kernels._jit import inner, trailing_zeros
from bayeslearn.kernels.word_hash_table import NONE

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Where the classes of characters begin, behind those of bytes.
BYTES = 256

#: Classes from this on (MANY is 255) are not ASCII.
STRANGE = np.uint8(128)

ONE = np.uint64(1)


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
