"""Sparse matrices of SciPy, whose arrays anybody may have set: their structure is checked before it is followed.

SciPy checks neither that indices are within the shape nor that offsets rise, and its own conversions follow them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import DataError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable


def checked_sparse(matrix: Any) -> Any:
    """The matrix, if its indices and offsets fit its shape; what is no sparse matrix unchanged."""
    kind = getattr(matrix, "format", None)
    if not hasattr(matrix, "tocsr"):
        return matrix
    if kind not in CHECKS:  # lists, keys or diagonals, which SciPy reads one by one
        matrix, kind = matrix.tocoo(), "coo"
    try:
        CHECKS[kind](matrix)
    except ParameterError as error:
        raise damaged(error.message) from None
    return matrix


def damaged(message: str) -> DataError:
    """What is wrong with a matrix."""
    return DataError(f"the sparse matrix is damaged: {message}", hint="build it again from its entries")


def canonical(rows: Any) -> Any:
    """Checked sparse rows with every index once and rising, without zeros; the flags of the matrix are ignored."""
    rises = np.diff(rows.indices) > 0
    starts = rows.indptr[1:-1]
    rises[starts[(starts > 0) & (starts < len(rows.indices))] - 1] = True
    if rises.all() and len(rows.indices) == rows.indptr[-1] and (rows.data != 0).all():
        return rows
    fresh = type(rows)((rows.data, rows.indices, rows.indptr), shape=rows.shape, copy=True)
    fresh.sum_duplicates()
    fresh.eliminate_zeros()
    return fresh


def _require_compressed(matrix: Any) -> None:
    """Rows or columns one after the other: offsets to the end of the entries, an index below the width for each."""
    n_major, n_minor = matrix.shape if matrix.format == "csr" else matrix.shape[::-1]
    _require_entries(matrix, n_major, n_minor, matrix.data.shape[:1], 1)


def _require_blocks(matrix: Any) -> None:
    """The same for blocks."""
    if matrix.data.ndim != 3:
        raise damaged(f"its blocks have shape {matrix.data.shape}")
    height, width = matrix.data.shape[1:]
    if not height or not width or matrix.shape[0] % height or matrix.shape[1] % width:
        raise damaged(f"its blocks of shape {(height, width)} do not fit {matrix.shape}")
    _require_entries(matrix, matrix.shape[0] // height, matrix.shape[1] // width, matrix.data.shape[:1], 3)


def _require_entries(matrix: Any, n_major: int, n_minor: int, length: tuple[int, ...], ndim: int) -> None:
    indptr, indices = np.asarray(matrix.indptr), np.asarray(matrix.indices)
    if indptr.shape != (n_major + 1,) or indices.ndim != 1 or np.ndim(matrix.data) != ndim:
        raise damaged(f"{len(indptr)} offsets do not fit the shape {matrix.shape}")
    whole = validation.whole_numbers("indptr", indptr)
    used = int(validation.offsets("indptr", whole, int(whole[-1]))[-1])
    if used > len(indices) or used > length[0]:  # more than that are spare
        raise damaged(f"its offsets end at {used}, but there are {min(len(indices), length[0])} entries")
    validation.indices("indices", validation.whole_numbers("indices", indices)[:used], n_minor)


def _require_coordinates(matrix: Any) -> None:
    """A row and a column for each entry."""
    if len(matrix.shape) != 2:
        raise damaged(f"expected two dimensions, got shape {matrix.shape}")
    for name, at, n in zip(("row", "col"), (matrix.row, matrix.col), matrix.shape, strict=True):
        if np.shape(at) != np.shape(matrix.data):
            raise damaged(f"`{name}` has shape {np.shape(at)}, its entries {np.shape(matrix.data)}")
        validation.indices(name, at, n)


CHECKS: dict[str, Callable[[Any], None]] = {
    "csr": _require_compressed,
    "csc": _require_compressed,
    "bsr": _require_blocks,
    "coo": _require_coordinates,
}
