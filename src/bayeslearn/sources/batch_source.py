"""Batches that somebody else reads: any function that returns tables, or what tables are made of, again and again."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from bayeslearn.errors import BayeslearnError, ParameterError
from bayeslearn.sources.base import Extent, Scanned, rebatched, require_some
from bayeslearn.sources.column_profiles import ColumnProfiles, digest_of
from bayeslearn.sources.encoding import Coder
from bayeslearn.sources.engines import ThreadEngine
from bayeslearn.tables import Table
from bayeslearn.tables.arrow_columns import gather
from bayeslearn.tables.source_protocol import Sum

if TYPE_CHECKING:
    from collections.abc import Callable

    from bayeslearn.tables.columns import Column
    from bayeslearn.tables.markers import Missing

S = TypeVar("S")
T = TypeVar("T")


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class BatchSource(Scanned):
    """Batches under one schema; :func:`~bayeslearn.scan` makes one.

    `read` is a function that returns a new iterator over batches, or anything that can be iterated more than once.

    >>> from bayeslearn import scan
    >>> coin = scan([{"side": ["head", "tail"]}, {"side": ["head"]}])
    >>> coin.fold(lambda table: table.counter.count([(0,)])[0])          # head, tail, missing
    array([2., 1., 0.])
    """

    read: Callable[[], Iterable[Any]] | Iterable[Any]

    def __post_init__(self) -> None:
        require_again(self.read)

    def __repr__(self) -> str:
        return f"BatchSource({len(self.schema)} columns)"

    def fold(self, collect: Callable[[Table], S]) -> S:
        """The sum over the batches, which are read one after the other and collected side by side."""
        return require_some(ThreadEngine().fold(lambda coded: collect(coded()), self._lazily(), lambda _: None), self)

    def _parts(
        self,
        names: tuple[str, ...] | None,
        read: Callable[[list[Column]], T],
        *,
        rows: int | None,  # noqa: ARG002 - batches come as they are
        whole_files: bool,
    ) -> tuple[Iterable[Any], BatchReader[T]]:
        return BatchStreams(each(self.read), whole_files), BatchReader(names, read, self._columns)

    def _columns(self, batch: Any) -> list[Column]:
        return gather(batch, None, self.schema.names)[0]

    def column_names(self) -> list[tuple[str, ...]]:
        """Those of the first batch."""
        first = next(each(self.read), None)
        return [() if first is None else tuple(column.name for column in self._columns(first))]

    def batches(self, n: int | None = None) -> Iterator[Table]:
        """The batches in order."""
        tables = (coded() for coded in self._lazily())
        return tables if n is None else rebatched(tables, n)

    def look(self) -> ColumnProfiles:
        """What all columns show, by a pass."""
        return looked_at(self.read, None, self.request.missing)

    def _lazily(self) -> Iterator[Callable[[], Table]]:
        coder = Coder(self.schema, self.request, self.weight)
        for number, batch in enumerate(each(self.read)):
            yield partial(numbered, number, partial(self._coded, coder, batch))

    def _coded(self, coder: Coder, batch: Any) -> Table:
        table = coder.table(gather(batch, None, self.schema.names)[0])
        own = batch.sample_weight if isinstance(batch, Table) and self.weight is None else None
        return table if own is None else table.with_weights(own)

    @cached_property
    def totals(self) -> Extent:
        """By a pass: tables may have weights."""
        return self.fold(Extent.of)


@dataclass(frozen=True)
class BatchReader(Generic[T]):
    """Reads batches that are numbered; an error has the number of its batch."""

    names: tuple[str, ...] | None
    read: Callable[[list[Column]], T]
    #: The raw columns of a batch.
    columns: Callable[[Any], list[Column]]

    def __call__(self, batches: Iterable[tuple[int, Any]], tell: Callable[[int], object] | None = None) -> Iterator[T]:
        """What is made of each."""
        wanted = None if self.names is None else frozenset(self.names)
        for number, batch in batches:
            columns = [column for column in self.columns(batch) if wanted is None or column.name in wanted]
            yield numbered(number, partial(self.read, columns))
            if tell is not None:
                tell(len(columns[0]))


@dataclass(frozen=True)
class BatchStreams:
    """Batches with their numbers as streams: all of them as one, or each apart."""

    batches: Iterator[Any]
    one: bool

    def __iter__(self) -> Iterator[Iterable[tuple[int, Any]]]:
        numbers = enumerate(self.batches)
        return iter([numbers]) if self.one else ([batch] for batch in numbers)

    def close(self) -> None:
        """Close what is read from, after the last reader: an error leaves it open."""
        if isinstance(self.batches, Generator):
            self.batches.close()


def each(read: Any) -> Iterator[Any]:
    """The batches, from the first on."""
    return iter(read() if callable(read) else read)


def require_again(read: Any) -> None:
    """Batches that can be read more than once."""
    if isinstance(read, Iterator):
        raise ParameterError(
            "an iterator gives its batches only once, and learning may read them many times",
            hint="give a function that returns a new iterator, or a list",
        )
    if not callable(read) and not isinstance(read, Iterable):
        raise ParameterError(
            f"cannot scan {type(read).__name__}",
            hint="give paths, patterns, a DuckDB relation, or batches of data; as_table reads frames and arrays",
        )


def looked_at(read: Any, names: tuple[str, ...] | None, missing: Missing) -> ColumnProfiles:
    """The digest of all batches."""
    total: Sum[ColumnProfiles] = Sum()
    for number, batch in enumerate(each(read)):
        total.add(numbered(number, partial(_digest, batch, names, missing)))
    return require_some(total.total, "the batches")


def _digest(batch: Any, names: tuple[str, ...] | None, missing: Missing) -> ColumnProfiles:
    return digest_of(gather(batch, names, ())[0], missing)


def numbered(number: int, work: Callable[[], S]) -> S:
    """The result of a batch; an error has the number of the batch."""
    try:
        return work()
    except BayeslearnError as error:
        error.add_note(f"in batch {number}")
        raise
