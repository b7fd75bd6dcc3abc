"""From a table to a network: every method by its name, holes, hidden variables, more rows, budget, and messy files."""

from __future__ import annotations

import contextlib
import time

import numpy as np
import pytest

from bayeslearn import as_table, fit_network, fit_parameters, read_network
from bayeslearn.errors import (
    CapacityError,
    ConvergenceWarning,
    EmptyTableError,
    MismatchError,
    ParameterError,
    UnknownColumnError,
    UnknownStateError,
)
from bayeslearn.network import DAG, BackgroundKnowledge, shd
from bayeslearn.network.structure import algorithms
from bayeslearn.network.structure.algorithms import ALGORITHMS, Algorithm
from bayeslearn.network.structure.missing_data.structural_em_iterations import by_position
from bayeslearn.network.structure.preprocessing import prepare
from bayeslearn.network.structure.search_settings import SearchStep
from tests.oracle import networks as slow

ASIA = read_network("asia")


@pytest.fixture(scope="module")
def cases():
    return ASIA.sample(2000, random_state=1)


def with_holes(table, share=0.1, seed=0):
    hidden = np.random.default_rng(seed).random(table.codes.shape) < share
    return type(table)(table.schema, np.where(hidden, -1, table.codes), table.values, table.sample_weight)


# -- methods


@pytest.mark.parametrize("method", ALGORITHMS)
def test_every_method_finds_a_network_that_answers(method, cases):
    fit = fit_network(cases, algorithm=method, order=ASIA.dag.order, target="lung")
    assert fit.fit_info.algorithm == method
    assert set(fit.variables) == set(ASIA.variables)
    beliefs = fit.query({"smoke": "yes"})["lung"]
    assert sum(beliefs.values()) == pytest.approx(1.0)
    assert sum(cpt.observed_counts.n.sum() for cpt in fit) == 8 * 2000


@pytest.mark.parametrize("method", ALGORITHMS)
def test_the_order_of_columns_and_rows_does_not_matter(method, cases):
    rng = np.random.default_rng(3)
    names = rng.permutation(cases.schema.names).tolist()
    shuffled = cases.select(names).take(rng.permutation(cases.n_rows))
    one, other = (fit_network(t, algorithm=method, order=ASIA.dag.order, target="lung") for t in (cases, shuffled))
    assert other.dag == one.dag
    assert other.fit_info.score == pytest.approx(one.fit_info.score, rel=1e-12)


def test_the_score_is_that_of_the_structure_and_arcs_are_worth_what_it_would_lose(cases):
    fit = fit_network(cases, algorithm="tabu")
    without = DAG.from_arcs([(a.parent, a.child) for a in fit.fit_info.arcs[1:]], fit.variables)
    lost = fit.fit_info.score - bic(without, cases)
    assert fit.fit_info.score == pytest.approx(bic(fit.dag, cases), rel=1e-12)
    assert fit.fit_info.arcs[0].gain == pytest.approx(lost, rel=1e-9)
    assert [a.gain for a in fit.fit_info.arcs] == sorted((a.gain for a in fit.fit_info.arcs), reverse=True)
    assert fit.fit_info.weakest_arcs(1) == fit.fit_info.arcs[-1:]


def bic(dag, table):
    fit = fit_parameters(dag, table, prior=None)
    return fit.fit_info.log_likelihood - 0.5 * np.log(table.n_rows) * fit.n_parameters


def test_tables_are_those_of_counting(cases):
    fit = fit_network(cases, prior="bdeu:4")
    assert fit.isclose(fit_parameters(fit.dag, cases, prior="bdeu:4"), rtol=1e-12)


def test_restarts_never_end_lower(cases):
    scores = [fit_network(cases, algorithm="hill_climb", n_restarts=n).fit_info.score for n in (0, 3, 10)]
    assert scores == sorted(scores)
    permuted = cases.select(sorted(cases.schema.names))
    assert fit_network(permuted, algorithm="hill_climb", n_restarts=10).fit_info.score == pytest.approx(
        scores[-1], rel=1e-12
    )


def test_tests_of_independence_are_kept(cases):
    fit = fit_network(cases, algorithm="pc", significance_level=0.01)
    assert fit.fit_info.independence_tests.p_values
    assert {frozenset(arc) for arc in fit.dag.arcs} == fit.fit_info.independence_tests.cpdag.skeleton


