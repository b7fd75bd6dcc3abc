"""CSV and Parquet files as Arrow columns.

Every cell of a text file is read as text, so that '01' stays '01'; what is a number is decided later, column by column.
"""

from __future__ import annotations

import csv
import gzip
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from bayeslearn.errors import EmptyTableError, FormatError, MissingFileError
from bayeslearn.tables.cells import coded_columns
from bayeslearn.tables.columns import Column, arrow_columns
from bayeslearn.tables.schema import require_unique

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator

#: The character between cells, by the ending of the name.
DELIMITERS = {".csv": ",", ".tsv": "\t"}


def read_file(path: str | os.PathLike[str]) -> list[Column]:
    """The columns of a file, by the ending of its name."""
    path, kind = found(path)
    return READERS[kind](path)


def file_table(path: str | os.PathLike[str]) -> Any:
    """A file as an Arrow table: of a text file all cells as text, of a Parquet file with its types and its index."""
    path, kind = found(path)
    if kind not in DELIMITERS:
        with parquet_file(path) as file:
            return file.read()
    columns = read_text(path)
    return pa.table([column.data.cast(pa.string()) for column in columns], names=[column.name for column in columns])


def column_names(path: str | os.PathLike[str]) -> list[str]:
    """The names of the columns of a file, which is not read any further."""
    path, kind = found(path)
    if kind in DELIMITERS:
        return header(path, DELIMITERS[kind])
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
    delimiter = next(d for ending, d in DELIMITERS.items() if ending in path.name.lower())
    names = header(path, delimiter)
    require_unique(names)
    coded = coded_columns(path, delimiter, len(names))
    if coded is not None:
        return [Column(name, data, from_file=True) for name, data in zip(names, coded, strict=True)]
    places = [f"f{i}" for i in range(len(names))]
    try:
        table = pyarrow.csv.read_csv(
            path,
            read_options=pyarrow.csv.ReadOptions(column_names=places, skip_rows_after_names=1),
            parse_options=pyarrow.csv.ParseOptions(
                delimiter=delimiter, newlines_in_values=True, ignore_empty_lines=len(names) > 1
            ),
            convert_options=pyarrow.csv.ConvertOptions(
                column_types=dict.fromkeys(places, pa.string()), strings_can_be_null=False
            ),
        )
    except (pa.ArrowException, OSError) as error:
        raise explained(path, delimiter, len(names), error) from None
    require_closed_quotes(path, delimiter, table)
    return [Column(name, data, from_file=True) for name, data in zip(names, table.columns, strict=True)]


def header(path: Path, delimiter: str) -> list[str]:
    """The names in the first line."""
    try:
        with opened(path) as file:
            names = next(csv.reader(file, delimiter=delimiter), [])
    except (UnicodeDecodeError, OSError, EOFError, csv.Error) as error:
        raise explained(path, delimiter, 0, error) from None
    if not names:
        raise EmptyTableError(f"{str(path)!r} is empty: it has not even a line of column names", path=path)
    return names


def opened(path: Path) -> IO[str]:
    """The file as text, unpacked if need be, without the byte order mark."""
    open_file: Callable[..., Any] = gzip.open if path.suffix.lower() == ".gz" else open
    return open_file(path, "rt", encoding="utf-8-sig", newline="")


def explained(path: Path, delimiter: str, expected: int, error: Exception) -> FormatError:
    """What is wrong with a text file, found by reading it again, slowly."""
    try:
        with opened(path) as file:
            reader = csv.reader(file, delimiter=delimiter)
            ragged = [(reader.line_num, len(row)) for row in reader if row and len(row) != expected]
    except UnicodeDecodeError as wrong:
        return FormatError(
            f"{str(path)!r} is not UTF-8 text: byte 0x{wrong.object[wrong.start]:02x} cannot be read",
            hint="save it as UTF-8; if it is Latin-1, pass pandas.read_csv(path, encoding='latin-1', dtype=str)",
            path=path,
        )
    except (OSError, EOFError, csv.Error) as broken:
        return FormatError(f"{str(path)!r} cannot be read: {broken}", path=path)
    if expected and ragged:
        line, found = ragged[0]
        more = f" (and {len(ragged) - 1} more such lines)" if len(ragged) > 1 else ""
        return FormatError(
            f"{str(path)!r}, line {line}: expected {expected} fields, found {found}{more}",
            hint="quote cells that contain the delimiter, and close every quotation mark",
            path=path,
            line=line,
        )
    return FormatError(f"{str(path)!r} cannot be read: {error}", path=path)


def require_closed_quotes(path: Path, delimiter: str, table: Any) -> None:
    """No quotation mark that swallowed the rest of the file: its last cell would hold a line break."""
    if not table.num_rows or "\n" not in table.columns[-1][-1].as_py():
        return
    with opened(path) as file:
        reader, line = csv.reader(file, delimiter=delimiter, strict=True), 0
        try:
            for _ in reader:
                line = reader.line_num
        except csv.Error as error:
            if "end of data" in str(error):
                raise FormatError(
                    f"{str(path)!r}, line {line + 1}: a quotation mark is opened and never closed",
                    hint="close it, or double it if it belongs to the text",
                    path=path,
                    line=line + 1,
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
        raise FormatError(f"{str(path)!r} is not a Parquet file that can be read: {error}", path=path) from None


READERS = {".csv": read_text, ".tsv": read_text, ".parquet": read_parquet, ".pq": read_parquet}
