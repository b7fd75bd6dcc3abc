"""The kernels of a first question without a compiler, written with NumPy and as fast as a question is small.

Loading the compiler takes half a second, and compiling many seconds. So first questions are answered by these, until it
seems that there are many; and where there is no compiled code in the cache, until they have taken together as long as a
person likes to wait.
"""

from __future__ import annotations

import functools
import sys
import time
from typing import TYPE_CHECKING, Any

from bayeslearn import kernels
from bayeslearn.kernels import plain, uncompiled_planning, uncompiled_propagation

if TYPE_CHECKING:
    from collections.abc import Callable

#: Seconds that questions may take in all before the compiler is loaded, and before it is used.
LOADING, PATIENCE = 0.1, 2.0

#: Kernels that need no compiler.
KERNELS: dict[str, Callable[..., Any]] = {
    "best_plan": uncompiled_planning.best_plan,
    "plan": uncompiled_planning.plan,
    "propagate": uncompiled_propagation.propagate,
}

_spent = 0.0

#: Kernels that are compiled, by name: nothing is asked again of these.
_ready: dict[str, Callable[..., Any]] = {}


def soonest(name: str) -> Callable[..., Any]:
    """A kernel, or the one without a compiler where that is sooner."""
    return _timed(KERNELS[name]) if is_sooner(name) else _ready[name]


def is_sooner(name: str) -> bool:
    """Whether loading or compiling a kernel would take longer than a small question without it."""
    if name in _ready:
        return False
    if f"{__package__}._jit" in sys.modules or _spent > LOADING:
        compiled = getattr(kernels, name)
        if _spent > PATIENCE or plain.is_ready(compiled):
            _ready[name] = compiled
            return False
    return True


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
