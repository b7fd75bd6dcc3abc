"""How verbs answer: tables for users, one JSON object for machines, both on stdout."""

from __future__ import annotations

import json
import math
import sys
from typing import TYPE_CHECKING, Any

from bayeslearn.cli import envelope
from bayeslearn.cli.streams import unchecked
from bayeslearn.printable import escaped_json, one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bayeslearn.evaluation import Metrics


#: The most significant digits of a number that is printed for people; files and ``--json`` keep all digits.
DIGITS = 9


#: What stands between the columns of a table.
SPACE = "   "


def number(value: float) -> str:
    """Format a number with four significant digits, as in the textbook."""
    return f"{value:.4g}"


def precise(value: float) -> str:
    """Format a number with as many significant digits as users are shown."""
    return f"{value:.{DIGITS}g}"


def amount(value: float) -> str:
    """Format a count of rows: whole numbers in full, sums of weights with as many digits as users are shown."""
    return precise(value) if abs(value) < 10**DIGITS else f"{value:.0f}"


def size(count: float) -> str:
    """A number of bytes with its unit."""
    for unit in ("B", "KB", "MB", "GB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} TB"


def bar(p: float, width: int = 20) -> str:
    """A probability as a bar."""
    eighths = round(p * width * 8)
    return "█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8].strip()


def show_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A table whose numbers stand right and whose words stand left."""
    names, rows = [one_line(name) for name in head], [[one_line(cell) for cell in row] for row in rows]
    columns = [*zip(names, *rows, strict=True)]
    widths = [max(map(cells, column)) for column in columns]
    right = [bool(rows) and all(map(_is_number, column[1:])) for column in columns]
    lines = [SPACE.join(map(aligned, row, widths, right)) for row in (names, *rows)]
    rule = "─" * (sum(widths) + len(SPACE) * (len(widths) - 1))
    text = "\n".join(line.rstrip() for line in (lines[0], rule, *lines[1:]))
    unchecked(sys.stdout).write(text + "\n")


def cells(text: str) -> int:
    """The columns of a terminal that a text takes: two for East Asian characters, none for combining ones."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def aligned(text: str, width: int, right: bool) -> str:  # noqa: FBT001 - one of the columns of a table
    """A text with blanks up to a width."""
    blanks = " " * (width - cells(text))
    return blanks + text if right else text + blanks


def show_pairs(pairs: Iterable[tuple[str, str]]) -> None:
    """Names and values, one pair a line."""
    pairs = [(one_line(name), one_line(value)) for name, value in pairs]
    width = max(len(name) for name, _ in pairs)
    for name, value in pairs:
        sys.stdout.write(f"{name:<{width}}  {value}\n")


def show_metrics(name: str, found: Metrics) -> dict[str, Any]:
    """How many predictions of a target are right, on stderr; and the same as plain values."""
    known, right = (round(value) for value in (found.weight, found.n_correct))
    loss = number(round(found.log_loss, 12) + 0.0)
    sys.stderr.write(f"{name}: {right} of {known} known are right, ")
    sys.stderr.write(f"accuracy {number(found.accuracy)}, mean log loss {loss}\n")
    return {"known": known, "right": right, "accuracy": found.accuracy, "log_loss": found.log_loss}


def gap() -> None:
    """An empty line between two answers."""
    sys.stdout.write("\n")


def show_json(result: Any) -> None:
    """Print one JSON object around a result; numbers keep all digits, those that JSON cannot write become null."""
    text = json.dumps(_plain(envelope.enveloped(result)), ensure_ascii=False, allow_nan=False)
    sys.stdout.write(escaped_json(text) + "\n")


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if hasattr(value, "item"):  # a NumPy scalar
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
