"""A few values of the rows in each interval of a discretized variable: what a state stands for as a number.

    values of interval i     the quantiles (2k + 1) / 2m of its rows, k = 0, …, m − 1, each a value of some row
    median                   the middle one of them, the lower of two

With up to m rows in an interval these are the values of all its rows.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.tables.variables import DiscreteVariable

    Floats = NDArray[np.float64]

#: Values that are kept of an interval; odd, so that one of them is the median.
MAX_VALUES = 11

#: Sums of weights closer than this, as a share, are equal.
TIE = 1e-12


def interval_values(
    x: Floats, weights: Floats | None, cuts: tuple[float, ...] | Floats
) -> tuple[tuple[float, ...], ...]:
    """The values of each interval between the cuts; missing cells and rows without weight are ignored.

    >>> interval_values(np.array([1.0, 7, 2, np.nan, 3, 9]), None, (2.5,))
    ((1.0, 2.0), (3.0, 7.0, 9.0))
    """
    return summarized(*weighted_values(x, weights), cuts, weighted=weights is not None)


def weighted_values(x: Floats, weights: Floats | None) -> tuple[Floats, Floats]:
    """The different values in increasing order, and the weight of each; missing cells and weightless rows left out."""
    there = ~np.isnan(x) if weights is None else ~np.isnan(x) & (weights > 0)
    x, w = x[there], None if weights is None else weights[there]
    return counted(x, w) if is_dense(x) else collated(x, w)


def is_dense(x: Floats) -> bool:
    """Whether there are whole numbers only, and not many more between the least and the largest than values."""
    if not len(x) or not (x[:256] == np.floor(x[:256])).all():
        return False
    return float(x.max()) - float(x.min()) <= len(x) and bool((x == np.floor(x)).all())


def counted(x: Floats, weights: Floats | None) -> tuple[Floats, Floats]:
    """The different whole numbers and the weight of each, without sorting."""
    low = x.min()
    weight = np.bincount((x - low).astype(np.intp), weights).astype(np.float64)
    there = np.flatnonzero(weight)
    return low + there, weight[there]


def collated(x: Floats, weights: Floats | None) -> tuple[Floats, Floats]:
    """The different numbers and the weight of each, by sorting."""
    if weights is None:
        x = np.sort(x)
    else:
        order = np.argsort(x, kind="stable")
        x, weights = x[order], weights[order]
    first = starts(x)
    if weights is None or not len(first):
        return x[first] + 0.0, np.diff(first, append=len(x)).astype(np.float64)
    return x[first] + 0.0, np.add.reduceat(weights, first)


def starts(ordered: NDArray[Any]) -> NDArray[np.intp]:
    """Where each different value begins among sorted ones."""
    return np.flatnonzero(np.append(np.ones(min(len(ordered), 1), np.bool_), ordered[1:] != ordered[:-1]))


def summarized(
    values: Floats, weight: Floats, cuts: tuple[float, ...] | Floats, *, weighted: bool
) -> tuple[tuple[float, ...], ...]:
    """The values that are kept of each interval, from the different ones and their weights."""
    places = [0, *np.searchsorted(values, cuts, side="right").tolist(), len(values)]
    parts = (slice(start, stop) for start, stop in pairwise(places))
    return tuple(quantiles(values[part], weight[part], weighted=weighted) for part in parts)


def quantiles(values: Floats, weight: Floats, *, weighted: bool) -> tuple[float, ...]:
    """The first of increasing values at which the cumulated weight reaches each quantile."""
    if len(values) < 2:
        return tuple(values.tolist())
    total = np.cumsum(weight)
    at = np.searchsorted(total, shares(total[-1], weighted=weighted) * total[-1] * (1 - TIE))
    return tuple(values[at.clip(max=len(values) - 1)].tolist())


def shares(total: float, *, weighted: bool) -> Floats:
    """The quantiles of an interval: of fewer rows, without weights, one for each."""
    m = MAX_VALUES if weighted else min(round(total), MAX_VALUES)
    return (2 * np.arange(m) + 1) / (2 * max(m, 1))


def values_of(variable: DiscreteVariable, observed: Floats) -> list[Floats]:
    """Values for each interval of a variable: those it keeps, else of the rows at hand, else one inside its bounds."""
    assert variable.cuts is not None
    kept = variable.interval_values or ((),) * variable.size
    if not all(kept):
        found = interval_values(observed, None, variable.cuts)
        kept = tuple(mine or other for mine, other in zip(kept, found, strict=True))
    return [np.array(values or [inner_point(variable.cuts, code)]) for code, values in enumerate(kept)]


def inner_point(cuts: tuple[float, ...], code: int) -> float:
    """The middle of an interval; the finite bound of one that has no end, just inside it."""
    if not cuts:
        return 0.0
    if code == 0:
        return cuts[0]
    if code == len(cuts):
        return float(np.nextafter(cuts[-1], np.inf))
    return cuts[code - 1] / 2 + cuts[code] / 2
