"""Pictures, where people would rather look. Needs matplotlib: ``pip install 'bayeslearn[plot]'``.

Every function returns a matplotlib figure; :func:`save` writes one to a file.
"""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import files, lazy_imports
from bayeslearn.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from bayeslearn.case_based import Arc, FunctionGraph
    from bayeslearn.em import Result
    from bayeslearn.evaluation import Metrics
    from bayeslearn.functions.targets import Examples
    from bayeslearn.hypotheses import HypothesisPosterior
    from bayeslearn.learning_theory import ConceptClass, EpsilonExhaustion, Simulation
    from bayeslearn.mixture import Mixture
    from bayeslearn.model_comparison import ModelComparison
    from bayeslearn.naive_bayes import Calibration
    from bayeslearn.naive_bayes.text.evaluation import LearningCurve
    from bayeslearn.neighbors import LeaveOneOut, NeighborsModel
    from bayeslearn.network import BayesianNetwork
    from bayeslearn.online import MistakeCurve
    from bayeslearn.sequence.answering import Path as Decoded

matplotlib_figure: Any = lazy_imports.Optional("matplotlib.figure", "pictures", "plot")

__all__ = [
    "beliefs",
    "cells",
    "climb",
    "confusion",
    "contest",
    "course",
    "decoded",
    "errors_by_k",
    "failures",
    "function",
    "function_graph",
    "growth",
    "learning_curve",
    "mixture",
    "network",
    "reliability",
    "responsibilities",
    "sample_sizes",
    "save",
]


def __dir__() -> list[str]:
    return __all__


#: Hypotheses that are drawn by themselves; the least probable of more are drawn together.
MOST_SHOWN = 9

#: Sequences whose states are drawn.
MOST_SEQUENCES = 40

#: Pixels of a network to the inch, the longest side of its figure in inches, and the largest area: others are scaled.
NETWORK_DPI, MOST_INCHES, MOST_AREA = 96, 60, 700


def beliefs(steps: Sequence[HypothesisPosterior], labels: Sequence[str]) -> Any:
    """The posterior after each piece of evidence: one bar per step, split by hypothesis."""
    figure, axes = _canvas()
    last = steps[-1].probabilities
    shown = sorted(last, key=lambda name: -last[name])[:MOST_SHOWN]
    floor = [0.0] * len(steps)
    for name in shown:
        heights = [step[name] for step in steps]
        axes.bar(range(len(steps)), heights, bottom=floor, label=str(name), width=0.8)
        floor = [below + height for below, height in zip(floor, heights, strict=True)]
    if len(last) > len(shown):
        rest = [1 - below for below in floor]
        axes.bar(range(len(steps)), rest, bottom=floor, label=f"{len(last) - len(shown)} others", color="lightgrey")
    axes.set_xticks(range(len(steps)), labels)
    axes.set(ylabel="P(h | evidence)", ylim=(0, 1))
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
    return figure


def climb(result: Result[Any]) -> Any:
    """The penalised log likelihood that EM climbed, iteration by iteration."""
    figure, axes = _canvas()
    axes.plot([s.iteration for s in result.history], [s.objective for s in result.history], marker=".")
    axes.set(xlabel="iteration", ylabel="ln P(D|θ) + ln P(θ)")
    axes.set_title("converged" if result.converged else "not converged")
    return figure


def network(
    net: BayesianNetwork,
    evidence: Mapping[str, Any] | None = None,
    *,
    bars: bool | None = None,
    rows: int = 6,
    compact: bool | None = None,
) -> Any:
    """A network with its beliefs as bars in the nodes; see :func:`bayeslearn.network.visualization.picture`."""
    from bayeslearn.network.visualization import paint, picture  # noqa: PLC0415 - loaded when a network is drawn

    seen = picture(net, evidence, bars=bars, rows=rows, compact=compact)
    figure, axes = _canvas()
    width, height = seen.layout.width, seen.layout.height
    scale = min(1 / NETWORK_DPI, MOST_INCHES / max(width, height), (MOST_AREA / (width * height)) ** 0.5)
    figure.set_layout_engine("none")
    figure.set_size_inches(width * scale, height * scale)
    axes.set_position((0, 0, 1, 1))
    axes.set(xlim=(0, width), ylim=(height, 0))  # y grows downwards
    axes.axis("off")
    paint(seen, axes, points=72 * scale)
    return figure


