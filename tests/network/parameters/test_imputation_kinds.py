"""Imputed data: whatever comes in, observed cells come back as they were, in the same kind of data."""

from __future__ import annotations

import csv
import io
import math
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeslearn import BayesianNetwork, as_table, fit_parameters, read_network, scan, write_network
from bayeslearn.errors import BayeslearnWarning, FormatError, ParameterError, UnknownColumnError, UnknownStateError
from bayeslearn.tables import DiscreteVariable, Schema, Table
from bayeslearn.tables.intervals import MAX_VALUES, interval_values
from tests.cli.asking import ask
from tests.properties import trials

RNG = np.random.default_rng(0)
Y = RNG.choice(["a", "b"], 300)
X = np.where(Y == "a", RNG.normal(0, 1, 300), RNG.normal(9, 1, 300)).round(2)
WHOLE = np.where(Y == "a", RNG.integers(0, 40, 300), RNG.integers(60, 200, 300))
NET = fit_parameters(
    "[y][x|y][n|y][k|y]", {"y": Y, "x": X, "n": WHOLE, "k": np.where(RNG.random(300) < 0.9, Y == "a", Y == "b")},
    prior="laplace",
)  # fmt: skip
MARKERS = {"", "?", "NaN", "nan", " ? ", None}


def is_gap(cell):
    return cell in MARKERS or (isinstance(cell, float) and math.isnan(cell)) or cell is pd.NA


def same(a, b):
    """The same Python value of the same type."""
    return type(a) is type(b) and (a == b or a != a)  # noqa: PLR0124 - NaN


### whatever mess is added

numbers = st.one_of(st.floats(-5, 15, allow_nan=False), st.sampled_from([None, math.nan]))
number_words = st.sampled_from(["01", " 3.50", "1e3", "-2", "8.125 ", "?", "", "NaN", None])
states = st.sampled_from(["a", "b", "?", "", None])
whole = st.one_of(st.integers(0, 200), st.none())
truths = st.sampled_from([True, False, None])
others = st.one_of(st.sampled_from(["?", "N/A", " x ", "", "01", None]), st.text(max_size=3))


@st.composite
def messy_columns(draw):
    """Columns of the network and others, of numbers, words, truth values and markers, in any order."""
    size = draw(st.integers(1, 8))
    kinds = {"y": states, "x": draw(st.sampled_from([numbers, number_words])), "n": whole, "k": truths, "more": others,
             "id": st.integers(0, 9), "note": others}  # fmt: skip
    names = draw(st.lists(st.sampled_from(sorted(kinds)), min_size=1, unique=True).filter(set("yxnk").intersection))
    return {name: draw(st.lists(kinds[name], min_size=size, max_size=size)) for name in names}


KINDS = {
    "dict": (lambda c: c, lambda d: d),
    "tuples": (lambda c: {n: tuple(v) for n, v in c.items()}, lambda d: {n: list(v) for n, v in d.items()}),
    "records": (
        lambda c: [dict(zip(c, row, strict=True)) for row in zip(*c.values(), strict=True)],
        lambda d: {name: [row[name] for row in d] for name in d[0]},
    ),
    "pandas": (
        lambda c: pd.DataFrame({n: pd.Series(v, dtype=object) for n, v in c.items()}).set_axis(
            ["i"] * len(next(iter(c.values()))), axis=0
        ),
        lambda d: {name: d[name].tolist() for name in d},
    ),
    "polars": (lambda c: pl.DataFrame(c, strict=False), lambda d: d.to_dict(as_series=False)),
    "pyarrow": (lambda c: pa.table({n: pa.array(v) for n, v in c.items()}), lambda d: d.to_pydict()),
}


