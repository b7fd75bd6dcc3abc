"""Rows held out: the same split for the same seed, the means by hand, holes, weights, and too few rows."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bayeslearn import as_table, fit_network, fit_parameters, read_network
from bayeslearn.errors import ParameterError
from bayeslearn.network import BackgroundKnowledge, BayesianNetwork, holdout
from bayeslearn.network.dag import as_dag
from bayeslearn.network.holdout import evaluate_holdout, most_joined
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
    found = evaluate_holdout(fit_network(cases, algorithm="tabu"), test_size=0.3, random_state=4)
    dice = np.random.default_rng(4)
    order = dice.permutation(200)
    rest, part = cases.take(np.sort(order[:60])), cases.take(np.sort(order[60:]))
    scores = {m: fit_network(part, algorithm=m, target="either").score(rest) for m in ("tabu", "naive_bayes", "empty")}
    assert (found.n_rows, found.n_training_rows, found.center) == (60, 140, "either")
    assert found.log_likelihood == pytest.approx(scores["tabu"].mean, rel=1e-12)
    for other in ("naive_bayes", "empty"):
        d = scores["tabu"].per_row - scores[other].per_row
        beside = getattr(found, other)
        assert beside.log_likelihood == pytest.approx(scores[other].mean, rel=1e-12)
        assert beside.difference == pytest.approx(d.mean(), rel=1e-9)
        assert beside.standard_error == pytest.approx(d.std() / np.sqrt(60), rel=1e-9)


@pytest.mark.parametrize(
    "method", ["hill_climb", "tabu", "ges", "order_search", "exact", "k2", "pc", "chow_liu", "naive_bayes"]
)
def test_counts_of_the_others_are_a_difference(method):
    """What is known of all rows is not counted again, and gives the same network as counting the part does."""
    table = read_network("asia").sample(600, random_state=3)
    options = {"order": table.schema.names} if method == "k2" else {"target": "lung"} if method == "naive_bayes" else {}
    fit = fit_network(table, algorithm=method, **options)
    order = np.random.default_rng(0).permutation(600)
    rest, part = table.take(np.sort(order[:120])), table.take(np.sort(order[120:]))
    left, counted = fit.fit_info.counts.without(rest, part), FamilyCounts(part)
    names = range(len(table.schema.names))
    for child in names:
        others = [v for v in names if v != child]
        for parents in [(), *((v,) for v in others), (others[0], others[3]), tuple(others[:3])]:
            np.testing.assert_array_equal(left.family(child, parents), counted.family(child, parents))
            ours, theirs = left.extended(child, parents), counted.extended(child, parents)
            for v in set(others) - set(parents):
                at = slice(ours.start[v], ours.start[v] + left.sizes[v])
                np.testing.assert_array_equal(ours.n[..., at], theirs.n[..., at])
    again = fit_network(part, algorithm=method, **options, random_state=int(validation_seed(0, 600)))
    assert evaluate_holdout(fit).log_likelihood == pytest.approx(again.score(rest).mean, rel=1e-12)


def validation_seed(rng, rows):
    """The seed that the part is learned with."""
    dice = np.random.default_rng(rng)
    dice.permutation(rows)
    return dice.integers(1 << 62)


def test_weighted_rows_are_counted_again(cases):
    fit = fit_network(cases.with_weights(np.full(200, 0.3)), algorithm="hill_climb")
    part = fit.fit_info.table.take(range(150))
    left = fit.fit_info.counts.without(fit.fit_info.table.take(range(150, 200)), part)
    np.testing.assert_array_equal(left.family(0, (1,)), FamilyCounts(part).family(0, (1,)))


def test_it_is_learned_in_the_same_way_without_being_told(cases):
    fit = fit_network(cases, algorithm="naive_bayes", target="lung", prior="k2")
    assert evaluate_holdout(fit).naive_bayes.difference == 0.0
    assert evaluate_holdout(fit).center == "lung"
    sure = fit_network(cases, algorithm="hill_climb", bootstrap=7, average=True)
    assert (sure.fit_info.n_averaged, fit.fit_info.n_averaged) == (7, 0)
    assert math.isfinite(evaluate_holdout(sure).log_likelihood)


def test_structure_is_worth_something_where_there_is_some(cases):
    fit = fit_network(cases, algorithm="tabu")
    found = evaluate_holdout(fit)
    assert found.empty.difference > 2 * found.empty.standard_error > 0
    assert evaluate_holdout(fit) == found
    assert evaluate_holdout(fit, random_state=1) != found


def test_an_empty_network_is_not_ahead_of_itself(cases):
    found = evaluate_holdout(fit_network(cases, algorithm="empty", target="smoke"))
    assert (found.empty.difference, found.empty.standard_error, found.center) == (0.0, 0.0, "smoke")


def test_holes_and_hidden_variables(cases):
    few = with_holes(cases.select(["smoke", "bronc", "dysp"]).take(range(60)))
    fit = fit_network(few, algorithm="hill_climb", hidden={"H": 2})
    found = evaluate_holdout(fit)
    assert math.isfinite(found.log_likelihood)
    assert found.empty.difference > 0
    assert found.center != "H"


def test_missing_values_are_folded_once_for_all_networks(cases, monkeypatch):
    few = with_holes(cases.select(["smoke", "bronc", "dysp"]))
    fit = fit_network(few, algorithm="hill_climb")
    order = np.random.default_rng(0).permutation(200)
    rest, part = few.take(np.sort(order[:40])), few.take(np.sort(order[40:]))
    frame = uniform(as_dag("[smoke][bronc][dysp]"), {v.name: v for v in part.schema})
    empty = fit_parameters(frame, part, tol=1e-9)
    folded, fitted, distinct, fit_cases = [], [], Table.distinct, incomplete_rows.fit_cases
    monkeypatch.setattr(Table, "distinct", lambda self: folded.append(self.n_rows) or distinct(self))
    monkeypatch.setattr(
        incomplete_rows, "fit_cases", lambda frame, *a, **k: fitted.append(frame.dag) or fit_cases(frame, *a, **k)
    )
    found = evaluate_holdout(fit)
    assert folded.count(160) == 1
    assert sum(not dag.arcs for dag in fitted) == 1  # where the search begins
    assert found.empty.log_likelihood == pytest.approx(empty.score(rest).mean, rel=1e-6)


def test_columns_that_no_row_of_the_part_shows_are_dropped(cases):
    seldom = cases.codes.copy()
    at = cases.schema.names.index("xray")
    rest = np.random.default_rng(0).permutation(200)[:40]
    seldom[at, np.setdiff1d(np.arange(200), rest[:5])] = -1
    fit = fit_network(Table(cases.schema, seldom, cases.values), algorithm="chow_liu")
    assert math.isfinite(evaluate_holdout(fit).log_likelihood)


def test_knowledge_is_for_the_learned_structure_alone(cases):
    known = BackgroundKnowledge(required=[("asia", "smoke")], roots=["asia"])
    found = evaluate_holdout(fit_network(cases, algorithm="hill_climb", knowledge=known))
    assert math.isfinite(found.naive_bayes.difference)


def test_rows_without_weight_say_nothing(cases):
    weights = np.ones(200)
    weights[:100] = 0
    fit = fit_network(cases.with_weights(weights), algorithm="hill_climb")
    found = evaluate_holdout(fit)
    order = np.random.default_rng(0).permutation(200)
    rest, part = (cases.take(np.sort(rows[rows >= 100])) for rows in (order[:40], order[40:]))
    alone = fit_network(part, algorithm="empty").score(rest)
    assert found.empty.log_likelihood == pytest.approx(alone.mean, rel=1e-9)


def test_cuts_are_those_of_all_rows():
    x = np.random.default_rng(0).normal(size=100)
    fit = fit_network({"x": x, "y": np.where(x > 0, "a", "b")})
    assert evaluate_holdout(fit).empty.difference > 0


def test_an_impossible_row_has_no_mean():
    rows = {"x": ["a"] * 58 + ["b", "c"], "y": list("pq") * 30}
    fit = fit_network(rows, algorithm="empty", prior="none")
    found = next(f for seed in range(9) if 58 in held_rows(seed) and (f := evaluate_holdout(fit, random_state=seed)))
    assert found.log_likelihood == found.empty.log_likelihood == -math.inf
    assert math.isnan(found.empty.difference)


def held_rows(seed):
    return np.random.default_rng(seed).permutation(60)[:12]


def test_too_few_rows_are_not_split(cases):
    few = fit_network(cases.take(range(40)), algorithm="hill_climb")
    assert evaluate_holdout(few) is None
    assert evaluate_holdout(few, test_size=0.3) is not None


@pytest.mark.parametrize("share", [0, 1, -0.1, float("nan")])
def test_the_share_lies_between(cases, share):
    with pytest.raises(ParameterError, match="`test_size` must be"):
        evaluate_holdout(fit_network(cases, algorithm="empty"), test_size=share)


def test_the_most_joined_variable():
    rows = as_table({"b": list("xy") * 30, "a": list("xy") * 30})
    assert most_joined(fit_network(rows, algorithm="empty").dag, rows.schema.names) == "a"
    fit = fit_network(rows, algorithm="naive_bayes", target="b")
    assert most_joined(fit.dag, rows.schema.names) == "a"  # one arc each


def test_a_limit_of_time_is_that_of_all_that_is_done(cases, monkeypatch):
    class Clock:
        now = 0.0

        def monotonic(self):
            return self.now

    clock, given = Clock(), []
    network, plain, fit_part = fit_network(cases, algorithm="tabu"), holdout.baseline, holdout.fit_prepared
    score = BayesianNetwork.log_likelihood

    def baseline(*asked):
        clock.now += 10.0
        return plain(*asked)

    def log_likelihood(*asked):
        clock.now += 0.5
        return score(*asked)

    def fitting(settings, *rows, **options):
        given.append(settings.budget.left())
        return fit_part(settings, *rows, **options)

    for module in (search_settings, holdout):
        monkeypatch.setattr(module, "time", clock)
    monkeypatch.setattr(holdout, "baseline", baseline)
    monkeypatch.setattr(holdout, "fit_prepared", fitting)
    monkeypatch.setattr(BayesianNetwork, "log_likelihood", log_likelihood)
    assert evaluate_holdout(network, time_limit=60.0).log_likelihood < 0
    assert given == [60 - 2 * 10.5 - 0.5 - holdout.PROBE * 0.5]  # baselines, probe, scoring to come
