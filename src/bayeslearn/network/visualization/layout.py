"""A layered layout: first layers and the order within each, then coordinates.

Every node has a layer, and the order within a layer crosses few arcs:

    layer(child) ≥ layer(parent) + 1        minimal total length of arcs, in as few layers as the longest path has

An arc that spans several layers is cut by a bend in each layer between, so that all pieces join neighboring layers.

Coordinates make arcs straight where they can be:

    minimize  Σ w (x_a - x_b)²  over the pieces (a, b) of arcs        x_right - x_left ≥ their widths and a gap

solved layer by layer: with the other layers fixed, one layer is an isotonic regression. Bends weigh more than nodes, so
long arcs run straight. An arc passes a layer between its boxes, vertically, and turns only between two layers: it never
touches a node that is not its own.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from statistics import fmean
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from bayeslearn.network.dag import DAG


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
    def center(self) -> float:
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


def layered(dag: DAG, sizes: Mapping[str, tuple[float, float]], *, gap: float = GAP, drop: float = 1.0) -> Layout:
    """Places for boxes of these sizes (width, height): every arc goes down, and boxes are at least `gap` apart.

    The room between two layers, and between parts that no arc joins, is multiplied by `drop`.

    >>> from bayeslearn.network import DAG
    >>> found = layered(DAG.parse("[Storm][Bus][Camp|Storm:Bus]"), dict.fromkeys(["Storm", "Bus", "Camp"], (80, 20)))
    >>> found.boxes["Storm"].bottom < found.boxes["Camp"].y
    True
    """
    return _packed([_part(part, sizes, gap, drop) for part in _parts(dag)], dag, BETWEEN_PARTS * drop)


### parts that no arc joins


def _parts(dag: DAG) -> list[DAG]:
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


def _packed(parts: list[Layout], dag: DAG, between: float) -> Layout:
    """Parts next to each other, in rows that are about as wide as the picture should be."""
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


def _part(dag: DAG, sizes: Mapping[str, tuple[float, float]], gap: float, drop: float) -> Layout:
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
        for v, place in zip(row, accumulate(gaps, initial=0.0), strict=True):
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
    offsets = list(accumulate(gaps, initial=0.0))
    goals, weights = [], []
    for v, offset in zip(row, offsets, strict=True):
        weight = sum(w for _, _, w in pulls[v])
        goal = sum(w * (x[u] + shift) for u, shift, w in pulls[v]) / weight if weight else x[v]
        goals.append(goal - offset)
        weights.append(weight or 1.0)
    for v, offset, place in zip(row, offsets, _isotonic(goals, weights), strict=True):
        x[v] = place + offset


def _isotonic(goals: list[float], weights: list[float]) -> list[float]:
    """The numbers nearest to the goals that never fall: neighbors that would are put together at their mean."""
    blocks: list[tuple[float, float, int]] = []
    for goal, own in zip(goals, weights, strict=True):
        mean, weight, size = goal, own, 1
        while blocks and blocks[-1][0] > mean:
            before, heavy, many = blocks.pop()
            mean = (mean * weight + before * heavy) / (weight + heavy)
            weight, size = weight + heavy, size + many
        blocks.append((mean, weight, size))
    return [mean for mean, _, size in blocks for _ in range(size)]


#: Vertices and pieces times starts that the search for few crossings may look at, and the most starts of a small graph.
WORK, MOST_STARTS = 6_000, 16

#: Sweeps from one start, and how many may pass without fewer crossings.
MOST_SWEEPS, PATIENCE = 24, 5

#: Passes over one layer that swap neighbors.
MOST_SWAPS = 10


@dataclass
class Layers:
    """Vertices 0 … n - 1 are the nodes in their order, the others are bends."""

    names: tuple[str, ...]
    rows: list[list[int]]  # the vertices of each layer, from left to right
    above: list[list[int]]  # the neighbors of each vertex in the layer above
    below: list[list[int]]
    chains: dict[tuple[str, str], list[int]]  # the vertices of each arc, from the parent to the child

    def is_bend(self, vertex: int) -> bool:
        """Whether a vertex only carries an arc on."""
        return vertex >= len(self.names)

    def positions(self) -> list[int]:
        """The place of each vertex within its layer."""
        places = [0] * len(self.above)
        for row in self.rows:
            for i, vertex in enumerate(row):
                places[vertex] = i
        return places

    def crossings(self) -> int:
        """How many pairs of pieces cross."""
        places = self.positions()
        return sum(_crossings(row, self.below, places) for row in self.rows)


def ordered(dag: DAG) -> Layers:
    """The layers of a graph, each in an order with few crossings."""
    layers = _bent(dag, _ranks(dag))
    best, fewest = layers.rows, layers.crossings()
    for start in _starts(layers):
        if fewest == 0:
            break
        layers.rows = start
        rows, crossings = _improved(layers)
        if crossings < fewest:
            best, fewest = rows, crossings
    layers.rows = best
    return layers


### layers


def _ranks(dag: DAG) -> dict[str, int]:
    longest: dict[str, int] = {}
    for node in dag.order:
        longest[node] = 1 + max((longest[p] for p in dag.parents(node)), default=-1)
    if not dag.arcs:
        return longest
    place = {node: i for i, node in enumerate(dag)}
    ends = np.array([(place[p], place[c]) for p, c in dag.arcs])
    rows = np.arange(len(ends))
    signs = np.repeat([1.0, -1.0], len(ends))
    step = coo_array((signs, (np.tile(rows, 2), ends.T.ravel())), shape=(len(ends), len(dag)))
    pull = np.bincount(ends[:, 1], minlength=len(dag)) - np.bincount(ends[:, 0], minlength=len(dag))
    top = max(longest.values())
    found = linprog(  # type: ignore[call-overload]  # the stubs do not know sparse arrays
        pull, A_ub=step, b_ub=-np.ones(len(ends)), bounds=(0, top), method="highs-ds"
    )
    levels = np.rint(found.x).astype(int).tolist() if found.status == 0 else [longest[node] for node in dag]
    return dict(zip(dag, levels, strict=True))


def _bent(dag: DAG, ranks: dict[str, int]) -> Layers:
    place = {node: i for i, node in enumerate(dag)}
    rows: list[list[int]] = [[] for _ in range(max(ranks.values()) + 1)]
    for node in dag:
        rows[ranks[node]].append(place[node])
    layers = Layers(dag.nodes, rows, [[] for _ in dag], [[] for _ in dag], {})
    for parent, child in dag.arcs:
        chain = [place[parent]]
        for level in range(ranks[parent] + 1, ranks[child]):
            chain.append(len(layers.above))
            rows[level].append(chain[-1])
            layers.above.append([])
            layers.below.append([])
        chain.append(place[child])
        layers.chains[parent, child] = chain
        for a, b in pairwise(chain):
            layers.below[a].append(b)
            layers.above[b].append(a)
    return layers


### crossings


def _crossings(row: list[int], below: list[list[int]], places: list[int]) -> int:
    total, seen = 0, list[int]()
    for vertex in row:
        ends = [places[b] for b in below[vertex]]
        total += sum(len(seen) - bisect_right(seen, end) for end in ends)
        for end in ends:
            insort(seen, end)
    return total


def _starts(layers: Layers) -> Iterator[list[list[int]]]:
    """Orders to improve: as the arcs lead from the first nodes, the same mirrored, then a few by chance."""
    n = len(layers.above)
    size = n + sum(map(len, layers.below))
    walked = _walked(layers)
    yield [sorted(row, key=walked.__getitem__) for row in layers.rows]
    yield [sorted(row, key=lambda v: -walked[v]) for row in layers.rows]
    rng = np.random.default_rng(0)  # the same picture every time
    for _ in range(min(MOST_STARTS, WORK // size) - 2):
        chance = rng.permutation(n).tolist()
        yield [sorted(row, key=chance.__getitem__) for row in layers.rows]


def _walked(layers: Layers) -> list[int]:
    """When a walk along arcs, in either direction, depth first, comes by each vertex."""
    when, clock = [-1] * len(layers.above), 0
    for root in range(len(layers.above)):
        stack = [root]
        while stack:
            vertex = stack.pop()
            if when[vertex] < 0:
                when[vertex] = clock
                clock += 1
                stack.extend(reversed([*layers.below[vertex], *layers.above[vertex]]))
    return when


def _improved(layers: Layers) -> tuple[list[list[int]], int]:
    """Sweeps down and up; in each layer vertices go to the mean place of their neighbors, then pairs are swapped."""
    best, fewest, since = layers.rows, layers.crossings(), 0
    for sweep in range(MOST_SWEEPS):
        down = sweep % 2 == 0
        layers.rows = _swept(layers, down=down)
        _swap_neighbors(layers)
        crossings = layers.crossings()
        since = 0 if crossings < fewest else since + 1
        if crossings < fewest:
            best, fewest = [list(row) for row in layers.rows], crossings
        if fewest == 0 or since >= PATIENCE:
            break
    return best, fewest


def _swept(layers: Layers, *, down: bool) -> list[list[int]]:
    places: list[float] = list(layers.positions())
    sides = layers.above if down else layers.below
    rows = list(layers.rows)
    for level in range(len(rows)) if down else reversed(range(len(rows))):
        goal = {v: fmean([places[u] for u in sides[v]] or [places[v]]) for v in rows[level]}
        rows[level] = sorted(rows[level], key=goal.__getitem__)
        for i, vertex in enumerate(rows[level]):
            places[vertex] = i
    return rows


def _swap_neighbors(layers: Layers) -> None:
    """Swap two that stand side by side as long as that crosses fewer arcs."""
    places = layers.positions()
    for row in layers.rows:
        for _ in range(MOST_SWAPS):
            before = list(row)
            for i in range(len(row) - 1):
                if _gain(layers, places, row[i], row[i + 1]) > 0:
                    row[i], row[i + 1] = row[i + 1], row[i]
                    places[row[i]], places[row[i + 1]] = i, i + 1
            if row == before:
                break


def _gain(layers: Layers, places: list[int], left: int, right: int) -> int:
    """Crossings of two neighbors as they stand, less those when they are swapped."""
    gain = 0
    for side in (layers.above, layers.below):
        for a in side[left]:
            for b in side[right]:
                gain += (places[a] > places[b]) - (places[a] < places[b])
    return gain
