"""Errors on the way of a messy file say what to do: each of them is raised with a hint."""

from __future__ import annotations

import ast
from pathlib import Path

import bayeslearn
from bayeslearn import errors

ROOT = Path(bayeslearn.__file__).parent
ROOMS = ("cli", "sources", "tables", "network/inference", "network/parameters", "network/structure")
NAMES = {
    name for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, errors.BayeslearnError)
}

#: Errors whose message says it all, or that only a programmer who builds values by hand meets.
WITHOUT = {
    "cli/bayes.py": 2, "cli/bound_mistakes.py": 1, "cli/bound_samples.py": 6, "cli/concept.py": 1,
    "cli/input_data.py": 1, "cli/online_experts.py": 1, "cli/regression_fit.py": 1, "cli/data_options.py": 1,
    "cli/text_options.py": 2,
    "network/parameters/training_cases.py": 1, "network/parameters/credible_intervals.py": 2,
    "network/structure/scoring/family_counts.py": 1,
    "network/structure/uncertainty/model_averaging.py": 2, "network/structure/uncertainty/bootstrap.py": 2,
    "network/structure/constraint_based/independence_tests.py": 1, "sources/duckdb_source.py": 1,
    "tables/contingency.py": 1,
    "tables/schema.py": 1, "tables/table.py": 8, "tables/variables.py": 10,
}  # fmt: skip


def without_hint(path):
    """How many errors of a module are made without a hint."""
    calls = (node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call))
    made = [call for call in calls if isinstance(call.func, ast.Name) and call.func.id in NAMES and call.args]
    return sum(all(word.arg != "hint" for word in call.keywords) for call in made)


def test_every_error_has_a_hint():
    paths = [path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py"))]
    found = {path.relative_to(ROOT).as_posix(): without_hint(path) for path in paths}
    assert {name: count for name, count in found.items() if count > WITHOUT.get(name, 0)} == {}
