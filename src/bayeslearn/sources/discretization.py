"""Cuts of numeric columns at exact quantiles, found by counting: a few passes, with little in memory.

    ranges of numbers       weight, least and largest value of each      add over batches
    a range in which a quantile falls is split for the next pass, until it holds one value only

What is left are the values next to each quantile, with the weight below them, which is all that a cut depends on. The
quantiles of the rows in each interval, which a variable keeps, are narrowed down in the same passes: first between the
cuts as far as they are known, then between the cuts themselves.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import ParameterError, in_python, option
from bayeslearn.sources.base import Scanned
from bayeslearn.sources.ranges import EVERYTHING, CountParts, PartCounts, Ranges
from bayeslearn.tables import DiscreteVariable, Schema, Table
from bayeslearn.tables.discretization import BINS, MAX_BINS, STRATEGIES, TIE, quantile_cuts, require_cuts, width_cuts
from bayeslearn.tables.intervals import shares, summarized
from bayeslearn.tables.schema import name_list, require_known

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from bayeslearn.tables import Source

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]

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
