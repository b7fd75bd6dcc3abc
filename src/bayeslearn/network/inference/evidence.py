"""Evidence and other arguments of queries, in whatever form a caller has them.

evidence     {"smoke": "yes"}, [("smoke", "yes")], "smoke=yes, delay>17.5", ["smoke=yes"], or a row of a data frame
variables    "lung", or ["lung", "bronc"]
engine       an engine, or the network itself

A value of the evidence stands for states:

    state       'high', '> 17.5'                 the state of this name
    number      30, '30', '$1,234', '12 %'       the state that equals it, or the interval that holds it
    range       '10..20', '> 17.5', '<= 3'       every state or interval that shares more than an end point with it
    several     ['low', 'high']                  each of these
    date        '2013-09-05', a datetime         the states of the variables that are parts of a date
    dates       '2013-01..2013-03', '> 2013-06'  the states of the parts that hold exactly these dates

Several states are virtual evidence: likelihood 1 for each of them and 0 for the others. An interval that a range covers
in part is included, with a warning. Numbers are read in the format of their column, money for instance.

Evidence as text, in Python and on the command line:

    smoke=yes       price=$250       a state, or a number in the format of its column
    delay=10..20    delay>17.5       a range
    date=2013-09-05                  a date of which some variables are parts
    date=2013-01..2013-03            a range of dates

In one text the pieces stand between commas: "smoke=yes, delay>17.5". A comma belongs to the value before it if no sign
follows it up to the next comma: "price=1,234, smoke=yes". Names of variables may hold signs like = themselves.

A date stands for the states of the variables that are its parts:

    time_hour = 2013-09-05T19:00    time_hour.month: Sep, time_hour.weekday: Thu, time_hour.hour: 19

Dates are read as in the column that the parts come from, or as year-month-day. A date without a time leaves
the hour open, and a time without a date leaves the others open. Ranges of numbers, dates, months and years are read by
:mod:`.evidence_ranges`.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import lazy_imports
from bayeslearn.errors import MixedTypesError, ParameterError, UnknownStateError, as_list, listed
from bayeslearn.network.dag import as_network
from bayeslearn.printable import printable

if TYPE_CHECKING:
    from bayeslearn.network.bayesian_network import BayesianNetwork
    from bayeslearn.network.inference import evidence_ranges
    from bayeslearn.network.inference.evidence_ranges import Codes
    from bayeslearn.network.inference.junction_tree import ExactInference
    from bayeslearn.tables import DiscreteVariable
else:  # states by name need no ranges
    evidence_ranges = lazy_imports.Deferred("bayeslearn.network.inference.evidence_ranges")


def as_evidence(network: BayesianNetwork, evidence: Any) -> dict[str, Any]:
    """Return values by name of variable, the parts of a date in its place."""
    found = as_mapping(network, evidence)
    for name in found:
        if name not in network:
            return with_date_parts(network, found)
    return found


def as_mapping(network: BayesianNetwork, evidence: Any) -> dict[str, Any]:
    """Return values by name as they are given; a missing value in a row of a data frame is not observed."""
    if type(evidence) is dict:  # recognized fastest
        return evidence.copy()
    if evidence is None or isinstance(evidence, Mapping):
        return dict(evidence or {})
    if isinstance(evidence, str):
        return _parsed(network, evidence)
    if hasattr(evidence, "columns") or hasattr(evidence, "schema"):
        raise ParameterError(
            f"evidence is one observation, got a {type(evidence).__name__} of several rows",
            hint="`network.predict_proba(data)` and `network.predict(data, target)` take a table",
        )
    if hasattr(evidence, "items"):  # a row of a data frame
        return {str(name): value for name, value in evidence.items() if not is_missing(value)}
    items = list(evidence) if isinstance(evidence, Iterable) else None
    if items and all(isinstance(item, str) for item in items):
        return _parsed(network, items)
    if items is None or not all(isinstance(item, tuple | list) and len(item) == 2 for item in items):
        raise _not_evidence(evidence)
    return dict(items)


def as_names(names: Iterable[str] | str) -> list[str]:
    """Return a list of names; one name stands for a list of one."""
    return [names] if isinstance(names, str) else list(names)


def as_engine(engine: ExactInference | BayesianNetwork) -> ExactInference:
    """Return exact inference of a network, or the given engine."""
    from bayeslearn.network.inference.junction_tree import ExactInference  # noqa: PLC0415 - engines read their arguments here

    return engine if isinstance(engine, ExactInference) else as_network(engine).inference


def _parsed(network: BayesianNetwork, text: str | list[str]) -> dict[str, Any]:

    pieces = [text] if isinstance(text, str) else text
    odd = [piece for piece in pieces if not has_sign(piece)]
    if odd:
        raise _not_evidence(odd[0])
    return parse_evidence(network, text)


def is_missing(value: Any) -> bool:
    """Return whether a value of a row stands for a missing one: None, NaN, NaT or NA."""
    if value is None:
        return True
    try:
        return bool(value != value)  # noqa: PLR0124 - NaN
    except TypeError:  # neither equal nor different: pandas' NA
        return True


def _not_evidence(given: Any) -> ParameterError:
    return ParameterError(
        f"evidence must map variables to their states, got {given!r:.80}",
        hint='query({"smoke": "yes"}), or "smoke=yes"; variables to query: query(variables=["lung"])',
    )


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
            return printable(f"{self.name}={self.value}")
        several = isinstance(self.value, SEVERAL)
        value = " or ".join(map(str, self.value)) if several else str(self.value)
        states = ", ".join(
            f"{name.removeprefix(f'{self.name}.')}: {' or '.join(map(str, as_list(state)))}"
            for name, state in self.parts.items()
        )
        states = states or " or ".join(map(str, self.states))
        joint = " " if evidence_ranges.BEYOND.fullmatch(value) and not several else " = "
        return printable(f"{self.name}{joint}{value}" + (f" ({states})" if states != value else ""))

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

    >>> from bayeslearn.network.bayesian_network import BayesianNetwork
    >>> from bayeslearn.tables import DiscreteVariable, Schema
    >>> delay = Schema([DiscreteVariable.from_cuts("delay", [5, 20])])
    >>> net = BayesianNetwork.from_tables("[delay]", {"delay": [0.5, 0.3, 0.2]}, states=delay)
    >>> print(observe(net, {"delay": 30})["delay"])
    delay = 30 (> 20)
    """
    return {name: observation(network, name, value) for name, value in evidence.items()}


