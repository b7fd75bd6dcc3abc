"""The verb posterior: probabilities of arcs and graphs from a file; knowledge, limits, Ctrl-C and mistakes."""

from __future__ import annotations

import csv
import re
import signal

import numpy as np
import pytest
from typer.testing import CliRunner

from bayeslearn import read_network
from bayeslearn.cli import progress
from bayeslearn.cli.app import app
from bayeslearn.errors import ConvergenceWarning
from bayeslearn.network import BackgroundKnowledge, sample_structure_posterior
from tests.cli.asking import ask, fail, result, said

RAIN = "rain,hose,wet\n" + "no,no,no\nno,yes,yes\nyes,no,yes\nyes,yes,yes\n" * 30


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rain.csv").write_text(RAIN)
    return tmp_path


def answer(*words):
    return result(ask("structure-posterior", *words, "--json"))


### answers


def test_a_report(folder):
    report = ask("structure-posterior", "rain.csv", "--max-results", "1")
    title, head, arcs, graphs = report.split("\n\n")
    assert title == "Posterior of the structure of 3 variables"
    assert re.search(r"Rows +120\nSamples +500 orders from each of 4 chains\n", head)
    assert re.search(r"Converged +yes\nR-hat +1\.", head)
    found = sample_structure_posterior("rain.csv")
    p, either = found.arc_probability("rain", "wet"), found.edge_probability("rain", "wet")
    assert re.fullmatch(r"Arc +P\(arc\) +P\(either direction\)", arcs.splitlines()[1])
    assert re.search(rf"rain → wet +{p:.3f} +{either:.3f}\n", arcs)
    assert graphs.splitlines()[-1].endswith("[rain][hose][wet|rain:hose]")
    assert "Most probable graphs" not in ask("structure-posterior", "rain.csv", "--max-results", "0")


def test_machines_are_told_what_python_is(folder):
    found = answer(
        "rain.csv", "--n-samples", "100", "--n-chains", "2", "--seed", "3", "--criterion", "k2", "--max-results", "2"
    )
    python = sample_structure_posterior("rain.csv", n_samples=100, n_chains=2, random_state=3, criterion="k2")
    assert [(arc["parent"], arc["child"]) for arc in found["arcs"]] == [arc[:2] for arc in python.ranked_arcs()]
    p = [arc[2] for arc in python.ranked_arcs()]
    assert [arc["probability"] for arc in found["arcs"]] == pytest.approx(p, rel=1e-12)
    assert found["graphs"][0]["structure"] == str(python.draws[0].dag)
    assert [tuple(arc) for arc in found["graphs"][1]["arcs"]] == list(python.draws[1].dag.arcs)
    assert (found["n_chains"], found["n_samples"], found["n_graphs"]) == (2, 100, len(python.draws))
    assert found["r_hat"] == pytest.approx(python.r_hat, rel=1e-12)
    assert (found["converged"], found["stopped_early"]) == (True, False)
    assert (found["n_rows"], found["total_weight"]) == (120, 120)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_all_arcs_in_a_file(folder, ending):
    told = said("structure-posterior", "rain.csv", "--n-samples", "50", "-o", f"arcs.{ending}")
    assert f"wrote arcs.{ending}: 6 arcs\n" in told
    expected = sample_structure_posterior("rain.csv", n_samples=50).ranked_arcs()
    if ending == "parquet":
        from pyarrow import parquet

        rows = parquet.read_table("arcs.parquet").to_pylist()
    else:
        rows = list(csv.DictReader((folder / "arcs.csv").read_text().splitlines()))
    assert [(row["parent"], row["child"]) for row in rows] == [arc[:2] for arc in expected]
    assert [float(row["probability"]) for row in rows] == pytest.approx([arc[2] for arc in expected], rel=1e-12)


def test_knowledge_is_what_python_is_told(folder):
    words = ["--required", "rain->hose", "--forbidden", "hose -> wet", "--roots", "rain", "--leaves", "wet"]
    known = BackgroundKnowledge([("rain", "hose")], [("hose", "wet")], roots=["rain"], leaves=["wet"])
    found = answer("rain.csv", *words, "--n-samples", "50")
    python = sample_structure_posterior("rain.csv", knowledge=known, n_samples=50)
    assert found["arcs"][0] == {"parent": "rain", "child": "hose", "probability": pytest.approx(1.0)}
    assert found["graphs"][0]["structure"] == str(python.draws[0].dag)
    tiers = answer("rain.csv", "--tiers", "wet;rain,hose", "--n-samples", "50", "--max-parents", "1")
    assert {arc["child"] for arc in tiers["arcs"] if arc["probability"] > 0} == {"rain", "hose"}
    assert all(arc["child"] != "wet" for arc in tiers["arcs"] if arc["probability"] > 0)


