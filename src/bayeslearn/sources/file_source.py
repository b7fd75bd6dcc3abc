"""Files that are folded where they lie: CSV and Parquet, any number, larger than memory.

Reading a shard: Arrow batches of a few columns, one after the other, with little in memory at a time.
"""

from __future__ import annotations

import csv
import threading
import time
import zlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from bayeslearn.errors import CapacityError, DataError, FormatError
from bayeslearn.sources.base import Scanned, merged, rebatched, require_some, rows_of_batch
from bayeslearn.sources.column_profiles import ColumnProfiles, digest_of
from bayeslearn.sources.encoding import Coder
from bayeslearn.sources.engines import Engine, ThreadEngine
from bayeslearn.sources.shards import joined_shards, kinds_of
from bayeslearn.tables.columns import Column, arrow_column, is_text
from bayeslearn.tables.file_readers import (
    EMPTY,
    WHOLE,
    arrow_file,
    explained,
    found,
    header,
    parse_options,
    read_options,
    require_closed_quotes,
    row_stream,
)
from bayeslearn.tables.source_protocol import Sum, Summed
from bayeslearn.tables.text_heads import RaggedError, is_wide, require_unchanged, wide_batches

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from bayeslearn.sources.shards import Shard
    from bayeslearn.tables import Table
    from bayeslearn.tables.markers import Missing
    from bayeslearn.tables.text_heads import TextHead

    Tell = Callable[["ScanProgress"], object]


#: Words as numbers of a dictionary, made while parsing.
WORDS = pa.dictionary(pa.int32(), pa.string())


def read_shard(shard: Shard, columns: tuple[str, ...] | None, rows: int) -> Iterator[list[Column]]:
    """The columns of a shard, about `rows` rows at a time; columns that the file lacks are left out."""
    require_unchanged(shard.path, shard.stamp)
    batches = read_text(shard.path, columns) if shard.is_text else read_parquet(shard, columns, rows)
    try:
        for batch in batches:
            if len(batch[0]) if batch else 0:
                yield batch
    except DataError:
        require_unchanged(shard.path, shard.stamp)  # what is wrong with it may be that somebody writes to it
        raise
    require_unchanged(shard.path, shard.stamp)


### Parquet


def read_parquet(shard: Shard, columns: tuple[str, ...] | None, rows: int) -> Iterator[list[Column]]:
    """Row groups of a Parquet file; text comes as the dictionary it is stored as."""
    try:
        with arrow_file(shard.path) as opened, pyarrow.parquet.ParquetFile(opened) as head:
            schema, sizes = head.schema_arrow, [head.metadata.row_group(g).num_rows for g in shard.groups or ()]
        wanted = None if columns is None else frozenset(columns)
        names = [n for n in schema.names if wanted is None or n in wanted]
        declared = b"pandas" in (schema.metadata or {})
        words = [n for n in names if is_plain_text(schema.field(n).type, declared=declared)]
        plain = frozenset(words)
        with (
            arrow_file(shard.path) as opened,
            pyarrow.parquet.ParquetFile(opened, read_dictionary=words, pre_buffer=False) as file,
        ):
            n = near(rows, sizes)
            for batch in file.iter_batches(n, row_groups=list(shard.groups or ()), columns=names, use_threads=False):
                named = zip(batch.schema.names, batch.columns, strict=True)
                yield [
                    arrow_column(n, data, declared=declared and n not in plain, path=shard.path) for n, data in named
                ]
    except pa.ArrowMemoryError as error:
        raise short_of_memory(shard.path, error) from None
    except (pa.ArrowException, OSError, UnicodeError) as error:
        raise FormatError(f"{shard.path!r} cannot be read: {error}", hint=WHOLE, path=shard.path) from None


def is_plain_text(kind: Any, *, declared: bool) -> bool:
    """Whether a column is text, or words under a dictionary whose order is arbitrary."""
    if pa.types.is_dictionary(kind):
        return not (declared or kind.ordered) and is_text(kind.value_type)
    return is_text(kind) and not pa.types.is_null(kind)


def near(rows: int, groups: list[int]) -> int:
    """The number of rows of a batch, or that of a row group if it is about the same, which is read in one step."""
    largest = max(groups, default=rows)
    return largest if rows / 4 <= largest <= rows * 3 / 2 else rows


### text


def read_text(path: str, columns: tuple[str, ...] | None) -> Iterator[list[Column]]:
    """A CSV or TSV file, block by block, all of it as text."""
    head = header(found(path)[0])
    head.warn()
    names, wanted = head.names, None if columns is None else frozenset(columns)
    places = {f"f{i}": name for i, name in enumerate(names) if wanted is None or name in wanted}
    end = f"f{len(names) - 1}"  # a quotation mark that is never closed shows in the last column
    try:
        if is_wide(head):
            yield from wide_columns(head, columns)
            return
        types = dict.fromkeys(places, WORDS)
        types.setdefault(end, pa.string())
        how = pyarrow.csv.ConvertOptions(column_types=types, include_columns=list(types), strings_can_be_null=False)
        batch = None
        with row_stream(head) as stream:
            for batch in pyarrow.csv.open_csv(stream, read_options(head), parse_options(head), how):
                named = zip(batch.schema.names, batch.columns, strict=True)
                yield [Column(places[place], data, from_file=True) for place, data in named if place in places]
        if batch is not None:
            require_closed_quotes(head, batch.column(end))
    except pa.ArrowMemoryError as error:
        raise short_of_memory(path, error) from None
    except (pa.ArrowException, OSError, EOFError, zlib.error, UnicodeError, csv.Error, RaggedError) as error:
        if EMPTY in str(error):
            return
        raise explained(head, error) from None


