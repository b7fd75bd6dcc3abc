"""Pictures of networks: what they show, and how they are written."""

from __future__ import annotations

import itertools
import re
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from bayeslearn import BayesianNetwork, read_network
from bayeslearn.errors import (
    CapacityError,
    ImpossibleEvidenceError,
    InputFileNotFoundError,
    ParameterError,
    UnknownColumnError,
    UnknownStateError,
)
from bayeslearn.network.visualization import figure_layout, write_svg
from bayeslearn.network.visualization.figure_layout import NAME_SIZE, fitted, percent, picture, width
from bayeslearn.network.visualization.renderers import draw

SVG = "{http://www.w3.org/2000/svg}"
ASIA = read_network("asia")


def words(svg):
    return [element.text for element in ET.fromstring(svg).iter(f"{SVG}text")]


def bars(svg, color):
    """Widths of the bars of a color."""
    rects = ET.fromstring(svg).iter(f"{SVG}rect")
    return [float(rect.get("width")) for rect in rects if rect.get("fill") == color]


def one(name, states, p):
    return BayesianNetwork.from_tables([], {name: p}, states={name: states})


def chain(n):
    names = [f"v{i}" for i in range(n)]
    tables = {name: [[0.7, 0.3], [0.2, 0.8]] if i else [0.5, 0.5] for i, name in enumerate(names)}
    return BayesianNetwork.from_tables(
        list(itertools.pairwise(names)), tables, states={key: ["a", "b"] for key in names}
    )


### what is shown


def test_every_belief_stands_in_its_node():
    answer = ASIA.query({"smoke": "yes"})
    shown = picture(ASIA, {"smoke": "yes"})
    for name, belief in answer.beliefs.items():
        assert {line.label: line.p for line in shown.cards[name].lines} == pytest.approx(belief, rel=1e-12)
    assert f"{answer['lung']['yes']:.1%}" in words(ASIA.to_svg({"smoke": "yes"}))


def test_what_was_seen_stands_out_with_a_full_bar():
    svg = ASIA.to_svg({"smoke": "yes"})
    track = bars(svg, figure_layout.TRACK)[0]
    assert bars(svg, figure_layout.SEEN) == [pytest.approx(track, abs=0.01)]
    assert bars(ASIA.to_svg(), figure_layout.SEEN) == []
    assert svg.count(figure_layout.SEEN_FILL) == 1
    assert "smoke = yes, observed" in svg


def test_bars_are_as_long_as_beliefs():
    svg = one("x", ["a", "b"], [0.25, 0.75]).to_svg()
    full = bars(svg, figure_layout.TRACK)[0]
    assert bars(svg, figure_layout.BELIEVED) == pytest.approx([full / 4, full * 3 / 4], abs=0.01)


def test_long_lists_show_the_most_probable_in_their_order():
    p = np.array([1, 9, 2, 8, 3, 7, 4, 6]) / 40
    card = picture(one("x", list("abcdefgh"), p), rows=5).cards["x"]
    assert [line.label for line in card.lines] == ["b", "d", "f", "h", "+4 more"]
    assert sum(line.p for line in card.lines) == pytest.approx(1, rel=1e-12)
    assert len(picture(one("x", list("abcdefgh"), p), rows=8).cards["x"].lines) == 8


def test_an_observed_state_is_never_cut():
    p = np.arange(20.0, 0, -1) / 210
    lines = picture(one("x", list(range(20)), p), {"x": 19}).cards["x"].lines
    assert (lines[-2].label, lines[-2].p, lines[-1].label, lines[-1].p) == ("19", 1.0, "+15 more", 0.0)


def test_networks_of_more_than_30_variables_are_compact():
    net, few = chain(31), chain(30)
    full = net.to_svg(bars=False, compact=False)
    small = net.to_svg()

    assert words(small) == list(net.variables)
    assert 'font-size="10.5"' in small
    assert 'font-size="10.5"' not in few.to_svg()
    assert len(words(few.to_svg())) == 5 * len(few)
    compact, plain = picture(net), picture(net, bars=False, compact=False)
    assert compact.layout.height < 0.75 * plain.layout.height
    assert compact.layout.width < plain.layout.width
    assert all(card.compact for card in compact.cards.values())
    assert 'font-size="10.5"' not in full


def test_compact_pictures_can_be_asked_for_and_refused():
    net = chain(31)

    assert len(words(net.to_svg(compact=False))) == 5 * len(net)
    assert len(words(net.to_svg(bars=True))) == 5 * len(net)
    assert words(chain(3).to_svg(compact=True)) == ["v0", "v1", "v2"]
    assert words(chain(3).to_svg({"v0": "a"}, compact=True)) == ["v0 = a", "v1", "v2"]
    assert len(words(chain(3).to_svg(bars=True, compact=True))) == 15
    with pytest.raises(ParameterError, match="unexpected value for `compact`: 'yes'"):
        net.to_svg(compact="yes")


@pytest.mark.parametrize("compact", [True, False])
def test_nodes_of_a_large_network_do_not_overlap(compact):
    layout = picture(read_network("alarm"), bars=False, compact=compact).layout

    for (a, one), (b, other) in itertools.combinations(layout.boxes.items(), 2):
        apart = one.x + one.width <= other.x or other.x + other.width <= one.x
        assert apart or one.bottom <= other.y or other.bottom <= one.y, (a, b)


