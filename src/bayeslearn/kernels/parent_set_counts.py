"""Counting many families of one child at once: parent sets of as many cells, each with one more parent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayeslearn.kernels._jit import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray


@kernel
def extend_sets(
    codes: NDArray[np.int32],
    weights: NDArray[np.float64],
    sizes: NDArray[np.int64],
    parents: NDArray[np.int64],
    base: NDArray[np.int64],
    added: NDArray[np.int64],
    start: NDArray[np.int64],
    states: int,
    table: NDArray[np.float64],
) -> None:
    """table[cell of parents[base_f] and the child, start_f + state of column added_f] = weight of such rows.

    The child is column 0; what is extended by the same base follows each other. Parents have `states` states, and a
    table of fewer rows holds those that occur.
    """
    rows, k, cells = codes.shape[1], parents.shape[1], len(table)
    numbered = states * sizes[0] > cells
    number = np.full(states if numbered else 0, -1, np.int32)
    cell = np.zeros(rows, np.int32)
    largest = 0
    for f in range(len(added)):
        largest = max(largest, sizes[added[f]])
    count = np.empty(cells * largest)
    for f in range(len(added)):
        if f == 0 or base[f] != base[f - 1]:
            cell[:] = 0
            for j in range(k):
                column = parents[base[f], j]
                for i in range(rows):
                    cell[i] = cell[i] * sizes[column] + codes[column, i]
            if numbered:
                number[:] = -1
                seen = 0
                for i in range(rows):
                    if number[cell[i]] < 0:
                        number[cell[i]] = seen
                        seen += 1
                    cell[i] = number[cell[i]]
            for i in range(rows):
                cell[i] = cell[i] * sizes[0] + codes[0, i]
        column = added[f]
        size = sizes[column]
        count[: cells * size] = 0.0
        for i in range(rows):
            count[cell[i] * size + codes[column, i]] += weights[i]
        for c in range(cells):
            for s in range(size):
                table[c, start[f] + s] = count[c * size + s]
