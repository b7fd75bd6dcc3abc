"""Pictures as SVG text, and on axes of matplotlib from the same geometry.

The SVG needs no style sheet and no script, so that it can stand inside any page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayeslearn import files
from bayeslearn.network.formats.xml_formats import escape
from bayeslearn.network.visualization import figure_layout
from bayeslearn.network.visualization.figure_layout import (
    BAR,
    CURVE,
    HEAD,
    LINE,
    PERCENT,
    SIDE,
    STATE_SIZE,
    percent,
    printable,
)

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping

    from bayeslearn.network.bayesian_network import BayesianNetwork
    from bayeslearn.network.dag import DAG
    from bayeslearn.network.visualization.figure_layout import Card, Line, Picture
    from bayeslearn.network.visualization.layout import Box, Point


FONT = "Helvetica, Arial, 'DejaVu Sans', sans-serif"

#: Half the width, and the length, of an arrow head.
HEAD_WIDTH, HEAD_LENGTH = 4.0, 8.0


def draw(
    network: BayesianNetwork | DAG,
    evidence: Mapping[str, Any] | None = None,
    *,
    bars: bool | None = None,
    rows: int = 6,
    compact: bool | None = None,
) -> str:
    """A network, or a graph alone, as SVG text.

    The parameters are those of :func:`~bayeslearn.network.visualization.picture`.
    """
    return as_svg(figure_layout.picture(network, evidence, bars=bars, rows=rows, compact=compact))


def as_svg(picture: Picture) -> str:
    """A picture as SVG text."""
    layout = picture.layout
    width, height = number(layout.width), number(layout.height)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}"',
        f'role="img" font-family="{FONT}" fill="{figure_layout.INK}">',
        f"<title>{text(picture.name)}</title>",
        f'<rect width="{width}" height="{height}" fill="{figure_layout.PAPER}"/>',
        f'<g fill="none" stroke="{figure_layout.ARC}" stroke-width="1.4">',
        *(_arc(arc, path) for arc, path in layout.paths.items()),
        "</g>",
        f'<g fill="{figure_layout.ARC}">',
        *(_head(path) for path in layout.paths.values()),
        "</g>",
    ]
    for name, card in picture.cards.items():
        parts.extend(_node(name, card, layout.boxes[name]))
    return "\n".join([*parts, "</svg>", ""])


def write_svg(svg: str, path: str | os.PathLike[str]) -> None:
    """Write SVG text to a file, atomically."""
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
    fill, edge = (
        (figure_layout.SEEN_FILL, figure_layout.SEEN_EDGE)
        if card.observed
        else (figure_layout.FILL, figure_layout.EDGE)
    )
    told = f"{name} = {card.state}, observed" if card.observed else name
    yield f'<g font-size="{number(STATE_SIZE)}"><title>{text(told)}</title>'
    yield (
        f'<rect x="{number(box.x)}" y="{number(box.y)}" width="{number(box.width)}" height="{number(box.height)}" '
        f'rx="5" fill="{fill}" stroke="{edge}" stroke-width="{2 if card.observed else 1.2}"/>'
    )
    yield (
        f'<text x="{number(box.center)}" y="{number(box.y + card.base)}" text-anchor="middle" '
        f'font-size="{number(card.letters)}" font-weight="bold">{text(card.title)}</text>'
    )
    for i, line in enumerate(card.lines):
        yield from _line(line, card, box, box.y + HEAD + i * LINE)
    if card.curve:
        points = " ".join(f"{number(x)},{number(y)}" for x, y in _density(card, box))
        yield f'<polygon points="{points}" fill="{figure_layout.BELIEVED}"/>'
        base = box.y + HEAD + CURVE + 12
        yield f'<text x="{number(box.center)}" y="{number(base)}" text-anchor="middle">{text(card.caption)}</text>'
    yield "</g>"


def _density(card: Card, box: Box) -> list[Point]:
    """The outline of the density of a number, from left to right and back along its base."""
    left, right, base = box.x + SIDE, box.x + box.width - SIDE, box.y + HEAD + CURVE
    step = (right - left) / (len(card.curve) - 1)
    top = [(left + i * step, base - height * (CURVE - 4)) for i, height in enumerate(card.curve)]
    return [(left, base), *top, (right, base)]


def _line(line: Line, card: Card, box: Box, top: float) -> Iterator[str]:
    """A state: its name on the left, its bar, and the percentage on the right."""
    start, end = bar_span(card, box)
    color = figure_layout.REST if line.rest else figure_layout.SEEN if card.observed else figure_layout.BELIEVED
    base, across = number(top + 12), f'y="{number(top + 3)}" height="{number(LINE - 6)}"'
    yield f'<text x="{number(box.x + SIDE)}" y="{base}">{text(line.label)}</text>'
    yield f'<rect x="{number(start)}" width="{number(end - start)}" {across} fill="{figure_layout.TRACK}"/>'
    if line.p > 0:
        yield f'<rect x="{number(start)}" width="{number((end - start) * line.p)}" {across} fill="{color}"/>'
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


#: The font of matplotlib is wider than those of browsers.
NARROWER = 0.9


def paint(picture: Picture, axes: Any, *, points: float) -> None:
    """Put a picture on axes whose units are its pixels; `points` of the font are one pixel."""
    from matplotlib.collections import PathCollection, PolyCollection  # noqa: PLC0415 - an extra, checked by plots

    def put(collection: Any, order: int) -> None:
        collection.set_zorder(order)
        axes.add_collection(collection, autolim=False)

    paths = picture.layout.paths.values()
    put(
        PathCollection(
            [_curve(p) for p in paths], facecolors="none", edgecolors=figure_layout.ARC, linewidths=1.4 * points
        ),
        1,
    )
    put(PolyCollection([_arrow_head(p) for p in paths], facecolors=figure_layout.ARC, linewidths=0), 2)
    boxes = [(_rounded(picture.layout.boxes[name]), card.observed) for name, card in picture.cards.items()]
    put(
        PathCollection(
            [path for path, _ in boxes],
            facecolors=[figure_layout.SEEN_FILL if seen else figure_layout.FILL for _, seen in boxes],
            edgecolors=[figure_layout.SEEN_EDGE if seen else figure_layout.EDGE for _, seen in boxes],
            linewidths=[(2 if seen else 1.2) * points for _, seen in boxes],
        ),
        3,
    )
    bars = list(_bars(picture))
    put(PolyCollection([bar for bar, _ in bars], facecolors=[color for _, color in bars], linewidths=0), 4)
    for x, y, words, side, size in _words(picture):
        weight = "normal" if size == STATE_SIZE else "bold"
        axes.text(
            x,
            y,
            words,
            ha=side,
            fontsize=size * points * NARROWER,
            weight=weight,
            color=figure_layout.INK,
            parse_math=False,
        )


### shapes


def _curve(path: tuple[Point, ...]) -> Any:
    from matplotlib.path import Path  # noqa: PLC0415 - an extra

    (x, y), *rest = path
    points, codes = [(x, y)], [Path.MOVETO]
    for i, (a, b) in enumerate(rest):
        end = b - HEAD_LENGTH / 2 * (i == len(rest) - 1)
        turn = [(x, (y + b) / 2), (a, (y + b) / 2), (a, end)]
        points += [(a, end)] if i % 2 == 0 else turn
        codes += [Path.LINETO] if i % 2 == 0 else [Path.CURVE4] * 3
        x, y = a, b
    return Path(points, codes)


def _arrow_head(path: tuple[Point, ...]) -> list[Point]:
    x, y = path[-1]
    return [(x, y), (x - HEAD_WIDTH, y - HEAD_LENGTH), (x + HEAD_WIDTH, y - HEAD_LENGTH)]


def _rounded(box: Box) -> Any:
    from matplotlib.patches import BoxStyle  # noqa: PLC0415 - an extra

    return BoxStyle.Round(pad=0, rounding_size=5)(box.x, box.y, box.width, box.height, 1)


def _bars(picture: Picture) -> Iterator[tuple[list[Point], str]]:
    for name, card in picture.cards.items():
        box = picture.layout.boxes[name]
        start, end = bar_span(card, box)
        for i, line in enumerate(card.lines):
            top = box.y + HEAD + i * LINE + 3
            color = figure_layout.REST if line.rest else figure_layout.SEEN if card.observed else figure_layout.BELIEVED
            yield _rectangle(start, end, top), figure_layout.TRACK
            yield _rectangle(start, start + (end - start) * line.p, top), color
        if card.curve:
            yield _density(card, box), figure_layout.BELIEVED


def _rectangle(left: float, right: float, top: float) -> list[Point]:
    bottom = top + LINE - 6
    return [(left, top), (right, top), (right, bottom), (left, bottom)]


### words


def _words(picture: Picture) -> Iterator[tuple[float, float, str, str, float]]:
    """Place, text, side and size of all that is written."""
    for name, card in picture.cards.items():
        box = picture.layout.boxes[name]
        yield box.center, box.y + card.base, card.title, "center", card.letters
        for i, line in enumerate(card.lines):
            base = box.y + HEAD + i * LINE + 12
            yield box.x + SIDE, base, line.label, "left", STATE_SIZE
            yield box.x + box.width - SIDE, base, percent(line.p), "right", STATE_SIZE
        if card.curve:
            yield box.center, box.y + HEAD + CURVE + 12, card.caption, "center", STATE_SIZE
