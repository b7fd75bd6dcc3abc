"""Whatever is wrong with the data is named: what, where, and what to do."""

import gzip

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from bayeslearn.errors import (
    ConstantColumnError,
    DataError,
    DuplicateColumnError,
    EmptyTableError,
    FormatError,
    InputFileNotFoundError,
    MixedTypesError,
    ParameterError,
    ShapeError,
    TooManyStatesError,
    UnknownColumnError,
    UnknownStateError,
    WeightError,
)
from bayeslearn.tables import DiscreteVariable, Schema, as_table

GOOD = {"x": ["a", "b", "a"], "y": [1.5, 2.5, 3.5]}


@pytest.fixture
def write(tmp_path):
    def write(content, name="t.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


### columns


@pytest.mark.parametrize(
    ("data", "options", "error", "match"),
    [
        (
            {"x": ["a", "a"]},
            {},
            ConstantColumnError,
            "column 'x' shows one state only, 'a'\n\nhint: drop it with drop_columns=",
        ),
        ({"x": [3, 3, None]}, {}, ConstantColumnError, "column 'x' shows one state only, 3"),
        ({"x": [None, "?"]}, {}, DataError, "every cell of column 'x' is missing\n\nhint: drop it with drop_columns="),
        ({"x": [None, None]}, {}, DataError, r"declare its states: states=\{'x': \[...\]\}"),
        ({"x": ["?", ""]}, {"numeric": ["x"]}, DataError, "every cell of column 'x' is missing"),
        ({"x": pd.Categorical([None], ["a", "b"])}, {}, DataError, "every cell of column 'x' is missing"),
        ({"x": [1.5, np.inf]}, {}, DataError, "column 'x' is inf in row 1\n\nhint: make it missing"),
        ({"x": [1, -np.inf, 1, 1]}, {}, DataError, "column 'x' is -inf in row 1"),
        (
            {"x": list("abcd")},
            {"max_states": 3},
            TooManyStatesError,
            "column 'x' has 4 different states, more than max_st",
        ),
        ({"x": list(range(300))}, {"discrete": "x"}, TooManyStatesError, "has 300 different .* max_states=255"),
        ({"x": [b"a", b"b"]}, {}, DataError, "column 'x' holds binary.*\n\nhint: turn it into text"),
        ({"x": [[1], [2]]}, {}, DataError, "column 'x' holds list<.*int64>, which is neither"),
        ({"x": [1j, 2j]}, {}, DataError, "column 'x' holds complex, which is neither"),
        ({"x": [{1}, "a"]}, {}, DataError, "column 'x' holds set values, for instance in row 0"),
        ({"x": [1, "a", 2]}, {}, MixedTypesError, r"column 'x' mixes number \(1 in row 0\), text \('a' in row 1\)"),
        ({"x": [True, 0, 1]}, {}, MixedTypesError, r"column 'x' mixes bool \(True in row 0\), number \(0 in row 1\)"),
        ({"x": [1.5, True]}, {}, MixedTypesError, r"mixes number \(1.5 in row 0\), bool \(True in row 1\)"),
        ({"x": [1, "a", 2]}, {}, MixedTypesError, r"hint: na_values=\{'x': \['a'\]\} .*, discrete=\['x'\] to keep all"),
        ({"x": [1, True, "a"]}, {"discrete": "x"}, MixedTypesError, "'x' holds both 1 and True, which are equal"),
        ({"x": ["1", "a"]}, {"numeric": "x"}, MixedTypesError, "'x' is to be numeric, but row 1 holds 'a'"),
        ({"x": [1, "1e400"]}, {"numeric": "x"}, DataError, "column 'x' is inf in row 1"),
    ],
)
def test_bad_columns(data, options, error, match):
    with pytest.raises(error, match=match):
        as_table(data, **options)


def test_mixed_objects_of_every_frame():
    for frame in (
        pd.DataFrame({"x": pd.Series([1, "a"], dtype=object)}),
        pl.DataFrame({"x": pl.Series([1, "a"], dtype=pl.Object)}),
        pd.DataFrame({"x": pd.Series([1.5, "a"], dtype=object)}),
    ):
        with pytest.raises(MixedTypesError, match="column 'x' mixes number"):
            as_table(frame)
    with pytest.raises(MixedTypesError, match=r"column 'x' mixes number .*, bool"):
        as_table(pd.DataFrame({"x": pd.Series([1.5, True], dtype=object)}))


def test_every_offending_column_is_named_at_once():
    data = {"c": ["a"] * 3, "ok": ["a", "b", "a"], "k": [7, 7, 7], "m": [None] * 3, "t": [1, "a", 2]}
    with pytest.raises(ConstantColumnError, match="column 'c'") as caught:
        as_table(data)
    message = str(caught.value)
    assert [name for name in data if f"column {name!r}" in message] == ["c", "k", "m", "t"]
    assert caught.value.details["columns"] == ["c", "k", "m", "t"]
    assert message.count("hint:") == 2


@pytest.mark.parametrize(
    ("data", "match"),
    [
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "appear more than once: 'a'"),
        (pd.DataFrame([[1, 2]], columns=[1, "1"]), "appear more than once: '1'"),
        (pa.table([pa.array([1]), pa.array([2])], names=["a", "a"]), "appear more than once: 'a'"),
    ],
)
def test_duplicate_columns(data, match):
    with pytest.raises(DuplicateColumnError, match=match):
        as_table(data)


