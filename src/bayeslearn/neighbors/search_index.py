"""Search indexes over points.

    nearest(q, k) = the k rows with the least (d(q, x), row number)        d² = Σ_c (q_c − x_c)²

    kd_tree       a k-d tree                            few columns
    brute         every row, most by a lower bound      many columns, or few rows
    approximate   usearch's graph of near points        many rows of many columns, where a few misses do no harm

All but the last are exact, and of rows equally far the one that comes first in the table is nearer. Lower bounds need
numbers of 16 bits, in as few columns as suffice:

    x = (R x, r)        R: the leading directions, orthonormal        r: the length of what they leave of x
    |x − q|² ≥ |R x − R q|² + (r_x − r_q)² = |x|² + |q|² − 2 (R x · R q + r_x r_q)

With all directions it is an equality. The number of directions is the cheapest on a sample of the rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import kernels, lazy_imports, validation
from bayeslearn.errors import DataError, EmptyTableError, ParameterError, ShapeError
from bayeslearn.tables.table import read_only

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Rows = NDArray[np.int64]
    from numpy.typing import ArrayLike, NDArray

### lower bounds


#: Rows of a panel, queries of a group, and what a length of one becomes: as the kernel has them.
PANEL, GROUP, LARGEST = 16, 6, 32767.0

#: Queries that one thread answers in a go: their numbers stay in its cache.
QUERIES_AT_ONCE = 84 * GROUP

#: Numbers of columns, with that of what is left, to try; rows to try them on, and how many of these ask the others.
WIDTHS, SAMPLE, ASKED = (8, 16, 32, 64, 128, 256), 4096, 64

#: What it costs to look at a score, to fetch a row that is measured, and a column of it; a column of a score costs 1.
LOOK, FETCH, MEASURE = 8, 10_000, 40

#: Columns for which directions are looked for.
FEWEST, MOST = 32, 1024

#: Scales whose squares are as exact as any.
LEAST_SCALE, LARGEST_SCALE = 1e-130, 1e130


class Scores:
    """The directions and lengths of all rows about a center."""

    def __init__(self, points: Floats, center: Floats, directions: Floats | None = None) -> None:
        self.points, self.center, self.directions = points, center, directions
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

        size = min(QUERIES_AT_ONCE, -(-len(queries) // kernels.thread_count()))
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
        """Rows about the center, by the directions, and their lengths."""
        moved = points - self.center
        squares = np.einsum("ij,ij->i", moved, moved)
        return (moved if self.directions is None else turned(moved, squares, self.directions)), np.sqrt(squares)


def packed(rows: Floats, lengths: Floats, wide: int) -> NDArray[np.int16]:
    """Rows as panels or groups of `wide` rows."""
    into = np.zeros((-(-len(rows) // wide), -(-rows.shape[1] // 2), wide, 2), np.int16)
    kernels.shorten_rows(rows, lengths, into)
    return into


def turned(moved: Floats, squares: Floats, directions: Floats) -> Floats:
    """Rows along some directions, and the lengths of what these leave."""
    along = moved @ directions
    rest = np.sqrt(np.maximum(squares - np.einsum("ij,ij->i", along, along), 0.0))
    return np.column_stack([along, rest])


def leading(points: Floats, center: Floats) -> Floats | None:
    """As many leading directions as make the search quickest, or None where it is quickest with all columns."""
    n, d = points.shape
    if not FEWEST <= d <= MOST or n < 16 * d:
        return None
    sample = points[:: -(-n // SAMPLE)] - center
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


### indexes


#: A tree pays where it has more rows than this, and 2^(1.4 d) for d columns: else most of its boxes are visited.
FEW_ROWS, PER_COLUMN = 2000, 1.4

#: Cells from which on bounds are quicker than a plain scan, and rows for each neighbor that is asked for.
MANY_CELLS, FEW_KEPT = 1 << 18, 8

#: Rows that are measured before a threshold is any good.
AT_FIRST = 64

#: Rows that stand together in a leaf.
LANES = 8

#: Queries that one thread answers in a go.
SHARE = 64


def build_index(points: ArrayLike, *, algorithm: str = "auto") -> Index:
    """An index over rows of finite numbers; "auto" is exact and chosen by the number of rows and columns.

    >>> index = build_index([[5.0, 4.0], [7.0, 3.0], [8.0, 1.0]])
    >>> distances, rows = index.nearest([[6.0, 4.0]], 2)
    >>> rows, distances.round(1)
    (array([[0, 1]]), array([[1. , 1.4]]))
    """
    x = checked("points", points)
    if not len(x):
        raise EmptyTableError("there are no rows to find neighbors in")
    algorithm = validation.choice("algorithm", algorithm, ["auto", *KINDS])
    return KINDS[best_kind(*x.shape) if algorithm == "auto" else algorithm](validation.owned(x))


def best_kind(n: int, d: int) -> str:
    """The exact index that is fastest for n rows and d columns."""
    return "kd_tree" if 0 < d < 32 and n > FEW_ROWS and n >= 2 ** (PER_COLUMN * d) else "brute"


usearch: Any = lazy_imports.Optional(
    "usearch.index", "approximate neighbors", "approximate", otherwise=", or use an exact index"
)


class Index(ABC):
    """Points, and a way to the nearest of them."""

    algorithm: str

    def __init__(self, points: Floats) -> None:
        self.points = points

    def __len__(self) -> int:
        return len(self.points)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self)} rows × {self.points.shape[1]} columns)"

    def nearest(self, queries: ArrayLike, n_neighbors: int) -> tuple[Floats, Rows]:
        """Return the distances and the positions of the nearest rows to each query, the nearest first."""
        q = checked("queries", queries, self.points.shape[1])
        k = validation.integer("n_neighbors", n_neighbors, min_value=1)
        if k > len(self):
            raise ParameterError(f"`n_neighbors` is {k}, but there are only {len(self)} rows to find neighbors in")
        squares, rows = np.empty((len(q), k)), np.empty((len(q), k), np.int64)
        if len(q):
            self.find(q, squares, rows)
        return np.sqrt(squares), rows

    @abstractmethod
    def find(self, queries: Floats, squares: Floats, rows: Rows) -> None:
        """Fill in the squared distances and the rows of the nearest."""

    def scan(self, queries: Floats, squares: Floats, rows: Rows) -> None:
        """The same by looking at every row."""

        def some(start: int) -> None:
            kernels.scan_rows(self.points, queries, start, min(start + SHARE, len(queries)), squares, rows)

        work = len(queries) * self.points.size
        kernels.parallel(some, range(0, len(queries), SHARE), worth=work > 1 << 20)


class Tree(Index):
    """A k-d tree; questions are answered in the order of its leaves, so that what one has read the next finds near."""

    algorithm = "kd_tree"

    def __init__(self, points: Floats) -> None:
        super().__init__(points)
        n, d = points.shape
        numbers, nodes = np.arange(n), np.empty((max(n // 4, 8), 3), np.int64)
        nodes = nodes[: kernels.grow_tree(points, numbers, nodes)].copy()
        groups = np.empty((-(-n // LANES) * d, LANES))
        boxes, least = np.empty((len(nodes), 2, d)), np.empty(len(nodes), np.int64)
        kernels.lay_leaves(points, numbers, nodes, groups, boxes, least)
        self._tree = (nodes, numbers, groups, boxes, least)

    def find(self, queries: Floats, squares: Floats, rows: Rows) -> None:
        """On all cores, where it is worth it."""
        places = np.empty(len(queries), np.int64)
        kernels.place_queries(self._tree[0], self._tree[3], queries, places)
        which = np.argsort(places, kind="stable")

        def some(start: int) -> None:
            kernels.search_leaves(self._tree, queries, which, start, min(start + SHARE, len(queries)), squares, rows)

        kernels.parallel(some, range(0, len(queries), SHARE))


class Brute(Index):
    """Every row: a lower bound of each distance by short numbers, then the distances of those that can be nearest.

    Where few directions hold most of what rows differ in, the bounds are by these. A query for which they leave too
    many is asked again with bounds by all columns.
    """

    algorithm = "brute"

    def __init__(self, points: Floats) -> None:
        super().__init__(points)
        self._scores: list[Scores] = []
        if points.size < MANY_CELLS:
            return
        with np.errstate(over="ignore", invalid="ignore"):
            self._center = points.mean(axis=0)
            self._scores.append(Scores(points, self._center, leading(points, self._center)))

    def find(self, queries: Floats, squares: Floats, rows: Rows) -> None:
        """By bounds where there is enough for them to do."""
        if not self._scores or not self._scores[0].usable or len(self) < FEW_KEPT * rows.shape[1]:
            self.scan(queries, squares, rows)
            return
        first, k = self._scores[0], rows.shape[1]
        if first.directions is None:
            first.find(queries, squares, rows, len(self))
            return
        first.find(queries, squares, rows, affordable(*self.points.shape) + AT_FIRST + FEW_KEPT * k)
        self._again(np.flatnonzero(rows[:, 0] < 0), queries, squares, rows)

    def _again(self, some: Rows, queries: Floats, squares: Floats, rows: Rows) -> None:
        """Answer some of the queries once more, with all columns."""
        if not len(some):
            return
        if len(self._scores) == 1:
            self._scores.append(Scores(self.points, self._center))
        again = np.empty((len(some), rows.shape[1])), np.empty((len(some), rows.shape[1]), np.int64)
        self._scores[1].find(read_only(queries[some]), *again, len(self))
        squares[some], rows[some] = again


#: Points of which a graph is built by one thread, always the same.
FEW_POINTS = 20_000


class Approximate(Index):
    """usearch's graph, in single precision; distances are exact, but a near row may be missed.

    A large graph is built by all cores at once, so that two builds may differ in what they miss.
    """

    algorithm = "approximate"

    def __init__(self, points: Floats) -> None:
        graph = usearch.Index
        super().__init__(points)
        self._center = points.mean(axis=0)
        self._graph: Any = graph(
            ndim=max(points.shape[1], 1), metric="l2sq", dtype="f32", connectivity=32, expansion_add=128,
        )  # fmt: skip
        threads = kernels.thread_count() if len(points) > FEW_POINTS else 1
        self._graph.add(np.arange(len(points)), self._single(points), threads=threads)

    def find(self, queries: Floats, squares: Floats, rows: Rows) -> None:
        """The graph's answer, measured exactly; a query that it leaves short is answered by a scan."""
        k = rows.shape[1]
        self._graph.expansion_search = max(2 * k, 32)
        found = self._graph.search(self._single(queries), k, threads=kernels.thread_count())
        short = np.flatnonzero(np.atleast_1d(found.counts if len(queries) > 1 else len(found.keys)) < k)
        if len(short):
            self.scan(queries, squares, rows)
            return
        rows[:] = np.asarray(found.keys).reshape(rows.shape)
        kernels.measure_rows(self.points, queries, rows, squares)

    def _single(self, x: Floats) -> NDArray[np.float32]:
        return np.ascontiguousarray((x - self._center).astype(np.float32))


#: Kinds of indexes by name.
KINDS: dict[str, type[Index]] = {index.algorithm: index for index in (Tree, Brute, Approximate)}


def checked(name: str, x: ArrayLike, columns: int | None = None) -> Floats:
    """Rows of finite numbers, read-only and in one piece."""
    array = np.ascontiguousarray(validation.float_array(name, x))
    if array.ndim != 2 or columns not in {None, array.shape[1]}:
        expected = "(n, columns)" if columns is None else f"(n, {columns})"
        raise ShapeError(f"expected {name} of shape {expected}, got {array.shape}")
    bad = ~np.isfinite(array)
    if bad.any():
        row, column = validation.first_position(bad)
        raise DataError(
            f"`{name}` must be finite, got {array[row, column]} in row {row}, column {column}",
            hint="rows with missing values become points by a `Distance`",
        )
    return read_only(array)
