"""Plots of networks, mixtures, hidden Markov models, naive Bayes, neighbors, regression and evaluations."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import validation
from bayeslearn.plots.figures import DPI, canvas, figure_colors, model_of
from bayeslearn.printable import plot_label

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bayeslearn.em import EMResult
    from bayeslearn.ensemble import BayesOptimalModel, BayesOptimalRegressionModel
    from bayeslearn.evaluation import Metrics
    from bayeslearn.hmm import HiddenMarkovModel, StatePath, StatePosterior
    from bayeslearn.mixture import ClusterHierarchy, MixtureModel
    from bayeslearn.naive_bayes import Calibration, CellContributions, NaiveBayesModel
    from bayeslearn.naive_bayes.text import ClassWords, TextExplanation
    from bayeslearn.naive_bayes.text.evaluation import LearningCurve
    from bayeslearn.network import CPT, DAG, BayesianNetwork, Sensitivity
    from bayeslearn.network.hybrid.results import NumericPosterior
    from bayeslearn.network.inference.explanation import EvidenceExplanation
    from bayeslearn.network.inference.results import QueryResult
    from bayeslearn.network.structure.results import StructureFitInfo

#: Sequences whose states are drawn.
MAX_SEQUENCES = 40

#: Columns whose importances are drawn, the most important ones.
MAX_FEATURES = 30

#: The longest side of the figure of a network in inches, and its largest area; larger ones are scaled.
MAX_INCHES, MAX_AREA = 60, 700


def plot_em_history(result: EMResult[Any], *, ax: Any = None) -> Any:
    """The penalized log likelihood of each iteration of EM."""
    figure, axes = canvas(ax)
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

    Parameters
    ----------
    net
        A network, or a graph.
    evidence
        Observed states; the bars are the posterior probabilities given it.
    bars
        Whether nodes show the posterior probabilities; by default those of networks of at most 60 variables that are
        not compact.
    rows
        Maximum number of states per node; the others are shown as one.
    compact
        Whether nodes are small; by default those of networks of more than 30 variables.
    ax
        Axes to draw on; a new figure by default.
    """
    from bayeslearn.network.visualization.figure_layout import picture  # noqa: PLC0415 - loaded when a network is drawn
    from bayeslearn.network.visualization.renderers import paint  # noqa: PLC0415

    seen = picture(net, evidence, bars=bars, rows=rows, compact=compact)
    width, height = seen.layout.width, seen.layout.height
    scale = min(1 / DPI, MAX_INCHES / max(width, height), (MAX_AREA / (width * height)) ** 0.5)
    figure, axes = canvas(ax, (width * scale, height * scale))
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
    """The posterior probabilities that answer a query, as bars; densities, where all that was queried are numbers."""
    from bayeslearn.network.plotting import bars_of, paint_densities, paint_query  # noqa: PLC0415 - loaded when drawn

    densities: list[Any] = [found[name] for name in found.beliefs if hasattr(found[name], "pdf")]
    if densities and len(densities) == len(found.beliefs):
        figure, axes = canvas(ax)
        paint_densities(axes, densities)
        return figure
    figure, axes = canvas(ax, (6, 1.2 + 0.25 * len(bars_of(found))))
    paint_query(axes, found)
    return figure


def plot_density(posterior: NumericPosterior, *, ax: Any = None) -> Any:
    """The density of the posterior of a number."""
    from bayeslearn.network.plotting import paint_densities  # noqa: PLC0415 - loaded when a posterior is drawn

    figure, axes = canvas(ax)
    paint_densities(axes, [posterior])
    return figure


def plot_sensitivity(found: Sensitivity, *, n: int = 10, ax: Any = None) -> Any:
    """How far a posterior changes with each of the n most influential numbers of the CPTs, from 0 to 1."""
    from bayeslearn.network.plotting import paint_sensitivity  # noqa: PLC0415 - loaded when a posterior is drawn

    figure, axes = canvas(ax, (7, 1.2 + 0.3 * n))
    paint_sensitivity(axes, found, validation.integer("n", n, min_value=1))
    return figure


