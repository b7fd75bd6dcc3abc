"""Soft evidence against iterative proportional fitting of the enumerated joint, and how it fails."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from bayeslearn.errors import (
    ImpossibleEvidenceError,
    ParameterError,
    ProbabilityError,
    SoftEvidenceError,
    UnknownColumnError,
    UnknownStateError,
)
from bayeslearn.network import BayesianNetwork, ExactInference
from tests.oracle import networks as slow

seeds = st.integers(0, 100_000)


def rain():
    return BayesianNetwork.from_tables(
        "[Rain][Sprinkler|Rain][Wet|Rain:Sprinkler]",
        {
            "Rain": [0.2, 0.8],
            "Sprinkler": [[0.01, 0.99], [0.4, 0.6]],
            "Wet": [[[0.99, 0.01], [0.8, 0.2]], [[0.9, 0.1], [0.0, 1.0]]],
        },
        states={name: ["yes", "no"] for name in ("Rain", "Sprinkler", "Wet")},
    )


def chain(noise=0.0):
    """Three variables, each the one before it but for some noise."""
    copy = [[1 - noise, noise], [noise, 1 - noise]]
    return BayesianNetwork.from_tables(
        "[A][B|A][C|B]", {"A": [0.5, 0.5], "B": copy, "C": copy}, states={name: ["yes", "no"] for name in "ABC"}
    )


def random_question(seed, n, *, zeros=0.0, targets=3):
    """A network, hard and virtual evidence, and targets for some of the other variables."""
    network, rng = slow.random_network(seed, n, zeros=zeros), np.random.default_rng(seed)
    evidence = slow.random_evidence(network, seed, share=0.2)
    free = [name for name in rng.permutation(network.variables).tolist() if name not in evidence]
    sizes = {name: len(network.states(name)) for name in free}
    wanted = {name: rng.dirichlet(np.ones(sizes[name])) for name in free[:targets]}
    likelihoods = {name: rng.random(sizes[name]) + 0.01 for name in free[targets:][:1]}
    return network, evidence, likelihoods, wanted


def beliefs(answer):
    return np.array([p for belief in answer.beliefs.values() for p in belief.values()])


### laws


@given(seed=seeds, n=st.integers(1, 6), zeros=st.sampled_from([0.0, 0.3]))
def test_the_nearest_of_all_that_meet_the_targets(seed, n, zeros):
    network, evidence, likelihoods, targets = random_question(seed, n, zeros=zeros)
    p = slow.given(network, evidence, likelihoods)
    assume(p.sum() > 0)
    q = slow.projected(p, {network.variables.index(name): target for name, target in targets.items()})
    assume(q is not None)

    answer = ExactInference(network).query(evidence, virtual_evidence=likelihoods, soft_evidence=targets)

    assert answer.log_evidence == pytest.approx(np.log(p.sum()), rel=1e-12, abs=1e-12)
    assert set(answer.beliefs) == set(network.variables) - set(evidence)
    for name, belief in answer.beliefs.items():
        expected = slow.marginal(q, network.variables.index(name))
        np.testing.assert_allclose(list(belief.values()), expected, rtol=0, atol=1e-9)
        np.testing.assert_allclose(list(belief.values()), targets.get(name, expected), rtol=0, atol=1e-9)


@given(seed=seeds, n=st.integers(2, 6))
def test_one_target_is_jeffreys_rule(seed, n):
    network, evidence, likelihoods, targets = random_question(seed, n, targets=1)
    assume(targets)
    engine, [(v, target)] = ExactInference(network), targets.items()

    answer = engine.query(evidence, virtual_evidence=likelihoods, soft_evidence=targets)

    given_v = [beliefs(engine.query({**evidence, v: s}, virtual_evidence=likelihoods, variables=answer.beliefs))
               for s in network.states(v)]  # fmt: skip
    np.testing.assert_allclose(beliefs(answer), target @ np.array(given_v), rtol=0, atol=1e-12)


@given(seed=seeds, n=st.integers(2, 6))
def test_targets_that_are_met_already_change_nothing(seed, n):
    network, evidence, likelihoods, targets = random_question(seed, n)
    before = ExactInference(network).query(evidence, virtual_evidence=likelihoods)
    after = ExactInference(network).query(
        evidence, virtual_evidence=likelihoods, soft_evidence={name: before[name] for name in targets}
    )
    np.testing.assert_allclose(beliefs(after), beliefs(before), rtol=0, atol=1e-12)


@given(seed=seeds, n=st.integers(2, 6))
def test_a_certain_target_is_an_observation(seed, n):
    network = slow.random_network(seed, n)
    name = network.variables[seed % n]
    certain = {state: float(state == "s0") for state in network.states(name)}
    soft = ExactInference(network).query(soft_evidence={name: certain})
    hard = ExactInference(network).query({name: "s0"}, variables=network.variables)
    np.testing.assert_allclose(beliefs(soft), beliefs(hard), rtol=0, atol=1e-12)


@given(seed=seeds, n=st.integers(2, 6))
def test_order_of_targets_is_irrelevant(seed, n):
    network, _, _, targets = random_question(seed, n)
    one = ExactInference(network).query(soft_evidence=targets)
    other = ExactInference(network).query(soft_evidence=dict(reversed(targets.items())))
    np.testing.assert_allclose(beliefs(one), beliefs(other), rtol=0, atol=1e-9)


### what a person gets


def test_by_hand():
    answer = rain().query(soft_evidence={"Rain": [0.7, 0.3]})
    assert answer["Rain"] == pytest.approx({"yes": 0.7, "no": 0.3}, rel=1e-12)
    assert answer["Sprinkler"]["yes"] == pytest.approx(0.7 * 0.01 + 0.3 * 0.4, rel=1e-12)
    assert answer.log_evidence == pytest.approx(0, abs=1e-12)


def test_numbers_by_name_of_state():
    engine = ExactInference(rain())
    by_name, in_order = {"no": 0.3, "yes": 0.7}, [0.7, 0.3]
    assert engine.query(soft_evidence={"Rain": by_name}) == engine.query(soft_evidence={"Rain": in_order})
    assert engine.query(virtual_evidence={"Rain": by_name}) == engine.query(virtual_evidence={"Rain": in_order})


def test_one_target_needs_one_step(monkeypatch):
    seen = []
    query = ExactInference.query
    monkeypatch.setattr(ExactInference, "query", lambda self, *a, **k: seen.append(k) or query(self, *a, **k))
    ExactInference(rain()).query({"Wet": "yes"}, soft_evidence={"Rain": [0.7, 0.3]})
    assert len(seen) == 4  # the question, before, after, the answer


def test_asking_for_a_few():
    few = rain().query({"Wet": "yes"}, soft_evidence={"Sprinkler": [0.5, 0.5]}, variables=["Rain"])
    whole = rain().query({"Wet": "yes"}, soft_evidence={"Sprinkler": [0.5, 0.5]})
    assert few.beliefs == {"Rain": pytest.approx(whole["Rain"], rel=1e-12)}


def test_targets_that_all_but_contradict_each_other_are_met():
    answer = chain(noise=1e-12).query(soft_evidence={"A": [0.3, 0.7], "C": [0.7, 0.3]})
    assert [answer[name]["yes"] for name in "ABC"] == pytest.approx([0.3, 0.5, 0.7], abs=1e-9)


### how it fails


def test_a_target_for_an_impossible_state():
    with pytest.raises(ImpossibleEvidenceError, match=r"Wet=yes has the target 0\.3, but is impossible") as caught:
        rain().query({"Rain": "no", "Sprinkler": "no"}, soft_evidence={"Wet": [0.3, 0.7]})
    assert caught.value.details == {"conflict": ["Wet"], "state": "yes"}


def test_impossible_evidence_is_named_as_without_targets():
    with pytest.raises(ImpossibleEvidenceError, match="A=yes, B=no cannot be together"):
        chain().query({"A": "yes", "B": "no"}, soft_evidence={"C": [0.3, 0.7]})


@pytest.mark.parametrize("p", [0.51, 0.7, 0.999, 1 - 1e-9, 1.0])
def test_targets_that_contradict_each_other(p):
    expected = rf"the targets of 'A', 'C' are not met together: '[AC]' stays off by {2 * p - 1:.2g}"
    with pytest.raises(SoftEvidenceError, match=expected) as caught:
        chain().query(soft_evidence={"A": [p, 1 - p], "C": [1 - p, p]})
    assert max(caught.value.details["off"].values()) == pytest.approx(2 * p - 1, rel=1e-6)


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"soft_evidence": {"Snow": [1, 0]}}, UnknownColumnError, "there is no variable 'Snow'"),
        (
            {"soft_evidence": {"Rain": [0.7, 0.7]}},
            ProbabilityError,
            r"`target of Rain` must sum to 1, got a sum of 1\.4",
        ),
        (
            {"soft_evidence": {"Rain": [1.5, -0.5]}},
            ProbabilityError,
            "`target of Rain` must be finite and not negative",
        ),
        (
            {"soft_evidence": {"Rain": [1.0]}},
            ParameterError,
            r"the target of 'Rain' needs a number for each of 'yes', 'no'",
        ),
        (
            {"soft_evidence": {"Rain": {"yes": 1}}},
            ParameterError,
            "'Rain' needs a number for each .* got none for 'no'",
        ),
        ({"soft_evidence": {"Rain": {"yes": 1, "si": 0}}}, UnknownStateError, "'Rain' has no state 'si'"),
        ({"soft_evidence": {"Rain": ["a", "b"]}}, ParameterError, "`target of Rain` must be numbers"),
        ({"soft_evidence": {"Wet": [1, 0]}}, ParameterError, "'Wet' is observed already, so it cannot have a target"),
        (
            {"soft_evidence": {"Rain": [1, 0]}, "virtual_evidence": {"Rain": [1, 2]}},
            ParameterError,
            "'Rain' has a likelihood already, so it cannot have a target",
        ),
        (
            {"virtual_evidence": {"Rain": {"yes": 1}}},
            ParameterError,
            "'Rain' needs a number for each .* got none for 'no'",
        ),
    ],
)
def test_bad_questions(options, error, match):
    with pytest.raises(error, match=match):
        rain().query({"Wet": "yes"}, **options)
