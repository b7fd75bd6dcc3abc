"""The verb impute: all columns of a file as they were, with the missing cells of the network's variables filled."""

from __future__ import annotations

import csv

import numpy as np
import pandas as pd
import pyarrow.parquet
import pytest

from bayeslearn import as_table, fit_parameters, read_network, write_network
from bayeslearn.cli import progress, table_writer
from tests.cli.asking import ask, fail, said

ASIA = read_network("asia")
CASES = 'town,smoke,xray,note,tub\nA,yes,yes,"x, ""y""",no\nB,,no,01,?\n"C\nD",no,?,,NaN\n'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cases.csv").write_text(CASES)
    return tmp_path


### files in and out


def test_a_table_that_ships_is_filled_by_its_name(folder):
    ask("fit", "network", "chest-clinic", "--algorithm", "chow_liu", "-o", "net.json")
    assert ask("impute", "net.json", "chest-clinic").count("\n") == 1001


def test_only_missing_cells_of_the_network_change(folder):
    text = ask("impute", "asia", "cases.csv")
    full = as_table(ASIA.impute("cases.csv"), schema=ASIA.schema, missing_columns="missing")
    before, after = ([*csv.reader(lines.splitlines(keepends=True))] for lines in (CASES, text))
    assert before[0] == after[0]
    for i, (old, new) in enumerate(zip(before[1:], after[1:], strict=True)):
        for name, was, now in zip(before[0], old, new, strict=True):
            assert now == (full.row(i)[name] if name in ASIA and was in {"", "?", "NaN"} else was)
    assert said("impute", "asia", "cases.csv") == "filled 4 cells of 3 columns\n"


### some of the columns


def test_columns_that_are_not_named_stay_as_they_are(folder):
    every = ASIA.impute("cases.csv")
    for words, named in ((["--columns", "smoke,town"], {"smoke"}), (["--drop-columns", "xray"], {"smoke", "tub"})):
        text = ask("impute", "asia", "cases.csv", *words)
        rows = [*csv.DictReader(text.splitlines(keepends=True))]
        for name in ("smoke", "xray", "tub", "town", "note"):
            before = [row[name] for row in csv.DictReader(CASES.splitlines(keepends=True))]
            after = [row[name] for row in rows]
            assert after == (every[name].to_pylist() if name in named else before)
    assert said("impute", "asia", "cases.csv", "--columns", "smoke") == "filled 1 cells of 1 columns\n"


def test_other_columns_are_evidence_unless_they_are_dropped():
    rows = {"xray": ["yes"], "lung": [None], "smoke": [None]}
    p = ASIA.query({"xray": "yes"}, variables=["lung"])["lung"]
    assert p["yes"] < p["no"]
    table = as_table({"either": ["yes", None], "lung": [None, None]}, schema=ASIA.schema, missing_columns="missing")
    for given in (table, {"either": ["yes"], "lung": [None]}):
        full = ASIA.impute(given, columns=["lung"])
        first = full.row(0) if given is table else {"either": full["either"][0], "lung": full["lung"][0]}
        assert (first["either"], first["lung"]) == ("yes", "yes")
        full = ASIA.impute(given, drop_columns=["either"])
        first = full.row(0) if given is table else {"either": full["either"][0], "lung": full["lung"][0]}
        assert (first["either"], first["lung"]) == ("yes", "no")
    assert ASIA.impute(table, columns=["lung"]).missing()["either"] == 1
    assert ASIA.impute(rows, columns=["smoke"])["lung"] == [None]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_file_holds_what_stdout_shows(folder, ending):
    shown = f"wrote full.{ending}: 3 rows, filled 4 cells of 3 columns\n"
    assert said("impute", "asia", "cases.csv", "-o", f"full.{ending}") == shown
    read = pd.read_csv if ending == "csv" else pd.read_parquet
    (folder / "shown.csv").write_text(ask("impute", "asia", "cases.csv"))
    pd.testing.assert_frame_equal(
        read(f"full.{ending}").fillna("").astype(str).replace("1", "01"),
        pd.read_csv("shown.csv", dtype=str).fillna(""),
        check_dtype=False,
    )


def test_draws(folder):
    ask("sample", "asia", "-n", "200", "--seed", "1", "-o", "all.csv")
    pd.read_csv("all.csv").assign(lung=None, xray=None).to_csv("holes.csv", index=False)
    words = ["impute", "asia", "holes.csv", "--method", "sample", "--seed"]
    assert ask(*words, "1") == ask(*words, "1") != ask(*words, "2")
    ask(*words, "1", "-o", "full.csv")
    assert as_table("full.csv", schema=ASIA.schema) == as_table(
        ASIA.impute("holes.csv", method="sample", random_state=1), schema=ASIA.schema
    )


def test_columns_of_other_types(folder):
    """Parquet: numbers, truth values and categories are filled by states of their type; other columns stay."""
    frame = pd.DataFrame(
        {
            "day": pd.to_datetime(["2026-01-01"] * 6),
            "n": pd.array([1, 1, 2, None, 2, 1], "Int64"),
            "flag": pd.array([True, True, False, False, None, True], "boolean"),
            "kind": pd.Categorical(["b", "b", "a", "a", None, "b"], ["b", "a"]),
            "x": [0.1, None, 0.3, 1e-20, 5.0, 6.0],
        }
    )
    frame.to_parquet("cases.parquet")
    network = fit_parameters("[flag][n|flag][kind|flag]", frame, prior="laplace")
    write_network(network, "model.json")
    ask("impute", "model.json", "cases.parquet", "-o", "full.parquet")
    found = pyarrow.parquet.read_table("full.parquet").to_pydict()
    assert list(found) == ["day", "n", "flag", "kind", "x"]
    assert (found["n"], found["flag"]) == ([1, 1, 2, 2, 2, 1], [True, True, False, False, False, True])
    assert (found["kind"], found["x"]) == (
        ["b", "b", "a", "a", "a", "b"],
        frame["x"].astype(object).where(frame["x"].notna(), None).tolist(),
    )
    lines = ask("impute", "model.json", "cases.parquet").splitlines()
    assert lines[0] == "day,n,flag,kind,x"
    assert lines[4].endswith(",2,false,a,1e-20")
    assert lines[2].endswith(",1,true,b,")


