"""Which share of each case goes to which row of parameters.

This is where learners differ and nothing else does: all to one row (a single distribution), one row named by a group
(a class label, a parent configuration), or a share for each row (responsibilities, expected counts).

    weights (n,)               one row of parameters,   result shape ()
    weights (n,), groups (n,)  row groups[i],            result shape (k,)
    weights (n, k)             a share for each row,     result shape (k,)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import ParameterError, ShapeError, WeightError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class Assignment:
    """Checked weights; see the module for the three forms. Build with :func:`assign`."""

    weights: NDArray[np.float64]
    groups: NDArray[np.intp] | None = None
    n_groups: int | None = None

    @property
    def rows(self) -> tuple[int, ...]:
        """The shape of the rows of parameters: () or (k,)."""
        if self.groups is not None:
            assert self.n_groups is not None
            return (self.n_groups,)
        return self.weights.shape[1:]

    def only(self, present: NDArray[np.bool_]) -> Assignment:
        """The same, with no weight on the cases that are not `present`."""
        mask = present if self.weights.ndim == 1 else present[:, None]
        return Assignment(np.where(mask, self.weights, 0.0), self.groups, self.n_groups)

    def sum(self, values: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Σ_i w_i values_i for every row of parameters; trailing axes of `values` are kept."""
        w = self.weights
        if values is None:
            return self._bincount(w) if self.groups is not None else np.asarray(w.sum(axis=0))
        if self.groups is None:
            return np.asarray(np.tensordot(w, values, axes=(0, 0)))
        flat = values.reshape(len(values), -1)
        sums = np.stack([self._bincount(w * column) for column in flat.T], axis=-1)
        return sums.reshape(*self.rows, *values.shape[1:])

    def parts(self) -> Iterator[tuple[tuple[int, ...], NDArray[np.float64], NDArray[np.intp] | slice]]:
        """One row of parameters at a time: its index, the weights of its cases, and which cases they are."""
        if self.groups is not None:
            order = np.argsort(self.groups, kind="stable")
            edges = np.searchsorted(self.groups[order], np.arange(self.rows[0] + 1))
            for k in range(self.rows[0]):
                cases = order[edges[k] : edges[k + 1]]
                yield (k,), self.weights[cases], cases
        elif self.weights.ndim == 1:
            yield (), self.weights, slice(None)
        else:
            for k in range(self.rows[0]):
                yield (k,), self.weights[:, k], slice(None)

    def _bincount(self, w: NDArray[np.float64]) -> NDArray[np.float64]:
        assert self.groups is not None
        seen = self.groups >= 0
        sums = np.bincount(self.groups[seen], w[seen], minlength=self.rows[0])
        return sums.astype(np.float64)  # bincount counts in integers when nothing is left


def assign(
    n: int,
    *,
    weights: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    n_groups: int | None = None,
) -> Assignment:
    """Check weights and groups for `n` cases; a group of −1 is a case that belongs nowhere."""
    if weights is not None and np.ndim(weights) == 2:
        if groups is not None:
            raise ParameterError("give either `groups` or weights with a column per row of parameters, not both")
        w = validation.float_array("weights", weights)
        if len(w) != n:
            raise ShapeError(f"expected weights of shape ({n}, k), got {w.shape}")
        return Assignment(validation.not_negative("weights", w, error=WeightError))
    w = validation.weights(weights, n)
    if groups is None:
        return Assignment(w)
    g = np.asarray(groups)
    if g.shape != (n,) or not np.issubdtype(g.dtype, np.integer):
        raise ShapeError(f"expected groups of shape ({n},) and whole numbers, got {g.shape} of {g.dtype}")
    k = int(g.max(initial=-1)) + 1 if n_groups is None else validation.integer("n_groups", n_groups, least=0)
    if g.size and not (-1 <= g.min() and g.max() < k):
        raise ParameterError(f"`groups` must lie within -1..{k - 1}, got {g.min()}..{g.max()}")
    return Assignment(w, g.astype(np.intp), k)
