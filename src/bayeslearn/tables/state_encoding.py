"""Coding a column by a variable that is known already: declared states, or the schema of earlier data.

A value finds the state it equals. Where data and states came by different ways (numbers from a frame, text from a
file), number meets number and truth meets truth: 1 finds '1', 'true' finds True; '01' and '1' stay different names.

New numbers are written as those of a column of text, so that
they are read back in the same way:

    $1,234.50   (12.00)     '$', commas between groups of three digits, two decimals, parentheses for negative numbers
    28,15 €                 ' €' behind, a decimal comma, two decimals
    97%                     '%' behind, no decimals
    0.5   12.25             one or two decimals, as many as the number needs
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from decimal import Context, Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from bayeslearn.errors import UnknownStateError, in_python, listed, near, option
from bayeslearn.tables.columns import Column, Levels, floats, level_numbers, levels, number_of, object_kind
from bayeslearn.tables.formats import FORMATS, numbers_in
from bayeslearn.tables.markers import is_suspect
from bayeslearn.tables.schema import smallest_code_type
from bayeslearn.tables.type_inference import as_known_numbers, sort_key
from bayeslearn.tables.variables import DiscreteVariable, Variable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from bayeslearn.tables.conversion import Request
    from bayeslearn.tables.markers import Missing


#: What stands before the digits, the digits with all that is among them, and what stands behind.
PARTS = re.compile(r"(?P<head>.*?)(?P<body>[.,]?[0-9](?:[0-9.,'’ \u00a0\u202f\u2009]*[0-9])?)(?P<tail>.*)", re.DOTALL)

#: Signs and parentheses, which belong to the number and not to the style.
SIGNS = str.maketrans("", "", "+-−()")

#: Enough digits for any float that is written in full.
PRECISE = Context(prec=400)


@dataclass(frozen=True)
class NumberStyle:
    """How numbers are written.

    >>> style = NumberStyle.of(["$1,234.50", "$12.00"], "money")
    >>> style.write(2500), style.write(-3.456)
    ('$2,500.00', '-$3.46')
    >>> NumberStyle.of(["0.5", "12.25"]).write(3)
    '3.0'
    """

    prefix: str = ""
    suffix: str = ""
    #: What separates groups of three digits, and the decimal mark.
    group: str = ""
    point: str = "."
    min_decimals: int = 0
    max_decimals: int = 0
    #: Whether a negative number stands in parentheses.
    has_parentheses: bool = False

    @classmethod
    def of(cls, cells: Sequence[str], name: str | None = None) -> NumberStyle | None:
        """The style of cells in a format, plain numbers without `name`; None where no cell shows it."""
        point = "." if name is None else FORMATS[name][1]
        fitting = [cell.strip() for cell, x in zip(cells, numbers_of(cells, name), strict=True) if x == x]  # noqa: PLR0124 - NaN
        parts = [found for cell in fitting if (found := PARTS.fullmatch(cell)) is not None]
        if not parts or (name is None and any("e" in cell.lower() for cell in fitting)):
            return None
        bodies = [part["body"] for part in parts]
        decimals = [len(body.rpartition(point)[2]) if point in body else 0 for body in bodies]
        around = Counter((part["head"].translate(SIGNS), part["tail"].translate(SIGNS)) for part in parts)
        groups = Counter(sign for body in bodies for sign in body if not sign.isdigit() and sign != point)
        (prefix, suffix), _ = around.most_common(1)[0]
        group = groups.most_common(1)[0][0] if groups else ""
        return cls(prefix, suffix, group, point, min(decimals), max(decimals), any("(" in cell for cell in fitting))

    def write(self, x: float) -> str:
        """A number in this style, rounded to the most decimals that it has."""
        number = Decimal(repr(float(x))).quantize(Decimal((0, (1,), -self.max_decimals)), context=PRECISE)
        whole, _, fraction = f"{abs(number):f}".partition(".")
        fraction = fraction.rstrip("0").ljust(self.min_decimals, "0")
        whole = f"{int(whole):,}".replace(",", self.group)
        text = f"{self.prefix}{whole}{self.point if fraction else ''}{fraction}{self.suffix}"
        if not number < 0:
            return text
        return f"({text})" if self.has_parentheses else f"-{text}"


def numbers_of(cells: Sequence[str], name: str | None) -> list[float]:
    """The number that each cell stands for, NaN for none."""
    if name is None:
        return [number_of(cell) for cell in cells]
    found: list[float] = numbers_in(pa.array(cells, pa.string()), name).tolist()
    return found


#: The code of a value that is none of the states, until it is reported or made missing.
UNKNOWN = -2


def code_by(column: Column, variable: Variable, request: Request) -> tuple[Variable, NDArray[Any]]:
    """A known variable, grown if new states are to be added, and the codes (or floats) of a column under it."""
    missing = request.missing.of_column(column.name)
    column = as_known_numbers(column, variable, request.missing)
    if not isinstance(variable, DiscreteVariable):
        return variable, known_floats(column, missing, request)
    missing = missing.without(variable.states)
    if variable.cuts is not None and is_to_be_cut(column, variable, missing):
        return variable, variable.cut(known_floats(column, missing, request))
    found = levels(column, missing)
    look = StateLookup(variable)
    code = np.array([*(look(v) for v in found.listed()), -1], dtype=np.int64)
    if (code == UNKNOWN).any():
        variable = settled(variable, found, code, request)
    return variable, code.astype(smallest_code_type(variable.n_states + 1)).take(found.place)


### values that are none of the states


def settled(variable: DiscreteVariable, found: Levels, code: NDArray[np.int64], request: Request) -> DiscreteVariable:
    """Give codes to values that are none of the states, as the request has it; the variable, which may grow."""
    count = found.counts()
    strange = np.flatnonzero((code[:-1] == UNKNOWN) & (count > 0))
    if len(strange) and request.unseen == "error":
        raise unknown_state(variable, found, strange)
    code[code == UNKNOWN] = variable.n_states - 1 if request.unseen == "last" else -1
    if request.unseen == "last" or not len(strange):
        return variable
    values = found.listed()
    cells = {values[level]: int(count[level]) for level in strange}
    if request.unseen != "add" or variable.cuts is not None:
        request.notes.unseen[variable.name] = cells
        return variable
    request.notes.added[variable.name] = cells
    grown = with_values(variable, cells)
    code[strange] = [StateLookup(grown)(values[level]) for level in strange]
    return grown


def with_values(variable: DiscreteVariable, values: Iterable[Any]) -> DiscreteVariable:
    """The variable with more states: the values, sorted, written as the other states are."""
    kinds = {object_kind(state) for state in variable.states}
    new = dict.fromkeys(alike(value, kinds) for value in sorted(values, key=sort_key))
    return replace(variable, states=(*variable.states, *(v for v in new if v not in variable.states)))


def alike(value: Any, kinds: set[str]) -> Any:
    """A value as numbers if the states are numbers, and as text if they are text."""
    number = number_of(value)
    if kinds == {"number"} and isinstance(value, str) and not np.isnan(number):
        return int(number) if number == number // 1 else number
    return str(value) if kinds == {"text"} else value


def known_floats(column: Column, missing: Missing, request: Request) -> NDArray[np.float64]:
    """Numbers; words among them are an error, unless they are known markers, or unseen values are no error."""
    words = words_among_numbers(column, missing)
    if words and (request.unseen != "error" or all(map(is_suspect, words))):
        request.notes.words[column.name] = words
        missing = missing.also(column.name, words)
    return floats(column, missing)


def words_among_numbers(column: Column, missing: Missing) -> dict[Any, int]:
    """Values of a column that are no numbers, and how often each occurs."""
    if column.kind == "number":
        return {}
    found = levels(column, missing)
    words = np.flatnonzero(np.isnan(level_numbers(found.values)))
    if not len(words):
        return {}
    values, count = found.listed(), found.counts()
    return {values[level]: int(count[level]) for level in words if count[level]}


def suspect_words(column: Column, missing: Missing) -> dict[Any, int]:
    """The words among numbers, if all of them are such as often stand for no value."""
    words = words_among_numbers(column, missing)
    return words if all(map(is_suspect, words)) else {}


### known states


def is_to_be_cut(column: Column, variable: DiscreteVariable, missing: Missing) -> bool:
    """Whether the column holds numbers, and not the names of intervals, one of which may be that of a single number."""
    if column.kind != "text":
        return True
    found = levels(column, missing)
    word = np.isnan(level_numbers(found.values))
    names = {*variable.states, *variable.synonyms}
    return not word.all() and not any(name in names for name, text in zip(found.listed(), word, strict=True) if text)


class StateLookup:
    """From a value to the code of its state."""

    def __init__(self, variable: DiscreteVariable) -> None:
        self.variable = variable
        synonyms = {("text", name): code for name, code in variable.synonyms.items()}
        self.exact = synonyms | {(object_kind(s), s): code for code, s in enumerate(variable.states)}
        self.number = {kind: self._by(kind, number_of) for kind in ("text", "number")}
        self.truth = {kind: self._by(kind, truth) for kind in ("text", "bool")}

    def _by(self, kind: str, key: Any) -> dict[Any, int]:
        """States of one kind by another key; two states with the same key are left out."""
        keys = [(key(state), code) for (k, state), code in self.exact.items() if k == kind]
        count = Counter(k for k, _ in keys)
        return {k: code for k, code in keys if count[k] == 1}

    def __call__(self, value: Any) -> int:
        """The code of a value, UNKNOWN when it is none of the states."""
        kind = object_kind(value)
        code = self.exact.get((kind, value), UNKNOWN)
        if code == UNKNOWN and kind in self.number:
            code = self.number["text" if kind == "number" else "number"].get(number_of(value), UNKNOWN)
        if code == UNKNOWN and kind in self.truth:
            code = self.truth["text" if kind == "bool" else "bool"].get(truth(value), UNKNOWN)
        if code == UNKNOWN and kind in self.number and self.variable.cuts is not None:
            x = number_of(value)
            code = UNKNOWN if np.isnan(x) else int(self.variable.cut(x))
        return code


def truth(value: Any) -> str:
    """A boolean as text, whatever the capitals."""
    return str(value).strip().lower()


def unknown_state(variable: DiscreteVariable, found: Levels, strange: Iterable[int]) -> UnknownStateError:
    """The error for values that are none of the states, naming the first and where it is."""
    rows = {found.first_row(level): level for level in strange}
    row = min(rows)
    values = found.listed()
    others = [values[level] for r, level in sorted(rows.items())[1:]]
    more = f" (also {listed(others, 3)})" if others else ""
    state = values[rows[row]]
    close = near([state], variable.states, 1)
    meant = f"did you mean {close[0]!r}? Or " if close else ""
    return UnknownStateError(
        f"column {variable.name!r} has state {state!r} in row {row}, "
        f"not among its states {listed(variable.states, 5)}{more}",
        hint=f"{meant}treat it as missing with {option('handle_unknown', 'missing')}"
        + in_python(", or declare it with `states=` or in the schema"),
        column=variable.name,
        state=state,
        states=[state, *others],
        row=row,
    )
