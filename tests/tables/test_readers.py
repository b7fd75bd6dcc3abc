"""Every reader gives the same rows of a text file, whatever its size, its line ends and its name."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING
from unittest import mock

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bayeslearn import as_table, scan
from bayeslearn.errors import CapacityError, FormatError
from bayeslearn.naive_bayes.text import decoding
from bayeslearn.naive_bayes.text.corpus_readers import read_corpus
from bayeslearn.sources.contingency import group_counts
from bayeslearn.tables import contingency_tables, fast_csv, file_readers, text_heads
from tests.fuzz.tables import at_once, by_batches, read_by_all

if TYPE_CHECKING:
    from pathlib import Path

#: As many rows as make a file that the kernel reads.
MANY = fast_csv.SMALL // 4 + 10


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("n", [3, MANY])
def test_no_row_is_lost_behind_a_lone_return(tmp_path: Path, end: str, n: int) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(f"a,b{end}".encode() + b"x,1\n" + b"y,2\n" * n)
    assert as_table(path).n_rows == scan(path).n_rows == n + 1
    assert at_once(path) == by_batches(path)


FILES = {
    "a return within the names": b"a,b\rx,y\n" + b"1,2\n" * MANY,
    "a mark in the first cell": b"a,b\n\xef\xbb\xbf,y\n1,2\n",
    "no character": b"\0a,b\n1,2\n3,4\n",
    "names only": b"a,b",
    "names only, in two bytes a character": "a,b".encode("utf-16"),
    "a quotation mark that is never closed": b'a,b\r1,2\r3,"4\r5,6\r',
    "names in quotation marks over two lines": b'"a\nb",c\n1,2\n3,4\n',
    "empty lines before the names": b"\n\n\na,b\n\n1,2\n\n",
    "one column with empty cells": b"a\n1\n\n2\n\n",
    "Windows-1252": "a,b\nä,1\nö,2\n".encode("cp1252"),
    "an odd separator for Excel": "sep=é\na,b\n1,2\n".encode(),
}


@pytest.mark.parametrize("data", FILES.values(), ids=FILES)
def test_readers_agree(data: bytes) -> None:
    read_by_all(data, "rows.csv")
    read_by_all(gzip.compress(data), "rows.csv.GZ")


def test_the_last_ending_of_a_name_counts(tmp_path: Path) -> None:
    path = tmp_path / "y.csv_old.tsv"
    path.write_text("text\tlabel\na, b, c\tx\nd, e, f\ty\n")
    assert as_table(path, discrete=True).schema.names == ("text", "label")
    assert scan(path, discrete=True).schema.names == ("text", "label")
    assert scan([path, path], discrete=True).schema.names == ("text", "label")
    assert read_corpus(path).texts == ["a, b, c", "d, e, f"]


def test_packed_files_by_any_name_and_with_zeros_behind_them(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv.GZ"
    path.write_bytes(gzip.compress(b"a,b\n1,") + gzip.compress(b"2\n3,4\n") + b"\0" * 8)
    assert at_once(path) == by_batches(path) == {"a": ["1", "3"], "b": ["2", "4"]}


def test_duckdb_groups_the_same_cells(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes('sep=;\r"a";b\rx;"1"y\r\n\nz;"2\n3"\n"x";1y'.encode("utf-16"))
    source = scan(path, discrete=True)
    assert source.table().to_dict() == {"a": ["x", "z", "x"], "b": ["1y", "2\n3", "1y"]}
    found = group_counts(source).table()
    assert sorted(zip(*found.to_dict().values(), found.sample_weight, strict=True)) == [
        ("x", "1y", 2.0),
        ("z", "2\n3", 1.0),
    ]


### errors


def test_names_that_swallow_all_rows_are_an_error(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text('"a,b\n1,2\n')
    for read in (as_table, scan):
        with pytest.raises(FormatError, match="a quotation mark among the names of columns is opened and never closed"):
            read(path)


def test_a_line_that_never_ends_is_not_read_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_heads, "LONGEST", 1000)
    path = tmp_path / "rows.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" + b"x" * 2000))
    for read in (as_table, scan):
        with pytest.raises(CapacityError, match="line 2 has 1,000 characters or more, and no such line is read"):
            read(path)


def test_a_packed_table_is_unpacked_up_to_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_readers, "MAX_BYTES", 1000)
    path = tmp_path / "rows.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" + b"x,y\nz,y\n" * 1000))
    with pytest.raises(CapacityError, match="unpacks to more than 1,000 bytes"):
        as_table(path)
    assert scan(path, allow_constant=True).n_rows == 2000


def test_a_packed_file_is_unpacked_as_far_as_memory_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "rows.csv.gz"
    path.write_bytes(gzip.compress(b"text,label\n" + b"x,y\nz,y\n" * 1000))
    monkeypatch.setattr(file_readers, "free_memory", lambda: 6000)
    with pytest.raises(CapacityError, match="unpacks to more than 1,000 bytes"):
        as_table(path)
    monkeypatch.setattr(decoding, "free_memory", lambda: 5000)
    with pytest.raises(CapacityError, match="unpack to 8,011, and at most 1,000 are read"):
        read_corpus(path)


### Parquet


def test_text_of_a_parquet_file_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"word": ["aaé", "bbb"] * 9, "x": [1.5, 2.5] * 9}), path, compression="none")
    path.write_bytes(path.read_bytes().replace("aaé".encode(), b"aa\xff\xfe"))
    for read in (as_table, scan):
        with pytest.raises(FormatError, match=r"rows\.parquet': column 'word' cannot be read: .*UTF"):
            read(path)


def test_dates_that_no_calendar_has_are_named(tmp_path: Path) -> None:
    days = pa.table({"day": pa.array([0, 1 << 50], pa.timestamp("s")), "date": pa.array([0, 1 << 30], pa.date32())})
    pq.write_table(days, tmp_path / "rows.parquet")
    for name in days.column_names:
        with pytest.raises(FormatError, match=f"column '{name}' holds dates beyond the years 1 to 9999"):
            as_table(days.select([name]))
    for read in (as_table, scan):
        with pytest.raises(FormatError, match="column 'day' holds dates beyond the years 1 to 9999"):
            read(tmp_path / "rows.parquet")


NAMES = ["t[1]", "t*", "t?", "[!t]1", "x]y[", "t1"]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_names_with_marks_of_patterns_are_names(tmp_path: Path, ending: str) -> None:
    paths = {name: tmp_path / f"{name}.{ending}" for name in NAMES}
    for i, path in enumerate(paths.values()):
        data = {"a": ["x", "y"] * (i + 1), "b": ["u", "v", *["u", "u"] * i]}
        if ending == "csv":
            path.write_text("a,b\n" + "".join(f"{a},{b}\n" for a, b in zip(*data.values(), strict=True)))
        else:
            pq.write_table(pa.table(data), path)
    for i, path in enumerate(paths.values()):
        source = scan(path)
        assert as_table(path).n_rows == source.n_rows == 2 * (i + 1)
        assert contingency_tables(source, [("a", "b")])[0].counts.sum() == 2 * (i + 1)
        assert group_counts(source).table().total_weight == 2 * (i + 1)
    assert group_counts(scan(tmp_path)).table().total_weight == sum(2 * (i + 1) for i in range(len(NAMES)))


def test_a_parquet_file_of_very_many_cells_is_refused_before_it_is_read(tmp_path: Path) -> None:
    n, path = 1 << 24, tmp_path / "rows.parquet"
    cells = pa.DictionaryArray.from_arrays(pa.nulls(n, pa.int8()).fill_null(0), ["x"])
    pq.write_table(pa.table({f"c{i}": cells for i in range(40)}), path)
    assert path.stat().st_size < 1 << 21
    with mock.patch.object(file_readers, "free_memory", return_value=1 << 32):
        for read in (as_table, file_readers.file_table):
            with pytest.raises(
                CapacityError, match=r"16,777,216 rows of 40 columns, .* need 5\.0 GiB, and 4\.0 GiB are"
            ):
                read(path)
