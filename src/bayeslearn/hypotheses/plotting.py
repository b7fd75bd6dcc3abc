"""Posteriors, description lengths and version spaces on axes of matplotlib."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from bayeslearn.errors import CapacityError
from bayeslearn.printable import plot_label, plot_labels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bayeslearn.hypotheses.concept_learning.conjunctions import Conjunction
    from bayeslearn.hypotheses.concept_learning.version_space import VersionSpace
    from bayeslearn.hypotheses.finite_space import HypothesisPosterior
    from bayeslearn.hypotheses.priors import DescriptionLengths

#: Hypotheses with a bar of their own; the least probable of more are one bar.
MAX_SHOWN = 9

#: Bars of a single posterior, and members of a version space that are drawn.
MAX_BARS, MAX_MEMBERS = 20, 40


def paint_steps(axes: Any, steps: Sequence[HypothesisPosterior], labels: Sequence[str]) -> None:
    """The posterior after each observation: one bar per step, split by hypothesis."""
    last = steps[-1].probabilities
    shown = sorted(last, key=lambda name: -last[name])[:MAX_SHOWN]
    floor = [0.0] * len(steps)
    for name, label in zip(shown, plot_labels(shown, 30), strict=True):
        heights = [step[name] for step in steps]
        axes.bar(range(len(steps)), heights, bottom=floor, label=label, width=0.8)
        floor = [below + height for below, height in zip(floor, heights, strict=True)]
    if len(last) > len(shown):
        rest = [1 - below for below in floor]
        axes.bar(range(len(steps)), rest, bottom=floor, label=f"{len(last) - len(shown)} others", color="lightgray")
    crowded = len(steps) > 8 or max(len(str(label)) for label in labels) * len(steps) > 60
    step = -(-len(steps) // 30)
    axes.set_xticks(
        range(0, len(steps), step), [plot_label(label, 24) for label in labels[::step]], rotation=90 if crowded else 0
    )
    axes.set(ylabel="Posterior probability", ylim=(0, 1))
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)


def paint_posterior(axes: Any, posterior: HypothesisPosterior) -> None:
    """Prior and posterior of each hypothesis, of many the most probable."""
    rows = posterior.to_rows()
    if len(rows) > MAX_BARS:
        rows = sorted(rows, key=lambda row: -row.posterior)[:MAX_BARS]
    places = range(len(rows))
    axes.barh(places, [row.prior for row in rows], height=0.8, color="lightgray", label="Prior")
    axes.barh(places, [row.posterior for row in rows], height=0.4, label="Posterior")
    axes.set_yticks(places, plot_labels(row.name for row in rows))
    axes.set(xlabel="Probability", xlim=(0, 1))
    axes.invert_yaxis()
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2, frameon=False)


def paint_lengths(axes: Any, lengths: DescriptionLengths) -> None:
    """The bits of each hypothesis and of the data given it, the shortest first."""
    rows = [row for row in lengths.to_rows() if row[3] < float("inf")][:MAX_BARS]
    places = range(len(rows))
    axes.barh(places, [row[1] for row in rows], label="Hypothesis, L(h)")
    axes.barh(places, [row[2] for row in rows], left=[row[1] for row in rows], label="Data, L(D|h)")
    axes.set_yticks(places, plot_labels(row[0] for row in rows))
    axes.set(xlabel="Bits")
    axes.invert_yaxis()
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2, frameon=False)


### version spaces


def levels(space: VersionSpace) -> list[list[Conjunction]]:
    """The members by their number of required attributes, the most general last; of large spaces S and G."""
    try:
        some = list(space.members()) if space.size <= MAX_MEMBERS else [space.specific, *space.general[:MAX_MEMBERS]]
    except CapacityError:
        some = [space.specific]
    members = list(dict.fromkeys(some))
    sizes = sorted({specificity(h) for h in members}, reverse=True)
    return [[h for h in members if specificity(h) == size] for size in sizes]


def specificity(h: Conjunction) -> int:
    """The number of required attributes; more than all for the conjunction that covers nothing."""
    return len(h.attributes) + 1 if "∅" in h.constraints else len(h.required)


def paint_version_space(axes: Any, space: VersionSpace) -> None:
    """The members from general (top) to specific, each with lines to the next more general ones."""
    rows = levels(space)
    general, spot = set(space.general) if len(rows) > 1 else {space.specific}, {}
    for y, row in enumerate(rows):
        for i, h in enumerate(row):
            spot[h] = ((i + 0.5) / len(row), y)
    for h, (x, y) in spot.items():
        above = [g for g in spot if h < g and not any(h < m < g for m in spot)]
        for g in above:
            axes.plot([x, spot[g][0]], [y, spot[g][1]], color="lightgray", zorder=0)
    widest = max(len(row) for row in rows)
    for h, (x, y) in spot.items():
        mark = "S = G: " if h == space.specific and h in general else "S: " if h == space.specific else ""
        mark = "G: " if not mark and h in general else mark
        label = textwrap.fill(plot_label(f"{mark}{h}", 120), max(18, 110 // widest))
        axes.text(
            x, y, label, ha="center", va="center",
            fontsize=9 if widest < 4 else 7, bbox={"facecolor": "white", "edgecolor": "lightgray", "boxstyle": "round"},
        )  # fmt: skip
    axes.set(xlim=(0, 1), ylim=(-0.5, len(rows) - 0.5))
    axes.axis("off")
    drawn = "" if len(spot) == space.size else f" ({len(spot)} shown)"
    axes.set_title(f"Version space of {space.size:,} hypotheses{drawn}")
