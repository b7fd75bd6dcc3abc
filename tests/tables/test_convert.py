"""Data of every kind become the same table, and come back as they were written."""

import csv
import gzip

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeslearn.errors import BayeslearnWarning, InputFileNotFoundError
from bayeslearn.tables import DiscreteVariable, NumericVariable, Schema, Table, as_table
from bayeslearn.tables.file_readers import column_names
from tests.properties import trials
from tests.tables.strategies import tables, word_columns

LOOSE = {"allow_constant": True}


def kinds(table):
    return ["discrete" if isinstance(v, DiscreteVariable) else "numeric" for v in table.schema]


def write_csv(path, columns, delimiter=","):
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow(columns)
        writer.writerows([["?" if v is None else v for v in row] for row in zip(*columns.values(), strict=True)])
    return path


### laws


@given(word_columns())
def test_what_goes_in_comes_out(columns):
    assert as_table(columns, **LOOSE).to_dict() == columns


@trials(30)
@given(word_columns())
def test_every_container_gives_the_same_table(tmp_path_factory, columns):
    folder = tmp_path_factory.mktemp("same")
    arrow = pa.table(columns)
    pq.write_table(arrow, folder / "t.parquet")
    expected = as_table(columns, **LOOSE)
    for data in (
        pd.DataFrame(columns),
        pd.DataFrame(columns, dtype=object),
        pl.DataFrame(columns),
        pl.LazyFrame(columns),
        arrow,
        folder / "t.parquet",
        [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)],
        {name: np.array(column, dtype=object) for name, column in columns.items()},
        expected,
    ):
        assert as_table(data, **LOOSE) == expected


@given(word_columns())
def test_a_file_gives_the_same_table_when_columns_are_declared(tmp_path_factory, columns):
    path = write_csv(tmp_path_factory.mktemp("csv") / "t.csv", columns)
    assert as_table(path, discrete=list(columns), **LOOSE) == as_table(columns, **LOOSE)


@given(word_columns(), st.data())
def test_the_order_of_columns_is_the_order_asked_for(columns, data):
    names = data.draw(st.permutations(list(columns)))
    assert as_table(columns, columns=names, **LOOSE) == as_table(columns, **LOOSE).select(names)


@given(word_columns(), st.data())
def test_the_order_of_rows_changes_no_state(columns, data):
    table = as_table(columns, **LOOSE)
    order = np.array(data.draw(st.permutations(range(len(table)))))
    moved = {name: [column[i] for i in order] for name, column in columns.items()}
    assert as_table(moved, **LOOSE) == table.take(order)


@given(tables(min_rows=1))
def test_a_table_coded_by_its_own_schema_is_itself(table):
    assert as_table(table, schema=table.schema) is table
    assert as_table(table.to_dict(), schema=table.schema, sample_weight=table.sample_weight, na_values=()) == table


@given(tables(min_rows=1), st.data())
def test_a_table_recoded_and_back_is_itself(table, data):
    turned = Schema(
        DiscreteVariable(v.name, data.draw(st.permutations(v.states))) if isinstance(v, DiscreteVariable) else v
        for v in table.schema
    )
    there = as_table(table, schema=turned, na_values=())
    assert there.to_dict() == table.to_dict()
    assert as_table(there, schema=table.schema, na_values=()) == table


@given(st.lists(st.none() | st.integers(-3, 3), min_size=1, max_size=30))
def test_whole_numbers_are_the_same_with_and_without_holes_made_floats(cells):
    if all(c is None for c in cells):
        return
    as_floats = np.array([np.nan if c is None else c for c in cells])[:, None]
    table = as_table({"x0": cells}, **LOOSE)
    assert as_table(as_floats, **LOOSE) == table
    seen = [c for c in cells if c is not None]
    assert kinds(table) == ["discrete" if 2 * len(set(seen)) <= len(seen) else "numeric"]
    assert table.to_dict()["x0"] == cells


### kinds


