"""Files that change between two passes over them, or while they are read, are named: no statistics are mixed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import bayeslearn as bl
from bayeslearn.errors import ChangedFileError
from bayeslearn.naive_bayes.text.text_sources import scan_texts
from bayeslearn.sources import encode_to_disk
from bayeslearn.sources.contingency import group_counts
from bayeslearn.tables import contingency_tables, file_readers
from bayeslearn.tables.text_heads import require_unchanged, stamp_of

ROWS = "x,y\n" + "a,1.5\nb,2.5\n" * 20


def text(path: Path) -> Path:
    """A CSV file."""
    path = path.with_suffix(".csv")
    path.write_text(ROWS)
    return path


def parquet(path: Path) -> Path:
    """A Parquet file."""
    path = path.with_suffix(".parquet")
    pq.write_table(pa.table({"x": ["a", "b"] * 20, "y": [1.5, 2.5] * 20}), path)
    return path


def append(path: Path) -> None:
    """More rows."""
    with path.open("ab") as file:
        file.write(b"a,1.5\n")


def edit(path: Path) -> None:
    """As many other bytes, a moment later."""
    path.write_bytes(path.read_bytes().replace(b"a", b"b"))
    os.utime(path, ns=(0, path.stat().st_mtime_ns + 1))


def replaced(path: Path) -> None:
    """Another file in its place, with the same size and time."""
    before, other = path.stat(), path.with_name("other")
    other.write_bytes(path.read_bytes())
    os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
    other.replace(path)


CHANGES: list[tuple[Any, str]] = [
    (append, r"it had \d+ bytes, and has \d+ bytes"),
    (edit, "was written again"),
    (replaced, "was written again"),
    (Path.unlink, "is gone"),
]
PASSES = {
    "fold": lambda source: source.fold(len),
    "batches": lambda source: list(source.batches()),
    "table": lambda source: source.table(),
    "look": lambda source: source.look(),
}


@pytest.mark.parametrize("made", [text, parquet])
@pytest.mark.parametrize(("change", "what"), CHANGES)
@pytest.mark.parametrize("again", PASSES.values(), ids=PASSES)
def test_a_change_between_two_passes(tmp_path: Path, made: Any, change: Any, what: str, again: Any) -> None:
    path = made(tmp_path / "rows")
    source = bl.scan([path])
    again(source)
    change(path)
    with pytest.raises(ChangedFileError, match=rf"rows\.\w+' changed while it was in use: .*{what}"):
        again(source)


def test_a_change_during_a_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_readers, "LEAST_BLOCK", 1 << 10)
    monkeypatch.setattr(file_readers, "BLOCK_ROWS", 1)
    path = text(tmp_path / "rows")
    path.write_text(ROWS + "a,1.5\nb,2.5\n" * 2000)
    rows = bl.scan([path]).batches()
    next(rows)
    append(path)
    with pytest.raises(ChangedFileError, match="changed while it was in use"):
        list(rows)


@pytest.mark.parametrize(("change", "what"), CHANGES)
def test_a_change_of_an_encoded_folder(tmp_path: Path, change: Any, what: str) -> None:
    encode_to_disk(bl.scan([text(tmp_path / "rows")]), tmp_path / "kept")
    source = bl.scan(tmp_path / "kept")
    assert source.fold(len) == 40
    change(next((tmp_path / "kept").glob("*.part")))
    with pytest.raises(ChangedFileError, match=what):
        source.fold(len)


def test_a_change_of_documents_sequences_and_groups(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("text,label\n" + "one two,a\nthree,b\n" * 5)
    documents, rows = scan_texts([path]), bl.scan([path], discrete=True)
    append(path)
    with pytest.raises(ChangedFileError, match="changed"):
        documents.fold(len)
    with pytest.raises(ChangedFileError, match="changed"):
        group_counts(rows)


@pytest.mark.parametrize("made", [text, parquet])
@pytest.mark.parametrize(("change", "what"), CHANGES)
@pytest.mark.parametrize("again", PASSES.values(), ids=PASSES)
def test_a_change_between_two_passes_over_groups(tmp_path: Path, made: Any, change: Any, what: str, again: Any) -> None:
    path = made(tmp_path / "rows")
    groups = group_counts(bl.scan([path], discrete=True))
    again(groups)
    change(path)
    with pytest.raises(ChangedFileError, match=rf"rows\.\w+' changed while it was in use: .*{what}"):
        again(groups)


def test_a_change_between_scanning_and_counting(tmp_path: Path) -> None:
    path = parquet(tmp_path / "rows")
    source = bl.scan([path], discrete=True)
    append(path)
    with pytest.raises(ChangedFileError, match="changed"):
        contingency_tables(source, [("x", "y")])


def test_a_change_while_a_file_is_read_into_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = text(tmp_path / "rows")
    known = file_readers.READERS[".csv"]

    def slow(path: Path) -> Any:
        found = known(path)
        append(path)
        return found

    monkeypatch.setitem(file_readers.READERS, ".csv", slow)
    with pytest.raises(ChangedFileError, match="changed"):
        bl.as_table(path)


def test_copies_on_other_machines_have_the_same_size(tmp_path: Path) -> None:
    path = text(tmp_path / "rows")
    elsewhere = stamp_of(path)._replace(machine="another", number=1, modified=2)  # type: ignore[union-attr]
    require_unchanged(path, elsewhere)
    append(path)
    with pytest.raises(ChangedFileError, match="bytes"):
        require_unchanged(path, elsewhere)
