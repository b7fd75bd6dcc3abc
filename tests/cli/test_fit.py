"""The verb fit: from a file of cases, whole or with holes, to a model and a report of what it rests on."""

from __future__ import annotations

import re

import numpy as np
import pytest

from bayeslearn import DAG, as_table, fit_parameters, read_network, write_network
from bayeslearn.cli import progress
from bayeslearn.errors import ConvergenceWarning
from bayeslearn.network import BayesianNetwork
from tests.cli.asking import ask, fail, result, said, tell

RAIN = "Rain,Wet\nyes,yes\nno,no\nno,no\nno,yes\n"
HOLES = "Rain,Wet\nyes,yes\n?,no\nno,\nno,yes\nyes,yes\nno,no\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rain.csv").write_text(RAIN)
    (tmp_path / "holes.csv").write_text(HOLES)
    return tmp_path


### models


def test_a_report_and_a_model(folder):
    report = ask("fit", "parameters", "[Rain][Wet|Rain]", "rain.csv", "--prior", "laplace", "-o", "model.json")
    assert re.sub(r"Seconds .*\n", "", report) == (
        "Parameters of 2 variables fitted to 4 rows\n"
        "\n"
        "Rows            4\n"
        "Missing values  0 of 8\n"
        "Log-likelihood  -4.65841\n"
        "Iterations      1\n"
        "Converged       yes\n"
        "\n"
        "CPT rows with the least data\n"
        "CPT row            Observed rows  Prior rows\n"
        "--------------------------------------------\n"
        "P(Wet | Rain=yes)              1           2\n"
        "P(Wet | Rain=no)               3           2\n"
        "P(Rain)                        4           2\n"
    )
    model = read_network("model.json")
    np.testing.assert_allclose(model["Wet"].probabilities, [[3 / 5, 2 / 5], [1 / 3, 2 / 3]], rtol=1e-14)
    np.testing.assert_array_equal(model["Wet"].counts.n, [[2, 1], [0, 1]])


@pytest.mark.parametrize("prior", ["none", "laplace", "k2", "jeffreys", "bdeu:4", "m:2"])
def test_it_is_what_python_learns(folder, prior):
    words = [
        "fit",
        "parameters",
        "[Rain][Wet|Rain]",
        "holes.csv",
        "--prior",
        prior,
        "-o",
        "model.json",
        "--tol",
        "1e-8",
        "--json",
    ]
    answer = result(ask(*words))
    fit = fit_parameters("[Rain][Wet|Rain]", "holes.csv", prior=prior, tol=1e-8)
    assert read_network("model.json") == fit
    assert answer["log_likelihood"] == pytest.approx(fit.fit_info.log_likelihood, rel=1e-13)
    assert answer["objective"] == pytest.approx(fit.fit_info.objective, rel=1e-13)
    assert (answer["n_rows"], answer["missing"], answer["n_iter"]) == (6, {"Rain": 1, "Wet": 1}, fit.fit_info.n_iter)
    assert answer["converged"] is True
    thin = [row["n_observed"] for row in answer["thin_rows"]]
    assert thin == sorted(thin)
    assert answer["thin_rows"][0].keys() == {"variable", "given", "n_observed", "prior"}


def test_other_ways_to_climb(folder):
    words = [
        "fit",
        "parameters",
        "[Rain][Wet|Rain]",
        "holes.csv",
        "-o",
        "model.json",
        "--tol",
        "1e-9",
        "--max-iter",
        "1000",
        "--json",
    ]
    found = [result(ask(*words, "--algorithm", method))["log_likelihood"] for method in ("em", "gradient", "lbfgs")]
    assert found[1:] == pytest.approx([found[0]] * 2, abs=1e-5)


def test_hidden_variables(folder):
    words = [
        "fit",
        "parameters",
        "[Cause][Rain|Cause][Wet|Cause]",
        "holes.csv",
        "--hidden",
        "Cause:low,high",
        "-o",
        "model.json",
    ]
    report = ask(*words, "--prior", "laplace", "--n-init", "3", "--seed", "1")
    assert re.search(r"Missing values +2 of 12 \(16.7 %\)\nHidden variables +Cause \(2 states\)\n", report)
    assert len(report.split("Objective of each initialization ")[1].splitlines()[0].split(",")) == 3
    assert read_network("model.json").states("Cause") == ("low", "high")
    ask(*words[:5], "Cause:3", *words[6:])
    assert read_network("model.json").states("Cause") == ("Cause0", "Cause1", "Cause2")


