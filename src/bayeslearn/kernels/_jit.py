"""The one decorator: every compiler flag of the package lives here.

Compiled code is cached on disk, so a machine compiles each kernel once for each version of its sources. The first
compilation of a process is announced on stderr, for it takes seconds. ``NUMBA_DISABLE_JIT=1`` turns every kernel into
the plain Python function it is.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np
from llvmlite import ir
from numba.core import event, types
from numba.extending import intrinsic
from numba.np import arrayobj

from bayeslearn.kernels import plain

F = TypeVar("F", bound=Callable[..., Any])

#: Fast mathematics without `nnan` and `ninf`: those two break −inf and NaN, which log probabilities need.
FAST_MATH = {"nsz", "arcp", "contract", "afn", "reassoc"}


def kernel(function: F) -> F:
    """Compile an array function on its first call; the interpreter lock is released while it runs."""
    return _compiled(function, nogil=True)


def inner(function: F) -> F:
    """The same for a function that only kernels call: without a door to Python it takes less time to compile."""
    return _compiled(function, nogil=True, no_cpython_wrapper=True)


def _compiled(function: F, **options: Any) -> F:
    options |= {"fastmath": FAST_MATH, "error_model": "numpy", "no_cfunc_wrapper": True}
    try:
        compiled = numba.njit(cache=True, **options)(function)
        if not numba.config.DISABLE_JIT:
            _mark(compiled, function.__code__.co_filename)
    except (RuntimeError, AttributeError):  # nowhere to write a cache, or none to mark: compile in every process
        return numba.njit(**options)(function)
    return compiled


def _mark(compiled: Any, path: str) -> None:
    """Have code from the cache refused when any of its sources has changed.

    numba looks at the file of a function only, but its compiled code holds those of other files that it calls: with a
    new version of these it would write where it should not.
    """
    file = compiled._cache._cache_file  # noqa: SLF001 - there is no door to it
    file._source_stamp = (file._source_stamp, sources(path))  # noqa: SLF001


@cache
def sources(path: str) -> str:
    """What a file of kernels and those that it imports say, as one number."""
    text = Path(path).read_bytes()
    digest = blake2b(text, digest_size=16)
    for name in re.findall(rb"^from bayeslearn\.kernels\.(\w+) import", text, re.MULTILINE):
        digest.update(sources(str(Path(path).with_name(f"{name.decode()}.py"))).encode())
    return digest.hexdigest()


### telling the user


class _Announcement(event.Listener):
    """Says once per process that something is being compiled."""

    def on_start(self, _: Any) -> None:
        if not os.environ.get("BAYESLEARN_QUIET"):
            sys.stderr.write("bayeslearn: compiling kernels, first run only\n")
        event.unregister("numba:compile", self)

    def on_end(self, _: Any) -> None:
        """Nothing to say."""


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