def observation(network: BayesianNetwork, name: str, value: Any) -> Observation:
    """One piece of evidence."""
    if is_date(network, name):
        return Observation(name, value, parts=date_states(network, name, value))
    variable: Any = network[name].variable
    if not hasattr(variable, "states"):  # a number
        return Observation(name, value, (value,))
    return Observation(name, value, tuple(variable.states[code] for code in codes_of(variable, value)))


### codes


def codes_of(variable: DiscreteVariable, value: Any, *, warn: bool = False) -> Codes:
    """The codes of the states that a value stands for: one for a state or a number, perhaps several for a range."""
    if isinstance(value, SEVERAL) and value not in variable.states:
        return codes_of_several(variable, value, warn=warn)
    if not isinstance(value, str) or value in variable.states or value in variable.synonyms:
        return (variable.code_of(value),)
    bounds = evidence_ranges.range_of(variable, value)
    if bounds is None:
        return (variable.code_of(as_number(variable, value)),)
    low, high = bounds
    if low.at == high.at and not (low.is_open or high.is_open):
        return (variable.code_of(low.at),)
    within = evidence_ranges.among_states if variable.cuts is None else evidence_ranges.within_cuts
    found, partly = within(variable, low, high)
    if warn and partly:
        evidence_ranges.warn_partly(variable, partly)
    if not found:
        raise UnknownStateError(
            f"no state of {variable.name!r} lies in the range {value!r}, its states are {listed(variable.states)}",
            hint="a range is LOW..HIGH with LOW below HIGH, or <, <=, >, >= and a number",
            column=variable.name,
            state=value,
        )
    return found


def codes_of_several(variable: DiscreteVariable, values: Any, *, warn: bool = False) -> Codes:
    """The codes of all states that some of the values stand for."""
    found = sorted({code for value in values for code in codes_of(variable, value, warn=warn)})
    if not found:
        raise UnknownStateError(
            f"the evidence on {variable.name!r} is an empty list of states",
            hint=f"its states are {listed(variable.states)}",
            column=variable.name,
        )
    return tuple(found)


