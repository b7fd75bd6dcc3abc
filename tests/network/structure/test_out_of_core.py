"""Structures of sources: what is found by passes is what is found in memory."""

from __future__ import annotations

from types import SimpleNamespace

import cloudpickle
import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from bayeslearn import as_table, fit_network, fit_parameters, read_network, scan
from bayeslearn.errors import CapacityError, ConvergenceWarning, ParameterError
from bayeslearn.network import BackgroundKnowledge, BayesianNetwork, sample_structure_posterior, shd
from bayeslearn.network.dag import as_dag
from bayeslearn.network.holdout import evaluate_holdout
from bayeslearn.network.parameters.fit import uniform
from bayeslearn.network.structure import search_settings
from bayeslearn.network.structure.missing_data import incomplete_rows
from bayeslearn.network.structure.missing_data.incomplete_rows import Complete
from bayeslearn.network.structure.out_of_core import source_counts
from bayeslearn.network.structure.out_of_core.deferred_scores import GUESSED, DeferredScores
from bayeslearn.network.structure.out_of_core.source_counts import Count
from bayeslearn.network.structure.preprocessing import prepare
from bayeslearn.network.structure.search_settings import DRAWS
from bayeslearn.sources import usability
from tests.network.structure.incomplete import rows_of, structural_em

ASIA = read_network("asia")

#: What every method is told.
TOLD = {
    "k2": {"order": ASIA.dag.nodes, "criterion": "k2"},
    "optimal_given_order": {"order": ASIA.dag.nodes},
    "weak_parents_given_order": {"order": ASIA.dag.nodes},
    "tan": {"target": "lung"},
    "naive_bayes": {"target": "lung"},
    "tabu": {"knowledge": BackgroundKnowledge(required=[("smoke", "bronc")], max_parents=2), "n_restarts": 1},
    "hill_climb": {"criterion": "bdeu:10"},
}


@pytest.fixture(scope="module")
def cases():
    weights = np.random.default_rng(0).integers(1, 4, 3000) / 2
    return read_again(ASIA.sample(3000, random_state=3).with_weights(weights))


def read_again(table):
    """The states in the order in which a reader finds them."""
    return as_table(columns(table), sample_weight=None if table.sample_weight is None else "n")


def columns(table, **more):
    return table.to_dict() | ({} if table.sample_weight is None else {"n": table.sample_weight.tolist()}) | more


def in_batches(table, n=700, **options):
    weights = None if table.sample_weight is None else "n"
    return scan([columns(part) for part in table.batches(n)], sample_weight=weights, **options)


@pytest.fixture
def far(monkeypatch):
    """Different rows are never few, and guesses are bad: passes must bring everything."""
    monkeypatch.setattr(source_counts, "ROWS", 1 << 60)
    monkeypatch.setattr(source_counts, "SOME_ROWS", 60)


def folds(source, monkeypatch):
    count, fold = [], type(source).fold
    monkeypatch.setattr(type(source), "fold", lambda self, collect: (count.append(1), fold(self, collect))[1])
    return count


def assert_same(fit, expected, rtol=1e-10):
    assert fit.dag == expected.dag
    one, other = fit.fit_info, expected.fit_info
    assert one.score == pytest.approx(other.score, rel=rtol)
    assert [(a.parent, a.child) for a in one.arcs] == [(a.parent, a.child) for a in other.arcs]
    np.testing.assert_allclose([a.gain for a in one.arcs], [a.gain for a in other.arcs], rtol=1e-7)
    for cpt in expected:
        np.testing.assert_allclose(fit[cpt.name].probabilities, cpt.probabilities, rtol=rtol)
    assert one.notes == other.notes


METHODS = [
    "hill_climb",
    "tabu",
    "order_search",
    "ges",
    "exact",
    "k2",
    "optimal_given_order",
    "weak_parents_given_order",
    "pc",
    "mmhc",
    "chow_liu",
    "tan",
    "naive_bayes",
]


@pytest.mark.thorough
@pytest.mark.parametrize("method", METHODS)
def test_every_method_finds_the_same(cases, far, method):
    told = TOLD.get(method, {})
    fit = fit_network(in_batches(cases), algorithm=method, **told)
    assert fit.fit_info.prepared_data.rows is None
    assert_same(fit, fit_network(cases, algorithm=method, **told))


