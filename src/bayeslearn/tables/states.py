"""Coding a column by a variable that is known already: declared states, or the schema of earlier data.

A value finds the state it equals. Where data and states came by different ways (numbers from a frame, text from a
file), number meets number and truth meets truth: 1 finds '1', 'true' finds True; '01' and '1' stay different names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.errors import UnknownStateError, listed
from bayeslearn.tables.columns import Column, Levels, floats, level_numbers, levels, number_of, object_kind
from bayeslearn.tables.table import smallest_code_type
from bayeslearn.tables.variables import Discrete, Variable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from bayeslearn.tables.convert import Missing

#: The code of a value that is none of the states, until it is reported or made missing.
UNKNOWN = -2


def code_by(column: Column, variable: Variable, missing: Missing, unseen: str) -> NDArray[Any]:
    """The codes (or floats) of a column under a known variable."""
    if not isinstance(variable, Discrete):
        return floats(column, missing)
    missing = missing.without(variable.states)
    if variable.cuts is not None and is_to_be_cut(column, missing):
        return variable.cut(floats(column, missing))
    found = levels(column, missing)
    look = StateLookup(variable)
    code = np.array([*(look(v) for v in found.listed()), -1], dtype=smallest_code_type(variable.size + 1))
    if (code == UNKNOWN).any():
        used = np.bincount(found.place[found.place >= 0], minlength=len(code) - 1) > 0
        strange = np.flatnonzero((code[:-1] == UNKNOWN) & used)
        if len(strange) and unseen == "error":
            raise unknown_state(variable, found, strange)
        code[code == UNKNOWN] = variable.size - 1 if unseen == "last" else -1
    return code.take(found.place)


def is_to_be_cut(column: Column, missing: Missing) -> bool:
    """Whether the column holds numbers, and not the names of intervals."""
    if column.kind != "text":
        return True
    return not np.isnan(level_numbers(levels(column, missing).values)).all()


class StateLookup:
    """From a value to the code of its state."""

    def __init__(self, variable: Discrete) -> None:
        self.variable = variable
        self.exact = {(object_kind(s), s): code for code, s in enumerate(variable.states)}
        self.number = {kind: self._by(kind, number_of) for kind in ("text", "number")}
        self.truth = {kind: self._by(kind, truth) for kind in ("text", "bool")}

    def _by(self, kind: str, key: Any) -> dict[Any, int]:
        """States of one kind by another key; two states with the same key are left out."""
        keys = [(key(state), code) for (k, state), code in self.exact.items() if k == kind]
        count = [k for k, _ in keys]
        return {k: code for k, code in keys if count.count(k) == 1}

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


def unknown_state(variable: Discrete, found: Levels, strange: Iterable[int]) -> UnknownStateError:
    """The error for values that are none of the states, naming the first and where it is."""
    rows = {found.first_row(level): level for level in strange}
    row = min(rows)
    values = found.listed()
    others = [values[level] for r, level in sorted(rows.items())[1:]]
    more = f" (also {listed(others)})" if others else ""
    state = values[rows[row]]
    return UnknownStateError(
        f"column {variable.name!r} has state {state!r} in row {row}, "
        f"not among its states {listed(variable.states)}{more}",
        hint='declare it with `states=` or in the schema, or pass unseen="missing"',
        column=variable.name,
        state=state,
        states=[state, *others],
        row=row,
    )
