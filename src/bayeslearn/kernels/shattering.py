"""Sets of points that a class shatters, by a search over 64 points at a time.

A hypothesis is a row of bits, one for each point. A set S of k points splits the rows into 2^k cells by their labels
of S; S can grow to D shattered points only by points y that leave 2^(D-k-1) rows of either label in every cell. These
are counted for all y at once (:mod:`.label_counts`). Small cells rule out most, so they come first, and rows are
moved only where enough points are left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayeslearn.kernels._jit import inner, kernel, popcount, trailing_zeros
from bayeslearn.kernels.label_counts import seen_four_times, seen_often, seen_once, seen_twice

if TYPE_CHECKING:
    from numpy.typing import NDArray


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
    for i in range(n):
        copy(rows[i], room[0, i])
    bounds[0, 1] = n
    copy(mask, masks[0])
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
            keep_above(masks[depth], 64 * words)
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
    copy(mask, into)
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
def split(
    rows: NDArray[np.uint64],
    bounds: NDArray[np.int64],
    cells: int,
    x: int,
    into: NDArray[np.uint64],
    into_bounds: NDArray[np.int64],
) -> None:
    """Split every cell: the rows with label no of x, then those with yes."""
    word, bit, one = x >> 6, np.uint64(x & 63), np.uint64(1)
    for c in range(cells):
        low, high = bounds[c], bounds[c + 1]
        for i in range(bounds[c], bounds[c + 1]):
            if (rows[i, word] >> bit) & one:
                high -= 1
                copy(rows[i], into[high])
            else:
                copy(rows[i], into[low])
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
def copy(words: NDArray[np.uint64], into: NDArray[np.uint64]) -> None:
    """Word by word, which takes less time to compile than an assignment."""
    for w in range(len(words)):
        into[w] = words[w]


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
