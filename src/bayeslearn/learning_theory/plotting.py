"""Bounds, intervals, growth functions and simulations on axes of matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.learning_theory.concept_class import sauer_bound
from bayeslearn.learning_theory.simulations import EpsilonExhaustion, Simulation
from bayeslearn.printable import plot_label

if TYPE_CHECKING:
    from bayeslearn.learning_theory.bayes_vs_gibbs import BayesGibbsComparison
    from bayeslearn.learning_theory.concept_class import ConceptClass
    from bayeslearn.learning_theory.intervals import ErrorIntervals
    from bayeslearn.learning_theory.mistake_bounds import MistakeBounds, Trial
    from bayeslearn.learning_theory.pac_bounds import SampleCurve
    from bayeslearn.learning_theory.standard_classes import StandardClass

#: Points of a curve by the error.
STEPS = 60


def paint_sample_sizes(axes: Any, curve: SampleCurve) -> None:
    """The number of examples by the error ε, and the point of the bound."""
    epsilon, m = curve.at
    errors = np.geomspace(min(curve.between[0], epsilon), max(curve.between[1], epsilon), STEPS)
    axes.plot(errors, [curve.n_examples(float(e)) for e in errors])
    axes.plot(epsilon, m, marker="o", color="black")
    axes.annotate(f"ε = {epsilon:.4g}, m = {m:,.0f}", curve.at, xytext=(6, 6), textcoords="offset points")
    axes.margins(x=0.08, y=0.12)
    axes.set(xscale="log", yscale="log", xlabel="True error ε", ylabel="Examples m", title=plot_label(curve.title, 60))
    axes.grid(alpha=0.3)


def paint_growth(axes: Any, concepts: ConceptClass, max_points: int) -> None:
    """The largest number of labelings of m points, next to 2^m and Sauer's bound."""
    d, m = concepts.vc_dimension, range(max_points + 1)
    axes.plot(m, [2**i for i in m], color="lightgray", label="2^m")
    axes.plot(m, [sauer_bound(d, i) for i in m], color="gray", linestyle="--", label="Sauer's bound")
    axes.plot(m, [concepts.growth_function(i) for i in m], marker="o", label="Growth function Π(m)")
    axes.set(xlabel="Points m", ylabel="Labelings", title=f"VC dimension {d}")
    axes.set_yscale("log", base=2)
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.legend(frameon=False)


def paint_failures(axes: Any, found: Simulation | EpsilonExhaustion) -> None:
    """The share of runs that failed by the number of examples, and the bound if there is one."""
    if isinstance(found, Simulation):
        title, measured = f"{found.learner}: error above {found.epsilon:g}", found.failures
    else:
        title, measured = f"Version space not {found.epsilon:g}-exhausted", found.measured
    axes.plot(found.n_examples, measured, marker="o", label="Measured")
    if np.isfinite(found.bounds).any():
        axes.plot(found.n_examples, found.bounds, marker=".", color="gray", linestyle="--", label="Bound |H| e^(−εm)")
    axes.set(xlabel="Examples m", ylabel="Share of runs", ylim=(-0.03, 1.03))
    axes.set_title(plot_label(f"{title}, {found.n_runs:,} runs", 70))
    axes.legend(frameon=False)


def paint_comparison(axes: Any, found: BayesGibbsComparison) -> None:
    """The error of each learner, as measured and as expected."""
    places = np.arange(len(found.measured))
    axes.bar(places - 0.2, list(found.measured.values()), width=0.4, label="Measured")
    axes.bar(places + 0.2, list(found.expected.values()), width=0.4, label="Expected")
    axes.set_xticks(places, [plot_label(name) for name in found.measured])
    axes.set(ylabel="Error", title=f"{found.n_examples:,} examples, {found.n_runs:,} runs")
    axes.legend(frameon=False)


def paint_intervals(axes: Any, found: ErrorIntervals) -> None:
    """The intervals of the true error as bars, and the measured error."""
    named = found.by_name()
    for i, (_, (low, high)) in enumerate(named):
        axes.plot([low, high], [i, i], marker="|", markersize=12, linewidth=3)
    axes.axvline(found.error, color="gray", linestyle="--")
    axes.set_yticks(range(len(named)), [name for name, _ in named])
    axes.set(
        xlabel="True error", ylim=(len(named) - 0.5, -0.5), xlim=(0, min(1.0, 1.1 * max(h for _, (_, h) in named)))
    )
    axes.set_title(f"{found.n_wrong:,} of {found.n_examples:,} wrong, {100 * found.level:g} % intervals")


def paint_mistake_bounds(axes: Any, found: MistakeBounds) -> None:
    """VC(C) ≤ Opt(C) ≤ M_Halving(C) ≤ log₂|C| as bars."""
    names = ["VC(C)", "Opt(C)", "M_Halving(C)", "log₂|C|"]
    axes.barh(names, [found.vc, found.optimal, found.halving, found.log2])
    axes.invert_yaxis()
    axes.set(xlabel="Mistakes")


def paint_trial(axes: Any, found: Trial) -> None:
    """The number of mistakes by the number of rounds."""
    wrong = np.cumsum([0, *(r.guess != r.label for r in found.rounds)])
    axes.step(range(len(wrong)), wrong, where="post")
    axes.set(xlabel="Rounds", ylabel="Mistakes", title=f"{found.mistakes} mistakes in {len(found.rounds)} rounds")
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.yaxis.get_major_locator().set_params(integer=True)


def paint_shattered(axes: Any, found: StandardClass) -> None:
    """The shattered points on the line, or in the plane of their first two coordinates."""
    points = np.column_stack([found.witness, np.zeros((len(found.witness), 1))])[:, :2]
    axes.plot(points[:, 0], points[:, 1], "o")
    axes.margins(0.2)
    axes.set(xlabel="First coordinate", ylabel="Second coordinate" if found.witness.shape[1] > 1 else "")
    size = "infinite" if np.isinf(found.dimension) else f"{found.dimension:g}"
    axes.set_title(plot_label(f"{found.name}: VC dimension {size}", 60))
