"""Contingency tables of groups of columns, in one pass over a table.

    N(a, b, c) = Σ_i w_i [row i shows a, b and c]

Columns with few states become bitmaps, which are intersected; larger groups are counted row by row. The sizes determine
which of the two is faster. The counts are the same.

Equal rows are found by keys. Codes are packed into 64-bit words as digits of a mixed-radix number, key ← key · size +
code, as many columns to a word as fit; a float is a separate word. One word is its own key. Several are hashed to
one, and the groups are then compared word by word; should two different rows ever share a hash, the words themselves
are sorted instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayeslearn import kernels, validation
from bayeslearn.errors import CapacityError, ParameterError
from bayeslearn.reports import Grid, Pairs, Report, Reported

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from bayeslearn.tables.frames import Backend
    from bayeslearn.tables.schema import Schema
    from bayeslearn.tables.source_protocol import Source
    from bayeslearn.tables.table import Table

    Words = NDArray[np.uint64]


#: Rows that are packed at once, so that the words stay in the processor's cache.
BLOCK = 1 << 15


def groups(
    codes: NDArray[np.signedinteger], sizes: Sequence[int], values: NDArray[np.float64]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The first row of each group of equal rows, in order of appearance, and the group of every row."""
    words = [*packed(codes, sizes), *(float_bits(x) for x in values)]
    if not words:
        n = codes.shape[1]
        return np.zeros(min(n, 1), dtype=np.intp), np.zeros(n, dtype=np.intp)
    first, group = grouped(words[0] if len(words) == 1 else hashed(words))
    if len(words) > 1 and not all(np.array_equal(word, word[first][group]) for word in words):
        first, group = grouped(np.stack(words, axis=1))
    return by_appearance(first, group)


