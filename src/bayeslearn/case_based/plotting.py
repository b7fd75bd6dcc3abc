"""Function graphs on axes of matplotlib: + is a full line and − a dashed one, and each case has its color."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from bayeslearn.printable import plot_label

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from bayeslearn.case_based.function_graph import Arc, FunctionGraph

    Point = tuple[float, float]

#: Heights of a box and of its letters, the width of a letter, and how far apart the two arcs of a loop run.
HEIGHT, LETTERS, LETTER, APART = 34.0, 10.0, 7.5, 9.0

#: The colors of uncovered arcs, of text and of boxes.
OPEN, INK, PAPER = "#9aa5b1", "#1f2933", "#f8fafc"


def graph_and_cover(found: Any) -> tuple[FunctionGraph, dict[str, Sequence[Arc]]]:
    """The function graph of a case, a design, a match or a result of a retrieval, and the arcs that cases cover."""
    if hasattr(found, "matches"):
        return found.specification.function, {found.best.case.name: found.best.covered}
    if hasattr(found, "designs"):
        found = found.best
    if hasattr(found, "uses"):
        return found.function, found.covered
    return getattr(found, "function", found), {}


def sizes(graph: FunctionGraph) -> dict[str, tuple[float, float]]:
    """Width and height of the box of each quantity."""
    words = {node: max(len(node), len(graph.kinds.get(node, ""))) for node in graph.nodes}
    return {node: (20 + LETTER * min(n, 40), HEIGHT) for node, n in words.items()}


def downwards(graph: FunctionGraph) -> list[tuple[str, str]]:
    """The arcs as pairs without cycles: arcs that would close one are reversed."""
    below: dict[str, set[str]] = {node: set() for node in graph.nodes}
    pairs = []
    for a, b, _ in graph.arcs:
        pair = (b, a) if _reaches(below, b, a) else (a, b)
        if pair[1] not in below[pair[0]]:
            below[pair[0]].add(pair[1])
            pairs.append(pair)
    return pairs


def _reaches(below: Mapping[str, set[str]], start: str, end: str) -> bool:
    stack, seen = [start], set()
    while stack:
        node = stack.pop()
        if node == end:
            return True
        if node not in seen:
            seen.add(node)
            stack.extend(below[node])
    return False


def paint(
    axes: Any, graph: FunctionGraph, layout: Any, covered: Mapping[str, Sequence[Arc]], color: Callable[[int], Any]
) -> None:
    """Put a graph on axes whose units are the pixels of a layout; arcs have the color of the case that covers them."""
    from matplotlib.lines import Line2D  # noqa: PLC0415 - an extra, checked by plots

    owner = {arc: i for i, arcs in reversed(list(enumerate(covered.values()))) for arc in arcs}
    for arc in graph.arcs:
        shade = color(owner[arc]) if arc in owner else OPEN if covered else INK
        _arrow(axes, arc, _course(layout.paths, arc), shade, dashed=arc.sign < 0)
    for node, box in layout.boxes.items():
        _box(axes, box, node, graph.kinds.get(node, ""))
    if covered:
        handles = [Line2D([], [], color=color(i)) for i in range(len(covered))]
        names = list(covered)
        if len(owner) < len(graph):
            handles, names = [*handles, Line2D([], [], color=OPEN)], [*names, "not covered"]
        axes.legend(
            handles, [plot_label(name) for name in names], loc="upper left", bbox_to_anchor=(1, 1), frameon=False
        )


def _course(paths: Mapping[tuple[str, str], Sequence[Point]], arc: Arc) -> list[Point]:
    """The path of an arc; a reversed one runs upwards, next to the opposite arc if there is one."""
    if (arc.source, arc.target) in paths:
        return list(paths[arc.source, arc.target])
    return [(x + APART, y) for x, y in reversed(paths[arc.target, arc.source])]


def _arrow(axes: Any, arc: Arc, course: list[Point], shade: Any, *, dashed: bool) -> None:
    from matplotlib.patches import FancyArrowPatch  # noqa: PLC0415 - an extra
    from matplotlib.path import Path  # noqa: PLC0415 - an extra

    points, codes = [course[0]], [Path.MOVETO]
    for i, ((x, y), (a, b)) in enumerate(pairwise(course)):
        points += [(a, b)] if i % 2 == 0 else [(x, (y + b) / 2), (a, (y + b) / 2), (a, b)]
        codes += [Path.LINETO] if i % 2 == 0 else [Path.CURVE4] * 3
    style = (0, (4, 2)) if dashed else "solid"
    arrow = FancyArrowPatch(
        path=Path(points, codes), arrowstyle="-|>", mutation_scale=11, color=shade, linewidth=1.4, linestyle=style
    )
    arrow.set_gid(str(arc))
    axes.add_patch(arrow)
    x, y = course[-1]
    away = -1 if course[-1][1] > course[0][1] else 1
    axes.text(x + 4, y + away * 14, "−" if dashed else "+", fontsize=LETTERS, color=shade, va="center")


def _box(axes: Any, box: Any, node: str, kind: str) -> None:
    from matplotlib.patches import FancyBboxPatch  # noqa: PLC0415 - an extra

    rounded = "round,pad=0,rounding_size=5"
    axes.add_patch(
        FancyBboxPatch((box.x, box.y), box.width, box.height, boxstyle=rounded, facecolor=PAPER, edgecolor=OPEN)
    )
    middle = box.y + box.height / 2
    lines = [(middle - 6, node, LETTERS, "bold"), (middle + 8, kind, LETTERS - 3, "normal")]
    for y, words, size, weight in lines if kind else [(middle, node, LETTERS, "bold")]:
        axes.text(
            box.center, y, words[:40], ha="center", va="center", fontsize=size, weight=weight, color=INK,
            parse_math=False,
        )  # fmt: skip
