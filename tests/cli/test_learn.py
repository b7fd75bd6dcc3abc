"""The verb learn: from a file of cases to a network and a report; knowledge, holes, odd columns, limits, Ctrl-C."""

from __future__ import annotations

import re
import signal
import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

from bayeslearn import as_table, datasets, fit_network, read_network, write_network
from bayeslearn.cli import progress
from bayeslearn.cli.app import app
from bayeslearn.cli.interrupt import once
from bayeslearn.errors import ConvergenceWarning
from bayeslearn.network import BackgroundKnowledge
from bayeslearn.network.structure.algorithms import ALGORITHMS
from tests.cli.asking import ask, fail, result, said

RAIN = "rain,hose,wet\n" + "no,no,no\nno,yes,yes\nyes,no,yes\nyes,yes,yes\n" * 30
KEYS = """n_rows total_weight missing hidden hidden_gain algorithm criterion score log_likelihood arcs n_tests
n_resamples weakest_arcs nearly_joined reversible_arcs thin_rows holdout bins dropped_columns notes history n_iter
converged stopped_early n_passes seconds stopped_by""".split()  # noqa: SIM905


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rain.csv").write_text(RAIN)
    return tmp_path


def write_rows(path, columns, cell=str):
    rows = zip(*columns.values(), strict=True)
    path.write_text("\n".join([",".join(columns), *(",".join(map(cell, row)) for row in rows)]) + "\n")


def answer(*words):
    return result(ask("fit", "network", *words, "-o", "model.json", "--json"))


def arcs(found):
    return {(arc["parent"], arc["child"]) for arc in found["arcs"]}


### reports


def test_a_report_and_a_model(folder):
    report = ask("fit", "network", "rain.csv", "-o", "model.json", "--test-size", "0")
    assert re.sub(r"Seconds .*\n", "", report) == (
        "Network of 3 variables and 2 arcs fitted to 120 rows\n"
        "\n"
        "Rows            120\n"
        "Missing values  0 of 360\n"
        "Algorithm       auto: exact search up to 8 variables; above that order search, or GES if values are missing\n"
        "Score (bic)     -180.7178\n"
        "Arcs            2\n"
        "Log-likelihood  -166.852\n"
        "\n"
        "Arcs\n"
        "Arc         Gain\n"
        "----------------\n"
        "hose → wet  36.8\n"
        "rain → wet  36.8\n"
        "\n"
        "Least certain\n"
        "CPT rows with the least data  P(wet | rain=no, hose=no) (30 rows), P(wet | rain=no, hose=yes) (30 rows), "
        "P(wet | rain=yes, hose=no) (30 rows)\n"
    )
    network = fit_network("rain.csv")
    assert read_network("model.json") == network
    assert network.fit_info.summary().splitlines()[2:6] == report.splitlines()[2:6]


def test_rows_held_out(folder):
    report = ask("fit", "network", "rain.csv", "-o", "model.json")
    assert "Hold-out (24 rows)      Mean log-likelihood  Fitted network ahead by (± SE)\n" in report
    assert "naive Bayes around wet  " in report
    assert " ± " in report
    assert "naive Bayes around hose " in ask("fit", "network", "rain.csv", "-o", "model.json", "--target", "hose")


def test_what_is_said_on_stderr(folder):
    first, second = said("fit", "network", "rain.csv", "-o", "model.bif").splitlines()
    assert first == "wrote model.bif: 3 variables, 2 arcs; only .json and .model keep counts, prior and bins"
    assert second.startswith("fitted in 0.")


@pytest.mark.parametrize("method", ALGORITHMS)
def test_every_method(folder, method):
    needs = {"order": ["--order", "rain, hose,wet"], "target": ["--target", "wet"]}.get(ALGORITHMS[method].needs, [])
    found = answer("rain.csv", "--algorithm", method, *needs)
    assert set(found) == set(KEYS)
    assert (found["n_rows"], found["algorithm"], found["stopped_by"]) == (120, method, None)
    assert arcs(found) == set(read_network("model.json").dag.arcs)
    expected = {"n_rows", "n_training_rows", "log_likelihood", "empty", "naive_bayes", "center"}
    assert found["holdout"].keys() == expected
    assert (found["n_tests"] is not None) == (method == "pc")


