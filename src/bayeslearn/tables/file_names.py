"""What the name of a file determines: its format, whether it is packed, and the character between its cells.

rows.csv   rows.csv.gz   ROWS.CSV      text; the separator is that of the first lines
rows.tsv   y.csv_old.tsv               text with tabs: the last ending counts
rows.parquet   rows.pq                 Parquet
"""

from __future__ import annotations

import os
from pathlib import Path

#: The character between cells, by the ending of the name; None where the first lines tell it.
DELIMITERS = {".csv": None, ".tsv": "\t"}

#: Endings of the names of text files, and of Parquet files.
TEXT, PARQUET = tuple(DELIMITERS), (".parquet", ".pq")


def ending(path: str | os.PathLike[str]) -> str:
    """The ending of a name that determines how the file is read, compressed or not.

    >>> ending("rows.csv.gz"), ending("y.csv_old.TSV"), ending("rows")
    ('.csv', '.tsv', '')
    """
    name = Path(path).name
    return Path(name[: -len(".gz")] if is_packed(name) else name).suffix.lower()


def is_file(path: str | os.PathLike[str]) -> bool:
    """Whether there is a file of this name; a name that no file can have is none."""
    return os.path.isfile(path)  # noqa: PTH113 - pathlib raises errors of the system for names that are too long


def is_folder(path: str | os.PathLike[str]) -> bool:
    """Whether there is a folder of this name; a name that no folder can have is none."""
    return os.path.isdir(path)  # noqa: PTH112 - as above


def is_packed(path: str | os.PathLike[str]) -> bool:
    """Whether a file is packed with gzip."""
    return Path(path).suffix.lower() == ".gz"


#: The file that describes a folder of encoded rows.
MANIFEST = "bayeslearn.json"
