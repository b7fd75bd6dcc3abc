"""The slow, obvious twin of the counting kernels."""

from __future__ import annotations

import numpy as np


def count_row_by_row(codes, sizes, family, sample_weight=None):
    """A table with missing as the last index of every axis, filled one row at a time."""
    table = np.zeros([sizes[c] + 1 for c in family])
    for i in range(codes.shape[1]):
        table[tuple(int(codes[c, i]) for c in family)] += 1 if sample_weight is None else sample_weight[i]
    return table
