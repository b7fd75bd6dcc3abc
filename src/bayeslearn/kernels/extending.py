"""Counting one family with each of many more columns beside it.

    N(cell, s) for every cell of a family and every state s of every candidate column

Structure search asks for little else: which column would be the best next parent. The cells of the family are found
once and serve all candidates: large cells as bitmaps whose intersections are counted word by word, small ones row by
row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeslearn.kernels._jit import inner, kernel, popcount

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: Words of a bitmap that are worked on at a time, so that those of a few candidates and all cells stay near.
WORDS = 256


@kernel
def find_cells(
    codes: NDArray[np.int8], family: NDArray[np.int64], sizes: NDArray[np.int64], cell: NDArray[np.int32]
) -> None:
    """cell[i] = the cell of row i, the last column of the family varying fastest."""
    cell[:] = 0
    for k in range(len(family)):
        column, size = family[k], sizes[family[k]]
        for i in range(len(cell)):
            cell[i] = cell[i] * size + codes[column, i]


@kernel
def count_cells(cell: NDArray[np.int32], weights: NDArray[np.float64], whole: NDArray[np.float64]) -> None:
    """whole[0, cell of row] + whole[1, cell of row] += weight of the row; `weights` is empty for ones.

    Rows take turns between the two: one addition need not wait for the one before it.
    """
    for i in range(len(cell)):
        whole[i & 1, cell[i]] += 1.0 if len(weights) == 0 else weights[i]


@inner
def common_ones(
    a: NDArray[np.uint64], i: int, b: NDArray[np.uint64], j: tuple[int, int, int, int], begin: int, end: int
) -> tuple[int, int, int, int]:
    """The ones that one bitmap shares with each of four within some words: four at a time keep the machine busy."""
    n0, n1, n2, n3 = 0, 0, 0, 0
    j0, j1, j2, j3 = j
    for w in range(begin, end):
        word = a[i, w]
        n0 += popcount(word & b[j0, w])
        n1 += popcount(word & b[j1, w])
        n2 += popcount(word & b[j2, w])
        n3 += popcount(word & b[j3, w])
    return n0, n1, n2, n3


@kernel
def extend_by_bitmaps(
    cells: NDArray[np.uint64],
    place: NDArray[np.int64],
    bitmaps: NDArray[np.uint64],
    states: NDArray[np.int64],
    into: NDArray[np.int64],
    table: NDArray[np.float64],
) -> None:
    """table[place_c, into_k] += ones of cells[c] ∧ bitmaps[states_k]."""
    n_words, last = cells.shape[1], len(states) - 1
    for begin in range(0, n_words, WORDS):
        end = min(begin + WORDS, n_words)
        for k in range(0, len(states), 4):
            four = (states[k], states[min(k + 1, last)], states[min(k + 2, last)], states[min(k + 3, last)])
            for c in range(len(cells)):
                n0, n1, n2, n3 = common_ones(cells, c, bitmaps, four, begin, end)
                row = place[c]
                table[row, into[k]] += n0
                if k + 1 <= last:
                    table[row, into[k + 1]] += n1
                if k + 2 <= last:
                    table[row, into[k + 2]] += n2
                if k + 3 <= last:
                    table[row, into[k + 3]] += n3


@kernel
def intersect_members(bitmaps: NDArray[np.uint64], members: NDArray[np.int64], into: NDArray[np.uint64]) -> None:
    """into[c] = the rows in all of the bitmaps members[c]."""
    for c in range(len(members)):
        for w in range(into.shape[1]):
            into[c, w] = bitmaps[members[c, 0], w]
        for k in range(1, members.shape[1]):
            for w in range(into.shape[1]):
                into[c, w] &= bitmaps[members[c, k], w]


@kernel
def extend_by_rows(
    rows: NDArray[np.int32],
    cell: NDArray[np.int32],
    codes: NDArray[np.int8],
    weights: NDArray[np.float64],
    columns: NDArray[np.int64],
    first: NDArray[np.int64],
    table: NDArray[np.float64],
) -> None:
    """table[cell of row, first_k + code of column k in it] += weight of the row; `weights` is empty for ones."""
    for k in range(len(columns)):
        column, at = columns[k], first[k]
        if len(weights) == 0:
            for i in rows:
                table[cell[i], at + codes[column, i]] += 1.0
        else:
            for i in rows:
                table[cell[i], at + codes[column, i]] += weights[i]
