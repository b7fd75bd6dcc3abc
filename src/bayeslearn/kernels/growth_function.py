"""The most ways in which a class labels any m points, by a search that drops what cannot become the most.

A set of points splits the rows into cells; r points more make at most min(rows in it, 2^r) of each cell.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayeslearn.kernels._jit import inner, kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray


@kernel
def most_patterns(labels: NDArray[np.uint8], size: int, budget: int, into: NDArray[np.int64]) -> int:
    """The most patterns that any `size` ≥ 1 points have, and such points; −1 when more than `budget` sets are seen."""
    n, points = labels.shape
    rows = np.empty((size + 1, n), np.int64)
    bounds = np.zeros((size + 1, n + 1), np.int64)
    cells = np.ones(size + 1, np.int64)
    chosen = np.zeros(size + 1, np.int64)
    for i in range(n):
        rows[0, i] = i
    bounds[0, 1] = n
    most = 0
    limit = min(n, 1 << min(size, 62))
    depth = 0
    while depth >= 0 and most < limit:
        x = chosen[depth]
        left = size - depth - 1
        if x + left >= points:
            depth -= 1
            continue
        budget -= 1
        if budget < 0:
            return -1
        chosen[depth] += 1
        cells[depth + 1] = refine(labels, rows, bounds, cells[depth], depth, x)
        if at_best(bounds[depth + 1], cells[depth + 1], left) <= most:
            continue
        if left == 0:
            most = cells[depth + 1]
            for i in range(size):
                into[i] = chosen[i] - 1
        else:
            depth += 1
            chosen[depth] = x + 1
    return most


@inner
def refine(
    labels: NDArray[np.uint8], rows: NDArray[np.int64], bounds: NDArray[np.int64], cells: int, depth: int, x: int
) -> int:
    """Split every cell by the label of x in its rows; return how many cells are not empty."""
    made = 0
    for c in range(cells):
        low, high = bounds[depth, c], bounds[depth, c + 1]
        for i in range(bounds[depth, c], bounds[depth, c + 1]):
            row = rows[depth, i]
            if labels[row, x]:
                high -= 1
                rows[depth + 1, high] = row
            else:
                rows[depth + 1, low] = row
                low += 1
        for end in (low, bounds[depth, c + 1]):
            if end > bounds[depth + 1, made]:
                made += 1
                bounds[depth + 1, made] = end
    return made


@inner
def at_best(bounds: NDArray[np.int64], cells: int, left: int) -> int:
    """How many patterns there can be after `left` points more."""
    total = 0
    for c in range(cells):
        total += min(bounds[c + 1] - bounds[c], 1 << min(left, 62))
    return total