def numbers(folder):
    """A network with numbers in intervals, and a file with missing cells."""
    x = np.linspace(0, 10, 40)
    frame = pd.DataFrame({"x": x, "y": np.where(x > 5, "high", "low"), "z": x})
    network = fit_parameters("[y][x|y]", frame, prior="laplace")
    write_network(network, "model.json")
    frame.assign(y=[*frame["y"][:-1], None], x=[None, *x[1:]]).to_csv("holes.csv", index=False)
    return x, network


def test_a_missing_number_is_filled_by_a_number(folder):
    x, network = numbers(folder)
    before, after = (
        (folder / "holes.csv").read_text().splitlines(),
        ask("impute", "model.json", "holes.csv").splitlines(),
    )
    assert after[2:-1] == before[2:-1]
    low = network["x"].variable.cuts[0]
    assert after[1] == f"{np.median(x[x <= low][:-1] if (x <= low).sum() % 2 == 0 else x[x <= low])},low,0.0"
    assert after[-1] == before[-1].replace(",,", ",high,")
    assert (
        ask("impute", "model.json", "holes.csv", "--method", "sample", "--seed", "3").splitlines()[2:-1] == before[2:-1]
    )


def test_numbers_come_back_as_intervals_on_demand(folder):
    x, network = numbers(folder)
    full = [*csv.DictReader(ask("impute", "model.json", "holes.csv", "--as-intervals").splitlines())]
    assert {row["x"] for row in full} == set(network.states("x"))
    table = network.impute("holes.csv", as_intervals=True).to_pydict()
    assert (full[-1]["y"], [row["x"] for row in full]) == ("high", table["x"])
    assert [float(row["z"]) for row in full] == x.tolist()


def test_batches_and_a_bar(folder, monkeypatch):
    from bayeslearn.network.parameters import em_steps

    ask("sample", "asia", "-n", "700", "--seed", "1", "-o", "all.csv")
    pd.read_csv("all.csv").mask(np.random.default_rng(0).random((700, 8)) < 0.2).to_csv("holes.csv", index=False)
    words = ["impute", "asia", "holes.csv", "--method", "sample", "--seed", "1"]
    whole = ask(*words)
    monkeypatch.setattr(em_steps, "MOST_CELLS", 0)
    monkeypatch.setattr(table_writer, "BATCH", 100)
    monkeypatch.setattr(progress, "PATIENCE", -1.0)
    assert ask(*words) == whole
    monkeypatch.setenv("FORCE_COLOR", "1")  # as on a terminal
    monkeypatch.setenv("TERM", "xterm")
    assert "imputing" in said(*words)


### mistakes


def test_an_impossible_row_is_named_by_its_number(folder):
    (folder / "never.csv").write_text("tub,either,lung\n" + "yes,yes,\n" * 3 + "yes,no,\n")
    code, sentence = fail("impute", "asia", "never.csv", "-o", "full.csv")
    assert (code, (folder / "full.csv").exists()) == (1, False)
    assert sentence.startswith("error: the evidence of row 3 is impossible: tub=yes, either=no cannot be together")


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["asia", "none.csv"], 2, "cannot read 'none.csv'"),
        (["no-such.bif", "cases.csv"], 2, "no-such.bif"),
        (["asia", "odd.csv", "--handle-unknown", "error"], 1, "column 'smoke' has state 'maybe' in row 1"),
        (["asia", "other.csv"], 2, "no column of 'other.csv' is a variable of the network"),
        (["asia", "empty.csv"], 1, "the table has no rows"),
        (["asia", "cases.csv", "-o", "full.doc"], 2, "cannot tell the format of 'full.doc'"),
        (["asia", "cases.csv", "-o", "no/full.csv"], 2, "there is no folder 'no'"),
        (["asia", "cases.csv", "--method", "mean"], 2, "unexpected value for `--method`: 'mean'"),
        (["asia", "cases.csv", "--method", "sample", "--seed", "-1"], 2, "`--seed` must be at least 0, got -1"),
        (["asia", "cases.csv", "--seed", "1"], 2, "--seed requires --method sample"),
        (["asia", "cases.csv", "--columns", "smok"], 2, "did you mean 'smoke'?"),
        (["asia", "cases.csv", "--drop-columns", "smok"], 2, "did you mean 'smoke'?"),
        (["asia", "cases.csv", "--json"], 2, "name a file for the rows: -o full.csv"),
    ],
)
def test_failures_are_one_sentence(words, code, message, folder):
    (folder / "odd.csv").write_text("smoke,lung\nyes,no\nmaybe,no\n")
    (folder / "other.csv").write_text("a,b\n1,2\n")
    (folder / "empty.csv").write_text("smoke,lung\n")
    found, sentence = fail("impute", *words)
    assert (found, message in sentence, "Traceback" in sentence) == (code, True, False), sentence
