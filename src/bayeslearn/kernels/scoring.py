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
) -> float:
    """Σ over each column, whose states stand from `start` on; `price` is that of a number, or the cases of the prior.

    `known` has f at whole numbers (n ln n or n!), or is empty. Columns that are not `wanted` score −∞. Returns the
    score without any of them, for which the states of the last one are put together; −∞ if none is wanted.
    """
    cells, r, states = n.shape
    row = rows_of(n)
    begin, end = 0, 0
    for v in range(len(start)):
        scores[v] = -np.inf
        if wanted[v]:
            begin, end = start[v], start[v + 1] if v + 1 < len(start) else states
            scores[v] = column_score(n, row, begin, end, kind, price, known)
    if begin == end:
        return -np.inf
    whole = np.zeros((cells, r, 1))
    for s in range(begin, end):
        whole[:, :, 0] += n[:, :, s]
    return column_score(whole, rows_of(whole), 0, 1, kind, price, known)


@kernel
def score_pairs(
    states: NDArray[np.float64],
    start: NDArray[np.int64],
    kind: int,
    price: float,
    known: NDArray[np.float64],
    scores: NDArray[np.float64],
    alone: NDArray[np.float64],
) -> None:
    """scores[x, v] of every column x with every other as its parent, and alone[x] without; from all pairs of states."""
    wanted = np.ones(len(start), np.bool_)
    for x in range(len(start)):
        end = start[x + 1] if x + 1 < len(start) else len(states)
        wanted[x] = False
        n = states[start[x] : end].reshape(1, end - start[x], len(states))
        alone[x] = score_columns(n, start, kind, price, known, wanted, scores[x])
        wanted[x] = True


@inner
def rows_of(n: NDArray[np.float64]) -> NDArray[np.float64]:
    """Σ_k n[j, k, s]."""
    row = np.zeros((n.shape[0], n.shape[2]))
    for j in range(n.shape[0]):
        for k in range(n.shape[1]):
            row[j] += n[j, k]
    return row


@inner
def column_score(
    n: NDArray[np.float64],
    row: NDArray[np.float64],
    begin: int,
    end: int,
    kind: int,
    price: float,
    known: NDArray[np.float64],
) -> float:
    """The score with the column whose states stand there."""
    cells, r, _ = n.shape
    if kind == LIKELIHOOD:
        return likelihood(n, row, begin, end, known) - price * cells * (end - begin) * (r - 1)
    if kind == FACTORIALS:
        return factorials(n, row, begin, end, known)
    q = cells * (end - begin) if kind == EVEN else max(np.count_nonzero(row[:, begin:end]), 1)
    return gammas(n, row, begin, end, price / (q * r))


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
