"""The verb sample: random cases to a file or to stdout."""

from __future__ import annotations

import pyarrow.parquet
import pytest

from bayeslearn import BayesianNetwork, as_table, read_network, write_network
from bayeslearn.cli import network_sample, progress, table_writer
from tests.cli.asking import ask, fail, said


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_file_of_cases(tmp_path, ending):
    path = tmp_path / f"cases.{ending}"
    assert ask("sample", "asia", "-n", "50", "--seed", "3", "-o", str(path)) == ""
    network = read_network("asia")
    assert as_table(path, schema=network.schema) == network.sample(50, random_state=3)
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_stdout_is_the_csv_file(tmp_path):
    text = ask("sample", "asia", "-n", "4", "--seed", "1")
    assert text.splitlines()[0] == ",".join(read_network("asia").variables)
    assert len(text.splitlines()) == 5
    ask("sample", "asia", "-n", "4", "--seed", "1", "-o", str(tmp_path / "a.csv"))
    assert (tmp_path / "a.csv").read_text() == text
    assert text != ask("sample", "asia", "-n", "4", "--seed", "2")


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_nothing_but_the_header(tmp_path, ending):
    path = tmp_path / f"none.{ending}"
    ask("sample", "asia", "-n", "0", "-o", str(path))
    assert path.stat().st_size > 0
    if ending == "parquet":
        assert pyarrow.parquet.read_table(path).column_names == list(read_network("asia").variables)


def test_states_come_as_they_are_written(tmp_path):
    states = {"a, b": ["one, two", 'say "no"'], "n": [3, 7], "t": [True, False], "mixed": [1, "x"]}
    network = BayesianNetwork.from_tables([], {name: [0.5, 0.5] for name in states}, states=states)
    write_network(network, tmp_path / "odd.json")
    expected = network.sample(20, random_state=0).to_dict()
    for ending in ("csv", "parquet"):
        path = tmp_path / f"odd.{ending}"
        ask("sample", str(tmp_path / "odd.json"), "-n", "20", "--seed", "0", "-o", str(path))
        found = as_table(path).to_dict()
        assert {name: list(map(str, column)) for name, column in found.items()} == {
            name: list(map(str, column)) for name, column in expected.items()
        }
    parquet = pyarrow.parquet.read_table(tmp_path / "odd.parquet")
    kinds = [str(getattr(field.type, "value_type", field.type)) for field in parquet.schema]
    assert dict(zip(parquet.column_names, kinds, strict=True)) == {
        "a, b": "string",
        "n": "int64",
        "t": "bool",
        "mixed": "string",
    }


def test_batches_and_a_bar(tmp_path, monkeypatch):
    monkeypatch.setattr(network_sample, "BATCH", 7)
    monkeypatch.setattr(progress, "PATIENCE", -1.0)
    words = ["sample", "asia", "-n", "30", "--seed", "3", "-o", str(tmp_path / "cases.csv")]
    assert said(*words).splitlines()[0] == f"wrote {tmp_path / 'cases.csv'}: 30 rows, 8 columns"  # no bar in a pipe
    network = read_network("asia")
    assert as_table(tmp_path / "cases.csv", schema=network.schema) == network.sample(30, random_state=3)
    monkeypatch.setenv("FORCE_COLOR", "1")  # as on a terminal
    monkeypatch.setenv("TERM", "xterm")
    shown = said(*words)
    assert "drawing" in shown
    assert "100%" in shown


def test_half_a_file_is_never_seen(tmp_path, monkeypatch):
    def broken(schema, tables):
        yield b"half"
        raise OSError("the disk is full")

    monkeypatch.setattr(table_writer, "csv_chunks", broken)
    (tmp_path / "cases.csv").write_text("before")
    with pytest.raises(OSError, match="the disk is full"):
        ask("sample", "asia", "-n", "3", "-o", str(tmp_path / "cases.csv"))
    assert (tmp_path / "cases.csv").read_text() == "before"
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["asia", "-n", "3", "-o", "cases.doc"], 2, "cannot tell the format of 'cases.doc'"),
        (["asia", "-n", "-3"], 2, "`--n-samples` must be at least 0, got -3"),
        (["asia", "-n", "3", "--seed", "-1"], 2, "`--seed` must be at least 0, got -1"),
        (["no-such.bif", "-n", "3"], 2, "no-such.bif"),
        (["asia", "-n", "3", "-o", "no-such-folder/cases.csv"], 2, "there is no folder"),
    ],
)
def test_failures_are_one_sentence(words, code, message):
    found, said = fail("sample", *words)
    assert (found, said.startswith("error: "), message in said) == (code, True, True), said
