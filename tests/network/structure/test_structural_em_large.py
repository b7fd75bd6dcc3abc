"""Structural EM on many rows: a sample first, one draw of each row, and never past the deadline."""

from __future__ import annotations

import numpy as np
import pytest

from bayeslearn import fit_network, read_network
from bayeslearn.network.structure import search_settings as budget_module
from bayeslearn.network.structure.algorithms import find
from bayeslearn.network.structure.missing_data import incomplete_rows
from bayeslearn.network.structure.missing_data import structural_em as structural_em_module
from bayeslearn.network.structure.missing_data import structural_em_iterations as iterations_module
from bayeslearn.network.structure.missing_data.incomplete_rows import SINGLE, Completions, IncompleteTable, has_many
from bayeslearn.network.structure.missing_data.structural_em_iterations import IterationCost
from bayeslearn.network.structure.results import arcs_of
from bayeslearn.network.structure.scoring.criteria import ScoreCache, StructureScore
from bayeslearn.network.structure.scoring.family_counts import FamilyCounts
from bayeslearn.network.structure.search_settings import Budget, SearchSettings
from bayeslearn.network.structure.uncertainty import bootstrap
from bayeslearn.tables import Table
from tests.network.structure.incomplete import structural_em

ASIA = read_network("asia")


def with_holes(table, share, seed=0):
    rng = np.random.default_rng(seed)
    return Table(table.schema, np.where(rng.random(table.codes.shape) < share, -1, table.codes), table.values)


@pytest.fixture
def rows():
    return with_holes(ASIA.sample(4000, random_state=1), 0.08)


@pytest.fixture
def few_are_many(monkeypatch):
    """What is done with hundreds of thousands of rows is done with these."""
    monkeypatch.setattr(incomplete_rows, "MANY", 1000)
    monkeypatch.setattr(structural_em_module, "SAMPLE", 500)


class Clock:
    """Time that passes only when told to."""

    now = 0.0

    def monotonic(self):
        return self.now


### completions


def test_every_row_is_completed_once_and_keeps_what_it_shows(rows):
    found = Completions.one_each(rows, seed=3)
    full = found.under(ASIA)
    assert not found.exact
    assert full.sample_weight is None
    assert full.n_rows == rows.n_rows
    assert (full.codes >= 0).all()
    np.testing.assert_array_equal(full.codes[rows.codes >= 0], rows.codes[rows.codes >= 0])


def test_rows_are_many_by_their_completions(rows, monkeypatch):
    sizes = np.where(rows.codes < 0, 2, 1).prod(axis=0)
    total = int(np.minimum(sizes, 8).sum())
    for most, many in ((total, False), (total - 1, True)):
        monkeypatch.setattr(incomplete_rows, "MANY", most)
        assert has_many(rows, 8) is many


### structures


def test_many_rows_lead_where_all_completions_lead(rows, few_are_many, monkeypatch):
    near = structural_em(rows)
    monkeypatch.undo()
    exact = structural_em(rows)
    assert (near.exact, exact.exact) == (False, True)
    assert near.score >= exact.score - 1e-4 * abs(exact.score)
    assert near.dag.skeleton == exact.dag.skeleton


def test_more_rows_than_the_complete_ones_explain_others_better(few_are_many):
    rows = with_holes(ASIA.sample(3000, random_state=5), 0.2)
    fresh = with_holes(ASIA.sample(3000, random_state=6), 0.1)
    complete = rows.take(np.flatnonzero((rows.codes >= 0).all(axis=0)))
    ours, theirs = fit_network(rows, time_limit=60), fit_network(complete, algorithm="hill_climb")
    assert [note for note in ours.fit_info.notes if "draw" in note] == [SINGLE]
    assert ours.score(fresh).log_likelihood > theirs.score(fresh).log_likelihood


