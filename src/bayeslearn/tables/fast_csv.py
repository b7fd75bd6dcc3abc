"""Text files of few distinct cells, read straight into codes: several times faster than by way of strings.

Only for plain text: no quotation marks, every line as long as the header, few distinct cells in every column. Anything
else is left to the reader of all CSV, which reports what is wrong.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from bayeslearn import kernels
from bayeslearn.tables.file_names import is_packed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.tables.text_heads import TextHead

#: Bytes below which the other reader is quick enough, and above which a file does not go into memory as it is.
SMALL, LARGE = 1 << 16, 1 << 31

#: Bytes that the distinct cells of all columns may take in all parts: with more columns the other reader needs less.
ROOM = 256 << 20

#: Parts that a file is read in by all threads, and how little of it is read before, to know most cells.
PARTS, HEAD = 8, 64

LINE = 10


def coded_columns(head: TextHead) -> list[Any] | None:
    """A dictionary array for each column, or None if the file is not plain enough."""
    path, columns = head.path, len(head.names)
    if is_packed(path) or columns < 2 or not SMALL <= path.stat().st_size < LARGE:
        return None
    if columns * Dictionary.bytes_of_column() * (PARTS + 1) > ROOM:
        return None
    raw = path.read_bytes()
    if b'"' in raw:
        return None
    raw = raw if raw.endswith(b"\n") else raw + b"\n"
    text = np.frombuffer(raw, np.uint8)
    bounds = bounds_of(text, head.first_byte)
    rows = np.cumsum([0, *kernels.parallel(lambda part: np.count_nonzero(text[slice(*part)] == LINE), bounds)]).tolist()
    codes = np.empty((columns, rows[-1]), np.int16)

    def read(k: int, known: Dictionary) -> Part:
        start, stop = bounds[k]
        end = kernels.number_cells(text, start, stop, ord(head.delimiter), codes, rows[k], *known)
        return Part(rows[k], end, known)

    parts = [read(0, Dictionary.empty(columns))] if bounds else []
    if parts and parts[0].end >= 0:  # the others know the cells of the first
        parts += kernels.parallel(lambda k: read(k, parts[0].known.copy()), range(1, len(bounds)))
    if not parts or any(part.end < 0 for part in parts):
        return None
    try:
        return [joined(codes[column], column, parts, raw) for column in range(columns)]
    except UnicodeDecodeError:
        return None


class Dictionary(NamedTuple):
    """The distinct cells of each column, as the kernel keeps them."""

    first: NDArray[np.int64]
    lengths: NDArray[np.int64]
    counts: NDArray[np.int64]
    slots: NDArray[np.int64]
    keys: NDArray[np.uint64]

    @classmethod
    def empty(cls, columns: int) -> Dictionary:
        """No cells yet."""
        room, slots = (columns, kernels.MOST_CELLS), (columns, kernels.CELL_SLOTS)
        return cls(
            np.empty(room, np.int64), np.empty(room, np.int64), np.zeros(columns, np.int64),
            np.full(slots, -1, np.int64), np.empty(slots, np.uint64),
        )  # fmt: skip

    @staticmethod
    def bytes_of_column() -> int:
        """The memory that one column takes."""
        return 16 * (kernels.MOST_CELLS + kernels.CELL_SLOTS) + 8

    def copy(self) -> Dictionary:
        """One to go on with, apart from the others."""
        return Dictionary(*(array.copy() for array in self))  # type: ignore[arg-type]


@dataclass(frozen=True)
class Part:
    """Rows start … end (below zero: not plain), and the cells known behind them, those of the first part first."""

    start: int
    end: int
    known: Dictionary

    def cells(self, column: int, raw: bytes, begin: int = 0) -> list[str]:
        """The distinct cells of a column in the order of their numbers, from one of these on."""
        own = slice(begin, int(self.known.counts[column]))
        places = zip(self.known.first[column, own].tolist(), self.known.lengths[column, own].tolist(), strict=True)
        return [raw[at : at + length].decode() for at, length in places]


def bounds_of(text: NDArray[np.uint8], begin: int) -> list[tuple[int, int]]:
    """A short part, to get to know the cells, and others of about the same length; each of whole lines."""
    end = len(text)
    shares = [1 / HEAD, *(1 / HEAD + (1 - 1 / HEAD) * k / PARTS for k in range(1, PARTS))]
    cuts = [begin, *(next_line(text, begin + int((end - begin) * share)) for share in shares), end]
    return [(a, b) for a, b in itertools.pairwise(cuts) if a < b]


def next_line(text: NDArray[np.uint8], at: int) -> int:
    """Where the next line begins, after the one that holds a place."""
    step = 1 << 16
    while at < len(text):
        found = np.flatnonzero(text[at : at + step] == LINE)
        if len(found):
            return at + int(found[0]) + 1
        at += step
    return len(text)


def joined(codes: NDArray[np.int16], column: int, parts: list[Part], raw: bytes) -> Any:
    """One column under one dictionary; parts with new cells are numbered anew."""
    known = {name: code for code, name in enumerate(parts[0].cells(column, raw))}
    shared = len(known)
    for part in parts[1:]:
        if part.known.counts[column] > shared:
            own = slice(part.start, part.end)
            new = [known.setdefault(name, len(known)) for name in part.cells(column, raw, shared)]
            codes[own] = np.array([*range(shared), *new], np.int16).take(codes[own])
    if any(a.end < b.start for a, b in itertools.pairwise(parts)) or parts[-1].end < len(codes):  # empty lines
        codes = np.concatenate([codes[part.start : part.end] for part in parts])
    return pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(list(known), pa.string()), safe=False)
