"""Money, percentages, separators, dates, durations, intervals: what the values of a column stand for."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bayeslearn.errors import BayeslearnError, MixedTypesError
from bayeslearn.tables import DiscreteVariable, NumericVariable, Schema, as_table
from bayeslearn.tables.formats import Fits, chosen_date, date_fits, fits_of, numbers_in
from bayeslearn.tables.type_inference import interpretation_notes
from bayeslearn.tables.variables import variable_from_dict

CENTS = st.lists(st.integers(-(10**9), 10**9), min_size=1, max_size=30)


def european(text):
    return text.translate(str.maketrans(",.", ".,"))


WRITTEN = {
    "money": lambda x: f"-${-x:,.2f}" if x < 0 else f"${x:,.2f}",
    "money, decimal comma": lambda x: european(f"{x:,.2f}") + " €",
    "percent": lambda x: f"{x:.2f} %",
    "percent, decimal comma": lambda x: european(f"{x:.2f}%"),
    "thousands separators": lambda x: f"{x:,.2f}",
    "decimal comma": lambda x: european(f"{x:,.2f}"),
}

### numbers


@pytest.mark.parametrize("name", WRITTEN)
@given(cents=CENTS)
def test_written_numbers_read_back(name, cents):
    numbers = [c / 100 for c in cents]
    text = pa.array([WRITTEN[name](x) for x in numbers])
    assert name in fits_of(text).formats or name == "thousands separators"
    np.testing.assert_allclose(numbers_in(text, name), numbers, rtol=1e-15, atol=0)


@pytest.mark.parametrize("name", WRITTEN)
@given(cents=st.lists(st.integers(-(10**8), 10**8).map(lambda c: 2 * c + 1), min_size=3, max_size=30, unique=True))
def test_columns_of_written_numbers_are_numeric(name, cents):
    numbers = [123456.78, -98765.43, *(c / 100 for c in cents)]
    table = as_table({"x": [WRITTEN[name](x) for x in numbers]})
    assert table.schema["x"].read_as == name
    np.testing.assert_allclose(table.values_of("x"), numbers, rtol=1e-15, atol=0)
    again = as_table({"x": [WRITTEN[name](x) for x in numbers[::-1]]}, schema=table.schema)
    np.testing.assert_array_equal(again.values_of("x"), table.values_of("x")[::-1])
    plain = as_table({"x": numbers}, schema=table.schema)
    np.testing.assert_array_equal(plain.values_of("x"), table.values_of("x"))


@pytest.mark.parametrize(
    ("cells", "read_as", "numbers"),
    [
        (["$1,234.56", "US$ 12", "(12.50)"], "money", [1234.56, 12, -12.5]),
        (["1.234,56 €", "€ 12", "-3 €"], "money, decimal comma", [1234.56, 12, -3]),
        (["1.234 €", "17 €"], "money, decimal comma", [1234, 17]),
        (["1 234,50 kr.", "3 kr."], "money, decimal comma", [1234.5, 3]),
        (["CHF 1'234.50", "CHF 3"], "money", [1234.5, 3]),
        (["$3.459", "$3.1"], "money, many decimals", [3.459, 3.1]),
        (["12 %", "12.5%"], "percent", [12, 12.5]),
        (["1,234", "17"], "thousands separators", [1234, 17]),
        (["1 234", "17"], "thousands separators", [1234, 17]),
        (["0,123", "1,234"], "decimal comma", [0.123, 1.234]),
        (["1.234,5", "7"], "decimal comma", [1234.5, 7]),
    ],
)
def test_formats(cells, read_as, numbers):
    table = as_table({"x": cells})
    assert table.schema["x"] == NumericVariable("x")
    assert table.schema["x"].read_as == read_as
    assert table.values_of("x").tolist() == numbers


@pytest.mark.parametrize("cells", [["$5", "many"], ["1,5", "1.5.2"], ["12-13", "14-15"], ["yes", "no"], ["a%", "b%"]])
def test_one_format_for_all_or_none(cells):
    assert isinstance(as_table({"x": cells}).schema["x"], DiscreteVariable)


def test_markers_are_no_values():
    table = as_table({"x": ["$5.25", "N/A", "", "$7.50", None]})
    assert table.missing() == {"x": 3}


def test_batches_agree_on_a_format():
    parts = [["1,234"], ["12"], ["3,456,789"]]
    total = sum((fits_of(pa.array(part)) for part in parts[1:]), fits_of(pa.array(parts[0])))
    assert total.chosen == fits_of(pa.array(["1,234", "12", "3,456,789"])).chosen == "thousands separators"
    assert (total + Fits(frozenset())).chosen is None


def test_a_declared_column_is_read_too_or_kept():
    cells = ["$5", "$6", "$5"]
    assert as_table({"x": cells}, numeric=["x"]).values_of("x").tolist() == [5, 6, 5]
    assert as_table({"x": cells}, discrete=["x"]).schema["x"].states == ("$5", "$6")


def test_new_data_in_a_format_find_the_intervals_of_plain_numbers():
    schema = Schema([DiscreteVariable.from_cuts("x", [100, 2000])])
    assert as_table({"x": ["$5", "$1,500", "$2,500.10"]}, schema=schema).codes_of("x").tolist() == [0, 1, 2]
    with pytest.raises(MixedTypesError, match="'x' is to be numeric, but row 1 holds 'much'"):
        as_table({"x": ["$5", "much"]}, schema=Schema([NumericVariable("x", read_as="money")]))


### dates


@pytest.mark.parametrize(
    ("cells", "name"),
    [
        (["2013-07-04", "2013-07-05T05:15:00Z"], "y-m-d"), (["2013/7/4"], "y-m-d"),
        (["13/07/2013", "1/2/2013"], "d/m/y"),
        (["7/13/13 5:30 PM"], "m/d/y"), (["1/2/2013"], "m/d/y"), (["4.7.2013"], "d.m.y"),
        (["17:30", "5:00:01"], "time"),
        (["31/02/2013"], None), (["13/13/2013"], None), (["25:00"], None), (["1.5", "2.5"], None), (["1/2"], None),
        (["13/1/2013", "1/13/2013"], None),
    ],
)  # fmt: skip
def test_formats_of_dates(cells, name):
    assert chosen_date(date_fits(pa.array(cells))) == name


@given(
    st.lists(st.datetimes(*(dt.datetime.fromisoformat(f"{y}-01-01") for y in (1970, 2060))), min_size=2, max_size=30)
)
def test_dates_are_read_alike_however_they_come(moments):
    """Text, Python objects, NumPy, pandas, polars and Arrow, against Python's own calendar."""
    moments = [m.replace(microsecond=0) for m in moments]
    expected = {
        "year": [m.year for m in moments],
        "month": [m.strftime("%b") for m in moments],
        "weekday": [m.strftime("%a") for m in moments],
        "hour": [m.hour for m in moments],
    }
    varied = {part: cells for part, cells in expected.items() if len(set(cells)) > 1} or {"year": expected["year"]}
    given_as = [
        [m.isoformat() for m in moments], [m.strftime("%Y-%m-%d %H:%M") for m in moments], moments,
        np.array(moments, "datetime64[s]"), pd.Series(moments, dtype="datetime64[ns]"), pl.Series(moments),
        pa.array(moments),
    ]  # fmt: skip
    for cells in given_as:
        table = as_table({"t": cells}, allow_constant=True)
        found = {name.removeprefix("t."): column for name, column in table.to_dict().items()}
        assert found == varied
        assert as_table({"t": cells}, schema=table.schema) == table