@pytest.mark.parametrize(("score", "published"), [("bic", -24006.7342), ("k2", -23957.6758), ("bdeu:1", -24028.0948)])
@pytest.mark.parametrize("method", ["auto", "hill_climb"])
def test_published_scores_of_learning_test(shared_data, score, published, method):
    fit = fit_network(shared_data / "samples" / "bnlearn-learning.test.csv", algorithm=method, criterion=score)
    assert fit.fit_info.score == pytest.approx(published, abs=5e-5)


@pytest.mark.parametrize("method", ["auto", "hill_climb", "tabu"])
def test_published_score_of_asia(shared_data, method):
    assert fit_network(shared_data / "samples" / "bnlearn-asia.csv", algorithm=method).fit_info.score == pytest.approx(
        -11107.2933, abs=5e-5
    )


# -- knowledge


@pytest.mark.parametrize("method", [name for name, entry in ALGORITHMS.items() if entry.knows and name != "pc"])
def test_knowledge_is_kept(method, cases):
    known = BackgroundKnowledge(
        required=[("asia", "xray")], forbidden=[("smoke", "lung")], roots=["smoke"], max_parents=2
    )
    dag = fit_network(cases, algorithm=method, knowledge=known, order=ASIA.dag.order).dag
    assert ("asia", "xray") in dag.arcs
    assert ("smoke", "lung") not in dag.arcs
    assert not dag.parents("smoke")
    assert max(len(dag.parents(x)) for x in dag) <= 2


@pytest.mark.parametrize("method", [name for name, entry in ALGORITHMS.items() if not entry.knows])
def test_a_method_that_cannot_keep_to_it_says_so(method, cases):
    with pytest.raises(ParameterError, match="cannot take background knowledge into account"):
        fit_network(cases, algorithm=method, target="lung", knowledge=BackgroundKnowledge(roots=["asia"]))


# -- holes


def test_holes_are_no_obstacle(cases):
    whole, holes = fit_network(cases), fit_network(with_holes(cases))
    assert shd(holes.dag, whole.dag) <= 2
    assert holes.fit_info.structural_em.converged
    assert sum(holes.fit_info.missing.values()) > 1000
    assert {arc.gain > 0 for arc in holes.fit_info.arcs} == {True}


@pytest.mark.parametrize("method", ["naive_bayes", "tan", "chow_liu"])
def test_a_form_is_kept_though_cells_are_missing(method):
    rng = np.random.default_rng(0)
    columns = {f"c{i}": rng.choice(["x", "y"], 100) for i in range(4)}
    whole = fit_network(columns, algorithm=method, target="c1")
    holes = fit_network(
        {c: np.where(rng.random(100) < 0.1, None, v) for c, v in columns.items()}, algorithm=method, target="c1"
    )
    assert len(holes.fit_info.arcs) == len(whole.fit_info.arcs)
    assert holes.dag.parents("c1") == ()
    assert holes.fit_info.score < fit_network(holes.fit_info.table).fit_info.score
    if method == "naive_bayes":
        assert holes.dag == whole.dag
        assert holes.fit_info.score == pytest.approx(
            holes.fit_info.structural_em.log_likelihood - 3.5 * np.log(100), abs=1.0
        )


def test_auto_is_exact_for_few_variables_and_quick_beyond(cases, monkeypatch):
    asked = []

    def watched(name):
        return lambda settings, cache, start: asked.append(name) or algorithms._empty(settings, cache, start)

    for name in ("_exact", "_orders", "_ges"):
        monkeypatch.setattr(algorithms, name, watched(name))
    for table in (cases, with_holes(cases)):
        fit_network(table)
    many = read_network("alarm").sample(50, random_state=0)
    for table in (many, with_holes(many, 0.01)):
        fit_network(table, time_limit=20)
    assert list(dict.fromkeys(asked)) == ["_exact", "_orders", "_ges"]


def test_a_hidden_variable_joins_what_it_explains():
    rng = np.random.default_rng(0)
    cause = rng.random(1500) < 0.5
    columns = {f"x{i}": np.where(rng.random(1500) < 0.9, cause, ~cause) for i in range(4)}
    fit = fit_network(columns, hidden={"h": 2})
    assert {frozenset(arc) for arc in fit.dag.arcs} == {frozenset(("h", name)) for name in columns}
    assert any("score with hidden variables is +" in note for note in fit.fit_info.notes)


# -- more rows


