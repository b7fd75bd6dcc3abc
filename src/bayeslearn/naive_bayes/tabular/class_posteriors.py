"""From ln P(class, row), shape (classes, rows), to answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import kernels
from bayeslearn.errors import ImpossibleDataError, option

if TYPE_CHECKING:
    from numpy.typing import NDArray


def best(joint: NDArray[np.float64]) -> NDArray[np.int64]:
    """The position of the most probable class of each row, the first when tied."""
    found = np.empty(joint.shape[1], np.int64)
    kernels.best_class(joint, found)
    return found


def require_possible(joint: NDArray[np.float64], start: int) -> None:
    """Some class can show what a row shows."""
    lost = np.flatnonzero(~np.isfinite(joint.max(axis=0, initial=-np.inf)))
    if len(lost):
        raise ImpossibleDataError(
            f"row {start + int(lost[0])} has probability zero in every class",
            hint=f"learn with a prior, for instance {option('prior', 'laplace')}, or make infinite numbers missing",
            row=start + int(lost[0]),
        )


def moved(array: NDArray[np.float64], place: list[int], *, axis: int, size: int | None = None) -> NDArray[np.float64]:
    """Entries of the old states at their new places."""
    shape = list(array.shape)
    shape[axis] = shape[axis] if size is None else size
    new = np.zeros(shape)
    index: list[Any] = [slice(None)] * array.ndim
    index[axis] = place
    new[tuple(index)] = array[(slice(None),) * axis + (slice(len(place)),)]
    return new
