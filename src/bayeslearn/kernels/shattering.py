"""Sets of points that a class shatters, by a search that looks at 64 points at a time.

A hypothesis is a row of bits, one for each point. A set S of k points splits the rows into 2^k cells by what they say
of S; S can grow to D shattered points only by points y that leave 2^(D-k-1) rows of either label in every cell. These
are counted for all y at once: a column of bits for each binary digit of the count, and one that stays set when it runs
over. Small cells rule out most, so they are looked at first, and rows are moved only where enough points are left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayeslearn.kernels._jit import inner, kernel, popcount, trailing_zeros

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Rows that are looked at before asking whether that was enough.
BLOCK = 64


@kernel
def find_shattered(
    rows: NDArray[np.uint64],
    mask: NDArray[np.uint64],
    prefix: NDArray[np.int64],
    size: int,
    task: int,
    best: NDArray[np.int64],
    into: NDArray[np.int64],
) -> bool:
    """The first shattered set of `size` ≥ 2 points of the mask that starts with a prefix; gives up if best < task."""
    n, words = rows.shape
    room = np.empty((size, n, words), np.uint64)
    bounds = np.zeros((size, (1 << size) + 1), np.int64)
    order = np.zeros((size, 1 << size), np.int64)
    masks = np.zeros((size + 1, words), np.uint64)
    counts = np.zeros((4, size), np.uint64)
    room[0] = rows
    bounds[0, 1] = n
    masks[0] = mask
    depth, fixed = 0, len(prefix)
    while depth >= 0:
        x = prefix[depth] if depth < fixed else lowest(masks[depth])
        if x < 0 or best[0] < task or not has(masks[depth], x):
            depth -= 1
            continue
        keep_above(masks[depth], x)
        into[depth] = x
        cells, left = 1 << depth, size - depth - 1
        grows = survivors(
            room[depth], bounds[depth], order[depth], cells, x, masks[depth], left, counts, masks[depth + 1]
        )
        if depth < fixed:  # a prefix has no second choice
            masks[depth] = np.uint64(0)
        if not grows:
            continue
        if left == 1:
            into[depth + 1] = lowest(masks[depth + 1])
            return True
        split(room[depth], bounds[depth], cells, x, room[depth + 1], bounds[depth + 1])
        by_size(bounds[depth + 1], 2 * cells, order[depth + 1])
        depth += 1
    return False


@inner
def survivors(
    rows: NDArray[np.uint64],
    bounds: NDArray[np.int64],
    order: NDArray[np.int64],
    cells: int,
    x: int,
    mask: NDArray[np.uint64],
    left: int,
    counts: NDArray[np.uint64],
    into: NDArray[np.uint64],
) -> bool:
    """The points of the mask by which a set with x can still grow by `left`; whether there are as many."""
    into[:] = mask
    if ones(into) < left:
        return False
    for c in range(cells):
        begin, end = bounds[order[c]], bounds[order[c] + 1]
        for w in range(len(into)):
            if into[w] == 0:
                continue
            if left == 1:
                into[w] = seen_once(rows, begin, end, x, w, into[w])
            elif left == 2:
                into[w] = seen_twice(rows, begin, end, x, w, into[w])
            elif left == 3:
                into[w] = seen_four_times(rows, begin, end, x, w, into[w])
            else:
                into[w] = seen_often(rows, begin, end, x, w, into[w], left - 1, counts)
        if ones(into) < left:
            order[0], order[c] = order[c], order[0]  # what rules out one set rules out the next
            return False
    return True


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
    counts[:, : digits + 1] = 0
    for i in range(begin, end):
        side = 2 if (rows[i, word] >> bit) & one else 0
        add(counts, side, rows[i, w] & wanted, digits)
        add(counts, side + 1, ~rows[i, w] & wanted, digits)
        if i & 7 == 7 and both(counts, digits) == wanted:
            break
    return both(counts, digits)


@inner
def add(counts: NDArray[np.uint64], which: int, word: np.uint64, digits: int) -> None:
    """One more for every point whose bit is set; the last column says that a count has run over."""
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


@inner
def split(
    rows: NDArray[np.uint64],
    bounds: NDArray[np.int64],
    cells: int,
    x: int,
    into: NDArray[np.uint64],
    into_bounds: NDArray[np.int64],
) -> None:
    """Every cell in two: the rows that say no of x, then those that say yes."""
    word, bit, one = x >> 6, np.uint64(x & 63), np.uint64(1)
    for c in range(cells):
        low, high = bounds[c], bounds[c + 1]
        for i in range(bounds[c], bounds[c + 1]):
            if (rows[i, word] >> bit) & one:
                high -= 1
                into[high] = rows[i]
            else:
                into[low] = rows[i]
                low += 1
        into_bounds[2 * c], into_bounds[2 * c + 1] = bounds[c], low
    into_bounds[2 * cells] = bounds[cells]


@inner
def by_size(bounds: NDArray[np.int64], cells: int, order: NDArray[np.int64]) -> None:
    """The cells from the smallest to the largest (Shell's sort)."""
    for c in range(cells):
        order[c] = c
    step = cells >> 1
    while step > 0:
        for i in range(step, cells):
            c, j = order[i], i
            size = bounds[c + 1] - bounds[c]
            while j >= step and bounds[order[j - step] + 1] - bounds[order[j - step]] > size:
                order[j] = order[j - step]
                j -= step
            order[j] = c
        step >>= 1


### points as bits


@inner
def ones(mask: NDArray[np.uint64]) -> int:
    """How many points there are."""
    n = 0
    for w in range(len(mask)):
        n += popcount(mask[w])
    return n


@inner
def lowest(mask: NDArray[np.uint64]) -> int:
    """The first point, or −1."""
    for w in range(len(mask)):
        if mask[w] != 0:
            return (w << 6) + trailing_zeros(mask[w])
    return -1


@inner
def has(mask: NDArray[np.uint64], x: int) -> bool:
    """Whether a point is there."""
    return (mask[x >> 6] >> np.uint64(x & 63)) & np.uint64(1) != 0


@inner
def keep_above(mask: NDArray[np.uint64], x: int) -> None:
    """Only the points after x."""
    for w in range(len(mask)):
        if (w << 6) + 63 <= x:
            mask[w] = np.uint64(0)
        elif (w << 6) <= x:
            mask[w] &= ~((np.uint64(2) << np.uint64(x & 63)) - np.uint64(1))
