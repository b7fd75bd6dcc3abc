"""Scores and counts against their formulas, cell by cell, and against published figures."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeslearn import kernels
from bayeslearn.errors import CapacityError, MismatchError, MissingValuesError, ParameterError
from bayeslearn.network import DAG
from bayeslearn.network.structure.scoring import family_counts
from bayeslearn.network.structure.scoring.criteria import NAMES, ScoreCache, StructureScore
from bayeslearn.network.structure.scoring.family_counts import FamilyCounts
from bayeslearn.tables import DiscreteVariable, Schema, Table, as_table


def random_table(seed, columns=4, rows=30, *, weighted=False):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 5, columns)
    schema = Schema(DiscreteVariable(f"v{i}", [f"s{k}" for k in range(size)]) for i, size in enumerate(sizes))
    codes = np.stack([rng.integers(0, size, rows) for size in sizes])
    return Table(schema, codes, np.empty((0, rows)), rng.integers(1, 4, rows).astype(float) if weighted else None)


def slow_counts(table, child, parents):
    n = np.zeros([table.schema.discrete[v].n_states for v in (*parents, child)])
    weights = np.ones(table.n_rows) if table.sample_weight is None else table.sample_weight
    for row in range(table.n_rows):
        n[tuple(table.codes[v, row] for v in (*parents, child))] += weights[row]
    return n


def slow_score(name, n, total, cases=1.0):
    """The formulas of the module, cell by cell."""
    r = n.shape[-1]
    rows = n.reshape(-1, r)
    q = len(rows)
    if name in {"loglik", "aic", "bic"}:
        fit = sum(x * math.log(x / row.sum()) for row in rows for x in row if x > 0)
        return fit - {"loglik": 0, "aic": 1, "bic": 0.5 * math.log(total)}[name] * q * (r - 1)
    if name == "bds":
        q = max(sum(row.sum() > 0 for row in rows), 1)
    a = 1.0 if name == "k2" else cases / (q * r)
    value = 0.0
    for row in rows:
        if name == "bds" and row.sum() == 0:
            continue
        value += math.lgamma(r * a) - math.lgamma(r * a + row.sum())
        value += sum(math.lgamma(a + x) - math.lgamma(a) for x in row)
    return value


@given(seed=st.integers(0, 100_000), weighted=st.booleans(), name=st.sampled_from(NAMES))
def test_families_score_as_their_formulas_say(seed, weighted, name):
    table = random_table(seed, weighted=weighted)
    score, counts = StructureScore(name, 3.0), FamilyCounts(table)
    for parents in [(), (1,), (1, 3)]:
        n = slow_counts(table, 0, parents)
        np.testing.assert_array_equal(counts.family(0, parents), n)
        expected = slow_score(name, n, table.total_weight, 3.0)
        assert score.family(n, table.total_weight) == pytest.approx(expected, rel=1e-11, abs=1e-9)


@pytest.mark.parametrize("way", ["bitmaps", "bytes", "rows", "both"])
@given(seed=st.integers(0, 100_000), name=st.sampled_from(NAMES), rows=st.sampled_from([1, 64, 200]))
def test_all_candidates_at_once(way, seed, name, rows):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(family_counts, "WORD", {"bitmaps": 0.0, "both": 1.0}.get(way, np.inf))
        patch.setattr(family_counts, "MOST_BYTES", 0 if way == "rows" else 1 << 20)
        table = random_table(seed, columns=6, rows=rows)
        cache = ScoreCache(FamilyCounts(table), StructureScore(name))
        for child, parents in [(0, ()), (2, (0,)), (3, (0, 1)), (4, (0, 1, 2))]:
            found = cache.additions(child, parents)
            assert cache.family(child, parents) == pytest.approx(
                slow_score(name, slow_counts(table, child, parents), rows), rel=1e-11, abs=1e-9
            )
            for v in range(6):
                if v == child or v in parents:
                    assert found[v] == -np.inf
                else:
                    n = slow_counts(table, child, (*parents, v))
                    assert found[v] == pytest.approx(slow_score(name, n, rows), rel=1e-11, abs=1e-9)


def test_what_was_scored_as_an_addition_is_not_counted_again(monkeypatch):
    cache = ScoreCache(FamilyCounts(random_table(1)), StructureScore("bdeu"))
    found = cache.additions(0, (1,))
    fewer = [cache.family(0, (v,)) for v in (1, 2)]
    monkeypatch.setattr(FamilyCounts, "family", None)
    assert cache.family(0, (1, 2)) == found[2]
    assert cache.removals(0, (1, 2))[[2, 1]].tolist() == fewer


@given(seed=st.integers(0, 100_000), weighted=st.booleans(), name=st.sampled_from(NAMES))
def test_counts_of_two_tables_add(seed, weighted, name):
    table = random_table(seed, weighted=weighted, rows=90)
    rows = np.arange(90) < 40
    parts = [FamilyCounts(table.take(np.flatnonzero(rows))), FamilyCounts(table.take(np.flatnonzero(~rows)))]
    whole, both = (
        ScoreCache(FamilyCounts(table), StructureScore(name)),
        ScoreCache(parts[0] + parts[1], StructureScore(name)),
    )
    np.testing.assert_allclose(both.additions(0, (1,)), whole.additions(0, (1,)), rtol=1e-11)
    assert both.family(2, (0, 3)) == pytest.approx(whole.family(2, (0, 3)), rel=1e-11)
    assert both.counts.rows == 90
    np.testing.assert_array_equal(np.sort(both.counts.codes), np.sort(whole.counts.codes))


def test_only_new_rows_are_counted(monkeypatch):
    table = random_table(1)
    old, new = FamilyCounts(table), FamilyCounts(table)
    known = old.extended(0, ()).n
    looked_at, extend = [], kernels.extend_family
    monkeypatch.setattr(kernels, "extend_family", lambda data, *how: looked_at.append(data) or extend(data, *how))
    np.testing.assert_array_equal((old + new).extended(0, ()).n, 2 * known)
    assert len(looked_at) == 1
    assert looked_at[0] is new.parts[0].data


@pytest.mark.parametrize("way", ["bitmaps", "bytes", "rows", "both"])
@given(seed=st.integers(0, 100_000), rows=st.sampled_from([1, 64, 200]), paired=st.booleans())
def test_counts_go_on_from_those_of_smaller_families(way, seed, rows, paired):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(family_counts, "WORD", {"bitmaps": 0.0, "both": 1.0}.get(way, np.inf))
        patch.setattr(family_counts, "MOST_BYTES", 0 if way == "rows" else 1 << 20)
        table = random_table(seed, columns=6, rows=rows)
        counts, rng = FamilyCounts(table), np.random.default_rng(seed)
        if paired:
            counts.pairs()
        for _ in range(4):
            child, *others = rng.permutation(6)[:5].tolist()
            for most in range(5):
                parents = tuple(sorted(others[:most]))
                n, start = counts.extended(child, parents).n, [*counts.start, int(counts.sizes.sum())]
                assert n.dtype == np.int32
                for v in set(range(6)) - {child, *parents}:
                    expected = slow_counts(table, v, (*parents, child)).reshape(-1, n.shape[1], start[v + 1] - start[v])
                    np.testing.assert_array_equal(n[:, :, start[v] : start[v + 1]], expected)


def test_weights_and_several_tables_are_counted_in_numbers_that_hold_them():
    table, weighted = random_table(1), random_table(1, weighted=True)
    assert (FamilyCounts(table) + FamilyCounts(table)).extended(0, ()).n.dtype == np.float64
    assert FamilyCounts(weighted).pairs().dtype == np.float64


def test_tables_of_other_columns_do_not_add():
    with pytest.raises(MismatchError, match="columns and states are the same"):
        FamilyCounts(random_table(1)) + FamilyCounts(random_table(1, columns=5))


@pytest.mark.parametrize(
    ("sample", "arcs", "score", "published"),
    [
        ("bnlearn-learning.test.csv", "[A][C][F][B|A][D|A:C][E|B:F]", "bic", -24006.7342),
        ("bnlearn-learning.test.csv", "[A][C][F][B|A][D|A:C][E|B:F]", "bdeu:1", -24028.0948),
    ],
)
def test_published_scores(shared_data, sample, arcs, score, published):
    cache = ScoreCache(FamilyCounts(as_table(shared_data / "samples" / sample)), StructureScore.parse(score))
    dag, names = DAG.parse(arcs), cache.counts.names
    total = sum(cache.family(names.index(x), tuple(sorted(names.index(p) for p in dag.parents(x)))) for x in names)
    assert total == pytest.approx(published, abs=1e-4)


def test_equivalent_structures_score_the_same():
    cache = ScoreCache(FamilyCounts(random_table(7)), StructureScore("bic"))
    for name in ("loglik", "aic", "bic", "bdeu"):
        cache = ScoreCache(cache.counts, StructureScore(name))
        for a, b in itertools.combinations(range(4), 2):
            one = cache.family(a, ()) + cache.family(b, (a,))
            assert one == pytest.approx(cache.family(b, ()) + cache.family(a, (b,)), rel=1e-11)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("bic", StructureScore("bic")), ("mdl", StructureScore("bic")), ("bdeu:10", StructureScore("bdeu", 10.0))],
)
def test_scores_by_name(text, expected):
    assert StructureScore.parse(text) == expected
    assert StructureScore.parse(expected) is expected


@pytest.mark.parametrize(
    ("text", "match"), [("luck", "criterion"), ("bdeu:many", "is no number"), ("bdeu:0", "equivalent_sample_size")]
)
def test_other_names_are_refused(text, match):
    with pytest.raises(ParameterError, match=match):
        StructureScore.parse(text)


def test_missing_cells_and_huge_families_are_refused():
    table = random_table(0)
    with pytest.raises(MissingValuesError, match="'v0' has missing cells"):
        FamilyCounts(table.mask(["v0"]))
    wide = Schema(DiscreteVariable(f"v{i}", range(100)) for i in range(5))
    counts = FamilyCounts(Table(wide, np.zeros((5, 3), int), np.empty((0, 3))))
    assert counts.extended(0, (1, 2, 3)) is None
    with pytest.raises(CapacityError, match="too many to count"):
        counts.family(0, (1, 2, 3, 4))
    assert (ScoreCache(counts, StructureScore("bic")).additions(0, (1, 2, 3)) == -np.inf).all()
