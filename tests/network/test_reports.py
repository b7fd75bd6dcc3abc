"""Results of networks show themselves: as text, as HTML, as frames and as plain values."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from bayeslearn import DAG, BayesianNetwork, datasets, read_network
from bayeslearn.errors import ParameterError
from bayeslearn.network import compare_networks
from bayeslearn.network.inference.approximate import SampledInference
from bayeslearn.network.inference.loopy_propagation import LoopyPropagation

ASIA = read_network("asia")
SEEN = {"xray": "yes"}
CHAIN = BayesianNetwork.from_tables(
    "[a][b|a]", {"a": [0.25, 0.75], "b": [[0.125, 0.875], [0.5, 0.5]]}, states={"a": [0, 1], "b": ["u", "v"]}
)
OTHER = BayesianNetwork.from_tables(
    "[b][a|b]", {"b": [0.5, 0.5], "a": [[0.5, 0.5]] * 2}, states={"b": ["u", "v"], "a": [0, 1]}
)
ROWS = {"a": [0, 1], "b": ["u", "v"]}

#: Every kind of result, a number or a word that its text holds, and whether it is tabular.
RESULTS = {
    "network": (ASIA, "18 parameters", True),
    "CPT": (ASIA["lung"], "P(lung=yes)", True),
    "DAG": (ASIA.dag, "8 nodes, 8 arcs", True),
    "CPDAG": (ASIA.dag.cpdag(), "5 directed and 3 undirected", True),
    "posterior": (ASIA.query(SEEN), "0.488711", True),
    "sampled": (SampledInference(ASIA).query(SEEN, n_samples=2000, random_state=0), "standard error", True),
    "loopy": (LoopyPropagation(ASIA).query(SEEN), "Converged", True),
    "joint": (ASIA.inference.joint(["lung", "tub"], SEEN), "0.483629", True),
    "most probable": (ASIA.most_probable(SEEN), "P(states | evidence)", True),
    "explanation": (ASIA.explain(SEEN | {"dysp": "yes"}, "lung"), "14.3221", True),
    "sensitivity": (ASIA.sensitivity(SEEN, "lung", "yes"), "-4.14388", True),
    "comparison": (compare_networks(CHAIN, OTHER, ROWS), "a → b", True),
    "rows": (ASIA.predict_proba([SEEN, {}], ["lung", "tub"]), "0.488711", True),
}


@pytest.fixture(params=RESULTS)
def result(request):
    return RESULTS[request.param]


def test_text_is_the_summary_and_has_the_numbers(result):
    value, needle, _ = result
    assert needle in value.summary()
    assert len(repr(value)) < 120
    assert "\n" not in repr(value)
    if not isinstance(value, DAG) and "CPDAG" not in repr(value):  # these are written as graphs are
        assert str(value) == value.summary()


def test_html_has_the_numbers_in_cells(result):
    value, needle, _ = result
    html = value._repr_html_()
    assert "<td" in html
    assert needle.replace("→", "").split()[-1] in re.sub(r"<[^>]*>", " ", html)


def test_plain_values_are_json(result):
    value, _, _ = result
    found = value.to_dict()
    assert json.loads(json.dumps(found)) == found


@pytest.mark.parametrize(
    ("backend", "kind"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame), ("pyarrow", pa.Table)]
)
def test_frames(result, backend, kind):
    frame = result[0].to_frame(backend)
    assert isinstance(frame, kind)
    assert frame.shape[0] > 0


### names from others


HOSTILE = "<script>&\"'\x1b[2J"


def hostile():
    tables = {HOSTILE: [0.3, 0.7], "b": [[0.1, 0.9], [0.4, 0.6]]}
    states = {HOSTILE: [HOSTILE, "x"], "b": ["u", HOSTILE]}
    net = BayesianNetwork.from_tables([(HOSTILE, "b")], tables, states=states, name=HOSTILE)
    return [
        net, net["b"], net.dag, net.dag.cpdag(), net.query({"b": HOSTILE}), net.most_probable({"b": HOSTILE}),
        net.inference.joint([HOSTILE, "b"]), net.explain({"b": HOSTILE}, HOSTILE),
        net.sensitivity({"b": HOSTILE}, HOSTILE, HOSTILE), compare_networks(net, net),
        net.predict_proba([{"b": HOSTILE}]), SampledInference(net).query({"b": HOSTILE}, n_samples=100, random_state=0),
    ]  # fmt: skip


@pytest.mark.parametrize("value", hostile(), ids=lambda value: type(value).__name__)
def test_names_are_text_wherever_they_are_shown(value):
    assert "<script" not in value._repr_html_()
    for text in (value._repr_html_(), value.summary(), str(value), repr(value)):
        assert "\x1b" not in text


### values


def test_the_frame_of_a_cpt_has_a_row_for_each_combination_of_parents():
    for cpt in read_network("alarm"):
        frame = cpt.to_frame()
        k = len(cpt.parents)
        assert frame.shape == (cpt.probabilities.size // cpt.variable.n_states, k + cpt.variable.n_states)
        for row in frame.sample(min(3, len(frame)), random_state=0).itertuples(index=False):
            place = tuple(v.code_of(state) for v, state in zip(cpt.parents, row[:k], strict=True))
            np.testing.assert_array_equal(cpt.probabilities[place], row[k:])


def test_states_that_are_numbers_stay_numbers_in_frames():
    assert CHAIN["b"].to_frame()["a"].tolist() == [0, 1]


def test_the_frame_of_a_network_has_every_probability():
    frame = CHAIN.to_frame()
    assert frame["probability"].tolist() == [0.25, 0.75, 0.125, 0.875, 0.5, 0.5]
    assert frame["given"].tolist() == ["", "", "a=0", "a=0", "a=1", "a=1"]


def test_plain_values_make_the_network_again():
    for name in datasets.list_networks():
        net = read_network(name)
        plain = net.to_dict()
        again = BayesianNetwork.from_tables(
            {cpt["variable"]: list(cpt["parents"]) for cpt in plain["cpts"]},
            {cpt["variable"]: cpt["probabilities"] for cpt in plain["cpts"]},
            states={cpt["variable"]: cpt["states"] for cpt in plain["cpts"]},
        )
        assert again == net


def test_the_joint_posterior_is_shown_from_the_most_probable_on():
    joint = ASIA.inference.joint(["lung", "tub", "smoke"], SEEN)
    shown = [row[-1] for row in joint.report().blocks[0].rows]
    assert shown == sorted(shown, reverse=True)
    assert joint.to_frame()["probability"].sum() == pytest.approx(1, rel=1e-12)


def test_large_results_are_cut_in_reports_and_whole_in_frames():
    sizes = {f"v{i}": ["a", "b"] for i in range(45)}
    net = BayesianNetwork.from_tables({name: [] for name in sizes}, {name: [0.5, 0.5] for name in sizes}, states=sizes)
    found = net.query()
    assert "… 15 more variables" in found.summary()
    assert len(found.to_frame()) == 90
    assert "… 5 more rows" in net.summary()
    rows = net.predict_proba([{"v0": None}] * 50)
    assert "… 30 more rows" in rows.summary()
    assert rows.to_frame().shape == (50, 91)
    assert "v40" not in repr(found)


def test_networks_too_large_for_a_picture_have_none():
    names = {f"v{i}": ["a", "b"] for i in range(301)}
    net = BayesianNetwork.from_tables({name: [] for name in names}, {name: [0.5, 0.5] for name in names}, states=names)
    assert "<svg" not in net._repr_html_()
    assert "<svg" not in net.dag._repr_html_()


def test_a_long_graph_is_short_in_repr():
    dag = DAG({f"node{i}": () for i in range(100)})
    assert repr(dag) == "<DAG: 100 nodes, 0 arcs>"
    assert DAG.parse(str(dag)) == dag


### plots


@pytest.mark.parametrize(
    "value", [ASIA, ASIA.dag, ASIA.query(SEEN), ASIA.sensitivity(SEEN, "lung", "yes"), RESULTS["sampled"][0]]
)
def test_plots_are_figures_on_new_or_given_axes(value):
    figure = pytest.importorskip("matplotlib.figure")
    assert isinstance(value.plot(), figure.Figure)
    mine = figure.Figure()
    axes = mine.add_subplot()
    assert value.plot(ax=axes) is mine
    mine.canvas.draw()
    assert axes.patches or axes.collections


def test_labels_with_dollars_are_no_mathematics():
    pytest.importorskip("matplotlib")
    net = BayesianNetwork.from_tables("[$x$]", {"$x$": [0.5, 0.5]}, states={"$x$": ["$\\bad{", "b"]})
    net.query().plot().canvas.draw()


def test_bars_of_a_query_are_its_probabilities():
    pytest.importorskip("matplotlib")
    found = ASIA.query(SEEN, ["lung", "tub"])
    bars = found.plot().axes[0].patches
    assert [bar.get_width() for bar in bars] == [*found["lung"].values(), *found["tub"].values()]


def test_a_number_of_bars_is_checked():
    with pytest.raises(ParameterError, match="n"):
        ASIA.sensitivity(SEEN, "lung", "yes").plot(n=0)
