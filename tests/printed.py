"""Compare printed text: words literally, numbers by value."""

from __future__ import annotations

import re
from decimal import Decimal

#: Numbers with a point or an exponent. Whole numbers and digits within words are compared as text.
NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.\d*|\.\d+|\d+(?=[eE][-+]?\d))(?:[eE][-+]?\d+)?")
RTOL = Decimal("1e-9")
#: The most significant digits of a number that is printed for people.
DIGITS = 9


def as_expected(expected: str, printed: str) -> str:
    """Return `printed` with each number spelled as in `expected` where the two agree, so that texts can be compared.

    Numbers are paired in order. Where one text has more numbers than the other, `printed` comes back as it is.
    """
    wanted = NUMBER.findall(expected)
    if len(wanted) != len(NUMBER.findall(printed)):
        return printed
    spelled = iter(wanted)

    def respelled(found: re.Match[str]) -> str:
        number = next(spelled)
        return number if agree(number, found[0]) else found[0]

    return NUMBER.sub(respelled, printed)


def agree(wanted: str, found: str) -> bool:
    """Whether two printed numbers differ by 1e-9 of their size at most, or by one in the ninth and last digit."""
    a, b = Decimal(wanted), Decimal(found)
    last = Decimal(1).scaleb(a.adjusted() - DIGITS + 1) if significant(wanted) == DIGITS else 0
    return abs(a - b) <= max(RTOL * abs(a), last)


def significant(number: str) -> int:
    """Count the significant digits of a printed number."""
    return len(re.split("[eE]", number)[0].lstrip("+-").replace(".", "").lstrip("0"))


def long_numbers(text: str) -> list[str]:
    """Return the numbers of a text with more significant digits than people are shown."""
    return [number for number in NUMBER.findall(text) if significant(number) > DIGITS]
