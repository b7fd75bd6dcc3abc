"""Rows held out: the same split for the same seed, the means by hand, holes, weights, and too few rows."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bayeslearn import as_table, fit_network, fit_parameters, read_network
from bayeslearn.errors import ParameterError
from bayeslearn.network import BackgroundKnowledge, evaluation
from bayeslearn.network.dag import as_dag
from bayeslearn.network.evaluation import held_out, most_joined
from bayeslearn.network.parameters.fit import uniform
from bayeslearn.network.structure import search_settings
from bayeslearn.network.structure.missing_data import incomplete_rows
from bayeslearn.network.structure.scoring.family_counts import FamilyCounts
from bayeslearn.tables import Table


@pytest.fixture(scope="module")
def cases():
    return read_network("asia").sample(200, random_state=1)


def with_holes(table, share=0.1):
    codes = np.where(np.random.default_rng(0).random(table.codes.shape) < share, -1, table.codes)
    return Table(table.schema, codes, table.values, table.sample_weight)


def test_it_is_what_learning_from_the_others_gives(cases):
    found = held_out(fit_network(cases, method="tabu"), share=0.3, random_state=4)
    dice = np.random.default_rng(4)
    order = dice.permutation(200)
    rest, part = cases.take(np.sort(order[:60])), cases.take(np.sort(order[60:]))
    scores = {m: fit_network(part, method=m, target="either").network.score(rest) for m in ("tabu", "naive", "empty")}
    assert (found.rows, found.learned_from, found.center) == (60, 140, "either")
    assert found.log_likelihood == pytest.approx(scores["tabu"].mean, rel=1e-12)
    for other in ("naive", "empty"):
        d = scores["tabu"].cases - scores[other].cases
        beside = getattr(found, other)
        assert beside.log_likelihood == pytest.approx(scores[other].mean, rel=1e-12)
        assert beside.ahead == pytest.approx(d.mean(), rel=1e-9)
        assert beside.error == pytest.approx(d.std() / np.sqrt(60), rel=1e-9)


@pytest.mark.parametrize("method", ["hill-climb", "tabu", "ges", "orders", "exact", "k2", "pc", "tree", "naive"])
def test_counts_of_the_others_are_a_difference(method):
    """What is known of all rows is not counted again, and gives the same network as counting the part does."""
    table = read_network("asia").sample(600, random_state=3)
    options = {"order": table.schema.names} if method == "k2" else {"target": "lung"} if method == "naive" else {}
    fit = fit_network(table, method=method, **options)
    order = np.random.default_rng(0).permutation(600)
    rest, part = table.take(np.sort(order[:120])), table.take(np.sort(order[120:]))
    left, counted = fit.counts.without(rest, part), FamilyCounts(part)
    names = range(len(table.schema.names))
    for child in names:
        others = [v for v in names if v != child]
        for parents in [(), *((v,) for v in others), (others[0], others[3]), tuple(others[:3])]:
            np.testing.assert_array_equal(left.family(child, parents), counted.family(child, parents))
            ours, theirs = left.extended(child, parents), counted.extended(child, parents)
            for v in set(others) - set(parents):
                at = slice(ours.start[v], ours.start[v] + left.sizes[v])
                np.testing.assert_array_equal(ours.n[..., at], theirs.n[..., at])
    again = fit_network(part, method=method, **options, random_state=int(validation_seed(0, 600)))
    assert held_out(fit).log_likelihood == pytest.approx(again.network.score(rest).mean, rel=1e-12)


def validation_seed(rng, rows):
    """The seed that the part is learned with."""
    dice = np.random.default_rng(rng)
    dice.permutation(rows)
    return dice.integers(1 << 62)


def test_weighted_rows_are_counted_again(cases):
    fit = fit_network(cases.with_weights(np.full(200, 0.3)), method="hill-climb")
    part = fit.table.take(range(150))
    left = fit.counts.without(fit.table.take(range(150, 200)), part)
    np.testing.assert_array_equal(left.family(0, (1,)), FamilyCounts(part).family(0, (1,)))


def test_it_is_learned_in_the_same_way_without_being_told(cases):
    fit = fit_network(cases, method="naive", target="lung", prior="k2")
    assert held_out(fit).naive.ahead == 0.0
    assert held_out(fit).center == "lung"
    sure = fit_network(cases, method="hill-climb", bootstrap=7, average=True)
    assert (sure.averaged, fit.averaged) == (7, 0)
    assert math.isfinite(held_out(sure).log_likelihood)


def test_structure_is_worth_something_where_there_is_some(cases):
    fit = fit_network(cases, method="tabu")
    found = held_out(fit)
    assert found.empty.ahead > 2 * found.empty.error > 0
    assert held_out(fit) == found
    assert held_out(fit, random_state=1) != found


def test_an_empty_network_is_not_ahead_of_itself(cases):
    found = held_out(fit_network(cases, method="empty", target="smoke"))
    assert (found.empty.ahead, found.empty.error, found.center) == (0.0, 0.0, "smoke")


def test_holes_and_hidden_variables(cases):
    few = with_holes(cases.select(["smoke", "bronc", "dysp"]).take(range(60)))
    fit = fit_network(few, method="hill-climb", hidden={"H": 2})
    found = held_out(fit)
    assert math.isfinite(found.log_likelihood)
    assert found.empty.ahead > 0
    assert found.center != "H"


def test_missing_values_are_folded_once_for_all_networks(cases, monkeypatch):
    few = with_holes(cases.select(["smoke", "bronc", "dysp"]))
    fit = fit_network(few, method="hill-climb")
    order = np.random.default_rng(0).permutation(200)
    rest, part = few.take(np.sort(order[:40])), few.take(np.sort(order[40:]))
    frame = uniform(as_dag("[smoke][bronc][dysp]"), {v.name: v for v in part.schema})
    empty = fit_parameters(frame, part, tol=1e-9).network
    folded, fitted, distinct, fit_cases = [], [], Table.distinct, incomplete_rows.fit_cases
    monkeypatch.setattr(Table, "distinct", lambda self: folded.append(self.n_rows) or distinct(self))
    monkeypatch.setattr(
        incomplete_rows, "fit_cases", lambda frame, *a, **k: fitted.append(frame.dag) or fit_cases(frame, *a, **k)
    )
    found = held_out(fit)
    assert folded.count(160) == 1
    assert sum(not dag.arcs for dag in fitted) == 1  # where the search begins
    assert found.empty.log_likelihood == pytest.approx(empty.score(rest).mean, rel=1e-6)


def test_columns_that_no_row_of_the_part_shows_are_dropped(cases):
    seldom = cases.codes.copy()
    at = cases.schema.names.index("xray")
    rest = np.random.default_rng(0).permutation(200)[:40]
    seldom[at, np.setdiff1d(np.arange(200), rest[:5])] = -1
    fit = fit_network(Table(cases.schema, seldom, cases.values), method="tree")
    assert math.isfinite(held_out(fit).log_likelihood)


def test_knowledge_is_for_the_learned_structure_alone(cases):
    known = BackgroundKnowledge(required=[("asia", "smoke")], roots=["asia"])
    found = held_out(fit_network(cases, method="hill-climb", knowledge=known))
    assert math.isfinite(found.naive.ahead)


def test_rows_without_weight_say_nothing(cases):
    weights = np.ones(200)
    weights[:100] = 0
    fit = fit_network(cases.with_weights(weights), method="hill-climb")
    found = held_out(fit)
    order = np.random.default_rng(0).permutation(200)
    rest, part = (cases.take(np.sort(rows[rows >= 100])) for rows in (order[:40], order[40:]))
    alone = fit_network(part, method="empty").network.score(rest)
    assert found.empty.log_likelihood == pytest.approx(alone.mean, rel=1e-9)


def test_cuts_are_those_of_all_rows():
    x = np.random.default_rng(0).normal(size=100)
    fit = fit_network({"x": x, "y": np.where(x > 0, "a", "b")})
    assert held_out(fit).empty.ahead > 0


def test_an_impossible_row_has_no_mean():
    rows = {"x": ["a"] * 58 + ["b", "c"], "y": list("pq") * 30}
    fit = fit_network(rows, method="empty", prior="none")
    found = next(f for seed in range(9) if 58 in held_rows(seed) and (f := held_out(fit, random_state=seed)))
    assert found.log_likelihood == found.empty.log_likelihood == -math.inf
    assert math.isnan(found.empty.ahead)


def held_rows(seed):
    return np.random.default_rng(seed).permutation(60)[:12]


def test_too_few_rows_are_not_split(cases):
    few = fit_network(cases.take(range(40)), method="hill-climb")
    assert held_out(few) is None
    assert held_out(few, share=0.3) is not None


@pytest.mark.parametrize("share", [0, 1, -0.1, float("nan")])
def test_the_share_lies_between(cases, share):
    with pytest.raises(ParameterError, match="`share` must be"):
        held_out(fit_network(cases, method="empty"), share=share)


def test_the_most_joined_variable():
    rows = as_table({"b": list("xy") * 30, "a": list("xy") * 30})
    assert most_joined(fit_network(rows, method="empty")) == "a"
    assert most_joined(fit_network(rows, method="naive", target="b")) == "a"  # one arc each


def test_a_limit_of_time_is_that_of_all_that_is_done(cases, monkeypatch):
    class Clock:
        now = 0.0

        def monotonic(self):
            return self.now

    clock, given = Clock(), []
    fit, plain, score, learned = (
        fit_network(cases, method="tabu"),
        evaluation._tables,
        evaluation._cases,
        evaluation.learn_prepared,
    )

    def tables(*asked):
        clock.now += 10.0
        return plain(*asked)

    def scored(*asked):
        clock.now += 0.5
        return score(*asked)

    def learning(settings, *rows, **options):
        given.append(settings.budget.left())
        return learned(settings, *rows, **options)

    for module in (search_settings, evaluation):
        monkeypatch.setattr(module, "time", clock)
    for name, slow in (("_tables", tables), ("_cases", scored), ("learn_prepared", learning)):
        monkeypatch.setattr(evaluation, name, slow)
    assert held_out(fit, time_limit=60.0).log_likelihood < 0
    assert given == [60 - 2 * 10.5 - 0.5 - evaluation.PROBE * 0.5]  # plain networks, probe, scoring to come
