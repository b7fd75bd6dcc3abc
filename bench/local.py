"""Locally weighted linear regression against what people write: scikit-learn's neighbors, then lstsq query by query.

Both find the same neighbors, weigh them by the tricube of their distance and fit a plane.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import sklearn
from sklearn.neighbors import NearestNeighbors

from bayeslearn.regression.local import LocalRegressionModel, fit_local
from bench.harness import Work

if TYPE_CHECKING:
    from collections.abc import Iterator

COLUMNS, NEIGHBORS = (4, 5), 50


def works(*, quick: bool) -> Iterator[Work]:
    n, queries = (20_000, 2_000) if quick else (100_000, 10_000)
    for columns in COLUMNS:
        yield planes(n, queries, columns)


def planes(n: int, queries: int, columns: int) -> Work:
    rng = np.random.default_rng(0)
    X, Q = rng.normal(size=(n, columns)), rng.normal(size=(queries, columns))
    y = np.sin(X).sum(axis=1) + 0.1 * rng.normal(size=n)
    model = fit_local(X, y, n_neighbors=NEIGHBORS, standardize=False)
    found = NearestNeighbors(n_neighbors=NEIGHBORS).fit(X)
    return Work(
        f"planes, {queries:,} queries, {n:,} x {columns}, k {NEIGHBORS}", "lstsq loop", sklearn.__version__,
        lambda: ours(model, Q), lambda: theirs(found, X, y, Q), lambda a, b: bool(np.allclose(a, b, rtol=0, atol=1e-8)),
        10, most=3,
    )  # fmt: skip


def ours(model: LocalRegressionModel, Q: np.ndarray) -> np.ndarray:
    return model.local_fits(Q, noise=False).mean


def theirs(found: NearestNeighbors, X: np.ndarray, y: np.ndarray, Q: np.ndarray) -> np.ndarray:
    distances, rows = found.kneighbors(Q)
    answers = np.empty(len(Q))
    for i, (d, near) in enumerate(zip(distances, rows, strict=True)):
        root = np.sqrt((1 - (d / d[-1]) ** 3) ** 3)
        A = np.column_stack([np.ones(len(near)), X[near] - Q[i]])
        answers[i] = np.linalg.lstsq(root[:, None] * A, root * y[near], rcond=None)[0][0]
    return answers
