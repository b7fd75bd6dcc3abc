"""Networks averaged against their joint distributions added up."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeslearn.errors import ImpossibleEvidenceError, MismatchError, ParameterError, ProbabilityError, ShapeError
from bayeslearn.network import DAG, BayesianNetwork, fit_parameters
from bayeslearn.network.structure.uncertainty.model_averaging import AveragedNetworks
from tests.oracle import networks as slow
from tests.properties import trials


def several(seed, n=4, zeros=0.0):
    """Networks of different graphs over the variables and states of one."""
    base = slow.random_network(seed, n, zeros=zeros)
    rows = base.sample(30, random_state=seed)
    rng = np.random.default_rng(seed)
    found = [base]
    for _ in range(2):
        order = rng.permutation(base.variables).tolist()
        arcs = [(order[i], order[j]) for j in range(n) for i in range(j) if rng.random() < 0.4]
        states = {name: base.states(name) for name in base.variables}
        dag = DAG.from_arcs(arcs, nodes=base.variables)
        found.append(fit_parameters(dag, rows, states=states, prior="bdeu:2"))
    return AveragedNetworks(found, [0.5, 0.3, 0.2])


def joint(averaged):
    """The joint of each network, axes as in the first, weighed and added."""
    names = averaged.networks[0].variables
    return sum(
        w * slow.joint(net).transpose([net.variables.index(name) for name in names])
        for net, w in zip(averaged.networks, averaged.probabilities, strict=True)
    )


def picked(p, network, evidence):
    for axis, name in enumerate(network.variables):
        if name in evidence:
            weight = [float(state == evidence[name]) for state in network.states(name)]
            p = p * np.reshape(weight, [-1 if a == axis else 1 for a in range(p.ndim)])
    return p


@given(seed=st.integers(0, 10_000))
@trials(30)
def test_beliefs_are_those_of_the_mixture(seed):
    averaged = several(seed)
    first = averaged.networks[0]
    evidence = slow.random_evidence(first, seed)
    found = averaged.query(evidence)
    p = picked(joint(averaged), first, evidence)
    assert found.log_evidence == pytest.approx(np.log(p.sum()), rel=1e-9, abs=1e-9)
    for axis, name in enumerate(first.variables):
        if name not in evidence:
            np.testing.assert_allclose(list(found[name].values()), slow.marginal(p, axis), atol=1e-9)


@given(seed=st.integers(0, 10_000))
@trials(15)
def test_many_cases_are_each_like_one(seed):
    averaged = several(seed)
    table = averaged.networks[0].sample(6, random_state=seed)
    a, b = averaged.networks[0].variables[:2]
    hidden = table.mask([a, b])
    found = averaged.predict_proba(hidden, variables=[a])
    picks = averaged.predict(table.mask([b]), a)
    p = joint(averaged)
    np.testing.assert_allclose(averaged.log_likelihood(hidden), found.log_evidence)
    for i in range(6):
        case = {
            v.name: v.states[table.codes[k, i]] for k, v in enumerate(table.schema.discrete) if v.name not in {a, b}
        }
        one = averaged.query(case, variables=[a])
        np.testing.assert_allclose(found[a][i], list(one[a].values()), atol=1e-9)
        assert found.log_evidence[i] == pytest.approx(np.log(picked(p, averaged.networks[0], case).sum()), abs=1e-9)
        assert one[a][picks[i]] == pytest.approx(max(one[a].values()))


def test_the_book_votes_against_the_most_probable_hypothesis():
    says = [BayesianNetwork.from_tables("[v]", {"v": p}, states={"v": ["+", "-"]}) for p in ([1, 0], [0, 1], [0, 1])]
    averaged = AveragedNetworks(says, [0.4, 0.3, 0.3])
    assert averaged.query()["v"] == pytest.approx({"+": 0.4, "-": 0.6})
    assert averaged.predict([{"v": None}], "v").tolist() == ["-"]


def test_a_network_that_thinks_it_impossible_has_no_say():
    states = {"a": ["x", "y"], "b": ["x", "y"]}
    sure = BayesianNetwork.from_tables("[a][b|a]", {"a": [1, 0], "b": [[1, 0], [0.5, 0.5]]}, states=states)
    open_ = BayesianNetwork.from_tables("[a][b]", {"a": [0.5, 0.5], "b": [0.25, 0.75]}, states=states)
    averaged = AveragedNetworks([sure, open_], [0.5, 0.5])
    assert averaged.query({"a": "y"})["b"] == pytest.approx({"x": 0.25, "y": 0.75})
    np.testing.assert_allclose(averaged.predict_proba([{"a": "y"}, {"a": "x"}])["b"][0], [0.25, 0.75])
    np.testing.assert_allclose(averaged.predict_proba([{"a": "y"}])["b"], [[0.25, 0.75]])
    only = AveragedNetworks([sure, sure], [0.5, 0.5])
    with pytest.raises(ImpossibleEvidenceError, match="a=y cannot be"):
        only.query({"a": "y"})
    with pytest.raises(ImpossibleEvidenceError, match="row 1 is impossible"):
        only.predict_proba([{"a": "x"}, {"a": "y"}])
    assert only.log_likelihood([{"a": "y"}]).tolist() == [-np.inf]


def test_tables_are_learned_for_the_heaviest_graphs():
    table = slow.random_network(1, 3).sample(50, random_state=1)
    a, b, c = table.schema.names
    graphs = [DAG.from_arcs(arcs, nodes=(a, b, c)) for arcs in ([], [(a, b)], [(a, b), (b, c)])]
    averaged = AveragedNetworks.fit(zip(graphs, [0.1, 0.3, 0.6], strict=True), table, max_networks=2)
    assert [net.dag for net in averaged.networks] == [graphs[2], graphs[1]]
    assert averaged.probabilities == pytest.approx([2 / 3, 1 / 3])
    assert np.isfinite(averaged.log_likelihood(table)).all()


def test_bad_input_is_named():
    one, other = slow.random_network(1, 3), slow.random_network(2, 4)
    with pytest.raises(ParameterError, match="at least one network"):
        AveragedNetworks([], [])
    with pytest.raises(ShapeError, match=r"shape \(1,\), got \(2,\)"):
        AveragedNetworks([one], [0.5, 0.5])
    with pytest.raises(ProbabilityError, match="sum to 1"):
        AveragedNetworks([one, one], [0.5, 0.6])
    with pytest.raises(MismatchError, match="variables and states are the same"):
        AveragedNetworks([one, other], [0.5, 0.5])
    with pytest.raises(ParameterError, match="max_networks"):
        AveragedNetworks.fit([(one.dag, 1.0)], one.sample(5, random_state=0), max_networks=0)
