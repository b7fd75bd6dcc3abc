"""The laws of evidence, for every family of the table in strategies.py."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeslearn.distributions import StatisticsBundle
from bayeslearn.errors import EvidenceError, ParameterError, ShapeError
from tests.laws.strategies import KINDS, LAWS, amounts, row, samples, statistics, weighted

every_kind = pytest.mark.parametrize("kind", KINDS, ids=str)
any_data = given(data=st.data())


def same(a, b):
    """Equal up to rounding; deviations of numbers up to 100 are of the size of 10⁴."""
    return a.isclose(b, rtol=1e-9, atol=1e-7)


### addition


@every_kind
@LAWS
@any_data
def test_nothing_is_the_identity(kind, data):
    a, zero = data.draw(statistics(kind)), kind.family.zero()
    assert zero + a == a
    assert a + zero == a
    assert zero + zero == zero
    assert kind.family.collect(kind.cases([])) == zero


@every_kind
@LAWS
@any_data
def test_addition_is_commutative(kind, data):
    a, b = data.draw(statistics(kind)), data.draw(statistics(kind))
    assert same(a + b, b + a)


@every_kind
@LAWS
@any_data
def test_addition_is_associative(kind, data):
    a, b, c = (data.draw(statistics(kind)) for _ in range(3))
    assert same((a + b) + c, a + (b + c))


@every_kind
@LAWS
@any_data
def test_sum_adds_from_nothing(kind, data):
    a, b, c = (data.draw(statistics(kind)) for _ in range(3))
    assert same(sum([a, b, c]), a + b + c)


@every_kind
@LAWS
@any_data
def test_batches_add_up_to_the_whole(kind, data):
    x, w = data.draw(weighted(kind))
    cut = data.draw(st.integers(0, len(x)))
    parts = [kind.family.collect(x[s], sample_weight=w[s]) for s in (slice(cut), slice(cut, None))]
    assert same(parts[0] + parts[1], kind.family.collect(x, sample_weight=w))


@every_kind
@LAWS
@any_data
def test_the_order_of_rows_is_irrelevant(kind, data):
    x, w = data.draw(weighted(kind))
    order = np.array(data.draw(st.permutations(range(len(x)))), dtype=int)
    assert same(kind.family.collect(x[order], sample_weight=w[order]), kind.family.collect(x, sample_weight=w))


@every_kind
@LAWS
@any_data
def test_weight_two_is_the_row_twice(kind, data):
    x = data.draw(samples(kind))
    twice = kind.family.collect(np.concatenate([x, x]))
    assert same(kind.family.collect(x, sample_weight=np.full(len(x), 2.0)), twice)
    assert same(2 * kind.family.collect(x), twice)


@every_kind
@LAWS
@any_data
def test_weight_zero_is_no_row(kind, data):
    x = data.draw(samples(kind, min_size=1))
    assert same(kind.family.collect(x, sample_weight=np.eye(len(x))[0]), kind.family.collect(x[:1]))


@every_kind
@LAWS
@any_data
def test_what_is_missing_adds_nothing(kind, data):
    x, w = data.draw(weighted(kind))
    hole = kind.cases([kind.missing])
    w_hole = np.append(w, data.draw(amounts))
    with_hole = kind.family.collect(np.concatenate([x, hole]), sample_weight=w_hole)
    assert same(with_hole, kind.family.collect(x, sample_weight=w))


### subtraction and scaling


@every_kind
@LAWS
@any_data
def test_what_was_added_can_be_taken_back(kind, data):
    a, b = data.draw(statistics(kind)), data.draw(statistics(kind))
    assert same((a + b) - b, a)
    assert (b - b).isclose(kind.family.zero(), rtol=0, atol=1e-12)


@every_kind
@LAWS
@any_data
def test_scaling_distributes(kind, data):
    a, b, k = data.draw(statistics(kind)), data.draw(statistics(kind)), data.draw(amounts)
    assert same(k * (a + b), k * a + k * b)
    assert same(a * (k + 1), k * a + a)
    assert same(np.float64(k) * a, a * k)
    assert same(0 * a, kind.family.zero())
    assert same(1 * a, a)


@every_kind
def test_evidence_cannot_be_scaled_below_zero(kind):
    for factor in (-1.0, np.inf, np.nan):
        with pytest.raises(EvidenceError, match="finite and not negative"):
            kind.family.zero() * factor


@pytest.mark.parametrize("kind", [k for k in KINDS if k.name != "finite"], ids=str)
@LAWS
@any_data
def test_more_than_was_added_cannot_be_taken_back(kind, data):
    x = data.draw(samples(kind, min_size=1))
    with pytest.raises(EvidenceError, match="more evidence removed"):
        kind.family.collect(x) - kind.family.collect(np.concatenate([x, x]))


### rows of parameters


@every_kind
@LAWS
@any_data
def test_groups_are_one_hot_weights_are_separate_collects(kind, data):
    x, w = data.draw(weighted(kind))
    groups = np.array(data.draw(st.lists(st.integers(-1, 2), min_size=len(x), max_size=len(x))), dtype=int)
    one_hot = w[:, None] * (groups[:, None] == np.arange(3))
    by_group = kind.family.collect(x, sample_weight=w, groups=groups, n_groups=3)
    by_weight = kind.family.collect(x, sample_weight=one_hot)
    assert same(by_group, by_weight)
    for k in range(3):
        here = groups == k
        assert same(row(by_group, k), kind.family.collect(x[here], sample_weight=w[here]))


@every_kind
@LAWS
@any_data
def test_shares_are_fractions_of_the_whole(kind, data):
    x, w = data.draw(weighted(kind))
    share = np.array(data.draw(st.lists(amounts, min_size=len(x), max_size=len(x))), dtype=float) / 3
    split = kind.family.collect(x, sample_weight=np.stack([w * share, w * (1 - share)], axis=1))
    assert same(row(split, 0) + row(split, 1), kind.family.collect(x, sample_weight=w))


@every_kind
def test_no_group_at_all(kind):
    nowhere = kind.family.collect(kind.cases([kind.missing] * 2), groups=[-1, -1], n_groups=0)
    assert nowhere == kind.family.zero((0,))


### what does not add


@every_kind
def test_other_kinds_and_shapes_are_refused(kind):
    other = next(k for k in KINDS if type(k.family.zero()) is not type(kind.family.zero()))
    for operation in ("__add__", "__sub__"):
        with pytest.raises(ParameterError, match="cannot add"):
            getattr(kind.family.zero(), operation)(other.family.zero())
        with pytest.raises(ShapeError, match="cannot add statistics of shapes"):
            getattr(kind.family.zero(), operation)(kind.family.zero((2,)))
    with pytest.raises(TypeError, match="unsupported operand"):
        1 + kind.family.zero()


@every_kind
def test_statistics_are_frozen(kind):
    statistic = kind.family.zero((2,))
    for array in statistic.arrays():
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 1
    with pytest.raises(TypeError, match="unhashable"):
        hash(statistic)


### many parts


@LAWS
@any_data
def test_bundles_follow_the_same_laws(data):
    a, b = (StatisticsBundle({k.name: data.draw(statistics(k)) for k in KINDS}) for _ in range(2))
    zero = StatisticsBundle({k.name: k.family.zero() for k in KINDS})
    assert (a + b).isclose(b + a, rtol=1e-9, atol=1e-7)
    assert zero + a == a
    assert sum([a, b]) == a + b
    assert (2 * a).isclose(a + a, rtol=1e-9, atol=1e-7)
    assert (np.float64(2) * a).isclose(a * 2, rtol=1e-9, atol=1e-7)
    assert ((a + b) - b).isclose(a, rtol=1e-9, atol=1e-7)
    assert not a.isclose(StatisticsBundle(a=a["gaussian"]))
