"""Both ways of counting against the row-by-row twin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeslearn.tables import DiscreteVariable, Schema, Table
from tests.oracle.counting import count_row_by_row

FAMILIES = [(0,), (1, 0), (2, 3, 1), (0, 1, 2, 3), (3, 2)]


def make_table(seed, n, sizes, *, missing, weighted):
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(0, k, n) for k in sizes])
    codes[rng.random(codes.shape) < missing] = -1
    codes[-1] = np.abs(codes[-1])  # one column without holes
    schema = Schema([DiscreteVariable(f"x{j}", tuple(range(k))) for j, k in enumerate(sizes)])
    dtype = np.int8 if max(sizes) <= 127 else np.int16
    return Table(schema, codes.astype(dtype), np.empty((0, n)), rng.random(n) if weighted else None)


@given(
    seed=st.integers(0, 10_000),
    n=st.integers(1, 200),
    sizes=st.lists(st.integers(2, 5), min_size=4, max_size=4),
    missing=st.sampled_from([0.0, 0.2, 1.0]),
)
def test_intersections(seed, n, sizes, missing):
    counter = make_table(seed, n, sizes, missing=missing, weighted=False).counter
    for family in FAMILIES:
        for column in family:
            counter._build(column)
        expected = count_row_by_row(counter.codes, sizes, family)
        np.testing.assert_array_equal(counter._intersections(family), expected)


@given(
    seed=st.integers(0, 10_000),
    n=st.integers(1, 200),
    sizes=st.lists(st.sampled_from([2, 3, 5, 300]), min_size=4, max_size=4),
    missing=st.sampled_from([0.0, 0.2, 1.0]),
    weighted=st.booleans(),
)
def test_histograms(seed, n, sizes, missing, weighted):
    counter = make_table(seed, n, sizes, missing=missing, weighted=weighted).counter
    families = [f for f in FAMILIES if np.prod([sizes[c] + 1 for c in f]) < 1e6]
    for family, table in counter._histograms(families, worth=False).items():
        expected = count_row_by_row(counter.codes, sizes, family, counter.sample_weight)
        np.testing.assert_allclose(table, expected, rtol=1e-12)


@pytest.mark.parametrize("n", [63, 64, 65, 2047, 2048, 2049, 64 * 512, 64 * 512 + 1])
def test_edges_of_words_and_blocks(n):
    counter = make_table(0, n, [2, 3], missing=0.1, weighted=False).counter
    for column in (0, 1):
        counter._build(column)

    by_bits, by_rows = counter._intersections((0, 1)), counter._histograms([(0, 1)], worth=False)[0, 1]

    np.testing.assert_array_equal(by_bits, by_rows)
    assert by_bits.sum() == n


@pytest.mark.parametrize("n", [2047, 2048, 2049, 4500])
def test_weights_at_the_edges_of_blocks(n):
    counter = make_table(0, n, [2, 3], missing=0.1, weighted=True).counter

    found = counter._histograms([(0, 1)], worth=False)[0, 1]

    np.testing.assert_allclose(
        found, count_row_by_row(counter.codes, [2, 3], (0, 1), counter.sample_weight), rtol=1e-12
    )
