"""Plots of models and results. Needs matplotlib: ``pip install 'bayeslearn[plot]'``.

Every function draws on the axes `ax`, or on a new figure without them, and returns the figure; :func:`save` writes one
to a file.
"""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import files, lazy_imports, validation
from bayeslearn.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from bayeslearn.case_based import Arc, FunctionGraph
    from bayeslearn.em import EMResult
    from bayeslearn.evaluation import Metrics
    from bayeslearn.hmm import HiddenMarkovModel, StatePath, StatePosterior
    from bayeslearn.hypotheses import HypothesisPosterior
    from bayeslearn.learning_theory import ConceptClass, EpsilonExhaustion, Simulation
    from bayeslearn.mixture import MixtureModel
    from bayeslearn.model_comparison import ModelComparison
    from bayeslearn.naive_bayes import Calibration, CellContributions, NaiveBayesModel
    from bayeslearn.naive_bayes.text import ClassWords, TextExplanation
    from bayeslearn.naive_bayes.text.evaluation import LearningCurve
    from bayeslearn.network import DAG, BayesianNetwork, Sensitivity
    from bayeslearn.network.inference.results import QueryResult
    from bayeslearn.online import MistakeCurve

matplotlib_figure: Any = lazy_imports.Optional("matplotlib.figure", "pictures", "plot")

