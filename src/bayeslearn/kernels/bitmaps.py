"""Cells of a family as bitmaps: a bit for each row, made from the bitmaps of states.

bits of a cell      those of all its states at once            rows in it      the ones among them
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayeslearn.kernels._jit import inner, popcount

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Words of a bitmap that are worked on at a time, so that they stay near.
WORDS = 256


@inner
def cell_bitmaps(
    cells: NDArray[np.int64],
    family: NDArray[np.int64],
    sizes: NDArray[np.int64],
    first: NDArray[np.int64],
    bitmaps: NDArray[np.uint64],
) -> NDArray[np.uint64]:
    """The rows of each cell: those that are in all of its states."""
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
def count_ones(bits: NDArray[np.uint64], whole: NDArray[np.float64]) -> None:
    """The rows of each cell."""
    for c in range(len(bits)):
        whole[c] = common_ones(bits, c, bits, c, 0, bits.shape[1])


@inner
def extend_by_bitmaps(
    bits: NDArray[np.uint64],
    place: NDArray[np.int64],
    bitmaps: NDArray[np.uint64],
    states: NDArray[np.int64],
    table: NDArray[np.float64],
) -> None:
    """table[place_c, s] += rows that are in bits[c] and in the bitmap of s."""
    for begin in range(0, bits.shape[1], WORDS):
        end = min(begin + WORDS, bits.shape[1])
        for s in states:
            for c in range(len(bits)):
                table[place[c], s] += common_ones(bits, c, bitmaps, s, begin, end)


@inner
def common_ones(a: NDArray[np.uint64], i: int, b: NDArray[np.uint64], j: int, begin: int, end: int) -> int:
    """The ones that two bitmaps share within some words."""
    n = 0
    for w in range(begin, end):
        n += popcount(a[i, w] & b[j, w])
    return n
