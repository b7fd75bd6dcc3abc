"""The values that are kept of each interval, found by sorting once or by counting, and the codes of intervals."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeslearn.sources.usability import whole_numbers
from bayeslearn.tables import DiscreteVariable, as_table, variables
from bayeslearn.tables.intervals import MAX_VALUES, collated, interval_values, weighted_values

NUMBERS = st.one_of(st.floats(-1e308, 1e308), st.floats(-9, 9), st.integers(-20, 20).map(float))
ROWS = st.lists(st.tuples(st.one_of(st.just(math.nan), NUMBERS), st.integers(0, 5)), min_size=1, max_size=90)
WHOLE_ROWS = st.lists(st.tuples(st.integers(-30, 30).map(float), st.integers(0, 5)), min_size=1, max_size=90)


def slow_values(rows, cuts, *, weighted):
    """The twin: exact fractions, row after row."""
    found = []
    for low, high in zip((-math.inf, *cuts), (*cuts, math.inf), strict=True):
        inside = sorted((x, w if weighted else 1) for x, w in rows if low < x <= high and (w or not weighted))
        if len({x for x, _ in inside}) < 2:
            found.append(tuple(x for x, _ in inside[:1]))
            continue
        m, total = MAX_VALUES if weighted else min(len(inside), MAX_VALUES), sum(w for _, w in inside)
        sums = np.cumsum([w for _, w in inside]).tolist()
        wanted = [Fraction(2 * k + 1, 2 * m) * total for k in range(m)]
        found.append(tuple(inside[next(i for i, s in enumerate(sums) if s >= want)][0] for want in wanted))
    return tuple(found)


@given(ROWS | WHOLE_ROWS, st.lists(NUMBERS, max_size=5, unique=True).map(sorted), st.booleans())
def test_the_quantiles_of_each_interval(rows, cuts, weighted):
    x, w = np.array(rows).T
    assert interval_values(x, w if weighted else None, tuple(cuts)) == slow_values(rows, cuts, weighted=weighted)


@given(ROWS | WHOLE_ROWS, st.booleans())
def test_whole_numbers_are_counted_as_others_are_sorted(rows, weighted):
    x, w = np.array(rows).T
    there = ~np.isnan(x) & (w > 0) if weighted else ~np.isnan(x)
    expected = collated(x[there], w[there] if weighted else None)
    for found, known in zip(weighted_values(x, w if weighted else None), expected, strict=True):
        np.testing.assert_array_equal(found, known)


@given(
    st.lists(NUMBERS | st.just(math.nan), min_size=1, max_size=50),
    st.lists(NUMBERS, max_size=9, unique=True).map(sorted),
)
def test_comparing_and_searching_give_the_same_codes(x, cuts):
    variable = DiscreteVariable.from_cuts("x", cuts)
    expected = [-1 if math.isnan(v) else sum(v > c for c in cuts) for v in x]
    assert variable.cut(x).tolist() == expected
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(variables, "FEW_CUTS", -1)
        assert variable.cut(x).tolist() == expected
    assert int(variable.cut(x[0])) == expected[0]


def test_the_name_of_a_heavy_value_among_names_of_intervals():
    """'0' is a number and the name of a state; next to '< 0' it is the name."""
    table = as_table({"x": [-1.5, 0, 0, 0, 0, 2.5]}, numeric=["x"]).discretize(n_bins=3)
    assert table.schema["x"].states == ("< 0", "0", "> 0")
    for other in (table.to_dict(), {"x": ["< 0", "0", "0.0", "0", "0", "7"]}):
        assert as_table(other, schema=table.schema) == table


@given(st.lists(st.integers(-20, 60), min_size=1, max_size=60) | st.integers(0, 50).map(lambda n: [*range(n + 1)]))
def test_what_whole_numbers_show(values):
    found = whole_numbers(np.array(values, float))
    up = all(a < b for a, b in pairwise(values))
    down = all(a > b for a, b in pairwise(values))
    assert found.n == len(values)
    assert found.all_different == (len({*values}) == len(values))
    assert found.is_consecutive == (sorted(values) == [*range(min(values), min(values) + len(values))])
    assert found.is_ordered == (len(values) > 1 and (up or down))
