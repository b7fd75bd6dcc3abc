"""Rows that were read once and kept as codes on disk: every later pass costs little more than one in memory.

A folder of parts, each of them the arrays of one batch (codes, values, weights, as NumPy writes them), and a file that
describes them. Nothing in it is ever executed. Parts have names that no part had before, and the file that
describes them is replaced when all are written, so that a folder holds the rows of before or all the new ones.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Self, TypeVar

from bayeslearn import files as writing
from bayeslearn import strict_json
from bayeslearn.errors import BayeslearnError, ChangedFileError, FormatError, ParameterError
from bayeslearn.source_text import Source
from bayeslearn.sources.base import MOST_ROWS, Extent, Scanned, merged, rebatched, require_some
from bayeslearn.sources.batch_source import BatchReader, BatchStreams
from bayeslearn.sources.column_profiles import ColumnProfiles, digest_of
from bayeslearn.sources.engines import Engine, ThreadEngine
from bayeslearn.sources.file_source import FileSource, folded, tables_of
from bayeslearn.sources.shards import read_table, write_arrays
from bayeslearn.tables import Schema, Table
from bayeslearn.tables.arrow_columns import table_column, table_columns
from bayeslearn.tables.conversion import requested
from bayeslearn.tables.file_names import MANIFEST, is_file
from bayeslearn.tables.markers import Missing
from bayeslearn.tables.source_protocol import Sum
from bayeslearn.tables.table_builder import build
from bayeslearn.tables.text_heads import Stamp, stamp_of

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator

    from bayeslearn.sources.encoding import Coder
    from bayeslearn.sources.shards import Shard
    from bayeslearn.tables.columns import Column

S = TypeVar("S")
T = TypeVar("T")

#: More rows than any folder has.
MOST_COUNTED = 1 << 48

#: The form that a folder has.
FORM = "bayeslearn encoded rows 1"


@dataclass(frozen=True)
class Block:
    """One batch on disk."""

    path: str
    rows: int
    #: What the file looked like when the folder was opened.
    stamp: Stamp | None = field(default=None, compare=False)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class EncodedSource(Scanned):
    """Rows as codes on disk: :func:`encode_to_disk` makes one, and :func:`~bayeslearn.scan` opens its folder again."""

    parts: tuple[Block, ...]
    #: The variables as they were written; those of `schema` may be fewer, or coded otherwise.
    written: Schema
    #: How much there is of the variables as written.
    known: Extent
    engine: Engine = field(default_factory=ThreadEngine)

    def __repr__(self) -> str:
        return f"EncodedSource({self.known.rows:,} rows × {len(self.schema)} columns)"

    def fold(self, collect: Callable[[Table], S]) -> S:
        """The sum over all parts, each read by the engine."""
        return require_some(self.engine.fold(PartFold(self._read, collect), self.parts, lambda _: None), self)

    def _parts(
        self,
        names: tuple[str, ...] | None,
        read: Callable[[list[Column]], T],
        *,
        rows: int | None,  # noqa: ARG002 - parts are read as they were written
        whole_files: bool,
    ) -> tuple[Iterable[Any], BatchReader[T]]:
        parts = (part for part in self.parts if part.rows)
        return BatchStreams(parts, whole_files), BatchReader(names, read, PartColumns(self.written, names))

    def _folded(self, function: Any, parts: Iterable[Any]) -> Any:
        return self.engine.fold(function, parts, lambda _: None)

    def column_names(self) -> list[tuple[str, ...]]:
        """Those that were written."""
        return [self.written.names]

    @property
    def is_here(self) -> bool:
        """Whether the engine is this machine."""
        return isinstance(self.engine, ThreadEngine)

    def batches(self, n: int | None = None) -> Iterator[Table]:
        """The rows in order."""
        tables = map(self._read, self.parts)
        return tables if n is None else rebatched(tables, n)

    def look(self) -> ColumnProfiles:
        """What all columns show, by a pass."""
        whole = replace(self, schema=self.written)
        return whole.fold(lambda table: digest_of(table_columns(table), Missing.plain([])))

    @cached_property
    def totals(self) -> Extent:
        """As they were counted, or of other columns by a pass."""
        if self.schema == self.written and self.weight is None:
            return self.known
        return self.fold(Extent.of)

    def with_engine(self, engine: Engine) -> Self:
        """The same rows, read elsewhere."""
        return replace(self, engine=engine)

    @property
    def _read(self) -> PartReader:
        return PartReader(self.written, self.schema, self.request.unseen, self.request.absent, self.weight)


### reading


@dataclass(frozen=True)
class PartReader:
    """Reads parts, under the schema they were written with or another."""

    written: Schema
    schema: Schema
    unseen: Any
    absent: Any
    weight: str | None

    def __call__(self, part: Block) -> Table:
        """The table of one part."""
        table = read_part(part, self.written)
        if self.schema == self.written and self.weight is None:
            return table
        if set(self.schema) <= set(self.written) and self.weight is None:
            return table.select(self.schema.names)
        request = requested(
            handle_unknown=self.unseen, missing_columns=self.absent
        )  # what is unseen was reported before
        return build(table, request, schema=self.schema, names=None, sample_weight=self.weight)


@dataclass(frozen=True)
class PartColumns:
    """Reads the raw columns of a part, as they were written; it may travel."""

    written: Schema
    names: tuple[str, ...] | None

    def __call__(self, part: Block) -> list[Column]:
        """Those of one part."""
        table = read_part(part, self.written)
        there = self.written.names if self.names is None else [name for name in self.names if name in self.written]
        return [table_column(table, name) for name in there]


@dataclass(frozen=True)
class PartFold:
    """What is made of one part."""

    read: PartReader
    collect: Callable[[Table], Any]

    def __call__(self, part: Block) -> Any:
        """Of its rows, if it has any."""
        return self.collect(self.read(part)) if part.rows else None


def read_part(part: Block, schema: Schema) -> Table:
    """The arrays of a part, which must fit its schema."""
    try:
        return read_table(part, schema)
    except (OSError, ValueError, BayeslearnError) as error:
        if isinstance(error, ChangedFileError):
            raise
        raise damaged(part.path, f"is not a part of encoded rows: {told(error)}") from None


def told(error: Exception) -> str:
    """The message of an error, without its hint."""
    return error.message if isinstance(error, BayeslearnError) else str(error)


def damaged(path: Any, what: str) -> FormatError:
    """The error of a folder that was changed, or written in part."""
    return FormatError(f"{str(path)!r} {what}", hint="encode the data again: the folder is damaged", path=path)


def open_encoded(folder: str | os.PathLike[str], engine: Engine | None = None) -> EncodedSource:
    """The rows of a folder that was written before, checked as far as its description goes."""
    place = Path(folder) / MANIFEST
    try:
        entry = described(place)
        if entry["form"] != FORM:
            raise FormatError(
                f"{str(place)!r} is of the form {entry['form']!r:.60}, expected {FORM!r}",
                hint="encode the data again with this version",
                path=place,
            )
        schema = Schema.from_dict(entry["schema"])
        parts = tuple(block(Path(folder), name, rows) for name, rows in entry["parts"])
        missing = tuple(count("missing", n) for n in entry["missing"])
        known = Extent(count("rows", entry["rows"]), weight_of(entry["weight"]), missing)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        if isinstance(error, BayeslearnError):
            raise
        raise damaged(place, f"does not describe encoded rows: {error}") from None
    rows = sum(part.rows for part in parts)
    if len(missing) != len(schema) or rows != known.rows or any(n > rows for n in missing):
        raise damaged(place, "contradicts itself about its rows or columns")
    if (rows and not len(schema)) or len({part.path for part in parts}) < len(parts):
        raise damaged(place, "contradicts itself about its parts")
    return EncodedSource(schema=schema, written=schema, parts=parts, known=known, engine=engine or ThreadEngine())


def described(place: Path) -> Any:
    """The description of a folder, as strictly read as models are."""
    try:
        return strict_json.loaded(Source(writing.read(place).decode()))
    except FormatError as error:
        raise damaged(place, f"does not describe encoded rows: {error.message}") from None


def block(folder: Path, name: Any, rows: Any) -> Block:
    """A part that is there."""
    path = folder / plain_name(name)
    stamp = stamp_of(path)
    if stamp is None:
        raise ValueError(f"there is no file {name!r}")
    return Block(str(path), count("rows", rows), stamp)


def count(what: str, n: Any) -> int:
    """A whole number of rows."""
    if type(n) is not int or not 0 <= n < MOST_COUNTED:
        raise ValueError(f"{what} must be a number of rows, got {n!r:.40}")
    return n


def weight_of(x: Any) -> float:
    """A sum of weights."""
    if type(x) not in {int, float} or not 0 <= x < math.inf:
        raise ValueError(f"the weight must be a number, got {x!r:.40}")
    return float(x)


def is_encoded(path: Any) -> bool:
    """Whether a path is that of a folder of encoded rows."""
    return is_file(Path(path) / MANIFEST)


def plain_name(name: Any) -> str:
    """The name of a file of this folder and no other."""
    if not isinstance(name, str) or Path(name).name != name or not name.endswith(".part"):
        raise ValueError(f"{name!r} is not the name of a part")
    return name


### writing


#: Files that a folder of encoded rows may hold beside the one that describes it: parts, and what a kill left of one.
OWN_NAME = re.compile(r"(?:[0-9a-f]{16}-)?(?:[0-9a-f]{16}|batch)-\d{6,}\.part|\.[0-9a-f]{16}\.tmp").fullmatch


def encode_to_disk(source: Scanned, folder: str | os.PathLike[str]) -> EncodedSource:
    """Read a source once and keep its rows as codes in a folder, made if need be; encoded rows in it are replaced.

    They are replaced when all are written, so that they may be the source, and so that a full disk, a kill or Ctrl-C
    leaves them unchanged. Learners that pass over the data again and again are then as fast as in memory, or nearly.
    On a cluster every worker writes what it reads, so the folder must be one that all of them see.
    """
    place = Path(folder)
    with new_parts(place) as prefix:
        written = require_some(_written(source, str(place.absolute()), prefix), source)
        entry = {
            "form": FORM,
            "schema": source.schema.to_dict(),
            "rows": written.totals.rows,
            "weight": written.totals.weight,
            "missing": list(written.totals.missing),
            "parts": [(Path(part.path).name, part.rows) for part in written.parts],
        }
        writing.write(place / MANIFEST, json.dumps(entry).encode())
    remove_parts(place, lambda name: not name.startswith(prefix))
    return open_encoded(place, getattr(source, "engine", None))


@contextmanager
def new_parts(folder: Path) -> Iterator[str]:
    """A folder to write parts to, and how their names begin; if the block fails, those that it wrote are removed."""
    prefix = f"{token_hex(8)}-"
    with writing.named_faults(folder):
        is_new = not folder.exists()
        folder.mkdir(parents=True, exist_ok=True)
    if not is_encoded(folder) and not all(OWN_NAME(path.name) for path in folder.iterdir()):
        raise ParameterError(f"{str(folder)!r} holds other files", hint="name a folder that is empty, or not there yet")
    try:
        yield prefix
    except BaseException:
        remove_parts(folder, lambda name: name.startswith(prefix))
        if is_new:
            with suppress(OSError):
                folder.rmdir()
        raise


def remove_parts(folder: Path, which: Callable[[str], bool]) -> None:
    """Remove the parts of some names."""
    for path in folder.iterdir():
        if OWN_NAME(path.name) and which(path.name):
            with suppress(OSError):
                path.unlink()


def _written(source: Scanned, folder: str, prefix: str) -> Written | None:
    if isinstance(source, FileSource):
        work = WriteShard(source.coder, source.rows_at_a_time, folder, prefix)
        return folded(source.engine, work, source.shards, source.progress)
    return write_tables(merged(source.batches(), MOST_ROWS), folder, f"{prefix}batch")


@dataclass(frozen=True)
class Written:
    """Parts that were written, in order."""

    parts: tuple[Block, ...]
    totals: Extent

    def __add__(self, other: Written) -> Written:
        return Written(self.parts + other.parts, self.totals + other.totals)


@dataclass(frozen=True)
class WriteShard:
    """Writes one shard."""

    coder: Coder
    rows: int
    folder: str
    #: How the names of its parts begin.
    prefix: str
    #: Told the rows of every part; it does not travel.
    tell: Callable[[int], object] | None = None

    def __call__(self, shard: Shard) -> Written | None:
        """Its parts."""
        name = hashlib.sha256(repr((shard.path, shard.groups)).encode()).hexdigest()[:16]
        tables = merged(tables_of(shard, self.coder, self.rows), self.rows)
        return write_tables(tables, self.folder, self.prefix + name, self.tell)


def write_tables(
    tables: Iterable[Table], folder: str, name: str, tell: Callable[[int], object] | None = None
) -> Written | None:
    """One part for each table."""
    total: Sum[Written] = Sum()
    for number, table in enumerate(tables):
        path = Path(folder) / f"{name}-{number:06}.part"
        with writing.beside(path) as place, place.open("wb") as file:
            write_arrays(file, table)
        total.add(Written((Block(str(path), table.n_rows),), Extent.of(table)))
        if tell is not None:
            tell(table.n_rows)
    return total.total
