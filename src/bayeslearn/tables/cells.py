"""Text files of few distinct cells, read straight into codes: several times faster than by way of strings.

Only for plain text: no quotation marks, every line as long as the header, few distinct cells in every column. Anything
else is left to the reader that knows all of CSV, and that can say what is wrong.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from bayeslearn import kernels

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

#: Bytes below which the other reader is quick enough, and above which a file does not go into memory as it is.
SMALL, LARGE = 1 << 16, 1 << 31

#: Parts that a file is read in, by all threads.
PARTS = 8

LINE = 10


def coded_columns(path: Path, delimiter: str, columns: int) -> list[Any] | None:
    """A dictionary array for each column, or None if the file is not plain enough."""
    if path.suffix.lower() == ".gz" or columns < 2 or not SMALL <= path.stat().st_size < LARGE:
        return None
    raw = path.read_bytes()
    if b'"' in raw:
        return None
    if not raw.endswith(b"\n"):
        raw += b"\n"
    text = np.frombuffer(raw, np.uint8)
    found = kernels.parallel(lambda bounds: read_part(text, *bounds, ord(delimiter), columns), bounds_of(text))
    parts = [part for part in found if part is not None]
    if not found or len(parts) < len(found):
        return None
    try:
        return [joined([part[column] for part in parts], raw) for column in range(columns)]
    except UnicodeDecodeError:
        return None


def bounds_of(text: NDArray[np.uint8]) -> list[tuple[int, int]]:
    """Parts of about the same length, each of whole lines, behind the first."""
    begin, end = next_line(text, 0), len(text)
    cuts = [begin, *(next_line(text, begin + (end - begin) * k // PARTS) for k in range(1, PARTS)), end]
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


Part = list[tuple["NDArray[np.int32]", "NDArray[np.int64]", "NDArray[np.int64]"]]


def read_part(text: NDArray[np.uint8], begin: int, end: int, delimiter: int, columns: int) -> Part | None:
    """For each column its codes, and where its distinct cells stand in the text and how long they are."""
    room = int(np.count_nonzero(text[begin:end] == LINE)) + 1
    codes = np.empty((columns, room), np.int32)
    first, lengths = (np.empty((columns, kernels.MOST_CELLS), np.int64) for _ in range(2))
    counts = np.zeros(columns, np.int64)
    rows = kernels.number_cells(text, begin, end, delimiter, codes, first, lengths, counts)
    if rows < 0:
        return None
    return [(codes[k, :rows], first[k, : counts[k]], lengths[k, : counts[k]]) for k in range(columns)]


def joined(parts: Part, raw: bytes) -> Any:
    """The parts of one column under one dictionary."""
    known: dict[str, int] = {}
    places = []
    for codes, first, lengths in parts:
        cells = [raw[a : a + n].decode() for a, n in zip(first.tolist(), lengths.tolist(), strict=True)]
        new = np.array([known.setdefault(cell, len(known)) for cell in cells], dtype=np.int32)
        places.append(new[codes] if len(new) else codes)
    return pa.DictionaryArray.from_arrays(pa.array(np.concatenate(places)), pa.array(list(known), pa.string()))
