"""How a column of text writes its numbers, so that new ones are written, and read back, the same way.

$1,234.50   (12.00)     '$', commas between groups of three digits, two decimals, parentheses for negative numbers
28,15 €                 ' €' behind, a decimal comma, two decimals
97%                     '%' behind, no decimals
0.5   12.25             one or two decimals, as many as the number needs
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from decimal import Context, Decimal
from typing import TYPE_CHECKING

import pyarrow as pa

from bayeslearn.tables.columns import number_of
from bayeslearn.tables.formats import FORMATS, numbers_in

if TYPE_CHECKING:
    from collections.abc import Sequence

#: What stands before the digits, the digits with all that is among them, and what stands behind.
PARTS = re.compile(r"(?P<head>.*?)(?P<body>[.,]?[0-9](?:[0-9.,'’ \u00a0\u202f\u2009]*[0-9])?)(?P<tail>.*)", re.DOTALL)

#: Signs and parentheses, which belong to the number and not to the style.
SIGNS = str.maketrans("", "", "+-−()")

#: Enough digits for any float that is written in full.
PRECISE = Context(prec=400)


@dataclass(frozen=True)
class NumberStyle:
    """How numbers are written.

    >>> style = NumberStyle.of(["$1,234.50", "$12.00"], "money")
    >>> style.write(2500), style.write(-3.456)
    ('$2,500.00', '-$3.46')
    >>> NumberStyle.of(["0.5", "12.25"]).write(3)
    '3.0'
    """

    prefix: str = ""
    suffix: str = ""
    #: What separates groups of three digits, and the decimal mark.
    group: str = ""
    point: str = "."
    min_decimals: int = 0
    max_decimals: int = 0
    #: Whether a negative number stands in parentheses.
    has_parentheses: bool = False

    @classmethod
    def of(cls, cells: Sequence[str], name: str | None = None) -> NumberStyle | None:
        """The style of cells in a format, plain numbers without `name`; None where no cell shows it."""
        point = "." if name is None else FORMATS[name][1]
        fitting = [cell.strip() for cell, x in zip(cells, numbers_of(cells, name), strict=True) if x == x]  # noqa: PLR0124 - NaN
        parts = [found for cell in fitting if (found := PARTS.fullmatch(cell)) is not None]
        if not parts or (name is None and any("e" in cell.lower() for cell in fitting)):
            return None
        bodies = [part["body"] for part in parts]
        decimals = [len(body.rpartition(point)[2]) if point in body else 0 for body in bodies]
        around = Counter((part["head"].translate(SIGNS), part["tail"].translate(SIGNS)) for part in parts)
        groups = Counter(sign for body in bodies for sign in body if not sign.isdigit() and sign != point)
        (prefix, suffix), _ = around.most_common(1)[0]
        group = groups.most_common(1)[0][0] if groups else ""
        return cls(prefix, suffix, group, point, min(decimals), max(decimals), any("(" in cell for cell in fitting))

    def write(self, x: float) -> str:
        """A number in this style, rounded to the most decimals that it has."""
        number = Decimal(repr(float(x))).quantize(Decimal((0, (1,), -self.max_decimals)), context=PRECISE)
        whole, _, fraction = f"{abs(number):f}".partition(".")
        fraction = fraction.rstrip("0").ljust(self.min_decimals, "0")
        whole = f"{int(whole):,}".replace(",", self.group)
        text = f"{self.prefix}{whole}{self.point if fraction else ''}{fraction}{self.suffix}"
        if not number < 0:
            return text
        return f"({text})" if self.has_parentheses else f"-{text}"


def numbers_of(cells: Sequence[str], name: str | None) -> list[float]:
    """The number that each cell stands for, NaN for none."""
    if name is None:
        return [number_of(cell) for cell in cells]
    found: list[float] = numbers_in(pa.array(cells, pa.string()), name).tolist()
    return found
