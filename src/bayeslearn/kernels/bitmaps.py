"""Cells of a family as bitmaps: a bit for each row, made from the bitmaps of states.

bits of a cell      those of all its states at once            rows in it      the ones among them
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayeslearn.kernels._jit import inner
from bayeslearn.kernels.contingency import common, intersect

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.kernels.family_cells import Counts

#: Words of a bitmap that are worked on at a time, so that they stay near.
WORDS = 256


@inner
def all_cells(
    family: NDArray[np.int64], first: NDArray[np.int64], bitmaps: NDArray[np.uint64], whole: NDArray[np.float64]
) -> NDArray[np.uint64]:
    """The rows of every cell, and how many they are in `whole`; those of empty cells mean nothing.

    Cells of the first columns are split by the next one, from the last cell to the first: each makes room for its own
    before it is overwritten.
    """
    bits = np.empty((len(whole), bitmaps.shape[1]), np.uint64)
    bits[0], whole[0], cells = ~np.uint64(0), np.inf, 1
    for column in family:
        base, size = first[column], first[column + 1] - first[column]
        for c in range(cells - 1, -1, -1):
            above = whole[c]
            for k in range(size - 1, -1, -1):
                at = c * size + k
                whole[at] = intersect(bits[c], bitmaps[base + k], bits[at]) if above > 0 else 0
        cells *= size
    return bits


@inner
def some_cells(
    cells: NDArray[np.int64],
    family: NDArray[np.int64],
    sizes: NDArray[np.int64],
    first: NDArray[np.int64],
    bitmaps: NDArray[np.uint64],
) -> NDArray[np.uint64]:
    """The rows of some cells: those that are in all of their states."""
    members = members_of(cells, family, sizes, first)
    bits = np.empty((len(cells), bitmaps.shape[1]), np.uint64)
    for c in range(len(cells)):
        bits[c] = bitmaps[members[c, 0]]
        for k in range(1, members.shape[1]):
            bits[c] &= bitmaps[members[c, k]]
    return bits


@inner
def members_of(
    cells: NDArray[np.int64], family: NDArray[np.int64], sizes: NDArray[np.int64], first: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The states, by their bitmaps, that make up each cell."""
    members = np.empty((len(cells), len(family)), np.int64)
    for c in range(len(cells)):
        left = cells[c]
        for k in range(len(family) - 1, -1, -1):
            members[c, k] = first[family[k]] + left % sizes[family[k]]
            left //= sizes[family[k]]
    return members


@inner
def extend_by_bitmaps(
    bits: NDArray[np.uint64],
    place: NDArray[np.int64],
    bitmaps: NDArray[np.uint64],
    states: NDArray[np.int64],
    table: Counts,
) -> None:
    """table[place_c, s] += rows that are in bits[c] and in the bitmap of s."""
    for begin in range(0, bits.shape[1], WORDS):
        end = min(begin + WORDS, bits.shape[1])
        for s in states:
            some = bitmaps[s, begin:end]
            for c in range(len(bits)):
                table[place[c], s] += common(bits[c, begin:end], some)
