"""Markers of missing cells: which text and which numbers stand for no value.

    defaults    what pandas takes for NA, and '?'
    given       `na_values=`, a list for all columns or a mapping of columns to lists, in addition to the defaults

A state that is declared is never a marker. Words and numbers that often are markers, but may be values, are suspects:
they are reported, and the user decides.
"""

from __future__ import annotations

import numbers
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from bayeslearn.errors import ParameterError

#: What a number looks like in a text file.
NUMBER = r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?"

#: Default markers: those of pandas.read_csv, and the question mark.
NA_MARKERS = (
    "", "?", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A", "NA",
    "NULL", "NaN", "None", "n/a", "nan", "null",
)  # fmt: skip

#: Markers for all columns, or a mapping from columns to markers, with the key None for all columns.
Markers = Iterable[Any] | Mapping[str | None, Any]


@dataclass(frozen=True)
class Missing:
    """What stands for a missing cell: as text, and as a number; in some columns also something else."""

    text: frozenset[str]
    numbers: frozenset[float]
    #: The markers of columns that have their own, those of all columns included.
    by_column: Mapping[str, Missing] = field(default_factory=dict)

    @classmethod
    def of(cls, markers: Markers = (), *, keep_default_na: bool = True) -> Missing:
        """Markers as the user gives them, together with the default ones if these are kept."""
        own = dict(markers) if isinstance(markers, Mapping) else {None: markers}
        common = marker_list(own.pop(None, ())) + (list(NA_MARKERS) if keep_default_na else [])
        by_column = {str(name): cls.plain([*common, *marker_list(some)]) for name, some in own.items()}
        found = cls.plain(common)
        return cls(found.text, found.numbers, by_column)

    @classmethod
    def plain(cls, markers: Iterable[Any]) -> Missing:
        """Exactly these markers; one that looks like a number stands for the number too, and the reverse."""
        text, plain = set(), set()
        for marker in markers:
            if isinstance(marker, str):
                text.add(marker.strip())
                plain |= {float(marker.strip())} if re.fullmatch(NUMBER, marker.strip()) else set()
            elif isinstance(marker, numbers.Real) and not isinstance(marker, bool):
                text |= {str(marker), f"{float(marker):.17g}"} - {"nan"}
                plain |= {float(marker)}
        return cls(frozenset(text), frozenset(plain))

    def of_column(self, name: str) -> Missing:
        """The markers of one column."""
        return self.by_column.get(name, self) if self.by_column else self

    def marks(self, value: Any) -> bool:
        """Whether a value is one of these markers."""
        if isinstance(value, str):
            plain = value.strip()
            if plain in self.text or not self.numbers:
                return plain in self.text
            return re.fullmatch(NUMBER, plain) is not None and float(plain) in self.numbers
        return isinstance(value, numbers.Real) and not isinstance(value, bool) and value in self.numbers

    def without(self, states: Iterable[Any]) -> Missing:
        """The markers that are not declared states."""
        declared = Missing.plain(states)
        return Missing(self.text - declared.text, self.numbers - declared.numbers)

    def __or__(self, other: Missing) -> Missing:
        names = {*self.by_column, *other.by_column}
        both = {name: self.of_column(name) | other.of_column(name) for name in names}
        return Missing(self.text | other.text, self.numbers | other.numbers, both)

    def only(self, names: Iterable[str]) -> Missing:
        """The same, with markers of their own for these columns alone."""
        kept = {name: self.by_column[name] for name in names if name in self.by_column}
        return Missing(self.text, self.numbers, kept)

    def also(self, name: str, markers: Iterable[Any]) -> Missing:
        """More markers of one column."""
        more = Missing.plain(markers)
        own = self.of_column(name)
        grown = Missing(own.text | more.text, own.numbers | more.numbers)
        return Missing(self.text, self.numbers, {**self.by_column, name: grown})


def marker_list(markers: Any) -> list[Any]:
    """Markers as a list; one marker stands for a list of one."""
    if isinstance(markers, str) or (isinstance(markers, numbers.Real) and not isinstance(markers, bool)):
        return [markers]
    try:
        return list(markers)
    except TypeError:
        raise ParameterError(
            f"`na_values` must be a list of markers, or a mapping of columns to such lists, got {markers!r:.80}",
            hint='for instance na_values=["N/A", "-"] or na_values={"seats": [999]}',
        ) from None


def is_marker(value: Any) -> bool:
    """Whether a value is text that marks a missing cell by default."""
    return isinstance(value, str) and value.strip() in NA_MARKERS


### suspects

#: Words, in lower case, that often stand for no value.
SUSPECT_WORDS = frozenset({
    "-", "--", "---", ".", "..", "...", "*", "?", "n/a", "n.a.", "n.a", "na", "#n/a", "nan", "null", "(null)", "nil",
    "none", "(none)", "missing", "(missing)", "blank", "(blank)", "empty", "unknown", "(unknown)", "unk", "not known",
    "not available", "not applicable", "not recorded", "not reported", "not specified", "unspecified", "undefined",
    "undetermined", "no data", "no answer", "no response", "refused", "tbd", "tba", "#value!", "#ref!", "#div/0!",
    "k.a.", "k. a.", "keine angabe", "n.d.", "n/d",
})  # fmt: skip

#: Numbers from 0 to less than this are a short range, to which −1 may belong.
SHORT = 10

#: Numbers that often stand for no value.
SUSPECT_NUMBERS = (-1, -9, -99, -999, -9999, -99999, 99, 999, 9999, 99999, 999999)


def is_suspect(value: Any) -> bool:
    """Whether a value is a word that often stands for no value."""
    return isinstance(value, str) and value.strip().casefold() in SUSPECT_WORDS


def is_suspect_number(value: float, count: int, low: float, high: float) -> bool:
    """Whether a number that often stands for no value is repeated, and far from the others, low … high.

    Far is outside the range by more than half its width, or below a range without negative numbers; but −1 is near to
    a short range from 0 on.
    """
    if value not in SUSPECT_NUMBERS or count < 2 or not low <= high or low <= value <= high:
        return False
    if value < 0 <= low:
        return low > 0 or high >= SHORT or value < -1
    return max(low - value, value - high) > (high - low) / 2
