"""Tests of independence against SciPy slice by slice, and the laws of weights and degrees of freedom."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2, chi2_contingency

from bayeslearn.errors import MissingValuesError, ParameterError, UnknownColumnError
from bayeslearn.network.structure.constraint_based.independence_tests import (
    IndependenceTest,
    independence,
    on_all_cores,
)
from bayeslearn.network.structure.scoring.family_counts import FamilyCounts
from bayeslearn.tables import DiscreteVariable, Schema, Table, as_table

SEEDS = st.integers(0, 10_000)
KINDS = st.sampled_from(["g_test", "chi2", "mutual_information"])


def random_table(seed, *, rows=None, columns=4, most_states=4, weighted=False):
    """Columns that lean on the one before; with few rows most cells stay empty."""
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(1, 60)) if rows is None else rows
    sizes = rng.integers(1, most_states + 1, columns)
    codes = np.zeros((columns, rows), np.int64)
    for v, size in enumerate(sizes):
        fresh = rng.integers(0, size, rows)
        codes[v] = np.where(rng.random(rows) < 0.5, codes[v - 1] % size, fresh) if v else fresh
    schema = Schema([DiscreteVariable(f"v{v}", [f"s{k}" for k in range(size)]) for v, size in enumerate(sizes)])
    weights = rng.choice([0.0, 0.5, 1.0, 2.5], rows) if weighted else None
    return Table(schema, codes, np.empty((0, rows)), weights)


def by_slices(table, x, y, given, kind):
    """Sums over slices of what SciPy says of each, rows and columns without cases left out."""
    weights = np.ones(table.n_rows) if table.sample_weight is None else table.sample_weight
    sizes = [v.n_states for v in table.schema.discrete]
    statistic, degrees = 0.0, 0
    for states in product(*(range(sizes[z]) for z in given)):
        inside = np.all([table.codes[z] == s for z, s in zip(given, states, strict=True)], axis=0)
        n = np.zeros((sizes[x], sizes[y]))
        np.add.at(n, (table.codes[x], table.codes[y]), weights * inside)
        n = n[n.sum(axis=1) > 0][:, n.sum(axis=0) > 0]
        if n.size:
            power = "pearson" if kind == "chi2" else "log-likelihood"
            found = chi2_contingency(n, correction=False, lambda_=power)
            statistic, degrees = statistic + found.statistic, degrees + found.dof
    p_value = chi2.sf(statistic, degrees) if degrees else 1.0
    return (
        statistic / (2 * weights.sum()) if kind == "mutual_information" and weights.sum() else statistic,
        degrees,
        p_value,
    )


@given(seed=SEEDS, kind=KINDS, size=st.integers(0, 2), states=st.sampled_from([2, 4, 9]), weighted=st.booleans())
def test_a_test_is_that_of_scipy_summed_over_slices(seed, kind, size, states, weighted):
    table = random_table(seed, most_states=states, weighted=weighted)
    test = np.random.default_rng(seed).permutation(4)[: 2 + size]
    found = IndependenceTest(FamilyCounts(table), kind)(test[None])
    statistic, degrees, p_value = by_slices(table, test[0], test[1], test[2:], kind)
    assert found.statistic[0] == pytest.approx(statistic, rel=1e-9, abs=1e-10)
    assert found.degrees[0] == degrees
    assert found.p_value[0] == pytest.approx(p_value, rel=1e-7, abs=1e-9)


@given(seed=SEEDS, kind=KINDS, degrees=st.sampled_from(["adjusted", "plain"]))
def test_neither_the_order_of_the_two_nor_that_of_the_given_matters(seed, kind, degrees):
    test = IndependenceTest(FamilyCounts(random_table(seed, most_states=6)), kind, degrees=degrees)
    found = test(np.array([[0, 1, 2, 3], [1, 0, 2, 3], [0, 1, 3, 2]]))
    for values in found:
        assert values == pytest.approx(values[0], rel=1e-9, abs=1e-10)


@given(seed=SEEDS, kind=KINDS, states=st.sampled_from([2, 9]))
def test_a_row_of_weight_two_is_there_twice_and_one_of_weight_zero_is_not(seed, kind, states):
    table = random_table(seed, most_states=states)
    times = np.random.default_rng(seed).integers(0, 3, table.n_rows)
    weighted = Table(table.schema, table.codes, table.values, times.astype(float))
    repeated = Table(table.schema, np.repeat(table.codes, times, axis=1), np.empty((0, times.sum())))
    one, other = (IndependenceTest(FamilyCounts(t), kind)(np.array([[0, 1, 2]])) for t in (weighted, repeated))
    np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-10)


@given(seed=SEEDS, kind=KINDS, weighted=st.booleans())
def test_counts_that_were_added_answer_as_one_table(seed, kind, weighted):
    table = random_table(seed, rows=30, weighted=weighted)
    parts = FamilyCounts(table.take(np.arange(12))) + FamilyCounts(table.take(np.arange(12, 30)))
    one, other = (IndependenceTest(counts, kind)(np.array([[0, 1, 2]])) for counts in (parts, FamilyCounts(table)))
    np.testing.assert_allclose(one, other, rtol=1e-12)


@given(seed=SEEDS, kind=KINDS, size=st.integers(0, 2), states=st.sampled_from([2, 9]), weighted=st.booleans())
def test_with_too_few_rows_a_cell_nothing_is_tested(seed, kind, size, states, weighted):
    table = random_table(seed, most_states=states, weighted=weighted)
    test = np.random.default_rng(seed).permutation(4)[: 2 + size]
    plain, guarded = (IndependenceTest(FamilyCounts(table), kind, least=least)(test[None]) for least in (0.0, 5.0))
    kept = np.ones(table.n_rows, bool) if table.sample_weight is None else table.sample_weight > 0
    x, y, *z = table.codes[test][:, kept]
    slices = list(zip(*z, strict=True)) if z else [()] * int(kept.sum())
    cells = sum(
        len({a for a, s in zip(x, slices, strict=True) if s == here})
        * len({b for b, s in zip(y, slices, strict=True) if s == here})
        for here in set(slices)
    )
    if table.total_weight >= 5 * cells:
        np.testing.assert_array_equal(guarded, plain)
    else:
        assert (guarded.degrees[0], guarded.p_value[0]) == (0.0, 1.0)
        assert guarded.statistic[0] == plain.statistic[0]


def test_plain_degrees_count_every_cell():
    table = random_table(3, rows=5, most_states=4)
    sizes = np.array([v.n_states for v in table.schema.discrete])
    found = IndependenceTest(FamilyCounts(table), degrees="plain")(np.array([[0, 1, 2, 3]]))
    assert found.degrees[0] == (sizes[0] - 1) * (sizes[1] - 1) * sizes[2] * sizes[3]


def test_without_degrees_of_freedom_nothing_is_rejected():
    table = as_table({"a": ["x"] * 4, "b": ["p", "q", "p", "q"], "id": ["1", "2", "3", "4"]}, allow_constant=True)
    for given_ in ([], ["id"]):
        assert independence(table, "a", "b", given_).p_value == 1.0
    assert independence(table, "a", "b", degrees="plain").p_value == 1.0
    empty = Table(table.schema, np.empty((3, 0), np.int64), np.empty((0, 0)))
    answer = independence(empty, "a", "b", kind="mutual_information")
    assert (answer.statistic, answer.degrees, answer.p_value) == (0.0, 0.0, 1.0)


def test_many_wide_columns_need_no_more_memory_than_rows():
    rng = np.random.default_rng(0)
    schema = Schema([DiscreteVariable(f"v{v}", [f"s{k}" for k in range(120)]) for v in range(30)])
    table = Table(schema, rng.integers(0, 120, (30, 40)), np.empty((0, 40)))
    found = IndependenceTest(FamilyCounts(table))(np.arange(30)[None])  # 120³⁰ cells
    assert found.degrees[0] == 0
    assert found.p_value[0] == 1


def test_threads_give_the_same_answers():
    test = IndependenceTest(FamilyCounts(random_table(1, rows=30, columns=6)))
    tests = np.array([np.random.default_rng(i).permutation(6)[:3] for i in range(300)])
    for one, other in zip(on_all_cores(test, tests), test(tests), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("asked", "options", "error", "match"),
    [
        (("v0", "z"), {}, UnknownColumnError, "no discrete column 'z'"),
        (("v0", "v0"), {}, ParameterError, "names each column once"),
        (("v0", "v1", ["v1"]), {}, ParameterError, "names each column once"),
        (("v0", "v1"), {"kind": "t"}, ParameterError, "unexpected value for `kind`"),
        (("v0", "v1"), {"degrees": "few"}, ParameterError, "unexpected value for `degrees`"),
    ],
)
def test_bad_questions_are_named(asked, options, error, match):
    with pytest.raises(error, match=match):
        independence(random_table(0), *asked, **options)


def test_missing_cells_are_refused():
    with pytest.raises(MissingValuesError, match="'a' has missing cells"):
        independence(as_table({"a": ["x", "y", None], "b": ["p", "q", "p"]}), "a", "b")
