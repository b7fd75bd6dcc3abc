"""How good answers are, from sums that batches bring."""

from __future__ import annotations

from bayeslearn.errors import DataError


def share(right: float, total: float) -> float:
    """The weight of the rows that are predicted right, of those that have a label.

    >>> share(3.0, 4.0)
    0.75
    """
    if not total > 0:
        raise DataError("no row that counts has a label to judge by", hint="give rows whose class is known")
    return float(right / total)
