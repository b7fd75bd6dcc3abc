"""Reports: one result as text and as HTML; and what fits keep beside their models."""

from __future__ import annotations

import json
from dataclasses import dataclass

import pytest

from bayeslearn.errors import NoFitInfoError
from bayeslearn.fit_info import FitInfo, Fitted, with_fit_info
from bayeslearn.reports import Bars, Grid, Pairs, Picture, Report, Reported, Words, cell_text

HOSTILE = "<b>\x1b[2J&"


@dataclass(frozen=True, repr=False)
class Answer(Reported):
    value: float

    def report(self):
        return Report("Answer", Pairs({"value": self.value, HOSTILE: HOSTILE}))


@dataclass(frozen=True)
class Model(Fitted):
    mean: float


BLOCKS = [
    Pairs({"rows": 1200, HOSTILE: HOSTILE}, "pairs"),
    Grid(["name", HOSTILE], [["a", 0.25], [HOSTILE, 12.5]], "grid"),
    Bars({"yes": 0.75, HOSTILE: 0.25}, "bars"),
    Words([HOSTILE, "second"], "words"),
]


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.title)
def test_names_are_text_wherever_they_are_shown(block):
    report = Report("title", block)
    assert "\x1b" not in report.text()
    assert "\x1b" not in report.html()
    assert "<b>" not in report.html()
    assert "&lt;b&gt;\\x1b[2J&amp;" in report.html()


def test_text_of_a_grid_is_aligned():
    assert Grid(["name", "p"], [["a", 0.25], ["longer", 12.5]]).text() == [
        "name       p",
        "------------",
        "a       0.25",
        "longer  12.5",
    ]


def test_rows_beyond_the_limit_are_counted():
    grid = Grid(["i"], [[i] for i in range(30)], max_rows=3)
    assert grid.text()[-1] == "… 27 more rows"
    assert "27 more rows" in grid.html()


def test_bars_are_as_long_as_their_values():
    assert Bars({"yes": 0.75, "no": 0.25}).text() == ["yes  0.75  ███████████████", "no   0.25  █████"]
    assert "width:75.0%" in Bars({"yes": 0.75}).html()


def test_pictures_are_of_html_only():
    report = Report("net", Picture("<svg></svg>"))
    assert report.text() == "net"
    assert "<svg></svg>" in report.html()


def test_a_result_renders_itself():
    answer = Answer(0.5)
    assert str(answer) == answer.summary() == "Answer\n\nvalue        0.5\n<b>\\x1b[2J&  <b>\\x1b[2J&"
    assert repr(answer) == "Answer(Answer)"
    assert "<td style='text-align:right'>0.5</td>" in answer._repr_html_()


@pytest.mark.parametrize(
    ("value", "text"), [(True, "yes"), (1234567, "1,234,567"), (1 / 3, "0.333333"), (None, ""), (("a", 2), "a, 2")]
)
def test_cells(value, text):
    assert cell_text(value) == text


def test_a_fitted_model_keeps_its_fit_info_outside_of_its_fields():
    model = Model(1.0)
    fitted = with_fit_info(model, FitInfo(n_rows=3, dropped_columns={"id": "row identifier"}, notes=("a note",)))
    assert fitted == model
    assert fitted.fit_info.n_rows == 3
    assert json.loads(json.dumps(fitted.fit_info.to_dict()))["dropped_columns"] == {"id": "row identifier"}
    assert "row identifier" in fitted.fit_info.summary()
    assert "a note" in fitted.fit_info._repr_html_()


def test_a_model_that_no_fit_returned_has_none():
    with pytest.raises(NoFitInfoError, match="was not returned by a fit"):
        _ = Model(1.0).fit_info
    assert not hasattr(Model(1.0), "fit_info")
