"""A source shows what a table of the same rows shows."""

from __future__ import annotations

import tempfile
import threading
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bayeslearn as bl
from bayeslearn.errors import (
    BayeslearnError,
    CapacityError,
    EmptyTableError,
    InputFileNotFoundError,
    ParameterError,
    UnknownColumnError,
    UnknownStateError,
)
from bayeslearn.sources import as_source, base, is_source
from bayeslearn.sources.engines import ThreadEngine
from bayeslearn.tables import DiscreteVariable, Schema, as_table
from bayeslearn.tables.source_protocol import Sum
from tests.properties import trials
from tests.sources.messy import arrow, columns, pieces, write


def outcome(work: Any) -> Any:
    """What comes of it: a result, or the class of the error."""
    try:
        return work()
    except BayeslearnError as error:
        return type(error)


### the same schema, the same rows


@trials(60)
@given(columns(), st.lists(st.integers(0, 60), max_size=4), st.sampled_from(["csv", "parquet", "batches", "sql"]))
def test_shows_what_a_table_shows(data: dict[str, list[Any]], cuts: list[int], kind: str) -> None:
    parts = pieces(data, cuts)
    with tempfile.TemporaryDirectory() as folder:
        if kind == "csv":
            write(folder, [data], "csv")
            whole = outcome(lambda: as_table(f"{folder}/part-000.csv"))
            found = outcome(lambda: bl.scan(write(folder, parts, "csv")))
        else:
            given_to = {"parquet": write(folder, parts, "parquet"), "batches": [arrow(p) for p in parts]}
            rows = arrow(data)
            whole = outcome(lambda: as_table(rows))
            found = outcome(lambda: bl.scan(duckdb.from_arrow(rows) if kind == "sql" else given_to[kind]))
        if isinstance(whole, type):
            assert found == whole
            return
        assert found.schema == whole.schema
        assert found.missing() == whole.missing()
        assert found.n_rows == len(found) == whole.n_rows
        assert found.table() == whole
        assert found.fold(lambda table: table.n_rows) == whole.n_rows
        assert as_table(found) == whole


@pytest.fixture
def days(tmp_path: Any) -> Any:
    """Three files whose dictionaries are in different orders, with holes and a column of weights."""
    parts = [
        {"wind": ["weak", "strong", None], "hours": [1.5, 2.0, 3.25], "n": [1.0, 2.0, 0.5]},
        {"wind": ["strong", "weak"], "hours": [None, 7.5], "n": [3.0, 1.0]},
        {"wind": ["calm"], "hours": [0.25], "n": [2.0]},
    ]
    for number, part in enumerate(parts):
        table = pa.table(part | {"wind": pa.array(part["wind"], pa.string()).dictionary_encode()})
        pq.write_table(table, tmp_path / f"day-{number}.parquet")
    return tmp_path


def test_dictionaries_of_different_order(days: Any) -> None:
    source = bl.scan(f"{days}/*.parquet", sample_weight="n")
    assert source.schema["wind"].states == ("calm", "strong", "weak")
    assert source.table().column("wind").tolist() == ["weak", "strong", None, "strong", "weak", "calm"]
    assert source.total_weight == 9.5
    assert source.missing() == {"wind": 1, "hours": 1}


def test_directories_and_lists_are_sources(days: Any) -> None:
    files = [days / "day-0.parquet", days / "day-2.parquet"]
    assert as_source(str(days), columns=["wind"]).n_rows == 6
    assert as_source(files).n_rows == 4
    assert is_source(str(days))
    assert is_source(f"{days}/day-*.parquet")
    assert not is_source(files[0])
    assert not is_source({"a": [1]})
    assert as_source(files[0], columns=["wind"]).schema == as_table(files[0], columns=["wind"]).schema