def test_few_different_rows_need_one_pass(cases, monkeypatch):
    source = in_batches(cases)
    count = folds(source, monkeypatch)
    fit = fit_network(source, algorithm="order_search")
    assert len(count) == 1
    assert_same(fit, fit_network(cases, algorithm="order_search"))


def test_a_climb_needs_few_passes(far, monkeypatch):
    table = read_again(read_network("alarm").sample(4000, random_state=1))
    monkeypatch.setattr(source_counts, "SOME_ROWS", 1000)
    source = in_batches(table, 1500)
    count = folds(source, monkeypatch)
    fit = fit_network(source, algorithm="hill_climb", knowledge=BackgroundKnowledge(max_parents=3))
    assert_same(fit, fit_network(table, algorithm="hill_climb", knowledge=BackgroundKnowledge(max_parents=3)))
    assert len(fit.fit_info.arcs) > 40
    assert len(count) <= 8


def test_files_whose_states_come_in_another_order(cases, far, tmp_path):
    for i, part in enumerate(cases.batches(800)):
        written = pa.table(columns(part))
        for name in ASIA.dag.nodes:
            written = written.set_column(written.schema.get_field_index(name), name, written[name].dictionary_encode())
        parquet.write_table(written.slice(i), tmp_path / f"{i}.parquet", row_group_size=300)
    source = scan(tmp_path / "*.parquet", sample_weight="n")
    assert_same(fit_network(source, algorithm="hill_climb"), fit_network(source.table(), algorithm="hill_climb"))


@pytest.mark.parametrize("method", ["hill_climb", "chow_liu"])
def test_holes(cases, method):
    shown = with_holes(cases)
    fit, expected = fit_network(in_batches(shown), algorithm=method), fit_network(shown, algorithm=method)
    assert fit.fit_info.prepared_data.rows is not None
    assert fit.fit_info.n_passes == 1
    assert fit.fit_info.missing == expected.fit_info.missing
    assert fit.dag == expected.dag
    assert fit.fit_info.score == pytest.approx(expected.fit_info.score, rel=1e-9)


HOLES = ["hill_climb", "auto", "order_search", "pc", "mmhc", "chow_liu", "tan", "naive_bayes", "empty"]


def with_holes(table, share=0.05, seed=1):
    hidden = np.random.default_rng(seed).random(table.codes.shape) < share
    return type(table)(table.schema, np.where(hidden, -1, table.codes), table.values, table.sample_weight)


def assert_same_with_holes(fit, expected):
    assert fit.fit_info.prepared_data.rows is None
    assert fit.fit_info.structural_em.exact
    assert fit.fit_info.structural_em.converged
    assert [(t.arcs, t.changed) for t in fit.fit_info.structural_em.history] == [
        (t.arcs, t.changed) for t in expected.fit_info.structural_em.history
    ]
    assert_same(fit, expected, rtol=1e-9)


@pytest.mark.thorough
@pytest.mark.parametrize("method", HOLES)
def test_every_method_finds_the_same_with_holes(cases, far, method):
    shown, told = with_holes(cases), TOLD.get(method, {})
    assert_same_with_holes(
        fit_network(in_batches(shown), algorithm=method, **told), fit_network(shown, algorithm=method, **told)
    )


def test_any_search_on_holes_takes_a_source(cases):
    shown = with_holes(cases)
    found, expected = structural_em(in_batches(shown)), structural_em(shown)
    assert found.passes > 2
    assert found.dag == expected.dag
    assert found.score == pytest.approx(expected.score, rel=1e-9)


def test_holes_need_few_passes(cases, far, monkeypatch):
    shown = with_holes(cases, 0.1)
    monkeypatch.setattr(source_counts, "SOME_ROWS", 1000)
    source = in_batches(shown)
    count = folds(source, monkeypatch)
    fit = fit_network(source, algorithm="hill_climb")
    assert fit.fit_info.n_passes == len(count)
    assert len(count) <= 4 * len(fit.fit_info.structural_em.history)


def test_a_graph_is_fitted_twice_by_one_pass(cases, far, monkeypatch):
    shown = with_holes(cases, 0.1)
    source = in_batches(shown)
    rows = rows_of(source).coded(shown.schema)
    frames = [
        uniform(as_dag(graph), {v.name: v for v in shown.schema})
        for graph in (ASIA.dag, dict.fromkeys(ASIA.variables, ()))
    ]
    count = folds(source, monkeypatch)
    for frame in (*frames, *frames):
        found = rows.fit(frame, prior="bdeu:1", hidden=(), tol=1e-6)
        expected = fit_parameters(frame, shown, prior="bdeu:1", tol=1e-6)
        assert found.fit_info.log_likelihood == pytest.approx(expected.fit_info.log_likelihood, rel=1e-12)
        assert found.fit_info.missing == expected.fit_info.missing
    assert rows.passes == len(count) == 2


