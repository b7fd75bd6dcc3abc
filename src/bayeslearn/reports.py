"""Results as text for a terminal and as HTML for a notebook: a result returns a `Report`, rendered both ways.

    class Bound(Reported):
        def report(self):
            return Report("PAC bound", Pairs({"epsilon": self.epsilon, "delta": self.delta}), Words("n >= 140"))

`print(result)` and `result.summary()` give the text, a notebook shows the HTML, and the command line prints the text.
Names and values are text in both, whatever characters they hold.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from itertools import islice
from typing import TYPE_CHECKING, Any

from bayeslearn.printable import one_line, printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = ["Bars", "Grid", "Pairs", "Picture", "Report", "Reported", "Words", "cell_text"]


def __dir__() -> list[str]:
    return __all__


#: Rows of a grid that are rendered, and characters of a bar in text.
MAX_ROWS, BAR_WIDTH = 20, 20


### blocks


@dataclass(frozen=True)
class Pairs:
    """Names with their values, one pair in each line."""

    pairs: Mapping[str, Any]
    title: str = ""

    def text(self) -> list[str]:
        """The lines of the block."""
        cells = [(one_line(name), cell_text(value)) for name, value in self.pairs.items()]
        width = max((len(name) for name, _ in cells), default=0)
        return [f"{name:<{width}}  {value}".rstrip() for name, value in cells]

    def html(self) -> str:
        """The block as a table of two columns."""
        rows = [f"<tr>{element('th', name)}{value_element(value)}</tr>" for name, value in self.pairs.items()]
        return f"<table><tbody>{''.join(rows)}</tbody></table>"


@dataclass(frozen=True)
class Grid:
    """A table with a header; numbers are aligned at the right."""

    head: Sequence[str]
    rows: Sequence[Sequence[Any]]
    title: str = ""
    #: The most rows that are rendered; a last line counts the others.
    max_rows: int = MAX_ROWS

    def text(self) -> list[str]:
        """The lines of the block."""
        shown = self.rows[: self.max_rows]
        cells = [[cell_text(value) for value in row] for row in shown]
        head = [one_line(name) for name in self.head]
        widths = [max(map(len, column)) for column in zip(head, *cells, strict=True)]
        right = [bool(shown) and all(is_number(row[j]) for row in shown) for j in range(len(head))]
        lines = [aligned(row, widths, right) for row in [head, *cells]]
        rule = "-" * (sum(widths) + 2 * max(len(widths) - 1, 0))
        return [lines[0], rule, *lines[1:], *self._rest()]

    def html(self) -> str:
        """The block as an HTML table."""
        head = "".join(element("th", name) for name in self.head)
        rows = ["".join(value_element(value) for value in row) for row in self.rows[: self.max_rows]]
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        rest = "".join(element("p", line) for line in self._rest())
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{rest}"

    def _rest(self) -> list[str]:
        return more_rows(len(self.rows) - self.max_rows)


@dataclass(frozen=True)
class Bars:
    """Probabilities, or other shares from 0 to 1, each with a bar."""

    values: Mapping[Any, float]
    title: str = ""
    #: The most bars that are rendered; a last line counts the others.
    max_rows: int = MAX_ROWS

    def text(self) -> list[str]:
        """The lines of the block."""
        cells = [(one_line(str(name)), cell_text(value), bar_text(value)) for name, value in self._shown()]
        widths = [max((len(cell[j]) for cell in cells), default=0) for j in (0, 1)]
        return [f"{a:<{widths[0]}}  {b:>{widths[1]}}  {c}".rstrip() for a, b, c in cells] + self._rest()

    def html(self) -> str:
        """The block as an HTML table with bars."""
        rows = [
            f"<tr>{element('th', str(name))}{value_element(value)}{bar_element(value)}</tr>"
            for name, value in self._shown()
        ]
        rest = "".join(element("p", line) for line in self._rest())
        return f"<table><tbody>{''.join(rows)}</tbody></table>{rest}"

    def _shown(self) -> list[tuple[Any, float]]:
        return list(islice(self.values.items(), self.max_rows))

    def _rest(self) -> list[str]:
        return more_rows(len(self.values) - self.max_rows)


@dataclass(frozen=True)
class Words:
    """Lines of text."""

    lines: str | Sequence[str]
    title: str = ""

    def text(self) -> list[str]:
        """The lines of the block."""
        lines = self.lines.split("\n") if isinstance(self.lines, str) else self.lines
        return [printable(line) for line in lines]

    def html(self) -> str:
        """The block as paragraphs."""
        return "".join(f"<p style='margin:0.2em 0'>{escape(line)}</p>" for line in self.text())


@dataclass(frozen=True)
class Picture:
    """A picture of HTML only: SVG that this library drew, whose names are escaped."""

    svg: str
    title: str = ""

    def text(self) -> list[str]:
        """Nothing: text has no pictures."""
        return []

    def html(self) -> str:
        """The picture in a box that scrolls."""
        return f"<div style='overflow:auto'>{self.svg}</div>"


Block = Pairs | Grid | Bars | Words | Picture


### reports


@dataclass(frozen=True, init=False)
class Report:
    """What a result shows: a title and blocks.

    >>> print(Report("Posterior", Bars({"yes": 0.75, "no": 0.25}, title="rain")).text())
    Posterior
    <BLANKLINE>
    rain
    yes  0.75  ███████████████
    no   0.25  █████
    """

    title: str
    blocks: tuple[Block, ...] = field(default=())

    def __init__(self, title: str, *blocks: Block | None) -> None:
        object.__setattr__(self, "title", title)
        object.__setattr__(self, "blocks", tuple(block for block in blocks if block is not None))

    def text(self) -> str:
        """The report as text: blocks are separated by empty lines."""
        parts = [[one_line(self.title)]] if self.title else []
        for block in self.blocks:
            lines = block.text()
            if lines:
                parts.append([one_line(block.title), *lines] if block.title else lines)
        return "\n\n".join("\n".join(lines) for lines in parts)

    def html(self) -> str:
        """The report as an HTML fragment; every name in it is escaped."""
        parts = [f"<div><strong>{escape(one_line(self.title))}</strong>" if self.title else "<div>"]
        for block in self.blocks:
            if block.title:
                parts.append(f"<div style='margin-top:0.6em'><em>{escape(one_line(block.title))}</em></div>")
            parts.append(block.html())
        return "".join(parts) + "</div>"


class Reported:
    """The base of results: `report` has what they show, and the rest follows."""

    __slots__ = ()

    def report(self) -> Report:
        """Return what the result shows, as blocks."""
        raise NotImplementedError

    def summary(self) -> str:
        """Return the result as text."""
        return self.report().text()

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({one_line(self.report().title)})"

    def _repr_html_(self) -> str:
        return self.report().html()

    if not TYPE_CHECKING:
        from bayeslearn.other_names import missing_attribute as __getattr__  # noqa: PLC0415 - the method


### cells


def more_rows(n: int) -> list[str]:
    """The line that counts the rows that are not rendered, if there are any."""
    return [f"… {n:,} more row{'s' * (n > 1)}"] if n > 0 else []


def cell_text(value: Any) -> str:
    """A value as text: nothing for None, floats with six significant digits, whole numbers in full.

    >>> cell_text(0.123456789), cell_text(120000), cell_text(None), cell_text(["a", 0.5])
    ('0.123457', '120,000', '', 'a, 0.5')
    """
    if value is None:
        return ""
    if hasattr(value, "item") and getattr(value, "ndim", 0) == 0:  # a NumPy scalar
        value = value.item()
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list | tuple):
        return ", ".join(cell_text(part) for part in value)
    return one_line(str(value))


def is_number(value: Any) -> bool:
    """Whether a value is aligned at the right: a number, or nothing."""
    if hasattr(value, "item") and getattr(value, "ndim", 0) == 0:
        value = value.item()
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def aligned(cells: Iterable[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    """A line of cells, each as wide as its column."""
    parts = [
        f"{cell:>{width}}" if at_right else f"{cell:<{width}}"
        for cell, width, at_right in zip(cells, widths, right, strict=True)
    ]
    return "  ".join(parts).rstrip()


def bar_text(value: float, width: int = BAR_WIDTH) -> str:
    """A share from 0 to 1 as a bar of block characters."""
    eighths = round(min(max(value, 0.0), 1.0) * width * 8)
    return "█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8].strip()


def bar_element(value: float) -> str:
    """A share from 0 to 1 as a cell with a bar."""
    bar = f"<div style='width:{100 * min(max(value, 0.0), 1.0):.1f}%;height:0.8em;background:#56b4e9'></div>"
    return f"<td style='min-width:8em;padding:0'>{bar}</td>"


def element(tag: str, text: str) -> str:
    """An HTML element that holds text."""
    return f"<{tag} style='text-align:left'>{escape(one_line(text))}</{tag}>"


def value_element(value: Any) -> str:
    """A cell of an HTML table; numbers are aligned at the right."""
    side = "right" if is_number(value) else "left"
    return f"<td style='text-align:{side}'>{escape(cell_text(value))}</td>"
