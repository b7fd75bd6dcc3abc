"""Weights and groups: the three forms, and what is refused."""

import numpy as np
import pytest

from bayeslearn.distributions.sufficient_statistics import assign, paired
from bayeslearn.errors import ParameterError, ShapeError, WeightError


def test_one_row():
    to = assign(3)
    assert to.rows == ()
    np.testing.assert_array_equal(to.sum(), 3.0)
    np.testing.assert_array_equal(to.sum(np.array([1.0, 2.0, 4.0])), 7.0)
    assert [(row, list(w)) for row, w, _ in to.parts()] == [((), [1.0, 1.0, 1.0])]


def test_groups():
    to = assign(4, sample_weight=[1, 2, 3, 4], groups=[1, 0, -1, 1])
    assert to.rows == (2,)
    np.testing.assert_array_equal(to.sum(), [2, 5])
    np.testing.assert_array_equal(to.sum(np.ones((4, 2, 3)))[1], np.full((2, 3), 5.0))
    np.testing.assert_array_equal(to.each(np.array([10.0, 20.0])), [20, 10, 0, 20])
    assert [(row, list(w), list(cases)) for row, w, cases in to.parts()] == [((0,), [2.0], [1]), ((1,), [1, 4], [0, 3])]


def test_shares():
    to = assign(2, sample_weight=[[0.25, 0.75], [1, 0]], n_groups=2)
    assert to.rows == (2,)
    np.testing.assert_array_equal(to.sum(), [1.25, 0.75])
    np.testing.assert_array_equal(to.only(np.array([True, False])).sum(), [0.25, 0.75])
    np.testing.assert_array_equal(to.total(np.array([[1.0, 2.0], [3.0, 4.0]])), [3.25, 1.5])
    assert [(row, list(w)) for row, w, _ in to.parts()] == [((0,), [0.25, 1.0]), ((1,), [0.75, 0.0])]


def test_groups_may_be_empty():
    assert assign(0, groups=[]).rows == (0,)
    assert assign(0, groups=[], n_groups=2).sum().shape == (2,)


def test_paired_cases_face_rows_or_their_own():
    x = np.array([1.0, 2.0])
    cases, rows = paired(x, None, np.zeros((3, 4)))
    assert cases.shape == (2, 1, 1)
    assert rows.shape == (3, 4)
    cases, rows = paired(x, [-1, 1], np.array([10.0, 20.0]))
    np.testing.assert_array_equal(cases, [np.nan, 2.0])
    np.testing.assert_array_equal(rows, [0.0, 20.0])


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"sample_weight": [1, 2]}, ShapeError, r"expected sample_weight of shape \(3,\), got \(2,\)"),
        ({"sample_weight": [[1, 2]]}, ShapeError, r"expected sample_weight of shape \(3, k\), got \(1, 2\)"),
        (
            {"sample_weight": [[1, 2]] * 3, "n_groups": 3},
            ShapeError,
            r"expected sample_weight of shape \(3, 3\), got \(3, 2\)",
        ),
        ({"sample_weight": [1, -1, 1]}, WeightError, "not negative, got -1.0 at position 1"),
        ({"sample_weight": [[1, 1], [1, np.nan], [1, 1]]}, WeightError, r"got nan at position \(1, 1\)"),
        ({"sample_weight": "abc"}, ParameterError, "`sample_weight` must be numbers, got 'abc'"),
        ({"sample_weight": [[1], [1], [1]], "groups": [0, 0, 0]}, ParameterError, "either `groups` or weights"),
        ({"groups": [0, 1]}, ShapeError, r"expected groups of shape \(3,\) and whole numbers, got \(2,\)"),
        ({"groups": [0.0, 1.0, 1.0]}, ShapeError, r"got \(3,\) of float64"),
        ({"groups": [0, 1, 2], "n_groups": 2}, ParameterError, r"must lie within -1..1, got 0..2"),
        ({"groups": [0, -2, 1]}, ParameterError, r"must lie within -1..1, got -2..1"),
        ({"groups": [0, 0, 0], "n_groups": -1}, ParameterError, "`n_groups` must be at least 0, got -1"),
        ({"groups": [0, 0, 0], "n_groups": 1.5}, ParameterError, "`n_groups` must be a whole number, got 1.5"),
        ({"n_groups": 2}, ParameterError, "`n_groups` is 2, but no `groups`"),
    ],
)
def test_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        assign(3, **arguments)