def test_a_hidden_variable_of_very_many_rows(far, monkeypatch):
    arcs, dice = [("h", x) for x in "abcd"], np.random.default_rng(3)
    tables = {"h": [0.5, 0.5]} | {x: dice.dirichlet(np.full(3, 0.5), size=2) for x in "abcd"}
    truth = BayesianNetwork.from_tables(arcs, tables, states={"h": list("uv")} | dict.fromkeys("abcd", range(3)))
    table = read_again(truth.sample(1000, random_state=0).drop(["h"]))
    source = in_batches(table, 300)
    count = folds(source, monkeypatch)
    fit = fit_network(source, hidden={"h": 2})
    assert fit.fit_info.n_passes == len(count)
    assert fit.fit_info.structural_em.hidden_gain > 10
    assert_same_with_holes(fit, fit_network(table, hidden={"h": 2}))


def test_rows_of_very_many_completions_stand_for_draws(cases, far, monkeypatch):
    monkeypatch.setattr(incomplete_rows, "MOST", 4)
    shown = with_holes(cases, 0.1)
    fit, again = (fit_network(in_batches(shown), algorithm="hill_climb") for _ in range(2))
    assert any("random completions" in note for note in fit.fit_info.notes)
    assert_same(fit, again)
    expected = fit_network(shown, algorithm="hill_climb")
    assert shd(fit.dag.cpdag(), expected.dag.cpdag()) <= 2
    assert fit.fit_info.score == pytest.approx(expected.fit_info.score, rel=1e-3)


def test_what_completes_travels(cases):
    shown = with_holes(cases)
    count = Count((("family", (0, 1)), ("block", (2,)), ("rows", (1, 3))), 1 << 20, Complete(fit_network(shown)))
    here, there = count(shown), cloudpickle.loads(cloudpickle.dumps(count))(shown)
    for one, other in zip(here.parts[:2], there.parts[:2], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)
    assert here.parts[0].sum() == pytest.approx(shown.total_weight)
    assert here.parts[2].table.total_weight == pytest.approx(shown.total_weight)


def test_kept_rows_leave_room_for_their_completions(cases):
    shown = with_holes(cases, 0.2)
    room = source_counts.ROWS * source_counts.room_of(shown.distinct())
    assert prepare(in_batches(cases, 3000), memory=room).rows is not None
    assert prepare(in_batches(shown, 3000), memory=room).rows is None
    assert prepare(in_batches(shown, 3000), memory=DRAWS * room).rows is not None


def test_a_search_on_holes_that_is_ended_says_so(cases, far):
    shown = with_holes(cases)
    with pytest.warns(ConvergenceWarning, match="before it found an arc"):
        late = fit_network(in_batches(shown), algorithm="hill_climb", time_limit=0)
    assert late.fit_info.stopped_early
    assert not late.fit_info.structural_em.converged
    assert late.dag.arcs == ()

    def stop(now):
        if now.detail.arcs > 2:
            raise StopIteration

    fit = fit_network(in_batches(shown), algorithm="hill_climb", progress=stop)
    assert fit.fit_info.stopped_early
    assert GUESSED in fit.fit_info.notes
    assert len(fit.fit_info.arcs) == 3
    assert fit.fit_info.score > late.fit_info.score


@pytest.mark.parametrize("share", [0.0, 0.05])
def test_time_that_runs_out_during_a_pass_ends_with_what_was_guessed(cases, far, monkeypatch, share):
    monkeypatch.setattr(source_counts, "SOME_ROWS", 1000)
    ask, shown = DeferredScores._ask, with_holes(cases, share)

    def slowly(self):
        ask(self)
        monkeypatch.setattr(search_settings, "time", SimpleNamespace(monotonic=lambda: np.inf))

    monkeypatch.setattr(DeferredScores, "_ask", slowly)
    fit = fit_network(in_batches(shown), algorithm="hill_climb", time_limit=1e6)
    assert fit.fit_info.stopped_early
    assert GUESSED in fit.fit_info.notes
    assert fit.fit_info.structural_em is None or not fit.fit_info.structural_em.converged
    assert shd(fit.dag.cpdag(), fit_network(shown, algorithm="hill_climb").dag.cpdag()) <= 6


