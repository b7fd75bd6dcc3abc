"""A k-d tree: boxes within boxes, and the nearest rows without computing most distances.

A box is cut in two halves of as many rows across its longest side, until few rows are left. A search goes to the nearer
half first, and leaves out every box that is farther than the k-th row found so far:

    d²(q, box) = Σ_c max(low_c − q_c, 0, q_c − high_c)²

Rows of a leaf stand in groups of eight, column by column, so that eight distances are worked out together. Of rows
equally far the one with the lower number is nearer; a box at the same distance whose rows all come later is left out,
so that rows that stand at one place cost nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.kernels._jit import inner, kernel
from bayeslearn.kernels.neighbors_brute_force import order, sink
from bayeslearn.kernels.simd_vectors import LANES, all_lanes, plus, put, row, times

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Rows = NDArray[np.int64]

#: Rows of a leaf at most, a multiple of LANES; and rows that tell which side of a box is longest.
LEAF, PROBES = 32, 64

#: Boxes that wait at most: one for every level.
DEPTH = 64

#: What rounding may add to the distance of a box.
ROUNDING = 1e-14


@kernel
def grow_tree(points: Floats, numbers: Rows, nodes: Rows) -> int:
    """Put the row `numbers` in the order of the leaves; how many `nodes` (start, stop, right child or 0) there are."""
    starts, stops, parents = np.empty(DEPTH, np.int64), np.empty(DEPTH, np.int64), np.empty(DEPTH, np.int64)
    starts[0], stops[0], parents[0] = 0, points.shape[0], -1
    waiting, count = 1, 0
    while waiting:
        waiting -= 1
        start, stop, parent = starts[waiting], stops[waiting], parents[waiting]
        if parent >= 0:
            nodes[parent, 2] = count
        while True:  # the left child follows its parent, the right one waits
            node, count = count, count + 1
            nodes[node, 0], nodes[node, 1], nodes[node, 2] = start, stop, 0
            if stop - start <= LEAF:
                break
            middle = start + (stop - start + LANES) // (2 * LANES) * LANES
            _halve(points, _longest(points, numbers, start, stop), numbers, start, stop - 1, middle)
            starts[waiting], stops[waiting], parents[waiting] = middle, stop, node
            waiting += 1
            stop = middle
    return count


@inner
def _longest(points: Floats, numbers: Rows, start: int, stop: int) -> int:
    """The column that varies most among some of the rows."""
    step, best, longest = max((stop - start) // PROBES, 1), 0, -1.0
    for c in range(points.shape[1]):
        low = high = points[numbers[start], c]
        for i in range(start, stop, step):
            x = points[numbers[i], c]
            low, high = min(low, x), max(high, x)
        if high - low > longest:
            best, longest = c, high - low
    return best


@inner
def _halve(points: Floats, c: int, numbers: Rows, low: int, high: int, middle: int) -> None:
    """Move row numbers so that those before `middle` are not above those from it on (Hoare's selection)."""
    while low < high:
        pivot = points[numbers[(low + high) // 2], c]
        i, j = low, high
        while i <= j:
            while points[numbers[i], c] < pivot:
                i += 1
            while points[numbers[j], c] > pivot:
                j -= 1
            if i <= j:
                numbers[i], numbers[j] = numbers[j], numbers[i]
                i, j = i + 1, j - 1
        if middle <= j:
            high = j
        elif middle >= i:
            low = i
        else:
            return


@kernel
def lay_leaves(points: Floats, numbers: Rows, nodes: Rows, groups: Floats, boxes: Floats, least: Rows) -> None:
    """The negative cells of each group, the box of each node and its lowest row number, from the leaves up."""
    n, d = points.shape
    for i in range(groups.shape[0] // d * LANES):
        for c in range(d):
            groups[i // LANES * d + c, i % LANES] = -points[numbers[i], c] if i < n else np.inf
    for node in range(nodes.shape[0] - 1, -1, -1):
        box, right = boxes[node], nodes[node, 2]
        if right:
            least[node] = min(least[node + 1], least[right])
            for c in range(d):
                box[0, c] = min(boxes[node + 1, 0, c], boxes[right, 0, c])
                box[1, c] = max(boxes[node + 1, 1, c], boxes[right, 1, c])
            continue
        least[node], box[0], box[1] = n, np.inf, -np.inf
        for i in range(nodes[node, 0], nodes[node, 1]):
            least[node] = min(least[node], numbers[i])
            for c in range(d):
                x = points[numbers[i], c]
                box[0, c], box[1, c] = min(box[0, c], x), max(box[1, c], x)


@kernel
def search_leaves(tree: Any, queries: Floats, which: Rows, start: int, stop: int, squares: Floats, rows: Rows) -> None:
    """The nearest rows of queries which[start] … which[stop − 1], in order; `tree` as the two above made it."""
    nodes, numbers, groups, boxes, least = tree
    k, d = rows.shape[1], queries.shape[1]
    waiting, gaps, eight = np.empty(DEPTH, np.int64), np.empty(DEPTH), np.empty((1, LANES))
    for w in range(start, stop):
        q = queries[which[w]]
        far, at = squares[which[w]], rows[which[w]]
        far[:], at[:] = np.inf, numbers.shape[0]
        waiting[0], gaps[0], size = 0, 0.0, 1
        while size:
            size -= 1
            node = waiting[size]
            if _beyond(gaps[size], far[0], least[node], at[0]):
                continue
            while nodes[node, 2]:
                near, other = node + 1, nodes[node, 2]
                gap, wide = _gap(boxes[near], q), _gap(boxes[other], q)
                if wide < gap:
                    near, other, gap, wide = other, near, wide, gap
                if not _beyond(wide, far[0], least[other], at[0]):
                    waiting[size], gaps[size] = other, wide
                    size += 1
                node = near
                if _beyond(gap, far[0], least[node], at[0]):
                    break
            else:
                for first in range(nodes[node, 0], nodes[node, 1], LANES):
                    total, g = all_lanes(0.0), first // LANES * d
                    for c in range(d):
                        δ = plus(all_lanes(q[c]), row(groups, g + c))
                        total = plus(total, times(δ, δ))
                    put(eight, 0, total)
                    for i in range(min(LANES, nodes[node, 1] - first)):
                        square = eight[0, i]
                        if square < far[0] or (square == far[0] and numbers[first + i] < at[0]):
                            sink(far, at, k, square, numbers[first + i])
        order(far, at, k)


@inner
def _beyond(gap: float, worst: float, least: int, last: int) -> bool:
    """Whether no row of a box can be nearer than the last one kept."""
    return gap * (1 - ROUNDING) > worst or (gap == worst and least > last)


@inner
def _gap(box: Floats, q: Floats) -> float:
    total = 0.0
    for c in range(q.shape[0]):
        δ = max(box[0, c] - q[c], q[c] - box[1, c], 0.0)
        total += δ * δ
    return total


@kernel
def place_queries(nodes: Rows, boxes: Floats, queries: Floats, places: Rows) -> None:
    """The leaf that each query comes to first, so that neighbors can be searched one after the other."""
    for w in range(queries.shape[0]):
        node = 0
        while nodes[node, 2]:
            near, other = node + 1, nodes[node, 2]
            node = other if _gap(boxes[other], queries[w]) < _gap(boxes[near], queries[w]) else near
        places[w] = node
