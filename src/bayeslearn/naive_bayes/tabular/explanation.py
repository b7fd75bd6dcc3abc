"""Explanations: the contribution of every cell of a row to the log odds of a class; contributions add up.

    ln P(c|x)/P(c'|x) = ln P(c)/P(c') + Σ_j τ_j ln p(x_j|c)/p(x_j|c')

Against all other classes together, with r their posterior probabilities given that the class is another,

    ln P(c|x)/(1 − P(c|x)) = [ln P(c) − Σ r ln P(c') − H(r)] + Σ_j τ_j [ln p(x_j|c) − Σ r ln p(x_j|c')]

which is exact as well: the bracket is the start, and each cell adds its contribution. A missing value adds 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy.special import xlogy

from bayeslearn import lazy_imports
from bayeslearn.components.product import normalized
from bayeslearn.errors import ParameterError, listed
from bayeslearn.fit_info import plain
from bayeslearn.naive_bayes.tabular import row_blocks as blocks
from bayeslearn.naive_bayes.tabular.prediction import require_possible
from bayeslearn.reports import MAX_ROWS, Grid, Report, Reported, Words
from bayeslearn.tables.frames import frame_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.naive_bayes.tabular.model import NaiveBayesModel
    from bayeslearn.tables.frames import Backend


plots: Any = lazy_imports.Deferred("bayeslearn.plots")


@dataclass(frozen=True, eq=False, repr=False)
class CellContributions(Reported):
    """Log odds of one class against another, or against all others: the start, and the contribution of each cell.

    Examples
    --------
    >>> from bayeslearn import fit_naive_bayes
    >>> days = {"sky": ["sun", "sun", "rain", "rain"], "wind": ["weak", "gale", "gale", "weak"], "play": list("yynn")}
    >>> why = fit_naive_bayes(days, "play", prior="laplace").explain({"sky": ["sun"], "wind": [None]})
    >>> print(why)
    Row 0: y, log odds 1.099 against all others
    <BLANKLINE>
    cell          log odds
    ----------------------
    start                0
    sky = sun        1.099
    wind missing         0
    """

    classes: tuple[Any, ...]
    against: tuple[Any, ...] | None
    start: NDArray[np.float64]
    #: The contribution of each cell, by column.
    parts: dict[str, NDArray[np.float64]]
    #: The cells as they were given, by column.
    cells: dict[str, list[Any]]

    @cached_property
    def log_odds(self) -> NDArray[np.float64]:
        """The sum of the start and all contributions of each row."""
        return self.start + np.sum(list(self.parts.values()), axis=0) if self.parts else self.start

    def row(self, i: int) -> list[tuple[str, Any, float]]:
        """Return column, cell and contribution of each cell of a row, the strongest first."""
        found = [(name, self.cells[name][i], float(part[i])) for name, part in self.parts.items()]
        return sorted(found, key=lambda entry: -abs(entry[2]))

    def cell_name(self, i: int, name: str) -> str:
        """Return a cell as text: "sky = sun"."""
        cell = self.cells[name][i]
        return f"{name} missing" if cell is None else f"{name} = {shown(cell)}"

    def __len__(self) -> int:
        return len(self.start)

    def title(self, i: int, *, first: int = 0) -> str:
        """Return the class of a row and its log odds in a line; `first` is the number of the first row."""
        other = "all others" if self.against is None else self.against[i]
        return f"Row {first + i}: {self.classes[i]}, log odds {self.log_odds[i]:.4g} against {other}"

    def report(self, *, first: int = 0, max_rows: int = MAX_ROWS) -> Report:
        """Return the contributions of at most `max_rows` rows; `first` is the number of the first row."""
        grids = [
            Grid(
                ["cell", "log odds"],
                [
                    ["start", rounded(self.start[i])],
                    *([self.cell_name(i, name), rounded(add)] for name, _, add in self.row(i)),
                ],
                self.title(i, first=first),
                max_rows=1000,
            )
            for i in range(min(len(self), max_rows))
        ]
        rest = len(self) - len(grids)
        return Report("", *grids, Words(f"… {rest:,} more rows") if rest else None)

    def __repr__(self) -> str:
        return f"CellContributions({len(self)} rows, {len(self.parts)} columns)"

    def to_dict(self) -> dict[str, Any]:
        """Return class, log odds and contributions of each row as plain values."""
        return {
            "rows": [
                {
                    "class": plain(self.classes[i]),
                    "against": None if self.against is None else plain(self.against[i]),
                    "log_odds": float(self.log_odds[i]),
                    "start": float(self.start[i]),
                    "contributions": {name: float(part[i]) for name, part in self.parts.items()},
                }
                for i in range(len(self))
            ]
        }

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a data frame with a row for each row: class, log odds, start, and a column for each cell."""
        columns = {"class": [plain(c) for c in self.classes], "log_odds": self.log_odds, "start": self.start}
        return frame_of(columns | self.parts, backend)

    def plot(self, row: int = 0, *, ax: Any = None) -> Any:
        """Draw the contributions of a row (:func:`bayeslearn.plots.plot_contributions`)."""
        return plots.plot_contributions(self, row, ax=ax)


