"""Counting one family with each of many more columns beside it.

    N(cell, s) for every cell of a family and every state s of every candidate column

Structure search asks for little else: which column would be the best next parent. The cells of the family are found
once and serve all candidates: as bitmaps whose intersections are counted word by word, or as the cell of each row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeslearn.kernels._jit import inner, kernel, popcount

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: Words of a bitmap that are worked on at a time, so that those of all candidates stay near.
WORDS = 256


@inner
def common_ones(a: NDArray[np.uint64], i: int, b: NDArray[np.uint64], j: int, begin: int, end: int) -> int:
    """The number of ones that two bitmaps share within some words."""
    ones = 0
    for w in range(begin, end):
        ones += popcount(a[i, w] & b[j, w])
    return ones


@kernel
def extend_by_bitmaps(
    cells: NDArray[np.uint64],
    bitmaps: NDArray[np.uint64],
    wanted: NDArray[np.int64],
    table: NDArray[np.int64],
) -> None:
    """table[c, k] = ones of cells[c] ∧ bitmaps[wanted[k]]."""
    n_words = cells.shape[1]
    for begin in range(0, n_words, WORDS):
        end = min(begin + WORDS, n_words)
        for c in range(len(cells)):
            for k in range(len(wanted)):
                table[c, k] += common_ones(cells, c, bitmaps, wanted[k], begin, end)


@kernel
def intersect_all(
    cells: NDArray[np.uint64], bitmaps: NDArray[np.uint64], first: int, states: int, into: NDArray[np.uint64]
) -> None:
    """Bitmaps of a family with one more column: into[c · states + s] = cells[c] ∧ bitmaps[first + s]."""
    for c in range(len(cells)):
        for s in range(states):
            for w in range(cells.shape[1]):
                into[c * states + s, w] = cells[c, w] & bitmaps[first + s, w]


@kernel
def extend_by_rows(
    cell: NDArray[np.int32],
    codes: NDArray[np.int8],
    weights: NDArray[np.float64],
    wanted: NDArray[np.int64],
    first: NDArray[np.int64],
    table: NDArray[np.float64],
) -> None:
    """table[cell of row, first_k + code of candidate k in it] += weight of the row; `weights` is empty for ones."""
    for k in range(len(wanted)):
        column, at = wanted[k], first[k]
        if len(weights) == 0:
            for i in range(len(cell)):
                table[cell[i], at + codes[column, i]] += 1.0
        else:
            for i in range(len(cell)):
                table[cell[i], at + codes[column, i]] += weights[i]
