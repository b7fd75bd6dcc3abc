"""Compile every kernel for the usual types and cache the result: ``python -m bayeslearn.kernels``."""

from __future__ import annotations

import numpy as np

from bayeslearn.kernels import counting


def warm() -> None:
    """Call each kernel once on the smallest input."""
    codes = np.zeros((1, 1), np.int8)
    codes.flags.writeable = False  # as in a Table: numba compiles for it apart
    one, zero = np.ones(1, np.int64), np.zeros(1, np.int64)
    counting.histogram(codes, zero, one, zero, 0, 1, np.zeros(1, np.int64))
    weights = np.ones(1)
    weights.flags.writeable = False
    counting.weighted_histogram(codes, zero, one, zero, weights, 0, 1, np.zeros(1))
    counting.intersections(np.zeros((1, 1), np.uint64), zero, one, np.zeros(2, np.int64))


if __name__ == "__main__":
    warm()
