"""Networks of states and numbers on the command line."""

import csv

import numpy as np
import pytest

from tests.cli.asking import ask, fail, result

GRAPH = "[smoker][age][bmi][charges|smoker:age:bmi]"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    random = np.random.default_rng(0)
    path = tmp_path_factory.mktemp("hybrid")
    with (path / "rows.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["smoker", "age", "bmi", "charges"])
        for i in range(200):
            smoker, age, bmi = random.choice(["no", "yes"]), random.normal(40, 12), random.normal(30, 6)
            charges = 2000 + 260 * age + (20_000 + 800 * (bmi - 30)) * (smoker == "yes") + random.normal(0, 2000)
            row = [smoker, f"{age:.1f}", f"{bmi:.2f}", f"{charges:.2f}"]
            row[i % 4] = "" if i % 11 == 0 else row[i % 4]
            writer.writerow(row)
    ask("fit", "parameters", GRAPH, str(path / "rows.csv"), "--numeric", "gaussian", "-o", str(path / "m.json"))
    return path


def test_query(folder):
    found = result(ask("query", str(folder / "m.json"), "charges=30000", "--json"))
    assert found["beliefs"]["smoker"]["yes"] > 0.99
    assert found["beliefs"]["bmi"]["q05"] < found["beliefs"]["bmi"]["mean"] < found["beliefs"]["bmi"]["q95"]
    shown = ask("query", str(folder / "m.json"), "charges=30000")
    assert "5 %" in shown
    assert "95 %" in shown


def test_show_and_plot(folder):
    assert "number" in ask("show", str(folder / "m.json"))
    ask("plot", str(folder / "m.json"), "-o", str(folder / "m.svg"))
    assert "<polygon" in (folder / "m.svg").read_text()


def test_predict(folder):
    out = folder / "p.csv"
    ask("predict", str(folder / "m.json"), str(folder / "rows.csv"), "--target", "charges", "-o", str(out))
    rows = list(csv.DictReader(out.read_text().splitlines()))
    assert list(rows[0]) == ["charges", "sd(charges)", "q05(charges)", "q95(charges)", "log_evidence"]
    assert all(float(r["q05(charges)"]) < float(r["charges"]) < float(r["q95(charges)"]) for r in rows)
    ask("predict", str(folder / "m.json"), str(folder / "rows.csv"), "--target", "smoker", "-o", str(out))
    assert {r["smoker"] for r in csv.DictReader(out.read_text().splitlines())} == {"no", "yes"}


def test_impute_keeps_observed_cells(folder):
    out = folder / "full.csv"
    ask("impute", str(folder / "m.json"), str(folder / "rows.csv"), "-o", str(out))
    before, after = (list(csv.reader(path.read_text().splitlines())) for path in (folder / "rows.csv", out))
    assert all(cell for row in after for cell in row)
    assert all(a == b for x, y in zip(before, after, strict=True) for a, b in zip(x, y, strict=True) if a)


@pytest.mark.parametrize("target", ["smoker", "charges"])
def test_explain(folder, target):
    evidence = "charges=30000" if target == "smoker" else "smoker=yes"
    assert evidence in ask("explain", str(folder / "m.json"), evidence, "--target", target)
    assert result(ask("explain", str(folder / "m.json"), evidence, "--target", target, "--json"))["target"] == target


def test_update_merge_score_and_sample(folder):
    model, rows = str(folder / "m.json"), str(folder / "rows.csv")
    ask("update", model, rows, "-o", str(folder / "m2.json"))
    ask("merge", model, model, "-o", str(folder / "m3.json"))
    assert result(ask("score", model, rows, "--json"))["log_likelihood"] < 0
    ask("sample", model, "--n-samples", "5", "--seed", "0", "-o", str(folder / "s.csv"))
    assert len(list(csv.DictReader((folder / "s.csv").read_text().splitlines()))) == 5


def test_formats_without_numbers(folder):
    code, message = fail("convert", str(folder / "m.json"), str(folder / "m.bif"))
    assert code == 2
    assert "are numeric" in message