def test_kinds_by_their_values():
    table = as_table({
        "word": ["b", "a"] * 30,
        "flag": [True, False] * 30,
        "few": [3, 1, 2] * 20,
        "whole": [1.0, 2.0, None] * 20,
        "many": list(range(60)),
        "twenty one": [i % 21 for i in range(60)],
        "real": [0.5, 1.0] * 30,
        "money": pa.array([1, 2] * 30).cast(pa.decimal128(21, 2)),
    })  # fmt: skip
    assert {v.name: v.states for v in table.schema.discrete} == {
        "word": ("a", "b"),
        "flag": (False, True),
        "few": (1, 2, 3),
        "whole": (1, 2),
        "money": (1, 2),
    }
    assert [v.name for v in table.schema.numeric] == ["many", "twenty one", "real"]
    assert [type(s) for s in table.schema["flag"].states] == [bool, bool]
    assert [type(s) for s in table.schema["whole"].states] == [int, int]


def test_declared_kinds():
    data = {
        "a": [1, 2, 1, 2],
        "b": [0.5, 1.5, 0.25, None],
        "c": ["1", " 2.5", "?", ".5"],
        "d": [True, False, True, None],
    }
    table = as_table(data, numeric=["a", "c", "d"], discrete=["b"])
    assert kinds(table) == ["numeric", "discrete", "numeric", "numeric"]
    assert table.schema["b"].states == (0.25, 0.5, 1.5)
    assert table.to_dict()["c"] == [1.0, 2.5, None, 0.5]
    assert table.to_dict()["d"] == [1.0, 0.0, 1.0, None]
    assert kinds(as_table({"a": [1, 2, 3]}, discrete="a")) == ["discrete"]
    assert kinds(as_table(data, discrete=True, numeric=["c"])) == ["discrete", "discrete", "numeric", "discrete"]


def test_mixed_objects_declared_discrete_are_kept():
    table = as_table({"x": ["b", 2, None, True, 1.5, "a", 2.0]}, discrete=["x"])
    assert table.schema["x"].states == (True, 1.5, 2, "a", "b")
    assert table.to_dict()["x"] == ["b", 2, None, True, 1.5, "a", 2]


def test_numbers_within_text_are_ordered_as_numbers():
    assert as_table({"doors": ["10", "2", "5more", "4", "02"]}).schema["doors"].states == (
        "02",
        "2",
        "4",
        "10",
        "5more",
    )


def test_categories_keep_their_order_and_their_unseen_states():
    cells, order = ["low", "high", None], ["low", "mid", "high"]
    enum = pl.DataFrame({"x": pl.Series(cells, dtype=pl.Enum(order))})
    ordered = pd.DataFrame({"x": pd.Categorical(cells, categories=order, ordered=True)})
    declared = pd.DataFrame({"x": pd.Categorical(cells, categories=order)})
    for data in (enum, ordered, declared, pa.Table.from_pandas(declared), {"x": declared["x"]}):
        assert as_table(data).schema["x"].states == ("low", "mid", "high")
        assert as_table(data).to_dict() == {"x": cells}


def test_categories_without_an_order_are_sorted():
    categorical = pl.DataFrame({"x": pl.Series(["low", "high", None], dtype=pl.Categorical)})
    dictionary = pa.table({"x": pa.array(["low", "high", None]).dictionary_encode()})
    for data in (categorical, dictionary, categorical.to_arrow()):
        assert as_table(data).schema["x"].states == ("high", "low")
    assert as_table(categorical.head(1), **LOOSE).schema["x"].states == ("low",)


def test_categories_of_numbers():
    data = pd.DataFrame({"x": pd.Categorical([3, 1, None], categories=[3, 2, 1]), "y": pd.Categorical([0.5, 1.5, 0.5])})
    table = as_table(data)
    assert [v.states for v in table.schema.discrete] == [(3, 2, 1), (0.5, 1.5)]
    assert table.to_dict()["x"] == [3, 1, None]
    assert kinds(as_table(data, numeric=["x", "y"])) == ["numeric", "numeric"]


def test_chunks_with_dictionaries_of_their_own():
    chunks = pa.chunked_array([pa.array(["b", "a"]).dictionary_encode(), pa.array(["c", "b"]).dictionary_encode()])
    assert as_table(pa.table({"x": chunks})).to_dict() == {"x": ["b", "a", "c", "b"]}
    twice = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), pa.array(["a", "b", "a"]))
    assert as_table(pa.table({"x": twice})).to_dict() == {"x": ["a", "b", "a"]}


