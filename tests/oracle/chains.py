"""Hidden Markov models by enumeration of all paths."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
from scipy.special import logsumexp


def paths(start, moves, logs):
    """Every path and ln P(path, x)."""
    steps, n = logs.shape
    with np.errstate(divide="ignore"):
        log_start, log_moves = np.log(start), np.log(moves)
    for path in product(range(n), repeat=steps):
        total = log_start[path[0]] + sum(logs[t, s] for t, s in enumerate(path))
        yield path, total + sum(log_moves[a, b] for a, b in pairwise(path))


def smooth(start, moves, logs):
    """ln P(x), P(state | x) of each step, expected moves."""
    steps, n = logs.shape
    found = list(paths(start, moves, logs))
    log_p = logsumexp([value for _, value in found])
    gamma, pairs = np.zeros((steps, n)), np.zeros((n, n))
    for path, value in found:
        weight = np.exp(value - log_p)
        gamma[np.arange(steps), path] += weight
        np.add.at(pairs, (path[:-1], path[1:]), weight)
    return log_p, gamma, pairs


def best(start, moves, logs):
    """The most probable path and its ln P."""
    return max(paths(start, moves, logs), key=lambda found: found[1])
