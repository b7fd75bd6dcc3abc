"""Pictures of functions: every arc is there, and has the color of its case."""

from __future__ import annotations

from hypothesis import given

from bayeslearn import plots
from bayeslearn.case_based import CaseBase, FunctionGraph, design
from bayeslearn.case_based.plotting import downwards
from tests.case_based.strategies import graphs
from tests.properties import trials


@given(graphs(nodes=6, arcs=12))
@trials(30)
def test_arcs_are_laid_out_without_cycles(graph):
    pairs = downwards(graph)
    place = {}
    left = set(graph.nodes)
    while left:  # whatever no arc leads to stands first
        free = {node for node in left if not any(b == node and a in left for a, b in pairs)}
        assert free
        place |= dict.fromkeys(free, len(place))
        left -= free
    assert {frozenset(pair) for pair in pairs} == {frozenset(arc[:2]) for arc in graph.arcs}


def test_every_arc_is_drawn_with_its_sign():
    graph = FunctionGraph("a:flow ->+ b; b ->- a; b ->+ c")
    axes = plots.plot_function_graph(graph).axes[0]
    arrows = {patch.get_gid(): patch.get_linestyle() for patch in axes.patches if patch.get_gid()}
    assert set(arrows) == {str(arc) for arc in graph.arcs}
    assert arrows["b →− a"] != arrows["a →+ b"] == arrows["b →+ c"]
    assert {"a", "b", "c", "flow"} <= {text.get_text() for text in axes.texts}


def test_cases_have_colors(tmp_path):
    base = CaseBase.load("plumbing")
    best = design(base, base["faucet"]).best
    figure = plots.plot_function_graph(best.function, {"T-junction": best.covered["T-junction"]})
    axes = figure.axes[0]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["T-junction", "not covered"]
    colors = {patch.get_gid(): patch.get_edgecolor() for patch in axes.patches if patch.get_gid()}
    assert len(set(colors.values())) == 2
    plots.save(figure, tmp_path / "faucet.svg")
    assert "T-junction" in (tmp_path / "faucet.svg").read_text()
