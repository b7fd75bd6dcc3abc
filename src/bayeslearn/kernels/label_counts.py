"""Labels counted for 64 points at a time, on either side of one of them, up to a power of two.

A word holds one binary digit of the counts of all points, and one more word stays set where a count has run over. The
small powers are needed most by a search, so they have separate loops that stay in registers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayeslearn.kernels._jit import inner

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Rows that are looked at before asking whether that was enough.
BLOCK = 64


@inner
def seen_once(rows: NDArray[np.uint64], begin: int, end: int, x: int, w: int, wanted: np.uint64) -> np.uint64:
    """The wanted points that have either label on either side of x."""
    word, bit, one = x >> 6, np.uint64(x & 63), np.uint64(1)
    none, full = np.uint64(0), ~np.uint64(0)
    a, b, c, d = none, none, none, none
    for block in range(begin, end, BLOCK):
        for i in range(block, min(block + BLOCK, end)):
            side = full if (rows[i, word] >> bit) & one else none
            a |= rows[i, w] & side
            b |= ~rows[i, w] & side
            c |= rows[i, w] & ~side
            d |= ~rows[i, w] & ~side
        if a & b & c & d & wanted == wanted:
            break
    return a & b & c & d & wanted


@inner
def seen_twice(rows: NDArray[np.uint64], begin: int, end: int, x: int, w: int, wanted: np.uint64) -> np.uint64:
    """The wanted points that have either label twice on either side of x."""
    word, bit, one = x >> 6, np.uint64(x & 63), np.uint64(1)
    none, full = np.uint64(0), ~np.uint64(0)
    a, b, c, d = none, none, none, none
    aa, bb, cc, dd = none, none, none, none
    for block in range(begin, end, BLOCK):
        for i in range(block, min(block + BLOCK, end)):
            side = full if (rows[i, word] >> bit) & one else none
            yes, no = rows[i, w] & side, ~rows[i, w] & side
            aa |= a & yes
            bb |= b & no
            a |= yes
            b |= no
            yes, no = rows[i, w] & ~side, ~rows[i, w] & ~side
            cc |= c & yes
            dd |= d & no
            c |= yes
            d |= no
        if aa & bb & cc & dd & wanted == wanted:
            break
    return aa & bb & cc & dd & wanted


@inner
def seen_four_times(rows: NDArray[np.uint64], begin: int, end: int, x: int, w: int, wanted: np.uint64) -> np.uint64:
    """The wanted points that have either label four times on either side of x."""
    word, bit, one = x >> 6, np.uint64(x & 63), np.uint64(1)
    none = np.uint64(0)
    a, b, c, d = none, none, none, none  # once or three times
    aa, bb, cc, dd = none, none, none, none  # twice or three times
    aaa, bbb, ccc, ddd = none, none, none, none  # four times or more
    for block in range(begin, end, BLOCK):
        for i in range(block, min(block + BLOCK, end)):
            yes, no = rows[i, w], ~rows[i, w]
            if (rows[i, word] >> bit) & one:
                aaa |= aa & a & yes
                aa ^= a & yes
                a ^= yes
                bbb |= bb & b & no
                bb ^= b & no
                b ^= no
            else:
                ccc |= cc & c & yes
                cc ^= c & yes
                c ^= yes
                ddd |= dd & d & no
                dd ^= d & no
                d ^= no
        if aaa & bbb & ccc & ddd & wanted == wanted:
            break
    return aaa & bbb & ccc & ddd & wanted


@inner
def seen_often(
    rows: NDArray[np.uint64],
    begin: int,
    end: int,
    x: int,
    w: int,
    wanted: np.uint64,
    digits: int,
    counts: NDArray[np.uint64],
) -> np.uint64:
    """The wanted points that have either label 2^digits times on either side of x."""
    word, bit, one = x >> 6, np.uint64(x & 63), np.uint64(1)
    for digit in range(digits + 1):
        for which in range(4):
            counts[which, digit] = np.uint64(0)
    for i in range(begin, end):
        side = 2 if (rows[i, word] >> bit) & one else 0
        add(counts, side, rows[i, w] & wanted, digits)
        add(counts, side + 1, ~rows[i, w] & wanted, digits)
        if i & 7 == 7 and both(counts, digits) == wanted:
            break
    return both(counts, digits)


@inner
def add(counts: NDArray[np.uint64], which: int, word: np.uint64, digits: int) -> None:
    """One more for every point whose bit is set; the last column marks counts that overflow."""
    for digit in range(digits):
        carry = counts[which, digit] & word
        counts[which, digit] ^= word
        word = carry
        if word == 0:
            return
    counts[which, digits] |= word


@inner
def both(counts: NDArray[np.uint64], digits: int) -> np.uint64:
    """The points of which all four counts have run over."""
    return counts[0, digits] & counts[1, digits] & counts[2, digits] & counts[3, digits]
