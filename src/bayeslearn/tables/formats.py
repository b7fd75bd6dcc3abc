"""Formats of numbers and dates: money, percentages, a decimal comma; days and times in parts.

    written                               read as                       number
    $1,234.56   US$ 12   (12.50)          money                         1234.56, 12, −12.5
    1.234,56 €  € 12     1 234,50 kr      money, decimal comma          1234.56, 12, 1234.5
    12 %        12.5%                     percent                       12, 12.5
    12,5 %                                percent, decimal comma        12.5
    1,234,567   1 234    1'234            thousands separators          1234567, 1234, 1234
    1.234,5     3,5                       decimal comma                 1234.5, 3.5

A column is read in a format when every value fits it. Where several fit, the first of this list is taken: '1,234' has
a thousands separator, and so has '1.234 €', for money has no three decimals.

Dates and times become parts that can be learned from: year, month, weekday and hour.

    2013-07-04, 2013/7/4, 2013-07-04T05:15:00Z      y-m-d, with or without a time
    04/07/2013, 4.7.2013, 04-07-13 17:30            d/m/y or m/d/y: a number above 12 must be the day;
                                                    where none is, 4.7.2013 is d/m/y and 4/7/2013 is m/d/y
    17:30, 17:30:05                                 a time of day

Month and weekday have named states in their order, all of them, so that later dates find theirs; a part that never
changes is dropped.
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
    from collections.abc import Iterable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


#: Spaces and apostrophes between groups of three digits.
GAP = r"['’ \x{00a0}\x{202f}\x{2009}]"

#: What a sign may look like.
SIGN = r"[+\-−]?"

#: Currencies, as signs and as words.
CODES = "USD|EUR|GBP|CHF|JPY|CNY|INR|AUD|CAD|NZD|SEK|NOK|DKK|PLN|CZK|HUF|BRL|MXN|ZAR"
CURRENCY = rf"(?:[A-Z]{{0,3}}\p{{Sc}}|{CODES}|kr\.?|zł|Kč|Fr\.?)"


def digits(group: str, point: str, decimals: str) -> str:
    """Digits, perhaps in groups of three, with `decimals` decimals."""
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


MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")

CLOCK = r"(?P<hour>[0-9]{1,2}):[0-5][0-9](?::[0-5][0-9](?:[.,][0-9]+)?)?(?: ?(?P<half>[AaPp])\.?[Mm]\.?)?"
ZONE = r"(?: ?(?:Z|UTC|[+-][0-9]{2}:?[0-9]{2}))?"
TIME = rf"(?:[T ]+{CLOCK}{ZONE})?"
YEAR, TWO = "(?P<year>[0-9]{4}|[0-9]{2})", "[0-9]{1,2}"

#: Formats of dates, in the order in which they are taken where several fit.
DATES = {
    "y-m-d": rf"(?P<year>[0-9]{{4}})[-/.](?P<month>{TWO})[-/.](?P<day>{TWO}){TIME}",
    "d.m.y": rf"(?P<day>{TWO})\.(?P<month>{TWO})\.{YEAR}{TIME}",
    "m/d/y": rf"(?P<month>{TWO})[-/](?P<day>{TWO})[-/]{YEAR}{TIME}",
    "d/m/y": rf"(?P<day>{TWO})[-/](?P<month>{TWO})[-/]{YEAR}{TIME}",
    "time": CLOCK,
}

#: The parts of dates and times, and the states of those that have names.
PARTS: dict[str, tuple[str, ...] | None] = {"year": None, "month": MONTHS, "weekday": WEEKDAYS, "hour": None}

#: What every date and time starts with.
DIGITS = r"[0-9]{1,4}[-/.][0-9]{1,2}[-/.][0-9].*|[0-9]{1,2}:[0-9]{2}.*"

#: Two-digit years up to this one are in this century.
PIVOT = 68


def is_temporal(kind: Any) -> bool:
    """Whether an Arrow type is one of dates and times."""
    return pa.types.is_timestamp(kind) or pa.types.is_date(kind) or pa.types.is_time(kind)


def is_text(values: Any) -> bool:
    """Whether values are an Arrow array of text."""
    kind = values.type if isinstance(values, pa.Array | pa.ChunkedArray) else None
    return kind is not None and (pa.types.is_string(kind) or pa.types.is_large_string(kind))


def date_fits(values: Any) -> frozenset[str]:
    """The formats of dates that every value of a text array fits; of numbers and mixed values, none."""
    if not len(values) or not is_text(values) or not matches(texts(values[:1]), DIGITS):
        return frozenset()
    text = texts(values)
    likely = [name for name in DATES if matches(text, DATES[name])]
    return frozenset(name for name in likely if is_valid(fields(trimmed(values), name)))


def chosen_date(fits: Iterable[str]) -> str | None:
    """The first format among those that fit."""
    return next((name for name in DATES if name in fits), None)


### values


def parts_of(values: Any, name: str) -> dict[str, Floats]:
    """Year, month (from 0), weekday (from 0) and hour of each value, text in a format or Arrow's own times."""
    if not is_temporal(values.type):
        return with_weekday(fields(trimmed(values), name))
    kind, unknown = values.type, np.full(len(values), np.nan)
    dated, timed = not pa.types.is_time(kind), not pa.types.is_date(kind)
    found = {"year": pc.year, "month": pc.month, "weekday": pc.day_of_week} if dated else {}
    parts = {part: floats_of(get(values)) for part, get in found.items()}
    parts["month"] = parts.get("month", unknown + 1) - 1
    return dict.fromkeys(PARTS, unknown) | parts | ({"hour": floats_of(pc.hour(values))} if timed else {})


