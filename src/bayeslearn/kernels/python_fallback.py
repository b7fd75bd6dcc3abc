"""Kernels without a compiler: a first small question is answered before the compiler would have started.

Loading the compiler takes half a second, and compiling many seconds. So first small questions are answered by twins of
the kernels, until it seems that there are many; and where no file has compiled code, until they have taken together as
long as a user likes to wait. A twin is written with NumPy where that is faster, else the kernel itself is interpreted:
its module is read once more with decorators that do nothing.
"""

from __future__ import annotations

import builtins
import functools
import importlib
import sys
import time
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

#: CPU seconds that questions may take in total before the compiler is loaded, and before it is used.
LOADING, PATIENCE = 0.1, 2.0

#: Kernels that have a twin of the same name written with NumPy, and its module.
WITH_NUMPY = {
    "best_plan": "uncompiled_junction_tree",
    "plan": "uncompiled_junction_tree",
    "propagate": "uncompiled_propagation",
}

_spent = 0.0

#: Kernels that are compiled, by name: nothing is asked again of these.
_ready: dict[str, Callable[..., Any]] = {}


def soonest(module: str, name: str) -> Callable[..., Any]:
    """A kernel, or its twin when loading or compiling it would take longer than a small question."""
    if not is_sooner(module, name):
        return _ready[name]
    if name in WITH_NUMPY:
        return _timed(getattr(importlib.import_module(f"{__package__}.{WITH_NUMPY[name]}"), name))
    return _timed(getattr(twin(f"{__package__}.{module}"), name))


def is_sooner(module: str, name: str) -> bool:
    """Whether loading or compiling a kernel would take longer than a small question to its twin."""
    if name in _ready:
        return False
    if f"{__package__}._jit" in sys.modules or _spent > LOADING:
        compiled = getattr(importlib.import_module(f"{__package__}.{module}"), name)
        if _spent > PATIENCE or is_ready(name, compiled):
            _ready[name] = getattr(sys.modules[__package__], name)  # its group is compiled if its code is not there
            return False
    return True


def is_ready(name: str, compiled: Any) -> bool:
    """Whether there is machine code for a kernel, in this process or in a file."""
    if not hasattr(compiled, "overloads") or compiled.overloads:
        return True
    from bayeslearn.kernels import precompile  # noqa: PLC0415 - loads the compiler

    return precompile.is_prepared(precompile.GROUP_OF[name])


@functools.cache
def twin(module: str) -> ModuleType:
    """A kernel module as plain Python."""
    from importlib.util import find_spec  # noqa: PLC0415 - most questions do without it

    undecorated = SimpleNamespace(
        kernel=_same, inner=_same, popcount=popcount, trailing_zeros=trailing_zeros, load_word=load_word,
        lowest_bits=lowest_bits,
    )  # fmt: skip

    def import_plain(name: str, *rest: Any) -> Any:
        if name == f"{__package__}._jit":
            return undecorated
        return twin(name) if name.startswith(f"{__package__}.") else builtins.__import__(name, *rest)

    spec = find_spec(module)
    assert spec is not None
    assert spec.loader is not None
    found = ModuleType(f"{module} (plain)")
    found.__dict__["__builtins__"] = {**vars(builtins), "__import__": import_plain}
    exec(spec.loader.get_code(module), found.__dict__)  # noqa: S102 - our own module, read again
    return found


def _same(function: Any) -> Any:
    return function


def _timed(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def run(*args: Any) -> Any:
        global _spent  # noqa: PLW0603 - one purse for the whole process
        start = time.thread_time()
        try:
            return function(*args)
        finally:
            _spent += time.thread_time() - start

    return run


### what NumPy lacks, as compiled code has it


def popcount(word: Any) -> int:
    """The number of ones in a 64-bit word."""
    return int(word).bit_count()


def trailing_zeros(word: Any) -> int:
    """The position of the lowest one in a 64-bit word that has some."""
    return (int(word) & -int(word)).bit_length() - 1


def load_word(text: Any, at: int) -> Any:
    """Eight bytes of an array of bytes as one word, the first of them lowest."""
    return text[at : at + 8].view("<u8")[0]


def lowest_bits(word: Any) -> Any:
    """The lowest bit of each of the eight bytes of a word, side by side; a product that runs over is an error here."""
    return np.uint64(sum((int(word) >> 8 * k & 1) << k for k in range(8)))
