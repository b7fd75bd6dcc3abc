"""Pictures on axes of matplotlib, from the same geometry as the SVG."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayeslearn.network.drawing import scene
from bayeslearn.network.drawing.cards import HEAD, LINE, SIDE, STATE_SIZE, percent
from bayeslearn.network.drawing.svg import HEAD_LENGTH, HEAD_WIDTH, bar_span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bayeslearn.network.drawing.layout import Box, Point
    from bayeslearn.network.drawing.scene import Picture

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
        PathCollection([_course(p) for p in paths], facecolors="none", edgecolors=scene.ARC, linewidths=1.4 * points), 1
    )
    put(PolyCollection([_head(p) for p in paths], facecolors=scene.ARC, linewidths=0), 2)
    boxes = [(_rounded(picture.layout.boxes[name]), card.observed) for name, card in picture.cards.items()]
    put(
        PathCollection(
            [path for path, _ in boxes],
            facecolors=[scene.SEEN_FILL if seen else scene.FILL for _, seen in boxes],
            edgecolors=[scene.SEEN_EDGE if seen else scene.EDGE for _, seen in boxes],
            linewidths=[(2 if seen else 1.2) * points for _, seen in boxes],
        ),
        3,
    )
    bars = list(_bars(picture))
    put(PolyCollection([bar for bar, _ in bars], facecolors=[colour for _, colour in bars], linewidths=0), 4)
    for x, y, words, side, size in _words(picture):
        weight = "normal" if size == STATE_SIZE else "bold"
        axes.text(
            x, y, words, ha=side, fontsize=size * points * NARROWER, weight=weight, color=scene.INK, parse_math=False
        )


### shapes


def _course(path: tuple[Point, ...]) -> Any:
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


def _head(path: tuple[Point, ...]) -> list[Point]:
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
            colour = scene.REST if line.rest else scene.SEEN if card.observed else scene.BELIEVED
            yield _rectangle(start, end, top), scene.TRACK
            yield _rectangle(start, start + (end - start) * line.p, top), colour


def _rectangle(left: float, right: float, top: float) -> list[Point]:
    bottom = top + LINE - 6
    return [(left, top), (right, top), (right, bottom), (left, bottom)]


### words


def _words(picture: Picture) -> Iterator[tuple[float, float, str, str, float]]:
    """Place, text, side and size of all that is written."""
    for name, card in picture.cards.items():
        box = picture.layout.boxes[name]
        yield box.centre, box.y + card.base, card.title, "center", card.letters
        for i, line in enumerate(card.lines):
            base = box.y + HEAD + i * LINE + 12
            yield box.x + SIDE, base, line.label, "left", STATE_SIZE
            yield box.x + box.width - SIDE, base, percent(line.p), "right", STATE_SIZE