def test_more_rows_of_the_same_table_are_added(cases):
    first, second = cases.take(np.arange(1200)), cases.take(np.arange(1200, 2000))
    begun = fit_network(first, algorithm="tabu")
    both, whole = fit_network(second, algorithm="tabu", warm_start=begun), fit_network(cases, algorithm="tabu")
    assert both.dag == whole.dag
    assert both.fit_info.score == pytest.approx(whole.fit_info.score, rel=1e-12)
    assert both.isclose(whole, rtol=1e-12)
    assert both.fit_info.table.n_rows == 2000
    assert both.fit_info.counts.parts[0] is begun.fit_info.counts.parts[0]


def test_more_rows_with_holes_are_added(cases):
    begun = fit_network(cases.take(np.arange(1200)), algorithm="tabu")
    both = fit_network(with_holes(cases.take(np.arange(1200, 2000))), algorithm="tabu", warm_start=begun)
    assert both.fit_info.table.n_rows == 2000
    assert both.fit_info.structural_em is not None


def test_rows_of_another_table_are_refused(cases):
    begun = fit_network(cases)
    with pytest.raises((UnknownStateError, UnknownColumnError, MismatchError), match="smoke"):
        fit_network({name: ["perhaps"] * 9 for name in cases.schema.names}, warm_start=begun)


# -- how sure


def test_resampling_tells_how_sure_arcs_are(cases):
    fit = fit_network(cases, algorithm="hill_climb", bootstrap=20, random_state=5)
    assert fit.fit_info.strengths.n_samples == 20
    assert fit.fit_info.arcs[0].strength == 1.0
    assert all(0 <= arc.strength <= 1 and 0 <= arc.direction <= 1 for arc in fit.fit_info.arcs)
    again = fit_network(cases, algorithm="hill_climb", bootstrap=20, random_state=5)
    assert again.fit_info.arcs == fit.fit_info.arcs


def test_the_averaged_network_has_the_arcs_that_resamples_agree_on(cases):
    fit = fit_network(cases, algorithm="hill_climb", bootstrap=20, average=True)
    assert all(arc.strength > fit.fit_info.strengths.threshold() for arc in fit.fit_info.arcs)
    assert fit.isclose(fit_parameters(fit.dag, cases, prior="bdeu:1"), rtol=1e-12)


def test_rows_with_holes_are_resampled_too(cases):
    fit = fit_network(with_holes(cases.take(np.arange(500))), bootstrap=5, average=True)
    assert fit.fit_info.strengths.n_samples == 5
    assert any("one completion" in note for note in fit.fit_info.notes)


@pytest.mark.parametrize(
    "known",
    [
        BackgroundKnowledge(leaves=["smoke"], roots=["xray"]),
        BackgroundKnowledge(required=[("asia", "xray")], forbidden=[("lung", "either"), ("either", "lung")]),
        BackgroundKnowledge(tiers=[["dysp", "xray"], ["lung", "tub", "bronc", "either", "asia", "smoke"]]),
        BackgroundKnowledge(max_parents=1),
    ],
    ids=["ends", "arcs", "tiers", "parents"],
)
def test_the_averaged_network_keeps_to_what_is_known(known, cases):
    fit = fit_network(cases, algorithm="hill_climb", bootstrap=10, average=True, knowledge=known)
    assert len(fit.fit_info.arcs) > 3
    allowed = known.of(fit.variables)
    arcs = by_position(fit.dag, fit.variables)
    assert not (arcs & ~allowed.arcs).any()
    assert not (allowed.required & ~arcs).any()
    assert arcs.sum(axis=0).max() <= allowed.max_parents
    if known.directs:  # what rows leave open is directed here
        assert {arc.direction for arc in fit.fit_info.arcs} != {0.5}


def test_what_the_average_could_not_take_is_told(cases):
    fit = fit_network(
        cases, algorithm="hill_climb", bootstrap=10, average=True, knowledge=BackgroundKnowledge(max_parents=1)
    )
    loose = fit_network(cases, algorithm="hill_climb", bootstrap=10, average=True)
    assert len(fit.fit_info.arcs) < len(loose.fit_info.arcs)
    assert not loose.fit_info.notes
    assert all("one parent too many and was dropped" in note for note in fit.fit_info.notes)


def test_directions_by_knowledge_count_as_such(cases):
    free = fit_network(cases, algorithm="hill_climb", bootstrap=5)
    assert 0.5 in {arc.direction for arc in free.fit_info.arcs}
    directed = fit_network(cases, algorithm="hill_climb", bootstrap=5, knowledge=BackgroundKnowledge(leaves=["bronc"]))
    assert {arc.direction for arc in directed.fit_info.arcs if arc.child == "bronc"} == {1.0}
    around = fit_network(cases, algorithm="naive_bayes", target="lung", bootstrap=3, average=True)
    assert set(around.dag.arcs) == {("lung", name) for name in around.variables if name != "lung"}


