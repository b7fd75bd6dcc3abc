"""`--json` on every verb: one object with the same keys around the result, and exit codes by what is wrong."""

import json

import pytest

import bayeslearn
from bayeslearn.cli import envelope
from tests.cli.asking import fail, tell
from tests.cli.test_help import VERBS

KEYS = ["command", "version", "model", "data", "result", "warnings", "seconds"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_text(
        "id,x,y,kind\n" + "".join(f"{i},{i % 7},{i % 5}.5,{'ab'[i % 2]}\n" for i in range(30))
    )
    (tmp_path / "new.csv").write_text("x,kind\n1,a\n,b\n3,\n")
    return tmp_path


def answer(*words):
    code, text, _ = tell(*words, "--json")
    assert code == 0
    found = json.loads(text)
    assert list(found) == KEYS
    assert (found["version"], found["seconds"] >= 0) == (bayeslearn.__version__, True)
    return found


def test_a_fit(folder):
    found = answer("fit", "naive-bayes", "rows.csv", "--target", "kind", "-o", "nb.json")
    assert (found["command"], found["model"]) == ("fit naive-bayes", "nb.json")
    assert (found["data"]["n_rows"], found["data"]["n_missing"]) == (30, 0)
    assert list(found["data"]["dropped_columns"]) == ["id"]


def test_data_and_warnings_of_a_prediction(folder):
    answer("fit", "naive-bayes", "rows.csv", "--target", "kind", "-o", "nb.json")
    found = answer("predict", "nb.json", "new.csv")
    assert (found["command"], found["model"]) == ("predict", "nb.json")
    assert (found["data"]["n_rows"], found["result"]["n_rows"]) == (3, 3)
    assert found["data"]["n_missing"] == 4  # three of the column that is not there
    assert found["warnings"] == ["'new.csv' has no column 'y'; its values are treated as missing"]


def test_a_verb_that_reads_no_data():
    found = answer("query", "asia", "smoke=yes")
    assert (found["command"], found["model"], found["data"], found["warnings"]) == ("query", "asia", None, [])
    assert answer("bound", "vc", "--dimension", "3", "--epsilon", "0.1", "--delta", "0.05")["command"] == "bound vc"


def test_a_table_that_is_sampled_and_a_network_that_is_converted(folder):
    found = answer("sample", "asia", "-n", "3", "--seed", "1")["result"]
    assert (found["n_rows"], len(found["columns"]["smoke"])) == (3, 3)
    assert list(answer("sample", "asia", "-n", "3", "-o", "s.csv")["result"]) == ["n_rows"]
    assert answer("convert", "asia", "asia.bif")["result"] == {
        "output": "asia.bif", "format": "bif", "n_variables": 8, "n_arcs": 8,
    }  # fmt: skip


def test_the_steps_of_the_tour():
    assert answer("demo")["result"]["steps"][2]["command"].startswith("bayeslearn query forest-fire")


def test_every_verb_has_it():
    assert [path for path, command in VERBS.items() if not any("--json" in p.opts for p in command.params)] == []


def test_the_entries_of_a_result_are_the_facts_of_the_data():
    assert envelope.data_facts({"rows": 4, "missing": {"a": 1, "b": 2}, "dropped_columns": {"id": "row numbers"}}) == {
        "n_rows": 4, "n_missing": 3, "dropped_columns": {"id": "row numbers"},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["query", "asia", "smoking=yes"], 2),
        (["query", "asia", "smoke=maybe"], 2),
        (["query", "no-such.bif"], 2),
        (["fit", "no-such.csv", "-o", "m.json"], 2),
        (["fit", "rows.csv", "-o", "no/m.json"], 2),
        (["fit", "rows.csv", "-o", "m.json", "--criterium", "bic"], 2),
        (["fit", "parameters", "[x]", "text.csv", "-o", "m.json"], 1),
        (["query", "text.json"], 1),
        (["predict", "text.json", "rows.csv"], 1),
    ],
)
def test_exit_codes(folder, words, code):
    (folder / "text.csv").write_text("")
    (folder / "text.json").write_text("{}")
    assert fail(*words)[0] == code