__all__ = [
    "plot_calibration",
    "plot_confusion_matrix",
    "plot_em_history",
    "plot_error_by_n_neighbors",
    "plot_function_graph",
    "plot_growth_function",
    "plot_learning_curve",
    "plot_mistake_curve",
    "plot_mixture",
    "plot_model_comparison",
    "plot_neighbors",
    "plot_network",
    "plot_pac_simulation",
    "plot_posterior",
    "plot_query",
    "plot_regression",
    "plot_responsibilities",
    "plot_sample_complexity",
    "plot_sensitivity",
    "plot_state_posterior",
    "plot_states",
    "plot_transitions",
    "plot_voronoi",
    "plot_words",
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


def plot_posterior(steps: Sequence[HypothesisPosterior], labels: Sequence[str], *, ax: Any = None) -> Any:
    """The posterior after each piece of evidence: one bar per step, split by hypothesis."""
    figure, axes = _canvas(ax)
    last = steps[-1].probabilities
    shown = sorted(last, key=lambda name: -last[name])[:MOST_SHOWN]
    floor = [0.0] * len(steps)
    for name in shown:
        heights = [step[name] for step in steps]
        axes.bar(range(len(steps)), heights, bottom=floor, label=str(name), width=0.8)
        floor = [below + height for below, height in zip(floor, heights, strict=True)]
    if len(last) > len(shown):
        rest = [1 - below for below in floor]
        axes.bar(range(len(steps)), rest, bottom=floor, label=f"{len(last) - len(shown)} others", color="lightgray")
    axes.set_xticks(range(len(steps)), labels)
    axes.set(ylabel="P(h | evidence)", ylim=(0, 1))
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
    return figure


def plot_em_history(result: EMResult[Any], *, ax: Any = None) -> Any:
    """The penalized log likelihood of each iteration of EM."""
    figure, axes = _canvas(ax)
    axes.plot([s.iteration for s in result.history], [s.objective for s in result.history], marker=".")
    axes.set(xlabel="Iteration", ylabel="ln P(D|θ) + ln P(θ)")
    axes.set_title("Converged" if result.converged else "Not converged")
    return figure


def plot_network(
    net: BayesianNetwork | DAG,
    evidence: Mapping[str, Any] | None = None,
    *,
    bars: bool | None = None,
    rows: int = 6,
    compact: bool | None = None,
    ax: Any = None,
) -> Any:
    """A network with its posterior probabilities as bars in the nodes, or a graph with names only.

    See :func:`bayeslearn.network.visualization.picture`.
    """
    from bayeslearn.network.visualization import paint, picture  # noqa: PLC0415 - loaded when a network is drawn

    seen = picture(net, evidence, bars=bars, rows=rows, compact=compact)
    width, height = seen.layout.width, seen.layout.height
    scale = min(1 / NETWORK_DPI, MOST_INCHES / max(width, height), (MOST_AREA / (width * height)) ** 0.5)
    figure, axes = _canvas(ax, (width * scale, height * scale))
    if ax is None:
        figure.set_layout_engine("none")
        axes.set_position((0, 0, 1, 1))
    else:  # as large as there is room
        box = axes.get_position()
        room = figure.get_size_inches() * (box.width, box.height)
        scale = min(scale, room[0] / width, room[1] / height)
        axes.set_aspect("equal")
    axes.set(xlim=(0, width), ylim=(height, 0))  # y grows downwards
    axes.axis("off")
    paint(seen, axes, points=72 * scale)
    return figure


def plot_query(found: QueryResult, *, ax: Any = None) -> Any:
    """The posterior probabilities that answer a query, as bars."""
    from bayeslearn.network.plotting import bars_of, paint_query  # noqa: PLC0415 - loaded when a posterior is drawn

    figure, axes = _canvas(ax, (6, 1.2 + 0.25 * len(bars_of(found))))
    paint_query(axes, found)
    return figure


def plot_sensitivity(found: Sensitivity, *, n: int = 10, ax: Any = None) -> Any:
    """How far a posterior changes with each of the n most influential numbers of the CPTs, from 0 to 1."""
    from bayeslearn.network.plotting import paint_sensitivity  # noqa: PLC0415 - loaded when a posterior is drawn

    figure, axes = _canvas(ax, (7, 1.2 + 0.3 * n))
    paint_sensitivity(axes, found, validation.integer("n", n, min_value=1))
    return figure


def plot_calibration(found: Calibration, *, ax: Any = None) -> Any:
    """Observed frequency of a class by its predicted probability, against the diagonal; below, the number of rows."""
    figure, axes = _canvas(ax)
    seen = found.counts > 0
    axes.plot([0, 1], [0, 1], color="lightgray")
    axes.plot(found.confidence[seen], found.accuracy[seen], marker="o")
    shares = found.counts / max(found.counts.sum(), 1.0)
    axes.bar(found.edges[:-1], 0.2 * shares, width=found.edges[1] - found.edges[0], align="edge", alpha=0.3)
    axes.set(xlabel="Predicted probability", ylabel="Observed frequency", xlim=(0, 1), ylim=(0, 1))
    axes.set_title(f"Calibration error {found.error:.3f} ({found.counts.sum():,.10g} rows)")
    return figure


def plot_class_indicators(model: NaiveBayesModel, *, max_results: int = 10, ax: Any = None) -> Any:
    """The values that indicate each class of a naive Bayes model most: the mean gain in log odds, a bar for each."""
    from bayeslearn.naive_bayes.tabular.reporting import paint_indicators  # noqa: PLC0415 - loaded when a model is drawn

    n = validation.integer("max_results", max_results, min_value=1)
    figure, axes = _canvas(ax, (7, 1.2 + 0.25 * min(n * len(model.classes), 40)))
    paint_indicators(axes, model, n, figure_colors())
    return figure


def plot_contributions(found: CellContributions, row: int = 0, *, ax: Any = None) -> Any:
    """The contribution of each cell of a row to the log odds of its class, a bar for each."""
    from bayeslearn.naive_bayes.tabular.reporting import paint_contributions  # noqa: PLC0415 - loaded when it is drawn

    figure, axes = _canvas(ax, (7, 1.2 + 0.3 * (len(found.parts) + 1)))
    paint_contributions(axes, found, validation.integer("row", row, min_value=0, max_value=len(found) - 1))
    return figure


def plot_learning_curve(curve: LearningCurve, *, ax: Any = None) -> Any:
    """Accuracy on held-out documents by the number of training documents: each split, and the mean."""
    figure, axes = _canvas(ax)
    sizes = [point.size for point in curve.points]
    for accuracies in zip(*(point.accuracies for point in curve.points), strict=True):
        axes.plot(sizes, accuracies, color="lightgray", marker=".")
    axes.plot(sizes, [point.accuracy for point in curve.points], marker="o")
    axes.set_xscale("log")
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes], rotation=45)
    axes.minorticks_off()
    axes.set(xlabel="Training documents", ylabel="Accuracy", ylim=(0, 1))
    axes.set_title(f"Accuracy {curve.accuracy:.1%} on {curve.n_test:,} held-out documents")
    axes.grid(alpha=0.3)
    return figure


