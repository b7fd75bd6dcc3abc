"""Counts of words to sums over classes, and to scores of classes: sparse rows by dense tables with words first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayeslearn.kernels._jit import kernel

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@kernel
def add_labeled(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    counts: NDArray[Any],
    labels: NDArray[np.int64],
    weights: NDArray[np.float64],
    low: int,
    high: int,
    into: NDArray[np.float64],
) -> None:
    """into[w, labels[d]] += weights[d] · n_dw for the labels from `low` to below `high`; a label of −1 is missing."""
    for d in range(len(labels)):
        k = labels[d]
        if low <= k < high:
            for i in range(indptr[d], indptr[d + 1]):
                into[indices[i], k] += weights[d] * counts[i]


@kernel
def add_shared(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    counts: NDArray[Any],
    shares: NDArray[np.float64],
    low: int,
    high: int,
    into: NDArray[np.float64],
) -> None:
    """into[w, k] += shares[d, k] · n_dw for the classes from `low` to below `high`."""
    for d in range(len(shares)):
        for i in range(indptr[d], indptr[d + 1]):
            n = counts[i]
            row = into[indices[i]]
            for k in range(low, high):
                row[k] += n * shares[d, k]


@kernel
def score_documents(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    counts: NDArray[Any],
    logs: NDArray[np.float64],
    first: int,
    into: NDArray[np.float64],
) -> None:
    """into[d − first, k] += Σ_w n_dw logs[w, k] for as many documents as `into` has rows, from `first` on."""
    for d in range(len(into)):
        out = into[d]
        for i in range(indptr[first + d], indptr[first + d + 1]):
            n = counts[i]
            row = logs[indices[i]]
            for k in range(len(out)):
                out[k] += n * row[k]
