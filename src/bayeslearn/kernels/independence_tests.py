"""How far two columns are from independent within the slices that others make, for many tests in one call.

    G²  2 Σ_zxy N_zxy ln (N_zxy N_z / N_zx N_zy)                  Pearson's  Σ_zxy N_zxy (N_zxy N_z / N_zx N_zy − 1)
    degrees  Σ_z (states of x seen in z − 1) (states of y seen in z − 1)
    cells    Σ_z (states of x seen in z) (states of y seen in z)

A test is a row (x, y, z_1 … z_k) of columns. Where few cells are possible they are counted in a table, else only those
that occur are numbered, so that memory grows with the rows and not with the cells.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.kernels._jit import inner, kernel
from bayeslearn.kernels.contingency import histogram, weighted_histogram

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: The most cells of a table, and the most for each row.
MOST_CELLS, CELLS_PER_ROW = 1 << 20, 8


@kernel
def dependence(
    codes: NDArray[np.signedinteger],
    weights: NDArray[np.float64],
    sizes: NDArray[np.int64],
    tests: NDArray[np.int64],
    pearson: bool,  # noqa: FBT001 - kernels take their arguments by position
    statistic: NDArray[np.float64],
    degrees: NDArray[np.float64],
    reachable: NDArray[np.float64],
) -> None:
    """The statistic, the degrees of freedom and the reachable cells of each test.

    `weights` is empty for ones, and none is zero.
    """
    rows = codes.shape[1]
    for t in range(len(tests)):
        cells = 1.0
        for j in range(tests.shape[1]):
            cells *= sizes[tests[t, j]]
        if cells > min(MOST_CELLS, CELLS_PER_ROW * rows):
            statistic[t], degrees[t], reachable[t] = of_rows(codes, weights, sizes, tests[t], pearson)
        elif len(weights):
            table = np.zeros(int(cells))
            columns, strides, shifts = layout(sizes, tests[t])
            weighted_histogram(codes, columns, strides, shifts, weights, 0, rows, table)
            statistic[t], degrees[t], reachable[t] = of_table(table, sizes[tests[t, 0]], sizes[tests[t, 1]], pearson)
        else:
            ones = np.zeros(int(cells), np.int64)
            columns, strides, shifts = layout(sizes, tests[t])
            histogram(codes, columns, strides, shifts, 0, rows, ones)
            statistic[t], degrees[t], reachable[t] = of_table(ones, sizes[tests[t, 0]], sizes[tests[t, 1]], pearson)


@inner
def layout(
    sizes: NDArray[np.int64], test: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Columns, strides and shifts of a table (z, x, y)."""
    columns, strides = test.copy(), np.ones(len(test), np.int64)
    strides[0] = sizes[test[1]]
    stride = strides[0] * sizes[test[0]]
    for j in range(2, len(test)):
        strides[j] = stride
        stride *= sizes[test[j]]
    return columns, strides, np.zeros(len(test), np.int64)


@inner
def term(n: float, ratio: float, pearson: bool) -> float:  # noqa: FBT001
    """What n cases add to the statistic."""
    return n * (ratio - 1.0) if pearson else 2.0 * n * np.log(ratio)


@inner
def of_table(table: NDArray[Any], r_x: int, r_y: int, pearson: bool) -> tuple[float, float, float]:  # noqa: FBT001
    """From the counts of every cell."""
    statistic, degrees, cells = 0.0, 0.0, 0.0
    of_x, of_y = np.empty(r_x), np.empty(r_y)
    for begin in range(0, len(table), r_x * r_y):
        of_x[:] = 0.0
        of_y[:] = 0.0
        for x in range(r_x):
            for y in range(r_y):
                n = table[begin + x * r_y + y]
                of_x[x] += n
                of_y[y] += n
        total = of_x.sum()
        if total == 0.0:
            continue
        for x in range(r_x):
            for y in range(r_y):
                n = table[begin + x * r_y + y]
                if n > 0:
                    statistic += term(n, n * total / (of_x[x] * of_y[y]), pearson)
        seen_x, seen_y = (of_x > 0).sum(), (of_y > 0).sum()
        degrees += (seen_x - 1) * (seen_y - 1)
        cells += seen_x * seen_y
    return statistic, degrees, cells


### cells that occur


@inner
def number(ids: NDArray[np.int32], many: int, column: NDArray[np.signedinteger], size: int) -> int:
    """Number the pairs (id, state of a column) that occur, in the order in which they do; returns how many."""
    numbers = np.full(many * size, -1, np.int32)
    found = 0
    for i in range(len(ids)):
        pair = np.int64(ids[i]) * size + column[i]
        if numbers[pair] < 0:
            numbers[pair] = found
            found += 1
        ids[i] = numbers[pair]
    return found


@inner
def weigh(ids: NDArray[np.int32], many: int, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The cases of each number."""
    cases = np.zeros(many)
    for i in range(len(ids)):
        cases[ids[i]] += weights[i] if len(weights) else 1.0
    return cases


@inner
def kinds(ids: NDArray[np.int32], slices: NDArray[np.int32], many: int) -> NDArray[np.float64]:
    """How many numbers each slice has, given that they were numbered as they occur."""
    of_slice, following = np.zeros(many), 0
    for i in range(len(ids)):
        if ids[i] == following:
            of_slice[slices[i]] += 1.0
            following += 1
    return of_slice


@inner
def of_rows(
    codes: NDArray[np.signedinteger],
    weights: NDArray[np.float64],
    sizes: NDArray[np.int64],
    test: NDArray[np.int64],
    pearson: bool,  # noqa: FBT001
) -> tuple[float, float, float]:
    """Row by row, from the counts of the cells that each is in."""
    x, y = test[0], test[1]
    z, many = np.zeros(codes.shape[1], np.int32), min(1, codes.shape[1])
    for j in range(2, len(test)):
        many = number(z, many, codes[test[j]], sizes[test[j]])
    zx, zy = z.copy(), z.copy()
    many_x, many_y = number(zx, many, codes[x], sizes[x]), number(zy, many, codes[y], sizes[y])
    zxy = zx.copy()
    n_zxy = weigh(zxy, number(zxy, many_x, codes[y], sizes[y]), weights)
    n_z, n_zx, n_zy = weigh(z, many, weights), weigh(zx, many_x, weights), weigh(zy, many_y, weights)
    statistic = 0.0
    for i in range(len(z)):
        ratio = n_zxy[zxy[i]] * n_z[z[i]] / (n_zx[zx[i]] * n_zy[zy[i]])
        statistic += term(weights[i] if len(weights) else 1.0, ratio, pearson)
    seen_x, seen_y = kinds(zx, z, many), kinds(zy, z, many)
    return statistic, ((seen_x - 1.0) * (seen_y - 1.0)).sum(), (seen_x * seen_y).sum()
