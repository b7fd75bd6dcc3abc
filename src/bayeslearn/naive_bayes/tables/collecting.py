"""The statistics of all columns and classes, in one pass over the rows.

    categorical   n[c, x] = Σ w        normal   n, x̄, M of each class        others   what their distributions gather

Blocks are collected apart, on both cores, and put together in their order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.components import collect_labels, collect_shares, in_total

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from bayeslearn.components import Component
    from bayeslearn.distributions import Bundle
    from bayeslearn.naive_bayes.tables.model import NaiveBayes
    from bayeslearn.naive_bayes.tables.rows import Cells, Rows


def collect(
    columns: Sequence[Component],
    rows: Rows,
    labels: NDArray[np.int32],
    n_classes: int,
    weights: NDArray[np.float64] | None = None,
    parameters: Sequence[Any] | None = None,
) -> Bundle:
    """The statistics of every column; a row of label −1 is left out."""

    def block(part: slice, cells: Cells) -> list[Any]:
        w = np.ones(part.stop - part.start) if weights is None else weights[part]
        return collect_labels(columns, cells, labels[part], w, n_classes, parameters)

    return in_total(columns, rows.blocks(block), n_classes)


def collect_shared(
    columns: Sequence[Component],
    rows: Rows,
    shares: NDArray[np.float64],
    weights: NDArray[np.float64] | None = None,
    parameters: Sequence[Any] | None = None,
) -> Bundle:
    """The same when a row belongs to all classes, to each by its share (rows, classes)."""

    def block(part: slice, cells: Cells) -> list[Any]:
        parts = shares[part] if weights is None else shares[part] * weights[part, None]
        return collect_shares(columns, cells, np.ascontiguousarray(parts.T), parameters)

    return in_total(columns, rows.blocks(block), shares.shape[1])


def count_labels(
    labels: NDArray[np.int32], n_classes: int, weights: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """The weight of each class."""
    seen = labels >= 0
    w = None if weights is None else weights[seen]
    return np.bincount(labels[seen], w, minlength=n_classes).astype(np.float64)


def weighing_parameters(model: NaiveBayes) -> list[Any] | None:
    """The parameters of columns whose cases count by these, None for others; None before anything was seen."""
    if not model.cases or all(c.distribution.n_passes == 1 for c in model.columns):
        return None
    posteriors = [model.posterior(c.name) if c.distribution.n_passes > 1 else None for c in model.columns]
    return [
        None if posterior is None else c.distribution.estimate(posterior)
        for c, posterior in zip(model.columns, posteriors, strict=True)
    ]
