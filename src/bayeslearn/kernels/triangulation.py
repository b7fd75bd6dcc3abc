"""From the variables left after evidence to a tree of cliques.

1  moral graph of the active variables, as rows of bits
2  elimination order: least fill first, then least table
3  cliques: a variable with its neighbors when it goes; one that lies within its child's clique is merged into it
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayeslearn.kernels._jit import inner, popcount, trailing_zeros

if TYPE_CHECKING:
    from numpy.typing import NDArray


@inner
def moralize(
    scope_start: NDArray[np.int64], scope: NDArray[np.int64], active: NDArray[np.bool_], kept: NDArray[np.bool_]
) -> NDArray[np.uint64]:
    """Neighbors of each active variable: bit v of row u is set when a kept table holds both."""
    n = len(active)
    near = np.zeros((n, (n + 63) // 64), np.uint64)
    for f in range(len(kept)):
        if not kept[f]:
            continue
        for i in range(scope_start[f], scope_start[f + 1]):
            u = scope[i]
            if not active[u]:
                continue
            for j in range(i + 1, scope_start[f + 1]):
                v = scope[j]
                if active[v]:
                    near[u, v >> 6] |= np.uint64(1) << np.uint64(v & 63)
                    near[v, u >> 6] |= np.uint64(1) << np.uint64(u & 63)
    return near


@inner
def missing_edges(near: NDArray[np.uint64], v: int) -> int:
    """How many edges are missing among the neighbors of v (each counted twice)."""
    words = near.shape[1]
    missing = 0
    for w in range(words):
        rest = near[v, w]
        while rest != np.uint64(0):
            u = (w << 6) + trailing_zeros(rest)
            rest &= rest - np.uint64(1)
            for k in range(words):
                missing += popcount(near[v, k] & ~near[u, k])
            missing -= 1  # u is no neighbor of itself
    return missing


@inner
def log_table(near: NDArray[np.uint64], log_size: NDArray[np.float64], v: int) -> float:
    """Log of the size of the clique that eliminating v makes."""
    total = log_size[v]
    for w in range(near.shape[1]):
        rest = near[v, w]
        while rest != np.uint64(0):
            total += log_size[(w << 6) + trailing_zeros(rest)]
            rest &= rest - np.uint64(1)
    return total


@inner
def eliminate(
    near: NDArray[np.uint64],
    active: NDArray[np.bool_],
    log_size: NDArray[np.float64],
    noise: NDArray[np.float64],
    weight: float,
    order: NDArray[np.int64],
) -> int:
    """Fill `order`; on return row v of `near` holds the neighbors of v when it went. Returns how many there are.

    The key is missing edges + weight · log table + noise: the least goes first. `noise` breaks ties, differently in
    each try; `weight` is small when edges should decide and large when sizes should.
    """
    n, words = near.shape
    key = np.full(n, np.inf)
    dirty = np.zeros(words, np.uint64)
    gone = np.zeros(words, np.uint64)
    for v in range(n):
        if active[v]:
            key[v] = missing_edges(near, v) + weight * log_table(near, log_size, v) + noise[v]
    count = 0
    while True:
        v = int(np.argmin(key))
        if key[v] == np.inf:
            break
        order[count] = v
        count += 1
        key[v] = np.inf
        gone[v >> 6] |= np.uint64(1) << np.uint64(v & 63)
        for w in range(words):
            dirty[w] = near[v, w]
        # join the neighbors of v and take v out; whoever sees a new edge has a new key too
        for w in range(words):
            rest = near[v, w]
            while rest != np.uint64(0):
                u = (w << 6) + trailing_zeros(rest)
                rest &= rest - np.uint64(1)
                grew = False
                for k in range(words):
                    joined = near[u, k] | near[v, k]
                    if k == u >> 6:
                        joined &= ~(np.uint64(1) << np.uint64(u & 63))
                    if k == v >> 6:
                        joined &= ~(np.uint64(1) << np.uint64(v & 63))
                        grew |= joined != near[u, k] & ~(np.uint64(1) << np.uint64(v & 63))
                    else:
                        grew |= joined != near[u, k]
                    near[u, k] = joined
                if grew:
                    for k in range(words):
                        dirty[k] |= near[u, k]
        for w in range(words):
            rest = dirty[w] & ~gone[w]
            while rest != np.uint64(0):
                u = (w << 6) + trailing_zeros(rest)
                rest &= rest - np.uint64(1)
                key[u] = missing_edges(near, u) + weight * log_table(near, log_size, u) + noise[u]
    return count


@inner
def make_cliques(
    near: NDArray[np.uint64], order: NDArray[np.int64], log_size: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Cliques of an elimination: home of each variable, first and last variable to go, and the parent clique.

    Numbered so that children come before their parents. Any later clique that holds the separator may be the parent;
    the smallest is taken, so that many small messages do not each go over one large table.
    """
    n, words = near.shape
    count = len(order)
    when = np.full(n, n, np.int64)
    for i in range(count):
        when[order[i]] = i
    after = np.full(n, -1, np.int64)  # the neighbor that goes next
    degree = np.zeros(n, np.int64)
    for i in range(count):
        v = order[i]
        soonest = n
        for w in range(words):
            rest = near[v, w]
            degree[v] += popcount(rest)
            while rest != np.uint64(0):
                u = (w << 6) + trailing_zeros(rest)
                rest &= rest - np.uint64(1)
                if when[u] < soonest:
                    soonest = when[u]
                    after[v] = u
    home = np.full(n, -1, np.int64)
    first = np.empty(count, np.int64)
    last = np.empty(count, np.int64)
    cliques = 0
    for i in range(count):
        v = order[i]
        if home[v] < 0:
            home[v] = cliques
            first[cliques] = v
            cliques += 1
        c = home[v]
        last[c] = v
        u = after[v]
        if u >= 0 and home[u] < 0 and degree[u] + 1 == degree[v]:
            home[u] = c  # the clique of u lies within this one
    # renumber by the last variable, so that a parent comes after its children
    new = np.empty(cliques, np.int64)
    r = 0
    for i in range(count):
        c = home[order[i]]
        if last[c] == order[i]:
            new[c] = r
            r += 1
    first_of = np.empty(cliques, np.int64)
    last_of = np.empty(cliques, np.int64)
    for c in range(cliques):
        first_of[new[c]] = first[c]
        last_of[new[c]] = last[c]
    for v in range(n):
        if home[v] >= 0:
            home[v] = new[home[v]]
    return home, first_of, last_of, smallest_parents(near, first_of, last_of, after, log_size)


