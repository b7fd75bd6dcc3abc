"""fit neighbors and predict: leave-one-out errors, new rows, explanations, plots, models."""

from __future__ import annotations

import numpy as np
import pytest

from bayeslearn import NeighborsModel
from tests.cli.asking import ask, fail, result, said, tell

ROWS = """size,hue,kind,price,id
1.0,red,a,10,r1
1.2,red,a,11,r2
0.9,?,a,12,r3
5.0,blue,b,50,r4
5.2,blue,b,51,r5
5.1,red,b,55,r6
5.3,blue,,54,r7
"""


@pytest.fixture
def files(tmp_path):
    (tmp_path / "rows.csv").write_text(ROWS)
    (tmp_path / "new.csv").write_text("size,hue\n1.0,red\n?,blue\n4.0,violet\n")
    return tmp_path


def test_rows_predict_each_other(files):
    text = ask("fit", "neighbors", str(files / "rows.csv"), "--target", "kind", "--drop-columns", "price,id")
    lines = [line.rsplit(maxsplit=1) for line in text.splitlines() if "  " in line]
    found = {name.strip(): value for name, value in lines}
    assert found["Training rows"] == "6"
    assert found["Missing values"] == "1"
    assert found["Neighbors"] == "2"
    assert found["Error rate (leave-one-out)"] == "0"
    assert "Rows that their neighbors predict worst" in text
    assert "Dropped columns\nColumn  Reason\n" in text
    found = result(
        ask("fit", "neighbors", str(files / "rows.csv"), "--target", "kind", "--drop-columns", "price,id", "--json")
    )
    assert list(found["leave_one_out"]["errors"]) == ["1", "2", "3", "4", "5"]
    assert found["leave_one_out"]["errors"]["5"] == 1
    assert found["feature_weights"] == {"size": 1, "hue": 1}


def test_new_rows_and_why(files):
    words = [
        "fit",
        "neighbors",
        str(files / "rows.csv"),
        "--target",
        "kind",
        "--drop-columns",
        "price,id",
        "--n-neighbors",
        "3",
    ]
    ask(*words, "-o", str(files / "m.json"))
    new = ["predict", str(files / "m.json"), str(files / "new.csv")]
    assert ask(*new).splitlines() == [
        "kind,P(kind=a),P(kind=b)",
        "a,0.875,0.125",
        "b,0.375,0.625",
        "b,0.125,0.875",
    ]
    text = ask("explain", *new[1:]).splitlines()
    assert text[0] == "Row 0: kind = a  (P = 0.875)"
    assert text[2].split() == ["Row", "Distance", "Weight", "kind", "size", "hue"]
    assert text[4].split() == ["0", "0", "1", "a", "1", "red"]
    assert result(ask(*new, "--json"))["columns"]["kind"] == ["a", "b", "b"]
    why = result(ask("explain", *new[1:], "--json", "--max-results", "2"))["explanations"]
    assert [v["row"] for v in why[0]["contributions"]] == [0, 1]
    ask("explain", *new[1:], "-o", str(files / "why.csv"))
    lines = (files / "why.csv").read_text().splitlines()
    assert (lines[0], len(lines)) == ("explained_row,row,distance,weight,kind,size,hue", 1 + 3 * 3)


def test_numbers_have_bounds(files):
    words = [
        "fit",
        "neighbors",
        str(files / "rows.csv"),
        "--target",
        "price",
        "--drop-columns",
        "id,kind",
        "--task",
        "regression",
    ]
    ask(*words, "--n-neighbors", "2", "--weights", "inverse_square", "-o", str(files / "m.json"))
    lines = ask("predict", str(files / "m.json"), str(files / "new.csv")).splitlines()
    assert lines[0] == "price,low(price),high(price)"
    price, low, high = map(float, lines[1].split(","))
    assert low < price < high
    assert "Root mean squared error (leave-one-out)" in ask(*words, "--n-neighbors", "all")