@pytest.mark.parametrize("average", [False, True])
def test_no_time_for_a_resample_is_told(average, cases):
    with pytest.warns(ConvergenceWarning, match="before it found an arc"):
        fit = fit_network(cases, algorithm="hill_climb", bootstrap=5, average=average, time_limit=0.0)
    assert fit.fit_info.strengths is None
    assert {arc.strength for arc in fit.fit_info.arcs} <= {None}
    assert fit.fit_info.notes[-1].startswith("no bootstrap sample was searched within the time limit: ")
    assert ("all rows" in fit.fit_info.notes[-1]) == average


def test_a_resample_that_is_cut_off_has_no_vote(cases, monkeypatch):
    seen = []

    def cut_off(settings, cache, start):
        seen.append(settings.budget)
        if len(seen) == 2:
            settings.budget.stopped = True
        return algorithms._empty(settings, cache, start)

    monkeypatch.setitem(ALGORITHMS, "empty", Algorithm(cut_off, ""))
    fit = fit_network(cases, algorithm="empty", bootstrap=6)
    assert fit.fit_info.strengths.n_samples == 5
    assert len({id(budget) for budget in seen}) == 7
    assert not fit.fit_info.stopped_early


# -- budget


@pytest.mark.parametrize(
    "method",
    [
        "auto",
        "hill_climb",
        "tabu",
        "order_search",
        "ges",
        "exact",
        "optimal_given_order",
        "weak_parents_given_order",
        "pc",
        "mmhc",
    ],
)
def test_a_limit_of_time_gives_the_best_so_far(method):
    table = read_network("alarm").sample(500, random_state=0) if method != "exact" else ASIA.sample(500, random_state=0)
    started = time.monotonic()
    found = method in {
        "pc",
        "optimal_given_order",
        "weak_parents_given_order",
    }  # what is not tested yet, or a quick first answer
    with contextlib.nullcontext() if found else pytest.warns(ConvergenceWarning, match="before it found an arc"):
        fit = fit_network(table, algorithm=method, time_limit=0.0, order=table.schema.names)
    assert time.monotonic() - started < 20
    assert fit.fit_info.stopped_early
    assert len(fit) == len(table.schema)
    assert (not fit.fit_info.arcs) == any("all columns are independent" in note for note in fit.fit_info.notes)


@pytest.mark.parametrize("share", [0.0, 0.1])
def test_a_search_that_finds_no_arc_says_so(share):
    rng = np.random.default_rng(0)
    columns = {name: np.where(rng.random(200) < share, None, rng.integers(0, 2, 200).astype(str)) for name in "ab"}
    fit = fit_network(columns)
    assert not fit.fit_info.arcs
    assert "no arc improves bic: all columns appear to be independent of each other" in fit.fit_info.notes


def test_best_parents_say_when_not_all_sets_were_looked_at(cases, monkeypatch):
    order = list(ASIA.dag.order)
    whole = fit_network(cases, algorithm="optimal_given_order", order=order)
    assert not any("improve the score" in note for note in whole.fit_info.notes)
    monkeypatch.setattr(algorithms, "MOST_WORK", 60 * (cases.n_rows + (1 << 12)))
    part = fit_network(cases, algorithm="optimal_given_order", order=order)
    assert any(note.startswith("sets of 2 or more parents were examined only where") for note in part.fit_info.notes)
    limited = fit_network(
        cases, algorithm="optimal_given_order", order=order, knowledge=BackgroundKnowledge(max_parents=3)
    )
    assert not any("improve the score" in note for note in limited.fit_info.notes)


def test_whoever_is_told_may_end_the_search(cases):
    told = []

    def stop_at_three(now):
        told.append(now.detail)
        if now.detail.arcs == 3:
            raise StopIteration

    fit = fit_network(cases, algorithm="hill_climb", progress=stop_at_three)
    assert fit.fit_info.stopped_early
    assert len(fit.fit_info.arcs) == 3
    assert told[-1] == SearchStep(pytest.approx(fit.fit_info.score, rel=1e-12), 3, 3)