def floats_of(data: Any) -> Floats:
    """Whole numbers as floats, NaN for nulls."""
    return np.asarray(data.cast(pa.float64()), dtype=np.float64)


def fields(text: Any, name: str) -> dict[str, Floats]:
    """Year, month, day and hour as written, NaN where there is none."""
    found = pc.extract_regex(text, rf"^(?:{DATES[name]})$")
    wanted = [found.type.field(i).name for i in range(found.type.num_fields)]
    unknown = np.full(len(text), np.nan)
    values = dict.fromkeys(("year", "month", "day", "hour"), unknown)
    for field in (f for f in wanted if f != "half"):
        part = pc.struct_field(found, field)
        values[field] = floats_of(pc.if_else(pc.equal(part, ""), None, part))
    half = np.asarray(pc.utf8_lower(pc.struct_field(found, "half")).to_numpy(zero_copy_only=False))
    clock = np.where((half == "a") | (half == "p"), values["hour"] % 12, values["hour"])
    year = values["year"]
    values["year"] = np.where(year < 100, year + np.where(year <= PIVOT, 2000, 1900), year)
    return values | {"hour": clock + 12 * (half == "p")}


def is_valid(found: dict[str, Floats]) -> bool:
    """Whether all of these are days of the calendar and hours of the day."""
    month, day = found["month"], found["day"]
    if np.isnan(month).all():
        return bool((found["hour"] < 24).all())
    if not ((month >= 1) & (month <= 12) & (day >= 1)).all() or (found["year"] < 1).any():
        return False
    return bool((day <= month_length(found["year"], month)).all()) and not (found["hour"] >= 24).any()


def month_length(year: Floats, month: Floats) -> Floats:
    """How many days a month has."""
    first = months_since_1970(year, month).astype("datetime64[M]")
    return ((first + 1).astype("datetime64[D]") - first.astype("datetime64[D]")).astype(float)


def months_since_1970(year: Floats, month: Floats) -> NDArray[np.int64]:
    """Months from January 1970 on."""
    return np.nan_to_num(12 * (year - 1970) + month - 1).astype(np.int64)


def with_weekday(found: dict[str, Floats]) -> dict[str, Floats]:
    """The parts, with the weekday; 1 January 1970 was a Thursday."""
    days = (
        months_since_1970(found["year"], found["month"]).astype("datetime64[M]").astype("datetime64[D]").astype(float)
    )
    weekday = (days + found["day"] - 1 + WEEKDAYS.index("Thu")) % 7
    return {"year": found["year"], "month": found["month"] - 1, "weekday": weekday, "hour": found["hour"]}
