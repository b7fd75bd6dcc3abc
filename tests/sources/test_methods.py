"""A table, batches, files, a database and encoded rows give the same by every method of a source."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import cloudpickle
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from bayeslearn import as_table, scan
from bayeslearn.errors import DataError, UnknownColumnError
from bayeslearn.sources import encode_to_disk
from bayeslearn.tables import Source
from bayeslearn.tables.kept import size_of

if TYPE_CHECKING:
    from pathlib import Path

KINDS = ["table", "batches", "parquet", "csv", "sql", "encoded"]
N = 60


def made() -> dict[str, list[Any]]:
    """Sequences of one to nine rows, with texts, labels and numbers, some of them missing."""
    rng = np.random.default_rng(3)
    ids = np.repeat(np.arange(N), rng.integers(1, 10, N))[:N]
    texts = [" ".join(rng.choice([*"abcd"], rng.integers(1, 4))) for _ in range(N)]
    labels = [None if rng.random() < 0.2 else str(rng.choice(["ham", "spam"])) for _ in range(N)]
    return {
        "id": [f"s{i}" for i in ids.tolist()],
        "text": [None if rng.random() < 0.1 else text for text in texts],
        "label": labels,
        "x": [None if rng.random() < 0.1 else round(float(v), 3) for v in rng.normal(size=N)],
    }


def pieces(rows: dict[str, list[Any]], *, whole: bool) -> list[dict[str, list[Any]]]:
    """The rows in parts; if these are whole, none splits a sequence."""
    ids = rows["id"]
    ends = [0, *(i for i in range(1, N) if ids[i] != ids[i - 1])] if whole else [*range(0, N, 7)]
    ends = [*(ends[::3] if whole else ends), N]
    return [{name: cells[a:b] for name, cells in rows.items()} for a, b in pairwise(ends)]


def opened(kind: str, folder: Path) -> Source:
    """The same rows as a source of each kind."""
    rows, types = made(), {"x": pa.float64()}
    if kind == "table":
        return as_table(rows)
    if kind in {"batches", "encoded"}:
        found = scan(pieces(rows, whole=False))
        return found if kind == "batches" else encode_to_disk(found, folder / "encoded")
    if kind == "sql":
        return scan(pytest.importorskip("duckdb").from_arrow(pa.table(rows)))
    for number, part in enumerate(pieces(rows, whole=True)):
        arrow = pa.table({name: pa.array(cells, types.get(name, pa.string())) for name, cells in part.items()})
        if kind == "csv":
            pa.csv.write_csv(arrow, folder / f"part-{number:02}.csv")
        else:
            pq.write_table(arrow, folder / f"part-{number:02}.parquet", row_group_size=2)
    return scan(f"{folder}/*.{kind}")


@pytest.fixture(params=KINDS)
def source(request: pytest.FixtureRequest, tmp_path: Path) -> Source:
    """A source of each kind."""
    found = opened(request.param, tmp_path)
    assert isinstance(found, Source)
    return found


def cells_of(columns: list[Any]) -> tuple[tuple[Any, ...], ...]:
    """Columns as tuples, which add."""
    return tuple(zip(*(column.data.to_pylist() for column in columns), strict=True))


def test_columns(source: Source) -> None:
    rows = made()
    found = source.fold_columns(["label", "id"], cells_of)
    known = [(label or None, name) for label, name in found]
    assert known == list(zip(rows["label"], rows["id"], strict=True))
    with pytest.raises(UnknownColumnError, match="'none'"):
        source.fold_columns(["none"], cells_of)


def test_map_and_facts(source: Source) -> None:
    sums = source.map(lambda table: np.nansum(table.values_of("x")))
    wanted = np.nansum(np.array(made()["x"], dtype=float))
    assert sums.fold(float) == pytest.approx(wanted, rel=1e-12)
    assert sum(sums.batches()) == pytest.approx(wanted, rel=1e-12)
    rows, total = source.facts([len, lambda table: float(np.nansum(table.values_of("x")))])
    assert rows == N
    assert total == pytest.approx(wanted, rel=1e-12)


def test_documents(source: Source) -> None:
    rows, found = made(), source.documents()
    texts = found.fold(lambda batch: tuple(str(text) for text in batch.texts))
    assert list(texts) == [text or "" for text in rows["text"]]
    assert [label for batch in found.batches() for label in batch.labels] == rows["label"]
    unlabeled = source.documents("text", "id").map(lambda batch: int((~batch.known).sum()))
    assert unlabeled.fold(int) == 0
    with pytest.raises(UnknownColumnError, match="'mail'"):
        source.documents("mail")
    if not is_text(source):
        with pytest.raises(DataError, match="which is no text"):
            source.documents("x").fold(len)


def is_text(source: Source) -> bool:
    """Whether all cells are text until they are read: of CSV files."""
    return "csv" in str(getattr(source, "shards", ""))


def numbers(columns: list[Any]) -> tuple[Any, None]:
    """The column x as floats."""
    (x,) = (column.data for column in columns if column.name == "x")
    return np.array([np.nan if v in {None, ""} else float(v) for v in x.to_pylist()]), None


def test_runs(source: Source) -> None:
    rows = made()
    found = source.runs("id", numbers, ["x"])
    ids = [name for batch in found.batches() for name in batch.ids]
    assert ids == list(dict.fromkeys(rows["id"]))
    lengths = found.fold(lambda batch: tuple(batch.lengths.tolist()))
    assert list(lengths) == [rows["id"].count(name) for name in ids]
    values = np.concatenate([batch.arrays[0] for batch in found.batches()])
    assert values == pytest.approx(np.array(rows["x"], dtype=float), nan_ok=True)


def test_kept(source: Source) -> None:
    asked = []

    def work(table: Any) -> Any:
        asked.append(table.n_rows)
        return table.values_of("x")

    kept, again = source.kept(work, 1 << 20), source.map(lambda table: table.values_of("x"))
    for _ in range(3):
        assert kept.fold(np.nansum) == again.fold(np.nansum)
    assert sum(asked) == N
    assert sum(map(len, kept.batches())) == N
    asked.clear()
    little = source.kept(work, 64)
    assert little.fold(len) == little.fold(len) == N
    assert sum(asked) == 2 * N


def test_errors_name_the_file_and_the_row(tmp_path: Path) -> None:
    for number, ids in enumerate([["a", "a"], ["b", None, "c"]]):
        pq.write_table(pa.table({"id": ids, "x": [1.0] * len(ids)}), tmp_path / f"{number}.parquet", row_group_size=1)
    files = scan(f"{tmp_path}/*.parquet", columns=["x"], allow_constant=True)
    with pytest.raises(DataError, match=r"1\.parquet': row 1 has no 'id'"):
        files.runs("id", numbers, ["x"]).fold(len)

    def refuse(columns: list[Any]) -> int:
        gone = np.array(columns[0].data.is_null())
        if gone.any():
            raise DataError(f"row {int(gone.argmax())} is odd", row=int(gone.argmax()))
        return len(gone)

    with pytest.raises(DataError, match=r"1\.parquet': row 1 is odd"):
        files.fold_columns(["id"], refuse)
    batches = scan([{"id": ["a"], "x": [1.0]}, {"id": [None], "x": [2.0]}], columns=["x"])
    with pytest.raises(DataError, match="row 0 is odd") as told:
        batches.fold_columns(["id"], refuse)
    assert told.value.__notes__ == ["in batch 1"]


def test_weights_of_documents() -> None:
    table = as_table({"text": ["a", "b"]}, sample_weight=[2.0, 0.5])
    assert next(table.documents().batches()).sample_weight.tolist() == [2.0, 0.5]


def test_what_reads_may_travel(tmp_path: Path) -> None:
    files: Any = opened("parquet", tmp_path)
    parts, reads = files._parts(("x",), numbers, rows=None, whole_files=True)
    sent = cloudpickle.loads(cloudpickle.dumps(reads))
    assert sum(len(values) for values, _ in sent(parts[0])) == parts[0].rows


def test_sizes() -> None:
    table = as_table({"x": np.arange(1000.0)})
    assert 8000 <= size_of(table) < 10_000
    circle: list[Any] = [np.zeros(10)]
    circle.append(circle)
    assert 80 <= size_of(circle) < 1000
    assert size_of((np.zeros(10), {"a": np.zeros(10)})) >= 160


def test_an_error_leaves_a_connection_free() -> None:
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    connection.execute("create table t as select range as x, range % 2 as y from range(300000)")
    source = scan(connection.table("t"), discrete=["y"])

    def refuse(_: Any) -> int:
        raise DataError("never")

    told = []
    for work in (lambda: source.fold(refuse), lambda: source.fold_columns(["x"], refuse)):
        with pytest.raises(DataError, match="never") as error:
            work()
        told.append(error)  # with its traceback, and what that refers to
    assert source.fold(len) == 300_000
