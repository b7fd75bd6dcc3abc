"""Whole runs of rows: rows with one id that follow each other, brought together across batches.

    batches    a a a b b b | b b c c c c | c c d        runs    a · b · c · d

A run that a batch leaves open goes on in the next one of the same file. An id is only compared with the one before it,
so that there may be any number of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.errors import DataError
from bayeslearn.tables.schema import require_known

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from bayeslearn.tables.columns import Column
    from bayeslearn.tables.markers import Missing


@dataclass(frozen=True, eq=False)
class Runs:
    """Runs one after the other: arrays with a row for every row (or None), the rows of each run, and its id."""

    arrays: tuple[NDArray[Any] | None, ...]
    lengths: NDArray[np.int64]
    ids: tuple[Any, ...]

    def __len__(self) -> int:
        return len(self.ids)

    def part(self, start: int, stop: int) -> Runs:
        """Some runs that follow each other."""
        ends = np.concatenate([[0], np.cumsum(self.lengths)])
        rows = slice(ends[start], ends[stop])
        arrays = tuple(None if array is None else array[rows] for array in self.arrays)
        return Runs(arrays, self.lengths[start:stop], self.ids[start:stop])


@dataclass(frozen=True)
class RunReader:
    """Reads columns as runs; it may travel."""

    id: str
    missing: Missing
    read: Callable[[list[Column]], tuple[Any, ...]]

    def __call__(self, columns: list[Column]) -> Runs:
        """The rows of a batch, split where the id changes; the first and the last run may be part of a longer one."""
        from bayeslearn.tables.columns import levels  # noqa: PLC0415 - Arrow loads when data come in

        by_name = {column.name: column for column in columns}
        require_known([self.id], by_name)
        found = levels(by_name[self.id], self.missing)
        if found.place.min(initial=0) < 0:
            row = int(np.argmax(found.place < 0))
            raise DataError(
                f"row {row} has no {self.id!r}: it belongs to no sequence",
                hint="give every row the id of its sequence, or leave the row out",
                row=row,
            )
        first = np.concatenate([[0], np.flatnonzero(np.diff(found.place)) + 1])
        values = found.listed()
        lengths = np.diff(first, append=len(found.place)).astype(np.int64)
        return Runs(self.read(columns), lengths, tuple(values[k] for k in found.place[first]))


def whole(pieces: Iterable[Runs]) -> Iterator[Runs]:
    """Runs from end to end: the last of a batch waits for the next one."""
    held: list[Runs] = []
    for piece in pieces:
        if len(piece) == 1 and (not held or held[-1].ids[-1] == piece.ids[0]):
            held.append(piece)
            continue
        both = joined([*held, piece])
        yield both.part(0, len(both) - 1)
        held = [both.part(len(both) - 1, len(both))]
    if held:
        yield joined(held)


def joined(parts: list[Runs]) -> Runs:
    """One after the other; where two meet that have one id, they are one run."""
    if len(parts) == 1:
        return parts[0]
    columns = zip(*(part.arrays for part in parts), strict=True)
    arrays = tuple(None if some[0] is None else np.concatenate(some) for some in columns)
    both = Runs(arrays, np.concatenate([p.lengths for p in parts]), tuple(name for p in parts for name in p.ids))
    runs = zip(both.ids, both.lengths.tolist(), strict=True)
    together = [(name, sum(n for _, n in same)) for name, same in groupby(runs, key=lambda run: run[0])]
    ids, lengths = zip(*together, strict=True)
    return replace(both, lengths=np.array(lengths, np.int64), ids=ids)
