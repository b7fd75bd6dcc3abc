"""Bounds and what was measured, drawn on the axes of a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.theory.dimension import sauer
from bayeslearn.theory.simulating import Simulation

if TYPE_CHECKING:
    from collections.abc import Callable

    from bayeslearn.theory.classes import ConceptClass
    from bayeslearn.theory.exhausting import Exhaustion

#: The errors between which a curve is drawn, and how many of them.
ERRORS, STEPS = (0.01, 0.5), 60


def paint_sample_sizes(
    axes: Any, curve: Callable[[float], float], at: tuple[float, float], title: str, between: tuple[float, float]
) -> None:
    """The examples of a bound, by the error allowed, and the point that was asked for."""
    errors = np.geomspace(min(between[0], at[0]), max(between[1], at[0]), STEPS)
    axes.plot(errors, [curve(float(e)) for e in errors])
    axes.plot(*at, marker="o", color="black")
    axes.annotate(f"ε = {at[0]:.4g}, m = {at[1]:,.0f}", at, xytext=(8, 8), textcoords="offset points")
    axes.set(xscale="log", yscale="log", xlabel="error allowed, ε", ylabel="examples, m", title=title)
    axes.grid(alpha=0.3)


def paint_failures(axes: Any, found: Simulation | Exhaustion) -> None:
    """The share of runs that failed, by the number of examples, and the bound where there is one."""
    simulated = isinstance(found, Simulation)
    measured = found.failures if isinstance(found, Simulation) else found.measured
    axes.plot(found.m, measured, marker="o", label="measured")
    if np.isfinite(found.bounds).any():
        axes.plot(found.m, found.bounds, marker=".", color="grey", linestyle="--", label="|H| e^(−εm)")
    what = f"{found.learner}: error above" if isinstance(found, Simulation) else "version space not exhausted at"
    axes.set(
        xlabel="examples, m", ylabel="share of runs" if simulated else "share of version spaces", ylim=(-0.03, 1.03)
    )
    axes.set_title(f"{what} {found.epsilon:g}, {found.runs:,} runs")
    axes.legend(frameon=False)


def paint_growth(axes: Any, concepts: ConceptClass, most: int) -> None:
    """The most labellings of m points, beside all 2^m and what the VC dimension allows."""
    d, m = concepts.vc_dimension, range(most + 1)
    axes.plot(m, [2**i for i in m], color="lightgrey", label="2^m")
    axes.plot(m, [sauer(d, i) for i in m], color="grey", linestyle="--", label="Sauer's bound")
    axes.plot(m, [concepts.growth(i) for i in m], marker="o", label="Π(m)")
    axes.set(xlabel="points, m", ylabel="labellings", title=f"VC dimension {d}")
    axes.set_yscale("log", base=2)
    axes.set_xticks(list(m))
    axes.legend(frameon=False)
