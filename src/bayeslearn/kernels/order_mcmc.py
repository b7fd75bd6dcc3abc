"""A Markov chain over orders, each as often as it is probable, and the arc probabilities of an order.

    sets    as in `ordering`, all of them: the sets of each variable best first
    ln P(order | D) = Σ_x ln Σ over sets before x of exp(score) + constant

A sum over sets ends where what is left cannot matter: `depth` below the first one that fits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayeslearn.kernels._jit import inner, kernel
from bayeslearn.kernels.order_search import first_fit, move

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.kernels.order_search import Sets


@inner
def log_weight(sets: Sets, place: NDArray[np.int64], x: int, depth: float) -> float:
    """ln Σ exp(score) over the sets that stand before x; −∞ when there is none."""
    first, _, _, scores = sets
    end = first[x + 1]
    s = first_fit(sets, place, first[x], end, place[x], -1, -1)
    if s < 0:
        return -np.inf
    top, total = scores[s], 0.0
    while s >= 0 and scores[s] >= top - depth:
        total += np.exp(scores[s] - top)
        s = first_fit(sets, place, s + 1, end, place[x], -1, -1)
    return top + np.log(total)


@kernel
def weigh_order(sets: Sets, place: NDArray[np.int64], depth: float, weights: NDArray[np.float64]) -> float:
    """ln Σ exp(score) of every variable, and their sum."""
    total = 0.0
    for x in range(len(place)):
        weights[x] = log_weight(sets, place, x, depth)
        total += weights[x]
    return total


@kernel
def walk_orders(
    sets: Sets,
    order: NDArray[np.int64],
    moves: NDArray[np.int64],
    log_uniform: NDArray[np.float64],
    depth: float,
) -> int:
    """Metropolis: take the variable at one place to another, if that is not too improbable; how often it was done."""
    n, taken = len(order), 0
    place, weights, fresh = np.empty(n, np.int64), np.empty(n), np.empty(n)
    for j in range(n):
        place[order[j]] = j
    weigh_order(sets, place, depth, weights)
    for step in range(len(moves)):
        here, to = moves[step, 0], moves[step, 1]
        x = order[here]
        move(order, place, x, to)
        low, high, gain = min(here, to), max(here, to), 0.0
        for j in range(low, high + 1):
            y = order[j]
            fresh[y] = log_weight(sets, place, y, depth)
            gain += fresh[y] - weights[y]
        if gain >= log_uniform[step]:
            taken += 1
            for j in range(low, high + 1):
                weights[order[j]] = fresh[order[j]]
        else:
            move(order, place, x, here)
    return taken


@kernel
def read_order(
    sets: Sets,
    place: NDArray[np.int64],
    depth: float,
    uniform: NDArray[np.float64],
    arcs: NDArray[np.float64],
    chosen: NDArray[np.int64],
) -> float:
    """arcs[c, x] += P(c → x | order, D), a set of each variable drawn by its weight, and ln P(order | D)."""
    first, start, members, scores = sets
    total = 0.0
    for x in range(len(place)):
        weight = log_weight(sets, place, x, depth)
        total += weight
        end, left = first[x + 1], uniform[x]
        s = first_fit(sets, place, first[x], end, place[x], -1, -1)
        top = scores[s]
        chosen[x] = s
        while s >= 0 and scores[s] >= top - depth:
            p = np.exp(scores[s] - weight)
            if left >= 0:
                chosen[x] = s
            left -= p
            for m in range(start[s], start[s + 1]):
                arcs[members[m], x] += p
            s = first_fit(sets, place, s + 1, end, place[x], -1, -1)
    return total


@kernel
def count_orders(parents: NDArray[np.int64], orders: NDArray[np.float64]) -> float:
    """How many orders a graph fits; parents are bits, and orders[W] becomes the number of those of the variables W."""
    orders[0] = 1.0
    for w in range(1, len(orders)):
        total = 0.0
        for x in range(len(parents)):
            rest = w & ~(1 << x)
            if rest != w and parents[x] & ~rest == 0:
                total += orders[rest]
        orders[w] = total
    return orders[len(orders) - 1]
