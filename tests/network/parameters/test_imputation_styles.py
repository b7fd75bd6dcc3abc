"""Filled numbers look like the numbers of their column, and words among numbers stay."""

from __future__ import annotations

import csv
import io
import json
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeslearn import fit_parameters, write_network
from bayeslearn.errors import BayeslearnWarning
from bayeslearn.tables.formats import numbers_in
from tests.cli.asking import ask, tell
from tests.tables.test_number_style import WRITERS

import pyarrow as pa  # isort: skip

RNG = np.random.default_rng(19)
X = np.round(np.r_[RNG.uniform(1, 99, 60), RNG.uniform(1500, 9000, 60)], 2).tolist()
SIZE = ["small"] * 60 + ["large"] * 60


def network_of(name, write):
    x = X if name is None else [write(v) for v in X]
    return fit_parameters("[size][x|size]", {"x": x, "size": SIZE}, prior="laplace")


NETWORKS = {kind: network_of(*written) for kind, written in WRITERS.items()}


@given(kind=st.sampled_from(sorted(WRITERS)), gaps=st.lists(st.integers(0, 119), min_size=1, max_size=20, unique=True),
       how=st.sampled_from(["most_probable", "sample"]))  # fmt: skip
def test_a_number_is_filled_in_the_format_of_its_column(kind, gaps, how):
    """Observed cells stay; a filled one is a training value of its interval, written as the column writes it."""
    name, write = WRITERS[kind]
    cells = [write(v) for v in X]
    holes = ["" if i in gaps else cell for i, cell in enumerate(cells)]
    network = NETWORKS[kind]
    full = network.impute({"x": holes, "size": SIZE}, method=how, random_state=0)["x"]
    assert [full[i] for i in range(120) if i not in gaps] == [cells[i] for i in range(120) if i not in gaps]
    new = [full[i] for i in gaps]
    assert set(new) <= set(cells)
    read = [float(cell) for cell in new] if name is None else numbers_in(pa.array(new), name).tolist()
    if how == "most_probable":
        assert all((x > 1000) == (SIZE[i] == "large") for x, i in zip(read, gaps, strict=True))


@given(decimals=st.integers(0, 4), seed=st.integers(0, 2**32 - 1), kind=st.sampled_from(["text", "float"]))
def test_no_more_decimals_than_observed(decimals, seed, kind):
    """A network of finer numbers, without values of its own for the middle interval."""
    rng = np.random.default_rng(seed)
    fine = rng.uniform(0, 100, 80)
    network = fit_parameters("[x]", {"x": fine}, prior="laplace")
    shown = np.round(rng.uniform(0, 100, 30), decimals)
    cells = [f"{v:.{decimals}f}" for v in shown] if kind == "text" else shown.tolist()
    full = network.impute({"x": [None, *cells]}, method="sample", random_state=seed)["x"]
    assert full[1:] == cells
    assert float(full[0]) == round(float(full[0]), decimals)
    if kind == "text":
        assert len(full[0].partition(".")[2]) == decimals


def test_a_column_without_numbers_gets_plain_ones():
    found = NETWORKS["$1,234.50"].impute({"x": ["", ""], "size": ["small", "large"]})["x"]
    assert [float(x) > 1000 for x in found] == [False, True]


### words among numbers


@given(words=st.dictionaries(st.integers(0, 119), st.sampled_from(["unknown", "-", "refused", "n.a."]), max_size=20),
       kind=st.sampled_from(["1234.25", "$1,234.50", "1.234,50 €"]))  # fmt: skip
def test_a_suspect_word_is_observed_and_stays(words, kind):
    _, write = WRITERS[kind]
    cells = [words.get(i, write(v)) for i, v in enumerate(X)]
    holes = ["NA" if i % 7 == 0 and i not in words else cell for i, cell in enumerate(cells)]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*words among numbers", BayeslearnWarning)
        full = NETWORKS[kind].impute({"x": holes, "size": SIZE})["x"]
    assert [x for x, hole in zip(full, holes, strict=True) if hole != "NA"] == [x for x in holes if x != "NA"]
    assert "NA" not in full


@pytest.mark.parametrize("missing", [["unknown"], {"x": ["unknown"]}])
def test_a_word_is_filled_if_it_is_declared_missing(missing):
    frame = pd.DataFrame({"x": ["unknown", *(f"{v:.2f}" for v in X[1:])], "size": SIZE})
    network = NETWORKS["1234.25"]
    assert float(network.impute(frame, na_values=missing)["x"][0]) < 100
    with pytest.warns(BayeslearnWarning, match=r"1 value of 'x' \('unknown'\)"):
        assert network.impute(frame)["x"][0] == "unknown"


def test_words_and_formats_in_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_network(NETWORKS["1.234,50 €"], "net.json")
    cells = ["unknown", "", *(WRITERS["1.234,50 €"][1](v) for v in X[2:])]
    frame = pd.DataFrame({"x": cells, "size": SIZE})
    frame.to_csv("holes.csv", index=False)
    before = (tmp_path / "holes.csv").read_text().splitlines()
    _, answer, sentence = tell("impute", "net.json", "holes.csv")
    after = answer.splitlines()
    assert [after[i] for i in range(len(after)) if i != 2] == [before[i] for i in range(len(before)) if i != 2]
    assert next(csv.reader([after[2]]))[0].endswith(" €")
    assert "'unknown'" in sentence
    rows = list(csv.DictReader(io.StringIO(ask("impute", "net.json", "holes.csv", "--na-values", "x=unknown"))))
    assert rows[0]["x"] == rows[1]["x"]
    assert NETWORKS["1.234,50 €"].impute("holes.csv", na_values=["unknown"])["x"].to_pylist() == [r["x"] for r in rows]


def test_missing_dates_stay_missing_with_a_warning(tmp_path, monkeypatch):
    days = [f"2026-0{1 + i % 3}-{1 + i % 28:02}" for i in range(60)]
    rows = {"day": days, "open": ["yes", "no", "yes"] * 20}
    network = fit_parameters("[day.month][open|day.month]", rows, prior="laplace")
    with pytest.warns(BayeslearnWarning, match=r"^missing dates stay missing in 'day' \(2\): the network has only"):
        full = network.impute({"day": ["2026-01-05", None, "-"], "open": [None, "yes", "no"]}, na_values=["-"])
    assert full["day"] == ["2026-01-05", None, "-"]
    assert full["open"] == ["yes", "yes", "no"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        network.impute({"day": ["2026-01-05", None], "open": [None, "yes"]}, drop_columns=["day"])
        network.impute({"day": ["2026-01-05"], "open": [None]})
    monkeypatch.chdir(tmp_path)
    write_network(network, "net.json")
    (tmp_path / "days.csv").write_text("day,open\n2026-01-05,\n,yes\n")
    code, answer, sentence = tell("impute", "net.json", "days.csv", "-o", "full.csv", "--json")
    assert (code, "warning: missing dates stay missing in 'day' (1)" in sentence) == (0, True)
    told = {"output": "full.csv", "n_rows": 2, "filled": {"open": 1}, "missing_dates": {"day": 1}}
    assert json.loads(answer)["result"] == told
    assert (tmp_path / "full.csv").read_text() == "day,open\n2026-01-05,yes\n,yes\n"