@given(st.lists(st.dates(dt.date(1970, 1, 1), dt.date(2060, 1, 1)), min_size=2, max_size=30))
def test_days_and_months_are_told_apart_by_the_data(days):
    days = [*days, dt.date(2001, 1, 31), dt.date(2002, 2, 13)]
    tables = [
        as_table({"t": [d.strftime(form) for d in days]}) for form in ("%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%Y-%m-%d")
    ]
    assert all(table == tables[0] for table in tables)


def test_an_open_order_of_day_and_month_is_noted():
    table = as_table({"t": ["1/2/2013", "3/4/2013"]})
    assert table.to_dict()["t.month"] == ["Jan", "Mar"]
    assert interpretation_notes(table.schema) == [
        "t: date, read as month, weekday of m/d/y (day and month could be exchanged)"
    ]


def test_parts_can_be_asked_for_by_name():
    data = {"t": ["2013-01-02", "2014-02-03"], "y": ["a", "b"]}
    assert as_table(data, columns=["t.month", "y"]).schema.names == ("t.month", "y")
    assert as_table(data, columns=["t"]).schema.names == ("t.year", "t.month", "t.weekday")
    assert as_table(data, discrete=["t"]).schema["t"].states == ("2013-01-02", "2014-02-03")


def test_no_date_in_new_data_is_an_error():
    schema = as_table({"t": ["2013-01-02", "2014-02-03"]}).schema
    with pytest.raises(MixedTypesError, match="'t' must hold dates in one format, but row 1 holds 'soon'"):
        as_table({"t": ["2013-01-02", "soon"]}, schema=schema)
    assert as_table({"t": ["?", ""]}, schema=schema).missing() == {"t.year": 2, "t.month": 2, "t.weekday": 2}


