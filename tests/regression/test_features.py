"""Rows as points: what every cell becomes, and that new rows become what old ones did."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeslearn import DiscreteVariable, NumericVariable, Schema, Table, as_table
from bayeslearn.errors import (
    DataError,
    FormatError,
    MismatchError,
    ShapeError,
    TooManyStatesError,
    UnknownColumnError,
)
from bayeslearn.regression import Features

ROWS = {
    "cylinders": [4, 8, 4, 8, 6, 4],
    "weight": [1.5, 3.25, None, 3.0, 2.25, 1.5],
    "origin": ["eu", "us", "us", "us", None, "asia"],
    "diesel": [True, False, False, False, True, False],
}
MEAN = [34 / 6, 2.3, 0.2, 0.6, 2 / 6]
NAMES = ("cylinders", "weight", "origin=eu", "origin=us", "diesel=True")


def csv(folder):
    path = folder / "cars.csv"
    pd.DataFrame(ROWS).to_csv(path, index=False)
    return path


def test_numbers_states_and_holes():
    features = Features.fit(ROWS)
    assert features.names == NAMES
    np.testing.assert_allclose(features.mean, MEAN, rtol=1e-14)
    found = features.encode(ROWS)
    np.testing.assert_array_equal(found.matrix[0], [4, 1.5, 1, 0, 1])
    np.testing.assert_allclose(found.matrix[2], [4, 2.3, 0, 1, 0], rtol=1e-14)
    np.testing.assert_allclose(found.matrix[4], [6, 2.25, 0.2, 0.6, 1], rtol=1e-14)
    assert found.filled == {"weight": 1, "origin": 1}
    assert found.unseen == {}


def test_every_way_in_is_the_same(tmp_path):
    features = Features.fit(ROWS)
    x = features.encode(ROWS).matrix
    rows = [dict(zip(ROWS, cells, strict=True)) for cells in zip(*ROWS.values(), strict=True)]
    shuffled = pd.DataFrame(ROWS)[["diesel", "origin", "weight", "cylinders"]].assign(color="red")
    for data in (rows, pd.DataFrame(ROWS), pl.DataFrame(ROWS), csv(tmp_path), shuffled, as_table(ROWS)):
        np.testing.assert_array_equal(features.encode(data).matrix, x)
    for data in (rows, pd.DataFrame(ROWS), pl.DataFrame(ROWS), csv(tmp_path)):
        assert Features.fit(data).names == NAMES
        np.testing.assert_array_equal(Features.fit(data).encode(data).matrix, x)


def test_every_state_and_declared_states():
    features = Features.fit(ROWS, columns=["cylinders", "origin"], discrete=["cylinders"], every_state=True)
    assert features.names == ("cylinders=4", "cylinders=6", "cylinders=8", "origin=asia", "origin=eu", "origin=us")
    np.testing.assert_array_equal(features.encode({"cylinders": [8], "origin": ["asia"]}).matrix, [[0, 0, 1, 1, 0, 0]])


def test_an_unseen_state_is_a_missing_cell_and_told():
    found = Features.fit(ROWS).encode({**ROWS, "origin": ["mars", "us", "us", "us", "us", "venus"]})
    np.testing.assert_allclose(found.matrix[0, 2:4], [0.2, 0.6], rtol=1e-14)
    assert found.unseen == {"origin": ("mars", "venus")}
    assert found.filled == {"weight": 1, "origin": 2}


def test_a_column_that_is_absent_is_an_error_or_missing():
    features = Features.fit(ROWS)
    data = {name: ROWS[name] for name in ("cylinders", "weight", "diesel")}
    with pytest.raises(UnknownColumnError, match="there is no column 'origin'"):
        features.encode(data)
    assert features.encode(data, missing_columns="missing").filled == {"weight": 1, "origin": 6}


def test_arrays_are_read_by_order():
    X = np.array([[1.0, 5.0], [3.0, np.nan], [2.0, 7.0]])
    features = Features.fit(X)
    assert features.names == ("x0", "x1")
    assert features.encode(X).matrix.tolist() == [[1, 5], [3, 6], [2, 7]]
    with pytest.raises(ShapeError, match=r"expected rows of 2 columns \('x0', 'x1'\), got an array of shape \(3, 1\)"):
        features.encode(X[:, :1])
    with pytest.raises(DataError, match="column 'x1' holds inf in row 1"):
        features.encode(np.array([[1.0, 2.0], [1.0, np.inf]]))


def test_weights_move_the_mean():
    features = Features.fit({"x": [1.0, 4.5]}, sample_weight=[3, 1])
    assert features.mean.tolist() == [1.875]


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=8, unique=True), st.floats(0.01, 1e3))
def test_standardized_points_do_not_know_their_unit(x, unit):
    one, other = (Features.fit({"x": np.array(x) * u}) for u in (1.0, unit))
    if one.spread[0] > 1e-3:
        z, same = (f.standardized(f.encode({"x": np.array(x) * u}).matrix) for f, u in ((one, 1.0), (other, unit)))
        np.testing.assert_allclose(z, same, rtol=1e-6, atol=1e-6)
        assert z.mean() == pytest.approx(0, abs=1e-6)
        assert z.std() == pytest.approx(1, rel=1e-6)


def test_what_does_not_vary_is_named():
    features = Features.fit({"a": [0.1] * 10, "b": list(range(10)), "c": ["x"] * 10, "d": ["x", "y"] * 5})
    assert features.constant == ("a",)
    assert features.standardized(
        features.encode({"a": [7.0], "b": [4.5], "c": ["x"], "d": [None]}).matrix
    ).tolist() == [[0, 0, 0]]


def test_a_table_says_what_its_columns_are():
    schema = Schema([DiscreteVariable("n", [1, 2]), NumericVariable("x")])
    assert Features.fit(Table(schema, [[0, 1]], [[1.0, 2.0]])).names == ("n=2", "x")


def test_columns_that_cannot_be_used():
    data = {"id": [f"row {i}" for i in range(300)], "x": np.arange(300.0)}
    with pytest.raises(TooManyStatesError, match="column 'id' has 300 different states"):
        Features.fit(data)
    told = {}
    assert Features.fit(data, dropped_columns=told).names == ("x",)
    assert "300 different states" in told["id"]


def test_bins_and_missing_cells_are_indicators():
    rows = {
        "x": [1.0, 2.0, 3.0, 4.0, None],
        "flag": [0.0, 1.0, 0.0, 1.0, 1.0],
        "sky": ["blue", None, "green", "blue", "green"],
    }
    features = Features.fit(rows, n_bins=4)
    assert features.names == (
        "x", "x=1.5 to 2.5", "x=2.5 to 3.5", "x=3.5 and more", "x=missing", "flag", "sky=green", "sky=missing",
    )  # fmt: skip
    matrix = features.encode({"x": [0.0, 3.0, None], "flag": [0, 0, 0], "sky": ["blue", "green", None]}).matrix
    assert matrix.tolist() == [
        [0, 0, 0, 0, 0, 0, 0, 0], [3, 0, 1, 0, 0, 0, 1, 0], [2.5, 0.25, 0.25, 0.25, 1, 0, 0.5, 1],
    ]  # fmt: skip
    again = Features.from_dict(json.loads(json.dumps(features.to_dict())))
    again.require_same(features)
    assert (again.encode(rows).matrix == features.encode(rows).matrix).all()
    with pytest.raises(MismatchError, match="different columns"):
        again.require_same(Features.fit(rows))
    for entry in ({"cuts": {"sky": [1.0]}}, {"cuts": {"x": [2.0, 1.0]}}, {"indicated": ["y"]}, {"cuts": []}):
        with pytest.raises(FormatError, match=r"bins|missing cells"):
            Features.from_dict(features.to_dict() | entry)


def test_weights_of_rows_move_the_bins():
    x = np.arange(6.0)
    heavy = Features.fit({"x": x}, sample_weight=[1, 2, 1, 3, 1, 1], n_bins=3)
    assert heavy.cuts == Features.fit({"x": np.repeat(x, [1, 2, 1, 3, 1, 1])}, n_bins=3).cuts


def test_files_hold_the_encoding():
    features = Features.fit(ROWS)
    again = Features.from_dict(json.loads(json.dumps(features.to_dict())))
    np.testing.assert_array_equal(again.encode(ROWS).matrix, features.encode(ROWS).matrix)
    again.require_same(features)
    with pytest.raises(MismatchError, match="the models have different columns"):
        again.require_same(Features.fit({"x": [1.0, 2.0]}))
    entry = features.to_dict()
    for wrong, match in [
        (3, "not the description of features"),
        ({**entry, "more": 1}, "not the description"),
        ({**entry, "spread": [-1.0] * 5}, "spreads not negative"),
    ]:
        with pytest.raises(FormatError, match=match):
            Features.from_dict(wrong)
    with pytest.raises(ShapeError, match="expected `mean` of 5 features"):
        Features.from_dict({**entry, "mean": [1.0]})