def test_a_limit_of_memory(cases):
    with pytest.raises(CapacityError, match="more than 0 MiB"):
        fit_network(cases, algorithm="exact", memory_limit=1000)
    small, large = fit_network(cases, algorithm="tabu", memory_limit=0), fit_network(cases, algorithm="tabu")
    assert small.dag == large.dag
    assert not small.fit_info.counts.parts[0]._known
    assert large.fit_info.counts.parts[0]._known


def test_the_score_in_bits(cases):
    fit = fit_network(cases, criterion="mdl")
    assert fit.fit_info.description_length == pytest.approx(-fit.fit_info.score / np.log(2))


# -- messy files


def messy(rows=200, seed=0):
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 2, rows)
    return {
        "id": [f"u{i}" for i in range(rows)],
        "number": list(range(100, 100 + rows)),
        "always": ["same"] * rows,
        "empty": [None] * rows,
        "a": [str(v) for v in a],
        "twin": ["yes" if v else "no" for v in a],
        "length": rng.normal(3 * a).tolist(),
        "still": [1.5] * rows,
    }


def test_columns_that_say_nothing_are_left_out_and_named():
    found = prepare(messy())
    assert list(found.table.schema.names) == ["a", "twin", "length"]
    assert set(found.dropped_columns) == {"id", "number", "always", "empty", "still"}
    assert "another state in every row" in found.dropped_columns["id"]
    assert "numbers the rows" in found.dropped_columns["number"]
    assert found.notes == ("columns 'a', 'twin' are equivalent in every row",)
    assert len(found.cuts["length"]) == 4


@pytest.mark.parametrize("method", ALGORITHMS)
@pytest.mark.parametrize("rows", [10, 200])
def test_messy_files_are_learned_from(method, rows):
    fit = fit_network(messy(rows), algorithm=method, order=["a", "twin", "length"], target="a")
    assert set(fit.variables) == {"a", "twin", "length"}
    assert rows > 50 or any("rows are few" in note for note in fit.fit_info.notes)


def test_declared_columns_are_kept():
    states = {"always": ["same", "other"]}
    assert "always" in prepare(messy(), states=states).table.schema.names


def test_five_hundred_columns_of_ten_rows():
    rng = np.random.default_rng(0)
    fit = fit_network(
        {f"c{i}": rng.integers(0, 2, 10) for i in range(500)},
        algorithm="hill_climb",
        knowledge=BackgroundKnowledge(max_parents=2),
    )
    assert len(fit) + len(fit.fit_info.prepared_data.dropped_columns) == 500


def test_nothing_to_learn_from():
    with pytest.raises(EmptyTableError, match=r"no column is left to learn from.*always"):
        fit_network({"always": ["x"] * 9})
    with pytest.raises(ParameterError, match="the target cannot be used"):
        fit_network(messy(), target="always")


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"algorithm": "luck"}, "algorithm"),
        ({"criterion": "luck"}, "criterion"),
        ({"algorithm": "k2"}, "requires `order`"),
        ({"algorithm": "tan"}, "requires `target`"),
        ({"algorithm": "k2", "order": ["asia"]}, "every variable once"),
        ({"algorithm": "k2", "order": ["Asia"]}, "not a variable"),
        ({"algorithm": "naive_bayes", "target": "nobody"}, "not a variable"),
        ({"n_restarts": -1}, "n_restarts"),
        ({"time_limit": -1}, "time_limit"),
        ({"bootstrap": -1}, "bootstrap"),
        ({"algorithm": "pc", "significance_level": 2}, "significance_level"),
        ({"algorithm": "pc", "test": "luck"}, "luck"),
        ({"hidden": {"asia": 2}}, "cannot be hidden"),
    ],
)
def test_mistaken_calls_are_named(cases, options, match):
    with pytest.raises((ParameterError, UnknownColumnError), match=match):
        fit_network(cases, **options)


@pytest.mark.parametrize("seed", range(5))
def test_nothing_scores_more_than_the_exact_method(seed):
    table = slow.random_network(seed, 6).sample(500, random_state=seed)
    best = fit_network(table, algorithm="exact").fit_info.score
    for method in ("hill_climb", "tabu", "order_search", "ges", "mmhc", "chow_liu"):
        assert fit_network(table, algorithm=method).fit_info.score <= best + 1e-6
    assert fit_network(table).fit_info.score == pytest.approx(best, rel=1e-12)


def test_as_table_leaves_out_what_it_is_told_to():
    dropped_columns = {}
    table = as_table(messy(), dropped_columns=dropped_columns)
    assert set(dropped_columns) == {"always", "empty"}
    assert "id" in table.schema.names