def test_gains_come_from_the_counts_of_the_tables(rows):
    for table in (rows, ASIA.sample(500, random_state=0)):
        fit = fit_network(table)
        assert fit.fit_info.arcs == arcs_of(fit, fit.fit_info.criterion, table.total_weight)
    cache = ScoreCache(FamilyCounts(table), StructureScore.parse("bic"))
    place = {name: i for i, name in enumerate(cache.counts.names)}
    for arc in fit.fit_info.arcs:
        parents = tuple(sorted(place[p] for p in fit.dag.parents(arc.child)))
        without = tuple(p for p in parents if p != place[arc.parent])
        gain = cache.family(place[arc.child], parents) - cache.family(place[arc.child], without)
        assert arc.gain == pytest.approx(gain, rel=1e-9)


### time


@pytest.mark.parametrize(("limit", "searches"), [(40.0, 0), (100.0, 1), (300.0, 3)])
def test_no_part_is_begun_that_would_end_after_the_deadline(rows, few_are_many, monkeypatch, limit, searches):
    clock, done = Clock(), []
    for module in (budget_module, iterations_module):
        monkeypatch.setattr(module, "time", clock)
    expected, step = IncompleteTable.expected, IterationCost.step

    def completing(self, network, score):
        clock.now += self.table.n_rows / 100  # 40 seconds for all rows, 5 for the sample
        done.append(self.table.n_rows)
        return expected(self, network, score)

    def iterating(self):
        clock.now += 0.5
        step(self)

    monkeypatch.setattr(IncompleteTable, "expected", completing)
    monkeypatch.setattr(IterationCost, "step", iterating)
    fit = structural_em(rows, budget=(budget := Budget(deadline=limit)))
    assert clock.now <= 1.1 * budget.deadline
    assert fit.dag.arcs  # those of the sample at least
    assert done.count(rows.n_rows) >= min(searches, 1)
    assert done.count(rows.n_rows) * 40 <= limit
    assert budget.stopped == (not fit.converged)


def test_parts_of_the_work_end_sooner_and_who_stops_one_stops_all(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(budget_module, "time", clock)
    asked = []

    def never(step):
        asked.append(step)
        raise StopIteration

    whole = Budget(deadline=10.0)
    part = whole.reserve(4.0)
    clock.now = 7.0
    assert (part.reached(), whole.reached(), part.left(), whole.left()) == (True, False, -1.0, 3.0)
    told = Budget(progress=never)
    part = told.reserve(4.0)
    assert not part.reached()
    assert part.over(0.0, 0, 0)
    assert told.reached()
    assert len(asked) == 1


### resamples


def test_resamples_are_searched_as_the_rows_were():
    table = read_network("alarm").sample(400, random_state=2).select(sorted(read_network("alarm").variables)[:12])
    cache = ScoreCache(FamilyCounts(table), StructureScore.parse("bic"))
    scores = {}
    for method in ("ges", "order_search"):
        scores[method] = cache.graph(find(SearchSettings(method), cache).arcs)
    seen = []

    def watched(settings, cache, start=None):
        found = find(settings, cache, start)
        seen.append((start is None, cache.graph(found.arcs)))
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bootstrap, "find", watched)
        bootstrap.strengths_of(SearchSettings("auto"), table, 2, completed=True)
    assert sorted(quick for quick, _ in seen) == [False, False, True, True]
    assert scores["order_search"] >= scores["ges"] - 1e-9 * abs(scores["ges"])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["alarm", "insurance"])
def test_strong_arcs_of_rows_with_few_holes_are_strong_in_resamples(shared_data, name):
    table = with_holes(read_network(shared_data / "networks" / f"{name}.bif").sample(3000, random_state=0), 0.02)
    auto, orders = fit_network(table, bootstrap=5), fit_network(table, algorithm="order_search")
    assert auto.fit_info.score >= orders.fit_info.score - 1e-6 * abs(orders.fit_info.score)
    assert min(arc.strength for arc in auto.fit_info.arcs if arc.gain > 200) >= 0.4
    assert any("searched by the better of ges and orders" in note for note in auto.fit_info.notes)
