"""Averages over all prunings of a tree, in one pass up and one pass down.

A pruning makes leaves of some nodes. With a the probability that a node is split, L the evidence of a node's rows as
those of one leaf, and P of a node's rows under all prunings below it (Willems, Shtarkov and Tjalkens 1995),

    P(node) = (1 − a) L(node) + a P(left) P(right)          of a leaf of the tree P = L
    stop(node) = (1 − a) L(node)/P(node)                    the posterior probability that the node is a leaf, given
                                                            that it is reached

    average(leaf) = Σ over the path:  stop(node) · Π of those above (1 − stop) · values(node)

A node's share of the classes has that of its parent as prior: θ(node) = (n + m θ(parent))/(n + m).
"""

from __future__ import annotations

from math import exp, lgamma, log
from typing import TYPE_CHECKING

import numpy as np

from bayeslearn.kernels._jit import inner, kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int32]
    Rows = NDArray[np.int64]


### up


@kernel
def sum_children(left: Rows, counts: Floats) -> None:
    """The counts (nodes, classes) of all nodes, of those of the leaves."""
    for node in range(left.shape[0] - 1, -1, -1):
        if left[node] >= 0:
            for k in range(counts.shape[1]):
                counts[node, k] = counts[left[node], k] + counts[left[node] + 1, k]


@kernel
def merge_children(left: Rows, moments: Floats) -> None:
    """The weight, mean and squared deviations (nodes, 3) of all nodes, of those of the leaves."""
    for node in range(left.shape[0] - 1, -1, -1):
        if left[node] >= 0:
            a, b = moments[left[node]], moments[left[node] + 1]
            n = a[0] + b[0]
            share = b[0] / n if n > 0 else 0.0
            apart = b[1] - a[1]
            moments[node, 0] = n
            moments[node, 1] = a[1] + share * apart
            moments[node, 2] = a[2] + b[2] + a[0] * share * apart * apart


@kernel
def weigh_prunings(left: Rows, log_leaf: Floats, log_split: float, log_stop: float, log_all: Floats) -> None:
    """The logarithm of P of every node."""
    for node in range(left.shape[0] - 1, -1, -1):
        log_all[node] = log_leaf[node]
        if left[node] >= 0:
            below = log_split + log_all[left[node]] + log_all[left[node] + 1]
            log_all[node] = log_sum(log_stop + log_leaf[node], below)


@inner
def log_sum(a: float, b: float) -> float:
    """ln(eᵃ + eᵇ)."""
    high = max(a, b)
    return high + log(exp(a - high) + exp(b - high))


### down


@kernel
def shrink_counts(left: Rows, counts: Floats, strength: float, shares: Floats) -> None:
    """θ of every node (nodes, classes); `shares` comes with the prior of the roots."""
    for node in range(left.shape[0]):
        n = counts[node].sum() + strength
        for k in range(counts.shape[1]):
            shares[node, k] = (counts[node, k] + strength * shares[node, k]) / n
        if left[node] >= 0:
            shares[left[node]] = shares[node]
            shares[left[node] + 1] = shares[node]


@kernel
def shrink_moments(left: Rows, moments: Floats, strength: float, found: Floats) -> None:
    """The predictions of every node (nodes, 3); `found` comes with those of the roots' prior."""
    for node in range(left.shape[0]):
        shrink(moments[node, 0], moments[node, 1], moments[node, 2], found[node], strength, found[node])
        if left[node] >= 0:
            found[left[node]] = found[node]
            found[left[node] + 1] = found[node]


@inner
def shrink(n: float, mean: float, square: float, prior: Floats, strength: float, found: Floats) -> None:
    """The mean, E y² and 1/ν of one more target, Student's t by a normal-inverse-gamma prior around the parent's.

    μ = (n x̄ + m μ₀)/(n + m)      s² = (M + m s₀² + n m/(n + m) (x̄ − μ₀)²)/(n + m)      ν = n + m + 2
    E y² = μ² + s² (1 + 1/(n + m))
    """
    whole = n + strength
    apart = mean - prior[0]
    before = max(prior[1] - prior[0] * prior[0], 0.0)
    middle = (n * mean + strength * prior[0]) / whole
    spread = (square + strength * before + n * strength / whole * apart * apart) / whole
    found[0] = middle
    found[1] = middle * middle + spread
    found[2] = 1.0 / (whole + 2.0)


@kernel
def average_prunings(
    left: Rows, log_leaf: Floats, log_all: Floats, log_stop: float, values: Floats, found: Floats
) -> None:
    """The average over prunings of a path that ends at each node, which for leaves of the tree is the prediction."""
    reached, before = np.ones(left.shape[0]), np.zeros(values.shape)
    for node in range(left.shape[0]):
        found[node] = before[node] + reached[node] * values[node]
        if left[node] >= 0:
            stop = exp(log_stop + log_leaf[node] - log_all[node])
            for child in (left[node], left[node] + 1):
                before[child] = before[node] + reached[node] * stop * values[node]
                reached[child] = reached[node] * (1.0 - stop)


### without one row


