"""Why a class: how much every cell of a row speaks for it, in log odds that add up.

    ln P(c|x)/P(c'|x) = ln P(c)/P(c') + Σ_j τ_j ln p(x_j|c)/p(x_j|c')

Against all other classes together, with r the shares of these among themselves once the row is known,

    ln P(c|x)/(1 − P(c|x)) = [ln P(c) − Σ r ln P(c') − H(r)] + Σ_j τ_j [ln p(x_j|c) − Σ r ln p(x_j|c')]

which is exact too: the bracket is where the row starts, and each cell adds its own. A missing cell adds 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy.special import xlogy

from bayeslearn.components import normalized
from bayeslearn.errors import ParameterError, listed
from bayeslearn.naive_bayes.tabular import row_blocks as blocks
from bayeslearn.naive_bayes.tabular.class_posteriors import require_possible
from bayeslearn.printable import printable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.naive_bayes.tabular.model import NaiveBayesModel


@dataclass(frozen=True, eq=False)
class CellContributions:
    """Log odds of one class against another, or against all others: where they start, and what each cell adds.

    >>> from bayeslearn.naive_bayes import NaiveBayesModel
    >>> days = {"sky": ["sun", "sun", "rain", "rain"], "wind": ["weak", "gale", "gale", "weak"], "play": list("yynn")}
    >>> why = NaiveBayesModel.learn(days, "play", prior="laplace").explain({"sky": ["sun"], "wind": [None]})
    >>> print(why)
    row 0: y, log odds 1.099 against all others
      start                      0
      sky = sun             +1.099
      wind missing               0
    """

    classes: tuple[Any, ...]
    against: tuple[Any, ...] | None
    start: NDArray[np.float64]
    #: What each cell adds, by column.
    parts: dict[str, NDArray[np.float64]]
    #: The cells as the user wrote them, by column.
    cells: dict[str, list[Any]]

    @cached_property
    def log_odds(self) -> NDArray[np.float64]:
        """The log odds that all together come to, one for each row."""
        return self.start + np.sum(list(self.parts.values()), axis=0) if self.parts else self.start

    def row(self, i: int) -> list[tuple[str, Any, float]]:
        """Component, cell and what it adds, for one row, the strongest first."""
        found = [(name, self.cells[name][i], float(part[i])) for name, part in self.parts.items()]
        return sorted(found, key=lambda entry: -abs(entry[2]))

    def told(self, i: int, *, first: int = 0) -> str:
        """One row in words, counted from `first`."""
        other = "all others" if self.against is None else self.against[i]
        lines = [
            (f"{name} missing" if cell is None else f"{name} = {shown(cell)}", add) for name, cell, add in self.row(i)
        ]
        width = max([len(what) for what, _ in lines] + [20])
        body = [f"  {what:<{width}}  {signed(add):>6}" for what, add in [("start", float(self.start[i])), *lines]]
        text = "\n".join(
            [f"row {first + i}: {self.classes[i]}, log odds {self.log_odds[i]:.4g} against {other}", *body]
        )
        return printable(text)

    def __len__(self) -> int:
        return len(self.start)

    def __str__(self) -> str:
        return printable("\n".join(self.told(i) for i in range(len(self))))


def shown(cell: Any) -> str:
    """A cell as a reader writes it."""
    return f"{cell:.6g}" if isinstance(cell, float) else str(cell)


def signed(value: float) -> str:
    """A number with its sign, and 0 without one."""
    return "0" if abs(value) < 5e-13 else f"{value:+.4g}"


def contributions(
    model: NaiveBayesModel,
    data: Any,
    *,
    of: Any = None,
    against: Any = None,
    missing_columns: Literal["error", "missing"] = "error",
) -> CellContributions:
    """What the cells of some rows say for the class `of` (that which is most probable), against another or all."""
    rows, table = blocks.read(data, model.columns, missing_columns=missing_columns)
    cells, n = rows.cells(0, rows.n), rows.n
    joint = model.joint_of(cells, n)
    require_possible(joint, 0)
    c = joint.argmax(axis=0) if of is None else np.full(n, model.target.code_of(of))
    weights = _others(model, joint, c, against)
    with np.errstate(invalid="ignore"):
        start = _contrast(np.broadcast_to(model.log_shares[:, None], joint.shape), c, weights)
        start = start + xlogy(weights, weights).sum(axis=0)
    parts = {
        name: _contrast(logs, c, weights)
        for name, logs in zip(model.names, model.density.each(cells, model.target.size, n), strict=True)
    }
    names = [model.classes[k] for k in c]
    other = None if against is None else (against,) * n
    return CellContributions(
        tuple(names), other, start, parts, {k.name: _written(table, k.variable) for k in model.columns}
    )


def _others(
    model: NaiveBayesModel, joint: NDArray[np.float64], c: NDArray[np.intp], against: Any
) -> NDArray[np.float64]:
    """The shares of the classes that a row is told against, (classes, rows)."""
    if model.target.size < 2:
        raise ParameterError(f"there is one class only, {model.classes[0]!r}: nothing speaks for or against it")
    weights = np.zeros(joint.shape)
    if against is not None:
        code = model.target.code_of(against)
        if (c == code).any():
            raise ParameterError(
                f"class {against!r} cannot be told against itself", hint=f"classes: {listed(model.classes)}"
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
    """The cells of a column; what was never seen is told so."""
    if variable.name not in table.schema:
        return [None] * table.n_rows
    return table.column(variable.name).tolist()
