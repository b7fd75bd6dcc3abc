"""The verb predict: the most probable states for every row of a file, and how good they are."""

from __future__ import annotations

import math

import hypothesis
import numpy as np
import pyarrow.parquet
import pytest
from hypothesis import strategies as st

from bayeslearn import BayesianNetwork, as_table, read_network, write_network
from bayeslearn.cli import progress, table_writer
from bayeslearn.network.inference import results
from tests.cli.asking import ask, fail, result, said
from tests.oracle.networks import given, marginal, random_network

CASES = "smoke,xray,town,lung\nyes,yes,A,yes\nno,?,B,no\n,yes,C,yes\nyes,no,D,\n"


@pytest.fixture
def cases(tmp_path):
    path = tmp_path / "cases.csv"
    path.write_text(CASES)
    return path


def read(text):
    """The columns of a CSV text."""
    head, *rows = (line.split(",") for line in text.splitlines())
    return {name: [row[i] for row in rows] for i, name in enumerate(head)}


### answers


def test_answers_are_those_of_the_joint(tmp_path):
    network = random_network(4, 6)
    write_network(network, tmp_path / "net.json")
    table = network.sample(25, random_state=0).mask(network.variables[:1])
    columns = table.drop(network.variables[:1]).to_dict()
    lines = [",".join(columns), *(",".join(row) for row in zip(*columns.values(), strict=True))]
    (tmp_path / "cases.csv").write_text("\n".join(lines))
    targets = [network.variables[0], network.variables[3]]
    words = ["predict", str(tmp_path / "net.json"), str(tmp_path / "cases.csv")]
    ask(*words, "--target", ",".join(targets), "-o", str(tmp_path / "found.csv"))
    found = read((tmp_path / "found.csv").read_text())

    names = [c for t in targets for c in (t, *(f"P({t}={state})" for state in network.states(t)))]
    assert list(found) == [*names, "log_evidence"]
    for i, row in enumerate(table.rows()):
        evidence = {name: state for name, state in row.items() if state is not None and name not in targets}
        joint = given(network, evidence)
        assert float(found["log_evidence"][i]) == pytest.approx(np.log(joint.sum()), rel=1e-12)
        for target in targets:
            p = marginal(joint, network.variables.index(target))
            assert found[target][i] == network.states(target)[p.argmax()]
            for state, expected in zip(network.states(target), p, strict=True):
                assert float(found[f"P({target}={state})"][i]) == pytest.approx(expected, rel=1e-12, abs=1e-15)


def test_holes_and_other_columns_are_not_observed(cases, tmp_path):
    ask("predict", "asia", str(cases), "--target", "lung", "-o", str(tmp_path / "lung.csv"))
    found = read((tmp_path / "lung.csv").read_text())
    rows = [{"smoke": "yes", "xray": "yes"}, {"smoke": "no"}, {"xray": "yes"}, {"smoke": "yes", "xray": "no"}]
    direct = read_network("asia").predict_proba(rows, variables=["lung"])
    assert found["lung"] == direct.most_probable("lung").tolist() == ["yes", "no", "no", "no"]
    np.testing.assert_allclose(np.array(found["P(lung=yes)"], float), direct["lung"][:, 0], rtol=1e-13)
    np.testing.assert_allclose(np.array(found["log_evidence"], float), direct.log_evidence, rtol=1e-13)


def test_only_states(cases, tmp_path):
    words = ["predict", "asia", str(cases), "--target", "lung,tub,lung", "--no-proba"]
    assert ask(*words) == "lung,tub\nyes,no\nno,no\nno,no\nno,no\n"
    ask(*words, "-o", str(tmp_path / "states.parquet"))
    assert pyarrow.parquet.read_table(tmp_path / "states.parquet").column_names == ["lung", "tub"]


def test_stdout_is_for_people_and_files_keep_every_digit(cases, tmp_path):
    words = ["predict", "asia", str(cases), "--target", "lung"]
    shown, kept = read(ask(*words)), result(ask(*words, "--json"))["columns"]
    assert ask(*words, "-o", str(tmp_path / "lung.csv")) == ""
    assert ask(*words, "-o", str(tmp_path / "lung.parquet")) == ""
    text, parquet = read((tmp_path / "lung.csv").read_text()), pyarrow.parquet.read_table(tmp_path / "lung.parquet")
    assert list(shown) == list(kept) == list(text) == parquet.column_names
    assert shown["lung"] == kept["lung"] == text["lung"] == parquet["lung"].to_pylist()
    for name in list(shown)[1:]:
        assert shown[name] == [f"{value:.9g}" for value in kept[name]]
        assert [float(cell) for cell in text[name]] == kept[name] == parquet[name].to_pylist()
    assert max(len(cell) for cell in text["log_evidence"]) > 15
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cases.csv", "lung.csv", "lung.parquet"]


def test_parquet_in_keeps_types(tmp_path):
    states = {"y": [1, 2], "x": [True, False]}
    tables = {"y": [0.5, 0.5], "x": [[0.9, 0.1], [0.2, 0.8]]}
    write_network(BayesianNetwork.from_tables("[y][x|y]", tables, states=states), tmp_path / "net.json")
    pyarrow.parquet.write_table(pyarrow.table({"x": [True, None, False]}), tmp_path / "x.parquet")
    words = ["predict", str(tmp_path / "net.json"), str(tmp_path / "x.parquet"), "--target", "y"]
    ask(*words, "-o", str(tmp_path / "y.parquet"))
    found = pyarrow.parquet.read_table(tmp_path / "y.parquet")
    assert (str(found.schema.field("y").type), found["y"].to_pylist()) == ("int64", [1, 1, 2])
    np.testing.assert_allclose(found["P(y=1)"].to_numpy(), [0.9 / 1.1, 0.5, 0.1 / 0.9], rtol=1e-13)


