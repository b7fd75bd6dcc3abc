"""CSV and Parquet files as Arrow columns.

Every cell of a text file is read as text, so that '01' stays '01'; what is a number is decided later, column by column.
"""

from __future__ import annotations

import csv
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from bayeslearn.errors import EmptyTableError, FormatError, MissingFileError, in_python
from bayeslearn.tables.cells import coded_columns
from bayeslearn.tables.columns import Column, arrow_columns
from bayeslearn.tables.text_heads import TextHead, text_head

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

#: Endings of the names of text files.
TEXT = (".csv", ".tsv")

#: What to do about a file that is broken.
WHOLE = "see whether it is complete and of the kind that its name says"


def read_file(path: str | os.PathLike[str]) -> list[Column]:
    """The columns of a file, by the ending of its name."""
    path, kind = found(path)
    return READERS[kind](path)


def file_table(path: str | os.PathLike[str]) -> Any:
    """A file as an Arrow table: of a text file all cells as text, of a Parquet file with its types and its index."""
    path, kind = found(path)
    if kind not in TEXT:
        with parquet_file(path) as file:
            return file.read()
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
    """A file that is there, and the ending that says how to read it."""
    path = Path(path)
    if not path.is_file():
        what = "is a directory" if path.is_dir() else "there is no such file"
        raise MissingFileError(
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


def ending(path: Path) -> str:
    """The ending of a name that says how the file is read, packed or not."""
    return "".join([suffix.lower() for suffix in path.suffixes if suffix.lower() != ".gz"][-1:])


### text


def read_text(path: Path) -> list[Column]:
    """The columns of a CSV or TSV file, all as text."""
    head = header(path)
    head.warn()
    coded = coded_columns(path, head.delimiter, len(head.names)) if head.is_utf8 and not head.skip else None
    if coded is not None:
        return [Column(name, data, from_file=True) for name, data in zip(head.names, coded, strict=True)]
    places = [f"f{i}" for i in range(len(head.names))]
    try:
        table = pyarrow.csv.read_csv(
            path,
            read_options=read_options(head),
            parse_options=parse_options(head),
            convert_options=pyarrow.csv.ConvertOptions(
                column_types=dict.fromkeys(places, pa.string()), strings_can_be_null=False
            ),
        )
    except (pa.ArrowException, OSError, UnicodeError) as error:
        raise explained(head, error) from None
    require_closed_quotes(head, table)
    return [Column(name, data, from_file=True) for name, data in zip(head.names, table.columns, strict=True)]


def read_options(head: TextHead, **more: Any) -> Any:
    """How Arrow reads the rows of a text file: without their names."""
    encoding = "utf8" if head.is_utf8 else head.encoding
    places = [f"f{i}" for i in range(len(head.names))]
    return pyarrow.csv.ReadOptions(
        column_names=places, skip_rows=head.skip, skip_rows_after_names=1, encoding=encoding, **more
    )


def parse_options(head: TextHead) -> Any:
    """How Arrow finds the cells of a text file."""
    return pyarrow.csv.ParseOptions(
        delimiter=head.delimiter, newlines_in_values=True, ignore_empty_lines=len(head.names) > 1
    )


def header(path: Path) -> TextHead:
    """The head of a text file, which has names of columns."""
    try:
        head = text_head(path, "\t" if ending(path) == ".tsv" else None)
    except (UnicodeError, OSError, EOFError, csv.Error) as error:
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
        with head.opened() as file:
            reader = csv.reader(file, delimiter=head.delimiter)
            ragged = [(reader.line_num + head.skip, len(row)) for row in reader if row and len(row) != expected]
    except UnicodeDecodeError as wrong:
        return FormatError(
            f"{str(path)!r} is not UTF-8 text: byte 0x{wrong.object[wrong.start]:02x} cannot be read",
            hint=f"save it as UTF-8{in_python(', or read it: pandas.read_csv(path, encoding=..., dtype=str)')}",
            path=path,
        )
    except (OSError, EOFError, UnicodeError, csv.Error) as broken:
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


def require_closed_quotes(head: TextHead, table: Any) -> None:
    """No quotation mark that swallowed the rest of the file: its last cell would hold a line break."""
    if not table.num_rows or "\n" not in table.columns[-1][-1].as_py():
        return
    with head.opened() as file:
        reader, line = csv.reader(file, delimiter=head.delimiter, strict=True), 0
        try:
            for _ in reader:
                line = reader.line_num
        except csv.Error as error:
            if "end of data" in str(error):
                at = line + head.skip + 1
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
        return arrow_columns(file.read())


@contextmanager
def parquet_file(path: Path) -> Iterator[Any]:
    """A Parquet file, open as long as the block; what is wrong with it is told."""
    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            yield file
    except (pa.ArrowException, OSError) as error:
        raise FormatError(
            f"{str(path)!r} is not a Parquet file that can be read: {error}", hint=WHOLE, path=path
        ) from None


READERS = {".csv": read_text, ".tsv": read_text, ".parquet": read_parquet, ".pq": read_parquet}
