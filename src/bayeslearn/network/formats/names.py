r"""Names of variables and states in files that cannot carry every text.

Quoted words carry all but control characters: ``"`` and ``\`` are written ``\"`` and ``\\``. Where a format wants
identifiers, other names are replaced by some, and a legend beside them keeps the originals, as JSON in ASCII:

    {"name": "wind speed", "states": ["< 5", "5+"]}
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bayeslearn.errors import FormatError, listed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bayeslearn.network import BayesianNetwork
    from bayeslearn.tables import Discrete

#: The key under which a legend stands in a file.
LEGEND = "bayeslearn"

IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
CONTROL = r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]"
ESCAPE = re.compile(r'\\([\\"])')


#: A word that needs no quotation marks.
PLAIN = re.compile(r'(?:[^\s{}()\[\],;|"/\\]|/(?![/*]))+')

#: Words of the grammar of BIF, which aGrUM takes for themselves wherever they stand.
RESERVED = {"network", "variable", "probability", "property", "type", "discrete", "default", "table"}


def has_control(name: str) -> bool:
    """Whether a name holds a character that files cannot carry; the pattern takes a while to compile."""
    return re.search(CONTROL, name) is not None


### states as text


def state_names(variable: Discrete) -> list[str]:
    """The states as text; numbers and truth values are written as Python shows them."""
    names = [str(state) for state in variable.states]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise FormatError(
            f"two states of {variable.name!r} are both written {twice!r}, among {listed(variable.states)}",
            hint="name the states differently, or write JSON, which keeps 1 and '1' apart",
        )
    return names


### quoted words


def quote(name: str) -> str:
    """The name between quotation marks."""
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def unquote(word: str) -> str:
    """The name that stands between quotation marks."""
    return ESCAPE.sub(r"\1", word[1:-1])


def word(name: str) -> str:
    """A name, quoted if it needs it."""
    return name if PLAIN.fullmatch(name) and name not in RESERVED else quote(name)


def require_printable(names: Sequence[str], what: str) -> None:
    """No name with a line break or another control character, which this format cannot carry."""
    bad = [name for name in names if has_control(name)]
    if bad:
        raise FormatError(
            f"{what} cannot carry the name {bad[0]!r}: it holds a line break or another control character",
            hint="rename it, or write JSON, which carries every name",
        )


### identifiers with a legend


def is_identifier(name: str) -> bool:
    """Letters, digits and underscores, with a letter first."""
    return bool(IDENTIFIER.fullmatch(name))


def replaced(names: Sequence[str], carried: Callable[[str], bool]) -> list[str]:
    """The names, with identifiers in place of those that cannot be carried; all differ.

    >>> replaced(["wind", "wind speed", "wind-speed", "5+"], is_identifier)
    ['wind', 'wind_speed', 'wind_speed_2', 'x5_']
    """
    taken = {name for name in names if carried(name)}
    result, copies = [], dict[str, int]()
    for name in names:
        if carried(name):
            result.append(name)
            continue
        plain = re.sub(r"[^A-Za-z0-9_]", "_", name)
        plain = plain if is_identifier(plain) else f"x{plain}"
        unique = plain
        while unique in taken:
            copies[plain] = copies.get(plain, 1) + 1
            unique = f"{plain}_{copies[plain]}"
        taken.add(unique)
        result.append(unique)
    return result


def aliases(network: BayesianNetwork, carried: Callable[[str], bool]) -> dict[str, str]:
    """What each variable is called in the file."""
    return dict(zip(network.names, replaced(network.names, carried), strict=True))


def legend(variable: Discrete, alias: str, carried: Callable[[str], bool]) -> tuple[list[str], str | None]:
    """The states as the file calls them, and the legend where any name was replaced."""
    states = state_names(variable)
    written = replaced(states, carried)
    if alias == variable.name and written == states:
        return written, None
    import json  # noqa: PLC0415 - few files have a legend

    return written, json.dumps({"name": variable.name, "states": states})


def carried_by_xml(name: str) -> bool:
    """Whether a name comes through XML as it is."""
    return bool(name) and name == name.strip() and not has_control(name)


def read_legend(text: str) -> tuple[str, list[str]] | None:
    """The original name and states, or None if this is no legend of ours."""
    import json  # noqa: PLC0415 - few files have a legend

    try:
        entry = json.loads(text)
        name, states = entry["name"], entry["states"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    if not isinstance(states, list) or not all(isinstance(s, str) for s in (name, *states)):
        return None
    return name, states