def test_duplicate_columns_asked_for():
    with pytest.raises(DuplicateColumnError, match="appear more than once: 'x'"):
        as_table(GOOD, columns=["x", "x"])


@pytest.mark.parametrize(
    ("data", "match"),
    [
        ({"x": []}, "the table has no rows, only the columns 'x'"),
        ({}, "the table has no columns"),
        ([], "the table has no rows"),
        (pd.DataFrame(), "the table has no columns"),
        (np.empty((0, 2)), "the table has no rows"),
        (np.empty((3, 0)), "the table has no columns"),
        (pl.DataFrame({"x": []}), "the table has no rows"),
    ],
)
def test_empty_tables(data, match):
    with pytest.raises(EmptyTableError, match=match):
        as_table(data)


def test_an_empty_choice_of_columns():
    with pytest.raises(EmptyTableError, match="the table has no columns"):
        as_table(GOOD, columns=[])


### shapes


@pytest.mark.parametrize(
    ("data", "options", "error", "match"),
    [
        ({"x": [1, 2], "y": [1]}, {}, ShapeError, "differ in their number of rows: 'x' has 2, 'y' has 1"),
        (np.arange(3), {}, ShapeError, r"got shape \(3,\)\n\nhint: use x.reshape"),
        (np.zeros((2, 2)), {"columns": ["a"]}, ShapeError, "expected 2 names of columns, .* got 1"),
        ([[1, 2], [3]], {}, ShapeError, r"row 1 must hold 2 cells, as row 0 does, got \[3\]"),
        ([{"x": 1}, 3], {}, ShapeError, "each a dict, got 3 at position 1"),
        (["a", "b"], {}, ShapeError, r"each a dict, got 'a' at position 0\n\nhint: one column is given"),
        ({"x": np.zeros((2, 2))}, {}, ShapeError, r"column 'x' must have one dimension, got shape \(2, 2\)"),
        ({"x": "abc"}, {}, ShapeError, "column 'x' must be a list of values, got 'abc'"),
        ({"x": 3}, {}, ShapeError, "column 'x' must be a list of values, got 3"),
        (3, {}, ParameterError, "cannot read a table from int\n\nhint: give a data frame"),
    ],
)
def test_bad_shapes(data, options, error, match):
    with pytest.raises(error, match=match):
        as_table(data, **options)


### what was asked for


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"columns": ["z"]}, UnknownColumnError, "there is no column 'z'\n\nhint: the columns are 'x', 'y'"),
        ({"discrete": ["xx"]}, UnknownColumnError, r"there is no column 'xx'\n\nhint: did you mean 'x'\?"),
        ({"states": {"q": ["a"]}}, UnknownColumnError, "there is no column 'q'"),
        ({"discrete": ["y"], "numeric": ["y"]}, ParameterError, "discrete and numeric at once: 'y'"),
        ({"states": {"x": "ab"}}, ParameterError, "the states of column 'x' must be a list of names, got 'ab'"),
        ({"states": ["x"]}, ParameterError, "`states` must map names of columns to lists"),
        ({"na_values": None}, ParameterError, "`na_values` must be a list of markers, or a mapping .* got None"),
        ({"na_values": {"z": [1]}}, UnknownColumnError, "there is no column 'z'"),
        ({"drop_columns": ["z"]}, UnknownColumnError, "there is no column 'z'"),
        ({"max_states": 0}, ParameterError, "`max_states` must be at least 1, got 0"),
        ({"handle_unknown": "drop"}, ParameterError, "unexpected value for `handle_unknown`: 'drop'"),
        ({"schema": "x"}, ParameterError, "`schema` must be a Schema, got 'x'"),
        ({"discrete": 3}, ParameterError, "`discrete` must be names of columns, got 3"),
        ({"sample_weight": "w"}, UnknownColumnError, "there is no column 'w'"),
        ({"sample_weight": [1, 2]}, ShapeError, r"expected sample_weight of shape \(3,\), got \(2,\)"),
        ({"sample_weight": [1, -2, 1]}, WeightError, r"finite and not negative, got -2.0 at position 1"),
        ({"sample_weight": [1, 1, np.inf]}, WeightError, "finite and not negative, got inf at position 2"),
        ({"sample_weight": "x"}, MixedTypesError, "column 'x' is to be numeric, but row 0 holds 'a'"),
    ],
)
def test_bad_requests(options, error, match):
    with pytest.raises(error, match=match):
        as_table(GOOD, **options)


