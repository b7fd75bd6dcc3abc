"""The first half of a layered layout: a layer for every node, and an order within each layer that crosses few arcs.

    layer(child) ≥ layer(parent) + 1        arcs as short as can be in all, in as few layers as the longest path has

An arc that spans several layers is cut by a bend in each layer between, so that all pieces join neighbouring layers.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bayeslearn.network.graph import Dag

#: Vertices and pieces times starts that the search for few crossings may look at, and the most starts of a small graph.
WORK, MOST_STARTS = 6_000, 16

#: Sweeps from one start, and how many may pass without fewer crossings.
MOST_SWEEPS, PATIENCE = 24, 5

#: Passes over one layer that swap neighbours.
MOST_PASSES = 10


@dataclass
class Layers:
    """Vertices 0 … n - 1 are the nodes in their order, the others are bends."""

    names: tuple[str, ...]
    rows: list[list[int]]  # the vertices of each layer, from left to right
    above: list[list[int]]  # the neighbours of each vertex in the layer above
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


def ordered(dag: Dag) -> Layers:
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


def _ranks(dag: Dag) -> dict[str, int]:
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


def _bent(dag: Dag, ranks: dict[str, int]) -> Layers:
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
    """Sweeps down and up; in each layer vertices go to the mean place of their neighbours, then pairs are swapped."""
    best, fewest, since = layers.rows, layers.crossings(), 0
    for sweep in range(MOST_SWEEPS):
        down = sweep % 2 == 0
        layers.rows = _swept(layers, down=down)
        _swap_neighbours(layers)
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
        goal = {v: _mean([places[u] for u in sides[v]], places[v]) for v in rows[level]}
        rows[level] = sorted(rows[level], key=goal.__getitem__)
        for i, vertex in enumerate(rows[level]):
            places[vertex] = i
    return rows


def _mean(values: list[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def _swap_neighbours(layers: Layers) -> None:
    """Swap two that stand side by side as long as that crosses fewer arcs."""
    places = layers.positions()
    for row in layers.rows:
        for _ in range(MOST_PASSES):
            before = list(row)
            for i in range(len(row) - 1):
                if _gain(layers, places, row[i], row[i + 1]) > 0:
                    row[i], row[i + 1] = row[i + 1], row[i]
                    places[row[i]], places[row[i + 1]] = i, i + 1
            if row == before:
                break


def _gain(layers: Layers, places: list[int], left: int, right: int) -> int:
    """Crossings of two neighbours as they stand, less those when they are swapped."""
    gain = 0
    for side in (layers.above, layers.below):
        for a in side[left]:
            for b in side[right]:
                gain += (places[a] > places[b]) - (places[a] < places[b])
    return gain
