"""Ranges of dates as evidence: exactly the dates of the range, or an error that says why not."""

from __future__ import annotations

import datetime as dt
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bayeslearn import fit_parameters, write_network
from bayeslearn.errors import ParameterError, UnknownStateError
from bayeslearn.network.inference.evidence import observe, parse_evidence
from bayeslearn.network.inference.loopy_propagation import LoopyPropagation
from bayeslearn.tables.formats import MONTHS, WEEKDAYS
from tests.cli.asking import ask, fail, result

DAYS = pd.date_range("2022-01-01", "2024-12-31", freq="D")
HOURS = pd.date_range("2022-01-01", "2024-12-31 23:00", freq="5h")
ROWS = {"when": [x.isoformat() for x in HOURS], "late": np.where(HOURS.month > 6, "yes", "no")}
PARTS = ("year", "month", "weekday", "hour")


def network_of(*parts):
    return fit_parameters("".join(f"[when.{p}]" for p in parts) + f"[late|when.{parts[0]}]", ROWS, prior="laplace")


NETWORKS = {parts: network_of(*parts) for n in (1, 2, 3) for parts in combinations(PARTS[:3], n)}
NET = network_of(*PARTS)

VALUES = {
    "year": lambda day: day.year,
    "month": lambda day: MONTHS[day.month - 1],
    "weekday": lambda day: WEEKDAYS[day.weekday()],
}


def holds(seen, part, day):
    """Whether a day agrees with the evidence on a part."""
    state = seen.get(f"when.{part}", VALUES[part](day))
    return VALUES[part](day) in (state if isinstance(state, list) else [state])


### the law: a day agrees with the evidence if and only if it lies in the range

days = st.dates(dt.date(2021, 6, 1), dt.date(2025, 6, 1))
months = days.map(lambda day: day.strftime("%Y-%m"))
years = days.map(lambda day: str(day.year))
ends = st.one_of(days.map(str), months, years)


def first_day(end):
    return dt.date.fromisoformat(f"{end}-01-01"[:10])


def last_day(end):
    units = {4: pd.DateOffset(years=1), 7: pd.DateOffset(months=1), 10: pd.DateOffset(days=1)}
    return (pd.Timestamp(first_day(end)) + units[len(end)] - pd.DateOffset(days=1)).date()


FORMS = {
    "{}..{}": lambda day, a, b: first_day(a) <= day <= last_day(b),
    "{}..": lambda day, a, b: first_day(a) <= day,
    "..{1}": lambda day, a, b: day <= last_day(b),
    "> {}": lambda day, a, b: day > last_day(a),
    ">={}": lambda day, a, b: day >= first_day(a),
    "<{}": lambda day, a, b: day < first_day(a),
    "<= {}": lambda day, a, b: day <= last_day(a),
}


@given(parts=st.sampled_from(sorted(NETWORKS)), form=st.sampled_from(sorted(FORMS)), a=ends, b=ends)
@example(parts=("month", "year"), form="{}..{}", a="2024-01-01", b="2024-03-31")
@example(parts=("year",), form="{}..{}", a="2023-01-01", b="2023-12")
@example(parts=("weekday",), form="{}..{}", a="2022-01-01", b="2022")
@example(parts=("year", "month", "weekday"), form="> {}", a="2024-06", b="2024")
def test_a_range_is_exactly_its_dates_or_an_error(parts, form, a, b):
    parts = tuple(sorted(parts, key=PARTS.index))
    days = [d.date() for d in DAYS]
    inside = [FORMS[form](day, a, b) for day in days]
    if "year" not in parts:  # such a network is of one year, that of the range
        within = [day.year for day, is_in in zip(days, inside, strict=True) if is_in]
        one_year = "{}" in form and form.count("{}") == 2 and a[:4] == b[:4] and within
        if not one_year:
            return
        days, inside = zip(*[(d, i) for d, i in zip(days, inside, strict=True) if d.year == within[0]], strict=True)
    try:
        seen = NETWORKS[parts].query({"when": form.format(a, b)}).evidence
    except UnknownStateError as error:
        assert error.hint  # noqa: PT017
        boxes = {part: {VALUES[part](day) for day, is_in in zip(days, inside, strict=True) if is_in} for part in parts}
        smallest = [all(VALUES[part](day) in boxes[part] for part in parts) for day in days]
        assert not any(inside) or smallest != list(inside)
        return
    agrees = [all(holds(seen, part, day) for part in parts) for day in days]
    assert agrees == list(inside)


def test_a_range_of_another_year_is_read_as_a_date_of_another_year_is():
    network = NETWORKS["month",]
    assert network.query({"when": "2013-02-03"}).evidence == {"when.month": "Feb"}
    assert network.query({"when": "2013-02..2013-04"}).evidence == {"when.month": ["Feb", "Mar", "Apr"]}


### forms


@pytest.mark.parametrize(
    ("text", "evidence"),
    [
        ("2024-01-01..2024-03-31", {"when.year": 2024, "when.month": ["Jan", "Feb", "Mar"]}),
        ("2024-01..2024-01", {"when.year": 2024, "when.month": "Jan"}),
        ("2024-02", {"when.year": 2024, "when.month": "Feb"}),
        ("2024", {"when.year": 2024}),
        ("2023..", {"when.year": [2023, 2024]}),
        ("> 2024-10", {"when.year": 2024, "when.month": ["Nov", "Dec"]}),
        ("<=2022-01-31", {"when.year": 2022, "when.month": "Jan"}),
        ("01/11/2023 .. 31/12/2023", {"when.year": 2023, "when.month": ["Nov", "Dec"]}),
        ("2023-11-01T00:00..2024-01-01T00:00", {"when.year": 2023, "when.month": ["Nov", "Dec"]}),
        ("10:00..14:00", {"when.hour": "9.5 … 13.5"}),
        (">= 2 pm", None),
        (">= 14:00", {"when.hour": ["13.5 … 18.5", "> 18.5"]}),
        ("< 05:00", {"when.hour": "<= 4.5"}),
        ("..00:59:60", None),
    ],
)
def test_forms_of_ranges(text, evidence):
    if evidence is None:
        with pytest.raises(UnknownStateError, match="needs a date or a time"):
            NET.query({"when": text})
    else:
        assert NET.query({"when": text}).evidence == evidence
        sign = "" if text.startswith((">", "<")) else "="
        assert NET.query(f"when{sign}{text}").evidence == evidence


