"""A digest: what the columns of a source show, in one pass; the schema follows from it as it does from a table.

    rows       n1 + n2                     missing    m1 + m2
    levels     c1(v) + c2(v)               as long as there are few
    range      min, max                    of numbers

Digests add, as all statistics do, so shards are read separately.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from bayeslearn.errors import DataError, option
from bayeslearn.reports import Grid, Report, Reported
from bayeslearn.tables.columns import FEW as FEW_CELLS
from bayeslearn.tables.columns import Column, Levels, all_whole, is_missing, level_numbers, levels, plain_floats
from bayeslearn.tables.formats import DATES, EVERY, Fits, date_fits, fits_of, parts_of
from bayeslearn.tables.frames import frame_of
from bayeslearn.tables.identifiers import SUSPECTS, Codes, Suspect, suspects_in
from bayeslearn.tables.markers import is_suspect
from bayeslearn.tables.schema import Schema, require_known
from bayeslearn.tables.state_encoding import UNKNOWN, StateLookup, with_values
from bayeslearn.tables.table_builder import choose, coded
from bayeslearn.tables.type_inference import interpreted, require_one_kind, seconds, sources_of
from bayeslearn.tables.variables import DiscreteVariable
from bayeslearn.validation import MAX_INTEGER

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from bayeslearn.tables.conversion import Request
    from bayeslearn.tables.frames import Backend
    from bayeslearn.tables.markers import Missing
    from bayeslearn.tables.variables import Variable

#: Different values of a column that are kept: more than any number of states that tables are asked to hold.
LEVELS = 4096

#: Values besides them that are kept: every part of a date in each of its formats.
MOST_ODD = 1024

#: So few values are repeated as often as they occur, up to this number.
FEW_LEVELS = 40

#: Of columns that are neither text nor numbers, and what words show of numbers.
NO_BOOLS, NO_CODES = np.empty(0, np.bool_), Codes({}, math.inf, -math.inf)

#: The format of dates that are no text.
DATED = frozenset({"timestamp"})


@dataclass(frozen=True)
class ColumnProfile:
    """What one column shows."""

    name: str
    kind: str
    from_file: bool = False
    #: The order of categories that was declared; None for none, or for several that differ.
    declared: tuple[Any, ...] | None = None
    #: Categories are states whatever they look like.
    categories: bool = False
    rows: int = 0
    missing: int = 0
    #: How often each value was seen; of many only some are kept.
    levels: Mapping[Any, int] = field(default_factory=dict)
    more: bool = False
    low: float = math.inf
    high: float = -math.inf
    #: Values that settle what the others leave open: one that is no number, or not whole, and each part of a date.
    odd: tuple[Any, ...] = ()
    #: Numbers that often mark missing cells, and the range of the others, where not all levels are kept.
    codes: Codes | None = None
    #: The formats of numbers and dates that all values fit, and Arrow's own type of dates.
    fits: Fits = EVERY
    date_fits: frozenset[str] = frozenset(DATES)
    temporal: Any = None
    #: The column itself, where it is short and no other was added.
    whole: Column | None = field(default=None, compare=False, repr=False)

    def __add__(self, other: ColumnProfile) -> ColumnProfile:
        both = dict(self.levels)
        for value, count in other.levels.items():
            both[value] = both.get(value, 0) + count
        odd = (*self.odd, *other.odd, *self._odd(list(both)[LEVELS:]))
        more = self.more or other.more or len(both) > LEVELS
        return replace(
            self,
            whole=None,
            declared=self.declared if self.declared == other.declared else None,
            categories=self.categories or other.categories,
            rows=self.rows + other.rows,
            missing=self.missing + other.missing,
            levels=few(both),
            more=more,
            low=min(self.low, other.low),
            high=max(self.high, other.high),
            odd=tuple(dict.fromkeys(odd))[:MOST_ODD],
            fits=self.fits + other.fits,
            date_fits=self.date_fits & other.date_fits,
            codes=self.all_codes() + other.all_codes() if more else None,
        )

    def all_codes(self) -> Codes:
        """The numbers that often mark missing cells, of the levels where these are all."""
        if self.codes is not None or self.kind not in {"number", "text"}:
            return self.codes or NO_CODES
        return Codes.of(level_numbers(list(self.levels)), list(self.levels.values()))

    def _odd(self, dropped: list[Any]) -> tuple[Any, ...]:
        """What is kept of values for which there is no room."""
        if not dropped or self.kind not in {"text", "temporal"} or self.declared is not None:
            return ()
        values = self._array(dropped)
        return odd_of(self, Levels(values, np.empty(0, np.int64)))

    def _array(self, values: list[Any]) -> pa.Array:
        """Values of this column as Arrow keeps them; whole numbers past int64 are unsigned, or decimal."""
        if self.kind == "text":
            return pa.array(values, pa.string())
        whole = [value for value in values if isinstance(value, int)]
        if max(whole, default=0) <= MAX_INTEGER:
            return pa.array(values, self.temporal)
        return pa.array(values, pa.uint64() if min(whole) >= 0 else pa.decimal128(20))

    def to_dict(self) -> dict[str, Any]:
        """Return name, type, counts and range as plain values; null where there is none."""
        low, high = (self.low, self.high) if self.low <= self.high else (None, None)
        return {
            "name": self.name, "type": self.kind, "n_missing": self.missing,
            "n_distinct": None if self.more else len(self.levels), "min": low, "max": high,
        }  # fmt: skip

    @property
    def present(self) -> int:
        """Cells that hold a value."""
        return self.rows - self.missing

    def suspects(self) -> list[Suspect]:
        """Values that may mark missing cells."""
        only_words = self.more or SUSPECTS.isdisjoint((self.low, self.high))  # a marker lies outside of the others
        looked_at = {v: n for v, n in self.levels.items() if is_suspect(v)} if only_words else self.levels
        found = suspects_in(self.name, looked_at, self.rows)
        numbers = self.codes.suspects(self.name, self.rows) if self.codes else ()
        return [*found, *numbers]

    def column(self, missing: Missing) -> Column:
        """A short column that shows the same, to be judged as a long one would be."""
        if self.whole is not None:
            return self.whole
        values = list(dict.fromkeys([*self.levels, *self.odd]))
        if self.declared is not None:
            states = {state: i for i, state in reversed(list(enumerate(self.declared)))}
            place: list[int | None] = [states[v] for v in values]
            data = pa.DictionaryArray.from_arrays(pa.array([*place, None], pa.int32()), pa.array(list(self.declared)))
            return Column(self.name, data, declared=True)
        again = values * 2 if self.present >= 2 * len(values) else values
        if not self.more and len(values) <= FEW_LEVELS:  # parts of dates repeat where dates do not
            again = [value for value in values for _ in range(min(self.levels.get(value, 1), FEW_LEVELS))]
        data = self._array([*again, None])
        if self.categories:
            data = data.dictionary_encode()
        known = self.kind == "text" and (self.more or not (self.fits.formats or self.date_fits))
        fits, dates = (self.fits, self.date_fits) if known else (None, None)
        found = None if self.kind != "text" or len(data) > FEW_CELLS else self._levels(again, values, missing)
        return Column(self.name, data, from_file=self.from_file, fits=fits, date_fits=dates, known=found)

    def _levels(self, cells: list[str], values: list[str], missing: Missing) -> tuple[Missing, Levels] | None:
        """The levels of a short column that ends with a missing cell, where no value marks another."""
        markers = missing.of_column(self.name)
        if any(map(markers.marks, values)):
            return None
        place = {value: level for level, value in enumerate(values)}
        return markers, Levels.of_words(values, [*map(place.__getitem__, cells), -1])


def few(values: dict[Any, int]) -> dict[Any, int]:
    """At most as many as are kept."""
    if len(values) <= LEVELS:
        return values
    return dict(list(values.items())[:LEVELS])


@dataclass(frozen=True, repr=False)
class ColumnProfiles(Reported):
    """The profiles of all columns of a source: types, missing values, numbers of distinct values and ranges."""

    columns: Mapping[str, ColumnProfile]

    def __add__(self, other: ColumnProfiles) -> ColumnProfiles:
        return ColumnProfiles({name: seen + other.columns[name] for name, seen in self.columns.items()})

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return next((seen.rows for seen in self.columns.values()), 0)

    def report(self) -> Report:
        """Return the profiles as a grid."""
        return Report(f"{self.rows:,} rows, {len(self.columns)} columns", self.grid())

    def grid(self) -> Grid:
        """Return a row for each column; many distinct values are not counted."""
        profiles = [seen.to_dict() for seen in self.columns.values()]
        return Grid(["Column", "Type", "Missing", "Distinct", "Min", "Max"], [list(p.values()) for p in profiles])

    def to_dict(self) -> dict[str, Any]:
        """Return the number of rows and the profile of each column as plain values."""
        return {"n_rows": self.rows, "columns": [seen.to_dict() for seen in self.columns.values()]}

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a frame with a row for each column."""
        rows = self.to_dict()["columns"]
        keys = ("name", "type", "n_missing", "n_distinct", "min", "max")
        return frame_of({key: [row[key] for row in rows] for key in keys}, backend)

    def schema(
        self,
        request: Request,
        *,
        known: Mapping[str, Variable] | None = None,
        names: tuple[str, ...] | None = None,
        weight: str | None = None,
    ) -> Schema:
        """The variables that the columns show, or that are known of them already."""
        dropped = frozenset(request.dropped)
        shown = {name: seen.column(request.missing) for name, seen in self.columns.items() if name not in dropped}
        chosen = choose(shown, None if names is None else sources_of(names, shown), None, weight)
        chosen = interpreted(chosen, request, {*(known or {})} - request.declares(), names)
        require_known(sorted(request.declares()), [column.name for column in chosen])
        known = {name: v for name, v in (known or {}).items() if name not in request.declares()}
        settled = [column for column in chosen if column.name not in known]
        try:
            found = {v.name: v for v, _ in coded(settled, request, dict(request.states))}
        except DataError as error:
            said = error.details.get("columns", [error.details.get("column")])
            raise type(error)(self._honest(error.message, said), hint=error.hint, **told_details(error)) from None
        if request.dropped_columns:
            request.dropped_columns.update(
                {name: self._honest(why, [name]) for name, why in request.dropped_columns.items()}
            )
        found = known | found
        return Schema(found[c.name] for c in chosen if c.name in found)

    def suspects(self, names: Iterable[str] | None = None) -> list[Suspect]:
        """Values of the columns, or of some of them, that may mark missing cells."""
        chosen = self.columns if names is None else names
        return [suspect for name in chosen if name in self.columns for suspect in self.columns[name].suspects()]

    def grown(self, schema: Schema, request: Request) -> Schema:
        """A known schema; states that the columns show besides are noted, and added if they are to be."""
        return Schema(self._grown(v, request) if isinstance(v, DiscreteVariable) else v for v in schema)

    def _grown(self, variable: DiscreteVariable, request: Request) -> DiscreteVariable:
        seen = self.columns.get(variable.name)
        if seen is None or variable.cuts is not None or variable.name in request.dropped:
            return variable
        look, missing = StateLookup(variable), request.missing.of_column(variable.name).without(variable.states)
        cells = {v: n for v, n in seen.levels.items() if look(v) == UNKNOWN and not is_missing(v, missing)}
        if not cells:
            return variable
        noted = request.notes.added if request.unseen == "add" else request.notes.unseen
        noted[variable.name] = cells
        return with_values(variable, cells) if request.unseen == "add" else variable

    def _honest(self, message: str, names: Iterable[Any]) -> str:
        """A message about short columns of these names, for the long ones: other rows, perhaps more states."""
        message = re.sub(r"row [0-9]+ holds", "a row holds", re.sub(r" in row [0-9]+", "", message))
        for name in (name for name in names if name in self.columns and self.columns[name].more):
            message = re.sub(
                rf"(column {re.escape(repr(name))} has) [0-9]+ different", rf"\1 over {LEVELS} different", message
            )
        return message


