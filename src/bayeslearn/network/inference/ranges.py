"""Ranges of numbers as text, and the states and intervals that they hold.

    10..20   10..   ..20            bounds that belong to the range
    > 17.5   >= 17.5   < 3   <= 3   a bound that belongs to the range or not

Bounds are numbers in the format of the column, like '$100..$200'. Where all known values of a variable are whole
numbers, so are the bounds of a range: '> 3' and '>= 4' are the same.
"""

from __future__ import annotations

import math
import re
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayeslearn.errors import BayeslearnWarning, listed

if TYPE_CHECKING:
    from bayeslearn.tables import Discrete

Codes = tuple[int, ...]

#: A comparison with a number.
BEYOND = re.compile(r"\s*(<=|>=|<|>)(.+)", re.DOTALL)


@dataclass(frozen=True)
class Bound:
    """An end of a range, which belongs to the range unless it is open."""

    at: float
    is_open: bool = False

    def first(self, *, whole: bool) -> float:
        """The first number of a range that begins here."""
        if math.isinf(self.at):
            return self.at
        if whole:
            return math.floor(self.at) + 1 if self.is_open else math.ceil(self.at)
        return math.nextafter(self.at, math.inf) if self.is_open else self.at

    def last(self, *, whole: bool) -> float:
        """The last number of a range that ends here."""
        return -Bound(-self.at, self.is_open).first(whole=whole)


def range_of(variable: Discrete, text: str) -> tuple[Bound, Bound] | None:
    """The bounds of a range; None for text that is no range.

    >>> from bayeslearn.tables import Discrete
    >>> delay = Discrete.from_cuts("delay", [5, 20])
    >>> range_of(delay, "10..20")
    (Bound(at=10.0, is_open=False), Bound(at=20.0, is_open=False))
    >>> range_of(delay, "> 17.5")
    (Bound(at=17.5, is_open=True), Bound(at=inf, is_open=False))
    >>> range_of(delay, "high")
    """
    from bayeslearn.tables.interpretation import number_in  # noqa: PLC0415 - Arrow loads when it is needed

    if (beyond := BEYOND.fullmatch(text)) is not None:
        at = number_in(variable, beyond[2])
        bound = Bound(at, is_open="=" not in beyond[1])
        if math.isnan(at):
            return None
        return (bound, Bound(math.inf)) if beyond[1].startswith(">") else (Bound(-math.inf), bound)
    for dots in reversed([found.start() for found in re.finditer(r"(?=\.\.)", text)]):
        low, high = text[:dots].strip(), text[dots + 2 :].strip()
        ends = (
            number_in(variable, low) if low else -math.inf,
            number_in(variable, high) if high else math.inf,
        )
        if (low or high) and not any(map(math.isnan, ends)):
            return Bound(ends[0]), Bound(ends[1])
    return None


def within_cuts(variable: Discrete, low: Bound, high: Bound) -> tuple[Codes, Codes]:
    """The intervals that share more than an end point with a range, and those of them covered in part.

    An interval (a, b] holds the numbers from the one after a to b; of whole numbers from ⌊a⌋ + 1 to ⌊b⌋.
    """
    assert variable.cuts is not None
    whole = has_whole_numbers(variable)
    a, b = np.array([-math.inf, *variable.cuts]), np.array([*variable.cuts, math.inf])
    first, last = (np.floor(a) + 1, np.floor(b)) if whole else (np.nextafter(a, math.inf), b)
    start, stop = low.first(whole=whole), high.last(whole=whole)
    left, right = np.maximum(first, start), np.minimum(last, stop)
    inside = (left < right) | ((left == right) & (whole | (first == last)))
    covered = (start <= np.nextafter(first, math.inf)) & (np.nextafter(last, -math.inf) <= stop)
    return tuple(np.flatnonzero(inside).tolist()), tuple(np.flatnonzero(inside & ~covered).tolist())


def warn_partly(variable: Discrete, codes: Codes) -> None:
    """Say which intervals a range covers in part."""
    partly = listed(variable.states[code] for code in codes)
    warnings.warn(
        f"the range of {variable.name!r} covers {partly} in part; the whole of each interval is included",
        BayeslearnWarning,
        stacklevel=2,
    )


def among_states(variable: Discrete, low: Bound, high: Bound) -> tuple[Codes, Codes]:
    """The states that are numbers within a range; none is covered in part."""
    from bayeslearn.tables.columns import number_of  # noqa: PLC0415 - Arrow loads when it is needed

    x = np.array([math.nan if isinstance(state, bool) else number_of(state) for state in variable.states])
    above = x > low.at if low.is_open else x >= low.at
    below = x < high.at if high.is_open else x <= high.at
    return tuple(np.flatnonzero(above & below).tolist()), ()


def has_whole_numbers(variable: Discrete) -> bool:
    """Whether all known values of the intervals are whole."""
    known = [x for values in variable.interval_values or () for x in values]
    return bool(known) and all(float(x).is_integer() for x in known)
