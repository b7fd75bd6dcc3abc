"""Shards: the parts of a set of files that are read apart, on any thread or machine.

A shard is a text file, or some row groups of a Parquet file. It is small, it can be sent, and every worker reads
its rows with the same code.

Parts of encoded rows are three arrays as NumPy writes them, each read only if its head is the expected one. A head is
compared with a pattern and never evaluated, and the size of the file is compared with the shape before anything is
allocated, so that a part that was tampered with costs nothing.
"""

from __future__ import annotations

import glob
import os
import re
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import DuplicateColumnError, FormatError, InputFileNotFoundError, ParameterError, option
from bayeslearn.tables import Schema, Table
from bayeslearn.tables.file_names import TEXT, ending, is_file, is_folder
from bayeslearn.tables.file_readers import READERS, column_names, found, parquet_file
from bayeslearn.tables.schema import require_unique
from bayeslearn.tables.text_heads import require_unchanged

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from bayeslearn.sources.encoded_source import Block
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
    """The parts of files: of Parquet files row groups that are a good share of the work."""
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
    """The columns of a file and what they hold, as far as its head declares; in a text file all is text."""
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


#: How NumPy's files begin, and the longest head that is read.
MAGIC, LONGEST = b"\x93NUMPY\x01\x00", 256

#: The head of an array: type of its numbers, order, and shape.
HEAD = re.compile(
    rb"\{'descr': '([<>|]\w\d)', 'fortran_order': False, 'shape': \((\d{1,15}),(?: (\d{1,15}))?\), \} *\n"
)

#: The types of codes, and of values and weights.
CODES, FLOATS = ("|i1", "<i2", ">i2", "<i4", ">i4"), ("<f8", ">f8")


def write_arrays(file: BinaryIO, table: Table) -> None:
    """Codes, values and weights; of the last none where every row counts once."""
    for array in (table.codes, table.values, np.empty(0) if table.sample_weight is None else table.sample_weight):
        np.lib.format.write_array_header_1_0(
            file, np.lib.format.header_data_from_array_1_0(np.ascontiguousarray(array))
        )
        # np.save does not say that a disk is full
        file.write(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)


def read_table(part: Block, schema: Schema) -> Table:
    """The table of a part; a ValueError has the difference of the file from what was expected."""
    require_unchanged(part.path, part.stamp)
    with Path(part.path).open("rb") as file:
        codes = read_array(file, "codes", CODES, [(len(schema.discrete), part.rows)])
        values = read_array(file, "values", FLOATS, [(len(schema.numeric), part.rows)])
        weights = read_array(file, "weights", FLOATS, [(0,), (part.rows,)])
        if file.read(1):
            raise ValueError("there is something behind its arrays")
    require_unchanged(part.path, part.stamp)
    if np.isinf(values).any():
        raise ValueError("its values must be finite")
    return Table(schema, codes, values, weights if weights.size else None)


def read_array(file: BinaryIO, what: str, kinds: Iterable[str], shapes: list[tuple[int, ...]]) -> NDArray[Any]:
    """The next array of a file, of one of these types and shapes."""
    start = file.read(len(MAGIC) + 2)
    length = int.from_bytes(start[-2:], "little")
    head = file.read(length) if start.startswith(MAGIC) and length <= LONGEST else b""
    found = HEAD.fullmatch(head)
    if found is None:
        raise ValueError(f"there is no array of {what}")
    kind, shape = found[1].decode(), tuple(int(n) for n in found.groups()[1:] if n is not None)
    if kind not in kinds or shape not in shapes:
        raise ValueError(f"its {what} are {kind} of shape {shape}, expected {' or '.join(map(str, shapes))}")
    dtype, n = np.dtype(kind), int(np.prod(shape, dtype=object))
    if n * dtype.itemsize > os.fstat(file.fileno()).st_size - file.tell():
        raise ValueError(f"its {what} are cut off")
    read = np.fromfile(file, dtype, n).astype(dtype.newbyteorder("="), copy=False)
    return validation.lock(read).reshape(shape)
