"""The cells of a family: which one each row is in, how many rows each has, and the rows of those that have few."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayeslearn.kernels._jit import inner, kernel, trailing_zeros

if TYPE_CHECKING:
    from numpy.typing import NDArray

    #: Of rows, or of their weights.
    Counts = NDArray[np.int32] | NDArray[np.float64]


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
def states_of(columns: NDArray[np.bool_], first: NDArray[np.int64], less: int) -> NDArray[np.int64]:
    """All states of some columns, or all but the last of each when there shall be one less."""
    states, k = np.empty(first[-1], np.int64), 0
    for v in range(len(columns)):
        if columns[v]:
            for s in range(first[v], first[v + 1] - less):
                states[k] = s
                k += 1
    return states[:k]


@inner
def split_of(family: NDArray[np.int64], sizes: NDArray[np.int64], added: int) -> tuple[int, int]:
    """How many cells one of the family without the column is split into, and how far they stand apart.

    With −1 for the column all cells are parts of one.
    """
    cells = 1
    for k in range(len(family) - 1, -1, -1):
        if k == added:
            return sizes[family[k]], cells
        cells *= sizes[family[k]]
    return cells, 1


@inner
def small_cells(
    whole: NDArray[np.float64], split: tuple[int, int], few: float
) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Cells whose rows are counted one by one, and the largest of each split, which is what the others leave."""
    size, stride = split
    small, largest = np.empty(len(whole), np.bool_), np.full(len(whole) // size, -1)
    for c in range(len(whole)):
        small[c] = whole[c] <= few
        b = c // (size * stride) * stride + c % stride
        if largest[b] < 0 or whole[c] > whole[largest[b]]:
            largest[b] = c
    small[largest] = False
    return small, largest


@inner
def rows_by_cell(
    cell: NDArray[np.int32], small: NDArray[np.bool_], whole: NDArray[np.float64]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The rows of small cells, sorted by cell, and the cell of each."""
    place, n = starts(small, whole)
    rows, at = np.empty(n, np.int32), np.empty(n, np.int32)
    for i in range(len(cell)):
        c = cell[i]
        if small[c]:
            rows[place[c]] = i
            at[place[c]] = c
            place[c] += 1
    return rows, at


@inner
def rows_of_bitmaps(
    bits: NDArray[np.uint64], small: NDArray[np.bool_], whole: NDArray[np.float64]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The same where cells are bitmaps."""
    n = int(whole[small].sum())
    rows, at, k = np.empty(n, np.int32), np.empty(n, np.int32), 0
    for c in range(len(bits)):
        if small[c] and whole[c] > 0:
            for w in range(bits.shape[1]):
                left = bits[c, w]
                while left != 0:
                    rows[k] = (w << 6) + trailing_zeros(left)
                    at[k] = c
                    left &= left - np.uint64(1)
                    k += 1
    return rows, at


@inner
def starts(small: NDArray[np.bool_], whole: NDArray[np.float64]) -> tuple[NDArray[np.int64], int]:
    """Where the rows of each small cell begin, and how many there are."""
    place, n = np.zeros(len(small), np.int64), 0
    for c in range(len(small)):
        place[c] = n
        if small[c]:
            n += int(whole[c])
    return place, n
