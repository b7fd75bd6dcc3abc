"""Small tables, networks and case bases that ship with the package, by name.

>>> from bayeslearn import datasets
>>> datasets.load_table("enjoy-sport").schema["sky"].states
('sunny', 'cloudy', 'rainy')
>>> datasets.list_networks()
['alarm', 'asia', 'forest-fire', 'play-tennis']
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayeslearn import lazy_imports
from bayeslearn.errors import ParameterError, nearest
from bayeslearn.other_names import hint

if TYPE_CHECKING:
    from bayeslearn.tables import Table

#: It loads when a network is opened.
formats: Any = lazy_imports.Deferred("bayeslearn.network.formats")

__all__ = [
    "case_base_path",
    "list_case_bases",
    "list_hypotheses",
    "list_networks",
    "list_tables",
    "load_network",
    "load_table",
    "read_states",
    "table_path",
]


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    message = f"module {__name__!r} has no attribute {name!r}{hint(name, __name__)}"
    raise AttributeError(message, name=name, obj=sys.modules[__name__])


HERE = Path(__file__).parent

#: Tables, files of hypotheses, and networks; a name alone means the first that is there.
ENDINGS = (".csv", ".toml", ".json")

#: The maximum number of states of a column of a table that ships.
MAX_STATES = 1000

#: What lies beside a table to declare its states, and what holds cases.
STATES, CASES = ".states.json", ".cases.json"


def list_tables() -> list[str]:
    """Return the names of the tables, which :func:`load_table` opens."""
    return names_of(".csv")


def list_networks() -> list[str]:
    """Return the names of the networks, which :func:`load_network` opens."""
    return names_of(".json")


def list_hypotheses() -> list[str]:
    """Return the names of the files of hypotheses, which ``bayeslearn bayes`` opens."""
    return names_of(".toml")


def names_of(*endings: str) -> list[str]:
    """Return the names of files with these endings, without the endings."""
    return sorted({path.stem for path in _files() if path.suffix in endings})


def table_path(name: str) -> Path:
    """Where a shipped file lies, by its name with or without the ending."""
    for ending in ENDINGS:
        for file in _files():
            if file.suffix == ending and name in {file.stem, file.name}:
                return file
    raise ParameterError(
        f"no data named {name!r} ships with bayeslearn", hint=nearest([name], names_of(*ENDINGS), "the names")
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
    """Return a table that ships, with all states of its columns; columns without a value are dropped."""
    from bayeslearn.tables import as_table  # noqa: PLC0415 - list_tables() and table_path() stay light

    require_kind(name, list_tables(), "table")
    gone: dict[str, str] = {}
    return as_table(
        table_path(name), states=read_states(name), allow_constant=True, max_states=MAX_STATES, dropped_columns=gone
    )


def load_network(name: str) -> Any:
    """Return a :class:`~bayeslearn.network.BayesianNetwork` that ships.

    >>> load_network("asia").variables[:2]
    ('asia', 'tub')
    """
    require_kind(name, list_networks(), "network")
    return formats.read_network(name)


def require_kind(name: str, known: list[str], kind: str) -> None:
    """Refuse a name of no file of this kind; the hint has the function that opens it, or near names."""
    if name in known or Path(name).stem in known:
        return
    calls = {
        "load_table": list_tables(), "load_network": list_networks(), "case_base_path": list_case_bases(),
        "table_path": list_hypotheses(),
    }  # fmt: skip
    right = next((call for call, names in calls.items() if name in names), None)
    raise ParameterError(
        f"no {kind} named {name!r} ships with bayeslearn",
        hint=f"datasets.{right}({name!r})" if right else nearest([name], known, f"the {kind}s"),
    )
