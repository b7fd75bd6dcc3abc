"""The package as it is installed: light to import, one version, typed, and pointing one way."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
from pathlib import Path

import pytest

import bayeslearn

HEAVY = {
    "numba",
    "sklearn",
    "scipy",
    "pyarrow",
    "narwhals",
    "pandas",
    "polars",
    "duckdb",
    "matplotlib",
    "numpy",
    "rich",
}


def loaded_by(*command):
    """The heavy modules that a fresh interpreter holds after running a command."""
    code = f"import sys\ntry:\n    exec({command[0]!r})\nfinally:\n    sys.stderr.write(' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return HEAVY & set(done.stderr.split())


def test_import_loads_nothing_heavy():
    assert loaded_by("import bayeslearn") == set()


@pytest.mark.parametrize("call", [["--help"], ["bayes", "--help"], ["concept", "--help"], ["--version"]])
def test_help_imports_neither_numba_nor_scikit_learn(call):
    code = f"import sys; sys.argv = ['bayeslearn', *{call!r}]; from bayeslearn.cli import main\n"
    code += "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code"
    assert loaded_by(code) <= {"rich"}


@pytest.mark.parametrize(
    ("statement", "may_load"),
    [
        ("from bayeslearn.families import Dirichlet", {"numpy", "scipy"}),
        ("from bayeslearn.tables import Table", {"numpy"}),
        ("from bayeslearn import FiniteSpace, VersionSpace", {"numpy", "scipy"}),
        ("from bayeslearn import em", {"numpy"}),
    ],
)
def test_rooms_load_only_what_they_need(statement, may_load):
    assert loaded_by(statement) <= may_load


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