def test_declared_by_the_words_of_as_table(days: Any) -> None:
    source = bl.scan(f"{days}/*.parquet", columns=["wind", "hours"])
    known = Schema([DiscreteVariable("wind", ["weak", "strong", "calm"])])
    assert as_source(source, schema=known).table().codes_of("wind").tolist() == [0, 1, -1, 1, 0, 2]
    other = as_source(source, columns=["hours"], discrete=["hours"])
    assert other.schema["hours"].states == (0.25, 1.5, 2.0, 3.25, 7.5)
    short = Schema([DiscreteVariable("wind", ["weak", "strong"])])
    with pytest.raises(UnknownStateError, match=r"day-2\.parquet.*'calm' in row 0"):
        source.with_schema(short).table()
    assert source.with_schema(short, handle_unknown="missing").missing() == {"wind": 2}
    more = Schema([*known, DiscreteVariable("rain", ["no", "yes"])])
    assert source.with_schema(more, missing_columns="missing").missing() == {"wind": 1, "rain": 6}
    with pytest.raises(UnknownColumnError, match="'rain'"):
        source.with_schema(more).table()


def test_a_schema_that_is_given_needs_no_look(days: Any) -> None:
    wind = Schema([DiscreteVariable("wind", ["weak", "strong", "calm"])])
    source = bl.scan(f"{days}/*.parquet", schema=wind)
    assert source.digest is None
    assert source.n_rows == 6
    assert source.declared(columns=["hours"]).schema["hours"].name == "hours"


def test_batches_of_a_wished_size(days: Any) -> None:
    source = bl.scan(f"{days}/*.parquet", columns=["hours"])
    for n in (1, 2, 4, 5, 6, 7):
        parts = list(source.batches(n))
        assert [len(p) for p in parts[:-1]] == [n] * (len(parts) - 1)
        assert bl.Table.concat(parts) == source.table()


def test_small_batches_give_the_same(days: Any) -> None:
    source = bl.scan(f"{days}/*.parquet", sample_weight="n", memory_limit="64KB")
    assert source.batch_rows == 1024
    assert source.table() == bl.scan(f"{days}/*.parquet", sample_weight="n").table()


### databases


def test_a_table_of_a_database(tmp_path: Any) -> None:
    path = tmp_path / "days.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("create table days as select * from (values ('weak', 1.5), ('strong', null)) t(wind, hours)")
    source = bl.scan(path, table="days", memory_limit="256MB", allow_constant=True)
    assert source.table().to_dict() == {"wind": ["weak", "strong"], "hours": [1.5, None]}
    assert bl.scan(path, table="select wind from days order by wind").table().to_dict() == {"wind": ["strong", "weak"]}
    with pytest.raises(ParameterError, match="which table"):
        bl.scan(path)
    with pytest.raises(ParameterError, match="cannot read 'nights'"):
        bl.scan(path, table="nights")


def test_names_that_sql_would_misread() -> None:
    odd = 'a "quoted", name'
    relation = duckdb.from_arrow(pa.table({odd: ["x", "y"], "select": ["u", "v"]}))
    assert bl.scan(relation).table().to_dict() == {odd: ["x", "y"], "select": ["u", "v"]}


### what is wrong is told


def test_bad_input(tmp_path: Any) -> None:
    with pytest.raises(InputFileNotFoundError, match="no file matches"):
        bl.scan(f"{tmp_path}/*.parquet")
    with pytest.raises(InputFileNotFoundError, match="no such file"):
        bl.scan([tmp_path / "one.parquet"])
    with pytest.raises(InputFileNotFoundError, match="no such file"):
        bl.scan(tmp_path / "none.duckdb", table="t")
    with pytest.raises(ParameterError, match="mounts"):
        bl.scan("s3://bucket/*.parquet")
    with pytest.raises(ParameterError, match="cannot scan int"):
        bl.scan(3)
    with pytest.raises(ParameterError, match="only once"):
        bl.scan(iter([{"a": ["x"]}]))
    with pytest.raises(ParameterError, match="source already"):
        bl.scan(as_table({"a": ["x", "y"]}))
    with pytest.raises(EmptyTableError, match="no rows"):
        bl.scan([])
    with pytest.raises(ParameterError, match="no files to read"):
        bl.scan(tmp_path)
    (tmp_path / "one.csv").write_text("a,b\nx,y\nu,v\n")
    with pytest.raises(ParameterError, match="size such as"):
        bl.scan(tmp_path, memory_limit="much")
    with pytest.raises(ParameterError, match="column of it"):
        as_source(bl.scan([{"a": ["x", "y"]}]), sample_weight=np.ones(2))