def wide_columns(head: TextHead, columns: tuple[str, ...] | None) -> Iterator[list[Column]]:
    """A text file of very many columns, some rows at a time."""
    wanted, last = None if columns is None else frozenset(columns), None
    for arrays in wide_batches(head):
        last = arrays[-1]
        named = zip(head.names, arrays, strict=True)
        yield [Column(name, data, from_file=True) for name, data in named if wanted is None or name in wanted]
    if last is not None:
        require_closed_quotes(head, last)


def short_of_memory(path: str, error: Exception) -> CapacityError:
    """The error where a batch does not fit; the file is in order."""
    return CapacityError(
        f"there is not enough memory to read {path!r}: {error}",
        hint="give `memory_limit=` a smaller size, so that batches are shorter, or use fewer threads",
        path=path,
    )


def columns_of_batch(batch: Any) -> list[Column]:
    """The columns of an Arrow batch that comes from a database."""
    return [arrow_column(name, data) for name, data in zip(batch.schema.names, batch.columns, strict=True)]


S = TypeVar("S")
T = TypeVar("T")


@dataclass(frozen=True)
class ScanProgress:
    """How far a pass has come."""

    rows: int
    of: int | None
    seconds: float
    #: Shards that were read, and how many there are.
    shards: int = 0
    of_shards: int = 0
    #: When the pass began, by the clock of `time.perf_counter`: another pass, another moment.
    begun: float = 0.0

    @property
    def rate(self) -> float:
        """Rows per second."""
        return self.rows / self.seconds if self.seconds > 0 else 0.0


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class FileSource(Scanned):
    """CSV or Parquet files under one schema; :func:`~bayeslearn.scan` makes one."""

    shards: tuple[Shard, ...]
    engine: Engine = field(default_factory=ThreadEngine)
    #: Rows that are read at a time; by the number of columns when not told.
    batch_rows: int | None = None
    #: Files that could not be read, and why.
    skipped: Mapping[str, str] = field(default_factory=dict)
    #: Told how far a pass has come.
    progress: Callable[[ScanProgress], object] | None = None

    def __repr__(self) -> str:
        files = len(dict.fromkeys(shard.path for shard in self.shards))
        rows = f"{self.digest.rows:,} rows × " if self.digest else ""
        return f"FileSource({files} file{'s' * (files != 1)}, {rows}{len(self.schema)} columns)"

    # -- reading

    @property
    def coder(self) -> Coder:
        """What turns batches into tables."""
        return Coder(self.schema, self.request, self.weight)

    @property
    def rows_at_a_time(self) -> int:
        """How many rows a batch has."""
        return self.batch_rows or rows_of_batch(len(self.schema))

    def fold(self, collect: Callable[[Table], S]) -> S:
        """The sum over all shards, each read by the engine."""
        return self.fold_streams(self.coder.names, self.coder.table, MergedSum(collect, self.rows_at_a_time))

    def _parts(
        self,
        names: tuple[str, ...] | None,
        read: Callable[[list[Column]], T],
        *,
        rows: int | None,
        whole_files: bool,
    ) -> tuple[tuple[Shard, ...], ShardReader[T]]:
        shards = joined_shards(self.shards) if whole_files else self.shards
        return shards, ShardReader(names, rows or self.rows_at_a_time, read)

    def _folded(self, function: Any, parts: Any) -> Any:
        return folded(self.engine, function, parts, self.progress)

    def column_names(self) -> list[tuple[str, ...]]:
        """Those of each file."""
        return [tuple(kinds_of(path)) for path in dict.fromkeys(shard.path for shard in self.shards)]

    @property
    def is_here(self) -> bool:
        """Whether the engine is this machine."""
        return isinstance(self.engine, ThreadEngine)

    def batches(self, n: int | None = None) -> Iterator[Table]:
        """The rows in the order of the files, on this machine."""
        read = (
            t for shard in self.shards for t in tables_of(shard, self.coder, min(n or 1 << 62, self.rows_at_a_time))
        )
        return read if n is None else rebatched(read, n)

    def look(self) -> ColumnProfiles:
        """What all columns show, by a pass."""
        found: Looked = self._folded(ShardDigest(None, self.rows_at_a_time, self.request.missing), self.shards)
        return require_some(None if found is None else found.digest, self)

    def with_engine(self, engine: Engine) -> Self:
        """The same files, read elsewhere."""
        return replace(self, engine=engine)


### parts that travel


