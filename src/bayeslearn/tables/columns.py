"""A column on its way into a table: Arrow data, its distinct values, its numbers.

Discrete columns go through their distinct values (levels): there are few of them, so that missing markers, names and
order are settled on the levels in Python, while the rows are only ever touched by whole-array operations.
"""

from __future__ import annotations

import numbers
import re
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bayeslearn import validation
from bayeslearn.errors import DataError, FormatError, MixedTypesError, option
from bayeslearn.tables.formats import is_temporal
from bayeslearn.tables.markers import NUMBER, Missing
from bayeslearn.tables.schema import require_finite

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.tables.formats import Fits

#: The name that pandas gives to an index without a name.
INDEX = re.compile(r"__index_level_[0-9]+__")

#: Values that are quicker looked at one by one than all at once.
FEW = 64


@dataclass(frozen=True)
class Column:
    """One column: an Arrow array, or a list of Python objects where Arrow has no type for the mixture."""

    name: str
    data: Any
    #: Read from a text file, so that numbers are still text.
    from_file: bool = False
    #: The categories are in an order that the user chose.
    declared: bool = False
    #: Where its categories, which are intervals, touch.
    cuts: tuple[float, ...] | None = None
    #: The format in which it was written, and the column it is a part of.
    read_as: str | None = None
    origin: str | None = None
    #: The formats of numbers and of dates that all values fit, where more is known than these values show.
    fits: Fits | None = None
    date_fits: frozenset[str] | None = None
    #: Its distinct values under some markers of missing cells, where they are known already.
    known: tuple[Missing, Levels] | None = field(default=None, compare=False, repr=False)

    def __len__(self) -> int:
        return len(self.data)

    def take(self, rows: NDArray[np.intp]) -> Column:
        """These rows only."""
        data = [self.data[row] for row in rows] if isinstance(self.data, list) else self.data.take(pa.array(rows))
        return replace(self, data=data, known=None)

    def with_levels(self, missing: Missing, found: Levels) -> Column:
        """Keep its levels, which need not be looked for again, and return the column."""
        vars(self)["known"] = (missing.of_column(self.name), found)
        return self

    @cached_property
    def kind(self) -> str:
        """What the column holds: text, number, bool, temporal, objects; anything else is an error."""
        if isinstance(self.data, list):
            return "objects"
        kind = value_type(self.data.type)
        if is_text(kind):
            return "text"
        for name, tests in KINDS.items():
            if any(test(kind) for test in tests):
                return name
        raise neither(self.name, kind)


@dataclass(frozen=True)
class Levels:
    """The distinct values of a column, none of them missing, and the place of each row's value, −1 where missing."""

    values: Any
    place: NDArray[np.signedinteger[Any]]

    @classmethod
    def of_words(cls, values: list[str], place: list[int]) -> Levels:
        """A few distinct texts, and the place of each row's."""
        found = cls(pa.array(values, pa.string()), np.array(place, np.int32))
        vars(found)["_list"] = values
        return found

    @cached_property
    def numbers(self) -> NDArray[np.float64]:
        """The number that each value stands for, NaN for a word."""
        return level_numbers(self._list if len(self.values) <= FEW and is_words(self.values) else self.values)

    def first_row(self, level: int) -> int:
        """The first row that shows this value."""
        return int(np.argmax(self.place == level))

    def counts(self) -> NDArray[np.intp]:
        """How many rows show each value."""
        return np.bincount(self.place[self.place >= 0], minlength=len(self.values))

    def listed(self) -> list[Any]:
        """The values as Python objects."""
        return self._list

    @cached_property
    def _list(self) -> list[Any]:
        return self.values if isinstance(self.values, list) else self.values.to_pylist()


#: Arrow's types of text.
TEXT_TYPES = frozenset(kind.id for kind in (pa.string(), pa.large_string(), pa.string_view(), pa.null()))


def is_words(values: Any) -> bool:
    """Whether levels are text of Arrow's."""
    return not isinstance(values, list) and is_text(values.type)


def is_text(kind: Any) -> bool:
    """Whether an Arrow type is one of those for text; a column of nulls only counts as text."""
    return kind.id in TEXT_TYPES


