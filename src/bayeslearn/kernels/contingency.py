"""Counting: contingency tables of many families of columns, in one pass over the rows.

A family of m columns with k_1 … k_m states fills a flat table of Π k_j cells. Two ways, the caller chooses by cost:

- histograms: one increment per row, at the cell Σ_j stride_j · (code_j + shift_j);
- intersections: columns as bitmaps, one AND and one population count per cell and 64 rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayeslearn.kernels._jit import inner, kernel, popcount

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Rows whose cells are worked out together: they stay in the first-level cache.
BLOCK = 2048

#: Words of a bitmap handled together: 64 rows each.
WORDS = 512


@inner
def fill_cells(
    codes: NDArray[np.signedinteger],
    columns: NDArray[np.int64],
    strides: NDArray[np.int64],
    shifts: NDArray[np.int64],
    start: int,
    cells: NDArray[np.uint32],
) -> None:
    """cell_i = Σ_j stride_j · (code_ij + shift_j), for the rows from `start` on."""
    cells[:] = 0
    for j in range(len(columns)):
        column = codes[columns[j], start : start + len(cells)]
        stride, shift = np.int32(strides[j]), np.int32(shifts[j])
        for i in range(len(cells)):
            cells[i] += np.uint32(stride * (np.int32(column[i]) + shift))


@kernel
def histogram(
    codes: NDArray[np.signedinteger],
    columns: NDArray[np.int64],
    strides: NDArray[np.int64],
    shifts: NDArray[np.int64],
    start: int,
    stop: int,
    table: NDArray[np.int64],
) -> None:
    """Add one to the cell of every row in [start, stop)."""
    cells = np.empty(BLOCK, np.uint32)
    other = np.zeros_like(table)  # two tables: equal cells in a row need not wait for each other's store
    for begin in range(start, stop, BLOCK):
        size = min(BLOCK, stop - begin)
        fill_cells(codes, columns, strides, shifts, begin, cells[:size])
        half = size // 2
        lower, upper = cells[:half], cells[half:size]
        for i in range(half):
            table[lower[i]] += 1
            other[upper[i]] += 1
        if size % 2:
            other[upper[half]] += 1
    table += other


@kernel
def weighted_histogram(
    codes: NDArray[np.signedinteger],
    columns: NDArray[np.int64],
    strides: NDArray[np.int64],
    shifts: NDArray[np.int64],
    weights: NDArray[np.float64],
    start: int,
    stop: int,
    table: NDArray[np.float64],
) -> None:
    """Add the weight of every row in [start, stop) to its cell."""
    cells = np.empty(BLOCK, np.uint32)
    for begin in range(start, stop, BLOCK):
        size = min(BLOCK, stop - begin)
        fill_cells(codes, columns, strides, shifts, begin, cells[:size])
        for i in range(size):
            table[cells[i]] += weights[begin + i]


@inner
def intersect(a: NDArray[np.uint64], b: NDArray[np.uint64], into: NDArray[np.uint64]) -> int:
    """into = a ∧ b; returns its number of ones."""
    ones = 0
    for i in range(len(a)):
        both = a[i] & b[i]
        into[i] = both
        ones += popcount(both)
    return ones


@inner
def common(a: NDArray[np.uint64], b: NDArray[np.uint64]) -> int:
    """The number of ones in a ∧ b."""
    ones = 0
    for i in range(len(a)):
        ones += popcount(a[i] & b[i])
    return ones


@kernel
def intersections(
    bitmaps: NDArray[np.uint64],
    first: NDArray[np.int64],
    sizes: NDArray[np.int64],
    table: NDArray[np.int64],
) -> None:
    """Count every combination of states, or of "any state", over the columns of one family.

    Column j has the bitmaps first_j … first_j + sizes_j − 1; choice number sizes_j stands for any state. So `table` has
    Π (sizes_j + 1) cells, of which each costs one AND and one population count per word. Combinations form a tree,
    walked depth first with one scratch bitmap per level; an empty intersection prunes everything below it.
    """
    m = len(sizes)
    n_words = bitmaps.shape[1]
    stride = np.ones(m, np.int64)
    for j in range(m - 2, -1, -1):
        stride[j] = stride[j + 1] * (sizes[j + 1] + 1)
    scratch = np.empty((m + 1, WORDS), np.uint64)
    level_of = np.empty(m + 1, np.int64)  # which scratch bitmap holds the intersection above column j
    cell_of = np.empty(m + 1, np.int64)  # the cell so far, with "any" below column j
    choice = np.empty(m, np.int64)
    anything = np.int64(0)
    for j in range(m):
        anything += sizes[j] * stride[j]
    for begin in range(0, n_words, WORDS):
        width = min(WORDS, n_words - begin)
        scratch[0, :width] = ~np.uint64(0)
        level_of[0] = 0
        cell_of[0] = anything
        choice[0] = -1
        j = 0
        while j >= 0:
            choice[j] += 1
            if choice[j] > sizes[j]:
                j -= 1
                continue
            above = scratch[level_of[j], :width]
            if choice[j] == sizes[j]:  # any state of this column
                if j + 1 < m:
                    level_of[j + 1] = level_of[j]
                    cell_of[j + 1] = cell_of[j]
                    j += 1
                    choice[j] = -1
                continue
            words = bitmaps[first[j] + choice[j], begin : begin + width]
            cell = cell_of[j] - (sizes[j] - choice[j]) * stride[j]
            if j + 1 == m:
                table[cell] += common(above, words)
                continue
            ones = intersect(above, words, scratch[j + 1, :width])
            table[cell] += ones
            if ones > 0:
                level_of[j + 1] = j + 1
                cell_of[j + 1] = cell
                j += 1
                choice[j] = -1
