"""Logistic regression against scikit-learn's L-BFGS, both with the same prior and their default tolerances."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import sklearn
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from bayeslearn import LogisticClassifier
from bench.harness import Work

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Rows, columns and classes.
SHAPES = ((100_000, 50, 2), (100_000, 50, 3), (100_000, 50, 10), (20_000, 26, 26))


def works(*, quick: bool) -> Iterator[Work]:
    for n, columns, classes in SHAPES:
        yield softmax(n // 10 if quick else n, columns, classes)


def softmax(n: int, columns: int, classes: int) -> Work:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, columns))
    y = (X @ rng.normal(size=(columns, classes)) * 0.3 + rng.gumbel(size=(n, classes))).argmax(axis=1)

    def agree(ours: LogisticClassifier, theirs: LogisticRegression) -> bool:
        return log_loss(y, ours.predict_proba(X)) < log_loss(y, theirs.predict_proba(X)) + 1e-4

    return Work(
        f"logistic, {n:,} x {columns}, {classes} classes", "LogisticRegression", sklearn.__version__,
        lambda: LogisticClassifier().fit(X, y), lambda: LogisticRegression().fit(X, y), agree,
        1 if classes > 2 else 0.5,
    )  # fmt: skip