### missing cells


def test_what_is_missing():
    cells = ["a", "?", "", None, " ? ", "NaN", "nan", float("nan"), pd.NA, "b"]
    assert as_table({"x": cells}).to_dict()["x"] == ["a", *[None] * 8, "b"]
    assert as_table(pd.DataFrame({"x": pd.array([1, None, 1, 1], dtype="Int64")}), **LOOSE).missing() == {"x": 1}
    assert as_table(pl.DataFrame({"x": [1.5, float("nan"), None]})).missing() == {"x": 2}
    assert as_table(np.ma.masked_equal([[1.5], [2.5], [9.0]], 9)).missing() == {"x0": 1}


def test_other_marks_of_a_missing_cell():
    cells = ["a", "?", "-", "b"]
    assert as_table({"x": cells}, na_values=["-"]).to_dict()["x"] == ["a", None, None, "b"]
    assert as_table({"x": cells}, na_values=["-"], keep_default_na=False).to_dict()["x"] == ["a", "?", None, "b"]
    assert as_table({"x": [1.5, -9, 2]}, na_values=[-9]).to_dict()["x"] == [1.5, None, 2.0]
    assert as_table({"x": [1, 2, -9, 1, 2]}, na_values="-9").to_dict()["x"] == [1, 2, None, 1, 2]
    assert as_table(pd.DataFrame({"x": [1, -9, 2]}, dtype="category"), na_values=[-9]).to_dict()["x"] == [1, None, 2]
    assert as_table({"x": [1, "a", -9]}, na_values=[-9], discrete=["x"]).to_dict()["x"] == [1, "a", None]


def test_a_declared_state_is_never_missing():
    assert as_table({"x": ["y", "?", "n"]}, states={"x": ["y", "n", "?"]}).to_dict()["x"] == ["y", "?", "n"]


def test_a_hidden_variable_has_declared_states_and_no_values():
    table = as_table({"h": [None, None], "x": ["a", "b"]}, states={"h": ["hot", "cold"]})
    assert table.codes_of("h").tolist() == [-1, -1]


### declared states and schemas


def test_declared_states_keep_their_order():
    table = as_table({"sky": ["rainy", "sunny"]}, states={"sky": ["sunny", "cloudy", "rainy"]})
    assert table.schema["sky"].states == ("sunny", "cloudy", "rainy")
    assert table.codes_of("sky").tolist() == [2, 0]


def test_new_data_under_an_old_schema():
    schema = as_table({"sky": ["sunny", "rainy"], "hours": [1.5, 2]}).schema
    new = as_table(pd.DataFrame({"hours": [3], "extra": ["?"], "sky": ["rainy"]}), schema=schema)
    assert new.to_dict() == {"sky": ["rainy"], "hours": [3.0]}
    with pytest.warns(BayeslearnWarning, match=r"1 value of 'sky' \('foggy'\) not among the states"):
        foggy = as_table({"sky": ["foggy"], "hours": [None]}, schema=schema, handle_unknown="missing")
    assert foggy.to_dict() == {"sky": [None], "hours": [None]}


def test_numbers_and_truth_meet_their_text():
    numbers, words = DiscreteVariable("x", [1, 2]), DiscreteVariable("x", ["1", "2"])
    for cells in ([1, 2, 1], [1.0, 2.0, 1.0], ["1", "2", "1.0"]):
        assert as_table({"x": cells}, schema=Schema([numbers])).codes_of("x").tolist() == [0, 1, 0]
    assert as_table({"x": [2, 1]}, schema=Schema([words])).codes_of("x").tolist() == [1, 0]
    truth = Schema([DiscreteVariable("x", [False, True])])
    assert as_table({"x": ["TRUE", "False"]}, schema=truth).codes_of("x").tolist() == [1, 0]
    assert as_table({"x": [True]}, schema=Schema([DiscreteVariable("x", ["true", "false"])])).codes_of(
        "x"
    ).tolist() == [0]


