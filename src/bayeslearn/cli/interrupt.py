"""Ctrl-C once: end with the best so far. Twice: end."""

from __future__ import annotations

import os
import signal
import sys
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass
class Stop:
    """Whether Ctrl-C was received."""

    asked: bool = False

    def heed(self) -> None:
        """Raise what ends a search, if it is to end."""
        if self.asked:
            raise StopIteration


@contextmanager
def held_back() -> Iterator[None]:
    """Within the block Ctrl-C has to wait, and processes that are started in it ignore it."""
    if not hasattr(signal, "pthread_sigmask"):  # not everywhere
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # when it starts, it lets Ctrl-C through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def once(so_far: str = "the best network so far") -> Iterator[Stop]:
    """Within the block the first Ctrl-C is noted, and the next does what it did before."""
    stop, heard = Stop(), f"\nending with {so_far}; Ctrl-C again ends without it\n".encode()
    if threading.current_thread() is not threading.main_thread():  # signals reach only that one
        yield stop
        return
    before = signal.getsignal(signal.SIGINT) or signal.default_int_handler  # none of Python's: as it usually is

    def hear(*_: Any) -> None:
        stop.asked = True
        signal.signal(signal.SIGINT, before)
        os.write(sys.__stderr__.fileno() if sys.__stderr__ else 2, heard)  # a buffer may be half written at this moment

    signal.signal(signal.SIGINT, hear)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)
