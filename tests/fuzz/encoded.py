"""Folders of encoded rows that were tampered with: rows within their schema, or a named error."""

from __future__ import annotations

import json
import tempfile
from functools import cache
from pathlib import Path
from random import Random

import numpy as np

from bayeslearn import scan
from bayeslearn.sources import encode_to_disk
from bayeslearn.sources.base import Extent
from bayeslearn.tables import Table
from bayeslearn.tables.file_names import MANIFEST
from tests.fuzz.mutations import hostile_text, mutate_bytes, mutate_json_text
from tests.fuzz.trials import Target, refused

ROWS = [
    {
        "word": ["a", "b", None, "é"],
        "few": ["1", "2", "3", "1"],
        "x": [0.5, None, 1.5, 2.25],
        "n": [1.0, 2.0, 0.5, 3.0],
    },
    {
        "word": ["b", "b", "a", "a"],
        "few": ["2", "2", "1", "1"],
        "x": [7.5, 1e300, -2.0, None],
        "n": [1.0, 1.0, 1.0, 0.0],
    },
]


@cache
def written(sample_weight: str | None) -> tuple[bytes, dict[str, bytes]]:
    """A folder as encode writes it: what describes it, and its parts."""
    with tempfile.TemporaryDirectory() as folder:
        encode_to_disk(scan(ROWS, sample_weight=sample_weight), Path(folder) / "kept")
        parts = {path.name: path.read_bytes() for path in (Path(folder) / "kept").glob("*.part")}
        return (Path(folder) / "kept" / MANIFEST).read_bytes(), parts


def folder_of(rng: Random) -> bytes:
    """A folder with a mutated description or a mutated part: the lengths of all, and their bytes."""
    manifest, parts = written(rng.choice([None, "n"]))
    parts = dict(parts)
    if rng.random() < 0.5:
        manifest = mutate_json_text(rng, manifest)
    else:
        name = rng.choice(list(parts))
        parts[name] = mutated_part(rng, parts[name])
    head = {MANIFEST: len(manifest)} | {name: len(data) for name, data in parts.items()}
    return json.dumps(head).encode() + b"\n" + manifest + b"".join(parts.values())


def mutated_part(rng: Random, data: bytes) -> bytes:
    """A part with other bytes, another head of an array, or another number in its head."""
    kind = rng.randrange(4)
    if kind == 0:
        return mutate_bytes(rng, data)
    at = data.find(b"{", rng.choice([0, data.rfind(b"\x93NUMPY")]))
    end = data.find(b"\n", at)
    head = data[at:end].decode("latin-1")
    if kind == 1:
        head = head.replace(rng.choice(["2", "8", "4", "i1", "f8", "False", "(", ")"]), hostile_text(rng), 1)
    elif kind == 2:
        head = rng.choice(
            ["{" * 5000, "(" * 200, "'" * 3, "{'descr': 'O'}", "\0" * 40, "{'shape': (" + "9" * 50 + ",)}"]
        )
    else:
        head = head.replace("f8", rng.choice(["O8", "U9", "f2", "c16", "M8[s]", "V8"]))
    head = head.encode("utf-8", "replace")
    return data[:at] + (head.ljust(end - at) if rng.random() < 0.7 else head) + data[end:]


def read_folder(data: bytes) -> None:
    """Read a folder in every way that learners do."""
    head, _, rest = data.partition(b"\n")
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        for name, size in json.loads(head).items():
            (Path(folder) / name).write_bytes(rest[:size])
            rest = rest[size:]
        with refused():
            source = scan(folder)
            table = source.table()
            assert isinstance(table, Table)
            assert table.n_rows == source.n_rows
            assert not np.isinf(table.values).any()
            assert source.fold(Extent.of).rows == table.n_rows
            source.look()


TARGETS = [Target("encoded/folder", folder_of, read_folder)]