def plot_confusion_matrix(evaluation: Metrics, *, ax: Any = None) -> Any:
    """The share of each true class (row) that was predicted as each class (column)."""
    size = len(evaluation.classes)
    figure, axes = _canvas(ax, (3 + size * 0.35, 2 + size * 0.35))
    total = evaluation.confusion.sum(axis=1, keepdims=True)
    image = axes.imshow(evaluation.confusion / total.clip(1), cmap="Blues", vmin=0, vmax=1)
    names = [str(name) for name in evaluation.classes]
    axes.set_xticks(range(size), names, rotation=90)
    axes.set_yticks(range(size), names)
    axes.set(xlabel="Predicted class", ylabel="True class")
    axes.set_title(f"Accuracy {evaluation.accuracy:.1%} ({evaluation.weight:,.0f} rows)")
    figure.colorbar(image, ax=axes, shrink=0.7)
    return figure


def plot_states(found: StatePath, *, ax: Any = None) -> Any:
    """The states of each sequence, step by step; with the observed numbers if there is one sequence only."""
    data, colors = found.data, figure_colors()
    codes = found.codes if data.order is None else found.codes[data.order]
    shown = range(min(len(data), MOST_SEQUENCES))
    figure, axes = _canvas(ax, (8, 2.5 if len(shown) == 1 else 1.5 + 0.3 * len(shown)))
    numbers = data.cells if len(shown) == 1 and data.cells.dtype.kind == "f" else None
    low, high = (-0.4, 0.4) if numbers is None else (float(np.nanmin(numbers)), float(np.nanmax(numbers)))
    bars: dict[int, Any] = {}
    for i in shown:
        t = 0
        for code, run in groupby(codes[data.rows(i)].tolist()):
            steps = len(list(run))
            bars[code] = axes.broken_barh([(t - 0.5, steps)], (i + low, high - low), color=colors(code), alpha=0.5)
            t += steps
    if numbers is None:
        axes.set_yticks(list(shown), [str(data.ids[i]) for i in shown])
        axes.set_ylim(len(shown) - 0.4, -0.6)
    else:
        axes.plot(numbers, color="black", marker=".", linewidth=0.7)
        axes.set_ylabel(", ".join(found.model.feature_names))
    axes.set_xlabel("Step" if len(shown) == len(data) else f"Step ({len(shown)} of {len(data)} sequences)")
    names = [str(found.model.states[code]) for code in sorted(bars)]
    handles = [bars[code] for code in sorted(bars)]
    axes.legend(handles, names, loc="center left", bbox_to_anchor=(1, 0.5), frameon=False, title="State")
    return figure


def plot_state_posterior(found: StatePosterior, *, ax: Any = None) -> Any:
    """The probability of each state, step by step; dashed lines separate sequences."""
    data, colors = found.data, figure_colors()
    p = found.probabilities if data.order is None else found.probabilities[data.order]
    figure, axes = _canvas(ax, (8, 2.5))
    names = [str(state) for state in found.model.states]
    axes.stackplot(range(len(p)), p.T, labels=names, colors=[colors(j) for j in range(len(names))], step="mid")
    for start in data.starts[1:][:MOST_SEQUENCES]:
        axes.axvline(start - 0.5, color="black", linestyle="--", linewidth=0.7)
    axes.set(xlabel="Step", ylabel="P(state | sequence)", ylim=(0, 1), xlim=(0, max(len(p) - 1, 1)))
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False, title="State")
    return figure


def plot_transitions(model: HiddenMarkovModel, *, ax: Any = None) -> Any:
    """The transition probabilities of a hidden Markov model, and the emissions of each state."""
    names, n = [str(state) for state in model.states], model.n_states
    figure, axes = _canvas(ax, (4 + 0.5 * n, 1.5 + 0.5 * n))
    axes.imshow(model.transmat, cmap="Blues", vmin=0, vmax=1)
    for i, j in np.ndindex(n, n):
        p = model.transmat[i, j]
        axes.text(j, i, f"{p:.2g}", ha="center", va="center", color="white" if p > 0.5 else "black")
    axes.set_xticks(range(n), names)
    axes.set_yticks(range(n), [f"{name}: {model.emissions.describe(i)}"[:40] for i, name in enumerate(names)])
    axes.set(xlabel="Next state", ylabel="State")
    return figure


