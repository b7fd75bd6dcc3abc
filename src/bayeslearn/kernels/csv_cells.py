"""Cells of a text file to codes: each column's distinct cells are numbered in the order they appear.

Made for tables of states, where a column has few distinct cells. The text is read eight bytes at a time: the end of
a cell is computed, not searched for, without branches. The last eight bytes of a cell are its key:
cells up to that long are the same when their keys and lengths are, longer ones are compared with the first that had
the same key, which stays where it is in the file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayeslearn.kernels._jit import inner, kernel, load_word, trailing_zeros

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Distinct cells of a column that are numbered, and places to find them by.
MOST_CELLS, CELL_SLOTS = 256, 1024

#: How far a key is shifted and laid over itself to find its slot: bytes of text differ in their lower bits.
HALF, QUARTER, EIGHTH = np.uint64(29), np.uint64(13), np.uint64(6)

#: All bits but the upper one of each byte of a word, and the lowest one of each.
LOWER, LOWEST = np.uint64(0x7F7F7F7F7F7F7F7F), np.uint64(0x0101010101010101)

ALL, NONE, BYTE, BITS = np.uint64(0xFFFFFFFFFFFFFFFF), np.uint64(0), np.uint64(8), np.uint64(64)

#: Bytes that a key holds.
KEY = 8

#: Why a part of a file cannot be read this way.
RAGGED, TOO_MANY = -1, -2

LINE, RETURN = 10, 13


@inner
def same_start(text: NDArray[np.uint8], a: int, b: int, length: int) -> bool:
    """Whether two cells agree before the bytes that their keys hold."""
    i = 0
    while i < length - KEY and text[a + i] == text[b + i]:
        i += 1
    return i >= length - KEY


@inner
def word_at(text: NDArray[np.uint8], at: int) -> np.uint64:
    """The eight bytes from a place on, with zeros behind the end of the text."""
    if at + KEY <= len(text):
        return load_word(text, at)
    word = NONE
    for i in range(len(text) - 1, at - 1, -1):
        word = word << BYTE | np.uint64(text[i])
    return word


@inner
def other_bytes(word: np.uint64, byte: np.uint64) -> np.uint64:
    """The upper bit of each byte is zero where the byte is the one asked for; `byte` fills a word."""
    apart = word ^ byte
    return ((apart & LOWER) + LOWER) | apart | LOWER


@kernel
def number_cells(
    text: NDArray[np.uint8],
    begin: int,
    end: int,
    delimiter: int,
    codes: NDArray[np.int16],
    row: int,
    first: NDArray[np.int64],
    lengths: NDArray[np.int64],
    counts: NDArray[np.int64],
    slots: NDArray[np.int64],
    keys: NDArray[np.uint64],
) -> int:
    """Code the lines of text[begin:end] into `codes` (columns, rows) from a row on; returns the row after the last.

    The text ends with the end of a line; empty lines are skipped. For each column `first` and `lengths` (columns,
    MOST_CELLS) are the places of its distinct cells, and `counts` their number; `slots` (−1 where free) and `keys`
    (columns, CELL_SLOTS) find them. All of these may hold cells of text that was read before. Returns RAGGED or
    TOO_MANY for text that needs another reader.
    """
    columns = len(codes)
    commas, lines, returns = np.uint64(delimiter) * LOWEST, np.uint64(LINE) * LOWEST, np.uint64(RETURN) * LOWEST
    at = begin
    while at < end:
        if text[at] == LINE or (text[at] == RETURN and text[at + 1] == LINE):
            at += 1
            continue
        for column in range(columns):
            start, word, ends = at, NONE, NONE
            while ends == NONE:
                word = word_at(text, at)
                ends = ALL ^ (other_bytes(word, commas) & other_bytes(word, lines) & other_bytes(word, returns))
                at += KEY
            at += (trailing_zeros(ends) >> 3) - KEY
            length = at - start
            if length >= KEY:
                key = load_word(text, at - KEY)
            elif length > 0:
                key = word & (ALL >> (BITS - BYTE * np.uint64(length)))
            else:
                key = NONE
            folded = key ^ (key >> HALF)
            folded ^= (folded >> QUARTER) ^ (folded >> EIGHTH)
            slot = np.int64(folded & np.uint64(CELL_SLOTS - 1))
            known = slots[column, slot]
            while known >= 0 and not (
                keys[column, slot] == key
                and lengths[column, known] == length
                and (length <= KEY or same_start(text, first[column, known], start, length))
            ):
                slot = (slot + 1) & (CELL_SLOTS - 1)
                known = slots[column, slot]
            if known < 0:
                known = counts[column]
                if known == MOST_CELLS:
                    return TOO_MANY
                slots[column, slot], keys[column, slot] = known, key
                first[column, known], lengths[column, known] = start, length
                counts[column] += 1
            codes[column, row] = known
            if column == columns - 1:
                if text[at] == RETURN:
                    at += 1
                if text[at] != LINE:
                    return RAGGED
            elif text[at] != delimiter:
                return RAGGED
            at += 1
        row += 1
    return row
