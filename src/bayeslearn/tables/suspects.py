"""Values that may mark missing cells, though nobody said so: words such as 'unknown', and numbers far from the rest.

They are named, with the option that makes them missing; whether they are values or markers is for the user to say.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.errors import BayeslearnWarning, joined, option
from bayeslearn.tables.markers import SUSPECT_NUMBERS, is_suspect, is_suspect_number
from bayeslearn.tables.variables import DiscreteVariable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.tables.table import Table
    from bayeslearn.tables.variables import Variable

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
    counts = np.bincount(code[code >= 0], minlength=variable.size).tolist()
    return suspects_in(variable.name, dict(zip(variable.states, counts, strict=True)), table.n_rows)


### telling


def warn_of(found: Iterable[Suspect]) -> None:
    """One warning that names the suspects, and the option that makes them missing."""
    found = list(found)
    if found:
        warnings.warn(sentence(found), BayeslearnWarning, stacklevel=3)


def sentence(found: list[Suspect]) -> str:
    """Which values may be markers, and what to do then."""
    return f"possible markers of missing values: {joined(map(str, found), MOST, separator='; ')}; {remedy(found)}"


def remedy(found: list[Suspect]) -> str:
    """The option that makes suspects missing."""
    markers: dict[str, list[Any]] = {}
    for suspect in found[:MOST]:
        markers.setdefault(suspect.column, []).append(suspect.value)
    return f"if they are, pass {option('na_values', markers)}"
