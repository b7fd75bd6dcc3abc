"""What a contest found, as values, as words and as JSON."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: A difference that chance makes less often than this is told as one.
LEVEL = 0.05


@dataclass(frozen=True)
class Line:
    """How one learner did."""

    name: str
    lazy: bool
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
    warned: tuple[str, ...] = ()
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
        kind = {"learner": self.name, "kind": "lazy" if self.lazy else "eager"}
        return kind | {name: getattr(self, name) for name in names} | {
            "verdict": self.verdict, "warnings": list(self.warned)
        }  # fmt: skip


@dataclass(frozen=True)
class Failure:
    """A learner that could not learn from these rows, and why."""

    name: str
    reason: str


@dataclass(frozen=True, repr=False)
class Contest:
    """Learners on the same folds of a table, the best first."""

    target: str
    kind: Literal["classes", "numbers"]
    n_rows: int
    n_columns: int
    n_folds: int
    #: Rows that take no part, since their target is missing or their weight is 0.
    n_left: int
    lines: tuple[Line, ...]
    failures: tuple[Failure, ...] = ()
    #: Columns that were not used, and why.
    left_out: dict[str, str] = field(default_factory=dict)
    #: The fold in which each row of the table was held out, −1 of rows that take no part.
    folds: NDArray[np.intp] = field(repr=False, compare=False, kw_only=True)

    @property
    def best(self) -> Line:
        """The one with the least error."""
        return self.lines[0]

    def __getitem__(self, name: str) -> Line:
        for line in self.lines:
            if line.name == name:
                return line
        for failure in self.failures:
            if failure.name == name:
                raise KeyError(f"{name} failed: {failure.reason}")
        raise KeyError(f"{name!r} took no part")

    def to_dict(self) -> dict[str, Any]:
        """The contest as plain JSON values."""
        return {
            "target": self.target, "kind": self.kind, "rows": self.n_rows, "columns": self.n_columns,
            "folds": self.n_folds, "rows_left_out": self.n_left, "columns_left_out": dict(self.left_out),
            "error": "share wrong" if self.kind == "classes" else "root mean squared error",
            "learners": [line.to_dict() for line in self.lines],
            "failures": {failure.name: failure.reason for failure in self.failures},
        }  # fmt: skip

    def __repr__(self) -> str:
        return "\n".join([*self._head(), "", *laid_out(self._cells()), "", *self._words()])

    def _head(self) -> list[str]:
        classes = self.kind == "classes"
        left = f", {self.n_left} without a target or weight are left out" if self.n_left else ""
        lines = [
            f"{self.target}: {self.kind} by {self.n_columns} column{'s' * (self.n_columns > 1)}",
            f"{self.n_rows} rows in {self.n_folds} folds{left}",
            f"error: {'share that is wrong' if classes else 'root mean squared error'}, out of fold",
        ]
        return [*lines, *(f"column {name!r} is left out: {why}" for name, why in self.left_out.items())]

    def _cells(self) -> list[list[str]]:
        shown = any(line.log_loss is not None for line in self.lines)
        head = ["learner", "kind", "to train", "per query", "keeps", "error", "±", *["log loss"] * shown, "by the best"]
        rows = [
            [
                line.name, "lazy" if line.lazy else "eager", seconds(line.train_seconds), seconds(line.query_seconds),
                size(line.kept_bytes), f"{line.error:.4g}", f"{line.standard_error:.2g}",
                *["–" if line.log_loss is None else f"{line.log_loss:.4g}"] * shown,
                line.verdict if line.p_value is None else f"{line.verdict}, {chance(line.p_value)}",
            ]
            for line in self.lines
        ]  # fmt: skip
        return [head, *rows]

    def _words(self) -> list[str]:
        worse = [line.name for line in self.lines if line.verdict == "worse"]
        level = [line.name for line in self.lines if line.verdict == "level"]
        test = "exact sign test" if self.kind == "classes" else "paired t test"
        words = []
        if worse:
            words.append(f"{', '.join(worse)}: worse than {self.best.name} by more than chance.")
        if level:
            words.append(f"{', '.join(level)}: no further from {self.best.name} than chance may put them.")
        if words:
            words.append(f"({test} over the rows held out, at {LEVEL:.0%}, held against all comparisons)")
        words += [f"{line.name} warned: {word}" for line in self.lines for word in line.warned]
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
