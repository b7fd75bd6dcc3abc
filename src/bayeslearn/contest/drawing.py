"""A contest on matplotlib axes: the error by the time to train, and by the time to ask."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayeslearn.contest.learners import BASELINE

if TYPE_CHECKING:
    from collections.abc import Callable

    from bayeslearn.contest.report import Contest

#: How eager (False) and lazy (True) learners are drawn, and called.
MARKERS, KINDS = "so", ("eager", "lazy")


def paint(train: Any, ask: Any, found: Contest, colours: Callable[[int], Any]) -> None:
    """Log axes, with names at the points; lazy learners are round, eager ones square, the baseline is a line."""
    paint_times(train, found, "train_seconds", colours)
    paint_times(ask, found, "query_seconds", colours)
    train.set(xlabel="seconds to train", ylabel="share wrong" if found.kind == "classes" else "root mean squared error")
    ask.set(xlabel="seconds to ask, each row")
    handles = [
        *(ask.plot([], [], MARKERS[lazy], color=colours(lazy), label=KINDS[lazy])[0] for lazy in (True, False)),
        ask.plot([], [], color="lightgrey", label=BASELINE)[0],
    ]
    ask.legend(handles=handles, loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)


def paint_times(axes: Any, found: Contest, clock: str, colours: Callable[[int], Any]) -> None:
    """Errors with their standard errors, by one of the times; names lie above and below in turn, and within."""
    lines = [line for line in found.lines if line.name != BASELINE]
    times = [getattr(line, clock) for line in lines]
    middle = (min(times) * max(times)) ** 0.5 if times else 0.0
    axes.axhline(found[BASELINE].error, color="lightgrey", zorder=0)
    for i, (line, x) in enumerate(zip(lines, times, strict=True)):
        axes.errorbar(
            [x], [line.error], yerr=[line.standard_error], fmt=MARKERS[line.lazy], color=colours(line.lazy), capsize=2
        )
        side, align = (-6, "right") if x > middle else (6, "left")
        axes.annotate(
            line.name, (x, line.error), xytext=(side, -10 if i % 2 else 4), textcoords="offset points", ha=align,
            fontsize=8,
        )  # fmt: skip
    axes.set_xscale("log")
    if found.best.error > 0:
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter("{x:g}")
        axes.yaxis.set_minor_formatter("{x:g}")
    axes.margins(0.15)
