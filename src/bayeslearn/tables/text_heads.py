"""What is known before a text file is read: its stamp, its encoding, the character between cells, column names.

    encoding     by the byte order mark; else UTF-8, or Windows-1252 where the beginning is not UTF-8
    delimiter    of .tsv a tab; of .csv what splits the first lines into the most cells, as many in each: , ; tab or |
    names        those of the first line that is not empty; a line `sep=;` before it, as Excel writes it, is skipped
    twice        a name that is there already becomes NAME.1, an empty one Unnamed: 3, as in pandas

What is read otherwise than as comma separated UTF-8 with names that differ is reported when the rows are read.

Files of very many columns are read by Python's own reader, for Arrow keeps some ten KB for every column of a block.

A stamp is the size, the time of the last change and the number of a file, taken before the file is first read and
compared around every reading of it: a file that changes between two passes, or while it is read, is an error. Another
machine may have a copy of the file with another number and time: there the size alone is compared.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import os
import platform
import re
import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from bayeslearn.capacity import require_room
from bayeslearn.errors import BayeslearnWarning, CapacityError, ChangedFileError, FormatError, listed, outside
from bayeslearn.tables.file_names import is_packed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path


class Stamp(NamedTuple):
    """What a file looked like, and on which machine."""

    size: int
    modified: int
    number: int
    machine: str


def stamp_of(path: str | os.PathLike[str]) -> Stamp | None:
    """The stamp of a file; None for one that is not there, which is an error when it is read."""
    try:
        found = os.stat(path)  # noqa: PTH116 - once for every file of every pass
    except (OSError, ValueError):
        return None
    return Stamp(found.st_size, found.st_mtime_ns, found.st_ino, platform.node())


def require_unchanged(path: str | os.PathLike[str], before: Stamp | None) -> None:
    """Raise an error if a file has changed: statistics of two versions of it must not be added."""
    if before is None:
        return
    now = stamp_of(path)
    if now is not None and (now == before or (now.machine != before.machine and now.size == before.size)):
        return
    what = "is gone" if now is None else f"has {now.size:,} bytes" if now.size != before.size else "was written again"
    raise ChangedFileError(
        f"{os.fspath(path)!r} changed while it was in use: it had {before.size:,} bytes, and {what}",
        hint="scan it again when no process writes to it, so that all passes see the same rows",
        path=os.fspath(path),
    )


#: Characters between cells; the first is taken where several split alike.
DELIMITERS = (",", ";", "\t", "|")

#: Encodings by the mark at the beginning of a file.
MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}

#: Bytes at the beginning of a file that tell its encoding, and lines that tell its delimiter.
SAMPLE, LINES = 1 << 20, 20

#: Characters of a line that is too long to be one, and those of names of columns.
LONGEST, LONGEST_NAMES = 1 << 26, 1 << 24

#: Bytes that a column takes while it is read and described, however few rows it has.
COLUMN_BYTES = 1 << 13

#: The line that names the delimiter for Excel.
EXCEL = re.compile(r"sep=([\t !#-~])\r?\n?", re.IGNORECASE)


@dataclass(frozen=True)
class TextHead:
    """How a text file is read."""

    path: Path
    delimiter: str
    encoding: str
    #: Lines before that of the names.
    skip: int
    #: The names of the columns, all different, and as they are written.
    names: list[str]
    written: list[str]
    #: Lines, and bytes of UTF-8, before the first row.
    first_line: int = 0
    first_byte: int = 0

    @property
    def is_utf8(self) -> bool:
        """Whether the bytes are UTF-8, perhaps with a mark."""
        return self.encoding.startswith("utf-8")

    @contextmanager
    def lines(self) -> Iterator[Iterator[str]]:
        """The lines of the rows, unpacked if need be."""
        with opened(self.path, self.encoding) as file:
            yield islice(lines_of(file, self.path), self.first_line, None)

    @contextmanager
    def text(self) -> Iterator[IO[str]]:
        """The file as text, unpacked if need be, from the first row on."""
        with opened(self.path, self.encoding) as file:
            for _ in islice(lines_of(file, self.path), self.first_line):
                pass
            yield file

    def warn(self) -> None:
        """Report what is guessed: the encoding, and names of columns."""
        if self.encoding == "cp1252":
            warnings.warn(
                f"{str(self.path)!r} is not UTF-8 text and is read as Windows-1252 (Latin-1)",
                BayeslearnWarning,
                stacklevel=outside(),
            )
        renamed = [new for new, old in zip(self.names, self.written, strict=True) if new != old and old.strip()]
        if renamed:
            warnings.warn(
                f"names of columns of {str(self.path)!r} appear more than once: the later ones are read as "
                f"{listed(renamed)}",
                BayeslearnWarning,
                stacklevel=outside(),
            )


def text_head(path: Path, delimiter: str | None = None) -> TextHead:
    """The head of a text file; without names where it is empty. Bytes that cannot be read are a UnicodeDecodeError."""
    encoding = encoding_of(path)
    with opened(path, encoding) as file:
        lines = first_lines(lines_of(file, path), path)
    skip = next((i for i, line in enumerate(lines) if line.strip("\r\n")), 0)
    excel = EXCEL.fullmatch(lines[skip]) if lines else None
    skip += excel is not None
    found = delimiter or (excel[1] if excel else delimiter_of(lines[skip:]))
    with opened(path, encoding) as file:
        rest, used = lines_of(file, path), list[str]()
        used += islice(rest, skip)
        names = next(csv.reader(kept(rest, used, path), delimiter=found), [])
    require_room(f"{str(path)!r}: {len(names):,} columns", COLUMN_BYTES * len(names), path=path)
    require_closed(used[skip:], found, path)
    mark = len(codecs.BOM_UTF8) if marked(path) else 0
    return TextHead(
        path, found, encoding, skip, distinct_names(names), names,
        first_line=len(used), first_byte=mark + len("".join(used).encode()),
    )  # fmt: skip


def first_lines(lines: Iterator[str], path: Path) -> list[str]:
    """The first lines up to that of the names, and others as long as they are short together."""
    found, size, named = list[str](), 0, False
    for line in islice(lines, LINES):
        size += len(line)
        if named and size > SAMPLE:
            break
        if not named:
            require_short(len(line), path)
        found.append(line)
        named = named or bool(line.strip("\r\n"))
    return found


def kept(lines: Iterable[str], used: list[str], path: Path) -> Iterator[str]:
    """The same lines, kept as they are used; more than names of columns take is an error."""
    size = 0
    for line in lines:
        used.append(line)
        size += len(line)
        require_short(size, path)
        yield line


def require_short(size: int, path: Path) -> None:
    """Refuse names of columns that are longer than all names together may be."""
    if size > LONGEST_NAMES:
        raise CapacityError(
            f"the names of the columns of {str(path)!r} have {size:,} characters or more, "
            f"and at most {LONGEST_NAMES:,} are read",
            hint="see whether it is a table whose first line names the columns",
            path=path,
        )


def require_closed(lines: list[str], delimiter: str, path: Path) -> None:
    """No quotation mark among the names that swallowed all rows."""
    try:
        list(csv.reader(lines, delimiter=delimiter, strict=True))
    except csv.Error as error:
        if "end of data" in str(error):
            raise FormatError(
                f"{str(path)!r}: a quotation mark among the names of columns is opened and never closed",
                hint="close it, or double it if it belongs to a name",
                path=path,
            ) from None


def opened(path: Path, encoding: str) -> IO[str]:
    """A file as text, unpacked if need be."""
    open_file: Callable[..., Any] = gzip.open if is_packed(path) else open
    return open_file(path, "rt", encoding=encoding, newline="")


def lines_of(file: IO[str], path: Path) -> Iterator[str]:
    """The lines of a file; one that is too long to be one is an error before it is read to its end."""
    number = 0
    while line := file.readline(LONGEST):
        number += 1
        if len(line) == LONGEST:
            raise CapacityError(
                f"{str(path)!r}, line {number} has {LONGEST:,} characters or more, and no such line is read",
                hint="see whether it is a table, with a line for each row",
                path=path,
                line=number,
            )
        yield line


def beginning(path: Path, size: int) -> bytes:
    """The first bytes of a file, unpacked if need be."""
    open_file: Callable[..., Any] = gzip.open if is_packed(path) else open
    with open_file(path, "rb") as file:
        return file.read(size)


def marked(path: Path) -> bool:
    """Whether a file begins with the mark of UTF-8."""
    return beginning(path, len(codecs.BOM_UTF8)) == codecs.BOM_UTF8


def encoding_of(path: Path) -> str:
    """The encoding that the beginning of a file shows."""
    sample = beginning(path, SAMPLE)
    found = next((encoding for mark, encoding in MARKS.items() if sample.startswith(mark)), None)
    if found is not None or b"\0" in sample:  # with NUL it is no text in one byte a character
        return found or "utf-8-sig"
    for encoding in ("utf-8-sig", "cp1252"):
        try:
            codecs.getincrementaldecoder(encoding)().decode(sample)
        except UnicodeDecodeError:
            continue
        return encoding
    return "utf-8-sig"


def delimiter_of(lines: Iterable[str]) -> str:
    """The character that splits every line into the same number of cells, the most; a comma where none does.

    >>> delimiter_of(["a;b, c;d", "1,5;x;2"])
    ';'
    """
    text = "".join(lines)
    counts = {delimiter: cells_of(text, delimiter) for delimiter in DELIMITERS}
    even = {d: set(found).pop() for d, found in counts.items() if len(set(found)) == 1}
    best = max(even, key=lambda d: even[d], default=",")
    return best if even.get(best, 0) > 1 and not counts[","][:1] > [even[best]] else ","


def cells_of(text: str, delimiter: str) -> list[int]:
    """How many cells there are in each line; the last line may be cut off within quotation marks."""
    try:
        found = [len(row) for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if row]
    except csv.Error:
        return []
    return found[:-1] if len(found) > 2 else found


def distinct_names(names: list[str]) -> list[str]:
    """Names that all differ, as pandas makes them.

    >>> distinct_names(["host", "host", "", "host.1"])
    ['host', 'host.2', 'Unnamed: 2', 'host.1']
    """
    taken = set(names)
    found: list[str] = []
    seen: set[str] = set()
    numbers: dict[str, int] = {}  # the next one to try for each name
    for i, name in enumerate(names):
        stem = name if name.strip() else f"Unnamed: {i}"
        new, number = stem, numbers.get(stem, 1)
        while new in seen or (new != name and new in taken):
            new, number = f"{stem}.{number}", number + 1
        numbers[stem] = number
        seen.add(new)
        found.append(new)
    return found


#: Columns above which a file is read here.
WIDE = 1 << 15

#: Cells that are read at a time.
CELLS = 1 << 20


class RaggedError(ValueError):
    """A row that is longer or shorter than the line of names."""


def is_wide(head: TextHead) -> bool:
    """Whether a file has so large a number of columns that it is read here."""
    return len(head.names) > WIDE


def wide_batches(head: TextHead) -> Iterator[list[Any]]:
    """Some rows at a time, as a text array for each column.

    What cannot be read is an error of Python's reader or of the file, or a RaggedError.
    """
    size = max(CELLS // len(head.names), 1)
    with head.lines() as lines:
        reader = csv.reader(lines, delimiter=head.delimiter)
        rows = whole_rows(reader, len(head.names))
        while some := list(islice(rows, size)):
            yield [pa.array(cells, pa.string()) for cells in zip(*some, strict=True)]


def whole_rows(reader: Any, n: int) -> Iterator[list[str]]:
    """The rows, each of n cells; empty lines are skipped, or are empty cells of a single column."""
    for row in reader:
        if len(row) == n:
            yield row
        elif n == 1 and not row:
            yield [""]
        elif row:
            raise RaggedError