def test_bad_weights_in_a_column():
    with pytest.raises(WeightError, match="`w` must be finite and not negative, got nan at position 1"):
        as_table({**GOOD, "w": [1.5, None, 1]}, sample_weight="w")
    with pytest.raises(WeightError, match=r"`w` must be finite and not negative, got -1\.0 at position 0"):
        as_table({**GOOD, "w": [-1, 2, 1]}, sample_weight="w")


def test_a_schema_says_it_all():
    schema = as_table(GOOD).schema
    with pytest.raises(ParameterError, match="the schema already declares what 'x' are"):
        as_table(GOOD, schema=schema, discrete=["x"])
    with pytest.raises(ParameterError, match="the schema already declares which columns"):
        as_table(GOOD, schema=schema, columns=["x"])
    with pytest.raises(UnknownColumnError, match="there is no column 'y'"):
        as_table({"x": ["a"]}, schema=schema)


### states


def test_unknown_states():
    schema = Schema([DiscreteVariable("outlook", ["sunny", "rain"])])
    with pytest.raises(UnknownStateError, match="'foggy' in row 3") as caught:
        as_table({"outlook": ["rain", "?", "sunny", "foggy", "odd"]}, schema=schema)
    assert caught.value.message == (
        "column 'outlook' has state 'foggy' in row 3, not among its states 'sunny', 'rain' (also 'odd')"
    )
    assert (
        caught.value.hint
        == 'treat it as missing with handle_unknown="missing", or declare it with `states=` or in the schema'
    )
    assert caught.value.details["row"] == 3


@pytest.mark.parametrize(
    ("states", "cells", "match"),
    [
        (["1", "2"], ["01"], "has state '01' in row 0, not among its states '1', '2'"),
        (["1", "1.0"], [1], "has state 1 in row 0"),
        ([False, True], [1], "has state 1 in row 0, not among its states False, True"),
        ([0, 1], [True], "has state True in row 0"),
        (["yes"], ["yes "], "has state 'yes ' in row 0"),
    ],
)
def test_names_that_look_alike_are_not_the_same(states, cells, match):
    with pytest.raises(UnknownStateError, match=match):
        as_table({"x": cells}, states={"x": states})


def test_words_for_a_numeric_variable():
    with pytest.raises(MixedTypesError, match="column 'y' is to be numeric, but row 1 holds 'tall'"):
        as_table({"x": ["a", "b"], "y": ["1", "tall"]}, schema=as_table(GOOD).schema)


### files


def test_a_ragged_row_is_found(write):
    path = write('x,y\na,"two\nlines"\n\nb,1,2\nc\n')
    with pytest.raises(FormatError, match=r"t.csv', line 5: expected 2 fields, found 3 \(and 1 more such lines\)") as e:
        as_table(path)
    assert e.value.details == {"path": path, "line": 5}


@pytest.mark.parametrize(
    ("content", "name", "error", "match"),
    [
        ("", "t.csv", EmptyTableError, "t.csv' is empty"),
        ("x,y\n", "t.csv", EmptyTableError, "the table has no rows, only the columns 'x', 'y'"),
        ('x,y\na,"b\n', "t.csv", FormatError, "line 2: a quotation mark is opened and never closed"),
        (
            b"x,y\na,caf\xe9\0\n",
            "t.csv",
            FormatError,
            "not UTF-8 text: byte 0xe9 cannot be read\n\nhint: save it as UTF-8",
        ),
        (b"PK\x03\x04\0\xe9,y\na,b\n", "t.csv", FormatError, "not UTF-8 text: byte 0xe9"),
        ("x;y", "t.xlsx", FormatError, r"cannot tell the format of .*t.xlsx' by its name\n\nhint: names end in .csv"),
        ("no", "t.parquet", FormatError, "t.parquet' is not a Parquet file that can be read"),
        ("no", "t.csv.gz", FormatError, "t.csv.gz' cannot be read"),
        (
            gzip.compress(b"x,y\n" + bytes(range(65, 91)) * 999, mtime=0)[:40],
            "t.csv.gz",
            FormatError,
            "t.csv.gz' cannot be read",
        ),
    ],
)
def test_bad_files(write, content, name, error, match):
    with pytest.raises(error, match=match):
        as_table(write(content, name))


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(
        InputFileNotFoundError, match=r"cannot read .*none.csv': there is no such file\n\nhint: looked in"
    ):
        as_table(tmp_path / "none.csv")
    with pytest.raises(FileNotFoundError, match="is a directory"):
        as_table(str(tmp_path))


def test_words_among_many_numbers_of_a_file(write):
    path = write("x\n" + "\n".join(map(str, range(30))) + "\nlate\n")
    with pytest.raises(MixedTypesError, match=r"mixes numbers \('0' in row 0\), words \('late' in row 30\)") as caught:
        as_table(path)
    assert "na_values={'x': ['late']}" in str(caught.value)
    assert as_table(path, na_values=["late"]).missing() == {"x": 1}
    assert as_table(path, discrete=["x"]).schema["x"].n_states == 31