@inner
def smallest_parents(
    near: NDArray[np.uint64],
    first: NDArray[np.int64],
    last: NDArray[np.int64],
    after: NDArray[np.int64],
    log_size: NDArray[np.float64],
) -> NDArray[np.int64]:
    """For each clique the smallest later one that holds its separator; −1 where there is no separator."""
    cliques, words = len(first), near.shape[1]
    parent = np.full(cliques, -1, np.int64)
    size = np.empty(cliques)
    for c in range(cliques):
        size[c] = log_table(near, log_size, first[c])
    for c in range(cliques):
        u = after[last[c]]
        if u < 0:
            continue
        best = np.inf
        for d in range(c + 1, cliques):
            if size[d] >= best or not (first[d] == u or near[first[d], u >> 6] >> np.uint64(u & 63) & np.uint64(1)):
                continue
            outside = np.uint64(0)
            for w in range(words):
                held = near[first[d], w]
                if w == first[d] >> 6:
                    held |= np.uint64(1) << np.uint64(first[d] & 63)
                outside |= near[last[c], w] & ~held
            if outside == np.uint64(0):
                best = size[d]
                parent[c] = d
    return parent


@inner
def clique_axes(
    near: NDArray[np.uint64], first: NDArray[np.int64], when: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The variables of each clique, the last to go outermost: where they start, and all of them in a row."""
    cliques, words = len(first), near.shape[1]
    start = np.zeros(cliques + 1, np.int64)
    for c in range(cliques):
        start[c + 1] = start[c] + 1
        for w in range(words):
            start[c + 1] += popcount(near[first[c], w])
    axes = np.empty(start[cliques], np.int64)
    for c in range(cliques):
        at = start[c]
        axes[at] = first[c]
        filled = 1
        for w in range(words):
            rest = near[first[c], w]
            while rest != np.uint64(0):
                v = (w << 6) + trailing_zeros(rest)
                rest &= rest - np.uint64(1)
                j = filled
                while j > 0 and when[axes[at + j - 1]] < when[v]:
                    axes[at + j] = axes[at + j - 1]
                    j -= 1
                axes[at + j] = v
                filled += 1
    return start, axes


@inner
def cliques_by_variable(
    n: int, start: NDArray[np.int64], axes: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The cliques that hold each variable: where they start, and all of them in a row."""
    held = np.zeros(n + 1, np.int64)
    for j in range(len(axes)):
        held[axes[j] + 1] += 1
    for v in range(n):
        held[v + 1] += held[v]
    holders = np.empty(len(axes), np.int64)
    at = held[:-1].copy()
    for c in range(len(start) - 1):
        for j in range(start[c], start[c + 1]):
            holders[at[axes[j]]] = c
            at[axes[j]] += 1
    return held, holders
