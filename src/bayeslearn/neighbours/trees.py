"""A k-d tree of our own, for many queries at once; the loops are those of :mod:`bayeslearn.kernels.local_tree`.

Queries that are near each other visit the same boxes, so it pays to ask them one after the other: :func:`in_space`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayeslearn import kernels
from bayeslearn.neighbours.indexes import Index
from bayeslearn.tables.table import read_only

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Rows = NDArray[np.int64]

#: Queries that one thread answers in a go.
SHARE = 256


class BoxTree(Index):
    """Boxes of points, each halved along its widest side.

    >>> distances, rows = BoxTree(np.array([[5.0, 4.0], [7.0, 3.0], [8.0, 1.0]])).nearest([[6.0, 4.0]], 2)
    >>> rows, distances.round(1)
    (array([[0, 1]]), array([[1. , 1.4]]))
    """

    kind = "boxes"

    def __init__(self, points: Floats) -> None:
        super().__init__(points)
        self._order, self._spans, self._boxes = planted(points)
        self._turned = np.ascontiguousarray(points[self._order].T)

    def find(self, queries: Floats, squares: Floats, rows: Rows) -> None:
        """Piece by piece, on every core."""
        self._search(queries, squares, rows, in_order=True)

    def around(self, queries: Floats, k: int) -> Rows:
        """The k nearest rows to each query in any order, which is quicker."""
        squares, rows = np.empty((len(queries), k)), np.empty((len(queries), k), np.int64)
        self._search(queries, squares, rows, in_order=False)
        return rows

    def _search(self, queries: Floats, squares: Floats, rows: Rows, *, in_order: bool) -> None:
        tree, queries = (self._turned, self._order, self._spans, self._boxes), read_only(queries)

        def some(start: int) -> None:
            kernels.search_tree(*tree, queries, start, min(start + SHARE, len(queries)), squares, rows, in_order)

        kernels.parallel(some, range(0, len(queries), SHARE))


def planted(points: Floats) -> tuple[Rows, Rows, Floats]:
    """Rows in the order of the leaves, and the boxes above them."""
    n, d = points.shape
    most = max(n // 8, 1)  # a leaf holds at least half of what it may, and there are as many boxes above them
    order, spans, boxes = np.empty(n, np.int64), np.empty((most, 4), np.int64), np.empty((most, 2, d))
    made = kernels.plant(read_only(points), order, spans, boxes)
    return order, spans[:made].copy(), boxes[:made].copy()


def in_space(points: Floats) -> Rows:
    """Rows in an order in which those that follow each other are near each other."""
    return planted(points)[0]
