"""Statistics as values: equality, rounding, bundles, and the helpers beneath."""

import numpy as np
import pytest

from bayeslearn.distributions import Counts, JointMoments, Moments, StatisticsBundle
from bayeslearn.distributions.moments import pooled
from bayeslearn.distributions.sufficient_statistics import common_shape, fitted, ratio, remaining, require, shown
from bayeslearn.errors import EvidenceError, ParameterError, ShapeError


def test_equality_is_exact_and_by_kind():
    assert Counts([1, 2]) == Counts([1.0, 2.0])
    assert Counts([1, 2]) != Counts([1.0, 2.0 + 1e-15 * 4])
    assert Counts([1, 2]) != Counts([[1, 2]])
    assert Counts([1.0]) != Moments(1.0, 1.0, 1.0)
    assert Counts([1, 2]) != "counts"
    assert Counts([[1, 2], [3, 4]]).total.tolist() == [3, 7]


def test_rounding_is_cleared_a_deficit_is_not():
    np.testing.assert_array_equal(remaining(np.array([0.3, 5.0]), np.array([0.1 + 0.2, 2.0])), [0.0, 3.0])
    with pytest.raises(EvidenceError, match="more evidence removed than had been added: -1 would be left") as caught:
        remaining(np.array([1.0, 2.0]), np.array([2.0, 2.0]))
    assert caught.value.details == {"left": -1.0}


def test_bundle_is_a_mapping():
    bundle = StatisticsBundle({("a", 1): Counts([1])}, b=Counts([2]))
    assert list(bundle) == [("a", 1), "b"]
    assert len(bundle) == 2
    assert repr(StatisticsBundle(b=Counts([2]))) == "StatisticsBundle({'b': Counts(n=array([2.]))})"
    assert bundle == StatisticsBundle({("a", 1): Counts([1]), "b": Counts([2])})


@pytest.mark.parametrize("operation", ["__add__", "__sub__"])
def test_bundles_of_other_parts_are_refused(operation):
    bundle = StatisticsBundle(a=Counts([1]), b=Counts([1]))
    with pytest.raises(ParameterError, match="different parts: b in one of them only"):
        getattr(bundle, operation)(StatisticsBundle(a=Counts([1])))
    with pytest.raises(ParameterError, match="cannot add Counts to Bundle"):
        getattr(bundle, operation)(Counts([1]))
    with pytest.raises(TypeError, match="unsupported operand"):
        1 + bundle


def test_ratio_of_nothing_is_nothing():
    np.testing.assert_array_equal(ratio([1.0, 0.0, 3.0], [2.0, 0.0, 0.0]), [0.5, 0.0, 0.0])
    assert ratio(1.0, 4.0).shape == ()


def test_require_names_the_row():
    with pytest.raises(EvidenceError, match=r"too few \(row 1\)\n\nhint: more") as caught:
        require(np.array([True, False]), "too few", hint="more")
    assert caught.value.details["row"] == 1
    with pytest.raises(EvidenceError, match=r"^too few\n\nhint: more$"):
        require(np.array(False), "too few", hint="more")


def test_fitted_repeats_and_shares():
    assert fitted(np.array(2.0), (3, 2)).shape == (3, 2)
    assert fitted(np.full((3, 2), 5.0), (3, 1), shares=True).tolist() == [[5.0]] * 3
    with pytest.raises(ShapeError, match=r"a prior of shape \(3, 2\) does not fit parameters of shape \(3, 1\)"):
        fitted(np.full((3, 2), 5.0), (3, 1))
    with pytest.raises(ShapeError, match=r"a prior of shape \(2,\) does not fit parameters of shape \(1,\)"):
        fitted(np.array([1.0, 2.0]), (1,), shares=True)
    with pytest.raises(ShapeError, match=r"a prior of shape \(1, 2\) does not fit parameters of shape \(2,\)"):
        fitted(np.array([[1.0, 2.0]]), (2,))


