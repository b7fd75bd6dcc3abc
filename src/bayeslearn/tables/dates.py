"""Dates and times as parts that can be learned from: year, month, weekday and hour.

    2013-07-04, 2013/7/4, 2013-07-04T05:15:00Z      y-m-d, with or without a time
    04/07/2013, 4.7.2013, 04-07-13 17:30            d/m/y or m/d/y: a number above 12 must be the day;
                                                    where none is, 4.7.2013 is d/m/y and 4/7/2013 is m/d/y
    17:30, 17:30:05                                 a time of day

Month and weekday have named states in their order, all of them, so that later dates find theirs; a part that never
changes is dropped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bayeslearn.tables.formats import matches, texts, trimmed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

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
