"""Sensitivities against networks whose tables were changed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from bayeslearn import read_network
from bayeslearn.errors import ParameterError, UnknownStateError
from bayeslearn.network import CPT, BayesianNetwork
from tests.oracle import networks as slow
from tests.properties import trials


def changed(network, name, cell, value):
    """The network with one number set and the rest of its row scaled to make room."""
    cpt = network[name]
    p = cpt.probabilities.copy()
    row, k = p[cell[:-1]], cell[-1]
    others = np.arange(len(row)) != k
    share = row[others] / row[others].sum() if row[others].sum() > 0 else np.full(others.sum(), 1 / others.sum())
    row[others], row[k] = share * (1 - value), value
    return BayesianNetwork(tuple(CPT(c.variable, c.parents, p) if c is cpt else c for c in network))


def belief(network, evidence, target, state):
    p = slow.given(network, evidence)
    k = network.states(target).index(state)
    return np.take(p, k, axis=network.variables.index(target)).sum() / p.sum() if p.sum() > 0 else None


@trials(25)
@given(seed=st.integers(0, 100_000), n=st.integers(2, 5), zeros=st.sampled_from([0.0, 0.4]))
def test_values_at_zero_and_one_and_the_slope(seed, n, zeros):
    network = slow.random_network(seed, n, zeros=zeros)
    target = network.variables[seed % n]
    evidence = {name: s for name, s in slow.random_evidence(network, seed).items() if name != target}
    assume(slow.given(network, evidence).sum() > 1e-9)
    state = network.states(target)[-1]

    found = network.sensitivity(evidence, target, state)

    assert found.belief == pytest.approx(belief(network, evidence, target, state), abs=1e-12)
    for cell in found.cells():
        cpt = network[cell.variable]
        if cpt.variable.n_states == 1:
            assert cell.derivative == 0
            continue
        place = (*(v.states.index(cell.given[v.name]) for v in cpt.parents), cpt.variable.states.index(cell.state))
        for value, ours in ((0.0, cell.at_zero), (1.0, cell.at_one)):
            other = belief(changed(network, cell.variable, place, value), evidence, target, state)
            assert ours == pytest.approx(found.belief if other is None else other, abs=1e-8)
        step = 1e-6 if cell.p < 0.5 else -1e-6
        near = belief(changed(network, cell.variable, place, cell.p + step), evidence, target, state)
        assert cell.derivative == pytest.approx((near - found.belief) / step, rel=2e-3, abs=2e-4)


def test_the_most_influential_cells_come_first():
    network = read_network("asia")
    cells = list(network.sensitivity({"xray": "yes"}, "lung", "yes").cells())
    assert len(cells) == sum(cpt.probabilities.size for cpt in network)
    slopes = [abs(cell.derivative) for cell in cells]
    assert slopes == sorted(slopes, reverse=True)
    assert {cells[0].variable, cells[1].variable} <= {"lung", "tub", "xray"}
    assert all(abs(cell.derivative) < 1e-12 for cell in cells if cell.variable in {"bronc", "dysp"})


def test_an_observed_target_or_an_unknown_state_is_refused():
    network = read_network("asia")
    with pytest.raises(ParameterError, match="the target 'lung' is observed"):
        network.sensitivity({"lung": "yes"}, "lung", "yes")
    with pytest.raises(UnknownStateError, match="maybe"):
        network.sensitivity({}, "lung", "maybe")
