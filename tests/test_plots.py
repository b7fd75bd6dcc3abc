"""Pictures: what they show, and how they are written."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from bayeslearn import FiniteSpace, em, plots
from bayeslearn.distributions import Counts
from bayeslearn.errors import MissingDependencyError, ParameterError
from bayeslearn.naive_bayes import Calibration

PNG = b"\x89PNG"


def coin_steps(n_hypotheses):
    grid = np.linspace(0.1, 0.9, n_hypotheses)
    space = FiniteSpace.from_table(np.stack([grid, 1 - grid], axis=1), outcomes=["head", "tail"])
    return [space.posterior(), space.posterior().update("head")]


def test_beliefs_shows_every_probability():
    steps = coin_steps(3)
    figure = plots.beliefs(steps, ["before", "head"])
    bars = [[bar.get_height() for bar in container] for container in figure.axes[0].containers]
    by_name = dict(zip(figure.axes[0].get_legend_handles_labels()[1], bars, strict=True))
    for name, heights in by_name.items():
        assert heights == pytest.approx([step[int(name)] for step in steps], rel=1e-12)


def test_many_hypotheses_are_drawn_together_and_still_sum_to_one():
    figure = plots.beliefs(coin_steps(30), ["before", "head"])
    assert figure.axes[0].get_legend_handles_labels()[1][-1] == "21 others"
    tops = [sum(container[i].get_height() for container in figure.axes[0].containers) for i in (0, 1)]
    assert tops == pytest.approx([1, 1], rel=1e-12)


def test_climb_follows_the_history():
    history = tuple(em.Step(i, -10.0 / (i + 1), 0.0, 1.0) for i in range(4))
    figure = plots.climb(em.Result(None, Counts([1.0]), history, converged=True))
    assert figure.axes[0].lines[0].get_ydata() == pytest.approx([-10, -5, -10 / 3, -2.5], rel=1e-12)


def test_reliability_shows_what_was_right_by_what_was_said():
    found = Calibration.of([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7]], [0, 1, 1], bins=2)
    line = plots.reliability(found).axes[0].lines[1]
    assert line.get_xdata() == pytest.approx([0.8], rel=1e-12)
    assert line.get_ydata() == pytest.approx([2 / 3], rel=1e-12)


def test_save_writes_a_whole_picture(tmp_path):
    plots.save(plots.beliefs(coin_steps(2), ["before", "head"]), tmp_path / "beliefs.png")
    assert [path.name for path in tmp_path.iterdir()] == ["beliefs.png"]
    assert (tmp_path / "beliefs.png").read_bytes().startswith(PNG)


def test_save_refuses_an_unknown_ending(tmp_path):
    with pytest.raises(ParameterError, match=r"'beliefs.xyz' has no ending of a picture"):
        plots.save(plots.beliefs(coin_steps(2), ["before", "head"]), tmp_path / "beliefs.xyz")
    assert list(tmp_path.iterdir()) == []


def test_without_matplotlib_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'bayeslearn\[plot\]'"):
        plots.beliefs(coin_steps(2), ["before", "head"])
