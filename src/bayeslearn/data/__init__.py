"""Small tables that ship with the package, by name.

>>> from bayeslearn import data
>>> data.load("enjoy-sport").schema["sky"].states
('sunny', 'cloudy', 'rainy')
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from bayeslearn.errors import ParameterError

if TYPE_CHECKING:
    from bayeslearn.tables import Table

HERE = Path(__file__).parent


def names() -> list[str]:
    """What ships: file names without their endings."""
    return sorted(path.stem for path in HERE.iterdir() if path.suffix in {".csv", ".toml"})


def path(name: str) -> Path:
    """Where a shipped file lies."""
    for ending in (".csv", ".toml"):
        if (HERE / (name + ending)).is_file() and name in names():
            return HERE / (name + ending)
    raise ParameterError(f"no data named {name!r} ships with bayeslearn", hint=f"there is {', '.join(names())}")


def declared_states(name: str) -> dict[str, list[str]] | None:
    """The states of a shipped table's columns, which may be more than its rows show."""
    beside = HERE / f"{name}.states.json"
    return json.loads(beside.read_text()) if beside.is_file() else None


def load(name: str) -> Table:
    """A shipped table, with every state its columns may take."""
    from bayeslearn.tables import as_table  # noqa: PLC0415 - names() and path() stay light

    return as_table(path(name), states=declared_states(name), allow_constant=True)