def test_fitted_does_not_stretch_one_parameter():
    assert fitted(np.ones(2), (3, 2), event=1).shape == (3, 2)
    for array, shape, event in ((np.ones(1), (3,), 1), (np.ones(()), (3,), 1), (np.ones((1, 1)), (2, 2), 2)):
        with pytest.raises(ShapeError, match="does not fit parameters of shape"):
            fitted(array, shape, event=event)


def test_common_shape_names_the_parts():
    assert common_shape(a=(2, 1), b=(3,)) == (2, 3)
    with pytest.raises(ShapeError, match=r"do not fit each other: a \(2,\), b \(3,\)"):
        common_shape(a=(2,), b=(3,))


def test_shown_as_a_reader_would_write():
    assert shown(np.array(2.0)) == "2"
    assert shown(np.array([1.0, 0.25])) == "[1, 0.25]"
    assert shown(np.array([[1 / 3, 1e-9]])) == "[[0.333333, 1e-09]]"


### moments


def test_moments_by_hand():
    a = Moments(2, 1.0, 2.0)  # 0 and 2
    b = Moments(1, 4.0, 0.0)
    assert a + b == Moments(3, 2.0, 8.0)
    assert (a + b) - b == a
    assert (a + b) - (a + b) == Moments.zero()
    assert 3 * a == Moments(6, 1.0, 6.0)
    assert float(a.var) == 1.0
    assert float(Moments.zero().var) == 0.0


def test_joint_moments_by_hand():
    a = JointMoments(2, [1.0, 0.0], [[2.0, 0.0], [0.0, 0.0]])  # (0, 0) and (2, 0)
    b = JointMoments(1, [4.0, 3.0], np.zeros((2, 2)))
    assert a + b == JointMoments(3, [2.0, 1.0], [[8.0, 6.0], [6.0, 6.0]])
    assert ((a + b) - b).isclose(a)
    np.testing.assert_array_equal((a + b).cov, np.array([[8.0, 6.0], [6.0, 6.0]]) / 3)


def test_nothing_has_one_form():
    assert Moments(0, 5.0, 1e-20) == Moments.zero()
    assert JointMoments([0, 1], [[5.0], [6.0]], [[[1.0]], [[2.0]]]) == JointMoments(
        [0, 1], [[0.0], [6.0]], [[[0]], [[2]]]
    )


def test_squared_deviations_cannot_fall_below_zero():
    with pytest.raises(EvidenceError, match="the squared deviations would fall below zero"):
        Moments(3, 0.0, 1.0) - Moments(2, 0.0, 2.0)
    with pytest.raises(EvidenceError, match=r"would fall below zero \(row 1\)"):
        JointMoments(3, [0.0, 0.0], np.eye(2)) - JointMoments(2, [0.0, 0.0], np.diag([0.5, 2.0]))


def test_rounding_below_zero_is_cleared():
    x = [1e8 + 0.1, 1e8 + 0.2]
    one = Moments(1, x[0], 0.0)
    left = (one + Moments(1, x[1], 0.0)) - one
    assert left.m2 >= 0
    np.testing.assert_allclose(left.mean, x[1], rtol=1e-15)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Moments(1, [1.0, 2.0], [0.0, 0.0]), r"weights \(\), means \(2,\) and squares \(2,\) do not fit"),
        (lambda: JointMoments(1, [1.0, 2.0], [0.0, 0.0]), "do not fit each other"),
        (lambda: JointMoments(1, 1.0, 0.0), r"expected a mean of shape \(\*rows, d\), got \(\)"),
    ],
)
def test_moments_fit_each_other(make, message):
    with pytest.raises(ShapeError, match=message):
        make()


def test_pooled_sums_what_is_shared():
    values = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(pooled(values, (2, 1)), [[3.0], [12.0]])
    np.testing.assert_array_equal(pooled(values, (1, 1)), [[15.0]])
    assert pooled(values, (2, 3)) is values
