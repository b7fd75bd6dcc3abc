"""Dates as evidence: they stand for the states of their parts, in every form a date may have."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeslearn import as_table, fit_parameters
from bayeslearn.errors import ParameterError, UnknownColumnError, UnknownStateError
from bayeslearn.network.inference.evidence import observe, parse_evidence
from bayeslearn.network.inference.loopy_propagation import LoopyPropagation
from bayeslearn.tables.formats import MONTHS, WEEKDAYS
from tests.properties import trials

HOURS = pd.date_range("2012-01-01", "2013-12-31", freq="7h")
ROWS = {"when": [x.isoformat() for x in HOURS], "late": np.where(HOURS.hour > 12, "yes", "no")}
PARTS = ("year", "month", "weekday", "hour")
NET = fit_parameters("".join(f"[when.{p}]" for p in PARTS) + "[late|when.hour]", ROWS, prior="laplace")

moments = st.datetimes(dt.datetime(2012, 1, 1), dt.datetime(2013, 12, 31), timezones=st.none())  # noqa: DTZ001


def parts(moment):
    day = {"when.year": moment.year, "when.month": MONTHS[moment.month - 1], "when.weekday": WEEKDAYS[moment.weekday()]}
    return {name: NET[name].variable.states[NET[name].variable.code_of(value)] for name, value in day.items()}


def hour(moment):
    variable = NET["when.hour"].variable
    return {"when.hour": variable.states[variable.code_of(moment.hour)]}


@trials(20)
@given(moment=moments)
def test_every_form_of_a_date_stands_for_its_parts(moment):
    moment = moment.replace(minute=0, second=0, microsecond=0)
    whole = parts(moment) | hour(moment)
    forms = [
        moment, pd.Timestamp(moment), np.datetime64(moment), np.datetime64(moment, "h"), moment.isoformat(),
        f"{moment:%Y-%m-%d %H:%M}", f"{moment:%Y/%m/%d %H:%M:%SZ}", moment.replace(tzinfo=dt.UTC),
    ]  # fmt: skip
    for form in forms:
        assert NET.query({"when": form}).evidence == whole
    for day in (moment.date(), np.datetime64(moment, "D"), f"{moment:%Y-%m-%d}", f" {moment:%Y-%m-%d} "):
        assert NET.query({"when": day}).evidence == parts(moment)
    assert NET.query({"when": moment.time()}).evidence == NET.query(f"when={moment:%H:%M}").evidence == hour(moment)


@trials(25)
@given(moment=moments)
def test_evidence_is_read_as_a_row_of_a_table(moment):
    text = f"{moment:%Y-%m-%dT%H:%M}"
    row = as_table({"when": [text]}, schema=NET.schema, missing_columns="missing").row(0)
    seen = NET.query({"when": text}).evidence
    assert seen == {name: row[name] for name in seen}
    assert NET.query({"when": text})["late"] == NET.query(seen)["late"]


@pytest.mark.parametrize(("written", "other"), [("{:%d/%m/%Y}", "25/12/2012"), ("{:%m/%d/%Y}", "12/25/2012")])
def test_dates_are_read_as_in_their_column(written, other):
    rows = {"day": [written.format(x) for x in HOURS], "late": ROWS["late"]}
    network = fit_parameters("[day.month][late|day.month]", rows, prior="laplace")
    assert network.query({"day": other}).evidence == network.query("day=2012-12-25").evidence == {"day.month": "Dec"}
    assert network.query({"day": written.format(dt.date(2012, 3, 4))}).evidence == {"day.month": "Mar"}


def test_every_engine_takes_dates():
    seen, wanted = {"when": "2012-03-04T20:00"}, NET.query({**parts(dt.date(2012, 3, 4)), "when.hour": 20})
    assert LoopyPropagation(NET).query(seen)["late"] == pytest.approx(wanted["late"], rel=1e-9)
    assert NET.explain(seen, "late").belief == wanted["late"]
    assert NET.most_probable(seen).case["when.month"] == "Mar"
    session = NET.inference.session().observe(when="2012-03-04T20:00")
    assert session["late"] == pytest.approx(wanted["late"], rel=1e-12)
    assert session.retract("when").evidence == {}
    assert NET.do({"when": "2012-03-04T20:00"}).query()["late"] == pytest.approx(wanted["late"], rel=1e-12)
    assert NET.to_svg(seen).count("<svg") == 1
    assert NET.query("when=2012-03-04T20:00, late=yes").evidence["late"] == "yes"


def test_what_a_date_stands_for():
    found = observe(NET, parse_evidence(NET, "when=2012-03-04"))["when"]
    assert str(found) == "when = 2012-03-04 (year: 2012, month: Mar, weekday: Sun)"
    assert found.to_json() == {
        "value": "2012-03-04",
        "states": {"when.year": 2012, "when.month": "Mar", "when.weekday": "Sun"},
    }
    assert found.variables == ("when.year", "when.month", "when.weekday")
    assert observe(NET, {"when": dt.date(2012, 3, 4)})["when"].to_json()["value"] == "2012-03-04"


@pytest.mark.parametrize(
    "value",
    ["yesterday", "2013-02-30", "", "nan", 5, None, True, pd.NaT, np.datetime64("NaT"), np.datetime64("2013-02"),
     "2013-01-01..tomorrow", "> soon", "2013-13", "2013-01..17:00", "..", ["2013-01-01"], 20130101],
)  # fmt: skip
def test_what_is_no_date_is_named(value):
    with pytest.raises(UnknownStateError, match=r"'when' needs a date or a time, got [\s\S]*hint: write it like 2013-"):
        NET.query({"when": value})


def test_what_a_date_cannot_say_is_named():
    only = fit_parameters("[when.hour][late|when.hour]", ROWS)
    with pytest.raises(UnknownStateError, match=r"'2013-09-05' has no information about 'when\.hour'"):
        only.query({"when": "2013-09-05"})
    with pytest.raises(UnknownStateError, match=r"variable 'when\.year' has no state 2020"):
        NET.query({"when": "2020-01-01"})
    with pytest.raises(ParameterError, match=r"'when\.month' is observed twice, directly and as a part of a date"):
        NET.query({"when.month": "Jan", "when": "2013-09-05"})
    with pytest.raises(UnknownColumnError, match="there is no variable 'what'"):
        NET.query({"when": "2013-09-05", "what": 1})
