"""Documents in: a folder of folders, a CSV, TSV, Parquet or JSON-lines file, a plain file, standard input.

    folder/CLASS/…/document      the class is the name of the folder; files right below have no label
    table.csv, .tsv, .parquet    one row a document: a column of text, and one of labels
    lines.jsonl                  one JSON object a line
    anything else, or -          one document; with ``lines=True`` each line is one

Text is UTF-8. Bytes that are not are replaced, counted and noted, so that one bad byte loses one character and no
document; ``encoding="latin-1"`` reads them as they were meant. Names may end in .gz. Reading never runs anything.
"""

from __future__ import annotations

import io
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayeslearn import validation
from bayeslearn.errors import (
    DataError,
    DuplicateColumnError,
    EmptyTableError,
    FormatError,
    ParameterError,
    UnknownColumnError,
    listed,
    option,
)
from bayeslearn.naive_bayes.text.corpus import Corpus
from bayeslearn.naive_bayes.text.decoding import ENCODINGS, Decoder, content
from bayeslearn.tables.documents import LABEL, TEXT, DocumentMarkers
from bayeslearn.tables.file_names import DELIMITERS, PARQUET, ending
from bayeslearn.tables.markers import Missing
from bayeslearn.tables.text_heads import LINES, delimiter_of

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator

    from bayeslearn.tables.markers import Markers

#: Bytes of a text file that are parsed as one piece, at most: no cell may be longer.
MOST_BLOCK = (1 << 31) - 2


def read_corpus(
    path: str | os.PathLike[str],
    text: str | None = None,
    target: str | None = None,
    *,
    encoding: str = "utf-8",
    lines: bool = False,
    na_values: Markers = (),
    keep_default_na: bool = True,
    progress: Callable[[float], object] | None = None,
) -> Corpus:
    """Read documents and, where they are known, their classes.

    Parameters
    ----------
    path
        A folder, a file, or ``-`` for standard input.
    text, target
        Columns of a table: the documents, and their classes. Default: ``text`` and, if it exists, ``label``.
    encoding
        ``utf-8`` or ``latin-1``.
    lines
        Each line of a plain file is a document.
    na_values, keep_default_na
        Markers of missing values of a table, as in :func:`~bayeslearn.as_table`: a missing label is None, and a
        missing text is an empty document. The default markers are of labels only: NA may be a text.
    progress
        Called with the share of a folder that has been read.
    """
    decoder = Decoder(validation.choice("encoding", encoding, ENCODINGS))
    columns = Columns(text, target, na_values, keep_default_na)
    if str(path) == "-":
        columns.refuse("standard input")
        corpus = plain(decoder(sys.stdin.buffer.read(), "-"), "-", lines=lines)
    elif Path(path).is_dir():
        columns.refuse("a folder")
        corpus = folder(Path(path), decoder, progress)
    else:
        corpus = file(Path(path), columns, decoder, lines=lines)
    if not len(corpus):
        raise EmptyTableError(f"there are no documents in {str(path)!r}", path=path)
    return Corpus(corpus.texts, corpus.labels, corpus.names, (*corpus.notes, *decoder.notes()))


### folders


def folder(root: Path, decoder: Decoder, progress: Callable[[float], object] | None = None) -> Corpus:
    """Every file below a folder; the folder that it lies in, right below the root, is its class."""
    try:
        found = sorted(path for path in root.rglob("*") if path.is_file() and not hidden(path.relative_to(root)))
    except OSError as error:
        raise FormatError(f"cannot read the folder {str(root)!r}: {error}", path=root) from None
    if not found:
        raise EmptyTableError(
            f"there are no documents below {str(root)!r}", hint="expected folder/CLASS/document", path=root
        )
    names = [path.relative_to(root) for path in found]
    labels = [name.parts[0] if len(name.parts) > 1 else None for name in names]
    empty = sorted({p.name for p in root.iterdir() if p.is_dir() and not hidden(Path(p.name))} - set(labels))
    notes = (f"no documents in the folder {listed(empty)}: left out",) if empty else ()
    texts = []
    for i, path in enumerate(found):
        texts.append(decoder(content(path), str(path.relative_to(root))))
        if progress is not None:
            progress((i + 1) / len(found))
    return Corpus(texts, labels, [name.as_posix() for name in names], notes)


def hidden(path: Path) -> bool:
    """Whether a path, or a folder it lies in, is one of those that begin with a dot."""
    return any(part.startswith(".") for part in path.parts)


### files


@dataclass(frozen=True)
class Columns:
    """The columns that were asked for."""

    text: str | None
    label: str | None
    #: Markers of missing values.
    na_values: Markers = ()
    keep_default_na: bool = True

    def refuse(self, what: str) -> None:
        """Columns of something that has none are a mistake, and so are markers of missing values."""
        if Missing.of(self.na_values, keep_default_na=self.keep_default_na) != Missing.of():
            raise ParameterError(
                f"{what} has no cells that may be missing",
                hint=f"leave out {option('na_values')}: it is for .csv, .tsv, .parquet and .jsonl files",
            )
        if self.text is not None or self.label is not None:
            raise UnknownColumnError(
                f"{what} has no column {self.text or self.label!r}",
                hint="columns are those of .csv, .tsv, .parquet and .jsonl files",
            )

    def among(self, names: list[str], path: Path) -> tuple[str, str | None]:
        """The two columns, both there."""
        text, label = self.text or TEXT, self.label or (LABEL if LABEL in names else None)
        for name in (text, label):
            if names.count(name or "") > 1:
                raise DuplicateColumnError(
                    f"{str(path)!r} has more than one column {name!r}", hint="rename one of them", column=name
                )
            if name is not None and name not in names:
                raise UnknownColumnError(
                    f"{str(path)!r} has no column {name!r}; it has {listed(names)}",
                    hint="name the columns with `text` and `target` (--text, --target)",
                    column=name,
                )
        return text, label

    def cells(self, text: str, label: str | None, names: Iterable[str]) -> DocumentMarkers:
        """The markers of the two columns."""
        return DocumentMarkers.of(
            self.na_values, keep_default_na=self.keep_default_na, text=text, label=label, names=names
        )


