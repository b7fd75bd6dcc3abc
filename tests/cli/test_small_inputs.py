"""Small files with something else than was expected: a named error that says where."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from bayeslearn.errors import FormatError
from tests.cli.asking import ask, result
from tests.fuzz.small_inputs import HYPOTHESES, ROWS, SCHEMA

if TYPE_CHECKING:
    from pathlib import Path

ODD = {
    "a word as likelihood": ({"likelihood": {"cancer": {"positive": "often"}}}, r"'positive' of \[likelihood.cancer\]"),
    "a list as likelihood": ({"likelihood": {"cancer": {"positive": [0.5]}}}, "must be a probability, got"),
    "a truth value": ({"likelihood": {"cancer": {"positive": True}}}, "must be a probability, got True"),
    "not a number": ({"likelihood": {"cancer": {"positive": float("nan")}}}, "must be a probability, got nan"),
    "a word as prior": ({"prior": "even"}, r"\[prior\] is no table"),
    "a word in the prior": ({"prior": {"cancer": "rare"}}, r"'cancer' of \[prior\] must be a probability"),
    "a list": ([], "has no likelihoods"),
    "no likelihoods": ({"likelihood": {}}, "has no likelihoods"),
}


@pytest.mark.parametrize(("change", "match"), ODD.values(), ids=ODD)
def test_hypotheses(tmp_path: Path, change: Any, match: str) -> None:
    path = tmp_path / "tests.json"
    path.write_text(json.dumps(HYPOTHESES | change if isinstance(change, dict) else change))
    with pytest.raises(FormatError, match=match):
        ask("bayes", str(path), "-e", "positive")


@pytest.mark.parametrize("name", ["tests.json", "tests.toml"])
@pytest.mark.parametrize("data", [b"", b"\xff", b"[" * 100_000, b"x = " + b"9" * 5000, b"\0"])
def test_hypotheses_that_are_none(tmp_path: Path, name: str, data: bytes) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(FormatError, match=r"cannot be read|has no likelihoods"):
        ask("bayes", str(tmp_path / name))


@pytest.mark.parametrize("key", ["[a" + ".b" * 200_000 + "]\nx = 1", "a" + ".b" * 200_000 + " = 1"])
def test_keys_of_very_many_parts_are_refused(tmp_path: Path, key: str) -> None:
    """They take minutes to parse."""
    (tmp_path / "tests.toml").write_text(f"# {'.' * 100}\n{key}\n")
    with pytest.raises(FormatError, match="a line has more than 64 dots"):
        ask("bayes", str(tmp_path / "tests.toml"))


def test_the_schema_of_the_fuzzer_is_one(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_bytes(ROWS)
    (tmp_path / "schema.json").write_text(json.dumps({"format": "bayeslearn schema", "version": 1, **SCHEMA}))
    answer = result(ask("scan", str(tmp_path / "rows.csv"), "--schema", str(tmp_path / "schema.json"), "--json"))
    assert [column["kind"] for column in answer["columns"]] == ["discrete", "discrete"]