def code_of(variable: DiscreteVariable, value: Any) -> int:
    """The code of the only state that a value stands for."""
    codes = codes_of(variable, value)
    return codes[0] if len(codes) == 1 else variable.code_of(value)


def as_number(variable: DiscreteVariable, text: str) -> Any:
    """The number that a text stands for in a variable that takes numbers; else the text."""
    from bayeslearn.tables.type_inference import number_in, takes_numbers  # noqa: PLC0415 - Arrow loads when needed

    x = number_in(variable, text) if takes_numbers(variable) else float("nan")
    return text if x != x else x  # noqa: PLR0124 - NaN


#: What stands between a variable and its value.
OPERATORS = (">=", "<=", "=", ">", "<")


def parse_evidence(network: BayesianNetwork, text: str | Iterable[str]) -> dict[str, Any]:
    """States, numbers, ranges and dates by name of variable, from one text or a list of pieces.

    >>> from bayeslearn.network.formats import read_network
    >>> parse_evidence(read_network("asia"), "smoke=yes, xray = no")
    {'smoke': 'yes', 'xray': 'no'}
    """
    found: dict[str, Any] = {}
    for piece in split_pieces(text) if isinstance(text, str) else text:
        name, value = parse_piece(network, piece)
        if name in found:
            raise ParameterError(
                f"{name!r} is observed twice, by {piece.strip()!r:.60} too", hint=f"a range is {name}=LOW..HIGH"
            )
        found[name] = parse_value(network, name, value)
    return found


def split_pieces(text: str) -> list[str]:
    """The pieces between commas; one without a sign belongs to the piece before it.

    >>> split_pieces("price=1,234, delay>5")
    ['price=1,234', ' delay>5']
    """
    found: list[str] = []
    for piece in text.split(","):
        if found and not (has_sign(piece) and has_sign(found[-1])):
            found[-1] = f"{found[-1]},{piece}"
        else:
            found.append(piece)
    return found


def has_sign(piece: str) -> bool:
    """Whether a variable and a value may stand in a piece."""
    return any(sign in piece for sign in OPERATORS)


def parse_piece(network: BayesianNetwork, piece: str) -> tuple[str, str]:
    """The variable and the text of its value, with the comparison if there is one."""
    names = [*network.variables, *date_variables(network)]
    known = [n for n in names if piece.startswith(n) and piece[len(n) :].lstrip().startswith(OPERATORS)]
    if known:
        name = max(known, key=len)
        rest = piece[len(name) :].lstrip()
    elif piece != piece.strip():
        return parse_piece(network, piece.strip())
    else:
        at = min((piece.index(sign) for sign in OPERATORS if sign in piece), default=0)
        if at == 0:
            raise ParameterError(
                f"evidence is given as VAR=STATE, got {piece!r:.80}",
                hint="numbers and ranges are given as VAR=30, VAR=10..20 or 'VAR>17.5'",
            )
        name, rest = piece[:at].strip(), piece[at:]
    sign = next(sign for sign in OPERATORS if rest.startswith(sign))
    text = rest[len(sign) :]
    return name, text if sign == "=" else f"{sign} {text.strip()}"


def parse_value(network: BayesianNetwork, name: str, text: str) -> Any:
    """The value that a text stands for: a state or a plain number; ranges, dates and other formats stay text."""
    if is_date(network, name):
        date_states(network, name, text)  # what is no date is reported here
        return text.strip()
    variable: Any = network[name].variable
    if not hasattr(variable, "states"):  # a number in the format of its column
        return text.strip()
    named = {str(state): state for state in variable.states}
    for written in (text, text.strip()):
        if written in named:
            return named[written]
    return parse_other(variable, text.strip())


def parse_other(variable: DiscreteVariable, text: str) -> Any:
    """A text that is not the name of a state as it stands."""
    codes = codes_of(variable, text)
    if len(codes) > 1 or (text not in variable.synonyms and evidence_ranges.range_of(variable, text) is not None):
        return text
    number = as_number(variable, text) if variable.cuts is not None and text not in variable.synonyms else text
    return variable.states[codes[0]] if number is text else plain_number(text, number)


