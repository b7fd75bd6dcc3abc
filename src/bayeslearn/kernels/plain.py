"""The same kernels without compiling: a first small question is answered before the compiler would have started.

A kernel module is read once more with decorators that do nothing. Interpreted, a question to a small network takes a
few tenths of a second, compiling for it takes many seconds; so small questions are interpreted until they have taken
together as long as a person likes to wait, or until there is compiled code in the cache.
"""

from __future__ import annotations

import builtins
import functools
import importlib.util
import time
import types
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

#: Seconds that interpreted questions may take in all.
PATIENCE = 2.0

_spent = 0.0


def soonest(compiled: Any) -> Callable[..., Any]:
    """The kernel itself, or its interpreted twin when compiling would take longer than a small question."""
    if _spent > PATIENCE or is_ready(compiled):
        return compiled
    return _timed(getattr(twin(compiled.__module__), compiled.__name__))


def is_ready(compiled: Any) -> bool:
    """Whether there is machine code for a kernel, in this process or in the cache."""
    if not hasattr(compiled, "overloads") or compiled.overloads:
        return True
    try:
        return Path(compiled._cache._cache_file._index_path).is_file()  # noqa: SLF001 - numba has no other way to ask
    except AttributeError:
        return True


@functools.cache
def twin(module: str) -> types.ModuleType:
    """A kernel module as plain Python."""
    from bayeslearn.kernels import _jit  # noqa: PLC0415 - it imports numba

    undecorated = types.SimpleNamespace(
        kernel=_same, inner=_same, popcount=_jit.plain_popcount, trailing_zeros=_jit.plain_trailing_zeros
    )

    def import_plain(name: str, *rest: Any) -> Any:
        if name == _jit.__name__:
            return undecorated
        return twin(name) if name.startswith(f"{__package__}.") else builtins.__import__(name, *rest)

    spec = importlib.util.find_spec(module)
    assert spec is not None
    assert spec.loader is not None
    found = types.ModuleType(f"{module} (plain)")
    found.__dict__["__builtins__"] = {**vars(builtins), "__import__": import_plain}
    exec(spec.loader.get_code(module), found.__dict__)  # noqa: S102 - our own module, read again
    return found


def _same(function: Any) -> Any:
    return function


def _timed(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def run(*args: Any) -> Any:
        global _spent  # noqa: PLW0603 - one purse for the whole process
        start = time.perf_counter()
        try:
            return function(*args)
        finally:
            _spent += time.perf_counter() - start

    return run