def plot_words(found: TextExplanation | ClassWords, *, ax: Any = None) -> Any:
    """The words with the largest log odds, as bars."""
    words = [*found.top_positive, *found.top_negative] if isinstance(found.top_positive, tuple) else [*found.words]
    words = sorted(words, key=lambda word: abs(word.log_odds))[-20:]
    figure, axes = _canvas(ax, (6, 1 + 0.25 * len(words)))
    axes.barh([word.word for word in words], [word.log_odds for word in words])
    axes.set(xlabel="Log odds", title=f"Class {found.label}")
    return figure


def plot_mixture(model: MixtureModel, data: Any, *, columns: Sequence[str] | None = None, ax: Any = None) -> Any:
    """Rows by their component and an ellipse of two standard deviations for each, over two columns of numbers."""
    from bayeslearn.mixture.plotting import paint  # noqa: PLC0415 - loaded when a mixture is drawn

    figure, axes = _canvas(ax)
    paint(axes, model, data, figure_colors(), columns)
    return figure


def plot_responsibilities(model: MixtureModel, data: Any, *, ax: Any = None) -> Any:
    """How much of each row belongs to each component."""
    from bayeslearn.mixture.plotting import shares  # noqa: PLC0415 - loaded when a mixture is drawn

    figure, axes = _canvas(ax)
    shares(axes, model.predict_proba(data), figure_colors())
    return figure


def plot_function_graph(
    graph: FunctionGraph, covered: Mapping[str, Sequence[Arc]] | None = None, *, ax: Any = None
) -> Any:
    """A function graph, − dashed; with the arcs that each of some cases covers, by name, each has a color."""
    from bayeslearn.case_based import plotting as drawing  # noqa: PLC0415 - loaded when cases are drawn
    from bayeslearn.network import DAG  # noqa: PLC0415
    from bayeslearn.network.visualization import layered  # noqa: PLC0415

    layout = layered(DAG.from_arcs(drawing.downwards(graph)), drawing.sizes(graph))
    figure, axes = _canvas(ax, (layout.width / NETWORK_DPI, layout.height / NETWORK_DPI))
    axes.set(xlim=(0, layout.width), ylim=(layout.height, 0), aspect="equal")  # y grows downwards
    axes.axis("off")
    drawing.paint(axes, graph, layout, covered or {}, figure_colors())
    return figure


def plot_sample_complexity(
    curve: Callable[[float], float],
    at: tuple[float, float],
    *,
    title: str = "",
    between: tuple[float, float] | None = None,
    ax: Any = None,
) -> Any:
    """The number of examples that a bound asks for, by the error ε, and one point (ε, m)."""
    from bayeslearn.learning_theory.pac_bounds import ERRORS, paint_sample_sizes  # noqa: PLC0415 - loaded when a bound is drawn

    figure, axes = _canvas(ax)
    paint_sample_sizes(axes, curve, at, title, ERRORS if between is None else between)
    return figure


def plot_pac_simulation(found: Simulation | EpsilonExhaustion, *, ax: Any = None) -> Any:
    """The failure rate of a learner by the number of examples, and the bound."""
    from bayeslearn.learning_theory.simulations import paint_failures  # noqa: PLC0415 - loaded when an experiment is drawn

    figure, axes = _canvas(ax)
    paint_failures(axes, found)
    return figure


def plot_growth_function(concepts: ConceptClass, max_points: int, *, ax: Any = None) -> Any:
    """The largest number of labelings that a class has of m points, up to `max_points` of them."""
    from bayeslearn.learning_theory.concept_class import paint_growth  # noqa: PLC0415 - loaded when a class is drawn

    figure, axes = _canvas(ax)
    paint_growth(axes, concepts, max_points)
    return figure


