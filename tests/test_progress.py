"""One callback type for every long call, and bars that move."""

from __future__ import annotations

import io
import re
import sys
import types
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeslearn import fit_mixture, progress
from bayeslearn.errors import ConvergenceWarning, ParameterError
from bayeslearn.progress import Progress, Reporter, TerminalBar, bar_html, part, reports_progress, should_stop, shown

FRACTIONS = st.floats(0, 1)


@reports_progress("Counting")
def count(n, *, progress=None):
    """A call of n steps, each of two."""
    for i in range(n):
        inner = part(progress, i / n, (i + 1) / n, f"step {i + 1}")
        for j in (1, 2):
            if should_stop(inner, j / 2, f"half {j}", detail=j):
                return i
    return n


def test_a_callback_gets_fractions_messages_seconds_and_details():
    seen = []
    assert count(3, progress=seen.append) == 3
    assert [now.fraction for now in seen] == pytest.approx([1 / 6, 2 / 6, 3 / 6, 4 / 6, 5 / 6, 1])
    assert [now.message for now in seen[:3]] == ["step 1: half 1", "step 1: half 2", "step 2: half 1"]
    assert [now.detail for now in seen] == [1, 2] * 3
    assert all(0 <= a.seconds <= b.seconds for a, b in pairwise(seen))


def test_a_callback_that_raises_stop_iteration_ends_the_call():
    def stop(now):
        if now.fraction > 0.4:
            raise StopIteration

    assert count(4, progress=stop) == 1


def test_nobody_need_listen():
    assert count(3) == count(3, progress=None) == count(3, progress=False) == count(3, progress=True) == 3


def test_what_is_no_callback_is_refused():
    with pytest.raises(ParameterError, match="`progress` must be True, a function or None, got 7"):
        count(3, progress=7)


@given(st.lists(FRACTIONS, min_size=1), FRACTIONS, FRACTIONS)
def test_the_fraction_never_falls_and_stays_within_its_part(fractions, one, other):
    seen, (low, high) = [], sorted((one, other))
    inner = Reporter(seen.append).part(low, high)
    for fraction in fractions:
        inner(fraction)
    found = [now.fraction for now in seen]
    assert found == sorted(found)
    assert all(low - 1e-12 <= x <= high + 1e-12 for x in found)


def test_a_call_inside_another_reports_to_the_same_bar():
    @reports_progress("Outer")
    def outer(*, progress=None):
        return count(2, progress=part(progress, 0.5, 1.0, "inner"))

    seen = []
    outer(progress=seen.append)
    assert [now.fraction for now in seen] == [0.625, 0.75, 0.875, 1.0]
    assert seen[0].message == "inner: step 1: half 1"


### bars


@pytest.fixture
def clock(monkeypatch):
    """A clock that moves by a second with every look."""
    times = iter(range(1000))
    monkeypatch.setattr(progress.time, "perf_counter", lambda: float(next(times)))


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_bar_in_the_terminal_moves_and_goes(clock, monkeypatch):
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("TERM", "xterm")
    count(4, progress=True)
    shares = [int(found) for found in re.findall(r"(\d+)%", terminal.getvalue())]
    assert len(set(shares)) > 4
    assert shares == sorted(shares)
    assert "step 4: half 2" in terminal.getvalue()
    assert terminal.getvalue().endswith(("\x1b[2K", "\r"))  # the line is erased


def test_there_is_no_bar_for_what_is_quick(monkeypatch):
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    count(4, progress=True)
    assert not terminal.getvalue()


def test_there_is_no_bar_where_nobody_looks(clock, capsys):
    count(4, progress=True)
    assert capsys.readouterr().err == ""


def test_names_cannot_command_the_terminal(clock, monkeypatch):
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    bar = TerminalBar("a\x1b]0;title\x07 [bold]name")
    bar.update(Progress(0.5))
    bar.__exit__()
    assert "\x1b]0" not in terminal.getvalue()
    assert "[bold]name" in terminal.getvalue()


def test_a_notebook_shows_a_bar_as_html(clock, monkeypatch):
    shows = []

    class Handle:
        def update(self, html):
            shows.append(html)

    def display(html, *, display_id):
        shows.append(html)
        return Handle()

    fake = types.SimpleNamespace(get_ipython=types.new_class("ZMQInteractiveShell"))
    monkeypatch.setitem(sys.modules, "IPython", fake)
    monkeypatch.setitem(sys.modules, "IPython.display", types.SimpleNamespace(display=display, HTML=str))
    count(4, progress=True)
    values = [float(re.search(r"value='([\d.]+)'", html)[1]) for html in shows[:-1]]
    assert len(values) > 4
    assert values == sorted(values)
    assert shows[-1] == ""


def test_names_in_html_are_escaped():
    assert "<b>" not in bar_html(Progress(0.25, "<b>name", 3.0))
    assert "25%" in bar_html(Progress(0.25, "<b>name", 3.0))


def test_a_disabled_bar_takes_reports():
    with shown("Reading", disabled=True) as report:
        report(0.5)


def test_progress_prints_as_a_line():
    assert str(Progress(0.256, "iteration 3", 1.25)) == " 26%     1.2 s  iteration 3"


@pytest.mark.parametrize("progress", [None, lambda now: None])
def test_a_warning_points_at_the_line_that_calls_the_package(progress):
    data = {"x": [0.0, 0.1, 5.0, 5.2, 9.0, 9.1], "y": [1.0, 0.5, 2.0, 2.5, 0.0, 0.2]}
    with pytest.warns(ConvergenceWarning, match="stopped after") as told:
        fit_mixture(data, 2, max_iter=1, tol=1e-12, progress=progress)
    assert {warning.filename for warning in told} == {__file__}
