"""Predictions: the most probable state in every row, against the enumerated joint."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from bayeslearn import BayesianNetwork, as_table, read_network
from bayeslearn.errors import EmptyTableError, ImpossibleEvidenceError, UnknownColumnError, UnknownStateError
from bayeslearn.network.inference import results
from bayeslearn.network.inference.results import predictions
from bayeslearn.tables import Table
from tests.oracle.networks import given, marginal, random_network

ASIA = read_network("asia")


def with_holes(network, n, seed, share=0.3):
    """Cases of a network as it draws them, some cells missing."""
    cases, rng = network.sample(n, random_state=seed), np.random.default_rng(seed)
    return Table(cases.schema, np.where(rng.random(cases.codes.shape) < share, -1, cases.codes), cases.values)


### laws and the slow twin


@pytest.mark.parametrize("seed", range(6))
def test_predictions_are_those_of_the_joint(seed):
    network = random_network(seed, 6, zeros=0.2 * (seed % 2))
    table = with_holes(network, 40, seed)
    for axis, target in enumerate(network.variables):
        found = network.predict(table, target)
        for state, row in zip(found, table.rows(), strict=True):
            evidence = {name: seen for name, seen in row.items() if seen is not None and name != target}
            p = dict(zip(network.states(target), marginal(given(network, evidence), axis), strict=True))
            assert p[state] == pytest.approx(max(p.values()), rel=1e-12)


def test_batches_are_the_whole(monkeypatch):
    table = with_holes(ASIA, 1000, 1)
    [(_, whole)] = predictions(ASIA, table, ["lung", "tub"])
    monkeypatch.setattr(results, "MOST_BELIEFS", 0)
    parts = list(predictions(ASIA, table, ["lung", "tub"]))
    assert [len(batch) for batch, _ in parts] == [256, 256, 256, 232]
    assert Table.concat(batch for batch, _ in parts) == table
    for name in ("lung", "tub"):
        np.testing.assert_allclose(np.concatenate([p[name] for _, p in parts]), whole[name], rtol=1e-12)
    alone = ASIA.predict_proba(table.mask(["lung"]), variables=["lung"])
    assert ASIA.predict(table, "lung").tolist() == alone.most_probable("lung").tolist()


def test_the_column_of_the_target_is_not_looked_at():
    cases = ASIA.sample(50, random_state=2)
    hidden = cases.mask(["lung"])
    assert ASIA.predict(cases, "lung").tolist() == ASIA.predict(hidden, "lung").tolist()
    assert ASIA.predict([{"tub": "no", "lung": "no", "either": "yes"}], "lung").tolist() == ["yes"]


### kinds of data


def test_every_kind_of_data_predicts_the_same(tmp_path):
    columns = {"smoke": ["yes", "no", None], "xray": ["yes", "?", "yes"], "town": ["X", "Y", "Z"]}
    pd.DataFrame(columns).to_csv(tmp_path / "cases.csv", index=False)
    rows = [{name: cells[i] for name, cells in columns.items()} for i in range(3)]
    for data in [columns, rows, pd.DataFrame(columns), pl.DataFrame(columns), tmp_path / "cases.csv"]:
        assert ASIA.predict(data, "lung").tolist() == ["yes", "no", "no"]


@pytest.mark.parametrize(
    ("states", "dtype"),
    [
        (["a", "bc"], "<U2"),
        ([3, 7], np.dtype("int64")),
        ([0.5, 1.5], np.dtype("float64")),
        ([True, False], np.dtype("bool")),
        ([1, "one"], np.dtype("object")),
        ([(0, 1), (2, 3)], np.dtype("object")),
    ],
)
def test_states_come_back_as_they_are(states, dtype):
    tables = {"y": [0.5, 0.5], "x": [[0.9, 0.1], [0.2, 0.8]]}
    network = BayesianNetwork.from_tables("[y][x|y]", tables, states={"y": states, "x": ["u", "v"]})
    found = network.predict({"x": ["u", "v"]}, "y")
    assert found.dtype == dtype
    assert found.tolist() == states


### mistakes


def test_an_impossible_row_is_numbered_in_the_whole_table(monkeypatch):
    monkeypatch.setattr(results, "MOST_BELIEFS", 0)
    rows = [{"tub": "yes", "either": "yes"}] * 600 + [{"tub": "yes", "either": "no"}]
    message = "the evidence of row 600 is impossible: tub=yes, either=no cannot be together"
    with pytest.raises(ImpossibleEvidenceError, match=message) as caught:
        ASIA.predict(rows, "lung")
    assert (caught.value.details["row"], caught.value.details["conflict"]) == (600, ["tub", "either"])
    assert "take one of these back" in caught.value.hint


def test_mistakes_are_named():
    with pytest.raises(UnknownColumnError, match="there is no variable 'snow'"):
        ASIA.predict({"smoke": ["yes"]}, "snow")
    with pytest.raises(UnknownStateError, match="column 'smoke' has state 'maybe' in row 0"):
        ASIA.predict({"smoke": ["maybe"]}, "lung", handle_unknown="error")
    with pytest.raises(EmptyTableError, match="the table has no rows"):
        ASIA.predict({"smoke": []}, "lung")
    none = as_table({"smoke": ["yes"]}, schema=ASIA.schema, missing_columns="missing").take([])
    assert ASIA.predict(none, "lung").tolist() == []