KINDS = {
    "bool": (pa.types.is_boolean,),
    "number": (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal),
    "temporal": (is_temporal,),
}


def neither(name: str, kind: Any) -> DataError:
    """The error for a column of dates, bytes, lists and the like."""
    return DataError(
        f"column {name!r} holds {kind}, which is neither states nor numbers",
        hint=f"turn it into text or numbers first, or drop it: {option('drop_columns', [name])}",
        column=name,
    )


def value_type(kind: Any) -> Any:
    """The type of the values, for a dictionary that of its entries."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def arrow_column(name: str, data: Any, *, declared: bool = False, path: Any = None) -> Column:
    """Arrow data; the order of a dictionary counts when it is ordered, or `declared` by where it comes from."""
    dictionary = pa.types.is_dictionary(data.type)
    if dictionary or is_text(data.type):
        require_valid(name, data, path)
    if pa.types.is_timestamp(data.type) or pa.types.is_date(data.type):
        require_calendar(name, data, path)
    return Column(name, data, declared=dictionary and (declared or data.type.ordered))


def require_valid(name: str, data: Any, path: Any = None) -> None:
    """Text that is UTF-8, and places that are within their dictionary: Arrow itself trusts files in this."""
    try:
        for chunk in data.chunks if isinstance(data, pa.ChunkedArray) else [data]:
            chunk.validate(full=not is_within_dictionary(chunk))
    except pa.ArrowException as error:
        where = "" if path is None else f"{str(path)!r}: "
        raise FormatError(
            f"{where}column {name!r} cannot be read: {error}",
            hint=f"write it as UTF-8 text, or drop it: {option('drop_columns', [name])}",
            column=name,
            path=path,
        ) from None


def is_within_dictionary(data: Any) -> bool:
    """Whether all places of a dictionary array are within a valid dictionary, those of missing cells too.

    This is the check of Arrow's full validation, seventeen times as fast.
    """
    if not pa.types.is_dictionary(data.type):
        return False
    data.validate()
    data.dictionary.validate(full=True)
    index, places = data.indices, data.indices.buffers()[1]
    if not len(index):
        return True
    kind = index.type.to_pandas_dtype()
    place = np.frombuffer(places, kind, len(index), index.offset * np.dtype(kind).itemsize)
    return bool(0 <= place.min() and place.max() < len(data.dictionary))


#: Seconds from 1970 to the first and the last second of the calendar, which has four digits for a year.
CALENDAR = (-62_135_596_800, 253_402_300_799)


def require_calendar(name: str, data: Any, path: Any = None) -> None:
    """Dates of the years 1 to 9999: others cannot be written."""
    unit = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}.get(getattr(data.type, "unit", "ms"), 1)
    whole = data.cast(pa.date64()) if pa.types.is_date32(data.type) else data
    low, high = pc.min_max(whole.cast(pa.int64())).as_py().values()
    if low is not None and not CALENDAR[0] * unit <= low <= high <= CALENDAR[1] * unit:
        where = "" if path is None else f"{str(path)!r}: "
        raise FormatError(
            f"{where}column {name!r} holds dates beyond the years 1 to 9999",
            hint=f"drop the column: {option('drop_columns', [name])}",
            column=name,
            path=path,
        )


def arrow_columns(table: Any, path: Any = None) -> list[Column]:
    """The columns of an Arrow table, without a nameless index that pandas may have stored."""
    from_pandas = b"pandas" in (table.schema.metadata or {})
    named = zip(table.column_names, table.columns, strict=True)
    kept = ((name, data) for name, data in named if not INDEX.fullmatch(name))
    return [arrow_column(name, data, declared=from_pandas, path=path) for name, data in kept]


### levels


def levels(column: Column, missing: Missing) -> Levels:
    """The distinct values of a column and where each row finds its own."""
    missing = missing.of_column(column.name)
    if column.known is not None and column.known[0] == missing:
        return column.known[1]
    if column.kind == "objects":
        return object_levels(column, missing)
    if column.kind == "text" and len(column) <= FEW and not column.declared:
        return few_levels(column, missing)
    coded = pa.types.is_dictionary(column.data.type)
    number = column.kind == "number" and not coded
    encoded = one_dictionary(without_minus_zero(column.data) if number else column.data)
    values, place = encoded.dictionary, encoded.indices
    place = np.asarray(pc.fill_null(place, -1) if place.null_count else place)
    gone = marked(values, missing)
    if coded and not (column.declared or column.from_file):
        gone |= np.bincount(place[place >= 0], minlength=len(values)) == 0
    if gone.any():
        values, place = without(values, place, gone)
    return Levels(whole_numbers(column.name, values, place) if number else values, place)


def few_levels(column: Column, missing: Missing) -> Levels:
    """The levels of a few cells of text, which are faster read one by one: tables may have many columns."""
    cells = column.data.to_pylist()
    values = [v for v in dict.fromkeys(cells) if v is not None and not missing.marks(v)]
    known = {value: level for level, value in enumerate(values)}
    return Levels.of_words(values, [known.get(v, -1) for v in cells])


def one_dictionary(data: Any) -> Any:
    """The column as one dictionary array of signed places, without repeated entries."""
    if pa.types.is_dictionary(data.type):
        if isinstance(data, pa.ChunkedArray):
            data = data.unify_dictionaries().combine_chunks()
        data = data.chunk(0) if isinstance(data, pa.ChunkedArray) else data
        if len(data.dictionary) == pc.count_distinct(data.dictionary, mode="all").as_py():
            signed = pa.types.is_signed_integer(data.indices.type)
            places = data.indices if signed else data.indices.cast(pa.int32())
            return pa.DictionaryArray.from_arrays(places, data.dictionary, safe=False)
        data = data.cast(data.type.value_type)
    if pa.types.is_null(data.type):
        data = data.cast(pa.string())
    data = data.dictionary_encode()
    return data.combine_chunks() if isinstance(data, pa.ChunkedArray) else data


def marked(values: Any, missing: Missing) -> NDArray[np.bool_]:
    """Which of the values stand for a missing cell; a few are faster read one by one."""
    if is_text(values.type) and len(values) <= FEW:
        return np.array([v is None or is_missing(v, missing) for v in values.to_pylist()], np.bool_)
    null = np.asarray(values.is_null(nan_is_null=True))
    if is_temporal(values.type):
        return null
    if is_text(values.type):
        trimmed = pc.utf8_trim_whitespace(values.cast(pa.large_string()))
        null = null | np.asarray(pc.is_in(trimmed, pa.array(unicode_markers(missing), type=pa.large_string())))
        return null | np.isin(level_numbers(values), list(missing.numbers)) if missing.numbers else null
    return null | np.isin(level_numbers(values), list(missing.numbers))


def unicode_markers(missing: Missing) -> list[str]:
    """The markers that text of Arrow can hold: those without half characters."""
    return sorted(text for text in missing.text if text.isascii() or is_unicode(text))


def is_unicode(text: str) -> bool:
    """Whether text can be written as UTF-8: it holds no half characters, as names of files may."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def without(values: Any, place: NDArray[Any], gone: NDArray[np.bool_]) -> tuple[Any, NDArray[Any]]:
    """The levels that are left, and the rows of the others missing."""
    new = np.append(np.cumsum(~gone) - 1, -1)
    new[:-1][gone] = -1
    return values.filter(pa.array(~gone)), new.take(place)


