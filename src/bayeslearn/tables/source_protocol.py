"""Sources: whatever data can be folded into statistics, wherever they live.

    fold(collect) = collect(batch 1) + collect(batch 2) + …

Because evidence adds, a learner needs no more than this one method: a :class:`~bayeslearn.tables.Table` applies
`collect` to itself, a file applies it batch by batch, a cluster where the data are. What is no table of codes is read
from raw columns: `documents` and whole `runs` of rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from bayeslearn.tables.folded import Folded, Summed
from bayeslearn.tables.schema import name_list, require_known

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from bayeslearn.tables.columns import Column
    from bayeslearn.tables.documents import DocumentBatch, Runs
    from bayeslearn.tables.markers import Markers, Missing
    from bayeslearn.tables.schema import Schema
    from bayeslearn.tables.table import Table

T = TypeVar("T")
S = TypeVar("S")

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
        label: str | None = None,
        *,
        sample_weight: str | None = None,
        na_values: Markers = (),
        keep_default_na: bool = True,
    ) -> Folded[DocumentBatch]:
        """The documents of a column, and their labels; without names ``text`` and, if it is there, ``label``.

        A missing text is an empty document, and a missing label is None. Markers of missing values are those of
        :func:`~bayeslearn.as_table`; the default ones are of labels only.
        """
        from bayeslearn.tables.documents import DocumentColumns  # noqa: PLC0415 - few data are texts

        read = DocumentColumns.among(
            self.column_names(), text, label, sample_weight, na_values=na_values, keep_default_na=keep_default_na
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