def told_details(error: DataError) -> dict[str, Any]:
    """The details of an error that do not name rows."""
    return {key: value for key, value in error.details.items() if key not in {"row", "rows", "errors", "states"}}


def digest_of(columns: Iterable[Column], missing: Missing) -> ColumnProfiles:
    """The digest of one batch."""
    numbers = (seconds(c) if is_duration(c) else c for c in columns)
    return ColumnProfiles({column.name: seen_in(column, missing) for column in numbers})


def is_duration(column: Column) -> bool:
    """Whether a column holds durations."""
    return not isinstance(column.data, list) and pa.types.is_duration(column.data.type)


def seen_in(column: Column, missing: Missing) -> ColumnProfile:
    """What a batch of one column shows."""
    if column.kind == "objects":
        raise unlike(column, missing)
    coded_already = pa.types.is_dictionary(column.data.type)
    shown: dict[str, Any] = {
        "name": column.name,
        "kind": column.kind,
        "from_file": column.from_file,
        "declared": tuple(dictionary_of(column.data).to_pylist()) if column.declared else None,
        "categories": coded_already and column.kind != "text",
        "rows": len(column),
        "temporal": column.data.type if column.kind == "temporal" else None,
    }
    if column.kind == "number" and not coded_already:
        x = plain_floats(column, missing)
        if many(x):
            return of_numbers(ColumnProfile(**shown), x, np.isnan(x))
    found = levels(column, missing)
    if len(column) <= FEW_CELLS:
        shown["whole"] = column.with_levels(missing, found)
    count = np.bincount(found.place + 1, minlength=len(found.values) + 1)
    shown["missing"] = int(count[0])
    words = np.isnan(found.numbers) if column.kind in {"number", "text"} else NO_BOOLS
    if column.kind == "text" and not column.declared and len(found.values):  # without values all formats are possible
        shown |= {
            "fits": fits_of(found.values) if np.count_nonzero(words) else EVERY,
            "date_fits": date_fits(found.values),
        }
    if len(found.values) > LEVELS:
        return replace(of_levels(ColumnProfile(**shown), found), codes=Codes.of(found.numbers, count[1:]))
    pairs = zip(found.listed(), count[1:].tolist(), strict=True)
    shown["levels"] = {v: n for v, n in pairs if n or not column.declared}
    low, high = (math.inf, -math.inf) if words is NO_BOOLS else range_of(found.numbers)
    return ColumnProfile(**shown, low=low, high=high)


