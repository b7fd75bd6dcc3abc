"""The attributes that concepts are made of: names, states, and rows turned into codes.

A row may be a dictionary by attribute name or a sequence in the order of the attributes; many rows may also come as a
Table, a data frame or an array. `None`, NaN, `?` and the empty string are missing, unless declared as states.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import (
    MissingValuesError,
    ParameterError,
    ShapeError,
    UnknownColumnError,
    UnknownStateError,
    listed,
)
from bayeslearn.tables.markers import is_marker

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Codes beside the states 0, 1, …: a cell that is missing, and a value that is no declared state.
MISSING, UNSEEN = -1, -4
#: What a conjunction may ask of an attribute beside a state: nothing (any value will do), or the impossible.
ANY, NONE = -2, -3


@dataclass(frozen=True)
class Attributes:
    """Discrete attributes in a fixed order; |H| = 1 + Π (k + 1) conjunctions can be said with them.

    >>> Attributes.of({"sky": ["sunny", "cloudy", "rainy"], "air": ["warm", "cold"]}).n_conjunctions
    13
    """

    names: tuple[str, ...]
    states: tuple[tuple[Hashable, ...], ...]

    def __post_init__(self) -> None:
        if not self.names or len(set(self.names)) < len(self.names) or len(self.names) != len(self.states):
            raise ParameterError(
                f"expected attributes of different names, each with its states, got {listed(self.names)}"
            )
        for name, states in zip(self.names, self.states, strict=True):
            if not states or len(set(states)) < len(states):
                raise ParameterError(f"attribute '{name}' needs states that differ, got {listed(states)}")

    def __len__(self) -> int:
        return len(self.names)

    @classmethod
    def of(cls, given: Any) -> Attributes:
        """From a mapping of names to states, (name, states) pairs, or a Schema of discrete variables.

        A whole number n stands for the Boolean attributes x1 to xn.
        """
        if isinstance(given, Attributes):
            return given
        if isinstance(given, int | np.integer) and not isinstance(given, bool):
            return cls.literals(f"x{i}" for i in range(1, validation.integer("attributes", int(given), least=1) + 1))
        if isinstance(given, str) or not isinstance(given, Iterable):
            raise ParameterError(
                f"attributes must be given by name with their states, got {given!r:.80}",
                hint='write {"sky": ["sunny", "rainy"]}, or how many Boolean attributes there are',
            )
        items = given.items() if isinstance(given, Mapping) else given
        pairs = [item if isinstance(item, tuple) else _variable(item) for item in items]
        return cls(tuple(name for name, _ in pairs), tuple(tuple(states) for _, states in pairs))

    @classmethod
    def literals(cls, names: Iterable[str]) -> Attributes:
        """Boolean attributes: `x` required True is the literal x, required False is ¬x, and both at once is ∅."""
        names = tuple(names)
        return cls(names, ((False, True),) * len(names))

    @classmethod
    def seen(cls, rows: Sequence[Any], names: Sequence[str] | None = None) -> Attributes:
        """The attributes and states that occur in some rows, in the order they occur."""
        columns = _columns(rows, names)
        states = {name: dict.fromkeys(v for v in column if not is_missing(v)) for name, column in columns.items()}
        for name, found in states.items():
            if not found:
                raise MissingValuesError(
                    f"attribute '{name}' has no value in any row", hint="leave it out", column=name
                )
        return cls(tuple(states), tuple(tuple(found) for found in states.values()))

    @property
    def n_conjunctions(self) -> int:
        """How many conjunctions there are: each attribute a state or `?`, and one that covers nothing."""
        return 1 + math.prod(len(states) + 1 for states in self.states)

    def encode(self, rows: Any, *, unseen: bool = False) -> NDArray[np.intp]:
        """Codes of shape (n, attributes); a value that is no state is an error, or UNSEEN where that is allowed."""
        if hasattr(rows, "schema") and hasattr(rows, "codes"):
            columns: dict[str, Any] = {name: _decoded(rows, name) for name in self.names}
        else:
            columns = _columns(rows, self.names)
        codes = [self._codes(i, columns[name], unseen=unseen) for i, name in enumerate(self.names)]
        return np.stack(codes, axis=1)

    def _codes(self, i: int, column: Sequence[Any], *, unseen: bool) -> NDArray[np.intp]:
        known = {state: code for code, state in enumerate(self.states[i])}
        try:
            codes = np.array([known.get(value, UNSEEN) for value in column], dtype=np.intp)
        except TypeError:
            raise ParameterError(
                f"attribute '{self.names[i]}' holds values that cannot be states, such as lists"
            ) from None
        for row in np.flatnonzero(codes == UNSEEN).tolist():
            if is_missing(column[row]):
                codes[row] = MISSING
            elif not unseen:
                raise UnknownStateError(
                    f"attribute '{self.names[i]}' has value {column[row]!r} in row {row}, not among its states",
                    hint=f"its states are {listed(self.states[i])}; declare every state it may have",
                    column=self.names[i],
                    value=column[row],
                )
        return codes

    def decode(self, codes: Iterable[int]) -> dict[str, Any]:
        """A row by name; missing cells are None."""
        cells = zip(self.names, self.states, codes, strict=True)
        return {name: states[code] if code >= 0 else None for name, states, code in cells}


def is_missing(value: Any) -> bool:
    """Whether a cell holds no value."""
    if value is None or is_marker(value):
        return True
    if isinstance(value, float | np.floating):
        return math.isnan(value)
    return type(value).__name__ in {"NAType", "NaTType"}  # pandas has objects of its own


### inside


def _variable(variable: Any) -> tuple[str, Any]:
    if not hasattr(variable, "states"):
        name = getattr(variable, "name", variable)
        raise ParameterError(
            f"a concept needs discrete attributes, and '{name}' has no states",
            hint="declare the column as discrete, or cut it into ranges",
        )
    return variable.name, variable.states


def _decoded(table: Any, name: str) -> list[Any]:
    if name not in table.schema.names:
        raise UnknownColumnError(f"no column is called '{name}'", hint=f"the columns are {listed(table.schema.names)}")
    states = [*table.schema[name].states, None]  # code −1 is missing
    return [states[code] for code in table.code(name)]


def _columns(rows: Any, names: Sequence[str] | None) -> dict[str, Sequence[Any]]:
    """Columns by name, from a frame or from rows."""
    if hasattr(rows, "columns"):
        return {name: list(_column(rows, name)) for name in (rows.columns if names is None else names)}
    if len(rows) and isinstance(rows[0], Mapping):
        return {name: [_cell(row, name, i) for i, row in enumerate(rows)] for name in names or rows[0]}
    if names is None:
        names = [f"x{i}" for i in range(len(rows[0]))] if len(rows) else []
    for i, row in enumerate(rows):
        if isinstance(row, str | Mapping) or len(row) != len(names):
            raise ShapeError(f"expected {len(names)} attribute values in row {i}, got {row!r:.80}")
    return {name: [row[j] for row in rows] for j, name in enumerate(names)}


def _column(frame: Any, name: str) -> Any:
    if name not in frame.columns:
        raise UnknownColumnError(f"no column is called '{name}'", hint=f"the columns are {listed(list(frame.columns))}")
    return frame[name]


def _cell(row: Any, name: str, i: int) -> Any:
    if not isinstance(row, Mapping):
        raise ShapeError(f"row {i} is not given by attribute name as the first one is, got {row!r:.80}")
    if name not in row:
        raise UnknownColumnError(f"row {i} has no attribute '{name}'", hint=f"it has {listed(list(row))}")
    return row[name]
