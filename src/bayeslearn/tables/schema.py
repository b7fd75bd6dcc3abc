"""A schema: the variables of a table, in order, by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import (
    DataError,
    DuplicateColumnError,
    FormatError,
    ParameterError,
    ShapeError,
    UnknownColumnError,
    listed,
    near,
    nearest,
)
from bayeslearn.tables.variables import DiscreteVariable, NumericVariable, Variable, variable_from_dict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray


@dataclass(frozen=True)
class Schema:
    """Variables in the order of their columns, with names that differ.

    >>> schema = Schema([DiscreteVariable("wind", ["weak", "strong"]), NumericVariable("hours")])
    >>> schema["wind"].states
    ('weak', 'strong')
    >>> schema.names, "rain" in schema
    (('wind', 'hours'), False)
    """

    variables: tuple[Variable, ...]
    #: The discrete variables, in the order of the rows of ``Table.codes``.
    discrete: tuple[DiscreteVariable, ...] = field(init=False, repr=False, compare=False)
    #: The numeric variables, in the order of the rows of ``Table.values``.
    numeric: tuple[NumericVariable, ...] = field(init=False, repr=False, compare=False)
    _by_name: dict[str, Variable] = field(init=False, repr=False, compare=False)
    _place: dict[str, int] = field(init=False, repr=False, compare=False)

    def __init__(self, variables: Iterable[Variable]) -> None:
        variables = tuple(variables)
        for variable in variables:
            if not isinstance(variable, DiscreteVariable | NumericVariable):
                raise ParameterError(
                    f"a schema consists of variables, got {variable!r}",
                    hint="DiscreteVariable(name, states) or NumericVariable(name)",
                )
        require_unique(v.name for v in variables)
        discrete = tuple(v for v in variables if isinstance(v, DiscreteVariable))
        numeric = tuple(v for v in variables if isinstance(v, NumericVariable))
        place = {v.name: i for block in (discrete, numeric) for i, v in enumerate(block)}
        parts = {"variables": variables, "discrete": discrete, "numeric": numeric, "_place": place}
        for name, value in (parts | {"_by_name": {v.name: v for v in variables}}).items():
            object.__setattr__(self, name, value)

    # -- reading

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(self._by_name)

    def __getitem__(self, name: str) -> Variable:
        try:
            return self._by_name[name]
        except (KeyError, TypeError):
            raise unknown_column([name], self.names) from None

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def __iter__(self) -> Iterator[Variable]:
        return iter(self.variables)

    def __len__(self) -> int:
        return len(self.variables)

    def place(self, name: str) -> int:
        """The row of this column in ``Table.codes`` or ``Table.values``."""
        return self._place[self[name].name]

    # -- parts of it

    def select(self, names: Iterable[str]) -> Schema:
        """These columns only, in this order."""
        names = name_list("names", names)
        require_known(names, self.names)
        return Schema(self[name] for name in names)

    def drop(self, names: Iterable[str]) -> Schema:
        """Every column but these."""
        names = name_list("names", names)
        require_known(names, self.names)
        gone = set(names)
        return Schema(v for v in self if v.name not in gone)

    # -- files

    def to_dict(self) -> dict[str, Any]:
        """The schema as plain JSON values."""
        return {"variables": [v.to_dict() for v in self if isinstance(v, DiscreteVariable | NumericVariable)]}

    @classmethod
    def from_dict(cls, entry: Mapping[str, Any]) -> Schema:
        """A schema read back from what :meth:`to_dict` wrote, checked in full."""
        if not isinstance(entry, Mapping) or not isinstance(entry.get("variables"), list):
            raise FormatError(
                f"not the description of a schema: {entry!r:.120}",
                hint="`bayeslearn scan -o` and Schema.to_dict write such descriptions",
            )
        return cls(variable_from_dict(v) for v in entry["variables"])

    def absent_from(self, names: Iterable[str]) -> list[str]:
        """The variables that data with columns of these names lack; a part of a date is there where the date is."""
        there = set(names)
        return [v.name for v in self if v.name not in there and v.origin not in there]


### names


def name_list(argument: str, names: Any) -> tuple[str, ...]:
    """Names of columns as text; one name stands for a list of one."""
    if isinstance(names, str):
        return (names,)
    try:
        return tuple(str(name) for name in names)
    except TypeError:
        raise ParameterError(
            f"`{argument}` must be names of columns, got {names!r}", hint=f'for instance {argument}=["a", "b"]'
        ) from None


def require_unique(names: Iterable[str]) -> None:
    """No two columns share a name."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise DuplicateColumnError(
            f"column names appear more than once: {listed(twice)}",
            hint="rename the columns, so that names are unique",
            columns=twice,
        )


