"""The course of a learner, drawn on the axes of a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from bayeslearn.online.playing import Course


def paint_course(axes: Any, course: Course, name: str = "learner") -> None:
    """Mistakes of the learner and of the best expert, the bound above them, and regret between the two."""
    told = "expected mistakes" if course.expected else "mistakes"
    axes.fill_between(course.rounds, course.best, course.mistakes, alpha=0.2, label=f"regret: {course.regret[-1]:.4g}")
    axes.plot(course.rounds, course.mistakes, label=f"{name}: {course.mistakes[-1]:.4g}")
    axes.plot(course.rounds, course.best, color="black", linewidth=1, label=f"best expert: {course.best[-1]:.4g}")
    finite = np.isfinite(course.bounds)
    if finite.any():
        last = course.bounds[finite][-1]
        axes.plot(
            course.rounds[finite], course.bounds[finite], color="grey", linestyle="--", label=f"bound: {last:.4g}"
        )
    axes.set(xlabel="rounds", ylabel=told, xlim=(course.rounds[0], course.rounds[-1]), ylim=(0, None))
    axes.legend(frameon=False, loc="upper left")
