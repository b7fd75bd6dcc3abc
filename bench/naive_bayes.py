"""Naive Bayes over tables against scikit-learn's: fit and predict, of states and of numbers.

Both count the same prior, so the predictions must be the same; and ours may not take more memory.
"""

from __future__ import annotations

import tracemalloc
from typing import TYPE_CHECKING, Any

import numpy as np
import sklearn
from sklearn.naive_bayes import CategoricalNB, GaussianNB

from bayeslearn import NaiveBayesClassifier
from bayeslearn.distributions import Dirichlet, NormalInverseGamma
from bench.harness import Work

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

COLUMNS, CLASSES = 20, 3


def works(*, quick: bool) -> Iterator[Work]:
    n = 100_000 if quick else 1_000_000
    rng = np.random.default_rng(0)
    y = rng.integers(0, CLASSES, n)
    states = (rng.integers(0, 6, (n, COLUMNS)) + (rng.random((n, COLUMNS)) < 0.3) * y[:, None]) % 6
    yield work(f"states, {n:,} x {COLUMNS}", "laplace", CategoricalNB(), states, y)
    none = NormalInverseGamma.none()
    yield work(f"numbers, {n:,} x {COLUMNS}", none, GaussianNB(var_smoothing=0), rng.normal(states / 3), y)


def work(name: str, prior: Any, peer: Any, X: np.ndarray, y: np.ndarray) -> Work:
    ours = NaiveBayesClassifier(prior=prior, class_prior=Dirichlet.none())

    def agree(a: np.ndarray, b: np.ndarray) -> bool:
        return bool((a == b).all()) and peak(lambda: ours.fit(X, y).predict(X)) <= peak(
            lambda: peer.fit(X, y).predict(X)
        )

    return Work(
        f"fit + predict, {name}", type(peer).__name__, sklearn.__version__, lambda: ours.fit(X, y).predict(X),
        lambda: peer.fit(X, y).predict(X), agree, 5,
    )  # fmt: skip


def peak(job: Callable[[], Any]) -> int:
    """The most bytes that arrays took at once."""
    tracemalloc.start()
    try:
        job()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