def unlike(column: Column, missing: Missing) -> DataError:
    """The error of Python objects that Arrow has no type for: of several kinds, or not to be written."""
    try:
        require_one_kind(column, levels(column, missing))
    except DataError as error:
        return error
    return DataError(
        f"column {column.name!r} holds text with half characters, or whole numbers beyond 64 bits",
        hint=f"write them otherwise, or drop the column: {option('drop_columns', [column.name])}",
        column=column.name,
    )


def dictionary_of(data: Any) -> Any:
    """The dictionary of an array, be it in chunks."""
    return data.chunk(0).dictionary if isinstance(data, pa.ChunkedArray) else data.dictionary


def many(x: NDArray[np.float64]) -> bool:
    """Whether there are more different numbers than are kept; the first ones often settle it."""
    parts = (x[: 4 * LEVELS], x) if len(x) > LEVELS else ()
    return any(len(np.unique(part[~np.isnan(part)])) > LEVELS for part in parts)


def of_numbers(plain: ColumnProfile, x: NDArray[np.float64], nothing: NDArray[np.bool_]) -> ColumnProfile:
    """A column of many different numbers."""
    low, high = range_of(x)
    some = x[~nothing][: 4 * LEVELS]
    kept = dict.fromkeys(some[:LEVELS].tolist(), 1)
    odd = () if all_whole(x) else (float(x[np.argmax(~((x == np.floor(x)) | nothing))]),)
    return replace(
        plain, missing=int(nothing.sum()), levels=kept, more=True, low=low, high=high, odd=odd, codes=Codes.of(x)
    )