def test_the_same_seed_gives_the_same_model(folder):
    words = [
        "fit",
        "parameters",
        "[H][Rain|H][Wet|H]",
        "holes.csv",
        "--hidden",
        "H:2",
        "--init",
        "random",
        "-o",
        "model.json",
    ]
    found = {}
    for name, seed in {"one": "1", "again": "1", "two": "2"}.items():
        ask(*words, "--seed", seed)
        found[name] = read_network("model.json")
    assert found["one"] == found["again"] != found["two"]


def test_a_network_keeps_its_states_and_what_is_frozen(folder):
    states = {"Rain": ["yes", "no", "snow"], "Wet": ["yes", "no"]}
    tables = {"Rain": [0.2, 0.7, 0.1], "Wet": [[0.5, 0.5]] * 3}
    write_network(BayesianNetwork.from_tables("[Rain][Wet|Rain]", tables, states=states), "net.bif")
    ask("fit", "parameters", "net.bif", "holes.csv", "--frozen", "Rain", "--prior", "m:1", "-o", "model.json")
    model = read_network("model.json")
    assert model.states("Rain") == ("yes", "no", "snow")
    np.testing.assert_allclose(model["Rain"].probabilities, tables["Rain"], rtol=1e-14)
    assert model["Wet"].probabilities[0, 0] > 0.8


def test_weights_and_numbers(folder):
    rng = np.random.default_rng(0)
    lines = [f"{x:.3f},{'hot' if x > 20 else 'cold'},{k % 3}" for k, x in enumerate(rng.uniform(0, 40, 60))]
    (folder / "numbers.csv").write_text("\n".join(["degrees,feels,times", *lines]))
    ask(
        "fit",
        "parameters",
        "[feels][degrees|feels]",
        "numbers.csv",
        "--sample-weight",
        "times",
        "-o",
        "model.json",
        "--prior",
        "jeffreys",
    )
    model = read_network("model.json")
    assert len(model["degrees"].variable.cuts) == 4
    assert model["feels"].counts.total == pytest.approx(as_table("numbers.csv", sample_weight="times").total_weight)
    assert ask("predict", "model.json", "numbers.csv", "--target", "feels", "--no-proba").count("hot") > 10


def test_columns_that_the_network_lacks(folder):
    (folder / "more.csv").write_text("town,Rain,Wet\n" + "".join(f"X,{line}\n" for line in RAIN.splitlines()[1:]))
    assert ask(
        "fit", "parameters", "[Rain][Wet|Rain]", "more.csv", "--extra-columns", "ignore", "-o", "model.json"
    ).startswith("Parameters of ")
    code, sentence = fail("fit", "parameters", "[Rain][Wet|Rain]", "more.csv", "-o", "other.json")
    assert (code, (folder / "other.json").exists()) == (2, False)
    assert "error: 'more.csv' has columns that the structure lacks: 'town'" in sentence
    assert "hint: drop them with --extra-columns ignore" in sentence


def test_other_formats_say_what_they_lose(folder):
    words = ["fit", "parameters", "[Rain][Wet|Rain]", "rain.csv", "-o"]
    assert (
        said(*words, "model.bif")
        == "wrote model.bif: 2 variables, 1 arcs; only .json and .model keep counts, prior and bins\n"
    )
    assert said(*words, "model.json.gz") == "wrote model.json.gz: 2 variables, 1 arcs\n"
    assert read_network("model.bif") == read_network("model.json.gz")


def test_a_bar_tells_how_far_it_is(folder, monkeypatch):
    words = [
        "fit",
        "parameters",
        "[H][Rain|H][Wet|H]",
        "holes.csv",
        "--hidden",
        "H:2",
        "-o",
        "model.json",
        "--max-iter",
        "500",
    ]
    monkeypatch.setattr(progress, "PATIENCE", -1.0)
    monkeypatch.setattr(progress, "PAUSE", 0.0)
    assert said(*words).startswith("wrote ")  # no bar in a pipe
    monkeypatch.setenv("FORCE_COLOR", "1")  # as on a terminal
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "200")
    assert "iteration 1, log-likelihood -" in said(*words)
    assert "start 2 of 2: iteration 1, log-likelihood -" in said(*words, "--n-init", "2")


def test_a_climb_that_ends_too_early_is_warned_of(folder):
    words = ["fit", "parameters", "[Rain][Wet|Rain]", "holes.csv", "-o", "model.json", "--max-iter", "1", "--tol", "0"]
    code, report, sentence = tell(*words)
    assert (code, re.search(r"Converged +no", report) is not None) == (0, True)
    assert sentence.splitlines()[-2].startswith("warning: EM stopped after 1 iterations, last gain ")
    with pytest.warns(ConvergenceWarning, match="EM stopped after 1 iterations"):
        ask(*words)


