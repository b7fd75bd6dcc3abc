"""Every graph over a few variables, and the best and the average of them by looking at each."""

from __future__ import annotations

import itertools

import numpy as np


def all_dags(n):
    """Every directed acyclic graph over n variables, as arcs[c, x]: 25 for three, 543 for four."""
    pairs = list(itertools.combinations(range(n), 2))
    for kinds in itertools.product(range(3), repeat=len(pairs)):
        arcs = np.zeros((n, n), np.bool_)
        for (a, b), kind in zip(pairs, kinds, strict=True):
            if kind:
                arcs[(a, b) if kind == 1 else (b, a)] = True
        if not np.linalg.matrix_power(arcs.astype(float), n).any():
            yield arcs


def graph_score(cache, arcs):
    """The sum over families."""
    return sum(cache.family(x, tuple(np.flatnonzero(arcs[:, x]).tolist())) for x in range(cache.n))


def is_allowed(allowed, arcs):
    """Whether a graph keeps to what is known."""
    return (
        not (arcs & ~allowed.arcs).any()
        and not (allowed.required & ~arcs).any()
        and arcs.sum(axis=0).max() <= allowed.max_parents
    )


def parent_sets(allowed, x):
    """Every parent set that x may have."""
    others = [c for c in range(len(allowed.arcs)) if allowed.arcs[c, x]]
    for k in range(allowed.max_parents + 1):
        for parents in itertools.combinations(others, k):
            if all(c in parents for c in np.flatnonzero(allowed.required[:, x])):
                yield parents


def linear_extensions(arcs):
    """How many orders a graph fits."""
    return sum(
        all(order.index(c) < order.index(x) for c, x in np.argwhere(arcs))
        for order in itertools.permutations(range(len(arcs)))
    )
