"""Every kernel module and every topic has tests that run with interpreted kernels too."""

from __future__ import annotations

import pkgutil
from pathlib import Path

import pytest

import bayeslearn
from bayeslearn import kernels
from tests.interpreted import COMPILING, KERNELS, ROOT, TOPICS, listed

#: What is no topic: checked in both ways by whatever uses it, or no computation at all.
OTHERS = {
    "__main__",
    "datasets",
    "errors",
    "significance",
    "files",
    "capacity",
    "source_text",
    "strict_json",
    "kernels",
    "lazy_imports",
    "calibration",
    "codec",
    "containers",
    "discretizer",
    "model_values",
    "other_names",
    "plots",
    "printable",
    "validation",
}


def modules(package):
    return {module.name for module in pkgutil.iter_modules(package.__path__)}


def test_every_kernel_module_is_listed():
    assert KERNELS.keys() | COMPILING.keys() == modules(kernels)


def test_every_topic_is_listed():
    assert TOPICS.keys() | OTHERS == modules(bayeslearn)


@pytest.mark.parametrize("path", listed(), ids=lambda path: str(Path(path).relative_to(ROOT)))
def test_what_is_listed_has_tests_that_are_interpreted(path):
    files = sorted(Path(path).rglob("test_*.py")) if Path(path).is_dir() else [Path(path)]
    assert files
    for text in (file.read_text() for file in files):
        assert "\ndef test_" in text
        assert "pytestmark = pytest.mark.compiled" not in text
