"""Gaussian mixtures against scikit-learn's: the same start, the same number of iterations, the same log likelihood.

Both are maximum likelihood; and ours may not take more memory. The last line is 10,000,000 rows that come in batches,
of which only one is in memory at a time; there the peer has a tenth of the rows, for it must hold them all.

The number of components is chosen by BIC: by splits and merges, against a sweep of the peer with as many starts. Ours
must find as good a BIC.
"""

from __future__ import annotations

import tracemalloc
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import sklearn
from sklearn.exceptions import ConvergenceWarning as PeerWarning
from sklearn.mixture import GaussianMixture as Peer

from bayeslearn.mixture import Batches, MixtureModel, fit_mixture
from bench.harness import Work

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

COLUMNS, COMPONENTS, ITERATIONS = 8, 10, 20
GOALS = {"spherical": 12, "diag": 12, "full": 20}


def covariance_of(model: Any) -> str:
    """The kind of covariance of a model, also of one of an earlier version."""
    part = model.parts[0]
    return (part.distribution if hasattr(part, "distribution") else part.family).covariance


def works(*, quick: bool) -> Iterator[Work]:
    n = 50_000 if quick else 500_000
    X = drawn(n, seed=0)
    for covariance, goal in GOALS.items():
        yield work(X, covariance, goal)
    yield in_batches(20 * n)
    yield choosing(drawn(1_000 if quick else 2_000, seed=2), "diag")


def drawn(n: int, seed: int) -> np.ndarray:
    centers = np.random.default_rng(7).normal(scale=3, size=(COMPONENTS, COLUMNS))
    rng = np.random.default_rng(seed)
    return centers[rng.integers(COMPONENTS, size=n)] + rng.normal(size=(n, COLUMNS))


def work(X: np.ndarray, covariance: str, goal: float) -> Work:
    start = fit_mixture(X[:5000], COMPONENTS, covariance_type=covariance, n_init=1, max_iter=1, tol=1e9)

    def agree(a: float, b: float) -> bool:
        smaller = peak(lambda: fitted(X, start)) <= peak(lambda: peer(X, start))
        return abs(a - b) <= 1e-9 * abs(b) and smaller

    name = f"EM, {len(X):,} x {COLUMNS}, {COMPONENTS} components, {covariance}"
    ours = lambda: fitted(X, start)  # noqa: E731
    return Work(
        name, "GaussianMixture", sklearn.__version__, ours, lambda: peer(X, start), agree, goal, most=2
    )  # fmt: skip


def in_batches(n: int) -> Work:
    size, few = n // 50, drawn(n // 10, seed=1)
    start = fit_mixture(few[:5000], COMPONENTS, covariance_type="diag", n_init=1, max_iter=1, tol=1e9)

    def ours() -> tuple[float, int]:
        data = Batches(lambda: (drawn(size, seed) for seed in range(50)))
        return fitted(data, start, iterations=2), size

    def agree(a: Any, _: Any) -> bool:
        return a[0] < 0 and peak(ours) < 20 * 8 * COLUMNS * size  # a few batches, not fifty

    name = f"EM, {n:,} rows in batches, 2 iterations"
    theirs = lambda: peer(few, start, iterations=2)  # noqa: E731
    return Work(name, "GaussianMixture", sklearn.__version__, ours, theirs, agree, 1, scale=10, most=1)


def choosing(X: np.ndarray, covariance: str) -> Work:
    """The number of components with the best BIC, up to 14."""

    def ours() -> float:
        found = fit_mixture(X, "auto", covariance_type=covariance, criterion="bic", max_components=14)
        return max(found.fit_info.selection.scores.values())

    def theirs() -> float:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PeerWarning)
            models = (
                Peer(k, covariance_type=covariance, n_init=4, tol=1e-6, max_iter=1000, random_state=0).fit(X)
                for k in range(1, 15)
            )
            return max(-model.bic(X) / 2 for model in models)

    name = f"number of components, {len(X):,} x {COLUMNS}, {covariance}"
    agree = lambda a, b: a >= b - 1  # noqa: E731 - half a nat is a start that stopped early
    return Work(name, "GaussianMixture", sklearn.__version__, ours, theirs, agree, 1, most=2)


### both sides


def fitted(data: Any, start: MixtureModel, iterations: int = ITERATIONS) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PeerWarning)
        found = fit_mixture(
            data, COMPONENTS, covariance_type=covariance_of(start), prior=None,
            init=replace(start, statistics=None), max_iter=iterations, tol=0,
        )  # fmt: skip
    return found.fit_info.log_likelihood


def peer(X: np.ndarray, start: MixtureModel, iterations: int = ITERATIONS) -> float:
    covariance = covariance_of(start)
    mean, spread = start.parameters[0]
    model = Peer(
        COMPONENTS, covariance_type=covariance, max_iter=iterations, tol=0,
        reg_covar=0, weights_init=start.weights, means_init=mean,
        precisions_init=np.linalg.inv(spread) if covariance == "full" else 1 / spread,
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PeerWarning)
        return float(model.fit(X).score(X) * len(X))


def peak(job: Callable[[], Any]) -> int:
    """The most bytes that arrays took at once."""
    tracemalloc.start()
    try:
        job()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
