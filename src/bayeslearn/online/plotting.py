"""Mistakes and weights of experts on axes of matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.printable import plot_label, plot_labels

if TYPE_CHECKING:
    from bayeslearn.online.mistakes import MistakeCurve

#: Experts that are drawn, those with the largest weights.
MAX_EXPERTS = 20


def paint_mistake_curve(axes: Any, curve: MistakeCurve, name: str) -> None:
    """Mistakes of the learner and of the best expert, the bound above them, and regret between the two."""
    axes.fill_between(curve.rounds, curve.best, curve.mistakes, alpha=0.2, label=f"Regret: {curve.regret[-1]:.4g}")
    axes.plot(curve.rounds, curve.mistakes, label=f"{plot_label(name)}: {curve.mistakes[-1]:.4g}")
    axes.plot(curve.rounds, curve.best, color="black", linewidth=1, label=f"Best expert: {curve.best[-1]:.4g}")
    finite = np.isfinite(curve.bounds)
    if finite.any():
        last = curve.bounds[finite][-1]
        axes.plot(curve.rounds[finite], curve.bounds[finite], color="gray", linestyle="--", label=f"Bound: {last:.4g}")
    axes.set(
        xlabel="Rounds", ylabel="Expected mistakes" if curve.expected else "Mistakes",
        xlim=(curve.rounds[0], max(curve.rounds[-1], curve.rounds[0] + 1)), ylim=(0, None),
    )  # fmt: skip
    axes.legend(frameon=False, loc="upper left")


def paint_weights(axes: Any, learner: Any) -> None:
    """The weights of the experts with the largest ones."""
    weights = sorted(learner.weights.items(), key=lambda item: -item[1])[:MAX_EXPERTS]
    axes.barh(range(len(weights)), [weight for _, weight in weights])
    axes.set_yticks(range(len(weights)), plot_labels(name for name, _ in weights))
    axes.invert_yaxis()
    n = len(learner.weights)
    title = f"The {len(weights)} largest of {n:,} weights" if n > len(weights) else ""
    axes.set(
        xlabel="Weight",
        xlim=(0, 1),
        title=title,
    )