def test_a_table_under_another_schema():
    table = as_table({"x": ["a", "b", "?"], "y": [1.5, 2, 3]}, sample_weight=[1, 2, 3])
    schema = Schema([NumericVariable("y"), DiscreteVariable("x", ["c", "b", "a"])])
    turned = as_table(table, schema=schema)
    assert turned.codes_of("x").tolist() == [2, 1, -1]
    assert turned.sample_weight.tolist() == [1, 2, 3]
    assert as_table(table, states={"x": ["b", "a"]}).codes_of("x").tolist() == [1, 0, -1]
    assert as_table(table, discrete=["y"]).schema["y"].states == (1.5, 2.0, 3.0)


def test_a_table_keeps_the_variables_that_nothing_is_said_about():
    data = {"n": [1, 2, 1, 2], "c": ["a"] * 4, "x": ["u", "v", "u", "?"]}
    table = as_table(data, numeric=["n"], allow_constant=True)
    assert as_table(table, states={"x": ["v", "u"]}).schema.select(["n", "c"]) == table.schema.select(["n", "c"])
    assert as_table(table, discrete=True).schema["n"].states == (1, 2)
    assert as_table(as_table(data, **LOOSE), sample_weight="n").total_weight == 6


def test_a_table_of_odd_states_under_another_schema():
    table = as_table({"x": [1, "a", 2]}, discrete=["x"])
    assert as_table(table, states={"x": ["a", 2, 1]}).codes_of("x").tolist() == [2, 0, 1]


### arrays


def test_arrays_take_names_and_schemas():
    X = np.array([[0, 5], [1, 6], [0, 5], [1, 6]])
    assert as_table(X).schema.names == ("x0", "x1")
    table = as_table(X, columns=["a", "b"])
    assert table.schema.names == ("a", "b")
    assert as_table(X, schema=table.schema) == table
    assert as_table(X.tolist(), columns=["a", "b"]) == table
    assert as_table(np.asfortranarray(X).astype(">i4"), columns=["a", "b"]) == table
    assert as_table(X.astype(object), columns=["a", "b"]) == table
    assert as_table(X.astype(np.longdouble), columns=["a", "b"]) == table


def test_text_and_structured_arrays():
    assert as_table(np.array([["a", "x"], ["b", "y"]])).to_dict() == {"x0": ["a", "b"], "x1": ["x", "y"]}
    rows = np.array([("a", 1.5), ("b", 2.0)], dtype=[("word", "U1"), ("number", "f4")])
    assert as_table(rows).to_dict() == {"word": ["a", "b"], "number": [1.5, 2.0]}


def test_columns_of_any_make():
    table = as_table({
        "numpy": np.array([1.5, 2.5]),
        "pandas": pd.Series([1.5, 2.5], index=[7, 8]),
        "polars": pl.Series([1.5, 2.5]),
        "arrow": pa.array([1.5, 2.5]),
        "tuple": (np.float32(1.5), 2.5),
        "range": range(2),
    })  # fmt: skip
    assert kinds(table) == ["numeric"] * 6


def test_an_index_is_no_column():
    frame = pd.DataFrame({"x": ["a", "b"]}, index=[5, 9])
    assert as_table(frame).schema.names == ("x",)
    assert as_table(pa.Table.from_pandas(frame)).schema.names == ("x",)
    assert as_table(pd.DataFrame([["a"], ["b"]])).schema.names == ("0",)


def test_rows_need_not_name_every_column():
    table = as_table([{"x": "a"}, {"x": "b", "y": 1.5}, {"y": 2.5}])
    assert table.to_dict() == {"x": ["a", "b", None], "y": [None, 1.5, 2.5]}


def test_objects_of_polars():
    frame = pl.DataFrame({"x": pl.Series([1, "a", None], dtype=pl.Object)})
    assert as_table(frame, discrete=["x"]).to_dict()["x"] == [1, "a", None]


### weights