def test_durations_are_seconds():
    table = as_table({"x": [dt.timedelta(seconds=1.5), dt.timedelta(minutes=2), None]})
    assert table.values_of("x")[:2].tolist() == [1.5, 120]
    assert interpretation_notes(table.schema) == ["x: duration, in seconds, read as numbers"]


def test_variables_remember_what_they_were_read_as():
    table = as_table({"x": ["$1.25", "$2.50", "$7.25"], "t": ["2013-01-02", "2014-02-03", "2014-02-04"]})
    for variable in (*table.schema, *table.discretize(n_bins=2).schema):
        again = variable_from_dict(variable.to_dict())
        assert (again, again.read_as, again.origin) == (variable, variable.read_as, variable.origin)


### pandas


def test_intervals_that_touch_have_cuts():
    x = pd.Series([1.0, 2, 3, 4, 9, 7])
    for right, states in ((True, ("<= 2", "2 … 5", "> 5")), (False, ("< 2", "2 … 5", ">= 5"))):
        frame = pd.DataFrame({"x": pd.cut(x, [0, 2, 5, 10], right=right)})
        table = as_table(frame)
        assert table.schema["x"].states == states
        assert as_table({"x": x}, schema=table.schema) == table
        assert as_table(frame, schema=table.schema) == table
        assert as_table(pd.DataFrame({"x": frame["x"].astype(pd.IntervalDtype())})) == table


def test_intervals_that_do_not_touch_are_states():
    gaps = pd.IntervalIndex.from_tuples([(0, 1), (2, 3)])
    assert as_table(pd.DataFrame({"x": [gaps[1], gaps[0]]})["x"].astype("category").to_frame()).schema["x"].states == (
        "(0, 1]", "(2, 3]",
    )  # fmt: skip


def test_ordered_categories_keep_their_order():
    sizes = pd.Categorical(["small", "large"], categories=["small", "medium", "large"], ordered=True)
    assert as_table(pd.DataFrame({"x": sizes})).schema["x"].states == ("small", "medium", "large")


### whatever comes

MESS = st.one_of(
    st.none(), st.text(max_size=12), st.integers(), st.floats(), st.booleans(), st.dates(), st.datetimes(),
    st.timedeltas(),
    st.sampled_from(["$5", "12 %", "1,5", "2013-01-02", "1/2/03", "N/A", "-", "(3)", "€", "%", "1e400", "13/13/13"]),
)  # fmt: skip


@given(st.dictionaries(st.text(min_size=1, max_size=6), st.lists(MESS, min_size=4, max_size=4), min_size=1, max_size=5))
@example({"x": [None, "", dt.date(2000, 1, 1), -719163]})
@pytest.mark.filterwarnings("ignore::bayeslearn.errors.BayeslearnWarning")
def test_reading_never_fails_without_a_name(data):
    try:
        table = as_table(data, dropped_columns={})
        as_table(data, schema=table.schema)
    except BayeslearnError as error:
        assert len(str(error)) < 1500  # noqa: PT017 - an error is allowed, not required


@pytest.mark.parametrize("cells", [[1.5, 2.5], [1.5, "x"], [1.5, ("x",)]])
def test_numbers_where_a_date_was_learned_are_named(cells):
    learned = as_table({"day": ["2024-01-02", "2024-02-03", "2025-03-04"] * 4, "y": list("abc") * 4})
    with pytest.raises(MixedTypesError, match=r"column 'day' must hold dates in one format, but row 0 holds '?1\.5"):
        as_table({"day": np.array([*cells, None], dtype=object)[:2], "y": ["a", "b"]}, schema=learned.schema)
