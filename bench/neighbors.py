"""Nearest neighbors beside scikit-learn's: prediction, which is where they work, and fitting apart.

The peer has its best setting of those that finish: a k-d tree in few columns, brute force in many, both on all cores.
Leave-one-out errors of the tables in ../shared/data/tables are told first.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import sklearn
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors

from bayeslearn.neighbors import NeighborsClassifier, build_index, fit_neighbors
from bench.harness import Work

if TYPE_CHECKING:
    from collections.abc import Iterator

K = 5
TABLES = Path(__file__).resolve().parents[2] / "shared" / "data" / "tables"

#: Tables, their targets and columns that name rows.
ERRORS = {
    "iris-fisher": ("class", "classification", []),
    "wine": ("class", "classification", []),
    "zoo": ("type", "classification", ["animal_name"]),
    "auto-mpg": ("mpg", "regression", ["car_name"]),
}


@cache
def rows(n: int, d: int, queries: int) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, d)), rng.integers(0, 3, n), rng.normal(size=(queries, d))


@cache
def low_rank(n: int, d: int, queries: int) -> tuple[Any, Any]:
    """Rows as features of pictures or texts are: of few directions, with some noise."""
    rng = np.random.default_rng(0)
    directions = rng.normal(size=(12, d))
    some = rng.normal(size=(n + queries, 12)) @ directions + 0.3 * rng.normal(size=(n + queries, d))
    return some[:n], some[n:]


def classifiers(n: int, d: int, queries: int, algorithm: str) -> tuple[Any, Any, Any]:
    X, y, Q = rows(n, d, queries)
    ours = NeighborsClassifier(K, metric="euclidean", prior=0).fit(X, y)
    ours.predict(Q[:10])  # the index is built when it is first asked
    return ours, KNeighborsClassifier(K, algorithm=algorithm, n_jobs=-1).fit(X, y), Q


def predicting(n: int, d: int, queries: int, algorithm: str, goal: float, most: int) -> Work:
    ours, theirs, Q = classifiers(n, d, queries, algorithm)
    return Work(
        f"{queries:,} x {d} by {n:,}, k = {K}, predict", "scikit-learn", sklearn.__version__,
        lambda: ours.predict_proba(Q), lambda: theirs.predict_proba(Q), lambda a, b: bool(np.allclose(a, b)), goal,
        most=most,
    )  # fmt: skip


def fitting(n: int, d: int) -> Work:
    X, _, _ = rows(n, d, 10)
    return Work(
        f"index of {n:,} x {d}", "scikit-learn", sklearn.__version__, lambda: build_index(X, algorithm="kd_tree"),
        lambda: NearestNeighbors(algorithm="kd_tree").fit(X), lambda *_: True, 1, most=2,
    )  # fmt: skip


def approximate(n: int, d: int, queries: int) -> Work:
    X, Q = low_rank(n, d, queries)
    index, peer = (
        build_index(X, algorithm="approximate"),
        NearestNeighbors(n_neighbors=K, algorithm="brute", n_jobs=-1).fit(X),
    )

    def found(a: Any, b: Any) -> bool:
        return np.mean([np.isin(x, y).mean() for x, y in zip(a, b, strict=True)]) >= 0.99

    return Work(
        f"approximate, {queries:,} x {d} by {n:,}", "scikit-learn", sklearn.__version__,
        lambda: index.nearest(Q, K)[1], lambda: peer.kneighbors(Q, return_distance=False), found, 20, most=2,
    )  # fmt: skip


def exact(n: int, d: int, queries: int) -> Work:
    X, Q = low_rank(n, d, queries)
    index, peer = (
        build_index(X, algorithm="brute"),
        NearestNeighbors(n_neighbors=K, algorithm="brute", n_jobs=-1).fit(X),
    )
    return Work(
        f"exact, {queries:,} x {d} of few directions by {n:,}", "scikit-learn", sklearn.__version__,
        lambda: index.nearest(Q, K)[1], lambda: peer.kneighbors(Q, return_distance=False), np.array_equal, 8, most=3,
    )  # fmt: skip


def tables() -> None:
    """Leave-one-out errors, wrong classes or root mean squares, with plain, removed and weighted attributes."""
    for name, (target, task, ignore) in ERRORS.items():
        path = TABLES / f"{name}.csv"
        if not path.is_file():
            continue
        head = path.read_text().splitlines()[0].split(",")
        columns = [c for c in head if c not in {*ignore, target}]
        for weights in (None, "select", "auto"):
            model = fit_neighbors(str(path), target, columns=columns, task=task, feature_weights=weights)
            found = model.fit_info.leave_one_out
            print(f"# {name:12} weights {weights!s:7} k {found.best:3}  error {found.error:.4f}", flush=True)


def works(*, quick: bool) -> Iterator[Work]:
    if not quick:
        tables()
    n, m, queries, wide = (100_000, 20_000, 2_000, 500) if quick else (1_000_000, 100_000, 10_000, 2_000)
    yield predicting(n, 8, queries, "kd_tree", 1, 3)
    yield fitting(n, 8)
    yield predicting(m, 128, wide, "brute", 3, 3)
    yield exact(m, 128, wide)
    yield approximate(m, 128, wide)
