"""The verbs naive learn and naive predict."""

from __future__ import annotations

import numpy as np
import pytest

from bayeslearn import NaiveBayesModel
from bayeslearn.errors import DataError, ParameterError
from tests.cli.asking import ask, fail, result, said
from tests.naive_bayes.tabular.test_model import random_rows


@pytest.fixture
def days(tmp_path):
    """A file of rows with holes, and the names of files to write."""
    rows = random_rows(0, n=60)
    write(tmp_path / "days.csv", rows | {"id": [f"row {i}" for i in range(60)]})
    return tmp_path


def write(path, rows):
    lines = [",".join(rows), *(",".join("?" if x is None else str(x) for x in row) for row in zip(*rows.values()))]  # noqa: B905
    path.write_text("\n".join(lines) + "\n")


def learn(folder, *words):
    return ask("fit", "naive-bayes", str(folder / "days.csv"), "--target", "kind", "-o", str(folder / "m.json"), *words)


def test_the_report(days):
    text = learn(days, "--max-states", "20", "--distribution", "visits=poisson")
    assert "1 categorical, 1 gaussian, 1 poisson" in text
    assert "column 'id' has 60 different states" in text
    assert "majority" in text
    assert "indicators" in text
    model = NaiveBayesModel.load(days / "m.json")
    assert model.total_weight == 60
    assert {c.name: c.distribution.name for c in model.columns} == {
        "sky": "categorical",
        "heat": "gaussian",
        "visits": "poisson",
    }


def test_the_reliability_is_drawn_if_it_was_checked(days):
    learn(days, "--plot", str(days / "curve.svg"))
    assert "<svg" in (days / "curve.svg").read_text()
    learn(days, "--cv", "0", "--plot", str(days / "none.svg"))
    assert not (days / "none.svg").exists()


@pytest.mark.thorough
def test_options_reach_the_model(days):
    found = result(
        learn(days, "--drop-columns", "id", "--prior", "m:2,sky=laplace", "--calibrate", "--json",
              "--cv", "5", "--distribution", "heat=binned:3", "--distribution", "visits=gaussian",
              "--class-prior", "none")
    )  # fmt: skip
    model = NaiveBayesModel.load(days / "m.json")
    assert repr(model["sky"].prior) == "Dirichlet(α=1 per state)"
    assert repr(model["heat"].prior) == "Dirichlet(α₀=2 per row)"
    assert repr(model["visits"].prior) == "PooledPrior(equivalent_sample_size=2.0)"
    assert model["heat"].variable.n_states == 3
    exponents = dict(zip(model.feature_names, model.column_exponents, strict=True))
    assert found["column_exponents"] == pytest.approx(exponents)
    assert found["cross_validation"]["cv"] == 5
    assert len(found["cross_validation"]["calibration"]["edges"]) == 11
    assert found["dropped_columns"] == {"id": "asked for"}
    assert list(found["class_counts"]) == ["a", "b", "c"]


def test_predictions_are_those_of_the_model(days):
    learn(days, "--drop-columns", "id", "--distribution", "visits=poisson")
    model, path = NaiveBayesModel.load(days / "m.json"), str(days / "days.csv")
    expected = model.predict_proba(path)
    ask("predict", str(days / "m.json"), path, "-o", str(days / "p.csv"))
    lines = (days / "p.csv").read_text().splitlines()
    assert lines[0] == "kind,P(kind=a),P(kind=b),P(kind=c)"
    found = np.array([line.split(",")[1:] for line in lines[1:]], float)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert "of 60 known are right" in said("predict", str(days / "m.json"), path)
    answer = result(ask("predict", str(days / "m.json"), path, "--json"))
    assert answer["n_rows"] == 60
    assert answer["columns"]["kind"] == model.predict(path).tolist()
    assert answer["metrics"]["kind"]["log_loss"] == pytest.approx(model.evaluate(path).log_loss)
    why = result(ask("explain", str(days / "m.json"), path, "--json"))["explanations"]
    heat = [row["contributions"]["heat"] for row in why]
    np.testing.assert_allclose(heat, model.explain(path).parts["heat"], rtol=1e-9, atol=1e-12)
    ask("predict", str(days / "m.json"), path, "-o", str(days / "p.parquet"))
    assert (days / "p.parquet").stat().st_size > 0


def test_explanations_as_text_and_as_a_file(days):
    learn(days, "--drop-columns", "id")
    write(days / "one.csv", {"sky": ["hail"], "heat": [0.5]})
    words = ["explain", str(days / "m.json"), str(days / "one.csv")]
    text = ask(*words)
    assert text.startswith("Row 0: ")
    assert "sky = (unknown)" in text
    assert "visits missing" in text
    assert "has no column 'visits'; its values are treated as missing" in said(*words)
    ask(*words, "-o", str(days / "why.csv"))
    assert (days / "why.csv").read_text().splitlines()[0] == "row,class,log_odds,start,sky,heat,visits"


def test_labels_that_are_missing(days):
    rows = random_rows(1, n=60, labels=False)
    write(days / "days.csv", rows)
    assert "Unlabeled rows" in learn(days)
    assert NaiveBayesModel.load(days / "m.json").total_weight == pytest.approx(60)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--target", "kind", "-o", "m.txt"], "its name stands for another format"),
        (
            ["--target", "kind", "-o", "m.json", "--distribution", "heat"],
            "unexpected value for `--distribution`: 'heat'",
        ),
        (["--target", "kind", "-o", "m.json", "--distribution", "heat=zipf"], "distributions"),
        (["--target", "kind", "-o", "m.json", "--prior", "m:2,m:3"], "one --prior for all columns"),
        (
            ["--target", "kind", "-o", "m.json", "--drop-columns", "kind"],
            "column 'kind' is needed, and cannot be dropped",
        ),
    ],
)
def test_mistakes_are_named(days, words, message):
    places = [str(days / word) if word.startswith("m.") else word for word in words]
    with pytest.raises(ParameterError, match=message):
        ask("fit", "naive-bayes", str(days / "days.csv"), *places)


def test_an_unknown_target_ends_the_command(days):
    code, sentence = fail("fit", "naive-bayes", str(days / "days.csv"), "--target", "kin", "-o", str(days / "m.json"))
    assert code == 2
    assert "there is no column 'kin'" in sentence


def test_a_file_without_the_columns(days):
    learn(days, "--drop-columns", "id", "--cv", "0")
    write(days / "other.csv", {"x": [1, 2]})
    with pytest.raises(DataError, match="none of the columns of the model"):
        ask("predict", str(days / "m.json"), str(days / "other.csv"))