def plot_arcs(info: StructureFitInfo, *, ax: Any = None) -> Any:
    """The arcs of a fitted network, the strongest first: their bootstrap strength, or the gain of the score."""
    from bayeslearn.network.plotting import MAX_BARS, paint_arcs  # noqa: PLC0415 - loaded when arcs are drawn

    figure, axes = canvas(ax, (7, 1.2 + 0.25 * min(max(len(info.arcs), 1), MAX_BARS)))
    paint_arcs(axes, info)
    return figure


def plot_cpt(cpt: CPT, *, ax: Any = None) -> Any:
    """The rows of a CPT, a stacked bar of the probabilities of the states for each."""
    from bayeslearn.network.plotting import paint_cpt, rows_of  # noqa: PLC0415 - loaded when a CPT is drawn

    figure, axes = canvas(ax, (7, 1.4 + 0.3 * len(rows_of(cpt))))
    paint_cpt(axes, cpt, figure_colors())
    return figure


def plot_explanation(found: EvidenceExplanation, state: Any = None, *, ax: Any = None) -> Any:
    """How the probability of a state of the target changes with each piece of evidence: without it, and with all of it.

    `state` is by default the most probable one.
    """
    from bayeslearn.network.plotting import paint_explanation  # noqa: PLC0415 - loaded when it is drawn

    figure, axes = canvas(ax, (7, 1.2 + 0.3 * (len(found.impacts) + 1)))
    paint_explanation(axes, found, state)
    return figure


def plot_calibration(found: Calibration, *, ax: Any = None) -> Any:
    """Observed frequency of a class by its predicted probability, against the diagonal; below, the number of rows."""
    figure, axes = canvas(ax)
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
    figure, axes = canvas(ax, (7, 1.2 + 0.25 * min(n * len(model.classes), 40)))
    paint_indicators(axes, model, n, figure_colors())
    return figure


def plot_contributions(found: CellContributions, row: int = 0, *, ax: Any = None) -> Any:
    """The contribution of each cell of a row to the log odds of its class, a bar for each."""
    from bayeslearn.naive_bayes.tabular.reporting import paint_contributions  # noqa: PLC0415 - loaded when it is drawn

    figure, axes = canvas(ax, (7, 1.2 + 0.3 * (len(found.parts) + 1)))
    paint_contributions(axes, found, validation.integer("row", row, min_value=0, max_value=len(found) - 1))
    return figure


def plot_member_weights(model: BayesOptimalModel | BayesOptimalRegressionModel, *, ax: Any = None) -> Any:
    """The weight of each member of an ensemble, a bar for each, the largest first."""
    weights = sorted(model.weights.items(), key=lambda pair: pair[1])
    figure, axes = canvas(ax, (6, 1.2 + 0.3 * len(weights)))
    axes.barh([name for name, _ in weights], [weight for _, weight in weights])
    name = model.targets[0] if hasattr(model, "targets") else model.target.name
    axes.set(xlabel="Weight", title=f"Members that predict {name}")
    return figure


def plot_learning_curve(curve: LearningCurve, *, ax: Any = None) -> Any:
    """Accuracy on held-out documents by the number of training documents: each split, and the mean."""
    figure, axes = canvas(ax)
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
    figure, axes = canvas(ax, (3 + size * 0.35, 2 + size * 0.35))
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
    shown = range(min(len(data), MAX_SEQUENCES))
    figure, axes = canvas(ax, (8, 2.5 if len(shown) == 1 else 1.5 + 0.3 * len(shown)))
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
    figure, axes = canvas(ax, (8, 2.5))
    names = [str(state) for state in found.model.states]
    axes.stackplot(range(len(p)), p.T, labels=names, colors=[colors(j) for j in range(len(names))], step="mid")
    for start in data.starts[1:][:MAX_SEQUENCES]:
        axes.axvline(start - 0.5, color="black", linestyle="--", linewidth=0.7)
    axes.set(xlabel="Step", ylabel="P(state | sequence)", ylim=(0, 1), xlim=(0, max(len(p) - 1, 1)))
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False, title="State")
    return figure


def plot_transitions(model: HiddenMarkovModel, *, ax: Any = None) -> Any:
    """The transition probabilities of a hidden Markov model, and the emissions of each state."""
    names, n = [str(state) for state in model.states], model.n_states
    figure, axes = canvas(ax, (4 + 0.5 * n, 1.5 + 0.5 * n))
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
    figure, axes = canvas(ax, (6, 1 + 0.25 * len(words)))
    axes.barh([word.word for word in words], [word.log_odds for word in words])
    axes.set(xlabel="Log odds", title=f"Class {found.label}")
    return figure


