"""What is made of batches, remembered as long as it fits into memory."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar

from bayeslearn.kernels import parallel, thread_count
from bayeslearn.tables.source_protocol import Folded, Then, plus

T = TypeVar("T")
U = TypeVar("U")
S = TypeVar("S")


@dataclass(frozen=True, eq=False)
class Kept(Folded[U], Generic[T, U]):
    """What is made of batches, remembered where it fits."""

    source: Folded[T]
    work: Callable[[T], U]
    max_bytes: int

    @cached_property
    def _memory(self) -> Memory[U]:
        return Memory(self.max_bytes if self.source.is_here else 0)

    def fold(self, collect: Callable[[U], S]) -> S:
        """The sum over what is made of the batches, in the same order whether it is remembered or not."""
        memory = self._memory
        if memory.tree is not None:
            return memory.tree.fold(collect)
        if memory.is_full:
            return self.source.fold(Then(self.work, collect))
        found = self.source.fold(Remember(self.work, collect, memory))
        memory.tree = found.tree
        return found.total

    def batches(self) -> Iterator[U]:
        """What is made of the batches, in order."""
        tree = self._memory.tree
        return map(self.work, self.source.batches()) if tree is None else tree.leaves()

    @property
    def is_here(self) -> bool:
        """As the source."""
        return self.source.is_here


class Memory(Generic[U]):
    """The bytes that may be remembered, and what is."""

    def __init__(self, max_bytes: int) -> None:
        self.left, self.lock = max_bytes, threading.Lock()
        self.tree: Tree[U] | None = None

    @property
    def is_full(self) -> bool:
        """Whether something did not fit."""
        return self.left <= 0

    def has_room(self, size: int) -> bool:
        """Take `size` bytes, if they are left; once they are not, nothing more is remembered."""
        with self.lock:
            self.left = self.left - size if size < self.left else 0
            return self.left > 0


@dataclass(frozen=True, eq=False)
class Tree(Generic[U]):
    """Values, and which are added to which: a leaf has a value, others have two parts."""

    value: U | None = None
    parts: tuple[Tree[U], ...] = ()

    def fold(self, collect: Callable[[U], S]) -> S:
        """The sum over the leaves, added as they were at first; large parts side by side."""
        parts = self.split(4 * thread_count())
        totals = parallel(lambda part: part.total(collect, {}), parts)
        return self.total(collect, dict(zip(map(id, parts), totals, strict=True)))

    def total(self, collect: Callable[[U], S], known: Mapping[int, S]) -> S:
        """The sum over the leaves, but for parts whose sum is known."""
        if id(self) in known:
            return known[id(self)]
        if not self.parts:
            return collect(self.value)  # type: ignore[arg-type]
        one, other = (part.total(collect, known) for part in self.parts)
        return plus(one, other)

    def split(self, n: int) -> list[Tree[U]]:
        """About n parts of it that together have all leaves."""
        parts = [self]
        while len(parts) < n and any(part.parts for part in parts):
            parts = [one for part in parts for one in (part.parts or (part,))]
        return parts

    def leaves(self) -> Iterator[U]:
        """The values in order."""
        if not self.parts:
            yield self.value  # type: ignore[misc]
        for part in self.parts:
            yield from part.leaves()


@dataclass(frozen=True, eq=False)
class Remembered(Generic[U, S]):
    """What was collected, and what it was collected from; None where that did not fit."""

    total: S
    tree: Tree[U] | None

    def __add__(self, other: Remembered[U, S]) -> Remembered[U, S]:
        both = None if self.tree is None or other.tree is None else Tree(parts=(self.tree, other.tree))
        return Remembered(plus(self.total, other.total), both)


@dataclass(frozen=True)
class Remember(Generic[T, U, S]):
    """Collects from batches and remembers what was made of them."""

    work: Callable[[T], U]
    collect: Callable[[U], S]
    memory: Memory[U]

    def __call__(self, batch: T) -> Remembered[U, S]:
        """Of one batch."""
        made = self.work(batch)
        fits = not self.memory.is_full and self.memory.has_room(size_of(made))
        return Remembered(self.collect(made), Tree(made) if fits else None)


def size_of(value: Any, known: set[int] | None = None) -> int:
    """Bytes that a value takes, about: those of its arrays, and of the objects that hold them, each once."""
    known = set() if known is None else known
    if id(value) in known or isinstance(value, type):
        return 0
    known.add(id(value))
    if hasattr(value, "nbytes"):
        return int(value.nbytes)
    parts: Any = value if isinstance(value, tuple | list) else ()
    if isinstance(value, Mapping):
        parts = value.values()
    elif hasattr(value, "__dict__"):
        parts = vars(value).values()
    return sys.getsizeof(value) + sum(size_of(part, known) for part in parts)
