"""Small tables, networks and case bases that ship with the package, by name.

>>> from bayeslearn import datasets
>>> datasets.load_table("enjoy-sport").schema["sky"].states
('sunny', 'cloudy', 'rainy')
>>> datasets.list_networks()
['alarm', 'asia', 'forest-fire', 'play-tennis']
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from bayeslearn.errors import ParameterError, nearest

if TYPE_CHECKING:
    from bayeslearn.tables import Table

__all__ = [
    "case_base_path",
    "list_case_bases",
    "list_networks",
    "list_tables",
    "load_table",
    "read_states",
    "table_path",
]


def __dir__() -> list[str]:
    return __all__


HERE = Path(__file__).parent

#: Tables, descriptions of tests, and networks; a name alone means the first that is there.
ENDINGS = (".csv", ".toml", ".json")

#: What lies beside a table to declare its states, and what holds cases.
STATES, CASES = ".states.json", ".cases.json"


def list_tables() -> list[str]:
    """What ships: file names without their endings."""
    return sorted({path.stem for path in _files()})


def list_networks() -> list[str]:
    """The networks among them, which ``bayeslearn.network.formats.read_network`` takes by name."""
    return sorted(path.stem for path in _files() if path.suffix == ".json")


def table_path(name: str) -> Path:
    """Where a shipped file lies, by its name with or without the ending."""
    for ending in ENDINGS:
        for file in _files():
            if file.suffix == ending and name in {file.stem, file.name}:
                return file
    raise ParameterError(
        f"no data named {name!r} ships with bayeslearn", hint=nearest([name], list_tables(), "the names")
    )


def _files() -> list[Path]:
    return [file for file in HERE.iterdir() if file.suffix in ENDINGS and not file.name.endswith((STATES, CASES))]


def list_case_bases() -> list[str]:
    """The case bases that ship, which ``bayeslearn.case_based.CaseBase.load`` takes by name."""
    return sorted(file.name.removesuffix(CASES) for file in HERE.glob(f"*{CASES}"))


def case_base_path(name: str) -> Path:
    """Where a case base that ships lies, by its name."""
    if name not in list_case_bases():
        raise ParameterError(f"no case base named {name!r} ships", hint=nearest([name], list_case_bases(), "the names"))
    return HERE / f"{name}{CASES}"


def read_states(name: str) -> dict[str, list[str]] | None:
    """The states of a shipped table's columns, which may be more than its rows show."""
    beside = HERE / f"{name}{STATES}"
    return json.loads(beside.read_text()) if beside.is_file() else None


def load_table(name: str) -> Table:
    """A shipped table, with every state its columns may take."""
    from bayeslearn.tables import as_table  # noqa: PLC0415 - list_tables() and table_path() stay light

    return as_table(table_path(name), states=read_states(name), allow_constant=True)
