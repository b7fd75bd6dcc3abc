"""Taking rows with holes apart, and folding what is equal.

Given what a row shows, its missing variables fall into groups that do not touch each other: two of them are in one
group when a table holds both. What a group adds to the expected counts depends only on the group and on the observed
variables beside it, so groups that look alike in many rows are inferred once, with the weight of them all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numba
import numpy as np

from bayeslearn.kernels._jit import inner, kernel, trailing_zeros

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Multipliers of the hash: odd numbers without a pattern.
MIX, SPREAD = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)

WORD = 2**64 - 1


@inner
def _mixed(h: Any, word: Any) -> Any:
    h = (h ^ word) * MIX
    return (h ^ (h >> np.uint64(29))) * SPREAD


def _mixed_integers(h: Any, word: Any) -> Any:
    mixture = (int(h) ^ int(word)) * int(MIX) & WORD
    return np.uint64((mixture ^ (mixture >> 29)) * int(SPREAD) & WORD)


#: One more word into a hash; without a compiler by whole numbers, for NumPy warns when a product is cut to 64 bits.
mixed: Any = _mixed_integers if numba.config.DISABLE_JIT else _mixed


@kernel
def neighbours(scope_start: NDArray[np.int64], scope: NDArray[np.int64], n: int) -> NDArray[np.uint64]:
    """Bit v of row u: some table holds both; a variable is beside itself."""
    near = np.zeros((n, (n + 63) // 64), np.uint64)
    for f in range(len(scope_start) - 1):
        for i in range(scope_start[f], scope_start[f + 1]):
            for j in range(scope_start[f], scope_start[f + 1]):
                near[scope[i], scope[j] >> 6] |= np.uint64(1) << np.uint64(scope[j] & 63)
    return near


@inner
def find_group(
    missing: NDArray[np.uint64],
    near: NDArray[np.uint64],
    group: NDArray[np.uint64],
    beside: NDArray[np.uint64],
    frontier: NDArray[np.uint64],
) -> bool:
    """Take one group of touching variables out of `missing`; `beside` are the observed ones next to it."""
    words = len(missing)
    first = -1
    for w in range(words):
        group[w] = beside[w] = frontier[w] = np.uint64(0)
        if first < 0 and missing[w] != np.uint64(0):
            first = (w << 6) + trailing_zeros(missing[w])
    if first < 0:
        return False
    frontier[first >> 6] = np.uint64(1) << np.uint64(first & 63)
    growing = True
    while growing:
        growing = False
        for w in range(words):
            while frontier[w] != np.uint64(0):
                v = (w << 6) + trailing_zeros(frontier[w])
                frontier[w] &= frontier[w] - np.uint64(1)
                group[w] |= np.uint64(1) << np.uint64(v & 63)
                missing[w] &= ~(np.uint64(1) << np.uint64(v & 63))
                for k in range(words):
                    new = near[v, k] & missing[k]
                    frontier[k] |= new
                    missing[k] &= ~new
                    beside[k] |= near[v, k]
                growing = True
    for w in range(words):
        beside[w] &= ~group[w]
    return True


@inner
def hash_of_group(group: NDArray[np.uint64]) -> np.uint64:
    """A number for a group."""
    h = MIX
    for w in range(len(group)):
        h = mixed(h, group[w])
    return h


@inner
def hash_of_item(codes: NDArray[np.int32], row: int, group: int, beside: NDArray[np.uint64]) -> np.uint64:
    """A number for a group and what a row shows beside it."""
    h = mixed(MIX, np.uint64(group))
    for w in range(len(beside)):
        rest = beside[w]
        while rest != np.uint64(0):
            v = (w << 6) + trailing_zeros(rest)
            rest &= rest - np.uint64(1)
            h = mixed(h, np.uint64(codes[row, v]))
    return h


@inner
def same_beside(codes: NDArray[np.int32], row: int, other: int, beside: NDArray[np.uint64]) -> bool:
    """Whether two rows show the same in these variables."""
    for w in range(len(beside)):
        rest = beside[w]
        while rest != np.uint64(0):
            v = (w << 6) + trailing_zeros(rest)
            rest &= rest - np.uint64(1)
            if codes[row, v] != codes[other, v]:
                return False
    return True


@inner
def find_group_slot(
    h: np.uint64, group: NDArray[np.uint64], groups: NDArray[np.uint64], slots: NDArray[np.int64]
) -> Any:
    """Where the group stands among the slots, or would stand."""
    slot: Any = np.int64(h & np.uint64(len(slots) - 1))
    while slots[slot] >= 0:
        same = True
        for w in range(len(group)):
            same &= groups[slots[slot], w] == group[w]
        if same:
            break
        slot = (slot + 1) & (len(slots) - 1)
    return slot


@inner
def find_item_slot(
    h: np.uint64,
    codes: NDArray[np.int32],
    row: int,
    group: int,
    beside: NDArray[np.uint64],
    item_group: NDArray[np.int64],
    item_row: NDArray[np.int64],
    slots: NDArray[np.int64],
) -> Any:
    """Where an item that looks the same stands among the slots, or would stand."""
    slot: Any = np.int64(h & np.uint64(len(slots) - 1))
    while slots[slot] >= 0:
        item = slots[slot]
        if item_group[item] == group and same_beside(codes, row, item_row[item], beside):
            break
        slot = (slot + 1) & (len(slots) - 1)
    return slot


@inner
def spread_out(hashes: NDArray[np.uint64], count: int, room: int) -> NDArray[np.int64]:
    """A table of slots for so many entries: each stands at its hash, or at the next place that is free."""
    slots = np.full(room, -1, np.int64)
    for i in range(count):
        slot = np.int64(hashes[i] & np.uint64(room - 1))
        while slots[slot] >= 0:
            slot = (slot + 1) & (room - 1)
        slots[slot] = i
    return slots


@inner
def roomier(array: NDArray[Any]) -> NDArray[Any]:
    """A copy with twice the room."""
    larger = np.empty(2 * len(array), array.dtype)
    larger[: len(array)] = array
    return larger


@kernel
def fold_rows(
    codes: NDArray[np.int32], weights: NDArray[np.float64], apart: NDArray[np.bool_], near: NDArray[np.uint64]
) -> Any:
    """Every group of missing variables of every row, equal ones folded.

    Rows that stand `apart` are not folded with others. Returns

        groups          the variables of each group, as bits
        item_group      for each item its group,
        item_row        the first row that shows it,
        item_weight     and the weight of all rows that do
        record_start    for each row where its items begin
        record_item     in this list of items
    """
    rows, n = codes.shape
    words = near.shape[1]
    missing, group = np.zeros(words, np.uint64), np.zeros(words, np.uint64)
    beside, frontier = np.zeros(words, np.uint64), np.zeros(words, np.uint64)
    groups, group_hash = np.empty((64, words), np.uint64), np.empty(64, np.uint64)
    group_slots, group_count = np.full(256, -1, np.int64), 0
    item_group, item_row = np.empty(1024, np.int64), np.empty(1024, np.int64)
    item_weight, item_hash = np.empty(1024), np.empty(1024, np.uint64)
    item_slots, item_count = np.full(4096, -1, np.int64), 0
    record_start, record_item, record_count = np.zeros(rows + 1, np.int64), np.empty(1024, np.int64), 0
    for row in range(rows):
        for w in range(words):
            missing[w] = np.uint64(0)
        for v in range(n):
            if codes[row, v] < 0:
                missing[v >> 6] |= np.uint64(1) << np.uint64(v & 63)
        while weights[row] > 0.0 and find_group(missing, near, group, beside, frontier):
            h = hash_of_group(group)
            slot = find_group_slot(h, group, groups, group_slots)
            g = group_slots[slot]
            if g < 0:
                g = group_count
                if g == len(group_hash):
                    larger = np.empty((2 * g, words), np.uint64)
                    larger[:g] = groups
                    groups, group_hash = larger, roomier(group_hash)
                    group_slots = spread_out(group_hash, g, 8 * g)
                    slot = find_group_slot(h, group, groups, group_slots)
                group_slots[slot], group_hash[g] = g, h
                groups[g] = group
                group_count += 1
            h = hash_of_item(codes, row, g, beside)
            if apart[row]:
                h = mixed(h, np.uint64(row + 1))
            slot = find_item_slot(h, codes, row, g, beside, item_group, item_row, item_slots)
            item = item_slots[slot]
            if item >= 0 and (apart[row] or apart[item_row[item]]):
                while item_slots[slot] >= 0:
                    slot = (slot + 1) & (len(item_slots) - 1)
                item = -1
            if item < 0:
                item = item_count
                if item == len(item_hash):
                    item_group, item_row = roomier(item_group), roomier(item_row)
                    item_weight, item_hash = roomier(item_weight), roomier(item_hash)
                    item_slots = spread_out(item_hash, item, 8 * item)
                    slot = np.int64(h & np.uint64(len(item_slots) - 1))
                    while item_slots[slot] >= 0:
                        slot = (slot + 1) & (len(item_slots) - 1)
                item_slots[slot], item_hash[item] = item, h
                item_group[item], item_row[item], item_weight[item] = g, row, 0.0
                item_count += 1
            item_weight[item] += weights[row]
            if record_count == len(record_item):
                record_item = roomier(record_item)
            record_item[record_count] = item
            record_count += 1
        record_start[row + 1] = record_count
    return (
        groups[:group_count], item_group[:item_count], item_row[:item_count], item_weight[:item_count],
        record_start, record_item[:record_count],
    )  # fmt: skip
