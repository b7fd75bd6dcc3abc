"""Models that keep their rows merge without counting a row twice.

    a = base + x        b = base + y        a + b = base + x + y

Every row has the name of the update that it came with: a digest of the rows and of all updates before. Names are the
same wherever the same rows were added to the same model. What is in both of two models, and what one of them was
updated from, counts once in their sum; what neither was updated from counts in each, as two sites may have observed
equal rows. :mod:`bayeslearn.distributions.lineage` does the same for models that keep statistics.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class RowLineage:
    """The update that each row came with."""

    #: The updates by name, the first ones first.
    names: tuple[str, ...]
    #: Those that the model, or one that was merged into it, was updated from.
    bases: frozenset[str]
    #: The number of the update of each row.
    rows: Rows

    def __len__(self) -> int:
        return len(self.rows)

    def to_dict(self) -> dict[str, Any]:
        """The lineage as an entry of a file."""
        return {"names": list(self.names), "bases": sorted(self.bases), "rows": self.rows}


def started(lineage: RowLineage | None, arrays: Iterable[NDArray[Any] | None], n: int) -> RowLineage:
    """The lineage of a model; one that was only fitted is made of one piece."""
    if lineage is not None:
        return lineage
    return RowLineage((digest((), arrays),), frozenset(), np.zeros(n, np.int64))


def extended(lineage: RowLineage, arrays: Iterable[NDArray[Any] | None], n: int) -> RowLineage:
    """The lineage after an update with n rows."""
    name = fresh(digest(lineage.names, arrays), lineage.names)
    rows = np.concatenate([lineage.rows, np.full(n, len(lineage.names))])
    return RowLineage((*lineage.names, name), frozenset(lineage.names), rows)


def taken(lineage: RowLineage, rows: Any) -> RowLineage:
    """The lineage of some of the rows."""
    return replace(lineage, rows=lineage.rows[rows])


def merged(
    a: RowLineage, b: RowLineage, weights_a: NDArray[np.float64], weights_b: NDArray[np.float64]
) -> tuple[Rows, Rows, RowLineage]:
    """The rows of each of two models that are in their sum, and the lineage of these.

    Of an update in both, the rows are those of the model in which they weigh more: the other has discounted or removed
    some of them.
    """
    known = {name for name in a.names if name in b.names and (name in a.bases or name in b.bases)}
    keep_a, keep_b = np.ones(len(a), bool), np.ones(len(b), bool)
    for name in known:
        mine, theirs = a.rows == a.names.index(name), b.rows == b.names.index(name)
        if weights_b[theirs].sum() > weights_a[mine].sum():
            keep_a &= ~mine
        else:
            keep_b &= ~theirs
    names = list(a.names)
    place = np.empty(len(b.names), np.int64)
    for i, name in enumerate(b.names):
        if name in known:
            place[i] = names.index(name)
        else:
            place[i] = len(names)
            names.append(fresh(name, names))
    rows = np.concatenate([a.rows[keep_a], place[b.rows[keep_b]]])
    return np.flatnonzero(keep_a), np.flatnonzero(keep_b), RowLineage(tuple(names), a.bases | b.bases, rows)


def remaining(cells: NDArray[Any], sample_weight: NDArray[np.float64], n: int) -> NDArray[np.float64]:
    """The weights of the first n rows when the others are removed from them, of equal rows the last ones first."""
    cells = cells.astype(np.float64)
    equal = np.unique(np.where(np.isnan(cells), np.inf, cells), axis=0, return_inverse=True)[1].ravel()
    mine, own = equal[:n], sample_weight[:n]
    size = int(equal.max()) + 1
    gone = np.bincount(equal[n:], sample_weight[n:], minlength=size)
    lacking = gone > np.bincount(mine, own, minlength=size) * (1 + 1e-12)
    if lacking.any():
        raise DataError(
            f"row {validation.first_position(lacking[equal[n:]])} is not among the training rows",
            hint="remove rows with the cells, targets and weights with which they were added",
        )
    order = np.lexsort((-np.arange(n), mine))
    before = np.cumsum(own[order]) - own[order]
    first = np.concatenate([[True], mine[order][1:] != mine[order][:-1]])
    before -= before[np.flatnonzero(first)][np.cumsum(first) - 1]
    left = np.empty(n)
    left[order] = own[order] - np.clip(gone[mine[order]] - before, 0, own[order])
    return np.where(left > 1e-12 * own, left, 0.0)


def digest(before: Iterable[str], arrays: Iterable[NDArray[Any] | None]) -> str:
    """The name of an update: of the rows it added, and of all updates before."""
    found = hashlib.blake2b("".join(sorted(before)).encode(), digest_size=8)
    for array in arrays:
        if array is not None:
            found.update(f"{array.shape}".encode())
            found.update(np.ascontiguousarray(array.astype(np.float64) + 0.0).tobytes())
    return found.hexdigest()


def fresh(name: str, others: Iterable[str]) -> str:
    """The name, or another one where it is taken by rows that count for themselves."""
    taken_names = set(others)
    while name in taken_names:
        name = hashlib.blake2b(name.encode(), digest_size=8).hexdigest()
    return name