def object_levels(column: Column, missing: Missing) -> Levels:
    """Levels of Python objects; 1 and True are different, 1 and 1.0 are equal."""
    known: dict[tuple[str, Any], int] = {}
    place = np.full(len(column), -1, dtype=np.int32)
    for row, value in enumerate(column.data):
        if not is_missing(value, missing):
            try:
                place[row] = known.setdefault((object_kind(value), value), len(known))
            except TypeError:
                raise DataError(
                    f"column {column.name!r} holds {type(value).__name__} values, for instance in row {row}",
                    hint="states are text, numbers or booleans",
                    column=column.name,
                ) from None
    return Levels([value for _, value in known], place)


def object_kind(value: Any) -> str:
    """What a Python value counts as."""
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, numbers.Real):
        return "number"
    return "text" if isinstance(value, str) else type(value).__name__


def is_missing(value: Any, missing: Missing) -> bool:
    """Whether a Python value stands for a missing cell."""
    if type(value) is str:
        return missing.marks(value)
    if isinstance(value, numbers.Real) and value != value:  # noqa: PLR0124 - NaN
        return True
    return value is None or type(value).__name__ in {"NAType", "NaTType"} or missing.marks(value)


### numbers


def floats(column: Column, missing: Missing, found: Levels | None = None) -> NDArray[np.float64]:
    """The column as finite floats, NaN where missing; a word among them is an error."""
    if column.kind == "number":
        x = plain_floats(column, missing)
    else:
        found = found or levels(column, missing)
        parsed = found.numbers
        words = np.flatnonzero(np.isnan(parsed))
        if len(words):
            word, row = found.listed()[words[0]], found.first_row(int(words[0]))
            raise MixedTypesError(
                f"column {column.name!r} is to be numeric, but row {row} holds {word!r}",
                hint=f"{option('na_values', {column.name: [word]})} if it stands for a missing cell, "
                f"{option('discrete', [column.name])} if the column has states",
                column=column.name,
                row=row,
            )
        x = np.append(parsed, np.nan)[found.place]
    require_finite(column.name, x)
    return x


