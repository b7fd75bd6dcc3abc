"""Loopy belief propagation: exact on trees, near on loops, and honest when it does not settle."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from bayeslearn.errors import ConvergenceWarning, ImpossibleEvidenceError, ParameterError, UnknownColumnError
from bayeslearn.network import BayesianNetwork
from bayeslearn.network.formats import read_network
from bayeslearn.network.inference.loopy_propagation import LoopyPropagation
from tests.oracle import networks as slow
from tests.properties import trials

seeds = st.integers(0, 100_000)


def polytree(seed, n):
    """Arcs of a random tree, each turned at random: nodes with many parents and no loop."""
    rng = np.random.default_rng(seed)
    arcs = [(f"x{i}", f"x{rng.integers(i)}") for i in range(1, n)]
    arcs = [arc if rng.random() < 0.5 else arc[::-1] for arc in arcs]
    states = {f"x{i}": [f"s{k}" for k in range(rng.integers(1, 4))] for i in range(n)}
    tables = {}
    for name, own in states.items():
        shape = [len(states[a]) for a, b in arcs if b == name] + [len(own)]
        tables[name] = rng.dirichlet(np.ones(shape[-1]), size=shape[:-1])
    return BayesianNetwork.from_tables(arcs, tables, states=states)


@trials(40)
@given(seed=seeds, n=st.integers(1, 7))
def test_exact_on_trees(seed, n):
    network = polytree(seed, n)
    rng = np.random.default_rng(seed)
    evidence = slow.random_evidence(network, seed)
    likelihoods = {
        name: rng.random(len(network.states(name))) + 0.01
        for name in network.variables
        if name not in evidence and rng.random() < 0.2
    }
    p = slow.given(network, evidence, likelihoods)
    assume(p.sum() > 0)

    answer = LoopyPropagation(network).query(evidence, virtual_evidence=likelihoods, tol=1e-13)

    assert answer.converged
    assert answer.log_evidence == pytest.approx(np.log(p.sum()), rel=1e-10, abs=1e-10)
    for axis, name in enumerate(network.variables):
        if name not in evidence:
            np.testing.assert_allclose(list(answer[name].values()), slow.marginal(p, axis), rtol=0, atol=1e-10)


def test_near_on_a_network_with_loops():
    network = read_network("asia")
    answer, exact = LoopyPropagation(network).query({"dysp": "yes"}), network.query({"dysp": "yes"})
    assert answer.converged
    for name, belief in exact.beliefs.items():
        assert answer[name]["yes"] == pytest.approx(belief["yes"], abs=0.02)
    assert answer.log_evidence == pytest.approx(exact.log_evidence, abs=0.02)


def test_asking_for_a_few():
    network = polytree(3, 7)
    whole, few = (
        LoopyPropagation(network).query(tol=1e-13),
        LoopyPropagation(network).query(variables=["x4"], tol=1e-13),
    )
    assert few["x4"] == pytest.approx(whole["x4"], abs=1e-12)
    assert set(few.to_dict()["beliefs"]) == {"x4"}


def test_what_was_seen_is_certain():
    assert LoopyPropagation(read_network("asia")).query({"smoke": "yes"}, variables=["smoke"])["smoke"] == {
        "yes": 1.0,
        "no": 0.0,
    }


def test_many_children_do_not_underflow():
    names = [f"c{i}" for i in range(800)]
    tables = {"root": [0.5, 0.5]} | {name: [[0.3, 0.7], [0.2, 0.8]] for name in names}
    network = BayesianNetwork.from_tables([("root", n) for n in names], tables, states={n: ["a", "b"] for n in tables})
    seen = {name: "a" if i < 200 else "b" for i, name in enumerate(names)}
    odds = np.exp(200 * np.log(0.3 / 0.2) + 600 * np.log(0.7 / 0.8))
    assert LoopyPropagation(network).query(seen)["root"]["a"] == pytest.approx(odds / (1 + odds), rel=1e-9)


### how it fails


def test_messages_that_do_not_settle_are_warned_of():
    with pytest.warns(ConvergenceWarning, match="stopped after 2 iterations, messages still change by"):
        answer = LoopyPropagation(read_network("asia")).query({"dysp": "yes"}, max_iter=2)
    assert not answer.converged
    assert answer.change > 1e-9


def test_impossible_evidence():
    with pytest.raises(ImpossibleEvidenceError, match="tub=no, lung=no, either=yes cannot be together"):
        LoopyPropagation(read_network("asia")).query({"tub": "no", "lung": "no", "either": "yes"})
    with pytest.raises(ImpossibleEvidenceError, match="the likelihood of smoke cannot be"):
        LoopyPropagation(read_network("asia")).query(virtual_evidence={"smoke": [0, 0]})


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"damping": 1}, ParameterError, "`damping` must be below 1, got 1"),
        ({"max_iter": 0}, ParameterError, "`max_iter` must be at least 1"),
        ({"tol": -1}, ParameterError, "`tol` must be at least 0"),
        ({"variables": ["snow"]}, UnknownColumnError, "there is no variable 'snow'"),
    ],
)
def test_bad_questions(options, error, match):
    with pytest.raises(error, match=match):
        LoopyPropagation(read_network("asia")).query(**options)
    with pytest.raises(ParameterError, match="no posterior for 'tub'"):
        LoopyPropagation(read_network("asia")).query(variables=["lung"])["tub"]
