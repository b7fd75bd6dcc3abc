"""What the values of a column stand for: numbers written as money or percentages, and dates taken apart.

    'price'  $1,234.56          ->  'price'  1234.56                                    read as money
    'date'   2013-07-04 17:30   ->  'date.year', 'date.month', 'date.weekday', 'date.hour'

A variable keeps what its column was read as, and the column it comes from, so that new data are read the same way.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bayeslearn.errors import MixedTypesError, option
from bayeslearn.tables import dates, formats
from bayeslearn.tables.columns import Column, Levels, is_text, levels, number_of
from bayeslearn.tables.variables import DiscreteVariable, NumericVariable

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

    from bayeslearn.tables.conversion import Request
    from bayeslearn.tables.markers import Missing
    from bayeslearn.tables.schema import Schema
    from bayeslearn.tables.variables import Variable

#: What a duration is read as.
DURATION = "duration, in seconds"

#: What parts of a date are read as, where the date is no text.
TIMESTAMP = "timestamp"


### columns of which nothing is known


def interpreted(
    columns: list[Column], request: Request, known: Container[str], names: tuple[str, ...] | None = None
) -> list[Column]:
    """What columns stand for: themselves, themselves as numbers, or their parts (those asked for by name, if any)."""
    taken = {column.name for column in columns}
    wanted = None if names is None else frozenset(names)
    found = []
    for column in columns:
        mine = [column] if column.name in known else interpretation(column, request)
        new = [c for c in mine if c.name == column.name or c.name not in taken]
        found += [c for c in new if wanted is None or c.name in wanted or column.name in wanted]
    return found


def sources_of(names: Iterable[str], columns: Iterable[str]) -> tuple[str, ...]:
    """Names of columns, with the date in place of a part of it that is asked for by name."""
    there = frozenset(columns)
    found: dict[str, None] = {}
    named: list[str] = []
    for name in names:
        origin, _, part = name.rpartition(".")
        derived = name not in there and part in dates.PARTS and origin in there
        named += [name] if not derived else [] if origin in found else [origin]
        found[origin if derived else name] = None
    return tuple(named)


def interpretation(column: Column, request: Request) -> list[Column]:
    """One column, or the parts of it."""
    if isinstance(column.data, list):
        return [column]
    as_states = request.all_discrete or column.name in request.discrete or column.name in request.states
    if pa.types.is_duration(column.data.type):
        return [seconds(column)]
    if dates.is_temporal(column.data.type):
        text = Column(column.name, column.data.cast(pa.string()))
        return [text] if as_states else parts(column, levels(column, request.missing), TIMESTAMP)
    return [column] if as_states or not is_plain_text(column) else interpreted_text(column, request)


def interpreted_text(column: Column, request: Request) -> list[Column]:
    """Text as numbers or as parts of dates, where all of it is of one format."""
    found = levels(column, request.missing)
    column = column.with_levels(request.missing, found)
    if not len(found.values) or not np.isnan(found.numbers).any():
        return [column]
    fits = formats.fits_of(found.values) if column.fits is None else column.fits
    if fits.chosen is not None:
        return [numbers_column(column, found, fits.chosen)]
    known = dates.date_fits(found.values) if column.date_fits is None else column.date_fits
    if column.name in request.numeric or not known:
        return [column]
    return parts(column, found, dates.chosen_date(known) or "", is_open="m/d/y" in known and "d/m/y" in known)


def is_plain_text(column: Column) -> bool:
    """Whether a column is text, and not categories in an order that was chosen."""
    kind = column.data.type
    value = kind.value_type if pa.types.is_dictionary(kind) else kind
    return is_text(value) and not column.declared


def seconds(column: Column) -> Column:
    """A duration as seconds."""
    unit = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}[column.data.type.unit]
    data = pc.divide(column.data.cast(pa.int64()).cast(pa.float64(), safe=False), unit)
    return replace(column, data=data, read_as=DURATION)


def numbers_column(column: Column, found: Levels, name: str) -> Column:
    """Text in a format as numbers."""
    x = np.append(formats.numbers_in(found.values, name), np.nan)[found.place]
    return replace(column, data=pa.array(x, from_pandas=True), from_file=False, read_as=name, known=None)


### parts of dates


def parts(column: Column, found: Levels, name: str, *, is_open: bool = False) -> list[Column]:
    """The parts of a date that change; one of them if none does."""
    values = dates.parts_of(found.values, name)
    there = {part: x for part, x in values.items() if not np.isnan(x).all()}
    varied = {part: x for part, x in there.items() if len(np.unique(x[~np.isnan(x)])) > 1} or dict(
        list(there.items())[:1]
    )
    said = f"{name} (day and month could be exchanged)" if is_open else name
    return [part_column(column.name, part, x, found, f"{part} of {said}") for part, x in varied.items()]


def part_column(origin: str, part: str, x: Any, found: Levels, read_as: str) -> Column:
    """One part as a column: named states in their order, or whole numbers."""
    values, names = np.append(x, np.nan)[found.place], dates.PARTS[part]
    gone = np.isnan(values)
    whole = pa.array(np.nan_to_num(values).astype(np.int64), mask=gone)
    data = whole if names is None else pa.DictionaryArray.from_arrays(whole.cast(pa.int32()), pa.array(names))
    return Column(f"{origin}.{part}", data, declared=names is not None, read_as=read_as, origin=origin)


### columns of a known schema


def with_origins(columns: dict[str, Column], schema: Schema, missing: Missing) -> dict[str, Column]:
    """The columns, and the parts that a schema takes from them."""
    derived = {
        v.name: known_part(columns[v.origin], v, missing)
        for v in schema
        if v.origin in columns and v.name not in columns
    }
    return columns | derived


def origins(schema: Iterable[Variable], names: Iterable[str]) -> tuple[str, ...]:
    """The columns that these variables are read from."""
    by_name = {v.name: v.origin or v.name for v in schema}
    return tuple(dict.fromkeys(by_name.get(name, name) for name in names))


def known_part(column: Column, variable: Variable, missing: Missing) -> Column:
    """The part of a date that a variable is."""
    part, _, name = (variable.read_as or "").partition(" of ")
    name = name.partition(" (")[0]
    found = levels(column, missing)
    if not isinstance(found.values, pa.Array) or not dates.is_temporal(found.values.type):
        fits = dates.date_fits(found.values)
        name = name if name in fits else dates.chosen_date(fits) or ""
        if len(found.values) and not name:
            raise no_date(column, found)
    if not len(found.values):
        return Column(variable.name, pa.nulls(len(column), pa.string()))
    return part_column(column.name, part, dates.parts_of(found.values, name)[part], found, variable.read_as or "")


def no_date(column: Column, found: Levels) -> MixedTypesError:
    """The error for text that is no date."""
    good = np.array([bool(dates.date_fits(found.values[i : i + 1])) for i in range(min(len(found.values), 1000))])
    level = int(np.argmin(good))
    word, row = found.listed()[level], found.first_row(level)
    return MixedTypesError(
        f"column {column.name!r} must hold dates in one format, but row {row} holds {word!r:.60}",
        hint=f"{option('na_values', {column.name: [word]})} if it stands for a missing cell",
        column=column.name,
        row=row,
    )


def as_known_numbers(column: Column, variable: Variable, missing: Missing) -> Column:
    """A column that a variable takes for numbers, with numbers in a format written plainly; words stay as they are."""
    if isinstance(column.data, list):
        return column
    if pa.types.is_duration(column.data.type):
        return seconds(column)
    if not takes_numbers(variable) or not is_plain_text(column):
        return column
    found = levels(column, missing)
    column = replace(column, known=(missing.of_column(column.name), found))
    name = format_of(found, variable)
    return column if name is None else written_plainly(column, found, name)


def format_of(found: Levels, variable: Variable) -> str | None:
    """The format in which text is read as the numbers of a variable; None for plain numbers and for words."""
    words = len(found.values) and np.isnan(found.numbers).any()
    name = formats.fits_of(found.values).chosen or variable.read_as if words else None
    return name if name in formats.FORMATS else None


def takes_numbers(variable: Variable) -> bool:
    """Whether numbers are read into a variable: it is numeric, has intervals, or is written in a format of numbers."""
    return (
        isinstance(variable, NumericVariable)
        or (isinstance(variable, DiscreteVariable) and variable.cuts is not None)
        or variable.read_as in formats.FORMATS
    )


def number_in(variable: Variable, text: str) -> float:
    """The number that one text stands for: in the format of the variable, else a plain one or in any format; or NaN."""
    if not takes_numbers(variable):
        return number_of(text)
    cell, known = pa.array([text]), variable.read_as
    x = float(formats.numbers_in(cell, known)[0]) if known in formats.FORMATS else number_of(text)
    name = formats.fits_of(cell).chosen if np.isnan(x) else None
    return x if name is None else float(formats.numbers_in(cell, name)[0])


def written_plainly(column: Column, found: Levels, name: str) -> Column:
    """Numbers in a format as numbers, or as text where words are among them."""
    x = formats.numbers_in(found.values, name)
    if not np.isnan(x).any():
        return numbers_column(column, found, name)
    words = [v if np.isnan(n) else repr(float(n)) for v, n in zip(found.values.to_pylist(), x, strict=True)]
    place = pa.array(found.place, mask=found.place < 0)
    text = pa.DictionaryArray.from_arrays(place.cast(pa.int32()), pa.array(words, pa.string()))
    return replace(column, data=text.cast(pa.string()), known=None)


### notes


def interpretation_notes(schema: Iterable[Variable]) -> list[str]:
    """What columns were read as, one sentence for each column that is not read as it stands there."""
    notes: dict[str, list[str]] = {}
    for v in schema:
        if v.origin is not None:
            notes.setdefault(f"{v.origin}: date", []).append(str(v.read_as))
        elif v.read_as is not None:
            notes[f"{v.name}: {v.read_as}, read as numbers"] = []
    return [f"{head}, read as {date_parts(said)}" if said else head for head, said in notes.items()]


def date_parts(said: list[str]) -> str:
    """The parts of a date and its format."""
    parts_, how = [text.partition(" of ")[0] for text in said], said[0].partition(" of ")[2]
    return f"{', '.join(parts_)}" + ("" if how == TIMESTAMP else f" of {how}")
