"""The package as it is installed: light to import, one version, typed, and pointing one way."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
from pathlib import Path

import pytest

import bayeslearn
from bayeslearn import read_network, write_network
from bayeslearn.cli import app, bound, case_based, demo, fit_kinds

#: Libraries, and parts of the standard library, that take milliseconds to load.
HEAVY = {
    "duckdb",
    "llvmlite",
    "matplotlib",
    "narwhals",
    "numba",
    "numpy",
    "pandas",
    "polars",
    "pyarrow",
    "pydantic",
    "rich",
    "rustworkx",
    "scipy",
    "sklearn",
    "typer",
}
SLOW = {"asyncio", "difflib", "gzip", "hashlib", "importlib.metadata", "json", "secrets", "shlex", "xml", "zlib"}

#: What the command line is made of: typer checks arguments with pydantic and prints help with rich.
COMMAND_LINE = {"pydantic", "rich", "typer"}

#: Runs the command line with some words, as a shell would, and expects it to end well.
CALL = """
import sys
from bayeslearn.cli import main
sys.argv = ["bayeslearn", *{words!r}]
try:
    main()
except SystemExit as end:
    assert not end.code
"""

VERBS = [
    *([name] for name in app.VERBS),
    *([group.app.info.name, name] for group in (bound, case_based, demo, fit_kinds) for name in group.VERBS),
]


def verb_modules():
    """The modules that verbs live in."""
    places = [p for v in app.VERBS.values() for p in ([v.place] if isinstance(v.place, str) else v.place.values())]
    return {f"bayeslearn.cli.{place.partition('.')[0]}" for place in places}


def modules_after(code, *, of=HEAVY):
    """Those of some modules that a fresh interpreter holds after running code."""
    code = f"import sys\ntry:\n    exec({code!r})\nfinally:\n    sys.stderr.write(' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stderr.split())
    return loaded if of is None else of & loaded


def test_import_loads_nothing_heavy():
    assert modules_after("import bayeslearn", of=HEAVY | SLOW) == set()


def test_help_loads_no_verb():
    loaded = modules_after(CALL.format(words=["--help"]), of=None)
    assert HEAVY & loaded <= COMMAND_LINE
    assert not verb_modules() & loaded


def test_the_help_of_a_verb_loads_no_other():
    loaded = modules_after(CALL.format(words=["query", "--help"]), of=None)
    assert verb_modules() & loaded == {"bayeslearn.cli.network_query"}


def test_the_help_of_every_verb_loads_the_command_line_only():
    calls = [["--version"], *([*words, "--help"] for words in VERBS)]
    assert modules_after("".join(CALL.format(words=words) for words in calls)) <= COMMAND_LINE


@pytest.mark.parametrize("words", [["query", "asia", "smoke=yes"], ["query", "asia", "smoke=yes", "--json"]])
def test_a_query_on_the_command_line_loads_no_compiler(words):
    assert modules_after(CALL.format(words=words)) <= COMMAND_LINE | {"numpy"}


def test_json_is_printed_without_rich():
    assert "rich" not in modules_after(CALL.format(words=["query", "asia", "--json"]))


def test_a_first_query_loads_numpy_only(tmp_path):
    write_network(read_network("alarm"), tmp_path / "alarm.bif")
    code = f"from bayeslearn import read_network; read_network({str(tmp_path / 'alarm.bif')!r}).query({{'HR': 'LOW'}})"
    loaded = modules_after(code, of=None)
    assert (HEAVY | SLOW) & loaded == {"numpy"}
    assert not [name for name in loaded if name.startswith(("bayeslearn.distributions", "bayeslearn.sources"))]
    formats = {"bif", "network_builder", "read_write", "tokenizer"}
    assert {name for name in loaded if name.startswith("bayeslearn.network.formats.")} == {
        f"bayeslearn.network.formats.{name}" for name in formats
    }


@pytest.mark.parametrize(
    ("statement", "may_load"),
    [
        ("from bayeslearn.distributions import Dirichlet", {"numpy", "scipy"}),
        ("from bayeslearn.tables import Table", {"numpy"}),
        ("from bayeslearn import FiniteSpace, VersionSpace", {"numpy", "scipy"}),
        ("from bayeslearn import em", {"numpy"}),
    ],
)
def test_rooms_load_only_what_they_need(statement, may_load):
    assert modules_after(statement) <= may_load


def test_every_public_name_is_there():
    for name in bayeslearn.__all__:
        assert getattr(bayeslearn, name) is not None


def test_unknown_name():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        bayeslearn.nonsense  # noqa: B018


def test_one_version():
    assert importlib.metadata.version("bayeslearn") == bayeslearn.__version__


def test_typed():
    assert (Path(bayeslearn.__file__).parent / "py.typed").is_file()
