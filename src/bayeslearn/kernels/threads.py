"""Both cores: independent tasks on threads, for kernels release the interpreter lock."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

T = TypeVar("T")
R = TypeVar("R")


def thread_count() -> int:
    """How many threads to use: ``BAYESLEARN_THREADS``, else the cores this process may run on."""
    asked = os.environ.get("BAYESLEARN_THREADS", "")
    if asked.isdigit() and int(asked) > 0:
        return int(asked)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def parallel(function: Callable[[T], R], tasks: Iterable[T], *, worth: bool = True) -> list[R]:
    """``[function(t) for t in tasks]`` on threads, in order; plainly one after the other when it is not `worth` it."""
    tasks = list(tasks)
    n = min(thread_count(), len(tasks))
    if n < 2 or not worth:
        return [function(task) for task in tasks]
    with ThreadPoolExecutor(n) as pool:
        return list(pool.map(function, tasks))
