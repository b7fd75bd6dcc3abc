"""The text of a file, and errors with their position in it.

A mark is a place in the text: an offset, or for XML the line and column that the parser gives. Finding an offset in
JSON takes a while, so there it is found when it is needed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayeslearn.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

#: The name of a network whose file has none, or says so.
UNKNOWN = "unknown"

#: A place: offset in the text, a way to find it, or (line, column), both from one; None where it is not known.
Mark = int | Callable[[], int] | tuple[int, int] | None

#: A number as files write it: 1, .5, 1e-3; neither nan nor 1_000.
NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")

#: More digits than any size or index needs.
MOST_DIGITS = 12


@dataclass(frozen=True)
class Source:
    """A text, and the path it came from if it came from one."""

    text: str
    path: str | None = None

    @property
    def stem(self) -> str:
        """The name of the file without its endings, for a network without a name."""
        if self.path is None:
            return UNKNOWN
        stem, ending = os.path.splitext(os.path.basename(self.path))  # noqa: PTH119, PTH122 - pathlib takes long to load
        return os.path.splitext(stem)[0] if ending.lower() == ".gz" else stem  # noqa: PTH122 - as above

    def place(self, mark: Mark) -> tuple[int, int] | None:
        """Line and column of a mark, from one."""
        if callable(mark):
            mark = mark()
        if isinstance(mark, int):
            before = self.text.rfind("\n", 0, mark)
            return self.text.count("\n", 0, mark) + 1, mark - before
        return mark

    def error(self, message: str, mark: Mark = None, *, hint: str | None = None, **details: Any) -> FormatError:
        """An error at a place, for the caller to raise."""
        place = self.place(mark)
        where = [repr(self.path)] if self.path else []
        if place:
            where += [f"line {place[0]}, column {place[1]}"]
            details = {"line": place[0], "column": place[1]} | details
        sentence = f"{', '.join(where)}: {message}" if where else message
        return FormatError(sentence, hint=hint, path=self.path, **details)


def quoted(found: str) -> str:
    """What was found, for a message: short, or the end of the file."""
    short = found if len(found) <= 40 else f"{found[:40]}…"
    return repr(short) if found else "the end of the file"


def floats(words: Sequence[str]) -> list[float] | int:
    """Words as numbers; or the position of the first that is none."""
    try:
        values = list(map(float, words))
    except ValueError:
        values = []
    else:
        whole = "".join(words)
        if whole.isascii() and not set(whole) & set("_nN"):  # float() takes 1_0, ١, nan and inf, files do not
            return values
    return next((i for i, word in enumerate(words) if not NUMBER.fullmatch(word)), 0)


def whole_number(word: str) -> int | None:
    """A size or an index, or None if the word is none."""
    return int(word) if word.isascii() and word.isdecimal() and len(word) <= MOST_DIGITS else None


def table_text(p: NDArray[np.float64]) -> str:
    """The numbers of a table, a line for each row, to the last digit."""
    rows: list[list[float]] = p.reshape(-1, p.shape[-1]).tolist()
    return "\n".join(" ".join(map(repr, row)) for row in rows)
