"""Compile every kernel for the usual types and cache the result: ``python -m bayeslearn.kernels``."""

from __future__ import annotations

import numpy as np

from bayeslearn.kernels import counting, lanes, planning, propagation, sampling


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
    warm_inference()
    warm_sampling()


def warm_inference() -> None:
    """One variable of two states: plan, propagate, and run cases both ways."""
    two, yes = np.array([2]), np.array([True])
    table, spans = np.array([0.5, 0.5]), np.array([0, 2])
    network = (np.array([0, 1]), np.array([0]), np.array([1]), spans, table, spans, yes)
    codes, beliefs, log_p = np.full((lanes.LANES, 1), -1), np.empty((lanes.LANES, 2)), np.zeros(lanes.LANES)
    _, steps = planning.plan(*network[:3], two, np.log(two), yes, yes, np.zeros(1), 1.0, 1e9)
    propagation.propagate(network, steps, two, codes[0], table, ~yes, np.empty(2), np.empty(1), beliefs[0])
    propagation.propagate_cases(network, two, np.log(two), codes, 1.0, 1e9, beliefs, log_p)
    lanes.propagate_lanes(network, steps, two, codes, beliefs, log_p)


def warm_sampling() -> None:
    """One variable of two states: rows, their tally, and one Gibbs sweep."""
    one, zero, spans, table = np.array([1]), np.array([0]), np.array([0, 2]), np.array([0.5, 0.5])
    network = (np.array([0, 1]), zero, one, spans, table, spans, np.array([True]))
    keys, codes = np.zeros(1, np.uint64), np.zeros((1, 1), np.int8)
    sampling.sample_rows(
        network, zero, table, table, -one, table, np.array([False]), False, keys, 0, 0, 1, codes, np.zeros(1)
    )
    sampling.tally(codes, np.ones(1), zero, spans, np.zeros(2), np.zeros(2))
    touched = (np.array([0, 1]), zero, one)
    sampling.gibbs_sweeps(network, touched, zero, table, keys[0], 0, 1, zero.copy(), np.zeros((1, 2)), np.zeros((1, 2)))


if __name__ == "__main__":
    warm()
