"""The verb score: how probable the cases of a file are."""

from __future__ import annotations

import math

import numpy as np
import pyarrow.parquet
import pytest

from bayeslearn import as_table, read_network
from tests.cli.asking import ask, fail, result, said

CASES = "smoke,xray,town,times\nyes,yes,A,2\nno,?,B,1\n,,C,3\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cases.csv").write_text(CASES)
    (tmp_path / "never.csv").write_text("tub,either\nyes,yes\nyes,no\nno,no\nyes,no\n")
    return tmp_path


def test_a_report(folder):
    assert ask("score", "asia", "cases.csv") == (
        "rows            3\n"
        "missing values  21\n"
        "log-likelihood  -3.27211311\n"
        "mean            -1.091\n"
        "bits per row    1.574\n"
    )
    assert "weight          6\n" in ask("score", "asia", "cases.csv", "--sample-weight", "times")


def test_it_is_what_python_says(folder):
    score = read_network("asia").score("cases.csv")
    assert result(ask("score", "asia", "cases.csv", "--json")) == {
        "n_rows": 3,
        "total_weight": 3,
        "n_missing": 21,
        "impossible_rows": [],
        "log_likelihood": pytest.approx(score.log_likelihood, rel=1e-13),
        "mean_log_likelihood": pytest.approx(score.mean, rel=1e-13),
        "bits_per_row": pytest.approx(score.bits, rel=1e-13),
    }
    weighted = result(ask("score", "asia", "cases.csv", "--sample-weight", "times", "--json"))
    assert weighted["log_likelihood"] == pytest.approx(2 * score.per_row[0] + score.per_row[1], rel=1e-13)
    assert weighted["mean_log_likelihood"] == pytest.approx(weighted["log_likelihood"] / 6, rel=1e-13)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_every_case_by_itself(folder, ending):
    assert said("score", "asia", "cases.csv", "--output", f"p.{ending}") == f"wrote p.{ending}: 3 rows, 1 column\n"
    found = as_table(f"p.{ending}", numeric=["log_likelihood"]).values_of("log_likelihood")
    np.testing.assert_allclose(found, read_network("asia").log_likelihood("cases.csv"), rtol=1e-14, atol=1e-14)


def test_impossible_rows_are_named(folder):
    words = ["score", "asia", "never.csv", "--output", "p.parquet"]
    assert said(*words).splitlines()[0] == (
        "warning: 2 rows have probability zero, 1, 3: "
        "the evidence of row 1 is impossible: tub=yes, either=no cannot be together"
    )
    assert "log-likelihood  -inf\nmean            -inf\nbits per row    inf\n" in ask(*words)
    answer = result(ask(*words, "--json"))
    assert (answer["impossible_rows"], answer["log_likelihood"], answer["bits_per_row"]) == ([1, 3], None, None)
    found = pyarrow.parquet.read_table("p.parquet")["log_likelihood"].to_pylist()
    assert [math.isinf(x) for x in found] == [False, True, False, True]


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["asia", "none.csv"], 2, "cannot read 'none.csv'"),
        (["no-such.bif", "cases.csv"], 2, "no-such.bif"),
        (["asia", "odd.csv", "--handle-unknown", "error"], 1, "column 'smoke' has state 'maybe' in row 1"),
        (["asia", "cases.csv", "--output", "p.doc"], 2, "cannot tell the format of 'p.doc'"),
        (["asia", "cases.csv", "--output", "no/p.csv"], 2, "there is no folder 'no'"),
        (["asia", "cases.csv", "--sample-weight", "weight"], 2, "there is no column 'weight'"),
    ],
)
def test_failures_are_one_sentence(words, code, message, folder):
    (folder / "odd.csv").write_text("smoke\nyes\nmaybe\n")
    found, sentence = fail("score", *words)
    assert (found, message in sentence, "Traceback" in sentence) == (code, True, False), sentence
