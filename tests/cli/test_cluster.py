"""fit mixture and predict: clusters are found, reported, and predicted for new rows."""

from __future__ import annotations

import re

import numpy as np
import pytest

from bayeslearn import MixtureModel
from bayeslearn.errors import ParameterError
from tests.cli.asking import ask, result, said


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(0, 1, (30, 2)), rng.normal(8, 1, (20, 2))])
    hue = ["red"] * 30 + ["blue"] * 20
    cells = [[f"{a:.4f}", f"{b:.4f}", h] for (a, b), h in zip(x, hue, strict=True)]
    cells[3][0] = cells[7][2] = "?"
    lines = [",".join(row) for row in cells]
    (tmp_path / "mixed.csv").write_text("a,b,hue\n" + "\n".join(lines) + "\n")
    (tmp_path / "plain.csv").write_text("a,b\n" + "\n".join(line.rsplit(",", 1)[0] for line in lines) + "\n")
    return tmp_path


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "columns"), [("mixed", "3"), ("plain", "2")])
def test_groups_are_found_reported_and_assigned(files, name, columns):
    model = str(files / "m.json.gz")
    text = ask("fit", "mixture", str(files / f"{name}.csv"), "-o", model)
    assert re.search(rf"^Columns +{columns}$", text, re.MULTILINE)
    assert re.search(r"^Components +2$", text, re.MULTILINE)
    assert "Distinguishing columns" in text
    assert [part.is_joint for part in MixtureModel.load(model).parts] == ([True] if name == "plain" else [False] * 3)
    lines = ask("predict", model, str(files / f"{name}.csv")).splitlines()
    assert lines[0] == "component,P(component=0),P(component=1),log_likelihood"
    groups = [line.split(",")[0] for line in lines[1:]]
    assert groups == ["0"] * 30 + ["1"] * 20


def test_json_pictures_and_files_of_rows(files):
    model, picture = str(files / "m.json"), files / "groups.png"
    words = ["fit", "mixture", str(files / "mixed.csv"), "--n-components", "2", "-o", model]
    words += ["--covariance-type", "full"]
    answer = result(ask(*words, "--plot", str(picture), "--json"))
    assert answer["n_components"] == 2
    assert answer["clusters"][0]["size"] == pytest.approx(30, abs=0.5)
    assert [step["iteration"] for step in answer["history"]] == list(range(answer["n_iter"] + 1))
    assert picture.read_bytes().startswith(b"\x89PNG")
    rows = str(files / "rows.csv")
    assert "wrote" in said("predict", model, str(files / "mixed.csv"), "-o", rows)
    found = result(ask("predict", model, str(files / "plain.csv"), "--json"))
    assert found["columns"]["component"] == [0] * 30 + [1] * 20


def test_what_cannot_be_is_told(files):
    data, model = str(files / "plain.csv"), str(files / "m.json")
    for words, match in [
        ((data, "-o", model, "--n-components", "two"), "--n-components is a whole number above 0, or auto"),
        ((data, "-o", str(files / "m.txt")), "its name stands for another format"),
        ((data, "-o", model, "--drop-columns", "z"), "there is no column 'z'"),
        ((data, "-o", model, "--prior", "strong"), "unexpected value for `--prior`"),
    ]:
        with pytest.raises(ParameterError, match=match):
            ask("fit", "mixture", *words)
