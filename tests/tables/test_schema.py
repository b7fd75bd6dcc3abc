"""Variables and schemas: names, states, and their way to a file and back."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeslearn.errors import (
    DuplicateColumnError,
    FormatError,
    ParameterError,
    UnknownColumnError,
    UnknownStateError,
)
from bayeslearn.tables import DiscreteVariable, NumericVariable, Schema, Variable
from tests.tables.strategies import schemas

WEATHER = Schema(
    [DiscreteVariable("wind", ["weak", "strong"]), NumericVariable("hours"), DiscreteVariable("rain", [False, True])]
)


### laws


@given(schemas())
def test_a_schema_survives_json(schema):
    assert Schema.from_dict(json.loads(json.dumps(schema.to_dict()))) == schema


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=6, unique=True).map(sorted))
def test_cut_variables_survive_json(cuts):
    schema = Schema([DiscreteVariable.from_cuts("x", cuts)])
    assert Schema.from_dict(json.loads(json.dumps(schema.to_dict()))) == schema


@given(schemas())
def test_selecting_every_column_changes_nothing(schema):
    assert schema.select(schema.names) == schema


### examples


def test_a_schema_reads_like_a_dict():
    assert WEATHER.names == ("wind", "hours", "rain")
    assert WEATHER["hours"] == NumericVariable("hours")
    assert [v.name for v in WEATHER] == list(WEATHER.names)
    assert len(WEATHER) == 3
    assert "wind" in WEATHER
    assert "snow" not in WEATHER
    assert all(isinstance(v, Variable) for v in WEATHER)


def test_blocks_and_places():
    assert [v.name for v in WEATHER.discrete] == ["wind", "rain"]
    assert [v.name for v in WEATHER.numeric] == ["hours"]
    assert (WEATHER.place("rain"), WEATHER.place("hours")) == (1, 0)


def test_parts_keep_the_order_asked_for():
    assert WEATHER.select(["rain", "wind"]).names == ("rain", "wind")
    assert WEATHER.drop("hours").names == ("wind", "rain")


def test_order_and_type_of_states_matter():
    assert DiscreteVariable("x", [0, 1]) != DiscreteVariable("x", [False, True])
    assert DiscreteVariable("x", [0, 1]) != DiscreteVariable("x", [1, 0])
    assert hash(DiscreteVariable("x", [0, 1])) == hash(DiscreteVariable("x", (0, 1)))
    assert DiscreteVariable("x", ["a"]) != "x"


def test_codes_of_states():
    assert WEATHER["wind"].code_of("strong") == 1
    assert WEATHER["rain"].code_of(True) == 1
    with pytest.raises(UnknownStateError, match="variable 'rain' has no state 1, its states are False, True"):
        WEATHER["rain"].code_of(1)


def test_intervals_hold_their_upper_bound():
    hours = DiscreteVariable.from_cuts("hours", [2.5, 4])
    assert hours.cut([1, 2.5, 2.6, 4, 5, float("nan")]).tolist() == [0, 0, 1, 1, 2, -1]


def test_close_cuts_get_the_digits_that_tell_them_apart():
    assert DiscreteVariable.from_cuts("x", [0.1234567, 0.1234568]).states[0] == "<= 0.1234567"


### bad input


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: DiscreteVariable(3, ["a"]), "the name of a variable must be text, got 3"),
        (lambda: DiscreteVariable("x", []), "column 'x' needs at least one state"),
        (lambda: DiscreteVariable("x", "abc"), "must be a list of names, got 'abc'"),
        (lambda: DiscreteVariable("x", 3), "must be a list of names, got 3"),
        (lambda: DiscreteVariable("x", ["a", "b", "a"]), "column 'x' has state 'a' more than once"),
        (lambda: DiscreteVariable("x", [1, True]), "more than once"),
        (lambda: DiscreteVariable("x", ["a", None]), "None cannot be the name of a state, in column 'x'"),
        (lambda: DiscreteVariable("x", [["a"]]), r"\['a'\] cannot be the name of a state"),
        (lambda: DiscreteVariable("x", ["a", "b"], cuts=[1, 2]), "column 'x' has 2 states, so 1 cuts, got 2"),
        (lambda: DiscreteVariable("x", ["a", "b", "c"], cuts=[2, 1]), r"finite and increasing, got \[2.0, 1.0\]"),
        (lambda: DiscreteVariable("x", ["a", "b"], cuts=["q"]), "the cuts of column 'x' must be numbers"),
        (lambda: DiscreteVariable("x", ["a"]).cut([1.0]), "column 'x' has no cuts"),
        (lambda: DiscreteVariable("x", [(1, 2)]).to_dict(), r"state \(1, 2\) of column 'x' cannot be written"),
        (lambda: DiscreteVariable("x", [0.5, float("inf")]).to_dict(), "state inf of column 'x' cannot be written"),
        (lambda: Schema(["x"]), "a schema consists of variables, got 'x'"),
        (lambda: WEATHER.select(3), "`names` must be names of columns, got 3"),
    ],
)
def test_what_cannot_be_a_variable(make, match):
    with pytest.raises(ParameterError, match=match):
        make()


def test_names_must_differ():
    with pytest.raises(DuplicateColumnError, match="column names appear more than once: 'x'"):
        Schema([NumericVariable("x"), NumericVariable("y"), DiscreteVariable("x", ["a"])])


def test_an_unknown_column_brings_the_closest_names():
    with pytest.raises(UnknownColumnError, match=r"there is no column 'winds'\n\nhint: did you mean 'wind'\?"):
        WEATHER["winds"]
    with pytest.raises(UnknownColumnError, match=r"no columns 'q', 'zz'\n\nhint: the columns are 'wind', 'hours'"):
        WEATHER.drop(["q", "zz", "wind"])


@pytest.mark.parametrize(
    ("entry", "match"),
    [
        ([], "not the description of a schema"),
        ({"variables": {}}, "not the description of a schema"),
        ({"variables": [3]}, "not the description of a variable: 3"),
        ({"variables": [{"name": "x"}]}, "not the description of a variable"),
        ({"variables": [{"name": "x", "kind": "odd"}]}, "variable 'x' is of unknown kind 'odd'"),
        ({"variables": [{"name": "x", "kind": "discrete", "states": "ab"}]}, "not the description of a variable"),
        ({"variables": [{"name": "x", "kind": "discrete", "states": [[1]]}]}, "cannot be the name of a state"),
        ({"variables": [{"name": 1, "kind": "numeric"}]}, "name of a variable must be text, got 1"),
    ],
)
def test_a_broken_description_is_refused(entry, match):
    with pytest.raises(FormatError, match=match):
        Schema.from_dict(entry)
