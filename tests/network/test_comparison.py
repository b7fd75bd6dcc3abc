"""Two networks side by side: laws of the distance, what becomes of each arc, and cases."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeslearn import DAG, read_network
from bayeslearn.errors import BayeslearnWarning, ParameterError, UnknownStateError
from bayeslearn.network import BayesianNetwork, compare_networks
from bayeslearn.network.parameters.fit import uniform
from bayeslearn.tables import DiscreteVariable

NAMES = ["a", "b", "c", "d"]


def even(dag):
    return uniform(dag, {name: DiscreteVariable(name, ["no", "yes"]) for name in dag})


@st.composite
def networks(draw):
    order = draw(st.permutations(NAMES))
    pairs = [(c, x) for i, x in enumerate(order) for c in order[:i]]
    return even(DAG.from_arcs(draw(st.lists(st.sampled_from(pairs), unique=True)), NAMES))


@given(networks(), networks())
def test_every_arc_is_told_once(a, b):
    found = compare_networks(a, b)
    assert {*found.shared, *found.reversed, *found.only_in_first} == set(a.dag.arcs)
    assert {*found.shared, *(arc[::-1] for arc in found.reversed), *found.only_in_second} == set(b.dag.arcs)
    assert found.arc_distance == len(found.reversed) + len(found.only_in_first) + len(found.only_in_second)
    assert found.equivalent == (found.distance == 0)


@given(networks(), networks())
def test_the_other_way_round(a, b):
    there, back = compare_networks(a, b), compare_networks(b, a)
    assert (there.distance, there.arc_distance, there.shared) == (back.distance, back.arc_distance, back.shared)
    assert (there.only_in_first, there.only_in_second) == (back.only_in_second, back.only_in_first)


@given(networks())
def test_a_network_is_itself(a):
    found = compare_networks(a, a)
    assert (found.distance, found.arc_distance, found.equivalent) == (0, 0, True)
    assert found.log_likelihoods is None


def test_cases_by_hand():
    states = {"A": ["x", "y"], "B": ["x", "y"]}
    one = BayesianNetwork.from_tables("[A][B|A]", {"A": [0.5, 0.5], "B": [[0.9, 0.1], [0.2, 0.8]]}, states=states)
    two = BayesianNetwork.from_tables("[A][B]", {"A": [0.25, 0.75], "B": [0.5, 0.5]}, states=states)
    rows = [{"A": "x", "B": "x"}, {"A": "y", "B": None}]
    a, b = compare_networks(one, two, rows).log_likelihoods
    assert a.log_likelihood == pytest.approx(math.log(0.45) + math.log(0.5))
    assert b.log_likelihood == pytest.approx(math.log(0.125) + math.log(0.75))
    assert (a.n_parameters, b.n_parameters, a.total_weight) == (3, 2, 2)
    assert a.bic == pytest.approx(a.log_likelihood - 1.5 * math.log(2))
    assert b.mean_log_likelihood == pytest.approx(b.log_likelihood / 2)


def test_variables_of_one_only_are_told_and_summed_over():
    asia = read_network("asia")
    cases = asia.sample(50, random_state=0)
    small = even(DAG.parse("[smoke][lung|smoke]"))
    found = compare_networks(asia, small, cases)
    assert found.variables_only_in_first == ("asia", "tub", "bronc", "either", "xray", "dysp")
    assert (found.variables_only_in_second, found.equivalent) == ((), False)
    assert found.shared == (("smoke", "lung"),)
    assert len(found.only_in_first) == found.arc_distance == 7
    shared = asia.score(cases.select(["smoke", "lung"]))
    np.testing.assert_allclose(
        [e.log_likelihood for e in found.log_likelihoods], [shared.log_likelihood, 100 * np.log(0.5)]
    )


def test_impossible_rows_are_counted():
    sure = BayesianNetwork.from_tables("[A]", {"A": [1, 0]}, states={"A": ["x", "y"]})
    fair = BayesianNetwork.from_tables("[A]", {"A": [0.5, 0.5]}, states={"A": ["x", "y"]})
    a, b = compare_networks(sure, fair, {"A": ["x", "y", "y"]}).log_likelihoods
    assert (a.impossible, a.log_likelihood, b.impossible) == (2, -math.inf, 0)


def test_nothing_in_common():
    a, b = even(DAG.parse("[x]")), even(DAG.parse("[y]"))
    assert compare_networks(a, b).arc_distance == 0
    with pytest.raises(ParameterError, match="share no variable"):
        compare_networks(a, b, {"x": ["no"], "y": ["no"]})
    with pytest.raises(UnknownStateError, match="has state 'maybe'"):
        compare_networks(a, a, {"x": ["maybe"]}, handle_unknown="error")


def test_a_state_that_one_network_lacks_is_hidden_from_both():
    a = BayesianNetwork.from_tables(
        "[x][y]", {"x": [0.5, 0.5], "y": [0.4, 0.6]}, states={"x": ["no", "yes"], "y": ["n", "j"]}
    )
    b = BayesianNetwork.from_tables(
        "[x][y]", {"x": [0.2, 0.3, 0.5], "y": [0.1, 0.9]}, states={"x": ["no", "yes", "maybe"], "y": ["n", "j"]}
    )
    with pytest.warns(BayeslearnWarning, match=r"1 value of 'x' \('maybe'\) not among the states"):
        found = compare_networks(a, b, {"x": ["maybe", "yes"], "y": ["n", "j"]}).log_likelihoods
    expected = np.log([0.4 * 0.5 * 0.6, 0.1 * 0.3 * 0.9])
    np.testing.assert_allclose([each.log_likelihood for each in found], expected, rtol=1e-12)
