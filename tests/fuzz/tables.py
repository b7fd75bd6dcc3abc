"""Files of rows: every reader gives the same cells of a text file, or all of them a named error.

all rows at once     cells as codes by the kernel; by Arrow; by Python, as files of very many columns are
batch by batch       by Arrow, by Python
as a table           as_table(path) == scan(path).table()
"""

from __future__ import annotations

import gzip
import io
import json
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock

import pyarrow as pa
import pyarrow.parquet as pq

from bayeslearn import as_table, scan
from bayeslearn.errors import BayeslearnError
from bayeslearn.naive_bayes.text.corpus_readers import read_corpus
from bayeslearn.sources.file_source import read_text
from bayeslearn.tables import fast_csv, file_readers, text_heads
from tests.fuzz.mutations import TEXTS, mutate_bytes, mutate_json_text
from tests.fuzz.trials import Target, refused, scratch

### files

WORDS = [
    "a",
    "b",
    "yes",
    "no",
    "",
    " ",
    "?",
    "NA",
    "1",
    "2",
    "01",
    "1.5",
    "-3e5",
    "12 %",
    "$1,234.50",
    "2013-07-04",
    "é",
]
ENDS = ["\n", "\n", "\r\n", "\r"]
ENCODINGS = ["utf-8", "utf-8", "utf-8", "utf-8-sig", "cp1252", "utf-16", "utf-16-be"]


def text_file(rng: Random, delimiter: str) -> bytes:
    """A table as text: most often a proper one, with a few things that are not."""
    n = rng.choice([1, 2, 2, 3, 5, 9])
    names = [rng.choice([f"c{i}", f"c{i}", f"c{i}", "c0", "", "a b", rng.choice(TEXTS)]) for i in range(n)]
    words = rng.sample(WORDS, rng.choice([2, 3, 6])) + ([rng.choice(TEXTS)] if rng.random() < 0.3 else [])
    end, mixed = rng.choice(ENDS), rng.random() < 0.2
    rows = [names, *([rng.choice(words) for _ in range(n)] for _ in range(row_count(rng, n)))]
    if rng.random() < 0.15:
        some = rng.choice(rows)
        some[rng.randrange(len(some)) :] = rng.choice([[], ["more", "more"]])
    quotes = rng.random() < 0.3
    text = "".join(
        delimiter.join(quoted(rng, cell, delimiter) if quotes else cell for cell in row)
        + (rng.choice(ENDS) if mixed else end)
        for row in rows
    )
    if rng.random() < 0.2:
        at = rng.randrange(len(text) + 1)
        text = text[:at] + rng.choice([end, end * 2, "\r", "\n", '"', "\0", "#", delimiter, "sep=;\n"]) + text[at:]
    if rng.random() < 0.2:
        text = rng.choice([end, end * 3, "sep=;" + end, "# a comment" + end, " " + end]) + text
    if rng.random() < 0.2:
        text = text.rstrip("\r\n")
    return text.encode(rng.choice(ENCODINGS), "replace")


def row_count(rng: Random, n: int) -> int:
    """Few rows, or as many as make a file about as long as one that another reader reads."""
    about = fast_csv.SMALL // (2 * n)
    return rng.choice([0, 1, 2, 7, 65, rng.randrange(100)]) if rng.random() < 0.9 else about + rng.randrange(-30, 30)


def quoted(rng: Random, cell: str, delimiter: str) -> str:
    """A cell as CSV writes it, in quotation marks where it needs them or for no reason."""
    if rng.random() < 0.05:
        return rng.choice(
            [f'"{cell}', f'{cell}"', f'"{cell}"x', f' "{cell}"', f'"{cell}\n{cell}"', f'"{cell}{delimiter}"']
        )
    needed = any(mark in cell for mark in (delimiter, '"', "\n", "\r"))
    return '"' + cell.replace('"', '""') + '"' if needed or rng.random() < 0.2 else cell


