"""Files that are broken, empty or unlike each other are named; those that cannot be read can be skipped."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import bayeslearn as bl
from bayeslearn.errors import (
    BayeslearnError,
    DataError,
    DuplicateColumnError,
    EmptyTableError,
    FormatError,
    InputFileNotFoundError,
)
from bayeslearn.sources import ThreadEngine

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ROWS = {"x": ["a", "b", "a", None] * 30, "y": [1, 2, 3, 2] * 30}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A good file of each kind."""
    pq.write_table(pa.table(ROWS), tmp_path / "good.parquet", row_group_size=50)
    (tmp_path / "good.csv").write_text("x,y\n" + "a,1\nb,2\n" * 20)
    return tmp_path


def zeroed(data: bytes, first: int, last: int) -> bytes:
    """The same length, with some bytes lost."""
    return data[:first] + bytes(len(data[first:last])) + data[last:]


BROKEN: dict[str, tuple[str, Callable[[bytes], bytes], str]] = {
    "truncated": (".parquet", lambda good: good[:-30], "not a Parquet file that can be read"),
    "half": (".parquet", lambda good: good[: len(good) // 2], "not a Parquet file that can be read"),
    "nothing": (".parquet", lambda _: b"", "not a Parquet file that can be read"),
    "something else": (".parquet", lambda _: b"x,y\na,1\n", "not a Parquet file that can be read"),
    "rotten rows": (".parquet", lambda good: zeroed(good, 8, 60), "cannot be read"),
    "rotten end": (".parquet", lambda good: zeroed(good, -200, -100), "not a Parquet file that can be read"),
    "short line": (".csv", lambda good: good + b"a\n", "line 42: expected 2 fields, found 1"),
    "long line": (".csv", lambda good: good + b"a,1,2\na,3\n", "line 42: expected 2 fields, found 3"),
    "two bad lines": (".csv", lambda _: b"x,y\na\nb\n", r"line 2: .*\(and 1 more such lines\)"),
    "open quote": (".csv", lambda good: good + b'"b,2\na,3\n', "expected 2 fields, found 1"),
    "open quote at the end": (
        ".csv",
        lambda good: good + b'b,"2\na,3\n',
        "line 42: a quotation mark is .* never closed",
    ),
    "bytes that are no text": (".csv", lambda good: good + b"\xe9\0,2\n", "not UTF-8 text: byte 0xe9"),
    "a head that is no text": (".csv", lambda _: b"\xe9\0,y\na,2\n", "not UTF-8 text: byte 0xe9"),
    "no bytes": (".csv", lambda _: b"", "is empty"),
    "no head": (".csv", lambda _: b"\n\n", "is empty"),
    "half of a gzip": (".csv.gz", lambda good: gzip.compress(good)[:-12], "Compressed file ended"),
    "not a gzip": (".csv.gz", lambda good: good, "Not a gzipped file"),
}


@pytest.mark.parametrize("what", sorted(BROKEN))
@pytest.mark.parametrize("place", ["aa", "zz"])
def test_broken_files_are_named_or_skipped(folder: Path, what: str, place: str) -> None:
    ending, breaks, says = BROKEN[what]
    good = folder / f"good{ending.removesuffix('.gz')}"
    bad = folder / f"{place}{ending}"
    bad.write_bytes(breaks(good.read_bytes()))
    both = sorted([str(good), str(bad)])
    with pytest.raises(DataError, match=says) as caught:
        bl.scan(both)
    assert str(bad) in str(caught.value)
    assert str(caught.value.details["path"]) == str(bad)
    found = bl.scan(both, on_error="skip")
    assert list(found.skipped) == [str(bad)]
    assert found.skipped[str(bad)] == caught.value.message
    alone = bl.scan(str(good))
    assert found.schema == alone.schema
    assert found.table() == alone.table()
    with pytest.raises(EmptyTableError, match=says) as caught_alone:
        bl.scan(str(bad), on_error="skip")
    assert caught_alone.value.details["skipped"] == found.skipped


def test_a_broken_file_under_a_known_schema(folder: Path) -> None:
    """Nobody looks beforehand, so the pass itself names it; who may skip looks."""
    schema = bl.scan(str(folder / "good.parquet")).schema
    (folder / "rot.parquet").write_bytes(zeroed((folder / "good.parquet").read_bytes(), 8, 60))
    source = bl.scan(str(folder / "*.parquet"), schema=schema, engine=ThreadEngine(1))
    with pytest.raises(FormatError, match=r"rot\.parquet' cannot be read"):
        source.fold(lambda table: table.n_rows)
    skipping = bl.scan(str(folder / "*.parquet"), schema=schema, on_error="skip")
    assert skipping.fold(lambda table: table.n_rows) == 120
    assert list(skipping.skipped) == [str(folder / "rot.parquet")]


def test_a_row_group_that_is_rotten_spoils_its_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What other shards of the file showed does not count."""
    monkeypatch.setattr("bayeslearn.sources.shards.SHARD_ROWS", 50)
    data = (folder / "good.parquet").read_bytes()
    start = pq.ParquetFile(folder / "good.parquet").metadata.row_group(2).column(0).dictionary_page_offset
    (folder / "worse.parquet").write_bytes(zeroed(data, start, start + 40))
    found = bl.scan(str(folder / "*.parquet"), on_error="skip")
    assert list(found.skipped) == [str(folder / "worse.parquet")]
    assert {shard.path for shard in found.shards} == {str(folder / "good.parquet")}
    assert found.n_rows == found.fold(lambda table: table.n_rows) == 120


### files that are unlike each other


def parquet(path: Path, **columns: Any) -> None:
    pq.write_table(pa.table(columns), path)


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        ({"x": ["a"]}, "column 'y': it holds number in .*good.* and is missing in .*odd"),
        ({"x": ["a"], "y": [1], "z": [1]}, "column 'z': it is missing in .*good.* and holds number in .*odd"),
        ({"x": [1], "y": [1]}, "column 'x': it holds text in .*good.* and holds number in .*odd"),
        ({"x": ["a"], "y": [True]}, "column 'y': it holds number in .*good.* and holds bool in .*odd"),
        ({"x": [["a"]], "y": [1]}, "column 'x': it holds text in .*good.* and holds list<.* in .*odd"),
    ],
    ids=["fewer", "more", "numbers", "truths", "lists"],
)
@pytest.mark.parametrize("on_error", ["raise", "skip"])
def test_files_that_differ(folder: Path, columns: dict[str, Any], says: str, on_error: Any) -> None:
    parquet(folder / "odd.parquet", **columns)
    paths = [str(folder / "good.parquet"), str(folder / "odd.parquet")]
    with pytest.raises(FormatError, match=says) as caught:
        bl.scan(paths, on_error=on_error)
    assert caught.value.details["paths"] == paths
    same = {"x", "y"} - {caught.value.details["column"]}
    assert bl.scan(paths, columns=sorted(same)[:1]).n_rows == 121


def test_files_of_two_formats(folder: Path) -> None:
    with pytest.raises(FormatError, match=r"holds text in '.*good\.parquet' and holds untyped text in '.*good\.csv'"):
        bl.scan([str(folder / "good.parquet"), str(folder / "good.csv")])


def test_names_that_appear_twice(folder: Path) -> None:
    pq.write_table(pa.table([pa.array(["a"]), pa.array([1])], names=["x", "x"]), folder / "twice.parquet")
    with pytest.raises(DuplicateColumnError, match="'x'") as caught:
        bl.scan(str(folder / "*.parquet"), on_error="skip")
    assert caught.value.__notes__ == [f"in {str(folder / 'twice.parquet')!r}"]


def test_types_that_say_the_same(folder: Path) -> None:
    """Widths of numbers, dictionaries, columns without values and the order of columns are no difference."""
    parquet(folder / "1.parquet", y=pa.array([3, 1], pa.int8()), x=pa.array(["b", "a"]).dictionary_encode())
    parquet(folder / "2.parquet", y=pa.array([2.0, 1.0]), x=pa.array(["a", "b"], pa.large_string()))
    parquet(folder / "3.parquet", y=pa.array([3]), x=pa.nulls(1))
    parquet(folder / "4.parquet", y=pa.array([], pa.int64()), x=pa.array([], pa.string()))
    found = bl.scan(str(folder / "*.parquet"))
    assert found.n_rows == 125
    assert found.table().to_dict() == {"x": ["b", "a", "a", "b", None, *ROWS["x"]], "y": [3, 1, 2, 1, 3, *ROWS["y"]]}


### files that are not there


def test_files_that_are_not_there(folder: Path) -> None:
    for on_error in ("raise", "skip"):
        with pytest.raises(InputFileNotFoundError, match=r"nowhere\.parquet"):
            bl.scan([str(folder / "good.parquet"), str(folder / "nowhere.parquet")], on_error=on_error)


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_files_that_go_between_two_passes(folder: Path, ending: str) -> None:
    source = bl.scan(str(folder / f"good.{ending}"))
    (folder / f"good.{ending}").unlink()
    with pytest.raises(BayeslearnError, match=rf"good\.{ending}"):
        source.fold(lambda table: table.n_rows)


def test_no_rows_at_all(folder: Path) -> None:
    parquet(folder / "none.parquet", x=pa.array([], pa.string()))
    with pytest.raises(EmptyTableError, match=r"no rows in '.*none\.parquet'"):
        bl.scan(str(folder / "none.parquet"))
    (folder / "head.csv").write_text("x,y\n")
    assert bl.scan(str(folder / "*.csv")).n_rows == 40
