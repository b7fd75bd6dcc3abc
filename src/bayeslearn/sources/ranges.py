"""Ranges of numbers, and the weight of the rows in each: what a pass over a source shows of a numeric column.

    a range is split into parts of equal length, in the order of the floats; of few rows, into single values
    the weight, the least and the largest value of a part         add over batches

Only parts in which there are rows are kept.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayeslearn.tables.intervals import starts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from bayeslearn.tables import Table

    Floats = NDArray[np.float64]
    Keys = NDArray[np.uint64]
    Bools = NDArray[np.bool_]

#: Parts that the ranges of a column are split into in one pass, and the fewest for each of them.
SPLIT, LEAST_SPLIT = 1 << 15, 1 << 6

#: Rows in the ranges of a column that are few enough to keep all their values.
FEW_ROWS = 1 << 16

SIGN = np.uint64(1 << 63)


def keys_of(x: Floats) -> Keys:
    """Whole numbers in the order of the floats."""
    bits = (x + 0.0).view(np.uint64)  # one zero only
    return np.where(bits & SIGN, ~bits, bits | SIGN)


class Parts(NamedTuple):
    """Ranges in order, and the length of the parts that each is split into."""

    low: Floats
    high: Floats
    step: Keys


@dataclass(frozen=True)
class Ranges:
    """Values between bounds, in order: their weight and rows, the least and the largest; without empty ranges."""

    #: The number at which the range begins, as a key.
    key: Keys
    weight: Floats
    rows: Floats
    low: Floats
    high: Floats
    weighted: bool = field(default=False, kw_only=True)

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """Keys, weights, rows, least and largest values."""
        return self.key, self.weight, self.rows, self.low, self.high

    @cached_property
    def total(self) -> float:
        """The weight of all rows."""
        return float(self.weight.sum())

    @cached_property
    def shares(self) -> Floats:
        """The share of the weight up to the end of each range."""
        after = np.cumsum(self.weight)
        return after / after[-1] if len(after) else after

    def take(self, which: Bools) -> Ranges:
        """Some of the ranges."""
        return Ranges(*(a[which] for a in self.arrays), weighted=self.weighted)

    def joined(self, other: Ranges) -> Ranges:
        """The ranges of both, in order, those that begin at the same number together."""
        key, *more = (np.concatenate(pair) for pair in zip(self.arrays, other.arrays, strict=True))
        order = np.argsort(key, kind="stable")
        key, (weight, rows, low, high) = key[order], (a[order] for a in more)
        weighted = self.weighted or other.weighted
        first = starts(key)
        if len(first) == len(key):
            return Ranges(key, weight, rows, low, high, weighted=weighted)
        return Ranges(
            key[first],
            np.add.reduceat(weight, first),
            np.add.reduceat(rows, first),
            np.minimum.reduceat(low, first),
            np.maximum.reduceat(high, first),
            weighted=weighted,
        )

    def values(self) -> tuple[Floats, Floats]:
        """The least and the largest value of each range, its weight being that of the largest."""
        values = np.stack([self.low, self.high], axis=1).ravel()
        weight = np.stack([np.zeros(len(self.weight)), self.weight], axis=1).ravel()
        single = np.repeat(self.low == self.high, 2)
        keep = ~single | (np.arange(len(values)) % 2 == 1)
        return values[keep] + 0.0, weight[keep]

    def parts(self, rows: float | None = None) -> Parts:
        """The parts that all ranges are split into."""
        first, last = keys_of(self.low), keys_of(self.high)
        if (self.rows.sum() if rows is None else rows) <= FEW_ROWS:
            return Parts(self.low, self.high, np.ones(len(first), np.uint64))
        n = np.uint64(max(SPLIT // len(first), LEAST_SPLIT))
        return Parts(self.low, self.high, (last - first) // n + np.uint64(1))


#: One range of which nothing is known.
EVERYTHING = Ranges(np.zeros(1, np.uint64), np.ones(1), np.ones(1), np.array([-np.inf]), np.array([np.inf]))


@dataclass(frozen=True)
class PartCounts:
    """The ranges that were counted of each column."""

    ranges: Mapping[str, Ranges]

    def __add__(self, other: PartCounts) -> PartCounts:
        return PartCounts({name: found.joined(other.ranges[name]) for name, found in self.ranges.items()})


@dataclass(frozen=True)
class CountParts:
    """Counts the rows of a batch in the parts of ranges."""

    parts: Mapping[str, Parts]

    def __call__(self, table: Table) -> PartCounts:
        """Weight, rows, least and largest value of every part."""
        weights = None if table.sample_weight is None else np.asarray(table.sample_weight)
        return PartCounts({name: counted(table.values_of(name), weights, parts) for name, parts in self.parts.items()})


def counted(x: Floats, sample_weight: Floats | None, parts: Parts) -> Ranges:
    """The rows of a column in the parts of ranges; missing cells and rows without weight are ignored."""
    place = np.searchsorted(parts.low, x, side="right") - 1
    inside = (place >= 0) & (x <= parts.high[place])  # not a number is not less than any
    if sample_weight is None:
        x = np.sort(x[inside])
    else:
        inside &= sample_weight > 0
        order = np.argsort(x[inside], kind="stable")
        x, sample_weight = x[inside][order], sample_weight[inside][order]
    place = np.searchsorted(parts.low, x, side="right") - 1
    begin, step = keys_of(parts.low)[place], parts.step[place]
    key = begin + (keys_of(x) - begin) // step * step
    first = starts(key)
    rows = np.diff(first, append=len(x)).astype(np.float64)
    weight = rows if sample_weight is None or not len(first) else np.add.reduceat(sample_weight, first)
    last = np.append(first[1:], len(x))[: len(first)] - 1
    return Ranges(key[first], weight, rows, x[first], x[last], weighted=sample_weight is not None)