@dataclass(frozen=True)
class MergedSum:
    """What is made of the tables of a shard: short ones are collected together."""

    collect: Callable[[Table], Any]
    rows: int

    def __call__(self, tables: Iterator[Table]) -> Any:
        """The sum over one shard; None when it has no rows."""
        return Summed(self.collect)(merged(tables, self.rows))


@dataclass(frozen=True)
class ShardReader(Generic[T]):
    """Reads the batches of a shard; an error has its place."""

    names: tuple[str, ...] | None
    rows: int
    read: Callable[[list[Column]], T]

    def __call__(self, shard: Shard, tell: Callable[[int], object] | None = None) -> Iterator[T]:
        """What is made of each batch; `tell` is called with its rows when it is done."""
        row = shard.first
        for columns in read_shard(shard, self.names, self.rows):
            try:
                found = self.read(columns)
            except DataError as error:
                raise located(error, shard, row) from None
            yield found
            row += len(columns[0])
            if tell is not None:
                tell(len(columns[0]))


@dataclass(frozen=True)
class ShardDigest:
    """The digest of one shard; of one that cannot be read what is wrong, if that is wanted."""

    names: tuple[str, ...] | None
    rows: int
    missing: Missing
    skip: bool = False
    tell: Callable[[int], object] | None = None

    def __call__(self, shard: Shard) -> Looked:
        """What one shard shows."""
        total: Sum[ColumnProfiles] = Sum()
        try:
            for columns in read_shard(shard, self.names, self.rows):
                total.add(digest_of(columns, self.missing))
                if self.tell is not None and columns:
                    self.tell(len(columns[0]))
        except FormatError as error:
            if not self.skip:
                raise
            return Looked(broken={shard.path: error.message})
        found = total.total
        if found is None:
            return Looked()
        return Looked({shard.path if self.skip else "": found}, rows={shard.path: found.rows} if shard.is_text else {})


@dataclass(frozen=True)
class Looked:
    """Digests, by file where some may have to be left out; files that could not be read; rows of text files."""

    digests: Mapping[str, ColumnProfiles] = field(default_factory=dict)
    broken: Mapping[str, str] = field(default_factory=dict)
    rows: Mapping[str, int] = field(default_factory=dict)

    def __add__(self, other: Looked) -> Looked:
        both = dict(self.digests)
        for path, digest in other.digests.items():
            both[path] = both[path] + digest if path in both else digest
        return Looked(both, {**self.broken, **other.broken}, {**self.rows, **other.rows})

    @property
    def digest(self) -> ColumnProfiles | None:
        """That of all files that can be read from end to end."""
        total: Sum[ColumnProfiles] = Sum()
        for path, digest in self.digests.items():
            if path not in self.broken:
                total.add(digest)
        return total.total


def tables_of(shard: Shard, coder: Coder, rows: int) -> Iterator[Table]:
    """The tables of a shard."""
    return ShardReader(coder.names, rows, coder.table)(shard)


def located(error: DataError, shard: Shard, row: int) -> DataError:
    """The error with the file it was in, and the row counted there."""
    if isinstance(error, FormatError) or "path" in error.details:
        return error
    message = error.message
    if isinstance(error.details.get("row"), int):
        here = error.details["row"]
        message = message.replace(f"row {here}", f"row {here + row}")
    details = {**error.details, "path": shard.path}
    return type(error)(f"{shard.path!r}: {message}", hint=error.hint, **details)


### how far it is


def folded(engine: Engine, function: Any, shards: tuple[Shard, ...], progress: Tell | None) -> Any:
    """A pass over shards; on this machine every batch is reported, on others every shard."""
    watch = watched(progress, shards)
    if isinstance(watch, Watch) and isinstance(engine, ThreadEngine):
        function = replace(function, tell=watch.batch)
    return engine.fold(function, shards, watch)


def watched(progress: Tell | None, shards: tuple[Shard, ...]) -> Callable[[Shard], object]:
    """A callback for every shard that was read, which reports the progress of the pass."""
    return (lambda _: None) if progress is None else Watch(progress, shards)


class Watch:
    """Counts what was read in a pass."""

    def __init__(self, progress: Tell, shards: tuple[Shard, ...]) -> None:
        sizes = [shard.rows for shard in shards]
        self.of = None if any(n is None for n in sizes) else sum(n or 0 for n in sizes)
        self.progress, self.of_shards, self.lock = progress, len(shards), threading.Lock()
        self.begun, self.rows, self.shards, self.by_batch = time.perf_counter(), 0, 0, False

    def batch(self, rows: int) -> None:
        """Count another batch, reported by its reader."""
        with self.lock:
            self.by_batch = True
            self.rows += rows
            self._tell()

    def __call__(self, shard: Shard) -> None:
        """Another shard."""
        with self.lock:
            self.shards += 1
            self.rows += 0 if self.by_batch else shard.rows or 0
            self._tell()

    def _tell(self) -> None:
        seconds = time.perf_counter() - self.begun
        self.progress(ScanProgress(self.rows, self.of, seconds, self.shards, self.of_shards, self.begun))
