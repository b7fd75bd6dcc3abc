r"""Numbers as people write them: money, percentages, thousands separators, a decimal comma.

    written                               read as                       number
    $1,234.56   US$ 12   (12.50)          money                         1234.56, 12, −12.5
    1.234,56 €  € 12     1 234,50 kr      money, decimal comma          1234.56, 12, 1234.5
    12 %        12.5%                     percent                       12, 12.5
    12,5 %                                percent, decimal comma        12.5
    1,234,567   1 234    1'234            thousands separators          1234567, 1234, 1234
    1.234,5     3,5                       decimal comma                 1234.5, 3.5

A column is read in a format when every value fits it. Where several fit, the first of this list is taken: '1,234' has
a thousands separator, and so has '1.234 €', for nobody writes money with three decimals.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bayeslearn.tables.markers import NUMBER

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Spaces and apostrophes between groups of three digits.
GAP = r"['’ \x{00a0}\x{202f}\x{2009}]"

#: What a sign may look like.
SIGN = r"[+\-−]?"

#: Currencies, as signs and as words.
CODES = "USD|EUR|GBP|CHF|JPY|CNY|INR|AUD|CAD|NZD|SEK|NOK|DKK|PLN|CZK|HUF|BRL|MXN|ZAR"
CURRENCY = rf"(?:[A-Z]{{0,3}}\p{{Sc}}|{CODES}|kr\.?|zł|Kč|Fr\.?)"


def digits(group: str, point: str, decimals: str) -> str:
    """Digits, perhaps in groups of three, with so many decimals."""
    grouped = rf"[1-9][0-9]{{0,2}}(?:{group}[0-9]{{3}})+"
    return rf"(?:(?:{grouped}|[0-9]+)(?:{point}[0-9]{decimals})?|{point}[0-9]{decimals})"


def money(group: str, point: str, decimals: str) -> str:
    """An amount with a currency before or behind it, or in parentheses."""
    amount = digits(group, point, decimals)
    signed = rf"{SIGN}{CURRENCY}?\s*{SIGN}{amount}\s*{CURRENCY}?"
    return rf"(?:{signed}|\({CURRENCY}?\s*{amount}\s*{CURRENCY}?\))"


POINT, COMMA = rf"(?:,|{GAP})", rf"(?:\.|{GAP})"

#: Formats in the order in which they are tried: the pattern, and the decimal mark.
FORMATS: dict[str, tuple[str, str]] = {
    "percent": (rf"{SIGN}{digits(POINT, r'[.]', '{1,17}')}\s*%", "."),
    "percent, decimal comma": (rf"{SIGN}{digits(COMMA, ',', '{1,17}')}\s*%", ","),
    "money": (money(POINT, r"[.]", "{1,2}"), "."),
    "money, decimal comma": (money(COMMA, ",", "{1,2}"), ","),
    "money, many decimals": (money(POINT, r"[.]", "{1,17}"), "."),
    "thousands separators": (rf"{SIGN}{digits(POINT, r'[.]', '{1,17}')}", "."),
    "decimal comma": (rf"{SIGN}{digits(COMMA, ',', '{1,17}')}", ","),
}

#: Values that are quicker looked at one by one than all at once: Arrow compiles a pattern anew for every column.
FEW = 64

#: What values of some format show that plain numbers do not.
MARK = {"money": rf"(?:{CURRENCY}|\()", "percent": "%"}


@dataclass(frozen=True)
class Fits:
    """The formats that every value seen so far fits, and the marks that some value shows; `any` for plain numbers."""

    formats: frozenset[str]
    marks: frozenset[str] = frozenset()

    def __add__(self, other: Fits) -> Fits:
        return Fits(self.formats & other.formats, self.marks | other.marks)

    @property
    def chosen(self) -> str | None:
        """The first format that fits and whose mark was seen; None for plain numbers and for words."""
        found = (name for name in FORMATS if name in self.formats and kind_of(name) in self.marks)
        return next(found, None)


def kind_of(name: str) -> str:
    """What is written: money, percent, or numbers with separators."""
    kind = name.partition(",")[0]
    return kind if kind in MARK else "separators"


#: What fits before any value is seen, and what plain numbers fit: every format, without a mark.
EVERY = Fits(frozenset(FORMATS))


def fits_of(values: Any) -> Fits:
    """The formats that every value of a text array fits."""
    head = texts(values[:FEW])
    likely = {name: pattern for name, (pattern, _) in FORMATS.items() if matches(head, pattern)}
    plain = matches(head, NUMBER)
    if not likely and not plain:
        return Fits(frozenset())
    text = texts(values)
    if plain and matches(text, NUMBER):
        return EVERY
    found = frozenset(name for name, pattern in likely.items() if matches(text, pattern))
    marks = {kind for kind, mark in MARK.items() if found and shows(text, mark)}
    return Fits(found, frozenset(marks or {"separators"} if found else ()))


def trimmed(values: Any) -> Any:
    """Text without the spaces around it."""
    return pc.utf8_trim_whitespace(values.cast(pa.large_string()))


def texts(values: Any) -> Any:
    """Text without the spaces around it: of few values a list, of many an Arrow array."""
    if len(values) > FEW:
        return trimmed(values)
    return [text.strip() for text in values.to_pylist() if text is not None]


def matches(text: Any, pattern: str) -> bool:
    """Whether all of the text fits a pattern."""
    if isinstance(text, list):
        return all(map(compiled(pattern).fullmatch, text))
    return bool(pc.all(pc.match_substring_regex(text, rf"^(?:{pattern})$")).as_py())


def shows(text: Any, pattern: str) -> bool:
    """Whether a part of some text fits a pattern."""
    if isinstance(text, list):
        return any(map(compiled(pattern).search, text))
    return bool(pc.any(pc.match_substring_regex(text, pattern)).as_py())


#: The signs of currencies, as a range of Python's: Unicode's category Sc.
SIGNS = (
    "$\u00a2-\u00a5\u058f\u060b\u07fe\u07ff\u09f2\u09f3\u09fb\u0af1\u0bf9\u0e3f\u17db\u20a0-\u20c0"
    "\ua838\ufdfc\ufe69\uff04\uffe0\uffe1\uffe5\uffe6\U00011fdd-\U00011fe0\U0001e2ff\U0001ecb0"
)


@lru_cache(maxsize=64)
def compiled(pattern: str) -> re.Pattern[str]:
    """A pattern of Arrow's in the words of Python, which has other names for code points, currencies and blanks."""
    pattern = re.sub(r"\\x\{([0-9a-f]+)\}", lambda code: chr(int(code[1], 16)), pattern)
    return re.compile(pattern.replace(r"\p{Sc}", f"[{SIGNS}]").replace(r"\s", r"[\t\n\f\r ]"))


def numbers_in(values: Any, name: str) -> NDArray[np.float64]:
    """The number that each value of a text array stands for in a format, NaN where it does not fit.

    >>> numbers_in(pa.array(["$1,234.50", "(12)", "n/a"]), "money").tolist()
    [1234.5, -12.0, nan]
    """
    pattern, point = FORMATS[name]
    text = trimmed(values)
    fits = pc.match_substring_regex(text, rf"^(?:{pattern})$")
    plain = pc.match_substring_regex(text, rf"^{NUMBER}$")
    negative = pc.match_substring_regex(text, r"[(\-−]")
    bare = pc.replace_substring_regex(text, rf"[^0-9{point}]|\.$|kr\.|Fr\.", "")
    bare = pc.replace_substring(bare, ",", ".") if point == "," else bare
    number = np.asarray(pc.if_else(fits, bare, None).cast(pa.float64()), dtype=np.float64)
    number = np.where(np.asarray(negative), -number, number)
    usual = np.asarray(pc.if_else(plain, text, None).cast(pa.float64()), dtype=np.float64)
    return np.where(np.isnan(number), usual, number) + 0.0
