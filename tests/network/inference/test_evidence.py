"""Evidence by states, numbers and ranges: every way to name a state finds it, and ranges are sums over their states."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeslearn import BayesianNetwork, fit_parameters
from bayeslearn.errors import BayeslearnWarning, ParameterError, UnknownStateError
from bayeslearn.network.inference.approximate import SampledInference
from bayeslearn.network.inference.evidence import codes_of, observe
from bayeslearn.network.inference.loopy_propagation import LoopyPropagation
from bayeslearn.tables import DiscreteVariable, Schema

DELAY = DiscreteVariable.from_cuts("delay", [5.0, 17.5])
NET = BayesianNetwork.from_tables(
    "[delay][late|delay]",
    {"delay": [0.5, 0.3, 0.2], "late": [[0.9, 0.1], [0.4, 0.6], [0.05, 0.95]]},
    states=Schema([DELAY, DiscreteVariable("late", ["no", "yes"])]),
)


### one state, many ways to name it


@pytest.mark.parametrize("value", [30, 30.0, "30", " 30 ", "3e1", np.int64(30), np.float32(30), DELAY.states[2]])
def test_a_number_falls_into_its_interval(value):
    answer = NET.query({"delay": value})
    assert answer["late"] == NET.query({"delay": DELAY.states[2]})["late"]


def test_bounds_belong_to_the_interval_below():
    assert [DELAY.code_of(x) for x in (5, "5", 5.000001, 17.5, -math.inf, math.inf)] == [0, 0, 1, 1, 0, 2]


@pytest.mark.parametrize(
    ("states", "value", "code"),
    [
        (["1", "2"], 2, 1), (["1", "2"], 2.0, 1), ([1, 2], "2", 1), ([1, 2], "2.0", 1), ([1, 2], np.int8(2), 1),
        ([False, True], True, 1), ([False, True], "true", 1), ([False, True], "True", 1), ([False, True], np.True_, 1),
        (["no", "yes"], np.str_("yes"), 1), (["True", "False"], False, 1), ([0.5, 1.5], "1.50", 1),
    ],
)  # fmt: skip
def test_states_are_found_as_in_tables(states, value, code):
    variable = DiscreteVariable("x", states)
    assert variable.code_of(value) == code
    network = BayesianNetwork.from_tables("[x]", {"x": [0.5, 0.5]}, states=Schema([variable]))
    assert network.inference.read({"x": value})[0].tolist() == [code]


@pytest.mark.parametrize(
    ("states", "value"),
    [([False, True], 1), ([0, 1], True), (["01", "02"], "1 000"), (["a"], math.nan), (["a"], ["b"]), (["a"], None)],
)
def test_what_is_no_state_is_named(states, value):
    network = BayesianNetwork.from_tables("[x]", {"x": np.full(len(states), 1 / len(states))}, states={"x": states})
    with pytest.raises(UnknownStateError, match="variable 'x' has no state"):
        network.query({"x": value})


@pytest.mark.parametrize("value", [True, math.nan, "nan", "late", ["late"], np.array([30])])
def test_what_is_no_number_is_in_no_interval(value):
    with pytest.raises(UnknownStateError, match="variable 'delay' has no state"):
        NET.query({"delay": value})


### ranges


def test_a_range_of_several_intervals_is_the_sum_over_them():
    with pytest.warns(BayeslearnWarning, match="covers .* in part; the whole of each interval is included"):
        answer = NET.query({"delay": "10..20"})
    p = np.array([0, 0.3, 0.2])
    np.testing.assert_allclose(answer["late"]["yes"], (p @ [0.1, 0.6, 0.95]) / p.sum(), rtol=1e-12)
    np.testing.assert_allclose(answer.log_evidence, math.log(0.5), rtol=1e-12)
    np.testing.assert_allclose(list(answer["delay"].values()), p / p.sum(), rtol=1e-12)


@pytest.mark.parametrize(
    ("value", "codes"),
    [
        ("> 17.5", (2,)), (">17.5", (2,)), (">= 17.5", (2,)), ("<= 5", (0,)), ("< 5", (0,)), ("5..17.5", (1,)),
        ("..17.5", (0, 1)), ("5..", (1, 2)), ("> 5", (1, 2)), ("<=17.5", (0, 1)), ("30..30", (2,)),
        ("-1e3 .. 17.5", (0, 1)),
    ],
)  # fmt: skip
def test_ranges_of_whole_intervals(value, codes, recwarn):
    assert codes_of(DELAY, value, warn=not value.startswith("-")) == codes
    assert not recwarn.list


@given(cuts=st.lists(st.integers(-20, 20), min_size=1, max_size=6, unique=True), low=st.integers(-25, 25),
       size=st.integers(1, 30), whole=st.booleans())  # fmt: skip
def test_a_range_holds_the_intervals_of_its_numbers(cuts, low, size, whole):
    """By trying numbers: those of every included interval that lie inside, and none of the others."""
    rows = np.arange(-30.0, 30) if whole else np.arange(-30, 30, 0.25)
    variable = DiscreteVariable.from_cuts("x", sorted(cuts), values=rows)
    inside = rows[(rows >= low) & (rows <= low + size)]
    by_trying = {int(code) for code in variable.cut(inside if whole else inside[1:-1])}
    assert set(codes_of(variable, f"{low}..{low + size}")) == by_trying


def test_whole_numbers_have_no_parts(recwarn):
    """x >= 4 is x > 3 where all rows are whole numbers, and covers (3, ∞) altogether."""
    rooms = DiscreteVariable.from_cuts("rooms", [1, 3], values=np.array([1.0, 2, 3, 4, 5]))
    assert codes_of(rooms, ">= 4", warn=True) == codes_of(rooms, "> 3", warn=True) == (2,)
    assert codes_of(rooms, "2..3", warn=True) == (1,)
    assert not recwarn.list
    with pytest.warns(BayeslearnWarning, match="in part"):
        assert codes_of(rooms, ">= 3", warn=True) == (1, 2)


def test_a_point_among_intervals():
    below = math.nextafter(0.0, -math.inf)
    rain = DiscreteVariable("rain", ["less", "none", "some"], (below, 0.0))
    assert codes_of(rain, ">= 0") == (1, 2)
    assert codes_of(rain, "> 0") == (2,)
    assert codes_of(rain, "<= 0") == (0, 1)
    assert codes_of(rain, "< 0") == (0,)


def test_ranges_of_states_that_are_numbers():
    for states in ([1, 2, 3, 4], ["1", "2", "3", "4"]):
        variable = DiscreteVariable("rooms", states)
        assert codes_of(variable, "2..3") == (1, 2)
        assert codes_of(variable, "> 2") == (2, 3)
    assert codes_of(DiscreteVariable("size", ["2..3", "> 2"]), "> 2") == (1,)


@pytest.mark.parametrize("value", ["20..10", "..", "> x", "1..2..3"])
def test_bad_ranges(value):
    with pytest.raises(UnknownStateError, match=r"has no state|no state of 'delay' lies in the range"):
        NET.query({"delay": value})


def test_a_range_without_a_state_says_so():
    with pytest.raises(UnknownStateError, match=r"no state of 'rooms' lies in the range '7\.\.9'"):
        codes_of(DiscreteVariable("rooms", [1, 2]), "7..9")


### every engine and every kind of evidence


def test_ranges_in_every_engine():
    seen = {"delay": "> 5"}
    wanted = NET.query({}, virtual_evidence={"delay": [0, 1, 1]})
    assert NET.query(seen)["late"] == pytest.approx(wanted["late"], rel=1e-12)
    assert LoopyPropagation(NET).query(seen)["late"] == pytest.approx(wanted["late"], rel=1e-9)
    for method in ("likelihood_weighting", "rejection", "gibbs"):
        answer = SampledInference(NET).query(seen, method=method, n_samples=20_000, random_state=0)
        assert answer["late"]["yes"] == pytest.approx(wanted["late"]["yes"], abs=0.03)
    assert NET.inference.joint(["delay", "late"], seen).probabilities.sum() == pytest.approx(1, rel=1e-12)
    assert NET.inference.joint(["late"], seen).probabilities == pytest.approx(list(wanted["late"].values()), rel=1e-12)
    assert NET.most_probable(seen).case == {"delay": DELAY.states[2], "late": "yes"}  # .2 · .95
    assert NET.to_svg(seen).count("<svg") == 1
    session = NET.inference.session().observe(delay=30)
    assert session["late"] == NET.query({"delay": 30})["late"]


def test_virtual_and_soft_evidence_by_number():
    by_number = {1: 0.2, "10": 0.5, 30.0: 0.3}
    assert (
        NET.query(virtual_evidence={"delay": by_number}).beliefs
        == NET.query(virtual_evidence={"delay": [0.2, 0.5, 0.3]}).beliefs
    )
    assert NET.query(soft_evidence={"delay": by_number})["delay"][DELAY.states[1]] == pytest.approx(0.5, rel=1e-9)
    with pytest.raises(ParameterError, match=r"got two for .*: those of 1 and 2"):
        NET.query(virtual_evidence={"delay": {1: 0.2, 2: 0.5, 30: 0.3}})
    with pytest.raises(ParameterError, match="'delay' is observed already"):
        NET.query({"delay": "> 5"}, virtual_evidence={"delay": [1, 1, 1]})


def test_sensitivity_and_interventions_by_number():
    assert NET.sensitivity({"late": "yes"}, "delay", 30).state == DELAY.states[2]
    assert NET.do({"delay": "30"}).query()["late"] == NET.query({"delay": 30})["late"]


def test_what_evidence_stands_for():
    found = observe(NET, {"delay": 30, "late": "yes"})
    assert [str(piece) for piece in found.values()] == [f"delay = 30 ({DELAY.states[2]})", "late=yes"]
    assert found["delay"].to_json() == {"value": 30, "state": DELAY.states[2]}
    assert found["late"].to_json() == "yes"
    several = observe(NET, {"delay": "> 5"})["delay"]
    assert str(several) == f"delay > 5 ({DELAY.states[1]} or {DELAY.states[2]})"
    assert several.to_json() == {"value": "> 5", "states": list(DELAY.states[1:])}


def test_a_learned_network_takes_numbers():
    x = np.linspace(0, 10, 50)
    network = fit_parameters("[y][x|y]", {"x": x, "y": np.where(x > 5, "high", "low")}, prior="laplace")
    assert network.query({"x": "9.7"}, variables=["y"]).most_probable("y") == "high"