def reliability(found: Calibration) -> Any:
    """How often a class was right by how sure it was, against the line where both agree; below, how many cases."""
    figure, axes = _canvas()
    seen = found.cases > 0
    axes.plot([0, 1], [0, 1], color="lightgrey")
    axes.plot(found.confidence[seen], found.accuracy[seen], marker="o")
    shares = found.cases / max(found.cases.sum(), 1.0)
    axes.bar(found.edges[:-1], 0.2 * shares, width=found.edges[1] - found.edges[0], align="edge", alpha=0.3)
    axes.set(xlabel="probability that was said", ylabel="share that was right", xlim=(0, 1), ylim=(0, 1))
    axes.set_title(f"calibration error {found.error:.3f} over {found.cases.sum():g} cases")
    return figure


def learning_curve(curve: LearningCurve) -> Any:
    """Accuracy on documents held out, by the number of documents learned from: each split, and the mean."""
    figure, axes = _canvas()
    sizes = [point.size for point in curve.points]
    for accuracies in zip(*(point.accuracies for point in curve.points), strict=True):
        axes.plot(sizes, accuracies, color="lightgrey", marker=".")
    axes.plot(sizes, [point.accuracy for point in curve.points], marker="o")
    axes.set_xscale("log")
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes], rotation=45)
    axes.minorticks_off()
    axes.set(xlabel="training documents", ylabel="accuracy", ylim=(0, 1))
    axes.set_title(f"{curve.accuracy:.1%} of {curve.n_test:,} documents held out")
    axes.grid(alpha=0.3)
    return figure


def confusion(evaluation: Metrics) -> Any:
    """What is taken for what: the share of each class (row) that was taken for each (column)."""
    figure, axes = _canvas()
    size = len(evaluation.classes)
    figure.set_size_inches(3 + size * 0.35, 2 + size * 0.35)
    total = evaluation.confusion.sum(axis=1, keepdims=True)
    image = axes.imshow(evaluation.confusion / total.clip(1), cmap="Blues", vmin=0, vmax=1)
    names = [str(name) for name in evaluation.classes]
    axes.set_xticks(range(size), names, rotation=90)
    axes.set_yticks(range(size), names)
    axes.set(xlabel="taken for", ylabel="class")
    axes.set_title(f"{evaluation.accuracy:.1%} of {evaluation.weight:,.0f} right")
    figure.colorbar(image, shrink=0.7)
    return figure


def decoded(found: Decoded) -> Any:
    """The states of each sequence, step by step; with the numbers that were seen, where there is one sequence only."""
    figure, axes = _canvas()
    data, colours = found.data, figure_colours()
    codes = found.codes if data.order is None else found.codes[data.order]
    shown = range(min(len(data), MOST_SEQUENCES))
    figure.set_size_inches(8, 2.5 if len(shown) == 1 else 1.5 + 0.3 * len(shown))
    numbers = data.cells if len(shown) == 1 and data.cells.dtype.kind == "f" else None
    low, high = (-0.4, 0.4) if numbers is None else (float(np.nanmin(numbers)), float(np.nanmax(numbers)))
    bars: dict[int, Any] = {}
    for i in shown:
        t = 0
        for code, run in groupby(codes[data.rows(i)].tolist()):
            steps = len(list(run))
            bars[code] = axes.broken_barh([(t - 0.5, steps)], (i + low, high - low), color=colours(code), alpha=0.5)
            t += steps
    if numbers is None:
        axes.set_yticks(list(shown), [str(data.ids[i]) for i in shown])
        axes.set_ylim(len(shown) - 0.4, -0.6)
    else:
        axes.plot(numbers, color="black", marker=".", linewidth=0.7)
        axes.set_ylabel(", ".join(found.model.emissions.names))
    axes.set_xlabel("step" if len(shown) == len(data) else f"step ({len(shown)} of {len(data)} sequences)")
    names = [str(found.model.states[code]) for code in sorted(bars)]
    handles = [bars[code] for code in sorted(bars)]
    axes.legend(handles, names, loc="center left", bbox_to_anchor=(1, 0.5), frameon=False, title="state")
    return figure


def mixture(model: Mixture, data: Any, *, columns: Sequence[str] | None = None) -> Any:
    """Rows by their component and an ellipse of two standard deviations for each, over two columns of numbers."""
    from bayeslearn.mixture.drawing import paint  # noqa: PLC0415 - loaded when a mixture is drawn

    figure, axes = _canvas()
    paint(axes, model, data, figure_colours(), columns)
    return figure


def responsibilities(model: Mixture, data: Any) -> Any:
    """How much of each row belongs to each component."""
    from bayeslearn.mixture.drawing import shares  # noqa: PLC0415 - loaded when a mixture is drawn

    figure, axes = _canvas()
    shares(axes, model.responsibilities(data), figure_colours())
    return figure


