"""Searching over orders of variables: which parent set is the best that an order leaves, and what a move would gain.

sets    (first, start, members, scores): the sets of variable x are first[x] to first[x + 1], best first
place   where each variable stands in the order; a set fits x when all of its members stand before x
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.kernels._jit import inner, kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

Sets = Any  # (first, start, members, scores)


@inner
def first_fit(sets: Sets, place: NDArray[np.int64], begin: int, end: int, limit: int, more: int, less: int) -> int:
    """The first set from `begin` on whose members stand before `limit`, `more` counted among these and `less` not."""
    _, start, members, _ = sets
    for s in range(begin, end):
        fits = True
        for m in range(start[s], start[s + 1]):
            p = members[m]
            if p == less or (place[p] >= limit and p != more):
                fits = False
                break
        if fits:
            return s
    return -1


@inner
def holds(sets: Sets, s: int, p: int) -> bool:
    """Whether a set has a member."""
    held = False
    for m in range(sets[1][s], sets[1][s + 1]):
        held |= sets[2][m] == p
    return held


@kernel
def choose(sets: Sets, place: NDArray[np.int64], chosen: NDArray[np.int64]) -> float:
    """The best set of every variable under an order, and their scores together; −∞ when one has none."""
    first, _, _, scores = sets
    total = 0.0
    for x in range(len(place)):
        s = first_fit(sets, place, first[x], first[x + 1], place[x], -1, -1)
        chosen[x] = s
        total += scores[s] if s >= 0 else -np.inf
    return total


@inner
def best_place(
    sets: Sets, order: NDArray[np.int64], place: NDArray[np.int64], chosen: NDArray[np.int64], x: int, slack: float
) -> tuple[float, int]:
    """Where in the order x would gain most, and how much: it passes its neighbors one by one, first up, then down."""
    first, _, _, scores = sets
    here = place[x]
    top, best = slack, here
    own, change = chosen[x], 0.0
    for j in range(here - 1, -1, -1):
        y = order[j]
        own = first_fit(sets, place, own, first[x + 1], j, -1, -1)  # without y and those after it
        if own < 0:
            break
        s = first_fit(sets, place, first[y], chosen[y], j, x, -1)
        if s >= 0:
            change += scores[s] - scores[chosen[y]]
        gain = change + scores[own] - scores[chosen[x]]
        if gain > top + slack:
            top, best = gain, j
    own, change = chosen[x], 0.0
    for j in range(here + 1, len(order)):
        y = order[j]
        if holds(sets, chosen[y], x):
            s = first_fit(sets, place, chosen[y] + 1, first[y + 1], j, -1, x)
            if s < 0:
                break
            change += scores[s] - scores[chosen[y]]
        s = first_fit(sets, place, first[x], own, j + 1, -1, -1)
        if s >= 0:
            own = s
        gain = change + scores[own] - scores[chosen[x]]
        if gain > top + slack:
            top, best = gain, j
    return top, best


@inner
def move(order: NDArray[np.int64], place: NDArray[np.int64], x: int, to: int) -> None:
    """Take x out of the order and put it in again."""
    here = place[x]
    step = 1 if to > here else -1
    for j in range(here, to, step):
        order[j] = order[j + step]
        place[order[j]] = j
    order[to] = x
    place[x] = to


@kernel
def climb_orders(
    sets: Sets, order: NDArray[np.int64], visits: NDArray[np.int64], chosen: NDArray[np.int64], slack: float
) -> float:
    """Put one variable after the other where it gains most until none gains; the order changes in place."""
    first, _, _, scores = sets
    place = np.empty(len(order), np.int64)
    for j in range(len(order)):
        place[order[j]] = j
    choose(sets, place, chosen)
    idle = 0
    while idle < len(order):
        for x in visits:
            here = place[x]
            _, to = best_place(sets, order, place, chosen, x, slack)
            if to == here:
                idle += 1
                if idle >= len(order):
                    break
                continue
            idle = 0
            move(order, place, x, to)
            for j in range(min(here, to), max(here, to) + 1):
                y = order[j]
                chosen[y] = first_fit(sets, place, first[y], first[y + 1], j, -1, -1)
    total = 0.0
    for x in range(len(order)):
        total += scores[chosen[x]]
    return total


@kernel
def best_sinks(
    first: NDArray[np.int64],
    masks: NDArray[np.int64],
    scores: NDArray[np.float64],
    begin: int,
    end: int,
    slack: float,
    best: NDArray[np.float64],
    sink: NDArray[np.int8],
) -> None:
    """best[W] = max over x in W of best[W − x] + the best score of x with parents in W − x, for W in begin … end."""
    n = len(first) - 1
    for w in range(begin, end):
        top, who = -np.inf, -1
        for x in range(n):
            rest = w & ~(1 << x)
            if rest == w or best[rest] == -np.inf:
                continue
            for s in range(first[x], first[x + 1]):
                if masks[s] & ~rest == 0:
                    value = best[rest] + scores[s]
                    if value > top + slack:
                        top, who = value, x
                    break
        best[w] = top
        sink[w] = who
