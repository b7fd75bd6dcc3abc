"""A sample that is the same wherever and in whatever order batches are read: the rows with the lowest numbers.

    number(row) = a hash of its cells and of its place in the batch        lowest k of a + b = lowest k of both

Of no more than k rows all are kept, in their order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    Numbers = NDArray[np.uint64]


def row_numbers(columns: Iterable[NDArray[Any]], n: int) -> Numbers:
    """A number for each of n rows that looks random and depends on its cells and its place alone."""
    mixed = scrambled(np.arange(n, dtype=np.uint64))
    for column in columns:
        mixed = scrambled(mixed ^ bits(column))
    return mixed


def bits(column: NDArray[Any]) -> Numbers:
    """The cells as whole numbers."""
    kind = np.float64 if column.dtype.kind == "f" else np.int64
    return np.ascontiguousarray(column, dtype=kind).view(np.uint64)


def scrambled(x: Numbers) -> Numbers:
    """All bits mixed (the finish of splitmix64), so that near numbers end far apart."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        x = (x ^ (x >> np.uint64(shift))) * np.uint64(factor)
    return np.asarray(x ^ (x >> np.uint64(31)))


def lowest(numbers: Numbers, most: int) -> NDArray[np.intp]:
    """The places of the lowest numbers, in the order of the rows; the first of those that are equal."""
    if len(numbers) <= most:
        return np.arange(len(numbers))
    return np.sort(np.argsort(numbers, kind="stable")[:most])
