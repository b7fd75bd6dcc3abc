"""Variables: what a column of a table may hold.

A discrete variable has named states, coded 0, 1, …, in the order of ``states``; a numeric one has floats. A numeric
column that was cut into intervals is discrete and remembers its cuts, so that new data can be cut the same way:

    state i holds cuts[i−1] < x ≤ cuts[i]
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.errors import FormatError, ParameterError, UnknownStateError, listed, nearest
from bayeslearn.tables.intervals import interval_names, other_names

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

#: Cuts that are sooner compared with than searched.
FEW_CUTS = 16


@dataclass(frozen=True)
class Variable:
    """The name of a column; see :class:`DiscreteVariable` and :class:`NumericVariable`."""

    name: str
    #: The format in which the values are written, and the column of which this one is a part.
    read_as: str | None = field(default=None, compare=False, kw_only=True, repr=False)
    origin: str | None = field(default=None, compare=False, kw_only=True, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise ParameterError(f"the name of a variable must be text, got {self.name!r}")


@dataclass(frozen=True)
class NumericVariable(Variable):
    """A column of floats; NaN is missing."""

    def to_dict(self) -> dict[str, Any]:
        """The variable as plain JSON values."""
        return {"name": self.name, "kind": "numeric"} | interpretation_of(self)


@dataclass(frozen=True, eq=False)
class DiscreteVariable(Variable):
    """A column of named states, kept as the user wrote them; −1 is the code of a missing cell.

    >>> wind = DiscreteVariable("wind", ["weak", "strong"])
    >>> wind.n_states, wind.code_of("strong")
    (2, 1)
    >>> DiscreteVariable.from_cuts("hours", [2.5, 4]).states
    ('<= 2.5', '2.5 … 4', '> 4')
    """

    states: tuple[Any, ...]
    cuts: tuple[float, ...] | None = None
    #: A few values of the training rows in each interval, in order; see :mod:`bayeslearn.tables.intervals`.
    interval_values: tuple[tuple[float, ...], ...] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "states", checked_states(self.name, self.states))
        if self.cuts is not None:
            object.__setattr__(self, "cuts", checked_cuts(self.name, self.cuts, len(self.states)))
        if self.interval_values is not None:
            values = checked_interval_values(self.name, self.interval_values, len(self.states))
            object.__setattr__(self, "interval_values", values)

    @classmethod
    def from_cuts(
        cls,
        name: str,
        cuts: Iterable[float],
        *,
        values: NDArray[np.float64] | None = None,
        kept: tuple[tuple[float, ...], ...] | None = None,
        like: Variable | None = None,
    ) -> DiscreteVariable:
        """The intervals between the cuts, named after their bounds; `values` of rows are summarized in each of them.

        What is `kept` of them, the ``interval_values``, may be given instead. A column that is read in a format, `like`
        the numeric one, stays so.
        """
        cuts = tuple(float(c) for c in cuts)
        if values is not None:
            from bayeslearn.tables.intervals import interval_values  # noqa: PLC0415 - only numbers need it

            kept = interval_values(values, None, cuts)
        known = {} if like is None else interpretation_of(like)
        return cls(name, interval_names(cuts), cuts, kept, **known)

    @property
    def n_states(self) -> int:
        """How many states there are."""
        return len(self.states)

    def code_of(self, state: Any) -> int:
        """The code of a state, found as in a table: 1 finds '1', and a number the interval that holds it."""
        state = state.item() if isinstance(state, np.generic) else state
        if isinstance(state, Hashable):
            for code, known in enumerate(self.states):
                if known == state and (type(known) is bool) == (type(state) is bool):
                    return code
            from bayeslearn.tables.state_encoding import UNKNOWN, StateLookup  # noqa: PLC0415 - Arrow loads when it is needed

            code = StateLookup(self)(state)
            if code != UNKNOWN:
                return code
        raise UnknownStateError(
            f"variable {self.name!r} has no state {state!r}, its states are {listed(self.states)}",
            hint=nearest([state], self.states, "its states"),
            column=self.name,
            state=state,
        )

    @cached_property
    def synonyms(self) -> dict[str, int]:
        """Other names of intervals and their codes: those of older files, and those typed with three dots."""
        if self.cuts is None:
            return {}
        names = (name for names in (interval_names(self.cuts), *other_names(self.cuts)) for name in enumerate(names))
        return {name: code for code, name in names if name not in self.states}

    def cut(self, x: ArrayLike) -> NDArray[np.intp]:
        """The code of each number by the cuts; −1 where it is NaN."""
        if self.cuts is None:
            raise ParameterError(f"column {self.name!r} has no cuts: it was never numeric")
        x = np.asarray(x, dtype=np.float64)
        if len(self.cuts) > FEW_CUTS:
            return np.where(np.isnan(x), -1, np.searchsorted(self.cuts, x, side="left"))
        code = np.full(x.shape, 0, np.int8)
        for cut in self.cuts:
            code += x > cut
        return np.where(np.isnan(x), -1, code).astype(np.intp)

    def to_dict(self) -> dict[str, Any]:
        """The variable as plain JSON values."""
        odd = [s for s in self.states if not isinstance(s, str | int | float) or s in {math.inf, -math.inf}]
        if odd:
            raise ParameterError(
                f"state {odd[0]!r} of column {self.name!r} cannot be written to a file",
                hint="name the states by text or numbers",
            )
        entry = {"name": self.name, "kind": "discrete", "states": list(self.states)}
        if self.cuts is not None:
            entry["cuts"] = list(self.cuts)
        if self.interval_values is not None:
            entry["interval_values"] = [list(values) for values in self.interval_values]
        return entry | interpretation_of(self)

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, DiscreteVariable) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[Any, ...]:
        # 1, 1.0 and True are equal to Python, but not the same name of a state; values of other rows change no code
        return self.name, self.states, tuple(type(s) for s in self.states), self.cuts


def variable_from_dict(entry: Any) -> Variable:
    """A variable read back from what ``to_dict`` wrote."""
    try:
        kind, name = entry["kind"], entry["name"]
        if kind == "numeric":
            return NumericVariable(name, **read_interpretation(entry))
        if kind == "discrete":
            known = read_interpretation(entry)
            return DiscreteVariable(
                name, _plain_list(entry["states"]), entry.get("cuts"), entry.get("interval_values"), **known
            )
    except (KeyError, TypeError, AttributeError):
        raise FormatError(f"not the description of a variable: {entry!r:.120}") from None
    except ParameterError as error:
        raise FormatError(error.message, hint=error.hint) from None
    raise FormatError(f"variable {name!r} is of unknown kind {kind!r}", hint="the kinds are 'discrete' and 'numeric'")


def interpretation_of(variable: Variable) -> dict[str, str]:
    """What a column was read as and where it comes from, as far as it is known."""
    known = {"read_as": variable.read_as, "origin": variable.origin}
    return {key: text for key, text in known.items() if text is not None}


def read_interpretation(entry: Any) -> dict[str, str]:
    """The same, read back."""
    known = {key: entry[key] for key in ("read_as", "origin") if entry.get(key) is not None}
    if not all(isinstance(text, str) for text in known.values()):
        raise TypeError
    return known


def _plain_list(value: Any) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise TypeError
    return tuple(value)


def state_array(variable: DiscreteVariable) -> NDArray[np.object_]:
    """Return the states as objects, with None last, which is at the code −1."""
    states = np.empty(variable.n_states + 1, dtype=object)
    states[:-1] = list(variable.states)
    return states


### checks


def checked_states(name: str, states: Any) -> tuple[Any, ...]:
    """At least one state, all different, none of them missing."""
    if isinstance(states, str) or not isinstance(states, Iterable):
        raise ParameterError(
            f"the states of column {name!r} must be a list of names, got {states!r}", hint="put the states into a list"
        )
    states = tuple(s.item() if isinstance(s, np.generic) else s for s in states)
    if not states:
        raise ParameterError(
            f"column {name!r} needs at least one state, got none", hint="name its states, or drop the column"
        )
    bad = [s for s in states if not isinstance(s, Hashable) or s is None or s != s]  # noqa: PLR0124 - NaN
    if bad:
        raise ParameterError(f"{bad[0]!r} cannot be the name of a state, in column {name!r}")
    if len(set(states)) < len(states):
        twice = next(s for s, count in Counter(states).items() if count > 1)
        raise ParameterError(
            f"column {name!r} has state {twice!r} more than once, among {listed(states)}", hint="name each state once"
        )
    return states


def checked_cuts(name: str, cuts: Any, n_states: int) -> tuple[float, ...]:
    """Increasing finite numbers, one fewer than there are states."""
    try:
        cuts = tuple(float(c) for c in cuts)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(f"the cuts of column {name!r} must be numbers, got {cuts!r}") from None
    if len(cuts) != n_states - 1:
        raise ParameterError(f"column {name!r} has {n_states} states, so {n_states - 1} cuts, got {len(cuts)}")
    if not (np.isfinite(cuts).all() and (np.diff(cuts) > 0).all()):
        raise ParameterError(f"the cuts of column {name!r} must be finite and increasing, got {list(cuts)}")
    return cuts


def checked_interval_values(name: str, values: Any, n_states: int) -> tuple[tuple[float, ...], ...]:
    """A list of finite numbers in increasing order for each state; it may be empty."""
    try:
        values = tuple(tuple(float(x) for x in part) for part in values)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(f"the interval values of column {name!r} must be lists of numbers") from None
    if len(values) != n_states:
        raise ParameterError(f"column {name!r} has {n_states} states, but interval values of {len(values)}")
    if not all(np.isfinite(part).all() and (np.diff(part) >= 0).all() for part in values):
        raise ParameterError(f"the interval values of column {name!r} must be finite and in increasing order")
    return values
