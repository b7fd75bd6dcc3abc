"""The statistics of all columns and classes, in one pass over the rows.

    categorical   n[c, x] = Σ w        normal   n, x̄, M of each class        poisson   n, Σ x, Σ ln x! of each class

Blocks are collected apart, on both cores, and put together in their order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import kernels
from bayeslearn.families import Bundle, Counts, Moments, Poisson, Totals
from bayeslearn.families.assignment import Assignment
from bayeslearn.families.statistics import ratio
from bayeslearn.tables import Discrete

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from bayeslearn.naive_bayes.tables.columns import Column
    from bayeslearn.naive_bayes.tables.rows import Cells, Rows


def collect(
    columns: Sequence[Column],
    rows: Rows,
    labels: NDArray[np.int32],
    n_classes: int,
    weights: NDArray[np.float64] | None = None,
) -> Bundle:
    """The statistics of every column; a row of label −1 is left out."""

    def block(part: slice, cells: Cells) -> list[NDArray[np.float64]]:
        w = np.ones(part.stop - part.start) if weights is None else weights[part]
        return _block(columns, cells, labels[part], w, n_classes)

    return _together(columns, rows.blocks(block), n_classes)


def collect_shares(
    columns: Sequence[Column], rows: Rows, shares: NDArray[np.float64], weights: NDArray[np.float64] | None = None
) -> Bundle:
    """The same when a row belongs to all classes, to each by its share (rows, classes)."""
    n_classes = shares.shape[1]

    def block(part: slice, cells: Cells) -> list[NDArray[np.float64]]:
        parts = shares[part] if weights is None else shares[part] * weights[part, None]
        found = [
            _block(columns, cells, np.full(len(parts), c, np.int32), np.ascontiguousarray(parts[:, c]), n_classes)
            for c in range(n_classes)
        ]
        return [sum(one) for one in zip(*found, strict=True)]

    return _together(columns, rows.blocks(block), n_classes)


def count_labels(
    labels: NDArray[np.int32], n_classes: int, weights: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """The weight of each class."""
    seen = labels >= 0
    w = None if weights is None else weights[seen]
    return np.bincount(labels[seen], w, minlength=n_classes).astype(np.float64)


### blocks


def _block(
    columns: Sequence[Column],
    cells: Cells,
    labels: NDArray[np.int32],
    weights: NDArray[np.float64],
    n_classes: int,
) -> list[NDArray[np.float64]]:
    """One array for each column; columns of one kind in one go."""
    if isinstance(cells, np.ndarray) and len({c.family for c in columns}) == 1 and columns[0].family != "poisson":
        return list(_alike(columns, cells, labels, weights, n_classes))
    return [
        _counts(x, labels, weights, n_classes)
        if column.family == "poisson"
        else _alike([column], x[None], labels, weights, n_classes)[0]
        for column, x in zip(columns, cells, strict=True)
    ]


def _alike(
    columns: Sequence[Column],
    cells: NDArray[Any],
    labels: NDArray[np.int32],
    weights: NDArray[np.float64],
    n_classes: int,
) -> NDArray[np.float64]:
    """Columns that are all words or all normal."""
    if columns[0].family == "normal":
        moments = np.empty((len(columns), 3, n_classes))
        with np.errstate(invalid="ignore"):  # infinity is told of by who knows the column
            kernels.class_moments(cells, labels, weights, moments)
        return moments
    counts = np.zeros((len(columns), max(c.variable.size for c in columns) + 2, n_classes))  # type: ignore[union-attr]
    kernels.count_classes(cells, labels, weights, counts)
    return counts


def _counts(
    x: NDArray[Any], labels: NDArray[np.int32], weights: NDArray[np.float64], n_classes: int
) -> NDArray[np.float64]:
    to = Assignment(weights, labels.astype(np.intp), n_classes)
    return np.stack(Poisson().gather(x, to).arrays())


def _together(columns: Sequence[Column], parts: list[list[NDArray[np.float64]]], n_classes: int) -> Bundle:
    """The blocks of each column as one statistic."""
    if not parts:
        return zero(columns, n_classes)
    stacked = zip(columns, zip(*parts, strict=True), strict=True)
    return Bundle({column.name: _merged(column, np.stack(blocks)) for column, blocks in stacked})


def _merged(column: Column, blocks: NDArray[np.float64]) -> Any:
    if isinstance(column.variable, Discrete):
        return Counts(np.ascontiguousarray(blocks.sum(axis=0)[1 : column.variable.size + 1].T))
    if column.family == "poisson":
        return Totals(*blocks.sum(axis=0))
    n, mean, m2 = blocks.transpose(1, 0, 2)
    total = n.sum(axis=0)
    centre = ratio((n * mean).sum(axis=0), total)
    slip = ratio((n * (mean - centre)).sum(axis=0), total)  # what rounding left of the mean
    return Moments(total, centre + slip, m2.sum(axis=0) + (n * (mean - centre - slip) ** 2).sum(axis=0))


def zero(columns: Sequence[Column], n_classes: int) -> Bundle:
    """The statistics of no rows."""
    return Bundle({column.name: column.likelihood.zero((n_classes,)) for column in columns})
