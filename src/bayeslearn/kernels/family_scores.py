"""Scores of one child with each of many columns as one more parent, from their counts.

    n[j, k, s]        cases with the parents in state j, the child in state k and a column in state s

    column score      Σ_js Σ_k f(n[j, k, s]) − g(Σ_k n[j, k, s])        over the states s of the column

`network/structure/scoring/criteria.py` has the formulas. For counts of whole cases, f at whole numbers may be known.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from bayeslearn.kernels._jit import inner, kernel
from bayeslearn.kernels.family_cells import states_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.kernels.family_cells import Counts

#: Kinds of scores: by n ln n, by n!, by Γ(α + n) with the same α in all cells, and with α shared by those that occur.
LIKELIHOOD, FACTORIALS, EVEN, OCCURRING = 0, 1, 2, 3


@kernel
def score_columns(
    n: Counts,
    start: NDArray[np.int64],
    kind: int,
    price: float,
    known: NDArray[np.float64],
    wanted: NDArray[np.bool_],
    scores: NDArray[np.float64],
) -> float:
    """Σ over each column, whose states stand from `start` on; `price` is that of a number, or the cases of the prior.

    `known` has f at whole numbers (n ln n or n!), or is empty. Columns that are not `wanted` score −∞. Returns the
    score without any of them, for which the states of one are put together; −∞ if none is wanted.
    """
    scores[:] = -np.inf
    if not wanted.any():
        return -np.inf
    first = np.append(start, n.shape[2])
    if len(known) > 0:
        return score_by_terms(n, first, kind, price, known, wanted, scores)
    return score_by_formulas(n.astype(np.float64), first, kind, price, wanted, scores)


@kernel
def score_pairs(
    states: Counts,
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


### where terms of whole numbers are known


@inner
def score_by_terms(
    n: Counts,
    first: NDArray[np.int64],
    kind: int,
    price: float,
    known: NDArray[np.float64],
    wanted: NDArray[np.bool_],
    scores: NDArray[np.float64],
) -> float:
    """The same with f(n) = known[n] and g(n) = known[n + shift] − known[shift], where the shift is r − 1 for n!."""
    q, r, _ = n.shape
    shift, counted = r - 1 if kind == FACTORIALS else 0, states_of(wanted, first, 0)
    row, totals, whole = np.zeros(len(counted), np.int64), np.zeros(len(counted)), 0.0
    one = np.argmax(wanted)  # a column whose states add up to the cell
    some = first[one + 1] - first[one]
    for j in range(q):
        cases = 0
        for k in range(r):
            cell = 0
            for i in range(some):
                cell += int(n[j, k, counted[i]])
            if cell > 0:
                cases += cell
                whole += known[cell]
                for i in range(len(counted)):
                    x = int(n[j, k, counted[i]])
                    row[i] += x
                    totals[i] += known[x]
        if cases > 0:
            whole -= known[cases + shift] - known[shift]
            for i in range(len(counted)):
                totals[i] -= known[row[i] + shift] - known[shift]
                row[i] = 0
    i = 0
    for v in range(len(wanted)):
        if wanted[v]:
            size = first[v + 1] - first[v]
            scores[v] = totals[i : i + size].sum() - price * q * size * (r - 1)
            i += size
    return whole - price * q * (r - 1)


### where they are not


@inner
def score_by_formulas(
    n: NDArray[np.float64],
    first: NDArray[np.int64],
    kind: int,
    price: float,
    wanted: NDArray[np.bool_],
    scores: NDArray[np.float64],
) -> float:
    """The same with f and g worked out."""
    row = rows_of(n)
    for v in np.flatnonzero(wanted):
        scores[v] = column_score(n, row, first[v], first[v + 1], kind, price)
    one = np.argmax(wanted)
    whole = n[:, :, first[one] : first[one + 1]].copy().sum(axis=2).reshape(n.shape[0], n.shape[1], 1)
    return column_score(whole, rows_of(whole), 0, 1, kind, price)


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
    n: NDArray[np.float64], row: NDArray[np.float64], begin: int, end: int, kind: int, price: float
) -> float:
    """The score with the column whose states stand there."""
    cells, r, _ = n.shape
    if kind == LIKELIHOOD:
        return likelihood(n, row, begin, end) - price * cells * (end - begin) * (r - 1)
    if kind == FACTORIALS:
        return gammas(n, row, begin, end, 1.0)
    q = cells * (end - begin) if kind == EVEN else max(np.count_nonzero(row[:, begin:end]), 1)
    return gammas(n, row, begin, end, price / (q * r))


@inner
def likelihood(n: NDArray[np.float64], row: NDArray[np.float64], begin: int, end: int) -> float:
    """Σ n ln n − Σ row ln row."""
    total = 0.0
    for j in range(len(row)):
        for s in range(begin, end):
            if row[j, s] > 0:
                for k in range(n.shape[1]):
                    total += times_its_log(n[j, k, s])
                total -= times_its_log(row[j, s])
    return total


@inner
def times_its_log(x: float) -> float:
    """x ln x."""
    return x * math.log(x) if x > 0 else 0.0


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
