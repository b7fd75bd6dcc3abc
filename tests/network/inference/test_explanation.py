"""Explanations against enumeration."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from bayeslearn import read_network
from bayeslearn.errors import ParameterError
from tests.oracle import networks as slow


@given(seed=st.integers(0, 100_000), n=st.integers(2, 6))
def test_against_enumeration(seed, n):
    network = slow.random_network(seed, n)
    target = network.variables[seed % n]
    evidence = {name: s for name, s in slow.random_evidence(network, seed, share=0.5).items() if name != target}
    assume(evidence)
    axis = network.variables.index(target)

    reasons = network.explain(evidence, target)

    p = slow.given(network, evidence)
    np.testing.assert_allclose(list(reasons.belief.values()), slow.marginal(p, axis), rtol=0, atol=1e-12)
    apart = sum(np.log(slow.given(network, {name: s}).sum()) for name, s in evidence.items())
    assert reasons.conflict == pytest.approx(apart - np.log(p.sum()), rel=1e-9, abs=1e-10)
    for impact in reasons.impacts:
        rest = {name: s for name, s in evidence.items() if name != impact.name}
        q = slow.given(network, rest)
        np.testing.assert_allclose(list(impact.without.values()), slow.marginal(q, axis), rtol=0, atol=1e-12)
        for k, state in enumerate(network.states(target)):
            hit, rest_hit = (np.take(x, k, axis=axis).sum() for x in (p, q))
            miss, rest_miss = p.sum() - hit, q.sum() - rest_hit
            if min(hit, miss, rest_hit, rest_miss) > 1e-12:
                expected = (hit / rest_hit) / (miss / rest_miss)
                assert impact.bayes_factor[state] == pytest.approx(expected, rel=1e-8)


@given(seed=st.integers(0, 100_000), n=st.integers(2, 6))
def test_information_is_mutual_information(seed, n):
    network = slow.random_network(seed, n)
    target = network.variables[seed % n]
    evidence = {name: s for name, s in slow.random_evidence(network, seed, share=0.2).items() if name != target}
    p = slow.given(network, evidence) / slow.given(network, evidence).sum()
    t = network.variables.index(target)

    information = network.explain(evidence, target).information

    assert list(information.values()) == sorted(information.values(), reverse=True)
    for name, bits in information.items():
        v = network.variables.index(name)
        joint = p.sum(axis=tuple(a for a in range(n) if a not in {t, v}))
        product = joint.sum(axis=0, keepdims=True) * joint.sum(axis=1, keepdims=True)
        seen = joint > 0
        assert bits == pytest.approx((joint[seen] * np.log2(joint[seen] / product[seen])).sum(), abs=1e-10)


def test_evidence_without_influence_has_factor_one():
    reasons = read_network("asia").explain({"asia": "yes", "smoke": "yes"}, "bronc")
    by_name = {impact.name: impact.bayes_factor["yes"] for impact in reasons.impacts}
    assert by_name["asia"] == pytest.approx(1, rel=1e-12)
    assert by_name["smoke"] > 1


def test_certainty_has_an_infinite_factor():
    reasons = read_network("asia").explain({"lung": "yes"}, "either")
    assert reasons.impacts[0].bayes_factor["yes"] == math.inf


def test_an_observed_target_needs_no_explanation():
    with pytest.raises(ParameterError, match="the target 'smoke' is observed"):
        read_network("asia").explain({"smoke": "yes"}, "smoke")
