"""Faint parents: those whose effect is beyond chance, though the full table of the family does not pay for them.

A score asks a further parent to pay for every combination with the others. Where there are many of these, a parent that
shifts its child a little in all of them is left out, and the more so the more parents there are. So the best parents
are found by the score, and then those are added, the surest first, whose effect by itself (see `testing.effects`) has
a p-value below

    level = expected false arcs / arcs that could be added
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayeslearn.network.structure.counting.cache import parents_of
from bayeslearn.network.structure.limits import FOREVER
from bayeslearn.network.structure.searching.climbing import before, ranks
from bayeslearn.network.structure.testing.effects import effect

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from bayeslearn.network.structure.counting.counts import FamilyCounts
    from bayeslearn.network.structure.knowledge import Allowed
    from bayeslearn.network.structure.limits import Limits

#: Arcs that are added by chance, on average over the whole graph.
FALSE = 1.0


def with_faint_parents(
    counts: FamilyCounts,
    arcs: NDArray[np.bool_],
    order: Sequence[int],
    allowed: Allowed,
    limits: Limits = FOREVER,
    *,
    false: float = FALSE,
) -> NDArray[np.bool_]:
    """A graph whose arcs point forward in the order, with the faint parents that its variables have."""
    arcs = arcs.copy()
    free = allowed.arcs & before(order) & ~arcs
    level, rank = false / max(int(free.sum()), 1), ranks(counts.names)
    counts.expect(blocks=[(*parents_of(arcs, x), x) for x in order if free[:, x].any()])
    for x in order:
        while not limits.reached() and arcs[:, x].sum() < allowed.most_parents:
            best = surest(counts, x, arcs[:, x], free[:, x] & ~arcs[:, x], rank, level)
            if best is None:
                break
            arcs[best, x] = True
    return arcs


def surest(
    counts: FamilyCounts,
    x: int,
    parents: NDArray[np.bool_],
    free: NDArray[np.bool_],
    rank: NDArray[np.int64],
    level: float,
) -> int | None:
    """The further parent whose effect is surest, of equals the first by rank; none where all could be chance."""
    found = counts.extended(x, tuple(np.flatnonzero(parents).tolist())) if free.any() else None
    if found is None:
        return None
    p = {
        v: effect(found.n[:, :, found.start[v] : found.start[v] + counts.sizes[v]], level).p_value
        for v in np.flatnonzero(free).tolist()
    }
    best = min(p, key=lambda v: (p[v], rank[v]))
    return best if p[best] <= level else None
