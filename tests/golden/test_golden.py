"""Every verb answers as it did, and every model that was saved before opens and answers as it did."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from tests.golden import jobs

pytestmark = pytest.mark.thorough


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    jobs.write_data(tmp_path)


@pytest.mark.parametrize(("name", "line"), (jobs.LEARNED | jobs.ASKED).items(), ids=list(jobs.LEARNED | jobs.ASKED))
def test_answer_is_the_one_of_before(data, name, line):
    assert_same(jobs.run(line), document(jobs.ANSWERS / jobs.file_name(name)), name)
    if name in jobs.LEARNED and name.endswith(".json"):
        assert_same(document(Path(name)), document(jobs.MODELS / name), name)


def document(path):
    return json.loads(path.read_text(encoding="utf-8"))


def assert_same(found, expected, place):
    """Two documents with the same keys and texts, and numbers that differ by rounding at most."""
    if isinstance(expected, dict):
        assert list(found) == list(expected), place
        for key, value in expected.items():
            assert_same(found[key], value, f"{place}.{key}")
    elif isinstance(expected, list):
        assert len(found) == len(expected), place
        for i, (one, other) in enumerate(zip(found, expected, strict=True)):
            assert_same(one, other, f"{place}[{i}]")
    elif place.endswith("kept_bytes"):  # the size of a pickle, in which the names of modules are written
        assert math.isclose(found, expected, rel_tol=0.1), f"{place}: {found} and {expected}"
    elif isinstance(expected, float):
        assert math.isclose(found, expected, rel_tol=1e-7, abs_tol=1e-10), f"{place}: {found} and {expected}"
    else:
        assert found == expected, place