def require_known(names: Iterable[str], known: Iterable[str]) -> None:
    """Every name is that of a column."""
    names, known = list(names), list(known)
    there = set(known) if names else set()
    unknown = [name for name in names if name not in there]
    if unknown:
        raise unknown_column(unknown, known)


def unknown_column(names: list[str], known: Iterable[str]) -> UnknownColumnError:
    """The error for names that are not there, with the closest ones that are."""
    known = tuple(known)
    what = "there is no column" if len(names) == 1 else "there are no columns"
    hint = nearest(names, known, "the columns")
    return UnknownColumnError(f"{what} {listed(names)}", hint=hint, columns=names, closest=near(names, known))


### cells that fit a schema


def checked_shapes(schema: Schema, codes: NDArray[Any], values: NDArray[np.float64]) -> int:
    """The number of rows, once shapes and ranges are seen to fit the schema."""
    n = max((block.shape[1] for block in (codes, values) if block.ndim == 2), default=0)
    for name, block, variables in (("codes", codes, schema.discrete), ("values", values, schema.numeric)):
        expected = (len(variables), n)
        if block.shape != expected and (variables or block.size):
            raise ShapeError(
                f"expected {name} of shape {expected}, got {block.shape}",
                hint="one row for each variable of the schema",
            )
    if codes.size and not np.issubdtype(codes.dtype, np.integer):
        raise ParameterError(
            f"codes must be whole numbers, got {codes.dtype}", hint="codes are positions of states, -1 where missing"
        )
    for variable, row in zip(schema.discrete, codes, strict=False):
        if row.size and not (-1 <= row.min() and row.max() < variable.n_states):
            raise ParameterError(
                f"codes of column {variable.name!r} must lie within -1..{variable.n_states - 1}, "
                f"got {row.min()}..{row.max()}",
                hint="codes are positions of states, -1 where missing",
            )
    for number, row in zip(schema.numeric, values, strict=False):
        require_finite(number.name, row)
    return n


def require_finite(name: str, x: NDArray[np.float64]) -> None:
    """No infinite numbers; NaN is missing and may stay."""
    infinite = np.isinf(x)
    if infinite.any():
        row = validation.first_position(infinite)
        raise DataError(
            f"column {name!r} is {x[row]} in row {row}",
            hint="make it missing (NaN) or a finite number",
            column=name,
            row=row,
        )


def different(one: Schema, other: Schema) -> list[str]:
    """The names of the columns that two schemas do not share."""
    names = dict.fromkeys((*one.names, *other.names))
    odd = [n for n in names if n not in one or n not in other or one[n] != other[n]]
    return odd or list(other.names)  # the same columns in another order


def row_positions(rows: NDArray[Any], n_rows: int) -> NDArray[np.intp]:
    """Return the positions of rows that are given by position or by a mask."""
    if rows.dtype == bool:
        if rows.shape != (n_rows,):
            raise ShapeError(
                f"expected a mask of shape ({n_rows},), got {rows.shape}", hint="one True or False for each row"
            )
        return np.flatnonzero(rows)
    if rows.ndim != 1 or (rows.size and not np.issubdtype(rows.dtype, np.integer)):
        raise ShapeError(
            f"expected a list of row numbers or a mask, got shape {rows.shape} of {rows.dtype}",
            hint="for instance take([0, 2]) or take(mask)",
        )
    rows = rows if rows.size else rows.astype(np.intp)
    outside = (rows < -n_rows) | (rows >= n_rows)
    if outside.any():
        raise ParameterError(
            f"there is no row {rows[outside][0]} in a table of {n_rows} rows", hint="rows are numbered from 0"
        )
    return rows.astype(np.intp)


def code_type(schema: Schema) -> type[np.signedinteger[Any]]:
    """The smallest whole numbers that hold every code of the schema."""
    return smallest_code_type(max((v.n_states for v in schema.discrete), default=0))


def smallest_code_type(n_states: int) -> type[np.signedinteger[Any]]:
    """The smallest type of whole numbers for `n_states` states."""
    return next((t for t in (np.int8, np.int16) if n_states <= np.iinfo(t).max), np.int32)
