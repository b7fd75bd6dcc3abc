"""Where shards are read and their statistics added: threads of this machine, or the workers of a cluster.

An engine has one verb. What it adds, it adds in the order of the shards and pairwise, so that the answer depends on the
data alone:

    ((s1 + s2) + (s3 + s4)) + …
"""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from bayeslearn.errors import ParameterError
from bayeslearn.kernels import parallel, thread_count
from bayeslearn.tables.source_protocol import Sum

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


#: Units by their names, in bytes.
UNITS = {
    "": 1,
    "B": 1,
    **{f"{p}B": 1000**i for i, p in enumerate("KMGT", 1)},
    **{f"{p}iB".upper(): 1024**i for i, p in enumerate("KMGT", 1)},
}


def bytes_of(limit: str | int) -> int:
    """The bytes of a limit such as ``"512MB"`` or ``"1 GiB"``.

    >>> bytes_of("512MB"), bytes_of("1 GiB"), bytes_of(4096)
    (512000000, 1073741824, 4096)
    """
    found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([KMGT]?I?B?)\s*", str(limit).upper())
    unit = found.group(2) if found else None
    if found and unit is not None and unit in {"K", "M", "G", "T"}:
        unit += "B"
    if not found or unit not in UNITS or not 0 < float(found.group(1)) < 1e18:
        raise ParameterError(
            f"`memory_limit` must be a size such as '512MB' or '1GiB', got {limit!r}",
            hint="the units are KB, MB, GB, KiB, MiB and GiB",
        )
    return int(float(found.group(1)) * UNITS[unit])


T = TypeVar("T")
S = TypeVar("S")


class Engine(Protocol):
    """Whatever can read shards apart and add what is made of them."""

    def fold(self, function: Callable[[Any], Any], shards: Iterable[Any], done: Callable[[Any], object]) -> Any:
        """``function(shard 1) + function(shard 2) + …``; None when every shard gives None.

        `done` is called with every shard that was read.
        """
        ...


@dataclass
class Ordered(Generic[S]):
    """A sum of values that are ready in any order and are added in their own."""

    sum: Sum[S] = field(default_factory=Sum)
    _early: dict[int, S | None] = field(default_factory=dict)
    _next: int = 0

    def put(self, number: int, value: S | None) -> None:
        """The value of this number."""
        self._early[number] = value
        while self._next in self._early:
            self.sum.add(self._early.pop(self._next))
            self._next += 1


@dataclass(frozen=True)
class ThreadEngine:
    """The threads of this machine: ``BAYESLEARN_THREADS`` of them, or as many as there are cores; `threads` at most."""

    threads: int | None = None

    @property
    def count(self) -> int:
        """How many threads there are."""
        return min(self.threads or thread_count(), thread_count())

    def fold(self, function: Callable[[T], S | None], shards: Iterable[T], done: Callable[[T], object]) -> S | None:
        """Every thread takes the next shard when it is done with one; an error ends all, that of the first shard."""
        numbered, lock = iter(enumerate(shards)), threading.Lock()
        total: Ordered[S] = Ordered()
        failed: dict[int, BaseException] = {}

        def work(_: int) -> None:
            number, shard = -1, None
            try:
                while not failed:
                    with lock:
                        number, shard = next(numbered, (-1, None))
                    if number < 0:
                        return
                    found = function(shard)  # type: ignore[arg-type]
                    with lock:
                        total.put(number, found)
                        done(shard)  # type: ignore[arg-type]
            except BaseException as error:  # noqa: BLE001 - raised again below, in the thread that asked
                failed[number if isinstance(error, Exception) else -1] = error  # an interrupt comes before all

        parallel(work, range(self.count))
        if failed:
            raise failed[min(failed)]
        return total.sum.total
