"""The same pictures by matplotlib."""

from __future__ import annotations

import sys

import pytest
from matplotlib.collections import PathCollection, PolyCollection

from bayeslearn import BayesianNetwork, plots, read_network
from bayeslearn.errors import MissingDependencyError
from bayeslearn.network.visualization.figure_layout import picture
from bayeslearn.plots import models

PNG = b"\x89PNG"
ASIA = read_network("asia")


def test_a_figure_shows_what_the_svg_shows():
    axes = plots.plot_network(ASIA, {"smoke": "yes"}).axes[0]
    seen = picture(ASIA, {"smoke": "yes"})
    written = [text.get_text() for text in axes.texts]
    assert set(ASIA.variables) <= set(written)
    assert len(written) == sum(1 + 2 * len(card.lines) for card in seen.cards.values())
    arcs, boxes = (c for c in axes.collections if isinstance(c, PathCollection))
    heads, bars = (c for c in axes.collections if isinstance(c, PolyCollection))
    assert len(arcs.get_paths()) == len(heads.get_paths()) == len(ASIA.dag.arcs)
    assert len(boxes.get_paths()) == len(ASIA)
    spans = [path.get_extents().width for path in bars.get_paths()]
    shown = [line.p for card in seen.cards.values() for line in card.lines]
    assert [bar / track for track, bar in zip(spans[::2], spans[1::2], strict=True)] == pytest.approx(shown, abs=1e-6)


def test_text_fits_into_the_boxes():
    net = read_network("alarm")
    figure = plots.plot_network(net)
    boxes = picture(net).layout.boxes.values()
    axes = figure.axes[0]
    figure.draw_without_rendering()
    for text in axes.texts:
        extent = text.get_window_extent().transformed(axes.transData.inverted())
        left, right = sorted((extent.x0, extent.x1))
        assert any(box.x <= left and right <= box.x + box.width for box in boxes), text.get_text()


def test_dollars_are_no_formulas_and_one_node_is_a_picture(tmp_path):
    net = BayesianNetwork.from_tables([], {"$x_1$": [0.5, 0.5]}, states={"$x_1$": ["<a&b>", "$"]})
    plots.save(plots.plot_network(net, bars=True), tmp_path / "net.png")
    assert (tmp_path / "net.png").read_bytes().startswith(PNG)


def test_large_pictures_are_scaled_down():
    names = [f"v{i}" for i in range(200)]
    net = BayesianNetwork.from_tables(
        [(names[0], name) for name in names[1:]],
        {name: [0.5, 0.5] if name == "v0" else [[0.5, 0.5]] * 2 for name in names},
        states={key: ["a", "b"] for key in names},
    )
    assert max(plots.plot_network(net).get_size_inches()) <= models.MAX_INCHES + 1e-9


def test_without_matplotlib_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'bayeslearn\[plot\]'"):
        plots.plot_network(ASIA)
