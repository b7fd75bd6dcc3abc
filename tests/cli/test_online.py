"""``bayeslearn online``."""

import re

import numpy as np
import pytest

from bayeslearn import as_table, datasets
from bayeslearn.cli.online_experts import Naive
from tests.cli.asking import ask, fail, result, tell

TABLE = """sky,wind,hours,play
sun,weak,3.5,yes
sun,strong,1.0,no
rain,weak,2.0,yes
rain,strong,0.5,no
,weak,4.0,yes
sun,strong,1.5,no
fog,weak,?,yes
sun,weak,3.0,
"""


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "days.csv"
    path.write_text(TABLE)
    return str(path)


def test_report(table):
    told = ask("online", table, "--target", "play")
    assert re.search(r"rounds +7\n", told)  # a row without a label is left out
    assert re.search(r"experts +5\n", told)
    assert "best expert        wind: 2 (0.2857)" in told
    assert re.search(r"bound on mistakes +10.41\n", told)  # (2 + log₂ 5) / log₂(4/3)


def test_json(table):
    told = result(ask("online", table, "--target", "play", "--json"))
    assert [e["expert"] for e in told["experts"]] == ["majority", "sky", "wind", "hours", "naive Bayes"]
    assert told["mistakes"] <= told["bound"]
    assert told["regret"] == told["mistakes"] - told["best_mistakes"]
    assert told["curve"]["rounds"] == list(range(8))
    assert sum(e["weight"] for e in told["experts"]) == pytest.approx(1)


def test_who_votes(table):
    told = result(ask("online", table, "--target", "play", "--experts", "columns", "--drop-columns", "hours", "--json"))
    assert [e["expert"] for e in told["experts"]] == ["sky", "wind"]
    assert told["dropped_columns"] == {"hours": "asked for"}


def test_randomized_is_seeded(table):
    words = ("online", table, "--target", "play", "--randomized", "--seed", "3", "--beta", "0.8")
    assert ask(*words) == ask(*words)
    assert "bound on mistakes expected" in ask(*words)
    told = result(ask(*words, "--json"))
    assert told["curve"]["mistakes"][-1] == pytest.approx(told["expected_mistakes"])
    assert told["expected_mistakes"] <= told["bound"]


def test_advice_of_others(tmp_path):
    path = tmp_path / "forecasts.csv"
    path.write_text("ann,bob,eve,came\nrain,sun,rain,rain\nsun,sun,,sun\nrain,snow,sun,rain\n")
    told = result(ask("online", str(path), "--target", "came", "--expert-columns", "ann,bob,eve", "--json"))
    assert [(e["expert"], e["mistakes"], e["n_predictions"]) for e in told["experts"]] == [
        ("ann", 0, 3),
        ("bob", 2, 3),
        ("eve", 1, 2),
    ]
    assert told["mistakes"] == 0


def test_picture(table, tmp_path):
    code, _, said = tell("online", table, "--target", "play", "--plot", str(tmp_path / "course.svg"))
    assert code == 0
    assert "wrote" in said
    assert "Bound: 10.41" in (tmp_path / "course.svg").read_text()


def test_naive_bayes_knows_no_later_labels():
    rng = np.random.default_rng(0)
    y, n = rng.integers(0, 2, 80), 40
    rows = {"a": (y + (rng.random(80) < 0.3)) % 2, "b": y, "x": np.exp(rng.normal(3.0 * y, 1)), "y": y}
    changed = rows | {"y": np.append(y[:n], 1 - y[n:])}  # other labels in later rows
    advice = []
    for data in (rows, changed):
        table = as_table({name: v if name == "x" else v.astype(str) for name, v in data.items()})
        none = np.full(n, -1, np.int32)
        advice.append(Naive(table, "y").advise(0, table.take(np.arange(n)), none).tolist())
    assert advice[0] == advice[1]


def test_columns_with_holes():
    told = result(
        ask(
            "online",
            str(datasets.table_path("chest-clinic")),
            "--target",
            "dysp",
            "--drop-columns",
            "lung,either",
            "--json",
        )
    )
    assert told["rounds"] == 886
    assert told["best"] == "bronc"
    assert told["mistakes"] <= told["best_mistakes"] + 10


@pytest.mark.thorough
def test_real_table(shared_data):
    path = str(shared_data / "tables" / "house-votes-84.csv")
    told = result(ask("online", path, "--target", "class", "--json"))
    assert told["rounds"] == 435
    assert told["mistakes"] <= told["bound"]
    assert told["mistakes"] < 0.1 * told["rounds"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--target", "nothing"], "'nothing'"),
        (["--target", "play", "--beta", "1"], "--beta must be below 1, got 1"),
        (["--target", "play", "--beta", "0"], "--beta must be above 0, got 0"),
        (["--target", "play", "--experts", "oracle"], "no expert is called 'oracle'"),
        (["--target", "play", "--drop-columns", "play"], "column 'play' is needed, and cannot be dropped"),
        (["--target", "play", "--expert-columns", "play"], "'play' is the target"),
        (["--target", "play", "--experts", "columns", "--drop-columns", "sky,wind,hours"], "there is no expert"),
        (["--target", "play", "--plot", "course.txt"], "a plot is an .svg, .png or .pdf file"),
        (["--target", "play", "--seed", "-1"], "`--seed` must be at least 0"),
    ],
)
def test_bad_input(table, words, sentence):
    code, told = fail("online", table, *words)
    assert code == 2
    assert sentence in told


def test_no_labels(tmp_path):
    path = tmp_path / "days.csv"
    path.write_text("sky,play\nsun,\nrain,\n")
    code, told = fail("online", str(path), "--target", "play")
    assert code == 2
    assert "'play'" in told
