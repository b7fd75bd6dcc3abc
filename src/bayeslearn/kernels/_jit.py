"""The one decorator: every compiler flag of the package lives here.

Compiled code is kept in files (:mod:`bayeslearn.kernels.code_cache`), so each version of a kernel is compiled once. The
first compilation of a process is written to stderr, because it takes seconds. ``NUMBA_DISABLE_JIT=1`` turns every
kernel into the plain Python function it is.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any, TypeVar

import numba
import numpy as np
from llvmlite import ir
from numba.core import event, types
from numba.extending import intrinsic
from numba.np import arrayobj

from bayeslearn.kernels import code_cache
from bayeslearn.kernels import python_fallback as plain

F = TypeVar("F", bound=Callable[..., Any])

#: Fast mathematics without `nnan` and `ninf`: those two break −inf and NaN, which log probabilities need.
FAST_MATH = {"nsz", "arcp", "contract", "afn", "reassoc"}


def kernel(function: F) -> F:
    """Compile an array function on its first call; the interpreter lock is released while it runs."""
    return _compiled(function, _compile_elsewhere, nogil=True)


def inner(function: F) -> F:
    """The same for a function that only kernels call: without a door to Python it takes less time to compile."""
    return _compiled(function, _compile_here, nogil=True, no_cpython_wrapper=True)


def _compiled(function: F, compile_missing: Callable[[Any, Any], None], **options: Any) -> F:
    options |= {"fastmath": FAST_MATH, "error_model": "numpy", "no_cfunc_wrapper": True}
    compiled: Any = numba.njit(**options)(function)
    if not numba.config.DISABLE_JIT:
        compiled._cache = code_cache.KernelCache(function, compile_missing)  # noqa: SLF001 - numba has no other door
    return compiled


def _compile_elsewhere(function: Callable[..., Any], signature: Any) -> None:
    from bayeslearn.kernels import precompile  # noqa: PLC0415 - needed only where no file has the code

    precompile.compile_signature(function, signature)


def _compile_here(function: Callable[..., Any], signature: Any) -> None:
    """Do nothing: an inner function is compiled with the kernel that calls it."""


### what the user sees


class _Announcement(event.Listener):
    """Write once per process that a kernel is compiled here, where a user waits for it."""

    def on_start(self, _: Any) -> None:
        if not os.environ.get("BAYESLEARN_QUIET"):
            sys.stderr.write(f"bayeslearn: compiling kernels, {code_cache.where_kept()}\n")
        event.unregister("numba:compile", self)

    def on_end(self, _: Any) -> None:
        """Nothing to write."""


event.register("numba:compile", _Announcement())


### what NumPy lacks


@intrinsic
def _ctpop(_: Any, word: Any) -> Any:  # noqa: ARG001 - numba wants the arguments named
    def codegen(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(types.uint64), codegen


@intrinsic
def _cttz(_: Any, word: Any) -> Any:  # noqa: ARG001 - numba wants the arguments named
    def codegen(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), codegen


@intrinsic
def _load_word(_: Any, text: Any, at: Any) -> Any:  # noqa: ARG001 - numba wants the arguments named
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = arrayobj.make_array(signature.args[0])(context, builder, args[0]).data
        return builder.load(builder.bitcast(builder.gep(data, [args[1]]), ir.IntType(64).as_pointer()), align=1)

    return types.uint64(text, types.int64), codegen


@inner
def _lowest_bits(word: Any) -> Any:
    return (word * np.uint64(0x0102040810204080)) >> np.uint64(56)


#: The number of ones in a 64-bit word.
popcount: Any = plain.popcount if numba.config.DISABLE_JIT else _ctpop

#: The position of the lowest one in a 64-bit word that has some.
trailing_zeros: Any = plain.trailing_zeros if numba.config.DISABLE_JIT else _cttz

#: Eight bytes of an array of bytes as one word, the first of them lowest.
load_word: Any = plain.load_word if numba.config.DISABLE_JIT else _load_word

#: The lowest bit of each of the eight bytes of a word, side by side; they have no other bits.
lowest_bits: Any = plain.lowest_bits if numba.config.DISABLE_JIT else _lowest_bits