def test_models_and_rows_are_written(files):
    rows, model, out = str(files / "rows.csv"), str(files / "m.json"), files / "out.csv"
    words = ["fit", "neighbors", rows, "--target", "kind", "--drop-columns", "price,id", "--n-neighbors", "3"]
    assert said(*words, "-o", model) == f"wrote {model}: 6 rows\n"
    assert NeighborsModel.load(model).n_neighbors == 3
    assert "3 rows, 3 columns" in said("predict", model, str(files / "new.csv"), "-o", str(out))
    assert out.read_text() == ask("predict", model, str(files / "new.csv"))


def test_attributes_are_chosen(files):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 3))
    lines = [f"{a:.4f},{b:.4f},{c:.4f},{'yes' if a > 0 else 'no'}" for a, b, c in x]
    (files / "noise.csv").write_text("a,b,c,y\n" + "\n".join(lines) + "\n")
    words = ["fit", "neighbors", str(files / "noise.csv"), "--target", "y", "--json"]
    assert result(ask(*words, "--feature-weights", "select"))["feature_weights"] == {"a": 1, "b": 0, "c": 0}
    assert result(ask(*words, "--feature-weights", "auto"))["feature_weights"]["c"] < 1
    text = ask("fit", "neighbors", str(files / "noise.csv"), "--target", "y", "--feature-weights", "select")
    assert "Error rate before selection" in text
    assert "Selected feature weights" in text


@pytest.mark.thorough
def test_pictures(files):
    lines = [f"{i % 5},{i // 5 + 0.1 * (i % 2)},{'a' if i % 5 < 2 else 'b'},{i}" for i in range(20)]
    (files / "plane.csv").write_text("x,y,kind,n\n" + "\n".join(lines) + "\n")
    cells, numbers, errors = (files / f"{name}.png" for name in ("cells", "numbers", "errors"))
    ask(
        "fit",
        "neighbors",
        str(files / "plane.csv"),
        "--target",
        "kind",
        "--drop-columns",
        "n",
        "--plot",
        str(cells),
        "--n-neighbors",
        "1",
    )
    ask(
        "fit",
        "neighbors",
        str(files / "plane.csv"),
        "--target",
        "n",
        "--drop-columns",
        "kind",
        "--plot",
        str(numbers),
        "--n-neighbors",
        "3",
    )
    ask("fit", "neighbors", str(files / "plane.csv"), "--target", "kind", "--plot", str(errors))
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in (cells, numbers, errors))


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "Missing option '--target'"),
        (["--target", "taste"], "there is no column 'taste'"),
        (["--target", "kind", "--n-neighbors", "none"], "--n-neighbors is a whole number above 0, auto or all"),
        (["--target", "kind", "-o", "model.txt"], "names end in .json"),
        (["--target", "kind", "--metric", "cosine"], "metric"),
        (["--target", "kind", "--drop-columns", "size,hue,price,id"], "no column besides 'kind'"),
    ],
    ids=["target", "column", "k", "ending", "metric", "nothing"],
)
def test_what_cannot_be_done(files, words, sentence):
    code, told = fail("fit", "neighbors", str(files / "rows.csv"), *words)
    assert code in {1, 2}
    assert sentence in told


def test_new_rows_with_other_columns(files):
    (files / "other.csv").write_text("length\n3\n")
    (files / "part.csv").write_text("hue\nblue\n")
    model = str(files / "m.json")
    ask("fit", "neighbors", str(files / "rows.csv"), "--target", "kind", "--drop-columns", "price,id", "-o", model)
    words = ["predict", model]
    assert "has none of the columns of the model: 'size', 'hue'" in fail(*words, str(files / "other.csv"))[1]
    code, answer, told = tell(*words, str(files / "part.csv"))
    assert code == 0
    assert answer.splitlines()[1].startswith("b,")
    assert "has no column 'size'; its values are treated as missing" in told
