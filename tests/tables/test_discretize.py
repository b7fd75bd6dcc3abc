"""Numeric columns cut into intervals, and new data cut the same way."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.preprocessing import KBinsDiscretizer

from bayeslearn.errors import BayeslearnWarning, ConstantColumnError, ParameterError, UnknownColumnError
from bayeslearn.tables import DiscreteVariable, NumericVariable, Schema, Table, as_table
from bayeslearn.tables.discretization import mdl_cuts, mdl_places

CELLS = st.lists(st.none() | st.floats(-1e6, 1e6) | st.integers(-3, 3).map(float), min_size=2, max_size=40)
VARIED = CELLS.filter(lambda cells: len({c for c in cells if c is not None}) > 1)


def column(cells, sample_weight=None):
    return Table(Schema([NumericVariable("x")]), [], [[np.nan if c is None else c for c in cells]], sample_weight)


def slow_mdl(x, y, w):
    """The twin: Fayyad and Irani's recursion on lists of cases, trying every cut between different values."""

    def entropy(cases):
        total = sum(c[2] for c in cases)
        share = [sum(c[2] for c in cases if c[1] == k) / total for k in {c[1] for c in cases}]
        return -sum(p * math.log2(p) for p in share)

    def search(cases):
        n = sum(c[2] for c in cases)
        best = None
        for i in range(1, len(cases)):
            if cases[i - 1][0] < cases[i][0]:
                left, right = cases[:i], cases[i:]
                left_share = sum(c[2] for c in left) / n
                remaining = left_share * entropy(left) + (1 - left_share) * entropy(right)
                if best is None or remaining < best[0] - 1e-12:
                    best = remaining, left, right
        if best is None:
            return []
        remaining, left, right = best
        k, k1, k2 = (len({c[1] for c in part}) for part in (cases, left, right))
        spread = k * entropy(cases) - k1 * entropy(left) - k2 * entropy(right)
        if entropy(cases) - remaining <= (math.log2(max(n - 1, 1)) + math.log2(3**k - 2) - spread) / n:
            return []
        return [*search(left), (left[-1][0] + right[0][0]) / 2, *search(right)]

    return search(sorted(zip(x, y, w, strict=True)))


### laws


@given(VARIED, st.sampled_from(["quantile", "uniform"]), st.integers(2, 7))
def test_new_data_are_cut_as_the_old(cells, strategy, bins):
    table = column(cells)
    cut = table.discretize(strategy=strategy, n_bins=bins)
    assert as_table({"x": cells}, schema=cut.schema) == cut
    assert as_table(table, schema=cut.schema) == cut
    assert as_table(cut.to_dict(), schema=cut.schema) == cut
    assert as_table({"x": ["?" if c is None else repr(c) for c in cells]}, schema=cut.schema) == cut


@given(VARIED, st.integers(2, 7))
def test_intervals_hold_what_their_bounds_say(cells, bins):
    cut = column(cells).discretize(n_bins=bins)
    edges = [-math.inf, *cut.schema["x"].cuts, math.inf]
    for cell, code in zip(cells, cut.codes_of("x"), strict=True):
        assert code == -1 if cell is None else edges[code] < cell <= edges[code + 1]


@given(VARIED, st.integers(2, 7))
def test_no_interval_of_quantiles_is_empty(cells, bins):
    cut = column(cells).discretize(n_bins=bins)
    assert 2 <= cut.schema["x"].n_states <= bins
    assert set(cut.codes_of("x")) - {-1} == set(range(cut.schema["x"].n_states))


@given(VARIED, st.data(), st.integers(2, 7), st.sampled_from(["quantile", "uniform", "mdl"]))
def test_a_weight_of_three_is_three_rows(cells, data, bins, strategy):
    times = data.draw(st.lists(st.integers(1, 3), min_size=len(cells), max_size=len(cells)))
    weighted = column(cells, sample_weight=np.array(times, dtype=float))
    repeated = column(np.repeat(np.array(cells, dtype=object), times))
    if strategy == "mdl":
        y, one = np.arange(len(cells)) % 2, np.ones(sum(times))
        found = mdl_cuts(weighted.values_of("x"), y, weighted.sample_weight, 2)
        assert found.tolist() == mdl_cuts(repeated.values_of("x"), np.repeat(y, times), one, 2).tolist()
    else:
        assert (
            weighted.discretize(strategy=strategy, n_bins=bins).schema
            == repeated.discretize(strategy=strategy, n_bins=bins).schema
        )


