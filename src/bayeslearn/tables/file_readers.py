"""CSV and Parquet files as Arrow columns.

Every cell of a text file is read as text, so that '01' stays '01'; what is a number is decided later, column by column.
"""

from __future__ import annotations

import csv
import gzip
import io
import os
import zlib
from codecs import BOM_UTF8
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from bayeslearn.capacity import free_memory, size_of
from bayeslearn.errors import CapacityError, EmptyTableError, FormatError, InputFileNotFoundError, in_python
from bayeslearn.tables.columns import Column, arrow_columns, is_unicode
from bayeslearn.tables.fast_csv import coded_columns
from bayeslearn.tables.file_names import DELIMITERS, PARQUET, TEXT, ending, is_file, is_folder, is_packed
from bayeslearn.tables.text_heads import (
    RaggedError,
    TextHead,
    is_wide,
    require_unchanged,
    stamp_of,
    text_head,
    wide_batches,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: Bytes that a packed file may become in memory; larger ones are scanned.
MAX_BYTES = 1 << 32

#: Bytes of memory that a byte of a text file takes at most while it becomes columns: those of one letter a cell.
COPIES = 6

#: What to do about a file that is broken.
WHOLE = "see whether it is complete and of the kind of its name"


def read_file(path: str | os.PathLike[str]) -> list[Column]:
    """The columns of a file, by the ending of its name."""
    path, kind = found(path)
    stamp = stamp_of(path)
    columns = READERS[kind](path)
    require_unchanged(path, stamp)
    return columns


def file_table(path: str | os.PathLike[str]) -> Any:
    """A file as an Arrow table: of a text file all cells as text, of a Parquet file with its types and its index."""
    path, kind = found(path)
    if kind not in TEXT:
        with parquet_file(path) as file:
            return whole_parquet(file, path)
    columns = read_text(path)
    return pa.table([column.data.cast(pa.string()) for column in columns], names=[column.name for column in columns])


def column_names(path: str | os.PathLike[str]) -> list[str]:
    """The names of the columns of a file, which is not read any further."""
    path, kind = found(path)
    if kind in TEXT:
        return header(path).names
    with parquet_file(path) as file:
        return [column.name for column in arrow_columns(file.schema_arrow.empty_table())]


def found(path: str | os.PathLike[str]) -> tuple[Path, str]:
    """An existing file, and the ending that determines its reader."""
    path = Path(path)
    if not is_file(path):
        what = "is a directory" if is_folder(path) else "there is no such file"
        raise InputFileNotFoundError(
            f"cannot read {str(path)!r}: {what}", hint=f"looked in {path.absolute().parent}", path=path
        )
    kind = ending(path)
    if kind not in READERS:
        raise FormatError(
            f"cannot tell the format of {str(path)!r} by its name",
            hint="names end in .csv, .tsv, .csv.gz or .parquet; read other files into a data frame first",
            path=path,
        )
    return path, kind


### text


def read_text(path: Path) -> list[Column]:
    """The columns of a CSV or TSV file, all as text."""
    head = header(path)
    head.warn()
    coded = coded_columns(head) if head.is_utf8 else None
    found = text_columns(head) if coded is None else coded
    return [Column(name, data, from_file=True) for name, data in zip(head.names, found, strict=True)]


def text_columns(head: TextHead) -> list[Any]:
    """An array of text for each column."""
    places = [f"f{i}" for i in range(len(head.names))]
    try:
        if is_wide(head):
            batches = list(wide_batches(head))
            found = [pa.chunked_array(parts) for parts in zip(*batches, strict=True)]
            found = found or [pa.chunked_array([], pa.string())] * len(places)
        else:
            types = dict.fromkeys(places, pa.string())
            how = pyarrow.csv.ConvertOptions(column_types=types, strings_can_be_null=False)
            with row_stream(head, min(MAX_BYTES, free_memory() // COPIES)) as stream:
                found = pyarrow.csv.read_csv(stream, read_options(head), parse_options(head), how).columns
    except (pa.ArrowException, OSError, EOFError, zlib.error, UnicodeError, csv.Error, RaggedError) as error:
        if EMPTY not in str(error):
            raise explained(head, error) from None
        found = [pa.chunked_array([], pa.string())] * len(places)
    require_closed_quotes(head, found[-1])
    return found


#: Bytes of a text file that Arrow reads at a time: those of so many short rows, within bounds; no row may be longer.
BLOCK_ROWS, LEAST_BLOCK, MOST_BLOCK = 1000, 8 << 20, 64 << 20


def block_size(columns: int) -> int:
    """Bytes of a block: of wide files more, for every column of a block costs the same however few rows it has."""
    return max(LEAST_BLOCK, min(BLOCK_ROWS * 8 * columns, MOST_BLOCK))


#: What Arrow says of a file without rows.
EMPTY = "Empty CSV file"


@contextmanager
def row_stream(head: TextHead, max_bytes: int | None = None) -> Iterator[Any]:
    """The rows of a text file as UTF-8 for Arrow, unpacked if need be, without the names.

    With `max_bytes`, what unpacks to more is an error as soon as it does.
    """
    if not head.is_utf8:
        with head.text() as text:
            yield behind_mark(lambda n: text.read(n).encode())
        return
    if is_packed(head.path):  # by the same hands as everywhere: Arrow takes other packed files for damaged
        with gzip.open(head.path) as packed:
            packed.read(head.first_byte)
            yield behind_mark(packed.read if max_bytes is None else limited(packed, max_bytes, head.path))
        return
    with arrow_file(head.path) as file, pa.input_stream(file, compression=None) as stream:
        stream.seek(head.first_byte)
        marked = stream.read(len(BOM_UTF8)) == BOM_UTF8
        stream.seek(head.first_byte)
        yield behind_mark(stream.read) if marked else stream


def limited(file: Any, max_bytes: int, path: Path) -> Callable[[int], bytes]:
    """What reads a file up to a number of bytes."""

    def read(n: int) -> bytes:
        data = file.read(n)
        if file.tell() > max_bytes:
            raise CapacityError(
                f"{str(path)!r} unpacks to more than {max_bytes:,} bytes, and no more are read into memory",
                hint="scan it, so that it is read batch by batch",
                path=path,
                max_bytes=max_bytes,
            )
        return data

    return read


def behind_mark(read: Callable[[int], bytes]) -> Any:
    """Bytes for Arrow, which takes away a mark of UTF-8 where they begin: one is put before them, to keep the first."""
    return pa.PythonFile(io.BufferedReader(Marked(read), 1 << 20), mode="r")


class Marked(io.RawIOBase):
    """The mark of UTF-8, and what a function reads behind it: no more bytes than four times what it is asked for."""

    def __init__(self, read: Callable[[int], bytes]) -> None:
        self.more, self.rest = read, BOM_UTF8

    def readable(self) -> bool:
        """It can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a part of a buffer."""
        data = self.rest or self.more(max(len(buffer) // 4, 1))
        some, self.rest = data[: len(buffer)], data[len(buffer) :]
        buffer[: len(some)] = some
        return len(some)


@contextmanager
def arrow_file(path: str | os.PathLike[str]) -> Iterator[Any]:
    """What Arrow opens: the name of a file, or the open file where the name is no UTF-8."""
    name = os.fspath(path)
    if is_unicode(name):
        yield name
        return
    with Path(path).open("rb") as file:
        yield file


def read_options(head: TextHead) -> Any:
    """How Arrow reads the rows of a text file: without their names."""
    places = [f"f{i}" for i in range(len(head.names))]
    return pyarrow.csv.ReadOptions(column_names=places, block_size=block_size(len(places)))


def parse_options(head: TextHead) -> Any:
    """How Arrow finds the cells of a text file."""
    return pyarrow.csv.ParseOptions(
        delimiter=head.delimiter, newlines_in_values=True, ignore_empty_lines=len(head.names) > 1
    )


def header(path: Path) -> TextHead:
    """The head of a text file, which has names of columns."""
    try:
        head = text_head(path, DELIMITERS[ending(path)])
    except (UnicodeError, OSError, EOFError, zlib.error, csv.Error) as error:
        raise explained(TextHead(path, ",", "utf-8-sig", 0, [], []), error) from None
    if not head.names:
        raise EmptyTableError(
            f"{str(path)!r} is empty: it has not even a line of column names",
            hint="its first line must name the columns",
            path=path,
        )
    return head


def explained(head: TextHead, error: Exception) -> FormatError:
    """What is wrong with a text file, found by reading it again, slowly."""
    path, expected = head.path, len(head.names)
    try:
        with head.lines() as lines:
            reader = csv.reader(lines, delimiter=head.delimiter)
            before = head.first_line
            ragged = [(reader.line_num + before, len(row)) for row in reader if row and len(row) != expected]
    except UnicodeDecodeError as wrong:
        return FormatError(
            f"{str(path)!r} is not UTF-8 text: byte 0x{wrong.object[wrong.start]:02x} cannot be read",
            hint=f"save it as UTF-8{in_python(', or read it: pandas.read_csv(path, encoding=..., dtype=str)')}",
            path=path,
        )
    except (OSError, EOFError, zlib.error, UnicodeError, csv.Error) as broken:
        return FormatError(f"{str(path)!r} cannot be read: {broken}", hint=WHOLE, path=path)
    if expected and ragged:
        line, found = ragged[0]
        more = f" (and {len(ragged) - 1} more such lines)" if len(ragged) > 1 else ""
        return FormatError(
            f"{str(path)!r}, line {line}: expected {expected} fields, found {found}{more}",
            hint="quote cells that contain the delimiter, and close every quotation mark",
            path=path,
            line=line,
        )
    return FormatError(f"{str(path)!r} cannot be read: {error}", hint=WHOLE, path=path)


def require_closed_quotes(head: TextHead, last: Any) -> None:
    """No quotation mark that swallowed the rest of the file: the end of the last column would hold a line break."""
    if not len(last) or not {"\n", "\r"}.intersection(last[-1].as_py()):
        return
    with head.lines() as lines:
        reader, line = csv.reader(lines, delimiter=head.delimiter, strict=True), 0
        try:
            for _ in reader:
                line = reader.line_num
        except csv.Error as error:
            if "end of data" in str(error):
                at = line + head.first_line + 1
                raise FormatError(
                    f"{str(head.path)!r}, line {at}: a quotation mark is opened and never closed",
                    hint="close it, or double it if it belongs to the text",
                    path=head.path,
                    line=at,
                ) from None


### Parquet


def read_parquet(path: Path) -> list[Column]:
    """The columns of a Parquet file; categories keep the order they were written in."""
    with parquet_file(path) as file:
        return arrow_columns(whole_parquet(file, path), path)


def whole_parquet(file: Any, path: Path) -> Any:
    """All rows of a Parquet file, if there is memory for them: a few bytes of it may stand for millions of cells."""
    rows, columns = file.metadata.num_rows, file.metadata.num_columns
    need, free = 8 * rows * columns, free_memory()
    if need > free:
        raise CapacityError(
            f"{str(path)!r} has {rows:,} rows of {columns:,} columns, which would need {size_of(need)}, and "
            f"{size_of(free)} are free",
            hint="scan it, so that it is read batch by batch",
            path=path,
            bytes=need,
        )
    return file.read()


@contextmanager
def parquet_file(path: Path) -> Iterator[Any]:
    """A Parquet file, open as long as the block; faults raise a named error."""
    try:
        with arrow_file(path) as opened, pyarrow.parquet.ParquetFile(opened) as file:
            yield file
    except (pa.ArrowException, OSError, UnicodeError) as error:
        raise FormatError(
            f"{str(path)!r} is not a Parquet file that can be read: {error}", hint=WHOLE, path=path
        ) from None


READERS = dict.fromkeys(TEXT, read_text) | dict.fromkeys(PARQUET, read_parquet)