def plot_mixture(model: MixtureModel, data: Any, *, columns: Sequence[str] | None = None, ax: Any = None) -> Any:
    """Rows by their component and an ellipse of two standard deviations for each, over two columns of numbers."""
    from bayeslearn.mixture.plotting import paint  # noqa: PLC0415 - loaded when a mixture is drawn

    figure, axes = canvas(ax)
    paint(axes, model, data, figure_colors(), columns)
    return figure


def plot_hierarchy(hierarchy: ClusterHierarchy, *, ax: Any = None) -> Any:
    """The components of a mixture, merged step by step into clusters, as a tree."""
    from bayeslearn.mixture.plotting import tree  # noqa: PLC0415 - loaded when a mixture is drawn

    figure, axes = canvas(ax)
    tree(axes, hierarchy, figure_colors())
    return figure


def plot_responsibilities(model: MixtureModel, data: Any, *, ax: Any = None) -> Any:
    """How much of each row belongs to each component."""
    from bayeslearn.mixture.plotting import shares  # noqa: PLC0415 - loaded when a mixture is drawn

    figure, axes = canvas(ax)
    shares(axes, model.predict_proba(data), figure_colors())
    return figure


def plot_voronoi(model: Any, *, ax: Any = None) -> Any:
    """The prediction over two numeric columns, with the Voronoi cell of each training row."""
    from bayeslearn.neighbors.reporting import paint_cells  # noqa: PLC0415 - loaded when neighbors are drawn

    figure, axes = canvas(ax)
    paint_cells(axes, model_of(model), figure_colors())
    return figure


def plot_error_by_n_neighbors(found: Any, *, ax: Any = None) -> Any:
    """The leave-one-out error by the number of neighbors: of a LeaveOneOut, a model or an estimator."""
    from bayeslearn.neighbors import LeaveOneOut, leave_one_out  # noqa: PLC0415 - loaded when neighbors are drawn
    from bayeslearn.neighbors.reporting import paint_errors  # noqa: PLC0415

    figure, axes = canvas(ax)
    found = model_of(found)
    paint_errors(axes, found if isinstance(found, LeaveOneOut) else leave_one_out(found))
    return figure


def plot_neighbors(model: Any, *, ax: Any = None) -> Any:
    """The prediction over two numeric columns with Voronoi cells; of other columns the error by number of neighbors."""
    from bayeslearn.neighbors.reporting import plane  # noqa: PLC0415 - loaded when neighbors are drawn

    draw = plot_error_by_n_neighbors if plane(model_of(model)) is None else plot_voronoi
    return draw(model, ax=ax)


def plot_importances(model: Any, *, ax: Any = None) -> Any:
    """The importances of the columns of a forest, the largest on top, with their shares."""
    found = sorted(model_of(model).feature_importances.items(), key=lambda pair: pair[1])[-MAX_FEATURES:]
    figure, axes = canvas(ax)
    axes.barh([plot_label(name) for name, _ in found], [share for _, share in found], color=figure_colors()(0))
    axes.set(xlabel="Importance")
    return figure


def plot_regression(model: Any, data: Any = None, target: Any = None, *, level: float = 0.95, ax: Any = None) -> Any:
    """A fitted function over its only numeric column, with its interval; else predicted against observed values.

    `model` is a regression or classification model, or an estimator; `target` names a column of `data`, by default the
    one that the model predicts, or holds the targets. Without `data` local regression draws its training rows, and a
    linear or logistic model its coefficients with their intervals.
    """
    from bayeslearn.regression.plotting import (  # noqa: PLC0415 - loaded when a function is drawn
        coefficients_of,
        examples_of,
        paint,
        paint_coefficients,
    )

    model = model_of(model)
    if data is None and (found := coefficients_of(model, level)):
        figure, axes = canvas(ax, (7, 1.2 + 0.3 * len(found)))
        paint_coefficients(axes, model, found, level)
        return figure
    figure, axes = canvas(ax)
    paint(axes, model, examples_of(model, data, target), level)
    return figure
