"""What can be folded: values that come batch by batch, and are added up.

    fold(collect) = collect(batch 1) + collect(batch 2) + …

A :class:`Folded` gives batches of any kind: tables, documents, whole sequences. `map` reads each batch as something
else, `facts` collects several things in one pass, and `kept` remembers what was made of the batches as long as it fits
into memory. What is added, is added in the order of the batches and pairwise, so that the answer depends on the data
alone.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Generic, TypeVar

from bayeslearn import validation
from bayeslearn.kernels import parallel, thread_count

T = TypeVar("T")
U = TypeVar("U")
S = TypeVar("S")


### sums


def plus(a: Any, b: Any) -> Any:
    """``a + b``, where None adds nothing."""
    return b if a is None else a if b is None else a + b


@dataclass
class Sum(Generic[S]):
    """A sum of many values that come in order, added pairwise, with few of them kept at a time.

    Which are added to which depends on their places alone, also where some are None.
    """

    #: Sums of 1, 2, 4, … values, those among them that the binary digits of `count` name.
    levels: list[S | None] = field(default_factory=list)
    count: int = 0

    def add(self, value: S | None) -> None:
        """One more value; None adds nothing."""
        level = 0
        while self.count >> level & 1:
            value, self.levels[level] = plus(self.levels[level], value), None
            level += 1
        self.levels[level : level + 1] = [value]
        self.count += 1

    @property
    def total(self) -> S | None:
        """The sum so far."""
        total: Any = None
        for value in self.levels:
            total = plus(value, total)
        return total


@dataclass(frozen=True)
class Summed(Generic[T, S]):
    """The sum of what is collected from a stream of batches; it may travel."""

    collect: Callable[[T], S]

    def __call__(self, batches: Iterator[T]) -> S | None:
        """The sum over one stream; None when it has no batches."""
        total: Sum[S] = Sum()
        for batch in batches:
            total.add(self.collect(batch))
        return total.total


### batches of any kind


class Folded(Generic[T]):
    """Batches that can be folded, again and again."""

    def fold(self, collect: Callable[[T], S]) -> S:
        """Apply `collect` to each batch and add the results."""
        raise NotImplementedError

    def batches(self) -> Iterator[T]:
        """The batches in order, on this machine."""
        raise NotImplementedError

    @property
    def is_here(self) -> bool:
        """Whether `collect` runs in this process, so that what it returns need not travel."""
        return True

    def map(self, read: Callable[[T], U]) -> Folded[U]:
        """The same batches, each as `read` returns it.

        >>> from bayeslearn import as_table
        >>> as_table({"hours": [1.5, 2.25, 4.0]}).map(lambda table: table.values.sum()).fold(float)
        7.75
        """
        return Mapped(self, read)

    def facts(self, wanted: Iterable[Callable[[T], Any]]) -> Facts:
        """Collect several things by one pass: the sum of each over all batches.

        >>> from bayeslearn import as_table
        >>> rows, total = as_table({"hours": [1.5, 2.25, 4.0]}).facts([len, lambda table: float(table.values.sum())])
        >>> rows, total
        (3, 7.75)
        """
        return self.fold(Together(tuple(wanted)))

    def kept(self, work: Callable[[T], U], max_bytes: int) -> Folded[U]:
        """What `work` returns for each batch, remembered if all of it takes no more than `max_bytes`.

        The first pass calls `work` and remembers; later ones fold what is remembered. What does not fit, or is made on
        other machines, is made again by every pass.
        """
        return Kept(self, work, validation.integer("max_bytes", max_bytes, min_value=0))


@dataclass(frozen=True, eq=False)
class Mapped(Folded[U], Generic[T, U]):
    """Batches read as something else."""

    source: Folded[T]
    read: Callable[[T], U]

    def fold(self, collect: Callable[[U], S]) -> S:
        """The sum over what was read."""
        return self.source.fold(Then(self.read, collect))

    def batches(self) -> Iterator[U]:
        """What was read, in order."""
        return map(self.read, self.source.batches())

    @property
    def is_here(self) -> bool:
        """As the source."""
        return self.source.is_here


@dataclass(frozen=True)
class Then(Generic[T, U, S]):
    """One function after another; it may travel."""

    read: Callable[[T], U]
    collect: Callable[[U], S]

    def __call__(self, batch: T) -> S:
        """Both, of one batch."""
        return self.collect(self.read(batch))


### several things by one pass


@dataclass(frozen=True)
class Facts:
    """What one pass brings: a value for each thing that was asked for, in this order."""

    values: tuple[Any, ...]

    def __add__(self, other: Facts) -> Facts:
        return Facts(tuple(map(plus, self.values, other.values)))

    def __iter__(self) -> Iterator[Any]:
        return iter(self.values)


@dataclass(frozen=True)
class Together:
    """Collects several things of a batch; it may travel."""

    wanted: tuple[Callable[[Any], Any], ...]

    def __call__(self, batch: Any) -> Facts:
        """All of one batch."""
        return Facts(tuple(collect(batch) for collect in self.wanted))


### what is remembered


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