def rounded(value: float) -> float:
    """A number of four significant digits; rounding errors of 0 are 0."""
    return 0.0 if abs(value) < 5e-13 else float(f"{value:.4g}")


def shown(cell: Any) -> str:
    """A cell as text."""
    return f"{cell:.6g}" if isinstance(cell, float) else str(cell)


def contributions(
    model: NaiveBayesModel,
    data: Any,
    *,
    of: Any = None,
    against: Any = None,
    missing_columns: Literal["error", "missing"] = "error",
) -> CellContributions:
    """The contributions of the cells of some rows to the class `of`, the most probable by default."""
    rows, table = blocks.read(data, model.columns, missing_columns=missing_columns)
    cells, n = rows.cells(0, rows.n), rows.n
    joint = model.joint_of_block(cells, n)
    require_possible(joint, 0)
    c = joint.argmax(axis=0) if of is None else np.full(n, model.target.code_of(of))
    weights = _others(model, joint, c, against)
    with np.errstate(invalid="ignore"):
        start = _contrast(np.broadcast_to(model.class_log_prior[:, None], joint.shape), c, weights)
        start = start + xlogy(weights, weights).sum(axis=0)
    parts = {
        name: _contrast(logs, c, weights)
        for name, logs in zip(model.feature_names, model.density.each(cells, model.target.n_states, n), strict=True)
    }
    names = [model.classes[k] for k in c]
    other = None if against is None else (against,) * n
    return CellContributions(
        tuple(names), other, start, parts, {k.name: _written(table, k.variable) for k in model.columns}
    )


def _others(
    model: NaiveBayesModel, joint: NDArray[np.float64], c: NDArray[np.intp], against: Any
) -> NDArray[np.float64]:
    """The weights of the classes that a row is compared with, (classes, rows)."""
    if model.target.n_states < 2:
        raise ParameterError(f"there is only one class, {model.classes[0]!r}: nothing can be explained")
    weights = np.zeros(joint.shape)
    if against is not None:
        code = model.target.code_of(against)
        if (c == code).any():
            raise ParameterError(
                f"class {against!r} cannot be compared with itself", hint=f"classes: {listed(model.classes)}"
            )
        weights[code] = 1
        return weights
    rest = joint.copy()
    rest[c, np.arange(joint.shape[1])] = -np.inf
    dead = ~np.isfinite(rest.max(axis=0))
    rest[:, dead] = 0.0  # no other class is possible: all alike
    rest[c, np.arange(joint.shape[1])] = -np.inf
    return normalized(rest)[0]


def _contrast(
    logs: NDArray[np.float64], c: NDArray[np.intp], sample_weight: NDArray[np.float64]
) -> NDArray[np.float64]:
    """ln p(x|c) − Σ r ln p(x|c')."""
    with np.errstate(invalid="ignore"):
        rest = np.where(sample_weight > 0, sample_weight * logs, 0.0).sum(axis=0)
    return logs[c, np.arange(logs.shape[1])] - rest


def _written(table: Any, variable: Any) -> list[Any]:
    """The cells of a column; unknown states are marked."""
    if variable.name not in table.schema:
        return [None] * table.n_rows
    return table.column(variable.name).tolist()
