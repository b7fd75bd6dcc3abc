"""A digest: what the columns of a source show, in one pass; the schema follows from it as it does from a table.

    rows       n1 + n2                     missing    m1 + m2
    levels     c1(v) + c2(v)               as long as there are few
    range      min, max                    of numbers

Digests add, as all statistics do, so shards are looked at apart.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from bayeslearn.errors import DataError
from bayeslearn.tables.building import choose, coded
from bayeslearn.tables.columns import Column, Levels, all_whole, is_missing, levels, plain_floats
from bayeslearn.tables.dates import DATES, date_fits, parts_of
from bayeslearn.tables.formats import EVERY, Fits, fits_of
from bayeslearn.tables.interpretation import interpreted, seconds, sources_of
from bayeslearn.tables.markers import is_suspect
from bayeslearn.tables.schema import Schema, require_known
from bayeslearn.tables.states import UNKNOWN, StateLookup, with_values
from bayeslearn.tables.suspects import Codes, Suspect, suspects_in
from bayeslearn.tables.variables import Discrete

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from bayeslearn.tables.convert import Request
    from bayeslearn.tables.markers import Missing
    from bayeslearn.tables.variables import Variable

#: Different values of a column that are kept: more than any number of states that tables are asked to hold.
LEVELS = 4096

#: Values besides them that are kept: every part of a date in each of its formats.
MOST_ODD = 1024

#: So few values are repeated as often as they occur, up to this number.
FEW_LEVELS = 40

#: The format of dates that are no text.
DATED = frozenset({"timestamp"})


@dataclass(frozen=True)
class Seen:
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
    #: Numbers that often mark missing cells, and the range of the others.
    codes: Codes | None = None
    #: The formats of numbers and dates that all values fit, and Arrow's own type of dates.
    fits: Fits = EVERY
    date_fits: frozenset[str] = frozenset(DATES)
    temporal: Any = None

    def __add__(self, other: Seen) -> Seen:
        both = dict(self.levels)
        for value, count in other.levels.items():
            both[value] = both.get(value, 0) + count
        odd = (*self.odd, *other.odd, *self._odd(list(both)[LEVELS:]))
        return replace(
            self,
            declared=self.declared if self.declared == other.declared else None,
            categories=self.categories or other.categories,
            rows=self.rows + other.rows,
            missing=self.missing + other.missing,
            levels=few(both),
            more=self.more or other.more or len(both) > LEVELS,
            low=min(self.low, other.low),
            high=max(self.high, other.high),
            odd=tuple(dict.fromkeys(odd))[:MOST_ODD],
            fits=self.fits + other.fits,
            date_fits=self.date_fits & other.date_fits,
            codes=self.codes + other.codes if self.codes and other.codes else self.codes or other.codes,
        )

    def _odd(self, dropped: list[Any]) -> tuple[Any, ...]:
        """What is kept of values for which there is no room."""
        if not dropped or self.kind not in {"text", "temporal"} or self.declared is not None:
            return ()
        values = pa.array(dropped, pa.string() if self.kind == "text" else self.temporal)
        return odd_of(self, Levels(values, np.empty(0, np.int64)))

    @property
    def present(self) -> int:
        """Cells that hold a value."""
        return self.rows - self.missing

    def suspects(self) -> list[Suspect]:
        """Values that may mark missing cells."""
        words = {v: n for v, n in self.levels.items() if is_suspect(v)} if self.more else self.levels
        found = suspects_in(self.name, words, self.rows)
        numbers = self.codes.suspects(self.name, self.rows) if self.codes and self.more else ()
        return [*found, *numbers]

    def column(self) -> Column:
        """A short column that shows the same, to be judged as a long one would be."""
        values = list(dict.fromkeys([*self.levels, *self.odd]))
        if self.declared is not None:
            place: list[int | None] = [self.declared.index(v) for v in values]
            data = pa.DictionaryArray.from_arrays(pa.array([*place, None], pa.int32()), pa.array(list(self.declared)))
            return Column(self.name, data, declared=True)
        again = values * 2 if self.present >= 2 * len(values) else values
        if not self.more and len(values) <= FEW_LEVELS:  # parts of dates repeat where dates do not
            again = [value for value in values for _ in range(min(self.levels.get(value, 1), FEW_LEVELS))]
        data = pa.array([*again, None], pa.string() if self.kind == "text" else self.temporal)
        if self.categories:
            data = data.dictionary_encode()
        fits = {"fits": self.fits, "date_fits": self.date_fits} if self.kind == "text" and self.more else {}
        return Column(self.name, data, from_file=self.from_file, **fits)  # type: ignore[arg-type]


def few(values: dict[Any, int]) -> dict[Any, int]:
    """At most as many as are kept."""
    if len(values) <= LEVELS:
        return values
    return dict(list(values.items())[:LEVELS])


@dataclass(frozen=True)
class Digest:
    """What all columns show."""

    columns: Mapping[str, Seen]

    def __add__(self, other: Digest) -> Digest:
        return Digest({name: seen + other.columns[name] for name, seen in self.columns.items()})

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return next((seen.rows for seen in self.columns.values()), 0)

    def schema(
        self,
        request: Request,
        *,
        known: Mapping[str, Variable] | None = None,
        names: tuple[str, ...] | None = None,
        weight: str | None = None,
    ) -> Schema:
        """The variables that the columns show, or that are known of them already."""
        shown = {name: seen.column() for name, seen in self.columns.items() if name not in request.dropped}
        chosen = choose(shown, None if names is None else sources_of(names, shown), None, weight)
        chosen = interpreted(chosen, request, {*(known or {})} - request.declares(), names)
        require_known(sorted(request.declares()), [column.name for column in chosen])
        known = {name: v for name, v in (known or {}).items() if name not in request.declares()}
        settled = [column for column in chosen if column.name not in known]
        try:
            found = {v.name: v for v, _ in coded(settled, request, dict(request.states))}
        except DataError as error:
            raise type(error)(self._honest(error.message), hint=error.hint, **told_details(error)) from None
        if request.left_out:
            request.left_out.update({name: self._honest(why) for name, why in request.left_out.items()})
        return Schema((known | found)[c.name] for c in chosen if c.name in known or c.name in found)

    def suspects(self, names: Iterable[str] | None = None) -> list[Suspect]:
        """Values of the columns, or of some of them, that may mark missing cells."""
        chosen = self.columns if names is None else names
        return [suspect for name in chosen if name in self.columns for suspect in self.columns[name].suspects()]

    def grown(self, schema: Schema, request: Request) -> Schema:
        """A known schema; states that the columns show besides are noted, and added if they are to be."""
        return Schema(self._grown(v, request) if isinstance(v, Discrete) else v for v in schema)

    def _grown(self, variable: Discrete, request: Request) -> Discrete:
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

    def _honest(self, message: str) -> str:
        """What was said of short columns, true of the long ones: rows are others, and states may be more."""
        message = re.sub(r"row [0-9]+ holds", "a row holds", re.sub(r" in row [0-9]+", "", message))
        for name in (name for name, seen in self.columns.items() if seen.more):
            message = re.sub(
                rf"(column {re.escape(repr(name))} has) [0-9]+ different", rf"\1 over {LEVELS} different", message
            )
        return message


def told_details(error: DataError) -> dict[str, Any]:
    """The details of an error that do not name rows."""
    return {key: value for key, value in error.details.items() if key not in {"row", "rows", "errors", "states"}}


def digest_of(columns: Iterable[Column], missing: Missing) -> Digest:
    """The digest of one batch."""
    numbers = (seconds(c) if is_duration(c) else c for c in columns)
    return Digest({column.name: seen_in(column, missing) for column in numbers})


def is_duration(column: Column) -> bool:
    """Whether a column holds durations."""
    return not isinstance(column.data, list) and pa.types.is_duration(column.data.type)


def seen_in(column: Column, missing: Missing) -> Seen:
    """What a batch of one column shows."""
    coded_already = pa.types.is_dictionary(column.data.type)
    plain = Seen(
        column.name,
        column.kind,
        column.from_file,
        declared=tuple(dictionary_of(column.data).to_pylist()) if column.declared else None,
        categories=coded_already and column.kind != "text",
        rows=len(column),
        temporal=column.data.type if column.kind == "temporal" else None,
    )
    if column.kind == "number" and not coded_already:
        x = plain_floats(column, missing)
        if many(x):
            return of_numbers(plain, x, np.isnan(x))
    found = levels(column, missing)
    count = np.bincount(found.place + 1, minlength=len(found.values) + 1)
    plain = replace(plain, missing=int(count[0]))
    if column.kind == "text" and not column.declared:
        words = np.isnan(found.numbers).any()
        plain = replace(plain, fits=fits_of(found.values) if words else EVERY, date_fits=date_fits(found.values))
    if len(found.values) > LEVELS:
        codes = Codes.of(found.numbers, count[1:])
        return replace(of_levels(plain, found), missing=int(count[0]), codes=codes)
    counts = {v: int(n) for v, n in zip(found.listed(), count[1:], strict=True) if n or not column.declared}
    if column.kind not in {"number", "text"}:
        return replace(plain, levels=counts)
    low, high = range_of(found.numbers)
    return replace(plain, levels=counts, low=low, high=high, codes=Codes.of(found.numbers, count[1:]))


def dictionary_of(data: Any) -> Any:
    """The dictionary of an array, be it in chunks."""
    return data.chunk(0).dictionary if isinstance(data, pa.ChunkedArray) else data.dictionary


def many(x: NDArray[np.float64]) -> bool:
    """Whether there are more different numbers than are kept; the first ones often settle it."""
    return any(len(np.unique(part[~np.isnan(part)])) > LEVELS for part in (x[: 4 * LEVELS], x))


def of_numbers(plain: Seen, x: NDArray[np.float64], nothing: NDArray[np.bool_]) -> Seen:
    """A column of many different numbers."""
    low, high = range_of(x)
    some = x[~nothing][: 4 * LEVELS]
    kept = dict.fromkeys(some[:LEVELS].tolist(), 1)
    odd = () if all_whole(x) else (float(x[np.argmax(~((x == np.floor(x)) | nothing))]),)
    return replace(
        plain, missing=int(nothing.sum()), levels=kept, more=True, low=low, high=high, odd=odd, codes=Codes.of(x)
    )


def of_levels(plain: Seen, found: Levels) -> Seen:
    """A column of many different words, of dates, or of numbers written as text."""
    low, high = range_of(found.numbers) if plain.kind == "text" else (math.inf, -math.inf)
    kept = dict.fromkeys(found.values[:LEVELS].to_pylist(), 1)
    return replace(plain, levels=kept, more=True, low=low, high=high, odd=odd_of(plain, found))


def odd_of(plain: Seen, found: Levels) -> tuple[Any, ...]:
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
    there = x[~np.isnan(x)]
    return (float(there.min()), float(there.max())) if len(there) else (math.inf, -math.inf)
