"""Indexes: every exact kind gives the k least (distance, row number), as the slow twin does."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeslearn.errors import DataError, EmptyTableError, MissingDependencyError, ParameterError, ShapeError
from bayeslearn.neighbors import search_index
from tests.properties import trials

EXACT = ["kd_tree", "brute"]


@pytest.fixture
def bounds(monkeypatch):
    monkeypatch.setattr(search_index, "MANY_CELLS", 0)


def slow_nearest(points, queries, k):
    """All distances, sorted by distance and then by row."""
    squares = ((queries[:, None, :] - points[None]) ** 2).sum(axis=2)
    rows = np.lexsort((np.broadcast_to(np.arange(len(points)), squares.shape), squares))[:, :k]
    return np.sqrt(np.take_along_axis(squares, rows, axis=1)), rows


def assert_nearest(index, points, queries, k):
    distances, rows = index.nearest(queries, k)
    expected, expected_rows = slow_nearest(points, queries, k)
    np.testing.assert_allclose(distances, expected, rtol=1e-12, atol=1e-300)
    np.testing.assert_array_equal(rows, expected_rows)


@given(st.data(), st.sampled_from(EXACT))
@trials(40)
def test_ties_go_by_row_number(data, kind):
    n, d = data.draw(st.integers(1, 40)), data.draw(st.integers(1, 3))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    points, queries = rng.integers(0, 3, (n, d)).astype(float), rng.integers(0, 3, (5, d)).astype(float)
    assert_nearest(search_index.build_index(points, algorithm=kind), points, queries, data.draw(st.integers(1, n)))


@pytest.mark.parametrize("kind", EXACT)
@pytest.mark.parametrize("columns", [1, 4, 20])
def test_as_the_slow_twin(kind, columns, bounds):
    rng = np.random.default_rng(columns)
    points, queries = rng.normal(size=(400, columns)), rng.normal(size=(60, columns))
    assert_nearest(search_index.build_index(points, algorithm=kind), points, queries, 7)


@pytest.mark.parametrize("kind", EXACT)
def test_queries_around_the_rows(kind):
    rng = np.random.default_rng(0)
    points, queries = rng.normal(size=(400, 3)), 4 * rng.normal(size=(60, 3))
    assert_nearest(search_index.build_index(points, algorithm=kind), points, queries, 3)


@pytest.mark.parametrize(("scale", "offset"), [(1, 1e7), (1e-200, 0), (1e30, 0), (1e-12, 1)])
def test_single_precision_never_decides(scale, offset, bounds):
    rng = np.random.default_rng(0)
    points = offset + scale * rng.normal(size=(400, 16))
    queries = points[:20] + scale * 1e-3 * rng.normal(size=(20, 16))
    assert_nearest(search_index.build_index(points, algorithm="brute"), points, queries, 5)


def test_many_rows_nearly_as_near_are_all_measured(bounds):
    rng = np.random.default_rng(0)
    points = np.repeat(rng.normal(size=(4, 16)), 100, axis=0) + 1e-9 * rng.normal(size=(400, 16))
    assert_nearest(search_index.build_index(points, algorithm="brute"), points, points[:10] + 1e-9, 3)


def test_a_query_that_single_precision_cannot_hold(bounds):
    points = np.random.default_rng(0).normal(size=(400, 16))
    assert_nearest(search_index.build_index(points, algorithm="brute"), points, np.full((1, 16), 1e60), 3)


SHAPES = {
    "grid": lambda rng, n, d: rng.integers(0, 3, (n, d)).astype(float),
    "copies": lambda rng, n, d: rng.normal(size=(5, d)).round(2)[rng.integers(0, 5, n)],
    "an outlier": lambda rng, n, d: rng.normal(size=(n, d)) * np.where(np.arange(n) == n // 2, 1e9, 1)[:, None],
    "a wide column": lambda rng, n, d: rng.normal(size=(n, d)) * np.where(np.arange(d) == 0, 1e5, 1),
    "constant columns": lambda rng, n, d: np.where(np.arange(d) < d // 2, 7.0, rng.normal(size=(n, d))),
    "two far heaps": lambda rng, n, d: 1e3 * rng.integers(0, 2, (n, 1)) + 1e-3 * rng.normal(size=(n, d)),
    "one ray": lambda rng, n, d: np.exp(8 * rng.normal(size=(n, 1))) * np.ones(d),
}


@given(st.sampled_from(sorted(SHAPES)), st.integers(0, 2**32 - 1), st.sampled_from([1e-100, 1e-5, 1.0, 1e30, 1e100]))
@trials(40)
def test_bounds_leave_out_no_row(shape, seed, scale):
    rng = np.random.default_rng(seed)
    n, d, k = int(rng.integers(80, 150)), int(rng.integers(1, 40)), int(rng.integers(1, 10))
    points = scale * SHAPES[shape](rng, n, d)
    queries = np.concatenate([points[:7], points[7:14] * (1 + 1e-3 * rng.normal(size=(7, d))), np.zeros((1, d))])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search_index, "MANY_CELLS", 0)
        index = search_index.build_index(points, algorithm="brute")
    distances, rows = index.nearest(queries, k)
    squares, expected = np.empty((15, k)), np.empty((15, k), np.int64)
    index.scan(queries, squares, expected)
    np.testing.assert_array_equal(rows, expected)
    np.testing.assert_allclose(distances, np.sqrt(squares), rtol=1e-14)


def low_rank(noise):
    rng = np.random.default_rng(0)
    return rng.normal(size=(700, 3)) @ rng.normal(size=(3, 40)) + noise * rng.normal(size=(700, 40))


def test_few_directions_do_where_they_hold_most(bounds):
    points = low_rank(0.01)
    queries = points[:20] + 0.01 * np.random.default_rng(1).normal(size=(20, 40))
    index = search_index.build_index(points, algorithm="brute")
    assert index._scores[0].columns == 8
    assert_nearest(index, points, queries, 3)
    assert len(index._scores) == 1


def test_queries_for_which_few_directions_do_not(bounds, monkeypatch):
    monkeypatch.setattr(search_index, "AT_FIRST", 0)
    points, far = low_rank(0.01), 100 * np.random.default_rng(1).normal(size=(20, 40))
    queries = np.concatenate([points[:20], far])
    index = search_index.build_index(points, algorithm="brute")
    assert_nearest(index, points, queries, 3)
    assert len(index._scores) == 2
    assert_nearest(index, points, queries, 2)


@pytest.mark.parametrize("scale", [1e-320, 1e-200, 1e150, 1e307])
def test_scales_whose_squares_are_no_use(scale, bounds):
    points, squares, rows = scale * np.clip(low_rank(1), -10, 10), np.empty((5, 3)), np.empty((5, 3), np.int64)
    index = search_index.build_index(points, algorithm="brute")
    with np.errstate(over="ignore"):  # which only kernels that are not compiled tell
        index.scan(points[:5], squares, rows)
        np.testing.assert_array_equal(index.nearest(points[:5], 3)[1], rows)


def test_rows_without_leading_directions_keep_all_columns(bounds):
    assert search_index.build_index(low_rank(10), algorithm="brute")._scores[0].directions is None


def test_short_numbers_are_nearly_the_cosines():
    """|U·V / M² − u·v| ≤ η."""
    rng = np.random.default_rng(0)
    x, q = (rng.normal(size=(48, 31)) * np.exp(3 * rng.normal(size=(48, 1))) for _ in range(2))
    a, b = (np.sqrt((rows**2).sum(axis=1)) for rows in (x, q))
    u, v = (
        search_index.packed(rows, lengths, wide).transpose(0, 2, 1, 3).reshape(48, 32).astype(int)
        for rows, lengths, wide in ((x, a, 16), (q, b, 6))
    )
    cosines = (q @ x.T) / np.outer(b, a)
    assert abs(v @ u.T / search_index.LARGEST**2 - cosines).max() < np.sqrt(31) / search_index.LARGEST
    assert abs(v).max() <= search_index.LARGEST


def test_points_that_are_all_the_same(bounds):
    for kind in EXACT:
        distances, rows = search_index.build_index(np.ones((300, 14)), algorithm=kind).nearest(np.ones((2, 14)), 4)
        assert rows.tolist() == [[0, 1, 2, 3]] * 2
        assert not distances.any()


def test_a_plain_scan_is_as_good():
    rng = np.random.default_rng(3)
    points, queries = rng.normal(size=(300, 5)), rng.normal(size=(70, 5))
    assert_nearest(search_index.build_index(points, algorithm="brute"), points, queries, 9)


@pytest.mark.compiled
def test_a_tree_of_many_rows_at_few_places():
    rng = np.random.default_rng(0)
    points = rng.integers(0, 3, (20_000, 3)).astype(float)
    queries = rng.integers(0, 4, (20, 3)) + rng.choice([0.0, 0.5], (20, 3))
    assert_nearest(search_index.build_index(points, algorithm="kd_tree"), points, queries, 30)


def test_the_index_is_chosen_by_size():
    assert search_index.best_kind(1_000_000, 8) == "kd_tree"
    assert (
        search_index.best_kind(1_000_000, 128)
        == search_index.best_kind(100, 2)
        == search_index.best_kind(5, 0)
        == "brute"
    )
    assert search_index.build_index(np.zeros((3, 2))).algorithm == "brute"


def test_approximate_finds_nearly_all():
    pytest.importorskip("usearch")
    rng = np.random.default_rng(0)
    points, queries = rng.normal(size=(500, 8)), rng.normal(size=(50, 8))
    distances, rows = search_index.build_index(points, algorithm="approximate").nearest(queries, 5)
    expected, expected_rows = slow_nearest(points, queries, 5)
    found = np.mean([len(np.intersect1d(a, b)) / 5 for a, b in zip(rows, expected_rows, strict=True)])
    assert found > 0.99
    assert (distances >= expected - 1e-12).all()
    assert search_index.build_index(points[:3], algorithm="approximate").nearest(points[:1], 3)[1][0, 0] == 0


def test_approximate_names_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "usearch.index", None)
    with pytest.raises(MissingDependencyError, match=r"(?s)usearch.*bayeslearn\[approximate\]"):
        search_index.build_index([[1.0]], algorithm="approximate")


@pytest.mark.parametrize(
    ("points", "error", "words"),
    [
        (np.empty((0, 2)), EmptyTableError, "no rows"),
        ([1.0, 2.0], ShapeError, r"expected points of shape \(n, columns\), got \(2,\)"),
        ([[1.0, np.nan]], DataError, "got nan in row 0, column 1"),
        ([["a"]], ParameterError, "`points` must be numbers"),
    ],
    ids=["empty", "flat", "missing", "words"],
)
def test_points_that_cannot_be_indexed(points, error, words):
    with pytest.raises(error, match=words):
        search_index.build_index(points)


def test_questions_that_cannot_be_answered():
    index = search_index.build_index([[1.0, 2.0], [3.0, 4.0]])
    assert repr(index) == "Brute(2 rows × 2 columns)"
    assert index.nearest(np.empty((0, 2)), 1)[1].shape == (0, 1)
    with pytest.raises(ParameterError, match="`n_neighbors` is 3, but there are only 2 rows"):
        index.nearest([[0.0, 0.0]], 3)
    with pytest.raises(ShapeError, match=r"expected queries of shape \(n, 2\), got \(1, 3\)"):
        index.nearest([[0.0, 0.0, 0.0]], 1)
    with pytest.raises(ParameterError, match="algorithm"):
        search_index.build_index([[1.0]], algorithm="magic")