def test_large_networks_show_names_only_unless_asked():
    net = chain(figure_layout.MOST_WITH_BARS + 1)
    assert words(net.to_svg()) == list(net.variables)
    assert "v0 = a" in words(net.to_svg({"v0": "a"}))
    assert len(words(net.to_svg(bars=True))) == 5 * len(net)
    assert words(chain(3).to_svg(bars=False)) == ["v0", "v1", "v2"]


def test_without_room_for_exact_inference_names_are_shown(monkeypatch):
    def no_room(*_, **__):
        raise CapacityError("too large")

    monkeypatch.setattr(BayesianNetwork, "query", no_room)
    assert words(chain(3).to_svg()) == ["v0", "v1", "v2"]
    with pytest.raises(CapacityError, match="too large"):
        chain(3).to_svg(bars=True)


@pytest.mark.parametrize(
    ("p", "shown"),
    [(0, "0%"), (1, "100%"), (1e-6, "<0.1%"), (0.0005, "0.1%"), (0.99949, "99.9%"), (0.9995, ">99.9%"), (0.5, "50.0%")],
)
def test_only_what_is_certain_is_all_or_nothing(p, shown):
    assert percent(p) == shown


### text


def test_percentages_are_escaped_too():
    assert words(one("x", ["a", "b"], [0.0001, 0.9999]).to_svg()) == ["x", "a", "<0.1%", "b", ">99.9%"]


@pytest.mark.parametrize("name", ["<a&b>", "\"quoted\" 'too'", "]]>", "<!--", "&amp;", "Größe → 大小", "$x_1$"])
def test_names_are_escaped(name):
    net = BayesianNetwork.from_tables(
        [(name, "child")],
        {name: [0.5, 0.5], "child": [[1, 0], [0, 1]]},
        states={name: [f"<{name}", "no"], "child": ["a", "b"]},
    )
    svg = net.to_svg({name: "no"})
    assert {name, f"<{name}", "child"} <= set(words(svg))
    titles = [element.text for element in ET.fromstring(svg).iter(f"{SVG}title")]
    assert f"{name} → child" in titles


def test_characters_that_xml_cannot_hold_are_replaced():
    assert "a\N{REPLACEMENT CHARACTER}b" in words(one("a\x00b", ["\x1b[0m", "\ud800"], [0.5, 0.5]).to_svg())


def test_long_names_are_cut_and_told_in_full_when_pointed_at():
    name = "a very long name that nobody would want to read in a box " * 3
    svg = one(name, ["yes", "no"], [0.5, 0.5]).to_svg()
    assert words(svg)[0].endswith("…")
    assert f"<title>{name}</title>" in svg
    assert width(fitted(name, NAME_SIZE, 100), NAME_SIZE) <= 100


### the file


@pytest.mark.parametrize("name", ["asia", "alarm", "forest-fire", "play-tennis"])
def test_pictures_are_the_same_every_time_and_hold_all_nodes_and_arcs(name):
    net = read_network(name)
    svg = net.to_svg()
    assert svg == draw(read_network(name))
    assert svg in net._repr_html_()
    root = ET.fromstring(svg)
    assert set(net.variables) <= set(words(svg))
    titles = [element.text for element in root.iter(f"{SVG}title")]
    assert [title for title in titles if "→" in title] == [f"{a} → {b}" for a, b in net.dag.arcs]
    assert not re.search(r"nan|inf[^o]|e-\d", re.sub(r"<text.*?</text>|<title.*?</title>", "", svg))


def test_a_file_is_written_whole(tmp_path):
    write_svg(ASIA.to_svg(), tmp_path / "asia.svg")
    assert [path.name for path in tmp_path.iterdir()] == ["asia.svg"]
    assert (tmp_path / "asia.svg").read_text(encoding="utf-8") == ASIA.to_svg()


def test_no_half_file_is_left(tmp_path):
    (tmp_path / "asia.svg").mkdir()
    with pytest.raises(ParameterError, match=r"cannot write .*asia\.svg': it is a folder"):
        write_svg(ASIA.to_svg(), tmp_path / "asia.svg")
    assert [path.name for path in tmp_path.iterdir()] == ["asia.svg"]
    with pytest.raises(InputFileNotFoundError, match=r"cannot write .*there is no folder"):
        write_svg("", tmp_path / "nowhere" / "asia.svg")


### mistakes


def test_mistakes_are_named():
    with pytest.raises(UnknownColumnError, match="there is no variable 'snow'"):
        ASIA.to_svg({"snow": "yes"})
    with pytest.raises(UnknownStateError, match="'smoke' has no state 'maybe'"):
        ASIA.to_svg({"smoke": "maybe"}, bars=False)
    with pytest.raises(ImpossibleEvidenceError, match="cannot be together"):
        ASIA.to_svg({"tub": "yes", "either": "no"})
    with pytest.raises(ParameterError, match="unexpected value for `bars`: 'yes'"):
        ASIA.to_svg(bars="yes")
    with pytest.raises(ParameterError, match="`rows` must be at least 2"):
        ASIA.to_svg(rows=1)
