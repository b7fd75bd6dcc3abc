"""Sequences as arrays: rows one after the other, and how many belong to each sequence.

cells    (rows, …)   observations in their working form, as the emissions have them
lengths  (m,)        rows of each sequence
weights  (m,)        the weight of each, or None for 1
known    (rows,)     the known state of each row, −1 for unknown ones; or None
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import EmptyTableError, ParameterError, ShapeError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

R = TypeVar("R")

#: The number of sequences side by side: the lanes of the kernels.
LANES = 8

#: The minimum number of rows of a task.
TASK_ROWS = 16_384


class Lanes(NamedTuple):
    """Up to eight sequences, the longest first; lanes without one have length 0."""

    which: NDArray[np.intp]
    starts: NDArray[np.int64]
    lengths: NDArray[np.int64]
    sample_weight: NDArray[np.float64]

    def after(self, t: int, steps: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where a block of steps begins in each lane, and how many of them it has."""
        if t == 0 and self.lengths[0] <= steps:
            return self.starts, self.lengths
        return self.starts + t, np.minimum(np.maximum(self.lengths - t, 0), steps)


@dataclass(frozen=True, eq=False)
class Sequences:
    """Sequences in their working form; see the module for the parts."""

    cells: NDArray[Any]
    lengths: NDArray[np.int64]
    ids: tuple[Any, ...]
    sample_weight: NDArray[np.float64] | None = None
    known_states: NDArray[np.int32] | None = None
    #: The position of each row in the given data, if sequences were brought together.
    order: NDArray[np.intp] | None = None

    def __post_init__(self) -> None:
        if not np.ndim(self.cells):
            raise ShapeError(f"expected a row for each observation, got {self.cells!r:.60}")
        n = len(self.cells)
        lengths = validation.lengths("lengths", self.lengths, n, of="rows", min_value=1)
        parts: dict[str, Any] = {"cells": self.cells, "lengths": lengths}
        if self.known_states is not None:
            parts["known_states"] = validation.indices("known_states", self.known_states, 2**31, min_value=-1).astype(
                np.int32
            )
        if self.sample_weight is not None:
            parts["sample_weight"] = validation.weights(self.sample_weight, len(lengths))
        if self.order is not None:
            parts["order"] = validation.indices("order", self.order, n)
        for name, size in (("known_states", n), ("order", n)):
            if name in parts and parts[name].shape != (size,):
                raise ShapeError(f"expected `{name}` of shape ({size},), got {parts[name].shape}")
        for name, part in parts.items():
            object.__setattr__(self, name, validation.owned(part))

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def n_rows(self) -> int:
        """Rows of all sequences."""
        return len(self.cells)

    @property
    def total_weight(self) -> float:
        """The weighted number of sequences."""
        return float(len(self) if self.sample_weight is None else self.sample_weight.sum())

    @property
    def n_missing(self) -> int:
        """The number of missing observations."""
        return int((np.isnan(self.cells) if self.cells.dtype.kind == "f" else self.cells < 0).sum())

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """The first row of each sequence."""
        return np.concatenate([[0], np.cumsum(self.lengths)[:-1]]).astype(np.int64)

    def rows(self, i: int) -> slice:
        """The rows of one sequence."""
        return slice(int(self.starts[i]), int(self.starts[i] + self.lengths[i]))

    def as_given(self, values: NDArray[Any]) -> NDArray[Any]:
        """Values of rows, in the order of the given rows."""
        if self.order is None:
            return values
        found = np.empty_like(values)
        found[self.order] = values
        return found

    def fold(self, collect: Callable[[Sequences], R]) -> R:
        """Apply `collect` to all sequences, which are one batch."""
        return collect(self)

    @property
    def sample(self) -> Sequences:
        """Sequences for initial values: all of them."""
        return self

    @cached_property
    def tasks(self) -> list[list[Lanes]]:
        """Sequences of like length side by side, in tasks of about equal size that depend on the data alone."""
        order = np.argsort(-self.lengths, kind="stable")
        tasks: list[list[Lanes]] = [[]]
        rows = 0
        for first in range(0, len(order), LANES):
            index = order[first : first + LANES]
            if rows >= TASK_ROWS:
                tasks.append([])
                rows = 0
            tasks[-1].append(self._side_by_side(index))
            rows += int(self.lengths[index].sum())
        return tasks

    @property
    def stretches(self) -> list[slice]:
        """Sequences that follow each other, in stretches of about equal size."""
        ends = np.cumsum(self.lengths)
        cuts = np.unique(np.searchsorted(ends, np.arange(0, self.n_rows, TASK_ROWS), side="right"))
        return [slice(int(a), int(b)) for a, b in pairwise([*cuts, len(self)])]

    def _side_by_side(self, index: NDArray[np.intp]) -> Lanes:
        starts, lengths, weights = np.zeros(LANES, np.int64), np.zeros(LANES, np.int64), np.zeros(LANES)
        starts[: len(index)], lengths[: len(index)] = self.starts[index], self.lengths[index]
        weights[: len(index)] = 1.0 if self.sample_weight is None else self.sample_weight[index]
        return Lanes(index, starts, lengths, weights)


def checked_lengths(lengths: ArrayLike | None, n: int) -> NDArray[np.int64]:
    """Whole numbers that are at least 1 and add up to the rows; one sequence by default."""
    if n == 0:
        raise EmptyTableError("there are no observations: a sequence has at least one row")
    if lengths is None:
        return np.array([n])
    found = validation.whole_numbers("lengths", lengths)
    if (found < 1).any():
        where = validation.first_position(found < 1)
        raise ParameterError(
            f"sequence {where} has length {found[where]}: a sequence has at least one row",
            hint="remove sequences without rows",
        )
    return validation.lengths("lengths", found, n, of="rows", min_value=1)
