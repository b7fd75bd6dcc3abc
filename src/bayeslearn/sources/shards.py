"""Shards: the parts of a set of files that are read apart, on any thread or machine.

A shard is a text file, or some row groups of a Parquet file. It is small, it can be sent, and whoever gets it reads
its rows with the same code.
"""

from __future__ import annotations

import glob
import os
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayeslearn.errors import DuplicateColumnError, FormatError, InputFileNotFoundError, ParameterError, option
from bayeslearn.tables.file_names import TEXT, ending, is_file, is_folder
from bayeslearn.tables.file_readers import READERS, column_names, found, parquet_file
from bayeslearn.tables.schema import require_unique

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from bayeslearn.tables.text_heads import Stamp

#: Rows that make a shard of Parquet files at most, as far as row groups allow; in how many shards few rows come, so
#: that every thread has some, and how many rows these have at least.
SHARD_ROWS, SHARES, LEAST_ROWS = 1 << 20, 16, 1 << 16


@dataclass(frozen=True)
class Shard:
    """A file, or row groups of a Parquet file."""

    path: str
    #: Which row groups; None for all of a text file.
    groups: tuple[int, ...] | None = None
    #: Its rows, and those of the file that come before; a text file does not tell.
    rows: int | None = None
    first: int = 0
    #: What the file looked like when it was opened.
    stamp: Stamp | None = field(default=None, compare=False)

    @property
    def is_text(self) -> bool:
        """Whether it is read line by line."""
        return self.groups is None

    def __str__(self) -> str:
        return repr(self.path) if not self.first else f"{self.path!r}, from row {self.first}"


def matching(paths: Any) -> list[str]:
    """The files of a pattern, a directory, or a list of these, in the order of their names."""
    if isinstance(paths, str | os.PathLike):
        paths = [paths]
    every = [name for path in paths for name in sorted(one_pattern(os.fspath(path)))]
    if not every:
        raise ParameterError("there are no files to read", hint="give paths or patterns such as 'cases-*.parquet'")
    return list(dict.fromkeys(every))


def one_pattern(pattern: str) -> list[str]:
    """The files that a pattern or a directory stands for; a plain path stands for itself."""
    if "://" in pattern:
        raise ParameterError(
            f"cannot read {pattern!r}: files are read from disks that this machine mounts",
            hint="mount or copy the files, or let DuckDB read them: scan(duckdb.sql(\"select * from 's3://…'\"))",
        )
    if is_folder(pattern):
        return [str(p) for p in Path(pattern).rglob("*") if p.is_file() and ending(p) in READERS]
    if is_file(pattern) or not glob.has_magic(pattern):
        return [pattern]
    files = [p for p in glob.glob(pattern, recursive=True) if is_file(p)]  # noqa: PTH207 - ** and absolute ones
    if not files:
        raise InputFileNotFoundError(
            f"no file matches {pattern!r}", hint=f"looked in {Path(pattern).absolute().parent}", path=pattern
        )
    return files


def row_groups(path: str) -> list[int] | None:
    """The rows of each row group of a Parquet file; None for a text file."""
    _, kind = found(path)
    if kind in TEXT:
        column_names(path)  # a file without a head is broken
        return None
    with parquet_file(Path(path)) as file:
        return [file.metadata.row_group(g).num_rows for g in range(file.metadata.num_row_groups)]


def shards_of(groups: Mapping[str, list[int] | None], stamps: Mapping[str, Stamp | None]) -> Iterator[Shard]:
    """The parts of files: of Parquet files so many row groups that they make a good share of the work."""
    total = sum(sum(sizes) for sizes in groups.values() if sizes is not None)
    most = min(SHARD_ROWS, max(total // SHARES, LEAST_ROWS))
    for path, sizes in groups.items():
        parts = [Shard(path)] if sizes is None else grouped(path, sizes, most)
        yield from (replace(shard, stamp=stamps.get(path)) for shard in parts)


def grouped(path: str, sizes: Iterable[int], most: int) -> Iterator[Shard]:
    """Row groups that follow each other, together as long as they have no more rows than that."""
    together: list[int] = []
    first = rows = 0
    for group, size in enumerate(sizes):
        if together and rows + size > most:
            yield Shard(path, tuple(together), rows, first)
            together, first, rows = [], first + rows, 0
        together.append(group)
        rows += size
    if together:
        yield Shard(path, tuple(together), rows, first)


def joined_shards(shards: tuple[Shard, ...]) -> tuple[Shard, ...]:
    """The same files, each in one shard: row groups may split what belongs together."""
    return tuple(one_file(list(parts)) for _, parts in groupby(shards, key=lambda shard: shard.path))


def one_file(shards: list[Shard]) -> Shard:
    """The parts of a file as one."""
    if shards[0].groups is None:
        return shards[0]
    groups = tuple(group for shard in shards for group in shard.groups or ())
    return replace(shards[0], groups=groups, rows=sum(shard.rows or 0 for shard in shards))


def kinds_of(path: str) -> dict[str, str]:
    """The columns of a file and what they hold, as far as its head tells; in a text file all is text."""
    from bayeslearn.tables.columns import arrow_columns  # noqa: PLC0415 - Arrow loads when data come in

    names = column_names(path)
    try:
        require_unique(names)
    except DuplicateColumnError as error:
        error.add_note(f"in {path!r}")
        raise
    if found(path)[1] in TEXT:
        return dict.fromkeys(names, "untyped text")
    with parquet_file(Path(path)) as file:
        return {column.name: safe_kind(column) for column in arrow_columns(file.schema_arrow.empty_table())}


def safe_kind(column: Any) -> str:
    """What a column holds, also one that no table can hold."""
    from bayeslearn.errors import DataError  # noqa: PLC0415

    try:
        return column.kind
    except DataError:
        return str(column.data.type)


def require_alike(paths: list[str], wanted: Iterable[str] | None = None) -> dict[str, str]:
    """The columns of the first file, which all others share as far as they are wanted; two that differ are an error."""
    first = kinds_of(paths[0])
    for path in paths[1:]:
        other = kinds_of(path)
        odd = next((n for n in wanted or dict.fromkeys((*first, *other)) if first.get(n) != other.get(n)), None)
        if odd is not None:
            said = [told(odd, first, paths[0]), told(odd, other, path)]
            raise FormatError(
                f"the files differ in column {odd!r}: it {' and '.join(said)}",
                hint=f"scan files of one kind together, or drop the column: {option('drop_columns', [odd])}",
                column=odd,
                paths=[paths[0], path],
            )
    return first


def told(column: str, kinds: dict[str, str], path: str) -> str:
    """What a column is in a file."""
    return f"holds {kinds[column]} in {path!r}" if column in kinds else f"is missing in {path!r}"
