"""What the verbs about networks share: loading one, keeping what was learned, and reading what is said of variables."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from bayeslearn.errors import ParameterError

if TYPE_CHECKING:
    from pathlib import Path

    from bayeslearn.network import BayesianNetwork


def load(net: str) -> BayesianNetwork:
    """A network from a file of any format, or by the name it ships under."""
    from bayeslearn.network.formats import read_network

    return read_network(net)


def keep(network: BayesianNetwork, to: Path) -> None:
    """Write a learned network, and say so; a format that keeps the probabilities only is told of."""
    from bayeslearn.network.formats.files import label_of, write_network

    write_network(network, to)
    lost = "" if label_of(to, None) == "json" else "; only .json keeps counts, prior and cuts"
    sys.stderr.write(f"wrote {to}: {len(network)} variables, {len(network.dag.arcs)} arcs{lost}\n")


def cases_behind(network: BayesianNetwork) -> float:
    """How many real cases the tables rest on: each has seen them all, but for those that were given."""
    return max(float(cpt.seen.n.sum()) for cpt in network)


def hidden_variables(items: list[str] | None) -> dict[str, int | list[str]]:
    """VAR:N or VAR:STATE,STATE,...: variables that no row shows, with their states or how many they have."""
    found: dict[str, int | list[str]] = {}
    for item in items or []:
        name, colon, states = item.rpartition(":")
        if not (name and colon and states):
            raise ParameterError(f"--hidden takes VAR:N or VAR:STATE,STATE,..., got {item!r}")
        found[name] = int(states) if states.isdecimal() else states.split(",")
    return found


#: What stands between a variable and its value on the command line.
OPERATORS = (">=", "<=", "=", ">", "<")


def assignments(network: BayesianNetwork, items: list[str]) -> dict[str, Any]:
    """VAR=STATE, VAR=NUMBER, VAR=LOW..HIGH or VAR>NUMBER: a state, a number or a range for each variable."""
    from bayeslearn.network.inference.evidence import codes_of

    found: dict[str, Any] = {}
    for item in items:
        name, text = assignment(network, item)
        variable = network[name].variable
        codes = codes_of(variable, text)
        number = plain_number(text) if variable.cuts is not None else None
        if len(codes) > 1 or (number is None and is_range(text)):
            found[name] = text
        else:
            found[name] = variable.states[codes[0]] if number is None else number
    return found


def assignment(network: BayesianNetwork, item: str) -> tuple[str, str]:
    """The variable and the value of one piece of evidence; names may hold signs like = themselves."""
    known = [name for name in network.names if item.startswith(name) and item[len(name) :].startswith(OPERATORS)]
    if known:
        name = max(known, key=len)
        sign = next(sign for sign in OPERATORS if item[len(name) :].startswith(sign))
    else:
        places = [(item.index(sign), -len(sign), sign) for sign in OPERATORS if sign in item]
        if not places or min(places)[0] == 0:
            raise ParameterError(
                f"evidence is given as VAR=STATE, got {item!r}",
                hint="numbers and ranges are given as VAR=30, VAR=10..20 or 'VAR>17.5'",
            )
        at, _, sign = min(places)
        name = item[:at]
    text = item[len(name) + len(sign) :]
    return name, text if sign == "=" else f"{sign} {text.strip()}"


def is_range(text: str) -> bool:
    """Whether a text is a range of numbers."""
    from bayeslearn.network.inference.evidence import range_of

    return range_of(text) is not None


def plain_number(text: str) -> int | float | None:
    """The number that a text stands for, if it does."""
    from bayeslearn.tables.columns import number_of

    x = number_of(text)
    return None if x != x else int(x) if x.is_integer() else x  # noqa: PLR0124 - NaN


def numbers_by_state(network: BayesianNetwork, option: str, item: str) -> tuple[str, Any]:
    """VAR=P,P,... in the order of the states, or VAR=STATE:P,STATE:P,... by state or number."""
    name, text = assignment(network, item) if "=" in item else ("", "")
    parts = text.split(",")
    try:
        if name and all(":" in part for part in parts):
            return name, {state.strip(): float(p) for state, _, p in (part.rpartition(":") for part in parts)}
        if name:
            return name, [float(p) for p in parts]
    except ValueError:
        pass
    raise ParameterError(
        f"{option} takes VAR=P,P,... with a number for each state, got {item!r}",
        hint=f"numbers by state are given as {option} VAR=STATE:P,STATE:P",
    )