def test_resamples_of_very_many_rows_are_refused(cases, far):
    with pytest.raises(CapacityError, match="resamples"):
        fit_network(in_batches(cases), algorithm="naive_bayes", target="lung", bootstrap=3)


def test_resamples(cases):
    fit = fit_network(in_batches(cases), algorithm="hill_climb", bootstrap=5)
    assert fit.fit_info.strengths.n_samples == 5
    assert all(0 < arc.strength <= 1 for arc in fit.fit_info.arcs[:3])


def test_posterior(cases, far):
    said = {"n_samples": 60, "n_chains": 2, "random_state": 1}
    found, expected = sample_structure_posterior(in_batches(cases), **said), sample_structure_posterior(cases, **said)
    np.testing.assert_allclose(found.arcs, expected.arcs, atol=1e-8)


@pytest.mark.thorough
def test_many_states_are_counted_by_parts(cases, far):
    fit = fit_network(in_batches(cases), algorithm="optimal_given_order", order=ASIA.dag.nodes, memory_limit=40_000)
    assert_same(fit, fit_network(cases, algorithm="optimal_given_order", order=ASIA.dag.nodes))


def test_a_search_that_is_ended_says_so(cases, far):
    with pytest.warns(ConvergenceWarning, match="before it found an arc"):
        fit = fit_network(in_batches(cases), algorithm="hill_climb", time_limit=0)
    assert fit.fit_info.stopped_early
    assert set(fit.variables) == set(cases.schema.names)

    def stop(now):
        if now.detail.arcs > 2:
            raise StopIteration

    fit = fit_network(in_batches(cases), algorithm="hill_climb", progress=stop)
    assert fit.fit_info.stopped_early
    assert GUESSED in fit.fit_info.notes
    assert fit.fit_info.score == pytest.approx(sum(cpt_score(cases, fit)), rel=1e-10)


def cpt_score(cases, fit):
    again = fit_network(cases, algorithm="empty", knowledge=BackgroundKnowledge(required=fit.dag.arcs))
    yield again.fit_info.score


### columns


def messy(n=90):
    dice = np.random.default_rng(5)
    return {
        "id": list(range(7, n + 7)),
        "word": [f"w{i}" for i in range(n)],
        "x": dice.normal(size=n).tolist(),
        "y": [None if i % 9 == 0 else float(v) for i, v in enumerate(dice.normal(size=n))],
        "up": ["no", "yes", "no"] * (n // 3),
        "down": ["in", "out", "in"] * (n // 3),
        "other": dice.choice(["a", "b"], size=n).tolist(),
    }


@pytest.mark.parametrize("rows", [8, 1 << 60])
def test_columns_are_prepared_as_those_of_a_table(monkeypatch, rows):
    monkeypatch.setattr(source_counts, "ROWS", rows)
    data, n = messy(), 90
    expected = prepare(data)
    found = prepare(scan([{k: v[i : i + 25] for k, v in data.items()} for i in range(0, n, 25)]))
    assert found.dropped_columns == expected.dropped_columns
    assert found.notes == expected.notes
    assert found.table.schema == expected.table.schema
    assert found.cuts == expected.cuts


@pytest.mark.parametrize("values", [[1, 2, 3, 4], [-3, -2, -1, 0, 1], [4, 3, 5, 6, 2]])
def test_sums_of_consecutive_numbers(values):
    assert usability.power_sums(np.array(values, float)) == usability.consecutive(min(values), len(values))


@pytest.mark.parametrize("values", [[1, 2, 2, 4], [1, 1, 4, 4], [0.5, 1.5, 2.5], [1, 2, 3, 1e300]])
def test_sums_of_others(values):
    assert usability.power_sums(np.array(values, float)) != usability.consecutive(int(min(values)), len(values))


def test_what_needs_tables_says_so(cases):
    fit = fit_network(in_batches(cases), algorithm="naive_bayes", target="lung")
    with pytest.raises(ParameterError, match="warm_start"):
        fit_network(cases, warm_start=fit)
    with pytest.raises(ParameterError, match="held out of a table"):
        evaluate_holdout(fit)
    shown = as_table({"a": ["x", "y", None, "x"] * 20, "b": ["u", "v", "u", "u"] * 20})
    with pytest.raises(ParameterError, match="not resampled where values are missing"):
        fit_network(in_batches(shown, 30), bootstrap=2)