@pytest.mark.parametrize("kind", KINDS)
@trials(40)
@given(columns=messy_columns(), how=st.sampled_from(["most_probable", "sample"]))
def test_observed_cells_come_back_unchanged(kind, columns, how):
    there, back = KINDS[kind]
    data = there(columns)
    before = back(data)
    full = NET.impute(data, method=how, random_state=1)
    after = back(full)
    assert (type(full), list(after)) == (type(data), list(before))
    if kind == "pandas":
        pd.testing.assert_index_equal(full.index, data.index)
    for name, cells in before.items():
        for old, new in zip(cells, after[name], strict=True):
            if name in NET and is_gap(old):
                assert not is_gap(new)
            else:
                assert same(old, new), (name, cells, after[name])
    again = back(data)
    assert all(same(a, b) for name in before for a, b in zip(before[name], again[name], strict=True))  # nothing written


@trials(30)
@given(columns=messy_columns())
def test_kinds_agree(columns):
    """One answer, whatever the data come as."""
    found = [NET.impute(there(columns)) for there, _ in KINDS.values()]
    tables = [as_table(full, schema=NET.schema, missing_columns="missing") for full in found]
    assert all(table == tables[0] for table in tables[1:])
    best = NET.impute(as_table(columns, schema=NET.schema, missing_columns="missing"))
    for name in set(columns) & set(NET.variables):
        np.testing.assert_array_equal(tables[0].codes_of(name), best.codes_of(name))


### files

raw_cells = {
    "y": st.sampled_from(["a", "b", '"a"', '"b"', "", "?", '"?"', '""']),
    "x": st.sampled_from(["01", " 3.50", "1e3", '"-2"', "8.125 ", "?", "", "NaN"]),
    "n": st.sampled_from(["12", "007", "100", '"100"', "", "nan"]),
    "more": st.sampled_from(['"x, ""y"""', '"two\nlines"', "", "?", " N/A", "é", "0.10", '""']),
    "note": st.sampled_from(["1.0", "1", "TRUE", "", "a b"]),
}


@st.composite
def messy_files(draw):
    """The cells of a CSV file as they are written, and what stands around them."""
    names = draw(st.lists(st.sampled_from(sorted(raw_cells)), min_size=1, unique=True).filter(set("yxn").intersection))
    rows = draw(st.lists(st.tuples(*(raw_cells[name] for name in names)), min_size=1, max_size=8))
    end = draw(st.sampled_from(["\n", "\r\n"]))
    blank = [draw(st.sampled_from(["", "", "", end])) if len(names) > 1 else "" for _ in rows]
    closed = draw(st.booleans()) or not rows[-1][-1]
    return names, rows, end, blank, draw(st.sampled_from(["", "\ufeff"])), closed


def as_written(names, rows, end, blank, mark, closed):
    lines = [",".join(names) + end, *(",".join(row) + end + gap for row, gap in zip(rows, blank, strict=True))]
    text = mark + "".join(lines)
    return (text if closed else text.removesuffix(blank[-1]).removesuffix(end)).encode()


@pytest.mark.thorough
@trials(40)
@given(file=messy_files(), how=st.sampled_from(["most-probable", "sample"]))
def test_files_stay_byte_for_byte(file, how):
    names, rows, *around = file
    with tempfile.TemporaryDirectory() as folder:
        net, path, to = (str(Path(folder) / name) for name in ("net.json", "in.csv", "out.csv"))
        write_network(NET, net)
        Path(path).write_bytes(as_written(names, rows, *around))
        words = ["--method", "sample", "--seed", "1"] if how == "sample" else []
        shown = ask("impute", net, path, *words)
        ask("impute", net, path, "-o", to, *words)
        full = NET.impute(path, method=how.replace("-", "_"), random_state=1).to_pydict()
        new = [
            tuple(
                full[name][i] if name in NET and cell.strip('"') in {"", "?", "NaN", "nan"} else cell
                for name, cell in zip(names, row, strict=True)
            )
            for i, row in enumerate(rows)
        ]
        assert Path(to).read_bytes() == as_written(names, new, *around)
        assert shown == as_written(names, new, *around).decode().replace("\r\n", "\n")  # as the runner reads it


