"""Reading a shard: Arrow batches of a few columns, one after the other, with little in memory at a time."""

from __future__ import annotations

import csv
import zlib
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from bayeslearn.errors import CapacityError, DataError, FormatError
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
from bayeslearn.tables.text_heads import RaggedError, is_wide, require_unchanged, wide_batches

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bayeslearn.sources.shards import Shard
    from bayeslearn.tables.text_heads import TextHead

#: Words as numbers of a dictionary, made while parsing.
WORDS = pa.dictionary(pa.int32(), pa.string())


def read_shard(shard: Shard, columns: tuple[str, ...] | None, rows: int) -> Iterator[list[Column]]:
    """The columns of a shard, about so many rows at a time; columns that the file lacks are left out."""
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
    """Whether a column is text, or words under a dictionary whose order says nothing."""
    if pa.types.is_dictionary(kind):
        return not (declared or kind.ordered) and is_text(kind.value_type)
    return is_text(kind) and not pa.types.is_null(kind)


def near(rows: int, groups: list[int]) -> int:
    """So many rows at a time, or those of a row group where that is about the same: it is read at one go."""
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
