"""The best change to a graph: an arc to add, to take away or to turn.

Gains of arcs into x stand in row x: add[x, c] for c → x, and remove[x, c] without it. Of changes that gain the same,
such as the two directions of an arc, the one is taken whose parent has the fewest other children to gain: what
influences little is more often a cause. After that names decide.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayeslearn.kernels._jit import inner, kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

ADD, REMOVE, TURN = 0, 1, 2


@inner
def gain_of(
    kind: int,
    c: int,
    x: int,
    gains: tuple[NDArray[np.float64], NDArray[np.float64]],
    graph: tuple[NDArray[np.bool_], NDArray[np.bool_]],
    known: tuple[NDArray[np.bool_], NDArray[np.bool_]],
) -> float:
    """What a change gains; −∞ where it is not allowed or makes a cycle."""
    (add, remove), (arcs, reach), (can, required) = gains, graph, known
    if kind == ADD:
        return add[x, c] if can[c, x] and not reach[x, c] else -np.inf
    if not arcs[c, x] or required[c, x]:
        return -np.inf
    if kind == REMOVE:
        return remove[x, c]
    if not can[x, c]:
        return -np.inf
    for p in range(len(arcs)):
        if arcs[p, x] and reach[c, p]:  # c reaches x by way of p, too
            return -np.inf
    return remove[x, c] + add[c, x]


@kernel
def all_gains(
    gains: tuple[NDArray[np.float64], NDArray[np.float64]],
    graph: tuple[NDArray[np.bool_], NDArray[np.bool_]],
    known: tuple[NDArray[np.bool_], NDArray[np.bool_]],
    gain: NDArray[np.float64],
) -> None:
    """gain[kind, c, x] of every change."""
    for kind in range(3):
        for c in range(gain.shape[1]):
            for x in range(gain.shape[2]):
                gain[kind, c, x] = gain_of(kind, c, x, gains, graph, known)


@kernel
def best_of_all(
    gains: tuple[NDArray[np.float64], NDArray[np.float64]],
    graph: tuple[NDArray[np.bool_], NDArray[np.bool_]],
    known: tuple[NDArray[np.bool_], NDArray[np.bool_]],
    tie: float,
    rank: NDArray[np.int64],
) -> tuple[int, int, int, float]:
    """The change that gains most, and what it gains; of those within a tie the first by kind and order; −1 for none."""
    (add, remove), n, top = gains, len(rank), -np.inf
    arcs = np.argwhere(graph[0])
    for x in range(n):
        for c in range(n):
            if add[x, c] > top:
                top = max(top, gain_of(ADD, c, x, gains, graph, known))
    for c, x in arcs:
        top = max(top, gain_of(REMOVE, c, x, gains, graph, known))
        if remove[x, c] + add[c, x] > top:  # before ways are looked for
            top = max(top, gain_of(TURN, c, x, gains, graph, known))
    best = (-1, -1, -1, top)
    if top == -np.inf:
        return best
    order = parents_first(add, tie, rank)
    for x in range(n):
        for c in range(n):
            near = add[x, c] >= top - tie and gain_of(ADD, c, x, gains, graph, known) >= top - tie
            if near and earlier(order, rank, c, x, best):
                best = (ADD, c, x, top)
    for kind in (REMOVE, TURN):
        if best[0] < 0:
            for c, x in arcs:
                if gain_of(kind, c, x, gains, graph, known) >= top - tie and earlier(order, rank, c, x, best):
                    best = (kind, c, x, top)
    return best


@kernel
def best_change(
    gain: NDArray[np.float64], add: NDArray[np.float64], tie: float, rank: NDArray[np.int64]
) -> tuple[int, int, int, float]:
    """The same where all gains are there."""
    top, order = gain.max(), parents_first(add, tie, rank)
    best = (-1, -1, -1, top)
    if top == -np.inf:
        return best
    for kind in range(len(gain)):
        if best[0] < 0:
            for c in range(gain.shape[1]):
                for x in range(gain.shape[2]):
                    if gain[kind, c, x] >= top - tie and earlier(order, rank, c, x, best):
                        best = (kind, c, x, top)
    return best


@inner
def parents_first(add: NDArray[np.float64], tie: float, rank: NDArray[np.int64]) -> NDArray[np.int64]:
    """The order of parents: by how many children they have to gain, then by rank."""
    children = np.zeros(len(rank), np.int64)
    for x in range(len(rank)):
        for c in range(len(rank)):
            children[c] += add[x, c] > tie
    return children * len(rank) + rank


@inner
def earlier(
    order: NDArray[np.int64], rank: NDArray[np.int64], c: int, x: int, best: tuple[int, int, int, float]
) -> bool:
    """Whether an arc comes before the best, if there is a best."""
    return best[0] < 0 or (order[c], rank[x]) < (order[best[1]], rank[best[2]])
