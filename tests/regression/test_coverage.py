"""Intervals of regressors: their share of new targets is their level, on data that the models describe."""

from __future__ import annotations

import numpy as np
import pytest

from bayeslearn import BayesianLinearRegressor, LocalRegressor, NeighborsRegressor, RBFRegressor

#: Tables, training rows and new rows of each.
TABLES, ROWS, NEW = 12, 300, 400


def coverage(make, function, level):
    """The share of new targets within the interval, over tables of their own, and its standard error."""
    shares = []
    for seed in range(TABLES):
        rng = np.random.default_rng(seed)
        X, Q = rng.uniform(-2, 2, (ROWS, 2)), rng.uniform(-1.8, 1.8, (NEW, 2))
        y, truth = (function(x) + 0.5 * rng.normal(size=len(x)) for x in (X, Q))
        low, high = make().fit(X, y).predict_interval(Q, level)
        shares.append(np.mean((low <= truth) & (truth <= high)))
    return np.mean(shares), np.std(shares) / np.sqrt(TABLES - 1)


def plane(x):
    return 1 + 2 * x[:, 0] - x[:, 1]


def level_ground(x):
    return np.zeros(len(x))


def wave(x):
    return np.sin(x[:, 0]) + x[:, 1] / 2


@pytest.mark.parametrize("level", [0.9, 0.95])
@pytest.mark.parametrize(
    ("make", "function", "bias"),
    [
        (BayesianLinearRegressor, plane, 0.0),
        (lambda: RBFRegressor(random_state=0), wave, 0.01),
        (LocalRegressor, wave, 0.01),
        (lambda: NeighborsRegressor(10), level_ground, 0.01),
    ],
    ids=["linear", "rbf", "local", "neighbors"],
)
def test_intervals_hold_their_share_of_new_targets(make, function, bias, level):
    share, error = coverage(make, function, level)
    assert abs(share - level) < 3 * error + bias, (share, error)
