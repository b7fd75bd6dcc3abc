"""Slow reference implementations of trees: every pruning by enumeration, every split by trying it, rows one by one."""

from __future__ import annotations

from itertools import product
from math import lgamma, log, pi

import numpy as np


def prunings(left, node):
    """Every pruning below a node, as (its leaves, how many nodes it splits, how many it stops at that could split)."""
    if left[node] < 0:
        return [((node,), 0, 0)]
    pairs = product(prunings(left, left[node]), prunings(left, left[node] + 1))
    return [((node,), 0, 1), *((a[0] + b[0], a[1] + b[1] + 1, a[2] + b[2]) for a, b in pairs)]


def log_weight(pruning, log_leaf, a):
    """ln of the prior of a pruning times the evidence of its leaves."""
    leaves, splits, stops = pruning
    return splits * log(a) + stops * log(1 - a) + sum(log_leaf[leaf] for leaf in leaves)


def average(left, parent, leaf, log_leaf, values, a, root=0):
    """The prediction at a leaf of the tree: that of the pruning's leaf above it, averaged over all prunings."""
    path = [leaf]
    while parent[path[-1]] >= 0:
        path.append(parent[path[-1]])
    found = prunings(left, root)
    w = np.array([log_weight(pruning, log_leaf, a) for pruning in found])
    w = np.exp(w - w.max())
    rows = [values[next(node for node in path if node in pruning[0])] for pruning in found]
    return w @ np.array(rows) / w.sum()


def dirichlet_evidence(counts, alpha):
    """ln P of classes in the order that they came."""
    n, k = sum(counts), len(counts)
    return lgamma(k * alpha) - lgamma(k * alpha + n) + sum(lgamma(alpha + c) - lgamma(alpha) for c in counts)


def normal_evidence(y, w, kappa, a, b):
    """ln p of weighted numbers with a normal-inverse-gamma prior around 0."""
    n = sum(w)
    mean = sum(w * y) / n if n else 0.0
    square = sum(w * (y - mean) ** 2)
    rate = b + square / 2 + kappa * n * mean**2 / (2 * (kappa + n))
    return (
        lgamma(a + n / 2) - lgamma(a) + a * log(b) - (a + n / 2) * log(rate)
        + (log(kappa / (kappa + n)) - n * log(2 * pi)) / 2
    )  # fmt: skip


def shrunk(counts, before, m):
    """The shares of a node whose prior has those of its parent."""
    return (counts + m * before) / (counts.sum() + m)


def shrunk_number(y, w, before, m):
    """Mean, E y² and 1/ν of a node whose prior has those of its parent."""
    n, (mu, second, _) = w.sum(), before
    mean = w @ y / n if n else 0.0
    middle = (n * mean + m * mu) / (n + m)
    around = w @ (y - mean) ** 2 + m * (second - mu**2) + n * m / (n + m) * (mean - mu) ** 2
    return np.array([middle, middle**2 + around / (n + m), 1 / (n + m + 2)])


def rows_of_nodes(left, parent, ends):
    """Which rows each node has, of the leaves that they end at."""
    found = [[] for _ in left]
    for row, leaf in enumerate(ends):
        node = leaf
        while node >= 0:
            found[node].append(row)
            node = parent[node]
    return found


def gain(labels, values, weights, n_labels, goes_left):
    """Σ_k L_k²/n_left + Σ_k R_k²/n_right of a split."""
    total = 0.0
    for side in (goes_left, ~goes_left):
        n = weights[side].sum()
        sums = np.bincount(labels[side], (weights * values)[side], n_labels)
        total += (sums**2).sum() / n if n else 0.0
    return total


def best_threshold(codes, missing, labels, values, weights, n_labels, least):
    """The largest gain over all thresholds of a column with missing values on either side."""
    best = -np.inf
    for at in range(-1, missing):
        for missing_left in (False, True):
            goes_left = np.where(codes == missing, missing_left, codes <= at)
            sides = weights[goes_left].sum(), weights[~goes_left].sum()
            if min(sides) >= max(least, 1e-9):
                best = max(best, gain(labels, values, weights, n_labels, goes_left))
    return best


def best_subset(codes, labels, values, weights, n_labels):
    """The largest gain over all subsets of the states that are there."""
    states = np.unique(codes)
    best = -np.inf
    for bits in range(1, 2 ** (len(states) - 1)):
        inside = states[[(bits >> k) & 1 == 1 for k in range(len(states))]]
        best = max(best, gain(labels, values, weights, n_labels, np.isin(codes, inside)))
    return best


def leaf_of(column, threshold, missing_left, masks, left, n_codes, is_states, codes):
    """The leaf that one row reaches."""
    node = 0
    while column[node] >= 0:
        j = column[node]
        c = int(codes[j])
        if is_states[j]:
            goes_left = c in {k for k in range(256) if masks[threshold[node]][k // 8] & (1 << (k % 8))}
        elif c == n_codes[j]:
            goes_left = bool(missing_left[node])
        else:
            goes_left = c <= threshold[node]
        node = left[node] if goes_left else left[node] + 1
    return node
