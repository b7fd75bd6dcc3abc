"""Parents of variables, one by one: the best next one as long as the score rises."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.kernels._jit import inner, kernel
from bayeslearn.kernels.extended_counts import extend_family
from bayeslearn.kernels.family_scores import score_columns

if TYPE_CHECKING:
    from numpy.typing import NDArray


@kernel
def greedy_parents(
    data: Any,
    children: NDArray[np.int64],
    possible: NDArray[np.bool_],
    rank: NDArray[np.int64],
    limits: tuple[int, float, float],
    score: tuple[int, float],
    known: NDArray[np.float64],
    arcs: NDArray[np.bool_],
) -> None:
    """Add arcs[c, x] to children x for those c that are possible[c, x] and best; of equals the first by rank.

    `limits` are the most parents, the most cells of a family with all columns, and the share of a score that is a tie;
    `score` its kind and price. See :func:`extend_family` and :func:`score_columns` for the rest.
    """
    most_parents, most_cells, tie = limits
    sizes, first, marginal = data[2], data[3], data[5]
    scores, states = np.empty(len(sizes)), first[-1]
    for x in children:
        fewer, best = marginal.reshape(1, -1), -1
        while True:
            parents = np.flatnonzero(arcs[:, x])
            free = possible[:, x] & ~arcs[:, x]
            free[x] = False
            family = np.append(parents, x)
            cells = np.prod(sizes[family].astype(np.float64))
            if len(parents) >= most_parents or not free.any() or cells * states > most_cells:
                break
            table = np.zeros((int(cells), states), marginal.dtype)
            extend_family(data, family, free, fewer, position(best, family), table)
            n = table.reshape(int(cells) // sizes[x], sizes[x], states)
            now = score_columns(n, first[:-1], score[0], score[1], known, free, scores)
            slack = tie * (1 + abs(now))
            top = scores[free].max()
            if top <= now + slack:
                break
            fewer, best = table, first_of_best(scores, free, top - slack, rank)
            arcs[best, x] = True


@inner
def position(column: int, family: NDArray[np.int64]) -> int:
    """Where a column stands in a family; −1 if it does not."""
    for k in range(len(family)):
        if family[k] == column:
            return k
    return -1


@inner
def first_of_best(scores: NDArray[np.float64], free: NDArray[np.bool_], least: float, rank: NDArray[np.int64]) -> int:
    """Of those that score enough, the first by rank."""
    best = -1
    for v in range(len(scores)):
        if free[v] and scores[v] >= least and (best < 0 or rank[v] < rank[best]):
            best = v
    return best
