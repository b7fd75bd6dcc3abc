"""Which columns can be learned from: the same of a table and of a source, however the rows are divided."""

import datetime as dt

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bayeslearn as bl
from bayeslearn import network
from bayeslearn.sources.usability import unusable, without_identifiers
from bayeslearn.tables.identifiers import is_free_text, is_identifier_name

RNG = np.random.default_rng(19)
N = 400


def rentals(n=N):
    """A list of rentals: identifiers, free text, money, percentages, dates, a license that hardly anybody has."""
    day = dt.date(2019, 1, 1)
    return {
        "id": (RNG.permutation(10 * n)[:n] + 2595).tolist(),
        "host_id": RNG.integers(10**5, 10**8, n).tolist(),
        "name": [f"Lovely quiet room near the big park, number {i}" for i in range(n)],
        "price": [f"${x:,.2f}" for x in RNG.lognormal(7, 1, n)],
        "cents": RNG.integers(10**3, 10**4, n).tolist(),
        "rate": [f"{x} %" for x in RNG.integers(50, 101, n)],
        "last_review": [(day + dt.timedelta(int(k))).strftime("%d/%m/%Y") for k in RNG.integers(0, 700, n)],
        "area": RNG.choice(["north", "south", "west"], n).tolist(),
        "license": ["a", "b", *[""] * (n - 2)],
    }


def in_files(folder, data, parts=3):
    frame = pd.DataFrame(data)
    for k in range(parts):
        frame.iloc[k * len(frame) // parts : (k + 1) * len(frame) // parts].to_csv(
            f"{folder}/part-{k}.csv", index=False
        )
    return f"{folder}/part-*.csv"


### names


@pytest.mark.parametrize(
    "name", ["id", "ID", "host_id", "hostId", "HostID", "uuid", "key", "row", "no.", "id_host", "idx"]
)
def test_names_of_identifiers(name):
    assert is_identifier_name(name)


@pytest.mark.parametrize(
    "name", ["paid", "valid", "idle", "humidity", "monkey", "price", "x0", "number_of_reviews", "note"]
)
def test_other_names(name):
    assert not is_identifier_name(name)


def test_free_text():
    assert is_free_text([f"a very good place to stay, {i} times" for i in range(9)])
    assert not is_free_text(["New York", "Los Angeles", "San Francisco"])


### numbers


@pytest.mark.parametrize(
    ("name", "values", "why"),
    [
        ("x", range(7, 107), "numbers the rows"),
        ("host_id", RNG.integers(10**5, 10**8, N), "by its name"),
        ("x", np.sort(RNG.choice(10**6, N, replace=False)), "in the order of the rows"),
        ("x", RNG.permutation(10 * N)[:N], "all different"),
        ("listing_no", RNG.choice(10**6, N, replace=False) * 83 + 10**7, "all different"),
        ("id", RNG.integers(0, 3, N) + 0.5, None),
        ("x", RNG.choice(10**7, N, replace=False), "all different"),
        ("x", RNG.normal(size=N), None),
        ("x", RNG.integers(0, 200, N), None),
    ],
)
def test_identifiers_among_numbers(tmp_path, name, values, why):
    data = {name: list(values), "y": RNG.choice(["a", "b"], len(values)).tolist()}
    for source in (bl.as_table(data), bl.scan([pd.DataFrame(data)[:50], pd.DataFrame(data)[50:]], numeric=[name])):
        found = unusable(source).get(name)
        assert (found is None) if why is None else why in found


@given(st.lists(st.floats(-100, 100), min_size=4, max_size=60))
def test_fractions_are_no_identifiers(values):
    table = bl.as_table({"id": [v + 0.25 for v in values]}, numeric=["id"])
    assert "identifier" not in unusable(table).get("id", "") or all(float(v + 0.25).is_integer() for v in values)


