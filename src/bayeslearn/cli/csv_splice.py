"""Some cells of a CSV file replaced in its bytes, so that all others stay unchanged: quotes, blanks, line ends.

a field ends at a delimiter or a line break with an even number of quotation marks before it
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import files
from bayeslearn.errors import CapacityError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from bayeslearn.tables.imputed_cells import Fill
    from bayeslearn.tables.text_heads import TextHead

QUOTE, LINE, RETURN = b'"\n\r'
MARK = b"\xef\xbb\xbf"

#: Bytes of a table that are held at most; larger ones are written anew.
MAX_BYTES = 1 << 31


def spliced(path: str, names: Sequence[str], n_rows: int, fills: Mapping[str, Fill]) -> Iterator[bytes] | None:
    """The bytes of a CSV file with new cells; None where the bounds of its cells are not certain."""
    from bayeslearn.tables.file_readers import header

    head = header(Path(path))
    if head.skip or head.encoding == "utf-16":
        return None
    try:
        raw = files.read(path, max_bytes=MAX_BYTES)
    except CapacityError:
        return None
    bounds = field_bounds(raw, n_rows + 1, len(names), head.delimiter)
    if bounds is None:
        return None
    cells = [
        (int(bounds[0][row + 1, j]), int(bounds[1][row + 1, j]), value)
        for j, name in enumerate(names)
        if name in fills
        for row, value in zip(fills[name].rows.tolist(), fills[name].values, strict=True)
    ]
    return pieces(raw, sorted(cells), head)


def pieces(raw: bytes, cells: Sequence[tuple[int, int, str]], head: TextHead) -> Iterator[bytes]:
    """What stands between the cells, and the cells."""
    done = 0
    for start, end, value in cells:
        yield raw[done:start]
        yield quoted(value, head.delimiter).encode("utf-8" if head.is_utf8 else head.encoding)
        done = end
    yield raw[done:]


def quoted(value: str, delimiter: str = ",") -> str:
    """A cell, in quotation marks if it needs them."""
    return '"' + value.replace('"', '""') + '"' if set(value) & set(f'{delimiter}"\r\n') else value


### bounds


def field_bounds(
    raw: bytes, n_lines: int, n_columns: int, delimiter: str = ","
) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    r"""Where each field starts and ends, a row for each line that is not empty; None if the numbers do not add up.

    >>> field_bounds(b'a,b\r\n1,"x, y"\r\n', 2, 2)[0].tolist()
    [[0, 2], [5, 7]]
    """
    text = np.frombuffer(raw, np.uint8)
    quotes = np.flatnonzero(text == QUOTE)
    ends = np.flatnonzero((text == ord(delimiter)) | (text == LINE))
    ends = ends[np.searchsorted(quotes, ends) % 2 == 0]
    is_last = text[ends] == LINE
    if len(raw) and not raw.endswith(b"\n"):
        ends, is_last = np.append(ends, len(raw)), np.append(is_last, True)
    starts = np.append(len(MARK) if raw.startswith(MARK) else 0, ends[:-1] + 1)
    ends = ends - (is_last & (ends > starts) & (text[ends - 1] == RETURN))
    if n_columns > 1:
        empty = is_last & np.append(True, is_last[:-1]) & (starts == ends)
        starts, ends, is_last = starts[~empty], ends[~empty], is_last[~empty]
    if len(starts) != n_lines * n_columns or not are_quoted(text, quotes, starts, ends):
        return None
    shape = (n_lines, n_columns)
    if (is_last.reshape(shape) != (np.arange(n_columns) == n_columns - 1)).any():
        return None
    return starts.reshape(shape), ends.reshape(shape)


def are_quoted(text: NDArray[Any], quotes: NDArray[Any], starts: NDArray[Any], ends: NDArray[Any]) -> bool:
    """Whether every field with a quotation mark in it begins and ends with one, so that all readers agree on it."""
    some = np.searchsorted(quotes, ends) > np.searchsorted(quotes, starts)
    starts, ends = starts[some], ends[some]
    return bool(((ends - starts >= 2) & (text[starts] == QUOTE) & (text[ends - 1] == QUOTE)).all())
