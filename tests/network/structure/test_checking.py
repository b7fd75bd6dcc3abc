"""Rows held out: the same split for the same seed, the means by hand, holes, weights, and too few rows."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bayeslearn import as_table, learn, read_network
from bayeslearn.errors import ParameterError
from bayeslearn.network import Knowledge, draw
from bayeslearn.network.structure import limits
from bayeslearn.network.structure.doubt import checking
from bayeslearn.network.structure.doubt.checking import held_out, most_joined
from bayeslearn.tables import Table


@pytest.fixture(scope="module")
def cases():
    return draw(read_network("asia"), 200, rng=1)


def with_holes(table, share=0.1):
    codes = np.where(np.random.default_rng(0).random(table.codes.shape) < share, -1, table.codes)
    return Table(table.schema, codes, table.values, table.weights)


def test_it_is_what_learning_from_the_others_gives(cases):
    found = held_out(learn(cases, method="tabu"), share=0.3, rng=4, method="tabu")
    dice = np.random.default_rng(4)
    order = dice.permutation(200)
    rest, part = cases.take(np.sort(order[:60])), cases.take(np.sort(order[60:]))
    scores = {m: learn(part, method=m, target="either").network.score(rest) for m in ("tabu", "naive", "empty")}
    assert (found.rows, found.learned_from, found.centre) == (60, 140, "either")
    assert found.log_likelihood == pytest.approx(scores["tabu"].mean, rel=1e-12)
    for other in ("naive", "empty"):
        d = scores["tabu"].cases - scores[other].cases
        beside = getattr(found, other)
        assert beside.log_likelihood == pytest.approx(scores[other].mean, rel=1e-12)
        assert beside.ahead == pytest.approx(d.mean(), rel=1e-9)
        assert beside.error == pytest.approx(d.std() / np.sqrt(60), rel=1e-9)


def test_structure_is_worth_something_where_there_is_some(cases):
    fit = learn(cases, method="tabu")
    found = held_out(fit, method="tabu")
    assert found.empty.ahead > 2 * found.empty.error > 0
    assert held_out(fit, method="tabu") == found
    assert held_out(fit, method="tabu", rng=1) != found


def test_an_empty_network_is_not_ahead_of_itself(cases):
    found = held_out(learn(cases, method="empty"), method="empty", target="smoke")
    assert (found.empty.ahead, found.empty.error, found.centre) == (0.0, 0.0, "smoke")


def test_holes_and_hidden_variables(cases):
    few = with_holes(cases.select(["smoke", "bronc", "dysp"]).take(range(60)))
    fit = learn(few, method="hill-climb", hidden={"H": 2})
    found = held_out(fit, method="hill-climb", hidden={"H": 2})
    assert math.isfinite(found.log_likelihood)
    assert found.empty.ahead > 0
    assert found.centre != "H"


def test_knowledge_is_for_the_learned_structure_alone(cases):
    known = Knowledge(required=[("asia", "smoke")], roots=["asia"])
    found = held_out(learn(cases, method="hill-climb", knowledge=known), method="hill-climb", knowledge=known)
    assert math.isfinite(found.naive.ahead)


def test_rows_without_weight_say_nothing(cases):
    weights = np.ones(200)
    weights[:100] = 0
    fit = learn(cases.with_weights(weights), method="hill-climb")
    found = held_out(fit, method="hill-climb")
    order = np.random.default_rng(0).permutation(200)
    rest, part = (cases.take(np.sort(rows[rows >= 100])) for rows in (order[:40], order[40:]))
    alone = learn(part, method="empty").network.score(rest)
    assert found.empty.log_likelihood == pytest.approx(alone.mean, rel=1e-9)


def test_cuts_are_those_of_all_rows():
    x = np.random.default_rng(0).normal(size=100)
    fit = learn({"x": x, "y": np.where(x > 0, "a", "b")})
    assert held_out(fit).empty.ahead > 0


def test_an_impossible_row_has_no_mean():
    rows = {"x": ["a"] * 58 + ["b", "c"], "y": list("pq") * 30}
    fit = learn(rows, method="empty", prior="mle")
    found = next(f for seed in range(9) if 58 in held_rows(seed) and (f := held_out(fit, prior="mle", rng=seed)))
    assert found.log_likelihood == found.empty.log_likelihood == -math.inf
    assert math.isnan(found.empty.ahead)


def held_rows(seed):
    return np.random.default_rng(seed).permutation(60)[:12]


def test_too_few_rows_are_not_split(cases):
    few = learn(cases.take(range(40)), method="hill-climb")
    assert held_out(few, method="hill-climb") is None
    assert held_out(few, method="hill-climb", share=0.3) is not None


@pytest.mark.parametrize("share", [0, 1, -0.1, float("nan")])
def test_the_share_lies_between(cases, share):
    with pytest.raises(ParameterError, match="`share` must be"):
        held_out(learn(cases, method="empty"), share=share)


def test_the_most_joined_variable():
    rows = as_table({"b": list("xy") * 30, "a": list("xy") * 30})
    assert most_joined(learn(rows, method="empty")) == "a"
    assert most_joined(learn(rows, method="naive", target="b")) == "a"  # one arc each


def test_a_limit_of_time_is_that_of_all_that_is_done(cases, monkeypatch):
    class Clock:
        now = 0.0

        def monotonic(self):
            return self.now

    clock, given = Clock(), []
    fit, plain, score, learned = learn(cases, method="tabu"), checking._tables, checking._cases, checking.learn

    def tables(*asked):
        clock.now += 10.0
        return plain(*asked)

    def scored(*asked):
        clock.now += 0.5
        return score(*asked)

    def learning(rows, **settings):
        given.append(settings.pop("time_limit"))
        return learned(rows, **settings)

    for module in (limits, checking):
        monkeypatch.setattr(module, "time", clock)
    for name, slow in (("_tables", tables), ("_cases", scored), ("learn", learning)):
        monkeypatch.setattr(checking, name, slow)
    assert held_out(fit, method="tabu", time_limit=60.0).log_likelihood < 0
    assert given == [60 - 2 * 10.5 - 0.5 - checking.PROBE * 0.5]  # both plain networks, the probe, and scoring to come