def test_odd_columns_and_weights(folder):
    rng = np.random.default_rng(0)
    x, lines = rng.normal(size=120).round(3), RAIN.splitlines()
    rows = [f"{i},{line},{v},2" for i, (line, v) in enumerate(zip(lines[1:], x, strict=True))]
    (folder / "odd.csv").write_text("\n".join([f"id,{lines[0]},degrees,times", *rows]))
    words = ["odd.csv", "--sample-weight", "times", "--n-samples", "50", "--n-bins", "2", "--discretize", "uniform"]
    report = ask("structure-posterior", *words)
    assert re.search(r"Rows +120\nTotal weight +240\n", report)
    assert re.search(r"id +column 'id' numbers the rows\n", report)
    assert re.search(r"Column +Cut points\n", report)
    assert len(answer(*words)["bins"]["degrees"]) == 1


def test_many_arcs(folder):
    cases = read_network("alarm").sample(300, random_state=0)
    names = cases.schema.names
    rows = zip(*(cases.column(name) for name in names), strict=True)
    (folder / "alarm.csv").write_text("\n".join([",".join(names), *(",".join(row) for row in rows)]))
    with pytest.warns(ConvergenceWarning, match="do not agree"):
        report = ask("structure-posterior", "alarm.csv", "--n-samples", "20", "--max-parents", "2")
    assert re.search(r"Converged +no\n", report)
    assert re.search(r"… \d+ more rows\n", report)


def test_one_column(folder):
    (folder / "one.csv").write_text("a\n" + "x\ny\nx\n" * 30)
    assert "[a]" in ask("structure-posterior", "one.csv", "-o", "arcs.csv")
    assert (folder / "arcs.csv").read_text() == "parent,child,probability\n"


### limits


def test_a_time_limit(folder):
    done = CliRunner().invoke(app, ["structure-posterior", "rain.csv", "--time-limit", "0", "--n-samples", "400"])
    assert re.search(r"Samples +20 orders from each of 4 chains\n", done.stdout)
    assert re.search(r"Stopped early +with the orders up to then\n", done.stdout)


def test_ctrl_c_ends_with_what_was_looked_at(folder, monkeypatch, capfd):
    telling = progress.following

    def pressing(*args, **options):
        told = telling(*args, **options)

        def step(now):
            if now.detail.steps == 40:
                signal.raise_signal(signal.SIGINT)
            told(now)

        return step

    monkeypatch.setattr(progress, "following", pressing)
    done = CliRunner().invoke(app, ["structure-posterior", "rain.csv", "--n-samples", "400"])
    assert done.exit_code == 0
    assert re.search(r"Samples +40 orders from each of 4 chains\n", done.stdout)
    assert "ending with the orders so far; Ctrl-C again" in capfd.readouterr().err


def test_a_bar_tells_how_far_it_is(folder, monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", -1.0)
    monkeypatch.setattr(progress, "PAUSE", 0.0)
    for name, value in {"FORCE_COLOR": "1", "TERM": "xterm", "COLUMNS": "200"}.items():
        monkeypatch.setenv(name, value)
    told = said("structure-posterior", "rain.csv", "--n-samples", "100")
    assert "arcs, step 50" in told
    assert " 50%" in told


### mistakes


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["none.csv"], 2, "cannot read 'none.csv'"),
        (["chest-clinic"], 1, "column 'asia' misses 113 cells"),
        (["chest-clinic"], 1, "hint: fill them first with `impute`, or `fit_network(bootstrap=N)` (--bootstrap N)"),
        (["rain.csv", "--criterion", "aic"], 2, "'aic' is no log probability of the data"),
        (["rain.csv", "--criterion", "luck"], 2, "unexpected value for --criterion: 'luck'"),
        (["rain.csv", "--n-samples", "0"], 2, "--n-samples must be at least 1"),
        (["rain.csv", "--n-chains", "0"], 2, "--n-chains must be at least 1"),
        (["rain.csv", "--required", "rain"], 2, "--required takes 'A->B', got 'rain'"),
        (["rain.csv", "--roots", "snow"], 2, "knowledge names 'snow', which is no column"),
        (["rain.csv", "--max-parents", "-1"], 2, "`--max-parents` must be at least 0"),
        (["rain.csv", "--required", "rain->wet", "--max-parents", "0"], 2, "more required parents than the limit of 0"),
        (["rain.csv", "--time-limit", "-1"], 2, "--time-limit must be at least 0"),
        (["rain.csv", "--max-results", "-1"], 2, "`--max-results` must be at least 0"),
        (["rain.csv", "--seed", "-1"], 2, "`--seed` must be at least 0"),
        (["rain.csv", "-o", "arcs.json"], 2, "cannot tell the format of 'arcs.json'"),
        (["rain.csv", "-o", "no/arcs.csv"], 2, "there is no folder 'no'"),
    ],
)
def test_failures_are_one_sentence(words, code, message, folder):
    ended, sentence = fail("structure-posterior", *words)
    assert (ended, message in sentence) == (code, True), sentence
