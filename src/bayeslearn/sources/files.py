"""Files that are folded where they lie: CSV and Parquet, any number, larger than memory."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self, TypeVar

from bayeslearn.errors import DataError, FormatError
from bayeslearn.sources.base import Scanned, merged, rebatched, require_some, rows_of_batch
from bayeslearn.sources.coding import Coder
from bayeslearn.sources.digest import Digest, digest_of
from bayeslearn.sources.engines import Engine, Local, Sum
from bayeslearn.sources.reading import read_shard

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from bayeslearn.sources.shards import Shard
    from bayeslearn.tables import Table
    from bayeslearn.tables.markers import Missing

    Tell = Callable[["Pace"], object]

S = TypeVar("S")


@dataclass(frozen=True)
class Pace:
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
class Files(Scanned):
    """CSV or Parquet files under one schema; :func:`~bayeslearn.scan` makes one."""

    shards: tuple[Shard, ...]
    engine: Engine = field(default_factory=Local)
    #: Rows that are read at a time; by the number of columns when not told.
    batch_rows: int | None = None
    #: Files that could not be read, and why.
    skipped: Mapping[str, str] = field(default_factory=dict)
    #: Told how far a pass has come.
    progress: Callable[[Pace], object] | None = None

    def __repr__(self) -> str:
        files = len(dict.fromkeys(shard.path for shard in self.shards))
        rows = f"{self.digest.rows:,} rows × " if self.digest else ""
        return f"Files({files} file{'s' * (files != 1)}, {rows}{len(self.schema)} columns)"

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
        """The sum over all shards, each read where the engine says."""
        return require_some(self._folded(ShardFold(self.coder, self.rows_at_a_time, collect)), self)

    def _folded(self, function: ShardFold | ShardDigest) -> Any:
        return folded(self.engine, function, self.shards, self.progress)

    def batches(self, n: int | None = None) -> Iterator[Table]:
        """The rows in the order of the files, on this machine."""
        read = (
            t for shard in self.shards for t in tables_of(shard, self.coder, min(n or 1 << 62, self.rows_at_a_time))
        )
        return read if n is None else rebatched(read, n)

    def look(self) -> Digest:
        """What all columns show, by a pass."""
        found: Looked = self._folded(ShardDigest(None, self.rows_at_a_time, self.request.missing))
        return require_some(None if found is None else found.digest, self)

    def with_engine(self, engine: Engine) -> Self:
        """The same files, read elsewhere."""
        return replace(self, engine=engine)


### parts that travel


@dataclass(frozen=True)
class ShardFold:
    """What is made of one shard: batches coded, collected and added."""

    coder: Coder
    rows: int
    collect: Callable[[Table], Any]
    #: Told the rows of every batch; it does not travel.
    tell: Callable[[int], object] | None = None

    def __call__(self, shard: Shard) -> Any:
        """The sum over one shard; None when it has no rows."""
        total: Sum[Any] = Sum()
        for table in merged(tables_of(shard, self.coder, self.rows), self.rows):
            total.add(self.collect(table))
            if self.tell is not None:
                self.tell(table.n_rows)
        return total.total


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
        total: Sum[Digest] = Sum()
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

    digests: Mapping[str, Digest] = field(default_factory=dict)
    broken: Mapping[str, str] = field(default_factory=dict)
    rows: Mapping[str, int] = field(default_factory=dict)

    def __add__(self, other: Looked) -> Looked:
        both = dict(self.digests)
        for path, digest in other.digests.items():
            both[path] = both[path] + digest if path in both else digest
        return Looked(both, {**self.broken, **other.broken}, {**self.rows, **other.rows})

    @property
    def digest(self) -> Digest | None:
        """That of all files that can be read from end to end."""
        total: Sum[Digest] = Sum()
        for path, digest in self.digests.items():
            if path not in self.broken:
                total.add(digest)
        return total.total


def tables_of(shard: Shard, coder: Coder, rows: int) -> Iterator[Table]:
    """The tables of a shard; an error says where it was."""
    row = shard.first
    try:
        for columns in read_shard(shard, coder.names, rows):
            table = coder.table(columns)
            row += table.n_rows
            yield table
    except DataError as error:
        raise located(error, shard, row) from None


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
    """A pass over shards; on this machine every batch is told of, on others every shard."""
    watch = watched(progress, shards)
    if isinstance(watch, Watch) and isinstance(engine, Local):
        function = replace(function, tell=watch.batch)
    return engine.fold(function, shards, watch)


def watched(progress: Tell | None, shards: tuple[Shard, ...]) -> Callable[[Shard], object]:
    """What is told of every shard that was read, and tells how far the pass has come."""
    return (lambda _: None) if progress is None else Watch(progress, shards)


class Watch:
    """Counts what was read in a pass."""

    def __init__(self, progress: Tell, shards: tuple[Shard, ...]) -> None:
        sizes = [shard.rows for shard in shards]
        self.of = None if any(n is None for n in sizes) else sum(n or 0 for n in sizes)
        self.progress, self.of_shards, self.lock = progress, len(shards), threading.Lock()
        self.begun, self.rows, self.shards, self.by_batch = time.perf_counter(), 0, 0, False

    def batch(self, rows: int) -> None:
        """Another batch, told by whoever read it."""
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
        self.progress(Pace(self.rows, self.of, seconds, self.shards, self.of_shards, self.begun))
