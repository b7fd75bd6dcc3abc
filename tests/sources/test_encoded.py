"""Rows kept as codes on disk are the rows that were read."""

from __future__ import annotations

import json
import tempfile
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bayeslearn as bl
from bayeslearn.errors import BayeslearnError, FormatError, ParameterError
from bayeslearn.sources import encode_to_disk
from bayeslearn.tables import DiscreteVariable, Schema
from tests.properties import trials
from tests.sources.messy import arrow, columns, pieces, write


@trials(25)
@given(columns(), st.lists(st.integers(0, 60), max_size=3), st.booleans())
def test_the_same_rows(data: dict[str, list[Any]], cuts: list[int], weighted: Any) -> None:
    rows = len(next(iter(data.values())))
    data = data | ({"n": [float(i % 3) for i in range(rows)]} if weighted else {})
    with tempfile.TemporaryDirectory() as folder:
        try:
            source = bl.scan([arrow(p) for p in pieces(data, cuts)], sample_weight="n" if weighted else None)
        except BayeslearnError:
            return
        kept = encode_to_disk(source, f"{folder}/kept")
        assert kept.table() == source.table()
        assert kept.missing() == source.missing()
        assert kept.total_weight == source.total_weight
        assert bl.scan(f"{folder}/kept").table() == source.table()


@pytest.fixture
def kept(tmp_path: Any) -> Any:
    """Two files of words and numbers, encoded."""
    data = {"word": ["low", "high", "?", "low"], "real": [1.5, None, 2.5, 0.5], "few": [1, 2, 1, 2]}
    encode_to_disk(bl.scan(write(tmp_path, pieces(data, [2]), "parquet")), tmp_path / "kept")
    return tmp_path / "kept"


def test_other_columns_and_codes(kept: Any) -> None:
    source = bl.scan(kept)
    assert repr(source) == "EncodedSource(4 rows × 3 columns)"
    assert source.declared(columns=["real"]).missing() == {"real": 1}
    turned = Schema([DiscreteVariable("word", ["low", "high"])])
    assert source.with_schema(turned).table().codes_of("word").tolist() == [0, 1, -1, 0]
    assert bl.scan(kept, columns=["few"], numeric=["few"]).table().values_of("few").tolist() == [1, 2, 1, 2]
    assert bl.scan(kept, columns=["word"], sample_weight="few").total_weight == 6
    assert [len(t) for t in source.batches(3)] == [3, 1]


def test_it_tells_how_far_it_is(tmp_path: Any) -> None:
    told: list[Any] = []
    data = {"word": ["low", "high"] * 20}
    source = bl.scan(write(tmp_path, pieces(data, [10]), "csv"), progress=told.append)
    told.clear()
    encode_to_disk(source, tmp_path / "kept")
    assert (told[-1].rows, told[-1].of) == (40, 40)


def test_written_again(kept: Any) -> None:
    other = encode_to_disk(bl.scan([{"a": ["x", "y"]}]), kept)
    assert other.table().to_dict() == {"a": ["x", "y"]}
    assert len(list(kept.iterdir())) == 2


def test_onto_its_own_source(kept: Any) -> None:
    before = bl.scan(kept).table()
    assert encode_to_disk(bl.scan(kept), kept).table() == before
    assert encode_to_disk(bl.scan(kept, columns=["few"]), kept).table() == before.select(["few"])
    assert len(list(kept.iterdir())) == 2


def test_what_fails_leaves_the_rows_of_before(kept: Any, tmp_path: Any) -> None:
    def broken() -> Any:
        yield {"a": ["x", "y"]}
        raise ZeroDivisionError("a batch that cannot be read")

    names, before = sorted(path.name for path in kept.iterdir()), bl.scan(kept).table()
    source = bl.scan(broken, schema=Schema([DiscreteVariable("a", ["x", "y"])]))
    for folder in (kept, tmp_path / "new"):
        with pytest.raises(ZeroDivisionError, match="cannot be read"):
            encode_to_disk(source, folder)
    assert bl.scan(kept).table() == before
    assert sorted(path.name for path in kept.iterdir()) == names
    assert not (tmp_path / "new").exists()


def test_what_a_kill_left_is_removed(kept: Any) -> None:
    (kept / "bayeslearn.json").unlink()
    (kept / ".0123456789abcdef.tmp").write_bytes(b"half a part")
    assert encode_to_disk(bl.scan([{"a": ["x", "y"]}]), kept).table().to_dict() == {"a": ["x", "y"]}
    assert len(list(kept.iterdir())) == 2


def test_files_of_others_stay(kept: Any) -> None:
    (kept / "thesis.part").write_text("mine")
    encode_to_disk(bl.scan([{"a": ["x", "y"]}]), kept)
    assert (kept / "thesis.part").read_text() == "mine"


def test_what_is_wrong_is_told(kept: Any, tmp_path: Any) -> None:
    with pytest.raises(ParameterError, match="holds other files"):
        encode_to_disk(bl.scan([{"a": ["x", "y"]}]), tmp_path)
    manifest, part = kept / "bayeslearn.json", next(kept.glob("*.part"))
    told = json.loads(manifest.read_text())
    for change, words in (
        ({"form": "another"}, "expected 'bayeslearn encoded rows 1'"),
        ({"parts": [["../secret.part", 4]]}, "not the name of a part"),
        ({"rows": 5}, "contradicts itself"),
        ({"schema": 3}, "schema"),
        ({"parts": None}, "does not describe"),
    ):
        manifest.write_text(json.dumps(told | change))
        with pytest.raises(FormatError, match=words):
            bl.scan(kept)
    manifest.write_text("{")
    with pytest.raises(FormatError, match="does not describe"):
        bl.scan(kept)
    manifest.write_text(json.dumps(told))
    whole = part.read_bytes()
    part.write_bytes(whole[:-9])
    with pytest.raises(FormatError, match=part.name):
        bl.scan(kept).table()
    with part.open("wb") as file:
        for array in (np.full((2, 2), 99, np.int8), np.zeros((1, 2)), np.empty(0)):
            np.save(file, array)
    with pytest.raises(FormatError, match="must lie within"):
        bl.scan(kept).table()
    with part.open("wb") as file:
        np.save(file, np.array([{"evil": 1}], object), allow_pickle=True)
    with pytest.raises(FormatError, match="not a part"):
        bl.scan(kept).table()
