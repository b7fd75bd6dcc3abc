"""Counting one family with each of many additional columns.

    N(cell, s) for every cell of a family and every state s of every other column

Structure search asks for little else: which column would be the best next parent. The cells of the family are found
once and serve all columns. Where the counts of the family without one of its columns are known, that column splits each
of their cells, and the largest part is not counted at all, being what the others leave; of the others, large cells are
bitmaps whose intersections are counted word by word, and small ones are counted row by row, the states of all columns
in one sweep over bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.kernels._jit import inner, kernel
from bayeslearn.kernels.bitmaps import all_cells, extend_by_bitmaps, some_cells
from bayeslearn.kernels.family_cells import (
    count_cells,
    find_cells,
    rows_by_cell,
    rows_of_bitmaps,
    small_cells,
    split_of,
    states_of,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.kernels.family_cells import Counts

#: Cells that are made bitmaps of at a time.
CELLS = 64


@kernel
def extend_family(
    data: Any,
    family: NDArray[np.int64],
    wanted: NDArray[np.bool_],
    fewer: Counts,
    added: int,
    table: Counts,
) -> None:
    """table[cell, state] = weight of the rows in both; `table` comes with zeros.

    The states of all columns stand side by side; those of columns that are not `wanted`, or of the family, mean
    nothing. `fewer` is the table of the family without its column number `added`, where that is known; else it has one
    line, how many rows each state has, and `added` is −1. Weighted rows make no use of it. `data` are, as
    :mod:`bayeslearn.network.structure.scoring.family_counts` has them:

    - the codes, the weights (none for ones), the states of each column and where they stand;
    - a bitmap and a number of rows for each state, and a row of bytes for each row (or none: then columns are counted
      one by one), of which weighted rows need none;
    - how many rows one by one take as long as a bitmap against one state.
    """
    codes, weights, sizes, first, bitmaps, _, ones, few = data
    other = wanted.copy()
    other[family] = False
    if len(weights) > 0:
        cell = np.empty(codes.shape[1], np.int32)
        find_cells(codes, family, sizes, cell)
        extend_by_rows(np.arange(len(cell)).astype(np.int32), cell, codes, weights, other, first, table)
        return
    states, whole, split = states_of(other, first, 1), np.zeros(len(table)), split_of(family, sizes, added)
    if len(table) <= CELLS:
        bits = all_cells(family, first, bitmaps, whole)
        small, largest = small_cells(whole, split, few * len(states))
        rows, at = rows_of_bitmaps(bits, small, whole)
    else:
        bits, cell = np.empty((0, 0), np.uint64), np.empty(codes.shape[1], np.int32)
        find_cells(codes, family, sizes, cell)
        turns = np.zeros((2, len(table)))
        count_cells(cell, weights, turns)
        whole += turns[0] + turns[1]
        small, largest = small_cells(whole, split, few * len(states))
        rows, at = rows_by_cell(cell, small, whole)
    if len(ones) > 0:
        extend_by_bytes(rows, at, ones, table)
    else:
        extend_by_rows(rows, at, codes, weights, other, first, table)
    small[largest] = True
    large = np.flatnonzero(~small)
    for begin in range(0, len(large), CELLS):
        cells = large[begin : begin + CELLS]
        some = bits[cells] if len(bits) > 0 else some_cells(cells, family, sizes, first, bitmaps)
        extend_by_bitmaps(some, cells, bitmaps, states, table)
        last_states(cells, whole, other, first, table)
    leave_the_rest(largest, split, whole, fewer, table)


@kernel
def extend_columns(data: Any, columns: NDArray[np.int64], states: Counts) -> None:
    """states[s, t] = weight of the rows in both, for the states s of some columns and t of all columns after these."""
    first, marginal = data[3], data[5].reshape(1, -1)
    for x in columns:
        lines = states[first[x] : first[x + 1]]
        wanted, added = np.arange(len(first) - 1) > x, np.int64(0)  # for a literal 0 it would be compiled again
        extend_family(data, np.array([x]), wanted, marginal, added, lines)  # type: ignore[arg-type]
        lines[:, : first[x + 1]] = 0


@inner
def extend_by_rows(
    rows: NDArray[np.int32],
    at: NDArray[np.int32],
    codes: NDArray[np.int8],
    weights: NDArray[np.float64],
    other: NDArray[np.bool_],
    first: NDArray[np.int64],
    table: Counts,
) -> None:
    """table[cell of row, state of column in it] += weight of the row; four columns at a time share a row."""
    columns = np.flatnonzero(other)
    fours = len(columns) - len(columns) % 4
    for k in range(0, fours, 4):
        c0, c1, c2, c3 = columns[k], columns[k + 1], columns[k + 2], columns[k + 3]
        for r in range(len(rows)):
            i, cell, weight = rows[r], at[r], 1.0 if len(weights) == 0 else weights[rows[r]]
            table[cell, first[c0] + codes[c0, i]] += weight
            table[cell, first[c1] + codes[c1, i]] += weight
            table[cell, first[c2] + codes[c2, i]] += weight
            table[cell, first[c3] + codes[c3, i]] += weight
    for column in columns[fours:]:
        for r in range(len(rows)):
            table[at[r], first[column] + codes[column, rows[r]]] += 1.0 if len(weights) == 0 else weights[rows[r]]


@inner
def extend_by_bytes(rows: NDArray[np.int32], at: NDArray[np.int32], ones: NDArray[np.uint64], table: Counts) -> None:
    """table[cell of row, state] += 1 for every state that the row has, all states at once; rows stand by their cells.

    A word is eight bytes, one for each of eight states: sums of up to 255 rows do not run into each other.
    """
    words = np.empty(ones.shape[1], np.uint64)
    sums, begin = words.view(np.uint8), 0
    while begin < len(rows):
        end = begin + 1
        while end < len(rows) and at[end] == at[begin] and end < begin + 255:
            end += 1
        add_rows(ones, rows[begin:end], words)
        line = table[at[begin]]
        for s in range(len(line)):
            line[s] += sums[s]
        begin = end


@inner
def add_rows(ones: NDArray[np.uint64], rows: NDArray[np.int32], words: NDArray[np.uint64]) -> None:
    """The sum of some rows; four at a time are read for each that is written."""
    words[:] = 0
    fours = len(rows) - len(rows) % 4
    for k in range(0, fours, 4):
        a, b, c, d = rows[k], rows[k + 1], rows[k + 2], rows[k + 3]
        for w in range(len(words)):
            words[w] += ones[a, w] + ones[b, w] + ones[c, w] + ones[d, w]
    for row in rows[fours:]:
        for w in range(len(words)):
            words[w] += ones[row, w]


@inner
def last_states(
    cells: NDArray[np.int64],
    whole: NDArray[np.float64],
    other: NDArray[np.bool_],
    first: NDArray[np.int64],
    table: Counts,
) -> None:
    """The last state of each column has what the others leave of the cell."""
    for c in cells:
        for column in range(len(other)):
            if other[column]:
                left = whole[c]
                for s in range(first[column], first[column + 1] - 1):
                    left -= table[c, s]
                table[c, first[column + 1] - 1] = left


@inner
def leave_the_rest(
    largest: NDArray[np.int64],
    split: tuple[int, int],
    whole: NDArray[np.float64],
    fewer: Counts,
    table: Counts,
) -> None:
    """The largest of the cells that a cell of the smaller family is split into has what the others leave of it."""
    size, stride = split
    for b in range(len(largest)):
        if whole[largest[b]] > 0:
            rest = fewer[b].copy()
            for k in range(size):
                c = (b // stride * size + k) * stride + b % stride
                if c != largest[b] and whole[c] > 0:
                    line = table[c]
                    for s in range(len(rest)):
                        rest[s] -= line[s]
            table[largest[b]] = rest
