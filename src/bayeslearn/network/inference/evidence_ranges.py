"""Ranges of numbers and dates as text, and the states and intervals that they hold.

    10..20   10..   ..20            bounds that belong to the range
    > 17.5   >= 17.5   < 3   <= 3   a bound that belongs to the range or not

Bounds are numbers in the format of the column, like '$100..$200'. Where all known values of a variable are whole
numbers, so are the bounds of a range: '> 3' and '>= 4' are the same.

A range of dates stands for the states of the parts that hold exactly its dates.

    when = 2024-01..2024-03     2024-01-01..2024-03-31     year: 2024, month: Jan, Feb or Mar
    when > 2024-06              of the years 2023 and 2024 year: 2024, month: Jul to Dec
    when = 2024    2023..       whole years                year: 2024;  year: 2023 or 2024
    when = 17:00..20:00         a time of day              hour: 17, 18 or 19

A day, a month or a year belongs to a range as a whole; a time is a point. Only the years of the network count,
and without the year of a network a range must lie within one year. A range that is no
set of states, such as 2024-01-15..2024-02-10, is an error.
"""

from __future__ import annotations

import math
import re
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.errors import BayeslearnWarning, UnknownStateError, listed, outside

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bayeslearn.tables import DiscreteVariable

    Parts = dict[str, DiscreteVariable]


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


def range_of(variable: DiscreteVariable, text: str) -> tuple[Bound, Bound] | None:
    """The bounds of a range; None for text that is no range.

    >>> from bayeslearn.tables import DiscreteVariable
    >>> delay = DiscreteVariable.from_cuts("delay", [5, 20])
    >>> range_of(delay, "10..20")
    (Bound(at=10.0, is_open=False), Bound(at=20.0, is_open=False))
    >>> range_of(delay, "> 17.5")
    (Bound(at=17.5, is_open=True), Bound(at=inf, is_open=False))
    >>> range_of(delay, "high")
    """
    from bayeslearn.tables.type_inference import number_in  # noqa: PLC0415 - Arrow loads when it is needed

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


def within_cuts(variable: DiscreteVariable, low: Bound, high: Bound) -> tuple[Codes, Codes]:
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


def warn_partly(variable: DiscreteVariable, codes: Codes) -> None:
    """Warn of intervals that a range covers in part."""
    partly = listed(variable.states[code] for code in codes)
    warnings.warn(
        f"the range of {variable.name!r} covers {partly} in part; the whole of each interval is included",
        BayeslearnWarning,
        stacklevel=outside(),
    )


def among_states(variable: DiscreteVariable, low: Bound, high: Bound) -> tuple[Codes, Codes]:
    """The states that are numbers within a range; none is covered in part."""
    from bayeslearn.tables.columns import number_of  # noqa: PLC0415 - Arrow loads when it is needed

    x = np.array([math.nan if isinstance(state, bool) else number_of(state) for state in variable.states])
    above = x > low.at if low.is_open else x >= low.at
    below = x < high.at if high.is_open else x <= high.at
    return tuple(np.flatnonzero(above & below).tolist()), ()


def has_whole_numbers(variable: DiscreteVariable) -> bool:
    """Whether all known values of the intervals are whole."""
    known = [x for values in variable.interval_values or () for x in values]
    return bool(known) and all(float(x).is_integer() for x in known)


YEAR, MONTH = re.compile(r"[0-9]{4}"), re.compile(r"([0-9]{4})[-/]([0-9]{1,2})")
CLOCK = re.compile(r"[0-9]{1,2}:([0-5][0-9])(?::([0-5][0-9]))?")
DAY_START, DAY_END = np.datetime64("1970-01-01", "s"), np.datetime64("1970-01-02", "s")


@dataclass(frozen=True)
class Span:
    """The time from one moment to another, which does not belong to it; None where it has no end."""

    start: np.datetime64 | None
    stop: np.datetime64 | None
    #: Of any day: both moments are of 1970-01-01.
    is_clock: bool = False


def range_states(variables: list[DiscreteVariable], text: str) -> dict[str, Any] | None:
    """The state or the states of each part, by the name of its variable; None for text that is no range of dates."""
    span = span_of(variables, text)
    if span is None:
        return None
    if span.start is not None and span.stop is not None and span.start >= span.stop:
        raise nothing_within(variables[0], text)
    parts = {(variable.read_as or "").partition(" of ")[0]: variable for variable in variables}
    found = hours_within(parts, span, text) if span.is_clock else days_within(parts, span, text)
    return {variable.name: one_or_list(variable, codes) for variable, codes in found}


def one_or_list(variable: DiscreteVariable, codes: Iterable[int]) -> Any:
    """The only state, or a list of states."""
    states = [variable.states[code] for code in codes]
    return states[0] if len(states) == 1 else states


### text


