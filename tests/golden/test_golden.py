"""Every verb answers as it did, and every model that was saved before opens and answers as it did."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import pytest

from bayeslearn import load
from tests.golden import jobs, stored

pytestmark = pytest.mark.thorough


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    jobs.write_data(tmp_path)


@pytest.mark.parametrize(("name", "line"), (jobs.LEARNED | jobs.ASKED).items(), ids=list(jobs.LEARNED | jobs.ASKED))
def test_answer_is_the_one_of_before(data, name, line):
    assert_same(jobs.run(line), document(jobs.ANSWERS / jobs.file_name(name)), name)
    if name in jobs.LEARNED and name != "schema.json":
        load(jobs.MODELS / name).save(again := Path("again.json"))  # in the layout of today
        load(name).save(Path(name).with_suffix(".json"))
        assert_same(document(Path(name).with_suffix(".json")), document(again), name)


@pytest.mark.parametrize("name", stored.STORED_KINDS)
def test_stored_models_open_and_answer_as_they_did(name):
    assert_same(stored.answers(name), document(stored.STORED / f"{name}.answers"), name)


@pytest.mark.parametrize("name", [name for name in stored.STORED_KINDS if name != "encoded"])
def test_stored_models_are_what_is_learned_today(tmp_path, name):
    load(stored.STORED / name).save(tmp_path / "stored.json")
    stored.STORED_KINDS[name].make().save(tmp_path / "new.json")
    assert_same(document(tmp_path / "new.json"), document(tmp_path / "stored.json"), name)


def document(path):
    return json.loads(path.read_text(encoding="utf-8"))


def without_digests(lineage):
    """A lineage whose digests of statistics are replaced: their last digits are those of the machine."""
    return json.loads(re.sub('"[0-9a-f]{16}(?=")', '"digest', json.dumps(lineage)))


#: Numbers that may differ by more than 1e-12 of them, each with the reason.
TOLERANCES: dict[str, float] = {
    # The top of a function that is evaluated with a relative error of 1e-16 is known to the root of that, 1e-8: where
    # the search stops depends on the last digits, which are those of the machine's linear algebra.
    "rbf.json": 1e-7,
    "texts.model": 1e-7,
    "texts-bernoulli.model": 1e-7,
}


def tolerance(place):
    """How far a number at a place may be from what it was, relative to it."""
    return max((t for prefix, t in TOLERANCES.items() if place.startswith(prefix)), default=1e-12)


def assert_same(found, expected, place):
    """Two documents with the same keys and texts, and numbers that differ by rounding at most."""
    if place.endswith(".lineage"):
        found, expected = without_digests(found), without_digests(expected)
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
        assert math.isclose(found, expected, rel_tol=tolerance(place), abs_tol=1e-12), (
            f"{place}: {found} and {expected}"
        )
    else:
        assert found == expected, place