@pytest.mark.parametrize("score", ["bic", "mdl", "aic", "loglik", "k2", "bdeu:2", "bds:1"])
def test_every_score(folder, score):
    found = answer("rain.csv", "--criterion", score, "--test-size", "0")
    name = "bic" if score == "mdl" else score
    expected = fit_network("rain.csv", criterion=score).fit_info.score
    assert (found["criterion"], found["score"]) == (name, pytest.approx(expected, rel=1e-12))
    assert found["holdout"] is None


def test_strengths(folder):
    words = ["rain.csv", "--bootstrap", "20", "--test-size", "0", "--seed", "3"]
    found = answer(*words)
    assert found["n_resamples"] == 20
    fit = fit_network("rain.csv", bootstrap=20, random_state=3)
    assert found["arcs"][0]["strength"] == pytest.approx(fit.fit_info.arcs[0].strength, rel=1e-12)
    report = ask("fit", "network", *words, "-o", "model.json")
    assert "Bootstrap samples  20\n" in report
    assert re.search(r"Arc +Gain +Strength +Direction\n", report)
    assert arcs(answer(*words, "--average")) == {("hose", "wet"), ("rain", "wet")}


def test_the_shipped_table_with_holes(folder):
    found = answer("chest-clinic", "--algorithm", "ges")
    assert sum(found["missing"].values()) == 830
    assert found["dropped_columns"] == {"patient": "column 'patient' numbers the rows"}
    assert found["holdout"]["empty"]["difference"] > 0
    assert ["bronc", "smoke"] in found["reversible_arcs"]
    report = ask("fit", "network", "chest-clinic", "--algorithm", "ges", "--test-size", "0", "-o", "model.json")
    assert "Missing values  830 of 8,000 (10.4 %)\n" in report
    assert re.search(r"Reversible arcs +bronc — smoke", report)
    assert re.search(r"Dropped columns\nColumn +Reason\n-+\npatient +column 'patient' numbers the rows\n", report)


def test_how_the_shipped_table_was_made():
    drawn = read_network("asia").sample(1000, random_state=0)
    seen = np.random.default_rng(0).random((1000, 8)) >= 0.1
    kept = as_table(datasets.table_path("chest-clinic"), schema=drawn.schema)
    np.testing.assert_array_equal(kept.codes, np.where(seen.T, drawn.codes, -1))


### knowledge


def test_knowledge_is_what_python_is_told(folder):
    words = ["--required", "rain->hose", "--forbidden", "hose -> wet", "--roots", "rain", "--leaves", "wet"]
    known = BackgroundKnowledge([("rain", "hose")], [("hose", "wet")], roots=["rain"], leaves=["wet"])
    found = answer("rain.csv", *words, "--test-size", "0")
    assert arcs(found) == set(fit_network("rain.csv", knowledge=known).dag.arcs)
    assert ("rain", "hose") in arcs(found)
    assert found["reversible_arcs"] == []


def test_tiers_and_the_most_parents(folder):
    assert arcs(answer("rain.csv", "--tiers", "wet;rain, hose")) >= {("wet", "hose"), ("wet", "rain")}
    found = answer("rain.csv", "--max-parents", "1")
    assert max(len(cpt.parents) for cpt in read_network("model.json")) == 1
    assert len(found["arcs"]) == 2


def test_a_hidden_cause(folder):
    rng = np.random.default_rng(0)
    cause = rng.integers(2, size=400)
    flips = rng.random((4, 400)) < 0.1
    write_rows(folder / "four.csv", {f"x{i}": np.where(cause ^ flips[i], "yes", "no") for i in range(4)})
    words = ["four.csv", "--hidden", "cause:low,high", "--algorithm", "hill_climb", "--test-size", "0"]
    found = answer(*words)
    assert found["hidden"] == {"cause": ["low", "high"]}
    assert found["hidden_gain"] > 0
    assert "cause (2 states, gain " in ask("fit", "network", *words, "-o", "model.json")


### odd tables


