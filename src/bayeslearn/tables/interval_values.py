"""A few values of the rows in each interval of a discretized variable: what a state stands for as a number.

    values of interval i     the quantiles (2k + 1) / 2m of its rows, k = 0, …, m − 1, each a value of some row
    median                   the middle one of them, the lower of two

With up to m rows in an interval these are the values of all its rows.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.tables.variables import Discrete

    Floats = NDArray[np.float64]

#: Values that are kept of an interval; odd, so that one of them is the median.
MAX_VALUES = 21


def interval_values(
    x: Floats, weights: Floats | None, cuts: tuple[float, ...] | Floats
) -> tuple[tuple[float, ...], ...]:
    """The values of each interval between the cuts; missing cells and rows without weight are ignored.

    >>> interval_values(np.array([1.0, 7, 2, np.nan, 3, 9]), None, (2.5,))
    ((1.0, 2.0), (3.0, 7.0, 9.0))
    """
    there = ~np.isnan(x) if weights is None else ~np.isnan(x) & (weights > 0)
    order = np.argsort(x[there], kind="stable") if weights is not None else None
    ordered = np.sort(x[there]) if order is None else x[there][order]
    w = None if weights is None or order is None else weights[there][order]
    places = [0, *np.searchsorted(ordered, cuts, side="right").tolist(), len(ordered)]
    parts = (slice(start, stop) for start, stop in pairwise(places))
    return tuple(quantiles(ordered[part], None if w is None else w[part]) for part in parts)


def quantiles(ordered: Floats, weights: Floats | None) -> tuple[float, ...]:
    """Values of equal weight from sorted ones: the first at which the cumulated weight reaches each quantile."""
    n = len(ordered)
    if n == 0 or ordered[0] == ordered[-1]:
        return tuple(ordered[:1].tolist())
    m = min(n, MAX_VALUES) if weights is None else MAX_VALUES
    share = (2 * np.arange(m) + 1) / (2 * m)
    if weights is None:
        at = np.ceil(share * n - 1e-9).astype(np.intp) - 1
    else:
        total = np.cumsum(weights)
        at = np.searchsorted(total, share * total[-1] * (1 - 1e-12))
    return tuple(ordered[at.clip(0, n - 1)].tolist())


def values_of(variable: Discrete, observed: Floats) -> list[Floats]:
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
