"""Pictures as SVG text. Nothing in it needs a style sheet or a script, so that it can stand inside any page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayeslearn import files
from bayeslearn.network.drawing import scene
from bayeslearn.network.drawing.cards import (
    BAR,
    HEAD,
    LINE,
    PERCENT,
    SIDE,
    STATE_SIZE,
    percent,
    printable,
)
from bayeslearn.network.formats.xmltree import escape

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping

    from bayeslearn.network.drawing.cards import Card, Line
    from bayeslearn.network.drawing.layout import Box, Point
    from bayeslearn.network.drawing.scene import Picture
    from bayeslearn.network.network import BayesianNetwork

FONT = "Helvetica, Arial, 'DejaVu Sans', sans-serif"

#: Half the width, and the length, of an arrow head.
HEAD_WIDTH, HEAD_LENGTH = 4.0, 8.0


def draw(
    network: BayesianNetwork,
    evidence: Mapping[str, Any] | None = None,
    *,
    bars: bool | None = None,
    rows: int = 6,
    compact: bool | None = None,
) -> str:
    """A network as SVG text; the parameters are those of :func:`~bayeslearn.network.drawing.picture`."""
    return as_svg(scene.picture(network, evidence, bars=bars, rows=rows, compact=compact))


def as_svg(picture: Picture) -> str:
    """A picture as SVG text."""
    layout = picture.layout
    width, height = number(layout.width), number(layout.height)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}"',
        f'role="img" font-family="{FONT}" fill="{scene.INK}">',
        f"<title>{text(picture.name)}</title>",
        f'<rect width="{width}" height="{height}" fill="{scene.PAPER}"/>',
        f'<g fill="none" stroke="{scene.ARC}" stroke-width="1.4">',
        *(_arc(arc, path) for arc, path in layout.paths.items()),
        "</g>",
        f'<g fill="{scene.ARC}">',
        *(_head(path) for path in layout.paths.values()),
        "</g>",
    ]
    for name, card in picture.cards.items():
        parts.extend(_node(name, card, layout.boxes[name]))
    return "\n".join([*parts, "</svg>", ""])


def write_svg(svg: str, path: str | os.PathLike[str]) -> None:
    """Write SVG text to a file, whole or not at all."""
    files.write(path, svg.encode())


### arcs


def _arc(arc: tuple[str, str], path: tuple[Point, ...]) -> str:
    return f'<path d="{_course(path)}"><title>{text(arc[0])} → {text(arc[1])}</title></path>'


def _course(path: tuple[Point, ...]) -> str:
    """Lines and turns; the last line ends inside the arrow head."""
    (x, y), *rest = path
    words = [f"M{number(x)} {number(y)}"]
    for i, (a, b) in enumerate(rest):
        last = i == len(rest) - 1
        middle = number((y + b) / 2)
        turn = f"C{number(x)} {middle} {number(a)} {middle} {number(a)} {number(b - HEAD_LENGTH / 2 * last)}"
        words.append(f"V{number(b - HEAD_LENGTH / 2 * last)}" if i % 2 == 0 else turn)
        x, y = a, b
    return "".join(words)


def _head(path: tuple[Point, ...]) -> str:
    x, y = path[-1]
    left, right, top = number(x - HEAD_WIDTH), number(x + HEAD_WIDTH), number(y - HEAD_LENGTH)
    return f'<path d="M{number(x)} {number(y)}L{left} {top}H{right}Z"/>'


### nodes


def _node(name: str, card: Card, box: Box) -> Iterator[str]:
    fill, edge = (scene.SEEN_FILL, scene.SEEN_EDGE) if card.observed else (scene.FILL, scene.EDGE)
    told = f"{name} = {card.state}, observed" if card.observed else name
    yield f'<g font-size="{number(STATE_SIZE)}"><title>{text(told)}</title>'
    yield (
        f'<rect x="{number(box.x)}" y="{number(box.y)}" width="{number(box.width)}" height="{number(box.height)}" '
        f'rx="5" fill="{fill}" stroke="{edge}" stroke-width="{2 if card.observed else 1.2}"/>'
    )
    yield (
        f'<text x="{number(box.centre)}" y="{number(box.y + card.base)}" text-anchor="middle" '
        f'font-size="{number(card.letters)}" font-weight="bold">{text(card.title)}</text>'
    )
    for i, line in enumerate(card.lines):
        yield from _line(line, card, box, box.y + HEAD + i * LINE)
    yield "</g>"


def _line(line: Line, card: Card, box: Box, top: float) -> Iterator[str]:
    """A state: its name on the left, its bar, and the percentage on the right."""
    start, end = bar_span(card, box)
    colour = scene.REST if line.rest else scene.SEEN if card.observed else scene.BELIEVED
    base, across = number(top + 12), f'y="{number(top + 3)}" height="{number(LINE - 6)}"'
    yield f'<text x="{number(box.x + SIDE)}" y="{base}">{text(line.label)}</text>'
    yield f'<rect x="{number(start)}" width="{number(end - start)}" {across} fill="{scene.TRACK}"/>'
    if line.p > 0:
        yield f'<rect x="{number(start)}" width="{number((end - start) * line.p)}" {across} fill="{colour}"/>'
    yield f'<text x="{number(box.x + box.width - SIDE)}" y="{base}" text-anchor="end">{text(percent(line.p))}</text>'


def bar_span(card: Card, box: Box) -> tuple[float, float]:
    """Where a bar starts, and where it ends when it is full; it takes what the name of the node leaves free."""
    end = box.x + box.width - SIDE - PERCENT
    return min(box.x + SIDE + card.label_width + 6, end - BAR), end


### words


def text(words: str) -> str:
    """Text as XML can hold it."""
    return escape(printable(words))


def number(value: float) -> str:
    """Two digits after the point at most.

    >>> number(3.0), number(0.125), number(-0.001)
    ('3', '0.12', '0')
    """
    return f"{round(value, 2) + 0.0:.2f}".rstrip("0").rstrip(".")
