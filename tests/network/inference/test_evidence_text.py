"""Evidence as text: one grammar in Python and on the command line; numbers are read in the format of their column."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeslearn import BayesianNetwork, fit_parameters
from bayeslearn.cli.network_files import assignments
from bayeslearn.errors import ParameterError, UnknownColumnError, UnknownStateError
from bayeslearn.network.cpt import CPT
from bayeslearn.network.inference.evidence import codes_of, observe, parse_evidence
from bayeslearn.tables import DiscreteVariable, Schema

DELAY = DiscreteVariable.from_cuts("delay", [5.0, 17.5])
PRICE = DiscreteVariable.from_cuts("price", [100.0, 2000.0], like=DiscreteVariable("price", ["x"], read_as="money"))
FEE = DiscreteVariable.from_cuts(
    "fee", [1.5, 1000.0], like=DiscreteVariable("fee", ["x"], read_as="money, decimal comma")
)
RATE = DiscreteVariable("rate", [5, 12], read_as="percent")
ODD = DiscreteVariable("a=b", ["no", "yes", "a, b"])


def network_of(*variables):
    schema = Schema(variables)
    tables = {v.name: np.full(v.n_states, 1 / v.n_states) for v in variables}
    return BayesianNetwork.from_tables("".join(f"[{v.name}]" for v in variables), tables, states=schema)


NET = network_of(DELAY, PRICE, FEE, RATE, ODD)


### one grammar


@pytest.mark.filterwarnings("ignore:the range of .* in part")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("delay=30", {"delay": 30}), ("delay = 30", {"delay": 30}), ("delay=12.5", {"delay": 12.5}),
        ("delay=10..20", {"delay": "10..20"}), ("delay>10", {"delay": "> 10"}), ("delay >= 10", {"delay": ">= 10"}),
        ("a=b=yes", {"a=b": "yes"}), ("a=b = yes", {"a=b": "yes"}), ("a=b=a, b", {"a=b": "a, b"}),
        ("price=$250", {"price": "$250"}), ("price=1,234", {"price": "1,234"}), ("rate=12 %", {"rate": 12}),
        ("rate=12", {"rate": 12}), ("fee=28,15 €", {"fee": "28,15 €"}), ("fee=1.234", {"fee": "1.234"}),
        ("fee=1.23", {"fee": 1.23}),
        ("price=$100..$2,000", {"price": "$100..$2,000"}), ("price>$1,500.50", {"price": "> $1,500.50"}),
        ("delay=30, rate=5", {"delay": 30, "rate": 5}), ("price=1,234, delay<5", {"price": "1,234", "delay": "< 5"}),
        ("delay=30,price=$1,234,567,rate=5%", {"delay": 30, "price": "$1,234,567", "rate": 5}),
    ],
)  # fmt: skip
def test_python_and_command_line_read_alike(text, expected):
    assert parse_evidence(NET, text) == expected
    assert NET.query(text).evidence == expected
    if len(expected) == 1:
        assert assignments(NET, [text]) == NET.query([text]).evidence == expected


@given(data=st.data())
def test_every_state_is_found_by_its_name(data):
    """Names and states of any signs, apart from those that the grammar has no way to tell."""
    name = data.draw(st.text("ab=<>., ", min_size=1, max_size=4).filter(lambda x: x == x.strip()))
    states = data.draw(st.lists(st.text("xy=<>., ", min_size=1, max_size=4).filter(lambda x: x == x.strip()),
                                min_size=1, max_size=4, unique=True))  # fmt: skip
    state = data.draw(st.sampled_from(states))
    network = BayesianNetwork((CPT(DiscreteVariable(name, states), (), np.full(len(states), 1 / len(states))),))
    assert parse_evidence(network, [f"{name}={state}"]) == {name: state}
    assert parse_evidence(network, [f" {name} = {state} "]) == {name: state}


@given(numbers=st.lists(st.floats(-1e6, 1e6).map(lambda x: round(x, 2)), min_size=1, max_size=3))
def test_numbers_come_back(numbers):
    for x in numbers:
        assert parse_evidence(NET, f"delay={x}, rate=5") == {"delay": x, "rate": 5}
        assert codes_of(PRICE, f"${x:,.2f}") == codes_of(PRICE, x) == (int(PRICE.cut(x)),)
        comma = f"{x:,.2f} €".translate(str.maketrans(",.", ".,"))
        assert codes_of(FEE, comma) == (int(FEE.cut(x)),)


def test_numbers_are_read_as_their_column():
    """'1,234' has a thousands separator, unless the column has a decimal comma."""
    comma = DiscreteVariable.from_cuts("x", [100.0], like=DiscreteVariable("x", ["s"], read_as="decimal comma"))
    assert codes_of(comma, "1,234") == (0,)
    assert codes_of(comma, "1.234,5") == (1,)
    assert codes_of(DELAY, "1,234") == (2,)
    assert codes_of(FEE, "1,23 €") == (0,)
    assert codes_of(FEE, "1,23..1.234,00 €") == (0, 1, 2)
    assert codes_of(FEE, parse_evidence(NET, "fee=1.234")["fee"]) == (2,)


def test_virtual_evidence_is_read_as_the_column():
    given_ = {"$50": 0.1, "$1,000": 0.2, "$3,000": 0.7}
    assert (
        NET.query(virtual_evidence={"price": given_})["price"]
        == NET.query(virtual_evidence={"price": [0.1, 0.2, 0.7]})["price"]
    )


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("delay=late", UnknownStateError, "variable 'delay' has no state 'late'"),
        ("price=$x", UnknownStateError, r"variable 'price' has no state '\$x'"),
        ("snow=yes", UnknownColumnError, "there is no variable 'snow'"),
        ("rate=5, snow=yes", UnknownColumnError, "there is no variable 'snow'"),
        ("=yes", ParameterError, "evidence is given as VAR=STATE, got '=yes'"),
        ("delay>5, delay<17", ParameterError, r"'delay' is observed twice[\s\S]*delay=LOW\.\.HIGH"),
        ("late=yes", UnknownColumnError, "there is no variable 'late'"),
        ("snow", ParameterError, "evidence must map variables to their states, got 'snow'"),
    ],
)
def test_what_is_wrong_is_named(text, error, message):
    with pytest.raises(error, match=message):
        NET.query(text)


### several states


@given(states=st.lists(st.sampled_from(["no", "yes", "a, b"]), min_size=1), kind=st.sampled_from([list, tuple, set]))
def test_several_states_are_a_sum_over_them(states, kind):
    tables = {"x": [0.2, 0.3, 0.5], "y": [[0.9, 0.1], [0.4, 0.6], [0.05, 0.95]]}
    names = {"x": ["no", "yes", "a, b"], "y": ["u", "v"]}
    network = BayesianNetwork.from_tables("[x][y|x]", tables, states=names)
    weights = [float(state in states) for state in names["x"]]
    answer, expected = network.query({"x": kind(states)}), network.query(virtual_evidence={"x": weights})
    assert answer["y"] == pytest.approx(expected["y"], rel=1e-12)
    assert answer.log_evidence == pytest.approx(expected.log_evidence, rel=1e-12)


def test_several_numbers_and_ranges():
    assert codes_of(DELAY, [30, "< 5"]) == (0, 2)
    assert codes_of(DiscreteVariable("x", [("a", "b"), "a"]), ("a", "b")) == (0,)
    with pytest.raises(UnknownStateError, match="the evidence on 'delay' is an empty list of states"):
        NET.query({"delay": []})


def test_what_several_states_stand_for():
    found = observe(NET, {"a=b": ["no", "yes"], "delay": [1, 30], "rate": [5]})
    assert [str(piece) for piece in found.values()] == [
        "a=b = no or yes", f"delay = 1 or 30 ({DELAY.states[0]} or {DELAY.states[2]})", "rate = 5",
    ]  # fmt: skip
    assert found["delay"].to_json() == {"value": [1, 30], "states": [DELAY.states[0], DELAY.states[2]]}


def test_a_learned_network_takes_money_and_percentages():
    prices = [f"${x:,.2f}" for x in np.linspace(50, 5000, 60)]
    rates = [f"{x} %" for x in [10, 90] * 30]
    rows = {"price": prices, "rate": rates, "size": ["small"] * 30 + ["large"] * 30}
    network = fit_parameters("[size][price|size][rate|size]", rows, prior="laplace")
    assert network.query("price=$4,900, rate=90 %", variables="size").most_probable("size") == "large"
    assert network.query({"price": "$60"}, variables="size").most_probable("size") == "small"
