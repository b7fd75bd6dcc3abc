"""The table of kernels names every kernel, only arguments that they have, and only checks that exist."""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path
from typing import Any

import pytest

import bayeslearn.kernels

FOLDER = Path(bayeslearn.kernels.__file__).parent


def kernels() -> dict[str, list[str]]:
    """Every function that is decorated as a kernel, as "module.name", and its arguments."""
    found = {}
    for path in sorted(FOLDER.glob("*.py")):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.FunctionDef) and any(ast.unparse(d) == "kernel" for d in node.decorator_list):
                found[f"{path.stem}.{node.name}"] = [argument.arg for argument in node.args.args]
    return found


def rows() -> list[tuple[str, list[str], str, list[str]]]:
    """The lines of the table: kernel, arguments, law, checks."""
    lines = [line for line in (FOLDER / "README.md").read_text().splitlines() if line.startswith("| `")]
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    assert all(len(row) == 4 for row in cells)
    return [(words(a)[0], words(b), law, words(d)) for a, b, law, d in cells]


def words(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def resolved(path: str) -> Any:
    """What a dotted path below the package names."""
    parts = path.split(".")
    for n in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(["bayeslearn", *parts[:n]]))
        except ModuleNotFoundError:
            continue
        for name in parts[n:]:
            found = getattr(found, name)
        return found
    raise AttributeError(path)


def test_every_kernel_is_in_the_table_and_nothing_else():
    assert {row[0] for row in rows()} == set(kernels())


@pytest.mark.parametrize("row", rows(), ids=lambda row: f"{row[0]}({row[1][0]})")
def test_arguments_and_checks_exist(row):
    kernel, arguments, law, checks = row
    assert set(arguments) <= set(kernels()[kernel])
    assert arguments
    assert law
    assert checks
    for check in checks:
        assert resolved(check) is not None, check


def test_there_are_kernels():
    assert len(kernels()) > 75