def function_graph(graph: FunctionGraph, covered: Mapping[str, Sequence[Arc]] | None = None) -> Any:
    """A function graph, − dashed; with the arcs that each of some cases covers, by name, each has a colour."""
    from bayeslearn.case_based import plotting as drawing  # noqa: PLC0415 - loaded when cases are drawn
    from bayeslearn.network import Dag  # noqa: PLC0415
    from bayeslearn.network.visualization import layered  # noqa: PLC0415

    layout = layered(Dag.from_arcs(drawing.downwards(graph)), drawing.sizes(graph))
    figure, axes = _canvas()
    figure.set_size_inches(layout.width / NETWORK_DPI, layout.height / NETWORK_DPI)
    axes.set(xlim=(0, layout.width), ylim=(layout.height, 0), aspect="equal")  # y grows downwards
    axes.axis("off")
    drawing.paint(axes, graph, layout, covered or {}, figure_colours())
    return figure


def sample_sizes(
    curve: Callable[[float], float],
    at: tuple[float, float],
    *,
    title: str = "",
    between: tuple[float, float] | None = None,
) -> Any:
    """The examples of a bound, by the error allowed, and the point (ε, m) that was asked for."""
    from bayeslearn.learning_theory.pac_bounds import ERRORS, paint_sample_sizes  # noqa: PLC0415 - loaded when a bound is drawn

    figure, axes = _canvas()
    paint_sample_sizes(axes, curve, at, title, ERRORS if between is None else between)
    return figure


def failures(found: Simulation | EpsilonExhaustion) -> Any:
    """How often a learner failed, by the number of examples, beside the bound."""
    from bayeslearn.learning_theory.simulations import paint_failures  # noqa: PLC0415 - loaded when an experiment is drawn

    figure, axes = _canvas()
    paint_failures(axes, found)
    return figure


def growth(concepts: ConceptClass, most: int) -> Any:
    """The most labelings that a class has of m points, up to `most` of them."""
    from bayeslearn.learning_theory.concept_class import paint_growth  # noqa: PLC0415 - loaded when a class is drawn

    figure, axes = _canvas()
    paint_growth(axes, concepts, most)
    return figure


def course(found: MistakeCurve, name: str = "learner") -> Any:
    """Mistakes of a learner and of its best expert, round by round, with the bound beside them."""
    from bayeslearn.online.mistakes import paint_mistake_curve  # noqa: PLC0415 - loaded when a course is drawn

    figure, axes = _canvas()
    paint_mistake_curve(axes, found, name)
    return figure


def cells(model: NeighborsModel) -> Any:
    """Who rules where: the answer over two columns of numbers, with the Voronoi cell of each example."""
    from bayeslearn.neighbors.plotting import paint_cells  # noqa: PLC0415 - loaded when neighbours are drawn

    figure, axes = _canvas()
    paint_cells(axes, model, figure_colours())
    return figure


def errors_by_k(found: LeaveOneOut, target: str) -> Any:
    """The leave-one-out error by the number of neighbours that are heard."""
    from bayeslearn.neighbors.plotting import paint_errors  # noqa: PLC0415 - loaded when neighbours are drawn

    figure, axes = _canvas()
    paint_errors(axes, found, target)
    return figure


def function(model: Any, rows: Examples, *, level: float = 0.95) -> Any:
    """A learned function over its only column of numbers, with its interval; else predictions against what was so."""
    from bayeslearn.functions.drawing import paint  # noqa: PLC0415 - loaded when a function is drawn

    figure, axes = _canvas()
    paint(axes, model, rows, level)
    return figure


def contest(found: ModelComparison) -> Any:
    """The error of every learner by its time to train, and by its time to ask."""
    from bayeslearn.model_comparison.results import paint  # noqa: PLC0415 - loaded when a contest is drawn

    figure, axes = _canvas()
    figure.set_size_inches(10, 4)
    axes.remove()
    train, ask = figure.subplots(1, 2)
    paint(train, ask, found, figure_colours())
    return figure


def figure_colours() -> Any:
    """A colour for every code."""
    from matplotlib import colormaps  # noqa: PLC0415 - an extra, loaded when a picture is wanted

    wheel = colormaps["tab20"]
    return lambda code: wheel((2 * code + code // 10) % 20)


def save(figure: Any, path: str | Path) -> None:
    """Write a figure to a file, whole or not at all; the ending says the format."""
    path = Path(path)
    endings, ending = sorted(figure.canvas.get_supported_filetypes()), path.suffix.lstrip(".").lower()
    if ending not in endings:
        raise ParameterError(f"{path.name!r} has no ending of a picture", hint=f"use one of {', '.join(endings)}")
    with files.beside(path) as place:
        figure.savefig(place, format=ending, bbox_inches="tight", dpi=150)


def _canvas() -> tuple[Any, Any]:
    figure = matplotlib_figure.Figure(figsize=(6, 4), layout="constrained")
    return figure, figure.add_subplot()
