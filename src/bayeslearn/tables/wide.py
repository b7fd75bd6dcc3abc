"""Text files of very many columns, read by Python's own reader: Arrow keeps some ten KB for every column of a block."""

from __future__ import annotations

import csv
import gc
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bayeslearn.tables.text_heads import TextHead

#: Columns above which a file is read here.
WIDE = 1 << 15

#: Cells that are read at a time.
CELLS = 1 << 20


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pause Python's garbage collector: the objects of very many columns are all kept, and would be visited often."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


class RaggedError(ValueError):
    """A row that is longer or shorter than the line of names."""


def is_wide(head: TextHead) -> bool:
    """Whether a file has so many columns that it is read here."""
    return len(head.names) > WIDE


def wide_batches(head: TextHead) -> Iterator[list[Any]]:
    """Some rows at a time, as a text array for each column.

    What cannot be read is an error of Python's reader or of the file, or a RaggedError.
    """
    size = max(CELLS // len(head.names), 1)
    with head.lines() as lines:
        reader = csv.reader(lines, delimiter=head.delimiter)
        rows = whole_rows(reader, len(head.names))
        while some := list(islice(rows, size)):
            yield [pa.array(cells, pa.string()) for cells in zip(*some, strict=True)]


def whole_rows(reader: Any, n: int) -> Iterator[list[str]]:
    """The rows, each of n cells; empty lines are skipped, or are empty cells of a single column."""
    for row in reader:
        if len(row) == n:
            yield row
        elif n == 1 and not row:
            yield [""]
        elif row:
            raise RaggedError
