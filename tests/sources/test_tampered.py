"""Encoded folders that were tampered with: each a named error, before anything is allocated."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import bayeslearn as bl
from bayeslearn.errors import BayeslearnError, FormatError
from bayeslearn.sources import encode_to_disk
from bayeslearn.tables.file_names import MANIFEST

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """A folder of encoded rows."""
    encode_to_disk(bl.scan([{"x": ["a", "b", "a", None], "y": [1.5, 2.5, None, 0.5]}]), tmp_path / "kept")
    return tmp_path / "kept"


HEADS: dict[str, tuple[str, str]] = {
    "an open bracket": ("{", "no array of codes"),
    "many brackets": ("(" * 5000, "no array of codes"),
    "a half text": ("{'descr': '", "no array of codes"),
    "a number beyond all": (
        "{'descr': '|i1', 'fortran_order': False, 'shape': (1, " + "9" * 40 + "), }",
        "no array of codes",
    ),
    "many rows": ("{'descr': '|i1', 'fortran_order': False, 'shape': (1, 999999999999), }", "of shape"),
    "objects": ("{'descr': '|O', 'fortran_order': False, 'shape': (1, 4), }", "no array of codes"),
    "floats": ("{'descr': '<f8', 'fortran_order': False, 'shape': (1, 4), }", "its codes are <f8"),
    "other order": ("{'descr': '|i1', 'fortran_order': True, 'shape': (1, 4), }", "no array of codes"),
}


@pytest.mark.parametrize(("head", "match"), HEADS.values(), ids=HEADS)
def test_heads_of_arrays_are_never_evaluated(kept: Path, head: str, match: str) -> None:
    part = next(kept.glob("*.part"))
    data = part.read_bytes()
    size = len(head) + 1
    part.write_bytes(b"\x93NUMPY\x01\x00" + size.to_bytes(2, "little") + head.encode() + b"\n" + data[128:])
    with pytest.raises(FormatError, match=rf"is not a part of encoded rows: .*{match}"):
        bl.scan(kept).table()


def cut(data: bytes) -> bytes:
    """Without its end."""
    return data[:-8]


PARTS: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "cut off": (cut, "its weights are cut off|there is no array of weights|codes are cut off|values are cut off"),
    "more behind": (lambda data: data + b"x", "something behind its arrays"),
    "a code outside": (lambda data: data.replace(b"\x00\x01\x00\xff", b"\x00\x07\x00\xff"), "code"),
    "not finite": (lambda data: data.replace(np.float64(2.5).tobytes(), np.float64(np.inf).tobytes()), "finite"),
    "nothing": (lambda _: b"", "no array of codes"),
}


@pytest.mark.parametrize(("change", "match"), PARTS.values(), ids=PARTS)
def test_parts_that_were_changed(kept: Path, change: Callable[[bytes], bytes], match: str) -> None:
    part = next(kept.glob("*.part"))
    before = part.read_bytes()
    part.write_bytes(change(before))
    assert part.read_bytes() != before
    with pytest.raises(FormatError, match=match):
        bl.scan(kept).table()


ENTRIES: list[tuple[str, Any, str]] = [
    ("rows", 10**30, "rows: .*beyond 64 bits"),
    ("rows", 2**60, "must be a number of rows"),
    ("weight", float("nan"), "rows: .*expected a number, found NaN"),
    ("weight", "1", "weight must be a number"),
    ("missing", [1, 10**9], "contradicts itself"),
    ("parts", [["../x.part", 4]], "is not the name of a part"),
    ("form", {}, "is of the form"),
    ("schema", {"variables": [{"name": "x", "kind": "discrete", "states": ["a"], "cuts": [10**400]}]}, "64 bits"),
    ("schema", {"variables": [{"name": "x", "kind": "discrete", "states": ["a", "b"], "cuts": ["c"]}]}, "cuts"),
]


def test_keys_that_stand_twice(kept: Path) -> None:
    text = (kept / MANIFEST).read_text()
    (kept / MANIFEST).write_text(text.replace('"rows"', '"rows": 3, "rows"'))
    with pytest.raises(FormatError, match="the key 'rows' stands twice"):
        bl.scan(kept)


@pytest.mark.parametrize(("key", "value", "match"), ENTRIES)
def test_descriptions_that_were_changed(kept: Path, key: str, value: Any, match: str) -> None:
    told = json.loads((kept / MANIFEST).read_text())
    (kept / MANIFEST).write_text(json.dumps(told | {key: value}))
    with pytest.raises(BayeslearnError, match=match):
        bl.scan(kept)


@pytest.mark.parametrize("text", ["", "[]", "{}", "[" * 100_000, '{"form": 1' + "0" * 5000 + "}", "\0", "null", "\xff"])
def test_descriptions_that_are_none(kept: Path, text: str) -> None:
    (kept / MANIFEST).write_bytes(text.encode("latin-1"))
    with pytest.raises(FormatError, match=re.escape(MANIFEST)):
        bl.scan(kept)


def test_names_with_half_characters_are_kept(tmp_path: Path) -> None:
    table = bl.as_table({"\ud800": ["a", "b"], "y": ["c\udfff", "d"]})
    kept = encode_to_disk(bl.scan([table], schema=table.schema), tmp_path / "kept")
    assert bl.scan(tmp_path / "kept").table().to_dict() == kept.table().to_dict() == table.to_dict()
