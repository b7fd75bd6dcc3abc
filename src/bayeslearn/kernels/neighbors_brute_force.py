"""The k nearest of all rows, by looking at every one.

    d²(q, x) = Σ_c (q_c − x_c)²        nearer is (d², row number): of rows equally far, the earlier one

A heap keeps the k nearest so far, the farthest of them on top. Rows come in order, so that a tie never replaces.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.kernels._jit import inner, kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Rows = NDArray[np.int64]


@kernel
def scan_rows(points: Floats, queries: Floats, start: int, stop: int, squares: Floats, rows: Rows) -> None:
    """The nearest of `points` to queries start … stop, as many as `rows` has columns, in order."""
    k = rows.shape[1]
    for q in range(start, stop):
        far, at = squares[q], rows[q]
        far[:], at[:] = np.inf, points.shape[0]
        for i in range(points.shape[0]):
            square = square_of(points, i, queries, q)
            if square < far[0] or (square == far[0] and i < at[0]):  # equal only where both are infinite
                sink(far, at, k, square, i)
        order(far, at, k)


@kernel
def measure_rows(points: Floats, queries: Floats, rows: Rows, squares: Floats) -> None:
    """The squared distances of rows that are known to be near, and the rows in order of them."""
    for q in range(rows.shape[0]):
        far, at = squares[q], rows[q].copy()
        rows[q, :], far[:] = points.shape[0], np.inf
        for c in range(at.shape[0]):
            square = square_of(points, at[c], queries, q)
            if square < far[0] or (square == far[0] and at[c] < rows[q, 0]):
                sink(far, rows[q], rows.shape[1], square, at[c])
        order(far, rows[q], rows.shape[1])


@inner
def square_of(points: Floats, i: int, queries: Floats, q: int) -> float:
    """|q − x|², which decides."""
    total = 0.0
    for c in range(points.shape[1]):
        δ = queries[q, c] - points[i, c]
        total += δ * δ
    return total


### heaps


@inner
def sink(far: Any, at: Rows, k: int, value: Any, row: int) -> None:
    """Put (value, row) in place of the top of a heap of k whose farthest stands first."""
    i = 0
    while True:
        child = 2 * i + 1
        if child >= k:
            break
        other = child + 1
        if other < k and (far[other] > far[child] or (far[other] == far[child] and at[other] > at[child])):
            child = other
        if far[child] < value or (far[child] == value and at[child] < row):
            break
        far[i], at[i] = far[child], at[child]
        i = child
    far[i], at[i] = value, row


@inner
def order(far: Any, at: Rows, k: int) -> None:
    """Sort a heap by (value, row), the nearest first."""
    for size in range(k - 1, 0, -1):
        value, row = far[size], at[size]
        far[size], at[size] = far[0], at[0]
        sink(far, at, size, value, row)
