"""Group the missing values of rows, and merge equal groups.

Given what a row shows, its missing variables fall into groups that do not touch each other: two of them are in one
group when a table holds both. What a group adds to the expected counts depends only on the group and on the observed
variables next to it, so equal groups of many rows are inferred once, with their total weight.
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
def neighbors(scope_start: NDArray[np.int64], scope: NDArray[np.int64], n: int) -> NDArray[np.uint64]:
    """Bit v of row u: some table holds both; a variable is adjacent to itself."""
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
def hash_of_words(words: NDArray[np.uint64]) -> np.uint64:
    """A number for a set of variables."""
    h = MIX
    for w in range(len(words)):
        h = mixed(h, words[w])
    return h


@inner
def hash_of_item(codes: NDArray[Any], row: int, group: int, beside: NDArray[np.int64], first: int, last: int) -> Any:
    """A number for a group and the observed codes next to it; four codes make a word."""
    h, word = mixed(MIX, np.uint64(group)), np.uint64(0)
    for i in range(first, last):
        word = (word << np.uint64(16)) | np.uint64(codes[row, beside[i]])
        if (i - first) & 3 == 3:
            h, word = mixed(h, word), np.uint64(0)
    return mixed(h, word)


@inner
def same_beside(codes: NDArray[Any], row: int, other: int, beside: NDArray[np.int64], first: int, last: int) -> bool:
    """Whether two rows show the same in these variables."""
    for i in range(first, last):  # noqa: SIM110 - the compiler has no `all`
        if codes[row, beside[i]] != codes[other, beside[i]]:
            return False
    return True


@inner
def find_words(h: np.uint64, words: NDArray[np.uint64], known: NDArray[np.uint64], slots: NDArray[np.int32]) -> Any:
    """Where a set of variables stands among the slots, or would stand."""
    slot: Any = np.int64(h & np.uint64(len(slots) - 1))
    while slots[slot] >= 0:
        same = True
        for w in range(len(words)):
            same &= known[slots[slot], w] == words[w]
        if same:
            break
        slot = (slot + 1) & (len(slots) - 1)
    return slot


@inner
def free_slot(h: np.uint64, slots: NDArray[np.int32]) -> Any:
    """The next place that is free for a hash."""
    slot: Any = np.int64(h & np.uint64(len(slots) - 1))
    while slots[slot] >= 0:
        slot = (slot + 1) & (len(slots) - 1)
    return slot


@inner
def spread_out(hashes: NDArray[np.uint64], count: int, room: int) -> NDArray[np.int32]:
    """A table of slots for `count` entries: each stands at its hash, or at the next place that is free."""
    slots = np.full(room, -1, np.int32)
    for i in range(count):
        slots[free_slot(hashes[i], slots)] = i
    return slots


@inner
def roomier(array: NDArray[Any]) -> NDArray[Any]:
    """A copy with twice the room."""
    larger = np.empty(2 * len(array), array.dtype)
    larger[: len(array)] = array
    return larger


@inner
def roomier_rows(array: NDArray[Any]) -> NDArray[Any]:
    """A copy with room for twice as many rows."""
    larger = np.empty((2 * len(array), array.shape[1]), array.dtype)
    larger[: len(array)] = array
    return larger


@inner
def hole_patterns(codes: NDArray[Any], words: int) -> Any:
    """The different sets of missing variables, as bits, and which of them each row has; −1 when nothing is missing."""
    rows, n = codes.shape
    patterns, hashes, slots, count = (
        np.empty((64, words), np.uint64),
        np.empty(64, np.uint64),
        np.full(256, -1, np.int32),
        0,
    )
    pattern, missing = np.full(rows, -1, np.int32), np.zeros(words, np.uint64)
    for row in range(rows):
        some = np.uint64(0)
        for w in range(words):
            bits = np.uint64(0)
            for v in range(w << 6, min((w + 1) << 6, n)):
                bits |= np.uint64(codes[row, v] < 0) << np.uint64(v & 63)
            missing[w] = bits
            some |= bits
        if some == np.uint64(0):
            continue
        h = hash_of_words(missing)
        slot = find_words(h, missing, patterns, slots)
        if slots[slot] < 0:
            if count == len(hashes):
                patterns, hashes = roomier_rows(patterns), roomier(hashes)
                slots = spread_out(hashes, count, 8 * count)
                slot = free_slot(h, slots)
            slots[slot], hashes[count], patterns[count] = count, h, missing
            count += 1
        pattern[row] = slots[slot]
    return patterns[:count], pattern


@inner
def groups_of_patterns(patterns: NDArray[np.uint64], near: NDArray[np.uint64]) -> Any:
    """The groups, what is adjacent to each, and the groups of every pattern."""
    words = patterns.shape[1]
    group, beside, frontier = np.zeros(words, np.uint64), np.zeros(words, np.uint64), np.zeros(words, np.uint64)
    groups, hashes, slots, count = (
        np.empty((64, words), np.uint64),
        np.empty(64, np.uint64),
        np.full(256, -1, np.int32),
        0,
    )
    besides = np.empty((64, words), np.uint64)
    start, member, members = np.zeros(len(patterns) + 1, np.int64), np.empty(64, np.int64), 0
    for p in range(len(patterns)):
        missing = patterns[p].copy()
        while find_group(missing, near, group, beside, frontier):
            h = hash_of_words(group)
            slot = find_words(h, group, groups, slots)
            if slots[slot] < 0:
                if count == len(hashes):
                    groups, besides, hashes = roomier_rows(groups), roomier_rows(besides), roomier(hashes)
                    slots = spread_out(hashes, count, 8 * count)
                    slot = free_slot(h, slots)
                slots[slot], hashes[count], groups[count], besides[count] = count, h, group, beside
                count += 1
            if members == len(member):
                member = roomier(member)
            member[members] = slots[slot]
            members += 1
        start[p + 1] = members
    return groups[:count], besides[:count], start, member


@inner
def listed_bits(sets: NDArray[np.uint64]) -> Any:
    """The members of each set, one after the other."""
    start, member = np.zeros(len(sets) + 1, np.int64), np.empty(64 * sets.size, np.int64)
    for i in range(len(sets)):
        start[i + 1] = start[i]
        for w in range(sets.shape[1]):
            rest = sets[i, w]
            while rest != np.uint64(0):
                member[start[i + 1]] = (w << 6) + trailing_zeros(rest)
                rest &= rest - np.uint64(1)
                start[i + 1] += 1
    return start, member


@kernel
def fold_rows(
    codes: NDArray[Any], weights: NDArray[np.float64], apart: NDArray[np.bool_], near: NDArray[np.uint64]
) -> Any:
    """Every group of missing variables of every row, equal ones folded.

    Rows that stand `apart` are not folded with others. Returns

        groups          the variables of each group, as bits
        besides         and those adjacent to it
        item_group      for each item its group,
        item_row        the first row that shows it,
        item_weight     and the weight of all rows that do
        record_start    for each row where its items begin
        record_item     in this list of items
    """
    patterns, pattern = hole_patterns(codes, near.shape[1])
    groups, besides, member_start, member = groups_of_patterns(patterns, near)
    beside_start, beside = listed_bits(besides)
    item_group, item_row = np.empty(1024, np.int64), np.empty(1024, np.int64)
    item_weight, item_hash = np.empty(1024), np.empty(1024, np.uint64)
    slots, count, some_apart = np.full(4096, -1, np.int32), 0, apart.any()
    record_start, record_item, records = np.zeros(len(codes) + 1, np.int64), np.empty(1024, np.int64), 0
    for row in range(len(codes)):
        p = pattern[row]
        if p >= 0 and weights[row] > 0.0:
            for m in range(member_start[p], member_start[p + 1]):
                g = member[m]
                first, last = beside_start[g], beside_start[g + 1]
                h = hash_of_item(codes, row, g, beside, first, last)
                slot, item = np.int64(h & np.uint64(len(slots) - 1)), np.int64(-1)
                while slots[slot] >= 0:
                    other = np.int64(slots[slot])
                    if (
                        item_hash[other] == h
                        and item_group[other] == g
                        and not (some_apart and (apart[row] or apart[item_row[other]]))
                        and same_beside(codes, row, item_row[other], beside, first, last)
                    ):
                        item = other
                        break
                    slot = (slot + 1) & (len(slots) - 1)
                if item < 0:
                    item = np.int64(count)
                    if count == len(item_hash):
                        item_group, item_row = roomier(item_group), roomier(item_row)
                        item_weight, item_hash = roomier(item_weight), roomier(item_hash)
                        slots = spread_out(item_hash, count, 8 * count)
                        slot = free_slot(h, slots)
                    slots[slot], item_hash[item] = item, h
                    item_group[item], item_row[item], item_weight[item] = g, row, 0.0
                    count += 1
                item_weight[item] += weights[row]
                if records == len(record_item):
                    record_item = roomier(record_item)
                record_item[records] = item
                records += 1
        record_start[row + 1] = records
    return (
        groups, besides, item_group[:count], item_row[:count], item_weight[:count], record_start, record_item[:records],
    )  # fmt: skip
