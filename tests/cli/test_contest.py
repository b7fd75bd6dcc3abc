"""The verb compare-models."""

from __future__ import annotations

import numpy as np
import pytest

from tests.cli.asking import ask, fail, result, said, tell


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    rng = np.random.default_rng(0)
    x = rng.normal(size=40)
    lines = [f"{v:.4f},{'red' if i % 3 else '?'},{'yes' if v > 0 else 'no'},{2 * v:.4f}" for i, v in enumerate(x)]
    path = tmp_path_factory.mktemp("contest") / "rows.csv"
    path.write_text("x,hue,kind,cost\n" + "\n".join(lines) + "\n")
    return str(path)


QUICK = ["--learners", "k-nn", "--learners", "naive-bayes", "--cv", "4"]


@pytest.fixture(autouse=True)
def few_queries(monkeypatch):
    monkeypatch.setattr("bayeslearn.model_comparison.compare.MIN_QUERIES", 1)  # enough where nothing is timed


def test_a_table_of_classes(rows):
    text = ask("compare-models", rows, "--target", "kind", "--drop-columns", "cost", *QUICK)
    assert "kind, classification by 2 columns\nRows    40 in 4 folds\n" in text
    assert "cost    asked for\n" in text
    for name, kind in (("k-nn", "lazy"), ("naive-bayes", "eager"), ("baseline", "eager")):
        assert [line.split()[1] for line in text.splitlines() if line.startswith(f"{name} ")] == [kind]
    assert "Significantly worse than" in text


@pytest.mark.thorough
def test_numbers_as_json_and_a_picture(rows, tmp_path):
    words = [
        "compare-models",
        rows,
        "--target",
        "cost",
        "--drop-columns",
        "kind",
        "--learners",
        "least-squares",
        "--cv",
        "3",
    ]
    found = result(ask(*words, "--json", "--seed", "5"))
    assert (found["task"], found["n_rows"], found["dropped_columns"]) == ("regression", 40, {"kind": "asked for"})
    assert found["learners"][0]["learner"] == "least-squares"
    assert found["learners"][0]["error"] < 1e-3
    assert found["learners"][1]["p_value"] < 1e-3
    pytest.importorskip("matplotlib")
    for name in ("times.png", "times.svg"):
        assert said(*words, "--plot", str(tmp_path / name)) == f"wrote {tmp_path / name}\n"
        assert (tmp_path / name).stat().st_size > 5000


def test_failures_are_told(rows):
    code, text, _ = tell("compare-models", rows, "--target", "kind", *QUICK, "--time-limit", "1e-9")
    assert code == 0
    assert "k-nn failed: more than 1e-09 s for 0 of 4 folds\n" in text


def test_bad_input(rows, tmp_path):
    assert "there is no column 'kin'" in fail("compare-models", rows, "--target", "kin")[1]
    assert (
        "no learner 'oracle' for classification"
        in fail("compare-models", rows, "--target", "kind", "--learners", "oracle")[1]
    )
    assert "cannot make 41 folds" in fail("compare-models", rows, "--target", "kind", "--cv", "41")[1]
    assert (
        "an .svg, .png or .pdf file"
        in fail("compare-models", rows, "--target", "kind", "--plot", str(tmp_path / "a.txt"))[1]
    )
    assert "`--seed` must be at least 0" in fail("compare-models", rows, "--target", "kind", "--seed", "-1")[1]
