"""The distance of mixed rows: its points give the same as the definition, cell by cell."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeslearn.errors import ParameterError, ShapeError, UnknownColumnError
from bayeslearn.neighbors import Distance, NeighborsModel
from bayeslearn.neighbors.inputs import examples, new_rows
from bayeslearn.tables import DiscreteVariable
from tests.properties import trials


def slow_distance(distance, table, q, x):
    """Σ_a w_a E δ_a², by averaging over the cells of the column where one is missing."""
    total = 0.0
    for variable in table.schema:
        name, w = variable.name, distance.feature_weights[variable.name]
        seen = [cell for cell in table.column(name).tolist() if cell is not None]
        if isinstance(variable, DiscreteVariable):
            gap = [[float(a != b) for a in cells(q[name], seen)] for b in cells(x[name], seen)]
        else:
            sd, span = np.std(seen), np.ptp(seen)
            s = {"scaled": sd, "range": span, "euclidean": 1.0}[distance.metric]
            gap = [[((a - b) / s) ** 2 if s else 0.0 for a in cells(q[name], seen)] for b in cells(x[name], seen)]
        total += w * float(np.mean(gap))
    return math.sqrt(total)


def cells(cell, seen):
    return seen if cell is None else [cell]


@given(st.data())
@trials(30)
def test_points_give_the_distance_of_the_definition(data):
    n = data.draw(st.integers(3, 7))
    hues = data.draw(st.lists(st.sampled_from(["red", "blue", "green", None]), min_size=n, max_size=n))
    sizes = data.draw(st.lists(st.sampled_from([0.5, 1.0, 2.25, 7.0, None]), min_size=n, max_size=n))
    hues[0], sizes[0], sizes[1] = "red", 1.5, 4.0
    table = examples({"hue": hues, "size": sizes})
    metric = data.draw(st.sampled_from(["scaled", "range", "euclidean"]))
    weights = {"hue": data.draw(st.sampled_from([0.0, 0.5, 1.0])), "size": data.draw(st.sampled_from([0.25, 1.0, 3.0]))}
    distance = Distance.fit(table, metric, weights)
    asked = {"hue": ["red", None, "violet"], "size": [3.0, None, 0.0]}
    rows = new_rows(table.schema, asked)
    found = distance.between(rows, table)
    for i in range(3):
        for j in range(n):
            q = {name: column[i] for name, column in asked.items()}
            assert found[i, j] == pytest.approx(slow_distance(distance, table, q, table.row(j)), rel=1e-9, abs=1e-12)
    model = NeighborsModel(table, DiscreteVariable("y", ("a",)), np.zeros(n, np.int64), distance, n)
    d, nearest = model.nearest(asked)
    np.testing.assert_allclose(d, np.take_along_axis(found, nearest, axis=1), rtol=1e-9, atol=1e-12)
    assert (np.diff(d, axis=1) >= 0).all()


def test_a_column_that_does_not_vary_tells_nothing():
    table = examples({"same": [5.0, 5.0, 5.0], "x": [1.0, 2.0, 3.0]})
    distance = Distance.fit(table)
    assert distance.between(new_rows(table.schema, {"same": [9.0], "x": [1.0]}), table)[0, 0] == 0
    plain = Distance.fit(table, "euclidean")
    assert plain.between(new_rows(table.schema, {"same": [9.0], "x": [1.0]}), table)[0, 0] == 4


def test_a_column_that_is_missing_everywhere():
    model = NeighborsModel.from_arrays(
        np.array([[np.nan, 1.0], [np.nan, 2.0], [np.nan, 9.0]]), ["a", "a", "b"], n_neighbors=1
    )
    assert model.predict(np.array([[np.nan, 8.0], [3.0, 1.0]])).tolist() == ["b", "a"]


def test_few_whole_numbers_are_numbers():
    table = examples({"legs": [0, 2, 4, 4, 2, 0, 4, 8], "kind": list("abababab")})
    assert [v.name for v in table.schema.numeric] == ["legs"]
    assert examples({"legs": [0, 2, 4, 4]}, discrete=["legs"]).schema.discrete[0].states == (0, 2, 4)


def test_far_from_zero_numbers_keep_their_digits():
    x = 1e9 + np.array([0.0, 1.0, 2.0, 3.0])
    d, rows = NeighborsModel.from_arrays({"x": x}, list("abcd"), n_neighbors=2, metric="range").nearest(
        {"x": [1e9 + 2.2]}
    )
    assert rows.tolist() == [[2, 3]]
    np.testing.assert_allclose(d, [[0.2 / 3, 0.8 / 3]], rtol=1e-6)


def test_weights_that_cannot_be():
    table = examples({"x": [1.0, 2.0], "z": [1.0, 3.0]})
    with pytest.raises(ParameterError, match="every feature has weight 0"):
        Distance.fit(table, weights={"x": 0, "z": 0})
    with pytest.raises(UnknownColumnError, match="no column 'y'"):
        Distance.fit(table, weights={"y": 1})
    with pytest.raises(ParameterError, match="at least 0"):
        NeighborsModel.from_arrays(table, ["a", "b"], feature_weights={"x": -1})
    with pytest.raises(ShapeError, match="a weight for each of 2 columns"):
        NeighborsModel.from_arrays(table, ["a", "b"], feature_weights=[1.0])
    with pytest.raises(ParameterError, match="metric"):
        Distance.fit(table, "cosine")
