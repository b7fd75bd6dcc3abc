"""Results of a comparison of learners: as values, text, JSON and plots."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from bayeslearn.model_comparison.learners import BASELINE, Task
from bayeslearn.printable import printable

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

#: What the target holds, by the task.
TARGETS = {"classification": "classes", "regression": "numbers"}

#: A difference that chance makes less often than this is told as one.
LEVEL = 0.05


@dataclass(frozen=True)
class LearnerResult:
    """How one learner did."""

    name: str
    is_lazy: bool
    #: Of one fit to all folds but one, and of one row among those held out.
    train_seconds: float
    query_seconds: float
    #: Bytes of the pickled model; None of what cannot be pickled.
    kept_bytes: int | None
    #: The share that is wrong, or the root mean squared error, of rows held out.
    error: float
    standard_error: float
    #: −mean ln P(class), where probabilities are told.
    log_loss: float | None
    #: How often chance alone would put it as far from the best; None of the best itself.
    p_value: float | None = None
    #: What the learner warned of.
    warnings: tuple[str, ...] = ()
    #: The loss of every row of the table, NaN of those that take no part: 0 or 1, or squared.
    losses: NDArray[np.float64] = field(repr=False, compare=False, kw_only=True)

    @property
    def verdict(self) -> Literal["best", "worse", "level"]:
        """Beside the best: worse, or level with it for all that these rows can tell."""
        if self.p_value is None:
            return "best"
        return "worse" if self.p_value < LEVEL else "level"

    def to_dict(self) -> dict[str, Any]:
        """The line as plain JSON values."""
        names = ("train_seconds", "query_seconds", "kept_bytes", "error", "standard_error", "log_loss", "p_value")
        kind = {"learner": self.name, "kind": "lazy" if self.is_lazy else "eager"}
        return kind | {name: getattr(self, name) for name in names} | {
            "verdict": self.verdict, "warnings": list(self.warnings)
        }  # fmt: skip


@dataclass(frozen=True)
class LearnerFailure:
    """A learner that could not learn from these rows, and why."""

    name: str
    reason: str


@dataclass(frozen=True, repr=False)
class ModelComparison:
    """Learners on the same folds of a table, the best first."""

    target: str
    task: Task
    n_rows: int
    n_columns: int
    n_folds: int
    #: Rows that take no part, since their target is missing or their weight is 0.
    n_dropped_rows: int
    results: tuple[LearnerResult, ...]
    failures: tuple[LearnerFailure, ...] = ()
    #: Columns that were not used, and why.
    dropped_columns: dict[str, str] = field(default_factory=dict)
    #: The fold in which each row of the table was held out, −1 of rows that take no part.
    fold_ids: NDArray[np.intp] = field(repr=False, compare=False, kw_only=True)

    @property
    def best(self) -> LearnerResult:
        """The one with the least error."""
        return self.results[0]

    def __getitem__(self, name: str) -> LearnerResult:
        for line in self.results:
            if line.name == name:
                return line
        for failure in self.failures:
            if failure.name == name:
                raise KeyError(f"{name} failed: {failure.reason}")
        raise KeyError(f"{name!r} took no part")

    def to_dict(self) -> dict[str, Any]:
        """The contest as plain JSON values."""
        return {
            "target": self.target, "kind": TARGETS[self.task], "rows": self.n_rows, "columns": self.n_columns,
            "folds": self.n_folds, "rows_left_out": self.n_dropped_rows, "columns_left_out": dict(self.dropped_columns),
            "error": "share wrong" if self.task == "classification" else "root mean squared error",
            "learners": [line.to_dict() for line in self.results],
            "failures": {failure.name: failure.reason for failure in self.failures},
        }  # fmt: skip

    def __repr__(self) -> str:
        return printable("\n".join([*self._head(), "", *laid_out(self._cells()), "", *self._words()]))

    def _head(self) -> list[str]:
        classes = self.task == "classification"
        left = f", {self.n_dropped_rows} without a target or weight are left out" if self.n_dropped_rows else ""
        lines = [
            f"{self.target}: {TARGETS[self.task]} by {self.n_columns} column{'s' * (self.n_columns > 1)}",
            f"{self.n_rows} rows in {self.n_folds} folds{left}",
            f"error: {'share that is wrong' if classes else 'root mean squared error'}, out of fold",
        ]
        return [*lines, *(f"column {name!r} is left out: {why}" for name, why in self.dropped_columns.items())]

    def _cells(self) -> list[list[str]]:
        shown = any(line.log_loss is not None for line in self.results)
        head = ["learner", "kind", "to train", "per query", "keeps", "error", "±", *["log loss"] * shown, "by the best"]
        rows = [
            [
                line.name, "lazy" if line.is_lazy else "eager",
                seconds(line.train_seconds), seconds(line.query_seconds), size(line.kept_bytes),
                f"{line.error:.4g}", f"{line.standard_error:.2g}",
                *["–" if line.log_loss is None else f"{line.log_loss:.4g}"] * shown,
                line.verdict if line.p_value is None else f"{line.verdict}, {chance(line.p_value)}",
            ]
            for line in self.results
        ]  # fmt: skip
        return [head, *rows]

    def _words(self) -> list[str]:
        worse = [line.name for line in self.results if line.verdict == "worse"]
        level = [line.name for line in self.results if line.verdict == "level"]
        test = "exact sign test" if self.task == "classification" else "paired t test"
        words = []
        if worse:
            words.append(f"{', '.join(worse)}: worse than {self.best.name} by more than chance.")
        if level:
            words.append(f"{', '.join(level)}: no further from {self.best.name} than chance may put them.")
        if words:
            words.append(f"({test} over the rows held out, at {LEVEL:.0%}, held against all comparisons)")
        words += [f"{line.name} warned: {word}" for line in self.results for word in line.warnings]
        return [*words, *(f"{failure.name} failed: {failure.reason}" for failure in self.failures)]


### how it looks


def laid_out(cells: list[list[str]]) -> list[str]:
    """Columns under each other: the first, the second and the last stand left, numbers right."""
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    left = {0, 1, len(widths) - 1}
    lines = [
        "   ".join(f"{c:<{w}}" if j in left else f"{c:>{w}}" for j, (c, w) in enumerate(zip(row, widths, strict=True)))
        for row in cells
    ]
    rule = "─" * max(len(line.rstrip()) for line in lines)
    return [lines[0].rstrip(), rule, *(line.rstrip() for line in lines[1:])]


def seconds(t: float) -> str:
    """A time in the unit that suits it."""
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if t * factor >= 1:
            return f"{t * factor:.3g} {unit}"
    return f"{t * 1e9:.3g} ns"


def chance(p: float) -> str:
    """A p value in two digits; how much smaller than 0.0001 it is tells nothing."""
    return f"p = {p:.2g}" if p >= 1e-4 else "p < 0.0001"


def size(n: int | None) -> str:
    """Bytes in the unit that suits them."""
    if n is None:
        return "–"
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n >= factor:
            return f"{n / factor:.3g} {unit}"
    return f"{n} B"


### plots


#: How eager (False) and lazy (True) learners are drawn, and called.
MARKERS, KINDS = "so", ("eager", "lazy")


def paint(train: Any, ask: Any, found: ModelComparison, colors: Callable[[int], Any]) -> None:
    """Log axes, with names at the points; lazy learners are round, eager ones square, the baseline is a line."""
    paint_times(train, found, "train_seconds", colors)
    paint_times(ask, found, "query_seconds", colors)
    train.set(
        xlabel="seconds to train", ylabel="share wrong" if found.task == "classification" else "root mean squared error"
    )
    ask.set(xlabel="seconds to ask, each row")
    handles = [
        *(ask.plot([], [], MARKERS[lazy], color=colors(lazy), label=KINDS[lazy])[0] for lazy in (True, False)),
        ask.plot([], [], color="lightgray", label=BASELINE)[0],
    ]
    ask.legend(handles=handles, loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)


def paint_times(axes: Any, found: ModelComparison, clock: str, colors: Callable[[int], Any]) -> None:
    """Errors with their standard errors, by one of the times; names lie above and below in turn, and within."""
    lines = [line for line in found.results if line.name != BASELINE]
    times = [getattr(line, clock) for line in lines]
    middle = (min(times) * max(times)) ** 0.5 if times else 0.0
    axes.axhline(found[BASELINE].error, color="lightgray", zorder=0)
    for i, (line, x) in enumerate(zip(lines, times, strict=True)):
        axes.errorbar(
            [x],
            [line.error],
            yerr=[line.standard_error],
            fmt=MARKERS[line.is_lazy],
            color=colors(line.is_lazy),
            capsize=2,
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
