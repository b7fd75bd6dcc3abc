"""What is written is read back equal, to the last digit, in every format that can carry it."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeslearn.distributions import Counts, Dirichlet
from bayeslearn.errors import FormatError, ParameterError
from bayeslearn.network import CPT, BayesianNetwork
from bayeslearn.network.formats import FORMATS, format_network, parse_network
from bayeslearn.tables import DiscreteVariable
from tests.network.formats.strategies import ANY, TAME, WILD, networks
from tests.properties import trials

UAI = ["uai", "uai_agrum"]
NAMED = [label for label in FORMATS if label not in UAI]


def there_and_back(network, label):
    return parse_network(format_network(network, label), label)


@pytest.mark.parametrize("label", NAMED)
@given(network=networks())
def test_networks_come_back_equal(label, network):
    again = there_and_back(network, label)

    assert again == network
    assert again.name == network.name
    assert again.notes == network.notes


@pytest.mark.parametrize("label", NAMED)
@given(network=networks(WILD))
def test_wild_names_come_back(label, network):
    assert there_and_back(network, label) == network


@pytest.mark.parametrize("label", [label for label in NAMED if label != "bif"])
@given(network=networks(ANY))
def test_names_with_control_characters_come_back_but_in_bif(label, network):
    assert there_and_back(network, label) == network


@pytest.mark.parametrize("label", UAI)
@given(network=networks())
def test_uai_keeps_everything_but_names(label, network):
    again = there_and_back(network, label)

    rename = {f"x{i}": name for i, name in enumerate(network.variables)}
    assert [rename[name] for name in again.variables] == list(network.variables)
    for cpt in again:
        original = network[rename[cpt.name]]
        assert [rename[v.name] for v in cpt.parents] == [v.name for v in original.parents]
        assert np.array_equal(cpt.probabilities, original.probabilities)
        assert cpt.variable.states == tuple(str(i) for i in range(original.variable.n_states))


@pytest.mark.parametrize("label", [label for label in FORMATS if not label.startswith("xdsl")])
@given(network=networks())
@trials(25)
def test_order_comes_back_too_but_in_xdsl_which_wants_parents_first(label, network):
    text = format_network(network, label)

    assert format_network(parse_network(text, label), label) == text


@given(networks(states=st.one_of(TAME, st.integers(-9, 9), st.booleans(), st.sampled_from([0.5, 1e-300]))))
def test_states_that_are_no_text_become_text_and_json_keeps_them(network):
    kept = there_and_back(network, "json")
    textual = there_and_back(network, "bif")

    assert kept.schema == network.schema
    for name in network.variables:
        assert textual.states(name) == tuple(str(state) for state in network.states(name))


@pytest.mark.parametrize("label", ["bif", "xmlbif", "net", "xdsl"])
def test_states_that_would_be_the_same_text_are_refused(label):
    network = BayesianNetwork.from_tables("[A]", {"A": [0.5, 0.5]}, states={"A": [1, "1"]})

    with pytest.raises(FormatError, match="two states of 'A' are both written '1'"):
        format_network(network, label)


@pytest.mark.parametrize("name", ["a\nb", "\r", "\x00", "\u2028"])
def test_bif_refuses_line_breaks(name):
    network = BayesianNetwork.from_tables({}, {name: [0.5, 0.5]}, states={name: ["x", "y"]})

    with pytest.raises(FormatError, match="BIF cannot carry the name"):
        format_network(network, "bif")


def test_json_refuses_states_it_cannot_read_back():
    for state, error, message in [
        (2**63, FormatError, "beyond 64 bits"),
        ((1, 2), ParameterError, "cannot be written"),
    ]:
        network = BayesianNetwork.from_tables("[A]", {"A": [1.0]}, states={"A": [state]})
        with pytest.raises(error, match=message):
            format_network(network, "json")


def test_many_names_that_look_alike_as_identifiers():
    states = [chr(0x4E00 + i) for i in range(20_000)]
    network = BayesianNetwork.from_tables({}, {"A": np.full(20_000, 1 / 20_000)}, states={"A": states})

    assert there_and_back(network, "xdsl") == network


### what the tables rest on


def learned(counts, prior):
    a, b = DiscreteVariable("a", ("x", "y")), DiscreteVariable.from_cuts("b", [1.5, 2.5])
    p = (counts + prior) / (counts + prior).sum(axis=-1, keepdims=True)
    return BayesianNetwork(
        (CPT(a, (), [0.25, 0.75]), CPT(b, (a,), p, Counts(counts), Dirichlet(prior))), "learned", ("a note",)
    )


@given(st.integers(0, 2**32))
def test_json_keeps_counts_prior_cuts_and_notes(seed):
    rng = np.random.default_rng(seed)
    network = learned(rng.gamma(1, size=(2, 3)) + 1e-9, rng.gamma(1, size=(2, 3)))
    again = there_and_back(network, "json")

    assert again == network
    assert again.notes == ("a note",)
    assert again["b"].variable == network["b"].variable
    assert again["b"].counts == network["b"].counts
    assert np.array_equal(again["b"].prior.alpha, network["b"].prior.alpha)
    assert again["a"].counts is None


def test_counts_that_are_not_finite_are_refused():
    network = learned(np.ones((2, 3)), np.ones((2, 3)))
    cpt = replace(network["b"], counts=Counts(np.full((2, 3), np.inf)))

    with pytest.raises(FormatError, match="of 'b' are not finite"):
        format_network(replace(network, cpts=(network["a"], cpt)), "json")
