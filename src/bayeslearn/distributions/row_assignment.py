"""Which share of each case goes to which row of parameters.

This is where learners differ and nothing else does: all to one row (a single distribution), one row named by a group
(a class label, a parent configuration), or a share for each row (responsibilities, expected counts).

    weights (n,)               one row of parameters,   result shape ()
    weights (n,), groups (n,)  row groups[i],            result shape (k,)
    weights (n, k)             a share for each row,     result shape (k,)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import ParameterError, ShapeError, WeightError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike, NDArray


#: The number of states or the shape of a table of parameters; None where it is not known yet.
Shape = int | tuple[int, ...] | None


@dataclass(frozen=True)
class Assignment:
    """Checked weights; see the module for the three forms. Build with :func:`assign`."""

    sample_weight: NDArray[np.float64]
    groups: NDArray[np.integer[Any]] | None = None
    n_groups: int | None = None

    @property
    def rows(self) -> tuple[int, ...]:
        """The shape of the rows of parameters, () or (k,)."""
        if self.groups is not None:
            assert self.n_groups is not None
            return (self.n_groups,)
        return self.sample_weight.shape[1:]

    def only(self, present: NDArray[np.bool_]) -> Assignment:
        """The same, with no weight on the cases that are not `present`."""
        mask = present if self.sample_weight.ndim == 1 else present[:, None]
        return Assignment(np.where(mask, self.sample_weight, 0.0), self.groups, self.n_groups)

    def sum(self, values: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Σ_i w_i values_i for every row of parameters; trailing axes of `values` are kept."""
        w = self.sample_weight
        if values is None:
            return self._bincount(w) if self.groups is not None else np.asarray(w.sum(axis=0))
        if self.groups is None:
            return np.asarray(np.tensordot(w, values, axes=(0, 0)))
        flat = values.reshape(len(values), math.prod(values.shape[1:]))
        sums = np.stack([self._bincount(w * column) for column in flat.T], axis=-1)
        return sums.reshape(*self.rows, *values.shape[1:])

    def each(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """The entry of `rows` that faces each case: its own group's, or all of them; nobody's is 0."""
        if self.groups is None:
            return rows
        nobody = np.zeros((1, *rows.shape[1:]))
        return np.concatenate([rows, nobody])[self.groups]  # a group of −1 picks the last, which is nobody's

    def total(self, faced: NDArray[np.float64]) -> NDArray[np.float64]:
        """Σ_i w_i v_i for every row of parameters, where v (n,) or (n, k) differs by the row that a case faces."""
        if self.sample_weight.ndim == 1:
            return self.sum(faced)
        return np.einsum("ik,ik->k", self.sample_weight, faced)

    def parts(self) -> Iterator[tuple[tuple[int, ...], NDArray[np.float64], NDArray[np.intp] | slice]]:
        """One row of parameters at a time: its index, the weights of its cases, and which cases they are."""
        if self.groups is not None:
            order = np.argsort(self.groups, kind="stable")
            edges = np.searchsorted(self.groups[order], np.arange(self.rows[0] + 1))
            for k in range(self.rows[0]):
                cases = order[edges[k] : edges[k + 1]]
                yield (k,), self.sample_weight[cases], cases
        elif self.sample_weight.ndim == 1:
            yield (), self.sample_weight, slice(None)
        else:
            for k in range(self.rows[0]):
                yield (k,), self.sample_weight[:, k], slice(None)

    def _bincount(self, w: NDArray[np.float64]) -> NDArray[np.float64]:
        assert self.groups is not None
        seen = self.groups >= 0
        sums = np.bincount(self.groups[seen], w[seen], minlength=self.rows[0])
        return sums.astype(np.float64)  # bincount counts in integers when nothing is left


def assign(
    n: int,
    *,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    n_groups: int | None = None,
) -> Assignment:
    """Check weights and groups for `n` cases; a group of −1 is a case that belongs nowhere."""
    if n_groups is not None:
        validation.integer("n_groups", n_groups, min_value=0)
    if sample_weight is not None and np.ndim(sample_weight) == 2:
        if groups is not None:
            raise ParameterError("give either `groups` or weights with a column per row of parameters, not both")
        return Assignment(_shares(sample_weight, n, n_groups))
    w = validation.weights(sample_weight, n)
    if groups is not None:
        return Assignment(w, *_named(groups, n, n_groups))
    if n_groups is not None:
        raise ParameterError(f"`n_groups` is {n_groups}, but no `groups` say which case goes where")
    return Assignment(w)


def _shares(sample_weight: ArrayLike, n: int, k: int | None) -> NDArray[np.float64]:
    w = validation.float_array("sample_weight", sample_weight)
    if len(w) != n or k not in {None, w.shape[1]}:
        raise ShapeError(f"expected sample_weight of shape ({n}, {'k' if k is None else k}), got {w.shape}")
    return validation.not_negative("sample_weight", w, error=WeightError)


def _named(groups: ArrayLike, n: int, k: int | None) -> tuple[NDArray[np.intp], int]:
    g = np.asarray(groups)
    if g.shape != (n,) or (n and not np.issubdtype(g.dtype, np.integer)):
        raise ShapeError(f"expected groups of shape ({n},) and whole numbers, got {g.shape} of {g.dtype}")
    g = g.astype(np.intp)
    k = int(g.max(initial=-1)) + 1 if k is None else k
    if n and not (-1 <= g.min() and g.max() < k):
        raise ParameterError(f"`groups` must lie within -1..{k - 1}, got {g.min()}..{g.max()}")
    return g, k


def paired(
    x: NDArray[np.float64], groups: ArrayLike | None, *parameters: NDArray[np.float64], event: int = 0
) -> tuple[NDArray[np.float64], ...]:
    """Cases and parameters ready to broadcast: every case against every row, or against the row its group names.

    The last `event` axes belong to one case. A case whose group is −1 becomes missing (NaN).
    """
    rows = parameters[0].ndim - event
    if groups is None:
        return (x.reshape(len(x), *[1] * rows, *x.shape[1:]), *parameters)
    if rows != 1:
        raise ShapeError(f"`groups` name one row of parameters each, but the rows have {rows} axes")
    to = assign(len(x), groups=groups, n_groups=len(parameters[0]))
    assert to.groups is not None
    nowhere = (to.groups < 0).reshape(-1, *[1] * (x.ndim - 1))
    return (np.where(nowhere, np.nan, x), *(to.each(p) for p in parameters))
