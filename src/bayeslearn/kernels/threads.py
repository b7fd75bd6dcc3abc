"""Both cores: independent tasks on threads, for kernels release the interpreter lock."""

from __future__ import annotations

import _thread  # threading.Thread.start waits until the thread runs, longer than many a kernel takes
import os
from typing import TYPE_CHECKING, TypeVar

from bayeslearn import validation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

T = TypeVar("T")
R = TypeVar("R")


def thread_count() -> int:
    """How many threads to use: ``BAYESLEARN_THREADS``, else the cores this process may run on."""
    asked = os.environ.get("BAYESLEARN_THREADS", "")
    return validation.whole_number(asked) or available_cores()


def available_cores() -> int:
    """The cores that this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def parallel(function: Callable[[T], R], tasks: Iterable[T], *, worth: bool = True) -> list[R]:
    """``[function(t) for t in tasks]`` on threads, in order; plainly one after the other when it is not `worth` it.

    Every thread, this one among them, takes the next task when it is done with one. The first error ends all.
    """
    tasks = list(tasks)
    n = min(thread_count(), len(tasks))
    if n < 2 or not worth:
        return [function(task) for task in tasks]
    results: list[R | None] = [None] * len(tasks)
    errors: list[BaseException] = []
    left = iter(range(len(tasks)))  # one step of it is one instruction: no two threads get the same number

    def work() -> None:
        try:
            for i in left:
                if errors:
                    return
                results[i] = function(tasks[i])
        except BaseException as error:  # noqa: BLE001 - raised again below, in the thread that asked
            errors.append(error)

    def help_out(at_work: _thread.LockType) -> None:
        try:
            work()
        finally:
            at_work.release()

    helpers = [_thread.allocate_lock() for _ in range(n - 1)]
    for at_work in helpers:
        at_work.acquire()
        _thread.start_new_thread(help_out, (at_work,))
    work()
    for at_work in helpers:
        at_work.acquire()
    if errors:
        raise errors[0]
    return results  # type: ignore[return-value]
