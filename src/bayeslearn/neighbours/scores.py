"""Which rows need not be measured: lower bounds of distances, by numbers of 16 bits in as few columns as will do.

    x = (R x, r)        R: the leading directions, orthonormal        r: the length of what they leave of x
    |x − q|² ≥ |R x − R q|² + (r_x − r_q)² = |x|² + |q|² − 2 (R x · R q + r_x r_q)

With all directions it is an equality. Where few of them hold most of what rows differ in, few do as well: what
they cost is tried out on a sample of the rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayeslearn import kernels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Rows = NDArray[np.int64]

#: Rows of a panel, queries of a group, and what a length of one becomes: as the kernel has them.
PANEL, GROUP, LARGEST = 16, 6, 32767.0

#: Queries that one thread answers in a go: their numbers stay in its cache.
SHARE = 84 * GROUP

#: Numbers of columns, with that of what is left, to try; rows to try them on, and how many of these ask the others.
WIDTHS, SAMPLE, ASKED = (8, 16, 32, 64, 128, 256), 4096, 64

#: What it costs to look at a score, to fetch a row that is measured, and a column of it; a column of a score costs 1.
LOOK, FETCH, MEASURE = 8, 10_000, 40

#: Columns for which directions are looked for.
FEWEST, MOST = 32, 1024

#: Scales whose squares are as exact as any.
LEAST_SCALE, LARGEST_SCALE = 1e-130, 1e130


class Scores:
    """The directions and lengths of all rows about a centre."""

    def __init__(self, points: Floats, centre: Floats, directions: Floats | None = None) -> None:
        self.points, self.centre, self.directions = points, centre, directions
        rows, lengths = self._seen(points)
        self.scale = float(lengths.max())
        self.columns = rows.shape[1]
        panels = -(-len(points) // PANEL)
        a = np.zeros(panels * PANEL)
        if self.usable:
            a[: len(points)] = lengths / self.scale
        lower = a**2 / 2 * (1 - 2.0**-20)  # more than rounding to single precision can add
        self._packed = packed(rows, lengths, PANEL), a.astype(np.float32), lower.astype(np.float32)

    @property
    def usable(self) -> bool:
        """Whether squares neither vanish nor overflow."""
        return LEAST_SCALE < self.scale < LARGEST_SCALE

    def find(self, queries: Floats, squares: Floats, rows: Rows, most: int) -> None:
        """Fill in the nearest rows; the first is −1 where more than `most` had to be measured."""

        def some(start: int) -> None:
            part = slice(start, start + size)
            self._find(queries[part], squares[part], rows[part], most)

        size = min(SHARE, -(-len(queries) // kernels.thread_count()))
        kernels.parallel(some, range(0, len(queries), size))

    def _find(self, queries: Floats, squares: Floats, rows: Rows, most: int) -> None:
        d = queries.shape[1]
        with np.errstate(over="ignore", invalid="ignore"):  # what is too far for single precision is measured
            seen, lengths = self._seen(queries)
            b = lengths / self.scale
            off = (1.1 * np.sqrt(self.columns) + np.sqrt(d) / 16) / LARGEST  # by 16 bits, and much more than by 53
            limits = np.tile(np.array([0, 0, -np.inf], np.float32), (-(-len(b) // GROUP) * GROUP, 1))
            limits[: len(b)] = np.column_stack([b / LARGEST**2, b * off, np.full(len(b), np.inf)])
            asked = packed(seen, lengths, GROUP), limits, b * b, self.scale**-2, (d + 8) * 2.0**-50
            left = np.full(len(queries), most)
            kernels.sift_rows(self._packed, asked, self.points, queries, left, squares, rows)

    def _seen(self, points: Floats) -> tuple[Floats, Floats]:
        """Rows about the centre, by the directions, and their lengths."""
        moved = points - self.centre
        squares = np.einsum("ij,ij->i", moved, moved)
        return (moved if self.directions is None else turned(moved, squares, self.directions)), np.sqrt(squares)


def packed(rows: Floats, lengths: Floats, wide: int) -> NDArray[np.int16]:
    """Rows as panels or groups of so many."""
    into = np.zeros((-(-len(rows) // wide), -(-rows.shape[1] // 2), wide, 2), np.int16)
    kernels.shorten_rows(rows, lengths, into)
    return into


def turned(moved: Floats, squares: Floats, directions: Floats) -> Floats:
    """Rows along some directions, and the lengths of what these leave."""
    along = moved @ directions
    rest = np.sqrt(np.maximum(squares - np.einsum("ij,ij->i", along, along), 0.0))
    return np.column_stack([along, rest])


def leading(points: Floats, centre: Floats) -> Floats | None:
    """As many leading directions as make the search quickest, or None where it is quickest with all columns."""
    n, d = points.shape
    if not FEWEST <= d <= MOST or n < 16 * d:
        return None
    sample = points[:: -(-n // SAMPLE)] - centre
    largest = np.abs(sample).max()
    if not LEAST_SCALE < largest < LARGEST_SCALE:
        return None
    sample /= largest
    directions = np.linalg.eigh(sample.T @ sample)[1][:, ::-1]
    squares = np.einsum("ij,ij->i", sample, sample)

    def bounds(rows: Floats) -> Floats:
        return squares[:ASKED, None] + squares[ASKED:] - 2 * rows[:ASKED] @ rows[ASKED:].T

    nearest = bounds(sample).min(axis=1, keepdims=True)
    costs = {d: float(d + LOOK)}
    for width in (w for w in WIDTHS if w <= d // 2):
        share = np.mean(bounds(turned(sample, squares, directions[:, : width - 1])) <= nearest)
        costs[width] = width + LOOK + (FETCH + MEASURE * d) * float(share)
    best = min(costs, key=lambda width: costs[width])
    return None if best == d else np.ascontiguousarray(directions[:, : best - 1])


def affordable(n: int, d: int) -> int:
    """How many rows can be measured in the time that bounds by all columns take."""
    return n * (d + LOOK) // (FETCH + MEASURE * d)