def test_columns_that_say_nothing(folder):
    rng = np.random.default_rng(0)
    x = rng.normal(size=80).round(3)
    warm = np.where(x > 0, "yes", "no")
    columns = {"id": np.arange(1, 81), "name": [f"n{i}" for i in range(80)], "town": ["X"] * 80, "blank": [""] * 80}
    columns |= {"degrees": x, "warm": warm, "cold": np.where(warm == "yes", "no", "yes")}
    write_rows(folder / "odd.csv", columns)
    found = answer("odd.csv")
    assert set(found["dropped_columns"]) == {"id", "name", "town", "blank"}
    assert len(found["bins"]["degrees"]) == 4
    assert found["notes"] == ["columns 'warm', 'cold' are equivalent in every row"]
    report = ask("fit", "network", "odd.csv", "-o", "model.json", "--n-bins", "2", "--discretize", "uniform")
    assert re.search(r"Column +Cut points\n", report)
    assert re.search(r"id +column 'id' numbers the rows\n", report)
    assert "Notes\ncolumns 'warm', 'cold' are equivalent in every row\n" in report
    assert answer("odd.csv", "--discretize", "mdl", "--target", "warm")["bins"]["degrees"] == pytest.approx(
        [0], abs=0.1
    )


def test_ten_rows(folder):
    write_rows(folder / "ten.csv", {"a": list("xyxyxyxyxy"), "b": list("ppppppqqqq")})
    report = ask("fit", "network", "ten.csv", "-o", "model.json")
    assert "no hold-out comparison: there are too few rows\n" in report
    assert "10 rows are few: hardly any arc is distinguishable from chance\n" in report
    assert answer("ten.csv")["holdout"] is None


def test_weights(folder):
    lines = RAIN.splitlines()
    (folder / "times.csv").write_text("\n".join([f"{lines[0]},times", *(f"{line},2" for line in lines[1:])]))
    found = answer("times.csv", "--sample-weight", "times", "--test-size", "0")
    assert (found["n_rows"], found["total_weight"]) == (120, 240)
    report = ask("fit", "network", "times.csv", "--sample-weight", "times", "-o", "model.json")
    assert re.search(r"Rows +120\nTotal weight +240\n", report)


def test_many_states_are_left_out(folder):
    write_rows(
        folder / "many.csv", {"a": list("xy") * 30, "b": list("xxy") * 20, "code": [f"c{i % 30}" for i in range(60)]}
    )
    assert set(answer("many.csv", "--max-states", "20")["dropped_columns"]) == {"code"}


def test_parquet_and_many_arcs(folder):
    rng = np.random.default_rng(0)
    chain = [rng.integers(2, size=300)]
    for _ in range(44):
        chain.append(np.where(rng.random(300) < 0.05, 1 - chain[-1], chain[-1]))
    write_rows(folder / "chain.csv", {f"v{i:02}": np.array(["n", "y"])[x] for i, x in enumerate(chain)})
    report = ask("fit", "network", "chain.csv", "--algorithm", "chow_liu", "-o", "model.json", "--test-size", "0")
    assert re.search(r"\nArcs +44\n", report)
    assert "… 4 more rows\n" in report
    ask("convert", "model.json", "model.bif")
    ask("sample", "model.json", "-n", "100", "--seed", "1", "-o", "cases.parquet")
    assert answer("cases.parquet", "--algorithm", "chow_liu", "--test-size", "0")["n_rows"] == 100


def test_a_picture(folder):
    told = said("fit", "network", "rain.csv", "-o", "model.json", "--plot", "net.svg", "--test-size", "0")
    assert "wrote net.svg: 3 variables, 2 arcs\n" in told
    assert (folder / "net.svg").read_text().startswith("<svg")


### limits


def test_a_time_limit(folder):
    with pytest.warns(ConvergenceWarning, match="before it found an arc"):
        found = answer("rain.csv", "--algorithm", "hill_climb", "--time-limit", "0", "--test-size", "0")
    assert (found["arcs"], found["stopped_by"]) == ([], "the time limit")
    with pytest.warns(ConvergenceWarning, match="before it found an arc"):
        report = ask("fit", "network", "rain.csv", "--algorithm", "hill_climb", "--time-limit", "0", "-o", "model.json")
    assert re.search(r"Stopped early +the best structure up to then\n", report)
    assert "\nStopped by the time limit\n" in report
    assert "all columns are independent in this network\n" in report