def plain_number(text: str, number: Any) -> Any:
    """A number if it is written plainly, whole if it can be; else the text, which has a format."""
    from bayeslearn.tables.columns import number_of  # noqa: PLC0415 - Arrow loads when it is needed

    return text if number_of(text) != number else int(number) if number.is_integer() else number


#: Units of NumPy that hold a whole day or a time.
DAYS_AND_TIMES = ("D", "h", "m", "s", "ms", "us", "ns")


def date_variables(network: BayesianNetwork) -> dict[str, list[DiscreteVariable]]:
    """The columns of dates that are no variables themselves, and the variables that are parts of them."""
    found: dict[str, list[DiscreteVariable]] = {}
    for cpt in network:
        origin = cpt.variable.origin
        if origin is not None and origin not in network:
            found.setdefault(origin, []).append(cpt.variable)
    return found


def is_date(network: BayesianNetwork, name: Any) -> bool:
    """Whether this is a column of dates of which some variables are parts."""
    return name not in network and any(cpt.variable.origin == name for cpt in network)


def with_date_parts(network: BayesianNetwork, evidence: Mapping[str, Any]) -> dict[str, Any]:
    """Evidence in which the parts stand in place of each date."""
    found: dict[str, Any] = {}
    for name, value in evidence.items():
        pieces = date_states(network, name, value) if is_date(network, name) else {name: value}
        twice = [piece for piece in pieces if piece in found]
        if twice:
            raise ParameterError(
                f"{twice[0]!r} is observed twice, directly and as a part of a date", hint="leave one of them out"
            )
        found |= pieces
    return found


def date_states(network: BayesianNetwork, name: str, value: Any) -> dict[str, Any]:
    """The state of each variable that is a part of a date, if the date determines it; of a range perhaps several."""
    from bayeslearn.tables.columns import Column  # noqa: PLC0415 - loads when it is needed
    from bayeslearn.tables.markers import Missing  # noqa: PLC0415 - as above
    from bayeslearn.tables.type_inference import known_part  # noqa: PLC0415 - as above

    variables = date_variables(network)[name]
    ranged = evidence_ranges.range_states(variables, value) if isinstance(value, str) else None
    if ranged is not None:
        return ranged
    column = Column(name, date_array(variables, value))
    found = {}
    for variable in variables:
        try:
            part = known_part(column, variable, Missing.plain(())).data[0].as_py()
        except MixedTypesError:
            raise no_date(variables, value) from None
        if part is not None:
            found[variable.name] = variable.states[variable.code_of(part)]
    if not found:
        raise UnknownStateError(
            f"{str(value)!r:.60} has no information about {listed(v.name for v in variables)}",
            hint=hint_of(variables),
            column=name,
            state=value,
        )
    return found


def date_array(variables: list[DiscreteVariable], value: Any) -> Any:
    """One date or time, or the text of one, as an Arrow array."""
    import pyarrow as pa  # noqa: PLC0415 - it loads when it is needed

    if isinstance(value, np.datetime64) and np.datetime_data(value.dtype)[0] in DAYS_AND_TIMES and not np.isnat(value):
        unit = np.datetime_data(value.dtype)[0]
        return pa.array(np.array([value]).astype("datetime64[s]" if unit in {"h", "m"} else value.dtype))
    if isinstance(value, str):
        return pa.array([value.strip()])
    if isinstance(value, dt.date | dt.time) and value == value:  # noqa: PLR0124 - NaT
        return pa.array([value])
    raise no_date(variables, value)


def no_date(variables: list[DiscreteVariable], value: Any) -> UnknownStateError:
    """The error for a value that is no date."""
    name = variables[0].origin
    return UnknownStateError(
        f"{name!r} needs a date or a time, got {value!r:.60}", hint=hint_of(variables), column=name, state=value
    )


def hint_of(variables: list[DiscreteVariable]) -> str:
    """How a date is written, and how its parts are."""
    first = variables[0]
    return (
        f"write it like 2013-09-05 or 2013-09-05T19:00, a range like 2013-01..2013-03, or give its parts: "
        f"{first.name}={first.states[0]}"
    )
