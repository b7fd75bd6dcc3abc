"""Sources: whatever data can be folded into statistics, wherever they live.

    fold(collect) = collect(batch 1) + collect(batch 2) + …

Because evidence adds, a learner needs no more than this one method: a :class:`~bayeslearn.tables.Table` applies
`collect` to itself, a file applies it batch by batch, a cluster where the data are. What is no table of codes is read
from raw columns: `documents` and whole `runs` of rows.

A :class:`Folded` gives batches of any kind: tables, documents, whole sequences. `map` reads each batch as something
else, `facts` collects several things in one pass, and `kept` remembers what was made of the batches as long as it fits
into memory. What is added, is added in the order of the batches and pairwise, so that the answer depends on the data
alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from bayeslearn import validation
from bayeslearn.tables.schema import name_list, require_known

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from bayeslearn.tables.columns import Column
    from bayeslearn.tables.documents import DocumentBatch, Runs
    from bayeslearn.tables.markers import Markers, Missing
    from bayeslearn.tables.schema import Schema
    from bayeslearn.tables.table import Table
    from bayeslearn.tables.variables import DiscreteVariable


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
        from bayeslearn.tables.kept import Kept  # noqa: PLC0415 - few remember

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


#: Documents that are read at a time.
DOCUMENTS = 1 << 12


class Source(Folded["Table"]):
    """Data with a schema that can be folded."""

    schema: Schema

    @property
    def n_rows(self) -> int:
        """How many rows there are, whatever they weigh."""
        raise NotImplementedError

    @property
    def total_weight(self) -> float:
        """The total weight of the rows."""
        raise NotImplementedError

    def missing(self) -> dict[str, int]:
        """How many cells of each column are missing."""
        raise NotImplementedError

    def batches(self, n: int | None = None) -> Iterator[Table]:
        """The rows in order, `n` at a time, or as it suits the source."""
        raise NotImplementedError

    def with_intervals(self, cut: Mapping[str, DiscreteVariable]) -> Source:
        """The same rows with numeric columns coded by these intervals."""
        raise NotImplementedError

    # -- raw columns

    def fold_streams(
        self,
        names: tuple[str, ...] | None,
        read: Callable[[list[Column]], T],
        work: Callable[[Iterator[T]], S | None],
        *,
        rows: int | None = None,
        whole_files: bool = False,
    ) -> S:
        """``work(stream 1) + work(stream 2) + …``; a stream is what `read` makes of batches that follow each other.

        Parameters
        ----------
        names
            The columns to read, those of them that are there; None for all.
        read
            What is made of the raw columns of a batch. An error of it names the file and the row.
        work
            What is made of a stream: parts of a file, or a single batch.
        rows
            How many rows are read at a time, where that can be chosen.
        whole_files
            A stream is a file from end to end; what has no files is one stream.
        """
        raise NotImplementedError

    def streams(
        self,
        names: tuple[str, ...] | None,
        read: Callable[[list[Column]], T],
        *,
        rows: int | None = None,
        whole_files: bool = False,
    ) -> Iterable[Iterator[T]]:
        """The same streams in order, on this machine."""
        raise NotImplementedError

    def column_names(self) -> list[tuple[str, ...]]:
        """The names of the raw columns, of each file where there are files."""
        raise NotImplementedError

    @property
    def markers(self) -> Missing:
        """What stands for a missing cell in raw columns."""
        raise NotImplementedError

    def fold_columns(self, names: Iterable[str], collect: Callable[[list[Column]], S], *, rows: int | None = None) -> S:
        """Apply `collect` to the raw Arrow columns of each batch and add the results.

        An error that `collect` raises with a `row` names the file and the row of it.
        """
        wanted = name_list("names", names)
        for there in self.column_names():
            require_known(wanted, there)
        return self.fold_streams(wanted, InOrder(wanted, collect), Summed(same), rows=rows)

    def count_groups(self, column_groups: Sequence[tuple[str, ...]]) -> list[NDArray[np.float64]]:
        """Return the counts of groups of discrete columns, with missing as the last index of every axis."""
        raise NotImplementedError

    def documents(
        self,
        text: str | None = None,
        target: str | None = None,
        *,
        sample_weight: str | None = None,
        na_values: Markers = (),
        keep_default_na: bool = True,
    ) -> Folded[DocumentBatch]:
        """The documents of a column, and their classes; by default of ``text`` and, if it exists, ``label``.

        A missing text is an empty document, and a missing label is None. Markers of missing values are those of
        :func:`~bayeslearn.as_table`; the default ones are of labels only.
        """
        from bayeslearn.tables.documents import DocumentColumns  # noqa: PLC0415 - few data are texts

        read = DocumentColumns.among(
            self.column_names(), text, target, sample_weight, na_values=na_values, keep_default_na=keep_default_na
        )
        return Streamed(self, read.names, read, rows=DOCUMENTS)

    def runs(
        self,
        id: str,  # noqa: A002 - the name of the column
        read: Callable[[list[Column]], tuple[Any, ...]],
        names: Iterable[str] = (),
    ) -> Folded[Runs]:
        """Whole runs of rows that have one id: across batches, never across files.

        `read` makes arrays of the columns `names` and of that of the ids, each with a row for every row.
        """
        from bayeslearn.tables.documents import RunReader, whole  # noqa: PLC0415 - few data are sequences

        wanted = tuple(dict.fromkeys([*name_list("names", names), id]))
        return Streamed(self, wanted, RunReader(id, self.markers, read), across=whole)


@dataclass(frozen=True, eq=False)
class Streamed(Folded[T], Generic[T]):
    """What is read from the raw columns of a source."""

    source: Source
    names: tuple[str, ...]
    read: Callable[[list[Column]], T]
    rows: int | None = None
    #: What brings together what belongs together across the batches of a file.
    across: Callable[[Iterator[T]], Iterator[T]] | None = None

    def fold(self, collect: Callable[[T], S]) -> S:
        """The sum over all batches."""
        work = Summed(collect) if self.across is None else Across(self.across, Summed(collect))
        return self.source.fold_streams(
            self.names, self.read, work, rows=self.rows, whole_files=self.across is not None
        )

    def batches(self) -> Iterator[T]:
        """The batches in order."""
        streams = self.source.streams(self.names, self.read, rows=self.rows, whole_files=self.across is not None)
        return chain.from_iterable(streams if self.across is None else map(self.across, streams))

    @property
    def is_here(self) -> bool:
        """As the source."""
        return self.source.is_here


@dataclass(frozen=True)
class Across:
    """Work over a stream whose batches are brought together first; it may travel."""

    together: Callable[[Iterator[Any]], Iterator[Any]]
    work: Callable[[Iterator[Any]], Any]

    def __call__(self, batches: Iterator[Any]) -> Any:
        """Of one stream."""
        return self.work(self.together(batches))


@dataclass(frozen=True)
class InOrder:
    """Hands over columns in the order in which they were asked for, all there; it may travel."""

    names: tuple[str, ...]
    collect: Callable[[list[Column]], Any]

    def __call__(self, columns: list[Column]) -> Any:
        """Of one batch."""
        by_name = {column.name: column for column in columns}
        require_known(self.names, by_name)
        return self.collect([by_name[name] for name in self.names])


def same(value: T) -> T:
    """The value itself."""
    return value
