"""Equal rows folded into weights: nothing is lost, nothing is merged that differs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeslearn.tables import DiscreteVariable, NumericVariable, Schema, Table, contingency
from tests.tables.strategies import tables


def slow_distinct(table):
    """The twin: a dict from rows to weights, in order of appearance."""
    weights = np.ones(len(table)) if table.sample_weight is None else table.sample_weight
    folded = {}
    for row, weight in zip(table.rows(), weights, strict=True):
        key = tuple(row.values())
        folded[key] = folded.get(key, 0.0) + weight
    return folded


### laws


@given(tables())
def test_distinct_agrees_with_its_twin(table):
    folded, slow = table.distinct(), slow_distinct(table)
    assert [tuple(row.values()) for row in folded.rows()] == list(slow)
    np.testing.assert_allclose(folded.sample_weight, list(slow.values()), rtol=1e-12)


@given(tables())
def test_distinct_twice_is_distinct_once(table):
    assert table.distinct().distinct() == table.distinct()


@given(tables())
def test_rows_twice_weigh_twice(table):
    once, twice = table.distinct(), Table.concat([table, table]).distinct()
    assert twice.codes.tolist() == once.codes.tolist()
    np.testing.assert_allclose(twice.sample_weight, 2 * once.sample_weight, rtol=1e-12)


@given(st.data(), st.integers(0, 2**32 - 1))
def test_many_wide_columns_stay_exact(data, seed):
    """More states than one word holds."""
    rng = np.random.default_rng(seed)
    sizes = data.draw(st.lists(st.sampled_from([1, 2, 100, 300]), min_size=8, max_size=14))
    base = np.array([rng.integers(-1, size, 6) for size in sizes])
    table = Table(
        Schema([DiscreteVariable(f"x{i}", range(s)) for i, s in enumerate(sizes)]), base[:, rng.integers(0, 6, 40)], []
    )
    assert [tuple(row.values()) for row in table.distinct().rows()] == list(slow_distinct(table))


### examples


def test_a_hash_that_always_collides_changes_nothing(monkeypatch):
    schema = Schema([DiscreteVariable("d", range(3)), NumericVariable("x"), NumericVariable("y")])
    rng = np.random.default_rng(3)
    table = Table(schema, rng.integers(-1, 3, (1, 50)), rng.integers(0, 2, (2, 50)).astype(float))
    expected = table.distinct()
    monkeypatch.setattr(contingency, "hashed", lambda words: np.zeros_like(words[0]))
    assert table.distinct() == expected


def test_zeros_are_equal_and_so_are_nans():
    table = Table(Schema([NumericVariable("x")]), [], [[0.0, -0.0, np.nan, -np.nan, 1.0]])
    assert table.distinct().sample_weight.tolist() == [2, 2, 1]


def test_words_hold_as_many_columns_as_fit():
    words = list(contingency.packed(np.zeros((9, 4), dtype=np.int8), [127] * 9))
    assert len(words) == 1  # 128⁹ = 2⁶³
    assert len(list(contingency.packed(np.zeros((10, 4), dtype=np.int8), [127] * 10))) == 2


@pytest.mark.parametrize("n", [0, 3])
def test_no_columns(n):
    table = Table(Schema([DiscreteVariable("x", ["a", "b"])]), np.zeros((1, n), dtype=int), []).select([])
    assert table.distinct().total_weight == n
