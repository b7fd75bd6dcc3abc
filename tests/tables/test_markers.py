"""Markers of missing cells, states that were not seen before, and columns that are dropped."""

from contextlib import nullcontext

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeslearn import scan
from bayeslearn.errors import BayeslearnError, BayeslearnWarning, MixedTypesError, UnknownStateError
from bayeslearn.tables import DiscreteVariable, NumericVariable, Schema, as_table
from bayeslearn.tables.markers import NA_MARKERS, Missing, is_suspect_number

#: What pandas.read_csv takes for NA.
PANDAS = (
    "", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A", "NA",
    "NULL", "NaN", "None", "n/a", "nan", "null",
)  # fmt: skip


@pytest.mark.parametrize("marker", PANDAS)
def test_what_pandas_takes_for_na_is_missing(marker, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,y\na,1.5\nb,2.5\na,3\n" + f"{marker},{marker}\n")
    assert pd.read_csv(path).isna().sum().to_dict() == {"x": 1, "y": 1}
    for table in (as_table(path), as_table(str(path)), scan(str(path)), scan([str(path)]).table()):
        assert table.missing() == {"x": 1, "y": 1}
        assert table.schema == Schema([DiscreteVariable("x", ["a", "b"]), NumericVariable("y")])


def test_markers_of_all_columns_and_of_one():
    data = {"seats": [100, 120, 999, 100, 999], "code": [999, 1, 999, 1, 2], "late": ["no", "-", "yes", "no", "yes"]}
    assert as_table(data, na_values=["-", 999]).missing() == {"seats": 2, "code": 2, "late": 1}
    assert as_table(data, na_values={"seats": [999]}).missing() == {"seats": 2, "code": 0, "late": 0}
    assert as_table(data, na_values={None: "-", "seats": 999}).missing() == {"seats": 2, "code": 0, "late": 1}


def test_markers_of_numbers_hold_for_floats_and_for_text(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,w\n1.5,a\n999,b\n2.25,999\n999.0,a\n")
    assert as_table(path, na_values={"x": [999]}).missing() == {"x": 2, "w": 0}
    assert as_table({"x": [1.5, 999.0, 2.5]}, na_values=["999"]).missing() == {"x": 1}
    assert scan([str(path)], na_values={"x": [999]}).table().missing() == {"x": 2, "w": 0}


def test_a_declared_state_is_no_marker():
    states = {"x": ["none", "NA", "999"]}
    assert as_table({"x": ["NA", "none", "999", "?"]}, states=states, na_values=["none", 999]).missing() == {"x": 1}
    assert Missing.of([999]).without([999]).text == frozenset(NA_MARKERS)


@given(st.lists(st.sampled_from([*NA_MARKERS, "-", "unknown", "a", "b", "999", "12", " x "]), min_size=4))
def test_markers_are_missing_and_nothing_else(cells):
    cells = ["left", "right", *cells]
    table = as_table({"x": cells}, na_values={"x": ["-", "999"]}, discrete=["x"])
    markers = {*NA_MARKERS, "-", "999"}
    assert table.to_dict()["x"] == [None if c in markers else c for c in cells]
    bare = as_table({"x": cells}, keep_default_na=False, discrete=["x"])
    assert bare.to_dict()["x"] == cells


### words among numbers


def test_suspects_among_many_numbers_are_missing_and_counted(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x\n" + "\n".join(f"{i}.5" for i in range(30)) + "\nunknown\n-\nunknown\n")
    with pytest.warns(BayeslearnWarning, match=r"3 values of 'x' \('unknown', '-'\) .* words among numbers"):
        table = as_table(path)
    assert table.schema == Schema([NumericVariable("x")])
    assert table.missing() == {"x": 3}
    with pytest.warns(BayeslearnWarning, match="words among numbers"):
        as_table({"x": [*map(float, range(30)), "unknown"]})


def test_numbers_with_markers_in_a_python_list_are_numbers():
    assert as_table({"x": [*np.arange(30) / 7, "?", "N/A"]}).schema == Schema([NumericVariable("x")])


def test_other_words_among_many_numbers_are_an_error():
    with pytest.raises(MixedTypesError, match=r"na_values=\{'x': \['late'\]\}"):
        as_table({"x": [*map(float, range(30)), "late"]})


@pytest.mark.parametrize(
    ("value", "count", "low", "high", "suspect"),
    [
        (999, 5, 2, 450, True), (999, 1, 2, 450, False), (999, 5, 2, 900, False), (-1, 3, 0, 10_000, True),
        (-1, 3, -5, 10, False), (-1, 3, 0, 1, False), (-99, 3, 0, 1, True), (99, 4, 0, 98, False),
        (99, 4, 1, 12, True), (500, 9, 1, 2, False),
    ],
)  # fmt: skip
def test_numbers_far_from_the_rest_are_suspect(value, count, low, high, suspect):
    assert is_suspect_number(value, count, low, high) is suspect


### states that were not seen before


SCHEMA = Schema(
    [DiscreteVariable("sky", ["sunny", "rainy"]), DiscreteVariable("n", [1, 2]), DiscreteVariable.from_cuts("h", [2.5])]
)


def test_unseen_states_are_an_error_missing_or_added():
    data = {"sky": ["sunny", "foggy", "clear", "foggy"], "n": ["1", "3", "2", "2.5"], "h": [1, 4, 2, 9]}
    with pytest.raises(UnknownStateError, match=r"'foggy' in row 1, not among its states 'sunny', 'rainy' \(also"):
        as_table(data, schema=SCHEMA)
    with pytest.warns(BayeslearnWarning, match=r"5 values of 'sky' \('foggy', 'clear'\), 'n' .*: treated as missing"):
        gone = as_table(data, schema=SCHEMA, handle_unknown="missing")
    assert gone.to_dict()["sky"] == ["sunny", None, None, None]
    with pytest.warns(BayeslearnWarning, match='added to them; handle_unknown="missing" leaves them out'):
        grown = as_table(data, schema=SCHEMA, handle_unknown="add")
    assert grown.schema["sky"].states == ("sunny", "rainy", "clear", "foggy")
    assert grown.schema["n"].states == (1, 2, 2.5, 3)
    assert grown.to_dict()["n"] == [1, 3, 2, 2.5]
    assert grown.schema["h"] == SCHEMA["h"]


def test_words_in_a_numeric_column_are_unseen_values():
    schema = Schema([NumericVariable("x"), SCHEMA["h"]])
    with pytest.raises(MixedTypesError, match="row 1 holds 'soon'"):
        as_table({"x": ["1", "soon"], "h": ["1", "2"]}, schema=schema)
    with pytest.warns(BayeslearnWarning, match=r"2 values of 'x' \('soon'\), 'h' \('late'\)"):
        table = as_table({"x": ["1", "soon"], "h": ["late", "2"]}, schema=schema, handle_unknown="missing")
    assert table.missing() == {"x": 1, "h": 1}


def test_unseen_states_of_a_source(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("sky\nsunny\nfoggy\nfoggy\n")
    source = scan([str(path)])
    schema = SCHEMA.select(["sky"])
    with pytest.warns(BayeslearnWarning, match=r"2 values of 'sky' \('foggy'\) .* added"):
        grown = source.declared(schema=schema, handle_unknown="add")
    assert grown.schema["sky"].states == ("sunny", "rainy", "foggy")
    assert grown.table().to_dict()["sky"] == ["sunny", "foggy", "foggy"]
    with pytest.warns(BayeslearnWarning, match=r"2 values of 'sky' \('foggy'\) .* missing"):
        assert source.declared(schema=schema, handle_unknown="missing").missing() == {"sky": 2}


@given(st.lists(st.sampled_from(["sunny", "rainy", "foggy", "clear", "?"]), min_size=1))
def test_added_states_lose_nothing(cells):
    new = {*cells} & {"foggy", "clear"}
    with pytest.warns(BayeslearnWarning, match="added to them") if new else nullcontext():
        table = as_table({"sky": cells}, schema=SCHEMA.select(["sky"]), handle_unknown="add")
    assert table.to_dict()["sky"] == [None if c == "?" else c for c in cells]
    assert table.schema["sky"].states[:2] == ("sunny", "rainy")


### columns


def test_columns_that_are_dropped(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b,c\nx,1.5,p\ny,2.5,q\n")
    for table in (as_table(path, drop_columns=["b"]), scan([str(path)], drop_columns="b").table()):
        assert table.schema.names == ("a", "c")
    assert as_table(as_table(path), drop_columns=["a", "c"]).schema.names == ("b",)
    assert scan([str(path)]).declared(drop_columns=["a"]).schema.names == ("b", "c")
    absent = as_table(path, schema=as_table(path).schema, drop_columns=["a"], missing_columns="missing")
    assert absent.missing() == {"a": 2, "b": 0, "c": 0}


### messages


@given(st.integers(1, 200), st.integers(1, 60), st.sampled_from(["constant", "mixed", "unseen", "long"]))
def test_no_message_is_longer_than_a_page(columns, width, mess):
    name = "c" * width
    cells = {"constant": ["a"] * 3, "mixed": [*range(40), "late"], "unseen": ["p", "q"], "long": ["z" * 5000, "y"]}[
        mess
    ]
    data = {f"{name}{i}": cells for i in range(columns)}
    schema = Schema(DiscreteVariable(n, ["u", "v"]) for n in data) if mess in {"unseen", "long"} else None
    with pytest.raises(BayeslearnError, match="c0") as caught:
        as_table(data, schema=schema)
    assert len(str(caught.value)) <= 1500
    assert caught.value.hint
    if columns > 5:
        assert f"... and {columns - 5} more" in caught.value.message
