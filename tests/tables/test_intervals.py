"""Cuts that are short to write, and names of intervals that are short and distinct."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from bayeslearn.tables import DiscreteVariable, NumericVariable, Schema, Table, as_table
from bayeslearn.tables.discretization import quantile_cuts
from bayeslearn.tables.intervals import below, between, interval_names
from bayeslearn.tables.variables import variable_from_dict

FINITE = st.floats(allow_nan=False, allow_infinity=False)


def cut_of(values, bins=5):
    return Table(Schema([NumericVariable("x")]), [], [values]).discretize(n_bins=bins)


### laws


@given(FINITE, FINITE)
def test_a_cut_separates(a, b):
    assume(a < b)
    assert a <= between(a, b) < b


@given(st.decimals(-1000, 1000, places=3), st.decimals("0.002", 50, places=3))
def test_no_shorter_number_separates(a, gap):
    low, high = float(a), float(a + gap)
    digits = len(repr(between(low, high)).strip("-").replace(".", "").strip("0"))
    for power in range(3, -3, -1):
        there = [k for k in range(math.floor(low / 10**power), math.ceil(high / 10**power) + 1)
                 if low < round(k * 10.0**power, 6) < high]  # fmt: skip
        if there:
            assert digits <= max(4, min(len(str(abs(k)).strip("0")) for k in there) + 1)
            return


@given(st.lists(FINITE, min_size=1, max_size=8, unique=True).map(sorted))
def test_names_are_distinct_and_read_back(cuts):
    variable = DiscreteVariable.from_cuts("x", cuts)
    assert len(set(variable.states)) == len(cuts) + 1
    assert variable_from_dict(variable.to_dict()) == variable


@given(st.lists(st.sampled_from([0.0, 0.0, 0.0, 0.0, 1.0, 2.5, 7.0, -3.0]), min_size=4, max_size=60), st.integers(3, 7))
def test_a_heavy_value_is_alone(cells, bins):
    x = np.array(cells)
    values, counts = np.unique(x, return_counts=True)
    heavy = values[counts.argmax()]
    assume(len(values) > 1 and counts.max() > 0.5 * len(x))
    codes = cut_of(x, bins).codes_of("x")
    assert set(x[codes == codes[x == heavy][0]]) == {heavy}


### examples


@pytest.mark.parametrize(
    ("a", "b", "cut"),
    [
        (17, 18, 17.5), (1.9, 3.0, 2.45), (0.7, 0.9, 0.8), (-82.60123, -82.59871, -82.6), (1234.567, 1251.2, 1240),
        (0.12345, 0.12346, 0.123455), (-1.0, 1.0, 0), (1e300, 1.5e300, 1.25e300), (-1.7e308, 1.7e308, 0),
        (0, 5e-324, 0),
    ],
)  # fmt: skip
def test_round_cuts(a, b, cut):
    assert between(a, b) == pytest.approx(cut, rel=1e-15, abs=0)


def test_names():
    assert interval_names((-82.6, -82.57)) == ("<= -82.6", "-82.6 … -82.57", "> -82.57")
    assert interval_names((1.5e6, 2e6)) == ("<= 1500000", "1500000 … 2000000", "> 2000000")
    assert interval_names((1.0000001, 1.0000002)) == ("<= 1.0000001", "1.0000001 … 1.0000002", "> 1.0000002")
    assert interval_names((below(10.0),)) == ("< 10", ">= 10")
    assert interval_names((below(0.0), 0.0, 2.5)) == ("< 0", "0", "0 … 2.5", "> 2.5")
    assert interval_names(()) == ("all",)


def test_rain_is_none_or_some():
    """Precipitation: 0 in 93 % of the rows, the rest spread out."""
    rng = np.random.default_rng(1)
    rain = np.where(rng.random(5000) < 0.93, 0.0, rng.exponential(0.1, 5000).round(3) + 0.001)
    assert cut_of(rain).schema["x"].states == ("<= 0", "> 0")


def test_visibility_is_full_or_less():
    """Visibility: 10 miles in 80 % of the rows, never more."""
    rng = np.random.default_rng(2)
    seen = np.where(rng.random(5000) < 0.8, 10.0, rng.uniform(0, 10, 5000).round(2))
    assert cut_of(seen).schema["x"].states == ("< 10", ">= 10")


def test_a_heavy_value_in_the_middle():
    x = np.concatenate([np.zeros(60), np.arange(1, 21), -np.arange(1, 21)]).astype(float)
    assert cut_of(x).schema["x"].states == ("< 0", "0", "> 0")
    assert quantile_cuts(*np.unique(x, return_counts=True), 10).tolist() == [-10.5, below(0.0), 0.0, 10.5]


def test_older_names_are_understood():
    """Model files keep the names they were written with, and data that hold either name are coded alike."""
    older = variable_from_dict(
        {"name": "x", "kind": "discrete", "states": ["<= 2.5", "(2.5, 4]", "> 4"], "cuts": [2.5, 4.0]}
    )
    newer = DiscreteVariable.from_cuts("x", [2.5, 4])
    names = ["<= 2.5", "(2.5, 4]", "2.5 … 4", "2.5 ... 4", "> 4"]
    for variable in (older, newer):
        assert [variable.code_of(name) for name in names] == [0, 1, 1, 1, 2]
        assert as_table({"x": names}, schema=Schema([variable])).codes_of("x").tolist() == [0, 1, 1, 1, 2]
