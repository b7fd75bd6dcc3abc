"""The second half of a layered layout: coordinates, so that arcs are straight where they can be.

    minimise  Σ w (x_a - x_b)²  over the pieces (a, b) of arcs        x_right - x_left ≥ their widths and a gap

solved layer by layer: with the other layers fixed, one layer is an isotonic regression. Bends weigh more than nodes, so
long arcs run straight. An arc passes a layer between its boxes, vertically, and turns only between two layers: it never
touches a node that is not its own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

from bayeslearn.network.drawing.ordering import Layers, ordered

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from bayeslearn.network.graph import Dag

Point: TypeAlias = tuple[float, float]
#: Pieces that end at a vertex: the vertex at the other end, how much further right it should be, and the weight.
Pulls: TypeAlias = "list[list[tuple[int, float, float]]]"

#: The room around the picture, between boxes, around an arc that passes boxes, and between parts without arcs.
MARGIN, GAP, BEND, BETWEEN_PARTS = 16.0, 22.0, 10.0, 36.0

#: Between two layers: the least and the most (or a part of the whole width), and how it grows with the widest turn.
LEAST_DROP, MOST_DROP, DROP_PER_WIDTH, MOST_PER_WIDTH = 44.0, 110.0, 0.09, 0.03

#: What an arc goes straight before it turns, and after: there the arrow head has its place.
BEFORE, AFTER = 3.0, 11.0

#: Between two arcs at one node, and the part of its width they may take.
PORT, PORTS_WIDTH = 16.0, 0.7

#: Passes over all layers: as many as this many visits of vertices allow, within bounds.
VISITS, LEAST_PASSES, MOST_PASSES = 60_000, 12, 150


@dataclass(frozen=True)
class Box:
    """A rectangle, by its left upper corner; y grows downwards."""

    x: float
    y: float
    width: float
    height: float

    @property
    def centre(self) -> float:
        """The middle from left to right."""
        return self.x + self.width / 2

    @property
    def bottom(self) -> float:
        """The lower edge."""
        return self.y + self.height


@dataclass(frozen=True)
class Layout:
    """Where everything stands.

    A path starts with a straight line, and then a turn and a straight line follow each other; both ends of a turn are
    vertical.
    """

    boxes: dict[str, Box]
    paths: dict[tuple[str, str], tuple[Point, ...]]
    width: float
    height: float


def layered(dag: Dag, sizes: Mapping[str, tuple[float, float]], *, gap: float = GAP, drop: float = 1.0) -> Layout:
    """Places for boxes of these sizes (width, height): every arc goes down, and boxes are at least `gap` apart.

    The room between two layers, and between parts that no arc joins, is multiplied by `drop`.

    >>> from bayeslearn.network import Dag
    >>> found = layered(Dag.parse("[Storm][Bus][Camp|Storm:Bus]"), dict.fromkeys(["Storm", "Bus", "Camp"], (80, 20)))
    >>> found.boxes["Storm"].bottom < found.boxes["Camp"].y
    True
    """
    return _packed([_part(part, sizes, gap, drop) for part in _parts(dag)], dag, BETWEEN_PARTS * drop)


### parts that no arc joins


def _parts(dag: Dag) -> list[Dag]:
    """The connected parts, the largest first."""
    part: dict[str, int] = {}
    for root in dag:
        stack = [] if root in part else [root]
        while stack:
            node = stack.pop()
            if node not in part:
                part[node] = part[root] if root in part else len(part)
                stack.extend((*dag.parents(node), *dag.children(node)))
    members: dict[int, list[str]] = {}
    for node in dag:
        members.setdefault(part[node], []).append(node)
    groups = sorted(members.values(), key=len, reverse=True)
    return [dag] if len(groups) == 1 else [dag.subgraph(group) for group in groups]


def _packed(parts: list[Layout], dag: Dag, between: float) -> Layout:
    """Parts beside each other, in rows that are about as wide as the picture should be."""
    area = sum((p.width + between) * (p.height + between) for p in parts)
    limit = max([1.6 * area**0.5, *(p.width for p in parts)])
    boxes: dict[str, Box] = {}
    paths: dict[tuple[str, str], tuple[Point, ...]] = {}
    x, y, width, row = MARGIN, MARGIN, 0.0, 0.0
    for part in parts:
        if x > MARGIN and x + part.width > MARGIN + limit:
            x, y, row = MARGIN, y + row + between, 0.0
        boxes |= {name: replace(box, x=box.x + x, y=box.y + y) for name, box in part.boxes.items()}
        paths |= {arc: tuple((a + x, b + y) for a, b in path) for arc, path in part.paths.items()}
        width, row = max(width, x + part.width), max(row, part.height)
        x += part.width + between
    in_order = {name: boxes[name] for name in dag}
    return Layout(in_order, {arc: paths[arc] for arc in dag.arcs}, width + MARGIN, y + row + MARGIN)


### one part


def _part(dag: Dag, sizes: Mapping[str, tuple[float, float]], gap: float, drop: float) -> Layout:
    layers = ordered(dag)
    widths = [sizes[name][0] for name in dag] + [0.0] * (len(layers.above) - len(dag))
    heights = [max((sizes[layers.names[v]][1] for v in row if not layers.is_bend(v)), default=0) for row in layers.rows]
    ports = _ports(layers, widths)
    x = _across(layers, widths, ports, gap)
    left = min(a - w / 2 for a, w in zip(x, widths, strict=True))
    x = [a - left for a in x]
    tops = _tops(layers, x, heights, drop)
    boxes = {}
    for row, top, height in zip(layers.rows, tops, heights, strict=True):
        for v in row:
            if not layers.is_bend(v):
                own = sizes[layers.names[v]]
                boxes[layers.names[v]] = Box(x[v] - own[0] / 2, top + (height - own[1]) / 2, *own)
    level = {v: i for i, row in enumerate(layers.rows) for v in row}
    spans = [(top, top + height) for top, height in zip(tops, heights, strict=True)]
    paths = {}
    for (parent, child), chain in layers.chains.items():
        across = [(x[a] + ports[a, b, 0], x[b] + ports[a, b, 1]) for a, b in pairwise(chain)]
        points = _path(across, [spans[level[v]] for v in chain])
        paths[parent, child] = ((across[0][0], boxes[parent].bottom), *points, (across[-1][1], boxes[child].y))
    right = max(a + w / 2 for a, w in zip(x, widths, strict=True))
    return Layout(boxes, paths, right, spans[-1][1])


def _path(across: list[tuple[float, float]], spans: list[tuple[float, float]]) -> list[Point]:
    """Both ends of every turn: at the bottom of a layer and at the top of the next."""
    points: list[Point] = []
    for (start, end), (upper, lower) in zip(across, pairwise(spans), strict=True):
        points += [(start, upper[1] + BEFORE), (end, lower[0] - AFTER)]
    return points


def _tops(layers: Layers, x: list[float], heights: list[float], scale: float) -> list[float]:
    """The upper edge of each layer; where an arc turns far, layers stand further apart."""
    tops = [0.0]
    most = max(MOST_DROP, MOST_PER_WIDTH * max(x))
    for row, height in zip(layers.rows[:-1], heights, strict=False):
        widest = max((abs(x[v] - x[u]) for v in row for u in layers.below[v]), default=0.0)
        drop = scale * min(most, LEAST_DROP + DROP_PER_WIDTH * widest)
        tops.append(tops[-1] + height + drop)
    return tops


def _ports(layers: Layers, widths: list[float]) -> dict[tuple[int, int, int], float]:
    """Where the two ends of every piece (a, b) stand, right of the middle of a (0) and of b (1)."""
    places = layers.positions()
    ports = {}
    for v, width in enumerate(widths):
        for end, side in enumerate((layers.below[v], layers.above[v])):
            room = min(PORT, PORTS_WIDTH * width / max(1, len(side) - 1))
            for i, u in enumerate(sorted(side, key=places.__getitem__)):
                ports[(v, u, 0) if end == 0 else (u, v, 1)] = (i - (len(side) - 1) / 2) * room
    return ports


### from left to right


def _across(layers: Layers, widths: list[float], ports: dict[tuple[int, int, int], float], gap: float) -> list[float]:
    """The middle of every vertex."""
    pulls = _pulls(layers, ports)
    room = [[_room(layers, widths, a, b, gap) for a, b in pairwise(row)] for row in layers.rows]
    x = [0.0] * len(widths)
    for row, gaps in zip(layers.rows, room, strict=True):
        for v, place in zip(row, _sums(gaps), strict=True):
            x[v] = place - sum(gaps) / 2
    passes = max(LEAST_PASSES, min(MOST_PASSES, VISITS // len(widths)))
    order = list(range(len(layers.rows)))
    for _ in range(passes):
        for i in order:
            _settle(layers.rows[i], room[i], pulls, x)
        order.reverse()
    return x


def _pulls(layers: Layers, ports: dict[tuple[int, int, int], float]) -> Pulls:
    pulls: Pulls = [[] for _ in layers.above]
    for chain in layers.chains.values():
        for a, b in pairwise(chain):
            weight = (1.0, 3.0, 8.0)[layers.is_bend(a) + layers.is_bend(b)]
            shift = ports[a, b, 0] - ports[a, b, 1]
            pulls[a].append((b, -shift, weight))
            pulls[b].append((a, shift, weight))
    return pulls


def _room(layers: Layers, widths: list[float], a: int, b: int, gap: float) -> float:
    least = BEND if layers.is_bend(a) or layers.is_bend(b) else gap
    return (widths[a] + widths[b]) / 2 + least


def _settle(row: list[int], gaps: list[float], pulls: Pulls, x: list[float]) -> None:
    """The best places in one layer while all others stand still."""
    offsets = _sums(gaps)
    goals, weights = [], []
    for v, offset in zip(row, offsets, strict=True):
        weight = sum(w for _, _, w in pulls[v])
        goal = sum(w * (x[u] + shift) for u, shift, w in pulls[v]) / weight if weight else x[v]
        goals.append(goal - offset)
        weights.append(weight or 1.0)
    for v, offset, place in zip(row, offsets, _isotonic(goals, weights), strict=True):
        x[v] = place + offset


def _isotonic(goals: list[float], weights: list[float]) -> list[float]:
    """The numbers nearest to the goals that never fall: neighbours that would are put together at their mean."""
    blocks: list[tuple[float, float, int]] = []
    for goal, own in zip(goals, weights, strict=True):
        mean, weight, size = goal, own, 1
        while blocks and blocks[-1][0] > mean:
            before, heavy, many = blocks.pop()
            mean = (mean * weight + before * heavy) / (weight + heavy)
            weight, size = weight + heavy, size + many
        blocks.append((mean, weight, size))
    return [mean for mean, _, size in blocks for _ in range(size)]


def _sums(gaps: Iterable[float]) -> list[float]:
    sums = [0.0]
    for gap in gaps:
        sums.append(sums[-1] + gap)
    return sums