def plot_mistake_curve(found: MistakeCurve, name: str = "learner", *, ax: Any = None) -> Any:
    """Mistakes of a learner and of its best expert, round by round, and the bound."""
    from bayeslearn.online.mistakes import paint_mistake_curve  # noqa: PLC0415 - loaded when a course is drawn

    figure, axes = _canvas(ax)
    paint_mistake_curve(axes, found, name)
    return figure


def plot_voronoi(model: Any, *, ax: Any = None) -> Any:
    """The prediction over two numeric columns, with the Voronoi cell of each training row."""
    from bayeslearn.neighbors.reporting import paint_cells  # noqa: PLC0415 - loaded when neighbors are drawn

    figure, axes = _canvas(ax)
    paint_cells(axes, model_of(model), figure_colors())
    return figure


def plot_error_by_n_neighbors(found: Any, *, ax: Any = None) -> Any:
    """The leave-one-out error by the number of neighbors: of a LeaveOneOut, a model or an estimator."""
    from bayeslearn.neighbors import LeaveOneOut, leave_one_out  # noqa: PLC0415 - loaded when neighbors are drawn
    from bayeslearn.neighbors.reporting import paint_errors  # noqa: PLC0415

    figure, axes = _canvas(ax)
    found = model_of(found)
    paint_errors(axes, found if isinstance(found, LeaveOneOut) else leave_one_out(found))
    return figure


def plot_neighbors(model: Any, *, ax: Any = None) -> Any:
    """The prediction over two numeric columns with Voronoi cells; of other columns the error by number of neighbors."""
    from bayeslearn.neighbors.reporting import plane  # noqa: PLC0415 - loaded when neighbors are drawn

    draw = plot_error_by_n_neighbors if plane(model_of(model)) is None else plot_voronoi
    return draw(model, ax=ax)


def plot_regression(model: Any, data: Any = None, target: Any = None, *, level: float = 0.95, ax: Any = None) -> Any:
    """A fitted function over its only numeric column, with its interval; else predicted against observed values.

    `model` is a regression or classification model, or an estimator; `target` names a column of `data`, by default the
    one that the model predicts, or holds the targets. Local regression draws its training rows without `data`.
    """
    from bayeslearn.regression.plotting import examples_of, paint  # noqa: PLC0415 - loaded when a function is drawn

    figure, axes = _canvas(ax)
    model = model_of(model)
    paint(axes, model, examples_of(model, data, target), level)
    return figure


def plot_model_comparison(found: ModelComparison, *, ax: Any = None) -> Any:
    """The error of every learner by its training time, and by its prediction time; `ax` is a pair of axes."""
    from bayeslearn.model_comparison.results import paint  # noqa: PLC0415 - loaded when a comparison is drawn

    if ax is None:
        ax = matplotlib_figure.Figure(figsize=(10, 4), layout="constrained").subplots(1, 2)
    train, ask = ax
    paint(train, ask, found, figure_colors())
    return train.figure


def figure_colors() -> Any:
    """A color for every code."""
    from matplotlib import colormaps  # noqa: PLC0415 - an extra, loaded when a picture is wanted

    wheel = colormaps["tab20"]
    return lambda code: wheel((2 * code + code // 10) % 20)


def save(figure: Any, path: str | Path) -> None:
    """Write a figure to a file, atomically; the extension sets the format."""
    path = Path(path)
    endings, ending = sorted(figure.canvas.get_supported_filetypes()), path.suffix.lstrip(".").lower()
    if ending not in endings:
        raise ParameterError(f"{path.name!r} has no ending of a picture", hint=f"use one of {', '.join(endings)}")
    with files.beside(path) as place:
        figure.savefig(place, format=ending, bbox_inches="tight", dpi=150)


def model_of(model: Any) -> Any:
    """The model of a fitted estimator; a model unchanged."""
    return getattr(model, "model_", model)


def _canvas(ax: Any, size: tuple[float, float] = (6, 4)) -> tuple[Any, Any]:
    """The figure and its axes: those that were given, or new ones of a size in inches."""
    if ax is not None:
        return ax.figure, ax
    figure = matplotlib_figure.Figure(figsize=size, layout="constrained")
    return figure, figure.add_subplot()
