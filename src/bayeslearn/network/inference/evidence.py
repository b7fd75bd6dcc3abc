"""Evidence in the words of the user: states, numbers, ranges and dates, and the states they stand for.

    state       'high', '> 17.5'                 the state of this name
    number      30, '30', '$1,234', '12 %'       the state that equals it, or the interval that holds it
    range       '10..20', '> 17.5', '<= 3'       every state or interval that shares more than an end point with it
    several     ['low', 'high']                  each of these
    date        '2013-09-05', a datetime         the states of the variables that are parts of a date; see :mod:`.dates`
    dates       '2013-01..2013-03', '> 2013-06'  the states of the parts that hold exactly these dates

Several states are virtual evidence: likelihood 1 for each of them and 0 for the others. An interval that a range covers
in part is included, with a warning. Numbers are read in the format of their column, money for instance.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bayeslearn.errors import UnknownStateError, as_list, listed
from bayeslearn.network.inference.dates import date_states, is_date
from bayeslearn.network.inference.ranges import BEYOND, Codes, among_states, range_of, warn_partly, within_cuts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bayeslearn.network.network import BayesianNetwork
    from bayeslearn.tables import Discrete

#: Kinds of values that stand for several states.
SEVERAL = (list, tuple, set, frozenset)


@dataclass(frozen=True)
class Observation:
    """One piece of evidence: the value as given, and the states that agree with it."""

    name: str
    value: Any
    states: tuple[Any, ...] = ()
    #: Of a date: the states by name of variable; of a range perhaps lists of states.
    parts: dict[str, Any] = field(default_factory=dict)

    @property
    def is_state(self) -> bool:
        """Whether the value is the name of the only state."""
        return len(self.states) == 1 and self.states[0] == self.value

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables that are observed."""
        return tuple(self.parts) or (self.name,)

    def __str__(self) -> str:
        if self.is_state:
            return f"{self.name}={self.value}"
        several = isinstance(self.value, SEVERAL)
        value = " or ".join(map(str, self.value)) if several else str(self.value)
        states = ", ".join(
            f"{name.removeprefix(f'{self.name}.')}: {' or '.join(map(str, as_list(state)))}"
            for name, state in self.parts.items()
        )
        states = states or " or ".join(map(str, self.states))
        joint = " " if BEYOND.fullmatch(value) and not several else " = "
        return f"{self.name}{joint}{value}" + (f" ({states})" if states != value else "")

    def to_json(self) -> Any:
        """The state, or the value together with the states it stands for."""
        if self.is_state:
            return self.value
        value = list(self.value) if isinstance(self.value, SEVERAL) else self.value
        if self.parts:
            return {"value": value if isinstance(value, str) else str(value), "states": self.parts}
        one = len(self.states) == 1
        return {"value": value} | ({"state": self.states[0]} if one else {"states": list(self.states)})


def observe(network: BayesianNetwork, evidence: Mapping[str, Any]) -> dict[str, Observation]:
    """What each piece of evidence stands for.

    >>> from bayeslearn.network import BayesianNetwork
    >>> from bayeslearn.tables import Discrete, Schema
    >>> delay = Schema([Discrete.from_cuts("delay", [5, 20])])
    >>> net = BayesianNetwork.of("[delay]", {"delay": [0.5, 0.3, 0.2]}, states=delay)
    >>> print(observe(net, {"delay": 30})["delay"])
    delay = 30 (> 20)
    """
    return {name: observation(network, name, value) for name, value in evidence.items()}


def observation(network: BayesianNetwork, name: str, value: Any) -> Observation:
    """One piece of evidence."""
    if is_date(network, name):
        return Observation(name, value, parts=date_states(network, name, value))
    variable = network[name].variable
    return Observation(name, value, tuple(variable.states[code] for code in codes_of(variable, value)))


### codes


def codes_of(variable: Discrete, value: Any, *, warn: bool = False) -> Codes:
    """The codes of the states that a value stands for: one for a state or a number, perhaps several for a range."""
    if isinstance(value, SEVERAL) and value not in variable.states:
        return codes_of_several(variable, value, warn=warn)
    if not isinstance(value, str) or value in variable.states or value in variable.synonyms:
        return (variable.code_of(value),)
    bounds = range_of(variable, value)
    if bounds is None:
        return (variable.code_of(as_number(variable, value)),)
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


def codes_of_several(variable: Discrete, values: Any, *, warn: bool = False) -> Codes:
    """The codes of all states that some of the values stand for."""
    found = sorted({code for value in values for code in codes_of(variable, value, warn=warn)})
    if not found:
        raise UnknownStateError(
            f"the evidence on {variable.name!r} is an empty list of states",
            hint=f"its states are {listed(variable.states)}",
            column=variable.name,
        )
    return tuple(found)


def code_of(variable: Discrete, value: Any) -> int:
    """The code of the only state that a value stands for."""
    codes = codes_of(variable, value)
    return codes[0] if len(codes) == 1 else variable.code_of(value)


def as_number(variable: Discrete, text: str) -> Any:
    """The number that a text stands for in a variable that takes numbers; else the text."""
    from bayeslearn.tables.interpretation import number_in, takes_numbers  # noqa: PLC0415 - Arrow loads when needed

    x = number_in(variable, text) if takes_numbers(variable) else float("nan")
    return text if x != x else x  # noqa: PLR0124 - NaN