def file(path: Path, columns: Columns, decoder: Decoder, *, lines: bool) -> Corpus:
    """One file, by the ending of its name."""
    kind = ending(path)
    if kind in PARQUET:
        return parquet(path, columns)
    if kind in DELIMITERS:
        return separated(path, columns, decoder, DELIMITERS[kind])
    if kind in {".jsonl", ".ndjson"}:
        return json_lines(path, columns, decoder)
    columns.refuse(f"the plain file {path.name!r}")
    return plain(decoder(content(path), path.name), path.name, lines=lines)


def plain(text: str, name: str, *, lines: bool) -> Corpus:
    """One document, or one a line."""
    if not lines:
        return Corpus([text], names=[name])
    found = text.splitlines()
    return Corpus(found, names=[f"{name}:{i + 1}" for i in range(len(found))])


def parquet(path: Path, columns: Columns) -> Corpus:
    """Two columns of a Parquet file."""
    from bayeslearn.tables.file_readers import parquet_file  # noqa: PLC0415 - loads Arrow

    if not path.is_file():
        content(path)
    with parquet_file(path) as opened:
        names = opened.schema_arrow.names
        text, label = columns.among(names, path)
        cells = columns.cells(text, label, names)
        return of_columns(opened.read([name for name in (text, label) if name]), text, label, cells)


def separated(path: Path, columns: Columns, decoder: Decoder, delimiter: str | None) -> Corpus:
    """Two columns of a CSV or TSV file."""
    import pyarrow as pa  # noqa: PLC0415 - heavy, and not needed for folders
    from pyarrow import csv  # noqa: PLC0415

    text = decoder(content(path), path.name)
    delimiter = delimiter or delimiter_of(text[: 1 << 16].splitlines(keepends=True)[:LINES])
    names = next(iter(_csv_rows(text, delimiter)), [])
    if not names:
        raise EmptyTableError(f"{str(path)!r} is empty: it has not even a line of column names", path=path)
    wanted = columns.among(names, path)
    cells = columns.cells(*wanted, names)
    raw = text.encode()
    kinds = {name: pa.large_string() for name in wanted if name}
    try:
        table = csv.read_csv(
            io.BytesIO(raw),
            read_options=csv.ReadOptions(block_size=min(len(raw) + 1, MOST_BLOCK)),
            parse_options=csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            convert_options=csv.ConvertOptions(
                include_columns=list(kinds), column_types=kinds, strings_can_be_null=False
            ),
        )
    except pa.ArrowException as error:
        raise FormatError(
            f"{str(path)!r} cannot be read: {error}",
            hint="quote cells that hold the delimiter or a line break, and close every quotation mark",
            path=path,
        ) from None
    return of_columns(table, *wanted, cells)


def of_columns(table: Any, text: str, label: str | None, cells: DocumentMarkers) -> Corpus:
    """Columns of Arrow as documents; a text that is missing is an empty document."""
    texts = table[text].to_pylist()
    wrong = next((value for value in texts if value is not None and not isinstance(value, str)), None)
    if wrong is not None:
        raise DataError(f"column {text!r} holds {wrong!r:.40}, which is no text", hint="name another with `text`")
    return Corpus(cells.texts(texts), [] if label is None else cells.labels(table[label].to_pylist()))


def _csv_rows(text: str, delimiter: str) -> Iterator[list[str]]:
    import csv  # noqa: PLC0415 - only the header is read so

    return csv.reader(io.StringIO(text[: 1 << 16], newline=""), delimiter=delimiter)


def json_lines(path: Path, columns: Columns, decoder: Decoder) -> Corpus:
    """Two fields of JSON objects, one object a line."""
    rows = list(_objects(decoder(content(path), path.name), path))
    if not rows:
        return Corpus([])
    names = list(dict.fromkeys(name for row in rows for name in row))
    text, label = columns.among(names, path)
    cells = columns.cells(text, label, names)
    wrong = next((i for i, row in enumerate(rows) if not isinstance(row.get(text, ""), str | None)), None)
    if wrong is not None:
        raise DataError(f"{str(path)!r}: field {text!r} of document {wrong} is no text", hint="name another one")
    labels = [] if label is None else cells.labels(row.get(label) for row in rows)
    return Corpus(cells.texts(row.get(text) for row in rows), labels)


def _objects(text: str, path: Path) -> Iterable[dict[str, Any]]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise FormatError(f"{str(path)!r}, line {number}: {error}", path=path, line=number) from None
        if not isinstance(row, dict):
            raise FormatError(f"{str(path)!r}, line {number}: expected an object, got {line[:40]!r}", path=path)
        yield row
