"""Tables of very many columns: memory and time per column are small, and every reader gives the same cells."""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeslearn.errors import BayeslearnError, CapacityError, FormatError
from bayeslearn.sources import scan
from bayeslearn.sources.file_source import read_text as read_batches
from bayeslearn.tables import as_table, formats, text_heads
from bayeslearn.tables.file_readers import file_table
from bayeslearn.tables.markers import NUMBER
from bayeslearn.tables.schema import require_known
from bayeslearn.tables.text_heads import distinct_names
from tests.properties import trials

### as many columns as there may be

MEASURED = """
import resource, sys
import bayeslearn as bl, pyarrow.csv, pyarrow.parquet, pyarrow.compute
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
if sys.argv[1] == "verb":
    from bayeslearn.cli import main
    sys.argv = ["bayeslearn", "scan", sys.argv[2]]
    try:
        main()
    except SystemExit as end:
        assert not end.code, end.code
else:
    found = {"table": bl.as_table, "scan": bl.scan}[sys.argv[1]](sys.argv[2], allow_constant=True)
    assert len(found.schema) == int(sys.argv[3]), len(found.schema)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.slow
@pytest.mark.parametrize("way", ["table", "scan", "verb"])
def test_a_hundred_thousand_columns(tmp_path: Path, way: str) -> None:
    n, path = 100_000, tmp_path / "wide.csv"
    lines = [",".join(f"c{i}" for i in range(n))]
    lines += [",".join(f"0.{i * row % 97}" if i % 2 else "ab"[i // 2 + row & 1] for i in range(n)) for row in range(10)]
    path.write_text("\n".join(lines) + "\n")
    asked = [sys.executable, "-c", MEASURED, way, str(path), str(n)]
    answer = subprocess.run(asked, capture_output=True, text=True, timeout=400, check=False)
    assert answer.returncode == 0, answer.stderr[-2000:]
    assert int(answer.stdout.split()[-1]) < 1 << 20  # in KiB


def test_columns_cost_no_more_where_there_are_many() -> None:
    names = [f"c{i}" for i in range(200_000)]
    require_known(names, names)  # minutes, if each were looked for among all
    assert distinct_names(["a"] * 200_000)[-1] == "a.199999"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            b"," * 17_000_000,
            r"the names of the columns of '.*' have 17,000,001 characters or more, and at most 16,777,",
        ),
        (b"ab," * 6_000_000, "have 18,000,001 characters or more"),
        (b"," * 5_000_000, r"5,000,001 columns would need 38\.1 GiB, and"),
    ],
)
@pytest.mark.parametrize("read", [as_table, scan])
def test_more_columns_than_fit_are_refused(tmp_path: Path, read: Any, line: bytes, message: str) -> None:
    """A file of 10 to 200 KB."""
    (tmp_path / "bomb.csv.gz").write_bytes(gzip.compress((line + b"\n") * 2, compresslevel=6))
    with pytest.raises(CapacityError, match=message):
        read(tmp_path / "bomb.csv.gz")


def test_long_lines_do_not_tell_the_delimiter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first lines are read up to a number of characters, and at least up to that of the names."""
    long, short = "x;y\n" * 100, "a,b;c\n"
    monkeypatch.setattr(text_heads, "SAMPLE", 40)
    assert text_heads.first_lines(iter(["\n", short, "v;w\n", long, short]), tmp_path) == ["\n", short, "v;w\n"]
    assert text_heads.first_lines(iter(["\n", long, short]), tmp_path) == ["\n", long]


### the reader of wide files

CELLS = st.sampled_from(["a", "", " b ", "é", "1.5", '"q,r"', '"two\nlines"', '"say ""so"""', "x\0y", "'"])


@trials(40)
@given(
    st.lists(st.lists(CELLS, min_size=1, max_size=4), max_size=6),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.integers(1, 3),
    st.sampled_from([1, 3]),
)
def test_the_reader_of_wide_files_reads_what_arrow_reads(rows: list[list[str]], end: str, n: int, times: int) -> None:
    rows = [(row * times)[:n] for row in rows]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        path.write_bytes(end.join([",".join("abc"[:n]), *map(",".join, rows), ""]).encode())
        assert cells_of(path, most=1 << 15) == cells_of(path, most=0)


def cells_of(path: Path, most: int) -> object:
    """The cells by all rows at once and by batches, or the name of the error of both."""
    found = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_heads, "WIDE", most)
        patch.setattr(text_heads, "CELLS", 2)
        for way in (file_table, batches):
            try:
                found.append(way(path).to_pydict())
            except BayeslearnError as error:
                found.append(str(error))
    assert found[0] == found[1]
    return found[0]


def batches(path: Path) -> pa.Table:
    """All batches of a file."""
    read = [[column.data.cast(pa.string()) for column in batch] for batch in read_batches(str(path), None)]
    names = file_table(path).column_names
    return pa.table([pa.chunked_array(list(parts), pa.string()) for parts in zip(*read, strict=True)] or
                    [pa.array([], pa.string())] * len(names), names=names)  # fmt: skip


def test_a_wide_file_with_a_short_line_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_heads, "WIDE", 0)
    (tmp_path / "rows.csv").write_text("a,b\n1,2\n3\n")
    with pytest.raises(FormatError, match="line 3: expected 2 fields, found 1"):
        as_table(tmp_path / "rows.csv")


### patterns of few values, and of many

TEXTS = st.one_of(
    st.text(alphabet="0123456789.,-+()%$€ '’\u00a0\u202fekrU SDzł/:TZAMPamp\n\t\x0b", max_size=12),
    st.sampled_from(["$1,234.56", "1.234,56 €", "12 %", "1'234", "2013-07-04 05:15", "4.7.13", "17:30", "1e5", "₿1"]),
)


@trials(200)
@given(st.lists(TEXTS, min_size=1, max_size=5))
def test_few_values_fit_the_formats_that_many_fit(values: list[str]) -> None:
    few = pa.array(values)
    for pattern in (NUMBER, *(p for p, _ in formats.FORMATS.values()), *formats.DATES.values(), formats.DIGITS):
        text = formats.trimmed(few)
        arrow = bool(pc.all(pc.match_substring_regex(text, rf"^(?:{pattern})$")).as_py())
        assert formats.matches(formats.texts(few), pattern) == arrow, pattern
    for mark in formats.MARK.values():
        arrow = bool(pc.any(pc.match_substring_regex(formats.trimmed(few), mark)).as_py())
        assert formats.shows(formats.texts(few), mark) == arrow
