"""Cuts that are short to write, and the names of the intervals between them.

Any number between two neighboring values a < b separates them. The middle is taken if four digits write it, else the
roundest: the one nearest to the middle among the multiples of the largest power of ten that has one strictly between.

A cut just below a number v, as :func:`below` gives it, separates v itself from what is less; names write it as v:

    cuts  below(0), 0, 2.5      names  '< 0', '0', '0 … 2.5', '> 2.5'

A few values of the rows in each interval of a discretized variable are what its state stands for as a number.

    values of interval i     the quantiles (2k + 1) / 2m of its rows, k = 0, …, m − 1, each a value of some row
    median                   the middle one of them, the lower of two

With up to m rows in an interval these are the values of all its rows.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from bayeslearn.tables.variables import DiscreteVariable

    Floats = NDArray[np.float64]


#: The name of the only state of a numeric column in which no cut was found.
WHOLE = "all"

#: What is written between the bounds of an interval.
DOTS = " … "

#: Whole numbers below this are written in full.
LARGE = 1e15

#: Digits that write a middle which is kept as it is, and the share of the gap that is rounding noise.
PLAIN, NOISE = 4, 1e-9

#: The largest power of ten whose multiples floats are rounded to.
LARGEST = 307

#: Digits that names start with; more only where cuts do not differ in them.
DIGITS = 6


### round numbers


def below(x: float) -> float:
    """The largest number less than x."""
    return math.nextafter(x, -math.inf)


def separators(values: Floats, places: NDArray[np.intp]) -> Floats:
    """A round cut after each of these places in increasing values: values[i] <= cut < values[i + 1]."""
    return np.array([between(float(values[i]), float(values[i + 1])) for i in places], dtype=np.float64)


def between(a: float, b: float) -> float:
    """A short number that separates a from b: a <= cut < b.

    >>> between(1.9, 3.0), between(17, 18), between(-82.6012, -82.5987)
    (2.45, 17.5, -82.6)
    """
    middle = a / 2 + b / 2
    if not (a < middle < b):
        return a
    plain = float(f"{middle:.{PLAIN}g}")
    if a < plain < b and abs(plain - middle) <= NOISE * (b - a):
        return plain
    exponent = math.floor(math.log10(b - a)) + 1 if math.isfinite(b - a) else LARGEST
    for power in range(min(exponent, LARGEST), exponent - 4, -1):
        cut = round(middle, -power)
        if a < cut < b:
            return cut
    return middle


### names


def interval_names(cuts: tuple[float, ...]) -> tuple[str, ...]:
    """Names like '<= 2.5', '2.5 … 4', '> 4', with as many digits as distinguish the cuts.

    >>> interval_names((2.5, 4.0))
    ('<= 2.5', '2.5 … 4', '> 4')
    >>> interval_names((below(10.0),))
    ('< 10', '>= 10')
    """
    return named(cuts, lambda low, high: f"{low}{DOTS}{high}")


def other_names(cuts: tuple[float, ...]) -> tuple[tuple[str, ...], ...]:
    """Names that intervals also have: those of older files, and those typed with three dots."""
    return named(cuts, lambda low, high: f"({low}, {high}]"), named(cuts, lambda low, high: f"{low} ... {high}")


def named(cuts: tuple[float, ...], inner: Callable[[str, str], str]) -> tuple[str, ...]:
    """The names of intervals, the inner ones written as wished."""
    if not cuts:
        return (WHOLE,)
    open_ended, points = zip(*map(bound, cuts, (*cuts[1:], math.inf)), strict=True)
    words = distinct_words(points)
    first = f"< {words[0]}" if open_ended[0] else f"<= {words[0]}"
    last = f">= {words[-1]}" if open_ended[-1] else f"> {words[-1]}"
    between_words = (a if a == b else inner(a, b) for a, b in pairwise(words))
    return (first, *between_words, last)


def bound(cut: float, following: float) -> tuple[bool, float]:
    """Whether a cut lies just below a number that is shorter or the following cut, and that number, else the cut."""
    above = math.nextafter(cut, math.inf)
    short_above = above == 0 or (len(repr(cut)) >= 16 and len(repr(above)) <= 13)
    return (True, above) if above < math.inf and (short_above or above == following) else (False, cut)


def distinct_words(points: tuple[float, ...]) -> list[str]:
    """Numbers written with as few digits as keep different ones different."""
    words: list[str] = []
    for digits in range(DIGITS, 18):
        words = [short(x, digits) for x in points]
        if len(set(words)) == len(set(points)):
            break
    return words


def short(x: float, digits: int) -> str:
    """A number with `digits` significant digits, without an exponent unless it is very large or very small."""
    if x == math.floor(x) and abs(x) < LARGE:
        return str(int(x))
    if 1e-4 <= abs(x) < LARGE:
        return np.format_float_positional(x, precision=digits, fractional=False, trim="-")
    return f"{x:.{digits}g}"


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
    kept = variable.interval_values or ((),) * variable.n_states
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