def test_the_answer_is_that_of_the_dates():
    seen = NET.query({"when": "2024-05..2024-08"})
    wanted = NET.query({"when.year": 2024, "when.month": ["May", "Jun", "Jul", "Aug"]})
    assert seen["late"] == wanted["late"]
    assert LoopyPropagation(NET).query({"when": "2024-05..2024-08"})["late"] == pytest.approx(wanted["late"], rel=1e-9)
    session = NET.inference.session().observe(when="2024-05..2024-08")
    assert session["late"] == pytest.approx(wanted["late"], rel=1e-12)
    assert session.retract("when").evidence == {}
    with pytest.raises(ParameterError, match=r"'when\.month' is observed twice"):
        NET.query({"when": "2024-05..2024-08", "when.month": "May"})


def test_years_in_intervals():
    years = pd.date_range("1990-01-01", "2024-12-31", freq="40D")
    rows = {"when": [f"{x:%Y-%m-%d}" for x in years], "late": np.where(years.year > 2007, "yes", "no")}
    network = fit_parameters("[when.year][late|when.year]", rows, prior="laplace")
    cuts = network["when.year"].variable.cuts
    states = network.states("when.year")
    low, high = int(np.floor(cuts[0])) + 1, int(np.floor(cuts[1]))
    assert network.query({"when": f"{low}..{high}"}).evidence == {"when.year": states[1]}
    assert network.query({"when": f"{low}..{high}-12-31"}).evidence == {"when.year": states[1]}
    assert network.query({"when": f">{high}"}).evidence == {"when.year": list(states[2:])}
    with pytest.raises(UnknownStateError, match=r"in part\n\nhint: give the part itself: when\.year="):
        network.query({"when": f"{low}..{high + 1}"})
    with pytest.raises(UnknownStateError, match="does not hold whole years"):
        network.query({"when": f"{low}-02..{high}"})


### errors


@pytest.mark.parametrize(
    ("parts", "text", "why", "hint"),
    [
        (PARTS[:3], "2024-01-15..2024-02-10", "does not hold whole months", r"such as 2024-01\.\.2024-02"),
        (PARTS[:3], "> 2023-06", "the months differ from year to year", "take whole years, or ask for each year"),
        (("year",), "2024-01..2024-06", "the parts do not include the month", "take whole years"),
        (("month",), "2023-11..2024-02", "the parts do not include the year", "within one year"),
        (("month",), "> 2024-02", "the parts do not include the year", "within one year"),
        (("weekday",), "2024-01..2024-02", "neither the year nor the month", "when.weekday=Mon"),
        (("year", "month"), "17:00..20:00", "the parts do not include the time", "when.year=2022"),
        (("year",), "2030..2031", "no state of 'when.year' lies in the range", "EARLIER"),
        (("year",), "2024..2023", "no state of 'when.year' lies in the range", "EARLIER"),
    ],
)
def test_errors_say_why_and_what_to_type(parts, text, why, hint):
    with pytest.raises(UnknownStateError, match=rf"{why}[\s\S]*hint: .*{hint}"):
        NETWORKS[parts].query({"when": text})


def test_times_are_whole_hours():
    shifts = [f"{8 * (i % 3)}:00" for i in range(60)]
    network = fit_parameters("[at.hour][late|at.hour]", {"at": shifts, "late": ["yes", "no", "no"] * 20})
    assert network.query({"at": "16:00..17:00"}).evidence == {"at.hour": 16}
    assert network.query({"at": "8:00.."}).evidence == {"at.hour": [8, 16]}
    with pytest.raises(UnknownStateError, match=r"'<= 4\.5' in part"):
        NET.query("when=01:00..03:00")
    with pytest.raises(UnknownStateError, match=r"at whole hours[\s\S]*hint: take whole hours, such as 17:00\.\.20:00"):
        NET.query("when=17:30..20:00")


### answers


def test_what_a_range_stands_for(tmp_path, monkeypatch):
    found = observe(NET, parse_evidence(NET, "when=2024-01..2024-02"))["when"]
    assert str(found) == "when = 2024-01..2024-02 (year: 2024, month: Jan or Feb)"
    assert found.variables == ("when.year", "when.month")
    assert str(observe(NET, {"when": "> 2024-11"})["when"]) == "when > 2024-11 (year: 2024, month: Dec)"
    monkeypatch.chdir(tmp_path)
    write_network(NET, "net.json")
    assert "when > 2024-11 (year: 2024, month: Dec)" in ask("query", "net.json", "when>2024-11", "--variables", "late")
    told = result(ask("query", "net.json", "when=2024-01..2024-02", "--variables", "late", "--json"))
    assert told["evidence"]["when"] == {
        "value": "2024-01..2024-02",
        "states": {"when.year": 2024, "when.month": ["Jan", "Feb"]},
    }
    code, sentence = fail("query", "net.json", "when=2024-01-15..2024-02-10")
    assert (code, "take whole months" in sentence) == (2, True)
