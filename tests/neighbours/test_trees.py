"""The tree finds what looking at every row finds, ties by row number."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayeslearn.kernels.local_tree import LEAF
from bayeslearn.neighbours.trees import BoxTree, in_space


def brute(points, queries, k):
    """Sorted by distance, then by row."""
    squares = ((queries[:, None] - points) ** 2).sum(axis=2)
    rows = np.array([np.lexsort((np.arange(len(points)), s))[:k] for s in squares])
    return np.sqrt(np.take_along_axis(squares, rows, axis=1)), rows


@settings(max_examples=15)
@given(
    n=st.integers(1, 4 * LEAF), d=st.integers(1, 4), k=st.integers(1, 30), seed=st.integers(0, 2**32 - 1),
    grid=st.booleans(),
)  # fmt: skip
def test_the_nearest_are_those_of_looking_at_every_row(n, d, k, seed, grid):
    rng = np.random.default_rng(seed)
    points, queries, k = rng.normal(size=(n, d)), rng.normal(size=(4, d)), min(k, n)
    if grid:
        points, queries = points.round(), queries.round()
    tree = BoxTree(points)
    distances, rows = tree.nearest(queries, k)
    expected = brute(points, queries, k)
    np.testing.assert_allclose(distances, expected[0], rtol=1e-12, atol=1e-15)
    np.testing.assert_array_equal(rows, expected[1])
    np.testing.assert_array_equal(np.sort(tree.around(queries, k)), np.sort(rows))


@pytest.mark.compiled
def test_many_rows():
    rng = np.random.default_rng(0)
    points, queries = rng.normal(size=(20_000, 5)), rng.normal(size=(300, 5)) * 2
    np.testing.assert_array_equal(BoxTree(points).nearest(queries, 40)[1], brute(points, queries, 40)[1])


def test_copies_of_one_point():
    _, rows = BoxTree(np.ones((3 * LEAF, 2))).nearest([[1.0, 1.0], [5.0, 0.0]], 3)
    assert rows.tolist() == [[0, 1, 2], [0, 1, 2]]


def test_an_order_in_space_is_an_order():
    x = np.random.default_rng(1).normal(size=(500, 2))
    order = in_space(x)
    assert sorted(order) == list(range(500))
    steps = np.linalg.norm(np.diff(x[order], axis=0), axis=1)
    assert steps.mean() < 0.7 * np.linalg.norm(np.diff(x, axis=0), axis=1).mean()