def test_odd_quotes_are_written_anew(tmp_path, monkeypatch):
    """A quotation mark inside a cell: the content of all cells stays, whatever their quotes."""
    monkeypatch.chdir(tmp_path)
    write_network(NET, "net.json")
    (tmp_path / "in.csv").write_text('y,size\na,5" pipe\n,"6"" pipe"\n')
    assert [*csv.reader(io.StringIO(ask("impute", "net.json", "in.csv")))][1:] == [["a", '5" pipe'], ["a", '6" pipe']]


def test_parquet_keeps_types_index_and_metadata(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_network(NET, "net.json")
    frame = pd.DataFrame(
        {
            "day": pd.to_datetime(["2026-01-01", None, "2026-01-03"]),
            "x": np.array([8.5, np.nan, 0.25], np.float32),
            "n": pd.array([None, 12, None], "Int16"),
            "y": pd.Categorical(["b", None, "a"], ["b", "a", "c"]),
            "k": pd.array([True, None, False], "boolean"),
            "s": [[1], None, [2, 3]],
        },
        index=["p", "q", "r"],
    )
    frame.to_parquet("in.parquet")
    ask("impute", "net.json", "in.parquet", "-o", "out.parquet")
    full = pd.read_parquet("out.parquet")
    assert pyarrow.parquet.read_schema("out.parquet").equals(pyarrow.parquet.read_schema("in.parquet"))
    observed = frame.notna()
    network_columns = ["x", "n", "y", "k"]
    assert full[network_columns].notna().all(axis=None)
    for name in network_columns:
        pd.testing.assert_series_equal(full[name][observed[name]], frame[name][observed[name]])
    pd.testing.assert_frame_equal(full[["day"]], frame[["day"]])
    assert ask("impute", "net.json", "in.parquet").splitlines()[0] == "day,x,n,y,k,s"


### types of columns


@pytest.mark.parametrize(
    ("column", "wanted"),
    [
        (pd.Series([1.5, None], dtype="float32"), "float32"),
        (pd.Series([12, None], dtype="Int8"), "Int8"),
        (pd.Series(["1.5", None], dtype="string"), "string"),
        (pd.Series(["1.5", "?"], dtype="category"), "category"),
        (pd.Series([1.5, None], dtype="double[pyarrow]"), "double[pyarrow]"),
        (pd.Series(["1.5", None], dtype=object), "object"),
    ],
)
def test_pandas_types_stay(column, wanted):
    full = NET.impute(pd.DataFrame({"x": column}))["x"]
    assert (str(full.dtype), full[0], full.isna().sum()) == (wanted, column[0], 0)
    float(full[1])


@pytest.mark.parametrize("kind", [pl.Float32, pl.Int8, pl.String, pl.Categorical, pl.Enum(["1", "?"])])
def test_polars_types_stay(kind):
    text = kind in {pl.String, pl.Categorical} or isinstance(kind, pl.Enum)
    column = pl.Series("x", ["1", "?" if isinstance(kind, pl.Enum) else None] if text else [1, None], dtype=kind)
    full = NET.impute(pl.DataFrame({"x": column}))["x"]
    assert full.dtype == (pl.String if isinstance(kind, pl.Enum) else kind)
    assert (full.to_list()[0], full.null_count()) == (column.to_list()[0], 0)
    lazy = NET.impute(pl.LazyFrame({"x": column}))
    assert isinstance(lazy, pl.DataFrame)


@pytest.mark.parametrize("kind", [pa.float32(), pa.int8(), pa.string(), pa.large_string(), pa.decimal128(24, 2),
                                  pa.dictionary(pa.int8(), pa.string(), ordered=True)])  # fmt: skip
def test_arrow_types_stay(kind):
    text = pa.types.is_dictionary(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind)
    plain = pa.array(["1", None] if text else [1, None])
    column = plain.cast(kind) if not pa.types.is_dictionary(kind) else pa.DictionaryArray.from_arrays(
        pa.array([0, None], pa.int8()), pa.array(["1"]), ordered=True)  # fmt: skip
    full = NET.impute(pa.table({"x": column}))["x"]
    assert (full.type, full.null_count, full[0].as_py()) == (kind, 0, column[0].as_py())


def test_numpy_arrays():
    matrix = np.array([[8.5, np.nan], [np.nan, 120.0]])
    network = fit_parameters("[x][n|x]", {"x": X, "n": WHOLE}, prior="laplace")
    full = network.impute(matrix)
    assert (full.dtype, np.isnan(full).any(), full[0, 0], full[1, 1]) == (np.float64, False, 8.5, 120)
    assert np.isnan(matrix).sum() == 2
    words = NET.impute(np.array([["a", "8.5", "?", "True"], ["?", "?", "150", "False"]]))
    assert (words.dtype.kind, words[0, 1], words[1, 2]) == ("U", "8.5", "150")
    fields = np.array([("a", np.nan, 3), ("?", 8.5, 4)], dtype=[("y", "U1"), ("x", "f4"), ("other", "i2")])
    full = NET.impute(fields)
    assert (full.dtype, full["other"].tolist(), np.isnan(full["x"]).any()) == (fields.dtype, [3, 4], False)
    masked = {"x": np.ma.array([8.5, 1.0], mask=[False, True]), "y": ["b", "a"]}
    assert not np.ma.getmaskarray(NET.impute(masked)["x"]).any()


def test_rows_without_names():
    full = NET.impute([["a", None, 12, True], ("b", 8.5, None, None)])
    assert (type(full), type(full[0]), type(full[1]), full[0][0], full[1][:2]) == (list, list, tuple, "a", ("b", 8.5))


def test_tables_keep_their_schema():
    table = as_table({"x": [8.5, None, 0.25], "y": ["b", None, "b"], "town": ["P", None, "Q"]}, allow_constant=True)
    full = NET.impute(table.with_weights([1, 2, 3]))
    assert full.schema.names == table.schema.names
    assert full.schema["x"] == table.schema["x"]
    assert (full.values_of("x")[[0, 2]].tolist(), full.missing()) == ([8.5, 0.25], {"x": 0, "y": 0, "town": 1})
    np.testing.assert_array_equal(full.sample_weight, [1, 2, 3])
    low = NET.impute(as_table({"x": [0.25, 0.5], "y": [None, "b"]}, numeric=["x"], allow_constant=True))
    assert (low.schema["y"].states, low.to_dict()["y"]) == (("b", "a"), ["a", "b"])  # a state that it had not seen
    cut = NET.impute(table, as_intervals=True)
    assert cut.schema["x"] == NET["x"].variable
    assert isinstance(
        NET.impute(scan([{"x": [8.5, None], "y": ["b", "a"]}], schema=NET.schema, missing_columns="missing")), Table
    )


def test_whole_columns_that_are_missing():
    frame = pd.DataFrame({"x": [np.nan, np.nan], "y": [np.nan, np.nan], "k": [None, None], "n": ["?", ""]})
    full = NET.impute(frame)
    assert (str(full["x"].dtype), str(full["k"].dtype), full["y"].isin(["a", "b"]).all()) == ("float64", "bool", True)
    assert full["n"].map(str.isdigit).all()


### which number


def test_the_number_is_the_median_of_the_training_rows_in_the_interval():
    best = NET.most_probable({"y": "a"}).case
    code = NET["x"].variable.code_of(best["x"])
    rows = np.sort(X[NET["x"].variable.cut(X) == code])
    wanted = rows[(len(rows) - 1) // 2]
    assert NET.impute([{"y": "a", "x": None}])[0]["x"] == wanted
    whole = NET.impute([{"y": "a", "n": None}])[0]["n"]
    assert isinstance(whole, int)


def test_draws_are_of_the_values_in_the_interval():
    """Without evidence the draws are spread as the training rows are, but for the prior."""
    drawn = np.array(NET.impute({"y": [None] * 4000, "x": [None] * 4000}, method="sample", random_state=3)["x"])
    assert set(drawn) <= set(X)
    assert abs(drawn.mean() - X.mean()) < 5 * X.std() / np.sqrt(4000) + 0.1
    np.testing.assert_allclose(np.quantile(drawn, [0.1, 0.5, 0.9]), np.quantile(X, [0.1, 0.5, 0.9]), rtol=0, atol=0.5)


def test_a_network_without_values_takes_those_of_the_data_and_else_the_interval():
    hours = DiscreteVariable.from_cuts("hours", [2.0, 4.0])
    network = BayesianNetwork.from_tables("[hours]", {"hours": [0.1, 0.8, 0.1]}, states=Schema([hours]))
    assert network.impute({"hours": [2.5, 3.5, 3.0, None]})["hours"][-1] == 3.0
    assert network.impute({"hours": [1.0, 9.5, None]})["hours"][-1] == 3.0  # the middle of the interval
    for p, code in (([1.0, 0, 0], 0), ([0, 0, 1.0], 2)):
        network = BayesianNetwork.from_tables("[hours]", {"hours": p}, states=Schema([hours]))
        assert hours.cut(network.impute({"hours": [None]})["hours"]).tolist() == [code]


def test_whole_numbers_stay_in_their_interval():
    rooms = DiscreteVariable("rooms", ["few", "many"], (2.4,), ((1.0,), (2.45, 2.45)))
    network = BayesianNetwork.from_tables("[rooms]", {"rooms": [0.1, 0.9]}, states=Schema([rooms]))
    assert network.impute(pa.table({"rooms": pa.array([1, None], pa.int64())}))["rooms"].to_pylist() == [1, 3]


def test_names_of_intervals_are_filled_by_names():
    states_ = NET.states("x")
    assert NET.impute({"x": [states_[0], None], "y": ["a", "b"]})["x"][1] in states_


@given(x=st.lists(st.floats(-9, 9), min_size=1, max_size=60), cut=st.floats(-9, 9), twice=st.booleans())
def test_kept_values_are_quantiles(x, cut, twice):
    """Values of rows, in order, the middle one the lower median; a weight of 2 is a row twice."""
    x = np.array(x)
    weights = np.full(len(x), 2.0) if twice else None
    for values, rows in zip(interval_values(x, weights, (cut,)), (x[x <= cut], x[x > cut]), strict=True):
        assert set(values) <= set(rows.tolist())
        assert list(values) == sorted(values)
        assert len(values) <= MAX_VALUES
        if len(rows):
            assert values[(len(values) - 1) // 2] == np.sort(rows)[(len(rows) - 1) // 2]


def test_models_keep_the_values(tmp_path):
    write_network(NET, tmp_path / "net.json")
    read = read_network(tmp_path / "net.json")
    assert read["x"].variable.interval_values == NET["x"].variable.interval_values
    assert read["x"].variable == DiscreteVariable.from_cuts("x", NET["x"].variable.cuts)  # values change no code
    text = (tmp_path / "net.json").read_text().replace('"interval_values": [[', '"interval_values": [["odd", ', 1)
    (tmp_path / "bad.json").write_text(text)
    with pytest.raises(FormatError, match=r"the interval values of column '.' must be lists of numbers"):
        read_network(tmp_path / "bad.json")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([[1], [2], [3]], "has 2 states, but interval values of 3"),
        ([[1], [3, 2]], "must be finite and in increasing order"),
        ([[1], [math.inf]], "must be finite and in increasing order"),
        (5, "must be lists of numbers"),
    ],
)
def test_bad_values_are_named(values, message):
    with pytest.raises(ParameterError, match=message):
        DiscreteVariable("x", ["low", "high"], (1.0,), values)


def test_an_unknown_state_stays():
    data = {"y": ["c", None, "b"], "x": [None, 0.25, 8.5]}
    with pytest.raises(UnknownStateError, match="column 'y' has state 'c' in row 0"):
        NET.impute(data, handle_unknown="error")
    with pytest.warns(BayeslearnWarning, match=r"1 value of 'y' \('c'\) not among the states: treated as missing"):
        full = NET.impute(data)
    assert (full["y"], full["x"][0]) == (["c", "a", "b"], NET.impute([{"x": None, "y": None}])[0]["x"])


def test_no_column_of_the_network():
    with pytest.raises(UnknownColumnError, match="no column of the data is a variable of the network"):
        NET.impute({"other": [1, 2]})