@given(st.data(), st.integers(2, 4), st.integers(1, 60))
def test_mdl_agrees_with_its_twin(data, n_states, n):
    x = data.draw(st.lists(st.integers(0, 12).map(float), min_size=n, max_size=n))
    noise = data.draw(st.lists(st.integers(0, 30), min_size=n, max_size=n))
    y = [min(int(v) // 4, n_states - 1) if u > 3 else u % n_states for v, u in zip(x, noise, strict=True)]
    w = data.draw(st.lists(st.sampled_from([0.5, 1.0, 2.0, 3.25]), min_size=n, max_size=n))
    assert mdl_cuts(np.array(x), np.array(y), np.array(w), n_states).tolist() == slow_mdl(x, y, w)


### examples


def test_quantiles():
    cut = as_table({"x": [1.0, 2, 3, 4, 5, 6, 7, 8.5], "y": list("ababcabc")}).discretize(n_bins=4)
    assert cut.schema["x"] == DiscreteVariable("x", ("<= 2.5", "2.5 … 4.5", "4.5 … 6.5", "> 6.5"), (2.5, 4.5, 6.5))
    assert cut.codes_of("x").tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert cut.schema.names == ("x", "y")
    assert cut.column("y").tolist() == list("ababcabc")


def test_ties_make_fewer_intervals():
    for cells in ([0.5] * 9 + [7.5], [7.5] + [9.5] * 9):
        assert column(cells).discretize(n_bins=5).schema["x"].n_states == 2


def test_width():
    cut = column([0.0, 1, 2, 10]).discretize(strategy="uniform", n_bins=5)
    assert cut.schema["x"].cuts == (2, 4, 6, 8)
    assert cut.codes_of("x").tolist() == [0, 0, 0, 4]


def test_neighboring_floats_can_be_told_apart():
    a = 1.0
    cut = column([a, np.nextafter(a, 2)]).discretize(n_bins=2)
    assert cut.codes_of("x").tolist() == [0, 1]


def test_missing_cells_and_weightless_rows_have_no_say():
    plain = column([1.0, 2, 3, 4]).discretize(n_bins=2).schema
    assert column([1.0, None, 2, 3, 4]).discretize(n_bins=2).schema == plain
    assert column([1.0, 99, 2, 3, 4], sample_weight=[1, 0, 1, 1, 1]).discretize(n_bins=2).schema == plain


def test_mdl_of_weights_next_to_nothing():
    x, y = np.arange(8.0), np.repeat([0, 1], 4)
    assert len(mdl_cuts(x, y, np.full(8, 1e-310), 2)) == 0  # far less than a row: no cut point is worth its price
    assert mdl_places(np.zeros((4, 2))).tolist() == []


def test_mdl_finds_the_border():
    x = np.arange(40) / 2
    table = as_table({"x": x, "flat": np.tile([0.5, 1.5], 20), "y": ["low"] * 20 + ["high"] * 20})
    assert table.discretize(["x"], strategy="mdl", target="y").schema["x"].cuts == (9.75,)
    with pytest.warns(
        BayeslearnWarning, match="no cut point separates the states of 'y': 'flat' became one state, 'all'"
    ):
        cut = table.discretize(strategy="mdl", target="y")
    assert cut.schema["flat"].states == ("all",)
    assert as_table(table.to_dict(), schema=cut.schema) == cut
    assert as_table(cut.to_dict(), schema=cut.schema) == cut


def test_many_states_of_the_target_do_not_overflow():
    x = np.repeat(np.arange(1000.0), 3)
    assert len(mdl_cuts(x, x.astype(int), np.ones(3000), 1000)) > 1


def test_equal_frequencies_agree_with_scikit_learn():
    x = np.random.default_rng(5).normal(size=1000)
    theirs = KBinsDiscretizer(4, encode="ordinal", strategy="quantile", quantile_method="linear").fit(x[:, None])
    ours = column(x).discretize(n_bins=4)
    np.testing.assert_allclose(ours.schema["x"].cuts, theirs.bin_edges_[0][1:-1], atol=0.01)
    assert np.bincount(ours.codes_of("x")).tolist() == [250] * 4


def test_a_table_without_numbers_stays_as_it_is():
    table = as_table({"x": ["a", "b"]})
    assert table.discretize() == table


### bad input


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({}, ConstantColumnError, "fewer than two different values: 'c'\n\nhint: omit them from `columns`"),
        ({"strategy": "uniform"}, ConstantColumnError, "fewer than two different values: 'c'"),
        (
            {"strategy": "even"},
            ParameterError,
            "unexpected value for `strategy`: 'even'\n\nhint: choose one of 'quantile'",
        ),
        ({"n_bins": 1}, ParameterError, "`n_bins` must be at least 2, got 1"),
        ({"n_bins": 2.5}, ParameterError, "`n_bins` must be a whole number, got 2.5"),
        ({"strategy": "mdl"}, ParameterError, "strategy='mdl' requires a `target`"),
        (
            {"strategy": "mdl", "target": "d", "n_bins": 3},
            ParameterError,
            "`n_bins` has no effect with strategy='mdl'",
        ),
        (
            {"target": "d"},
            ParameterError,
            "`target` requires strategy='mdl', got target='d' with strategy='quantile'",
        ),
        ({"columns": ["d"]}, UnknownColumnError, "column 'd' is discrete"),
        ({"columns": ["q"]}, UnknownColumnError, "there is no column 'q'"),
    ],
)
def test_bad_requests(options, error, match):
    table = as_table({"x": [1.5, 2.5, 3.5, 4], "c": [0.5] * 4, "d": list("abab")})
    with pytest.raises(error, match=match):
        table.discretize(**options)


def test_words_and_infinities_cannot_be_cut():
    schema = column([1.0, 2.0]).discretize(n_bins=2).schema
    with pytest.raises(ValueError, match="column 'x' is inf in row 0"):
        as_table({"x": [np.inf]}, schema=schema)
    with pytest.raises(
        ValueError, match=r"column 'x' has state 'tall' in row 0, not among its states '<= 1\.5', '> 1\.5'"
    ):
        as_table({"x": ["tall"]}, schema=schema)