def span_of(variables: list[DiscreteVariable], text: str) -> Span | None:
    """The time that a range, a month or a year stands for."""
    text = text.strip()
    if (beyond := BEYOND.fullmatch(text)) is not None:
        ends = moments(variables, [beyond[2].strip()])
        return None if ends is None else beyond_span(ends[0], beyond[1])
    if YEAR.fullmatch(text) or MONTH.fullmatch(text):
        return moment(text, "")
    low, dots, high = (part.strip() for part in text.partition(".."))
    ends = moments(variables, [end for end in (low, high) if end]) if dots and (low or high) else None
    if ends is None:
        return None
    is_clock = ends[0].is_clock
    start, stop = (DAY_START, DAY_END) if is_clock else (None, None)
    return Span(ends[0].start if low else start, ends[-1].stop if high else stop, is_clock)


def beyond_span(at: Span, sign: str) -> Span:
    """The time after or before a moment; a day, a month or a year is left out as a whole by < and >."""
    ends = (DAY_START, DAY_END) if at.is_clock else (None, None)
    if sign.startswith(">"):
        return Span(at.start if sign == ">=" else at.stop, ends[1], at.is_clock)
    return Span(ends[0], at.stop if sign == "<=" else at.start, at.is_clock)


def moments(variables: list[DiscreteVariable], texts: list[str]) -> list[Span] | None:
    """Years, months, days, or points in time, all days in one format; None where one is none of these."""
    import pyarrow as pa  # noqa: PLC0415 - it loads when it is needed

    from bayeslearn.tables import formats  # noqa: PLC0415 - as above

    plain = [text for text in texts if not (YEAR.fullmatch(text) or MONTH.fullmatch(text))]
    fits, known = formats.date_fits(pa.array(plain, pa.string())), variables[0].read_as or ""
    name = next((fit for fit in fits if f" of {fit}" in known), None) or formats.chosen_date(fits)
    if plain and (name is None or (name == "time" and len(plain) < len(texts))):
        return None
    found = [moment(text, name or "") for text in texts]
    return None if None in found else [span for span in found if span is not None]


def moment(text: str, name: str) -> Span | None:
    """A year, a month, or a day or a point in time in a format; None for a month that is none."""
    if YEAR.fullmatch(text):
        return unit(int(text), 1, years=1)
    if (month := MONTH.fullmatch(text)) is not None:
        return unit(int(month[1]), int(month[2])) if 1 <= int(month[2]) <= 12 else None
    import pyarrow as pa  # noqa: PLC0415 - it loads when it is needed

    from bayeslearn.tables import formats  # noqa: PLC0415 - as above

    found = {part: values[0] for part, values in formats.fields(pa.array([text]), name).items()}
    clock, day = CLOCK.search(text), DAY_START
    if name != "time":
        day = np.datetime64(f"{int(found['year']):04}-{int(found['month']):02}-{int(found['day']):02}", "s")
    if clock is None:
        return Span(day, day + np.timedelta64(1, "D"))
    at = day + np.timedelta64(int(found["hour"]) * 3600 + int(clock[1]) * 60 + int(clock[2] or 0), "s")
    return Span(at, at, is_clock=name == "time")


def unit(year: int, month: int, years: int = 0) -> Span:
    """A month, or a number of years from it on."""
    start = np.datetime64(f"{year:04}-{month:02}", "M")
    stop = start + (12 * years or 1)
    return Span(start.astype("datetime64[s]"), stop.astype("datetime64[s]"))


### parts


def hours_within(parts: Parts, span: Span, text: str) -> list[tuple[DiscreteVariable, tuple[int, ...]]]:
    """The hours of a range of times of day."""
    assert span.start is not None
    assert span.stop is not None
    if "hour" not in parts:
        raise inexact(parts, text, "the parts do not include the time")
    ends = [(end - DAY_START) / np.timedelta64(1, "h") for end in (span.start, span.stop)]
    if any(end != int(end) for end in ends):
        raise inexact(parts, text, "it does not begin and end at whole hours", "take whole hours, such as 17:00..20:00")
    low, high = ends[0] or None, None if ends[1] == 24 else ends[1] - 1
    return [(parts["hour"], codes_within(parts["hour"], parts, text, low, high))]


def days_within(parts: Parts, span: Span, text: str) -> list[tuple[DiscreteVariable, tuple[int, ...]]]:
    """The years and months of a range of dates."""
    if "year" not in parts:
        return [months_of_one_year(parts, span, text)]
    year = parts["year"]
    if year.cuts is not None:
        return [(year, whole_years(parts, span, text))]
    found = {code: months_within(parts, span, int(y), text) for code, y in numbered(year)}
    found = {code: months for code, months in found.items() if months}
    if not found:
        raise nothing_within(year, text)
    months = next(iter(found.values()))
    if any(others != months for others in found.values()):
        raise inexact(parts, text, "the months differ from year to year", "take whole years, or ask for each year")
    if len(months) == 12:
        return [(year, tuple(found))]
    if "month" not in parts:
        raise inexact(parts, text, "the parts do not include the month", "take whole years")
    return [(year, tuple(found)), (parts["month"], months)]


