"""Plots of hypotheses, version spaces, bounds, online learners, cases and comparisons of learners."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bayeslearn.errors import ParameterError
from bayeslearn.plots.figures import DPI, canvas, figure_colors, matplotlib_figure, model_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bayeslearn.case_based import Arc
    from bayeslearn.hypotheses import DescriptionLengths, HypothesisPosterior
    from bayeslearn.learning_theory import (
        BayesGibbsComparison,
        Bound,
        ConceptClass,
        EpsilonExhaustion,
        ErrorIntervals,
        MistakeBounds,
        Simulation,
        StandardClass,
        Trial,
    )
    from bayeslearn.model_comparison import ModelComparison
    from bayeslearn.online import MistakeCurve


def plot_posterior(
    posterior: HypothesisPosterior | Sequence[HypothesisPosterior],
    labels: Sequence[str] | None = None,
    *,
    ax: Any = None,
) -> Any:
    """Prior and posterior of each hypothesis; of several posteriors, one bar for each, split by hypothesis.

    `posterior` may also be a Bayes optimal or Gibbs classifier; `labels` name the bars of several posteriors.
    """
    from bayeslearn.hypotheses import plotting  # noqa: PLC0415 - loaded when a posterior is drawn

    if isinstance(posterior, Sequence):
        figure, axes = canvas(ax, (max(6.0, 2 + 0.3 * min(len(posterior), 30)), 4))
        names = [str(i) for i in range(len(posterior))] if labels is None else list(labels)
        plotting.paint_steps(axes, posterior, names)
        return figure
    found = model_of(posterior)
    figure, axes = canvas(ax, (6, 1.2 + 0.3 * min(len(found.space), plotting.MAX_BARS)))
    plotting.paint_posterior(axes, found)
    return figure


def plot_description_lengths(lengths: DescriptionLengths, *, ax: Any = None) -> Any:
    """The code length of each hypothesis, and of the data given it, in bits."""
    from bayeslearn.hypotheses import plotting  # noqa: PLC0415 - loaded when lengths are drawn

    figure, axes = canvas(ax, (6, 1.2 + 0.3 * min(len(lengths.names), plotting.MAX_BARS)))
    plotting.paint_lengths(axes, lengths)
    return figure


def plot_version_space(space: Any, *, ax: Any = None) -> Any:
    """The members of a version space or VersionSpaceClassifier from general to specific; of large ones S and G."""
    from bayeslearn.hypotheses import plotting  # noqa: PLC0415 - loaded when a version space is drawn

    figure, axes = canvas(ax, (9, 4))
    plotting.paint_version_space(axes, model_of(space))
    return figure


def plot_function_graph(graph: Any, covered: Mapping[str, Sequence[Arc]] | None = None, *, ax: Any = None) -> Any:
    """A function graph, − dashed; arcs have the color of the case that covers them.

    `graph` is a function graph, a case, a design, a match or a result of a retrieval; `covered` are the arcs that each
    case covers, by name, taken from the design or match by default.
    """
    from bayeslearn.case_based import plotting as drawing  # noqa: PLC0415 - loaded when cases are drawn
    from bayeslearn.network import DAG  # noqa: PLC0415
    from bayeslearn.network.visualization.layout import layered  # noqa: PLC0415

    graph, found = drawing.graph_and_cover(graph)
    covered = found if covered is None else covered
    layout = layered(DAG.from_arcs(drawing.downwards(graph)), drawing.sizes(graph))
    legend = 0.8 + 0.1 * max((min(len(name), 40) for name in covered), default=-8)
    width, height = layout.width / DPI, layout.height / DPI
    figure, axes = canvas(ax, (width + legend, height))
    if ax is None:  # the graph in its own size, and the legend at its right
        figure.set_layout_engine("none")
        axes.set_position((0, 0, width / (width + legend), 1))
    axes.set(xlim=(0, layout.width), ylim=(layout.height, 0), aspect="equal")  # y grows downwards
    axes.axis("off")
    drawing.paint(axes, graph, layout, covered, figure_colors())
    return figure


def plot_sample_complexity(bound: Bound, *, ax: Any = None) -> Any:
    """The number of examples of a bound by the error ε, and its point (ε, m)."""
    from bayeslearn.learning_theory.plotting import paint_sample_sizes  # noqa: PLC0415 - loaded when a bound is drawn

    if bound.curve is None:
        raise ParameterError("this bound has no curve of examples by error", hint="plot the answer of pac_bound")
    figure, axes = canvas(ax)
    paint_sample_sizes(axes, bound.curve)
    return figure


def plot_pac_simulation(found: Simulation | EpsilonExhaustion, *, ax: Any = None) -> Any:
    """The share of failed runs by the number of examples, and the bound."""
    from bayeslearn.learning_theory.plotting import paint_failures  # noqa: PLC0415 - loaded when a simulation is drawn

    figure, axes = canvas(ax)
    paint_failures(axes, found)
    return figure


def plot_growth_function(concepts: ConceptClass, max_points: int | None = None, *, ax: Any = None) -> Any:
    """The growth function: the largest number of labelings of m points, up to `max_points`.

    By default `max_points` is two more than the VC dimension.
    """
    from bayeslearn.learning_theory.plotting import paint_growth  # noqa: PLC0415 - loaded when a class is drawn

    figure, axes = canvas(ax)
    most = min(concepts.vc_dimension + 2, len(concepts.points)) if max_points is None else max_points
    paint_growth(axes, concepts, most)
    return figure


def plot_bayes_gibbs(found: BayesGibbsComparison, *, ax: Any = None) -> Any:
    """The error of Bayes optimal, Gibbs and MAP classification, measured and expected."""
    from bayeslearn.learning_theory.plotting import paint_comparison  # noqa: PLC0415 - loaded when it is drawn

    figure, axes = canvas(ax)
    paint_comparison(axes, found)
    return figure


def plot_error_intervals(found: ErrorIntervals, *, ax: Any = None) -> Any:
    """The intervals of the true error, and the measured error."""
    from bayeslearn.learning_theory.plotting import paint_intervals  # noqa: PLC0415 - loaded when it is drawn

    figure, axes = canvas(ax, (6, 2.5))
    paint_intervals(axes, found)
    return figure


def plot_mistake_bounds(found: MistakeBounds, *, ax: Any = None) -> Any:
    """VC dimension, Opt, mistakes of Halving and log₂|C| as bars."""
    from bayeslearn.learning_theory.plotting import paint_mistake_bounds  # noqa: PLC0415 - loaded when it is drawn

    figure, axes = canvas(ax, (6, 2.5))
    paint_mistake_bounds(axes, found)
    return figure


def plot_mistake_trial(found: Trial, *, ax: Any = None) -> Any:
    """The number of mistakes by rounds."""
    from bayeslearn.learning_theory.plotting import paint_trial  # noqa: PLC0415 - loaded when it is drawn

    figure, axes = canvas(ax)
    paint_trial(axes, found)
    return figure


def plot_shattered_points(found: StandardClass, *, ax: Any = None) -> Any:
    """The points that a class of known VC dimension shatters, by their first two coordinates."""
    from bayeslearn.learning_theory.plotting import paint_shattered  # noqa: PLC0415 - loaded when it is drawn

    figure, axes = canvas(ax, (5, 4))
    paint_shattered(axes, found)
    return figure


def plot_mistake_curve(found: MistakeCurve, name: str = "Learner", *, ax: Any = None) -> Any:
    """Mistakes of a learner and of its best expert by rounds, and the bound."""
    from bayeslearn.online.plotting import paint_mistake_curve  # noqa: PLC0415 - loaded when a curve is drawn

    figure, axes = canvas(ax)
    paint_mistake_curve(axes, found, name)
    return figure


def plot_expert_weights(learner: Any, *, ax: Any = None) -> Any:
    """The weights of the experts of Weighted-Majority, Halving or a Bayes mixture, or of a classifier."""
    from bayeslearn.online.plotting import MAX_EXPERTS, paint_weights  # noqa: PLC0415 - loaded when weights are drawn

    found = model_of(learner)
    figure, axes = canvas(ax, (6, 1.2 + 0.3 * min(len(found.experts), MAX_EXPERTS)))
    paint_weights(axes, found)
    return figure


def plot_model_comparison(found: ModelComparison, *, ax: Any = None) -> Any:
    """The error of each learner by its training time and by its prediction time; `ax` is a pair of axes."""
    from bayeslearn.model_comparison.results import paint  # noqa: PLC0415 - loaded when a comparison is drawn

    if ax is None:
        ax = matplotlib_figure.Figure(figsize=(10, 4), layout="constrained").subplots(1, 2)
    train, query = ax
    paint(train, query, found, figure_colors())
    return train.figure
