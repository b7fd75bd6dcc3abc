"""Dates as evidence: a date stands for the states of the variables that are its parts.

    time_hour = 2013-09-05T19:00    time_hour.month: Sep, time_hour.weekday: Thu, time_hour.hour: 19

Dates are read as in the column that the parts come from, or as year-month-day. A date without a time says nothing about
the hour, and a time without a date nothing about the others. Ranges of dates, months and years are read by
:mod:`.date_ranges`.
"""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.errors import MixedTypesError, ParameterError, UnknownStateError, listed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bayeslearn.network.network import BayesianNetwork
    from bayeslearn.tables import Discrete

#: Units of NumPy that hold a whole day or a time.
DAYS_AND_TIMES = ("D", "h", "m", "s", "ms", "us", "ns")


def date_variables(network: BayesianNetwork) -> dict[str, list[Discrete]]:
    """The columns of dates that are no variables themselves, and the variables that are parts of them."""
    found: dict[str, list[Discrete]] = {}
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
                f"{twice[0]!r} is observed twice, by itself and as a part of a date", hint="take one of them back"
            )
        found |= pieces
    return found


def date_states(network: BayesianNetwork, name: str, value: Any) -> dict[str, Any]:
    """The state of each variable that is a part of a date, as far as the date tells it; of a range perhaps several."""
    from bayeslearn.network.inference.date_ranges import range_states  # noqa: PLC0415 - loads when it is needed
    from bayeslearn.tables.columns import Column  # noqa: PLC0415 - as above
    from bayeslearn.tables.interpretation import known_part  # noqa: PLC0415 - as above
    from bayeslearn.tables.markers import Missing  # noqa: PLC0415 - as above

    variables = date_variables(network)[name]
    ranged = range_states(variables, value) if isinstance(value, str) else None
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
            f"{str(value)!r:.60} says nothing about {listed(v.name for v in variables)}",
            hint=hint_of(variables),
            column=name,
            state=value,
        )
    return found


def date_array(variables: list[Discrete], value: Any) -> Any:
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


def no_date(variables: list[Discrete], value: Any) -> UnknownStateError:
    """The error for a value that is no date."""
    name = variables[0].origin
    return UnknownStateError(
        f"{name!r} needs a date or a time, got {value!r:.60}", hint=hint_of(variables), column=name, state=value
    )


def hint_of(variables: list[Discrete]) -> str:
    """How a date is written, and how its parts are."""
    first = variables[0]
    return (
        f"write it like 2013-09-05 or 2013-09-05T19:00, a range like 2013-01..2013-03, or give its parts: "
        f"{first.name}={first.states[0]}"
    )
