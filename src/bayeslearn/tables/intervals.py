"""Cuts that are short to write, and the names of the intervals between them.

Any number between two neighboring values a < b separates them. The middle is taken if four digits write it, else the
roundest: the one nearest to the middle among the multiples of the largest power of ten that has one strictly between.

A cut just below a number v, as :func:`below` gives it, separates v itself from what is less; names write it as v:

    cuts  below(0), 0, 2.5      names  '< 0', '0', '0 … 2.5', '> 2.5'
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

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
    """A number with so many significant digits, without an exponent unless it is very large or very small."""
    if x == math.floor(x) and abs(x) < LARGE:
        return str(int(x))
    if 1e-4 <= abs(x) < LARGE:
        return np.format_float_positional(x, precision=digits, fractional=False, trim="-")
    return f"{x:.{digits}g}"