def numbered(year: DiscreteVariable) -> list[tuple[int, float]]:
    """The codes of the years, and the years."""
    from bayeslearn.tables.columns import number_of  # noqa: PLC0415 - Arrow loads when it is needed

    return [(code, number_of(state)) for code, state in enumerate(year.states)]


def months_of_one_year(parts: Parts, span: Span, text: str) -> tuple[DiscreteVariable, tuple[int, ...]]:
    """The months of a range in a network without the year; a whole year is every state of another part."""
    if "month" not in parts:
        if not is_whole_year(span):
            raise inexact(parts, text, "the parts include neither the year nor the month")
        part = next(iter(parts.values()))
        return part, tuple(range(part.n_states))
    years = {str(end)[:4] for end in (span.start, None if span.stop is None else span.stop - 1) if end is not None}
    if span.start is None or span.stop is None or len(years) > 1:
        raise inexact(
            parts, text, "the parts do not include the year", "take a range within one year, such as 2024-01..2024-03"
        )
    months = months_within(parts, span, int(years.pop()), text)
    if not months:
        raise nothing_within(parts["month"], text)
    return parts["month"], months


def is_whole_year(span: Span) -> bool:
    """Whether a range is one year from end to end."""
    if span.start is None or span.stop is None:
        return False
    year = span.start.astype("datetime64[Y]")
    return bool(span.start == year and span.stop == year + 1)


def months_within(parts: Parts, span: Span, year: int, text: str) -> tuple[int, ...]:
    """The codes of the months of a year that lie in a range; one of which only a part does is an error."""
    from bayeslearn.tables.formats import MONTHS  # noqa: PLC0415 - Arrow loads when it is needed

    starts = np.arange(f"{year:04}-01", f"{year + 1:04}-02", dtype="datetime64[M]").astype("datetime64[s]")
    first, last = starts[:-1], starts[1:]
    start = first[0] if span.start is None else span.start
    stop = last[-1] if span.stop is None else span.stop
    touched, covered = (first < stop) & (start < last), (start <= first) & (last <= stop)
    if (touched & ~covered).any():
        whole = [str(starts[m])[:7] for m in np.flatnonzero(touched)[[0, -1]]]
        raise inexact(parts, text, "it does not hold whole months", f"take whole months, such as {'..'.join(whole)}")
    months = np.flatnonzero(covered).tolist()
    return tuple(parts["month"].code_of(MONTHS[m]) for m in months) if "month" in parts else tuple(months)


def whole_years(parts: Parts, span: Span, text: str) -> tuple[int, ...]:
    """The intervals of years that lie in a range of whole years."""
    ends = [None if end is None else end.astype("datetime64[Y]") for end in (span.start, span.stop)]
    whole = all(a is None or a == b for a, b in zip((span.start, span.stop), ends, strict=True))
    if not whole:
        raise inexact(parts, text, "the years are intervals, and it does not hold whole years", "take whole years")
    low, high = (None if end is None else int(str(end)) for end in ends)
    return codes_within(parts["year"], parts, text, low, None if high is None else high - 1)


def codes_within(
    part: DiscreteVariable, parts: Parts, text: str, low: float | None, high: float | None
) -> tuple[int, ...]:
    """The codes of a part from one whole number to another; an interval that is covered in part is an error."""
    bounds = Bound(-np.inf if low is None else low), Bound(np.inf if high is None else high)
    found, partly = (among_states if part.cuts is None else within_cuts)(part, *bounds)
    if partly:
        why = f"it covers {listed(part.states[code] for code in partly)} in part"
        raise inexact(parts, text, why, f"give the part itself: {part.name}={part.states[partly[0]]!r}")
    if not found:
        raise nothing_within(part, text)
    return found


### errors


def inexact(parts: Parts, text: str, why: str, hint: str | None = None) -> UnknownStateError:
    """The error for a range that is no set of states."""
    first = next(iter(parts.values()))
    name = first.origin
    return UnknownStateError(
        f"the range {text!r:.60} of {name!r} is no set of states of {listed(v.name for v in parts.values())}: {why}",
        hint=hint or f"give the parts themselves, such as {first.name}={first.states[0]}",
        column=name,
        state=text,
    )


def nothing_within(part: DiscreteVariable, text: str) -> UnknownStateError:
    """The error for a range without a state."""
    return UnknownStateError(
        f"no state of {part.name!r} lies in the range {text!r:.60}, its states are {listed(part.states)}",
        hint="a range of dates is EARLIER..LATER, or <, <=, >, >= and a date, a month or a year",
        column=part.origin,
        state=text,
    )
