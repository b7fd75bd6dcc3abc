"""Tables as data frames, Arrow tables and HTML."""

import re

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given

from bayeslearn.errors import DuplicateColumnError, ParameterError, UnknownColumnError
from bayeslearn.tables import DiscreteVariable, NumericVariable, Schema, Table, as_table
from tests.tables.strategies import tables

NAN = float("nan")
BACKENDS = ["pandas", "polars", "pyarrow"]
SCHEMA = Schema(
    [
        DiscreteVariable("wind", ["weak", "strong", "gale"]),
        NumericVariable("hours"),
        DiscreteVariable("visits", [2, 1]),
        DiscreteVariable("paid", [True, False]),
    ]
)


@pytest.fixture
def days():
    return Table(SCHEMA, [[0, 1, -1], [1, 0, -1], [0, 1, -1]], [[1.5, 2.0, NAN]], [1, 2, 0.5])


### frames


@pytest.mark.parametrize("backend", BACKENDS)
@given(table=tables(min_rows=1))
def test_a_frame_read_by_the_schema_is_the_table(backend, table):
    again = as_table(table.to_frame(backend), schema=table.schema)
    assert again == table.with_weights(None)


@given(tables(min_rows=1))
def test_the_stream_of_arrow_is_the_table(table):
    arrow = pa.table(table)
    assert arrow.column_names == list(table.columns)
    assert {
        name: cells.null_count for name, cells in zip(arrow.column_names, arrow.columns, strict=True)
    } == table.missing()
    assert arrow == table.to_arrow()


def test_a_pandas_frame(days):
    frame = days.to_frame()
    assert frame["wind"].cat.categories.tolist() == ["weak", "strong", "gale"]
    assert frame.dtypes.astype(str).tolist() == ["category", "float64", "Int64", "boolean"]
    assert days.head(2).to_frame().dtypes.astype(str).tolist() == ["category", "float64", "int64", "bool"]
    assert frame["visits"].sum() == 3
    assert frame.isna().sum().to_dict() == {"wind": 1, "hours": 1, "visits": 1, "paid": 1}


def test_a_polars_frame(days):
    frame = days.to_frame("polars")
    assert frame.schema["wind"] == pl.Enum(["weak", "strong", "gale"])
    assert frame["visits"].to_list() == [1, 2, None]
    assert frame["hours"].to_list() == [1.5, 2.0, None]
    assert pl.DataFrame(days)["wind"].to_list() == ["weak", "strong", None]


@pytest.mark.parametrize("backend", BACKENDS)
def test_weights_are_a_column_that_is_named(days, backend):
    assert list(days.to_frame(backend, sample_weight="n")["n"].to_numpy()) == [1, 2, 0.5]
    assert list(days.with_weights(None).to_frame(backend, sample_weight="n")["n"].to_numpy()) == [1, 1, 1]
    with pytest.raises(DuplicateColumnError, match="the table has a column 'wind' already"):
        days.to_frame(backend, sample_weight="wind")


@pytest.mark.parametrize("backend", BACKENDS)
def test_tables_without_rows_or_columns(days, backend):
    assert days.take([]).to_frame(backend).shape == (0, 4)
    assert Table(Schema([]), [], []).to_frame(backend).shape == (0, 0)


def test_states_of_several_kinds_are_text():
    states = [1, "a", 2.5, 2**70]
    for kind in (states, [2**70, 2**71]):
        table = Table(Schema([DiscreteVariable("x", kind)]), [list(range(len(kind)))], [])
        assert table.to_frame()["x"].tolist() == [str(state) for state in kind]


def test_intervals_are_ordered():
    table = as_table({"x": [0.5, 1.5, 2.5, 3.5]}, numeric=["x"]).apply_cuts({"x": [1, 3]})
    assert table.to_frame()["x"].cat.ordered
    assert (table.to_frame()["x"] > "<= 1").tolist() == [False, True, True, True]


def test_an_unknown_backend(days):
    with pytest.raises(ParameterError, match="unexpected value for `backend`: 'excel'"):
        days.to_frame("excel")


### columns and rows


def test_columns_by_name(days):
    assert (days.shape, days.columns) == ((3, 4), ("wind", "hours", "visits", "paid"))
    assert days["wind"].tolist() == ["weak", "strong", None]
    np.testing.assert_array_equal(days["hours"], [1.5, 2.0, NAN])
    assert days[["paid", "wind"]] == days.select(["paid", "wind"])
    for wrong in ("wnd", 0):
        with pytest.raises(UnknownColumnError, match=f"there is no column {wrong!r}"):
            days[wrong]
    with pytest.raises(TypeError, match="not iterable"):
        iter(days)


def test_the_first_rows(days):
    assert days.head(2) == days.take([0, 1])
    assert days.head() == days
    assert days.head(0).n_rows == 0
    with pytest.raises(ParameterError, match="`n` must be at least 0"):
        days.head(-1)


### HTML


def test_html_shows_rows_kinds_and_missing_values(days):
    html = days._repr_html_()
    assert "3 rows × 4 columns, weight 3.5" in html
    assert "<td>3 states, 1 missing</td><td>numeric, 1 missing</td>" in html
    assert "<tr><td>weak</td><td>1.5</td><td>1</td><td>True</td></tr>" in html


def test_html_escapes_every_name_and_state():
    name, state = "<script>alert(1)</script>", '"><img src=x onerror=alert(1)>\x1b[2J\u202e'
    html = Table(Schema([DiscreteVariable(name, [state]), NumericVariable("a&b")]), [[0]], [[1e-9]])._repr_html_()
    assert set(re.findall(r"</?(\w+)", html)) == {"table", "caption", "thead", "tbody", "tr", "th", "td"}
    assert 'title="1 states: &quot;&gt;&lt;img' in html
    assert "a&amp;b" in html
    assert not {"\x1b", "\u202e"} & set(html)


def test_html_of_large_tables_is_small():
    n = 1000
    table = Table(Schema(NumericVariable(f"x{i}") for i in range(n)), [], np.zeros((n, n)))
    html = table._repr_html_()
    assert len(html) < 10_000
    assert "980 columns are not shown" in html
    assert Table(Schema([]), [], [])._repr_html_().startswith("<table>")