def packed(codes: NDArray[np.signedinteger], sizes: Sequence[int]) -> Iterator[Words]:
    """The columns of codes as few words, one number per row; a missing cell is the digit 0."""
    start = 0
    while start < len(sizes):
        stop, room = start, 2**64
        while stop < len(sizes) and (left := room // (sizes[stop] + 1)):
            stop, room = stop + 1, left
        yield pack(codes[start:stop], sizes[start:stop])
        start = stop


def pack(codes: NDArray[np.signedinteger], sizes: Sequence[int]) -> Words:
    """One word per row: Σ (code + 1) · Π sizes before it."""
    word = np.zeros(codes.shape[1], dtype=np.uint64)
    signed = word.view(np.int64)  # arithmetic modulo 2⁶⁴ is the same for both
    for low in range(0, len(word), BLOCK):
        part = signed[low : low + BLOCK]
        for column, size in zip(codes, sizes, strict=True):
            part *= size + 1
            part += column[low : low + BLOCK]
            part += 1
    return word


def float_bits(x: NDArray[np.float64]) -> Words:
    """The bits of floats, with −0.0 as 0.0 and one NaN for all."""
    return np.where(np.isnan(x), np.nan, x + 0.0).view(np.uint64)


def hashed(words: Sequence[Words]) -> Words:
    """One 64-bit hash per row: multiply, fold the high bits down, take in the next word."""
    key = np.zeros_like(words[0])
    for word in words:
        key ^= word
        key *= np.uint64(0x9E3779B97F4A7C15)
        key ^= key >> np.uint64(29)
        key *= np.uint64(0xBF58476D1CE4E5B9)
        key ^= key >> np.uint64(32)
    return key


def grouped(keys: Words) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """First row and group of equal keys (a vector, or rows of a matrix)."""
    _, first, group = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    return first, group.reshape(-1)


def by_appearance(first: NDArray[np.intp], group: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The groups numbered in the order in which they first appear."""
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return first[order], rank[group]


Family = tuple[int, ...]

#: Nanoseconds per row, measured: a row put into its cell; one more bitmap of a column; one cell by intersection.
ROW_COST, BITMAP_COST, CELL_COST = 0.8, 0.15, 0.0075

#: Rows counted by one task. Fixed, so that weighted sums do not depend on the number of threads.
CHUNK = 1 << 19

#: The largest table that is filled chunk by chunk; larger ones are filled by one task.
CHUNKED_CELLS = 1 << 16

#: The maximum number of cells of all groups together.
MAX_CELLS = 1 << 28


@dataclass(frozen=True, eq=False, repr=False)
class ContingencyTable(Reported):
    """The counts of a group of columns: axis j has the states of column j, in the order of the schema."""

    columns: tuple[str, ...]
    #: The states of each column; None is a missing value.
    states: tuple[tuple[Any, ...], ...]
    counts: NDArray[np.float64]
    #: The weight of the rows with a missing value in one of the columns, which are not counted.
    incomplete: float

    def report(self) -> Report:
        """Return the counts: with two columns as a grid, else one row per cell."""
        rest = Pairs({"Rows with missing values": self.incomplete}) if self.incomplete else None
        if len(self.columns) == 2:
            head = [f"{self.columns[0]} \\ {self.columns[1]}", *map(state_text, self.states[1])]
            rows = zip(map(state_text, self.states[0]), self.counts.tolist(), strict=True)
            grid = Grid(head, [[state, *cells] for state, cells in rows])
        else:
            grid = Grid([*self.columns, "Count"], [[*map(state_text, s), n] for s, n in self._cells()])
        return Report(f"Counts of {', '.join(self.columns)}: {self.counts.sum():g} rows", grid, rest)

    def to_dict(self) -> dict[str, Any]:
        """Return columns, states, counts and the weight of incomplete rows as plain values."""
        return {
            "columns": list(self.columns), "states": [list(states) for states in self.states],
            "counts": self.counts.tolist(), "incomplete": self.incomplete,
        }  # fmt: skip

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a frame with a row for each cell: a column for each variable, and `count`."""
        from bayeslearn.tables.frames import frame_of  # noqa: PLC0415 - Arrow loads when it is needed

        cells = list(self._cells())
        columns = {name: [states[j] for states, _ in cells] for j, name in enumerate(self.columns)}
        return frame_of(columns | {"count": [n for _, n in cells]}, backend)

    def _cells(self) -> Iterator[tuple[tuple[Any, ...], float]]:
        return zip(product(*self.states), self.counts.ravel().tolist(), strict=True)


def state_text(state: Any) -> str:
    """A state as a label."""
    return "missing" if state is None else str(state)


def contingency_tables(
    data: Source, column_groups: Sequence[Sequence[str]], *, missing: Literal["drop", "state"] = "drop"
) -> list[ContingencyTable]:
    """Count the rows of each combination of states, for groups of discrete columns.

    Parameters
    ----------
    data
        A table, or a source (:func:`~bayeslearn.scan`), which is counted in one pass; rows have their weights.
    column_groups
        The names of the columns of each group.
    missing
        ``"drop"``: rows with a missing value in the group are not counted, and their weight is `incomplete`.
        ``"state"``: a missing value is one more state of every column, the last.

    Returns
    -------
    A :class:`ContingencyTable` for each group.

    Raises
    ------
    ParameterError
        A column is numeric, or not in the data.
    CapacityError
        The counts have too many cells.

    Examples
    --------
    >>> from bayeslearn.tables import as_table
    >>> days = as_table({"wind": ["weak", "strong", "weak", None], "play": ["yes", "no", "yes", "no"]})
    >>> [found] = contingency_tables(days, [("wind", "play")])
    >>> found.counts
    array([[1., 0.],
           [0., 2.]])
    >>> found.incomplete
    1.0
    """
    missing = validation.choice("missing", missing, ["drop", "state"])
    groups = [tuple(group) for group in column_groups]
    return [from_counts(data.schema, g, n, missing) for g, n in zip(groups, data.count_groups(groups), strict=True)]


def from_counts(
    schema: Schema, columns: tuple[str, ...], counts: NDArray[np.float64], missing: str
) -> ContingencyTable:
    """Return the contingency table of counts in which a missing value is the last state of each column."""
    states = tuple(tuple(schema[name].states) for name in columns)  # type: ignore[attr-defined]
    if missing == "state":
        return ContingencyTable(columns, tuple((*known, None) for known in states), counts, 0.0)
    complete = counts[tuple(slice(-1) for _ in columns)]
    incomplete = float(counts.sum() - complete.sum())
    return ContingencyTable(columns, states, np.ascontiguousarray(complete), incomplete)


class Counter:
    """Counts groups of columns of one table, and keeps the bitmaps of columns."""

    def __init__(self, table: Table) -> None:
        self._names = [v.name for v in table.schema.discrete]
        self._place = {name: i for i, name in enumerate(self._names)}
        self._all_names = set(table.schema.names)
        self.codes = table.codes
        self.sample_weight = table.sample_weight
        self.sizes = [len(v.states) for v in table.schema.discrete]
        self._missing: dict[int, bool] = {}
        self._built: set[int] = set()

    def columns(self, names: Sequence[str]) -> Family:
        """The positions of discrete columns, by name."""
        if len(set(names)) < len(names) or not names:
            raise ParameterError(f"a group consists of different columns, got {tuple(names)!r}")
        for name in names:
            if name not in self._place:
                kind = "is numeric" if name in self._all_names else "is not in the table"
                raise ParameterError(
                    f"cannot count column {name!r}: it {kind}",
                    hint=f"the discrete columns are {', '.join(map(repr, self._names[:20]))}; see Table.discretize",
                )
        return tuple(self._place[name] for name in names)

    def count(self, families: Sequence[Family]) -> list[NDArray[np.float64]]:
        """Return the counts of each group, with missing as the last index of every axis."""
        self._check_size(families)
        few = self._worth_intersecting(families)
        worth = self.codes.shape[1] * len(families) > 500_000
        kernels.parallel(self._build, sorted({c for f in few for c in f} - self._built), worth=worth)
        done = dict(kernels.parallel(lambda f: (f, self._intersections(f)), few, worth=worth))
        rest = [f for f in dict.fromkeys(families) if f not in done]
        done.update(self._histograms(rest, worth=worth))
        return [done[f] for f in families]

    def has_missing(self, column: int) -> bool:
        """Whether a column has missing values."""
        if column not in self._missing:
            self._missing[column] = bool(self.codes[column].min(initial=0) < 0)
        return self._missing[column]

    # -- bitmaps or histograms

    def _check_size(self, families: Sequence[Family]) -> None:
        cells = [prod(self.sizes[c] + 1 for c in f) for f in families]
        if sum(cells) > MAX_CELLS:
            largest = families[int(np.argmax(cells))]
            names = ", ".join(self._names[c] for c in largest)
            raise CapacityError(
                f"the counts need {sum(cells):,} cells ({sum(cells) * 8 / 2**30:.1f} GiB), more than {MAX_CELLS:,}; "
                f"the largest group is ({names})",
                hint="use smaller groups, or columns with fewer states",
                cells=sum(cells),
            )

    def _worth_intersecting(self, families: Sequence[Family]) -> list[Family]:
        """Return the groups that bitmaps count faster, if that saves more time than the bitmaps take."""
        if self.sample_weight is not None or self.codes.dtype != np.int8 or not self.codes.shape[1]:
            return []
        gain = {f: ROW_COST - CELL_COST * prod(self._stored(c) + 1 for c in f) for f in families}
        few = [f for f in gain if gain[f] > 0]
        to_build = {c for f in few for c in f} - self._built
        earned = sum(gain[f] for f in few)
        return few if earned > BITMAP_COST * sum(self._stored(c) for c in to_build) else []

    def _stored(self, column: int) -> int:
        """The number of bitmaps of a column: the last count follows from the others."""
        return self.sizes[column] - (not self.has_missing(column))

    # -- bitmaps

    @cached_property
    def _first(self) -> NDArray[np.int64]:
        return np.cumsum([0, *self.sizes], dtype=np.int64)

    @cached_property
    def _bitmaps(self) -> NDArray[np.uint64]:
        n_words = -(-self.codes.shape[1] // 64)
        return np.empty((int(self._first[-1]), n_words), np.uint64)  # pages are touched only for columns built

    def _build(self, column: int) -> None:
        for state in range(self._stored(column)):
            words = self._bitmaps[self._first[column] + state]
            packed = np.packbits(self.codes[column] == state, bitorder="little")
            words[-1] = 0
            words.view(np.uint8)[: len(packed)] = packed
        self._built.add(column)

    def _intersections(self, family: Family) -> NDArray[np.float64]:
        stored = np.array([self._stored(c) for c in family], np.int64)
        table = np.zeros(stored + 1, np.int64)
        kernels.intersections(self._bitmaps, self._first[list(family)], stored, table.reshape(-1))
        table[(-1,) * table.ndim] = self.codes.shape[1]
        for axis in range(table.ndim):  # from "any state" to the one state without a bitmap
            by_state = np.moveaxis(table, axis, 0)
            by_state[-1] -= by_state[:-1].sum(axis=0)
        return self._padded(family, table)

    def _padded(self, family: Family, table: NDArray[np.int64] | NDArray[np.float64]) -> NDArray[np.float64]:
        """With missing as the last index of every axis, also of columns without missing values."""
        whole = np.zeros([self.sizes[c] + 1 for c in family])
        whole[tuple(slice(k) for k in table.shape)] = table
        return whole

    # -- histograms

    def _histograms(self, families: list[Family], *, worth: bool) -> dict[Family, NDArray[np.float64]]:
        tasks = [(f, *chunk) for f in families for chunk in self._chunks(f)]
        parts = kernels.parallel(lambda task: self._histogram(*task), tasks, worth=worth)
        tables: dict[Family, NDArray[np.float64]] = {}
        for (f, *_), part in zip(tasks, parts, strict=True):
            tables[f] = tables[f] + part if f in tables else part
        return {f: self._missing_last(f, table) for f, table in tables.items()}

    def _chunks(self, family: Family) -> list[tuple[int, int]]:
        n = self.codes.shape[1]
        size = CHUNK if prod(self.sizes[c] + 1 for c in family) <= CHUNKED_CELLS else n
        return [(start, min(start + size, n)) for start in range(0, n, size or 1)] or [(0, 0)]

    def _histogram(self, family: Family, start: int, stop: int) -> NDArray[np.float64]:
        shifts = np.array([self.has_missing(c) for c in family], np.int64)
        shape = np.array([self.sizes[c] for c in family], np.int64) + shifts
        strides = np.append(np.cumprod(shape[:0:-1])[::-1], 1)
        where = np.array(family, np.int64)
        if self.sample_weight is None:
            counts = np.zeros(prod(shape), np.int64)
            kernels.histogram(self.codes, where, strides, shifts, start, stop, counts)
            return counts.astype(np.float64).reshape(shape)
        sums = np.zeros(prod(shape))
        kernels.weighted_histogram(self.codes, where, strides, shifts, self.sample_weight, start, stop, sums)
        return sums.reshape(shape)

    def _missing_last(self, family: Family, table: NDArray[np.float64]) -> NDArray[np.float64]:
        """Move missing from the first index (−1 + 1) of the kernel to the last."""
        for axis, column in enumerate(family):
            if self.has_missing(column):
                table = np.roll(table, -1, axis=axis)
        return self._padded(family, table)
