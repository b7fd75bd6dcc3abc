"""Columns that need a look: identifiers and free text, values that may mark missing cells, near numbers.

A whole-number column (more than 20 different values, so that it is numeric) is an identifier when

    consecutive    its n values are a, a + 1, …, a + n − 1, each once
    named          its name is that of an identifier: id, host_id, hostId, uuid, key, index, row, no., …
    increasing     it increases, or decreases, from every row to the next, in at least 20 rows
    all different  its n values, at least 100, are all different, such as random numbers of eight digits

Fractions are kept, and so is a column that is declared or asked for by name. A column of words is an identifier when
every row has another one, or nearly so, or when it is named like one and a word has fewer than 20 rows.

Values that may mark missing cells are words such as 'unknown', and numbers far from the rest. They are named, with the
option that makes them missing; whether they are values or markers is for the user to decide.

Columns of text that are nearly numbers or dates are named with what keeps them from being read so, and what to do.

'1.002,45 €', '840,10 €', 'k.A.'       numbers but for a few words
'2024-03-01', '03/01/2024'             dates in several formats
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.errors import joined, listed, option
from bayeslearn.tables.markers import SUSPECT_NUMBERS, is_suspect, is_suspect_number
from bayeslearn.tables.variables import DiscreteVariable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.tables.table import Table
    from bayeslearn.tables.variables import Variable


#: Fewest values that are consecutive numbers (or different words), increasing, and all different.
LEAST_NAMES, LEAST_ORDERED, LEAST_DIFFERENT = 4, 20, 100

#: A column of words with more of them than this may be an identifier by its name, if each has fewer rows than that.
MANY_WORDS, FEW_ROWS_EACH = 20, 20

#: The share of rows with a word of their own that makes nearly all different, and the fewest rows for it.
NEARLY, LEAST_NEARLY = 0.9, 50

#: Last words of names of identifiers, and whole names.
LAST_WORDS = frozenset({"id", "ids", "uid", "uuid", "guid", "key", "index", "idx", "pk", "rowid", "identifier"})
WHOLE_NAMES = frozenset({"row", "rows", "no", "no.", "nr", "nr.", "#", "", "unnamed: 0", "rownames", "row_number"})

#: Words and characters of a value on average, from which on it is free text.
TEXT_WORDS, TEXT_LENGTH = 4.0, 25.0


def is_identifier_name(name: str) -> bool:
    """Whether a column is named like an identifier.

    >>> [n for n in ("id", "host_id", "hostId", "ID", "paid", "key", "no.", "valid", "idle") if is_identifier_name(n)]
    ['id', 'host_id', 'hostId', 'ID', 'key', 'no.']
    """
    if name.strip().lower() in WHOLE_NAMES:
        return True
    words = [w.lower() for w in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+", name)]
    return bool(words) and (words[-1] in LAST_WORDS or (words[0] == "id" and len(words) > 1))


@dataclass(frozen=True)
class WholeNumbers:
    """What a column of whole numbers shows."""

    n: int
    is_consecutive: bool
    is_ordered: bool
    #: Whether all values differ; None where nobody counted.
    all_different: bool | None

    def why_identifier(self, name: str) -> str | None:
        """Why the column is an identifier, if it is."""
        if self.n >= LEAST_NAMES and self.is_consecutive:
            return f"column {name!r} numbers the rows"
        if is_identifier_name(name):
            return f"column {name!r} is an identifier, by its name and its many different values"
        if self.n >= LEAST_ORDERED and self.is_ordered:
            return f"column {name!r} is an identifier: whole numbers in the order of the rows"
        if self.all_different and self.n >= LEAST_DIFFERENT:
            return f"column {name!r} is an identifier: whole numbers that are all different"
        return None


def why_name(name: str, states: tuple[object, ...], n_rows: int, most: int) -> str | None:
    """Why a column of words names its rows, if it does: from the rows that have a word, and those of the commonest."""
    if n_rows < LEAST_NAMES:
        return None
    nearly = n_rows >= LEAST_NEARLY and len(states) >= NEARLY * n_rows
    if most == 1 or nearly:
        if is_free_text(states):
            return f"column {name!r} is free text; `bayeslearn fit text` learns from such"
        every = f"{'nearly ' * (most > 1)}every row"
        return f"column {name!r} has another state in {every}, like a name{why_not_read(name, states)}"
    if is_identifier_name(name) and len(states) > MANY_WORDS and n_rows < FEW_ROWS_EACH * len(states):
        return f"column {name!r} is an identifier, by its name and its {len(states)} different states"
    return None


def is_free_text(states: tuple[object, ...] | list[object]) -> bool:
    """Whether values are sentences rather than names: several words, and long."""
    words = [s for s in states[:500] if isinstance(s, str)]
    if len(words) < min(len(states), 500):
        return False
    length = sum(map(len, words)) / max(len(words), 1)
    return length >= TEXT_LENGTH and sum(len(s.split()) for s in words) / max(len(words), 1) >= TEXT_WORDS


#: Numbers that are quicker looked at one by one than all at once.
FEW = 64

#: The same numbers as `SUSPECT_NUMBERS`, to look up.
SUSPECTS = frozenset(SUSPECT_NUMBERS)

#: Suspects that a warning names.
MOST = 5


@dataclass(frozen=True)
class Suspect:
    """A value that may mark missing cells of a column."""

    column: str
    value: Any
    count: int
    rows: int
    #: Of a number: the range of the others.
    low: float | None = None
    high: float | None = None

    def __str__(self) -> str:
        share = f"{100 * self.count / self.rows:.2g} %"
        if self.low is None or self.high is None:
            return f"{self.value!r} in {share} of {self.column!r}"
        return f"{self.value:g} in {share} of {self.column!r}, far from the rest ({self.low:g} to {self.high:g})"

    def to_dict(self) -> dict[str, Any]:
        """The suspect as plain values."""
        return {"column": self.column, "value": self.value, "count": self.count, "rows": self.rows}


### finding them


@dataclass(frozen=True)
class Codes:
    """How often numbers occur that often are markers, and the range of the others; of two parts they add."""

    counts: Mapping[float, float]
    low: float
    high: float

    @classmethod
    def of(cls, x: NDArray[np.float64], counts: ArrayLike | None = None) -> Codes:
        """Those of numbers, each with how often it occurs, once when not given; NaN is none."""
        times = None if counts is None else np.asarray(counts)
        found, rest = {}, ~np.isnan(x)
        there = SUSPECT_NUMBERS if len(x) > FEW else SUSPECTS.intersection(x.tolist())
        for value in there:
            here = x == value
            if here.any():
                found[float(value)] = int(here.sum() if times is None else times[here].sum())
                rest &= ~here
        others = x[rest]
        low, high = (float(others.min()), float(others.max())) if len(others) else (np.inf, -np.inf)
        return cls(found, low, high)

    def __add__(self, other: Codes) -> Codes:
        values = {*self.counts, *other.counts}
        counts = {value: self.counts.get(value, 0) + other.counts.get(value, 0) for value in values}
        return Codes(counts, min(self.low, other.low), max(self.high, other.high))

    def suspects(self, column: str, rows: int) -> Iterator[Suspect]:
        """The numbers that are repeated and far from the others."""
        for value, count in sorted(self.counts.items()):
            if is_suspect_number(value, int(count), self.low, self.high):
                yield Suspect(column, int(value), int(count), rows, self.low, self.high)


def suspects_in(column: str, levels: Mapping[Any, int], rows: int) -> Iterator[Suspect]:
    """The words of a discrete column that may be markers, and its numbers if all others are numbers."""
    from bayeslearn.tables.columns import number_of  # noqa: PLC0415 - Arrow loads when data come in

    words = [value for value in levels if is_suspect(value)]
    yield from (Suspect(column, value, levels[value], rows) for value in words if levels[value])
    numbers = {value: number_of(value) for value in levels if value not in words}
    if SUSPECTS.isdisjoint(numbers.values()):
        return
    if not any(isinstance(v, bool) or np.isnan(x) for v, x in numbers.items()):
        found = Codes.of(np.array([*numbers.values()]), [levels[value] for value in numbers])
        yield from found.suspects(column, rows)


def suspects(table: Table) -> list[Suspect]:
    """Return the values of a table that may mark missing cells."""
    return [suspect for variable in table.schema for suspect in suspects_of(table, variable)]


def suspects_of(table: Table, variable: Variable) -> Iterable[Suspect]:
    """Those of one column; intervals have none."""
    if not isinstance(variable, DiscreteVariable):
        return Codes.of(table.values_of(variable.name)).suspects(variable.name, table.n_rows)
    if variable.cuts is not None:
        return ()
    code = table.codes_of(variable.name)
    counts = np.bincount(code[code >= 0], minlength=variable.n_states).tolist()
    return suspects_in(variable.name, dict(zip(variable.states, counts, strict=True)), table.n_rows)


### telling


def sentence(found: list[Suspect]) -> str:
    """Which values may be markers, and what to do then."""
    return f"possible markers of missing values: {joined(map(str, found), MOST, separator='; ')}; {remedy(found)}"


def remedy(found: list[Suspect]) -> str:
    """The option that makes suspects missing."""
    markers: dict[str, list[Any]] = {}
    for suspect in found[:MOST]:
        markers.setdefault(suspect.column, []).append(suspect.value)
    return f"if they are, pass {option('na_values', markers)}"


#: Values that are looked at, the fewest of them, and the share of them that must be numbers.
LOOKED_AT, LEAST, SHARE = 500, 10, 0.8

#: Values that are named.
NAMED = 5


def why_not_read(name: str, values: Sequence[Any]) -> str:
    """A sentence on what a column of words nearly is, with what to do; nothing if it is just words."""
    texts = [value.strip() for value in values[:LOOKED_AT] if isinstance(value, str)]
    if len(texts) < max(LEAST, min(len(values), LOOKED_AT)):
        return ""
    import numpy as np  # noqa: PLC0415 - few columns come here
    import pyarrow as pa  # noqa: PLC0415 - it loads when data come in
    import pyarrow.compute as pc  # noqa: PLC0415 - as above

    from bayeslearn.tables.formats import DATES, FORMATS  # noqa: PLC0415 - as above
    from bayeslearn.tables.markers import NUMBER  # noqa: PLC0415 - as above

    array = pa.array(texts)

    def fit(pattern: str) -> Any:
        return np.asarray(pc.match_substring_regex(array, rf"^(?:{pattern})$"))

    if np.any([fit(pattern) for pattern in DATES.values()], axis=0).all():
        return "; its values are dates in several formats: write them in one, such as 2024-03-31"
    fits = [fit(pattern) for pattern in (NUMBER, *(pattern for pattern, _ in FORMATS.values()))]
    best = max(fits, key=np.count_nonzero)
    odd = [text for text, is_number in zip(texts, best, strict=True) if not is_number]
    if not odd or len(odd) > (1 - SHARE) * len(texts):
        return ""
    how = option("na_values", {name: odd[:NAMED]})
    return f"; its values are numbers but for {listed(odd, NAMED)}: if these are missing values, pass {how}"
