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
        n = 0
        for w in range(bits.shape[1]):
            n += popcount(bits[c, w])
        whole[c] = n


@inner
def extend_by_bitmaps(
    bits: NDArray[np.uint64],
    place: NDArray[np.int64],
    bitmaps: NDArray[np.uint64],
    states: NDArray[np.int64],
    table: NDArray[np.float64],
) -> None:
    """table[place_c, s] += rows that are in bits[c] and in the bitmap of s."""
    last = len(states) - 1
    for begin in range(0, bits.shape[1], WORDS):
        end = min(begin + WORDS, bits.shape[1])
        for k in range(0, len(states), 4):
            four = (states[k], states[min(k + 1, last)], states[min(k + 2, last)], states[min(k + 3, last)])
            for c in range(len(bits)):
                n0, n1, n2, n3 = common_ones(bits, c, bitmaps, four, begin, end)
                row = place[c]
                table[row, four[0]] += n0
                if k + 1 <= last:
                    table[row, four[1]] += n1
                if k + 2 <= last:
                    table[row, four[2]] += n2
                if k + 3 <= last:
                    table[row, four[3]] += n3


@inner
def common_ones(
    a: NDArray[np.uint64], i: int, b: NDArray[np.uint64], j: tuple[int, int, int, int], begin: int, end: int
) -> tuple[int, int, int, int]:
    """The ones that one bitmap shares with each of four within some words: four at a time keep the machine busy."""
    n0, n1, n2, n3 = 0, 0, 0, 0
    j0, j1, j2, j3 = j
    for w in range(begin, end):
        word = a[i, w]
        n0 += popcount(word & b[j0, w])
        n1 += popcount(word & b[j1, w])
        n2 += popcount(word & b[j2, w])
        n3 += popcount(word & b[j3, w])
    return n0, n1, n2, n3
