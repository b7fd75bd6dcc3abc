"""Words as bytes, found by hash: a table with open addressing that keeps every word apart.

A vocabulary is the bytes of its words one after the other and where each ends, with SPARE bytes behind the last. A slot
of the table is (hash, length · 2³² + number + 1), zeros where it is free. Up to eight bytes a hash belongs to one word
only, for each step of it can be undone; longer words are compared byte by byte. So no two words are ever taken for one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numba
import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic
from numba.np import arrayobj

from bayeslearn.kernels._jit import inner, kernel, load_word
from bayeslearn.kernels.missing_patterns import MIX, mixed

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Bytes looked at together, and bytes that stand behind the last word so that this can be done.
SPARE = 8

#: What happens to a word that is not in the table: it is passed over, or added; or words have no table at all.
KNOWN, NEW, HASHED = 0, 1, 2

ALL, NONE, BYTE, BITS, UPPER = np.uint64(2**64 - 1), np.uint64(0), np.uint64(8), np.uint64(64), np.uint64(32)


@intrinsic
def _fetch(_: Any, table: Any, slot: Any) -> Any:  # noqa: ARG001 - numba wants the arguments named
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = arrayobj.make_array(signature.args[0])(context, builder, args[0]).data
        twice = builder.shl(args[1], ir.Constant(ir.IntType(64), 1))
        place = builder.bitcast(builder.gep(data, [twice]), ir.IntType(8).as_pointer())
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [place.type, number, number, number])
        function = builder.module.declare_intrinsic("llvm.prefetch", [place.type], kind)
        builder.call(function, [place, *(ir.Constant(number, n) for n in (0, 3, 1))])
        return context.get_dummy_value()

    return types.void(table, types.int64), codegen


def plain_fetch(table: Any, slot: int) -> None:
    """The same without compiling: nothing."""


#: Have a slot of a table on its way from memory before it is looked at.
fetch: Any = plain_fetch if numba.config.DISABLE_JIT else _fetch

#: Bits of a word that tell capitals of ASCII apart, byte by byte: 0x80 − "A", 0x7F − "Z", the upper bits, the others.
FROM_A, PAST_Z = np.uint64(0x3F3F3F3F3F3F3F3F), np.uint64(0x2525252525252525)
UPPERS, LOWERS, CASE = np.uint64(0x8080808080808080), np.uint64(0x7F7F7F7F7F7F7F7F), np.uint64(2)


@inner
def letters(text: NDArray[np.uint8], at: int, lower: Any) -> Any:
    """Eight bytes, capitals of ASCII in lower case if asked for."""
    word = load_word(text, at)
    if lower:
        plain = word & LOWERS
        word |= (((plain + FROM_A) ^ (plain + PAST_Z)) & ~word & UPPERS) >> CASE
    return word


@inner
def last_letters(text: NDArray[np.uint8], at: int, length: int, lower: Any) -> Any:
    """The last bytes of a word, eight or fewer, with zeros behind them."""
    return letters(text, at, lower) & (ALL >> (BITS - BYTE * np.uint64(length)))


@inner
def hash_of(text: NDArray[np.uint8], at: int, length: int, lower: Any) -> Any:
    """The hash of some bytes, one or more of them, and SPARE that may be read behind them."""
    h = MIX
    while length > SPARE:
        h = mixed(h, letters(text, at, lower))
        at += SPARE
        length -= SPARE
    return mixed(h, last_letters(text, at, length, lower))


@inner
def same_bytes(words: NDArray[np.uint8], i: int, text: NDArray[np.uint8], j: int, length: int, lower: Any) -> bool:
    """Whether two words of one length and one hash are the same."""
    while length > SPARE:
        if load_word(words, i) != letters(text, j, lower):
            return False
        i, j, length = i + SPARE, j + SPARE, length - SPARE
    return True  # equal hashes, and the steps before the last are equal: so is what the last took in


@inner
def slot_of(
    text: NDArray[np.uint8],
    at: int,
    length: int,
    lower: Any,
    h: np.uint64,
    table: NDArray[np.uint64],
    words: NDArray[np.uint8],
    ends: NDArray[np.int64],
) -> Any:
    """Where a word stands in the table, or the free slot where it would."""
    last = len(table) - 1
    slot = np.int64(h >> UPPER) & last
    while table[slot, 1] != NONE:
        if table[slot, 0] == h and np.int64(table[slot, 1] >> UPPER) == length:
            known = np.int64(table[slot, 1] & (ALL >> UPPER)) - 1
            if length <= SPARE or same_bytes(words, ends[known] - length, text, at, length, lower):
                return slot
        slot = (slot + 1) & last
    return slot


@inner
def append(text: NDArray[np.uint8], at: int, length: int, lower: Any, words: NDArray[np.uint8], used: int) -> None:
    """Write a word behind the others."""
    for j in range(length):
        byte = text[at + j]
        words[used + j] = byte + np.uint8(32) if lower and np.uint8(65) <= byte <= np.uint8(90) else byte


@inner
def remember(cursor: NDArray[np.int64], values: Any) -> None:
    """Write down where to go on: an assignment of all at once would take seconds to compile."""
    for i in range(len(values)):
        cursor[i] = values[i]


@kernel
def wider_table(table: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The same table with twice the slots."""
    wide = np.zeros((2 * len(table), 2), np.uint64)
    last = len(wide) - 1
    for i in range(len(table)):
        if table[i, 1] != NONE:
            slot = np.int64(table[i, 0] >> UPPER) & last
            while wide[slot, 1] != NONE:
                slot = (slot + 1) & last
            wide[slot, 0], wide[slot, 1] = table[i, 0], table[i, 1]
    return wide


@kernel
def join_words(
    more: NDArray[np.uint8],
    more_ends: NDArray[np.int64],
    vocabulary: tuple[NDArray[np.uint64], NDArray[np.uint8], NDArray[np.int64]],
    numbers: NDArray[np.int32],
    cursor: NDArray[np.int64],
) -> bool:
    """Add words to a vocabulary (table, words, ends), and return their numbers in it; false if its table is full.

    `words` and `ends` have room for all of them. `cursor` holds the position to continue from: words done, words in the
    vocabulary, bytes in it.
    """
    table, words, ends = vocabulary
    done, n_words, used = cursor
    while done < len(more_ends):
        if 2 * (n_words + 1) > len(table):
            remember(cursor, (done, n_words, used))
            return False
        at = more_ends[done - 1] if done > 0 else 0
        length = more_ends[done] - at
        h = hash_of(more, at, length, False)
        slot = slot_of(more, at, length, False, h, table, words, ends)
        if table[slot, 1] == NONE:
            append(more, at, length, False, words, used)
            used += length
            ends[n_words] = used
            n_words += 1
            table[slot, 0], table[slot, 1] = h, np.uint64(length << 32 | n_words)
        numbers[done] = np.int64(table[slot, 1] & (ALL >> UPPER)) - 1
        done += 1
    remember(cursor, (done, n_words, used))
    return True


@kernel
def hash_words(words: NDArray[np.uint8], ends: NDArray[np.int64], size: int, numbers: NDArray[np.int32]) -> None:
    """The numbers of words that have no table: their hash modulo `size`."""
    at = 0
    for i in range(len(ends)):
        numbers[i] = np.int64(hash_of(words, at, ends[i] - at, False) >> UPPER) % size
        at = ends[i]