def test_machines_get_one_object(cases, tmp_path):
    words = ["predict", "asia", str(cases), "--target", "lung", "--json"]
    answer = result(ask(*words))
    assert answer["n_rows"] == 4
    assert list(answer["columns"]) == ["lung", "P(lung=yes)", "P(lung=no)", "log_evidence"]
    assert answer["columns"]["lung"] == ["yes", "no", "no", "no"]
    p = answer["columns"]["P(lung=yes)"]
    assert answer["scores"]["lung"] == {
        "known": 3,
        "right": 2,
        "accuracy": pytest.approx(2 / 3, rel=1e-13),
        "log_loss": pytest.approx(-(math.log(p[0]) + math.log(1 - p[1]) + math.log(p[2])) / 3, rel=1e-12),
    }
    brief = result(ask(*words, "-o", str(tmp_path / "lung.csv")))
    assert brief == {"n_rows": 4, "scores": answer["scores"]}


### what is told


def test_a_known_target_is_scored(cases):
    told = said("predict", "asia", str(cases), "--target", "lung,tub")
    assert told.startswith("lung: 2 of 3 known are right, accuracy 0.6667, mean log loss 0.")
    assert "tub" not in told


def test_an_impossible_truth_has_a_large_but_finite_loss(tmp_path):
    (tmp_path / "cases.csv").write_text("tub,either\nyes,no\n")
    words = ["predict", "asia", str(tmp_path / "cases.csv"), "--target", "either"]
    assert said(*words) == "either: 0 of 1 known are right, accuracy 0, mean log loss 36.04\n"
    assert result(ask(*words, "--json"))["scores"]["either"]["log_loss"] == pytest.approx(36.0436533891)


def test_a_file_that_tells_nothing_is_warned_of(tmp_path):
    (tmp_path / "cases.csv").write_text("Smoke,lung\nyes,no\nno,?\n")
    told = said("predict", "asia", str(tmp_path / "cases.csv"), "--target", "lung")
    assert "cases.csv' has no observed values: all rows have the same prediction\nlung: 1 of 1 known" in told


def test_batches_and_a_bar(tmp_path, monkeypatch):
    ask("sample", "asia", "-n", "700", "--seed", "1", "-o", str(tmp_path / "cases.csv"))
    words = ["predict", "asia", str(tmp_path / "cases.csv"), "--target", "lung", "-o", str(tmp_path / "lung.csv")]
    at_once = said(*words)
    whole = as_table(tmp_path / "lung.csv")
    monkeypatch.setattr(results, "MOST_BELIEFS", 0)
    monkeypatch.setattr(progress, "PATIENCE", -1.0)
    assert said(*words) == at_once
    parts = as_table(tmp_path / "lung.csv")
    assert parts.schema == whole.schema
    np.testing.assert_array_equal(parts.codes, whole.codes)
    np.testing.assert_allclose(parts.values, whole.values, rtol=1e-13)
    monkeypatch.setenv("FORCE_COLOR", "1")  # as on a terminal
    monkeypatch.setenv("TERM", "xterm")
    assert "predicting" in said(*words)


@hypothesis.given(st.lists(st.floats(), max_size=20))
def test_numbers_on_stdout_have_nine_digits(values):
    values += [0.1 + 0.2, 1 / 3, 0.0, -0.0, 1e9, 123456789.5, 1234567890123.0, -math.pi * 1e-7, 1e-300, 5e-324]
    x = np.array(values)
    shown = table_writer.rounded(x, 9)
    texts = [f"{value:.9g}" for value in shown]
    assert [float(text) for text in texts] == pytest.approx(shown, rel=0, abs=0, nan_ok=True)
    np.testing.assert_allclose(shown, x, rtol=5.0000001e-9)


### mistakes


def test_an_impossible_row_is_named_by_its_number(tmp_path):
    (tmp_path / "cases.csv").write_text("tub,either\n" + "yes,yes\n" * 3 + "yes,no\n")
    words = ["predict", "asia", str(tmp_path / "cases.csv"), "--target", "lung", "-o", str(tmp_path / "lung.csv")]
    code, sentence = fail(*words)
    assert (code, [path.name for path in tmp_path.iterdir()]) == (1, ["cases.csv"])
    assert sentence.startswith("error: the evidence of row 3 is impossible: tub=yes, either=no cannot be together")


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["asia", "cases.csv"], 2, "Missing option '--target'"),
        (["asia", "cases.csv", "--target", "snow"], 2, "there is no variable 'snow'"),
        (["asia", "cases.csv", "--target", "lung", "-o", "lung.doc"], 2, "cannot tell the format of 'lung.doc'"),
        (["asia", "cases.csv", "--target", "lung", "-o", "no/lung.csv"], 2, "there is no folder 'no'"),
        (["asia", "none.csv", "--target", "lung"], 2, "cannot read 'none.csv': there is no such file"),
        (
            ["asia", "odd.csv", "--target", "lung", "--handle-unknown", "error"],
            1,
            "column 'smoke' has state 'maybe' in row 1",
        ),
        (["asia", "empty.csv", "--target", "lung"], 1, "the table has no rows"),
        (["no-such.bif", "cases.csv", "--target", "lung"], 2, "no-such.bif"),
    ],
)
def test_failures_are_one_sentence(words, code, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cases.csv").write_text(CASES)
    (tmp_path / "odd.csv").write_text("smoke\nyes\nmaybe\n")
    (tmp_path / "empty.csv").write_text("smoke,lung\n")
    found, sentence = fail("predict", *words)
    assert (found, message in sentence, "Traceback" in sentence) == (code, True, False), sentence
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cases.csv", "empty.csv", "odd.csv"]