def plain_floats(column: Column, missing: Missing) -> NDArray[np.float64]:
    """A column of numbers as floats."""
    data = column.data
    if pa.types.is_dictionary(data.type):
        data = data.cast(data.type.value_type)
    x = np.asarray(data.cast(pa.float64(), safe=False), dtype=np.float64)
    markers = list(missing.of_column(column.name).numbers)
    return np.where(np.isin(x, markers), np.nan, x) if markers else x


def without_minus_zero(data: Any) -> Any:
    """Numbers among which there is one zero only."""
    return data if pa.types.is_integer(data.type) else pc.add(data.cast(pa.float64(), safe=False), 0.0)


def whole_numbers(name: str, values: Any, place: NDArray[Any]) -> Any:
    """Levels that are finite, as whole numbers when all of them are."""
    x = level_numbers(values)
    if np.isinf(x).any():
        require_finite(name, np.append(x, np.nan)[place])
    small = np.abs(x).max(initial=0) < 2.0**63
    return values if pa.types.is_integer(values.type) or not (small and all_whole(x)) else values.cast(pa.int64())


def all_whole(x: NDArray[np.float64]) -> bool:
    """Whether every number that is there is whole; the first few often settle it."""
    return all(bool(((part == np.floor(part)) | np.isnan(part)).all()) for part in (x[:256], x))


def arrow_numbers(values: Any) -> NDArray[np.float64]:
    """Numbers of Arrow as floats; dates and lists are none."""
    try:
        return np.asarray(values.cast(pa.float64(), safe=False), dtype=np.float64)
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        return np.full(len(values), np.nan)


def level_numbers(values: Any) -> NDArray[np.float64]:
    """The number that each level stands for, NaN for a word."""
    if isinstance(values, list):
        return np.array([number_of(v) for v in values], dtype=np.float64)
    if not is_text(values.type):
        return arrow_numbers(values)
    if len(values) <= FEW:
        return level_numbers(values.to_pylist())
    text = pc.utf8_trim_whitespace(values.cast(pa.large_string()))
    like = pc.match_substring_regex(text, f"^{NUMBER}$")
    return np.asarray(pc.if_else(like, text, None).cast(pa.float64()), dtype=np.float64)


#: Whether text looks like a number.
IS_NUMBER = re.compile(NUMBER).fullmatch


def number_of(value: Any) -> float:
    """The number that a Python value stands for, NaN for a word."""
    if isinstance(value, str):
        plain = value.strip()  # of more than what float takes away
        return float(plain) if IS_NUMBER(plain) else np.nan
    if not isinstance(value, numbers.Real):
        return np.nan
    try:
        return float(value)
    except OverflowError:  # a whole number that no float can hold
        return np.inf if value > 0 else -np.inf  # type: ignore[operator]


def column_weights(column: Column, missing: Missing) -> NDArray[np.float64]:
    """The weights that a column holds."""
    return validation.weights(floats(column, missing), len(column), name=column.name)
