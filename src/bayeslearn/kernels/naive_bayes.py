"""Naive Bayes over tables: counts of a column given the classes, and log likelihoods of the classes given a column.

    n[x, c] = Σ_i w_i [x_i = x, c_i = c]        n_c, x̄_c, M_c = Σ_{i in c} w_i, …        ln P(c, row) += ln p(x | c)

Cells are columns of a block of rows, (columns, rows): the block stays in the cache while its columns pass, and a table
is read once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayeslearn.kernels._jit import inner, kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray


#: Rows of a class whose mean is the center of all others in a block.
FIRST = 16


@kernel
def count_classes(
    codes: NDArray[np.signedinteger],
    labels: NDArray[np.int32],
    weights: NDArray[np.float64],
    counts: NDArray[np.float64],
) -> None:
    """Add the weight of every row i to counts[j, code_ji + 1, label_i]; a label of −1 is missing."""
    for j in range(len(codes)):
        column, table = codes[j], counts[j]
        for i in range(len(labels)):
            if labels[i] >= 0:
                table[column[i] + 1, labels[i]] += weights[i]


@kernel
def class_moments(
    cells: NDArray[np.float64],
    labels: NDArray[np.int32],
    weights: NDArray[np.float64],
    moments: NDArray[np.float64],
) -> None:
    """The weight, the mean and the squared deviations of each column and class into `moments` (columns, 3, classes)."""
    for j in range(len(cells)):
        column_moments(cells[j], labels, weights, moments[j])


@inner
def column_moments(
    x: NDArray[np.float64],
    labels: NDArray[np.int32],
    weights: NDArray[np.float64],
    moments: NDArray[np.float64],
) -> None:
    """The moments of one column.

    Deviations are from the mean of the first rows of the class: near enough to its own for nothing to be lost.
    """
    n_classes = moments.shape[1]
    seen, shift = np.zeros(n_classes), np.zeros(n_classes)
    sums = np.zeros((2, 3, n_classes))  # two of each: equal classes in a row need not wait for each other
    found = 0
    for i in range(len(x)):
        c = labels[i]
        if c >= 0 and weights[i] > 0 and not np.isnan(x[i]) and seen[c] < FIRST:
            seen[c] += 1
            shift[c] += x[i]
            found += seen[c] == FIRST
            if found == n_classes:
                break
    for c in range(n_classes):
        shift[c] /= max(seen[c], 1.0)
    for i in range(len(x)):
        c = labels[i]
        if c >= 0 and not np.isnan(x[i]):
            part, d = sums[i & 1], x[i] - shift[c]
            part[0, c] += weights[i]
            part[1, c] += weights[i] * d
            part[2, c] += weights[i] * d * d
    for c in range(n_classes):
        n = sums[0, 0, c] + sums[1, 0, c]
        moments[0, c] = n
        slip = (sums[0, 1, c] + sums[1, 1, c]) / n if n > 0 else 0.0
        moments[1, c] = shift[c] + slip if n > 0 else 0.0
        moments[2, c] = max(sums[0, 2, c] + sums[1, 2, c] - n * slip * slip, 0.0) if n > 0 else 0.0


@kernel
def best_class(joint: NDArray[np.float64], best: NDArray[np.int64]) -> None:
    """The class of the highest joint[c, i] for every row, the first when tied."""
    best[:] = 0
    top = joint[0].copy()
    for c in range(1, len(joint)):
        row = joint[c]
        for i in range(len(best)):
            best[i] = c if row[i] > top[i] else best[i]
            top[i] = max(row[i], top[i])


@kernel
def see_values(x: NDArray[np.int64], low: NDArray[np.int64], start: NDArray[np.int64], seen: NDArray[np.uint8]) -> int:
    """Mark the whole numbers that the columns show, from low_j on at start_j; how many lie outside of the marks."""
    outside = 0
    for i in range(len(x)):
        for j in range(x.shape[1]):
            place = x[i, j] - low[j]
            if 0 <= place < start[j + 1] - start[j]:
                seen[start[j] + place] = 1
            else:
                outside += 1
    return outside


@kernel
def code_values(
    x: NDArray[np.int64],
    low: NDArray[np.int64],
    start: NDArray[np.int64],
    states: NDArray[np.signedinteger],
    codes: NDArray[np.signedinteger],
) -> None:
    """codes[j, i] = the state of x[i, j], and the one at the very start of its column if it has none."""
    for j in range(x.shape[1]):
        first, other = start[j] + 1, states[start[j]]
        size = start[j + 1] - first
        for i in range(len(x)):
            place = x[i, j] - low[j]
            codes[j, i] = states[first + place] if 0 <= place < size else other


@kernel
def add_state_logs(codes: NDArray[np.signedinteger], tables: NDArray[np.float64], joint: NDArray[np.float64]) -> None:
    """joint[c, i] += Σ_j tables[j, c, code_ji + 1]: the first entry is that of a missing cell."""
    for j in range(len(codes)):
        column = codes[j]
        for c in range(len(joint)):
            logs, row = tables[j, c], joint[c]
            for i in range(len(column)):
                row[i] += logs[column[i] + 1]


@kernel
def add_normal_logs(cells: NDArray[np.float64], parts: NDArray[np.float64], joint: NDArray[np.float64]) -> None:
    """joint[c, i] += Σ_j level − half (x_ji − mean)², with parts[j, c] = mean, half, level; nothing where x is NaN."""
    for j in range(len(cells)):
        x = cells[j]
        for c in range(len(joint)):
            mean, half, level = parts[j, c, 0], parts[j, c, 1], parts[j, c, 2]
            row = joint[c]
            for i in range(len(x)):
                d = x[i] - mean
                log_p = level - half * d * d
                row[i] += 0.0 if np.isnan(log_p) else log_p


@kernel
def count_pairs(
    codes: NDArray[np.signedinteger],
    start: NDArray[np.int64],
    labels: NDArray[np.int32],
    weights: NDArray[np.float64],
    counts: NDArray[np.float64],
) -> None:
    """Add each row to counts[label, s, t] for its states s and t of every two columns, s = t for a single column.

    The states of column j begin at start_j. Only pairs in the order of the columns are filled.
    """
    d = len(codes)
    for i in range(codes.shape[1]):
        if labels[i] < 0:
            continue
        table = counts[labels[i]]
        for j in range(d):
            if codes[j, i] >= 0:
                row = table[start[j] + codes[j, i]]
                for k in range(j, d):
                    if codes[k, i] >= 0:
                        row[start[k] + codes[k, i]] += weights[i]


@kernel
def average_parents(
    codes: NDArray[np.signedinteger],
    start: NDArray[np.int64],
    parent: NDArray[np.float64],
    child: NDArray[np.float64],
    joint: NDArray[np.float64],
) -> None:
    """joint[i, c] = ln Σ_j P(c, x_j) Π_k P(x_k | c, x_j) over columns j that are observed and have a weight.

    `parent` (states, classes) is −inf for all classes of a state that cannot lead; `child` is (states, states,
    classes). Where no column leads, the row is left unchanged.
    """
    d, n_classes = len(codes), joint.shape[1]
    logs = np.empty((d, n_classes))
    seen = np.empty(d, np.int64)
    for i in range(codes.shape[1]):
        n = 0
        for j in range(d):
            if codes[j, i] >= 0:
                seen[n] = start[j] + codes[j, i]
                n += 1
        best, leads = -np.inf, 0
        for j in range(n):
            s = seen[j]
            if parent[s].max() == -np.inf:
                continue
            for c in range(n_classes):
                total = parent[s, c]
                for k in range(n):
                    if k != j:
                        total += child[s, seen[k], c]
                logs[leads, c] = total
                best = max(best, total)
            leads += 1
        if leads == 0 or best == -np.inf:
            continue
        for c in range(n_classes):
            p = 0.0
            for j in range(leads):
                p += np.exp(logs[j, c] - best)
            joint[i, c] = best + np.log(p / leads)
