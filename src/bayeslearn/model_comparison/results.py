"""Results of a comparison of learners: values, reports, frames and plots."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from bayeslearn import lazy_imports
from bayeslearn.model_comparison.learners import BASELINE, Task
from bayeslearn.printable import plot_label
from bayeslearn.reports import Grid, Pairs, Report, Reported, Words
from bayeslearn.tables.frames import frame_of_rows

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from bayeslearn.tables.frames import Backend

plots: Any = lazy_imports.Deferred("bayeslearn.plots")

#: The error of each task.
ERRORS = {"classification": "Error rate", "regression": "Root mean squared error"}

#: The significance level of differences.
LEVEL = 0.05


@dataclass(frozen=True)
class LearnerResult:
    """The measurements of one learner."""

    name: str
    is_lazy: bool
    #: Seconds of one fit, and of the prediction of one held-out row.
    train_seconds: float
    query_seconds: float
    #: Bytes of the pickled model; None if it cannot be pickled.
    kept_bytes: int | None
    #: The error rate, or the root mean squared error, of held-out rows.
    error: float
    standard_error: float
    #: −mean ln P(class), if the learner predicts probabilities.
    log_loss: float | None
    #: The p value of the difference to the best learner; None for the best itself.
    p_value: float | None = None
    #: The warnings of the learner.
    warnings: tuple[str, ...] = ()
    #: The loss of every row of the table, 0 or 1 or squared; NaN for dropped rows.
    losses: NDArray[np.float64] = field(repr=False, compare=False, kw_only=True)

    @property
    def verdict(self) -> Literal["best", "worse", "level"]:
        """Compared with the best: "worse", or "level" if the difference is not significant."""
        if self.p_value is None:
            return "best"
        return "worse" if self.p_value < LEVEL else "level"

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers as plain values."""
        names = ("train_seconds", "query_seconds", "kept_bytes", "error", "standard_error", "log_loss", "p_value")
        kind = {"learner": self.name, "kind": "lazy" if self.is_lazy else "eager"}
        return kind | {name: getattr(self, name) for name in names} | {
            "verdict": self.verdict, "warnings": list(self.warnings)
        }  # fmt: skip


@dataclass(frozen=True)
class LearnerFailure:
    """A learner that failed, and the reason."""

    name: str
    reason: str


