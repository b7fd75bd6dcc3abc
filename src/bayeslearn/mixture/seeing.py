"""A first look at data that are folded: the statistics of every part over all rows, and rows to start from.

Both are found in one pass. Of more rows than starts are drawn from a sample is taken, which is the same whoever reads
the batches (:mod:`bayeslearn.sources.sampling`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayeslearn.distributions import Bundle
from bayeslearn.errors import DataError
from bayeslearn.mixture.rows import FoldedRows, Rows
from bayeslearn.mixture.starts import MOST_ROWS, whole
from bayeslearn.sources.sampling import lowest, row_numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from bayeslearn.components import Component


@dataclass(frozen=True, eq=False)
class Seen:
    """The statistics of each part, as of one component, and rows to start from."""

    whole: Bundle
    sample: Rows


@dataclass(frozen=True, eq=False)
class Look:
    """What a batch shows; what several show adds."""

    whole: Bundle
    weight: float
    sample: Rows
    numbers: NDArray[np.uint64]

    def __add__(self, other: Look) -> Look:
        rows, numbers = joined(self.sample, other.sample), np.concatenate([self.numbers, other.numbers])
        kept = lowest(numbers, MOST_ROWS)
        return Look(self.whole + other.whole, self.weight + other.weight, rows.take(kept), numbers[kept])


@dataclass(frozen=True)
class Looking:
    """Looks at batches; it may travel."""

    parts: tuple[Component, ...]

    def __call__(self, rows: Rows) -> Look:
        """Of one batch."""
        columns = (column for cells in rows.cells for column in cells.reshape(len(rows), -1).T)
        numbers = row_numbers(columns, len(rows))
        kept = lowest(numbers, MOST_ROWS)
        return Look(whole_of(self.parts, rows), rows.total, rows.take(kept), numbers[kept])


def look(source: FoldedRows) -> Seen:
    """One pass over all batches."""
    found: Look = source.fold(Looking(source.parts))
    if not found.weight > 0:
        raise DataError("every weight is zero: no row is left to learn from")
    return Seen(found.whole, found.sample)


def whole_of(parts: Sequence[Component], rows: Rows) -> Bundle:
    """The statistics of every part over these rows."""
    return Bundle({part.name: whole(part, c, rows.weights) for part, c in zip(parts, rows.cells, strict=True)})


def joined(one: Rows, other: Rows) -> Rows:
    """Rows one after the other."""
    cells = tuple(np.concatenate(pair) for pair in zip(one.cells, other.cells, strict=True))
    if one.weights is None and other.weights is None:
        return Rows(cells)
    weights = [np.ones(len(rows)) if rows.weights is None else rows.weights for rows in (one, other)]
    return Rows(cells, np.concatenate(weights))
