"""A received database is data: it is read and nothing else, whatever its views and the question ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import duckdb
import pytest

import bayeslearn as bl
from bayeslearn.errors import BayeslearnError, FormatError, ParameterError
from bayeslearn.sources.duckdb_source import CLOSED, connected
from tests.cli.asking import tell

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def received(tmp_path: Path) -> Path:
    """A database whose views read files of this machine."""
    (tmp_path / "secret.csv").write_text("k,v\na,1\nb,2\n")
    path = tmp_path / "received.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("create table t as select range % 3 as a, range % 2 as b from range(60)")
        connection.execute('create table "odd; name" as select * from t')
        connection.execute("create schema other; create table other.u as select * from t")
        connection.execute("create view good as select a, b from t where a > 0")
        for name, asked in EVIL.items():
            connection.execute(f"create view {name} as {asked.format(tmp_path)}")
    return path


EVIL = {
    "reads": "select * from read_csv('{}/secret.csv')",
    "names": "select * from '{}/secret.csv'",
    "looks": "select * from glob('{}/*')",
    "tests": "select a, b from t where exists (select * from read_text('{}/secret.csv'))",
}


@pytest.mark.parametrize(
    "asked", ["t", "good", "odd; name", "other.u", 'main."t"', "select * from t", "FROM\nt", "from t;"]
)
def test_tables_views_and_one_select_are_read(received: Path, asked: str) -> None:
    assert bl.scan(received, table=asked, discrete=True).schema.names == ("a", "b")


@pytest.mark.parametrize("view", EVIL)
def test_views_that_read_files_are_refused(received: Path, view: str) -> None:
    with pytest.raises(ParameterError, match=r"reads what is not in the database: .*disabled by configuration"):
        bl.scan(received, table=view)


@pytest.mark.parametrize(
    "asked",
    [
        "copy t to '{}/out.csv'", "select 1 as a; copy t to '{}/out.csv'", "attach '{}/out.csv' as x", "install httpfs",
        "export database '{}/out.csv'", "set threads = 1", "pragma database_list", "create table z as select 1", "",
        "insert into t values (1, 2)", "call pragma_version()", "; ;", "explain select 1", "load httpfs",
    ],
)  # fmt: skip
def test_a_question_is_one_select(received: Path, tmp_path: Path, asked: str) -> None:
    with pytest.raises(ParameterError, match=r"is not one SELECT: DuckDB takes it for|DuckDB cannot read"):
        bl.scan(received, table=asked.format(tmp_path))
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize("asked", ["select * from read_csv('{}/secret.csv')", "select * from '{}/secret.csv'"])
def test_a_question_reads_no_files(received: Path, tmp_path: Path, asked: str) -> None:
    with pytest.raises(ParameterError, match="reads what is not in the database"):
        bl.scan(received, table=asked.format(tmp_path))


def test_variables_of_python_are_no_tables(received: Path) -> None:
    rows: Any = bl.as_table({"a": ["x", "y"]})
    assert rows is not None
    with pytest.raises(ParameterError, match="DuckDB cannot read 'rows'"):
        bl.scan(received, table="rows")


def test_the_verb_writes_no_file(received: Path, tmp_path: Path) -> None:
    code, _, sentence = tell("scan", str(received), "--table", f"copy t to '{tmp_path}/out.csv'")
    assert code in {1, 2}
    assert "is not one SELECT: DuckDB takes it for 'COPY'" in sentence
    assert not (tmp_path / "out.csv").exists()


def test_all_settings_are_in_force_and_locked(received: Path) -> None:
    connection = connected(received, None)
    wanted = CLOSED | {"python_enable_replacements": "false", "lock_configuration": "true", "access_mode": "read_only"}
    for name, value in wanted.items():
        found = connection.execute(f"select current_setting('{name}')").fetchone()[0]
        assert str(found).lower() == value, name
        other = "automatic" if name == "access_mode" else "true" if value == "false" else "false"
        with pytest.raises(duckdb.Error, match=r"locked|Cannot|cannot"):
            connection.execute(f"set {name} = '{other}'")
    with pytest.raises(duckdb.Error, match="read-only"):
        connection.execute("create table more (a int)")


@pytest.mark.parametrize(
    "asked",
    [
        "select * from st_read('map.shp')",
        "select * from sqlite_scan('other.db', 't')",
        "select * from read_json('{}/secret.csv')",
        "select * from glob('{}/*')",
    ],
)
def test_what_needs_an_extension_or_a_file_is_refused(received: Path, tmp_path: Path, asked: str) -> None:
    with pytest.raises(ParameterError, match=r"reads what is not in the database|DuckDB cannot read"):
        bl.scan(received, table=asked.format(tmp_path))


def test_a_view_of_a_view_that_reads_a_file_is_refused(received: Path) -> None:
    with duckdb.connect(str(received)) as connection:
        connection.execute(f"create view behind as select * from {next(iter(EVIL))}")
    with pytest.raises(BayeslearnError, match=r"reads what is not in the database|DuckDB"):
        bl.scan(received, table="behind")


def test_relations_of_the_user_are_theirs(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("k,v\na,x\nb,y\n")
    assert bl.scan(duckdb.sql(f"select * from '{tmp_path}/rows.csv'")).n_rows == 2


def test_what_does_not_fit_goes_to_the_disk(tmp_path: Path) -> None:
    path = tmp_path / "large.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("create table t as select range % 1000 as a, range % 7 as b from range(3000000)")
    source = bl.scan(path, table="select a, b from t order by hash(a + b * 13)", memory_limit="60MB", discrete=["b"])
    assert source.n_rows == 3_000_000


def test_a_damaged_database_is_named(tmp_path: Path) -> None:
    path = tmp_path / "rows.duckdb"
    path.write_bytes(b"no database" * 1000)
    with pytest.raises(FormatError, match="DuckDB cannot open"):
        bl.scan(path, table="t")
    with pytest.raises(BayeslearnError, match="which table"):
        bl.scan(duckdb.connect(), table=None)
