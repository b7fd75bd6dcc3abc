"""Naive Bayes over tables: what the classes show in one column, and what one column says of the classes.

    n[x, c] = Σ_i w_i [x_i = x, c_i = c]        n_c, x̄_c, M_c = Σ_{i in c} w_i, …        ln P(c, row) += ln p(x | c)

A column of a block of rows at a time: the block stays in the cache while its columns pass, and a table is read once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayeslearn.kernels._jit import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray


@kernel
def count_classes(
    codes: NDArray[np.signedinteger],
    labels: NDArray[np.int32],
    weights: NDArray[np.float64],
    counts: NDArray[np.float64],
) -> None:
    """Add the weight of every row to counts[code + 1, label]; a label of −1 is nobody's."""
    for i in range(len(codes)):
        if labels[i] >= 0:
            counts[codes[i] + 1, labels[i]] += weights[i]


@kernel
def class_moments(
    x: NDArray[np.float64],
    labels: NDArray[np.int32],
    weights: NDArray[np.float64],
    moments: NDArray[np.float64],
) -> None:
    """The weight, the mean and the squared deviations of each class into `moments` (3, classes), in two passes."""
    n, mean, m2 = moments[0], moments[1], moments[2]
    n[:] = 0.0
    mean[:] = 0.0
    m2[:] = 0.0
    for i in range(len(x)):
        c = labels[i]
        if c >= 0 and not np.isnan(x[i]):
            n[c] += weights[i]
            mean[c] += weights[i] * x[i]
    slip = np.zeros(len(n))  # what rounding left of the mean
    for c in range(len(n)):
        if n[c] > 0:
            mean[c] /= n[c]
    for i in range(len(x)):
        c = labels[i]
        if c >= 0 and not np.isnan(x[i]):
            d = x[i] - mean[c]
            slip[c] += weights[i] * d
            m2[c] += weights[i] * d * d
    for c in range(len(n)):
        if n[c] > 0:
            slip[c] /= n[c]
            mean[c] += slip[c]
            m2[c] = max(m2[c] - n[c] * slip[c] * slip[c], 0.0)


@kernel
def add_state_logs(codes: NDArray[np.signedinteger], table: NDArray[np.float64], joint: NDArray[np.float64]) -> None:
    """joint[c, i] += table[c, code_i + 1]: the first entry is that of a missing cell."""
    for c in range(len(table)):
        logs, row = table[c], joint[c]
        for i in range(len(codes)):
            row[i] += logs[codes[i] + 1]


@kernel
def add_normal_logs(x: NDArray[np.float64], parts: NDArray[np.float64], joint: NDArray[np.float64]) -> None:
    """joint[c, i] += level_c − half_c (x_i − mean_c)², with parts[c] = mean, half, level; nothing where x is NaN."""
    for c in range(len(parts)):
        mean, half, level = parts[c]
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
    """Add each row to counts[label, s, t] for its states s and t of every two columns, s = t for one by itself.

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
    """joint[i, c] = ln Σ_j P(c, x_j) Π_k P(x_k | c, x_j) over columns j that are seen and have something to say.

    `parent` (states, classes) is −inf for all classes of a state that cannot lead; `child` is (states, states,
    classes). Where no column leads, the row is left as it is.
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
