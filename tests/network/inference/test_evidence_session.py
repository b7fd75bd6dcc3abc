"""Evidence added and taken back: the same answers as fresh questions, on the plans that are there."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeslearn import read_network
from bayeslearn.errors import ImpossibleEvidenceError, ParameterError, UnknownColumnError, UnknownStateError
from bayeslearn.network.inference.compiled_network import Compiled
from tests.oracle import networks as slow

seeds = st.integers(0, 100_000)


def asia():
    return read_network("asia").inference.session()


### laws


@given(seed=seeds, n=st.integers(1, 6), steps=st.integers(1, 8))
def test_every_step_equals_a_fresh_question(seed, n, steps):
    network, rng = slow.random_network(seed, n), np.random.default_rng(seed)
    session, seen, weighed = network.inference.session(), {}, {}
    for _ in range(steps):
        name = str(rng.choice(network.variables))
        there = name in seen or name in weighed
        what = rng.choice(["observe", "weigh", "retract"] if there else ["observe", "weigh"])
        seen.pop(name, None), weighed.pop(name, None)
        if what == "observe":
            seen[name] = rng.choice(network.states(name)).item()
            session.observe({name: seen[name]})
        elif what == "weigh":
            weighed[name] = (rng.random(len(network.states(name))) + 0.01).tolist()
            session.weigh(name, weighed[name])
        else:
            session.retract(name)

        fresh = network.query(seen, virtual_evidence=weighed, variables=network.variables)
        assert session.beliefs == fresh
        assert session.log_evidence == pytest.approx(fresh.log_evidence, rel=1e-11, abs=1e-12)
        assert (session.evidence, session.virtual_evidence) == (seen, weighed)


def test_plans_are_made_once(monkeypatch):
    made = []
    tried = Compiled.tried
    monkeypatch.setattr(Compiled, "tried", lambda self, *a: made.append(a) or tried(self, *a))
    session = asia().observe(smoke="yes")
    compiled, before = session.engine.compiled, session.beliefs
    hidden = np.array([name != "smoke" for name in session.engine.network.variables])
    plan = compiled.plan(hidden, compiled.all)

    session.observe(xray="yes")
    assert session.beliefs != before
    count = len(made)
    session.retract("xray")

    assert session.beliefs == before
    assert compiled.plan(hidden, compiled.all) is plan
    session.observe(xray="no")
    assert session["lung"]["yes"] < before["lung"]["yes"]
    assert len(made) == count


def test_beliefs_are_found_when_asked_for_and_kept():
    session = asia().observe(smoke="yes")
    assert session._beliefs is None
    assert session.beliefs is session.beliefs
    assert session.observe(xray="yes")._beliefs is None


### what a person gets


def test_ways_to_say_it():
    session = asia().observe({"smoke": "yes"}, xray="yes").weigh("dysp", {"no": 0.1, "yes": 0.8})
    assert session.evidence == {"smoke": "yes", "xray": "yes"}
    assert session.virtual_evidence == {"dysp": [0.8, 0.1]}
    assert repr(session) == "EvidenceSession(smoke='yes', xray='yes', dysp=[0.8, 0.1])"
    assert session.beliefs.most_probable("lung") == "yes"
    assert session["smoke"] == {"yes": 1.0, "no": 0.0}


def test_a_new_piece_takes_the_place_of_the_old():
    session = asia().weigh("smoke", [0.9, 0.1]).observe(smoke="no")
    assert (session.evidence, session.virtual_evidence) == ({"smoke": "no"}, {})
    session.weigh("smoke", [0.9, 0.1])
    assert (session.evidence, session.virtual_evidence) == ({}, {"smoke": [0.9, 0.1]})


def test_taking_everything_back():
    session = asia().observe(smoke="yes", xray="yes").weigh("dysp", [0.8, 0.1])
    assert session.retract("smoke", "dysp").evidence == {"xray": "yes"}
    session.clear()
    assert (session.evidence, session.virtual_evidence, session.log_evidence) == ({}, {}, 0.0)
    assert session.beliefs == asia().beliefs
    assert repr(session) == "EvidenceSession()"


def test_what_was_given_is_copied():
    given, seen = np.array([0.9, 0.1]), {"xray": "yes"}
    session = asia().observe(seen).weigh("smoke", given)
    given[:], seen["tub"], session.evidence["tub"] = 1, "yes", "yes"
    assert (session.evidence, session.virtual_evidence) == ({"xray": "yes"}, {"smoke": [0.9, 0.1]})


### how it fails


@pytest.mark.parametrize(
    ("step", "error", "match"),
    [
        (lambda s: s.observe(either="yes"), ImpossibleEvidenceError, "tub=no, lung=no, either=yes cannot be together"),
        (lambda s: s.weigh("either", [1, 0]), ImpossibleEvidenceError, "the likelihood of either cannot be together"),
        (lambda s: s.observe(snow="yes"), UnknownColumnError, "there is no variable 'snow'"),
        (lambda s: s.observe(xray="maybe"), UnknownStateError, "'xray' has no state 'maybe'"),
        (lambda s: s.weigh("snow", [1, 0]), UnknownColumnError, "there is no variable 'snow'"),
        (lambda s: s.weigh("xray", [1, -1]), ParameterError, "`likelihood of xray` must be finite and not negative"),
        (lambda s: s.weigh("xray", [1, [2]]), ParameterError, "`xray` must be numbers"),
        (lambda s: s.weigh("xray", [1]), ParameterError, "the likelihood of 'xray' needs a number for each"),
        (lambda s: s.retract("xray"), ParameterError, "there is no evidence on 'xray' to retract"),
        (lambda s: s["snow"], UnknownColumnError, "there is no variable 'snow'"),
    ],
)
def test_a_failure_leaves_the_session_as_it_was(step, error, match):
    session = asia().observe(tub="no", lung="no")
    beliefs, log_evidence = session.beliefs, session.log_evidence
    with pytest.raises(error, match=match):
        step(session)
    assert (session.evidence, session.virtual_evidence) == ({"tub": "no", "lung": "no"}, {})
    assert (session.beliefs, session.log_evidence) == (beliefs, log_evidence)


def test_nothing_to_take_back():
    with pytest.raises(ParameterError, match="hint: there is none"):
        asia().retract("xray")