@kernel
def leave_out_counts(
    tree: tuple[Rows, Rows, Rows], rows: Rows, labels: Integers, weights: Floats, counts: Floats,
    log_leaf: Floats, log_all: Floats, prior: tuple[float, float, float, float], found: Floats,
) -> None:  # fmt: skip
    """The prediction of some rows, each without its own weight in the counts.

    `tree` are the first child and the parent of each node, and the leaf of each row; `prior` the logarithms of
    splitting and stopping, the strength m, and the α of Dirichlet's evidence.
    """
    (left, parent, leaves), (log_split, log_stop, strength, alpha) = tree, prior
    n_classes = counts.shape[1]
    path = np.zeros(height(parent), np.int64)
    shares, stops = np.zeros((path.shape[0], n_classes)), np.zeros(path.shape[0])
    for r in range(rows.shape[0]):
        label, w = labels[rows[r]], weights[rows[r]]
        depth = path_to_root(parent, leaves[rows[r]], path)
        for z in range(depth - 1, -1, -1):
            node = path[z]
            n = max(counts[node].sum() - w, 0.0)
            for k in range(n_classes):
                own = max(counts[node, k] - w, 0.0) if k == label else counts[node, k]
                before = 1.0 / n_classes if z == depth - 1 else shares[z + 1, k]
                shares[z, k] = (own + strength * before) / (n + strength)
        below = 0.0
        for z in range(depth):
            node = path[z]
            n, own = counts[node].sum(), counts[node, label]
            left_over, own_left = max(n - w, 0.0), max(own - w, 0.0)
            leaf = log_leaf[node] - log_rising(own_left + alpha, own + alpha)
            leaf += log_rising(left_over + n_classes * alpha, n + n_classes * alpha)
            below, stops[z] = join(z, leaf, below, path, left, log_all, log_split, log_stop)
        blend(depth, stops, shares, found[r])


@kernel
def leave_out_moments(
    tree: tuple[Rows, Rows, Rows], rows: Rows, values: Floats, weights: Floats, moments: Floats, log_all: Floats,
    prior: tuple[float, float, float, float, float, float], start: Floats, found: Floats,
) -> None:  # fmt: skip
    """The same for numbers; `prior` ends with the κ, a and b of the evidence, `start` is the prior of the roots."""
    (left, parent, leaves), (log_split, log_stop, strength, kappa, a, b) = tree, prior
    path = np.zeros(height(parent), np.int64)
    expected, stops, own = np.zeros((path.shape[0], 3)), np.zeros(path.shape[0]), np.zeros((path.shape[0], 3))
    for r in range(rows.shape[0]):
        y, w = values[rows[r]], weights[rows[r]]
        depth = path_to_root(parent, leaves[rows[r]], path)
        for z in range(depth - 1, -1, -1):
            n, mean, square = moments[path[z], 0], moments[path[z], 1], moments[path[z], 2]
            rest = n - w
            own[z] = 0.0
            if rest > 1e-9 * n:
                own[z, 0], own[z, 1] = rest, mean - w * (y - mean) / rest
                own[z, 2] = max(square - w * (y - mean) * (y - mean) * n / rest, 0.0)
            before = start if z == depth - 1 else expected[z + 1]
            shrink(own[z, 0], own[z, 1], own[z, 2], before, strength, expected[z])
        below = 0.0
        for z in range(depth):
            leaf = normal_evidence(own[z, 0], own[z, 1], own[z, 2], kappa, a, b)
            below, stops[z] = join(z, leaf, below, path, left, log_all, log_split, log_stop)
        blend(depth, stops, expected, found[r])


@inner
def height(parent: Rows) -> int:
    """The number of nodes on the longest path."""
    depth, highest = np.ones(parent.shape[0], np.int64), 1
    for node in range(parent.shape[0]):
        if parent[node] >= 0:
            depth[node] = depth[parent[node]] + 1
            highest = max(highest, depth[node])
    return int(highest)


@inner
def path_to_root(parent: Rows, leaf: int, path: Rows) -> int:
    """The nodes from a leaf to its root; return how many."""
    depth, node = 0, leaf
    while node >= 0:
        path[depth] = node
        depth += 1
        node = parent[node]
    return depth


@inner
def join(
    z: int, leaf: float, below: float, path: Rows, left: Rows, log_all: Floats, log_split: float, log_stop: float
) -> tuple[float, float]:
    """ln P of a node on the path, of its evidence and of ln P below, and the probability that it is a leaf."""
    if z == 0:
        return leaf, 1.0
    child, node = path[z - 1], path[z]
    sibling = left[node] + 1 if child == left[node] else left[node]
    whole = log_sum(log_stop + leaf, log_split + below + log_all[sibling])
    return whole, exp(log_stop + leaf - whole)


@inner
def blend(depth: int, stops: Floats, values: Floats, found: Floats) -> None:
    """The average over prunings along a path."""
    found[:] = 0.0
    reached = 1.0
    for z in range(depth - 1, -1, -1):
        for k in range(found.shape[0]):
            found[k] += reached * stops[z] * values[z, k]
        reached *= 1.0 - stops[z]


@inner
def log_rising(low: float, high: float) -> float:
    """ln Γ(high) − ln Γ(low)."""
    if high - low == 1.0:
        return log(low)
    return lgamma(high) - lgamma(low)


@inner
def normal_evidence(n: float, mean: float, square: float, kappa: float, a: float, b: float) -> float:
    """ln p of numbers by their moments, with a normal-inverse-gamma prior around 0."""
    whole = kappa + n
    left = b + square / 2 + kappa * n * mean * mean / (2 * whole)
    found = lgamma(a + n / 2) - lgamma(a) + a * log(b) - (a + n / 2) * log(left)
    return found + 0.5 * log(kappa / whole) - 0.5 * n * log(2 * np.pi)
