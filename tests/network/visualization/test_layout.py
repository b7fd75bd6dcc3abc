"""Layouts: the laws that every one of them obeys, and slow twins of its parts."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.isotonic import isotonic_regression

from bayeslearn import read_network
from bayeslearn.network import DAG
from bayeslearn.network.visualization.layout import GAP, MARGIN, _isotonic, layered, ordered
from tests.network.visualization.strategies import boxed, dags
from tests.properties import trials

#: What rounding of floats may take away from a distance.
TINY = 1e-6


def apart(a, b):
    """How far two boxes are from each other, along the axis where they are further."""
    across = max(a.x, b.x) - min(a.x + a.width, b.x + b.width)
    return max(across, max(a.y, b.y) - min(a.bottom, b.bottom))


def traced(path, steps=12):
    """Points along a path: lines, and cubic turns that are vertical at both ends."""
    t = np.linspace(0, 1, steps)[:, None]
    for i, (a, b) in enumerate(pairwise(np.array(path))):
        middle = (a[1] + b[1]) / 2
        c, d = np.array([a[0], middle]), np.array([b[0], middle])
        turn = (1 - t) ** 3 * a + 3 * (1 - t) ** 2 * t * c + 3 * (1 - t) * t**2 * d + t**3 * b
        yield from (a + t * (b - a) if i % 2 == 0 else turn)


@given(boxed())
@trials(150)
def test_boxes_never_touch_and_stay_on_the_paper(given_):
    dag, sizes = given_
    found = layered(dag, sizes)
    assert {name: (box.width, box.height) for name, box in found.boxes.items()} == sizes
    for a, b in combinations(found.boxes.values(), 2):
        assert apart(a, b) >= GAP / 2 - TINY
    for box in found.boxes.values():
        assert box.x >= MARGIN - TINY
        assert box.y >= MARGIN - TINY
        assert box.x + box.width <= found.width - MARGIN + TINY
        assert box.bottom <= found.height - MARGIN + TINY


@given(boxed())
@trials(100)
def test_every_arc_goes_down_from_its_parent_to_its_child(given_):
    dag, sizes = given_
    found = layered(dag, sizes)
    assert tuple(found.paths) == dag.arcs
    for (parent, child), path in found.paths.items():
        above, below = found.boxes[parent], found.boxes[child]
        assert (path[0][1], path[-1][1]) == pytest.approx((above.bottom, below.y), abs=TINY)
        assert above.x < path[0][0] < above.x + above.width
        assert below.x < path[-1][0] < below.x + below.width
        assert all(upper[1] < lower[1] for upper, lower in pairwise(path))
        assert all(a[0] == b[0] for a, b in list(pairwise(path))[::2])


@given(boxed())
@trials(60)
def test_no_arc_touches_a_box_that_is_not_its_own(given_):
    dag, sizes = given_
    found = layered(dag, sizes)
    for arc, path in found.paths.items():
        points = np.array(list(traced(path)))
        for name, box in found.boxes.items():
            if name not in arc:
                inside = (points >= (box.x - 1, box.y - 1)) & (points <= (box.x + box.width + 1, box.bottom + 1))
                assert not inside.all(axis=1).any()


@given(dags())
@trials(100)
def test_layers_are_few_and_arcs_short(dag):
    longest = {}
    for node in dag.order:
        longest[node] = 1 + max((longest[p] for p in dag.parents(node)), default=-1)
    layers = ordered(dag)
    assert len(layers.rows) == max(longest.values()) + 1
    length = sum(len(chain) - 1 for chain in layers.chains.values())
    assert length <= sum(longest[child] - longest[parent] for parent, child in dag.arcs)
    assert sorted(v for row in layers.rows for v in row) == list(range(len(layers.above)))


@given(dags())
@trials(100)
def test_crossings_are_counted_like_pair_by_pair(dag):
    layers = ordered(dag)
    places = layers.positions()
    slow = 0
    for row in layers.rows:
        pieces = [(places[a], places[b]) for a in row for b in layers.below[a]]
        slow += sum((a - c) * (b - d) < 0 for (a, b), (c, d) in combinations(pieces, 2))
    assert layers.crossings() == slow


@given(st.lists(st.tuples(st.integers(-50, 50), st.integers(1, 9)), min_size=1, max_size=12))
def test_isotonic_regression(pairs):
    goals, weights = (list(map(float, column)) for column in zip(*pairs, strict=True))
    slow = isotonic_regression(np.array(goals), sample_weight=np.array(weights))
    assert _isotonic(goals, weights) == pytest.approx(slow, abs=1e-9)


def test_a_tree_is_drawn_without_crossings():
    arcs = [(f"n{(i - 1) // 2}", f"n{i}") for i in range(1, 31)]
    assert ordered(DAG.from_arcs(arcs)).crossings() == 0


@pytest.mark.parametrize(("name", "most"), [("asia", 0), ("forest-fire", 0), ("alarm", 8)])
def test_few_crossings_in_known_networks(name, most):
    assert ordered(read_network(name).dag).crossings() <= most


def test_the_order_of_a_chain_is_a_straight_line():
    found = layered(DAG.parse("[A][B|A][C|B]"), {"A": (80, 20), "B": (40, 20), "C": (60, 20)})
    assert len({round(box.center, 6) for box in found.boxes.values()}) == 1
    assert found.boxes["A"].bottom < found.boxes["B"].y < found.boxes["C"].y


def test_a_parent_stands_in_the_middle_of_its_children():
    found = layered(DAG.parse("[A][B|A][C|A][D|A]"), dict.fromkeys("ABCD", (80, 20)))
    row = sorted(found.boxes[name].center for name in "BCD")
    assert found.boxes["A"].center == pytest.approx(row[1], abs=1e-6)


def test_parts_without_arcs_fill_rows_instead_of_one_long_line():
    found = layered(DAG.from_arcs([], [f"v{i}" for i in range(100)]), {f"v{i}": (80, 24) for i in range(100)})
    assert found.width < 4 * found.height


def test_the_same_graph_gives_the_same_layout():
    dag = read_network("alarm").dag
    sizes = dict.fromkeys(dag, (100, 60))
    assert layered(dag, sizes) == layered(dag, sizes)


def test_nothing_is_a_layout_too():
    assert layered(DAG({}), {}).boxes == {}