def csv_file(rng: Random) -> bytes:
    """A CSV file, mutated in half of the trials."""
    data = text_file(rng, rng.choice([",", ",", ",", ";", "\t", "|"]))
    return mutate_bytes(rng, data) if rng.random() < 0.5 else data


def tsv_file(rng: Random) -> bytes:
    """A TSV file, mutated in half of the trials."""
    data = text_file(rng, "\t")
    return mutate_bytes(rng, data) if rng.random() < 0.5 else data


def gz_file(rng: Random) -> bytes:
    """A packed CSV file, in half of the trials mutated after it was packed."""
    data = csv_file(rng)
    packed = (
        gzip.compress(data[: len(data) // 2], mtime=0) + gzip.compress(data[len(data) // 2 :], mtime=0)
        if rng.random() < 0.3
        else None
    )
    packed = packed or gzip.compress(data, mtime=0)
    return mutate_bytes(rng, packed) if rng.random() < 0.5 else packed


### every reader


def by_batches(path: Path) -> dict[str, list[str]]:
    """The cells that batches hold."""
    found: dict[str, list[str]] = {}
    for batch in read_text(str(path), None):
        for column in batch:
            found.setdefault(column.name, []).extend(column.data.to_pylist())
    return found or {name: [] for name in file_readers.column_names(path)}


def at_once(path: Path) -> dict[str, list[str]]:
    """The cells that are read at once."""
    return dict(file_readers.file_table(path).to_pydict())


@contextmanager
def kernel() -> Iterator[None]:
    """Small files read by the kernel too."""
    with mock.patch.object(fast_csv, "SMALL", 0):
        yield


@contextmanager
def python() -> Iterator[None]:
    """All files read as those of very many columns, a few rows at a time."""
    with (
        mock.patch.object(text_heads, "WIDE", 0),
        mock.patch.object(text_heads, "CELLS", 40),
        mock.patch.object(fast_csv, "SMALL", 1 << 40),
    ):
        yield


@contextmanager
def arrow() -> Iterator[None]:
    """No file read by the kernel."""
    with mock.patch.object(fast_csv, "SMALL", 1 << 40):
        yield


@contextmanager
def short_blocks() -> Iterator[None]:
    """Blocks of 64 KB."""
    with (
        mock.patch.object(file_readers, "LEAST_BLOCK", 1 << 16),
        mock.patch.object(file_readers, "BLOCK_ROWS", 1),
        arrow(),
    ):
        yield


def outcome(read: Any, path: Path) -> tuple[Any, str]:
    """What a reader gives: cells, or the name of its error."""
    try:
        return read(path), ""
    except BayeslearnError as error:
        return type(error).__name__ if error.message.strip() else "an error without a word", str(error)


def read_by_all(data: bytes, name: str) -> None:
    """Read a text file in every way."""
    with scratch(data, name) as path, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        first, why = outcome(at_once, path)
        for way in (kernel, arrow, python, short_blocks):
            for read in (at_once, by_batches):
                with way():
                    other, reason = outcome(read, path)
                assert other == first, (
                    f"{read.__name__} by {way.__name__}: {other!r:.300} {reason!r:.300} != {first!r:.300} {why!r:.300}"
                )
        whole, why = outcome(lambda p: as_table(p, allow_constant=True, discrete=True), path)
        other, reason = outcome(lambda p: scan(p, allow_constant=True, discrete=True).table(), path)
        assert other == whole, f"{other!r:.300} {reason!r:.300} != {whole!r:.300} {why!r:.300}"
        whole, why = outcome(lambda p: as_table(p, allow_constant=True), path)
        other, reason = outcome(lambda p: scan(p, allow_constant=True).table(), path)
        assert other == whole, f"{other!r:.300} {reason!r:.300} != {whole!r:.300} {why!r:.300}"


### Parquet

FRAMES: list[dict[str, Any]] = [
    {"word": ["a", "b", None, "a"] * 9, "few": [1, 2, 3, 1] * 9, "x": [0.5, None, 1.5, 2.25] * 9},
    {"day": pa.array([0, 1, 2, 3] * 9, pa.timestamp("s")), "truth": [True, False, None, True] * 9},
    {"kind": pa.array(["é", "b", "é", "c"] * 9).dictionary_encode(), "n": pa.array([1, 2, 3, 4] * 9, pa.uint64())},
    {
        "lists": [[1], [], None, [2]] * 9,
        "bytes": [b"\xff", b"a", None, b""] * 9,
        "t": pa.array([1] * 36, pa.time32("s")),
    },
    {"exact": pa.array([1, 2, 3, 4] * 9, pa.decimal128(9, 2)), "wait": pa.array([1, 2, 3, 4] * 9, pa.duration("s"))},
]


def parquet_file(rng: Random) -> bytes:
    """A Parquet file, mutated most often; some hold text that is not UTF-8."""
    out = io.BytesIO()
    packing = rng.choice(["none", "snappy", "gzip", "zstd"])
    pq.write_table(pa.table(rng.choice(FRAMES)), out, compression=packing, row_group_size=rng.choice([5, 100]))
    data = out.getvalue()
    if rng.random() < 0.2:
        data = data.replace("é".encode(), b"\xe9\xff").replace(b"a", b"\xff", rng.randrange(3))
    return mutate_bytes(rng, data) if rng.random() < 0.8 else data


def read_parquet(data: bytes) -> None:
    """Read a Parquet file at once and by batches: the same table, or an error by both."""
    with scratch(data, "rows.parquet") as path, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        whole, why = outcome(lambda p: as_table(p, allow_constant=True), path)
        other, reason = outcome(lambda p: scan(p, allow_constant=True).table(), path)
        if not isinstance(whole, str) or not isinstance(other, str):
            assert other == whole, f"{other!r:.300} {reason!r:.300} != {whole!r:.300} {why!r:.300}"


### documents

DOCUMENTS = [{"text": "one two", "label": "a"}, {"text": "three é", "label": "b"}, {"text": "", "label": None}]


def json_lines(rng: Random) -> bytes:
    """Documents as JSON lines, mutated."""
    lines = [json.dumps(row, ensure_ascii=rng.random() < 0.5).encode() for row in DOCUMENTS * rng.choice([1, 3])]
    lines = [mutate_json_text(rng, line) if rng.random() < 0.3 else line for line in lines]
    data = rng.choice([b"\n", b"\r\n"]).join(lines)
    return mutate_bytes(rng, data) if rng.random() < 0.3 else data


def documents(rng: Random) -> bytes:
    """Documents as a CSV file, mutated most often."""
    rows = [["text", "label"], *([str(row["text"]), str(row["label"])] for row in DOCUMENTS * 3)]
    data = "".join(",".join(quoted(rng, cell, ",") for cell in row) + rng.choice(ENDS) for row in rows).encode()
    return mutate_bytes(rng, data) if rng.random() < 0.7 else data


def read_documents(data: bytes, name: str) -> None:
    """Read documents; each text is text, each label is known or None."""
    with scratch(data, name) as path, refused():
        corpus = read_corpus(path)
        assert all(isinstance(text, str) for text in corpus.texts)
        assert len(corpus.labels) in {0, len(corpus.texts)}


TARGETS = [
    Target("tables/csv", csv_file, lambda data: read_by_all(data, "rows.csv")),
    Target("tables/tsv", tsv_file, lambda data: read_by_all(data, "rows.csv_old.tsv")),
    Target("tables/gz", gz_file, lambda data: read_by_all(data, "rows.csv.GZ")),
    Target("tables/parquet", parquet_file, read_parquet),
    Target("tables/jsonl", json_lines, lambda data: read_documents(data, "rows.jsonl")),
    Target("tables/documents", documents, lambda data: read_documents(data, "rows.csv")),
]
