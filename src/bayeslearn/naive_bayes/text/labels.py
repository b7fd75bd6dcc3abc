"""Labels of documents: as the user wrote them, and as codes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import MissingValuesError, ParameterError, ShapeError, UnknownStateError, WeightError, listed
from bayeslearn.tables.markers import is_missing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def coded(
    labels: Any, n: int, classes: Sequence[Any] | None
) -> tuple[tuple[Any, ...], NDArray[np.int64], NDArray[np.float64] | None]:
    """Classes, the code of each label, and the share of each class where shares are given in place of labels."""
    if getattr(labels, "ndim", 1) == 2:
        return _shared(labels, n, classes)
    names = listed_labels(labels)
    if len(names) != n:
        raise ShapeError(f"there are {n} documents and {len(names)} labels")
    require_labels(names)
    kinds = in_order(names) if classes is None else tuple(listed_labels(classes))
    place = {name: k for k, name in enumerate(kinds)}
    if odd := [name for name in dict.fromkeys(names) if name not in place]:
        raise UnknownStateError(f"the labels {listed(odd)} are not among the classes {listed(kinds)}")
    return kinds, np.fromiter((place[name] for name in names), np.int64, n), None


def require_labels(names: list[Any]) -> None:
    """Every document has a label."""
    for row, name in enumerate(names):
        if is_missing(name):
            raise MissingValuesError(
                f"document {row} has no label", hint="leave it out, or learn from it too, by EM", row=row
            )


def _shared(
    shares: Any, n: int, classes: Sequence[Any] | None
) -> tuple[tuple[Any, ...], NDArray[np.int64], NDArray[np.float64]]:
    shares = validation.not_negative("shares", validation.float_array("shares", shares), error=WeightError)
    if classes is None:
        raise ParameterError("shares need `classes`, a name for each column")
    if shares.shape != (n, len(classes)):
        raise ShapeError(f"expected shares of shape ({n}, {len(classes)}), got {shares.shape}")
    return tuple(listed_labels(classes)), np.zeros(0, np.int64), shares


def listed_labels(labels: Any) -> list[Any]:
    """Labels as plain Python values."""
    labels = labels.tolist() if hasattr(labels, "tolist") else labels
    if not np.iterable(labels):
        raise ShapeError(f"expected a label for each document, got {labels!r:.60}")
    return [label.item() if isinstance(label, np.generic) else label for label in labels]


def in_order(labels: Sequence[Any]) -> tuple[Any, ...]:
    """Every label once: sorted, or as they come where they cannot be compared."""
    distinct = list(dict.fromkeys(labels))
    try:
        return tuple(sorted(distinct))
    except TypeError:
        return tuple(distinct)
