"""Cuts of numeric columns at exact quantiles, found by counting: a few passes, with little in memory.

    ranges of numbers       weight, least and largest value of each      add over batches
    a range in which a quantile falls is split for the next pass, until it holds one value only

What is left are the values next to each quantile, with the weight below them, which is all that a cut depends on. The
quantiles of the rows in each interval, which a variable keeps, are narrowed down in the same passes: first between the
cuts as far as they are known, then between the cuts themselves.

A pass over a source shows ranges of numbers, and the weight of the rows in each:

    a range is split into parts of equal length, in the order of the floats; of few rows, into single values
    the weight, the least and the largest value of a part         add over batches

Only parts in which there are rows are kept.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import ParameterError, in_python, option
from bayeslearn.sources.base import Scanned
from bayeslearn.tables import DiscreteVariable, Schema, Table
from bayeslearn.tables.discretization import BINS, MAX_BINS, STRATEGIES, TIE, quantile_cuts, require_cuts, width_cuts
from bayeslearn.tables.intervals import shares, starts, summarized
from bayeslearn.tables.schema import name_list, require_known

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from numpy.typing import NDArray

    from bayeslearn.tables import Source

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


#: Sums of weights closer than this, as a share, may be equal: what lies next to a quantile of an interval is counted.
NEAR = 1e-11


def discretize(
    source: Source, columns: Iterable[str] | None = None, *, strategy: str = "quantile", n_bins: int | None = None
) -> Any:
    """Return the source with numeric columns discretized at the cut points that a table of all rows has.

    Parameters
    ----------
    source
        A table or a source.
    columns
        The columns; all numeric ones by default.
    strategy
        ``"quantile"`` or ``"uniform"``; see :meth:`~bayeslearn.tables.Table.discretize`.
    n_bins
        The number of bins; 5 by default.

    Returns
    -------
    The source with discrete variables in its schema.

    Raises
    ------
    ConstantColumnError
        A column has fewer than two different values.
    ParameterError
        ``"mdl"`` with a source: it requires a table.

    Examples
    --------
    >>> from bayeslearn import scan
    >>> hours = scan([{"hours": [1.5, 2.25, 3.5]}, {"hours": [7.25, 8.0]}], numeric=["hours"])
    >>> discretize(hours, n_bins=2).schema["hours"].states
    ('<= 2.875', '> 2.875')
    """
    if isinstance(source, Table):
        return source.discretize(columns, strategy=strategy, n_bins=n_bins)  # type: ignore[arg-type]
    strategy = validation.choice("strategy", strategy, STRATEGIES)
    if strategy == "mdl":
        raise ParameterError(
            "strategy='mdl' requires all rows in memory",
            hint=f"use {option('strategy', 'quantile', command='--discretize quantile')}"
            + in_python(", or the cut points of a sample: as_table(...).discretize(strategy='mdl', target=...)"),
        )
    n = validation.integer("n_bins", BINS if n_bins is None else n_bins, min_value=2, max_value=MAX_BINS)
    names = [v.name for v in source.schema.numeric] if columns is None else name_list("columns", columns)
    require_known(names, [v.name for v in source.schema.numeric])
    if not names:
        return source
    assert isinstance(source, Scanned)
    found = intervals(source, names, strategy, n)
    return replace(source, schema=Schema(found.get(v.name, v) for v in source.schema))


def intervals(source: Scanned, names: Iterable[str], strategy: str, n_bins: int) -> dict[str, DiscreteVariable]:
    """The intervals of each column, and the values that are kept of them."""
    find = quantile_cuts if strategy == "quantile" else width_cuts
    found = narrowed(source, tuple(names), lambda ranges: unsettled(ranges, find, n_bins))
    values = {name: ranges.values() for name, ranges in found.items()}
    cuts = {name: tuple(find(*known, n_bins).tolist()) for name, known in values.items()}
    require_cuts(cuts)
    kept = {name: summarized(*values[name], cuts[name], weighted=found[name].weighted) for name in cuts}
    return {
        name: DiscreteVariable.from_cuts(name, cuts[name], kept=kept[name], like=source.schema[name]) for name in cuts
    }


def narrowed(source: Scanned, names: tuple[str, ...], wanted: Callable[[Ranges], Bools]) -> dict[str, Ranges]:
    """The ranges of each column, split in pass after pass until none that is wanted holds several values."""
    rows = np.inf if source.digest is None else source.digest.rows
    ranges: dict[str, Ranges] = {}
    parts = {name: EVERYTHING.parts(rows) for name in names}
    while parts:
        narrow = replace(source, schema=source.schema.select(parts))
        counted: PartCounts = narrow.fold(CountParts(parts))
        ranges |= {name: ranges[name].joined(new) if name in ranges else new for name, new in counted.ranges.items()}
        which = {name: wanted(ranges[name]) for name in parts}
        parts = {name: ranges[name].take(some).parts() for name, some in which.items() if some.any()}
        ranges |= {name: ranges[name].take(~which[name]) for name in parts}
    return ranges


### ranges that are to be split


def unsettled(ranges: Ranges, find: Callable[[Floats, Floats, int], Floats], n_bins: int) -> Bools:
    """The ranges of several values that a cut, or a value that is kept of an interval, depends on."""
    several = ranges.low < ranges.high
    if not several.any():
        return several
    cuts = find(*ranges.values(), n_bins)
    below, upto = weight_up_to(ranges, cuts)
    hit = touched(ranges, *inner_quantiles(below, upto, ranges), NEAR) | holding(ranges, cuts)
    if find is quantile_cuts:
        quantile = np.arange(1, n_bins) / n_bins
        hit |= touched(ranges, quantile, quantile, TIE)
    return hit & several


def weight_up_to(ranges: Ranges, cuts: Floats) -> tuple[Floats, Floats]:
    """The share of the weight at or below each bound of the intervals: the least and the most that it can be."""
    after = np.append(0.0, ranges.shares)
    least, most = (after[np.searchsorted(x, cuts, side="right")] for x in (ranges.high, ranges.low))
    return np.concatenate([[0.0], least, [1.0]]), np.concatenate([[0.0], most, [1.0]])


def inner_quantiles(below: Floats, upto: Floats, ranges: Ranges) -> tuple[Floats, Floats]:
    """The shares of the weight at which the values of all intervals lie: the least and the most that each can be."""
    most = (upto[1:] - below[:-1]) * ranges.total
    within = [shares(n, weighted=ranges.weighted) for n in most]
    part, at = np.repeat(np.arange(len(most)), list(map(len, within))), np.concatenate(within)
    least, last = ((1 - at) * edge[part] + at * edge[part + 1] for edge in (below, upto))
    return least, last


def holding(ranges: Ranges, cuts: Floats) -> Bools:
    """The ranges with values on both sides of a cut."""
    first, stop = (np.searchsorted(cuts, x, side="left") for x in (ranges.low, ranges.high))
    return first < stop


def touched(ranges: Ranges, low: Floats, high: Floats, near: float) -> Bools:
    """The ranges whose weight lies between shares of the cumulated weight, or not further than `near` from there."""
    after = ranges.shares
    before = np.append(0.0, after[:-1])
    first = np.searchsorted(after, low - near, side="left")
    stop = np.searchsorted(before, high + near, side="right")
    steps = np.bincount(first, stop > first, len(after) + 1) - np.bincount(stop, stop > first, len(after) + 1)
    return np.cumsum(steps)[:-1] > 0
