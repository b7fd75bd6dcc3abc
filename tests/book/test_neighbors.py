"""SPEC I1 to I3: k nearest neighbors, distance weighting, attributes that do not matter."""

from __future__ import annotations

import numpy as np
import pytest

from bayeslearn.neighbors import NeighborsModel, leave_one_out, select_feature_weights

FOODS = {"sweetness": [8, 3, 3, 7], "crunchiness": [5, 7, 6, 3]}
KINDS = ["fruit", "vegetable", "protein", "fruit"]  # grape, green bean, nuts, orange
TOMATO = {"sweetness": [6], "crunchiness": [4]}


@pytest.mark.parametrize("k", [1, 3])
def test_tomato(k):
    model = NeighborsModel.from_arrays(FOODS, KINDS, n_neighbors=k, metric="euclidean")
    distances, rows = model.nearest(TOMATO, 4)
    assert dict(zip(rows[0].tolist(), distances[0].round(1).tolist(), strict=True)) == {0: 2.2, 1: 4.2, 2: 3.6, 3: 1.4}
    assert model.predict(TOMATO).tolist() == ["fruit"]


def test_distance_weighting():
    x, y = np.array([0.0, 1.0, 3.0]), np.array([2.0, 4.0, 10.0])
    local = NeighborsModel.from_arrays({"x": x}, y, n_neighbors=2, weights="inverse_square", metric="euclidean")
    assert local.predict({"x": [2 / 3]})[0] == pytest.approx((2 * 9 / 4 + 4 * 9) / (9 / 4 + 9))
    everyone = NeighborsModel.from_arrays({"x": x}, y, n_neighbors=None, weights="inverse_square", metric="euclidean")
    w = 1 / (x - 2) ** 2
    assert everyone.predict({"x": [2.0]})[0] == pytest.approx((w * y).sum() / w.sum())
    assert everyone.predict({"x": [3.0]})[0] == 10  # an exact match wins


def test_irrelevant_attributes_mislead_plain_neighbors():
    rng = np.random.default_rng(0)
    relevant, irrelevant = rng.uniform(size=(200, 2)), rng.uniform(size=(200, 8))
    y = np.where(relevant.sum(axis=1) > 1, "yes", "no")
    plain = NeighborsModel.from_arrays(np.hstack([relevant, irrelevant]), y)
    assert leave_one_out(plain).error > 0.13
    found = select_feature_weights(plain, among=(0.0, 1.0), max_neighbors=20)
    assert set(found.removed) == {f"x{j}" for j in range(2, 10)}
    assert found.after.error < 0.06
