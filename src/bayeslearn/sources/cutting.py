"""Cuts of numeric columns at exact quantiles, found by counting: a few passes, with little in memory.

    ⌊ ranges of numbers ⌋   weight, least and largest value of each      add over batches
    a range in which a quantile falls is split for the next pass, until it holds one value only

What is left are the values next to each quantile, with the weight below them, which is all that a cut depends on.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import ParameterError, in_python, option
from bayeslearn.sources.base import Scanned
from bayeslearn.tables import Discrete, Schema, Table
from bayeslearn.tables.discretise import BINS, TIE, quantile_cuts, require_cuts, width_cuts
from bayeslearn.tables.schema import name_list, require_known

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from bayeslearn.tables import Source

    Floats = NDArray[np.float64]
    Keys = NDArray[np.uint64]

#: Ranges that one is split into.
SPLIT = 1 << 12

SIGN = np.uint64(1 << 63)


def discretised(
    source: Source, columns: Iterable[str] | None = None, *, how: str = "quantile", bins: int | None = None
) -> Any:
    """A source whose numeric columns (all when not named) are cut into intervals, where a table would be cut.

    >>> from bayeslearn import scan
    >>> hours = scan([{"hours": [1.5, 2.25, 3.5]}, {"hours": [7.25, 8.0]}], numeric=["hours"])
    >>> discretised(hours, bins=2).schema["hours"].states
    ('<= 2.875', '> 2.875')
    """
    if isinstance(source, Table):
        return source.discretise(columns, how=how, bins=bins)  # type: ignore[arg-type]
    if how == "mdl":
        raise ParameterError(
            "cuts by a target (how='mdl') need all rows at once",
            hint=f"use {option('how', 'quantile', command='--cut quantile')}"
            + in_python(", or take the cuts of a sample: as_table(...).discretise(how='mdl', target=...)"),
        )
    validation.choice("how", how, ["quantile", "width"])
    n = validation.integer("bins", BINS if bins is None else bins, least=2)
    names = [v.name for v in source.schema.numeric] if columns is None else name_list("columns", columns)
    require_known(names, [v.name for v in source.schema.numeric])
    if not names:
        return source
    assert isinstance(source, Scanned)
    return cut(source, cuts_of(source, names, how, n))


def cut(source: Scanned, cuts: Mapping[str, Iterable[float]]) -> Any:
    """The source with columns made discrete by these cuts."""
    schema = Schema(Discrete.from_cuts(v.name, cuts[v.name], like=v) if v.name in cuts else v for v in source.schema)
    return replace(source, schema=schema)


def cuts_of(source: Scanned, names: Iterable[str], how: str, bins: int) -> dict[str, Floats]:
    """The cuts of each column."""
    find = quantile_cuts if how == "quantile" else width_cuts
    cuts = {name: find(values, weight, bins) for name, (values, weight) in near_quantiles(source, names, bins).items()}
    require_cuts(cuts)
    return cuts


def near_quantiles(source: Scanned, names: Iterable[str], bins: int) -> dict[str, tuple[Floats, Floats]]:
    """For each column its least and largest value and those next to the quantiles, with the weight between them."""
    names = tuple(names)
    only = replace(source, schema=source.schema.select(names))
    ranges = {name: Ranges.everything() for name in names}
    while True:
        asked = {name: found.to_split(bins) for name, found in ranges.items()}
        open_columns = {name: which for name, which in asked.items() if which.any()}
        if not open_columns:
            return {name: found.values() for name, found in ranges.items()}
        narrow = replace(only, schema=source.schema.select(open_columns))
        parts = {name: ranges[name].parts(which) for name, which in open_columns.items()}
        counted: Counted = narrow.fold(Count(parts))
        for name, which in open_columns.items():
            ranges[name] = ranges[name].without(which).joined(counted.ranges[name])


### ranges


def keys_of(x: Floats) -> Keys:
    """Whole numbers in the order of the floats."""
    bits = (x + 0.0).view(np.uint64)  # one zero only
    return np.where(bits & SIGN, ~bits, bits | SIGN)


@dataclass(frozen=True)
class Ranges:
    """Values between bounds, in order: their weight, and the least and the largest of them; without empty ranges."""

    weight: Floats
    low: Floats
    high: Floats

    @classmethod
    def everything(cls) -> Ranges:
        """One range of which nothing is known."""
        return cls(np.ones(1), np.array([-np.inf]), np.array([np.inf]))

    def to_split(self, bins: int) -> NDArray[np.bool_]:
        """The ranges in which a quantile falls, and that hold more than one value."""
        if not len(self.weight):
            return np.zeros(0, np.bool_)
        after = np.cumsum(self.weight) / self.weight.sum()
        before = np.append(0.0, after[:-1])
        wanted = np.arange(1, bins) / bins
        hit = (before[:, None] - TIE <= wanted) & (wanted <= after[:, None] + TIE)
        return hit.any(axis=1) & (self.low < self.high)

    def parts(self, which: NDArray[np.bool_]) -> list[Keys]:
        """The bounds of the parts of each range to be split; a value belongs to the last bound that is not above it."""
        return [bounds(low, high) for low, high in zip(self.low[which], self.high[which], strict=True)]

    def without(self, which: NDArray[np.bool_]) -> Ranges:
        """The ranges that stay as they are."""
        return Ranges(self.weight[~which], self.low[~which], self.high[~which])

    def joined(self, other: Ranges) -> Ranges:
        """The ranges of both, in order, without empty ones."""
        weight, low, high = (np.concatenate(pair) for pair in zip(self.arrays, other.arrays, strict=True))
        there = weight > 0
        order = np.argsort(low[there], kind="stable")
        return Ranges(*(a[there][order] for a in (weight, low, high)))

    @property
    def arrays(self) -> tuple[Floats, Floats, Floats]:
        """Weights, least and largest values."""
        return self.weight, self.low, self.high

    def __add__(self, other: Ranges) -> Ranges:
        return Ranges(self.weight + other.weight, np.minimum(self.low, other.low), np.maximum(self.high, other.high))

    def values(self) -> tuple[Floats, Floats]:
        """The least and the largest value of each range, its weight being that of the largest."""
        values = np.stack([self.low, self.high], axis=1).ravel()
        weight = np.stack([np.zeros(len(self.weight)), self.weight], axis=1).ravel()
        single = np.repeat(self.low == self.high, 2)
        keep = ~single | (np.arange(len(values)) % 2 == 1)
        return values[keep], weight[keep]


def bounds(low: float, high: float) -> Keys:
    """Bounds that split the numbers from low to high evenly, in the order of their keys."""
    first, last = (int(k) for k in keys_of(np.array([low, high])))
    step = max(-(-(last - first + 1) // SPLIT), 1)
    return np.arange(first, last + 1, step, dtype=np.uint64)


@dataclass(frozen=True)
class Counted:
    """The ranges that were counted of each column."""

    ranges: Mapping[str, Ranges]

    def __add__(self, other: Counted) -> Counted:
        return Counted({name: found + other.ranges[name] for name, found in self.ranges.items()})


@dataclass(frozen=True)
class Count:
    """Counts the values of a batch in the parts of ranges."""

    parts: Mapping[str, list[Keys]]

    def __call__(self, table: Table) -> Counted:
        """Weight, least and largest value of every part."""
        return Counted({name: self._count(table, name, parts) for name, parts in self.parts.items()})

    def _count(self, table: Table, name: str, parts: list[Keys]) -> Ranges:
        x = table.value(name)
        w = np.ones(table.n_rows) if table.weights is None else np.asarray(table.weights)
        there = ~np.isnan(x) & (w > 0)
        order = np.argsort(x[there], kind="stable")
        x, w = x[there][order], w[there][order]
        found = [within(keys_of(x), x, w, part) for part in parts]
        return Ranges(*(np.concatenate(arrays) for arrays in zip(*found, strict=True)))


def within(keys: Keys, x: Floats, w: Floats, part: Keys) -> tuple[Floats, Floats, Floats]:
    """Sorted values by the parts of one range: weight, least and largest."""
    step = int(part[1] - part[0]) if len(part) > 1 else 1
    end = min(int(part[-1]) + step, 2**64 - 1)
    at = np.searchsorted(keys, part, side="left")
    stop = np.append(at[1:], np.searchsorted(keys, np.uint64(end), side="left" if end < 2**64 - 1 else "right"))
    total = np.append(0.0, np.cumsum(w))
    some = stop > at
    low, high = np.full(len(part), np.inf), np.full(len(part), -np.inf)
    low[some], high[some] = x[at[some]], x[stop[some] - 1]
    return total[stop] - total[at], low, high
