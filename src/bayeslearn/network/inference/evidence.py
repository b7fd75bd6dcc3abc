"""Evidence in the words of the user: states, numbers and ranges of numbers, and the states they stand for.

    state       'high', '> 17.5'                 the state of this name
    number      30, '30'                         the state that equals it, or the interval that holds it
    range       '10..20', '> 17.5', '<= 3'       every state or interval that shares more than an end point with it

A range of several states is virtual evidence: likelihood 1 for each of these states and 0 for the others. An interval
that a range covers in part is included, with a warning. Where all known values of a variable are whole numbers, so are
the bounds of a range: '> 3' and '>= 4' are the same.
"""

from __future__ import annotations

import math
import re
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.errors import BayeslearnWarning, UnknownStateError, listed
from bayeslearn.tables.markers import NUMBER

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bayeslearn.network.network import BayesianNetwork
    from bayeslearn.tables import Discrete

#: LOW..HIGH, where one bound may be left out, and comparisons.
BETWEEN = re.compile(rf"\s*({NUMBER})?\s*\.\.\s*({NUMBER})?\s*")
BEYOND = re.compile(rf"\s*(<=|>=|<|>)\s*({NUMBER})\s*")


@dataclass(frozen=True)
class Observation:
    """One piece of evidence: the value as given, and the states that agree with it."""

    name: str
    value: Any
    states: tuple[Any, ...]

    @property
    def is_state(self) -> bool:
        """Whether the value is the name of the only state."""
        return len(self.states) == 1 and self.states[0] == self.value

    def __str__(self) -> str:
        if self.is_state:
            return f"{self.name}={self.value}"
        joint = " " if BEYOND.fullmatch(str(self.value)) else " = "
        return f"{self.name}{joint}{self.value} ({' or '.join(map(str, self.states))})"

    def to_json(self) -> Any:
        """The state, or the value together with the states it stands for."""
        if self.is_state:
            return self.value
        one = len(self.states) == 1
        return {"value": self.value} | ({"state": self.states[0]} if one else {"states": list(self.states)})


def observe(network: BayesianNetwork, evidence: Mapping[str, Any]) -> dict[str, Observation]:
    """What each piece of evidence stands for.

    >>> from bayeslearn.network import BayesianNetwork
    >>> from bayeslearn.tables import Discrete, Schema
    >>> delay = Schema([Discrete.from_cuts("delay", [5, 20])])
    >>> net = BayesianNetwork.of("[delay]", {"delay": [0.5, 0.3, 0.2]}, states=delay)
    >>> print(observe(net, {"delay": 30})["delay"])
    delay = 30 (> 20)
    """
    found = {}
    for name, value in evidence.items():
        variable = network[name].variable
        found[name] = Observation(name, value, tuple(variable.states[code] for code in codes_of(variable, value)))
    return found


def codes_of(variable: Discrete, value: Any, *, warn: bool = False) -> tuple[int, ...]:
    """The codes of the states that a value stands for: one for a state or a number, perhaps several for a range."""
    bounds = range_of(value) if isinstance(value, str) and value not in variable.states else None
    if bounds is None:
        return (variable.code_of(value),)
    low, high = bounds
    if low.at == high.at and not (low.is_open or high.is_open):
        return (variable.code_of(low.at),)
    found, partly = (among_states if variable.cuts is None else within_cuts)(variable, low, high)
    if warn and partly:
        warn_partly(variable, partly)
    if not found:
        raise UnknownStateError(
            f"no state of {variable.name!r} lies in the range {value!r}, its states are {listed(variable.states)}",
            hint="a range is LOW..HIGH with LOW below HIGH, or <, <=, >, >= and a number",
            column=variable.name,
            state=value,
        )
    return found


### ranges


@dataclass(frozen=True)
class Bound:
    """An end of a range, which belongs to the range unless it is open."""

    at: float
    is_open: bool = False

    def first(self, *, whole: bool) -> float:
        """The first number of a range that begins here."""
        if math.isinf(self.at):
            return self.at
        if whole:
            return math.floor(self.at) + 1 if self.is_open else math.ceil(self.at)
        return math.nextafter(self.at, math.inf) if self.is_open else self.at

    def last(self, *, whole: bool) -> float:
        """The last number of a range that ends here."""
        return -Bound(-self.at, self.is_open).first(whole=whole)


def range_of(text: str) -> tuple[Bound, Bound] | None:
    """The bounds of a range; None for text that is no range.

    >>> range_of("10..20")
    (Bound(at=10.0, is_open=False), Bound(at=20.0, is_open=False))
    >>> range_of("> 17.5")
    (Bound(at=17.5, is_open=True), Bound(at=inf, is_open=False))
    >>> range_of("high")
    """
    if (beyond := BEYOND.fullmatch(text)) is not None:
        bound = Bound(float(beyond[2]), is_open="=" not in beyond[1])
        return (bound, Bound(math.inf)) if beyond[1].startswith(">") else (Bound(-math.inf), bound)
    between = BETWEEN.fullmatch(text)
    if between is None or between[1] is between[4] is None:
        return None
    low, high = between[1], between[4]
    return Bound(-math.inf if low is None else float(low)), Bound(math.inf if high is None else float(high))


Codes = tuple[int, ...]


def within_cuts(variable: Discrete, low: Bound, high: Bound) -> tuple[Codes, Codes]:
    """The intervals that share more than an end point with a range, and those of them covered in part.

    An interval (a, b] holds the numbers from the one after a to b; of whole numbers from ⌊a⌋ + 1 to ⌊b⌋.
    """
    assert variable.cuts is not None
    whole = has_whole_numbers(variable)
    a, b = np.array([-math.inf, *variable.cuts]), np.array([*variable.cuts, math.inf])
    first, last = (np.floor(a) + 1, np.floor(b)) if whole else (np.nextafter(a, math.inf), b)
    start, stop = low.first(whole=whole), high.last(whole=whole)
    left, right = np.maximum(first, start), np.minimum(last, stop)
    inside = (left < right) | ((left == right) & (whole | (first == last)))
    covered = (start <= np.nextafter(first, math.inf)) & (np.nextafter(last, -math.inf) <= stop)
    return tuple(np.flatnonzero(inside).tolist()), tuple(np.flatnonzero(inside & ~covered).tolist())


def warn_partly(variable: Discrete, codes: Codes) -> None:
    """Say which intervals a range covers in part."""
    partly = listed(variable.states[code] for code in codes)
    warnings.warn(
        f"the range of {variable.name!r} covers {partly} in part; the whole of each interval is included",
        BayeslearnWarning,
        stacklevel=2,
    )


def among_states(variable: Discrete, low: Bound, high: Bound) -> tuple[Codes, Codes]:
    """The states that are numbers within a range; none is covered in part."""
    from bayeslearn.tables.columns import number_of  # noqa: PLC0415 - Arrow loads when it is needed

    x = np.array([math.nan if isinstance(state, bool) else number_of(state) for state in variable.states])
    above = x > low.at if low.is_open else x >= low.at
    below = x < high.at if high.is_open else x <= high.at
    return tuple(np.flatnonzero(above & below).tolist()), ()


def has_whole_numbers(variable: Discrete) -> bool:
    """Whether all known values of the intervals are whole."""
    known = [x for values in variable.interval_values or () for x in values]
    return bool(known) and all(float(x).is_integer() for x in known)
