"""Pictures: what they show, and how they are written."""

from __future__ import annotations

import inspect
import sys

import numpy as np
import pytest
from matplotlib.figure import Figure

from bayeslearn import FiniteSpace, NeighborsModel, em, fit_forest, fit_mixture, plots, read_network
from bayeslearn.distributions import Counts
from bayeslearn.errors import MissingDependencyError, ParameterError
from bayeslearn.evaluation import Metrics
from bayeslearn.hmm import fit_hmm
from bayeslearn.model_comparison import compare_models
from bayeslearn.naive_bayes import Calibration
from bayeslearn.naive_bayes.text import fit_text

PNG = b"\x89PNG"


def coin_steps(n_hypotheses):
    grid = np.linspace(0.1, 0.9, n_hypotheses)
    space = FiniteSpace.from_table(np.stack([grid, 1 - grid], axis=1), outcomes=["head", "tail"])
    return [space.posterior(), space.posterior().update("head")]


def test_plot_posterior_shows_every_probability():
    steps = coin_steps(3)
    figure = plots.plot_posterior(steps, ["before", "head"])
    bars = [[bar.get_height() for bar in container] for container in figure.axes[0].containers]
    by_name = dict(zip(figure.axes[0].get_legend_handles_labels()[1], bars, strict=True))
    for name, heights in by_name.items():
        assert heights == pytest.approx([step[int(name)] for step in steps], rel=1e-12)


def test_many_hypotheses_are_drawn_together_and_still_sum_to_one():
    figure = plots.plot_posterior(coin_steps(30), ["before", "head"])
    assert figure.axes[0].get_legend_handles_labels()[1][-1] == "21 others"
    tops = [sum(container[i].get_height() for container in figure.axes[0].containers) for i in (0, 1)]
    assert tops == pytest.approx([1, 1], rel=1e-12)


def test_plot_em_history_follows_the_history():
    history = tuple(em.EMStep(i, -10.0 / (i + 1), 0.0, 1.0) for i in range(4))
    figure = plots.plot_em_history(em.EMResult(None, Counts([1.0]), history, converged=True))
    assert figure.axes[0].lines[0].get_ydata() == pytest.approx([-10, -5, -10 / 3, -2.5], rel=1e-12)


def test_plot_calibration_shows_frequencies_by_predicted_probabilities():
    found = Calibration.of([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7]], [0, 1, 1], n_bins=2)
    line = plots.plot_calibration(found).axes[0].lines[1]
    assert line.get_xdata() == pytest.approx([0.8], rel=1e-12)
    assert line.get_ydata() == pytest.approx([2 / 3], rel=1e-12)


def test_save_writes_a_whole_picture(tmp_path):
    plots.save(plots.plot_posterior(coin_steps(2), ["before", "head"]), tmp_path / "beliefs.png")
    assert [path.name for path in tmp_path.iterdir()] == ["beliefs.png"]
    assert (tmp_path / "beliefs.png").read_bytes().startswith(PNG)


def test_save_refuses_an_unknown_ending(tmp_path):
    with pytest.raises(ParameterError, match=r"'beliefs.xyz' has no ending of a picture"):
        plots.save(plots.plot_posterior(coin_steps(2), ["before", "head"]), tmp_path / "beliefs.xyz")
    assert list(tmp_path.iterdir()) == []


def test_without_matplotlib_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'bayeslearn\[plot\]'"):
        plots.plot_posterior(coin_steps(2), ["before", "head"])


def on_axes():
    """Plots and how they are drawn, each on axes that are given."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((40, 2))
    model = fit_mixture(x, 2, random_state=0)
    labels = ["a", "b"] * 20
    return {
        "plot_posterior": lambda ax: plots.plot_posterior(coin_steps(3), ["before", "head"], ax=ax),
        "plot_mixture": lambda ax: plots.plot_mixture(model, x, ax=ax),
        "plot_responsibilities": lambda ax: plots.plot_responsibilities(model, x, ax=ax),
        "plot_network": lambda ax: plots.plot_network(read_network("asia"), {"smoke": "yes"}, ax=ax),
        "plot_confusion_matrix": lambda ax: plots.plot_confusion_matrix(
            Metrics.of(np.eye(2)[[0, 1] * 20], np.array([0, 1] * 20), classes=["a", "b"]), ax=ax
        ),
        "plot_states": lambda ax: plots.plot_states(fit_hmm(x[:, 0], 2).decode(x[:, 0]), ax=ax),
        "plot_words": lambda ax: plots.plot_words(
            fit_text(["a cheap watch", "noon"], ["spam", "ham"]).explain_class("spam"), ax=ax
        ),
        "plot_transitions": lambda ax: plots.plot_transitions(fit_hmm(x[:, 0], 2), ax=ax),
        "plot_state_posterior": lambda ax: plots.plot_state_posterior(fit_hmm(x[:, 0], 2).posterior(x[:, 0]), ax=ax),
        "plot_importances": lambda ax: plots.plot_importances(fit_forest(x, labels, n_estimators=3), ax=ax),
        "plot_voronoi": lambda ax: plots.plot_voronoi(
            NeighborsModel.from_arrays({"x": x[:, 0], "y": x[:, 1]}, labels), ax=ax
        ),
    }


@pytest.mark.parametrize("name", on_axes())
def test_plots_draw_on_the_axes_that_are_given(name):
    figure = Figure(figsize=(8, 3))
    left, right = figure.subplots(1, 2)
    size = tuple(figure.get_size_inches())
    assert on_axes()[name](right) is figure
    assert tuple(figure.get_size_inches()) == size
    assert right.has_data()
    assert not left.has_data()


def test_every_plot_takes_axes():
    found = [getattr(plots, name) for name in plots.__all__ if name.startswith("plot_")]
    assert len(found) == len(plots.__all__) - 1
    assert all(inspect.signature(plot).parameters["ax"].default is None for plot in found)


def test_a_comparison_of_models_takes_a_pair_of_axes():
    pair = Figure().subplots(1, 2)
    rows = {"x": list(range(20)), "y": ["a", "b"] * 10}
    found = compare_models(rows, "y", learners=["naive-bayes"], cv=2)
    assert plots.plot_model_comparison(found, ax=pair) is pair[0].figure
    assert all(axes.has_data() for axes in pair)
