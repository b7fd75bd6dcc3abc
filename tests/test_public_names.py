"""Every package shows its public names, and nothing else, before and after they are loaded."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import pkgutil
import rlcompleter
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import bayeslearn
from bayeslearn import lazy_imports

PACKAGES = [
    "bayeslearn",
    *(found.name for found in pkgutil.walk_packages(bayeslearn.__path__, "bayeslearn.") if found.ispkg),
]
MODULES = [f"bayeslearn.{name}" for name in ("em", "errors", "validation")]

#: Packages whose names are public elsewhere, or nowhere.
INTERNAL = {f"bayeslearn.network.structure.{name}" for name in (
    "constraint_based", "missing_data", "out_of_core", "score_based", "scoring", "uncertainty",
)} | {"bayeslearn.hypotheses.concept_learning", "bayeslearn.network.hybrid"}  # fmt: skip


def block_of(package):
    """What type checkers see instead of a call of attach: (module, name, name it is imported as)."""
    tree = ast.parse(Path(importlib.import_module(package).__file__).read_text())
    blocks = [node for node in tree.body if isinstance(node, ast.If) and "attach(" in ast.unparse(node.orelse)]
    found = [node for block in blocks for node in block.body if isinstance(node, ast.ImportFrom)]
    return [(node.module, alias.name, alias.asname) for node in found for alias in node.names]


@pytest.mark.parametrize("name", [*PACKAGES, *MODULES])
def test_dir_shows_the_public_names_before_and_after_use(name):
    module = importlib.import_module(name)
    before = dir(module)
    assert before == sorted(set(module.__all__))
    assert bool(before) == (name not in INTERNAL)
    for public in before:
        assert getattr(module, public) is not None
    assert dir(module) == before


@pytest.mark.parametrize("name", [*PACKAGES, *MODULES])
def test_tab_completes_to_the_public_names(name):
    found = rlcompleter.Completer({"bayeslearn": bayeslearn}).attr_matches(f"{name}.")
    completed = {match.removeprefix(f"{name}.").partition("(")[0] for match in found}
    expected = {public for public in importlib.import_module(name).__all__ if not public.startswith("_")}
    assert {public for public in completed if public and not public.startswith("_")} == expected


def test_tab_reaches_every_public_package():
    """A package is internal, or its parent shows it."""
    shown = {
        f"{name}.{public}"
        for name in PACKAGES
        for public in importlib.import_module(name).__all__
        if isinstance(getattr(importlib.import_module(name), public), ModuleType)
    }
    assert shown == {*PACKAGES, *MODULES} - INTERNAL - {"bayeslearn", "bayeslearn.cli"}


@pytest.mark.parametrize("name", [*PACKAGES, *MODULES])
def test_star_import(name):
    got = {}
    exec(f"from {name} import *", got)
    assert set(importlib.import_module(name).__all__) <= set(got)


@pytest.mark.parametrize("name", PACKAGES)
def test_type_checkers_see_what_python_loads(name):
    package = importlib.import_module(name)
    for module, public, imported_as in block_of(name):
        if not module.startswith("bayeslearn"):
            continue
        assert lazy_imports.exports(name).get(public) == module, f"write `from {module} import {public} as {public}`"
        assert imported_as == public
        home = importlib.import_module(f"{name}.{public}" if module == name else module)
        assert getattr(package, public) is (home if module == name else getattr(home, public))


@pytest.mark.parametrize("name", PACKAGES)
def test_no_module_hides_a_public_name(name):
    """Importing a submodule sets an attribute of its package: a function of the same name would be lost."""
    package = importlib.import_module(name)
    for public in package.__all__:
        if importlib.util.find_spec(f"{name}.{public}"):
            assert isinstance(getattr(package, public), ModuleType)


def test_dir_loads_nothing_heavy():
    code = f"import importlib, sys\nfor name in {PACKAGES!r}: dir(importlib.import_module(name))\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {"numba", "sklearn", "scipy", "pyarrow", "narwhals", "pandas", "polars", "duckdb", "matplotlib", "rich"}
    assert heavy & set(done.stdout.split()) == set()


def test_help_shows_public_names_and_signatures():
    code = "import pydoc, bayeslearn; print(pydoc.render_doc(bayeslearn.hypotheses, renderer=pydoc.plaintext))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "find_s(" in done.stdout
    assert "class FiniteSpace" in done.stdout
    assert "lazy_imports" not in done.stdout
