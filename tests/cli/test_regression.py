"""fit regression and predict: four methods, reports, new rows."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from bayeslearn.errors import BayeslearnWarning, DataError, FormatError, ParameterError, UnknownColumnError
from tests.cli.asking import ask, fail, result, said, tell


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 10, 60)
    hue = np.where(rng.random(60) < 0.5, "red", "blue")
    y = 2 * x + 5 * (hue == "red") + rng.normal(0, 0.5, 60)
    cells = [[f"{a:.4f}", h, f"{b:.4f}", f"{np.sin(a):.4f}", "big" if b > 12 else "small", "7", f"r{i}"]
             for i, (a, h, b) in enumerate(zip(x, hue, y, strict=True))]  # fmt: skip
    cells[3][0] = cells[7][1] = cells[9][2] = "?"
    lines = [",".join(row) for row in cells]
    (tmp_path / "rows.csv").write_text("x,hue,y,wave,size,same,id\n" + "\n".join(lines) + "\n")
    (tmp_path / "new.csv").write_text("x,hue\n1.0,red\n?,blue\n3.0,green\n")
    (tmp_path / "wave.csv").write_text("x,wave\n" + "\n".join(f"{a:.4f},{np.sin(a):.4f}" for a in x) + "\n")
    return tmp_path


def test_least_squares_are_reported_and_predict(files):
    data, model = str(files / "rows.csv"), str(files / "m.json")
    text = ask("fit", "regression", data, "--target", "y", "--drop-columns", "wave,size,id", "-o", model)
    found = pairs_of(text)
    assert (found["Rows"], found["Rows without a target"]) == ("60", "1")
    assert found["Missing values, replaced by the mean"] == "x: 1, hue: 1"
    assert found["Constant features"] == "same"
    assert found["wave"] == "asked for"
    assert found["Determined coefficients"] == "2 of 3; the others are the shortest possible"
    assert "R² 0.9" in found["Leave-one-out RMSE"]
    assert "hue=red" in text
    code, answer, warning = tell("predict", model, str(files / "new.csv"))
    lines = answer.splitlines()
    assert code == 0
    assert lines[0] == "y,low(y),high(y)"
    mean, low, high = map(float, lines[1].split(","))
    assert low < mean < high
    assert mean == pytest.approx(7, abs=0.7)
    assert "has no column 'same'; its values are treated as missing" in warning
    assert warning.count("1 value of 'hue' ('green') not among the states: treated as missing") == 1


def pairs_of(text):
    """The values of a report by their names."""
    cells = [re.split(r"  +", line, maxsplit=1) for line in text.splitlines()]
    return {pair[0]: pair[1] for pair in cells if len(pair) == 2}


def test_json_has_the_same(files):
    data = str(files / "rows.csv")
    answer = result(
        ask("fit", "regression", data, "-t", "y,wave", "--drop-columns", "size,id", "--prior", "evidence", "--json")
    )
    assert answer["targets"] == ["y", "wave"]
    assert answer["errors"]["y"]["r_squared"] > 0.9
    assert answer["noise"]["wave"] > 0.3
    slopes = {w["name"]: w for w in answer["coefficients"] if w["output"] == "y"}
    assert slopes["x"]["low"] < 2 < slopes["x"]["high"]
    assert 0.9 < answer["shrinkage"]["y"] <= 1
    model, rows = str(files / "m.json"), str(files / "out.csv")
    ask("fit", "regression", data, "-t", "y", "--drop-columns", "size,id,wave", "-o", model)
    told = tell("predict", model, data, "-o", rows)
    assert "y: 59 known, RMSE" in told[2]
    found = result(ask("predict", model, data, "--json"))
    assert found["metrics"]["y"]["coverage"] > 0.85
    assert len(found["columns"]["y"]) == 60


@pytest.mark.parametrize("method", ["rbf", "local"])
def test_curves_are_found_drawn_and_kept(files, method):
    data, model, picture = str(files / "wave.csv"), str(files / "m.json.gz"), files / "wave.png"
    words = ["fit", "regression", data, "-t", "wave", "--method", method, "-o", model]
    text = ask(*words, "--plot", str(picture))
    assert ("Radial units" if method == "rbf" else "kernel_neighbors") in text
    assert picture.read_bytes().startswith(b"\x89PNG")
    found = result(ask("predict", model, data, "--json"))
    assert found["metrics"]["wave"]["rmse"] < 0.05


@pytest.mark.parametrize(("method", "target"), [("logistic", "size"), ("rbf", "size"), ("logistic", "hue")])
def test_classes_are_learned_and_predicted(files, method, target):
    data, model = str(files / "rows.csv"), str(files / "m.json")
    ignore = "id,wave,y" + (",hue" if target == "size" else ",size")
    words = ["fit", "regression", data, "-t", target, "--method", method, "--drop-columns", ignore, "-o", model]
    text = ask(*words, "--plot", str(files / "p.svg"))
    assert "Training accuracy" in text
    lines = tell("predict", model, str(files / "new.csv"))[1].splitlines()
    classes = ["big", "small"] if target == "size" else ["blue", "red"]
    assert lines[0] == ",".join([target, *(f"P({target}={label})" for label in classes)])
    if target == "size":
        assert lines[1].startswith("small")
    assert "accuracy" in said("predict", model, data)


def test_separated_classes_without_a_prior(files):
    path = files / "apart.csv"
    path.write_text("x,y\n" + "\n".join(f"{i},{'a' if i < 5 else 'b'}" for i in range(10)) + "\n")
    with pytest.warns(BayeslearnWarning, match="the classes are separated"):
        text = ask("fit", "regression", str(path), "-t", "y", "--method", "logistic", "--prior", "none")
    assert "use prior=1" in text


def test_few_rows(files):
    path = files / "few.csv"
    path.write_text("a,b,c,y\n1,2,3,4.5\n2,1,5,6.5\n")
    text = ask("fit", "regression", str(path), "-t", "y", "--prior", "reference")
    found = pairs_of(text)
    assert found["Noise (standard deviation)"] == "unknown: too few rows"
    assert found["Cross-validated RMSE"] == "2 (of the mean: 2, R² 0.000)"
    ask("fit", "regression", str(path), "-t", "y", "--prior", "reference", "-o", str(files / "m.json"))
    assert ask("predict", str(files / "m.json"), str(path)).splitlines()[1] == "4.5,nan,nan"


def test_few_rows_have_a_weak_prior(files):
    path = files / "few.csv"
    path.write_text("a,b,c,y\n1,2,3,4.5\n2,1,5,6.5\n")
    text = ask("fit", "regression", str(path), "-t", "y", "-o", str(files / "m.json"))
    assert pairs_of(text)["Prior"] == "weak (2 rows for 4 coefficients)"
    assert "nan" not in text
    low, high = map(float, ask("predict", str(files / "m.json"), str(path)).splitlines()[1].split(",")[1:])
    assert low < 4.5 < high


@pytest.fixture
def rentals(tmp_path):
    """Streets within quarters, some of one flat only, and one column twice: more than 100 weights."""
    rng = np.random.default_rng(1)
    n = 900
    street = rng.choice(150, n, p=rng.dirichlet(np.full(150, 0.5)))
    street[:5] = range(150, 155)  # streets of a single flat
    area = rng.normal(70, 20, n)
    price = 10 * area + 40.0 * (street % 11) + rng.normal(0, 60, n)
    columns = {"street": [f"s{k:03}" for k in street], "quarter": [f"q{k % 11:02}" for k in street],
               "area": area, "feet": 10.76 * area, "price": price}  # fmt: skip
    for name, rows in (("train", slice(0, 600)), ("test", slice(600, n))):
        lines = [",".join(map(str, row)) for row in zip(*(v[rows] for v in columns.values()), strict=True)]
        (tmp_path / f"{name}.csv").write_text("\n".join([",".join(columns), *lines]) + "\n")
    return tmp_path


def test_many_weights_that_the_rows_do_not_determine(rentals):
    train, model = str(rentals / "train.csv"), str(rentals / "m.json")
    answer = result(ask("fit", "regression", train, "-t", "price", "--json", "-o", model))
    scores = result(tell("predict", model, str(rentals / "test.csv"), "--json")[1])["metrics"]["price"]
    weights = answer["coefficients"]

    assert answer["prior"] == "weak"
    assert "columns are set in a single row" in answer["prior_reason"]
    assert answer["errors"]["price"]["rmse"] == pytest.approx(scores["rmse"], rel=0.1)
    assert all(np.isfinite([w["mean"], w["low"], w["high"]]).all() for w in weights)
    assert max(abs(w["mean"]) for w in weights[1:]) < 1000
    effects = [abs(w["effect"]) for w in weights[1:]]
    assert effects == sorted(effects, reverse=True)
    assert {w["name"] for w in weights[1:3]} == {"area", "feet"}


@pytest.mark.thorough
def test_the_largest_weights_are_printed_first(rentals):
    text = ask("fit", "regression", str(rentals / "train.csv"), "-t", "price")
    lines = text.splitlines()
    n = len(result(ask("fit", "regression", str(rentals / "train.csv"), "-t", "price", "--json"))["coefficients"])

    assert n > 100
    assert f"Coefficients, largest effects first (30 of {n})" in lines
    assert len(lines) < 60
    at = next(i for i, line in enumerate(lines) if line.startswith("(intercept)"))
    assert {line.split()[0] for line in lines[at + 1 : at + 3]} == {"area", "feet"}


@pytest.mark.thorough
def test_errors_of_the_reference_prior_are_held_out_where_they_are_undefined(rentals):
    text = ask("fit", "regression", str(rentals / "train.csv"), "-t", "price", "--prior", "reference")

    assert "Cross-validated RMSE" in text
    assert "undefined" not in text


def test_what_cannot_be_is_told(files):
    data, model = str(files / "rows.csv"), str(files / "m.json")
    for words, error, match in [
        ((data, "-t", "z"), UnknownColumnError, "there is no column 'z'"),
        ((data, "-t", "y", "--method", "magic"), ParameterError, "unexpected value for `--method`"),
        ((data, "-t", "hue"), DataError, "target 'hue' holds states such as 'blue'"),
        ((data, "-t", "y", "-o", str(files / "m.txt")), ParameterError, "its name stands for another format"),
        ((data, "-t", "y", "--n-units", "two"), ParameterError, "--n-units is a whole number above 0, or auto"),
        ((data, "-t", "y", "--width", "wide"), ParameterError, "--width is a number or auto or nearest"),
        ((data, "-t", "y", "--prior", "strong"), ParameterError, "there is no prior 'strong'"),
        ((data, "-t", "y", "--level", "2"), ParameterError, "`--level` must be below 1"),
    ]:
        with pytest.raises(error, match=match):
            ask("fit", "regression", *words)
    assert fail("fit", "regression", data, "-t", "id", "--max-states", "20")[0] == 1
    assert "Missing option '--target'" in fail("fit", "regression", data)[1]
    (files / "m.json").write_text("{}")
    with pytest.raises(FormatError, match="holds no model"):
        ask("predict", model, data)


BROKEN = {
    "linear": [
        ("statistics", {"n": 3.0, "mean": [1.0], "scatter": [[1.0]]}),
        ("prior", {"kappa": [1.0]}),
        ("outputs", []),
    ],
    "logistic": [("coefficients", [[1.0]]), ("classes", ["a"])],
    "local": [("settings", {"degree": 9}), ("rows", [[1.0], [2.0, 3.0]]), ("sample_weight", [1.0])],
    "rbf": [("basis", {"centers": [[1.0]], "widths": [1.0]})],
}


@pytest.mark.parametrize("method", BROKEN)
def test_broken_models_are_refused(files, method):
    data, model = str(files / "wave.csv"), files / "m.json"
    if method == "logistic":
        data = str(files / "rows.csv")
    target = "size" if method == "logistic" else "wave"
    ask("fit", "regression", data, "-t", target, "--method", method, "--n-units", "4", "-o", str(model))
    document = json.loads(model.read_text())
    for key, value in BROKEN[method]:
        model.write_text(json.dumps({**document, key: value}))
        with pytest.raises(FormatError, match=r"m\.json"):
            ask("predict", str(model), data)