### mistakes


def test_a_row_of_probability_zero_is_named(folder):
    tables = {"Rain": [0.5, 0.5], "Wet": [[1, 0], [0, 1]]}
    write_network(
        BayesianNetwork.from_tables("[Rain][Wet|Rain]", tables, states={name: ["yes", "no"] for name in tables}),
        "net.json",
    )
    words = ["fit", "parameters", "net.json", "rain.csv", "--frozen", "Rain", "--frozen", "Wet", "-o", "model.json"]
    code, sentence = fail(*words)
    assert (code, (folder / "model.json").exists()) == (1, False)
    assert sentence.startswith("error: row 3 has probability zero")


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["[Rain][Wet|Rain]", "rain.csv"], 2, "Missing option '-o' / '--output'"),
        (["[Rain][Wet|Rain]", "none.csv", "-o", "m.json"], 2, "cannot read 'none.csv'"),
        (
            ["[Rain][Snow|Rain]", "rain.csv", "--extra-columns", "ignore", "-o", "m.json"],
            2,
            "there is no column 'Snow'",
        ),
        (["[Rain][Wet|Rain", "rain.csv", "-o", "m.json"], 1, "not a model string from column 7 on: '[Wet|Rain'"),
        (["no-such.bif", "rain.csv", "-o", "m.json"], 2, "no-such.bif"),
        (
            ["net.json", "odd.csv", "-o", "m.json", "--handle-unknown", "error"],
            1,
            "column 'Rain' has state 'maybe' in row 1",
        ),
        (
            ["[Rain][Wet|Rain]", "blank.csv", "-o", "m.json"],
            1,
            "every cell of column 'Wet' is missing\n\nhint: declare it",
        ),
        (["net.json", "blank.csv", "-o", "m.json"], 1, "no row has a value for 'Wet'\n\nhint: declare it hidden"),
        (["net.json", "rain.csv", "-o", "m.doc"], 2, "cannot tell the format of 'm.doc'"),
        (["net.json", "rain.csv", "-o", "no/m.json"], 2, "there is no folder 'no'"),
        (["net.json", "rain.csv", "-o", "m.json", "--prior", "flat"], 2, "there is no prior 'flat'"),
        (["net.json", "rain.csv", "-o", "m.json", "--hidden", "H"], 2, "--hidden takes VAR:N or VAR:STATE"),
        (["net.json", "rain.csv", "-o", "m.json", "--hidden", "H:1" + "0" * 21], 2, "at most 9223372036854775807"),
        (["net.json", "rain.csv", "-o", "m.json", "--hidden", "H:²"], 2, "--hidden is a whole number above 0, got '²'"),
        (["net.json", "rain.csv", "-o", "m.json", "--hidden", "H:2"], 2, "hidden variable 'H' is not in the graph"),
        (
            ["net.json", "rain.csv", "-o", "m.json", "--algorithm", "luck"],
            2,
            "unexpected value for --algorithm: 'luck'",
        ),
        (["net.json", "rain.csv", "-o", "m.json", "--init", "here"], 2, "unexpected value for --init: 'here'"),
        (["net.json", "rain.csv", "-o", "m.json", "--n-init", "0"], 2, "`--n-init` must be at least 1, got 0"),
        (["net.json", "rain.csv", "-o", "m.json", "--tol", "-1"], 2, "`--tol` must be at least 0, got -1"),
        (["net.json", "rain.csv", "-o", "m.json", "--max-iter", "0"], 2, "`--max-iter` must be at least 1, got 0"),
        (["net.json", "rain.csv", "-o", "m.json", "--seed", "-1"], 2, "`--seed` must be at least 0, got -1"),
        (["net.json", "rain.csv", "-o", "m.json", "--frozen", "Snow"], 2, "there is no variable 'Snow'"),
        (["[Rain][Wet|Rain]", "rain.csv", "-o", "m.json", "--frozen", "Rain"], 2, "cannot be frozen"),
        (["net.json", "rain.csv", "-o", "m.json", "--sample-weight", "times"], 2, "there is no column 'times'"),
    ],
)
def test_failures_are_one_sentence(words, code, message, folder):
    (folder / "odd.csv").write_text("Rain,Wet\nyes,yes\nmaybe,no\n")
    (folder / "blank.csv").write_text("Rain,Wet\nyes,\nno,?\n")
    write_network(fit_parameters(DAG.parse("[Rain][Wet|Rain]"), "rain.csv", prior=None), "net.json")
    found, sentence = fail("fit", "parameters", *words)
    assert (found, message in sentence, "Traceback" in sentence) == (code, True, False), sentence
    assert not list(folder.glob("m.*"))
