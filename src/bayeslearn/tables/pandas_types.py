"""Types of pandas that Arrow has no type for: intervals, and periods.

Intervals that touch each other are those between cuts, as a discretized column has them, so that numbers find theirs;
others are states in their order. A period is the date at which it starts.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pyarrow as pa

from bayeslearn.tables.columns import Column
from bayeslearn.tables.intervals import below, interval_names


def pandas_column(name: str, series: Any) -> Column | None:
    """A pandas series of intervals, of categories that are intervals, or of periods; None for any other."""
    kind = type(series.dtype).__name__
    if kind == "PeriodDtype":
        return Column(name, pa.array(series.dt.to_timestamp(), from_pandas=True))
    if kind == "IntervalDtype":
        series, kind = series.astype("category"), "CategoricalDtype"
    if kind != "CategoricalDtype" or type(series.dtype.categories.dtype).__name__ != "IntervalDtype":
        return None
    series = series.cat.reorder_categories(series.cat.categories.sort_values())
    intervals, codes = series.cat.categories, series.cat.codes.to_numpy()
    cuts = cuts_between(intervals)
    names = list(map(str, intervals)) if cuts is None else list(interval_names(cuts))
    place = pa.array(codes, mask=codes < 0).cast(pa.int32())
    return Column(name, pa.DictionaryArray.from_arrays(place, pa.array(names)), declared=True, cuts=cuts)


def cuts_between(intervals: Any) -> tuple[float, ...] | None:
    """The cuts between intervals that touch and are closed on one side; None for others, such as those of dates."""
    if intervals.closed not in {"left", "right"} or intervals.dtype.subtype.kind not in "iuf" or len(intervals) < 2:
        return None
    if any(a != b for (_, a), (b, _) in pairwise(zip(intervals.left, intervals.right, strict=True))):
        return None
    bounds = [float(x) for x in intervals.right[:-1]]
    return tuple(bounds if intervals.closed == "right" else map(below, bounds))
