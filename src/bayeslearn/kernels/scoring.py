"""Scores of one child with each of many columns as one more parent, from their counts.

    n[j, k, s]        cases with the parents in state j, the child in state k and a column in state s

    column score      Σ_js Σ_k f(n[j, k, s]) − g(Σ_k n[j, k, s])        over the states s of the column

`network/structure/counting/scores.py` has the formulas. For counts of whole cases, f at whole numbers may be known.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from bayeslearn.kernels._jit import inner, kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Kinds of scores: by n ln n, by n!, by Γ(α + n) with the same α in all cells, and with α shared by those that occur.
LIKELIHOOD, FACTORIALS, EVEN, OCCURRING = 0, 1, 2, 3


@kernel
def score_columns(
    n: NDArray[np.float64],
    start: NDArray[np.int64],
    kind: int,
    price: float,
    known: NDArray[np.float64],
    wanted: NDArray[np.bool_],
    scores: NDArray[np.float64],
) -> None:
    """Σ over each column, whose states stand from `start` on; `price` is that of a number, or the cases of the prior.

    `known` has f at whole numbers (n ln n or n!), or is empty. Columns that are not `wanted` score −∞.
    """
    cells, r, states = n.shape
    row = np.zeros((cells, states))
    for j in range(cells):
        for k in range(r):
            row[j] += n[j, k]
    for v in range(len(start)):
        scores[v] = -np.inf
        if not wanted[v]:
            continue
        begin = start[v]
        end = start[v + 1] if v + 1 < len(start) else states
        if kind == LIKELIHOOD:
            scores[v] = likelihood(n, row, begin, end, known) - price * cells * (end - begin) * (r - 1)
        elif kind == FACTORIALS:
            scores[v] = factorials(n, row, begin, end, known)
        else:
            q = cells * (end - begin) if kind == EVEN else max(np.count_nonzero(row[:, begin:end]), 1)
            scores[v] = gammas(n, row, begin, end, price / (q * r))


@inner
def likelihood(
    n: NDArray[np.float64], row: NDArray[np.float64], begin: int, end: int, known: NDArray[np.float64]
) -> float:
    """Σ n ln n − Σ row ln row."""
    total = 0.0
    for j in range(len(row)):
        for s in range(begin, end):
            if row[j, s] > 0:
                for k in range(n.shape[1]):
                    total += times_its_log(n[j, k, s], known)
                total -= times_its_log(row[j, s], known)
    return total


@inner
def times_its_log(x: float, known: NDArray[np.float64]) -> float:
    """x ln x."""
    if len(known) > 0:
        return known[int(x)]
    return x * math.log(x) if x > 0 else 0.0


@inner
def factorials(
    n: NDArray[np.float64], row: NDArray[np.float64], begin: int, end: int, known: NDArray[np.float64]
) -> float:
    """Σ ln (r−1)! / (row + r−1)! + Σ ln n!."""
    total, r = 0.0, n.shape[1]
    for j in range(len(row)):
        for s in range(begin, end):
            if row[j, s] > 0:
                for k in range(r):
                    total += log_factorial(n[j, k, s], known)
                total += log_factorial(r - 1.0, known) - log_factorial(row[j, s] + r - 1.0, known)
    return total


@inner
def log_factorial(x: float, known: NDArray[np.float64]) -> float:
    """Ln x!."""
    return known[int(x)] if len(known) > 0 else math.lgamma(x + 1.0)


@inner
def gammas(n: NDArray[np.float64], row: NDArray[np.float64], begin: int, end: int, a: float) -> float:
    """Σ ln Γ(ra)/Γ(ra + row) + Σ ln Γ(a + n)/Γ(a); cells that do not occur add nothing."""
    total, r = 0.0, n.shape[1]
    of_a, of_row = math.lgamma(a), math.lgamma(r * a)
    for j in range(len(row)):
        for s in range(begin, end):
            if row[j, s] > 0:
                total += of_row - math.lgamma(r * a + row[j, s])
                for k in range(r):
                    if n[j, k, s] > 0:
                        total += math.lgamma(a + n[j, k, s]) - of_a
    return total
