"""Counting one family with each of many more columns beside it.

    N(cell, s) for every cell of a family and every state s of every other column

Structure search asks for little else: which column would be the best next parent. The cells of the family are found
once and serve all columns. The most frequent cell is not counted at all, being what the others leave of each column; of
the others, large cells are bitmaps whose intersections are counted word by word, and small ones are counted row by row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayeslearn.kernels._jit import inner, kernel, popcount

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Words of a bitmap that are worked on at a time, and cells: so that they stay near.
WORDS, CELLS = 256, 64


### cells


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


### all columns


@kernel
def extend_family(
    codes: NDArray[np.int8],
    weights: NDArray[np.float64],
    sizes: NDArray[np.int64],
    bitmaps: NDArray[np.uint64],
    marginal: NDArray[np.float64],
    family: NDArray[np.int64],
    wanted: NDArray[np.bool_],
    few: float,
    table: NDArray[np.float64],
) -> None:
    """table[cell, state] = weight of the rows in both; `table` comes with zeros, `weights` is empty for ones.

    The states of all columns stand side by side; those of columns that are not `wanted`, or of the family, mean
    nothing. `bitmaps` and `marginal` have a row and a number for each state; cells of at most `few` rows are counted
    row by row. Weighted rows need neither.
    """
    cell, whole = np.empty(codes.shape[1], np.int32), np.zeros((2, len(table)))
    find_cells(codes, family, sizes, cell)
    first = np.zeros(len(sizes) + 1, np.int64)
    first[1:] = np.cumsum(sizes)
    other = wanted.copy()
    other[family] = False
    if len(weights) > 0:
        extend_by_rows(np.arange(len(cell)), cell, codes, weights, other, first, table)
        return
    count_cells(cell, weights, whole)
    whole[0] += whole[1]
    largest = np.argmax(whole[0])
    small = whole[0] <= few
    small[largest] = False
    extend_by_rows(np.flatnonzero(small[cell]), cell, codes, weights, other, first, table)
    small[largest] = True
    large = np.flatnonzero(~small)
    for begin in range(0, len(large), CELLS):
        cells = large[begin : begin + CELLS]
        extend_by_bitmaps(members_of(cells, family, sizes, first), cells, bitmaps, other, first, table)
        last_states(cells, whole[0], other, first, table)
    table[largest] = marginal
    for c in range(len(table)):
        if c != largest and whole[0, c] > 0:
            table[largest] -= table[c]


@inner
def extend_by_rows(
    rows: NDArray[np.int64],
    cell: NDArray[np.int32],
    codes: NDArray[np.int8],
    weights: NDArray[np.float64],
    other: NDArray[np.bool_],
    first: NDArray[np.int64],
    table: NDArray[np.float64],
) -> None:
    """table[cell of row, state of column in it] += weight of the row; four columns at a time share what a row says."""
    columns = np.flatnonzero(other)
    fours = len(columns) - len(columns) % 4
    for k in range(0, fours, 4):
        c0, c1, c2, c3 = columns[k], columns[k + 1], columns[k + 2], columns[k + 3]
        for i in rows:
            at, weight = cell[i], 1.0 if len(weights) == 0 else weights[i]
            table[at, first[c0] + codes[c0, i]] += weight
            table[at, first[c1] + codes[c1, i]] += weight
            table[at, first[c2] + codes[c2, i]] += weight
            table[at, first[c3] + codes[c3, i]] += weight
    for column in columns[fours:]:
        for i in rows:
            table[cell[i], first[column] + codes[column, i]] += 1.0 if len(weights) == 0 else weights[i]


@inner
def members_of(
    cells: NDArray[np.int64], family: NDArray[np.int64], sizes: NDArray[np.int64], first: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The states, by their bitmaps, that make up each cell."""
    members = np.empty((len(cells), len(family)), np.int64)
    for c in range(len(cells)):
        left = cells[c]
        for k in range(len(family) - 1, -1, -1):
            members[c, k] = first[family[k]] + left % sizes[family[k]]
            left //= sizes[family[k]]
    return members


@inner
def extend_by_bitmaps(
    members: NDArray[np.int64],
    place: NDArray[np.int64],
    bitmaps: NDArray[np.uint64],
    other: NDArray[np.bool_],
    first: NDArray[np.int64],
    table: NDArray[np.float64],
) -> None:
    """table[place_c, s] += rows in all of the bitmaps members[c] and in that of s, for all but the last states."""
    cells = np.empty((len(members), bitmaps.shape[1]), np.uint64)
    for c in range(len(members)):
        cells[c] = bitmaps[members[c, 0]]
        for k in range(1, members.shape[1]):
            cells[c] &= bitmaps[members[c, k]]
    states = np.flatnonzero(counted_states(other, first))
    last = len(states) - 1
    for begin in range(0, cells.shape[1], WORDS):
        end = min(begin + WORDS, cells.shape[1])
        for k in range(0, len(states), 4):
            four = (states[k], states[min(k + 1, last)], states[min(k + 2, last)], states[min(k + 3, last)])
            for c in range(len(cells)):
                n0, n1, n2, n3 = common_ones(cells, c, bitmaps, four, begin, end)
                row = place[c]
                table[row, four[0]] += n0
                if k + 1 <= last:
                    table[row, four[1]] += n1
                if k + 2 <= last:
                    table[row, four[2]] += n2
                if k + 3 <= last:
                    table[row, four[3]] += n3


@inner
def counted_states(other: NDArray[np.bool_], first: NDArray[np.int64]) -> NDArray[np.bool_]:
    """All but the last state of each column that is counted."""
    counted = np.zeros(first[-1], np.bool_)
    for column in range(len(other)):
        if other[column]:
            counted[first[column] : first[column + 1] - 1] = True
    return counted


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


@inner
def last_states(
    cells: NDArray[np.int64],
    whole: NDArray[np.float64],
    other: NDArray[np.bool_],
    first: NDArray[np.int64],
    table: NDArray[np.float64],
) -> None:
    """The last state of each column has what the others leave of the cell."""
    for c in cells:
        for column in range(len(other)):
            if other[column]:
                left = whole[c]
                for s in range(first[column], first[column + 1] - 1):
                    left -= table[c, s]
                table[c, first[column + 1] - 1] = left


### columns as bitmaps


@kernel
def pack_states(
    codes: NDArray[np.int8], first: NDArray[np.int64], words: NDArray[np.uint64], marginal: NDArray[np.float64]
) -> None:
    """A bitmap for each state of each column, and how many rows it has; both come with zeros."""
    for column in range(len(codes)):
        for i in range(codes.shape[1]):
            state = first[column] + codes[column, i]
            words[state, i >> 6] |= np.uint64(1) << np.uint64(i & 63)
            marginal[state] += 1.0