@pytest.fixture(autouse=True)
def ctrl_c_interrupts():
    """Also where the tests were started in the background, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupted(monkeypatch, words, *, times=1, at=2):
    """Run a verb; at some step of the search Ctrl-C is pressed."""
    telling = progress.following

    def pressing(*args):
        tell_bar, steps = telling(*args), iter(range(10**9))

        def step(now):
            if next(steps) == at:
                for _ in range(times):
                    signal.raise_signal(signal.SIGINT)
            tell_bar(now)

        return step

    monkeypatch.setattr(progress, "following", pressing)
    return CliRunner().invoke(app, list(words))


def test_ctrl_c_ends_with_the_best_so_far(folder, monkeypatch, capfd):
    words = ["fit", "network", "rain.csv", "--algorithm", "hill_climb", "-o", "model.json"]
    done = interrupted(monkeypatch, words, at=1)
    assert done.exit_code == 0
    assert "\nStopped by Ctrl-C\n" in done.stdout
    assert "no hold-out comparison: Ctrl-C ended the fit\n" in done.stdout
    assert len(read_network("model.json").dag.arcs) == 1
    assert "ending with the best network so far; Ctrl-C again" in capfd.readouterr().err


def test_ctrl_c_twice_writes_nothing(folder, monkeypatch, capfd):
    done = interrupted(monkeypatch, ["fit", "network", "rain.csv", "--algorithm", "tabu", "-o", "model.json"], times=2)
    assert done.exit_code != 0
    assert not (folder / "model.json").exists()


def test_ctrl_c_is_as_before_after_the_block(capfd):
    before = signal.getsignal(signal.SIGINT)
    with once() as stop:
        signal.raise_signal(signal.SIGINT)
        assert stop.asked
        assert signal.getsignal(signal.SIGINT) is before
    with once(), pytest.raises(KeyboardInterrupt):  # noqa: PT012
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before


def test_a_bar_tells_score_and_arcs(folder, monkeypatch):
    words = ["fit", "network", "rain.csv", "--algorithm", "tabu", "--bootstrap", "3", "-o", "model.json"]
    monkeypatch.setattr(progress, "PATIENCE", -1.0)
    monkeypatch.setattr(progress, "PAUSE", 0.0)
    assert said(*words).startswith("wrote ")  # no bar in a pipe
    monkeypatch.setenv("FORCE_COLOR", "1")  # as on a terminal
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "200")
    told = said(*words)
    assert ", 2 arcs, step 2" in told
    assert "bootstrap sample 3 of 3" in told
    assert "hold-out comparison: score -" in told


### mistakes


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["none.csv"], 2, "cannot read 'none.csv'"),
        (["empty.csv"], 1, "error: "),
        (["same.csv"], 1, "no column is left to learn from"),
        (["rain.csv", "--algorithm", "luck"], 2, "unexpected value for --algorithm: 'luck'"),
        (["rain.csv", "--criterion", "luck"], 2, "unexpected value for --criterion: 'luck'"),
        (["rain.csv", "--criterion", "bdeu:x"], 2, "the equivalent sample size of 'bdeu:x' is no number"),
        (["rain.csv", "--prior", "flat"], 2, "there is no prior 'flat'"),
        (["rain.csv", "--algorithm", "k2"], 2, "algorithm 'k2' requires --order"),
        (["rain.csv", "--algorithm", "k2", "--order", "rain,hose"], 2, "the order must name every variable once"),
        (["rain.csv", "--algorithm", "k2", "--order", "rain,hose,snow"], 2, "the order names 'snow'"),
        (["rain.csv", "--order", "rain,hose,wet"], 2, "--algorithm auto does not use an order\n\nhint: choose k2"),
        (["rain.csv", "--algorithm", "naive_bayes"], 2, "algorithm 'naive_bayes' requires --target"),
        (["rain.csv", "--algorithm", "naive_bayes", "--target", "snow"], 2, "snow"),
        (["rain.csv", "--target", "snow"], 2, "snow"),
        (["same.csv", "--target", "a"], 2, "the target cannot be used: column 'a'"),
        (["rain.csv", "--required", "rain"], 2, "--required takes 'A->B', got 'rain'"),
        (["rain.csv", "--forbidden", "->wet"], 2, "--forbidden takes 'A->B', got '->wet'"),
        (["rain.csv", "--required", "rain->snow"], 2, "knowledge names 'snow', which is no column"),
        (["rain.csv", "--required", "rain->wet", "--forbidden", "rain->wet"], 2, "other knowledge forbids it"),
        (["rain.csv", "--required", "rain->wet", "--required", "wet->rain"], 2, "cycle"),
        (["rain.csv", "--required", "rain->wet", "--max-parents", "0"], 2, "more required parents than the limit of 0"),
        (["rain.csv", "--max-parents", "-1"], 2, "`--max-parents` must be at least 0"),
        (["rain.csv", "--algorithm", "chow_liu", "--roots", "wet"], 2, "'chow_liu' cannot take background knowledge"),
        (["rain.csv", "--hidden", "H"], 2, "--hidden takes VAR:N or VAR:STATE"),
        (["rain.csv", "--hidden", "wet:2"], 2, "'wet' cannot be hidden"),
        (["rain.csv", "--bootstrap", "-1"], 2, "`--bootstrap` must be at least 0"),
        (["number.csv", "--discretize", "luck"], 2, "luck"),
        (["number.csv", "--discretize", "mdl"], 2, "target"),
        (["number.csv", "--n-bins", "0"], 2, "n-bins"),
        (["rain.csv", "--max-states", "0"], 2, "--max-states must be at least 1"),
        (["rain.csv", "--sample-weight", "times"], 2, "there is no column 'times'"),
        (["rain.csv", "--algorithm", "pc", "--significance-level", "2"], 2, "--significance-level must be below 1"),
        (["rain.csv", "--algorithm", "pc", "--test", "luck"], 2, "luck"),
        (["rain.csv", "--time-limit", "-1"], 2, "--time-limit must be at least 0"),
        (["rain.csv", "--test-size", "1"], 2, "`--test-size` must be below 1"),
        (["rain.csv", "--seed", "-1"], 2, "`--seed` must be at least 0"),
        (["rain.csv", "--plot", "net.txt"], 2, "a plot is an .svg, .png or .pdf file, got 'net.txt'"),
        (["rain.csv", "--plot", "no/net.svg"], 2, "there is no folder 'no'"),
        (["rain.csv", "-o", "m.doc"], 2, "cannot tell the format of 'm.doc'"),
        (["rain.csv", "-o", "no/m.json"], 2, "there is no folder 'no'"),
    ],
)
def test_failures_are_one_sentence(words, code, message, folder):
    (folder / "empty.csv").write_text("")
    (folder / "same.csv").write_text("a\nx\nx\nx\n")
    write_rows(folder / "number.csv", {"x": np.random.default_rng(0).normal(size=60), "y": list("ab") * 30})
    to = [] if "-o" in words else ["-o", "m.json"]
    ended, sentence = fail("fit", "network", *to, *words)
    assert (ended, message in sentence) == (code, True), sentence
    assert not list(folder.glob("m.*"))


@pytest.mark.thorough
def test_no_model_to_write_and_the_whole_command(folder):
    code, sentence = fail("fit", "network", "rain.csv")
    assert (code, "Missing option '-o' / '--output'" in sentence) == (2, True)
    done = subprocess.run(
        [sys.executable, "-m", "bayeslearn", "fit", "network", "rain.csv", "-o", "model.json", "--required", "rain"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, "Traceback" in done.stderr) == (2, "", False)


def test_a_network_is_no_table(folder):
    write_network(read_network("asia"), "asia.json")
    code, sentence = fail("fit", "network", "asia.json", "-o", "model.json")
    assert (code, "cannot tell the format of 'asia.json'" in sentence) == (1, True)
