"""The grammar of evidence as text, in Python and on the command line.

    smoke=yes       price=$250       a state, or a number in the format of its column
    delay=10..20    delay>17.5       a range
    date=2013-09-05                  a date of which some variables are parts
    date=2013-01..2013-03            a range of dates

In one text the pieces stand between commas: "smoke=yes, delay>17.5". A comma belongs to the value before it if no sign
follows it up to the next comma: "price=1,234, smoke=yes". Names of variables may hold signs like = themselves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayeslearn.errors import ParameterError
from bayeslearn.network.inference.dates import date_states, date_variables, is_date
from bayeslearn.network.inference.evidence import as_number, codes_of
from bayeslearn.network.inference.ranges import range_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bayeslearn.network.network import BayesianNetwork
    from bayeslearn.tables import Discrete

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
    names = [*network.names, *date_variables(network)]
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
    variable = network[name].variable
    named = {str(state): state for state in variable.states}
    for written in (text, text.strip()):
        if written in named:
            return named[written]
    return parse_other(variable, text.strip())


def parse_other(variable: Discrete, text: str) -> Any:
    """A text that is not the name of a state as it stands."""
    codes = codes_of(variable, text)
    if len(codes) > 1 or (text not in variable.synonyms and range_of(variable, text) is not None):
        return text
    number = as_number(variable, text) if variable.cuts is not None and text not in variable.synonyms else text
    return variable.states[codes[0]] if number is text else plain_number(text, number)


def plain_number(text: str, number: Any) -> Any:
    """A number if it is written plainly, whole if it can be; else the text, which has a format."""
    from bayeslearn.tables.columns import number_of  # noqa: PLC0415 - Arrow loads when it is needed

    return text if number_of(text) != number else int(number) if number.is_integer() else number
