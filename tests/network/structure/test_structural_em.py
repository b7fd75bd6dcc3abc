"""Structural EM: what never falls, what it keeps to, how near it comes to complete rows, and what hides behind them."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeslearn.errors import (
    ConvergenceWarning,
    CycleError,
    EmptyTableError,
    MissingValuesError,
    ParameterError,
    UnknownColumnError,
)
from bayeslearn.network import DAG, BayesianNetwork, fit_parameters, shd
from bayeslearn.network.formats import read_network
from bayeslearn.network.structure.score_based.hill_climbing import Structure, tabu
from bayeslearn.network.structure.scoring.criteria import ScoreCache, StructureScore
from bayeslearn.network.structure.scoring.family_counts import FamilyCounts
from bayeslearn.network.structure.search_settings import BackgroundKnowledge, Budget, SearchSettings
from bayeslearn.tables import Table
from tests.network.structure.incomplete import structural_em
from tests.oracle import networks as slow
from tests.properties import trials

seeds = st.integers(0, 10_000)


def with_holes(table, share, seed=0):
    rng = np.random.default_rng(seed)
    return Table(table.schema, np.where(rng.random(table.codes.shape) < share, -1, table.codes), table.values)


def sample(seed, n=5, rows=150, share=0.15):
    return with_holes(slow.random_network(seed, n).sample(rows, random_state=seed), share, seed)


def plain_search(table, score="bic"):
    """What the search finds in a complete table, and its score."""
    names = table.schema.names
    structure = Structure(
        ScoreCache(FamilyCounts(table), StructureScore.parse(score)),
        BackgroundKnowledge().of(names),
        np.zeros(2 * [len(names)], bool),
    )
    arcs = tabu(structure)
    dag = DAG.from_arcs([(names[c], names[x]) for c, x in np.argwhere(arcs).tolist()], nodes=names)
    return dag, sum(structure.cache.family(x, tuple(np.flatnonzero(arcs[:, x]).tolist())) for x in range(len(names)))


### laws


@given(seed=seeds)
@trials(25)
def test_the_score_never_falls_and_the_search_never_loses(seed):
    found = structural_em(sample(seed, 4))  # at most 4⁴ completions of a row, so all are listed
    assert found.exact
    assert found.converged
    scores = [turn.score for turn in found.history]
    assert (np.diff(scores) >= -1e-6 * abs(scores[0])).all()
    assert all(turn.gain >= 0 for turn in found.history)
    assert found.score >= max(scores) - 1e-6 * abs(scores[0])


@given(seed=seeds)
@trials(25)
def test_the_score_is_that_of_the_rows_as_they_are_shown(seed):
    table = sample(seed)
    found = structural_em(table, tol=1e-6)
    assert found.log_likelihood == pytest.approx(found.network.score(table).log_likelihood, rel=1e-9)
    price = 0.5 * np.log(table.n_rows) * found.network.n_parameters
    assert found.score == pytest.approx(found.log_likelihood - price, abs=1e-3)


@given(seed=seeds, score=st.sampled_from(["bic", "aic", "k2", "bdeu:2"]))
@trials(25)
def test_complete_rows_are_searched_as_ever(seed, score):
    table = sample(seed, share=0.0)
    found = structural_em(table.select(sorted(table.schema.names)), score=score)
    dag, value = plain_search(table, score)
    assert found.dag == dag
    assert found.score == pytest.approx(value, rel=1e-9)
    assert found.exact
    assert found.converged


@given(seed=seeds)
@trials(25)
def test_the_order_of_columns_and_rows_does_not_matter(seed):
    table = sample(seed)
    rng = np.random.default_rng(seed)
    turned = table.select(rng.permutation(table.schema.names).tolist()).take(rng.permutation(table.n_rows))
    one, other = structural_em(table), structural_em(turned)
    assert one.dag == other.dag
    assert one.network.variables == table.schema.names
    assert other.network.variables == turned.schema.names
    assert one.network.isclose(other.network, rtol=1e-6, atol=1e-6)


@given(seed=seeds)
@trials(10)
def test_a_row_that_weighs_two_is_two_rows(seed):
    table = sample(seed, rows=60)
    twice = structural_em(Table.concat([table, table]))
    assert structural_em(table, sample_weight=np.full(60, 2.0)).dag == twice.dag
    assert structural_em(table.with_weights(np.full(60, 2.0))).score == pytest.approx(twice.score, rel=1e-9)


### how well


def mode_filled(table):
    filled = [np.where(column < 0, np.bincount(column[column >= 0]).argmax(), column) for column in table.codes]
    return Table(table.schema, np.array(filled), table.values)


def evaluate_holdout(dag, table, test):
    states = {v.name: v.states for v in table.schema}
    return fit_parameters(dag, table, prior="bdeu:1", states=states).score(test).mean


@pytest.mark.parametrize("share", [0.1, 0.2])
def test_asia_with_holes_is_found_as_from_complete_rows(share):
    asia = read_network("asia")
    table, test = asia.sample(5000, random_state=1), asia.sample(5000, random_state=2)
    holes = with_holes(table, share)
    found, (complete, _) = structural_em(holes), plain_search(table)
    assert shd(found.dag.cpdag(), complete.cpdag()) == 0
    filled, _ = plain_search(mode_filled(holes))
    assert shd(filled.cpdag(), complete.cpdag()) >= 3
    assert evaluate_holdout(found.dag, holes, test) > evaluate_holdout(filled, mode_filled(holes), test) + 0.02
    whole = holes.take((holes.codes >= 0).all(axis=0))
    assert evaluate_holdout(found.dag, holes, test) > evaluate_holdout(plain_search(whole)[0], whole, test) + 0.003


@pytest.mark.slow
@pytest.mark.parametrize(("algorithm", "most"), [("tabu", 36), ("ges", 15)])
def test_alarm_with_holes_is_found_about_as_well_as_from_complete_rows(shared_data, algorithm, most):
    alarm = read_network(shared_data / "networks" / "alarm.bif")
    table, test = alarm.sample(5000, random_state=1), alarm.sample(5000, random_state=2)
    holes = with_holes(table, 0.1)
    found, (complete, _) = structural_em(holes, algorithm=algorithm), plain_search(table)
    assert not found.exact
    assert found.converged
    assert found.score >= max(turn.score for turn in found.history)
    assert shd(found.dag.cpdag(), alarm.dag.cpdag()) <= most
    again = fit_parameters(found.dag, holes, states={v.name: v.states for v in holes.schema}, prior=None)
    assert (
        found.log_likelihood > again.fit_info.log_likelihood - 0.1
    )  # what was never drawn was not taken for impossible
    ours = evaluate_holdout(found.dag, holes, test)
    assert ours > evaluate_holdout(complete, table, test) - 0.1
    filled, whole = mode_filled(holes), holes.take((holes.codes >= 0).all(axis=0))
    assert ours > evaluate_holdout(plain_search(filled)[0], filled, test) + 0.3
    assert ours > evaluate_holdout(plain_search(whole)[0], whole, test) + 1.0


def test_a_search_of_any_kind_will_do():
    table = sample(7, rows=300)
    assert structural_em(table, algorithm="hill_climb").converged
    nothing = structural_em(table, algorithm="empty")
    assert len(nothing.dag.arcs) == 0
    assert structural_em(table, start=structural_em(table).dag, algorithm="empty").dag.arcs  # no better: not taken


def test_knowledge_order_and_prior_of_hidden_variables_are_left_out_where_these_are():
    table = common_cause(4, 0).sample(400, random_state=0).drop(["h"])
    knowledge = BackgroundKnowledge(forbidden=[("x0", "h")], tiers=[["h"], ["x0", "x1", "x2", "x3"]], roots=["h"])
    found = structural_em(table, hidden={"h": 2}, knowledge=knowledge, algorithm="auto", n_init=1)
    assert set(found.without.dag) == {"x0", "x1", "x2", "x3"}
    settings = SearchSettings(prior={"h": 1, "x": 2}, order=("h", "x"), knowledge=knowledge).without(["h"])
    assert (settings.prior, settings.order, settings.knowledge.roots) == ({"x": 2}, ("x",), ())


### hidden variables


def common_cause(k, seed, states=3):
    """A hidden variable of two states above k others."""
    rng = np.random.default_rng(seed)
    names = [f"x{i}" for i in range(k)]
    tables = {"h": [0.5, 0.5]} | {name: rng.dirichlet(np.full(states, 0.5), size=2) for name in names}
    return BayesianNetwork.from_tables(
        [("h", name) for name in names], tables, states={"h": ["a", "b"]} | {name: range(states) for name in names}
    )


@pytest.mark.parametrize(("k", "seed", "share"), [(4, 3, 0.0), (5, 0, 0.0), (5, 1, 0.0), (5, 7, 0.1), (6, 5, 0.0)])
def test_a_hidden_common_cause_is_found(k, seed, share):
    truth = common_cause(k, seed)
    table, test = (truth.sample(2000, random_state=r).drop(["h"]) for r in (seed, 99))
    found = structural_em(with_holes(table, share), hidden={"h": 2}, prior="bdeu:1", n_init=3)
    assert set(found.dag.children("h")) | set(found.dag.parents("h")) == set(table.schema.names)
    assert len(found.dag.arcs) == k
    assert found.isolated == ()
    assert found.hidden_gain > 20
    assert found.hidden_gain == found.score - found.without.score
    assert "h" not in found.without.network
    better = found.network.score(test).mean
    assert better > found.without.network.score(test).mean + 0.01
    assert better > truth.score(test).mean - 0.02


def test_a_hidden_variable_that_nothing_asks_for_ends_up_alone():
    rng = np.random.default_rng(0)
    table = {name: rng.integers(0, 2, 1000) for name in "abcd"}
    found = structural_em(table, hidden={"h": ["low", "high"]})
    assert found.isolated == ("h",)
    assert found.network.states("h") == ("low", "high")
    assert found.hidden_gain == pytest.approx(-0.5 * np.log(1000), abs=0.1)  # the price of a table that says nothing


def test_hidden_variables_keep_to_what_is_known():
    table = common_cause(5, 0).sample(800, random_state=0).drop(["h"])
    knowledge = BackgroundKnowledge(forbidden=[("h", "x0")], required=[("x1", "h")], max_parents=2)
    found = structural_em(table, hidden={"h": 2}, knowledge=knowledge, n_init=2)
    assert ("x1", "h") in found.dag.arcs
    assert ("h", "x0") not in found.dag.arcs
    assert max(len(found.dag.parents(name)) for name in found.dag) <= 2


### what it keeps to


def test_knowledge_is_kept_to():
    table = sample(5, 6, 300)
    a, b, c, d, e, _ = sorted(table.schema.names)
    knowledge = BackgroundKnowledge(required=[(a, b)], forbidden=[(c, d), (d, c)], roots=[e], max_parents=2)
    found = structural_em(table, score="aic", knowledge=knowledge)
    assert (a, b) in found.dag.arcs
    assert not {(c, d), (d, c)} & set(found.dag.arcs)
    assert found.dag.parents(e) == ()
    assert max(len(found.dag.parents(name)) for name in found.dag) <= 2


def test_it_begins_where_it_is_told():
    table = sample(7, 4, 300)
    found = structural_em(table)
    for start in (found.dag, str(found.dag), found.network):
        again = structural_em(table, start=start)
        assert again.dag == found.dag
        assert again.history[0].score == pytest.approx(found.score, abs=0.01)


def test_limits_end_it_with_the_best_so_far():
    table = sample(3, 6, 300)
    late = structural_em(table, budget=Budget(deadline=time.monotonic() - 1))
    assert not late.converged
    assert [turn.arcs for turn in late.history] == [0]
    told = []

    def two(step):
        told.append(step)
        if step.steps == 2:
            raise StopIteration

    stopped = structural_em(table, budget=Budget(progress=two))
    assert not stopped.converged
    assert [turn.arcs for turn in stopped.history] == [0, 2]
    assert len(told) == 3
    assert stopped.score > late.score


def test_too_few_turns_are_warned_of():
    with pytest.warns(ConvergenceWarning, match="stopped after 1 turns, the last of which changed"):
        found = structural_em(sample(3, 6, 300), max_iter=1)
    assert not found.converged


def test_numbers_are_cut():
    rng = np.random.default_rng(0)
    x = rng.normal(size=400)
    y = np.where(rng.random(400) < 0.1, np.nan, x + 0.1 * rng.normal(size=400))
    assert structural_em({"x": x, "y": y}).dag.skeleton == {frozenset("xy")}


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"hidden": {"a": 2}}, ParameterError, "'a' cannot be hidden"),
        ({"start": "[a][c]"}, ParameterError, "differ in 'b', 'c'"),
        (
            {"start": "[a][b|a]", "knowledge": BackgroundKnowledge(roots=["b"])},
            ParameterError,
            "what is known of a -> b",
        ),
        (
            {"start": "[a][b]", "knowledge": BackgroundKnowledge(required=[("a", "b")])},
            ParameterError,
            "known of a -> b",
        ),
        (
            {"start": "[a][b|a]", "knowledge": BackgroundKnowledge(max_parents=0)},
            ParameterError,
            "'b' starts with more",
        ),
        ({"knowledge": BackgroundKnowledge(forbidden=[("a", "z")])}, UnknownColumnError, "knowledge names 'z'"),
        ({"knowledge": BackgroundKnowledge(required=[("a", "b"), ("b", "a")])}, CycleError, "cycle"),
        ({"score": "best"}, ParameterError, "unexpected value for `criterion`"),
        ({"draws": 0}, ParameterError, "`draws` must be at least 1"),
        ({"n_init": 0}, ParameterError, "`n_init` must be at least 1"),
        ({"max_iter": 0}, ParameterError, "`max_iter` must be at least 1"),
        ({"sample_weight": [1.0, 1.0]}, ParameterError, "sample_weight"),
    ],
)
def test_bad_requests_are_named(options, error, match):
    with pytest.raises(error, match=match):
        structural_em({"a": ["x", "y", "x", None], "b": ["x", "y", None, "y"]}, **options)


def test_bad_tables_are_named():
    schema = sample(1).schema
    with pytest.raises(EmptyTableError, match="no cases"):
        structural_em(Table(schema, np.empty((len(schema), 0), np.int8), []))
    with pytest.raises(MissingValuesError, match="no row has a value for"):
        structural_em(sample(1).mask(schema.names[:1]))
