"""States that a network gains."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from bayeslearn import fit_parameters, read_network, write_network
from bayeslearn.distributions import Dirichlet
from bayeslearn.errors import FormatError, MismatchError, ParameterError, UnknownColumnError
from bayeslearn.network import CPT, BayesianNetwork, NetworkPrior
from bayeslearn.network.states import add_states
from bayeslearn.tables import DiscreteVariable

ROWS = {"A": ["x", "y", "x", "x"], "B": ["u", "v", "u", "v"]}
MORE = {"A": ["x", "y", "z"], "B": ["u", "v", "w"]}
GRAPH = "[A][B|A]"
RULES = ["bdeu:1", "bdeu:7.5", "laplace", "jeffreys", "m:2", None, {"A": "laplace", "B": "bdeu:3"}]


@pytest.mark.parametrize("prior", RULES)
def test_a_grown_network_is_that_of_the_same_rows_with_declared_states(prior):
    small = fit_parameters(GRAPH, ROWS, prior=prior)
    large = fit_parameters(GRAPH, ROWS, prior=prior, states=MORE)
    grown = small.add_states({"A": ["z"], "B": ["w"]})
    assert grown.schema == large.schema
    for cpt in grown:
        assert_allclose(cpt.probabilities, large[cpt.name].probabilities, rtol=1e-12)
        assert_allclose(cpt.alpha, large[cpt.name].alpha, rtol=1e-12)
        assert cpt.counts == large[cpt.name].counts


@given(st.permutations(["z", "q", "r"]), st.integers(0, 3))
def test_in_one_go_or_in_several(new, cut):
    net = fit_parameters(GRAPH, ROWS, prior="bdeu:2")
    at_once = add_states(net, {"A": new})
    by_and_by = add_states(add_states(net, {"A": new[:cut]}), {"A": new[cut:]})
    assert at_once == by_and_by
    assert all(a.alpha.tolist() == by_and_by[a.name].alpha.tolist() for a in at_once)


@pytest.mark.parametrize("prior", ["bdeu:1", "m:2", Dirichlet.m_estimate(3, [0.25, 0.75])])
def test_the_rule_of_a_prior_survives_a_file(tmp_path, prior):
    net = fit_parameters(GRAPH, ROWS, prior=prior)
    write_network(net, tmp_path / "net.json")
    again = read_network(tmp_path / "net.json")
    assert repr(again["B"].prior) == repr(net["B"].prior)
    assert add_states(again, {"B": ["w"]}) == add_states(net, {"B": ["w"]})


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"per_table": 1.0', '"per_table": 2.0', "does not follow its rule"),
        ('{"per_table": 1.0}', '{"per_row": 1.0, "per_table": 1.0}', "expected one of"),
        ('{"per_table": 1.0}', "{}", "expected one of"),
        ('"per_table": 1.0', '"per_day": 1.0', "unknown key 'per_day'"),
        ('"per_table": 1.0', '"per_table": -1.0', "not negative"),
    ],
)
def test_a_rule_that_cannot_be(tmp_path, old, new, words):
    path = tmp_path / "net.json"
    write_network(fit_parameters("[A]", ROWS, prior="bdeu:1"), path)
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(FormatError, match=words):
        read_network(path)


def test_a_prior_without_a_rule_gives_new_states_the_mean_of_the_known():
    net = fit_parameters(GRAPH, ROWS, prior={"A": [1, 3], "B": [[1, 2], [3, 4]]})
    grown = add_states(net, {"A": ["z"], "B": ["w"]})
    assert grown["A"].alpha.tolist() == [1, 3, 2]
    assert grown["B"].alpha.tolist() == [[1, 2, 1.5], [3, 4, 3.5], [2, 3, 2.5]]
    believed = NetworkPrior(fit_parameters(GRAPH, ROWS, prior="laplace"), 10)
    assert add_states(fit_parameters(GRAPH, ROWS, prior=believed), {"A": ["z"]})["A"].alpha.sum() == 15


def test_given_tables_keep_their_numbers():
    net = BayesianNetwork.from_tables(
        GRAPH, {"A": [0.3, 0.7], "B": [[0.1, 0.9], [0.6, 0.4]]}, states={"A": ["x", "y"], "B": ["u", "v"]}
    )
    grown = add_states(net, {"A": ["z"], "B": ["w"]})
    assert grown["A"].probabilities.tolist() == [0.3, 0.7, 0]
    assert_allclose(grown["B"].probabilities, [[0.1, 0.9, 0], [0.6, 0.4, 0], [1 / 3, 1 / 3, 1 / 3]], rtol=1e-12)
    assert not grown["B"].is_learned


def test_what_is_known_is_skipped():
    net = fit_parameters(GRAPH, ROWS)
    assert add_states(net, {"A": ["y", "x"], "B": []}) is net
    assert add_states(net, {"A": ["y", "q"]}).states("A") == ("x", "y", "q")


def test_what_cannot_be_added():
    net = fit_parameters(GRAPH, ROWS)
    with pytest.raises(UnknownColumnError, match="no variable 'C'"):
        add_states(net, {"C": ["z"]})
    with pytest.raises(ParameterError, match="must be a list of names, got 'zq'"):
        add_states(net, {"A": "zq"})
    cut = BayesianNetwork((CPT(DiscreteVariable.from_cuts("t", [1, 2]), (), np.full(3, 1 / 3)),))
    with pytest.raises(MismatchError, match="cannot gain the state 'warm'"):
        add_states(cut, {"t": ["warm"]})