@dataclass(frozen=True, repr=False)
class ModelComparison(Reported):
    """Learners on the same folds of a table, the best first."""

    target: str
    task: Task
    n_rows: int
    n_columns: int
    n_folds: int
    #: Rows that are dropped because their target is missing or their weight is 0.
    n_dropped_rows: int
    results: tuple[LearnerResult, ...]
    failures: tuple[LearnerFailure, ...] = ()
    #: Columns that are not used, with the reason.
    dropped_columns: dict[str, str] = field(default_factory=dict)
    #: The fold in which each row of the table is held out, −1 for dropped rows.
    fold_ids: NDArray[np.intp] = field(repr=False, compare=False, kw_only=True)

    @property
    def best(self) -> LearnerResult:
        """The learner with the smallest error."""
        return self.results[0]

    def __getitem__(self, name: str) -> LearnerResult:
        for line in self.results:
            if line.name == name:
                return line
        for failure in self.failures:
            if failure.name == name:
                raise KeyError(f"{name} failed: {failure.reason}")
        raise KeyError(f"{name!r} is not among the learners")

    def report(self) -> Report:
        """Return times, memory, error and the difference to the best of each learner."""
        n = self.n_columns
        about = {
            "Target": f"{self.target}, {self.task} by {n} column{'s' * (n > 1)}",
            "Rows": f"{self.n_rows:,} in {self.n_folds} folds",
            "Dropped rows": f"{self.n_dropped_rows:,} without a target or weight" if self.n_dropped_rows else None,
            "Error": f"{ERRORS[self.task]}, out of fold",
        }
        dropped = Grid(["Column", "Reason"], [*self.dropped_columns.items()], "Dropped columns")
        return Report(
            f"{self.target}: {self.best.name} is best of {len(self.results)} learners",
            Pairs({name: value for name, value in about.items() if value is not None}),
            self._grid(),
            Words(notes) if (notes := self._notes()) else None,
            dropped if self.dropped_columns else None,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as plain values."""
        return {
            "target": self.target, "task": self.task, "n_rows": self.n_rows, "n_columns": self.n_columns,
            "n_folds": self.n_folds, "n_dropped_rows": self.n_dropped_rows,
            "dropped_columns": dict(self.dropped_columns), "error": ERRORS[self.task].lower(),
            "learners": [line.to_dict() for line in self.results],
            "failures": {failure.name: failure.reason for failure in self.failures},
        }  # fmt: skip

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a frame with a row for each learner."""
        rows = [{**line.to_dict(), "warnings": "; ".join(line.warnings)} for line in self.results]
        return frame_of_rows(list(rows[0]), [list(row.values()) for row in rows], backend)

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the error by both times (:func:`bayeslearn.plots.plot_model_comparison`)."""
        return plots.plot_model_comparison(self, ax=ax)

    def _grid(self) -> Grid:
        probabilistic = any(line.log_loss is not None for line in self.results)
        head = ["Learner", "Kind", "Train time", "Query time", "Memory", "Error", "SE", "Log loss", "Versus best"]
        rows = [
            [
                line.name, "lazy" if line.is_lazy else "eager", seconds(line.train_seconds),
                seconds(line.query_seconds), size(line.kept_bytes), float(f"{line.error:.4g}"),
                float(f"{line.standard_error:.2g}"), None if line.log_loss is None else float(f"{line.log_loss:.4g}"),
                line.verdict if line.p_value is None else f"{line.verdict}, {chance(line.p_value)}",
            ]
            for line in self.results
        ]  # fmt: skip
        return Grid(head, rows) if probabilistic else Grid(head[:7] + head[8:], [row[:7] + row[8:] for row in rows])

    def _notes(self) -> list[str]:
        worse = [line.name for line in self.results if line.verdict == "worse"]
        level = [line.name for line in self.results if line.verdict == "level"]
        test = "exact sign test" if self.task == "classification" else "paired t test"
        notes = []
        if worse:
            notes.append(f"Significantly worse than {self.best.name}: {', '.join(worse)}.")
        if level:
            notes.append(f"Not significantly worse than {self.best.name}: {', '.join(level)}.")
        if notes:
            notes.append(
                f"{test.capitalize()} over held-out rows, level {LEVEL:.0%}, corrected for all comparisons (Holm)."
            )
        notes += [f"{line.name}: warning: {text}" for line in self.results for text in line.warnings]
        return [*notes, *(f"{failure.name} failed: {failure.reason}" for failure in self.failures)]


### numbers with units


def seconds(t: float) -> str:
    """A time with its unit."""
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if t * factor >= 1:
            return f"{t * factor:.3g} {unit}"
    return f"{t * 1e9:.3g} ns"


def chance(p: float) -> str:
    """A p value with two digits."""
    return f"p = {p:.2g}" if p >= 1e-4 else "p < 0.0001"


def size(n: int | None) -> str:
    """Bytes with their unit."""
    if n is None:
        return "–"
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n >= factor:
            return f"{n / factor:.3g} {unit}"
    return f"{n} B"


### plots


#: Markers and names of eager (False) and lazy (True) learners.
MARKERS, KINDS = "so", ("eager", "lazy")


def paint(train: Any, query: Any, found: ModelComparison, colors: Callable[[int], Any]) -> None:
    """Errors by both times; lazy learners are round, eager ones square, the baseline is a line."""
    paint_times(train, found, "train_seconds", colors)
    paint_times(query, found, "query_seconds", colors)
    train.set(xlabel="Training time (s)", ylabel=ERRORS[found.task])
    query.set(xlabel="Prediction time per row (s)")
    handles = [
        *(query.plot([], [], MARKERS[lazy], color=colors(lazy), label=KINDS[lazy])[0] for lazy in (True, False)),
        query.plot([], [], color="lightgray", label=BASELINE)[0],
    ]
    query.legend(handles=handles, loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)


def paint_times(axes: Any, found: ModelComparison, clock: str, colors: Callable[[int], Any]) -> None:
    """Errors with their standard errors by one of the times, and the names of the learners next to the points."""
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
            plot_label(line.name, 24), (x, line.error), xytext=(side, -10 if i % 2 else 4),
            textcoords="offset points", ha=align, fontsize=8,
        )  # fmt: skip
    axes.set_xscale("log")
    if found.best.error > 0:
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter("{x:g}")
        axes.yaxis.set_minor_formatter("{x:g}")
    axes.margins(0.15)
