"""A k-d tree: boxes of points, each halved along its widest side, and the nearest points to queries.

    nearest(q, k) = the k points with the least (|x − q|², row number)

The points are turned around and laid out leaf by leaf, so that distances to a leaf are one vectorised loop. What is
near enough goes into a buffer of 2k places; when that is full its better half is kept, and the k-th of them bounds the
boxes that are still worth a visit. What is done for every box stands in the loop itself: handing arrays to a function
counts their references, which takes longer than the function.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayeslearn.kernels._jit import inner, kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

#: The most points of a leaf, unless they are all the same.
LEAF = 48

#: Boxes that wait for a visit: at most one for every level of the tree.
LEVELS = 64


@kernel
def plant(X: Floats, order: Integers, spans: Integers, boxes: Floats) -> int:
    """Put the rows in the `order` of the leaves; how many boxes there are.

    `spans` = (first, end, right child or 0, widest side), `boxes` = (lows, highs). The left child of a box comes right
    after it, and ends where it is cut.
    """
    n, made, top = X.shape[0], 0, 1
    keys, waiting = np.empty(n), np.empty((LEVELS, 3), np.int64)
    waiting[0, 0], waiting[0, 1], waiting[0, 2] = 0, n, -1
    for i in range(n):
        order[i] = i
    while top:
        top -= 1
        first, end, parent = waiting[top, 0], waiting[top, 1], waiting[top, 2]
        here = made
        made += 1
        if parent >= 0:
            spans[parent, 2] = here
        widest = _box(X, order, first, end, boxes[here])
        spans[here, 0], spans[here, 1], spans[here, 2], spans[here, 3] = first, end, 0, widest
        if end - first <= LEAF or widest < 0:
            continue
        middle = (first + end) // 2
        _halve(X, order, first, end, middle, widest, keys)
        waiting[top, 0], waiting[top, 1], waiting[top, 2] = middle, end, here
        waiting[top + 1, 0], waiting[top + 1, 1], waiting[top + 1, 2] = first, middle, -1
        top += 2
    return made


@kernel
def search_tree(
    P: Floats, order: Integers, spans: Integers, boxes: Floats, Q: Floats, start: int, stop: int, squares: Floats,
    rows: Integers, in_order: bool,  # noqa: FBT001 - compiled code takes arguments by position
) -> None:  # fmt: skip
    """Squared distances and rows of the nearest points to the queries `start` … `stop`; `in_order`: nearest first."""
    d, k = P.shape[0], rows.shape[1]
    near, who, part = np.empty(2 * k + LEAF + 1), np.empty(2 * k + LEAF + 1, np.int64), np.empty(LEAF)
    waiting, gaps = np.empty(LEVELS, np.int64), np.empty(LEVELS)
    for i in range(start, stop):
        count, full, bound, top = 0, k, np.inf, 1
        waiting[0], gaps[0] = 0, 0.0
        while top:
            top -= 1
            box, gap = waiting[top], 0.0
            if gaps[top] > bound:
                continue
            for a in range(d):
                below, above = boxes[box, 0, a] - Q[i, a], Q[i, a] - boxes[box, 1, a]
                δ = below if below > above else above  # noqa: FURB136 - vectorised, as max is not
                gap += δ * δ if δ > 0 else 0.0
            if gap > bound:
                continue
            while spans[box, 2]:
                left, right, side = box + 1, spans[box, 2], spans[box, 3]
                beyond = Q[i, side] - boxes[left, 1, side]
                box, waiting[top] = (left, right) if beyond <= 0 else (right, left)
                gaps[top] = beyond * beyond
                top += 1
            for begin in range(spans[box, 0], spans[box, 1], LEAF):
                size = min(LEAF, spans[box, 1] - begin)
                part[:] = 0.0
                for a in range(d):
                    points, x = P[a, begin : begin + size], Q[i, a]
                    for t in range(size):
                        δ = points[t] - x
                        part[t] += δ * δ
                for t in range(size):  # written in any case: a branch would be guessed wrong too often
                    near[count], who[count] = part[t], order[begin + t]
                    count += part[t] <= bound
                if count >= full:
                    _keep_nearest(near, who, count, k)
                    count, full, bound = k, 2 * k, _farthest(near, k)
        if count > k:
            _keep_nearest(near, who, count, k)
        if in_order:
            _sort(near, who, k)
        for t in range(k):
            squares[i, t], rows[i, t] = near[t], who[t]


### boxes


@inner
def _box(X: Floats, order: Integers, first: int, end: int, box: Floats) -> int:
    """The bounds of some rows; their widest side, −1 when all are at one point."""
    widest, most = -1, 0.0
    for a in range(X.shape[1]):
        low, high = np.inf, -np.inf
        for t in range(first, end):
            x = X[order[t], a]
            low, high = min(low, x), max(high, x)
        box[0, a], box[1, a] = low, high
        if high - low > most:
            widest, most = a, high - low
    return widest


@inner
def _halve(X: Floats, order: Integers, first: int, end: int, middle: int, a: int, keys: Floats) -> None:
    """Rows so that those before the middle are at most those after it in column `a`."""
    for t in range(first, end):
        keys[t] = X[order[t], a]
    low, high = first, end - 1
    while low < high:
        pivot = keys[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while keys[i] < pivot:
                i += 1
            while pivot < keys[j]:
                j -= 1
            if i <= j:
                keys[i], keys[j] = keys[j], keys[i]
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if middle <= j:
            high = j
        elif middle >= i:
            low = i
        else:
            return


### the buffer


@inner
def _farthest(near: Floats, k: int) -> float:
    """The largest of the first k distances."""
    most = 0.0
    for t in range(k):
        most = max(most, near[t])
    return most


@inner
def _nearer(d: float, row: int, than: float, other: int) -> bool:
    return d < than or (d == than and row < other)


@inner
def _keep_nearest(near: Floats, who: Integers, count: int, k: int) -> None:
    """The k nearest of `count` candidates come first, in any order."""
    low, high = 0, count - 1
    while low < high:
        middle = (low + high) // 2
        than, other = near[middle], who[middle]
        near[middle], who[middle] = near[high], who[high]
        store = low
        for t in range(low, high):
            d, row = near[t], who[t]
            near[t], who[t] = near[store], who[store]
            near[store], who[store] = d, row
            store += (d < than) | ((d == than) & (row < other))
        near[high], who[high] = near[store], who[store]
        near[store], who[store] = than, other
        if store >= k:
            high = store - 1
        elif store < k - 1:
            low = store + 1
        else:
            return


@inner
def _sort(near: Floats, who: Integers, k: int) -> None:
    """The nearest first, by shrinking steps."""
    step = 1
    while step < k // 3:
        step = 3 * step + 1
    while step:
        for t in range(step, k):
            d, row, at = near[t], who[t], t
            while at >= step and _nearer(d, row, near[at - step], who[at - step]):
                near[at], who[at] = near[at - step], who[at - step]
                at -= step
            near[at], who[at] = d, row
        step //= 3
