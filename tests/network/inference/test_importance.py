"""Rare causes: the stated error of a sampled answer is honest, over many seeds, on networks made to mislead it."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeslearn.errors import BayeslearnWarning, ImpossibleEvidenceError
from bayeslearn.network import BayesianNetwork
from bayeslearn.network.formats import read_network
from bayeslearn.network.inference import approximate, gibbs_sampling
from bayeslearn.network.inference.approximate import SampledInference
from bayeslearn.network.inference.forward_sampling import Question
from bayeslearn.network.inference.likelihood_weighting import Proposal, WeightedRun
from tests.network.inference.test_range import leaves, meeting
from tests.oracle import networks as slow
from tests.properties import trials

YES_NO = ["yes", "no"]


def made(arcs, **tables):
    """A network of variables that are yes or no, by the probabilities of yes."""
    full = {name: np.stack([np.asarray(p), 1 - np.asarray(p)], axis=-1) for name, p in tables.items()}
    return BayesianNetwork.from_tables(arcs, full, states=dict.fromkeys(tables, YES_NO))


def rare_cause():
    return made("[Cause][Alarm|Cause]", Cause=1e-5, Alarm=[0.99, 1e-7]), {"Alarm": "yes"}


def chain_of_rare_causes():
    tables = {"A": 1e-3, "B": [0.9, 1e-4], "C": [0.9, 1e-5], "D": [0.95, 1e-6]}
    return made("[A][B|A][C|B][D|C]", **tables), {"D": "yes"}


def explaining_away():
    return made("[A][B][C|A:B]", A=1e-4, B=2e-4, C=[[0.999, 0.99], [0.95, 1e-6]]), {"C": "yes"}


def two_findings():
    tables = {"C": [[0.999, 0.99], [0.95, 1e-6]], "D": [0.9, 1e-3], "E": [0.99, 1e-3]}
    return made("[A][B][C|A:B][D|C][E|B]", A=1e-4, B=2e-4, **tables), {"D": "yes", "E": "yes"}


def diamond():
    tables = {"A": 1e-3, "B": [0.99, 1e-4], "C": [0.99, 1e-4], "D": [[0.99, 1e-3], [1e-3, 1e-6]]}
    return made("[A][B|A][C|A][D|B:C]", **tables), {"D": "yes"}


def either_but_not_both():
    return made("[A][B][C|A:B]", A=0.5, B=0.5, C=[[1e-4, 0.9999], [0.9999, 1e-4]]), {"C": "yes"}


def rare_in_asia():
    return read_network("asia"), {"asia": "yes", "xray": "yes", "dysp": "no"}


def rare_in_alarm():
    network, seen = read_network("alarm"), {}
    for name in ("HRBP", "SAO2", "EXPCO2", "BP"):
        possible = {state: p for state, p in network.query(seen)[name].items() if p > 1e-9}
        seen[name] = min(possible, key=possible.__getitem__)
    return network, seen


def noisy_or(seed, diseases, findings, parents, seen):
    """Rare diseases and findings, a noisy or of some of them each: diseases explain each other away."""
    rng, tables, arcs = np.random.default_rng(seed), {}, []
    for i in range(diseases):
        tables[f"d{i}"] = 10.0 ** rng.uniform(-5, -2)
    for f in range(findings):
        causes, strength = rng.choice(diseases, parents, replace=False), rng.uniform(0.5, 0.99, parents)
        off = np.ones((2,) * parents) * (1 - 1e-6)
        for i in range(parents):
            off *= np.array([1 - strength[i], 1.0]).reshape([2 if axis == i else 1 for axis in range(parents)])
        tables[f"f{f}"] = 1 - off
        arcs += [(f"d{cause}", f"f{f}") for cause in causes]
    return made(arcs, **tables), {f"f{f}": "yes" for f in range(seen)}


def many_causes():
    return noisy_or(0, diseases=12, findings=8, parents=4, seen=5)


NETWORKS = [
    rare_cause, chain_of_rare_causes, explaining_away, two_findings, diamond, either_but_not_both, rare_in_asia,
    rare_in_alarm, many_causes,
]  # fmt: skip


def scores(network, evidence, *, method, n, seeds):
    """How many standard errors each belief is off (seeds, states), and which seeds were warned of."""
    exact, engine, found, warned = network.query(evidence), SampledInference(network), [], []
    for seed in range(seeds):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            answer = engine.query(evidence, method=method, n_samples=n, random_state=seed)
        warned.append(bool(caught))
        found.append(
            [
                abs(answer[name][state] - p) / answer.errors[name][state]
                for name, belief in exact.beliefs.items()
                for state, p in belief.items()
            ]
        )
    return np.array(found), np.array(warned)


### stated errors are honest


@pytest.mark.thorough
@pytest.mark.parametrize("make", NETWORKS)
def test_weighting_states_an_honest_error(make):
    off, warned = scores(*make(), method="likelihood_weighting", n=4096, seeds=200)
    assert (off <= 1.96).mean(axis=0).min() >= 0.89
    assert (off <= 3).mean(axis=0).min() >= 0.97
    assert off[~warned].max(initial=0.0) < 5  # never sure and wrong
    assert warned.mean() < 0.1


@pytest.mark.thorough
@pytest.mark.parametrize("make", NETWORKS[:-2])
def test_gibbs_states_an_honest_error_or_warns(make):
    off, warned = scores(*make(), method="gibbs", n=4096, seeds=40)
    sure = off[~warned]
    assert sure.max(initial=0.0) < 5
    if len(sure) > 20:
        assert (sure <= 3).mean(axis=0).min() >= 0.9


@pytest.mark.thorough
@pytest.mark.parametrize("seed", [4, 6, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2, 3, 5, 7, 8))])
def test_gibbs_states_an_honest_error_of_a_noisy_or(seed):
    """Chains hardly leave one explanation for another: the error is that of the weighted rows that they start from."""
    off, warned = scores(*noisy_or(seed, diseases=5, findings=3, parents=3, seen=3), method="gibbs", n=2048, seeds=200)
    assert (off <= 1.96).mean(axis=0).min() >= 0.87
    assert (off <= 3).mean(axis=0).min() >= 0.97
    assert off[~warned].max(initial=0.0) < 5


@pytest.mark.slow
def test_gibbs_states_an_honest_error_of_many_causes():
    off, warned = scores(*many_causes(), method="gibbs", n=4096, seeds=200)
    assert (off <= 1.96).mean(axis=0).min() >= 0.97
    assert (off <= 3).mean(axis=0).min() >= 0.99
    assert off[~warned].max(initial=0.0) < 3


@pytest.mark.thorough
@pytest.mark.parametrize("make", [chain_of_rare_causes, explaining_away, either_but_not_both])
def test_rejection_states_an_honest_error(make):
    off, _ = scores(*make(), method="rejection", n=40_000, seeds=60)
    assert (off <= 1.96).mean(axis=0).min() >= 0.85
    assert off.max() < 5


def test_a_rare_cause_is_found():
    network, seen = rare_cause()
    answer = SampledInference(network).query(seen, n_samples=4096, random_state=0)
    assert answer["Cause"]["yes"] == pytest.approx(0.99, abs=0.005)
    assert answer.errors["Cause"]["yes"] < 0.005
    assert answer.effective_size > 3000
    assert answer.log_evidence == pytest.approx(network.query(seen).log_evidence, abs=4 * answer.log_evidence_error)
    assert 1 / 4096 <= answer.largest_share < 2 / 4096


def test_a_rare_cause_behind_a_likelihood_is_found():
    network, _ = rare_cause()
    likelihoods = {"Alarm": [1.0, 1e-9]}
    answer = SampledInference(network).query(virtual_evidence=likelihoods, n_samples=4096, random_state=0)
    exact = network.query(virtual_evidence=likelihoods)
    assert abs(answer["Cause"]["yes"] - exact["Cause"]["yes"]) < 4 * answer.errors["Cause"]["yes"] < 0.05
    assert answer.log_evidence == pytest.approx(exact.log_evidence, abs=4 * answer.log_evidence_error)


def test_the_same_seed_gives_the_same_answer_on_any_number_of_threads(monkeypatch):
    network, seen = two_findings()
    found = []
    for threads in ("1", "3"):
        monkeypatch.setenv("BAYESLEARN_THREADS", threads)
        found.append(SampledInference(network).query(seen, n_samples=12_000, random_state=5))
    assert found[0] == found[1]
    assert json.dumps(found[0].to_dict())


### the proposal


@trials(25)
@given(seed=st.integers(0, 100_000))
def test_weights_stay_within_their_bound_and_average_to_the_evidence(seed):
    network = slow.random_network(seed, 6, zeros=0.2)
    evidence = slow.random_evidence(network, seed, share=0.4)
    hidden = [name for name in network.variables if name not in evidence and len(network.states(name)) > 1]
    likelihoods = {hidden[0]: np.linspace(0.1, 3.0, len(network.states(hidden[0])))} if hidden and seed % 2 else {}
    try:
        exact = network.query(evidence, virtual_evidence=likelihoods)
    except ImpossibleEvidenceError:
        return
    question, engine = Question.read(network, evidence, None, likelihoods), SampledInference(network)
    run = WeightedRun(network, engine.flat, question, np.random.default_rng(seed), evidence)
    run.more(1000)
    assert float(run.total.log_unit) <= run.proposal.log_bound + 1e-9
    assert run.total.log_evidence == pytest.approx(exact.log_evidence, abs=6 * run.facts()["log_evidence_error"])


def test_a_chain_without_loops_is_drawn_as_it_is_to_be_believed():
    network, seen = chain_of_rare_causes()
    question, engine = Question.read(network, seen, None, {}), SampledInference(network)
    proposal = Proposal.of(network, engine.flat, question)
    assert proposal.tilted.tolist() == [True, True, True, False]
    assert proposal.cdfs[0, 0] == pytest.approx(network.query(seen)["A"]["yes"], abs=0.01)
    assert proposal.log_bound == pytest.approx(network.query(seen).log_evidence, abs=0.5)


def test_nothing_below_is_nothing_to_propose():
    network, _ = chain_of_rare_causes()
    question, engine = Question.read(network, {"A": "yes"}, None, {}), SampledInference(network)
    proposal = Proposal.of(network, engine.flat, question)
    assert not proposal.tilted.any()
    assert proposal.log_bound == pytest.approx(np.log(1e-3), rel=1e-12)


### numbers too small to multiply


@pytest.mark.parametrize("t", [1e-155, 1e-200, 1e-320])
@pytest.mark.parametrize("method", ["likelihood_weighting", "gibbs"])
def test_weights_and_chains_of_small_numbers(method, t):
    network = meeting(t)
    exact = network.query({"B": "a", "C": "a"})
    answer = SampledInference(network).query({"B": "a", "C": "a"}, method=method, n_samples=4096, random_state=0)
    assert answer["A"]["a"] == pytest.approx(exact["A"]["a"], abs=max(4 * answer.errors["A"]["a"], 1e-9))
    assert answer.errors["A"]["a"] < 0.02
    if method == "likelihood_weighting":
        assert answer.log_evidence == pytest.approx(exact.log_evidence, abs=4 * answer.log_evidence_error + 1e-9)


def test_chains_over_two_thousand_leaves():
    seen = {f"x{i}": "a" for i in range(2000)}
    chains = SampledInference(leaves(2000, 1000)).query(seen, method="gibbs", n_samples=256, random_state=0)
    assert chains["root"]["a"] == pytest.approx(0.25, rel=1e-9)


### warnings


def test_few_draws_that_agree_are_warned_of():
    network = made("[Cause][Alarm|Cause]", Cause=1e-3, Alarm=[0.99, 1e-7])
    with pytest.warns(BayeslearnWarning, match=r"the standard errors are rough: only \d of 4000 draws agree"):
        answer = SampledInference(network).query({"Alarm": "yes"}, method="rejection", n_samples=4000, random_state=1)
    assert answer.errors["Cause"]["yes"] > 0.05


def test_a_draw_that_outweighs_the_others_is_warned_of(monkeypatch):
    monkeypatch.setattr(Proposal, "of", Proposal.prior)  # without messages
    network = made("[Cause][Alarm|Cause]", Cause=1e-3, Alarm=[0.99, 1e-7])
    with pytest.warns(BayeslearnWarning, match=r"one of 2000 draws holds \d+ % of the weight of all"):
        answer = SampledInference(network).query({"Alarm": "yes"}, n_samples=2000, random_state=1)
    assert answer.errors["Cause"]["yes"] > 0.1


@pytest.mark.parametrize("seed", range(5))
def test_a_cause_that_was_not_drawn_is_in_the_error(monkeypatch, seed):
    """The proposal without messages never draws the cause: the error is that of knowing little."""
    monkeypatch.setattr(Proposal, "of", Proposal.prior)
    monkeypatch.setattr("bayeslearn.network.inference.likelihood_weighting.MORE", np.inf)
    network, seen = rare_cause()
    answer = SampledInference(network).query(seen, n_samples=4096, random_state=seed)
    assert answer["Cause"]["yes"] == 0
    assert answer.errors["Cause"]["yes"] > 0.4


def test_chains_that_stay_in_one_part_are_warned_of(monkeypatch):
    monkeypatch.setattr(gibbs_sampling, "BURN_IN", 50)
    sticky = [1 - 1e-9, 1e-9]
    network = made("[A][B|A][C|B]", A=0.1, B=sticky, C=sticky)
    with pytest.warns(BayeslearnWarning, match=r"Gibbs chains may have missed a part of the states: after \d+ sweeps"):
        answer = SampledInference(network).query(method="gibbs", n_samples=512, random_state=2)
    assert answer.rhat == 1
    assert abs(answer["A"]["yes"] - 0.1) <= 1.96 * answer.errors["A"]["yes"]


def test_limits_of_warnings():
    assert approximate.LONE == 0.1
    assert (
        SampledInference(rare_cause()[0]).query(n_samples=9, random_state=0).draws == 9
    )  # few draws that were asked for are no surprise
