"""What a column is, by its own values: numbers written as money, dates taken apart, states or numbers.

    'price'  $1,234.56          ->  'price'  1234.56                                    read as money
    'date'   2013-07-04 17:30   ->  'date.year', 'date.month', 'date.weekday', 'date.hour'

A variable keeps what its column was read as, and the column it comes from, so that new data are read the same way.

Text, booleans and categories are discrete. Whole numbers are discrete when they repeat themselves, and so are whole
numbers in a text file, whose states stay the text as written. Other numbers are numeric.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bayeslearn.errors import (
    ConstantColumnError,
    MissingValuesError,
    MixedTypesError,
    TooManyStatesError,
    in_python,
    option,
)
from bayeslearn.tables import formats
from bayeslearn.tables.columns import (
    Column,
    Levels,
    all_whole,
    floats,
    is_text,
    level_numbers,
    levels,
    neither,
    number_of,
    object_kind,
    plain_floats,
)
from bayeslearn.tables.identifiers import is_free_text, why_not_read
from bayeslearn.tables.schema import smallest_code_type
from bayeslearn.tables.variables import DiscreteVariable, NumericVariable, Variable

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

    from numpy.typing import NDArray

    from bayeslearn.tables.conversion import Request
    from bayeslearn.tables.markers import Missing
    from bayeslearn.tables.schema import Schema


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
        derived = name not in there and part in formats.PARTS and origin in there
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
    if formats.is_temporal(column.data.type):
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
    known = formats.date_fits(found.values) if column.date_fits is None else column.date_fits
    if column.name in request.numeric or not known:
        return [column]
    return parts(column, found, formats.chosen_date(known) or "", is_open="m/d/y" in known and "d/m/y" in known)


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
    values = formats.parts_of(found.values, name)
    there = {part: x for part, x in values.items() if not np.isnan(x).all()}
    varied = {part: x for part, x in there.items() if len(np.unique(x[~np.isnan(x)])) > 1} or dict(
        list(there.items())[:1]
    )
    said = f"{name} (day and month could be exchanged)" if is_open else name
    return [part_column(column.name, part, x, found, f"{part} of {said}") for part, x in varied.items()]


def part_column(origin: str, part: str, x: Any, found: Levels, read_as: str) -> Column:
    """One part as a column: named states in their order, or whole numbers."""
    values, names = np.append(x, np.nan)[found.place], formats.PARTS[part]
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
    if not isinstance(found.values, pa.Array) or not formats.is_temporal(found.values.type):
        fits = formats.date_fits(found.values)
        name = name if name in fits else formats.chosen_date(fits) or ""
        if len(found.values) and not name:
            raise no_date(column, found)
    if not len(found.values):
        return Column(variable.name, pa.nulls(len(column), pa.string()))
    return part_column(column.name, part, formats.parts_of(found.values, name)[part], found, variable.read_as or "")


def no_date(column: Column, found: Levels) -> MixedTypesError:
    """The error for text that is no date."""
    good = np.array([bool(formats.date_fits(found.values[i : i + 1])) for i in range(min(len(found.values), 1000))])
    level = int(np.argmin(good))
    word, row = found.listed()[level], found.first_row(level)
    return MixedTypesError(
        f"column {column.name!r} must hold dates in one format, but row {row} holds {word!r:.60}",
        hint=f"{option('na_values', {column.name: [word]})} if it stands for a missing cell",
        column=column.name,
        row=row,
    )


def as_known_numbers(column: Column, variable: Variable, missing: Missing) -> Column:
    """A column that a variable takes for numbers, with numbers in a format written plainly; words stay unchanged."""
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


#: Whole numbers with more different values than this are numeric.
FEW = 20


def discover(column: Column, request: Request) -> tuple[Variable, NDArray[Any]]:
    """The variable that a column shows, and its codes or floats."""
    if column.name in request.numeric:
        return numeric(column, request)
    if request.all_discrete or column.name in request.discrete:
        return discrete(column, levels(column, request.missing), request)
    if column.kind == "number":
        repeated = repeating_numbers(column, request.missing)
        return numeric(column, request) if repeated is None else discrete(column, repeated, request)
    found = levels(column, request.missing)
    if column.kind == "objects":
        require_one_kind(column, found)
    if column.from_file and looks_numeric(column, found):
        return numeric(column, request, found)
    return discrete(column, found, request)


def numeric(
    column: Column, request: Request, found: Levels | None = None
) -> tuple[NumericVariable, NDArray[np.float64]]:
    """A numeric column."""
    x = floats(column, request.missing, found)
    if np.isnan(x).all():
        raise all_missing(column)
    return NumericVariable(column.name, read_as=column.read_as, origin=column.origin), x


def discrete(column: Column, found: Levels, request: Request) -> tuple[DiscreteVariable, NDArray[Any]]:
    """A discrete column: its levels sorted, unless their order was declared."""
    n = len(found.values)
    if n > request.max_states and is_free_text(found.listed()):
        raise TooManyStatesError(
            f"column {column.name!r} has {n} different texts of several words: free text",
            hint=f"learn from it with the text verbs, or drop it: {option('drop_columns', [column.name])}",
            column=column.name,
            states=n,
        )
    if n > request.max_states:
        raise TooManyStatesError(
            f"column {column.name!r} has {n} different states, more than max_states={request.max_states}"
            + why_not_read(column.name, found.listed()),
            hint=f"drop an identifier with {option('drop_columns', [column.name])}, or raise {option('max_states')}"
            + in_python(f"; {option('numeric', [column.name])} if it holds numbers"),
            column=column.name,
            states=n,
        )
    if n == 0 or (column.declared and (found.place < 0).all()):
        raise all_missing(column)
    values = found.listed()
    require_no_twins(column, values)
    if n == 1 and not request.allow_constant:
        raise ConstantColumnError(
            f"column {column.name!r} shows one state only, {values[0]!r}",
            hint=f"drop it with {option('drop_columns', [column.name])}"
            + in_python(", declare its `states=`, or pass allow_constant=True"),
            column=column.name,
        )
    order = list(range(n)) if column.declared else sorted(range(n), key=lambda i: sort_key(values[i]))
    code = np.full(n + 1, -1, dtype=smallest_code_type(n))
    code[order] = np.arange(n)
    states = tuple(values[i] for i in order)
    variable = DiscreteVariable(column.name, states, column.cuts, read_as=column.read_as, origin=column.origin)
    return variable, code[found.place]


def sort_key(value: Any) -> tuple[str, float, str]:
    """By kind, then by number, then by text; text that reads as a number comes before words."""
    kind = object_kind(value)
    number = number_of(value)
    return kind, np.inf if np.isnan(number) else number, value if kind == "text" else repr(value)


### what the values say


def repeating_numbers(column: Column, missing: Missing) -> Levels | None:
    """The levels of categories, or of whole numbers that repeat themselves; None for any other numbers."""
    categories = pa.types.is_dictionary(column.data.type)
    head = plain_floats(Column(column.name, column.data[:1000]), missing)  # often settles it
    if not categories and (len(np.unique(head[~np.isnan(head)])) > FEW or not all_whole(head)):
        return None
    found = levels(column, missing)
    return found if categories or (repeat(found) and all_whole(level_numbers(found.values))) else None


def repeat(found: Levels) -> bool:
    """Few values, each seen twice on average."""
    return len(found.values) <= FEW and 2 * len(found.values) <= int(np.count_nonzero(found.place >= 0))


def looks_numeric(column: Column, found: Levels) -> bool:
    """Whether a column of a text file is numeric; many numbers among words are an error."""
    number = found.numbers
    words = np.isnan(number)
    if not len(number) or words.all():
        return False
    if not words.any():
        return not (all_whole(number) and repeat(found))
    if np.count_nonzero(~words) <= FEW:
        return False
    raise mixed(column, found, {"numbers": int(np.argmin(words)), "words": int(np.argmax(words))})


def require_one_kind(column: Column, found: Levels) -> None:
    """All values of one kind, and that one of those that tables hold."""
    first: dict[str, int] = {}
    for level, value in enumerate(found.listed()):
        first.setdefault(object_kind(value), level)
    if len(first) > 1:
        raise mixed(column, found, first)
    odd = first.keys() - {"bool", "number", "text"}
    if odd:
        raise neither(column.name, odd.pop())


def require_no_twins(column: Column, values: list[Any]) -> None:
    """No two states that Python takes for equal, such as 1 and True."""
    first: dict[Any, Any] = {}
    for value in values:
        if first.setdefault(value, value) is not value:
            raise MixedTypesError(
                f"column {column.name!r} holds both {first[value]!r} and {value!r}, which are equal",
                hint="write both the same way",
                column=column.name,
            )


def mixed(column: Column, found: Levels, examples: dict[str, int]) -> MixedTypesError:
    """The error for values of several kinds, with an example of each."""
    values = found.listed()
    rows = {kind: found.first_row(level) for kind, level in examples.items()}
    shown = ", ".join(f"{kind} ({values[level]!r} in row {rows[kind]})" for kind, level in examples.items())
    odd = [values[level] for kind, level in examples.items() if kind in {"words", "text"}]
    marker = option("na_values", {column.name: odd[:1]}) if odd else option("na_values")
    return MixedTypesError(
        f"column {column.name!r} mixes {shown}",
        hint=f"{marker} if some stand for missing cells, {option('drop_columns', [column.name])} to drop the column"
        + in_python(f", {option('discrete', [column.name])} to keep all as states"),
        column=column.name,
        rows=rows,
    )


def all_missing(column: Column) -> MissingValuesError:
    """The error for a column without a single value."""
    return MissingValuesError(
        f"every cell of column {column.name!r} is missing",
        hint=f"drop it with {option('drop_columns', [column.name])}"
        + in_python(f", or declare its states: states={{{column.name!r}: [...]}}"),
        column=column.name,
    )
