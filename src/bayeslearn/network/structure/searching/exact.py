"""The best network of all, by dynamic programming over sets of variables (Silander and Myllymäki 2006).

    best(W) = max over x in W of  best(W − x) + max over S within W − x of score(x, S)

Some variable of W is the last one, a sink whose parents are all in the rest, and the rest is best by itself. The sinks
from the whole set down to nothing are an order, backwards, and its best parent sets are the network.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayeslearn import kernels
from bayeslearn.em import ROUNDING
from bayeslearn.errors import CapacityError
from bayeslearn.network.structure.limits import FOREVER
from bayeslearn.network.structure.searching.parent_sets import parent_sets

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.network.structure.counting.cache import ScoreCache
    from bayeslearn.network.structure.knowledge import Allowed
    from bayeslearn.network.structure.limits import Limits
    from bayeslearn.network.structure.searching.parent_sets import ParentSets

#: Bytes for each set of variables: the best score, and its sink.
BYTES = 9

#: Sets of variables between two looks at the clock.
PART = 1 << 16


def exact(cache: ScoreCache, allowed: Allowed, limits: Limits = FOREVER) -> NDArray[np.bool_]:
    """The graph of the highest score that knowledge allows.

    Sets of variables double with each further one: 20 take 9 MB and 25 take 300 MB. When time runs out, the first
    variables by name are in their best order and the others follow.
    """
    need = BYTES * 2.0**cache.n
    if need > limits.memory:
        raise CapacityError(
            f"the best of all networks over {cache.n} variables needs {need / 2**20:,.0f} MiB, "
            f"more than {limits.memory / 2**20:,.0f} MiB",
            hint="search over orders instead, leave columns out, or raise `memory_limit`",
            bytes=need,
        )
    standing = cache.graph(allowed.required), int(allowed.required.sum())
    sets = parent_sets(cache, allowed, limits, standing=standing)
    order = best_order(sets, limits, standing)
    place, chosen = np.argsort(order), np.empty(cache.n, np.int64)
    kernels.choose(sets.arrays, place, chosen)
    return sets.arcs(chosen)


def best_order(sets: ParentSets, limits: Limits = FOREVER, standing: tuple[float, int] = (0.0, 0)) -> NDArray[np.int64]:
    """The order of the best network, by number of name; those who are told are told how things stand."""
    n = sets.n
    best, sink = np.full(1 << n, -np.inf), np.full(1 << n, -1, np.int8)
    best[0] = 0.0
    slack = ROUNDING * (1 + abs(float(sets.scores[sets.first[:-1]].sum())))
    done = 1
    while done < 1 << n and not limits.over(*standing, done):
        end = min(done + PART, 1 << n)
        kernels.best_sinks(sets.first, sets.masks, sets.scores, done, end, slack, best, sink)
        done = end
    whole = done.bit_length() - 1  # every set of so many first variables has been seen
    while best[(1 << whole) - 1] == -np.inf:
        whole -= 1
    order, left = [], (1 << whole) - 1
    while left:
        order.append(int(sink[left]))
        left ^= 1 << order[-1]
    return sets.possible([*reversed(order), *range(whole, n)])
