"""Contingency tables: laws, how the way of counting is chosen, and bad requests."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeslearn.errors import CapacityError, ParameterError
from bayeslearn.tables import DiscreteVariable, NumericVariable, Schema, Table, as_table, contingency_tables

FAMILIES = [("a",), ("a", "b"), ("c", "a", "b"), ("b", "d", "c", "a")]
SCHEMA = Schema(
    [
        *(
            DiscreteVariable(name, list(states))
            for name, states in [("a", "xy"), ("b", "uvw"), ("c", "pqrs"), ("d", "01")]
        ),
        NumericVariable("z"),
    ]
)


def random_table(seed, n, *, missing=0.15, sample_weight=None):
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(0, len(v.states), n) for v in SCHEMA.discrete]).astype(np.int8)
    codes[:3][rng.random((3, n)) < missing] = -1
    return Table(SCHEMA, codes, rng.normal(size=(1, n)), sample_weight)


def counts(table, **options):
    return [found.counts for found in contingency_tables(table, FAMILIES, **options)]


### laws


@given(seed=st.integers(0, 10_000), n=st.integers(2, 80), cut=st.floats(0, 1))
def test_batch_equals_whole(seed, n, cut):
    table = random_table(seed, n)
    at = min(max(int(cut * n), 1), n - 1)
    first, second = table.take(np.arange(at)), table.take(np.arange(at, n))

    for whole, a, b in zip(counts(table), counts(first), counts(second), strict=True):
        np.testing.assert_array_equal(whole, a + b)


@given(seed=st.integers(0, 10_000), n=st.integers(1, 60))
def test_weight_two_is_the_row_twice(seed, n):
    table = random_table(seed, n)
    heavy = table.with_weights(np.full(n, 2.0))

    for twice, weighted in zip(counts(Table.concat([table, table])), counts(heavy), strict=True):
        np.testing.assert_array_equal(twice, weighted)


@given(seed=st.integers(0, 10_000), n=st.integers(1, 60))
def test_order_of_rows_and_columns_is_irrelevant(seed, n):
    table = random_table(seed, n)
    shuffled = table.take(np.random.default_rng(seed).permutation(n)).select(["d", "z", "c", "b", "a"])

    for one, other in zip(counts(table), counts(shuffled), strict=True):
        np.testing.assert_array_equal(one, other)


@given(seed=st.integers(0, 10_000), n=st.integers(1, 60))
def test_every_row_is_accounted_for(seed, n):
    table = random_table(seed, n, missing=0.4)

    for found in contingency_tables(table, FAMILIES):
        assert found.counts.sum() + found.incomplete == n
    for with_missing in counts(table, missing="state"):
        assert with_missing.sum() == n


@given(seed=st.integers(0, 10_000), n=st.integers(1, 60))
def test_folded_rows_count_the_same(seed, n):
    table = random_table(seed, n).drop(["z"])

    for plain, folded in zip(counts(table), counts(table.distinct()), strict=True):
        np.testing.assert_array_equal(plain, folded)


### both ways of counting


def test_both_ways_agree_and_are_both_used(monkeypatch):
    table = random_table(0, 3000)
    used = []
    for way in ("_intersections", "_histogram"):
        original = getattr(type(table.counter), way)
        monkeypatch.setattr(
            type(table.counter), way, lambda self, *a, _o=original, _w=way: (used.append(_w), _o(self, *a))[1]
        )

    chosen = counts(table)
    monkeypatch.setattr("bayeslearn.tables.contingency.ROW_COST", 0.0)  # never worth a bitmap
    by_rows = counts(random_table(0, 3000))
    monkeypatch.setattr("bayeslearn.tables.contingency.ROW_COST", 1e9)  # always
    by_bits = counts(random_table(0, 3000))

    assert set(used) == {"_intersections", "_histogram"}
    for a, b, c in zip(chosen, by_rows, by_bits, strict=True):
        np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(a, c)


def test_weighted_counts_do_not_depend_on_the_number_of_threads(monkeypatch):
    monkeypatch.setattr("bayeslearn.tables.contingency.CHUNK", 100)
    table = random_table(1, 2000, sample_weight=np.random.default_rng(1).random(2000))
    monkeypatch.setattr(type(table.counter), "count", lambda self, fs: list(self._histograms(fs, worth=True).values()))

    monkeypatch.setenv("BAYESLEARN_THREADS", "1")
    one = counts(table)
    monkeypatch.setenv("BAYESLEARN_THREADS", "4")
    four = counts(table)

    for a, b in zip(one, four, strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_family_asked_for_twice():
    table = random_table(0, 50)
    first, second = contingency_tables(table, [("a", "b"), ("a", "b")])
    np.testing.assert_array_equal(first.counts, second.counts)


def test_many_states():
    n = 5000
    rng = np.random.default_rng(0)
    table = as_table({"id": rng.integers(0, 300, n), "b": rng.integers(0, 2, n)}, discrete=["id"], max_states=300)

    [found] = contingency_tables(table, [("id", "b")])

    assert found.counts.shape == (300, 2)
    assert found.counts.sum() == n


### bad requests


@pytest.mark.parametrize(
    ("family", "match"),
    [
        (("a", "nope"), "cannot count column 'nope': it is not in the table"),
        (("a", "z"), "cannot count column 'z': it is numeric"),
        (("a", "a"), r"a group consists of different columns, got \('a', 'a'\)"),
        ((), "a group consists of different columns"),
    ],
)
def test_bad_families(family, match):
    with pytest.raises(ParameterError, match=match):
        contingency_tables(random_table(0, 10), [family])


def test_bad_option():
    with pytest.raises(ParameterError, match="unexpected value for `missing`: 'ignore'"):
        contingency_tables(random_table(0, 10), [("a",)], missing="ignore")


def test_too_large_is_refused_before_it_is_allocated():
    schema = Schema([DiscreteVariable(f"x{j}", tuple(range(100))) for j in range(6)])
    table = Table(schema, np.zeros((6, 3), np.int8), np.empty((0, 3)))
    with pytest.raises(CapacityError, match=r"need 1,061,520,150,601 cells .* the largest group is \(x0, x1"):
        contingency_tables(table, [schema.names])


def test_a_table_without_rows_counts_nothing():
    empty = as_table({"a": ["x", "y"], "b": ["u", "v"]}).take([])
    [found] = contingency_tables(empty, [("a", "b")])
    np.testing.assert_array_equal(found.counts, np.zeros((2, 2)))
    assert found.incomplete == 0