def test_words_that_name_their_rows():
    table = bl.as_table({
        "user_id": [f"u{i // 5}" for i in range(200)], "code": [f"c{i - (i == 7)}" for i in range(200)],
        "size": ["s", "m", "l", "xl"] * 50,
    })  # fmt: skip
    assert set(unusable(table)) == {"user_id", "code"}
    dropped_columns = {}
    assert without_identifiers(table, dropped_columns, keep=["code"]).schema.names == ("code", "size")
    assert list(dropped_columns) == ["user_id"]
    assert without_identifiers(table, None) is table


### learning


def test_the_rentals_are_learned_from_at_first_try(tmp_path):
    data = rentals()
    path = in_files(tmp_path, data)
    pd.DataFrame(data).to_csv(tmp_path / "all.csv", index=False)
    found = network.fit_network(str(tmp_path / "all.csv")).fit_info.prepared_data
    assert set(found.dropped_columns) == {"id", "host_id", "name", "license"}
    assert found.notes[:3] == (
        "price: money, read as numbers", "rate: percent, read as numbers",
        "last_review: date, read as year, month, weekday of d/m/y",
    )  # fmt: skip
    sourced = network.fit_network(path).fit_info.prepared_data
    assert sourced.table.schema == found.table.schema
    assert sourced.notes == found.notes
    assert set(sourced.dropped_columns) == set(found.dropped_columns)


def test_a_column_that_is_hardly_ever_observed_is_dropped_and_one_seldom_observed_noted():
    x, y = RNG.choice(["a", "b"], 2000), RNG.choice(["c", "d"], 2000)
    rare, seldom = np.where(np.arange(2000) < 15, x, "?"), np.where(np.arange(2000) < 150, x, "?")
    found = network.fit_network(
        {"x": x, "y": y, "rare": rare, "seldom": seldom}, algorithm="naive_bayes", target="y"
    ).fit_info.prepared_data
    assert found.dropped_columns == {"rare": "column 'rare' is observed in 0.75 % of the rows"}
    assert "column 'seldom' is observed in 7.5 % of the rows" in found.notes
    kept = network.fit_network(
        {"x": x, "y": y, "rare": rare}, algorithm="naive_bayes", target="rare"
    ).fit_info.prepared_data
    assert not kept.dropped_columns


def test_a_target_is_no_identifier():
    data = {"id": RNG.integers(0, 10**6, 300).tolist(), "x": RNG.choice(["a", "b"], 300).tolist()}
    assert not network.fit_network(data, algorithm="naive_bayes", target="id").fit_info.prepared_data.dropped_columns


@pytest.mark.parametrize(
    "how", [{"algorithm": "tan"}, {"discretize": "mdl"}, {"algorithm": "tan", "discretize": "mdl"}]
)
def test_a_numeric_target(how):
    a = RNG.normal(size=500)
    price = 3 * a + RNG.normal(size=500)
    data = {"a": a, "price": price, "b": price + RNG.normal(size=500)}
    cuts = network.fit_network(data, target="price", **how).fit_info.prepared_data.cuts
    assert len(cuts["price"]) == 4
    assert len(cuts["a"]) > 1


### many values


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_more_values_than_a_digest_keeps(tmp_path, ending):
    """Money and moments with over 4,096 different values, and years that only the last rows show."""
    n = 9000
    moment = pd.Timestamp("2013-01-01") + pd.to_timedelta(np.arange(n) * 7919, unit="s")
    frame = pd.DataFrame({
        "price": [f"${x:,.2f}" for x in np.arange(n) * 1.37], "t": moment, "d": moment.strftime("%d/%m/%Y %H:%M"),
    })  # fmt: skip
    for k in range(3):
        part = frame.iloc[k * 3000 : (k + 1) * 3000]
        part.to_csv(tmp_path / f"p-{k}.csv", index=False) if ending == "csv" else part.to_parquet(
            tmp_path / f"p-{k}.parquet"
        )
    table, source = bl.as_table(frame), bl.scan(str(tmp_path / f"p-*.{ending}"))
    assert source.schema == table.schema
    assert source.table() == table
    assert table.schema.names[:5] == ("price", "t.year", "t.month", "t.weekday", "t.hour")
