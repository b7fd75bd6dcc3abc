"""Tables that learn from a stream: counting when every case counts alike, EM's optimum when cells are missing."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeslearn import DAG, BayesianNetwork, as_table, read_network
from bayeslearn.errors import (
    EmptyTableError,
    ImpossibleDataError,
    InputFileNotFoundError,
    ParameterError,
    UnknownColumnError,
    UnknownStateError,
    WeightError,
)
from bayeslearn.network import OnlineEM, fit_parameters, fit_parameters_online
from bayeslearn.tables import Table
from tests.oracle.networks import random_network

ASIA = read_network("asia")
RAIN = {"Rain": ["no", "yes"], "Wet": ["no", "yes"]}


def with_holes(network, n, seed, share=0.3, *, hide=()):
    cases, rng = network.sample(n, random_state=seed), np.random.default_rng(seed)
    return Table(cases.schema, np.where(rng.random(cases.codes.shape) < share, -1, cases.codes), cases.values).mask(
        hide
    )


def cut(table, seed, parts):
    """The rows of a table in order, cut at random places."""
    places = np.sort(np.random.default_rng(seed).integers(0, table.n_rows, parts - 1))
    bounds = np.unique([0, *places, table.n_rows])
    return [table.take(np.arange(a, b)) for a, b in itertools.pairwise(bounds)]


def rests_on_the_same(a, b, *, rtol=1e-10):
    assert a.isclose(b, rtol=rtol, atol=1e-12)
    for cpt in a:
        np.testing.assert_allclose(cpt.counts.n, b[cpt.name].counts.n, rtol=rtol, atol=1e-9)
        np.testing.assert_array_equal(cpt.prior.alpha, b[cpt.name].prior.alpha)


def after(network, batches, *, passes=1, **settings):
    learner = OnlineEM(network, **settings)
    for _ in range(passes):
        for batch in batches:
            learner.update(batch)
    return learner


### laws


@given(
    seed=st.integers(0, 10_000),
    n=st.integers(1, 5),
    parts=st.integers(1, 8),
    prior=st.sampled_from([None, "laplace", "bdeu:3"]),
    weighted=st.booleans(),
)
def test_complete_cases_are_counted_exactly_when_all_count_alike(seed, n, parts, prior, weighted):
    network = random_network(seed, n)
    cases = network.sample(40, random_state=seed)
    if weighted:
        cases = cases.with_weights(np.random.default_rng(seed).random(40) + 0.1)

    learner = fit_parameters_online(network, cut(cases, seed, parts), prior=prior, decay=1)

    rests_on_the_same(learner.network, fit_parameters(network, cases, prior=prior))
    assert learner.total_weight == pytest.approx(cases.total_weight)
    assert learner.effective_sample_size == pytest.approx(cases.total_weight)


@given(
    seed=st.integers(0, 10_000),
    share=st.floats(0, 0.6),
    decay=st.floats(0.51, 1),
    delay=st.floats(0, 10),
    step=st.one_of(st.none(), st.floats(0.01, 1)),
)
def test_tables_are_the_mean_of_what_they_rest_on(seed, share, decay, delay, step):
    network = random_network(seed, 4)
    batches = cut(with_holes(network, 40, seed, share), seed, 5)

    learner = fit_parameters_online(network, batches, prior="laplace", decay=decay, delay=delay, step=step)

    assert 0 < learner.effective_sample_size <= learner.total_weight * (1 + 1e-9)
    for cpt in learner.network:
        n = cpt.counts.n + cpt.prior.alpha
        np.testing.assert_allclose(cpt.probabilities, n / n.sum(axis=-1, keepdims=True), rtol=1e-10)
        np.testing.assert_allclose(cpt.counts.n.sum(), learner.effective_sample_size, rtol=1e-9)


def test_weight_two_is_a_row_twice():
    batches = list(with_holes(ASIA, 200, 1).batches(50))
    heavy = fit_parameters_online(ASIA, [batch.with_weights(np.full(50, 2.0)) for batch in batches], prior="laplace")
    twice = fit_parameters_online(ASIA, [Table.concat([batch, batch]) for batch in batches], prior="laplace")
    rests_on_the_same(heavy.network, twice.network)


def test_one_batch_is_one_step_of_em():
    cases = with_holes(ASIA, 300, 2)
    steps = []

    def one(now):
        steps.append(now.detail)
        if now.detail.iteration == 1:
            raise StopIteration

    by_em = fit_parameters(ASIA, cases, prior="laplace", progress=one)
    learner = OnlineEM(ASIA, prior="laplace").update(cases)

    assert learner.network.isclose(by_em, rtol=1e-10)
    assert learner.last.log_likelihood == pytest.approx(steps[0].log_likelihood, rel=1e-12)


### where it leads


@pytest.mark.parametrize("prior", ["bdeu:1", None])
def test_near_the_optimum_of_em_after_a_few_passes(prior):
    cases = with_holes(ASIA, 600, 1)
    by_em = fit_parameters(ASIA, cases, prior=prior, tol=1e-4, max_iter=1000)

    once, often = (
        after(ASIA, list(cases.batches(30)), prior=prior, passes=passes).network.score(cases).mean for passes in (1, 8)
    )

    best = by_em.fit_info.log_likelihood / 600
    assert once > best - 0.03
    assert often > best - 0.001


def test_a_hidden_variable():
    cases = with_holes(ASIA, 2000, 1, 0.0, hide=["bronc"])
    by_em = fit_parameters(ASIA, cases, prior="bdeu:1", hidden={"bronc": 2}, init=ASIA)
    learner = after(ASIA, list(cases.batches(100)), passes=5, prior="bdeu:1", hidden={"bronc": 2}, init=ASIA)
    assert learner.network.score(cases).mean > by_em.fit_info.log_likelihood / 2000 - 0.002
    without_column = cases.drop(["bronc"])
    again = after(ASIA, list(without_column.batches(100)), passes=5, prior="bdeu:1", hidden={"bronc": 2}, init=ASIA)
    rests_on_the_same(again.network, learner.network)


def test_hidden_variables_do_not_start_symmetric():
    learner = OnlineEM("[H][X|H]", states={"X": ["a", "b"]}, hidden={"H": 2}, prior=None)
    assert not np.allclose(*learner.network["X"].probabilities)


def test_a_state_that_an_early_batch_lacks_is_not_ruled_out():
    """Under maximum likelihood the first batch leaves Wet=yes without cases; holes may still be filled with it."""
    learner = OnlineEM("[Rain][Wet|Rain]", states=RAIN, decay=0.6, prior=None)
    learner.update({"Rain": ["no"] * 20, "Wet": ["no"] * 20})
    assert learner.network["Wet"].probabilities[0].tolist() == [1, 0]

    for _ in range(30):
        learner.update({"Rain": ["no"] * 10 + ["yes", None], "Wet": ["no", "yes"] * 5 + ["yes", "yes"]})

    assert learner.network["Wet"].probabilities[0, 1] == pytest.approx(0.5, abs=0.05)
    assert np.isfinite([batch.log_likelihood for batch in learner.history]).all()


def test_a_fixed_step_follows_a_world_that_changes():
    before, later = ({"Rain": [rain] * 50, "Wet": ["no"] * 50} for rain in ("no", "yes"))
    fading, mean = (
        after("[Rain][Wet|Rain]", [before] * 50 + [later] * 10, states=RAIN, prior=None, **settings)
        for settings in ({"step": 0.3}, {"decay": 1})
    )
    assert fading.network["Rain"].probabilities[1] == pytest.approx(1 - 0.7**10, rel=1e-9)
    assert fading.effective_sample_size == pytest.approx(50 * (2 - 0.3) / 0.3, rel=1e-6)
    assert mean.network["Rain"].probabilities[1] == pytest.approx(1 / 6, rel=1e-9)


### what it remembers


def test_history_is_what_each_batch_was_worth_beforehand():
    learner = OnlineEM(ASIA, prior="laplace", decay=0.8, delay=3)
    for number, batch in enumerate(with_holes(ASIA, 300, 3).batches(100)):
        expected = learner.network.score(batch).log_likelihood
        learner.update(batch)
        assert learner.last.number == number
        assert learner.last.log_likelihood == pytest.approx(expected, rel=1e-12)
        assert learner.last.mean == pytest.approx(expected / 100, rel=1e-12)
    assert [batch.step for batch in learner.history] == pytest.approx([1, 5**-0.8, 6**-0.8])
    assert [batch.total_weight for batch in learner.history] == [100, 100, 100]
    assert repr(learner) == "OnlineEM(8 variables, 300 rows in 3 batches)"


def test_networks_are_values():
    learner = OnlineEM(ASIA, prior="laplace")
    nothing = learner.network
    assert nothing["smoke"].counts.n.tolist() == [0, 0]
    assert nothing["smoke"].probabilities.tolist() == [0.5, 0.5]
    learner.update(ASIA.sample(100, random_state=1))
    first = learner.network
    learner.update(ASIA.sample(100, random_state=2))
    assert nothing["smoke"].probabilities.tolist() == [0.5, 0.5]
    assert not first.isclose(learner.network)
    assert first.update(ASIA.sample(10, random_state=3))["smoke"].counts.total == 110


def test_frozen_tables_and_given_starts():
    learner = after(ASIA, list(with_holes(ASIA, 300, 4).batches(100)), prior="laplace", frozen=["smoke"], init=ASIA)
    assert learner.network["smoke"] is ASIA["smoke"]
    assert not np.allclose(learner.network["bronc"].probabilities, ASIA["bronc"].probabilities)
    fresh = OnlineEM(ASIA, init=ASIA, prior=None).network
    assert fresh.isclose(ASIA)


def test_soft_evidence_and_weights_by_column():
    cases = {"Rain": [None, "no"], "Wet": ["yes", "no"], "n": [3, 1]}
    likelihoods = {"Rain": [[0.0, 1.0], [1.0, 1.0]]}
    learner = OnlineEM("[Rain][Wet|Rain]", states=RAIN, prior=None).update(
        cases, sample_weight="n", virtual_evidence=likelihoods
    )
    assert learner.network["Wet"].counts.n.tolist() == [[1, 0], [0, 3]]
    streamed = fit_parameters_online("[Rain][Wet|Rain]", [cases], states=RAIN, sample_weight="n", prior=None)
    assert streamed.total_weight == 4


@pytest.mark.parametrize("structure", ["[Rain][Wet|Rain]", DAG.parse("[Rain][Wet|Rain]")])
def test_states_by_schema(structure):
    schema = as_table(RAIN).schema
    learner = OnlineEM(structure, states=schema, decay=1, prior=None).update({"Rain": ["no"], "Wet": ["no"]})
    assert learner.network["Rain"].counts.n.tolist() == [1, 0]


def test_progress_may_stop_the_stream():
    seen = []

    def stop(batch):
        seen.append(batch)
        if batch.number == 1:
            raise StopIteration

    learner = fit_parameters_online(ASIA, ASIA.sample(100, random_state=1).batches(10), progress=stop, prior=None)
    assert tuple(seen) == learner.history
    assert learner.total_weight == 20


### mistakes


@pytest.mark.parametrize(
    ("batch", "options", "error", "match"),
    [
        (
            {"Rain": ["no", "hail"], "Wet": ["no", "no"]},
            {},
            UnknownStateError,
            "column 'Rain' has state 'hail' in row 1",
        ),
        ({"Rain": ["no"], "Sun": ["no"]}, {}, UnknownColumnError, "'Wet'"),
        ({"Rain": [], "Wet": []}, {}, EmptyTableError, "no rows"),
        (as_table(RAIN).take([]), {}, EmptyTableError, "the batch has no rows"),
        (RAIN, {"sample_weight": [0, 0]}, EmptyTableError, "the batch has no rows"),
        (RAIN, {"sample_weight": [1, -1]}, WeightError, "must be finite and not negative"),
        (RAIN, {"virtual_evidence": {"Rain": [[1, 0.5], [1, 1]]}}, ParameterError, "row 0 has a value and"),
        ("no/such/file.csv", {}, InputFileNotFoundError, "no/such/file.csv"),
    ],
)
def test_a_bad_batch_leaves_the_learner_as_it_was(batch, options, error, match):
    learner = OnlineEM("[Rain][Wet|Rain]", states=RAIN, prior=None).update(RAIN)
    before, history = learner.network, learner.history
    with pytest.raises(error, match=match):
        learner.update(batch, **options)
    rests_on_the_same(learner.network, before, rtol=0)
    assert (learner.history, learner.total_weight, learner.effective_sample_size) == (history, 2, 2)


def test_what_the_start_rules_out_is_impossible():
    tables = {"Rain": [1.0, 0.0], "Wet": [[0.5, 0.5], [0.5, 0.5]]}
    start = BayesianNetwork.from_tables("[Rain][Wet|Rain]", tables, states=RAIN)
    learner = OnlineEM(start, init=start, prior=None)
    with pytest.raises(ImpossibleDataError, match="row 1 has probability zero"):
        learner.update(RAIN)
    assert learner.history == ()


def test_a_stream_says_in_which_batch_it_broke():
    batches = [RAIN, RAIN, RAIN | {"Rain": ["no", "hail"]}]
    with pytest.raises(UnknownStateError, match="hail") as caught:
        fit_parameters_online("[Rain][Wet|Rain]", batches, states=RAIN, prior=None)
    assert caught.value.__notes__ == ["in batch 2, after 4 rows"]


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        ({"decay": 0.5}, "`decay` must be above 0.5"),
        ({"decay": 1.1}, "`decay` must be at most 1"),
        ({"delay": -1}, "`delay` must be at least 0"),
        ({"step": 0}, "`step` must be above 0"),
        ({"step": 1.5}, "`step` must be at most 1"),
        ({"states": None}, "no states given for 'Rain', 'Wet', and a stream does not show"),
        ({"states": {"Rain": ["no", "yes"]}}, "no states given for 'Wet'"),
        ({"hidden": {"H": 2}}, "hidden variable 'H' is not in the graph"),
        ({"structure": ASIA}, "a network has its states already"),
        ({"init": "somewhere"}, "unexpected value for `init`: 'somewhere'"),
    ],
)
def test_bad_settings(wrong, match):
    settings = {"structure": "[Rain][Wet|Rain]", "states": RAIN} | wrong
    with pytest.raises(ParameterError, match=match):
        OnlineEM(**settings)


@pytest.mark.parametrize("one", [as_table(RAIN), RAIN, "cases.csv"])
def test_a_single_table_is_not_a_stream(one):
    with pytest.raises(ParameterError, match="expected batches of rows, got a single"):
        fit_parameters_online("[Rain][Wet|Rain]", one, states=RAIN, prior=None)