def of_levels(plain: ColumnProfile, found: Levels) -> ColumnProfile:
    """A column of many different words, of dates, or of numbers written as text."""
    low, high = range_of(found.numbers) if plain.kind == "text" else (math.inf, -math.inf)
    kept = dict.fromkeys(found.values[:LEVELS].to_pylist(), 1)
    return replace(plain, levels=kept, more=True, low=low, high=high, odd=odd_of(plain, found))


def odd_of(plain: ColumnProfile, found: Levels) -> tuple[Any, ...]:
    """Values that settle what a column is: a word, a fraction, every part of a date."""
    values = found.values
    dates = DATED if plain.kind == "temporal" else date_fits(values)
    places = representatives(values, dates)
    if plain.kind == "text":
        number = found.numbers
        words = np.isnan(number)
        fraction = ~words & (number != np.floor(number))
        places = [*(int(np.argmax(mask)) for mask in (words, fraction) if mask.any()), *places]
    return tuple(values[i].as_py() for i in places)


def representatives(values: Any, formats: Iterable[str]) -> list[int]:
    """Places of values that show every year, month, weekday and hour of the dates among them."""
    places: dict[int, None] = {}
    for name in sorted(formats):
        for x in parts_of(values, name).values():
            _, first = np.unique(x, return_index=True)
            places |= dict.fromkeys(first.tolist())
    return list(places)


def range_of(x: NDArray[np.float64]) -> tuple[float, float]:
    """The least and the largest number that is there."""
    if len(x) <= FEW_CELLS:
        some = [value for value in x.tolist() if not math.isnan(value)]
        return min(some, default=math.inf), max(some, default=-math.inf)
    there = x[~np.isnan(x)]
    return (float(there.min()), float(there.max())) if len(there) else (math.inf, -math.inf)