def test_an_error_names_its_batch() -> None:
    source = bl.scan([{"a": ["x", "y"]}, {"a": ["z"]}]).with_schema(Schema([DiscreteVariable("a", ["x", "y"])]))
    with pytest.raises(UnknownStateError, match="'z'") as caught:
        source.fold(len)
    assert caught.value.__notes__ == ["in batch 1"]


def test_columns_that_files_lack_are_missing_if_they_may_be(days: Any) -> None:
    more = Schema([DiscreteVariable("wind", ["weak", "strong", "calm"]), DiscreteVariable("rain", ["no", "yes"])])
    source = as_source(f"{days}/*.parquet", schema=more, missing_columns="missing")
    assert source.missing() == {"wind": 1, "rain": 6}
    with pytest.raises(UnknownColumnError, match="'rain'"):
        as_source(f"{days}/*.parquet", schema=more)
    with pytest.raises(UnknownColumnError, match="'m'"):
        as_source(f"{days}/*.parquet", schema=more, missing_columns="missing", sample_weight="m")


def test_what_is_missing_is_said_once(days: Any) -> None:
    source = bl.scan(f"{days}/*.parquet", na_values=["calm"], columns=["wind"])
    assert as_source(source, na_values=["calm"]).missing() == {"wind": 2}
    with pytest.raises(ParameterError, match="settled for this source"):
        as_table(source, na_values=["weak"])
    named = source.with_schema(Schema([DiscreteVariable("wind", ["weak", "strong", "calm"])]))
    assert named.missing() == named.table().missing() == {"wind": 1}


def test_tables_keep_their_weights() -> None:
    table = as_table({"a": ["x", "y"], "n": [2.0, 0.5]}, sample_weight="n")
    source = bl.scan([table, table])
    assert source.total_weight == 5
    assert source.fold(lambda t: t.total_weight) == 5


def test_more_rows_than_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    source = bl.scan([{"a": ["x", "y"]}])
    monkeypatch.setattr(base, "free_memory", lambda: 3)
    with pytest.raises(CapacityError, match="2 rows in memory"):
        source.table()


### sums


@given(st.lists(st.one_of(st.none(), st.integers()), max_size=20))
def test_sums_do_not_depend_on_threads(values: list[int | None]) -> None:
    told: list[Any] = []
    plain: Sum[int] = Sum()
    for value in values:
        plain.add(value)
    assert ThreadEngine(3).fold(lambda v: v, values, told.append) == plain.total
    assert sorted(told, key=str) == sorted(values, key=str)
    assert plain.total == (sum(v for v in values if v is not None) if any(v is not None for v in values) else None)


def test_an_error_ends_all_and_is_that_of_the_first_shard() -> None:
    late = threading.Event()

    def work(v: int) -> int:
        if v == 1:
            late.wait(0.2)  # the second one fails before
        if v in {1, 2}:
            late.set()
            raise ValueError(f"shard {v}")
        return v

    for _ in range(5):
        late.clear()
        with pytest.raises(ValueError, match="shard 1"):
            ThreadEngine(2).fold(work, [0, 1, 2, 3], lambda _: None)


def test_whole_numbers_past_int64(tmp_path: Any) -> None:
    """A column of unsigned numbers is read alike at once and by batches."""
    path = tmp_path / "large.parquet"
    pq.write_table(pa.table({"n": pa.array([2**63 + 5, 2, 3] * 5, pa.uint64()), "b": ["x", "y", "z"] * 5}), path)
    assert bl.scan(path).table() == bl.as_table(path)
    assert bl.scan(path).schema["n"].states == (2, 3, 2**63 + 5)
