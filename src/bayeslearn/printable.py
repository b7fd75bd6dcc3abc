"""Text that a terminal shows and does not obey: names and cells of files from others may hold control characters.

Values keep such characters; only printed text has them as escapes.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["escaped_json", "one_line", "plot_label", "plot_labels", "printable"]


def __dir__() -> list[str]:
    return __all__


#: Control characters but for tab and line feed; marks of direction, line separators and half characters of Unicode.
_CONTROLS = "\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff"
_HOSTILE = re.compile(f"[{_CONTROLS}]")
_HOSTILE_IN_LINE = re.compile(f"[{_CONTROLS}\t\n]")


def printable(text: str) -> str:
    r"""Text whose control characters are written out as in Python; tabs and line ends stay.

    >>> printable("name\x1b[2J")
    'name\\x1b[2J'
    """
    return text if text.isprintable() else _HOSTILE.sub(_written_out, text)


def one_line(text: str) -> str:
    r"""Printable text without tabs and line ends, for a cell or a name.

    >>> one_line("a\nb")
    'a\\nb'
    """
    return text if text.isprintable() else _HOSTILE_IN_LINE.sub(_written_out, text)


def escaped_json(text: str) -> str:
    r"""The text of a JSON document with the same meaning, in which no such character stands.

    >>> escaped_json('"\x9b"')
    '"\\u009b"'
    """
    return text if text.isprintable() else _HOSTILE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def plot_label(text: object, max_length: int = 40) -> str:
    r"""Text for a label of a plot: one line, no mathematics, and no longer than there is room for.

    >>> plot_label("price in $"), plot_label("a" * 50, 8)
    ('price in \\$', 'aaaa ...')
    """
    line = one_line(str(text))
    return (line if len(line) <= max_length else f"{line[: max_length - 4].rstrip()} ...").replace("$", r"\$")


def plot_labels(texts: Iterable[object], max_length: int = 40) -> list[str]:
    """Labels of several things; if their beginnings are alike, the middle of long ones is left out.

    >>> plot_labels(["a long name, first", "a long name, second"], 12)
    ['a lon … irst', 'a lon … cond']
    """
    lines = [one_line(str(text)) for text in texts]
    found = [plot_label(line, max_length) for line in lines]
    if len(set(found)) == len(set(lines)):
        return found
    half = (max_length - 3) // 2
    short = [line if len(line) <= max_length else f"{line[: half + 1]} … {line[-half:]}" for line in lines]
    return [line.replace("$", r"\$") for line in short]


def _written_out(found: re.Match[str]) -> str:
    return repr(found[0])[1:-1]