def test_weights_by_array_and_by_name():
    data = {"x": ["a", "b"], "n": [3, 0.5]}
    expected = as_table({"x": ["a", "b"]}, sample_weight=[3, 0.5])
    assert as_table(data, sample_weight="n") == expected
    assert as_table(data, columns=["x"], sample_weight="n") == expected
    assert as_table(data, columns=["n", "x"], sample_weight="n") == expected
    assert as_table(data, schema=expected.schema, sample_weight="n") == expected
    assert as_table(as_table(data), sample_weight="n") == expected
    assert as_table(as_table(data), columns=["x"], sample_weight=[3, 0.5]) == expected
    assert expected.total_weight == 3.5


def test_a_table_is_returned_as_it_is():
    table = as_table({"x": ["a", "b"]})
    assert as_table(table) is table


### files


@pytest.mark.parametrize(("name", "delimiter"), [("t.csv", ","), ("t.tsv", "\t"), ("T.CSV", ",")])
def test_text_files(tmp_path, name, delimiter):
    columns = {"a b": ["x,y", "x\ty", 'say "hi"', "two\nlines", None], "c": ["01", "1", "001", "01", "?"]}
    path = write_csv(tmp_path / name, columns, delimiter)
    table = as_table(path, discrete=["c"])
    assert table.to_dict() == {"a b": columns["a b"], "c": ["01", "1", "001", "01", None]}
    assert as_table(str(path), discrete=["c"]) == table


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_line_ends_and_byte_order_marks(tmp_path, end, mark):
    path = tmp_path / "t.csv"
    path.write_bytes(mark + end.join(["x,y", "a,é", "", "b,", "a,?"]).encode())
    assert as_table(path, **LOOSE).to_dict() == {"x": ["a", "b", "a"], "y": ["é", None, None]}


def test_packed_text(tmp_path):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"x,y\na,1\nb,2\n"))
    assert as_table(path).to_dict() == {"x": ["a", "b"], "y": [1.0, 2.0]}


def test_kinds_in_text(tmp_path):
    rows = [f"{i % 2},{i % 2}.0,{i},0.{i},{'low' if i else 3},{'' if i else 7}" for i in range(30)]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["few,point,many,real,word,one", *rows]))
    table = as_table(path)
    assert kinds(table) == ["discrete", "discrete", "numeric", "numeric", "discrete", "numeric"]
    assert table.schema["point"].states == ("0.0", "1.0")
    assert table.schema["few"].states == ("0", "1")
    assert table.missing()["one"] == 29


def test_an_empty_line_is_a_missing_cell_of_the_only_column(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x\na\n\nb\n")
    assert as_table(path).to_dict() == {"x": ["a", None, "b"]}


def test_parquet_keeps_categories(tmp_path):
    frame = pd.DataFrame({"x": pd.Categorical(["b", "a"], categories=["b", "a"], ordered=True), "y": [1.5, None]})
    frame.to_parquet(tmp_path / "t.parquet")
    assert as_table(tmp_path / "t.parquet") == as_table(frame)
    assert as_table(frame).schema["x"].states == ("b", "a")


def test_light_to_import():
    import subprocess
    import sys

    code = "import bayeslearn.tables, sys; print(sorted({'pyarrow', 'narwhals', 'numba', 'pandas'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_table_of_a_frame_is_a_table():
    assert isinstance(as_table(pd.DataFrame({"x": ["a", "b"]})), Table)


@pytest.mark.parametrize("ending", ["csv", "tsv", "csv.gz", "parquet"])
def test_names_of_columns_without_reading_the_rest(tmp_path, ending):
    frame, path = pd.DataFrame({"wind": ["weak"], "a, b": [1.5]}, index=[7]), tmp_path / f"days.{ending}"
    if ending == "parquet":
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False, sep="\t" if ending == "tsv" else ",")
    assert column_names(path) == ["wind", "a, b"]
    with pytest.raises(InputFileNotFoundError, match="there is no such file"):
        column_names(tmp_path / f"no.{ending}")


def test_numbers_with_odd_blanks_around_them(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"x,y\n1.5\x1d,a\n\x1c2.5,b\n3.25,a\n")
    assert as_table(tmp_path / "t.csv").values_of("x").tolist() == [1.5, 2.5, 3.25]
